//! What a watched program leaves: a file of findings.
//!
//! The runtime inside the program writes it, `ravelin run` reads it. The file is mapped into the program's memory.
//! Every finding is complete in it as soon as it is made, so nothing is lost when the program is killed. Usually it is
//! part of an [`arena`] that exists in memory only. This crate knows only the layout: no memory model, no source lines,
//! no operating system. It allocates only vectors.
//!
//! # Layout
//!
//! Everything is 64-bit words in the machine's byte order. First comes a header of [`header::WORDS`] words (offsets in
//! [`header`]), then records one after the other, each `[tag, number of words that follow, words…]`. The header's
//! [`header::USED`] is the number of words in use. A record is written completely before that number grows, so a reader
//! of a file that is still being written sees whole records only. Two words of a finding change later, in place: how
//! often it was seen and what is known about spinning. So do the numbers of a stale access.

pub mod arena;
pub mod events;
mod read;
mod record;
pub mod serving;
pub mod steering;
mod write;

pub use read::{Findings, UnreadableFindings, read};
pub use record::{
    AccessKind, AccessRecord, BlockedThread, CrashRecord, FindingRecord, MemoryKind, Module, OrderStep, OrderStepKind,
    Problem, Record, RecordedOrder, SiteRecord, Spinning, StaleRecord, Standstill, StandstillRecord, ThreadRecord,
    WaitsFor,
};
pub use write::{COUNT_WORD, SPINNING_WORD, STALE_WORDS, encode};

/// A short hash of a file's path (64 bits of FNV-1a).
pub fn hash(path: &[u8]) -> u64 {
    path.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Where the words of the header are.
pub mod header {
    /// The first word of every findings file.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"RAVELIN\x0c");
    /// Words in the header; the first record follows.
    pub const WORDS: usize = 64;

    /// Index of the magic word.
    pub const MAGIC_AT: usize = 0;
    /// Index of the process number.
    pub const PROCESS: usize = 1;
    /// Index of the number of words in use, including the header.
    pub const USED: usize = 2;
    /// Index of how the program ended: 0 while it runs (or if it was killed), 1 when the runtime saw its end.
    pub const ENDED: usize = 3;
    /// Index of the number of threads that were started, including the first one.
    pub const THREADS: usize = 4;
    /// Index of the number of findings for which there was no room left.
    pub const DROPPED: usize = 5;
    /// Index of the notes: an or of the constants in [`super::notes`].
    pub const NOTES: usize = 6;
    /// Index of the number of atomic accesses that were checked (0 if not counted).
    pub const ACCESSES: usize = 7;
    /// Index of the largest number of atomic locations that were alive at once.
    pub const LOCATIONS: usize = 8;
    /// Index of the number of scheduling points (0 without a schedule).
    pub const POINTS: usize = 9;
    /// Index of a hash that is the same in two runs of the same schedule.
    pub const TRAIL: usize = 10;
    /// Index of the signal by which the process crashed; 0 if it did not, or that is not known.
    pub const CRASH_SIGNAL: usize = 11;
    /// Index of the number of the thread that crashed.
    pub const CRASH_THREAD: usize = 12;
    /// Index of the address that it accessed; 0 if the signal was sent.
    pub const CRASH_ADDRESS: usize = 13;
    /// Index of the number of frames of its stack.
    pub const CRASH_FRAMES: usize = 14;
    /// Index of the innermost return address; the others follow to the end of the header.
    pub const CRASH_STACK: usize = 15;
}

/// What a user should know besides the findings.
pub mod notes {
    /// The program forked.
    pub const FORKED: u64 = 1;
    /// So many threads were never joined that their numbers ran out; later threads were not watched.
    pub const OUT_OF_THREADS: u64 = 2;
    /// No memory was left for the runtime; what came after was not watched.
    pub const OUT_OF_MEMORY: u64 = 4;
    /// The stack of an earlier access was older than what is remembered.
    pub const STACK_LOST: u64 = 8;
    /// A thread waited in a call that the schedule does not know; another run of the same schedule may differ.
    pub const NOT_REPLAYABLE: u64 = 16;
    /// There was no address space for the runtime; nothing was watched.
    pub const NO_ADDRESS_SPACE: u64 = 32;
    /// The program ended without waiting for a process that it had started.
    pub const BACKGROUND: u64 = 64;
    /// A child of the program could not be watched.
    pub const CHILD_UNWATCHED: u64 = 128;
    /// Robustness was judged for x86-TSO.
    pub const STORE_BUFFERS: u64 = 256;

    /// Any of these: a part of the program was not watched, so that the absence of findings implies nothing.
    pub const UNWATCHED: u64 = OUT_OF_THREADS | OUT_OF_MEMORY | NO_ADDRESS_SPACE;
}
