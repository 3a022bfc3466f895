//! Rules 7 and 8 on the fields of a struct.

use super::{source::last_name, Findings};
use syn::spanned::Spanned;
use syn::{ItemStruct, Meta, Type};

pub fn check(item: &ItemStruct, findings: &mut Findings) {
    let derived = derives(item);
    let flat = derived.contains("LogicStruct");
    if !flat && !derived.contains("LogicBlock") && !derived.contains("LogicInterface") {
        return;
    }
    for field in &item.fields {
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        if KEYWORDS.contains(&name.as_str()) {
            findings.add(field.span(), 7, format!("`{name}` is a keyword of Verilog"));
        }
        if SYSTEM_KEYWORDS.contains(&name.as_str()) {
            findings.add(field.span(), 7, format!("`{name}` is a keyword of SystemVerilog"));
        }
        if flat && !matches!(last_name(&field.ty).as_deref(), Some("Bit" | "Bits" | "Signed" | "bool")) {
            findings.add(field.span(), 7, format!("`{name}` nests a struct: fields are bits only"));
        }
        if matches!(&field.ty, Type::Array(outer) if matches!(*outer.elem, Type::Array(_))) {
            findings.add(field.span(), 8, format!("`{name}` is an array of arrays"));
        }
    }
}

fn derives(item: &ItemStruct) -> String {
    item.attrs
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("derive") => Some(list.tokens.to_string()),
            _ => None,
        })
        .collect()
}

/// The keywords of Verilog-2005, without those that are keywords of Rust too.
const KEYWORDS: [&str; 114] = [
    "always", "and", "assign", "automatic", "begin", "buf", "bufif0", "bufif1", "case", "casex", "casez", "cell",
    "cmos", "config", "deassign", "default", "defparam", "design", "disable", "edge", "end", "endcase", "endconfig",
    "endfunction", "endgenerate", "endmodule", "endprimitive", "endspecify", "endtable", "endtask", "event", "force",
    "forever", "fork", "function", "generate", "genvar", "highz0", "highz1", "ifnone", "incdir", "include", "initial",
    "inout", "input", "instance", "integer", "join", "large", "liblist", "library", "localparam", "macromodule",
    "medium", "module", "nand", "negedge", "nmos", "nor", "noshowcancelled", "not", "notif0", "notif1", "or",
    "output", "parameter", "pmos", "posedge", "primitive", "pull0", "pull1", "pulldown", "pullup", "rcmos", "real",
    "realtime", "reg", "release", "repeat", "rnmos", "rpmos", "rtran", "rtranif0", "rtranif1", "scalared", "signed",
    "small", "specify", "specparam", "strong0", "strong1", "supply0", "supply1", "table", "task", "time", "tran",
    "tranif0", "tranif1", "tri", "tri0", "tri1", "triand", "trior", "trireg", "unsigned", "use", "uwire", "vectored",
    "wait", "wand", "weak0", "weak1", "wire",
];

/// What SystemVerilog (IEEE 1800-2017) adds: Verilator reads the Verilog as that. Without `global`, which only stands in
/// front of `clocking` and which tools take as a name.
const SYSTEM_KEYWORDS: [&str; 112] = [
    "accept_on", "alias", "always_comb", "always_ff", "always_latch", "assert", "assume", "before", "bind", "bins",
    "binsof", "bit", "byte", "chandle", "checker", "class", "clocking", "constraint", "context", "cover",
    "covergroup", "coverpoint", "cross", "dist", "endchecker", "endclass", "endclocking", "endgroup", "endinterface",
    "endpackage", "endprogram", "endproperty", "endsequence", "eventually", "expect", "export", "extends", "final",
    "first_match", "foreach", "forkjoin", "iff", "ignore_bins", "illegal_bins", "implements", "implies",
    "import", "inside", "int", "interconnect", "interface", "intersect", "join_any", "join_none", "let", "local",
    "logic", "longint", "matches", "modport", "nettype", "new", "nexttime", "null", "package", "packed", "program",
    "property", "protected", "pure", "rand", "randc", "randcase", "randomize", "randsequence", "ref", "reject_on",
    "restrict", "s_always", "s_eventually", "s_nexttime", "s_until", "s_until_with", "sequence", "shortint",
    "shortreal", "soft", "solve", "string", "strong", "sync_accept_on", "sync_reject_on", "tagged", "this",
    "throughout", "timeprecision", "timeunit", "typedef", "union", "unique", "unique0", "until", "until_with",
    "untyped", "var", "virtual", "void", "wait_order", "weak", "wildcard", "with", "within",
];
