//! Expressions: accesses to memory become steps into hidden registers, left to right; what remains is pure.
//!
//! `&&` and `||` whose right side accesses memory become branches, because it must not be accessed for nothing.

use super::super::ast::{
    AccessCall, ExchangeResult, Expr as Tree, ExprKind, IfExpr, Method, Name, RavPlace, Type, WaitCall,
};
use super::super::parser::order_named;
use super::constant::{negative_literal, unsigned_literal};
use super::kind::{Kind, joined, unsigned, unsigned_rmw};
use super::thread::{Binding, ParameterValue, ThreadLowering};
use crate::Diagnostic;
use crate::flow::Raw;
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Expr, Instruction, Order, RegId, Span, UnaryOp, Value, WaitAtom,
    WaitCondition, default_failure,
};

/// A value, and what is known of it.
pub type Typed = (Expr, Option<Kind>);

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
        self.typed(tree).map(|(value, _)| value)
    }

    /// The value of an expression, and what is known of it.
    pub fn typed(&mut self, tree: &Tree) -> Option<Typed> {
        match &tree.kind {
            // What only `u64` holds is of this type.
            ExprKind::Integer { value, .. } => match Value::try_from(*value) {
                Ok(value) => Some((Expr::Const(value), None)),
                Err(_) => Some((Expr::Const(value.cast_signed()), Some(Kind::U64))),
            },
            ExprKind::Bool(value) => Some((Expr::Const(Value::from(*value)), None)),
            ExprKind::Paren(inner) => self.typed(inner),
            ExprKind::Arithmetic(ty, inner) => {
                self.computing_in(ty.as_ref(), |lowering| lowering.typed(inner)).flatten()
            }
            ExprKind::Unary(op, operand) => {
                // A number in the text is computed like what stands around it, which is not known here.
                if let Some(value) = negative_literal(*op, operand, self.computed_in(None)) {
                    return Some((Expr::Const(value), None));
                }
                let (operand, kind) = self.typed(operand)?;
                let value = Expr::unary_in(self.computed_in(kind), *op, operand);
                Some((self.settled(tree, value), kind.filter(|_| op.computes())))
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, _, right) if right.has_access() => {
                let register = self.hidden(Domain::BOOL, None, tree.span);
                self.decide_into(tree, register, tree.span);
                Some((Expr::Atom(register), None))
            }
            ExprKind::Binary(op, left, right) => {
                // Both sides are looked at even if one is wrong, so that all errors are found.
                let (left, right) = (self.typed(left), self.typed(right));
                let (value, kind) = self.combined(*op, left?, right?);
                Some((self.settled(tree, value), kind))
            }
            ExprKind::AddressOf(place) => Some((self.address_of(place)?.expr, None)),
            ExprKind::Path(ty, name) => {
                let (value, number) = self.enum_value(ty, name)?;
                Some((Expr::Const(value), Some(Kind::Enum(number))))
            }
            ExprKind::Place(place) => self.name_value(place),
            ExprKind::Access(access) => self.access(access, ValueDestination::Hidden, tree.span),
            ExprKind::Wait(wait) => self.wait(wait, ValueDestination::Hidden, tree.span),
            ExprKind::Call(call) => self.call(call, ValueDestination::Hidden, tree.span),
            ExprKind::If(_) | ExprKind::Match(_) => {
                let register = self.hidden(self.known_domain(tree), None, tree.span);
                let kind = self.value_into(tree, register, tree.span);
                Some((Expr::Atom(register), kind))
            }
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

    /// How an operator computes whose operands are of this kind.
    pub fn computed_in(&self, kind: Option<Kind>) -> Arithmetic {
        self.arithmetic.or_else(|| kind?.arithmetic()).unwrap_or_default()
    }

    /// `left op right`.
    pub fn combined<A>(
        &self,
        op: BinaryOp,
        (left, left_kind): (Expr<A>, Option<Kind>),
        (right, right_kind): (Expr<A>, Option<Kind>),
    ) -> (Expr<A>, Option<Kind>) {
        // The right side of a shift says how far.
        let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr | BinaryOp::LogicalShr);
        let kind = if shifts { left_kind } else { joined(left_kind, right_kind) };
        let op = if kind.is_some_and(Kind::is_unsigned) { unsigned(op) } else { op };
        (Expr::binary_in(self.computed_in(kind), op, left, right), kind.filter(|_| !op.is_truth()))
    }

    /// `Color::Red`.
    pub fn enum_value(&mut self, ty: &Name, name: &Name) -> Option<(Value, usize)> {
        match self.globals.enums.value(ty, name) {
            Ok(found) => Some(found),
            Err(diagnostic) => {
                self.diagnostics.extend(diagnostic.map(|diagnostic| *diagnostic));
                None
            }
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
        let around = self.arithmetic.replace(inside);
        let result = run(self);
        self.arithmetic = around;
        Some(result)
    }

    /// Puts the value of an expression into a register, without a detour if it is the result of one access. Gives back
    /// what is known of the value.
    pub fn value_into(&mut self, tree: &Tree, register: RegId, span: Span) -> Option<Kind> {
        let tree = tree.bare();
        let into = ValueDestination::Register(register);
        match &tree.kind {
            ExprKind::Access(access) if access.outcome != Some(ExchangeResult::IsErr) => {
                self.access(access, into, span)?.1
            }
            ExprKind::Wait(wait) => self.wait(wait, into, span)?.1,
            ExprKind::Call(call) => self.call(call, into, span)?.1,
            ExprKind::If(branches) => self.if_into(branches, register, span),
            ExprKind::Match(matched) => self.match_into(matched, register, tree.span),
            ExprKind::Arithmetic(ty, inner) => {
                self.computing_in(ty.as_ref(), |lowering| lowering.value_into(inner, register, span)).flatten()
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, _, right) if right.has_access() => {
                self.decide_into(tree, register, span);
                None
            }
            _ => {
                let (value, kind) = self.typed(tree)?;
                self.emit(Instruction::Assign { reg: register, value }, span);
                kind
            }
        }
    }

    /// `if c { a } else { b }` as a value.
    fn if_into(&mut self, branches: &IfExpr, register: RegId, span: Span) -> Option<Kind> {
        if self.locked.is_some() {
            self.branches_in_locked(branches.condition.span);
            return None;
        }
        let (yes, no, join) = (self.flow.fresh(), self.flow.fresh(), self.flow.fresh());
        let needed = self.hidden_used;
        self.decide(&branches.condition, yes, no);
        let mut kinds = Vec::new();
        for (from, value) in [(yes, &branches.then), (no, &branches.otherwise)] {
            self.hidden_used = needed;
            self.here = from;
            kinds.push(self.value_into(value, register, value.span));
            self.flow.jump(self.here, join, span);
        }
        self.hidden_used = needed;
        self.here = join;
        joined(kinds[0], kinds[1])
    }

    pub fn branches_in_locked(&mut self, span: Span) {
        self.report(
            Diagnostic::error(span, "a locked block is a straight line, and this would branch")
                .with_help("load into registers first, and then combine them"),
        );
    }

    /// Sets a register to 1 or 0 by branching.
    fn decide_into(&mut self, tree: &Tree, register: RegId, span: Span) {
        if self.locked.is_some() {
            return self.branches_in_locked(tree.span);
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
    fn name_value(&mut self, place: &RavPlace) -> Option<Typed> {
        let name = &place.name;
        if place.index.is_none() {
            match self.lookup(&name.text) {
                Some(Binding::Register { id, .. }) => return Some((Expr::Atom(id), self.kinds[id.0])),
                Some(Binding::Constant(value)) => return Some((Expr::Const(value), None)),
                Some(Binding::Parameter(ParameterValue::Constant(value, kind))) => {
                    return Some((Expr::Const(value), kind));
                }
                Some(Binding::Parameter(ParameterValue::Register(id, kind))) => return Some((Expr::Atom(id), kind)),
                Some(Binding::Unsure) => return None,
                None => {}
            }
            if let Some(value) = self.globals.constants.get(name.text.as_str()) {
                let kind = self.globals.unsigned.contains(name.text.as_str()).then_some(Kind::U64);
                return value.map(|value| (Expr::Const(value), kind));
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
    pub fn access(&mut self, access: &AccessCall, into: ValueDestination, span: Span) -> Option<Typed> {
        let address = self.address_of(&access.place);
        let kind = self.globals.kind_at(address.as_ref().and_then(|address| address.within));
        let arguments: Vec<Option<Expr>> =
            access.arguments.iter().map(|argument| self.value_for(argument, kind)).collect();
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
            _ => Some(self.hidden(domain, kind.filter(|_| access.outcome.is_none()), span)),
        };
        let mut arguments = arguments.into_iter();
        let mut argument = || arguments.next().unwrap_or(Expr::Const(0));
        let instruction = match access.method {
            Method::Load => Instruction::Load { reg: register?, address, order },
            Method::Read => Instruction::Load { reg: register?, address, order: Order::NonAtomic },
            Method::Store => Instruction::Store { address, value: argument(), order },
            Method::Write => Instruction::Store { address, value: argument(), order: Order::NonAtomic },
            Method::Rmw(op) => {
                let op = if kind.is_some_and(Kind::is_unsigned) { unsigned_rmw(op) } else { op };
                Instruction::rmw(op, self.computed_in(kind), address, argument(), order, register)
            }
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
        Some(match access.outcome {
            None => (value, kind),
            Some(ExchangeResult::IsOk) => (value, None),
            Some(ExchangeResult::IsErr) => (value.not(), None),
        })
    }

    /// A value that goes to where values of this kind are.
    pub fn value_for(&mut self, tree: &Tree, kind: Option<Kind>) -> Option<Expr> {
        if let ExprKind::Integer { value, .. } = tree.bare().kind
            && Value::try_from(value).is_err()
            && !kind.is_some_and(Kind::is_unsigned)
        {
            self.report(unsigned_literal(tree.span));
            return None;
        }
        self.value(tree)
    }

    /// `(old, ok) = place.compare_exchange(…)`. Gives back what is known of the old value.
    pub fn exchange_into(
        &mut self,
        access: &AccessCall,
        old: Option<RegId>,
        ok: Option<RegId>,
        span: Span,
    ) -> Option<Kind> {
        let address = self.address_of(&access.place);
        let kind = self.globals.kind_at(address.as_ref().and_then(|address| address.within));
        let expected = access.arguments.first().and_then(|argument| self.value_for(argument, kind));
        let new = access.arguments.get(1).and_then(|argument| self.value_for(argument, kind));
        let success = self.order(access.orders.first(), access.method);
        let failure = self.failure_order(access, success);
        let weak = access.method == Method::CompareExchange { weak: true };
        if let (Some(address), Some(expected), Some(new)) = (address, expected, new) {
            let step = Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok };
            self.emit(step, span);
        }
        kind
    }

    pub fn wait(&mut self, wait: &WaitCall, into: ValueDestination, span: Span) -> Option<Typed> {
        let Some(place) = self.awaited_place(&wait.condition) else {
            self.report_no_place(wait);
            return None;
        };
        let address = self.address_of(place);
        let kind = self.globals.kind_at(address.as_ref().and_then(|address| address.within));
        let condition = self.wait_condition(&wait.condition, place, kind);
        let order = self.order(wait.order.as_ref(), Method::Load);
        let (address, condition) = (address?, WaitCondition::new(condition?.0));
        let old = match into {
            ValueDestination::Nowhere => None,
            ValueDestination::Register(register) => Some(register),
            ValueDestination::Hidden => Some(self.hidden(self.loaded(&address), kind, span)),
        };
        self.emit(Instruction::Wait { address, condition, order, old }, span);
        old.map(|old| (Expr::Atom(old), kind))
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
    fn wait_condition(
        &mut self,
        tree: &Tree,
        place: &RavPlace,
        read: Option<Kind>,
    ) -> Option<(Expr<WaitAtom>, Option<Kind>)> {
        let on_registers =
            |(value, kind): Typed| (value.map_atoms(&mut |register| Expr::Atom(WaitAtom::Register(*register))), kind);
        if self.awaited_place(tree).is_none() {
            return self.typed(tree).map(on_registers);
        }
        match &tree.kind {
            ExprKind::Place(found) => {
                let shown = super::super::format::format_place;
                if shown(found) == shown(place) {
                    return Some((Expr::Atom(WaitAtom::Read), read));
                }
                // Another name that a register may have.
                if found.index.is_none() && self.lookup(&found.name.text).is_some() {
                    return self.name_value(found).map(on_registers);
                }
                self.report(
                    Diagnostic::error(found.span, "a wait looks at one place only")
                        .with_secondary(place.span, "it started with this one"),
                );
                None
            }
            ExprKind::Paren(inner) => self.wait_condition(inner, place, read),
            ExprKind::Arithmetic(ty, inner) => {
                self.computing_in(ty.as_ref(), |lowering| lowering.wait_condition(inner, place, read)).flatten()
            }
            ExprKind::Unary(op, operand) => {
                let (operand, kind) = self.wait_condition(operand, place, read)?;
                let value = Expr::unary_in(self.computed_in(kind), *op, operand);
                Some((value, kind.filter(|_| op.computes())))
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.wait_condition(left, place, read), self.wait_condition(right, place, read));
                Some(self.combined(*op, left?, right?))
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
