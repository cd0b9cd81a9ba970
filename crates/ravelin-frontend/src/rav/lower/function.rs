//! The functions of a file: their names, that none calls itself, and what `const fn` may hold.

use super::super::ast::{Arm, Block, Expr, ExprKind, File, Function, If, ItemKind, Name, Statement, StatementKind};
use super::constant::twice;
use super::thread::for_each_block;
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::Span;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How many calls all constants of a file together may make.
const MAX_CONSTANT_CALLS: usize = 100_000;

/// The functions by name.
#[derive(Debug)]
pub struct Functions<'a> {
    by_name: HashMap<&'a str, Arc<Function>>,
    /// Those that call themselves, maybe by way of others, which has been reported.
    recursive: HashSet<&'a str>,
    called: RefCell<HashSet<String>>,
    /// How many more calls constants may make.
    constant_calls: Cell<usize>,
}

impl<'a> Functions<'a> {
    pub fn collect(file: &'a File, diagnostics: &mut Vec<Diagnostic>) -> Functions<'a> {
        let mut by_name: HashMap<&str, Arc<Function>> = HashMap::new();
        let mut order = Vec::new();
        for item in &file.items {
            let ItemKind::Function(function) = &item.kind else { continue };
            let name = &function.name;
            if let Some(earlier) = by_name.get(name.text.as_str()) {
                diagnostics.push(twice("function", name, earlier.name.span));
                continue;
            }
            let mut seen: HashMap<&str, Span> = HashMap::new();
            for parameter in &function.parameters {
                if let Some(earlier) = seen.insert(&parameter.name.text, parameter.name.span) {
                    diagnostics.push(twice("parameter", &parameter.name, earlier));
                }
            }
            if function.constant {
                check_constant(function, diagnostics);
            }
            by_name.insert(&name.text, function.clone());
            order.push(name.text.as_str());
        }
        let (recursive, called) = (HashSet::new(), RefCell::default());
        let mut functions = Functions { by_name, recursive, called, constant_calls: Cell::new(MAX_CONSTANT_CALLS) };
        functions.refuse_recursion(&order, diagnostics);
        functions
    }

    /// The function, noted as called; otherwise what is wrong, if it has not been said.
    pub fn find(&self, name: &Name) -> Result<Arc<Function>, Option<Box<Diagnostic>>> {
        let Some(function) = self.by_name.get(name.text.as_str()) else {
            let mut diagnostic = Diagnostic::error(name.span, format!("there is no function `{}`", name.text));
            diagnostic.help = did_you_mean(&name.text, self.by_name.keys().copied())
                .or_else(|| Some(format!("declare it: `fn {}(…) -> u8 {{ … }}`", name.text)));
            return Err(Some(Box::new(diagnostic)));
        };
        self.called.borrow_mut().insert(name.text.clone());
        if self.recursive.contains(name.text.as_str()) { Err(None) } else { Ok(function.clone()) }
    }

    /// Counts a call that a constant makes; `false` if there have been too many.
    pub fn count_constant_call(&self) -> bool {
        let left = self.constant_calls.get();
        self.constant_calls.set(left.saturating_sub(1));
        left > 0
    }

    pub fn warn_unused(&self, file: &File, diagnostics: &mut Vec<Diagnostic>) {
        for item in &file.items {
            if let ItemKind::Function(function) = &item.kind
                && !self.called.borrow().contains(&function.name.text)
            {
                let message = format!("the function `{}` is never called, so it is not checked", function.name.text);
                diagnostics.push(Diagnostic::warning(function.name.span, message));
            }
        }
    }

    /// Reports each cycle of calls once, by the names on it.
    fn refuse_recursion(&mut self, order: &[&'a str], diagnostics: &mut Vec<Diagnostic>) {
        let mut calls: HashMap<&str, Vec<(&'a str, Span)>> = HashMap::new();
        for &name in order {
            let mut found = Vec::new();
            for_each_call(&self.by_name[name], &mut |called| {
                if let Some((&known, _)) = self.by_name.get_key_value(called.text.as_str()) {
                    found.push((known, called.span));
                }
            });
            calls.insert(name, found);
        }
        let mut done: HashSet<&str> = HashSet::new();
        for &start in order {
            // The functions that are being looked at, each with how many of its calls have been.
            let mut path: Vec<(&'a str, usize)> = if done.insert(start) { vec![(start, 0)] } else { Vec::new() };
            while let Some((name, next)) = path.last_mut() {
                let Some(&(called, span)) = calls[*name].get(*next) else {
                    path.pop();
                    continue;
                };
                *next += 1;
                if let Some(from) = path.iter().position(|(open, _)| *open == called) {
                    let cycle: Vec<&str> = path[from..].iter().map(|(name, _)| *name).chain([called]).collect();
                    self.recursive.extend(&cycle);
                    let shown = cycle.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" calls ");
                    diagnostics.push(
                        Diagnostic::error(span, format!("functions cannot call themselves, and {shown}"))
                            .with_note("a call is replaced by the body of the function"),
                    );
                } else if done.insert(called) {
                    path.push((called, 0));
                }
            }
        }
    }
}

/// A `const fn` computes a value from its parameters and constants alone.
fn check_constant(function: &Function, diagnostics: &mut Vec<Diagnostic>) {
    let name = &function.name.text;
    let mut wrong = |span: Span| {
        let message = format!("`{name}` is a `const fn`, which is one expression, perhaps after some `let`");
        diagnostics.push(Diagnostic::error(span, message).with_help("leave out `const` if only threads call it"));
    };
    for statement in &function.body.statements {
        let computes = |value: &Expr| !touches_memory(value);
        match &statement.kind {
            StatementKind::Let { value: Some(value), pattern: super::super::ast::Pattern::Name { .. }, .. }
                if computes(value) => {}
            StatementKind::Error => {}
            _ => wrong(statement.span),
        }
    }
    match &function.value {
        Some(value) if !touches_memory(&value.value) => {}
        Some(value) => wrong(value.value.span),
        None => wrong(function.name.span),
    }
}

fn touches_memory(expr: &Expr) -> bool {
    let mut found = false;
    for_each_part(expr, &mut |part| found |= matches!(part.kind, ExprKind::Access(_) | ExprKind::Wait(_)));
    found
}

/// Whether a function can give its value before its end.
pub fn has_return(block: &Block) -> bool {
    block.statements.iter().any(|statement| {
        let mut found = matches!(statement.kind, StatementKind::Return(_));
        for_each_block(statement, &mut |inner| found |= has_return(inner));
        found
    })
}

fn for_each_call(function: &Function, visit: &mut impl FnMut(&Name)) {
    let mut visit_expr = |expr: &Expr| {
        for_each_part(expr, &mut |part| {
            if let ExprKind::Call(call) = &part.kind {
                visit(&call.name);
            }
        });
    };
    for_each_expr_in(&function.body, &mut visit_expr);
    if let Some(value) = &function.value {
        visit_expr(&value.value);
    }
}

/// The expressions of the statements in a block and in the blocks inside it.
fn for_each_expr_in(block: &Block, visit: &mut impl FnMut(&Expr)) {
    for statement in &block.statements {
        for_each_expr(statement, visit);
        for_each_block(statement, &mut |inner| for_each_expr_in(inner, visit));
    }
}

/// The expressions of a statement without those in its blocks.
fn for_each_expr(statement: &Statement, visit: &mut impl FnMut(&Expr)) {
    match &statement.kind {
        StatementKind::Let { value: Some(value), .. }
        | StatementKind::Assign { value, .. }
        | StatementKind::CompoundAssign { value, .. }
        | StatementKind::Effect(value)
        | StatementKind::Assume(value)
        | StatementKind::Assert(value)
        | StatementKind::Return(Some(value))
        | StatementKind::While { condition: value, .. } => visit(value),
        StatementKind::If(first) => conditions(first, visit),
        StatementKind::Match(matched) => visit(&matched.value),
        StatementKind::For { range, .. } | StatementKind::Havoc { range, .. } => {
            visit(&range.lo);
            visit(&range.hi);
        }
        StatementKind::Lock(place) | StatementKind::Unlock(place) => {
            if let Some(index) = &place.index {
                visit(index);
            }
        }
        _ => {}
    }
}

fn conditions(first: &If, visit: &mut impl FnMut(&Expr)) {
    let mut conditional = Some(first);
    while let Some(current) = conditional.take() {
        visit(&current.condition);
        if let Some(super::super::ast::Else::If(next)) = current.otherwise.as_deref() {
            conditional = Some(next);
        }
    }
}

/// An expression and everything inside it.
fn for_each_part(expr: &Expr, visit: &mut impl FnMut(&Expr)) {
    visit(expr);
    let mut each = |part: &Expr| for_each_part(part, visit);
    match &expr.kind {
        ExprKind::Unary(_, inner) | ExprKind::Paren(inner) | ExprKind::Arithmetic(_, inner) => each(inner),
        ExprKind::Binary(_, left, right) => {
            each(left);
            each(right);
        }
        ExprKind::AddressOf(place) | ExprKind::Place(place) => place.index.iter().for_each(|index| each(index)),
        ExprKind::Access(access) => {
            access.place.index.iter().for_each(|index| each(index));
            access.arguments.iter().for_each(each);
        }
        ExprKind::Wait(wait) => each(&wait.condition),
        ExprKind::Call(call) => call.arguments.iter().for_each(each),
        ExprKind::If(branches) => {
            each(&branches.condition);
            each(&branches.then);
            each(&branches.otherwise);
        }
        ExprKind::Match(matched) => {
            each(&matched.value);
            matched.arms.iter().for_each(|arm: &Arm<Expr>| each(&arm.body));
        }
        _ => {}
    }
}
