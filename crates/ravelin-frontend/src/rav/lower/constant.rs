//! Constant expressions: their values are needed to know the program's shape, so they are computed here.
//!
//! They are computed with 64 bits, whatever arithmetic the program itself uses, but for what stands in `wrapping(T, …)`.

use super::super::ast::{
    ArmPattern, EnumItem, Expr, ExprKind, File, Function, FunctionCall, ItemKind, Name, Pattern, RavPlace,
    StatementKind, Type,
};
use super::enums::{self, EnumTypes};
use super::function::Functions;
use super::kind;
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{Arithmetic, BinaryOp, Domain, Escape, Fault, Span, UnaryOp, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// How long a chain of constants that need each other may be, and of calls inside calls.
const MAX_CHAIN: usize = 128;

/// What the names in a constant expression mean. A lookup that fails reports why.
pub trait Scope {
    fn name(&mut self, name: &Name) -> Option<Value>;
    /// `Color::Red`.
    fn path(&mut self, ty: &Name, name: &Name) -> Option<Value>;
    fn address(&mut self, place: &RavPlace) -> Option<Value>;
    /// The arithmetic of `checked(…)`, or of `wrapping(T, …)`.
    fn arithmetic(&mut self, ty: Option<&Type>) -> Option<Arithmetic>;
    /// The function of a call that a constant makes. Counts the call.
    fn function(&mut self, name: &Name) -> Option<Arc<Function>>;
    fn report(&mut self, diagnostic: Diagnostic);
}

/// How a constant is computed.
#[derive(Clone, Copy, Debug)]
pub struct Computing {
    pub arithmetic: Arithmetic,
    /// The 64 bits are those of an unsigned number.
    pub unsigned: bool,
    /// How many calls are around.
    depth: usize,
}

impl Computing {
    /// With 64 bits and a sign.
    pub const SIGNED: Computing = Computing { arithmetic: Arithmetic::Checked, unsigned: false, depth: 0 };

    /// As values of `u64`.
    pub const UNSIGNED: Computing = Computing {
        arithmetic: Arithmetic::Wrapping(Domain { escape: Escape::Wrap, ..Domain::FULL }),
        unsigned: true,
        depth: 0,
    };
}

/// The value of a constant expression; `None` if an error was reported.
pub fn evaluate(expr: &Expr, scope: &mut dyn Scope) -> Option<Value> {
    evaluate_in(expr, Computing::SIGNED, scope)
}

/// The value of a constant expression that is computed like this.
pub fn evaluate_in(expr: &Expr, how: Computing, scope: &mut dyn Scope) -> Option<Value> {
    let settle = |result: Result<Value, Fault>, scope: &mut dyn Scope| match result {
        Ok(value) => Some(value),
        Err(fault) => {
            scope.report(Diagnostic::error(expr.span, format!("this constant has no value: {fault}")));
            None
        }
    };
    match &expr.kind {
        ExprKind::Integer { value, .. } if how.unsigned => Some(value.cast_signed()),
        ExprKind::Integer { value, .. } => {
            let signed = Value::try_from(*value).ok();
            if signed.is_none() {
                scope.report(unsigned_literal(expr.span));
            }
            signed
        }
        ExprKind::Bool(value) => Some(Value::from(*value)),
        ExprKind::Paren(inner) => evaluate_in(inner, how, scope),
        ExprKind::Arithmetic(ty, inner) => {
            let arithmetic = scope.arithmetic(ty.as_ref())?;
            evaluate_in(inner, Computing { arithmetic, ..how }, scope)
        }
        ExprKind::Unary(op, operand) => {
            if let Some(value) = negative_literal(*op, operand, how.arithmetic) {
                return Some(value);
            }
            let operand = evaluate_in(operand, how, scope)?;
            settle(op.apply(how.arithmetic, operand), scope)
        }
        ExprKind::Binary(op, left, right) => {
            let left = evaluate_in(left, how, scope);
            let right = match (op, left) {
                (BinaryOp::And, Some(0)) => Some(0),
                (BinaryOp::Or, Some(left)) if left != 0 => Some(0),
                _ => evaluate_in(right, how, scope),
            };
            let op = if how.unsigned { kind::unsigned(*op) } else { *op };
            settle(op.apply(how.arithmetic, left?, right?), scope)
        }
        ExprKind::Place(RavPlace { name, index: None, .. }) => scope.name(name),
        ExprKind::Path(ty, name) => scope.path(ty, name),
        ExprKind::AddressOf(place) => scope.address(place),
        ExprKind::If(branches) => match evaluate_in(&branches.condition, how, scope)? {
            0 => evaluate_in(&branches.otherwise, how, scope),
            _ => evaluate_in(&branches.then, how, scope),
        },
        ExprKind::Match(matched) => {
            let value = evaluate_in(&matched.value, how, scope)?;
            for arm in &matched.arms {
                for pattern in &arm.patterns {
                    if pattern_holds(pattern, value, how, scope)? {
                        return evaluate_in(&arm.body, how, scope);
                    }
                }
            }
            scope.report(Diagnostic::error(expr.span, format!("no arm of this match is for {value}")));
            None
        }
        ExprKind::Call(call) => constant_call(call, expr.span, how, scope),
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

/// An integer that only `u64` holds, where a signed one is needed.
pub fn unsigned_literal(span: Span) -> Diagnostic {
    Diagnostic::error(span, "this integer does not fit in 64 bits with a sign")
        .with_help("give what holds it the type `u64`")
}

fn pattern_holds(pattern: &ArmPattern, value: Value, how: Computing, scope: &mut dyn Scope) -> Option<bool> {
    Some(match pattern {
        ArmPattern::Any => true,
        ArmPattern::Value(wanted) => evaluate_in(wanted, how, scope)? == value,
        ArmPattern::Range(range) => {
            let (lo, hi) = (evaluate_in(&range.lo, how, scope)?, evaluate_in(&range.hi, how, scope)?);
            lo <= value && (value < hi || range.inclusive && value == hi)
        }
    })
}

/// What is wrong with the number of a call's arguments.
pub fn wrong_arguments(function: &Function, call: &FunctionCall, span: Span) -> Option<Diagnostic> {
    let (wanted, given) = (function.parameters.len(), call.arguments.len());
    if wanted == given {
        return None;
    }
    let plural = |count: usize| if count == 1 { "one value".to_owned() } else { format!("{count} values") };
    let message = format!("`{}` takes {}, not {given}", function.name.text, plural(wanted));
    Some(Diagnostic::error(span, message).with_secondary(function.name.span, "the function"))
}

fn constant_call(call: &FunctionCall, span: Span, how: Computing, scope: &mut dyn Scope) -> Option<Value> {
    let function = scope.function(&call.name)?;
    let refused = if !function.constant {
        let message = format!("a constant is needed here, and `{}` is no `const fn`", function.name.text);
        Some(Diagnostic::error(span, message).with_secondary(function.name.span, "the function"))
    } else if how.depth >= MAX_CHAIN {
        Some(Diagnostic::error(span, format!("more than {MAX_CHAIN} calls are inside each other here")))
    } else {
        wrong_arguments(&function, call, span)
    };
    if let Some(diagnostic) = refused {
        scope.report(diagnostic);
        return None;
    }
    let mut names = Vec::new();
    for (parameter, argument) in function.parameters.iter().zip(&call.arguments) {
        names.push((parameter.name.text.clone(), evaluate_in(argument, how, scope)?));
    }
    let mut inside = CallScope { names, outside: scope };
    let how = Computing { depth: how.depth + 1, ..Computing::SIGNED };
    for statement in &function.body.statements {
        if let StatementKind::Let { pattern: Pattern::Name { name, .. }, value: Some(value), .. } = &statement.kind {
            let value = evaluate_in(value, how, &mut inside)?;
            inside.names.push((name.text.clone(), value));
        }
    }
    evaluate_in(&function.value.as_ref()?.value, how, &mut inside)
}

/// The names in a `const fn` while it is called.
struct CallScope<'s> {
    names: Vec<(String, Value)>,
    outside: &'s mut dyn Scope,
}

impl Scope for CallScope<'_> {
    fn name(&mut self, name: &Name) -> Option<Value> {
        match self.names.iter().rev().find(|(known, _)| *known == name.text) {
            Some((_, value)) => Some(*value),
            None => self.outside.name(name),
        }
    }

    fn path(&mut self, ty: &Name, name: &Name) -> Option<Value> {
        self.outside.path(ty, name)
    }

    fn address(&mut self, place: &RavPlace) -> Option<Value> {
        self.outside.address(place)
    }

    fn arithmetic(&mut self, ty: Option<&Type>) -> Option<Arithmetic> {
        self.outside.arithmetic(ty)
    }

    fn function(&mut self, name: &Name) -> Option<Arc<Function>> {
        self.outside.function(name)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.outside.report(diagnostic);
    }
}

/// The function of a call that a constant makes.
pub fn constant_function(
    name: &Name,
    functions: &Functions<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Arc<Function>> {
    if !functions.count_constant_call() {
        diagnostics.push(Diagnostic::error(name.span, "constants call functions too often"));
        return None;
    }
    match functions.find(name) {
        Ok(function) => Some(function),
        Err(diagnostic) => {
            diagnostics.extend(diagnostic.map(|diagnostic| *diagnostic));
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

/// Evaluates every `const` and every value of an `enum`. They may stand in any order.
pub fn constants<'a>(
    file: &'a File,
    functions: &Functions<'a>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Constants<'a>, EnumTypes<'a>) {
    let mut declared: HashMap<&str, DeclaredConstant> = HashMap::new();
    for item in &file.items {
        let ItemKind::Const { name, value, ty } = &item.kind else { continue };
        if let Some(earlier) = declared.get(name.text.as_str()) {
            diagnostics.push(twice("constant", name, earlier.name.span));
        } else {
            let how = if is_unsigned(ty.as_ref()) { Computing::UNSIGNED } else { Computing::SIGNED };
            declared.insert(&name.text, DeclaredConstant { name, value, how });
        }
    }
    let enums = enums::declared(file, diagnostics);
    let (known, pending) = (HashMap::new(), Vec::new());
    let mut found = Vec::new();
    let mut resolver =
        Resolver { declared: &declared, enums: &enums, functions, known, pending, diagnostics: &mut found };
    for item in &file.items {
        if let ItemKind::Const { name, .. } = &item.kind {
            resolver.resolve(&name.text, name.span);
        }
    }
    let value = |item: &EnumItem, variant: usize| resolver.variant(item, variant);
    let types = EnumTypes::collect(file, &enums, value, diagnostics);
    let known = resolver.known;
    diagnostics.append(&mut found);
    (known, types)
}

/// Whether a constant with this type is an unsigned number. Other types are written for people only.
pub fn is_unsigned(ty: Option<&Name>) -> bool {
    ty.is_some_and(|ty| ty.text == "u64")
}

struct DeclaredConstant<'a> {
    name: &'a Name,
    value: &'a Expr,
    how: Computing,
}

/// Something was declared twice.
pub fn twice(what: &str, name: &Name, earlier: Span) -> Diagnostic {
    Diagnostic::error(name.span, format!("there are two declarations of the {what} `{}`", name.text))
        .with_secondary(earlier, "the first one")
}

struct Resolver<'a, 'b> {
    declared: &'b HashMap<&'a str, DeclaredConstant<'a>>,
    enums: &'b HashMap<&'a str, &'a EnumItem>,
    functions: &'b Functions<'a>,
    known: Constants<'a>,
    /// Constants and enums whose evaluation has begun.
    pending: Vec<String>,
    diagnostics: &'b mut Vec<Diagnostic>,
}

impl Resolver<'_, '_> {
    fn resolve(&mut self, name: &str, span: Span) -> Option<Value> {
        if let Some(value) = self.known.get(name) {
            return *value;
        }
        let Some((&name, &DeclaredConstant { value, how, .. })) = self.declared.get_key_value(name) else {
            let mut diagnostic = Diagnostic::error(span, format!("there is no constant `{name}`"));
            diagnostic.help = did_you_mean(name, self.declared.keys().copied()).or_else(|| {
                let of = self.enums.values().find(|of| of.variants.iter().any(|variant| variant.name.text == name));
                of.map(|of| format!("write `{}::{name}`", of.name.text))
            });
            self.diagnostics.push(diagnostic);
            return None;
        };
        self.begin(name.to_owned(), span, &format!("the constant `{name}`"))?;
        let value = evaluate_in(value, how, self);
        self.pending.pop();
        self.known.insert(name, value);
        value
    }

    /// A value that is needed for itself has none.
    fn begin(&mut self, key: String, span: Span, shown: &str) -> Option<()> {
        if self.pending.contains(&key) {
            self.report(Diagnostic::error(span, format!("{shown} is needed for its own value")));
            return None;
        }
        if self.pending.len() >= MAX_CHAIN {
            let message = format!("more than {MAX_CHAIN} constants need each other in a row here");
            self.report(Diagnostic::error(span, message));
            return None;
        }
        self.pending.push(key);
        Some(())
    }

    /// The value of a variant: as written, or one more than that of the variant before.
    fn variant(&mut self, item: &EnumItem, variant: usize) -> Option<Value> {
        let written = item.variants[..=variant].iter().rposition(|variant| variant.value.is_some());
        let Some((at, value)) = written.and_then(|at| Some((at, item.variants[at].value.as_ref()?))) else {
            return Value::try_from(variant).ok();
        };
        let name = &item.variants[at].name;
        let key = format!("{}::{}", item.name.text, name.text);
        self.begin(key.clone(), name.span, &format!("the value `{key}`"))?;
        let first = evaluate(value, self);
        self.pending.pop();
        let sum = Value::try_from(variant - at).ok().and_then(|more| first?.checked_add(more));
        if first.is_some() && sum.is_none() {
            let name = &item.variants[variant].name;
            let message = format!("the value of `{}` does not fit in 64 bits", name.text);
            self.report(Diagnostic::error(name.span, message));
        }
        sum
    }
}

impl Scope for Resolver<'_, '_> {
    fn name(&mut self, name: &Name) -> Option<Value> {
        self.resolve(&name.text, name.span)
    }

    fn path(&mut self, ty: &Name, name: &Name) -> Option<Value> {
        let Some(&item) = self.enums.get(ty.text.as_str()) else {
            let diagnostic = enums::unknown(ty, self.enums.keys().copied());
            self.report(diagnostic);
            return None;
        };
        match item.variants.iter().position(|variant| variant.name.text == name.text) {
            Some(variant) => self.variant(item, variant),
            None => {
                let names = item.variants.iter().map(|variant| variant.name.text.as_str());
                self.report(enums::no_variant(ty, name, names));
                None
            }
        }
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

    fn function(&mut self, name: &Name) -> Option<Arc<Function>> {
        constant_function(name, self.functions, self.diagnostics)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
