//! Which stores a thread may keep back, and how far: the paths that the oracle has asked for, folded together.
//!
//! The paper extends a program by one path after the other, each a copy of its own. Here a place on a path is known by the
//! stores that are pending there and by the instruction that comes next, so paths that agree in these share their copies, and a
//! loop does not multiply them. A path σ = store · … · load allows each of its instructions to be taken while the stores of σ
//! before it are pending, or only the newest of them: a store may have reached memory before the next one is issued.

use crate::robustness::is_delayable;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Thread, TransitionId};
use std::collections::HashSet;

/// The stores that a thread holds back, oldest first, by the transitions that issued them.
pub(super) type DelayedStores = Vec<TransitionId>;

/// What one thread may do while it holds stores back.
#[derive(Clone, Debug, Default)]
pub(super) struct Delays {
    /// A transition, with the stores that may be pending before it. A store that stands here with nothing pending may be held
    /// back itself.
    allowed: HashSet<(DelayedStores, TransitionId)>,
}

impl Delays {
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty()
    }

    /// The transition may be taken while exactly these stores are held back.
    pub fn allow(&self, pending: &[TransitionId], transition: TransitionId) -> bool {
        self.allowed.contains(&(pending.to_vec(), transition))
    }

    /// Allows a path that starts with a store and has no fence. Says how many steps this adds.
    pub fn extend(&mut self, thread: &Thread, path: &[TransitionId], watch: &Watch) -> Result<usize, Limit> {
        let is_store = |id: &TransitionId| is_delayable(&thread.transitions[id.0].instruction);
        let mut added = 0;
        for first in (0..path.len()).filter(|&first| is_store(&path[first])) {
            let mut pending = DelayedStores::new();
            for transition in &path[first..] {
                watch.steps(1 + pending.len() / 16)?;
                if self.allowed.insert((pending.clone(), *transition)) {
                    watch.hold(size_of_val(&*pending) + size_of::<(DelayedStores, TransitionId)>() + 16)?;
                    added += 1;
                }
                if is_store(transition) {
                    pending.push(*transition);
                }
            }
        }
        Ok(added)
    }

    /// The most stores that are held back at once.
    pub fn slots(&self) -> usize {
        // A store that is allowed with n pending is held back as one more.
        self.allowed.iter().map(|(pending, _)| pending.len() + 1).max().unwrap_or(0)
    }
}
