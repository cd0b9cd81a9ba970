//! Expressions: arithmetic over locals, modulo the number of values.

use super::super::MAX_DIAGNOSTICS;
use super::super::ast::{Expr as Tree, ExprKind, Name, Number};
use super::thread::ThreadLowering;
use crate::Diagnostic;
use crate::flow::Raw;
use crate::suggest::did_you_mean;
use ravelin_program::{Expr, Instruction, Span, Value};

impl ThreadLowering<'_, '_> {
    /// `None` if something in it is wrong, which has been reported.
    pub fn value(&mut self, tree: &Tree) -> Option<Expr> {
        match &tree.kind {
            ExprKind::Error => None,
            ExprKind::Number(value) => {
                self.globals.doubt(Number { value: *value, span: tree.span }, self.diagnostics);
                Some(Expr::Const(*value))
            }
            ExprKind::Truth(truth) => Some(Expr::Const(Value::from(*truth))),
            ExprKind::Name(name) => match self.locals.get(name.as_str()) {
                Some(&(register, _)) => Some(register.into()),
                None => {
                    self.no_value(name, tree.span);
                    None
                }
            },
            ExprKind::Unary(op, operand) => Some(Expr::unary_in(self.globals.arithmetic(), *op, self.value(operand)?)),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                Some(Expr::binary_in(self.globals.arithmetic(), *op, left?, right?))
            }
        }
    }

    /// Goes to `yes` if the condition holds, and else to `no`.
    pub fn decide(&mut self, condition: &Tree, yes: Raw, no: Raw) {
        let span = condition.span;
        match self.value(condition) {
            // Wrong; both ways are kept, so that nothing behind it seems unreachable.
            None => {
                self.flow.emit(self.here, Instruction::Nop, yes, span);
                self.flow.emit(self.here, Instruction::Nop, no, span);
            }
            Some(value) => match value.constant() {
                Some(constant) => self.flow.jump(self.here, if constant != 0 { yes } else { no }, span),
                None => {
                    self.flow.emit(self.here, Instruction::Assume(value.clone()), yes, span);
                    self.flow.emit(self.here, Instruction::Assume(value.not()), no, span);
                }
            },
        }
    }

    /// A name that has no value.
    fn no_value(&mut self, text: &str, span: Span) {
        let diagnostic = match self.globals.names.get(text) {
            Some(variable) => {
                let load = if variable.atomic { "load" } else { "naload" };
                Diagnostic::error(span, format!("the shared variable `{text}` cannot stand in an expression"))
                    .with_help(format!("load it into a local first: `r = {text}.{load}();`"))
            }
            None => {
                let mut diagnostic = Diagnostic::error(span, format!("there is no local `{text}`"));
                if self.diagnostics.len() < MAX_DIAGNOSTICS {
                    diagnostic.help = did_you_mean(text, self.locals.keys().copied());
                }
                diagnostic
            }
        };
        self.report(diagnostic);
    }

    /// A name that is no shared variable where one is accessed.
    pub fn no_variable(&mut self, name: &Name) {
        let diagnostic = match self.locals.get(name.text.as_str()) {
            Some(&(_, declared)) => {
                Diagnostic::error(name.span, format!("`{}` is a local and not a shared variable", name.text))
                    .with_secondary(declared, "declared here")
            }
            None => self.globals.unknown(name, self.diagnostics.len()),
        };
        self.report(diagnostic);
    }
}
