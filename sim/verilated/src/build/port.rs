//! The ports of a top module, as Verilator's generated header lists them.

use super::Error;

/// Which way a port goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Input,
    Output,
    Inout,
}

/// One port of the top module.
#[derive(Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name in C++, which is that in Verilog unless C++ forbids it.
    pub name: String,
    pub direction: Direction,
    /// In bits.
    pub width: u32,
}

impl Port {
    /// The number of 32-bit words of a port of more than 64 bits.
    pub fn words(&self) -> Option<u32> {
        (self.width > 64).then(|| self.width.div_ceil(32))
    }

    /// The Rust type with the layout of Verilator's.
    pub fn storage(&self) -> String {
        match (self.words(), self.width) {
            (Some(words), _) => format!("[u32; {words}]"),
            (None, 0..=8) => "u8".into(),
            (None, 9..=16) => "u16".into(),
            (None, 17..=32) => "u32".into(),
            (None, _) => "u64".into(),
        }
    }

    /// The mask of the bits that a value's last (or only) word may have, if not all.
    pub fn mask(&self) -> Option<u64> {
        let (bits, word) = match (self.words(), self.width) {
            (Some(words), width) => (width - 32 * (words - 1), 32),
            (None, width) => (width, width.next_power_of_two().max(8)),
        };
        (bits < word).then(|| (1 << bits) - 1)
    }

    pub fn driven(&self) -> bool {
        self.direction != Direction::Output
    }
}

/// Reads lines such as `VL_IN8(&clk,0,0);` and `VL_OUTW(&snap,127,0,4);`.
pub fn parse(header: &str) -> Result<Vec<Port>, Error> {
    header.lines().map(str::trim).filter_map(port).collect()
}

fn port(line: &str) -> Option<Result<Port, Error>> {
    let (direction, rest) = [("VL_INOUT", Direction::Inout), ("VL_IN", Direction::Input), ("VL_OUT", Direction::Output)]
        .into_iter()
        .find_map(|(prefix, direction)| Some((direction, line.strip_prefix(prefix)?)))?;
    let fields = || -> Option<(String, u32)> {
        let (kind, rest) = rest.split_once("(&")?;
        let (fields, _) = rest.split_once(')')?;
        let fields: Vec<&str> = fields.split(',').map(str::trim).collect();
        let (high, low): (u32, u32) = (fields.get(1)?.parse().ok()?, fields.get(2)?.parse().ok()?);
        let plain = fields[0].chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let known = ["", "8", "16", "64", "W"].contains(&kind);
        (plain && known).then(|| (fields[0].to_string(), high - low + 1))
    };
    Some(match fields() {
        Some((name, width)) => Ok(Port { name, direction, width }),
        None => Err(Error::Port(line.into())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_port() {
        let header = "
            VL_IN8(&clk,0,0);
            VL_OUT16(&sum,11,0);
            VL_IN(&word,31,0);
            VL_INOUT64(&bus,63,0);
            VL_OUTW(&snap,99,0,4);
            void eval();";
        let ports = parse(header).unwrap();
        let seen: Vec<_> = ports.iter().map(|p| (p.name.as_str(), p.direction, p.storage(), p.mask())).collect();
        use Direction::*;
        let expected = [
            ("clk", Input, "u8".to_string(), Some(1)),
            ("sum", Output, "u16".into(), Some(0xfff)),
            ("word", Input, "u32".into(), None),
            ("bus", Inout, "u64".into(), None),
            ("snap", Output, "[u32; 4]".into(), Some(0xf)),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn refuses_what_has_no_type_and_names_it() {
        let error = parse("VL_IN8((&lanes)[4],7,0);").unwrap_err();
        assert!(error.to_string().contains("lanes"), "{error}");
    }
}
