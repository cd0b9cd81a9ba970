//! What was found in all processes of a run, with names instead of addresses, and each pair of places once.
//!
//! These are plain data: code that prints them needs nothing else.

mod collect;
mod sources;
mod stuck;
mod suggestion;

pub use collect::{Gathered, Wanted, gather};
pub use stuck::{Blocked, Stuck};
pub use suggestion::{Segment, Strengthen, Suggestion};

use crate::symbols::Frame;
pub use ravelin_findings::{AccessKind, OrderStepKind, Problem, RecordedOrder, Standstill, WaitsFor};
use ravelin_schedule::Schedule;

/// The report about one run, or several.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The program, as it was called.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What is shown, most frequent first.
    pub findings: Vec<Finding>,
    /// Why runs could not continue.
    pub stuck: Vec<Stuck>,
    /// The runs; empty if only files were read.
    pub runs: Vec<Run>,
    /// The processes that were watched.
    pub processes: Vec<Process>,
    /// What is not shown, and why.
    pub hidden: Hidden,
    /// Suppressions that matched nothing, each with file and line.
    pub unused_suppressions: Vec<String>,
    /// How many processes could not record what they found.
    pub unrecorded: u64,
    /// What else limits the answer.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether nothing is shown.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.stuck.is_empty()
    }

    /// Whether everything was watched and recorded: if not, a clean report implies nothing.
    pub fn is_complete(&self) -> bool {
        self.is_recorded() && self.processes.iter().all(|process| !process.unwatched)
    }

    /// Whether everything that was found could be recorded.
    pub fn is_recorded(&self) -> bool {
        self.unrecorded == 0 && self.processes.iter().all(|process| process.dropped == 0)
    }
}

/// One run of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// `None` for the schedule of the operating system.
    pub schedule: Option<Schedule>,
    /// Its own exit code, or 128 and the signal that killed it.
    pub exit_code: u8,
    pub signal: Option<i32>,
    /// Scheduling points.
    pub points: u64,
    /// A hash that is the same in another run of the same schedule.
    pub trail: u64,
    /// The schedule decided everything.
    pub replayable: bool,
}

/// Findings that are not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Both accesses are in the C++ standard library.
    pub library: usize,
    /// The stale value only makes a waiting loop repeat once more.
    pub spinning: usize,
    /// A suppressions file covers it.
    pub suppressed: usize,
}

/// One watched process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    pub number: u64,
    /// The runtime saw its end.
    pub ended: bool,
    /// Threads started, including the first one.
    pub threads: u64,
    /// Atomic accesses that were checked; 0 if not counted.
    pub accesses: u64,
    /// The most atomic locations that were alive at once.
    pub locations: u64,
    /// Findings for which there was no room.
    pub dropped: u64,
    /// It was not watched, or only in part; the notes say why.
    pub unwatched: bool,
    /// What limits the answer.
    pub notes: Vec<String>,
}

/// A robustness violation or a data race.
#[derive(Clone, Debug)]
pub struct Finding {
    pub problem: Problem,
    /// How often it was seen.
    pub count: u64,
    /// It only makes a waiting loop repeat once more.
    pub spinning: bool,
    /// The access that may miss the other one, or the later one of a race.
    pub access: Access,
    /// The write that may be missed, or the earlier access of a race.
    pub other: Access,
    pub location: Location,
    /// Why `other` comes before `access` under sequential consistency, last step first. For a race: the reads by which
    /// `access` came after `other` in this run; empty if none are known.
    pub path: Vec<Step>,
    pub suggestion: Suggestion,
    /// The runs it was found in, by number; empty if only files were read.
    pub runs: Vec<usize>,
    /// The scheduling point at which it was made in the first of them; 0 without a schedule.
    pub point: u64,
}

/// One access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub kind: AccessKind,
    pub order: RecordedOrder,
    pub size: u64,
    pub thread: Thread,
    /// Innermost first; empty if it is no longer known.
    pub stack: Vec<Frame>,
    /// The source line of the innermost frame, if it could be read.
    pub source: Option<String>,
}

/// A thread of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    pub number: u64,
    pub name: Option<String>,
    /// The thread that started it; `None` for the first.
    pub parent: Option<u64>,
    /// Where it was started.
    pub stack: Vec<Frame>,
}

/// What was accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub address: u64,
    /// The global variable it is or is part of, such as `flag` or `flag+4`.
    pub name: Option<String>,
    pub memory: Memory,
}

/// The kind of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A global variable if it has a name, else unknown.
    Other,
    /// A block of the heap.
    Heap { offset: u64, size: u64, thread: Thread, stack: Vec<Frame> },
    /// A thread's stack.
    Stack { thread: Thread },
}

/// `before` happened, then `after`, on the same location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub kind: OrderStepKind,
    pub location: Location,
    pub before: Access,
    pub after: Access,
    /// `before` releases too little for the two to synchronise, by its order and by fences.
    pub lacks_release: bool,
    /// `after` acquires too little.
    pub lacks_acquire: bool,
}

impl Access {
    /// The innermost place that is known.
    pub fn place(&self) -> Option<String> {
        self.stack.first().map(Frame::place)
    }

    /// What it does, in words: `acquire load`, `non-atomic write`.
    pub fn words(&self) -> String {
        let kind = match self.kind {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Update => "read-modify-write",
            AccessKind::CompareExchange => "compare-exchange",
            AccessKind::Wait => "wait",
            AccessKind::BlockingCompareExchange => "blocking compare-exchange",
            AccessKind::PlainRead => "read",
            AccessKind::PlainWrite => "write",
            AccessKind::Free => return "release of the memory".to_owned(),
            AccessKind::FailedCompareExchange => return format!("failed {} compare-exchange", order_name(self.order)),
        };
        match self.order {
            RecordedOrder::Plain => format!("non-atomic {kind}"),
            order => format!("{} {kind}", order_name(order)),
        }
    }

    pub fn is_atomic(&self) -> bool {
        !matches!(self.kind, AccessKind::PlainRead | AccessKind::PlainWrite | AccessKind::Free)
    }
}

impl Location {
    /// The name for a sentence.
    pub fn words(&self) -> String {
        match (&self.name, &self.memory) {
            (Some(name), _) => format!("`{name}`"),
            (None, Memory::Heap { offset, size, .. }) => format!("byte {offset} of a heap block of {size} bytes"),
            (None, Memory::Stack { thread }) => format!("{:#x} on the stack of {}", self.address, thread.words()),
            (None, Memory::Other) => format!("{:#x}", self.address),
        }
    }
}

impl Thread {
    /// `thread 2`, `thread 2 "worker"`, `the main thread`.
    pub fn words(&self) -> String {
        match (&self.name, self.number) {
            (Some(name), number) => format!("thread {number} \"{name}\""),
            (None, 0) => "the main thread".to_owned(),
            (None, number) => format!("thread {number}"),
        }
    }
}

/// The order as C11 calls it, without `memory_order_`.
pub fn order_name(order: RecordedOrder) -> &'static str {
    match order {
        RecordedOrder::Plain => "plain",
        RecordedOrder::Relaxed => "relaxed",
        RecordedOrder::Acquire => "acquire",
        RecordedOrder::Release => "release",
        RecordedOrder::AcqRel => "acq_rel",
        RecordedOrder::SeqCst => "seq_cst",
    }
}

/// A heading and a short name that is stable across versions.
pub fn problem_name(problem: Problem) -> (&'static str, &'static str) {
    match problem {
        Problem::StaleRead => ("may read a stale value", "stale-read"),
        Problem::StaleWrite => ("store may be overtaken", "stale-write"),
        Problem::StaleUpdate => ("update may read a stale value", "stale-update"),
        Problem::Race => ("data race", "data-race"),
    }
}
