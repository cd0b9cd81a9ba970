//! The steps of a run that was steered: what each thread did that others can see, in order.
//!
//! An event is one step between two scheduling points. Its operation touches at most one range of memory: the bytes of
//! an atomic, or an object such as a mutex, which stands for its whole. Two operations of different threads
//! [`conflict`](RunOperation::conflicts) if their order can matter. Runs that differ only in the order of operations
//! without conflict are the same run for every question that is asked about them. Non-atomic accesses are no events: if
//! their order mattered there would be a data race, and that is reported.
//!
//! Some operations [block](Act::blocks): they happen only where they can succeed. A load in a waiting loop is such an
//! operation, too. A round of the loop that only repeats it is marked as [`flags::ROUND`] and is no event.

use crate::RecordedOrder;

/// What a thread does in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Act {
    /// Nothing that others can see: it begins, yields, sleeps, or makes a fence other than a seq_cst one.
    Local,
    /// An atomic load, or a compare-exchange that fails.
    Load,
    /// An atomic store.
    Store,
    /// An atomic read-modify-write, or a compare-exchange that succeeds.
    Update,
    /// A fence.
    Fence,
    /// It starts a thread. The address is the number of that thread.
    Start,
    /// It ends. The address is its own number.
    End,
    /// It waits for the end of a thread. The address is the number of that thread.
    Join,
    /// It locks an object for itself: a mutex, a spin lock, a read-write lock for writing.
    Lock,
    /// It locks a read-write lock for reading.
    LockShared,
    /// It looks whether it could lock an object, and cannot.
    LockFails,
    /// It unlocks what it has locked for itself.
    Unlock,
    /// It unlocks what it has locked for reading.
    UnlockShared,
    /// It adds something to an object that others may wait for: the post of a semaphore, the signal of a condition
    /// variable, the wake-up of a futex.
    Give,
    /// It takes what others have given, and waits for that.
    Take,
    /// Any other operation on an object.
    Touch,
    /// It ends the process. This is the last event of a run.
    Exit,
}

impl Act {
    /// In the order of their numbers.
    pub const ALL: [Act; 17] = [
        Act::Local,
        Act::Load,
        Act::Store,
        Act::Update,
        Act::Fence,
        Act::Start,
        Act::End,
        Act::Join,
        Act::Lock,
        Act::LockShared,
        Act::LockFails,
        Act::Unlock,
        Act::UnlockShared,
        Act::Give,
        Act::Take,
        Act::Touch,
        Act::Exit,
    ];

    /// Whether it happens only where it can succeed. Loads and updates in waiting loops do so as well; that is known
    /// from their rounds.
    pub fn blocks(self) -> bool {
        matches!(self, Act::Join | Act::Lock | Act::LockShared | Act::Take)
    }

    /// Whether others can see that it happened.
    pub fn is_visible(self) -> bool {
        !matches!(self, Act::Load | Act::Local | Act::Fence | Act::LockFails)
    }

    /// What it does to its range.
    pub fn effect(self) -> RangeEffect {
        match self {
            Act::Local | Act::Fence | Act::Start | Act::End | Act::Join | Act::Exit => RangeEffect::None,
            Act::Load | Act::LockShared | Act::UnlockShared | Act::LockFails => RangeEffect::Reads,
            Act::Store | Act::Update | Act::Lock | Act::Unlock | Act::Give | Act::Take | Act::Touch => {
                RangeEffect::Writes
            }
        }
    }
}

/// What an operation does to its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeEffect {
    None,
    Reads,
    Writes,
}

/// An operation: what a thread does, or would do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunOperation {
    pub act: Act,
    /// For atomic accesses and fences; for an object `Release` if the operation is a plain store of the machine, as the
    /// unlock of a spin lock is, and `Relaxed` if it only looked at the object.
    pub order: RecordedOrder,
    /// The first byte of its range, or the number of a thread.
    pub address: u64,
    /// The bytes of its range; 1 for an object.
    pub size: u32,
}

impl RunOperation {
    /// An operation that others cannot see.
    pub const LOCAL: RunOperation = RunOperation { act: Act::Local, order: RecordedOrder::Plain, address: 0, size: 0 };

    /// Whether the order of this operation and one of another thread can matter.
    ///
    /// Starts of threads conflict, because threads are numbered in the order of their starts. The start of a thread and
    /// its first event, and the end of a thread and a join, do not conflict: they are ordered anyway, which is
    /// [`RunOperation::enables`].
    pub fn conflicts(&self, other: &RunOperation) -> bool {
        if self.act == Act::Start && other.act == Act::Start {
            return true;
        }
        let (mine, theirs) = (self.act.effect(), other.act.effect());
        let overlap = self.address < other.address.saturating_add(u64::from(other.size))
            && other.address < self.address.saturating_add(u64::from(self.size));
        mine != RangeEffect::None
            && theirs != RangeEffect::None
            && (mine == RangeEffect::Writes || theirs == RangeEffect::Writes || self.decides_failure(other))
            && overlap
    }

    /// Whether one is a failed attempt to lock, and the other locks or unlocks for reading, which can be the reason for
    /// the failure or end it.
    fn decides_failure(&self, other: &RunOperation) -> bool {
        let shared = |act| matches!(act, Act::LockShared | Act::UnlockShared);
        (self.act == Act::LockFails && shared(other.act)) || (shared(self.act) && other.act == Act::LockFails)
    }

    /// Whether this operation must come before `later`, which is one of thread `of`.
    pub fn enables(&self, later: &RunOperation, of: u32) -> bool {
        match self.act {
            Act::Start => self.address == u64::from(of),
            Act::End => later.act == Act::Join && later.address == self.address,
            _ => false,
        }
    }
}

/// One step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEvent {
    /// The thread, numbered from 0 in the order of their starts.
    pub thread: u32,
    pub operation: RunOperation,
    /// An or of [`flags`].
    pub flags: u16,
    /// The value that an atomic access read, or that was there before a store: its low 64 bits.
    pub read: u64,
    /// The value that it wrote. For a compare-exchange that failed, the value that it expected. For a load that waits
    /// for a value ([`flags::WAITS`]), that one.
    pub written: u64,
    /// The return address of the call, which is the place in the program.
    pub pc: u64,
    /// A hash of the place, and of the thread's registers and stack, before an atomic access: a thread that comes back to
    /// the same hash, and has only read, goes round a waiting loop. 0 if it is not known. All loads of a loop that waits for
    /// a value ([`flags::WAITS`]) have the same, because a compiler may put the first one elsewhere.
    pub state: u64,
}

/// What else is known about an event.
pub mod flags {
    /// A part of a round of a waiting loop, which is no event: the thread came back to its beginning.
    pub const ROUND: u16 = 1;
    /// A wait with a time limit, whose time was over.
    pub const TIMED_OUT: u16 = 2;
    /// A wait with a time limit.
    pub const TIMED: u16 = 4;
    /// Not an event: what the thread would have done next when the run ended.
    pub const PENDING: u16 = 8;
    /// A compare-exchange.
    pub const COMPARES: u16 = 16;
    /// An attempt that does not wait: it would have failed instead ([`super::Act::LockFails`]).
    pub const TRIES: u16 = 32;
    /// An atomic access of a library that is taken to be right. It orders as it says, but is neither checked nor
    /// evidence of an order, because other accesses of the library are not seen.
    pub const UNCHECKED: u16 = 64;
    /// Of a store: [`RunEvent::read`](super::RunEvent::read) is the value that it overwrote. With it `ravelin verify` knows
    /// whether a compare-exchange would have succeeded before the store.
    pub const OVERWRITES: u16 = 128;
    /// A part of a loop that waits for one value, as the program says (`ravelin.h`). For a load,
    /// [`RunEvent::written`](super::RunEvent::written) is that value.
    pub const WAITS: u16 = 1 << 11;

    /// The order that a compare-exchange would have had otherwise: that of failure if it succeeded, that of success if it
    /// failed. It takes three bits; they are 0 where the order is not known.
    pub fn other_order(order: crate::RecordedOrder) -> u16 {
        (order as u16) << OTHER_ORDER
    }

    /// Where these bits are.
    pub(super) const OTHER_ORDER: u32 = 8;
}

impl RunEvent {
    /// How many words an event takes.
    pub const WORDS: usize = 6;

    /// As words.
    pub fn words(&self) -> [u64; RunEvent::WORDS] {
        let RunOperation { act, order, address, size } = self.operation;
        let first = u64::from(self.thread & 0xffff)
            | (act as u64) << 16
            | (order as u64) << 24
            | u64::from(self.flags) << 32
            | u64::from(size.min(0xffff)) << 48;
        [first, address, self.read, self.written, self.pc, self.state]
    }

    /// The event that has these words; `None` if there is none.
    pub fn of(words: [u64; RunEvent::WORDS]) -> Option<RunEvent> {
        let [first, address, read, written, pc, state] = words;
        let act = *Act::ALL.get((first >> 16 & 0xff) as usize)?;
        let order = RecordedOrder::of(first >> 24 & 0xff)?;
        let operation = RunOperation { act, order, address, size: (first >> 48) as u32 };
        let flags = (first >> 32 & 0xffff) as u16;
        Some(RunEvent { thread: (first & 0xffff) as u32, operation, flags, read, written, pc, state })
    }

    /// Whether it happens only where it can succeed.
    pub fn blocks(&self) -> bool {
        self.operation.act.blocks() && !self.is(flags::TRIES)
    }

    /// The order that a compare-exchange would have had otherwise ([`flags::other_order`]), if it is known.
    pub fn other_order(&self) -> Option<RecordedOrder> {
        let number = u64::from(self.flags >> flags::OTHER_ORDER & 7);
        RecordedOrder::of(number).filter(|order| *order != RecordedOrder::Plain)
    }

    /// The same with another [`flags::other_order`].
    pub fn with_other_order(self, order: RecordedOrder) -> RunEvent {
        RunEvent { flags: self.flags & !(7 << flags::OTHER_ORDER) | flags::other_order(order), ..self }
    }

    /// The value with which the loop that it is part of ends, if the program says that.
    pub fn awaited(&self) -> Option<u64> {
        let found = self.is(flags::COMPARES) && self.operation.act == Act::Update;
        self.is(flags::WAITS).then_some(if found { self.read } else { self.written })
    }

    /// Whether it has this flag.
    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}
