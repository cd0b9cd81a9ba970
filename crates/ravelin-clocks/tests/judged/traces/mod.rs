//! Traces: what some threads do, one operation after the other, and what each operation then finds in memory.
//!
//! A trace is sequentially consistent by construction: [`World`] carries the values. An operation that cannot be done where
//! it stands (by a thread that has not started, an unlock of a lock that is not held) is passed over, so a trace stays a
//! trace when operations are dropped from it. That is all that shrinking does.

mod generate;

pub use generate::{Shape, generate};
pub use ravelin_testing::Random;

use ravelin_clocks::{AtomicOrder, CasKind};
use std::fmt;

/// One operation of one thread.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub thread: usize,
    pub operation: Operation,
}

#[derive(Clone, Copy, Debug)]
pub enum Operation {
    Load { x: usize, order: AtomicOrder },
    Store { x: usize, order: AtomicOrder, value: u64 },
    Update { x: usize, order: AtomicOrder, value: u64 },
    CompareExchange { x: usize, success: AtomicOrder, failure: AtomicOrder, kind: CasKind, expected: u64, value: u64 },
    Wait { x: usize, order: AtomicOrder, value: u64 },
    Synchronise(SyncOperation),
}

/// What orders threads without an access.
#[derive(Clone, Copy, Debug)]
pub enum SyncOperation {
    Fence {
        order: AtomicOrder,
    },
    Spawn {
        child: usize,
    },
    End,
    Join {
        child: usize,
    },
    Lock {
        lock: usize,
    },
    Unlock {
        lock: usize,
    },
    /// Like an unlock, but what was released there before is not lost.
    Post {
        semaphore: usize,
    },
    /// Learns what was posted, by a plain load if `loads`, which is no fence on x86.
    Take {
        semaphore: usize,
        loads: bool,
    },
    /// The thread's epochs are used up: it goes on under another number. Nothing that a program does.
    Rename,
}

/// An operation with what it found.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub thread: usize,
    pub act: Act,
}

/// What an operation turned out to do. A seq_cst access still lacks its hidden fence.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// An access of `x`, or a try to access it.
    Access {
        x: usize,
        ask: Ask,
        does: Does,
    },
    Synchronise(SyncOperation),
}

/// What may be stale about an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Any value.
    Load,
    /// Its place in modification order.
    Store,
    /// Its place, and with it the value.
    Update,
    /// This value.
    Wait(u64),
    /// The expected value, or others, or both.
    CompareExchange(CasKind, u64),
}

/// The event that an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// None: it will be tried again.
    Nothing,
    Read(AtomicOrder),
    Write(AtomicOrder, u64),
    /// Reads the newest write and writes.
    Update(AtomicOrder, u64),
}

impl Does {
    pub fn order(self) -> Option<AtomicOrder> {
        match self {
            Does::Nothing => None,
            Does::Read(order) | Does::Write(order, _) | Does::Update(order, _) => Some(order),
        }
    }

    pub fn writes(self) -> Option<u64> {
        match self {
            Does::Write(_, value) | Does::Update(_, value) => Some(value),
            _ => None,
        }
    }
}

/// Which threads there are, which locks they hold, and the values in memory.
#[derive(Clone, Debug)]
pub struct World {
    threads: Vec<Life>,
    values: Vec<u64>,
    locks: Vec<Option<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Unborn,
    Runs,
    Ended,
    Joined,
}

/// How many there may be in a trace.
pub const THREADS: usize = 24;
pub const LOCATIONS: usize = 5;
pub const LOCKS: usize = 2;
pub const SEMAPHORES: usize = 2;

impl World {
    pub fn new() -> World {
        let mut threads = vec![Life::Unborn; THREADS];
        threads[0] = Life::Runs;
        World { threads, values: vec![0; LOCATIONS], locks: vec![None; LOCKS] }
    }

    pub fn running(&self) -> Vec<usize> {
        (0..THREADS).filter(|&thread| self.threads[thread] == Life::Runs).collect()
    }

    pub fn unborn(&self) -> Option<usize> {
        (0..THREADS).find(|&thread| self.threads[thread] == Life::Unborn)
    }

    pub fn ended(&self) -> Option<usize> {
        (0..THREADS).find(|&thread| self.threads[thread] == Life::Ended)
    }

    /// Does a step, if it can be done now.
    pub fn perform(&mut self, step: Step) -> Option<Event> {
        let Step { thread, operation } = step;
        if self.threads[thread] != Life::Runs {
            return None;
        }
        let access = |x, ask, does| Act::Access { x, ask, does };
        let act = match operation {
            Operation::Load { x, order } => access(x, Ask::Load, Does::Read(order)),
            Operation::Store { x, order, value } => access(x, Ask::Store, Does::Write(order, value)),
            Operation::Update { x, order, value } => access(x, Ask::Update, Does::Update(order, value)),
            Operation::Wait { x, order, value } => {
                let does = if self.values[x] == value { Does::Read(order) } else { Does::Nothing };
                access(x, Ask::Wait(value), does)
            }
            Operation::CompareExchange { x, success, failure, kind, expected, value } => {
                let does = match kind {
                    _ if self.values[x] == expected => Does::Update(success, value),
                    CasKind::Blocking => Does::Nothing,
                    CasKind::Strong | CasKind::Weak => Does::Read(failure),
                };
                access(x, Ask::CompareExchange(kind, expected), does)
            }
            Operation::Synchronise(operation) => {
                if !self.synchronise(thread, operation) {
                    return None;
                }
                Act::Synchronise(operation)
            }
        };
        if let Act::Access { x, does, .. } = act
            && let Some(value) = does.writes()
        {
            self.values[x] = value;
        }
        Some(Event { thread, act })
    }

    /// Does it if it can be done now.
    fn synchronise(&mut self, thread: usize, operation: SyncOperation) -> bool {
        let mut change = |of: usize, from: Life, to: Life| {
            let possible = self.threads[of] == from;
            if possible {
                self.threads[of] = to;
            }
            possible
        };
        match operation {
            SyncOperation::Spawn { child } => change(child, Life::Unborn, Life::Runs),
            SyncOperation::Join { child } => change(child, Life::Ended, Life::Joined),
            SyncOperation::End => {
                self.threads[thread] = Life::Ended;
                true
            }
            SyncOperation::Lock { lock } => {
                let free = self.locks[lock].is_none();
                if free {
                    self.locks[lock] = Some(thread);
                }
                free
            }
            SyncOperation::Unlock { lock } => {
                let held = self.locks[lock] == Some(thread);
                if held {
                    self.locks[lock] = None;
                }
                held
            }
            SyncOperation::Fence { .. }
            | SyncOperation::Post { .. }
            | SyncOperation::Take { .. }
            | SyncOperation::Rename => true,
        }
    }
}

/// Drops steps as long as the trace still fails.
pub fn shrink(mut trace: Vec<Step>, fails: impl Fn(&[Step]) -> bool) -> Vec<Step> {
    let mut size = trace.len() / 2;
    while size > 0 {
        let mut dropped = false;
        let mut start = 0;
        while start < trace.len() {
            let end = (start + size).min(trace.len());
            let fewer = [&trace[..start], &trace[end..]].concat();
            if fails(&fewer) {
                trace = fewer;
                dropped = true;
            } else {
                start = end;
            }
        }
        if !dropped || size > 1 {
            size /= 2;
        }
    }
    trace
}

/// The trace, a line for each step, to be read and to be made a test.
pub fn print(trace: &[Step]) -> String {
    trace.iter().map(|step| format!("  {step}\n")).collect()
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step({}, {:?}),", self.thread, self.operation)
    }
}
