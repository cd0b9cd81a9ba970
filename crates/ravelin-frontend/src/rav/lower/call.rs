//! Calls: the body of a function takes the place of each call of it.
//!
//! Arguments are evaluated from left to right. A parameter that is not assigned to stands for the argument itself where that
//! is a constant or a register, which nothing can change during the call; otherwise it is a register of its own. No function
//! runs twice at once, so all calls of a function in a thread share its registers. What a caller needs after the call is in
//! registers of the caller.

use super::super::ast::{Expr as Tree, ExprKind, Function, FunctionCall, Method, Parameter, RavPlace};
use super::constant::wrong_arguments;
use super::expression::{Typed, ValueDestination};
use super::function::has_return;
use super::thread::{Binding, Frame, ParameterValue, ThreadLowering};
use super::types::KnownType;
use super::{MAX_INLINED, after};
use crate::Diagnostic;
use ravelin_program::{Call, CallId, Domain, Expr, Instruction, RegId, Span, UnaryOp, Value};
use std::sync::Arc;

/// How many calls may be inside each other.
const MAX_DEPTH: usize = 64;

impl ThreadLowering<'_, '_> {
    /// Adds the steps of a call. Gives back its value, if it is wanted and has one.
    pub fn call(&mut self, call: &FunctionCall, into: ValueDestination, span: Span) -> Option<Typed> {
        let arguments: Vec<Option<Typed>> = call.arguments.iter().map(|argument| self.typed(argument)).collect();
        let function = match self.globals.functions.find(&call.name) {
            Ok(function) => function,
            Err(diagnostic) => {
                self.diagnostics.extend(diagnostic.map(|diagnostic| *diagnostic));
                return None;
            }
        };
        let wanted = !matches!(into, ValueDestination::Nowhere);
        let place = call.name.span;
        let refused = if let Some(diagnostic) = wrong_arguments(&function, call, place) {
            Some(diagnostic)
        } else if wanted && function.result.is_none() {
            let message = format!("`{}` gives no value", function.name.text);
            let help = "write `-> u8` or another type after its parameters";
            Some(Diagnostic::error(place, message).with_secondary(function.name.span, "the function").with_help(help))
        } else if self.frames.len() >= MAX_DEPTH {
            Some(Diagnostic::error(place, format!("more than {MAX_DEPTH} calls are inside each other here")))
        } else {
            None
        };
        if let Some(diagnostic) = refused {
            self.report(diagnostic);
            return None;
        }
        if !self.count_inlined(place) {
            return None;
        }
        let result = match &function.result {
            Some(ty) => Some(self.result_type(ty)?),
            None => None,
        };
        let arguments: Vec<Typed> = arguments.into_iter().collect::<Option<_>>()?;
        self.inlined(&function, arguments, result, into, (call.name.span, span))
    }

    /// Counts a call, or a statement of a function; `false` if there have been too many.
    pub fn count_inlined(&mut self, span: Span) -> bool {
        if self.budget.inlined <= 1 {
            // Said once: the budget is then 0.
            if std::mem::take(&mut self.budget.inlined) == 1 {
                let message = format!("the calls of functions make more than {MAX_INLINED} statements");
                self.report(Diagnostic::error(span, message).with_help("use fewer calls, or a loop"));
            }
            return false;
        }
        self.budget.inlined -= 1;
        true
    }

    fn result_type(&mut self, ty: &super::super::ast::Type) -> Option<KnownType> {
        let known = self.globals.ty(ty, self.diagnostics)?;
        if known.len.is_some() {
            self.report(Diagnostic::error(ty.span, "a function gives one value, not an array"));
            return None;
        }
        Some(known)
    }

    fn inlined(
        &mut self,
        function: &Arc<Function>,
        arguments: Vec<Typed>,
        result: Option<KnownType>,
        into: ValueDestination,
        (name, span): (Span, Span),
    ) -> Option<Typed> {
        let returns = has_return(&function.body);
        let exit = self.flow.fresh();
        // A value on its way to its place: in the place itself, or in a hidden register of the caller.
        let value = match into {
            ValueDestination::Register(register) => Some(register),
            ValueDestination::Hidden if returns => {
                let domain = result.map_or(Domain::FULL, |result| result.domain);
                Some(self.hidden(domain, result.and_then(|result| result.kind), span))
            }
            _ => None,
        };
        let id = CallId(self.calls.len());
        self.calls.push(Call { function: function.name.text.clone(), caller: self.flow.call, span: name });
        let outside = (
            std::mem::take(&mut self.scope),
            std::mem::take(&mut self.loops),
            std::mem::take(&mut self.labels),
            std::mem::replace(&mut self.hidden_floor, self.hidden_used),
            std::mem::replace(&mut self.arithmetic, self.globals.arithmetic),
            self.flow.call.replace(id),
        );
        self.frames.push(Frame { function: function.clone(), exit, value, result });
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            self.bind_parameter(parameter, argument, span);
        }
        self.collect_labels(&function.body);
        let (left, ending) = self.scoped(|lowering| {
            let left = lowering.statements(&function.body.statements);
            let ending = function.value.as_ref().and_then(|ending| lowering.ending(&ending.value, into, returns));
            (left, ending)
        });
        if function.result.is_some() && function.value.is_none() && !left {
            let diagnostic = Diagnostic::error(
                after(function.body.span),
                format!("`{}` can come to its end without a value", function.name.text),
            );
            self.report(diagnostic.with_help("end it with the value, or with `return …;`"));
        }
        if self.locked.is_none() {
            self.flow.jump(self.here, exit, after(function.body.span));
            self.here = exit;
        }
        let frame = self.frames.pop()?;
        let call;
        (self.scope, self.loops, self.labels, self.hidden_floor, self.arithmetic, call) = outside;
        self.flow.call = call;
        match (ending, frame.value) {
            (Some(typed), None) => Some(typed),
            (_, Some(register)) => Some((Expr::Atom(register), frame.result?.kind)),
            _ => None,
        }
    }

    /// Makes the name of a parameter mean its argument.
    fn bind_parameter(&mut self, parameter: &Parameter, (value, kind): Typed, span: Span) {
        let declared = match &parameter.ty {
            None => Some(KnownType { domain: self.globals.default, len: None, kind }),
            Some(ty) => self.globals.ty(ty, self.diagnostics),
        };
        let name = &parameter.name;
        let Some(KnownType { domain, len, kind }) = declared else { return self.bind(name, Binding::Unsure) };
        if len.is_some() {
            self.report(
                Diagnostic::error(name.span, "a parameter is one value, not an array")
                    .with_help("pass the address of the first cell, `&a[0]`, and use `mem[p + i]`"),
            );
            return self.bind(name, Binding::Unsure);
        }
        let stands_for = match value {
            _ if parameter.mutable || !self.is_within(&value, domain) => None,
            Expr::Const(value) => Some(ParameterValue::Constant(value, kind)),
            Expr::Atom(register) => Some(ParameterValue::Register(register, kind)),
            _ => None,
        };
        if let Some(stands_for) = stands_for {
            return self.bind(name, Binding::Parameter(stands_for));
        }
        let register = self.register(name, domain, kind);
        self.emit(Instruction::Assign { reg: register, value }, span);
        self.bind(name, Binding::Register { id: register, counter: false });
    }

    /// The expression at the end of a function.
    fn ending(&mut self, tree: &Tree, into: ValueDestination, returns: bool) -> Option<Typed> {
        match into {
            ValueDestination::Nowhere => {
                self.discard(tree);
                None
            }
            ValueDestination::Hidden if !returns => {
                let result = self.frames.last()?.result?;
                let value = self.value(tree)?;
                if self.is_within(&value, result.domain) && self.outlives(&value) {
                    return Some((value, result.kind));
                }
                // Something of the function's is in it, so it is kept by the caller.
                self.hidden_used = self.hidden_floor;
                let register = self.hidden(result.domain, result.kind, tree.span);
                self.hidden_floor = self.hidden_used;
                self.frames.last_mut()?.value = Some(register);
                self.checked(value, register, result, tree.span);
                None
            }
            _ => {
                self.give(tree, tree.span);
                None
            }
        }
    }

    /// Evaluates what nobody wants the value of. It is one of the function's type all the same.
    fn discard(&mut self, tree: &Tree) {
        if let Some(Frame { result: Some(result), .. }) = self.frames.last()
            && !fits(self.known_domain(tree), result.domain)
        {
            let result = *result;
            if let Some(value) = self.value(tree)
                && !self.is_within(&value, result.domain)
            {
                self.check(value, result, tree.span);
            }
            return;
        }
        match &tree.bare().kind {
            ExprKind::Access(access) => _ = self.access(access, ValueDestination::Nowhere, tree.span),
            ExprKind::Wait(wait) => _ = self.wait(wait, ValueDestination::Nowhere, tree.span),
            ExprKind::Call(call) => _ = self.call(call, ValueDestination::Nowhere, tree.span),
            _ => _ = self.typed(tree),
        }
    }

    /// `return e;` in a function.
    pub fn return_value(&mut self, value: Option<&Tree>, span: Span) {
        let Some(frame) = self.frames.last() else {
            if let Some(value) = value {
                let diagnostic = Diagnostic::error(value.span, "a thread gives no value, so `return` ends it only");
                self.report(diagnostic.with_help("write `return;`"));
            }
            return self.leave_to(self.end, span);
        };
        let (exit, name, gives) = (frame.exit, frame.function.name.text.clone(), frame.result.is_some());
        match value {
            Some(value) if !gives => {
                let diagnostic = Diagnostic::error(value.span, format!("`{name}` gives no value"));
                self.report(diagnostic.with_help("write `-> u8` or another type after its parameters"));
            }
            Some(value) if frame.value.is_some() => self.give(value, span),
            Some(value) => self.discard(value),
            None if gives => {
                let diagnostic = Diagnostic::error(span, format!("`{name}` gives a value, and there is none here"));
                self.report(diagnostic.with_help("write `return …;` with the value"));
            }
            None => {}
        }
        self.leave_to(exit, span);
    }

    /// Puts the value of the function around here where it goes.
    fn give(&mut self, tree: &Tree, span: Span) {
        let Some(Frame { value: Some(register), result: Some(result), .. }) = self.frames.last() else { return };
        let (register, result) = (*register, *result);
        let domain = self.known_domain(tree);
        if fits(domain, result.domain) {
            self.value_into(tree, register, span);
        } else if let Some(value) = self.value(tree) {
            self.checked(value, register, result, span);
        }
    }

    /// Assigns a value that may have to be brought into the type of the function first.
    fn checked(&mut self, value: Expr, register: RegId, result: KnownType, span: Span) {
        let value = match self.is_within(&value, result.domain) {
            true => value,
            false => self.check(value, result, span),
        };
        self.emit(Instruction::Assign { reg: register, value }, span);
    }

    /// Brings a value into the type of the function around here, and gives it back.
    fn check(&mut self, value: Expr, result: KnownType, span: Span) -> Expr {
        let Some(frame) = self.frames.last() else { return value };
        let (name, at) = (frame.function.name.clone(), frame.function.body.span.start);
        let key = (name.text.clone(), at, result.domain);
        let check = match self.locals.get(&key) {
            Some(&known) => known,
            None => {
                let register = self.register(&name, result.domain, result.kind);
                self.registers[register.0].hidden = true;
                self.locals.insert(key, register);
                register
            }
        };
        self.emit(Instruction::Assign { reg: check, value }, span);
        Expr::Atom(check)
    }

    /// A value is in a domain whatever happens.
    fn is_within(&self, value: &Expr, domain: Domain) -> bool {
        let found = match value {
            Expr::Const(value) => return domain.contains(*value),
            Expr::Atom(register) => self.registers[register.0].domain,
            Expr::Unary(UnaryOp::Not, ..) => Domain::BOOL,
            Expr::Binary(op, ..) if op.is_truth() => Domain::BOOL,
            _ => Domain::FULL,
        };
        fits(found, domain)
    }

    /// Nothing of a value belongs to the function around here.
    fn outlives(&self, value: &Expr) -> bool {
        let mut outlives = true;
        value.for_each_atom(&mut |register| {
            outlives &= self.registers[register.0].hidden || !self.locals.values().any(|local| local == register);
        });
        outlives
    }

    /// Values that an expression can have, as far as its form tells.
    pub fn known_domain(&self, tree: &Tree) -> Domain {
        let only = |value: Value| Domain { lo: value, hi: value, ..Domain::FULL };
        let joined = |one: Domain, other: Domain| Domain { lo: one.lo.min(other.lo), hi: one.hi.max(other.hi), ..one };
        match &tree.bare().kind {
            ExprKind::Integer { value, .. } => Value::try_from(*value).map_or(Domain::FULL, only),
            ExprKind::Bool(value) => only(Value::from(*value)),
            ExprKind::Path(ty, name) => {
                self.globals.enums.value(ty, name).map_or(Domain::FULL, |(value, _)| only(value))
            }
            ExprKind::Binary(op, ..) if op.is_truth() => Domain::BOOL,
            ExprKind::Unary(UnaryOp::Not, _) => Domain::BOOL,
            ExprKind::Place(RavPlace { name, index: None, .. }) => match self.lookup(&name.text) {
                Some(Binding::Register { id, .. } | Binding::Parameter(ParameterValue::Register(id, _))) => {
                    self.registers[id.0].domain
                }
                Some(Binding::Constant(value) | Binding::Parameter(ParameterValue::Constant(value, _))) => only(value),
                Some(Binding::Unsure) => Domain::FULL,
                None => {
                    let constant = self.globals.constants.get(name.text.as_str()).copied().flatten();
                    constant.map_or(Domain::FULL, only)
                }
            },
            ExprKind::Call(call) => {
                let function = self.globals.functions.find(&call.name).ok();
                let known = function.and_then(|function| self.globals.ty(function.result.as_ref()?, &mut Vec::new()));
                known.map_or(Domain::FULL, |known| known.domain)
            }
            ExprKind::Access(access) if access.outcome.is_some() => Domain::BOOL,
            ExprKind::Access(access) if access.method != Method::Bcas => self.cells_of(&access.place),
            ExprKind::If(branches) => joined(self.known_domain(&branches.then), self.known_domain(&branches.otherwise)),
            ExprKind::Match(matched) => {
                let domains = matched.arms.iter().map(|arm| self.known_domain(&arm.body));
                domains.reduce(joined).unwrap_or(Domain::FULL)
            }
            _ => Domain::FULL,
        }
    }

    /// The values that the cells at a place can hold.
    fn cells_of(&self, place: &RavPlace) -> Domain {
        match self.globals.names.get(place.name.text.as_str()) {
            Some(&variable) if !place.is_mem() => self.globals.variable(variable).domain,
            _ => Domain::FULL,
        }
    }
}

fn fits(inner: Domain, outer: Domain) -> bool {
    outer.lo <= inner.lo && inner.hi <= outer.hi
}
