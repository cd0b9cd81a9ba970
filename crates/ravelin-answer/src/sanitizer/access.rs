//! Accesses, the threads that made them, and where: stacks and memory.

use crate::text::counted;
use serde::{Deserialize, Serialize};

/// One access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedAccess {
    /// What it does.
    pub kind: AccessKind,
    /// A compare-exchange that failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Its memory order.
    pub order: AccessOrder,
    /// In bytes.
    pub size: u64,
    /// Its thread.
    pub thread: WatchedThread,
    /// Innermost first; empty if it is no longer known.
    pub stack: Vec<Frame>,
    /// The source line of the innermost frame, if it could be read.
    pub source: Option<String>,
    /// If that is a line of a library's header: the line of the program that led there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<CallerLine>,
}

/// A line of the program that calls a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallerLine {
    /// Which frame of the stack it is, from 0.
    pub frame: usize,
    /// The line.
    pub source: String,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// A read-modify-write.
    Update,
    /// A compare-exchange.
    CompareExchange,
    /// A load that is repeated until it reads a value.
    Wait,
    /// A compare-exchange that is repeated until it succeeds.
    BlockingCompareExchange,
    /// A non-atomic read.
    PlainRead,
    /// A non-atomic write.
    PlainWrite,
    /// The memory is released.
    Free,
    /// A lock is locked.
    Lock,
    /// A read-write lock is locked for reading.
    ReadLock,
    /// A lock is unlocked.
    Unlock,
    /// A lock is destroyed.
    Destroy,
    /// A thread is started.
    ThreadStart,
    /// A thread ends.
    ThreadEnd,
    /// A signal handler.
    SignalHandler,
    /// What a signal handler interrupts.
    InterruptedCode,
    /// A file descriptor is used.
    DescriptorUse,
    /// A file descriptor is closed.
    Close,
}

impl AccessKind {
    /// Whether it is an access of memory, with a size and an order.
    pub fn is_of_memory(self) -> bool {
        self.call().is_none()
    }

    /// The word for what is no access of memory, but a call or another event.
    fn call(self) -> Option<&'static str> {
        match self {
            AccessKind::Lock => Some("lock"),
            AccessKind::ReadLock => Some("lock for reading"),
            AccessKind::Unlock => Some("unlock"),
            AccessKind::Destroy => Some("destruction"),
            AccessKind::ThreadStart => Some("start of the thread"),
            AccessKind::ThreadEnd => Some("end of the thread"),
            AccessKind::SignalHandler => Some("signal handler"),
            AccessKind::InterruptedCode => Some("interrupted code"),
            AccessKind::DescriptorUse => Some("use"),
            AccessKind::Close => Some("close"),
            AccessKind::Load
            | AccessKind::Store
            | AccessKind::Update
            | AccessKind::CompareExchange
            | AccessKind::Wait
            | AccessKind::BlockingCompareExchange
            | AccessKind::PlainRead
            | AccessKind::PlainWrite
            | AccessKind::Free => None,
        }
    }
}

/// The order of an access as C11 calls it, without `memory_order_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccessOrder {
    /// Not atomic.
    Plain,
    /// Relaxed.
    Relaxed,
    /// Acquire.
    Acquire,
    /// Release.
    Release,
    /// Acquire and release.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
}

impl AccessOrder {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            AccessOrder::Plain => "plain",
            AccessOrder::Relaxed => "relaxed",
            AccessOrder::Acquire => "acquire",
            AccessOrder::Release => "release",
            AccessOrder::AcqRel => "acq_rel",
            AccessOrder::SeqCst => "seq_cst",
        }
    }
}

impl WatchedAccess {
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
            other => return other.call().unwrap_or_default().to_owned(),
        };
        let failed = if self.failed { "failed " } else { "" };
        match self.order {
            AccessOrder::Plain => format!("{failed}non-atomic {kind}"),
            order => format!("{failed}{} {kind}", order.name()),
        }
    }

    /// The same with its size: `acquire load, 4 bytes`.
    pub fn words_with_size(&self) -> String {
        if self.kind.is_of_memory() {
            format!("{}, {}", self.words(), counted(self.size, "byte"))
        } else {
            self.words()
        }
    }

    /// The same with its place and thread: `` release store of `x` at x.c:8 in thread 1 ``.
    pub fn phrase(&self, location: Option<&WatchedLocation>) -> String {
        let of = location.map(|location| format!(" of {}", location.words())).unwrap_or_default();
        let at = self.place().map(|place| format!(" at {place}")).unwrap_or_default();
        format!("{}{of}{at} in {}", self.words(), self.thread.words())
    }

    /// Whether it is atomic.
    pub fn is_atomic(&self) -> bool {
        self.kind.is_of_memory()
            && !matches!(self.kind, AccessKind::PlainRead | AccessKind::PlainWrite | AccessKind::Free)
    }
}

/// A thread of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedThread {
    /// Its number.
    pub number: u64,
    /// Its name.
    pub name: Option<String>,
    /// The thread that started it; null for the first.
    #[serde(default)]
    pub parent: Option<u64>,
    /// Where it was started.
    #[serde(default)]
    pub started: Vec<Frame>,
}

impl WatchedThread {
    /// `thread 2`, `thread 2 "worker"`, `the main thread`.
    pub fn words(&self) -> String {
        match (&self.name, self.number) {
            (Some(name), number) => format!("thread {number} \"{name}\""),
            (None, 0) => "the main thread".to_owned(),
            (None, number) => format!("thread {number}"),
        }
    }
}

/// One level of a stack, with all that is known about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frame {
    /// The function, demangled.
    pub function: Option<String>,
    /// Its source file, relative to the current directory if it is below that.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The column.
    pub column: Option<u32>,
    /// The loaded file and the address in it, such as `libqueue.so+0x1234`; a bare address if there is no file.
    pub code: String,
    /// The function was inlined into the next frame's.
    pub inlined: bool,
    /// The line is that of code nearby, because the compiler gave this code none.
    #[serde(default)]
    pub near: bool,
    /// The code belongs to a library of the system.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub system: bool,
}

impl Frame {
    /// The place in a few words: source file and line, else function, else address.
    pub fn place(&self) -> String {
        match (&self.file, self.line, &self.function) {
            (Some(file), Some(line), _) => format!("{file}:{line}"),
            (_, _, Some(function)) => format!("{function} ({})", self.code),
            _ => self.code.clone(),
        }
    }

    /// `consume at mp.c:14:9`, as much of it as is known.
    pub fn words(&self) -> String {
        let function = self.function.as_deref().unwrap_or(&self.code);
        self.position().map_or_else(|| function.to_owned(), |position| format!("{function} {position}"))
    }

    /// `at mp.c:14:9`, or `near` it.
    pub fn position(&self) -> Option<String> {
        let (file, line) = (self.file.as_ref()?, self.line?);
        let column = self.column.map(|column| format!(":{column}")).unwrap_or_default();
        Some(format!("{} {file}:{line}{column}", if self.near { "near" } else { "at" }))
    }
}

/// What was accessed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedLocation {
    /// In hexadecimal, such as `0x4010`.
    pub address: String,
    /// The global variable it is or is part of, such as `flag` or `flag+4`.
    pub name: Option<String>,
    /// The kind of memory.
    pub memory: MemoryArea,
}

/// The kind of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MemoryArea {
    /// A global variable.
    Global,
    /// A block of the heap.
    Heap {
        /// Where in the block.
        offset: u64,
        /// The size of the block.
        size: u64,
        /// The thread that allocated it.
        thread: WatchedThread,
        /// Where it did.
        allocated: Vec<Frame>,
    },
    /// A thread's stack.
    Stack {
        /// The thread.
        thread: WatchedThread,
    },
    /// No memory, but a file descriptor.
    Descriptor {
        /// Its number.
        number: u64,
        /// The thread that opened it.
        thread: WatchedThread,
        /// Where it did; empty if that is not known.
        opened: Vec<Frame>,
    },
    /// Nothing is known about it.
    Unknown,
}

impl WatchedLocation {
    /// Its name for a sentence.
    pub fn words(&self) -> String {
        match (&self.name, &self.memory) {
            (Some(name), _) => format!("`{name}`"),
            (None, MemoryArea::Heap { offset, size, .. }) => format!("byte {offset} of a heap block of {size} bytes"),
            (None, MemoryArea::Stack { thread }) => format!("{} on the stack of {}", self.address, thread.words()),
            (None, MemoryArea::Descriptor { number, .. }) => format!("file descriptor {number}"),
            (None, MemoryArea::Global | MemoryArea::Unknown) => self.address.clone(),
        }
    }
}

/// A step of the order that sequential consistency forces: `before` happened, then `after`, on the same location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathStep {
    /// What relates the two.
    pub kind: PathStepKind,
    /// What both accessed.
    pub location: WatchedLocation,
    /// The first access.
    pub before: WatchedAccess,
    /// The second one.
    pub after: WatchedAccess,
}

/// What relates two accesses of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PathStepKind {
    /// The second read what the first wrote.
    ReadsFrom,
    /// The second overwrote what the first wrote.
    Overwrites,
    /// The second overwrote what the first had read.
    OverwritesRead,
    /// The first locked the location, and its thread held it when it made the second.
    WhileHolding,
}

impl PathStep {
    /// The step in a sentence.
    pub fn sentence(&self) -> String {
        let (after, before) = (self.after.phrase(Some(&self.location)), self.before.phrase(None));
        match self.kind {
            PathStepKind::ReadsFrom => format!("the {after} read what the {before} wrote"),
            PathStepKind::Overwrites => format!("the {after} overwrote what the {before} wrote"),
            PathStepKind::OverwritesRead => format!("the {after} overwrote what the {before} had read"),
            PathStepKind::WhileHolding => {
                let (after, at) = (self.after.phrase(None), self.before.place());
                let at = at.map(|place| format!(", locked at {place}")).unwrap_or_default();
                format!("the {after} came while it held {}{at}", self.location.words())
            }
        }
    }
}
