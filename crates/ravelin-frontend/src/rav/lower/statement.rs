//! Statements. Each function returns whether it certainly does not go on to the next statement.

use super::super::ast::{
    Block, Else, Expr as Tree, ExprKind, If, Method, Name, Pattern, RangeExpr, Statement, StatementKind, Type,
};
use super::super::parser::order_named;
use super::constant::evaluate;
use super::expression::ValueDestination;
use super::kind::Kind;
use super::thread::{Binding, Loop, ThreadLowering, for_each_block};
use super::types::KnownType;
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{BinaryOp, Domain, Escape, Expr, Instruction, Order, RegId, Span};

impl ThreadLowering<'_, '_> {
    pub fn block(&mut self, block: &Block) -> bool {
        self.scoped(|lowering| lowering.statements(&block.statements))
    }

    /// Statements in the scope around them.
    pub fn statements(&mut self, statements: &[Statement]) -> bool {
        let (mut left, mut warned) = (false, false);
        for statement in statements {
            if has_label(statement) {
                (left, warned) = (false, false);
            }
            if left && !warned {
                warned = true;
                self.report(
                    Diagnostic::warning(statement.span, "this is never reached")
                        .with_note("every way through the statements before it goes elsewhere"),
                );
            }
            left |= self.statement(statement);
        }
        left
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        self.hidden_used = self.hidden_floor;
        let span = statement.span;
        if !self.frames.is_empty() && !self.count_inlined(span) {
            return false;
        }
        if self.locked.is_some() && !self.fits_locked(statement) {
            return false;
        }
        match &statement.kind {
            StatementKind::Error => {}
            StatementKind::Label(name) => self.label(name, span),
            StatementKind::Let { pattern, ty, value } => self.binding(pattern, ty.as_ref(), value.as_ref(), span),
            StatementKind::Assign { pattern, value } => self.assignment(pattern, value, span),
            StatementKind::CompoundAssign { name, op, value } => {
                let (register, value) = (self.target(name), self.typed(value));
                if let (Some(reg), Some(value)) = (register, value) {
                    let (value, _) = self.combined(*op, (reg.into(), self.kinds[reg.0]), value);
                    self.emit(Instruction::Assign { reg, value }, span);
                }
            }
            StatementKind::Effect(expr) => self.effect(expr, span),
            StatementKind::If(conditional) => return self.conditional(conditional),
            StatementKind::While { head, condition, body } => self.while_loop(head, condition, body),
            StatementKind::Loop(body) => {
                let (head, exit) = (self.here, self.flow.fresh());
                let has_break = self.loop_body(body, exit, head);
                self.leave_to(head, span);
                self.here = exit;
                return !has_break;
            }
            StatementKind::For { name, range, body } => self.for_loop(name, range, body, span),
            StatementKind::Break | StatementKind::Continue => return self.leave_loop(&statement.kind, span),
            StatementKind::Match(matched) => return self.match_statement(matched, span),
            StatementKind::Return(value) => {
                self.return_value(value.as_ref(), span);
                return true;
            }
            StatementKind::Goto(label) => return self.goto(label, span),
            StatementKind::Choose(branches) => return self.choose(branches, span),
            StatementKind::Locked(body) => self.locked_block(body, span),
            StatementKind::Block(body) => return self.block(body),
            StatementKind::Assume(condition) => {
                if let Some(value) = self.value(condition) {
                    self.emit(Instruction::Assume(value), span);
                }
            }
            StatementKind::Assert(condition) => {
                if let Some(value) = self.value(condition) {
                    self.emit(Instruction::Assert(value), span);
                }
            }
            StatementKind::Fence(order) => self.fence(order.as_ref(), span),
            StatementKind::Lock(place) => {
                if let Some(address) = self.address_of(place) {
                    self.emit(Instruction::Lock(address), span);
                }
            }
            StatementKind::Unlock(place) => {
                if let Some(address) = self.address_of(place) {
                    self.emit(Instruction::Unlock(address), span);
                }
            }
            StatementKind::BusLock => self.emit(Instruction::BusLock, span),
            StatementKind::BusUnlock => self.emit(Instruction::BusUnlock, span),
            StatementKind::Havoc { name, range } => {
                let register = self.target(name);
                let (lo, hi) = (evaluate(&range.lo, self), evaluate(&range.hi, self));
                let (Some(reg), Some(lo), Some(hi)) = (register, lo, hi) else { return false };
                let last = if range.inclusive { Some(hi) } else { hi.checked_sub(1) };
                match last.filter(|&last| lo <= last) {
                    Some(hi) => self.emit(Instruction::Havoc { reg, lo, hi }, span),
                    None => self.report(Diagnostic::error(
                        range.lo.span.to(range.hi.span),
                        "there is no value in this range, so `havoc` has nothing to choose",
                    )),
                }
            }
            StatementKind::Nop => self.emit(Instruction::Nop, span),
        }
        false
    }

    fn label(&mut self, name: &Name, span: Span) {
        let Some(&(at, declared)) = self.labels.get(&name.text) else { return };
        // A second declaration of the same label has been reported.
        if declared == name.span {
            self.flow.label(at, &name.text);
            self.flow.jump(self.here, at, span);
            self.here = at;
        }
    }

    fn goto(&mut self, label: &Name, span: Span) -> bool {
        match self.labels.get(&label.text) {
            Some(&(at, _)) => {
                self.leave_to(at, span);
                true
            }
            None => {
                let mut diagnostic =
                    Diagnostic::error(label.span, format!("there is no label `{}` in this thread", label.text));
                diagnostic.help = did_you_mean(&label.text, self.labels.keys().map(String::as_str))
                    .or_else(|| Some(format!("a label is declared by `@{};`", label.text)));
                self.report(diagnostic);
                false
            }
        }
    }

    fn binding(&mut self, pattern: &Pattern, ty: Option<&Type>, value: Option<&Tree>, span: Span) {
        let known = match ty {
            None => Some(KnownType { domain: self.globals.default, len: None, kind: None }),
            Some(ty) => match self.globals.ty(ty, self.diagnostics) {
                Some(KnownType { len: Some(_), .. }) => {
                    self.report(
                        Diagnostic::error(ty.span, "a register holds one value, not an array")
                            .with_help("declare a `static` array outside of the thread"),
                    );
                    None
                }
                known => known,
            },
        };
        match pattern {
            Pattern::Name { name, .. } => {
                let Some(KnownType { domain, kind, .. }) = known else {
                    if let Some(value) = value {
                        self.value(value);
                    }
                    return self.bind(name, Binding::Unsure);
                };
                let register = self.register(name, domain, kind);
                match value {
                    Some(value) => self.first_value(value, register, ty.is_some(), span),
                    None if !domain.contains(0) => self.report(Diagnostic::error(
                        name.span,
                        format!("`{}` starts with 0, which is not a value of its type", name.text),
                    )),
                    // Earlier calls of the function have used the register.
                    None if !self.frames.is_empty() => {
                        self.emit(Instruction::Assign { reg: register, value: Expr::Const(0) }, span);
                    }
                    None => {}
                }
                self.bind(name, Binding::Register { id: register, counter: false });
            }
            Pattern::Pair(old, ok) => {
                let KnownType { domain, kind, .. } =
                    known.unwrap_or(KnownType { domain: Domain::FULL, len: None, kind: None });
                let [old_register, ok_register] =
                    [old, ok].map(|name| (name.text != "_").then(|| self.register(name, domain, kind)));
                let found = self.exchange(pattern_span(old, ok), value, old_register, ok_register, span);
                if let (Some(register), None) = (old_register, ty) {
                    self.learn(register, found);
                }
                for (name, register) in [(old, old_register), (ok, ok_register)] {
                    if let Some(id) = register {
                        self.bind(name, Binding::Register { id, counter: false });
                    }
                }
            }
        }
    }

    /// The first value of a register, which tells what is not declared.
    fn first_value(&mut self, value: &Tree, register: RegId, declared: bool, span: Span) {
        if declared {
            if let ExprKind::Integer { .. } = value.bare().kind
                && let Some(value) = self.value_for(value, self.kinds[register.0])
            {
                self.emit(Instruction::Assign { reg: register, value }, span);
                return;
            }
            self.value_into(value, register, span);
            return;
        }
        let kind = self.value_into(value, register, span);
        self.learn(register, kind);
        // Only the values of an enum are kept apart by its name.
        if let Some(Kind::Enum(number)) = kind
            && self.registers[register.0].domain == self.globals.default
            && self.frames.is_empty()
        {
            let of = self.globals.enums.types[number].domain;
            let zero = of.contains(0);
            let register = &mut self.registers[register.0];
            register.domain = of;
            register.initial = if zero { 0 } else { of.lo };
        }
    }

    fn assignment(&mut self, pattern: &Pattern, value: &Tree, span: Span) {
        match pattern {
            Pattern::Name { name, .. } => match self.target(name) {
                Some(register) if matches!(value.bare().kind, ExprKind::Integer { .. }) => {
                    if let Some(value) = self.value_for(value, self.kinds[register.0]) {
                        self.emit(Instruction::Assign { reg: register, value }, span);
                    }
                }
                Some(register) => _ = self.value_into(value, register, span),
                None => _ = self.value(value),
            },
            Pattern::Pair(old, ok) => {
                let [old_register, ok_register] =
                    [old, ok].map(|name| if name.text == "_" { None } else { self.target(name) });
                self.exchange(pattern_span(old, ok), Some(value), old_register, ok_register, span);
            }
        }
    }

    /// A pair takes the two results of a compare-exchange and nothing else.
    fn exchange(
        &mut self,
        pattern: Span,
        value: Option<&Tree>,
        old: Option<RegId>,
        ok: Option<RegId>,
        span: Span,
    ) -> Option<Kind> {
        if old.is_some() && old == ok {
            self.report(Diagnostic::error(pattern, "both results would go to the same register"));
        }
        match value.map(|value| &value.bare().kind) {
            Some(ExprKind::Access(access))
                if matches!(access.method, Method::CompareExchange { .. }) && access.outcome.is_none() =>
            {
                self.exchange_into(access, old, ok, span)
            }
            Some(ExprKind::Error) => None,
            _ => {
                self.report(
                    Diagnostic::error(
                        pattern,
                        "two names take the results of a compare_exchange, and there is none here",
                    )
                    .with_help("write `let (old, ok) = x.compare_exchange(0, 1);`"),
                );
                None
            }
        }
    }

    fn effect(&mut self, expr: &Tree, span: Span) {
        match &expr.bare().kind {
            ExprKind::Access(access) => _ = self.access(access, ValueDestination::Nowhere, span),
            ExprKind::Wait(wait) => _ = self.wait(wait, ValueDestination::Nowhere, span),
            ExprKind::Call(call) => _ = self.call(call, ValueDestination::Nowhere, span),
            ExprKind::Arithmetic(ty, inner) => {
                self.computing_in(ty.as_ref(), |lowering| lowering.effect(inner, span));
            }
            ExprKind::Error => {}
            _ => {
                if self.value(expr).is_some() {
                    self.report(
                        Diagnostic::error(expr.span, "this statement computes a value and does nothing with it")
                            .with_help("keep it with `let r = …;`"),
                    );
                }
            }
        }
    }

    fn conditional(&mut self, conditional: &If) -> bool {
        let (yes, no, join) = (self.flow.fresh(), self.flow.fresh(), self.flow.fresh());
        self.decide(&conditional.condition, yes, no);
        self.here = yes;
        let span = conditional.condition.span;
        let then_left = self.block(&conditional.then);
        self.flow.jump(self.here, join, span);
        self.here = no;
        let else_left = match conditional.otherwise.as_deref() {
            None => false,
            Some(Else::Block(block)) => self.block(block),
            Some(Else::If(next)) => {
                self.hidden_used = self.hidden_floor;
                self.conditional(next)
            }
        };
        self.flow.jump(self.here, join, span);
        self.here = join;
        then_left && else_left
    }

    fn while_loop(&mut self, fences: &[Statement], condition: &Tree, body: &Block) {
        let (head, inside, exit) = (self.here, self.flow.fresh(), self.flow.fresh());
        for fence in fences {
            self.statement(fence);
        }
        self.decide(condition, inside, exit);
        self.here = inside;
        self.loop_body(body, exit, head);
        self.leave_to(head, condition.span);
        self.here = exit;
    }

    fn for_loop(&mut self, name: &Name, range: &RangeExpr, body: &Block, span: Span) {
        let (lo, hi) = (evaluate(&range.lo, self), evaluate(&range.hi, self));
        let range_span = range.lo.span.to(range.hi.span);
        let end = match (lo, hi) {
            (Some(lo), Some(hi)) => match hi.checked_add(i64::from(range.inclusive)) {
                Some(end) => Some((lo, hi, end)),
                None => {
                    self.report(Diagnostic::error(range_span, "this range ends with the greatest value there is"));
                    None
                }
            },
            _ => None,
        };
        // A wrong range is replaced, so that the errors of the body are found.
        let (lo, hi, end) = end.unwrap_or((0, 1, 1));
        // The counter leaves the loop one past the last value, and like all registers it starts at 0.
        let domain = Domain::new(lo.min(end).min(0), lo.max(end).max(0), Escape::Error);
        let counter = self.register(name, domain, None);
        self.emit(Instruction::Assign { reg: counter, value: Expr::Const(lo) }, span);
        let (head, inside, step, exit) = (self.here, self.flow.fresh(), self.flow.fresh(), self.flow.fresh());
        let compare = if range.inclusive { BinaryOp::Le } else { BinaryOp::Lt };
        let more: Expr = Expr::binary(compare, counter.into(), Expr::Const(hi));
        self.emit_to(Instruction::Assume(more.clone()), inside, range_span);
        self.emit_to(Instruction::Assume(more.not()), exit, range_span);
        self.here = inside;
        self.scoped(|lowering| {
            lowering.bind(name, Binding::Register { id: counter, counter: true });
            lowering.loop_body(body, exit, step);
        });
        self.flow.jump(self.here, step, span);
        self.here = step;
        let next = Expr::binary(BinaryOp::Add, counter.into(), Expr::Const(1));
        self.emit_to(Instruction::Assign { reg: counter, value: next }, head, range_span);
        self.here = exit;
    }

    /// Gives back whether the loop can be left by `break`.
    fn loop_body(&mut self, body: &Block, exit: crate::flow::Raw, again: crate::flow::Raw) -> bool {
        self.loops.push(Loop { exit, again, has_break: false });
        self.block(body);
        self.loops.pop().is_some_and(|left| left.has_break)
    }

    fn leave_loop(&mut self, kind: &StatementKind, span: Span) -> bool {
        let breaks = *kind == StatementKind::Break;
        match self.loops.last_mut() {
            Some(innermost) => {
                innermost.has_break |= breaks;
                let target = if breaks { innermost.exit } else { innermost.again };
                self.leave_to(target, span);
                true
            }
            None => {
                let word = if breaks { "break" } else { "continue" };
                self.report(Diagnostic::error(span, format!("`{word}` stands outside of any loop")));
                false
            }
        }
    }

    fn choose(&mut self, branches: &[Block], span: Span) -> bool {
        if let [only] = branches {
            return self.block(only);
        }
        let (choice, join) = (self.here, self.flow.fresh());
        let mut all_left = true;
        for branch in branches {
            let rank = self.flow.reserve();
            let start = self.flow.fresh();
            self.here = start;
            all_left &= self.block(branch);
            self.flow.jump(self.here, join, span);
            self.flow.branch(choice, start, rank, branch.span);
        }
        self.here = join;
        all_left
    }

    fn fence(&mut self, order: Option<&Name>, span: Span) {
        let Some(name) = order else { return self.emit(Instruction::Fence(Order::SeqCst), span) };
        let order = order_named(&name.text).unwrap_or(Order::SeqCst);
        if !order.fits_fence() {
            self.report(
                Diagnostic::error(name.span, format!("a fence cannot be `{}`", name.text))
                    .with_help("use acquire, release, acq_rel or seq_cst"),
            );
        }
        self.emit(Instruction::Fence(order), span);
    }
}

fn pattern_span(old: &Name, ok: &Name) -> Span {
    old.span.to(ok.span)
}

/// Something can jump into this statement.
fn has_label(statement: &Statement) -> bool {
    let mut found = matches!(statement.kind, StatementKind::Label(_));
    for_each_block(statement, &mut |block| found |= block.statements.iter().any(has_label));
    found
}
