//! Rules 1, 2, 3, 7 and 8: what an expression becomes when it is written down without Rust's types.
//!
//! In Verilog the width of `a + b` is that of the widest operand *around* it. Up to the next operator that fixes
//! a width of its own, an expression is one context; [`Context`] says what is in it.

use super::source::Block;
use super::Findings;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, ExprCall, ExprForLoop, ExprIndex, ExprLit, ExprMatch, ExprMethodCall, ExprPath};
use syn::{Lit, Pat, PathArguments};

pub fn check(block: &Block<'_>, findings: &mut Findings) {
    let loops = BTreeSet::new();
    Expressions { findings, consts: &block.consts, loops }.visit_block(&block.update.block);
}

/// What is found in an expression before the next operator with a width of its own.
#[derive(Clone, Copy, Default)]
struct Context {
    /// An operator whose upper bits depend on the width: `+ - * << !`.
    carries: bool,
    /// A bare literal, 32 bits wide.
    literal: bool,
}

impl Context {
    fn of(expression: &Expr) -> Self {
        match expression {
            Expr::Paren(inner) => Self::of(&inner.expr),
            // The index of a loop is unrolled into a bare number.
            Expr::Lit(_) | Expr::Path(_) => Self { literal: true, carries: false },
            Expr::Unary(unary) => Self { carries: true, ..Self::of(&unary.expr) },
            Expr::Binary(binary) if is_shift(&binary.op) => {
                let left = Self::of(&binary.left);
                Self { carries: left.carries || matches!(binary.op, BinOp::Shl(_)), ..left }
            }
            Expr::Binary(binary) if is_arithmetic(&binary.op) => {
                Self { carries: true, ..Self::of(&binary.left).and(Self::of(&binary.right)) }
            }
            Expr::Binary(binary) if is_bitwise(&binary.op) => Self::of(&binary.left).and(Self::of(&binary.right)),
            Expr::MethodCall(call) if TRANSPARENT.iter().any(|name| call.method == name) => Self::of(&call.receiver),
            _ => Self::default(),
        }
    }

    fn and(self, other: Self) -> Self {
        Self { carries: self.carries || other.carries, literal: self.literal || other.literal }
    }
}

/// Methods that leave no trace in the Verilog.
const TRANSPARENT: [&str; 3] = ["into", "index", "to_bits"];

struct Expressions<'a> {
    findings: &'a mut Findings,
    consts: &'a [String],
    /// The indices of the loops around: they are unrolled into numbers.
    loops: BTreeSet<String>,
}

impl Expressions<'_> {
    /// Complains when the value depends on a width that Verilog takes from elsewhere.
    fn exact(&mut self, expression: &Expr, context: Context, place: &str) {
        if context.carries {
            let mixed = (2, "arithmetic with a bare literal");
            let (rule, what) = if context.literal { mixed } else { (3, "arithmetic or `!`") };
            self.findings.add(expression.span(), rule, format!("{what} {place}"));
        }
    }

    /// A path of constants has no value in the Verilog.
    fn constant(&mut self, path: &syn::Path, place: &str) {
        let Some(last) = path.segments.last() else { return };
        let name = last.ident.to_string();
        let shouts = name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let single = path.segments.len() == 1;
        let known = single && (self.loops.contains(&name) || name == "self");
        if !known && (shouts || (single && (self.consts.contains(&name) || name.chars().all(|c| c.is_uppercase())))) {
            self.findings.add(path.span(), 8, format!("the constant `{name}` {place} is emitted by name"));
        }
    }
}

impl<'ast> Visit<'ast> for Expressions<'_> {
    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        for side in [&*binary.left, &*binary.right] {
            if let Expr::Binary(inner) = side {
                let mixed = is_comparison(&binary.op) && is_bitwise(&inner.op);
                if mixed || (is_bitwise(&binary.op) && is_comparison(&inner.op)) {
                    self.findings.add(side.span(), 1, "a bitwise operator beside a comparison needs parentheses");
                }
            }
        }
        if is_comparison(&binary.op) {
            let (left, right) = (Context::of(&binary.left), Context::of(&binary.right));
            let side = if left.carries { &binary.left } else { &binary.right };
            self.exact(side, left.and(right), "is compared");
        }
        if is_shift(&binary.op) {
            // Without a literal the width is that of the operands, and the carry is lost as in Rust.
            let (left, right) = (Context::of(&binary.left), Context::of(&binary.right));
            if matches!(binary.op, BinOp::Shr(_)) && left.literal {
                self.exact(&binary.left, left, "is shifted right");
            }
            // A count without any signal is a number already.
            if right.literal && names_self(&binary.right) {
                self.exact(&binary.right, right, "is a shift count");
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let (Expr::Path(function), Some(argument)) = (&*call.func, call.args.first()) {
            let name = function.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
            let casts = ["bit_cast", "unsigned_cast", "signed_cast", "signed_bit_cast", "bits"];
            if casts.contains(&name.as_str()) && !keeps_width(&function.path) {
                self.exact(argument, Context::of(argument), "is cast to another width");
            }
        }
        // The function itself is not a value.
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let method = call.method.to_string();
        match method.as_str() {
            "get_bits" | "get_bit" => {
                if !is_signal(&call.receiver) {
                    self.findings.add(call.receiver.span(), 8, "only a plain signal can be sliced");
                    self.exact(&call.receiver, Context::of(&call.receiver), "is sliced");
                }
                for offset in &call.args {
                    // With a literal it is computed in 32 bits, which is as good as Rust's `usize`.
                    let context = Context::of(offset);
                    if names_self(offset) && !context.literal {
                        self.exact(offset, context, "is an offset");
                    }
                }
            }
            "any" | "all" | "xor" => {
                let context = Context::of(&call.receiver);
                if context.literal {
                    self.exact(&call.receiver, context, "is reduced");
                }
            }
            "index" => self.exact(&call.receiver, Context::of(&call.receiver), "is an index"),
            _ => {}
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_match(&mut self, choice: &'ast ExprMatch) {
        // Under `index()` it has been seen already.
        if !matches!(&*choice.expr, Expr::MethodCall(call) if call.method == "index") {
            self.exact(&choice.expr, Context::of(&choice.expr), "is matched");
        }
        for arm in &choice.arms {
            match &arm.pat {
                Pat::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
                    if !number.to_string().chars().all(|c| c.is_ascii_digit()) {
                        self.findings.add(number.span(), 7, format!("the match arm `{number}` is not plain decimal"));
                    }
                }
                Pat::Path(path) => self.constant(&path.path, "as a match arm"),
                Pat::Ident(name) => self.constant(&name.ident.clone().into(), "as a match arm"),
                _ => {}
            }
        }
        // The patterns have been looked at; what remains are values.
        self.visit_expr(&choice.expr);
        choice.arms.iter().for_each(|arm| self.visit_expr(&arm.body));
    }

    fn visit_expr_for_loop(&mut self, repeat: &'ast ExprForLoop) {
        // The bounds may be constants: the loop is unrolled before anything is written down.
        let Pat::Ident(index) = &*repeat.pat else { return };
        let name = index.ident.to_string();
        let new = self.loops.insert(name.clone());
        self.visit_block(&repeat.body);
        if new {
            self.loops.remove(&name);
        }
    }

    fn visit_expr_index(&mut self, index: &'ast ExprIndex) {
        if holds_index(&index.expr) {
            self.findings.add(index.span(), 8, "only one index in a path");
        }
        visit::visit_expr_index(self, index);
    }

    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        self.constant(&path.path, "as a value");
    }

    fn visit_expr_lit(&mut self, literal: &'ast ExprLit) {
        if let Lit::Int(number) = &literal.lit {
            let large = number.base10_parse::<u128>().is_ok_and(|value| value >= 1 << 31);
            if large && !matches!(number.suffix(), "u64" | "u128") {
                self.findings.add(number.span(), 2, format!("`{number}` needs the suffix `_u64`"));
            }
        }
    }
}

fn is_comparison(op: &BinOp) -> bool {
    matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_))
}

fn is_bitwise(op: &BinOp) -> bool {
    matches!(op, BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_))
}

fn is_arithmetic(op: &BinOp) -> bool {
    matches!(op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_))
}

fn is_shift(op: &BinOp) -> bool {
    matches!(op, BinOp::Shl(_) | BinOp::Shr(_))
}

/// `bit_cast::<N, N>`, or to fewer bits: the cast masks what its argument carries.
fn keeps_width(function: &syn::Path) -> bool {
    let Some(PathArguments::AngleBracketed(widths)) = function.segments.last().map(|last| &last.arguments) else {
        return false;
    };
    let text = |i: usize| widths.args.get(i)?.span().source_text();
    let number = |i: usize| text(i)?.parse::<usize>().ok();
    text(0) == text(1) || number(0).zip(number(1)).is_some_and(|(to, from)| to <= from)
}

/// `self.a.b[i].val()`, and nothing else.
fn is_signal(expression: &Expr) -> bool {
    fn is_place(expression: &Expr) -> bool {
        match expression {
            Expr::Field(field) => is_place(&field.base),
            Expr::Index(index) => is_place(&index.expr),
            Expr::Path(_) => true,
            _ => false,
        }
    }
    matches!(expression, Expr::MethodCall(call) if call.method == "val" && is_place(&call.receiver))
}

fn names_self(expression: &Expr) -> bool {
    struct Names(bool);
    impl<'ast> Visit<'ast> for Names {
        fn visit_expr_path(&mut self, path: &'ast ExprPath) {
            self.0 |= path.path.is_ident("self");
        }
    }
    let mut names = Names(false);
    names.visit_expr(expression);
    names.0
}

fn holds_index(expression: &Expr) -> bool {
    match expression {
        Expr::Index(_) => true,
        Expr::Field(field) => holds_index(&field.base),
        _ => false,
    }
}
