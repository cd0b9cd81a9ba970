//! The memory in which `ravelin verify` says what a run has to do, and the run what it did.
//!
//! It lies behind the segments of the arena. A run follows the [script](SCRIPT) choice by choice. Then it goes on by
//! itself: the thread that has the turn keeps it as long as it can run, then the next one gets it; or, with a
//! [seed](SEED), threads are drawn. Threads that are
//! [asleep](SLEEPERS) after the script do not run before a thread does something that conflicts with what they are about
//! to do. The [events](EVENTS) are those of the script, too. Events with [`flags::PENDING`](crate::events::flags::PENDING)
//! follow, one for each thread that had not ended.
//!
//! Everything is 64-bit words. The reader validates what it reads.

/// Index of the first word, by which the memory is recognised.
pub const MAGIC_AT: usize = 0;
/// That word.
pub const MAGIC: u64 = u64::from_le_bytes(*b"RAVSTEER");
/// Index of the number of choices.
pub const CHOICES: usize = 1;
/// Index of the number of threads that are asleep after the last choice.
pub const ASLEEP: usize = 2;
/// Index of the largest number of times that a thread may come back to the same access without having changed anything
/// others can see, where that is not known to be a waiting loop. 0 for any number.
pub const UNROLL: usize = 3;
/// Index of the number of the event that is to be stale, plus 1; 0 for none. It is an atomic access: it reads
/// [`STALE_VALUE`], and leaves memory as it is.
pub const STALE: usize = 4;
/// Index of the number of the event that has written this value, plus 1; 0 for the initial value.
pub const STALE_SOURCE: usize = 5;
/// Index of the number of events, which the run writes.
pub const EVENT_COUNT: usize = 6;
/// Index of a [`SteeredEnd`], which the run writes; 0 if it ended in another way.
pub const END: usize = 7;
/// Index of an or of [`doubts`], which the run writes.
pub const DOUBTS: usize = 8;
/// Index of the value that a stale access reads.
pub const STALE_VALUE: usize = 9;
/// Index of the number that decides which thread gets the turn after the script; 0 if the thread that has it keeps it.
pub const SEED: usize = 10;
/// Words before the script.
pub const HEAD: usize = 64;

/// Where the choices are: the number of a thread, or'ed with [`TIMES_OUT`].
pub const SCRIPT: usize = HEAD;
/// How many choices there is room for.
pub const MOST_CHOICES: usize = MOST_EVENTS;
/// In a choice: the thread's wait ends because its time is over.
pub const TIMES_OUT: u64 = 1 << 32;
/// Where the numbers of threads are that are asleep.
pub const SLEEPERS: usize = SCRIPT + MOST_CHOICES;
/// How many there is room for.
pub const MOST_SLEEPERS: usize = 1 << 10;
/// Where the events are.
pub const EVENTS: usize = SLEEPERS + MOST_SLEEPERS;
/// How many there is room for.
pub const MOST_EVENTS: usize = 1 << 17;
/// All words.
pub const WORDS: usize = EVENTS + MOST_EVENTS * crate::events::RunEvent::WORDS;
/// All bytes.
pub const BYTES: usize = WORDS * 8;
const _: () = assert!(BYTES <= crate::arena::SEGMENT, "they fit into a segment of the arena");

/// In `RAVELIN_OPTIONS`: the script and the events begin where the program says so, not at the start of its second thread.
/// Until then threads take turns as after a script.
pub const FROM_MARK: &str = "from-mark";
/// How many events there may be before the program says so, and after it has said that runs end: this many times
/// [`MOST_EVENTS`].
pub const ROUNDS_OUTSIDE: usize = 8;

/// How a run ended that did not end like the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum SteeredEnd {
    /// The thread that the script chose next could not run. The events before that choice were made.
    NotEnabled = 1,
    /// All threads that could run were asleep.
    Asleep = 2,
    /// There was no room for more events.
    Full = 3,
    /// A loop that is not known to wait was repeated too often.
    Unrolled = 4,
}

impl SteeredEnd {
    /// The end with this number.
    pub fn of(number: u64) -> Option<SteeredEnd> {
        [SteeredEnd::NotEnabled, SteeredEnd::Asleep, SteeredEnd::Full, SteeredEnd::Unrolled]
            .into_iter()
            .find(|end| *end as u64 == number)
    }
}

/// Reasons why other runs may exist that no script leads to.
pub mod doubts {
    /// A thread waited for a file, a socket or another process.
    pub const DESCRIPTOR: u64 = 1;
    /// A thread waited in a call that the runtime does not know.
    pub const UNKNOWN_WAIT: u64 = 2;
    /// A signal was handled.
    pub const SIGNAL: u64 = 4;
    /// The program started another process.
    pub const PROCESS: u64 = 8;
    /// A thread was cancelled.
    pub const CANCELLED: u64 = 16;
    /// The program wrote a file, or moved the position in one.
    pub const FILE: u64 = 32;
    /// A clock was read.
    pub const CLOCK: u64 = 64;
    /// The program said where runs begin when it had several threads. With the option [`FROM_MARK`](super::FROM_MARK) the
    /// events are those from there on; without, they are those from the start of the second thread on.
    pub const BEGINS: u64 = 128;
}
