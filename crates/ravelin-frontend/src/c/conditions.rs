//! Condition variables: one cell each.
//!
//! The cell counts signals, and a thread waits until it has changed: a signal wakes all that wait. POSIX allows that, and
//! programs that read their condition once only are found by it.
//!
//! POSIX also allows that a signal wakes one thread alone. Where several threads wait and one of them is to be woken, the cell
//! has a bit for each thread that waits. A signal takes any one of the bits, or all of them.

use super::library::LibraryCall;
use super::locks::LOCK;
use super::specialise::{Next, Specialiser, Step};
use super::state::State;
use super::threads::WORD;
use super::value::Datum;
use crate::flow::Raw;
use crate::ir::module::Call;
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Escape, Expr, Instruction, Order, RmwOp, WaitAtom, WaitCondition,
};

/// Threads that have a bit.
const MOST_BITS: usize = 62;

impl Specialiser<'_, '_> {
    pub fn condition_variable(&mut self, state: &mut State, known: LibraryCall, call: &Call, at: Raw) -> Step<Next> {
        let object = self.argument_datum(state, call, 0)?;
        let zero = Datum::Int(0);
        match known {
            LibraryCall::ConditionInit => {
                let at = self.write(state, &object, WORD, zero.clone(), Order::NonAtomic, at)?;
                self.done(state, zero, at)
            }
            LibraryCall::ConditionSignal | LibraryCall::ConditionBroadcast => {
                if !self.is_model() && self.starts.is_empty() {
                    return self.done(state, zero, at);
                }
                self.needs_model()?;
                if known == LibraryCall::ConditionSignal {
                    self.world.facts.signal_one();
                }
                let cell = self.shared_address(state, &object, WORD)?;
                let at = self.flush_joins(state, at)?;
                let at = self.signal(state, known, cell, at)?;
                self.done(state, zero, at)
            }
            _ => {
                let lock = self.argument_datum(state, call, 1)?;
                let late = (known == LibraryCall::ConditionTimedWait).then(|| self.error_codes(call).timed_out);
                self.wait_for_signal(state, late, &object, &lock, at)
            }
        }
    }

    fn signal(&mut self, state: &State, known: LibraryCall, cell: Address, at: Raw) -> Step<Raw> {
        let span = self.span;
        let Some(waiters) = self.world.facts.chosen_waiters() else {
            let rmw = Instruction::rmw(RmwOp::Add, rounds(), cell, Expr::Const(1), Order::Relaxed, None);
            return Ok(self.model()?.emit(at, rmw, span));
        };
        let all = all_bits(waiters.len());
        let others: Vec<usize> =
            (0..).zip(waiters).filter(|(_, own)| **own != self.thread).map(|(bit, _)| bit).collect();
        let clear = Instruction::rmw(RmwOp::And, bits(all), cell.clone(), Expr::Const(0), Order::Relaxed, None);
        let joined = self.model()?.emit(at, clear, span);
        if known == LibraryCall::ConditionBroadcast {
            return Ok(joined);
        }
        let (seen, ok) = (self.part_register(state, 0, Domain::FULL)?, self.part_register(state, 1, Domain::BOOL)?);
        // Whoever waits by now is seen.
        let look = Instruction::rmw(RmwOp::Or, bits(all), cell.clone(), Expr::Const(0), Order::Relaxed, Some(seen));
        let model = self.model()?;
        let seen_at = model.emit(at, look, span);
        model.emit_to(seen_at, Instruction::Assume(Expr::Atom(seen).eq(Expr::Const(0))), joined, span);
        for bit in others {
            let waits = Expr::binary(BinaryOp::Ne, bit_of(Expr::Atom(seen), bit), Expr::Const(0));
            let way = model.emit(seen_at, Instruction::Assume(waits), span);
            let exchange = Instruction::CompareExchange {
                address: cell.clone(),
                expected: Expr::Atom(seen),
                new: Expr::binary(BinaryOp::Sub, Expr::Atom(seen), Expr::Const(1 << bit)),
                success: Order::Relaxed,
                failure: Order::Relaxed,
                weak: false,
                old: None,
                ok: Some(ok),
            };
            let tried = model.emit(way, exchange, span);
            model.emit_to(tried, Instruction::Assume(Expr::Atom(ok)), joined, span);
            model.emit_to(tried, Instruction::Assume(Expr::Atom(ok).not()), at, span);
        }
        Ok(joined)
    }

    /// Unlocks, waits until someone has signalled since, and locks again.
    pub fn wait_for_signal(
        &mut self,
        state: &mut State,
        late: Option<i64>,
        object: &Datum,
        lock: &Datum,
        at: Raw,
    ) -> Step<Next> {
        self.needs_model()?;
        self.world.facts.wait_for_signal(self.thread);
        let cell = self.shared_address(state, object, WORD)?;
        let lock = self.shared_address(state, lock, LOCK)?;
        let at = self.flush_joins(state, at)?;
        let span = self.span;
        let own_bit = match self.world.facts.chosen_waiters() {
            Some(waiters) if waiters.len() > MOST_BITS => {
                return Err(self.refuse(format!("more than {MOST_BITS} threads wait for condition variables")));
            }
            Some(waiters) => {
                waiters.iter().position(|own| *own == self.thread).map(|bit| (bit, all_bits(waiters.len())))
            }
            None => None,
        };
        let (begin, condition) = match own_bit {
            Some((bit, all)) => {
                let own = Expr::Const(1 << bit);
                let begin = Instruction::rmw(RmwOp::Or, bits(all), cell.clone(), own, Order::Relaxed, None);
                (begin, bit_of(Expr::Atom(WaitAtom::Read), bit).eq(Expr::Const(0)))
            }
            None => {
                let seen = self.part_register(state, 0, Domain::FULL)?;
                let begin = Instruction::Load { reg: seen, address: cell.clone(), order: Order::Relaxed };
                let (read, before) = (Expr::Atom(WaitAtom::Read), Expr::Atom(WaitAtom::Register(seen)));
                (begin, Expr::binary(BinaryOp::Ne, read, before))
            }
        };
        let model = self.model()?;
        let at = model.emit(at, begin, span);
        let at = model.emit(at, Instruction::Unlock(lock.clone()), span);
        if let Some(result) = late {
            let mut late = at;
            if let Some((bit, all)) = own_bit {
                let others = Expr::Const(all & !(1 << bit));
                let leave = Instruction::rmw(RmwOp::And, bits(all), cell.clone(), others, Order::Relaxed, None);
                late = model.emit(late, leave, span);
            }
            let late = model.emit(late, Instruction::Lock(lock.clone()), span);
            let mut way = state.clone();
            let next = self.done(&mut way, Datum::Int(result), late)?;
            self.later(way, next);
        }
        let wait = Instruction::Wait {
            address: cell,
            condition: WaitCondition::new(condition),
            order: Order::Relaxed,
            old: None,
        };
        let model = self.model()?;
        let at = model.emit(at, wait, span);
        let at = model.emit(at, Instruction::Lock(lock), span);
        self.done(state, Datum::Int(0), at)
    }
}

/// Counts signals. A thread that waits while exactly 16 are sent does not notice them.
fn rounds() -> Arithmetic {
    Arithmetic::Wrapping(Domain::new(0, 15, Escape::Wrap))
}

fn all_bits(count: usize) -> i64 {
    (1 << count.min(MOST_BITS)) - 1
}

fn bits(all: i64) -> Arithmetic {
    Arithmetic::Wrapping(Domain::new(0, all, Escape::Wrap))
}

fn bit_of<A>(cell: Expr<A>, bit: usize) -> Expr<A> {
    Expr::binary(BinaryOp::BitAnd, cell, Expr::Const(1 << bit))
}
