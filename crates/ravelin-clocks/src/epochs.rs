//! Which of a thread's last epochs no clock holds any more.
//!
//! Every access leaves its epoch at the location. If the thread accesses the location again before another thread does,
//! it replaces the only clock that held the old epoch: the epoch is *gone*. Two sightings of a write that differ only
//! in epochs that are gone cannot be distinguished, so a history needs one of them ([`crate::history`]). A thread that
//! works with locations of its own therefore leaves short histories behind, without any search for the clocks that
//! exist.
//!
//! The last [`WINDOW`] epochs are remembered, one bit each. Older ones count as held.

use crate::clock::Epoch;

/// Epochs in a word.
const BITS: Epoch = 64;
/// Words.
const WORDS: Epoch = 64;
/// How many epochs are remembered at least.
const WINDOW: Epoch = BITS * (WORDS - 1);

/// The last epochs of one thread.
#[derive(Debug)]
pub(crate) struct EpochWindow {
    /// Set for an epoch that is gone; the word of an epoch is its number divided by [`BITS`], modulo [`WORDS`].
    gone: [u64; WORDS as usize],
    /// Which words have all bits set.
    full: u64,
}

impl EpochWindow {
    /// All epochs are held.
    pub const fn new() -> EpochWindow {
        EpochWindow { gone: [0; WORDS as usize], full: 0 }
    }

    /// Runs when `epoch` begins.
    #[inline(always)]
    pub fn begin(&mut self, epoch: Epoch) {
        if epoch % BITS == 0 {
            let word = epoch / BITS % WORDS;
            self.gone[word as usize] = 0;
            self.full &= !(1 << word);
        }
    }

    /// No clock holds `epoch` any more; the current one is `now`.
    #[inline(always)]
    pub fn drop(&mut self, epoch: Epoch, now: Epoch) {
        if now / BITS - epoch / BITS < WORDS {
            let word = epoch / BITS % WORDS;
            let gone = &mut self.gone[word as usize];
            *gone |= 1 << (epoch % BITS);
            self.full |= u64::from(*gone == u64::MAX) << word;
        }
    }

    /// Whether all epochs from `from` to below `to` are gone; the current one is `now`.
    #[inline(always)]
    pub fn are_gone(&self, from: Epoch, to: Epoch, now: Epoch) -> bool {
        if from >= to {
            return true;
        }
        if now - from >= WINDOW {
            return false;
        }
        let last = to - 1;
        let (first_word, last_word) = (from / BITS, last / BITS);
        let since = u64::MAX << (from % BITS);
        let until = u64::MAX >> (BITS - 1 - last % BITS);
        let has = |word: Epoch, bits: u64| !self.gone[(word % WORDS) as usize] & bits == 0;
        if first_word == last_word {
            return has(first_word, since & until);
        }
        let between = ((1 << (last_word - first_word - 1)) - 1_u64).rotate_left((first_word + 1) % WORDS);
        has(first_word, since) && has(last_word, until) && !self.full & between == 0
    }
}
