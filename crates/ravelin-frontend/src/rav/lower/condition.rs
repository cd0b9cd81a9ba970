//! Conditions of goals: what an observer of all threads and of memory sees.

use super::super::ast::{Expr as Tree, ExprKind, Name, RavPlace, ThreadRef};
use super::constant::{Scope, evaluate, negative_literal};
use super::global::{FileScope, SharedVariables};
use super::thread::{Labels, RegisterNames};
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{Arithmetic, BinaryOp, Condition, Expr, Observable, Span, ThreadId, Value};
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
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Condition> {
    // What is seen is computed exactly, whatever the arithmetic of the threads.
    let arithmetic = Arithmetic::Checked;
    ConditionLowering { globals, threads, diagnostics, arithmetic }.condition(tree)
}

struct ConditionLowering<'c, 'a> {
    globals: &'c mut SharedVariables<'a>,
    threads: &'c HashMap<&'c str, KnownThread>,
    diagnostics: &'c mut Vec<Diagnostic>,
    /// How operators compute here.
    arithmetic: Arithmetic,
}

impl<'c> ConditionLowering<'c, '_> {
    fn condition(&mut self, tree: &Tree) -> Option<Condition> {
        match &tree.kind {
            ExprKind::Integer { value, .. } => Value::try_from(*value).ok().map(Expr::Const),
            ExprKind::Bool(value) => Some(Expr::Const(Value::from(*value))),
            ExprKind::Paren(inner) => self.condition(inner),
            ExprKind::Arithmetic(ty, inner) => {
                let inside = self.scope().arithmetic(ty.as_ref())?;
                let around = std::mem::replace(&mut self.arithmetic, inside);
                let value = self.condition(inner);
                self.arithmetic = around;
                value
            }
            ExprKind::Unary(op, operand) => match negative_literal(*op, operand, self.arithmetic) {
                Some(value) => Some(Expr::Const(value)),
                None => Some(Expr::unary_in(self.arithmetic, *op, self.condition(operand)?)),
            },
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                Some(Expr::binary_in(self.arithmetic, *op, left?, right?))
            }
            ExprKind::AddressOf(place) => self.scope().address(place).map(Expr::Const),
            ExprKind::Place(place) => self.memory(place),
            ExprKind::At(thread, label) => self.at(thread, label),
            ExprKind::Register(thread, register) => self.register(thread, register),
            ExprKind::Count { count, thread, label } => self.count(count, thread, label),
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

    fn scope(&mut self) -> FileScope<'_, '_, '_> {
        FileScope { globals: self.globals, diagnostics: self.diagnostics, addresses: true }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// A constant or a cell.
    fn memory(&mut self, place: &RavPlace) -> Option<Condition> {
        let name = &place.name;
        if place.is_mem() {
            self.globals.mentioned.addresses = true;
            return self.scope().address(place).map(|address| Expr::Atom(Observable::Memory(address)));
        }
        if place.index.is_none()
            && let Some(value) = self.globals.constants.get(name.text.as_str())
        {
            return value.map(Expr::Const);
        }
        if self.globals.mention(&name.text).is_some() {
            return self.scope().address(place).map(|address| Expr::Atom(Observable::Memory(address)));
        }
        let mut diagnostic =
            Diagnostic::error(name.span, format!("there is no shared variable or constant `{}`", name.text));
        if self.threads.contains_key(name.text.as_str()) {
            diagnostic.message = format!("`{}` is a thread, and a goal needs to know what about it", name.text);
            diagnostic.help =
                Some("write `p@label` for where it is, or `p.r` for what its register r holds".to_owned());
        } else {
            let names = self.globals.names.keys().chain(self.globals.constants.keys()).copied();
            diagnostic.help = did_you_mean(&name.text, names);
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
        match labels.iter().find(|(name, _)| *name == label.text) {
            Some((_, Some(location))) => Some(Expr::Atom(Observable::At(*id, *location))),
            Some((_, None)) => {
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

    fn register(&mut self, reference: &ThreadRef, register: &Name) -> Option<Condition> {
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
                Some(Expr::Atom(Observable::Register(*id, *found)))
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
