//! What expressions do: each load and each atomic operation becomes an instruction, from left to right, and what remains
//! is arithmetic over registers.

use super::super::cursor::Name;
use super::expression::cell_of;
use super::lower::ThreadLowering;
use super::{Call, Expression, ExpressionKind, Operation};
use crate::Diagnostic;
use ravelin_program::{Address, Arithmetic, BinaryOp, Expr, Instruction, Order, RegId, Span};

/// Evaluating it touches memory.
pub fn has_effects(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Number(_) | ExpressionKind::Name(_) | ExpressionKind::AddressOf(_) => false,
        ExpressionKind::Deref(_) | ExpressionKind::Index(..) | ExpressionKind::Call(_) => true,
        ExpressionKind::Not(inner) => has_effects(inner),
        ExpressionKind::Binary(_, left, right) => has_effects(left) || has_effects(right),
    }
}

impl ThreadLowering<'_> {
    /// Evaluates for the effects; a value is thrown away.
    pub fn effects(&mut self, expression: &Expression) -> Option<()> {
        match &expression.kind {
            ExpressionKind::Call(call) => self.call(call, None, expression.span),
            _ => self.value(expression).map(|_| ()),
        }
    }

    /// Evaluates into a register: a load loads straight into it.
    pub fn value_into(&mut self, register: RegId, expression: &Expression, span: Span) -> Option<()> {
        match &expression.kind {
            ExpressionKind::Call(call) => {
                self.gives_value(call, expression.span)?;
                self.call(call, Some(register), span)
            }
            ExpressionKind::Deref(_) | ExpressionKind::Index(..) => self.load(register, expression, span),
            _ => {
                let value = self.value(expression)?;
                self.assembly.step(Instruction::Assign { reg: register, value }, span);
                Some(())
            }
        }
    }

    pub fn value(&mut self, expression: &Expression) -> Option<Expr> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Number(value) => Some(self.constant(*value)),
            ExpressionKind::Name(name) => self.name(name, span),
            ExpressionKind::AddressOf(name) => {
                let message = format!("the address of `{}` is no value", name.text);
                let help = "`&r` may stand only as the expected value of a compare-exchange";
                self.diagnostics.push(Diagnostic::error(span, message).with_help(help));
                None
            }
            ExpressionKind::Deref(_) | ExpressionKind::Index(..) => {
                let register = self.fresh(span);
                self.load(register, expression, span)?;
                Some(Expr::Atom(register))
            }
            ExpressionKind::Call(call) => {
                self.gives_value(call, span)?;
                let register = self.fresh(span);
                self.call(call, Some(register), span)?;
                Some(Expr::Atom(register))
            }
            ExpressionKind::Not(inner) => Some(self.value(inner)?.not()),
            ExpressionKind::Binary(BinaryOp::And | BinaryOp::Or, _, right) if has_effects(right) => {
                let register = self.fresh(span);
                let no = self.assembly.fresh();
                self.assembly.step(Instruction::Assign { reg: register, value: Expr::Const(0) }, span);
                self.branch_if(expression, false, no)?;
                self.assembly.step(Instruction::Assign { reg: register, value: Expr::Const(1) }, span);
                self.assembly.place(no);
                Some(Expr::Atom(register))
            }
            ExpressionKind::Binary(op, left, right) => {
                let left = self.value(left);
                let right = self.value(right);
                Some(Expr::binary(*op, left?, right?))
            }
        }
    }

    /// A name as a value: a local variable's content, or the address of a cell.
    fn name(&mut self, name: &str, span: Span) -> Option<Expr> {
        if let Some(register) = self.local(name) {
            return Some(Expr::Atom(register));
        }
        if self.is_parameter(name) {
            return Some(Expr::Const(self.cells.cell(name, span).address));
        }
        self.unknown(name, span);
        None
    }

    /// The place that an address names.
    pub fn place(&mut self, address: &Expression) -> Option<Address> {
        match &address.kind {
            ExpressionKind::Name(name) if self.local(name).is_none() && self.is_parameter(name) => {
                let cell = self.cells.cell(name, address.span);
                Some(self.cells.constant(cell.address))
            }
            ExpressionKind::Binary(BinaryOp::Add, array, index) => {
                let computed = |array: Expr, index: Expr| Address::computed(Expr::binary(BinaryOp::Add, array, index));
                let ExpressionKind::Name(name) = &array.kind else {
                    let (array, index) = (self.value(array)?, self.value(index)?);
                    return Some(computed(array, index));
                };
                if self.local(name).is_some() || !self.is_parameter(name) {
                    let (array, index) = (self.value(array)?, self.value(index)?);
                    return Some(computed(array, index));
                }
                let cell = self.cells.cell(name, array.span);
                let index_value = self.value(index)?;
                let Expr::Const(constant) = index_value else {
                    return Some(match cell.len {
                        Some(_) => self.cells.indexed(cell, index_value),
                        None => computed(Expr::Const(cell.address), index_value),
                    });
                };
                let name = Name { text: name.clone(), span: address.span };
                let constant = self.cells.address_of(&name, constant, self.diagnostics)?;
                Some(self.cells.constant(constant))
            }
            ExpressionKind::AddressOf(name) => {
                let message = format!("`{}` is a local variable, not a cell of memory", name.text);
                self.diagnostics.push(Diagnostic::error(address.span, message));
                None
            }
            _ => self.value(address).map(|address| match address {
                Expr::Const(constant) => self.cells.constant(constant),
                address => Address::computed(address),
            }),
        }
    }

    /// A plain load.
    fn load(&mut self, register: RegId, expression: &Expression, span: Span) -> Option<()> {
        let address = match &expression.kind {
            ExpressionKind::Deref(address) => self.place(address)?,
            ExpressionKind::Index(array, index) => {
                let cell = cell_of((**array).clone(), (**index).clone(), expression.span);
                self.place(&cell)?
            }
            _ => return None,
        };
        self.assembly.step(Instruction::Load { reg: register, address, order: Order::NonAtomic }, span);
        Some(())
    }

    fn gives_value(&mut self, call: &Call, span: Span) -> Option<()> {
        if matches!(call.operation, Operation::Store | Operation::Init | Operation::Fence) {
            let help = "make it a statement of its own";
            self.diagnostics.push(Diagnostic::error(span, "this operation gives no value").with_help(help));
            return None;
        }
        Some(())
    }

    fn call(&mut self, call: &Call, result: Option<RegId>, span: Span) -> Option<()> {
        let order = call.order;
        let instruction = match (call.operation, call.arguments.as_slice()) {
            // A relaxed fence does nothing.
            (Operation::Fence, _) if order == Order::Relaxed => Instruction::Nop,
            (Operation::Fence, _) => Instruction::Fence(order),
            (Operation::Load, [place]) => {
                let address = self.place(place)?;
                Instruction::Load { reg: result.unwrap_or_else(|| self.fresh(span)), address, order }
            }
            (Operation::Store | Operation::Init, [place, value]) => {
                let order = if call.operation == Operation::Init { Order::NonAtomic } else { order };
                let (address, value) = (self.place(place)?, self.value(value)?);
                Instruction::Store { address, value, order }
            }
            (Operation::Rmw(op), [place, operand]) => {
                let (address, operand) = (self.place(place)?, self.value(operand)?);
                Instruction::rmw(op, Arithmetic::Checked, address, operand, order, result)
            }
            (Operation::CompareExchange { weak }, [place, expected, new]) => {
                return self.compare_exchange(call, weak, place, expected, new, result, span);
            }
            // The parser has counted the arguments.
            _ => return None,
        };
        self.assembly.step(instruction, span);
        Some(())
    }

    /// The expected value stands in a local variable or in a cell, which gets the value found if they differ.
    #[allow(clippy::too_many_arguments)]
    fn compare_exchange(
        &mut self,
        call: &Call,
        weak: bool,
        place: &Expression,
        expected: &Expression,
        new: &Expression,
        result: Option<RegId>,
        span: Span,
    ) -> Option<()> {
        let (success, failure) = (call.order, call.failure);
        let address = self.place(place)?;
        if let ExpressionKind::AddressOf(name) = &expected.kind
            && let Some(local) = self.local(&name.text)
        {
            let new = self.value(new)?;
            let expected = Expr::Atom(local);
            // If the exchange succeeds the old value is the expected one, so the local variable may take it in any case.
            let (old, ok) = if result == Some(local) { (None, result) } else { (Some(local), result) };
            self.assembly
                .step(Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok }, span);
            return Some(());
        }
        if let ExpressionKind::AddressOf(name) = &expected.kind {
            self.unknown(&name.text, name.span);
            return None;
        }
        let cell = self.place(expected)?;
        let wanted = self.fresh(expected.span);
        let load = Instruction::Load { reg: wanted, address: cell.clone(), order: Order::NonAtomic };
        self.assembly.step(load, expected.span);
        let new = self.value(new)?;
        let found = self.fresh(span);
        let flag = result.unwrap_or_else(|| self.fresh(span));
        let (old, ok) = (Some(found), Some(flag));
        let expected_value = Expr::Atom(wanted);
        let exchange =
            Instruction::CompareExchange { address, expected: expected_value, new, success, failure, weak, old, ok };
        self.assembly.step(exchange, span);
        let done = self.assembly.fresh();
        self.assembly.branch(Expr::Atom(flag), done, span);
        let store = Instruction::Store { address: cell, value: Expr::Atom(found), order: Order::NonAtomic };
        self.assembly.step(store, expected.span);
        self.assembly.place(done);
        Some(())
    }
}
