//! Takes what is plain wiring out of the emitted `always @(*)` blocks.
//!
//! rust-hdl emits one `always @(*)` a module, clocks and wiring between children included. A simulator then has
//! to treat the whole block as depending on everything it reads: clocks seem to be derived from data, and
//! a child's output seems to feed back to its input. A statement that stands outside every condition, sets a
//! whole signal that nothing else sets, and reads nothing that is set after it, means the same as a continuous
//! assignment; so it becomes one.

use std::collections::BTreeMap;

/// The same Verilog with plain wiring as `assign`.
pub(super) fn tidy(verilog: &str) -> String {
    let mut out = String::with_capacity(verilog.len());
    for module in verilog.split_inclusive("endmodule") {
        match module.split_once("    always @(*) begin\n") {
            Some((head, body)) if module.contains("// Update code\n") => {
                let (block, tail) = split_block(body);
                tidy_module(head, block, tail, &mut out);
            }
            _ => out.push_str(module),
        }
    }
    out
}

/// The lines of the block, and what follows its `end`, which stands at the block's own indentation.
fn split_block(body: &str) -> (&str, &str) {
    let end = body.find("\n    end\n").map_or(0, |at| at + 1);
    (&body[..end], &body[end..])
}

/// An assignment in the block: line, depth of conditions, target without index, whether it sets all of the target.
struct Assignment<'a> {
    line: usize,
    outer: bool,
    target: &'a str,
    whole: bool,
    value: &'a str,
}

fn tidy_module(head: &str, block: &str, tail: &str, out: &mut String) {
    let lines: Vec<&str> = block.lines().collect();
    let assignments: Vec<Assignment> = lines.iter().enumerate().filter_map(|(at, line)| assignment(at, line)).collect();
    let mut last_set: BTreeMap<&str, usize> = BTreeMap::new();
    let mut times_set: BTreeMap<&str, usize> = BTreeMap::new();
    for set in &assignments {
        last_set.insert(set.target, set.line);
        *times_set.entry(set.target).or_default() += 1;
    }
    let wiring: BTreeMap<&str, &Assignment> = assignments
        .iter()
        .filter(|set| set.outer && set.whole && times_set[set.target] == 1)
        .filter(|set| names(set.value).all(|name| last_set.get(name).is_none_or(|at| *at < set.line)))
        .map(|set| (set.target, set))
        .collect();
    for line in head.split_inclusive('\n') {
        match declared(line).filter(|name| wiring.contains_key(name)) {
            Some(_) => out.push_str(&line.replacen("reg ", "wire ", 1)),
            None => out.push_str(line),
        }
    }
    for set in wiring.values() {
        out.push_str(&format!("    assign {} = {};\n", set.target, set.value));
    }
    let left: Vec<&str> = lines
        .iter()
        .enumerate()
        .filter(|(at, _)| !wiring.values().any(|set| set.line == *at))
        .map(|(_, line)| *line)
        .collect();
    if left.iter().any(|line| !line.trim().is_empty()) {
        out.push_str("    always @(*) begin\n");
        left.iter().for_each(|line| out.push_str(&format!("{line}\n")));
        out.push_str(tail);
    } else {
        out.push_str(tail.strip_prefix("    end\n").unwrap_or(tail));
    }
}

/// A line of the block as an assignment. Statements outside conditions stand eight spaces in.
fn assignment(line: usize, text: &str) -> Option<Assignment<'_>> {
    let (left, value) = text.trim().strip_suffix(';')?.split_once(" = ")?;
    let target = left.split('[').next()?.trim();
    let outer = text.starts_with("        ") && !text.starts_with("         ");
    Some(Assignment { line, outer, target, whole: target == left, value })
}

/// The name that a `reg` declaration or `output reg` port declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim().trim_end_matches(';');
    let rest = line.strip_prefix("output reg ").or_else(|| line.strip_prefix("reg "))?;
    if rest.matches('[').count() > 1 {
        return None;
    }
    rest.split_whitespace().last()
}

/// The names an expression reads.
fn names(value: &str) -> impl Iterator<Item = &str> {
    value.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::tidy;

    fn module(block: &str) -> String {
        format!(
            "module m(a,b);\n    input wire  a;\n    output reg  b;\n    reg [3:0] c;\n    reg x$clock;\n\
             \x20   // Update code\n    always @(*) begin\n{block}    end\n    \nendmodule // m\n"
        )
    }

    #[test]
    fn wiring_becomes_continuous() {
        let tidied = tidy(&module("        x$clock = a;\n        b = c[1];\n        c = 4'h1;\n        if (a) begin\n            c = 4'h2;\n        end\n"));
        assert!(tidied.contains("wire x$clock;") && tidied.contains("assign x$clock = a;"));
        assert!(tidied.contains("output reg  b") && tidied.contains("        b = c[1];"), "b reads c before it is set");
        assert!(tidied.contains("reg [3:0] c;"));
    }

    #[test]
    fn order_condition_and_slices_are_respected() {
        let block = "        c = 4'h0;\n        c[0] = a;\n        b = a;\n        if (a) begin\n            x$clock = a;\n        end\n";
        let tidied = tidy(&module(block));
        assert!(tidied.contains("assign b = a;"));
        assert!(!tidied.contains("assign c") && !tidied.contains("assign x$clock"));
    }

    #[test]
    fn a_block_of_wiring_alone_disappears() {
        let tidied = tidy(&module("        b = a;\n"));
        assert!(!tidied.contains("always") && tidied.contains("assign b = a;\n    \nendmodule"));
    }
}
