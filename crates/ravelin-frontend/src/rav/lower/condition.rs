//! Conditions of goals: what an observer of all threads and of memory sees.

use super::super::ast::{
    Expr as Tree, ExprKind, Function, FunctionCall, Name, Pattern, RavPlace, StatementKind, ThreadRef,
};
use super::constant::{Scope, evaluate, negative_literal, wrong_arguments};
use super::global::{FileScope, SharedVariables};
use super::kind::{Kind, joined, unsigned};
use super::thread::{Labels, RegisterNames};
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{Arithmetic, BinaryOp, Condition, Expr, LocId, Observable, Span, ThreadId, Value};
use std::collections::HashMap;

/// What goals may say about a declaration's threads.
pub struct KnownThread {
    pub span: Span,
    /// Index, number, labels and registers of each copy.
    pub copies: Vec<(Option<Value>, ThreadId, Labels, RegisterNames)>,
    /// `thread p[*]`.
    pub any: bool,
}

/// The condition of a goal; `None` if an error was reported.
pub fn lower_condition(
    tree: &Tree,
    globals: &mut SharedVariables<'_>,
    threads: &HashMap<&str, KnownThread>,
    known: &[Vec<Option<Kind>>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Condition> {
    // What is seen is computed exactly, whatever the arithmetic of the threads.
    let arithmetic = Arithmetic::Checked;
    let parameters = Vec::new();
    let (condition, _) =
        ConditionLowering { globals, threads, known, diagnostics, arithmetic, parameters, depth: 0 }.condition(tree)?;
    Some(condition)
}

struct ConditionLowering<'c, 'a> {
    globals: &'c mut SharedVariables<'a>,
    threads: &'c HashMap<&'c str, KnownThread>,
    /// What is known of the registers of each thread.
    known: &'c [Vec<Option<Kind>>],
    diagnostics: &'c mut Vec<Diagnostic>,
    /// How operators compute here.
    arithmetic: Arithmetic,
    /// In a `const fn`: what its names mean.
    parameters: Vec<(String, TypedCondition)>,
    /// How many calls are around.
    depth: usize,
}

/// What a goal looks at, and what is known of its values.
type TypedCondition = (Condition, Option<Kind>);

/// How many calls may be inside each other.
const MAX_DEPTH: usize = 64;
/// How large a goal may become by the calls in it.
const MAX_ATOMS: usize = 1000;

impl<'c> ConditionLowering<'c, '_> {
    fn condition(&mut self, tree: &Tree) -> Option<TypedCondition> {
        let plain = |condition| Some((condition, None));
        match &tree.kind {
            ExprKind::Integer { value, .. } => match Value::try_from(*value) {
                Ok(value) => plain(Expr::Const(value)),
                Err(_) => Some((Expr::Const(value.cast_signed()), Some(Kind::U64))),
            },
            ExprKind::Bool(value) => plain(Expr::Const(Value::from(*value))),
            ExprKind::Paren(inner) => self.condition(inner),
            ExprKind::Arithmetic(ty, inner) => {
                let inside = self.scope().arithmetic(ty.as_ref())?;
                let around = std::mem::replace(&mut self.arithmetic, inside);
                let value = self.condition(inner);
                self.arithmetic = around;
                value
            }
            ExprKind::Unary(op, operand) => match negative_literal(*op, operand, self.arithmetic) {
                Some(value) => plain(Expr::Const(value)),
                None => {
                    let (operand, kind) = self.condition(operand)?;
                    Some((Expr::unary_in(self.computed_in(kind), *op, operand), kind.filter(|_| op.computes())))
                }
            },
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                let ((left, left_kind), (right, right_kind)) = (left?, right?);
                let kind = joined(left_kind, right_kind);
                let op = if kind.is_some_and(Kind::is_unsigned) { unsigned(*op) } else { *op };
                let value = Expr::binary_in(self.computed_in(kind), op, left, right);
                Some((value, kind.filter(|_| !op.is_truth())))
            }
            ExprKind::AddressOf(place) => self.scope().address(place).and_then(|address| plain(Expr::Const(address))),
            ExprKind::Path(ty, name) => {
                let value = self.scope().path(ty, name)?;
                Some((Expr::Const(value), self.globals.enums.find(&ty.text).map(Kind::Enum)))
            }
            ExprKind::Place(place) => self.memory(place),
            ExprKind::At(thread, label) => self.at(thread, label).and_then(plain),
            ExprKind::Register(thread, register) => self.register(thread, register),
            ExprKind::Count { count, thread, label } => self.count(count, thread, label).and_then(plain),
            ExprKind::Call(call) => self.call(call, tree.span),
            ExprKind::If(branches) => {
                let (condition, _) = self.condition(&branches.condition)?;
                match condition.constant() {
                    Some(0) => self.condition(&branches.otherwise),
                    Some(_) => self.condition(&branches.then),
                    None => {
                        self.no_branches(tree.span);
                        None
                    }
                }
            }
            ExprKind::Match(_) => {
                let value = evaluate(tree, &mut self.scope())?;
                plain(Expr::Const(value))
            }
            ExprKind::Access(access) => {
                let shown = super::super::format::format_place(&access.place);
                self.report(
                    Diagnostic::error(tree.span, "a goal looks at memory directly and accesses nothing")
                        .with_help(format!("write `{shown}`")),
                );
                None
            }
            ExprKind::Wait(_) => {
                self.report(Diagnostic::error(tree.span, "a goal cannot wait"));
                None
            }
            ExprKind::Error => None,
        }
    }

    /// Unsigned numbers are computed without a sign, all others exactly.
    fn computed_in(&self, kind: Option<Kind>) -> Arithmetic {
        match kind {
            Some(kind) if kind.is_unsigned() && self.arithmetic == Arithmetic::Checked => {
                kind.arithmetic().unwrap_or_default()
            }
            _ => self.arithmetic,
        }
    }

    fn no_branches(&mut self, span: Span) {
        self.report(
            Diagnostic::error(span, "a goal is one expression, and this would branch")
                .with_help("write `c && a || !c && b`"),
        );
    }

    /// A call of a `const fn`: its value with the arguments in place of its parameters.
    fn call(&mut self, call: &FunctionCall, span: Span) -> Option<TypedCondition> {
        let arguments: Vec<Option<TypedCondition>> =
            call.arguments.iter().map(|argument| self.condition(argument)).collect();
        let function = self.scope().function(&call.name)?;
        let refused = if !function.constant {
            Some(
                Diagnostic::error(
                    span,
                    format!("a goal can call `const fn` only, and `{}` is none", function.name.text),
                )
                .with_secondary(function.name.span, "the function"),
            )
        } else if self.depth >= MAX_DEPTH {
            Some(Diagnostic::error(span, format!("more than {MAX_DEPTH} calls are inside each other here")))
        } else {
            wrong_arguments(&function, call, span)
        };
        if let Some(diagnostic) = refused {
            self.report(diagnostic);
            return None;
        }
        let names = function.parameters.iter().map(|parameter| parameter.name.text.clone());
        let inside: Vec<(String, TypedCondition)> =
            names.zip(arguments.into_iter().collect::<Option<Vec<_>>>()?).collect();
        let outside = std::mem::replace(&mut self.parameters, inside);
        self.depth += 1;
        let value = self.value_of(&function);
        self.depth -= 1;
        self.parameters = outside;
        value
    }

    fn value_of(&mut self, function: &Function) -> Option<TypedCondition> {
        for statement in &function.body.statements {
            if let StatementKind::Let { pattern: Pattern::Name { name, .. }, value: Some(value), .. } = &statement.kind
            {
                let value = self.condition(value)?;
                self.parameters.push((name.text.clone(), value));
            }
        }
        let (value, kind) = self.condition(&function.value.as_ref()?.value)?;
        // What is put together from parts may be very large.
        let mut atoms = 0;
        value.for_each_atom(&mut |_| atoms += 1);
        if atoms > MAX_ATOMS {
            let message = format!("with the calls in it, this goal looks at more than {MAX_ATOMS} things");
            self.report(Diagnostic::error(function.name.span, message));
            return None;
        }
        Some((value, kind))
    }

    fn scope(&mut self) -> FileScope<'_, '_, '_> {
        FileScope { globals: self.globals, diagnostics: self.diagnostics, addresses: true }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// A constant or a cell.
    fn memory(&mut self, place: &RavPlace) -> Option<TypedCondition> {
        let name = &place.name;
        if place.index.is_none()
            && let Some((_, seen)) = self.parameters.iter().rev().find(|(known, _)| *known == name.text)
        {
            return Some(seen.clone());
        }
        if place.is_mem() {
            self.globals.mentioned.addresses = true;
            return self.scope().address(place).map(|address| (Expr::Atom(Observable::Memory(address)), None));
        }
        if place.index.is_none()
            && let Some(value) = self.globals.constants.get(name.text.as_str())
        {
            let kind = self.globals.unsigned.contains(name.text.as_str()).then_some(Kind::U64);
            return value.map(|value| (Expr::Const(value), kind));
        }
        if let Some(variable) = self.globals.mention(&name.text) {
            let kind = self.globals.kind_at(Some(variable));
            return self.scope().address(place).map(|address| (Expr::Atom(Observable::Memory(address)), kind));
        }
        let mut diagnostic =
            Diagnostic::error(name.span, format!("there is no shared variable or constant `{}`", name.text));
        if self.threads.contains_key(name.text.as_str()) {
            diagnostic.message = format!("`{}` is a thread, and a goal needs to know what about it", name.text);
            diagnostic.help =
                Some("write `p@label` for where it is, or `p.r` for what its register r holds".to_owned());
        } else {
            let names = self.globals.names.keys().chain(self.globals.constants.keys()).copied();
            diagnostic.help = did_you_mean(&name.text, names).or_else(|| self.globals.enums.help_for(&name.text));
        }
        self.report(diagnostic);
        None
    }

    fn declaration(&mut self, name: &Name) -> Option<&'c KnownThread> {
        let threads = self.threads;
        if let Some(thread) = threads.get(name.text.as_str()) {
            return Some(thread);
        }
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no thread `{}`", name.text));
        diagnostic.help = did_you_mean(&name.text, threads.keys().copied());
        self.report(diagnostic);
        None
    }

    /// The number of the one copy that is meant.
    fn copy(&mut self, reference: &ThreadRef) -> Option<(&'c KnownThread, usize)> {
        let name = &reference.name.text;
        let thread = self.declaration(&reference.name);
        let index = match &reference.index {
            Some(index) => Some((evaluate(index, &mut self.scope())?, index.span)),
            None => None,
        };
        let thread = thread?;
        let indices: Vec<Value> = thread.copies.iter().filter_map(|copy| copy.0).collect();
        let diagnostic = match (index, indices.first().zip(indices.last())) {
            (None, None) => return (!thread.copies.is_empty()).then_some((thread, 0)),
            (Some((index, span)), Some((first, last))) => {
                if let Some(position) = indices.iter().position(|&known| known == index) {
                    return Some((thread, position));
                }
                Diagnostic::error(span, format!("there is no thread `{name}[{index}]`"))
                    .with_note(format!("`{name}` has the copies {name}[{first}] to {name}[{last}]"))
            }
            (None, Some((first, _))) => {
                Diagnostic::error(reference.name.span, format!("`{name}` has several copies, and none is named"))
                    .with_help(format!("write `{name}[{first}]`, or count copies with `1 of {name}@label`"))
            }
            (Some((_, span)), None) => {
                let help = if thread.any {
                    "copies of `[*]` have no index; count them with `2 of p@label`"
                } else {
                    "leave out the index"
                };
                Diagnostic::error(span, format!("copies of `{name}` have no index")).with_help(help)
            }
        };
        self.report(diagnostic);
        None
    }

    fn at(&mut self, reference: &ThreadRef, label: &Name) -> Option<Condition> {
        let (thread, copy) = self.copy(reference)?;
        self.location(thread, copy, label)
    }

    fn location(&mut self, thread: &KnownThread, copy: usize, label: &Name) -> Option<Condition> {
        let (_, id, labels, _) = &thread.copies[copy];
        // A label in a function is at a place of its own in each call.
        let mut places: Vec<LocId> = Vec::new();
        for (_, place) in labels.iter().filter(|(name, _)| *name == label.text) {
            places.extend(place.filter(|place| !places.contains(place)));
        }
        let here = places.into_iter().map(|place| Expr::Atom(Observable::At(*id, place)));
        if let Some(sum) = here.reduce(|sum, next| Expr::binary(BinaryOp::Add, sum, next)) {
            return Some(sum);
        }
        match labels.iter().find(|(name, _)| *name == label.text) {
            Some(_) => {
                self.report(Diagnostic::warning(
                    label.span,
                    format!("no way leads to the label `{}`, so no thread is ever there", label.text),
                ));
                Some(Expr::Const(0))
            }
            None => {
                let mut diagnostic =
                    Diagnostic::error(label.span, format!("this thread has no label `{}`", label.text))
                        .with_secondary(thread.span, "the thread");
                diagnostic.help = did_you_mean(&label.text, labels.iter().map(|(name, _)| name.as_str()));
                self.report(diagnostic);
                None
            }
        }
    }

    fn register(&mut self, reference: &ThreadRef, register: &Name) -> Option<TypedCondition> {
        let (thread, copy) = self.copy(reference)?;
        let (_, id, _, names) = &thread.copies[copy];
        if thread.any {
            self.report(
                Diagnostic::error(
                    register.span,
                    "copies of `[*]` have no identity, so their registers cannot be named",
                )
                .with_help("count the copies that are at a label instead: `2 of p@label`"),
            );
            return None;
        }
        match names.get(&register.text) {
            Some((found, count)) => {
                if *count > 1 {
                    self.report(
                        Diagnostic::warning(
                            register.span,
                            format!(
                                "`{}` is declared {count} times in this thread; this means the first",
                                register.text
                            ),
                        )
                        .with_secondary(thread.span, "the thread"),
                    );
                }
                Some((Expr::Atom(Observable::Register(*id, *found)), self.known[id.0][found.0]))
            }
            None => {
                let mut diagnostic =
                    Diagnostic::error(register.span, format!("this thread has no register `{}`", register.text))
                        .with_secondary(thread.span, "the thread");
                diagnostic.help = did_you_mean(&register.text, names.keys().map(String::as_str));
                self.report(diagnostic);
                None
            }
        }
    }

    /// `count of p@label`: the number of copies there is at least `count`.
    fn count(&mut self, count: &Tree, name: &Name, label: &Name) -> Option<Condition> {
        let least = evaluate(count, &mut self.scope());
        let thread = self.declaration(name)?;
        let mut sum: Option<Condition> = None;
        for copy in 0..thread.copies.len() {
            let here = self.location(thread, copy, label)?;
            sum = Some(match sum {
                Some(sum) => Expr::binary(BinaryOp::Add, sum, here),
                None => here,
            });
        }
        Some(Expr::binary(BinaryOp::Ge, sum?, Expr::Const(least?)))
    }
}
