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

/// Reads the lines between the comments PORTS and CELLS, such as `VL_IN8(&clk,0,0);` and `VL_OUTW(&snap,127,0,4);`.
/// Ports in other forms must not be passed over, so no other line may be there.
pub fn parse(header: &str) -> Result<Vec<Port>, Error> {
    let lines = header
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "// PORTS");
    let lines = lines.take_while(|line| *line != "// CELLS" && *line != "};");
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .map(port)
        .collect()
}

/// What Verilator's class for a top has beside the ports.
const CLASS_MEMBERS: &[&str] = &[
    "contextp",
    "eval",
    "eval_end_step",
    "eval_step",
    "eventsPending",
    "hierName",
    "modelName",
    "name",
    "nextTimeSlot",
    "rootp",
    "threads",
    "trace",
    "traceConfig",
    "vlSymsp",
];

fn port(line: &str) -> Result<Port, Error> {
    let refused = |port: &str, why| {
        Err(Error::Port {
            port: port.into(),
            why,
        })
    };
    match packed_port(line) {
        Some(port) if CLASS_MEMBERS.contains(&port.name.as_str()) => refused(
            &port.name,
            "the C++ class that Verilator makes has a member of this name; rename the port",
        ),
        Some(port) => Ok(port),
        None => refused(
            line,
            "only packed ports are supported, not unpacked arrays, real numbers or strings",
        ),
    }
}

fn packed_port(line: &str) -> Option<Port> {
    let (direction, rest) = [
        ("VL_INOUT", Direction::Inout),
        ("VL_IN", Direction::Input),
        ("VL_OUT", Direction::Output),
    ]
    .into_iter()
    .find_map(|(prefix, direction)| Some((direction, line.strip_prefix(prefix)?)))?;
    let (_, fields) = rest.split_once("(&")?;
    let mut fields = fields.trim_end_matches(");").split(',');
    let name = fields.next()?;
    let (high, low): (u32, u32) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    plain.then(|| Port {
        name: name.into(),
        direction,
        width: high.abs_diff(low) + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_port() {
        let header = "
            class Vtop { public:
            // PORTS
            // The application code writes and reads these signals to
            VL_IN8(&clk,0,0);
            VL_OUT16(&sum,15,4);
            VL_IN(&word,31,0);
            VL_INOUT64(&bus,63,0);
            VL_OUTW(&snap,99,0,4);

            // CELLS
            Vtop___024root* const rootp;";
        let ports = parse(header).unwrap();
        let seen: Vec<_> = ports
            .iter()
            .map(|p| (p.name.as_str(), p.direction, p.storage(), p.mask()))
            .collect();
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
        for (line, why) in [
            ("VL_IN8((&lanes)[4],7,0);", "unpacked"),
            ("double &gain;", "real"),
            ("std::string &text;", "strings"),
            ("VL_OUT8(&trace,7,0);", "rename"),
        ] {
            let error = parse(&format!("// PORTS\n{line}\n// CELLS"))
                .unwrap_err()
                .to_string();
            let name = line
                .split('&')
                .nth(1)
                .unwrap()
                .split([')', ';', ','])
                .next()
                .unwrap();
            assert!(error.contains(name) && error.contains(why), "{error}");
        }
    }
}
