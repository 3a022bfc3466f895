//! Cuts the emitted `always @(*)` blocks into one for each signal.
//!
//! rust-hdl emits one `always @(*)` a module, clocks and wiring between children included. A simulator then has
//! to treat the whole block as depending on everything it reads: clocks seem to be derived from data, and
//! a child's output seems to feed back to its input. So each signal gets a block of its own: the statements
//! that set it, inside the conditions around them. Where that is one plain statement, it becomes an `assign`.
//!
//! A block is run from top to bottom, so this is right only when each block reads final values: a signal that is
//! read before it is set for the last time stays in one block with its reader.

use std::collections::{BTreeMap, BTreeSet};

/// The same Verilog with small blocks.
pub(super) fn tidy(verilog: &str) -> String {
    let mut out = String::with_capacity(2 * verilog.len());
    for module in verilog.split_inclusive("endmodule") {
        match module.split_once("    always @(*) begin\n") {
            Some((head, body)) if module.contains("// Update code\n") => {
                let end = body.find("\n    end\n").map_or(0, |at| at + 1);
                let tail = body[end..].strip_prefix("    end\n").unwrap_or(&body[end..]);
                out.push_str(&tidy_module(head, &body[..end], tail));
            }
            _ => out.push_str(module),
        }
    }
    out
}

/// A line of the block, and the lines that stand further in behind it.
struct Line<'a> {
    number: usize,
    text: &'a str,
    inside: Vec<Line<'a>>,
}

impl<'a> Line<'a> {
    /// `target = value`, when the line is an assignment.
    fn assignment(&self) -> Option<(&'a str, &'a str)> {
        self.text.trim().strip_suffix(';')?.split_once(" = ")
    }

    /// The signal that the line sets.
    fn target(&self) -> Option<&'a str> {
        self.assignment().map(|(left, _)| left.split('[').next().unwrap_or(left).trim())
    }

    /// Whether the line, or one inside it, sets a signal of the group.
    fn sets(&self, group: &BTreeSet<&str>) -> bool {
        self.target().is_some_and(|target| group.contains(target)) || self.inside.iter().any(|line| line.sets(group))
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Reads lines that stand at least `depth` in.
fn parse<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'a str)>>, depth: usize) -> Vec<Line<'a>> {
    let mut parsed = Vec::new();
    while let Some((number, text)) = lines.next_if(|(_, text)| indent(text) >= depth) {
        let inside = parse(lines, indent(text) + 1);
        parsed.push(Line { number, text, inside });
    }
    parsed
}

/// Cuts lines into statements: an assignment; an `if` with its `else` parts; a `case`.
fn statements<'b, 'a>(lines: &'b [Line<'a>]) -> Vec<&'b [Line<'a>]> {
    let mut starts: Vec<usize> = (0..lines.len())
        .filter(|at| names(lines[*at].text).next().is_none_or(|word| !["end", "else", "endcase"].contains(&word)))
        .collect();
    starts.push(lines.len());
    starts.windows(2).map(|pair| &lines[pair[0]..pair[1]]).collect()
}

/// The statements that set a signal of the group, without what else is in them.
fn slice(lines: &[Line], group: &BTreeSet<&str>, out: &mut String) {
    let arms = lines.iter().all(|line| line.text.trim_end().ends_with(':'));
    for statement in statements(lines) {
        if arms || statement.iter().any(|line| line.sets(group)) {
            for line in statement {
                out.push_str(&format!("{}\n", line.text));
                // The body of an arm is a `begin` and an `end` that both must stay.
                let body = line.inside.first().is_some_and(|first| first.text.trim() == "begin");
                if body {
                    out.push_str(&format!("{}\n", line.inside[0].text));
                    slice(&line.inside[0].inside, group, out);
                    out.push_str(&format!("{}\n", line.inside[1].text));
                } else {
                    slice(&line.inside, group, out);
                }
            }
        }
    }
}

/// What is known of a signal that the block sets.
#[derive(Default)]
struct Signal<'a> {
    last_set: usize,
    /// How often it is set, and the value if that is once, whole and outside of conditions.
    times: usize,
    plain: Option<&'a str>,
    /// Names read for it, and in which line.
    reads: Vec<(&'a str, usize)>,
}

/// Notes all assignments; `conditions` are the lines that stand around these.
fn survey<'a>(lines: &[Line<'a>], conditions: &[(&'a str, usize)], signals: &mut BTreeMap<&'a str, Signal<'a>>) {
    for statement in statements(lines) {
        // An `else` depends on the conditions of all parts before it.
        let mut around = conditions.to_vec();
        for line in statement {
            if let (Some(target), Some((left, value))) = (line.target(), line.assignment()) {
                let signal = signals.entry(target).or_default();
                signal.times += 1;
                signal.last_set = line.number;
                signal.plain = (conditions.is_empty() && left == target && signal.times == 1).then_some(value);
                signal.reads.extend(names(value).chain(names(&left[target.len()..])).map(|name| (name, line.number)));
                signal.reads.extend(&around);
            } else {
                around.extend(names(line.text).map(|name| (name, line.number)));
                survey(&line.inside, &around, signals);
            }
        }
    }
}

/// The names an expression reads.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).filter(|name| !name.is_empty())
}

/// Signals that must share a block, in the order in which they are first set.
fn groups<'a>(signals: &BTreeMap<&'a str, Signal<'a>>) -> Vec<BTreeSet<&'a str>> {
    let mut leader: BTreeMap<&str, &str> = signals.keys().map(|name| (*name, *name)).collect();
    for (name, signal) in signals {
        for (read, line) in &signal.reads {
            if read != name && signals.get(read).is_some_and(|other| other.last_set > *line) {
                let (from, to) = (leader[name], leader[read]);
                leader.values_mut().filter(|leader| **leader == from).for_each(|leader| *leader = to);
            }
        }
    }
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, leader) in leader {
        groups.entry(leader).or_default().insert(name);
    }
    groups.into_values().collect()
}

fn tidy_module(head: &str, block: &str, tail: &str) -> String {
    let lines = parse(&mut block.lines().filter(|line| !line.trim().is_empty()).enumerate().peekable(), 0);
    let mut signals = BTreeMap::new();
    survey(&lines, &[], &mut signals);
    let mut wires = BTreeSet::new();
    let mut code = String::new();
    for group in groups(&signals) {
        let only = group.first().filter(|_| group.len() == 1);
        if let Some((name, value)) = only.and_then(|name| Some((*name, signals[name].plain?))) {
            wires.insert(name);
            code.push_str(&format!("    assign {name} = {value};\n"));
        } else {
            code.push_str("    always @(*) begin\n");
            slice(&lines, &group, &mut code);
            code.push_str("    end\n");
        }
    }
    let mut out = String::new();
    for line in head.split_inclusive('\n') {
        match declared(line).filter(|name| wires.contains(name)) {
            Some(_) => out.push_str(&line.replacen("reg ", "wire ", 1)),
            None => out.push_str(line),
        }
    }
    out + &code + tail
}

/// The name that a `reg` declaration or `output reg` port declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim().trim_end_matches(';');
    line.strip_prefix("output reg ").or_else(|| line.strip_prefix("reg "))?.split_whitespace().last()
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
    fn each_signal_gets_its_own_block() {
        let block = "        x$clock = a;\n        c = 4'h1;\n        if (a) begin\n            c = 4'h2;\n            b = a;\n        end\n        else begin\n            b = c[1];\n        end\n";
        let tidied = tidy(&module(block));
        assert!(tidied.contains("wire x$clock;") && tidied.contains("assign x$clock = a;"));
        assert!(tidied.contains("        if (a) begin\n            b = a;\n        end\n        else begin\n            b = c[1];\n        end\n"));
        assert!(tidied.contains("        c = 4'h1;\n        if (a) begin\n            c = 4'h2;\n        end\n        else begin\n        end\n"));
        assert_eq!(tidied.matches("always").count(), 2);
    }

    #[test]
    fn a_value_read_before_it_is_final_stays_with_its_reader() {
        let tidied = tidy(&module("        c = 4'h0;\n        b = c[0];\n        c[0] = a;\n"));
        assert_eq!(tidied.matches("always").count(), 1);
        assert!(tidied.contains("        c = 4'h0;\n        b = c[0];\n        c[0] = a;\n"));
    }

    #[test]
    fn names_that_begin_like_keywords_are_names() {
        let tidied = tidy(&module("        b = a;\n        ended = a;\n        else_ = b;\n"));
        assert!(tidied.contains("assign ended = a;") && tidied.contains("assign else_ = b;"));
    }

    #[test]
    fn a_condition_set_inside_itself_stays_with_what_it_guards() {
        let tidied = tidy(&module("        c = 4'h0;\n        if (c[0]) begin\n            b = a;\n            c = 4'h1;\n        end\n"));
        assert_eq!(tidied.matches("always").count(), 1);
    }

    #[test]
    fn arms_of_a_case_stay_all() {
        let block = "        case (a)\n            0:\n                begin\n                    b = 1'b1;\n                end\n            default:\n                begin\n                    c = 4'h1;\n                end\n        endcase\n";
        let tidied = tidy(&module(block));
        assert!(tidied.contains("            0:\n                begin\n                    b = 1'b1;\n                end\n            default:\n                begin\n                end\n        endcase\n"));
        assert_eq!(tidied.matches("default:").count(), 2);
    }

    #[test]
    fn a_block_of_wiring_alone_disappears() {
        let tidied = tidy(&module("        b = a;\n"));
        assert!(!tidied.contains("always") && tidied.contains("assign b = a;\n    \nendmodule"));
    }
}
