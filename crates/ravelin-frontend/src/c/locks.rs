//! Mutexes, spin locks and locks for readers and writers.
//!
//! A mutex is one cell. How deeply a thread holds one that it may take again is known wherever the thread is, so taking it
//! again needs no step.
//!
//! A lock for readers and writers has a cell for writers, and one for each thread that reads: a reader takes its own, and a
//! writer takes all of them. So readers do not order one another. A writer that waits for a reader keeps others out, which
//! POSIX allows.

use super::library::LibraryCall;
use super::objects::{ObjectId, ObjectKey};
use super::specialise::{Interrupt, Next, Specialiser, Step};
use super::state::{Hold, State};
use super::value::Datum;
use crate::flow::Raw;
use crate::ir::module::Call;
use ravelin_program::{Address, Domain, Expr, Instruction, Order};

/// A lock is one cell, whatever its type has inside.
pub(super) const LOCK: u32 = 1;
/// Attributes of a mutex, and its kind.
const KIND: u32 = 4;
/// Where static initialisers of mutexes have their kind.
const KIND_AT: i64 = 16;
const EPERM: i64 = 1;
const EDEADLK: i64 = 35;

/// What functions return that do not succeed: those of POSIX, and those of C11's `threads.h`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorCodes {
    pub busy: i64,
    pub timed_out: i64,
}

/// What happens when the thread that holds a mutex takes it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MutexKind {
    /// It waits for itself.
    Plain,
    Recursive,
    /// It is told.
    Checked,
}

impl MutexKind {
    fn of(number: i64) -> Option<MutexKind> {
        match number {
            0 | 3 => Some(MutexKind::Plain),
            1 => Some(MutexKind::Recursive),
            2 => Some(MutexKind::Checked),
            _ => None,
        }
    }
}

/// A scalar of an object.
pub(super) type ScalarPlace = (ObjectId, u64);

fn place_of(pointer: &Datum) -> Option<ScalarPlace> {
    match pointer {
        Datum::Pointer(object, offset) => Some((*object, u64::try_from(*offset).ok()?)),
        _ => None,
    }
}

impl Specialiser<'_, '_> {
    pub fn error_codes(&self, call: &Call) -> ErrorCodes {
        let name = self.world.called_name(call).unwrap_or_default();
        match name.starts_with("mtx_") || name.starts_with("cnd_") {
            true => ErrorCodes { busy: 1, timed_out: 4 },
            false => ErrorCodes { busy: 16, timed_out: 110 },
        }
    }

    pub fn mutex(&mut self, state: &mut State, known: LibraryCall, call: &Call, at: Raw) -> Step<Next> {
        let lock = self.argument_datum(state, call, 0)?;
        let zero = Datum::Int(0);
        match known {
            LibraryCall::MutexAttributes | LibraryCall::MutexType => {
                let kind = match known {
                    LibraryCall::MutexType => self.argument_datum(state, call, 1)?,
                    _ => zero.clone(),
                };
                let at = self.write(state, &lock, KIND, kind, Order::NonAtomic, at)?;
                return self.done(state, zero, at);
            }
            LibraryCall::MutexInit | LibraryCall::MutexInitC11 => {
                self.learn_kind(state, known, call, &lock)?;
                let at = self.write(state, &lock, LOCK, zero.clone(), Order::NonAtomic, at)?;
                return self.done(state, zero, at);
            }
            LibraryCall::SpinInit => {
                let at = self.write(state, &lock, LOCK, zero.clone(), Order::NonAtomic, at)?;
                return self.done(state, zero, at);
            }
            _ => {}
        }
        let codes = self.error_codes(call);
        let kind = self.kind_of(state, call, &lock)?;
        // Whether the thread holds it is only of interest if it can take it again.
        let place = place_of(&lock).filter(|_| kind != MutexKind::Plain);
        if let Some(place) = place
            && let Some(result) = own_lock(state, kind, known, place, codes)
        {
            return self.done(state, Datum::Int(result), at);
        }
        if !self.is_model() {
            return self.lock_at_once(state, known, &lock, place, codes, at);
        }
        let address = self.shared_address(state, &lock, LOCK)?;
        let at = self.flush_joins(state, at)?;
        let span = self.span;
        match known {
            LibraryCall::MutexUnlock => {
                let at = self.model()?.emit(at, Instruction::Unlock(address), span);
                hold(state, place, None);
                self.done(state, zero, at)
            }
            LibraryCall::MutexTryLock => {
                let (taken, busy) = self.try_lock(state, address, 0, at)?;
                let mut way = state.clone();
                let next = self.done(&mut way, Datum::Int(codes.busy), busy)?;
                self.later(way, next);
                hold(state, place, Some(Hold::Mutex(1)));
                self.done(state, zero, taken)
            }
            _ => {
                if known == LibraryCall::MutexTimedLock {
                    self.may_be_late(state, codes.timed_out, at)?;
                }
                let at = self.model()?.emit(at, Instruction::Lock(address), span);
                hold(state, place, Some(Hold::Mutex(1)));
                self.done(state, zero, at)
            }
        }
    }

    /// A way on which a call that waits no longer than some time returns this.
    pub fn may_be_late(&mut self, state: &State, result: i64, at: Raw) -> Step<()> {
        let span = self.span;
        let mut way = state.clone();
        let late = self.model()?.emit(at, Instruction::Nop, span);
        let next = self.done(&mut way, Datum::Int(result), late)?;
        self.later(way, next);
        Ok(())
    }

    /// Takes a lock if it is free: where it was taken, and where it was not.
    fn try_lock(&mut self, state: &State, address: Address, number: u64, at: Raw) -> Step<(Raw, Raw)> {
        // A lock that is held is seen by a load; only a free one is tried.
        let seen = self.part_register(state, 2 * number, Domain::FULL)?;
        let ok = self.part_register(state, 2 * number + 1, Domain::BOOL)?;
        let span = self.span;
        let model = self.model()?;
        let load = Instruction::Load { reg: seen, address: address.clone(), order: Order::Relaxed };
        let at = model.emit(at, load, span);
        let free = Expr::Atom(seen).eq(Expr::Const(0));
        let busy = model.emit(at, Instruction::Assume(super::operate::negated(free.clone())), span);
        let at = model.emit(at, Instruction::Assume(free), span);
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
        let at = model.emit(at, exchange, span);
        model.emit_to(at, Instruction::Assume(Expr::Atom(ok).not()), busy, span);
        let taken = model.emit(at, Instruction::Assume(Expr::Atom(ok)), span);
        Ok((taken, busy))
    }

    /// While `main` is executed.
    fn lock_at_once(
        &mut self,
        state: &mut State,
        known: LibraryCall,
        lock: &Datum,
        place: Option<ScalarPlace>,
        codes: ErrorCodes,
        at: Raw,
    ) -> Step<Next> {
        let held = self.read_known(state, lock, LOCK)?;
        let (result, after) = match (known, held) {
            (LibraryCall::MutexUnlock, _) => (0, 0),
            (_, 0) => (0, 1),
            (LibraryCall::MutexTryLock, held) => (codes.busy, held),
            _ => return Err(Interrupt::NeedsModel),
        };
        let at = self.write(state, lock, LOCK, Datum::Int(after), Order::NonAtomic, at)?;
        if result == 0 {
            hold(state, place, (after != 0).then_some(Hold::Mutex(1)));
        }
        self.done(state, Datum::Int(result), at)
    }

    /// A number that `main` reads while it is executed.
    pub fn read_known(&mut self, state: &State, pointer: &Datum, size: u32) -> Step<i64> {
        let super::access::Target::Private(object, offset) = self.locate(state, pointer, size, false, false)? else {
            return Err(Interrupt::NeedsModel);
        };
        match state.memory.get(&object).map(|contents| contents.read(offset, size)) {
            Some(Ok(Datum::Int(value))) => Ok(value),
            _ => Err(Interrupt::NeedsModel),
        }
    }

    /// A mutex is initialised: its attributes say of what kind it is.
    fn learn_kind(&mut self, state: &State, known: LibraryCall, call: &Call, lock: &Datum) -> Step<()> {
        let attributes = self.argument_datum(state, call, 1)?;
        let number = match (known, &attributes) {
            (LibraryCall::MutexInitC11, Datum::Int(kind)) => Some(kind & 1),
            (LibraryCall::MutexInitC11, _) => None,
            (_, Datum::Int(0)) => Some(0),
            (_, Datum::Pointer(object, offset)) => match self.known_scalar(state, *object, *offset, KIND) {
                Some(Datum::Int(kind)) => Some(kind),
                Some(Datum::Undefined) => Some(0),
                _ => None,
            },
            _ => None,
        };
        let Some(kind) = number.and_then(MutexKind::of) else {
            return Err(self.refuse("a mutex of a kind that is not known here".to_owned()));
        };
        match place_of(lock) {
            _ if kind == MutexKind::Plain => Ok(()),
            Some(place) if self.world.facts.learn_kind(place, kind) => Ok(()),
            Some(_) => Err(self.refuse("a mutex that is of several kinds".to_owned())),
            None => Err(self.refuse("a recursive mutex that is not known here".to_owned())),
        }
    }

    /// What memory holds at a known place, if it is known.
    pub fn known_scalar(&self, state: &State, object: ObjectId, offset: i64, size: u32) -> Option<Datum> {
        let start = u64::try_from(offset).ok()?;
        match state.memory.get(&object) {
            Some(contents) => contents.read(start, size).ok(),
            None => self.world.constant_scalar(object, start, size),
        }
    }

    fn kind_of(&mut self, state: &State, call: &Call, lock: &Datum) -> Step<MutexKind> {
        let is_mutex = self.world.called_name(call).is_some_and(|name| !name.starts_with("pthread_spin_"));
        match lock {
            Datum::Pointer(object, offset) if is_mutex => {
                let (object, offset) = (*object, *offset);
                let learnt = u64::try_from(offset).ok().and_then(|start| self.world.facts.kind((object, start)));
                if let Some(kind) = learnt {
                    return Ok(kind);
                }
                let contents = state.memory.get(&object).or_else(|| self.world.initial.get(&object));
                let start = u64::try_from(offset.saturating_add(KIND_AT)).ok();
                match start.and_then(|start| contents?.read(start, KIND).ok()) {
                    Some(Datum::Int(number)) => MutexKind::of(number)
                        .ok_or_else(|| self.refuse("a mutex of a kind that is not supported".to_owned())),
                    _ => Ok(MutexKind::Plain),
                }
            }
            Datum::Computed(_) if is_mutex && self.world.facts.has_kinds() => Err(self
                .refuse("a mutex that is not known here, where some can be taken again by their holders".to_owned())),
            _ => Ok(MutexKind::Plain),
        }
    }

    /// The address of a part of an object that several threads can access.
    pub fn shared_address(&mut self, state: &State, pointer: &Datum, size: u32) -> Step<Address> {
        match self.locate(state, pointer, size, true, true)? {
            super::access::Target::Shared(address, _) => Ok(address),
            super::access::Target::Private(..) => Err(Interrupt::NeedsModel),
        }
    }

    pub fn readers_and_writers(&mut self, state: &mut State, known: LibraryCall, call: &Call, at: Raw) -> Step<Next> {
        let lock = self.argument_datum(state, call, 0)?;
        let zero = Datum::Int(0);
        if known == LibraryCall::RwLockInit {
            let at = self.write(state, &lock, LOCK, zero.clone(), Order::NonAtomic, at)?;
            return self.done(state, zero, at);
        }
        self.needs_model()?;
        let Some(place) = place_of(&lock) else {
            return Err(self.refuse("a lock for readers and writers that is not known here".to_owned()));
        };
        let codes = self.error_codes(call);
        let hold = state.held.get(&place).copied();
        let at = self.flush_joins(state, at)?;
        let writes = matches!(known, LibraryCall::WriteLock | LibraryCall::TryWriteLock | LibraryCall::TimedWriteLock);
        let tries = matches!(known, LibraryCall::TryReadLock | LibraryCall::TryWriteLock);
        if known == LibraryCall::RwUnlock {
            let cells = match hold {
                Some(Hold::Reader(depth @ 2..)) => {
                    state.held.insert(place, Hold::Reader(depth - 1));
                    return self.done(state, zero, at);
                }
                Some(Hold::Reader(_)) => vec![self.reader_cell(place, self.thread)?],
                Some(Hold::Writer) => self.writer_cells(state, &lock, place)?,
                // It is not held, which is undefined.
                _ => return self.fail(at),
            };
            state.held.remove(&place);
            let at = self.unlock_all(&cells, at)?;
            return self.done(state, zero, at);
        }
        match hold {
            Some(Hold::Reader(depth)) if !writes => {
                state.held.insert(place, Hold::Reader(depth + 1));
                return self.done(state, zero, at);
            }
            // A reader that wants to write waits for itself.
            Some(held @ (Hold::Writer | Hold::Reader(_))) if tries || held == Hold::Writer => {
                let result = if tries { codes.busy } else { EDEADLK };
                return self.done(state, Datum::Int(result), at);
            }
            _ => {}
        }
        let cells = match writes {
            true => self.writer_cells(state, &lock, place)?,
            false => {
                self.world.facts.read_lock(place, self.thread);
                vec![self.reader_cell(place, self.thread)?]
            }
        };
        let mut at = at;
        if matches!(known, LibraryCall::TimedReadLock | LibraryCall::TimedWriteLock) {
            self.may_be_late(state, codes.timed_out, at)?;
        }
        for (number, cell) in cells.iter().enumerate() {
            if tries {
                let (taken, busy) = self.try_lock(state, cell.clone(), number as u64, at)?;
                let busy = self.unlock_all(&cells[..number], busy)?;
                let mut way = state.clone();
                let next = self.done(&mut way, Datum::Int(codes.busy), busy)?;
                self.later(way, next);
                at = taken;
            } else {
                let span = self.span;
                at = self.model()?.emit(at, Instruction::Lock(cell.clone()), span);
            }
        }
        state.held.insert(place, if writes { Hold::Writer } else { Hold::Reader(1) });
        self.done(state, zero, at)
    }

    fn unlock_all(&mut self, cells: &[Address], mut at: Raw) -> Step<Raw> {
        let span = self.span;
        for cell in cells.iter().rev() {
            at = self.model()?.emit(at, Instruction::Unlock(cell.clone()), span);
        }
        Ok(at)
    }

    fn reader_cell(&mut self, (object, offset): ScalarPlace, thread: usize) -> Step<Address> {
        self.made_for_model(ObjectKey::Reader { object, offset, thread }, true)
    }

    /// What a writer takes, in this order.
    fn writer_cells(&mut self, state: &State, lock: &Datum, place: ScalarPlace) -> Step<Vec<Address>> {
        let mut cells = vec![self.shared_address(state, lock, LOCK)?];
        for thread in self.world.facts.readers(place) {
            cells.push(self.reader_cell(place, thread)?);
        }
        Ok(cells)
    }
}

/// Notes how the thread holds a lock from now on, where that is of interest.
fn hold(state: &mut State, place: Option<ScalarPlace>, how: Option<Hold>) {
    match (place, how) {
        (Some(place), Some(how)) => {
            state.held.insert(place, how);
        }
        (Some(place), None) => {
            state.held.remove(&place);
        }
        (None, _) => {}
    }
}

/// The answer to a thread that already holds a mutex, or that releases what it does not hold; `None` if it has to be taken
/// or released.
fn own_lock(
    state: &mut State,
    kind: MutexKind,
    known: LibraryCall,
    place: ScalarPlace,
    codes: ErrorCodes,
) -> Option<i64> {
    let depth = match state.held.get(&place) {
        Some(Hold::Mutex(depth)) => *depth,
        _ => 0,
    };
    match (known, depth) {
        (LibraryCall::MutexUnlock, 0) => Some(EPERM),
        (LibraryCall::MutexUnlock, 1) | (_, 0) => None,
        (LibraryCall::MutexUnlock, _) => {
            state.held.insert(place, Hold::Mutex(depth - 1));
            Some(0)
        }
        _ if kind == MutexKind::Recursive => {
            state.held.insert(place, Hold::Mutex(depth + 1));
            Some(0)
        }
        (LibraryCall::MutexTryLock, _) => Some(codes.busy),
        _ => Some(EDEADLK),
    }
}
