//! Files that appear under their name only when they are whole.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file being written beside the place where it is to appear. Dropped unfinished, it leaves nothing.
pub struct WholeFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl WholeFile {
    /// Begins a file that is to become `path`.
    ///
    /// # Errors
    /// No file can be made in the folder of `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ferronic");
        #[cfg(unix)]
        {
            // No secret: the usual permissions, which the umask narrows.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        Ok(Self { file: BufWriter::new(builder.tempfile_in(folder)?), path: path.to_owned() })
    }

    /// The name that the file is to have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// The file cannot be written or renamed. No file is left then.
    pub fn finish(self) -> io::Result<()> {
        let file = self.file.into_inner().map_err(|error| error.into_error())?;
        file.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
