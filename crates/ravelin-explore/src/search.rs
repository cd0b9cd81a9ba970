//! Breadth-first search, level by level, sharded by the states' hashes.
//!
//! Each worker owns a shard of the visited set. A round has two halves: every worker expands some states of its own shard
//! and sorts the successors into outboxes by owner; then every worker absorbs what was sent to it. Within a half nobody
//! touches what belongs to another, so there is no lock that is ever waited for. Workers keep to the order in which one of them
//! would find the states (`order.rs`), so the paths and the first finding do not depend on their number. A level smaller than
//! a few thousand states is not worth waking others for: one thread does all shards' work.
//!
//! With several processes it is the same: the shards are spread over them, and between the halves of a round they exchange what is for
//! shards elsewhere. All take part in the same rounds, also those that have nothing left to expand. Only the order is not kept, so the
//! paths depend on the number of processes and workers.

use crate::any::AnySystem;
use crate::barrier::Barrier;
use crate::budget::Budget;
use crate::checkpoint::{Checkpoint, CheckpointStart, ExternalFailure, Totals};
use crate::limits::{Limit, Limits, Progress};
use crate::order;
use crate::peers::{LostProcess, Team};
use crate::room::Room;
use crate::shard::{Portion, Shard, Summary};
use crate::snapshot;
use crate::space::{End, Space, StateFinding, StateId, Statistics};
use crate::spill;
use crate::store::{StateStore, hash};
use crate::system::{System, shard_of};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// States that a worker expands in one round. Small enough that limits and progress are looked at often and that a round's
/// outboxes stay in the cache.
const ROUND: usize = 4096;
/// The same with several workers or processes: so many that the moments in which a core is taken away from one of them even out.
const SHARED_ROUND: usize = 1 << 15;
/// States in a level from which several workers are used.
const WORTH_SHARING: u64 = 4096;
const MOST_WORKERS: usize = 64;
/// States that a worker expands in one round near the limit of states, so that little is found that there is no room for.
const FEWEST: u64 = 16;
/// Words that a worker should send in one round, if the states to come have as many successors as those before.
const ROUND_WORDS: u64 = 1 << 22;
/// Ids are 32 bits, and one is taken.
pub(crate) const MOST_STATES: u64 = u32::MAX as u64 - 1;

/// What an exploration may take, and when it is done.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    pub budget: Budget<'a>,
    pub until: Until,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { budget: Budget::default(), until: Until::FirstFinding }
    }
}

/// When an exploration is done, if nothing stops it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// At the first finding: no other is nearer, and of those that are as near it is the first that one worker finds.
    FirstFinding,
    /// After the level of the first finding: all that are as near are found, unless a limit is reached.
    LevelOfFirstFinding,
    Exhausted,
}

/// Explores a system from its initial states.
pub fn explore<S: System>(system: &S, options: &Options) -> Space<S::Interrupt> {
    explore_any(&AnySystem::new(system), options, None)
}

/// Explores a system in stages, in the memory of this process. As soon as there are more states than the stage permits,
/// `look` sees what there is, and says how many the next stage may have; `None` ends the exploration by the limit of
/// states. The round is completed before, so the states up to the size of the stage are those that one worker finds,
/// which cannot be said of a limit. Nothing is explored twice.
pub fn explore_in_stages<S: System>(
    system: &S,
    options: &Options,
    first: u64,
    look: &mut dyn FnMut(&Space<S::Interrupt>) -> Option<u64>,
) -> Space<S::Interrupt> {
    let options = Options { budget: options.budget.in_memory(), ..*options };
    explore_any(&AnySystem::new(system), &options, Some(Stages { size: first, look }))
}

/// When to have a look at an exploration, and how.
pub(crate) struct Stages<'a, I> {
    size: u64,
    look: &'a mut dyn FnMut(&Space<I>) -> Option<u64>,
}

pub(crate) fn explore_any<I: Send>(
    system: &AnySystem<I>,
    options: &Options,
    mut stages: Option<Stages<I>>,
) -> Space<I> {
    let Budget { workers, storage: beyond, .. } = options.budget;
    let workers = workers.clamp(1, MOST_WORKERS);
    let team = Team::new(beyond.peers, workers);
    if let Some(directory) = beyond.spill.filter(|_| team.is_alone()) {
        return spill::explore(system, options, directory);
    }
    let in_order = team.is_alone() && workers > 1;
    let mut shards: Vec<Shard<AnySystem<I>>> =
        (0..workers).map(|local| Shard::new(system, team.first() + local, team.shards(), in_order)).collect();
    let begun =
        beyond.checkpoints.map(|checkpoints| Checkpoint::begin(checkpoints, system, options.until, &team, &mut shards));
    let (checkpoint, resumed) = match begun.transpose() {
        Ok(None) => (None, None),
        Ok(Some(CheckpointStart::Finished(space))) => return *space,
        Ok(Some(CheckpointStart::GoesOn(checkpoint, totals))) => (Some(checkpoint), totals),
        Err(trouble) => return Space::unknown(trouble.into(), system.width()),
    };
    let mut search = Search {
        system,
        options,
        team,
        start: Instant::now(),
        depth: 0,
        states: 0,
        transitions: 0,
        frontier: 0,
        due: false,
        stage: stages.as_ref().map(|stages| stages.size),
        stage_is_over: false,
        below: 0,
        levels: Vec::new(),
        in_order,
        turns: Vec::new(),
        shards: shards.into_iter().map(Mutex::new).collect(),
        checkpoint,
        interrupted_by: Mutex::new(None),
    };
    search.begin(resumed);
    let end = search.run(&mut stages).unwrap_or_else(End::from);
    search.conclude(end)
}

struct Search<'a, S: System> {
    system: &'a S,
    options: &'a Options<'a>,
    team: Team<'a>,
    start: Instant,
    depth: u64,
    /// States of all processes, as of the last round.
    states: u64,
    transitions: u64,
    /// States of all processes that are found and not expanded, as of the last round.
    frontier: u64,
    /// It is time for a checkpoint, as of the last round.
    due: bool,
    /// States of the current stage, and whether there are more, as of the last round.
    stage: Option<u64>,
    stage_is_over: bool,
    /// Where states are kept in order, those of the current level below this rank are expanded.
    below: u64,
    /// States up to the end of each level.
    levels: Vec<u64>,
    /// Whether states are kept in order, and if so the shards of all states up to the current level in that order.
    in_order: bool,
    turns: Vec<u8>,
    /// The shards of this process.
    shards: Vec<Mutex<Shard<S>>>,
    checkpoint: Option<Box<Checkpoint>>,
    interrupted_by: Mutex<Option<Vec<u64>>>,
}

impl<S: System> Search<'_, S> {
    /// With the initial states, unless the shards have their states from a checkpoint.
    fn begin(&mut self, resumed: Option<Totals>) {
        if let Some(Totals { depth, transitions, frontier }) = resumed {
            (self.depth, self.transitions, self.frontier) = (depth, transitions, frontier);
            self.order_resumed();
            return self.note_level();
        }
        let shards = self.team.shards();
        let mut outboxes = vec![Vec::new(); shards];
        let mut initial = 0;
        self.system.initial(&mut |state| {
            let hash = hash(state);
            let outbox: &mut Vec<u64> = &mut outboxes[shard_of(hash, shards)];
            outbox.extend_from_slice(state);
            outbox.extend_from_slice(&[order::hash_word(hash, initial), order::parent_word(0, StateId::NONE)]);
            initial += 1;
        });
        // Each process makes all initial states and keeps its own.
        for (shard, outbox) in self.shards.iter_mut().zip(outboxes.iter().skip(self.team.first())) {
            unlocked(shard).absorb(std::slice::from_ref(outbox), None);
        }
        self.next_level();
        self.frontier = initial;
        self.note_level();
    }

    /// What was found since the last level is now the current one.
    fn next_level(&mut self) {
        self.shards.iter_mut().for_each(|shard| unlocked(shard).next_level());
        self.below = 0;
        self.levels.push(self.shards.iter_mut().map(|shard| unlocked(shard).store.len() as u64).sum());
        if self.in_order {
            let ranks = self.rank_new();
            self.shards.iter_mut().zip(ranks).for_each(|(shard, ranks)| unlocked(shard).set_ranks(ranks));
        }
    }

    /// The ranks of the states found since the last level; from now on they have their turns.
    fn rank_new(&mut self) -> Vec<Vec<u32>> {
        let shards: Vec<&Shard<S>> = self.shards.iter_mut().map(|shard| &*unlocked(shard)).collect();
        let labels: Vec<&[u64]> = shards.iter().map(|shard| shard.labels()).collect();
        order::ranks(&labels, &mut self.turns)
    }

    /// A checkpoint does not keep the order of states in different shards, so they take turns.
    fn order_resumed(&mut self) {
        if !self.in_order {
            return;
        }
        let shards: Vec<&mut Shard<S>> = self.shards.iter_mut().map(unlocked).collect();
        let longest = shards.iter().map(|shard| shard.store.len()).max().unwrap_or(0);
        let mut ranks = vec![Vec::new(); shards.len()];
        let mut rank = 0;
        for index in 0..longest {
            for (number, shard) in shards.iter().enumerate().filter(|(_, shard)| index < shard.store.len()) {
                self.turns.push(number as u8);
                if index >= shard.expanded {
                    ranks[number].push(rank);
                    rank += 1;
                }
            }
        }
        shards.into_iter().zip(ranks).for_each(|(shard, ranks)| shard.set_ranks(ranks));
    }

    /// What to expand in a round of at most so many states of each shard, after those below a rank.
    fn portion(&self, most: usize, below: u64, states: u64, transitions: u64, frontier: u64) -> Portion {
        let shards = self.team.shards() as u64;
        let most_states = self.stage.map_or(self.most_states(), |stage| stage.min(self.most_states()));
        let left = most_states.saturating_sub(states) / 4 / shards;
        let mut most = (most as u64).min(left.max(FEWEST));
        if !self.in_order {
            return Portion::States(most as usize);
        }
        let expanded = states.saturating_sub(frontier).max(1);
        let words = (transitions / expanded + 1) * (self.system.width() as u64 + 2);
        most = most.min((ROUND_WORDS / words).max(FEWEST));
        Portion::Below(below + most * shards)
    }

    /// What may be stored in a round, with what all processes stored before it, if that is known, and the words that are sent to the shards
    /// here. Several processes do not know of each other what they store in a round.
    fn room(&self, known: u64, stored_here: u64, words: usize) -> Option<Room> {
        Room::of(self.most_states(), known.max(stored_here), (words / (self.system.width() + 2)) as u64)
    }

    fn most_states(&self) -> u64 {
        self.options.budget.limits.states.unwrap_or(MOST_STATES).min(MOST_STATES)
    }

    /// A level ends: from here one could go on.
    fn note_level(&mut self) {
        if let Some(checkpoint) = &mut self.checkpoint {
            let totals = Totals { depth: self.depth, transitions: self.transitions, frontier: self.frontier };
            checkpoint.note(totals, self.shards.iter_mut().map(unlocked));
        }
    }

    /// Writes the last level that ended to where checkpoints are.
    fn keep_level(&mut self) -> Result<(), ExternalFailure> {
        match &mut self.checkpoint {
            None => Ok(()),
            Some(checkpoint) => checkpoint.write(&self.team, self.shards.iter_mut().map(unlocked)),
        }
    }

    fn run(&mut self, stages: &mut Option<Stages<S::Interrupt>>) -> Result<End<S::Interrupt>, ExternalFailure> {
        while self.frontier > 0 {
            let worth_sharing = self.frontier >= WORTH_SHARING * self.team.processes() as u64;
            let end = if self.shards.len() > 1 && worth_sharing { self.level_together()? } else { self.level_alone()? };
            if let Some(end) = end {
                return Ok(end);
            }
            if let Some(Stages { size, look }) = stages
                && std::mem::take(&mut self.stage_is_over)
            {
                let Some(next) = self.show(look) else { return Ok(End::Limit(Limit::States(*size))) };
                *size = next;
                self.stage = Some(next);
                if self.shards.iter_mut().any(|shard| unlocked(shard).unexpanded() > 0) {
                    continue;
                }
            }
            self.next_level();
            self.depth += u64::from(self.frontier > 0);
            if self.checkpoint.is_some() && self.frontier > 0 {
                self.note_level();
                if self.due {
                    self.keep_level()?;
                }
            }
        }
        Ok(End::Exhausted)
    }

    /// Expands a whole level on this thread.
    fn level_alone(&mut self) -> Result<Option<End<S::Interrupt>>, LostProcess> {
        let most = if self.team.is_alone() { ROUND } else { SHARED_ROUND };
        let first = self.team.first();
        let mut outboxes = Vec::new();
        let mut portion = self.portion(most, self.below, self.states, self.transitions, self.frontier);
        loop {
            for shard in &mut self.shards {
                unlocked(shard).expand(self.system, portion);
            }
            let mut incoming = Vec::new();
            if !self.team.is_alone() {
                let outboxes = self.shards.iter_mut().map(|shard| unlocked(shard).sink.outboxes.as_mut_slice());
                incoming = self.team.exchange(outboxes)?;
            }
            let words = incoming.iter().map(Vec::len).sum::<usize>()
                + self.shards.iter_mut().map(|shard| unlocked(shard).sink.words()).sum::<usize>();
            let stored = self.shards.iter_mut().map(|shard| unlocked(shard).store.len() as u64).sum();
            let room = self.room(self.states, stored, words);
            for owner in 0..self.shards.len() {
                let sent =
                    |sender: &mut Mutex<Shard<S>>| std::mem::take(&mut unlocked(sender).sink.outboxes[first + owner]);
                outboxes.extend(self.shards.iter_mut().map(sent));
                unlocked(&mut self.shards[owner]).absorb(&outboxes, room.as_ref());
                for (sender, mut outbox) in self.shards.iter_mut().zip(outboxes.drain(..)) {
                    outbox.clear();
                    unlocked(sender).sink.outboxes[first + owner] = outbox;
                }
            }
            for (shard, records) in self.shards.iter_mut().zip(incoming) {
                unlocked(shard).absorb(&[records], room.as_ref());
            }
            let mut summary = Summary::default();
            self.shards.iter_mut().for_each(|shard| summary.add(unlocked(shard)));
            let round = self.settle(summary, self.transitions, most, portion)?;
            self.note_round(&round);
            if round.end.is_some() || round.stage_is_over || !round.left {
                return Ok(round.end);
            }
            portion = round.portion;
        }
    }

    fn note_round(&mut self, round: &RoundResult<S::Interrupt>) {
        (self.states, self.transitions) = (round.states, round.transitions);
        (self.frontier, self.due) = (round.frontier, round.due);
        (self.below, self.stage_is_over) = (round.below, round.stage_is_over);
    }

    /// Shows what there is so far, and takes it back.
    fn show(&mut self, look: &mut dyn FnMut(&Space<S::Interrupt>) -> Option<u64>) -> Option<u64> {
        let turns = self.turns.len();
        if self.in_order {
            self.rank_new();
        }
        let statistics = self.statistics();
        let width = self.system.width();
        let take = |shard: &mut Mutex<Shard<S>>| std::mem::replace(&mut unlocked(shard).store, StateStore::new(width));
        let stores = self.shards.iter_mut().map(take).collect();
        let mut space = Space {
            end: End::Limit(Limit::States(self.stage.unwrap_or(MOST_STATES))),
            cut_off: false,
            findings: Vec::new(),
            statistics,
            shards: stores,
            turns: std::mem::take(&mut self.turns),
            levels: std::mem::take(&mut self.levels),
            kept: None,
        };
        let next = look(&space);
        for (shard, store) in self.shards.iter_mut().zip(std::mem::take(&mut space.shards)) {
            unlocked(shard).store = store;
        }
        self.levels = space.levels;
        self.turns = space.turns;
        self.turns.truncate(turns);
        next
    }

    fn statistics(&mut self) -> Statistics {
        let mut statistics = Statistics {
            transitions: self.transitions,
            depth: self.depth,
            elapsed: self.start.elapsed(),
            workers: self.team.shards(),
            ..Statistics::default()
        };
        for shard in self.shards.iter_mut().map(unlocked) {
            statistics.states += shard.store.len() as u64;
            statistics.frontier += (shard.store.len() - shard.expanded) as u64;
            statistics.bytes += shard.bytes() as u64;
        }
        statistics
    }

    /// Expands a whole level with one thread a shard.
    fn level_together(&mut self) -> Result<Option<End<S::Interrupt>>, LostProcess> {
        let workers = self.shards.len();
        let barrier = Barrier::new(workers);
        // Row: sender, column: owner. Each is locked by one worker at a time, the barriers see to it.
        let exchange: Vec<Mutex<Vec<Vec<u64>>>> =
            (0..workers).map(|_| Mutex::new(vec![Vec::new(); self.team.shards()])).collect();
        let incoming: Vec<Mutex<Vec<u64>>> = (0..workers).map(|_| Mutex::new(Vec::new())).collect();
        let round = Mutex::new(Ok(RoundResult {
            end: None,
            left: true,
            stage_is_over: false,
            below: self.below,
            portion: self.portion(SHARED_ROUND, self.below, self.states, self.transitions, self.frontier),
            states: self.states,
            transitions: self.transitions,
            frontier: self.frontier,
            due: false,
        }));
        let done = AtomicBool::new(false);
        let largest = AtomicUsize::new(0);
        let room: Mutex<Option<Arc<Room>>> = Mutex::new(None);
        let panic: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
        let this = &*self;
        std::thread::scope(|scope| {
            for (number, shard) in this.shards.iter().enumerate() {
                let (barrier, exchange, incoming) = (&barrier, &exchange, &incoming);
                let (round, done, panic, largest, room) = (&round, &done, &panic, &largest, &room);
                scope.spawn(move || {
                    let mut outboxes = Vec::new();
                    loop {
                        // Only the leader changes it, between barriers; a process that is lost ends the rounds.
                        let portion = lock(round).as_ref().map_or(Portion::States(0), |round| round.portion);
                        {
                            let mut shard = lock(shard);
                            // A panic must not leave the others waiting at the barrier.
                            let expanded = catch_unwind(AssertUnwindSafe(|| shard.expand(this.system, portion)));
                            if let Err(payload) = expanded {
                                *lock(panic) = Some(payload);
                            }
                            std::mem::swap(&mut shard.sink.outboxes, &mut *lock(&exchange[number]));
                        }
                        if barrier.wait() && lock(panic).is_none() {
                            let mut senders: Vec<_> = exchange.iter().map(lock).collect();
                            if !this.team.is_alone() {
                                match this.team.exchange(senders.iter_mut().map(|outboxes| outboxes.as_mut_slice())) {
                                    Ok(records) => incoming.iter().zip(records).for_each(|(to, from)| *lock(to) = from),
                                    Err(lost) => *lock(round) = Err(lost),
                                }
                            }
                            let sent = senders.iter().flat_map(|outboxes| outboxes.iter()).map(Vec::len).sum::<usize>();
                            let words = sent + incoming.iter().map(|records| lock(records).len()).sum::<usize>();
                            let stored = this.shards.iter().map(|shard| lock(shard).store.len() as u64).sum();
                            let known = lock(round).as_ref().map_or(0, |round| round.states);
                            *lock(room) = this.room(known, stored, words).map(Arc::new);
                        }
                        barrier.wait();
                        {
                            let mut shard = lock(shard);
                            // All shards are about equally large. Growing in different rounds, each would wait for the other.
                            shard.store.reserve(largest.load(Ordering::Relaxed));
                            let room = lock(room).clone();
                            let owner = this.team.first() + number;
                            outboxes.extend(exchange.iter().map(|sender| std::mem::take(&mut lock(sender)[owner])));
                            shard.absorb(&outboxes, room.as_deref());
                            for (sender, mut outbox) in exchange.iter().zip(outboxes.drain(..)) {
                                outbox.clear();
                                lock(sender)[owner] = outbox;
                            }
                            shard.absorb(&[std::mem::take(&mut *lock(&incoming[number]))], room.as_deref());
                        }
                        if barrier.wait() {
                            let mut summary = Summary::default();
                            let mut longest = 0;
                            for shard in &this.shards {
                                let mut shard = lock(shard);
                                longest = longest.max(shard.store.len());
                                summary.add(&mut shard);
                            }
                            largest.store(longest + SHARED_ROUND * 4, Ordering::Relaxed);
                            let mut round = lock(round);
                            let panicked = lock(panic).is_some();
                            if let Ok(last) = &*round
                                && !panicked
                            {
                                *round = this.settle(summary, last.transitions, SHARED_ROUND, last.portion);
                            }
                            let goes_on =
                                matches!(&*round, Ok(RoundResult { end: None, stage_is_over: false, left: true, .. }));
                            done.store(!goes_on || panicked, Ordering::Relaxed);
                        }
                        barrier.wait();
                        if done.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
            }
        });
        if let Some(payload) = lock(&panic).take() {
            resume_unwind(payload);
        }
        let last = round.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())?;
        self.note_round(&last);
        Ok(last.end)
    }

    /// What all processes know after a round, whether it was the last, and what to expand in the next: at most so many states of each shard.
    fn settle(
        &self,
        mut summary: Summary<S::Interrupt>,
        transitions: u64,
        most: usize,
        portion: Portion,
    ) -> Result<RoundResult<S::Interrupt>, LostProcess> {
        let budget = self.options.budget;
        summary.stopped = budget.is_stopped();
        summary.memory = budget.limits.memory;
        summary.late = budget.limits.late(self.start);
        summary.due = self.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.is_due());
        if !self.team.is_alone() {
            summary = Summary::sum(&self.team.tell(summary.words())?, self.system);
        }
        let transitions = transitions + summary.transitions;
        let (left, states, frontier, due) = (summary.left > 0, summary.states, summary.frontier, summary.due);
        let below = if let Portion::Below(rank) = portion { rank } else { 0 };
        let portion = self.portion(most, below, states, transitions, frontier);
        let stage = Limits { states: self.stage, ..Limits::default() };
        let stage_is_over = frontier > 0 && stage.check_states(states).is_some();
        let end = self.judge(summary, transitions);
        Ok(RoundResult { end, stage_is_over, left, portion, below, states, transitions, frontier, due })
    }

    /// Whether the exploration ends after this round, and why.
    fn judge(&self, summary: Summary<S::Interrupt>, transitions: u64) -> Option<End<S::Interrupt>> {
        if let Some(progress) = self.options.budget.progress {
            progress(&Progress {
                phase: "",
                states: summary.states,
                transitions,
                frontier: summary.frontier,
                depth: self.depth,
                bytes: summary.bytes,
                elapsed: self.start.elapsed(),
            });
        }
        let found = summary.found && self.options.until != Until::Exhausted;
        let level_counts = self.options.until == Until::LevelOfFirstFinding;
        if found && !level_counts && summary.found_rank <= summary.interrupt_rank {
            return Some(End::Found);
        }
        if let Some((state, interrupt)) = summary.interrupt {
            *lock(&self.interrupted_by) = Some(state);
            return Some(End::Interrupted(interrupt));
        }
        if found && summary.left == 0 {
            return Some(End::Found);
        }
        let end = self.limit_reached(&summary)?;
        Some(if found { End::Found } else { End::Limit(end) })
    }

    fn limit_reached(&self, summary: &Summary<S::Interrupt>) -> Option<Limit> {
        // Outside the limits only if there is more to do: a space of exactly the permitted size is exhausted.
        if summary.frontier == 0 {
            return None;
        }
        if summary.stopped {
            return Some(Limit::Stopped);
        }
        // What all processes permit.
        let limits = Limits { states: Some(self.most_states()), memory: summary.memory, ..Limits::default() };
        if summary.largest_id > MOST_STATES {
            return limits.states.map(Limit::States);
        }
        let many = limits.check_states(summary.states).or_else(|| limits.check_memory(summary.bytes));
        many.or(summary.late.map(Limit::Time))
    }

    fn conclude(mut self, end: End<S::Interrupt>) -> Space<S::Interrupt> {
        if matches!(end, End::Limit(limit) if !matches!(limit, Limit::Lost(_))) {
            // So that one can go on with other limits. If it fails there is an earlier level to go on from.
            let _ = self.keep_level();
        }
        if self.in_order {
            // The states of a level that was not completed.
            self.rank_new();
        }
        let statistics = self.statistics();
        let shards: Vec<Shard<S>> = self
            .shards
            .into_iter()
            .map(|shard| shard.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
            .collect();
        let mut findings: Vec<StateFinding> = shards.iter().flat_map(|shard| shard.findings.iter().copied()).collect();
        findings.sort();
        let mut space = Space {
            end,
            cut_off: shards.iter().any(|shard| shard.cut_off),
            findings,
            statistics,
            shards: shards.into_iter().map(|shard| shard.store).collect(),
            turns: self.turns,
            levels: self.levels,
            kept: None,
        };
        if self.in_order && !space.findings.is_empty() {
            space.findings = in_order(&space);
        }
        if !self.team.is_alone()
            && !matches!(space.end, End::Limit(Limit::Lost(_)))
            && let Err(lost) = share(&mut space, &self.team, self.system.width(), self.options.until)
        {
            space.end = End::Limit(lost.into());
            space.findings.clear();
        }
        if let (Some(checkpoint), Some(checkpoints)) = (self.checkpoint, self.options.budget.storage.checkpoints) {
            let interrupted_by = self.interrupted_by.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
            checkpoint.conclude(checkpoints, &space, self.options.until, &self.team, interrupted_by);
        }
        space
    }
}

/// What came of a round.
struct RoundResult<I> {
    end: Option<End<I>>,
    /// There are more states than the stage permits.
    stage_is_over: bool,
    /// There is more to expand in this level.
    left: bool,
    /// What to expand in the next one, after those below a rank.
    portion: Portion,
    below: u64,
    states: u64,
    transitions: u64,
    frontier: u64,
    due: bool,
}

/// The findings of a space whose states are in order, in that order.
fn in_order<I>(space: &Space<I>) -> Vec<StateFinding> {
    let found = |id: StateId| {
        let from = space.findings.partition_point(|finding| finding.state < id);
        space.findings[from..].iter().take_while(move |finding| finding.state == id).copied()
    };
    let mut ordered = Vec::with_capacity(space.findings.len());
    for id in space.ids() {
        if ordered.len() == space.findings.len() {
            break;
        }
        ordered.extend(found(id));
    }
    ordered
}

/// Makes what each process knows of a space known to all.
fn share<I>(space: &mut Space<I>, team: &Team, width: usize, until: Until) -> Result<(), LostProcess> {
    let Statistics { states, frontier, bytes, .. } = space.statistics;
    let told = team.tell(vec![states, frontier, bytes, u64::from(space.cut_off)])?;
    let sum = |number: usize| told.iter().filter_map(|words| words.get(number)).sum::<u64>();
    let stores: Vec<&StateStore> = space.shards.iter().collect();
    let (findings, kept) = snapshot::collect(team, &stores, width, &space.findings, until)?;
    space.statistics = Statistics { states: sum(0), frontier: sum(1), bytes: sum(2), ..space.statistics };
    space.cut_off = sum(3) > 0;
    space.findings = findings;
    space.kept = Some(kept);
    Ok(())
}

/// A worker that panics takes the exploration down with it anyway; nothing is read from a half-changed shard.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn unlocked<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}
