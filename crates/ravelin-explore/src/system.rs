//! The contract between the engine and what it explores.

use crate::order::hash_word;
use crate::store::{hash, same};

/// A transition system over packed states.
///
/// `expand` must be a function of the state alone: the engine calls it once a state, in any order, from any thread, and
/// again when it rebuilds a path.
pub trait System: Sync {
    /// Room for intermediate results, one for each worker, so that expanding allocates nothing.
    type Scratch: Send;
    /// Why an exploration cannot go on, for instance a value that the packing has no room for.
    type Interrupt: Send;

    /// Words in a state.
    fn width(&self) -> usize;

    fn scratch(&self) -> Self::Scratch;

    fn initial(&self, emit: &mut dyn FnMut(&[u64]));

    /// Gives all successors of a state, and what is to be said about the state itself, to the sink.
    fn expand(&self, state: &[u64], scratch: &mut Self::Scratch, sink: &mut Sink) -> Result<(), Self::Interrupt>;
}

/// Where a system puts what it finds while expanding one state.
///
/// Successors are sorted into one outbox a shard; a record is the state, its hash and its parent.
pub struct Sink {
    width: usize,
    pub(crate) outboxes: Vec<Vec<u64>>,
    /// What the system said about the state being expanded.
    pub(crate) findings: Vec<u32>,
    /// The id of the state being expanded; with its rank above where states are kept in order.
    pub(crate) parent: u64,
    /// Whether records carry the number of the successor, counted from here.
    pub(crate) first_successor: Option<u64>,
    pub(crate) transitions: u64,
    pub(crate) cut_off: bool,
    /// States sent lately, by their hash. Most successors that are not new were also found a moment ago, from a neighbour of
    /// the state being expanded, and need not be sent again.
    recent: Vec<u64>,
    /// Successors to come before it is worth having them: small explorations are many and must stay cheap.
    before_recent: usize,
}

/// Slots for recent states: few enough for the cache of one core.
const RECENT: usize = 1 << 14;
/// What no recent state begins with.
const NOTHING: u64 = u64::MAX;

impl Sink {
    pub(crate) fn new(width: usize, shards: usize) -> Sink {
        Sink {
            width,
            outboxes: vec![Vec::new(); shards],
            findings: Vec::new(),
            parent: u64::MAX,
            first_successor: None,
            transitions: 0,
            cut_off: false,
            recent: Vec::new(),
            before_recent: RECENT,
        }
    }

    /// A successor of the state being expanded.
    #[inline]
    pub fn push(&mut self, state: &[u64]) {
        debug_assert_eq!(state.len(), self.width);
        self.transitions += 1;
        let hash = hash(state);
        if self.was_sent_lately(state, hash) {
            return;
        }
        let shard = if self.outboxes.len() == 1 { 0 } else { shard_of(hash, self.outboxes.len()) };
        let outbox = &mut self.outboxes[shard];
        let parent = self.parent;
        let hash = self.first_successor.map_or(hash, |first| hash_word(hash, self.transitions - first));
        // Records of a known size are copied without a call.
        match *state {
            [a] => outbox.extend_from_slice(&[a, hash, parent]),
            [a, b] => outbox.extend_from_slice(&[a, b, hash, parent]),
            [a, b, c] => outbox.extend_from_slice(&[a, b, c, hash, parent]),
            _ => {
                outbox.extend_from_slice(state);
                outbox.extend_from_slice(&[hash, parent]);
            }
        }
    }

    /// Whether the state is among the recent ones; from now on it is.
    #[inline]
    fn was_sent_lately(&mut self, state: &[u64], hash: u64) -> bool {
        if self.before_recent > 0 {
            self.before_recent -= 1;
            if self.before_recent == 0 {
                self.recent = vec![NOTHING; RECENT * self.width];
            }
            return false;
        }
        let slot = (hash >> 13) as usize % RECENT * state.len();
        let recent = &mut self.recent[slot..slot + state.len()];
        if same(recent, state) && state.first() != Some(&NOTHING) {
            return true;
        }
        for (to, from) in recent.iter_mut().zip(state) {
            *to = *from;
        }
        false
    }

    /// Words of a record.
    pub(crate) fn record_words(&self) -> usize {
        self.width + 2
    }

    /// Words waiting in the outboxes.
    pub(crate) fn words(&self) -> usize {
        self.outboxes.iter().map(Vec::len).sum()
    }

    /// Something about the state being expanded: the number is the system's own, and comes back in a
    /// [`crate::StateFinding`].
    #[inline]
    pub fn report(&mut self, kind: u32) {
        self.findings.push(kind);
    }

    /// A successor was left out on purpose (a bound of the system); the exploration is then not exhaustive.
    #[inline]
    pub fn cut_off(&mut self) {
        self.cut_off = true;
    }
}

/// The shard that owns a state, from bits that the tables do not use for their slots.
#[inline]
pub(crate) fn shard_of(hash: u64, shards: usize) -> usize {
    (((hash & 0xffff_ffff) * shards as u64) >> 32) as usize
}
