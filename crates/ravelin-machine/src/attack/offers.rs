//! SC states as they are offered to a hunter: in the order in which one worker finds them, each once.
//!
//! Where all of them are in the memory of this process they are taken from there. Where they are in several processes, those who have
//! them send a hunter the next ones, a batch at a time, and only those in which a store that it attacks can be issued. The others count as
//! offers, too: a hunter takes the same steps in the same order wherever the states are.

use ravelin_explore::StateId;

/// An SC state. `None`: no attack begins there.
pub(super) type Offer<'s> = Option<(StateId, &'s [u64])>;

/// Places of a batch.
pub(super) const BATCH: u64 = 1 << 14;

/// What a hunter is offered next, up to some place.
#[derive(Default)]
pub(super) struct OfferBatch {
    end: u64,
    /// Words of an SC state.
    width: usize,
    /// By state, in order: its place, its id, and where in `states` it begins.
    starts: Vec<(u64, StateId, usize)>,
    states: Vec<u64>,
}

impl OfferBatch {
    /// Up to a place, of states of so many words.
    pub fn new(end: u64, width: usize) -> OfferBatch {
        OfferBatch { end, width, ..OfferBatch::default() }
    }

    /// Adds a state. They come in any order, and before any is offered.
    pub fn add(&mut self, place: u64, id: StateId, state: &[u64]) {
        self.starts.push((place, id, self.states.len()));
        self.states.extend_from_slice(state);
    }

    /// All states are there.
    pub fn complete(&mut self) {
        self.starts.sort_unstable();
    }

    /// The first place after the batch.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<(u64, StateId, usize)>() + self.states.capacity() * size_of::<u64>()
    }

    /// What is offered from a place on.
    pub fn offers(&self, from: u64) -> impl Iterator<Item = Offer<'_>> {
        let first = self.starts.partition_point(|(place, ..)| *place < from);
        let mut known = self.starts[first..].iter().peekable();
        (from..self.end).map(move |place| {
            let &(_, id, at) = known.next_if(|(known, ..)| *known == place)?;
            Some((id, &self.states[at..at + self.width]))
        })
    }
}
