//! What one worker owns of a search: a part of the states, and what it found there.

use crate::space::{Finding, StateId, join};
use crate::store::Store;
use crate::system::{Sink, System};

/// Words in a worker's outboxes after which a round ends early: states with very many successors must not keep it from
/// looking at the limits.
const LARGEST_ROUND: usize = 1 << 22;

pub(crate) struct Shard<S: System> {
    number: usize,
    /// Shards of all processes.
    shards: usize,
    pub store: Store,
    /// States before this index are expanded.
    pub expanded: usize,
    /// States from this index on belong to the next level.
    pub level_end: usize,
    scratch: S::Scratch,
    pub sink: Sink,
    /// Why the search cannot go on, and the state that says so.
    interrupt: Option<(usize, S::Interrupt)>,
    pub findings: Vec<Finding>,
    pub cut_off: bool,
}

impl<S: System> Shard<S> {
    pub fn new(system: &S, number: usize, shards: usize) -> Shard<S> {
        Shard {
            number,
            shards,
            store: Store::new(system.width()),
            expanded: 0,
            level_end: 0,
            scratch: system.scratch(),
            sink: Sink::new(system.width(), shards),
            interrupt: None,
            findings: Vec::new(),
            cut_off: false,
        }
    }

    /// First half of a round: expands so many states of the current level.
    pub fn expand(&mut self, system: &S, states: usize) {
        let until = self.level_end.min(self.expanded + states);
        while self.expanded < until && self.sink.words() < LARGEST_ROUND {
            let index = self.expanded;
            self.sink.parent = join(self.number, index, self.shards);
            let state = self.store.state(index);
            self.expanded += 1;
            if let Err(interrupt) = system.expand(state, &mut self.scratch, &mut self.sink) {
                self.interrupt = Some((index, interrupt));
                break;
            }
        }
        self.cut_off |= self.sink.cut_off;
        let found = self.sink.findings.drain(..).map(|(kind, state)| Finding { state: StateId(state), kind });
        self.findings.extend(found);
    }

    pub fn unexpanded(&self) -> usize {
        self.level_end - self.expanded
    }

    /// All that is stored is now the current level, but for what is expanded.
    pub fn next_level(&mut self) {
        self.level_end = self.store.len();
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
    /// The state that says so is needed where others must come to the same end.
    pub interrupt: Option<(Vec<u64>, I)>,
    /// Somebody asked to stop.
    pub stopped: bool,
    /// The time is over.
    pub late: bool,
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
            interrupt: None,
            stopped: false,
            late: false,
            due: false,
            memory: None,
        }
    }
}

/// What stands for no limit of memory.
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
        self.bytes += shard.store.bytes() as u64;
        self.transitions += std::mem::take(&mut shard.sink.transitions);
        self.found |= !shard.findings.is_empty();
        if let Some((index, interrupt)) = shard.interrupt.take()
            && self.interrupt.is_none()
        {
            self.interrupt = Some((shard.store.state(index).to_vec(), interrupt));
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
            u64::from(self.late),
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
            sum.late |= late != 0;
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
