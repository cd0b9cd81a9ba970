//! Condition variables, barriers and semaphores.

use super::access::Target;
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

/// The value of a semaphore.
const COUNT: u32 = 4;
/// What `errno` is where a semaphore cannot be taken.
const EAGAIN: i64 = 11;
const TIMED_OUT: i64 = 110;

impl Specialiser<'_, '_> {
    pub fn wait_for_others(&mut self, state: &mut State, known: LibraryCall, call: &Call, at: Raw) -> Step<Next> {
        let object = self.argument_datum(state, call, 0)?;
        let zero = Datum::Int(0);
        match known {
            LibraryCall::ConditionInit => {
                let at = self.write(state, &object, WORD, zero.clone(), Order::NonAtomic, at)?;
                self.done(state, zero, at)
            }
            LibraryCall::BarrierInit => {
                let count = self.argument_datum(state, call, 2)?;
                let mut at = at;
                for (offset, datum) in [(0, zero.clone()), (8, zero.clone()), (16, count)] {
                    let place = self.displaced(&object, offset)?;
                    at = self.write(state, &place, WORD, datum, Order::NonAtomic, at)?;
                }
                self.done(state, zero, at)
            }
            LibraryCall::ConditionSignal => {
                if !self.is_model() && self.starts.is_empty() {
                    return self.done(state, zero, at);
                }
                self.needs_model()?;
                let address = self.shared_address(state, &object, WORD)?;
                let at = self.flush_joins(state, at)?;
                let span = self.span;
                let rmw = Instruction::rmw(RmwOp::Add, rounds(), address, Expr::Const(1), Order::Relaxed, None);
                let at = self.model()?.emit(at, rmw, span);
                self.done(state, zero, at)
            }
            LibraryCall::ConditionWait | LibraryCall::ConditionTimedWait => {
                let lock = self.argument_datum(state, call, 1)?;
                let late = (known == LibraryCall::ConditionTimedWait).then(|| self.error_codes(call).timed_out);
                self.wait_for_signal(state, late, &object, &lock, at)
            }
            _ => self.barrier(state, &object, at),
        }
    }

    /// Unlocks, waits until someone has signalled since, and locks again. All that wait are woken, which POSIX allows.
    pub fn wait_for_signal(
        &mut self,
        state: &mut State,
        late: Option<i64>,
        object: &Datum,
        lock: &Datum,
        at: Raw,
    ) -> Step<Next> {
        self.needs_model()?;
        let signals = self.shared_address(state, object, WORD)?;
        let lock = self.shared_address(state, lock, LOCK)?;
        let mut at = self.flush_joins(state, at)?;
        let span = self.span;
        let seen = self.part_register(state, 0, Domain::FULL)?;
        let load = Instruction::Load { reg: seen, address: signals.clone(), order: Order::Relaxed };
        at = self.model()?.emit(at, load, span);
        at = self.model()?.emit(at, Instruction::Unlock(lock.clone()), span);
        if let Some(result) = late {
            let mut way = state.clone();
            let late = self.model()?.emit(at, Instruction::Lock(lock.clone()), span);
            let next = self.done(&mut way, Datum::Int(result), late)?;
            self.later(way, next);
        }
        let condition = WaitCondition::new(Expr::binary(
            BinaryOp::Ne,
            Expr::Atom(WaitAtom::Read),
            Expr::Atom(WaitAtom::Register(seen)),
        ));
        let wait = Instruction::Wait { address: signals, condition, order: Order::Relaxed, old: None };
        at = self.model()?.emit(at, wait, span);
        at = self.model()?.emit(at, Instruction::Lock(lock), span);
        self.done(state, Datum::Int(0), at)
    }

    /// The last one to arrive starts the next round, for which the others wait.
    fn barrier(&mut self, state: &mut State, object: &Datum, at: Raw) -> Step<Next> {
        self.needs_model()?;
        let arrived = self.shared_address(state, object, WORD)?;
        let place = self.displaced(object, 8)?;
        let round = self.shared_address(state, &place, WORD)?;
        let place = self.displaced(object, 16)?;
        let count = match &place {
            Datum::Pointer(object, offset) => self.known_scalar(state, *object, *offset, WORD),
            _ => None,
        };
        let mut at = self.flush_joins(state, at)?;
        let span = self.span;
        let now = self.part_register(state, 0, Domain::FULL)?;
        let before = self.part_register(state, 1, Domain::FULL)?;
        let last = match count {
            Some(Datum::Int(count)) => Expr::Const(count - 1),
            _ => {
                let Target::Shared(address, _) = self.locate(state, &place, WORD, false, false)? else {
                    return Err(self.refuse("a barrier that was never prepared".to_owned()));
                };
                let reg = self.part_register(state, 2, Domain::FULL)?;
                let load = Instruction::Load { reg, address, order: Order::NonAtomic };
                at = self.model()?.emit(at, load, span);
                Expr::binary(BinaryOp::Sub, Expr::Atom(reg), Expr::Const(1))
            }
        };
        let load = Instruction::Load { reg: now, address: round.clone(), order: Order::Relaxed };
        at = self.model()?.emit(at, load, span);
        let arrive = Instruction::rmw(
            RmwOp::Add,
            Arithmetic::Checked,
            arrived.clone(),
            Expr::Const(1),
            Order::AcqRel,
            Some(before),
        );
        at = self.model()?.emit(at, arrive, span);
        let last = Expr::Atom(before).eq(last);
        let early = super::operate::negated(last.clone());
        let mut way = state.clone();
        let mut other = self.model()?.emit(at, Instruction::Assume(early), span);
        let condition = WaitCondition::new(Expr::binary(
            BinaryOp::Ne,
            Expr::Atom(WaitAtom::Read),
            Expr::Atom(WaitAtom::Register(now)),
        ));
        let wait = Instruction::Wait { address: round.clone(), condition, order: Order::Acquire, old: None };
        other = self.model()?.emit(other, wait, span);
        let next = self.done(&mut way, Datum::Int(0), other)?;
        self.later(way, next);
        at = self.model()?.emit(at, Instruction::Assume(last), span);
        let reset = Instruction::Store { address: arrived, value: Expr::Const(0), order: Order::Relaxed };
        at = self.model()?.emit(at, reset, span);
        let value = Expr::binary(BinaryOp::Sub, Expr::Const(1), Expr::Atom(now));
        at = self.model()?.emit(at, Instruction::Store { address: round, value, order: Order::Release }, span);
        self.done(state, Datum::Int(-1), at)
    }

    pub fn semaphore(&mut self, state: &mut State, known: LibraryCall, call: &Call, at: Raw) -> Step<Next> {
        let semaphore = self.argument_datum(state, call, 0)?;
        let zero = Datum::Int(0);
        if known == LibraryCall::SemaphoreInit {
            let count = self.argument_datum(state, call, 2)?;
            let at = self.write(state, &semaphore, COUNT, count, Order::NonAtomic, at)?;
            return self.done(state, zero, at);
        }
        if !self.is_model() {
            return self.semaphore_at_once(state, known, call, &semaphore, at);
        }
        let address = self.shared_address(state, &semaphore, COUNT)?;
        let at = self.flush_joins(state, at)?;
        let span = self.span;
        match known {
            LibraryCall::SemaphorePost => {
                let one = Expr::Const(1);
                let post = Instruction::rmw(RmwOp::Add, Arithmetic::Checked, address, one, Order::Release, None);
                let at = self.model()?.emit(at, post, span);
                self.done(state, zero, at)
            }
            LibraryCall::SemaphoreValue => {
                let result = self.argument_datum(state, call, 1)?;
                let reg = self.part_register(state, 0, Domain::FULL)?;
                let at = self.model()?.emit(at, Instruction::Load { reg, address, order: Order::Relaxed }, span);
                let value = Datum::Computed(Expr::Atom(reg));
                let at = self.write(state, &result, COUNT, value, Order::NonAtomic, at)?;
                self.done(state, zero, at)
            }
            LibraryCall::SemaphoreTryWait => {
                let seen = self.part_register(state, 0, Domain::FULL)?;
                let load = Instruction::Load { reg: seen, address: address.clone(), order: Order::Relaxed };
                let loaded = self.model()?.emit(at, load, span);
                let none = Expr::binary(BinaryOp::Le, Expr::Atom(seen), Expr::Const(0));
                let mut way = state.clone();
                let empty = self.model()?.emit(loaded, Instruction::Assume(none.clone()), span);
                let empty = self.set_errno(&mut way, EAGAIN, empty)?;
                let next = self.done(&mut way, Datum::Int(-1), empty)?;
                self.later(way, next);
                let some = super::operate::negated(none);
                let taking = self.model()?.emit(loaded, Instruction::Assume(some), span);
                let at = self.take_seen(state, address, seen, taking, at)?;
                self.done(state, zero, at)
            }
            _ => {
                if known == LibraryCall::SemaphoreTimedWait {
                    let mut way = state.clone();
                    let late = self.model()?.emit(at, Instruction::Nop, span);
                    let late = self.set_errno(&mut way, TIMED_OUT, late)?;
                    let next = self.done(&mut way, Datum::Int(-1), late)?;
                    self.later(way, next);
                }
                // The last one is taken in one step. Of several, another thread may take one in between.
                let last = Instruction::BlockingCas {
                    address: address.clone(),
                    expected: Expr::Const(1),
                    new: Expr::Const(0),
                    order: Order::Acquire,
                };
                let taken = self.model()?.emit(at, last, span);
                let seen = self.part_register(state, 0, Domain::FULL)?;
                let several = Expr::binary(BinaryOp::Gt, Expr::Atom(WaitAtom::Read), Expr::Const(1));
                let condition = WaitCondition::new(several);
                let wait =
                    Instruction::Wait { address: address.clone(), condition, order: Order::Relaxed, old: Some(seen) };
                let taking = self.model()?.emit(at, wait, span);
                let also = self.take_seen(state, address, seen, taking, at)?;
                self.model()?.flow.jump(also, taken, span);
                self.done(state, zero, taken)
            }
        }
    }

    /// Takes one of as many as were seen; where their number is another one by now, all begins again.
    fn take_seen(
        &mut self,
        state: &State,
        address: Address,
        seen: ravelin_program::RegId,
        at: Raw,
        again: Raw,
    ) -> Step<Raw> {
        let ok = self.part_register(state, 1, Domain::BOOL)?;
        let span = self.span;
        let exchange = Instruction::CompareExchange {
            address,
            expected: Expr::Atom(seen),
            new: Expr::binary(BinaryOp::Sub, Expr::Atom(seen), Expr::Const(1)),
            success: Order::Acquire,
            failure: Order::Relaxed,
            weak: false,
            old: None,
            ok: Some(ok),
        };
        let model = self.model()?;
        let at = model.emit(at, exchange, span);
        model.emit_to(at, Instruction::Assume(Expr::Atom(ok).not()), again, span);
        Ok(model.emit(at, Instruction::Assume(Expr::Atom(ok)), span))
    }

    /// While `main` is executed.
    fn semaphore_at_once(
        &mut self,
        state: &mut State,
        known: LibraryCall,
        call: &Call,
        semaphore: &Datum,
        at: Raw,
    ) -> Step<Next> {
        let count = self.read_known(state, semaphore, COUNT)?;
        let after = match known {
            LibraryCall::SemaphoreValue => {
                let result = self.argument_datum(state, call, 1)?;
                let at = self.write(state, &result, COUNT, Datum::Int(count), Order::NonAtomic, at)?;
                return self.done(state, Datum::Int(0), at);
            }
            LibraryCall::SemaphorePost => count + 1,
            _ if count > 0 => count - 1,
            LibraryCall::SemaphoreTryWait => {
                let at = self.set_errno(state, EAGAIN, at)?;
                return self.done(state, Datum::Int(-1), at);
            }
            _ => return Err(super::specialise::Interrupt::NeedsModel),
        };
        let at = self.write(state, semaphore, COUNT, Datum::Int(after), Order::NonAtomic, at)?;
        self.done(state, Datum::Int(0), at)
    }
}

/// Counts signals. A thread that waits while exactly 16 are sent does not notice them.
fn rounds() -> Arithmetic {
    Arithmetic::Wrapping(Domain::new(0, 15, Escape::Wrap))
}
