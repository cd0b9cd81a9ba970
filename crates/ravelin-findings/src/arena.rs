//! Many findings files in one memory: what the processes of one run share with `ravelin run`.
//!
//! The arena is one long file that exists in memory only and in which most pages do not exist. It begins with a page of
//! words (offsets below), which its creator writes. Segments of [`SEGMENT`] bytes follow. A process takes the next one
//! by incrementing [`TAKEN`], and uses it as a findings file.

/// The first word of every arena.
pub const MAGIC: u64 = u64::from_le_bytes(*b"RAVARENA");
/// Bytes before the first segment.
pub const HEAD: usize = 4096;
/// Bytes in a segment.
pub const SEGMENT: usize = 1 << 23;

/// Index of the magic word.
pub const MAGIC_AT: usize = 0;
/// Index of the number of segments.
pub const SEGMENTS: usize = 1;
/// Index of the number of segments that were taken; larger than the number of segments if some processes got none.
pub const TAKEN: usize = 2;
/// Index of the number of processes that could not record anything.
pub const UNRECORDED: usize = 3;
/// Index of the process that makes a run now, if the program serves runs ([`crate::serving`]); 0 if there is none.
pub const RUNNING: usize = 4;
/// Index of a signal for the run that is about to begin; 0 if there is none. The process that sets this to 0 sends it.
pub const SIGNAL: usize = 5;
/// Index of a word that a process which could not begin its run sets to 1.
pub const NOT_BEGUN: usize = 6;
/// Words in use before the first segment.
pub const WORDS: usize = 7;

/// Where a segment begins.
pub fn offset(segment: u64) -> u64 {
    HEAD as u64 + segment * SEGMENT as u64
}
