//! States of one search that are expanded in two orders in turn, each state once.
//!
//! *Oldest first* is the order of a search that runs to its end before another begins. *Nearest first* is breadth-first
//! over all that is there, by the number of steps from an initial state of the program, so that what is near is found
//! however much else there is. A search that takes both in turn needs at most twice as many states as the better of the
//! two. What one expands the other passes over.
//!
//! This costs 8 bytes for a state, and a bit.

use ravelin_explore::StateSet;
use std::collections::{BTreeMap, VecDeque};

pub(super) struct Frontier {
    set: StateSet,
    /// By state: steps from an initial state, along the path that was found first.
    depths: Vec<u32>,
    /// By state, one bit.
    is_expanded: Vec<u64>,
    /// States that are not expanded.
    left: usize,
    /// All before it are expanded.
    oldest: usize,
    /// By depth: states that were not expanded when they were found, in that order.
    nearest: BTreeMap<u32, VecDeque<u32>>,
    /// States in these queues; some may be expanded by now.
    queued: usize,
}

impl Frontier {
    /// The parent of a state that has none.
    pub const ROOT: u32 = StateSet::ROOT;

    /// `width`: words of a state.
    pub fn new(width: usize) -> Frontier {
        Frontier {
            set: StateSet::new(width),
            depths: Vec::new(),
            is_expanded: Vec::new(),
            left: 0,
            oldest: 0,
            nearest: BTreeMap::new(),
            queued: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Everything is expanded.
    pub fn is_drained(&self) -> bool {
        self.left == 0
    }

    pub fn state(&self, index: usize) -> &[u64] {
        self.set.state(index)
    }

    pub fn depth(&self, index: usize) -> u32 {
        self.depths[index]
    }

    /// The indices from a root to this state, both included.
    pub fn path(&self, index: usize) -> Vec<usize> {
        self.set.path(index)
    }

    /// Adds a state that is to be expanded. Returns whether it is new.
    #[inline]
    pub fn insert(&mut self, state: &[u64], parent: u32, depth: u32) -> bool {
        if !self.add(state, parent, depth) {
            return false;
        }
        let index = (self.len() - 1) as u32;
        self.left += 1;
        self.queued += 1;
        self.nearest.entry(depth).or_default().push_back(index);
        true
    }

    /// Adds a state that its finder expands. Returns whether it is new.
    pub fn insert_expanded(&mut self, state: &[u64], parent: u32, depth: u32) -> bool {
        let is_new = self.add(state, parent, depth);
        if is_new {
            self.mark(self.len() - 1);
        }
        is_new
    }

    fn add(&mut self, state: &[u64], parent: u32, depth: u32) -> bool {
        let is_new = self.set.insert(state, parent);
        if is_new {
            self.depths.push(depth);
            if self.is_expanded.len() * 64 < self.depths.len() {
                self.is_expanded.push(0);
            }
        }
        is_new
    }

    /// The state to expand next, oldest first.
    pub fn take_oldest(&mut self) -> Option<usize> {
        while self.oldest < self.len() && self.has(self.oldest) {
            self.oldest += 1;
        }
        (self.oldest < self.len()).then(|| self.take(self.oldest))
    }

    /// The depth of the state that is expanded next, nearest first.
    pub fn nearest_depth(&mut self) -> Option<u32> {
        while let Some(mut nearest) = self.nearest.first_entry() {
            while let Some(&index) = nearest.get().front() {
                if self.is_expanded[index as usize / 64] >> (index % 64) & 1 == 0 {
                    return Some(*nearest.key());
                }
                nearest.get_mut().pop_front();
                self.queued -= 1;
            }
            nearest.remove();
        }
        None
    }

    /// The state to expand next, nearest first.
    pub fn take_nearest(&mut self) -> Option<usize> {
        self.nearest_depth()?;
        let index = self.nearest.first_entry()?.get_mut().pop_front()?;
        self.queued -= 1;
        Some(self.take(index as usize))
    }

    fn take(&mut self, index: usize) -> usize {
        self.left -= 1;
        self.mark(index);
        index
    }

    fn has(&self, index: usize) -> bool {
        self.is_expanded[index / 64] >> (index % 64) & 1 == 1
    }

    fn mark(&mut self, index: usize) {
        self.is_expanded[index / 64] |= 1 << (index % 64);
    }

    /// Forgets all but the first `len` states, which must be expanded.
    pub fn truncate(&mut self, len: usize) {
        self.set.truncate(len);
        self.depths.truncate(len);
        self.is_expanded.truncate(len.div_ceil(64));
        if !len.is_multiple_of(64)
            && let Some(last) = self.is_expanded.last_mut()
        {
            *last &= (1 << (len % 64)) - 1;
        }
        (self.left, self.queued, self.oldest) = (0, 0, self.oldest.min(len));
        self.nearest.clear();
        debug_assert!((0..len).all(|index| self.has(index)));
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        // A queue has room for up to twice as many as are in it.
        self.set.bytes() + self.depths.capacity() * 4 + self.is_expanded.capacity() * 8 + self.queued * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_see_every_state_once() {
        let mut frontier = Frontier::new(1);
        for (state, depth) in [(7, 3), (8, 1), (9, 2), (10, 1)] {
            assert!(frontier.insert(&[state], Frontier::ROOT, depth));
        }
        assert!(!frontier.insert(&[8], Frontier::ROOT, 0));
        let mut taken = vec![frontier.take_nearest(), frontier.take_oldest(), frontier.take_nearest()];
        taken.push(frontier.take_oldest());
        assert_eq!(taken, [Some(1), Some(0), Some(3), Some(2)]);
        assert_eq!((frontier.take_oldest(), frontier.take_nearest(), frontier.is_drained()), (None, None, true));
    }

    #[test]
    fn what_is_forgotten_can_come_again() {
        let mut frontier = Frontier::new(1);
        for state in 0..200 {
            frontier.insert_expanded(&[state], Frontier::ROOT, 0);
        }
        frontier.insert(&[200], 3, 1);
        for len in [130, 128, 65, 1] {
            frontier.truncate(len);
            assert!(frontier.is_drained() && frontier.take_oldest().is_none() && frontier.take_nearest().is_none());
            assert!(!frontier.insert(&[len as u64 - 1], Frontier::ROOT, 0));
            assert!(frontier.insert(&[len as u64], Frontier::ROOT, 2));
            assert_eq!((frontier.nearest_depth(), frontier.take_oldest()), (Some(2), Some(len)));
        }
    }
}
