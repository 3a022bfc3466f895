//! Writing captures: pcap with nanoseconds.

use std::io::Write;
use std::path::Path;

use super::captures::{CaptureError, CaptureFault};
use crate::whole_file::WholeFile;

/// Writes a pcap file. It appears under its name only when [`CaptureWriter::finish`] succeeds, so a file with
/// that name is always whole.
pub struct CaptureWriter {
    file: WholeFile,
}

impl CaptureWriter {
    /// Begins a capture that is to become `path`.
    ///
    /// # Errors
    /// [`CaptureError`] when no file can be made in the folder of `path`.
    pub fn create(path: &Path) -> Result<Self, CaptureError> {
        let write = || -> std::io::Result<Self> {
            let mut file = WholeFile::create(path)?;
            for word in [0xA1B2_3C4D_u32, 0x0004_0002, 0, 0, 262_144, 1] {
                file.write_all(&word.to_le_bytes())?;
            }
            Ok(Self { file })
        };
        write().map_err(|e| failure(path, e))
    }

    /// Adds a frame that was on the wire at `time_ps`, in picoseconds (the file keeps nanoseconds).
    ///
    /// # Errors
    /// [`CaptureError`] when the file cannot be written.
    pub fn write(&mut self, time_ps: u64, frame: &[u8]) -> Result<(), CaptureError> {
        let ns = time_ps / 1000;
        let length = frame.len() as u32;
        let mut header = [0; 16];
        for (field, value) in header.chunks_exact_mut(4).zip([
            (ns / 1_000_000_000) as u32,
            (ns % 1_000_000_000) as u32,
            length,
            length,
        ]) {
            field.copy_from_slice(&value.to_le_bytes());
        }
        let write = self
            .file
            .write_all(&header)
            .and_then(|()| self.file.write_all(frame));
        write.map_err(|e| failure(self.file.path(), e))
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`CaptureError`] when the file cannot be written or renamed. No file is left then.
    pub fn finish(self) -> Result<(), CaptureError> {
        let path = self.file.path().to_owned();
        self.file.finish().map_err(|e| failure(&path, e))
    }
}

fn failure(path: &Path, error: std::io::Error) -> CaptureError {
    CaptureError {
        file: path.display().to_string(),
        reason: CaptureFault::Write(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::read_capture;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.pcap");
        let mut writer = CaptureWriter::create(&path).unwrap();
        writer.write(1_500_000_000_123_456, &[1; 60]).unwrap();
        writer.write(2_000_000_000_000_999, &[2; 1514]).unwrap();
        assert!(!path.exists(), "the file must not appear half-written");
        writer.finish().unwrap();

        let frames = read_capture(&path, false).unwrap().frames;
        assert_eq!(frames.len(), 2);
        assert_eq!(
            (frames[0].timestamp_ns, &frames[0].bytes[..]),
            (1_500_000_000_123, &[1; 60][..])
        );
        assert_eq!(
            (frames[1].timestamp_ns, &frames[1].bytes[..]),
            (2_000_000_000_000, &[2; 1514][..])
        );
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no temporary file may stay"
        );
    }

    #[test]
    fn an_abandoned_capture_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(CaptureWriter::create(&folder.path().join("out.pcap")).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = CaptureWriter::create(Path::new("/no/such/folder/out.pcap"))
            .map(drop)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("/no/such/folder/out.pcap: cannot be written: "),
            "{error}"
        );
    }
}
