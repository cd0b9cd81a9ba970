//! Barriers and semaphores.

use super::access::Target;
use super::library::LibraryCall;
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
            LibraryCall::BarrierInit => {
                let count = self.argument_datum(state, call, 2)?;
                let mut at = at;
                for (offset, datum) in [(0, zero.clone()), (8, zero.clone()), (16, count)] {
                    let place = self.displaced(&object, offset)?;
                    at = self.write(state, &place, WORD, datum, Order::NonAtomic, at)?;
                }
                self.done(state, zero, at)
            }
            _ => self.barrier(state, &object, at),
        }
    }

    fn barrier(&mut self, state: &mut State, object: &Datum, at: Raw) -> Step<Next> {
        self.needs_model()?;
        self.world.facts.wait_at_barrier(self.thread);
        let arrived = self.shared_address(state, object, WORD)?;
        let at = self.flush_joins(state, at)?;
        let place = self.displaced(object, 16)?;
        let count = match &place {
            Datum::Pointer(object, offset) => self.known_scalar(state, *object, *offset, WORD),
            _ => None,
        };
        match count {
            Some(Datum::Int(count @ 1..)) => self.barrier_for(state, arrived, count, at),
            _ => self.barrier_for_unknown(state, object, &place, arrived, at),
        }
    }

    /// A barrier for a known number of threads is one cell. It counts the threads that have come in all, and a thread waits
    /// until their round is over.
    fn barrier_for(&mut self, state: &mut State, came: Address, count: i64, at: Raw) -> Step<Next> {
        let Some(most) = count.checked_mul(self.world.facts.rounds_of(count)) else {
            return Err(self.refuse(format!("a barrier for {count} threads")));
        };
        let span = self.span;
        let before = self.part_register(state, 0, Domain::FULL)?;
        let counting = Arithmetic::Wrapping(Domain::new(0, most - 1, Escape::Wrap));
        let come = Instruction::rmw(RmwOp::Add, counting, came.clone(), Expr::Const(1), Order::AcqRel, Some(before));
        let at = self.model()?.emit(at, come, span);
        let place = Expr::binary(BinaryOp::Rem, Expr::Atom(before), Expr::Const(count));
        let is_last = place.eq(Expr::Const(count - 1));
        let early = self.model()?.emit(at, Instruction::Assume(super::operate::negated(is_last.clone())), span);
        let round = |atom| Expr::binary(BinaryOp::Div, Expr::Atom(atom), Expr::Const(count));
        let over = Expr::binary(BinaryOp::Ne, round(WaitAtom::Read), round(WaitAtom::Register(before)));
        let wait =
            Instruction::Wait { address: came, condition: WaitCondition::new(over), order: Order::Acquire, old: None };
        let early = self.model()?.emit(early, wait, span);
        let mut way = state.clone();
        let next = self.done(&mut way, Datum::Int(0), early)?;
        self.later(way, next);
        let at = self.model()?.emit(at, Instruction::Assume(is_last), span);
        self.done(state, Datum::Int(-1), at)
    }

    /// The last one to arrive starts the next round, for which the others wait.
    fn barrier_for_unknown(
        &mut self,
        state: &mut State,
        object: &Datum,
        count: &Datum,
        arrived: Address,
        at: Raw,
    ) -> Step<Next> {
        let place = self.displaced(object, 8)?;
        let round = self.shared_address(state, &place, WORD)?;
        let Target::Shared(address, _) = self.locate(state, count, WORD, false, false)? else {
            return Err(self.refuse("a barrier that was never prepared".to_owned()));
        };
        let span = self.span;
        let now = self.part_register(state, 0, Domain::FULL)?;
        let before = self.part_register(state, 1, Domain::FULL)?;
        let reg = self.part_register(state, 2, Domain::FULL)?;
        let mut at = self.model()?.emit(at, Instruction::Load { reg, address, order: Order::NonAtomic }, span);
        let last = Expr::binary(BinaryOp::Sub, Expr::Atom(reg), Expr::Const(1));
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
