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
