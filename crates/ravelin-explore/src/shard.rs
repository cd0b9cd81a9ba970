//! What one worker owns of a search: a part of the states, and what it found there.

use crate::order::{MergedRecords, label, parent_word};
use crate::room::Room;
use crate::space::{StateFinding, StateId, join, split};
use crate::store::StateStore;
use crate::system::{Sink, System};
use std::time::Duration;

/// Words in a worker's outboxes after which a round ends early: states with very many successors must not keep it from
/// looking at the limits.
const LARGEST_ROUND: usize = 1 << 22;

/// States that a worker expands in a round.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Portion {
    /// So many of each shard.
    States(usize),
    /// Those below a rank.
    Below(u64),
}

pub(crate) struct Shard<S: System> {
    number: usize,
    /// Shards of all processes.
    shards: usize,
    pub store: StateStore,
    /// States before this index are expanded.
    pub expanded: usize,
    /// States from this index on belong to the next level.
    pub level_end: usize,
    order: Option<StateOrder>,
    scratch: S::Scratch,
    pub sink: Sink,
    /// Why the search cannot go on, and the state that says so.
    interrupt: Option<(usize, S::Interrupt)>,
    pub findings: Vec<StateFinding>,
    pub cut_off: bool,
}

/// What a shard knows of the order of states (`order.rs`).
#[derive(Default)]
struct StateOrder {
    /// The ranks of the states of the current level, and the index of the first of them.
    ranks: Vec<u32>,
    level_start: usize,
    /// The labels of the states of the next level.
    labels: Vec<u64>,
}

impl StateOrder {
    fn rank(&self, index: usize) -> u32 {
        index.checked_sub(self.level_start).and_then(|place| self.ranks.get(place)).copied().unwrap_or(0)
    }
}

impl<S: System> Shard<S> {
    /// `in_order`: whether states are kept in the order in which one worker finds them.
    pub fn new(system: &S, number: usize, shards: usize, in_order: bool) -> Shard<S> {
        Shard {
            number,
            shards,
            store: StateStore::new(system.width()),
            expanded: 0,
            level_end: 0,
            order: in_order.then(StateOrder::default),
            scratch: system.scratch(),
            sink: Sink::new(system.width(), shards),
            interrupt: None,
            findings: Vec::new(),
            cut_off: false,
        }
    }

    /// First half of a round: expands some states of the current level.
    pub fn expand(&mut self, system: &S, portion: Portion) {
        let until = match portion {
            Portion::States(states) => self.level_end.min(self.expanded + states),
            Portion::Below(_) => self.level_end,
        };
        while self.expanded < until {
            let index = self.expanded;
            let id = join(self.number, index, self.shards);
            match (&self.order, portion) {
                (Some(order), Portion::Below(bound)) if u64::from(order.rank(index)) >= bound => break,
                // Others have expanded all below the bound, so this worker does, too.
                (Some(order), _) => {
                    self.sink.parent = parent_word(order.rank(index), id);
                    self.sink.first_successor = Some(self.sink.transitions);
                }
                (None, _) if self.sink.words() >= LARGEST_ROUND => break,
                (None, _) => self.sink.parent = u64::from(id),
            }
            let state = self.store.state(index);
            self.expanded += 1;
            if let Err(interrupt) = system.expand(state, &mut self.scratch, &mut self.sink) {
                self.interrupt = Some((index, interrupt));
                break;
            }
        }
        self.cut_off |= self.sink.cut_off;
        let found = self.sink.findings.drain(..).map(|(kind, state)| StateFinding { state: StateId(state), kind });
        self.findings.extend(found);
    }

    pub fn unexpanded(&self) -> usize {
        self.level_end - self.expanded
    }

    /// Second half: takes what was sent here, by sender, as long as there is room.
    pub fn absorb(&mut self, outboxes: &[Vec<u64>], room: Option<&Room>) {
        let record = self.sink.record_words();
        let merged = || MergedRecords::new(outboxes.iter().map(Vec::as_slice), record);
        match (&mut self.order, room) {
            (None, None) => outboxes.iter().for_each(|outbox| self.store.absorb(outbox)),
            (None, Some(room)) => {
                let records = outboxes.iter().flat_map(|outbox| outbox.chunks_exact(record));
                self.store.absorb_within(records, room, |_| {});
            }
            (Some(order), None) => self.store.absorb_in_order(merged(), &mut order.labels),
            (Some(order), Some(room)) => {
                self.store.absorb_within(merged(), room, |rest| order.labels.push(label(rest[0], rest[1])));
            }
        }
    }

    /// All that is stored is now the current level, but for what is expanded.
    pub fn next_level(&mut self) {
        self.level_end = self.store.len();
    }

    /// The labels of the states of the next level.
    pub fn labels(&self) -> &[u64] {
        self.order.as_ref().map_or(&[], |order| &order.labels)
    }

    /// Gives the states of the current level their ranks.
    pub fn set_ranks(&mut self, ranks: Vec<u32>) {
        if let Some(order) = &mut self.order {
            order.level_start = self.level_end - ranks.len();
            order.ranks = ranks;
            order.labels.clear();
        }
    }

    /// The rank of the state with an index; 0 where there are none.
    fn rank(&self, index: usize) -> u32 {
        self.order.as_ref().map_or(0, |order| order.rank(index))
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        let order = self.order.as_ref();
        let order =
            order.map_or(0, |order| order.labels.capacity() * 8 + order.ranks.capacity() * 4 + self.store.len());
        self.store.bytes() + order
    }
}

/// The shards together, after a round.
pub(crate) struct Summary<I> {
    pub states: u64,
    pub largest_id: u64,
    pub frontier: u64,
    /// States of this level that are not expanded.
    pub left: u64,
    pub bytes: u64,
    pub transitions: u64,
    pub found: bool,
    /// The least rank of a state about which something was found in this level.
    pub found_rank: u32,
    /// The state that says so is needed where others must come to the same end.
    pub interrupt: Option<(Vec<u64>, I)>,
    pub interrupt_rank: u32,
    /// Somebody asked to stop.
    pub stopped: bool,
    /// The time limit that is over. Processes may have different ones, and the first that is over ends the search for all.
    pub late: Option<Duration>,
    /// It is time for a checkpoint.
    pub due: bool,
    /// The memory that all may use together. Machines differ, and the least counts, so that all come to the same end.
    pub memory: Option<u64>,
}

impl<I> Default for Summary<I> {
    fn default() -> Self {
        Summary {
            states: 0,
            largest_id: 0,
            frontier: 0,
            left: 0,
            bytes: 0,
            transitions: 0,
            found: false,
            found_rank: u32::MAX,
            interrupt: None,
            interrupt_rank: u32::MAX,
            stopped: false,
            late: None,
            due: false,
            memory: None,
        }
    }
}

/// What stands for no limit of memory, or for none of time that is over.
const NO_LIMIT: u64 = u64::MAX;
/// Words before the interrupting state in what a process tells of its shards.
const NUMBERS: usize = 11;

impl<I> Summary<I> {
    pub fn add<S: System<Interrupt = I>>(&mut self, shard: &mut Shard<S>) {
        let states = shard.store.len() as u64;
        self.states += states;
        self.largest_id = self.largest_id.max(states * shard.shards as u64);
        self.frontier += states - shard.expanded as u64;
        self.left += shard.unexpanded() as u64;
        self.bytes += shard.bytes() as u64;
        self.transitions += std::mem::take(&mut shard.sink.transitions);
        self.found |= !shard.findings.is_empty();
        if let Some(finding) = shard.findings.first() {
            self.found_rank = self.found_rank.min(shard.rank(split(finding.state.0, shard.shards).1));
        }
        if let Some((index, interrupt)) = shard.interrupt.take()
            && (self.interrupt.is_none() || shard.rank(index) < self.interrupt_rank)
        {
            self.interrupt = Some((shard.store.state(index).to_vec(), interrupt));
            self.interrupt_rank = shard.rank(index);
        }
    }

    /// As words, for the other processes.
    pub fn words(&self) -> Vec<u64> {
        let mut words = vec![
            self.states,
            self.largest_id,
            self.frontier,
            self.left,
            self.bytes,
            self.transitions,
            u64::from(self.found),
            u64::from(self.stopped),
            self.late.map_or(NO_LIMIT, |time| u64::try_from(time.as_nanos()).unwrap_or(NO_LIMIT - 1)),
            u64::from(self.due),
            self.memory.unwrap_or(NO_LIMIT),
        ];
        words.extend(self.interrupt.iter().flat_map(|(state, _)| state));
        words
    }

    /// The sum of what all processes told. An interrupt is not told itself but found again in the state that led to it.
    pub fn sum<S: System<Interrupt = I>>(told: &[Vec<u64>], system: &S) -> Summary<I> {
        let mut sum = Summary::default();
        for words in told {
            let Some((numbers, state)) = words.split_at_checked(NUMBERS) else { continue };
            let [states, largest_id, frontier, left, bytes, transitions, found, stopped, late, due, memory] = *numbers
            else {
                continue;
            };
            sum.states += states;
            sum.largest_id = sum.largest_id.max(largest_id);
            sum.frontier += frontier;
            sum.left += left;
            sum.bytes += bytes;
            sum.transitions += transitions;
            sum.found |= found != 0;
            sum.stopped |= stopped != 0;
            let late = Some(late).filter(|&late| late != NO_LIMIT).map(Duration::from_nanos);
            sum.late = [sum.late, late].into_iter().flatten().min();
            sum.due |= due != 0;
            let memory = Some(memory).filter(|&memory| memory != NO_LIMIT);
            sum.memory = [sum.memory, memory].into_iter().flatten().min();
            if sum.interrupt.is_none() && state.len() == system.width() && !state.is_empty() {
                let mut nowhere = Sink::new(system.width(), 1);
                let again = system.expand(state, &mut system.scratch(), &mut nowhere);
                sum.interrupt = again.err().map(|interrupt| (state.to_vec(), interrupt));
            }
        }
        sum
    }
}
