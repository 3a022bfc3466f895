//! A design with hundreds of ports on a chip with few pins: inputs come out of a shift register, outputs go through
//! a register into a chain of XORs. Nothing is optimised away, and each path of the design begins and ends at
//! a register.

use anyhow::{ensure, Context, Result};
use std::fmt::Write;

/// The name of the wrapper's module.
pub const NAME: &str = "out_of_context";

/// The wrapper around the module `name` of the Verilog that rust-hdl emitted.
///
/// # Errors
///
/// When the module is not there, or a port is declared in another way than rust-hdl does.
pub fn around(name: &str, verilog: &str) -> Result<String> {
    let start = verilog.find(&format!("module {name}(")).with_context(|| format!("no module {name} in the Verilog"))?;
    let module = verilog[start..].split("endmodule").next().unwrap_or_default();
    let (mut given, mut made) = (0, 0);
    let mut ports = Vec::new();
    for line in module.lines().map(str::trim) {
        let (bits, declaration) = if let Some(rest) = line.strip_prefix("input ") {
            (&mut given, rest)
        } else if let Some(rest) = line.strip_prefix("output ") {
            (&mut made, rest)
        } else {
            continue;
        };
        let port = Port::parse(declaration).with_context(|| format!("port of {name}: {line}"))?;
        if port.name.ends_with("clock") {
            ports.push(format!(".{}(clock)", port.name));
            continue;
        }
        let bus = if line.starts_with("input ") { "given" } else { "made" };
        ports.push(format!(".{}({bus}[{}:{}])", port.name, *bits + port.width - 1, *bits));
        *bits += port.width;
    }
    ensure!(given > 0 && made > 0, "module {name} has no inputs or no outputs besides its clock");
    let mut text = String::new();
    writeln!(
        text,
        "module {NAME}(input wire clock, input wire serial_in, output wire serial_out);
    reg [{given}:0] given;
    wire [{made}:0] made;
    reg [{made}:0] taken, chain;
    assign made[{made}] = given[{given}];
    assign serial_out = chain[{made}];
    always @(posedge clock) begin
        given <= {{given[{last}:0], serial_in}};
        taken <= made;
        chain <= taken ^ {{chain[{before}:0], given[0]}};
    end
    {name} core({ports});
endmodule",
        last = given - 1,
        before = made - 1,
        ports = ports.join(", "),
    )?;
    Ok(text)
}

struct Port<'a> {
    name: &'a str,
    width: usize,
}

impl<'a> Port<'a> {
    /// `wire  [63:0] s_data;`
    fn parse(declaration: &'a str) -> Option<Self> {
        let mut words = declaration.strip_suffix(';')?.split_whitespace().skip(1);
        let first = words.next()?;
        let Some(range) = first.strip_prefix('[') else { return Some(Self { name: first, width: 1 }) };
        let high: usize = range.strip_suffix(":0]")?.parse().ok()?;
        Some(Self { name: words.next()?, width: high + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::around;

    const FIFO: &str = "module fifo(clock,s_data,m_data,full);
        input wire  clock;
        input wire  [7:0] s_data;
        output wire  [7:0] m_data;
        output reg  full;
        endmodule
        module other(x); input wire  x; endmodule";

    #[test]
    fn each_port_has_bits_of_its_own() {
        let text = around("fifo", FIFO).unwrap();
        assert!(text.contains("fifo core(.clock(clock), .s_data(given[7:0]), .m_data(made[7:0]), .full(made[8:8]));"));
        assert!(text.contains("reg [8:0] given;") && text.contains("wire [9:0] made;"), "{text}");
    }

    #[test]
    fn a_module_that_is_not_there_is_an_error() {
        let error = around("lifo", FIFO).unwrap_err().to_string();
        assert_eq!(error, "no module lifo in the Verilog");
    }

    #[test]
    fn a_port_of_an_unknown_shape_is_named() {
        let error = around("fifo", &FIFO.replace("[7:0] s_data", "[N:0] s_data")).unwrap_err().to_string();
        assert!(error.contains("s_data"), "{error}");
    }
}
