//! An array that grows while other threads read it.
//!
//! Elements are atomics, never move, and are never freed before the array: chunks of doubling length are allocated when
//! they are needed. An index is valid once an element at or behind it was made available.

use std::sync::OnceLock;

/// The length of the first chunk.
const FIRST: u32 = 64;
/// How many chunks there are at most: as many elements as can be numbered.
const CHUNKS: usize = 27;

#[derive(Debug)]
pub(crate) struct Chunks<T>([OnceLock<Box<[T]>>; CHUNKS]);

impl<T: Default> Chunks<T> {
    pub const fn new() -> Chunks<T> {
        Chunks([const { OnceLock::new() }; CHUNKS])
    }

    /// The chunk of an index, and where the chunk begins.
    #[inline(always)]
    fn place(index: u32) -> (usize, u32) {
        let chunk = (index / FIRST + 1).ilog2();
        (chunk as usize, FIRST * ((1 << chunk) - 1))
    }

    /// The element at a valid index.
    #[inline(always)]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.slice(index, 1).first()
    }

    /// Elements from a valid index on, as made available at once.
    #[inline(always)]
    pub fn slice(&self, index: u32, length: u32) -> &[T] {
        let (chunk, start) = Self::place(index);
        let from = (index - start) as usize;
        self.0[chunk].get().and_then(|chunk| chunk.get(from..from + length as usize)).unwrap_or_default()
    }

    /// Makes `length` elements in a row available, at `index` or as soon as possible behind it. Returns where they are;
    /// `None` if there are too many.
    pub fn reserve(&self, index: u32, length: u32) -> Option<u32> {
        let (mut chunk, mut start) = Self::place(index);
        let mut at = index;
        while at - start + length > FIRST << chunk {
            chunk += 1;
            if chunk == CHUNKS - 1 {
                return None;
            }
            start = FIRST * ((1 << chunk) - 1);
            at = start;
        }
        self.0[chunk].get_or_init(|| (0..FIRST << chunk).map(|_| T::default()).collect());
        Some(at)
    }
}
