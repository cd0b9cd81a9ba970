//! Expressions: accesses to memory become steps into hidden registers, left to right; what remains is pure.
//!
//! `&&` and `||` whose right side accesses memory become branches, because it must not be accessed for nothing.

use super::super::ast::{AccessCall, ExchangeResult, Expr as Tree, ExprKind, Method, Name, RavPlace, Type, WaitCall};
use super::super::parser::order_named;
use super::constant::negative_literal;
use super::thread::{Binding, ThreadLowering};
use crate::Diagnostic;
use crate::flow::Raw;
use ravelin_program::{
    Address, BinaryOp, Domain, Expr, Instruction, Order, RegId, Span, UnaryOp, Value, WaitAtom, WaitCondition,
    default_failure,
};

/// Where the value of an access goes.
#[derive(Clone, Copy, Debug)]
pub enum ValueDestination {
    Nowhere,
    Hidden,
    Register(RegId),
}

impl ThreadLowering<'_, '_> {
    /// The value of an expression; `None` if an error was reported. Adds steps for the accesses in it.
    pub fn value(&mut self, tree: &Tree) -> Option<Expr> {
        match &tree.kind {
            ExprKind::Integer { value, .. } => Value::try_from(*value).ok().map(Expr::Const),
            ExprKind::Bool(value) => Some(Expr::Const(Value::from(*value))),
            ExprKind::Paren(inner) => self.value(inner),
            ExprKind::Arithmetic(ty, inner) => {
                self.computing_in(ty.as_ref(), |lowering| lowering.value(inner)).flatten()
            }
            ExprKind::Unary(op, operand) => match negative_literal(*op, operand, self.arithmetic) {
                Some(value) => Some(Expr::Const(value)),
                None => {
                    let operand = self.value(operand)?;
                    Some(self.settled(tree, Expr::unary_in(self.arithmetic, *op, operand)))
                }
            },
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, _, right) if right.has_access() => {
                let register = self.hidden(Domain::BOOL, tree.span);
                self.decide_into(tree, register, tree.span);
                Some(Expr::Atom(register))
            }
            ExprKind::Binary(op, left, right) => {
                // Both sides are looked at even if one is wrong, so that all errors are found.
                let (left, right) = (self.value(left), self.value(right));
                Some(self.settled(tree, Expr::binary_in(self.arithmetic, *op, left?, right?)))
            }
            ExprKind::AddressOf(place) => Some(self.address_of(place)?.expr),
            ExprKind::Place(place) => self.name_value(place),
            ExprKind::Access(access) => self.access(access, ValueDestination::Hidden, tree.span),
            ExprKind::Wait(wait) => self.wait(wait, ValueDestination::Hidden, tree.span),
            ExprKind::At(..) | ExprKind::Register(..) | ExprKind::Count { .. } => {
                self.report(
                    Diagnostic::error(tree.span, "a thread cannot look at other threads")
                        .with_note("only goals such as `never p@critical;` can"),
                );
                None
            }
            ExprKind::Error => None,
        }
    }

    /// Computes an expression that constants and the thread's index have made constant: `1 - me` is 1 in `p[0]`. What was
    /// written with integers alone stays as it was written.
    fn settled(&self, tree: &Tree, expr: Expr) -> Expr {
        match expr.constant() {
            Some(value) if tree.has_name() => Expr::Const(value),
            _ => expr,
        }
    }

    /// Does something in the arithmetic of `checked(…)`, or of `wrapping(T, …)`; `None` if the type is wrong.
    pub fn computing_in<T>(&mut self, ty: Option<&Type>, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let inside = self.globals.arithmetic_of(ty, self.diagnostics)?;
        let around = std::mem::replace(&mut self.arithmetic, inside);
        let result = run(self);
        self.arithmetic = around;
        Some(result)
    }

    /// Puts the value of an expression into a register, without a detour if it is the result of one access.
    pub fn value_into(&mut self, tree: &Tree, register: RegId, span: Span) {
        let tree = tree.bare();
        match &tree.kind {
            ExprKind::Access(access) if access.outcome != Some(ExchangeResult::IsErr) => {
                self.access(access, ValueDestination::Register(register), span);
            }
            ExprKind::Wait(wait) => _ = self.wait(wait, ValueDestination::Register(register), span),
            ExprKind::Arithmetic(ty, inner) => {
                self.computing_in(ty.as_ref(), |lowering| lowering.value_into(inner, register, span));
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, _, right) if right.has_access() => {
                self.decide_into(tree, register, span);
            }
            _ => {
                if let Some(value) = self.value(tree) {
                    self.emit(Instruction::Assign { reg: register, value }, span);
                }
            }
        }
    }

    /// Sets a register to 1 or 0 by branching.
    fn decide_into(&mut self, tree: &Tree, register: RegId, span: Span) {
        if self.locked.is_some() {
            self.report(
                Diagnostic::error(tree.span, "a locked block is a straight line, and this would branch")
                    .with_help("load into registers first, and then combine them"),
            );
            return;
        }
        let (yes, no, join) = (self.flow.fresh(), self.flow.fresh(), self.flow.fresh());
        self.decide(tree, yes, no);
        for (from, value) in [(yes, 1), (no, 0)] {
            self.here = from;
            self.emit_to(Instruction::Assign { reg: register, value: Expr::Const(value) }, join, span);
        }
        self.here = join;
    }

    /// Goes to `yes` or `no`. Afterwards the current location is one that nothing leads to.
    pub fn decide(&mut self, tree: &Tree, yes: Raw, no: Raw) {
        let tree = tree.bare();
        match &tree.kind {
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) if right.has_access() => {
                let needed = self.hidden_used;
                let between = self.flow.fresh();
                match op {
                    BinaryOp::And => self.decide(left, between, no),
                    _ => self.decide(left, yes, between),
                }
                // What the left side loaded is not needed any more.
                self.hidden_used = needed;
                self.here = between;
                self.decide(right, yes, no);
            }
            ExprKind::Unary(UnaryOp::Not, operand) if operand.has_access() => self.decide(operand, no, yes),
            ExprKind::Arithmetic(ty, inner) if inner.has_access() => {
                self.computing_in(ty.as_ref(), |lowering| lowering.decide(inner, yes, no));
            }
            _ => {
                match self.value(tree) {
                    None => {
                        // Wrong; both ways are kept, so that nothing behind it seems unreachable.
                        self.emit_to(Instruction::Nop, yes, tree.span);
                        self.emit_to(Instruction::Nop, no, tree.span);
                    }
                    Some(value) => match value.constant() {
                        Some(constant) => {
                            let target = if constant != 0 { yes } else { no };
                            self.flow.jump(self.here, target, tree.span);
                        }
                        None => {
                            self.emit_to(Instruction::Assume(value.clone()), yes, tree.span);
                            self.emit_to(Instruction::Assume(value.not()), no, tree.span);
                        }
                    },
                }
                self.here = self.flow.fresh();
            }
        }
    }

    /// A name as a value.
    fn name_value(&mut self, place: &RavPlace) -> Option<Expr> {
        let name = &place.name;
        if place.index.is_none() {
            match self.lookup(&name.text) {
                Some(Binding::Register { id, .. }) => return Some(Expr::Atom(id)),
                Some(Binding::Constant(value)) => return Some(Expr::Const(value)),
                Some(Binding::Unsure) => return None,
                None => {}
            }
            if let Some(value) = self.globals.constants.get(name.text.as_str()) {
                return value.map(Expr::Const);
            }
        }
        let shown = super::super::format::format_place(place);
        if place.is_mem() || self.globals.mention(&name.text).is_some() {
            self.report(
                Diagnostic::error(place.span, format!("`{shown}` is shared memory and has to be loaded"))
                    .with_help(format!("write `{shown}.load()`")),
            );
        } else if place.index.is_some() {
            self.unknown_variable(name);
        } else {
            self.unknown(name);
        }
        None
    }

    /// The address of a place. Adds steps for accesses in its index.
    pub fn address_of(&mut self, place: &RavPlace) -> Option<Address> {
        let index = place.index.as_ref().map(|index| (self.value(index), index.span));
        if place.is_mem() {
            self.globals.mentioned.addresses = true;
            return Some(Address::computed(index?.0?));
        }
        let Some(variable) = self.globals.mention(&place.name.text) else {
            self.unknown_variable(&place.name);
            return None;
        };
        let index = match index {
            Some((index, span)) => Some((index?, span)),
            None => None,
        };
        let (constant, span) = match &index {
            None => (None, place.span),
            Some((index, span)) if index.has_atoms() => {
                // Checked as the first cell: what is left to check is whether there are cells to choose from.
                self.globals.cell(variable, Some(0), *span, self.diagnostics)?;
                // Addresses are computed with 64 bits, whatever the operators of the text do.
                let base = Expr::Const(self.globals.variable(variable).base);
                let expr = Expr::binary(BinaryOp::Add, base, index.clone());
                return Some(Address { expr, within: Some(variable) });
            }
            Some((index, span)) => match index.eval(&mut |_| 0) {
                Ok(value) => (Some(value), *span),
                Err(fault) => {
                    self.report(Diagnostic::error(*span, format!("this index has no value: {fault}")));
                    return None;
                }
            },
        };
        let address = self.globals.cell(variable, constant, span, self.diagnostics)?;
        Some(Address { expr: Expr::Const(address), within: Some(variable) })
    }

    /// The values a load from an address can give.
    fn loaded(&self, address: &Address) -> Domain {
        address.within.map_or(Domain::FULL, |variable| self.globals.variable(variable).domain)
    }

    /// Adds the step of an access. Gives back its value, if it is wanted and has one.
    pub fn access(&mut self, access: &AccessCall, into: ValueDestination, span: Span) -> Option<Expr> {
        let address = self.address_of(&access.place);
        let arguments: Vec<Option<Expr>> = access.arguments.iter().map(|argument| self.value(argument)).collect();
        let order = self.order(access.orders.first(), access.method);
        let failure = self.failure_order(access, order);
        let has_value = !matches!(access.method, Method::Store | Method::Write | Method::Bcas);
        if !has_value && !matches!(into, ValueDestination::Nowhere) {
            let message = format!("`{}` gives no value", access.method.name());
            self.report(Diagnostic::error(span, message).with_help("make it a statement of its own"));
            return None;
        }
        let address = address?;
        let arguments: Vec<Expr> = arguments.into_iter().collect::<Option<_>>()?;
        let domain = if access.outcome.is_some() { Domain::BOOL } else { self.loaded(&address) };
        let loads = matches!(access.method, Method::Load | Method::Read);
        let register = match into {
            ValueDestination::Register(register) => Some(register),
            ValueDestination::Nowhere if !loads => None,
            _ => Some(self.hidden(domain, span)),
        };
        let mut arguments = arguments.into_iter();
        let mut argument = || arguments.next().unwrap_or(Expr::Const(0));
        let instruction = match access.method {
            Method::Load => Instruction::Load { reg: register?, address, order },
            Method::Read => Instruction::Load { reg: register?, address, order: Order::NonAtomic },
            Method::Store => Instruction::Store { address, value: argument(), order },
            Method::Write => Instruction::Store { address, value: argument(), order: Order::NonAtomic },
            Method::Rmw(op) => Instruction::rmw(op, self.arithmetic, address, argument(), order, register),
            Method::CompareExchange { weak } => Instruction::CompareExchange {
                address,
                expected: argument(),
                new: argument(),
                success: order,
                failure,
                weak,
                old: register.filter(|_| access.outcome.is_none()),
                ok: register.filter(|_| access.outcome.is_some()),
            },
            Method::Bcas => Instruction::BlockingCas { address, expected: argument(), new: argument(), order },
        };
        self.emit(instruction, span);
        let value = Expr::Atom(register?);
        Some(if access.outcome == Some(ExchangeResult::IsErr) { value.not() } else { value })
    }

    /// `(old, ok) = place.compare_exchange(…)`.
    pub fn exchange_into(&mut self, access: &AccessCall, old: Option<RegId>, ok: Option<RegId>, span: Span) {
        let address = self.address_of(&access.place);
        let expected = access.arguments.first().and_then(|argument| self.value(argument));
        let new = access.arguments.get(1).and_then(|argument| self.value(argument));
        let success = self.order(access.orders.first(), access.method);
        let failure = self.failure_order(access, success);
        let weak = access.method == Method::CompareExchange { weak: true };
        if let (Some(address), Some(expected), Some(new)) = (address, expected, new) {
            let step = Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok };
            self.emit(step, span);
        }
    }

    pub fn wait(&mut self, wait: &WaitCall, into: ValueDestination, span: Span) -> Option<Expr> {
        let Some(place) = self.awaited_place(&wait.condition) else {
            self.report_no_place(wait);
            return None;
        };
        let address = self.address_of(place);
        let condition = self.wait_condition(&wait.condition, place);
        let order = self.order(wait.order.as_ref(), Method::Load);
        let (address, condition) = (address?, WaitCondition::new(condition?));
        let old = match into {
            ValueDestination::Nowhere => None,
            ValueDestination::Register(register) => Some(register),
            ValueDestination::Hidden => Some(self.hidden(self.loaded(&address), span)),
        };
        self.emit(Instruction::Wait { address, condition, order, old }, span);
        old.map(Expr::Atom)
    }

    /// The place that a wait reads: the first of its condition that is shared memory. A register with the name of a shared variable does
    /// not hide it there.
    fn awaited_place<'t>(&self, tree: &'t Tree) -> Option<&'t RavPlace> {
        match &tree.kind {
            ExprKind::Place(place) => (place.is_mem() || self.globals.declares(&place.name.text)).then_some(place),
            ExprKind::Unary(_, inner) | ExprKind::Paren(inner) | ExprKind::Arithmetic(_, inner) => {
                self.awaited_place(inner)
            }
            ExprKind::Binary(_, left, right) => self.awaited_place(left).or_else(|| self.awaited_place(right)),
            _ => None,
        }
    }

    fn report_no_place(&mut self, wait: &WaitCall) {
        if let Some(unknown) = self.unknown_place(&wait.condition) {
            self.unknown_variable(&unknown.name);
            return;
        }
        let mut diagnostic = Diagnostic::error(wait.condition.span, "a wait needs a condition on shared memory");
        diagnostic.help = Some(match loaded_place(&wait.condition) {
            Some(place) => {
                let shown = super::super::format::format_place(place);
                format!("the wait itself loads: write `{shown}`, not `{shown}.load()`")
            }
            None => "write `wait(x == 1)`, or any other condition on one shared variable".to_owned(),
        });
        self.report(diagnostic);
    }

    /// The first name in a condition that nothing has.
    fn unknown_place<'t>(&self, tree: &'t Tree) -> Option<&'t RavPlace> {
        match &tree.kind {
            ExprKind::Place(place) => {
                let name = place.name.text.as_str();
                let known = self.lookup(name).is_some() || self.globals.constants.contains_key(name);
                (!known || place.index.is_some()).then_some(place)
            }
            ExprKind::Unary(_, inner) | ExprKind::Paren(inner) | ExprKind::Arithmetic(_, inner) => {
                self.unknown_place(inner)
            }
            ExprKind::Binary(_, left, right) => self.unknown_place(left).or_else(|| self.unknown_place(right)),
            _ => None,
        }
    }

    /// The condition of a wait. Accesses in it, which do not wait, are done before the wait, from left to right.
    fn wait_condition(&mut self, tree: &Tree, place: &RavPlace) -> Option<Expr<WaitAtom>> {
        if self.awaited_place(tree).is_none() {
            let value = self.value(tree)?;
            return Some(value.map_atoms(&mut |register| Expr::Atom(WaitAtom::Register(*register))));
        }
        match &tree.kind {
            ExprKind::Place(found) => {
                let shown = super::super::format::format_place;
                if shown(found) == shown(place) {
                    return Some(Expr::Atom(WaitAtom::Read));
                }
                // Another name that a register may have.
                if found.index.is_none() && self.lookup(&found.name.text).is_some() {
                    let value = self.name_value(found)?;
                    return Some(value.map_atoms(&mut |register| Expr::Atom(WaitAtom::Register(*register))));
                }
                self.report(
                    Diagnostic::error(found.span, "a wait looks at one place only")
                        .with_secondary(place.span, "it started with this one"),
                );
                None
            }
            ExprKind::Paren(inner) => self.wait_condition(inner, place),
            ExprKind::Arithmetic(ty, inner) => {
                self.computing_in(ty.as_ref(), |lowering| lowering.wait_condition(inner, place)).flatten()
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.wait_condition(operand, place)?;
                Some(Expr::unary_in(self.arithmetic, *op, operand))
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.wait_condition(left, place), self.wait_condition(right, place));
                Some(Expr::binary_in(self.arithmetic, *op, left?, right?))
            }
            _ => None,
        }
    }

    /// The order written, or relaxed; reports one that the access cannot have.
    fn order(&mut self, name: Option<&Name>, method: Method) -> Order {
        let Some(name) = name else { return Order::Relaxed };
        let order = order_named(&name.text).unwrap_or(Order::Relaxed);
        let (fits, message) = match method {
            Method::Load => (order.fits_load(), "a load cannot be"),
            Method::Store => (order.fits_store(), "a store cannot be"),
            _ => (true, ""),
        };
        if !fits {
            let side = if method == Method::Load { "acquire" } else { "release" };
            self.report(
                Diagnostic::error(name.span, format!("{message} `{}`", name.text))
                    .with_help(format!("use relaxed, {side} or seq_cst")),
            );
        }
        order
    }

    fn failure_order(&mut self, access: &AccessCall, success: Order) -> Order {
        let Some(name) = access.orders.get(1) else { return default_failure(success) };
        let order = order_named(&name.text).unwrap_or(Order::Relaxed);
        if !order.fits_load() {
            self.report(
                Diagnostic::error(
                    name.span,
                    format!("a failing compare-exchange is a load and cannot be `{}`", name.text),
                )
                .with_help("use relaxed, acquire or seq_cst"),
            );
        }
        order
    }
}

/// The place of the first load in an expression.
fn loaded_place(tree: &Tree) -> Option<&RavPlace> {
    match &tree.kind {
        ExprKind::Access(access) if matches!(access.method, Method::Load | Method::Read) => Some(&access.place),
        ExprKind::Unary(_, inner) | ExprKind::Paren(inner) | ExprKind::Arithmetic(_, inner) => loaded_place(inner),
        ExprKind::Binary(_, left, right) => loaded_place(left).or_else(|| loaded_place(right)),
        _ => None,
    }
}
