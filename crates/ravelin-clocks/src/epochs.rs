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
const WORDS: Epoch = 256;
/// How many epochs are remembered at least.
const WINDOW: Epoch = BITS * (WORDS - 1);

/// The last epochs of one thread.
#[derive(Debug)]
pub(crate) struct EpochWindow {
    /// Set for an epoch that is gone; the word of an epoch is its number divided by [`BITS`], modulo [`WORDS`].
    gone: [u64; WORDS as usize],
    /// Which words have all bits set, one bit each.
    full: [u64; (WORDS / BITS) as usize],
}

impl EpochWindow {
    /// All epochs are held.
    pub const fn new() -> EpochWindow {
        EpochWindow { gone: [0; WORDS as usize], full: [0; (WORDS / BITS) as usize] }
    }

    /// Runs when `epoch` begins.
    #[inline(always)]
    pub fn begin(&mut self, epoch: Epoch) {
        if epoch.is_multiple_of(BITS) {
            let word = epoch / BITS % WORDS;
            self.gone[word as usize] = 0;
            self.full[(word / BITS) as usize] &= !(1 << (word % BITS));
        }
    }

    /// No clock holds `epoch` any more; the current one is `now`.
    #[inline(always)]
    pub fn drop(&mut self, epoch: Epoch, now: Epoch) {
        if now / BITS - epoch / BITS < WORDS {
            let word = epoch / BITS % WORDS;
            let gone = &mut self.gone[word as usize];
            *gone |= 1 << (epoch % BITS);
            self.full[(word / BITS) as usize] |= u64::from(*gone == u64::MAX) << (word % BITS);
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
        has(first_word, since) && has(last_word, until) && self.are_full(first_word + 1, last_word)
    }

    /// Whether the words from `from` to below `to` have all bits set.
    #[inline]
    fn are_full(&self, mut from: Epoch, to: Epoch) -> bool {
        while from < to {
            let (group, first) = (from % WORDS / BITS, from % BITS);
            let count = (to - from).min(BITS - first);
            let bits = u64::MAX >> (BITS - count) << first;
            if !self.full[group as usize] & bits != 0 {
                return false;
            }
            from += count;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_testing::Random;
    use std::collections::BTreeSet;

    /// Compares with a set, over more epochs than the window has.
    #[test]
    fn an_epoch_is_gone_if_it_was_dropped_and_is_not_too_old() {
        let (mut window, mut gone) = (EpochWindow::new(), BTreeSet::new());
        let mut numbers = Random::new(1);
        let mut random = |below: u32| numbers.below(below as usize) as u32;
        let mut long = 0;
        for now in 3..30_000 {
            window.begin(now);
            // Most are dropped soon, some later, a few never.
            for epoch in [now - 1, now.saturating_sub(1 + random(100))] {
                if random(150) > 0 {
                    window.drop(epoch, now);
                    gone.insert(epoch);
                }
            }
            let from = now - random(now.min(20_000));
            let to = from + random(now - from + 1);
            let expected = from >= to || now - from < WINDOW && (from..to).all(|epoch| gone.contains(&epoch));
            assert_eq!(window.are_gone(from, to, now), expected, "{from} to {to} at {now}");
            long += u32::from(expected && to - from > 130);
        }
        assert!(long > 100, "only {long} long ranges were gone");
    }
}
