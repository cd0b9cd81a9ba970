//! Threads: starting, ending and waiting for them, locks, condition variables and barriers.
//!
//! A thread that another one starts waits for a cell of its own to become 1. The end of a thread is counted in a cell for
//! each group of threads that another one waits for: several calls of `pthread_join` in a row are one step.

use super::library::LibraryCall;
use super::objects::ObjectKey;
use super::specialise::{Interrupt, Next, Specialiser, Start, Step};
use super::state::State;
use super::value::Datum;
use crate::flow::Raw;
use crate::ir::module::Call;
use ravelin_program::{Address, Arithmetic, BinaryOp, Domain, Escape, Expr, Instruction, Order, RmwOp, WaitCondition};

/// The arguments of a call that starts a thread.
pub(super) struct Spawn {
    pub handle: Datum,
    pub function: Datum,
    pub argument: Datum,
}

/// Size of a cell that was made for the model, of a handle of a thread, and of a part of a barrier.
const WORD: u32 = 8;
/// A lock is one cell, whatever its type has inside.
const LOCK: u32 = 1;
/// Threads of one program.
pub(super) const MOST_THREADS: usize = 64;
/// What C calls EBUSY and ETIMEDOUT.
const BUSY: i64 = 16;
const TIMED_OUT: i64 = 110;

impl<'m> Specialiser<'_, 'm> {
    pub fn spawn(&mut self, state: &mut State, spawn: Spawn, mut at: Raw) -> Step<Raw> {
        let function = self.thread_function(&spawn.function)?;
        let span = self.span;
        let number = if self.is_model() {
            let site = self.site(state);
            let count = state.counters.get(&site).copied().unwrap_or(0);
            let start = Start { function, argument: spawn.argument, gate: Some((self.thread, site, count)), span };
            let Some(number) = self.world.gated(start) else {
                return Err(self.refuse(format!("more than {MOST_THREADS} threads are started")));
            };
            state.counters.insert(site, count + 1);
            at = self.flush_joins(state, at)?;
            let address = self.made_for_model(ObjectKey::Started(number), true)?;
            let store = Instruction::Store { address, value: Expr::Const(1), order: Order::Release };
            at = self.model()?.emit(at, store, span);
            number
        } else {
            if self.starts.len() >= MOST_THREADS {
                return Err(self.refuse(format!("more than {MOST_THREADS} threads are started")));
            }
            self.note_start(Start { function, argument: spawn.argument, gate: None, span });
            self.starts.len()
        };
        if spawn.handle != Datum::Int(0) {
            at = self.write(state, &spawn.handle, WORD, Datum::Int(number as i64), Order::NonAtomic, at)?;
        }
        Ok(at)
    }

    pub fn join_thread(&mut self, state: &mut State, call: &Call, at: Raw) -> Step<Next> {
        self.needs_model()?;
        let handle = self.argument_datum(state, call, 0)?;
        let result = self.argument_datum(state, call, 1)?;
        if result != Datum::Int(0) {
            return Err(self.refuse_with(
                "the result of a thread is not supported".to_owned(),
                "pass a null pointer, and let the thread write what it found to memory".to_owned(),
            ));
        }
        self.wait_for_end(state, &handle)?;
        self.done(state, Datum::Int(0), at)
    }

    /// The next step of the model waits for the end of a thread.
    pub fn wait_for_end(&mut self, state: &mut State, handle: &Datum) -> Step<()> {
        let Datum::Int(number) = handle else {
            return Err(self.refuse("a thread is waited for, and which one is not known here".to_owned()));
        };
        let Some(number) = usize::try_from(*number).ok().filter(|number| *number > 0) else {
            return Err(self.refuse("a thread is waited for that was never started".to_owned()));
        };
        state.joins.insert(number);
        Ok(())
    }

    /// Waits for the threads that were joined since the last step.
    pub fn flush_joins(&mut self, state: &mut State, at: Raw) -> Step<Raw> {
        if state.joins.is_empty() {
            return Ok(at);
        }
        let joins = std::mem::take(&mut state.joins);
        self.world.facts.join(&joins);
        let count = joins.len() as i64;
        let address = self.made_for_model(ObjectKey::Ended(joins.into_iter().collect()), false)?;
        let condition = WaitCondition::equals(Expr::Const(count));
        let span = self.span;
        Ok(self.model()?.emit(at, Instruction::Wait { address, condition, order: Order::Acquire, old: None }, span))
    }

    /// The thread has returned from its first function.
    pub fn end_thread(&mut self, state: &mut State, at: Raw) -> Step<()> {
        if !self.is_model() {
            return Ok(());
        }
        let mut at = self.flush_joins(state, at)?;
        let groups: Vec<Vec<usize>> = self
            .world
            .facts
            .groups()
            .into_iter()
            .filter(|group| group.contains(&self.thread))
            .map(|group| group.iter().copied().collect())
            .collect();
        let span = self.span;
        for group in groups {
            let alone = group.len() == 1;
            let address = self.made_for_model(ObjectKey::Ended(group), true)?;
            let instruction = if alone {
                Instruction::Store { address, value: Expr::Const(1), order: Order::Release }
            } else {
                Instruction::rmw(RmwOp::Add, Arithmetic::Checked, address, Expr::Const(1), Order::AcqRel, None)
            };
            at = self.model()?.emit(at, instruction, span);
        }
        let model = self.model()?;
        let end = model.end;
        model.flow.jump(at, end, span);
        Ok(())
    }

    /// The address of a cell that is not in the source.
    pub fn made_for_model(&mut self, key: ObjectKey, writes: bool) -> Step<Address> {
        let name = match &key {
            ObjectKey::Started(thread) => format!("started{thread}"),
            ObjectKey::Ended(threads) => {
                let names: Vec<String> = threads.iter().map(ToString::to_string).collect();
                format!("ended{}", names.join("_"))
            }
            ObjectKey::Freed(block) => format!("freed{}", block.0),
            _ => "hidden".to_owned(),
        };
        let object = self.world.objects.intern(key, WORD.into(), || (name, None, None));
        self.world.facts.share(object);
        self.note_scalar(object, 0, WORD)?;
        if writes {
            self.world.facts.write(object, 0);
        }
        Ok(Address::computed(Expr::Const(self.world.objects.address(object, 0))))
    }

    pub fn mutex(&mut self, state: &mut State, known: LibraryCall, call: &Call, at: Raw) -> Step<Next> {
        let lock = self.argument_datum(state, call, 0)?;
        let zero = Datum::Int(0);
        match known {
            LibraryCall::MutexType => {
                return match self.argument_datum(state, call, 1)? {
                    Datum::Int(0) => self.done(state, zero, at),
                    _ => Err(self.refuse("mutexes that are recursive or look for errors are not supported".to_owned())),
                };
            }
            LibraryCall::MutexInitC11 => {
                if !matches!(self.argument_datum(state, call, 1)?, Datum::Int(kind) if kind & 1 == 0) {
                    return Err(self.refuse("recursive mutexes are not supported".to_owned()));
                }
                let at = self.write(state, &lock, LOCK, zero.clone(), Order::NonAtomic, at)?;
                return self.done(state, zero, at);
            }
            LibraryCall::MutexInit | LibraryCall::SpinInit => {
                let at = self.write(state, &lock, LOCK, zero.clone(), Order::NonAtomic, at)?;
                return self.done(state, zero, at);
            }
            _ => {}
        }
        self.check_kind(state, &lock)?;
        if !self.is_model() {
            return self.lock_at_once(state, known, &lock, at);
        }
        let address = self.shared_address(state, &lock, LOCK)?;
        let at = self.flush_joins(state, at)?;
        let span = self.span;
        match known {
            LibraryCall::MutexLock => {
                let at = self.model()?.emit(at, Instruction::Lock(address), span);
                self.done(state, zero, at)
            }
            LibraryCall::MutexUnlock => {
                let at = self.model()?.emit(at, Instruction::Unlock(address), span);
                self.done(state, zero, at)
            }
            _ => {
                // A lock that is held is seen by a load; only a free one is tried.
                let seen = self.part_register(state, 0, Domain::FULL)?;
                let ok = self.part_register(state, 1, Domain::BOOL)?;
                let load = Instruction::Load { reg: seen, address: address.clone(), order: Order::Relaxed };
                let at = self.model()?.emit(at, load, span);
                let free = Expr::Atom(seen).eq(Expr::Const(0));
                let held = super::operate::negated(free.clone());
                let mut way = state.clone();
                let busy = self.model()?.emit(at, Instruction::Assume(held), span);
                let next = self.done(&mut way, Datum::Int(BUSY), busy)?;
                self.later(way, next);
                let at = self.model()?.emit(at, Instruction::Assume(free), span);
                let exchange = Instruction::CompareExchange {
                    address,
                    expected: Expr::Const(0),
                    new: Expr::Const(1),
                    success: Order::Acquire,
                    failure: Order::Relaxed,
                    weak: false,
                    old: None,
                    ok: Some(ok),
                };
                let at = self.model()?.emit(at, exchange, span);
                self.either(state, &Datum::Computed(Expr::Atom(ok)), zero, Datum::Int(BUSY), at)
            }
        }
    }

    /// While `main` is executed.
    fn lock_at_once(&mut self, state: &mut State, known: LibraryCall, lock: &Datum, at: Raw) -> Step<Next> {
        let held = self.read_known(state, lock, LOCK)?;
        let (result, after) = match (known, held) {
            (LibraryCall::MutexLock, 0) | (LibraryCall::MutexTryLock, 0) => (0, 1),
            (LibraryCall::MutexLock, _) => return Err(Interrupt::NeedsModel),
            (LibraryCall::MutexTryLock, held) => (BUSY, held),
            _ => (0, 0),
        };
        let at = self.write(state, lock, LOCK, Datum::Int(after), Order::NonAtomic, at)?;
        self.done(state, Datum::Int(result), at)
    }

    /// A number that `main` reads while it is executed.
    fn read_known(&mut self, state: &State, pointer: &Datum, size: u32) -> Step<i64> {
        let super::access::Target::Private(object, offset) = self.locate(state, pointer, size, false, false)? else {
            return Err(Interrupt::NeedsModel);
        };
        match state.memory.get(&object).map(|contents| contents.read(offset, size)) {
            Some(Ok(Datum::Int(value))) => Ok(value),
            _ => Err(Interrupt::NeedsModel),
        }
    }

    /// Static initialisers say what kind of mutex it is.
    fn check_kind(&mut self, state: &State, lock: &Datum) -> Step<()> {
        const KIND: u64 = 16;
        let Datum::Pointer(object, offset) = lock else { return Ok(()) };
        let contents = state.memory.get(object).or_else(|| self.world.initial.get(object));
        let kind = u64::try_from(*offset).ok().and_then(|start| contents?.read(start + KIND, 4).ok());
        match kind {
            Some(Datum::Int(1..)) => {
                Err(self.refuse("mutexes that are recursive or look for errors are not supported".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The address of a part of an object that several threads can access.
    fn shared_address(&mut self, state: &State, pointer: &Datum, size: u32) -> Step<Address> {
        match self.locate(state, pointer, size, true, true)? {
            super::access::Target::Shared(address, _) => Ok(address),
            super::access::Target::Private(..) => Err(Interrupt::NeedsModel),
        }
    }

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
                self.wait_for_signal(state, known == LibraryCall::ConditionTimedWait, &object, &lock, at)
            }
            _ => self.barrier(state, &object, at),
        }
    }

    /// Unlocks, waits until someone has signalled since, and locks again. All that wait are woken, which POSIX allows.
    pub fn wait_for_signal(
        &mut self,
        state: &mut State,
        timed: bool,
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
        if timed {
            let mut way = state.clone();
            let late = self.model()?.emit(at, Instruction::Lock(lock.clone()), span);
            let next = self.done(&mut way, Datum::Int(TIMED_OUT), late)?;
            self.later(way, next);
        }
        let condition = WaitCondition::new(Expr::binary(
            BinaryOp::Ne,
            Expr::Atom(ravelin_program::WaitAtom::Read),
            Expr::Atom(ravelin_program::WaitAtom::Register(seen)),
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
        let Datum::Pointer(counted, offset) = place else {
            return Err(self.refuse("a barrier that is not known here".to_owned()));
        };
        let contents = state.memory.get(&counted).or_else(|| self.world.initial.get(&counted));
        let count = contents.and_then(|contents| contents.read(offset as u64, WORD).ok());
        let Some(Datum::Int(count)) = count.filter(|_| !self.world.facts.may_write(counted, offset as u64, WORD))
        else {
            return Err(self.refuse("how many threads a barrier waits for is not known here".to_owned()));
        };
        let mut at = self.flush_joins(state, at)?;
        let span = self.span;
        let now = self.part_register(state, 0, Domain::FULL)?;
        let before = self.part_register(state, 1, Domain::FULL)?;
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
        let last = Expr::Atom(before).eq(Expr::Const(count - 1));
        let early = super::operate::negated(last.clone());
        let mut way = state.clone();
        let mut other = self.model()?.emit(at, Instruction::Assume(early), span);
        let condition = WaitCondition::new(Expr::binary(
            BinaryOp::Ne,
            Expr::Atom(ravelin_program::WaitAtom::Read),
            Expr::Atom(ravelin_program::WaitAtom::Register(now)),
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
}

/// Counts signals. A thread that waits while exactly 16 are sent does not notice them.
fn rounds() -> Arithmetic {
    Arithmetic::Wrapping(Domain::new(0, 15, Escape::Wrap))
}
