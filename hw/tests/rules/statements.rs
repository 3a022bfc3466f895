//! Rules 4, 5 and 6: the order of the statements of an `update`.

use super::source::{Block as Source, Kind};
use super::Findings;
use proc_macro2::{Span, TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, Member, Stmt};

pub fn check(source: &Source<'_>, findings: &mut Findings) {
    let mut walk = Walk {
        source,
        findings,
        defaults: BTreeSet::new(),
        reported: BTreeSet::new(),
        conditional: false,
        tests_reset: false,
        passes_reset: false,
    };
    walk.registers();
    walk.block(&source.update.block);
    walk.outputs();
    walk.reset();
}

struct Walk<'a> {
    source: &'a Source<'a>,
    findings: &'a mut Findings,
    /// What has been written outside of any condition.
    defaults: BTreeSet<String>,
    /// What has been complained about, so that one omission is one finding.
    reported: BTreeSet<String>,
    conditional: bool,
    tests_reset: bool,
    passes_reset: bool,
}

impl Walk<'_> {
    fn of_kind(&self, kind: Kind) -> Vec<String> {
        self.source.fields.iter().filter(|(_, k)| **k == kind).map(|(name, _)| name.clone()).collect()
    }

    fn kind(&self, signal: &str) -> Option<Kind> {
        self.source.fields.get(signal.split('.').next()?).copied()
    }

    /// `dff_setup!` is the first statement.
    fn registers(&mut self) {
        let statements = &self.source.update.block.stmts;
        let setup = matches!(statements.first(), Some(Stmt::Macro(first)) if first.mac.path.is_ident("dff_setup"));
        if !setup && !self.of_kind(Kind::Dff).is_empty() {
            let at = statements.first().map_or(self.source.update.span(), Spanned::span);
            self.findings.add(at, 4, "`update` does not begin with `dff_setup!`");
        }
    }

    /// Every output, Local and register was written.
    fn outputs(&mut self) {
        let written = self.of_kind(Kind::Written);
        let registers = self.of_kind(Kind::Dff).into_iter().map(|name| format!("{name}.d"));
        for signal in written.into_iter().chain(registers) {
            if !self.defaults.contains(&signal) && self.reported.insert(signal.clone()) {
                let at = self.source.update.sig.ident.span();
                let name = signal.trim_end_matches(".d");
                let place = if name == signal { "has no default" } else { "is not in `dff_setup!`" };
                self.findings.add(at, 4, format!("`{name}` {place}"));
            }
        }
    }

    /// The reset branch is the last statement.
    fn reset(&mut self) {
        let has_reset = self.source.fields.get("reset") == Some(&Kind::In);
        if !has_reset || self.of_kind(Kind::Dff).is_empty() {
            return;
        }
        let last = self.source.update.block.stmts.last();
        let is_reset = matches!(last, Some(Stmt::Expr(Expr::If(branch), _)) if reads(&branch.cond).contains("reset"));
        // A block whose registers need no reset may hand it to its children only.
        if !is_reset && (self.tests_reset || !self.passes_reset) {
            let at = last.map_or(self.source.update.span(), Spanned::span);
            self.findings.add(at, 6, "the last statement is not the reset branch");
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.stmts {
            match statement {
                Stmt::Expr(expression, _) => self.statement(expression),
                Stmt::Macro(call) => self.setup(call.mac.path.is_ident("dff_setup"), &call.mac.tokens),
                _ => {}
            }
        }
    }

    fn setup(&mut self, is_setup: bool, tokens: &TokenStream) {
        for tree in tokens.clone() {
            if let (true, TokenTree::Ident(name)) = (is_setup, tree) {
                self.defaults.insert(format!("{name}.d"));
            }
        }
    }

    fn branch(&mut self, block: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.conditional, true);
        block(self);
        self.conditional = outer;
    }

    fn statement(&mut self, expression: &Expr) {
        match expression {
            Expr::Assign(assign) => {
                self.read(&assign.right);
                if let Some(target) = target(&assign.left) {
                    self.passes_reset |= target.ends_with(".reset") && reads(&assign.right).contains("reset");
                    self.write(target, assign.left.span());
                }
            }
            Expr::If(branch) => {
                self.tests_reset |= reads(&branch.cond).contains("reset");
                self.read(&branch.cond);
                self.branch(|walk| {
                    walk.block(&branch.then_branch);
                    if let Some((_, otherwise)) = &branch.else_branch {
                        walk.statement(otherwise);
                    }
                });
            }
            Expr::Match(choice) => {
                self.read(&choice.expr);
                self.branch(|walk| choice.arms.iter().for_each(|arm| walk.statement(&arm.body)));
            }
            Expr::ForLoop(repeat) => self.block(&repeat.body),
            Expr::Block(block) => self.block(&block.block),
            // `Interface::link(&mut self.a, &mut self.b)`: both ends are driven as a whole.
            Expr::Call(call) => {
                for argument in &call.args {
                    if let Expr::Reference(reference) = argument {
                        self.defaults.extend(path(&reference.expr));
                    }
                }
            }
            _ => {}
        }
    }

    fn write(&mut self, signal: String, at: Span) {
        let needs = matches!(self.kind(&signal), Some(Kind::Written | Kind::Dff | Kind::Child));
        if !self.conditional {
            self.defaults.insert(signal);
        } else if needs && !self.defaults.contains(&signal) && self.reported.insert(signal.clone()) {
            self.findings.add(at, 4, format!("`{signal}` has no default before this conditional assignment"));
        }
    }

    fn read(&mut self, expression: &Expr) {
        for signal in reads(expression) {
            let unwritten = self.kind(&signal) == Some(Kind::Written) && !self.defaults.contains(&signal);
            // One fault, one finding: a signal without a default was reported where it is written.
            if unwritten && !self.reported.contains(&signal) {
                self.findings.add(expression.span(), 5, format!("`{signal}` is read before it is written"));
            }
        }
    }
}

/// The signals that an expression reads, by their path below `self`.
fn reads(expression: &Expr) -> BTreeSet<String> {
    struct Reads(BTreeSet<String>);
    impl<'ast> Visit<'ast> for Reads {
        fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
            if call.method == "val" {
                self.0.extend(path(&call.receiver));
            }
            visit::visit_expr_method_call(self, call);
        }
    }
    let mut reads = Reads(BTreeSet::new());
    reads.visit_expr(expression);
    reads.0
}

/// The signal that an assignment to `self.a.b.next` or `self.a.b.next.field` writes: `a.b`.
fn target(left: &Expr) -> Option<String> {
    let Expr::Field(field) = left else { return None };
    match &field.member {
        Member::Named(name) if name == "next" => path(&field.base),
        _ => target(&field.base),
    }
}

/// `a.b` of `self.a[i].b`.
fn path(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Field(field) => {
            let Member::Named(name) = &field.member else { return None };
            match path(&field.base)? {
                base if base.is_empty() => Some(name.to_string()),
                base => Some(format!("{base}.{name}")),
            }
        }
        Expr::Index(index) => path(&index.expr),
        Expr::Path(path) if path.path.is_ident("self") => Some(String::new()),
        _ => None,
    }
}
