//! A set of packed states with a parent for each, for searches that are too small or too peculiar for [`crate::explore`].

use crate::absorb::Insertions;
use crate::store::{StateStore, hash};

/// Exact. States keep the order in which they were put in, so the set is also the queue of a breadth-first search.
pub struct StateSet {
    store: StateStore,
}

impl StateSet {
    /// The parent of a state that has none.
    pub const ROOT: u32 = u32::MAX;

    /// `width`: words of a state.
    pub fn new(width: usize) -> StateSet {
        StateSet { store: StateStore::new(width) }
    }

    pub fn len(&self) -> usize {
        self.store.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a state; whether it is new.
    #[inline]
    pub fn insert(&mut self, state: &[u64], parent: u32) -> bool {
        let before = self.store.len();
        self.store.reserve(before + 1);
        self.store.insert(state, hash(state), u64::from(parent))
    }

    /// The state that was put in as the `index`th.
    #[inline]
    pub fn state(&self, index: usize) -> &[u64] {
        self.store.state(index)
    }

    /// The indices from a root to this state, both included.
    pub fn path(&self, index: usize) -> Vec<usize> {
        let mut path = vec![index];
        let mut at = index;
        while let Some(parent) = self.store.parent_in_memory(at) {
            at = parent;
            path.push(at);
        }
        path.reverse();
        path
    }

    /// Forgets all but the first `len` states.
    pub fn truncate(&mut self, len: usize) {
        self.store.truncate(len);
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.store.bytes()
    }
}
