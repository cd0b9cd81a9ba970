//! Constant expressions: their values are needed to know the program's shape, so they are computed here.
//!
//! They are computed with 64 bits, whatever arithmetic the program itself uses, but for what stands in `wrapping(T, …)`.

use super::super::ast::{Expr, ExprKind, File, ItemKind, Name, RavPlace, Type};
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{Arithmetic, BinaryOp, Fault, Span, UnaryOp, Value};
use std::collections::HashMap;

/// How long a chain of constants that need each other may be.
const MAX_CHAIN: usize = 128;

/// What the names in a constant expression mean. A lookup that fails reports why.
pub trait Scope {
    fn name(&mut self, name: &Name) -> Option<Value>;
    fn address(&mut self, place: &RavPlace) -> Option<Value>;
    /// The arithmetic of `checked(…)`, or of `wrapping(T, …)`.
    fn arithmetic(&mut self, ty: Option<&Type>) -> Option<Arithmetic>;
    fn report(&mut self, diagnostic: Diagnostic);
}

/// The value of a constant expression; `None` if an error was reported.
pub fn evaluate(expr: &Expr, scope: &mut impl Scope) -> Option<Value> {
    evaluate_in(expr, Arithmetic::Checked, scope)
}

fn evaluate_in(expr: &Expr, arithmetic: Arithmetic, scope: &mut impl Scope) -> Option<Value> {
    let settle = |result: Result<Value, Fault>, scope: &mut _| match result {
        Ok(value) => Some(value),
        Err(fault) => {
            Scope::report(scope, Diagnostic::error(expr.span, format!("this constant has no value: {fault}")));
            None
        }
    };
    match &expr.kind {
        ExprKind::Integer { value, .. } => Value::try_from(*value).ok(),
        ExprKind::Bool(value) => Some(Value::from(*value)),
        ExprKind::Paren(inner) => evaluate_in(inner, arithmetic, scope),
        ExprKind::Arithmetic(ty, inner) => {
            let inside = scope.arithmetic(ty.as_ref())?;
            evaluate_in(inner, inside, scope)
        }
        ExprKind::Unary(op, operand) => {
            if let Some(value) = negative_literal(*op, operand, arithmetic) {
                return Some(value);
            }
            let operand = evaluate_in(operand, arithmetic, scope)?;
            settle(op.apply(arithmetic, operand), scope)
        }
        ExprKind::Binary(op, left, right) => {
            let left = evaluate_in(left, arithmetic, scope);
            let right = match (op, left) {
                (BinaryOp::And, Some(0)) => Some(0),
                (BinaryOp::Or, Some(left)) if left != 0 => Some(0),
                _ => evaluate_in(right, arithmetic, scope),
            };
            settle(op.apply(arithmetic, left?, right?), scope)
        }
        ExprKind::Place(RavPlace { name, index: None, .. }) => scope.name(name),
        ExprKind::AddressOf(place) => scope.address(place),
        ExprKind::Error => None,
        _ => {
            scope.report(
                Diagnostic::error(expr.span, "a constant is needed here, but this is known only when the program runs")
                    .with_note(
                        "constants are integers, names declared by `const`, a thread's index, and arithmetic on them",
                    ),
            );
            None
        }
    }
}

/// `-5` is a constant, not the negation of one: only so can the least value be written. Its value is that of `-(5)`.
pub fn negative_literal(op: UnaryOp, operand: &Expr, arithmetic: Arithmetic) -> Option<Value> {
    match operand.kind {
        ExprKind::Integer { value, .. } if op == UnaryOp::Neg => arithmetic.settle(-i128::from(value)).ok(),
        _ => None,
    }
}

/// The constants of a file; `None` stands for one that has no value, which has been reported.
pub type Constants<'a> = HashMap<&'a str, Option<Value>>;

/// Evaluates every `const`. They may stand in any order.
pub fn constants<'a>(file: &'a File, diagnostics: &mut Vec<Diagnostic>) -> Constants<'a> {
    let mut declared: HashMap<&str, (&Name, &Expr)> = HashMap::new();
    for item in &file.items {
        let ItemKind::Const { name, value, .. } = &item.kind else { continue };
        if let Some((earlier, _)) = declared.get(name.text.as_str()) {
            diagnostics.push(twice("constant", name, earlier.span));
        } else {
            declared.insert(&name.text, (name, value));
        }
    }
    let mut resolver = Resolver { declared: &declared, known: HashMap::new(), pending: Vec::new(), diagnostics };
    for item in &file.items {
        if let ItemKind::Const { name, .. } = &item.kind {
            resolver.resolve(&name.text, name.span);
        }
    }
    resolver.known
}

/// Something was declared twice.
pub fn twice(what: &str, name: &Name, earlier: Span) -> Diagnostic {
    Diagnostic::error(name.span, format!("there are two declarations of the {what} `{}`", name.text))
        .with_secondary(earlier, "the first one")
}

struct Resolver<'a, 'b> {
    declared: &'b HashMap<&'a str, (&'a Name, &'a Expr)>,
    known: Constants<'a>,
    /// Constants whose evaluation has begun.
    pending: Vec<&'a str>,
    diagnostics: &'b mut Vec<Diagnostic>,
}

impl Resolver<'_, '_> {
    fn resolve(&mut self, name: &str, span: Span) -> Option<Value> {
        if let Some(value) = self.known.get(name) {
            return *value;
        }
        let Some((&name, &(_, expr))) = self.declared.get_key_value(name) else {
            let mut diagnostic = Diagnostic::error(span, format!("there is no constant `{name}`"));
            diagnostic.help = did_you_mean(name, self.declared.keys().copied());
            self.diagnostics.push(diagnostic);
            return None;
        };
        if self.pending.contains(&name) {
            self.report(Diagnostic::error(span, format!("the constant `{name}` is needed for its own value")));
            return None;
        }
        if self.pending.len() >= MAX_CHAIN {
            let message = format!("more than {MAX_CHAIN} constants need each other in a row here");
            self.report(Diagnostic::error(span, message));
            return None;
        }
        self.pending.push(name);
        let value = evaluate(expr, self);
        self.pending.pop();
        self.known.insert(name, value);
        value
    }
}

impl Scope for Resolver<'_, '_> {
    fn name(&mut self, name: &Name) -> Option<Value> {
        self.resolve(&name.text, name.span)
    }

    fn address(&mut self, place: &RavPlace) -> Option<Value> {
        self.report(Diagnostic::error(place.span, "a `const` cannot be an address"));
        None
    }

    fn arithmetic(&mut self, ty: Option<&Type>) -> Option<Arithmetic> {
        match ty {
            None => Some(Arithmetic::Checked),
            Some(ty) => {
                self.report(Diagnostic::error(ty.span, "a `const` is computed with 64 bits and does not wrap"));
                None
            }
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
