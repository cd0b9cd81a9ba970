//! The states that one worker owns: in memory, or on disk when they no longer fit there.
//!
//! Both keep states by index, in the order in which they became known, and both are asked the same by the rounds (`search.rs`): a state to
//! expand, to take what was found, to end a level. In memory a successor is compared at once; on disk it waits until the level ends
//! (`spill/`). A set in memory can move to disk between any two rounds, and keeps its indices.

use crate::absorb::{Insertions, absorb, absorb_in_order, absorb_within};
use crate::files::StorageError;
use crate::halt::Halt;
use crate::order::{MergedRecords, label};
use crate::room::Room;
use crate::space::StateId;
use crate::spill::{DiskSet, LevelWatch, SpillSettings};
use crate::store::StateStore;
use std::ops::Range;

pub(crate) enum VisitedSet {
    Memory(MemorySet),
    Disk(Box<DiskSet>),
}

pub(crate) struct MemorySet {
    pub store: StateStore,
    order: Option<StateOrder>,
}

/// What a set knows of the order of states (`order.rs`).
#[derive(Default)]
struct StateOrder {
    /// The ranks of the states of the current level, and the index of the first of them.
    ranks: Vec<u32>,
    level_start: usize,
    /// The labels of the states of the next level.
    labels: Vec<u64>,
}

/// Records that one worker sent.
#[derive(Clone, Copy)]
pub(crate) struct Sent<'r> {
    pub process: usize,
    pub records: &'r [u64],
}

/// Ids of states of all processes, from those that a process has for its own: where states are in order, there is half a word for them.
#[derive(Clone, Copy)]
pub(crate) struct LongIds {
    /// Shards of each process, and of all.
    pub workers: u64,
    pub shards: u64,
}

impl LongIds {
    #[inline]
    fn of(self, process: usize, word: u64) -> u64 {
        let short = word & 0xffff_ffff;
        if short == 0xffff_ffff {
            StateId::NONE
        } else if self.workers == self.shards {
            short
        } else {
            let (index, local) = (short / self.workers, short % self.workers);
            index * self.shards + process as u64 * self.workers + local
        }
    }
}

/// Words in a worker's outboxes after which a round ends early: states with very many successors must not keep it from
/// looking at the limits.
const LARGEST_ROUND: usize = 1 << 22;

/// Words that a worker who is alone collects before it looks whether they are new: enough to overlap the misses of the cache, and so few
/// that they are in its first level.
const BATCH_WORDS: usize = 1 << 10;

impl VisitedSet {
    /// In memory. `in_order`: whether states are kept in the order in which one worker finds them.
    pub fn new(store: StateStore, in_order: bool) -> VisitedSet {
        VisitedSet::Memory(MemorySet { store, order: in_order.then(StateOrder::default) })
    }

    pub fn memory(&self) -> Option<&MemorySet> {
        match self {
            VisitedSet::Memory(set) => Some(set),
            VisitedSet::Disk(_) => None,
        }
    }

    /// The states in memory, to be lent.
    pub fn store_mut(&mut self) -> Option<&mut StateStore> {
        match self {
            VisitedSet::Memory(set) => Some(&mut set.store),
            VisitedSet::Disk(_) => None,
        }
    }

    pub fn is_on_disk(&self) -> bool {
        matches!(self, VisitedSet::Disk(_))
    }

    /// Known states.
    pub fn len(&self) -> u64 {
        match self {
            VisitedSet::Memory(set) => set.store.len() as u64,
            VisitedSet::Disk(set) => set.len(),
        }
    }

    /// Records that may be new states when the level ends.
    pub fn waiting(&self) -> u64 {
        match self {
            VisitedSet::Memory(_) => 0,
            VisitedSet::Disk(set) => set.waiting(),
        }
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        match self {
            VisitedSet::Memory(set) => {
                let order = set.order.as_ref();
                let order =
                    order.map_or(0, |order| order.labels.capacity() * 8 + order.ranks.capacity() * 4 + set.store.len());
                set.store.bytes() + order
            }
            VisitedSet::Disk(set) => set.bytes(),
        }
    }

    /// Words in the outboxes after which a round ends.
    pub fn largest_round(&self) -> usize {
        match self {
            VisitedSet::Memory(_) => LARGEST_ROUND,
            VisitedSet::Disk(set) => set.largest_round(),
        }
    }

    /// A state that is expanded now. They are asked for one after the other.
    #[inline]
    pub fn next(&mut self, index: u64) -> Result<&[u64], StorageError> {
        match self {
            VisitedSet::Memory(set) => Ok(set.store.state(index as usize)),
            VisitedSet::Disk(set) => set.next(index),
        }
    }

    /// Any state, with its parent.
    pub fn state(&self, index: u64) -> Result<(Vec<u64>, u64), StorageError> {
        match self {
            VisitedSet::Memory(set) => Ok((set.store.state(index as usize).to_vec(), set.store.parent(index as usize))),
            VisitedSet::Disk(set) => set.state(index),
        }
    }

    /// Gives some states and their parents, in their order.
    pub fn visit(
        &self,
        states: Range<u64>,
        mut visit: impl FnMut(&[u64], u64) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        match self {
            VisitedSet::Memory(set) => (states.start as usize..states.end as usize)
                .try_for_each(|index| visit(set.store.state(index), set.store.parent(index))),
            VisitedSet::Disk(set) => set.visit(states, visit),
        }
    }

    /// Takes what was sent here, by sender, as long as there is room. `record`: words of a record.
    pub fn absorb(
        &mut self,
        sent: &[Sent],
        record: usize,
        room: Option<&Room>,
        ids: LongIds,
    ) -> Result<(), StorageError> {
        let set = match self {
            VisitedSet::Memory(set) => set,
            VisitedSet::Disk(set) => return sent.iter().try_for_each(|sent| set.absorb(sent.records)),
        };
        let merged = || MergedRecords::new(sent.iter().map(|sent| sent.records), record);
        // What a word says of a parent that is alone in it needs no sender.
        let whole = |_: usize, word: u64| word;
        let of_sender = |sender: usize, word: u64| ids.of(sent[sender].process, word);
        match (&mut set.order, room) {
            (None, None) => sent.iter().for_each(|sent| absorb(&mut set.store, sent.records)),
            (None, Some(room)) => {
                let records = sent.iter().flat_map(|sent| sent.records.chunks_exact(record)).map(|record| (0, record));
                absorb_within(&mut set.store, records, room, whole, |_| {});
            }
            (Some(order), None) => absorb_in_order(&mut set.store, merged(), &mut order.labels, of_sender),
            (Some(order), Some(room)) => {
                let added = |rest: &[u64]| order.labels.push(label(rest[0], rest[1]));
                absorb_within(&mut set.store, merged(), room, of_sender, added);
            }
        }
        Ok(())
    }

    /// Takes what the only worker found so far, once it is worth it and if no limit is near; gives the words that were taken.
    #[inline]
    pub fn absorb_alone(&mut self, outbox: &mut Vec<u64>, most: u64) -> usize {
        let words = outbox.len();
        if words < BATCH_WORDS {
            return 0;
        }
        match self {
            VisitedSet::Memory(set) if (set.store.len() + words) as u64 <= most => absorb(&mut set.store, outbox),
            _ => return 0,
        }
        outbox.clear();
        words
    }

    /// From now on states are kept in no particular order.
    pub fn forget_order(&mut self) {
        if let VisitedSet::Memory(set) = self {
            set.order = None;
        }
    }

    /// Makes room for so many states, if they are in memory.
    pub fn reserve(&mut self, states: usize) {
        if let VisitedSet::Memory(set) = self {
            set.store.reserve(states);
        }
    }

    /// All successors of a level are here: what of them is new is known afterwards.
    pub fn end_level(&mut self, watch: &LevelWatch) -> Result<(), Halt> {
        match self {
            VisitedSet::Memory(_) => Ok(()),
            VisitedSet::Disk(set) => set.end_level(watch),
        }
    }

    /// Before an answer is given: whether what was taken for visited was visited.
    pub fn confirm(&mut self, watch: &LevelWatch) -> Result<(), Halt> {
        match self {
            VisitedSet::Memory(_) => Ok(()),
            VisitedSet::Disk(set) => set.confirm(watch),
        }
    }

    /// Moves the states to disk, unless they are there.
    pub fn spill(&mut self, settings: &SpillSettings, watch: &LevelWatch) -> Result<(), Halt> {
        if let VisitedSet::Memory(set) = self {
            let mut disk = Box::new(DiskSet::new(set.store.width(), settings)?);
            disk.take_over(&mut set.store, watch)?;
            *self = VisitedSet::Disk(disk);
        }
        Ok(())
    }

    /// Puts back a state that a checkpoint has. What does not fit into its share of the memory goes to disk.
    pub fn restore(
        &mut self,
        state: &[u64],
        hash: u64,
        parent: u64,
        settings: Option<&SpillSettings>,
        watch: &LevelWatch,
    ) -> Result<(), Halt> {
        match self {
            VisitedSet::Memory(set) => {
                set.store.reserve(set.store.len() + 1);
                set.store.insert(state, hash, parent);
                match settings {
                    Some(settings) if set.store.bytes() > settings.bytes / 2 => self.spill(settings, watch),
                    _ => Ok(()),
                }
            }
            VisitedSet::Disk(set) => set.restore(state, hash, parent, watch),
        }
    }

    /// After the last state that was put back.
    pub fn end_restoring(&mut self, watch: &LevelWatch) -> Result<(), Halt> {
        match self {
            VisitedSet::Memory(_) => Ok(()),
            VisitedSet::Disk(set) => set.end_restoring(watch),
        }
    }

    /// The labels of the states of the next level.
    pub fn labels(&self) -> &[u64] {
        self.order().map_or(&[], |order| &order.labels)
    }

    /// Gives the states of the current level, which ends here, their ranks.
    pub fn set_ranks(&mut self, ranks: Vec<u32>, level_end: u64) {
        if let VisitedSet::Memory(MemorySet { order: Some(order), .. }) = self {
            order.level_start = level_end as usize - ranks.len();
            order.ranks = ranks;
            order.labels.clear();
        }
    }

    fn order(&self) -> Option<&StateOrder> {
        self.memory().and_then(|set| set.order.as_ref())
    }

    /// The rank of the state with an index, where states are in order.
    #[inline]
    pub fn rank(&self, index: u64) -> Option<u32> {
        let order = self.order()?;
        let place = (index as usize).checked_sub(order.level_start);
        Some(place.and_then(|place| order.ranks.get(place)).copied().unwrap_or(0))
    }
}
