//! Breadth-first search, level by level, sharded by the states' hashes.
//!
//! Each worker owns a shard of the visited set, in memory or on disk (`visited.rs`), and a level is expanded in rounds (`rounds.rs`) by the
//! threads of this process and by other processes. In memory workers keep to the order in which one of them would find
//! the states (`order.rs`), so the paths and the first finding do not depend on their number or that of processes. A level smaller than a few thousand states is
//! not worth waking others for: one thread does all shards' work.
//!
//! This file says how a search begins, what happens between levels, when it ends and what it leaves. Whether states move to disk, whether a
//! level is kept as a checkpoint and whether other processes take part are independent of each other.

use crate::any::AnySystem;
use crate::beginning::Beginning;
use crate::budget::Budget;
use crate::checkpoint::{Checkpoint, CheckpointStart, Totals};
use crate::halt::{Halt, agree, failed_elsewhere};
use crate::limits::{Limit, Limits, Progress};
use crate::order;
use crate::peers::{LostProcess, Team};
use crate::places::Places;
use crate::ranking::{RankedLevel, cut_summary};
use crate::room::Room;
use crate::rounds::{Meeting, RoundResult, RoundTotals, lock, unlocked};
use crate::shard::{Portion, Shard};
use crate::snapshot::{self, Snapshot};
use crate::space::{End, Space, StateFinding, StateId, Statistics};
use crate::spill::{DEFAULT_MEMORY, LevelWatch, SpillSettings, Tuning};
use crate::storage::Storage;
use crate::store::{StateStore, hash};
use crate::summary::Summary;
use crate::system::{System, shard_of};
use crate::visited::{Sent, VisitedSet};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// States that a worker expands in one round. Small enough that limits and progress are looked at often and that a round's
/// outboxes stay in the cache.
const ROUND: u64 = 4096;
/// The same with several workers or processes: so many that the moments in which a core is taken away from one of them even out.
const SHARED_ROUND: u64 = 1 << 15;
/// The same on disk, where a round ends earlier if its outboxes are large.
const DISK_ROUND: u64 = 1 << 14;
/// States in a level from which several workers are used.
const WORTH_SHARING: u64 = 4096;
const MOST_WORKERS: usize = 64;
/// States that a worker expands in one round near the limit of states, so that little is found that there is no room for.
const FEWEST: u64 = 16;
/// Words that a worker should send in one round, if the states to come have as many successors as those before.
const ROUND_WORDS: u64 = 1 << 22;
/// States that a process can have in memory: ids of one process are 32 bits, and one is taken. On disk there can be more.
const MOST_IN_MEMORY: u64 = u32::MAX as u64 - 1;
/// States of a level that can have a rank. Larger levels are in no order.
const MOST_RANKS: u64 = u32::MAX as u64;

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
    explore_any(&AnySystem::new(system), options, None, Tuning::default())
}

/// Explores a system in stages, in the memory of this process and of its peers. As soon as there are more states than the stage
/// permits, `look` sees what there is, and says how many the next stage may have; `None` ends the exploration by the limit of
/// states. The round is completed before, so the states up to the size of the stage are those that one worker finds,
/// which cannot be said of a limit. Nothing is explored twice. All processes look at the same moments, and have to say the same;
/// while they look they may exchange messages. What each sees of the states is its own part ([`Space::here`]).
pub fn explore_in_stages<S: System>(
    system: &S,
    options: &Options,
    first: u64,
    look: &mut dyn FnMut(&Space<S::Interrupt>) -> Option<u64>,
) -> Space<S::Interrupt> {
    let storage = Storage { peers: options.budget.storage.peers, ..Storage::default() };
    let options = Options { budget: Budget { storage, ..options.budget }, ..*options };
    explore_any(&AnySystem::new(system), &options, Some(Stages { size: first, look }), Tuning::default())
}

/// When to have a look at an exploration, and how.
pub(crate) struct Stages<'a, I> {
    size: u64,
    look: &'a mut dyn FnMut(&Space<I>) -> Option<u64>,
}

/// Explores with all that the budget gives. `tuning`: for tests.
pub(crate) fn explore_any<I: Send>(
    system: &AnySystem<I>,
    options: &Options,
    mut stages: Option<Stages<I>>,
    tuning: Tuning,
) -> Space<I> {
    let start = Instant::now();
    let Budget { workers, storage, limits, .. } = options.budget;
    let workers = workers.clamp(1, MOST_WORKERS);
    let team = Team::new(storage.peers, workers);
    let mut spill = None;
    if let Some(directory) = storage.spill {
        // First of all, so that nobody waits for an hour to hear that nothing can be written.
        let made = SpillSettings::new(directory, limits.memory, team.shards(), tuning);
        let failed = made.as_ref().err().cloned().map_or(Ok(()), |error| Err(Halt::from(error)));
        spill = made.ok();
        if let Err(halt) = agree(&team, failed, &[], directory) {
            return Space::unknown(halt.into(), system.width());
        }
    }
    let mut beginning = None;
    let is_alone_first = !team.is_alone() && storage.spill.is_none() && storage.checkpoints.is_none();
    if is_alone_first && stages.is_none() && storage.share_from > 0 {
        match Beginning::make(system, options.budget, &team, storage.share_from) {
            Ok(all) if all.is_all() => {
                let statistics = all.statistics(start, team.shards());
                return Space { cut_off: all.cut_off, statistics, ..Space::unknown(End::Exhausted, system.width()) };
            }
            Ok(levels) => beginning = Some(levels),
            Err(lost) => return Space::unknown(Halt::from(lost).into(), system.width()),
        }
    }
    let mut shards = make_shards(system, &team);
    let watch = LevelWatch::new(options.budget, start, 0);
    let begun = storage.checkpoints.map(|checkpoints| {
        Checkpoint::begin(checkpoints, system, options.until, &team, &mut shards, (spill.as_ref(), &watch))
    });
    let (checkpoint, mut resumed) = match begun.transpose() {
        Ok(None) => (None, None),
        Ok(Some(CheckpointStart::Finished(space))) => return *space,
        Ok(Some(CheckpointStart::GoesOn(checkpoint, totals))) => (Some(checkpoint), totals),
        Err(halt) => return Space::unknown(halt.into(), system.width()),
    };
    let mut search = Search {
        system,
        options,
        team,
        start,
        depth: 0,
        totals: RoundTotals::default(),
        due: false,
        stage: stages.as_ref().map(|stages| stages.size),
        below: 0,
        levels: Vec::new(),
        in_order: team.shards() > 1,
        turns: Vec::new(),
        level_size: u64::MAX,
        ranked: None,
        places: stages.as_ref().filter(|_| !team.is_alone()).map(|_| Places::new(team.here(), team.shards())),
        meeting: Meeting::new(workers, team.shards()),
        shards: shards.into_iter().map(Mutex::new).collect(),
        spill,
        on_disk: false,
        most_in_memory: tuning.most_in_memory.unwrap_or(MOST_IN_MEMORY),
        checkpoint,
        interrupted_by: Mutex::new(None),
    };
    loop {
        let begun = match beginning.take() {
            Some(levels) => {
                search.take_over(&levels);
                Ok(())
            }
            None => search.begin(resumed.take()),
        };
        let end = begun.and_then(|()| search.run(&mut stages));
        match search.confirmed(end) {
            Err(Halt::Collision) => search.begin_again(),
            end => return search.conclude(end.unwrap_or_else(End::from)),
        }
    }
}

fn make_shards<'a, I: Send>(system: &AnySystem<'a, I>, team: &Team) -> Vec<Shard<'a, I>> {
    let in_order = team.shards() > 1;
    let visited = || {
        let width = system.width();
        let store = if team.is_alone() { StateStore::new(width) } else { StateStore::with_long_ids(width) };
        VisitedSet::new(store, in_order)
    };
    team.here().map(|number| Shard::new(system, number, team, visited())).collect()
}

pub(crate) struct Search<'a, I: Send> {
    pub system: &'a AnySystem<'a, I>,
    options: &'a Options<'a>,
    pub team: Team<'a>,
    start: Instant,
    depth: u64,
    pub totals: RoundTotals,
    /// It is time for a checkpoint, as of the last round.
    due: bool,
    /// States of the current stage.
    stage: Option<u64>,
    /// Where states are kept in order, those of the current level below this rank are expanded.
    pub below: u64,
    /// States up to the end of each level.
    levels: Vec<u64>,
    /// Whether states are kept in order, and if so the shards of all states up to the current level in that order.
    in_order: bool,
    turns: Vec<u8>,
    /// Of several processes that explore in stages: the places of the states here.
    places: Option<Places>,
    /// With several processes: the states of the current level, if that is known, and the next one, if the last round of this one ranked it.
    level_size: u64,
    ranked: Option<RankedLevel>,
    /// Where the workers of this process meet.
    pub meeting: Meeting<I>,
    /// The shards of this process.
    pub shards: Vec<Mutex<Shard<'a, I>>>,
    /// How states move to disk, and whether they have.
    spill: Option<SpillSettings>,
    on_disk: bool,
    most_in_memory: u64,
    checkpoint: Option<Box<Checkpoint>>,
    interrupted_by: Mutex<Option<Vec<u64>>>,
}

impl<'a, I: Send> Search<'a, I> {
    /// With the initial states, unless the shards have their states from a checkpoint.
    fn begin(&mut self, resumed: Option<Totals>) -> Result<(), Halt> {
        if let Some(Totals { depth, states, transitions, frontier }) = resumed {
            self.depth = depth;
            self.totals = RoundTotals { states, transitions, frontier };
            // If some do not fit into the memory of one process, all go on from disk.
            let on_disk = self.shards.iter_mut().any(|shard| unlocked(shard).visited.is_on_disk());
            if self.team.tell(vec![u64::from(on_disk)])?.iter().any(|told| told.first() == Some(&1)) {
                self.move_to_disk()?;
            }
            self.order_resumed();
            self.note_level();
            return Ok(());
        }
        let shards = self.team.shards();
        let mut outboxes = vec![Vec::new(); shards];
        let mut initial = 0;
        let in_order = self.in_order;
        self.system.initial(&mut |state| {
            let hash = hash(state);
            let outbox: &mut Vec<u64> = &mut outboxes[shard_of(hash, shards)];
            outbox.extend_from_slice(state);
            let ordered = [order::hash_word(hash, initial), order::parent_word(0, StateId::NONE)];
            outbox.extend_from_slice(&if in_order { ordered } else { [hash, StateId::NONE] });
            initial += 1;
        });
        // Each process makes all initial states and keeps its own.
        for (shard, outbox) in self.shards.iter_mut().zip(outboxes.iter().skip(self.team.first())) {
            unlocked(shard).absorb(&[Sent { process: self.team.process(), records: outbox }], None);
        }
        self.totals.frontier = initial;
        self.next_level()?;
        self.note_level();
        Ok(())
    }

    /// From the levels that one process explored.
    fn take_over(&mut self, levels: &Beginning) {
        self.depth = levels.depth;
        self.totals = levels.totals;
        self.level_size = levels.totals.frontier;
        levels.fill(self.system.width(), self.shards.iter_mut().map(unlocked));
        // It counts once.
        if let Some(first) = self.shards.first_mut().filter(|_| self.team.process() == 0) {
            unlocked(first).cut_off = levels.cut_off;
        }
    }

    /// From nothing, after two states were found to have the same hash. From now on that is looked for at every level.
    fn begin_again(&mut self) {
        self.spill.iter_mut().for_each(|spill| spill.careful = true);
        self.shards = make_shards(self.system, &self.team).into_iter().map(Mutex::new).collect();
        self.in_order = self.team.shards() > 1;
        self.on_disk = false;
        (self.depth, self.totals, self.below) = (0, RoundTotals::default(), 0);
        self.levels.clear();
        self.turns.clear();
        self.checkpoint.iter_mut().for_each(|checkpoint| checkpoint.begin_again());
    }

    /// What was found since the last level is now the current one.
    fn next_level(&mut self) -> Result<(), Halt> {
        self.below = 0;
        let watch = self.level_watch();
        if self.on_disk {
            let ended = each_in_parallel(&mut self.shards, |shard| shard.next_level(&watch));
            return self.count_level(ended);
        }
        self.shards.iter_mut().try_for_each(|shard| unlocked(shard).next_level(&watch))?;
        if self.in_order && self.totals.frontier > MOST_RANKS {
            if self.places.is_some() {
                // Without their order the states cannot be shown.
                return Err(Limit::States(self.totals.states).into());
            }
            self.forget_order();
        }
        if self.team.is_alone() {
            self.levels.push(self.shards.iter_mut().map(|shard| unlocked(shard).visited.len()).sum());
        }
        if self.in_order {
            let ranks = if self.team.is_alone() {
                self.rank_new()
            } else {
                let ranked = self.ranked.take();
                let RankedLevel { ranks, states } = ranked.map_or_else(|| self.rank_new_among_all(), Ok)?;
                self.level_size = states;
                self.levels.push(self.levels.last().copied().unwrap_or(0) + states);
                self.places.iter_mut().for_each(|places| places.add_level(&ranks));
                ranks
            };
            self.shards.iter_mut().zip(ranks).for_each(|(shard, ranks)| unlocked(shard).set_ranks(ranks));
        }
        Ok(())
    }

    /// From now on states are kept in no particular order.
    fn forget_order(&mut self) {
        self.in_order = false;
        self.turns = Vec::new();
        self.shards.iter_mut().for_each(|shard| unlocked(shard).forget_order());
    }

    /// On disk it is known only after a level how many of its successors are new.
    fn count_level(&mut self, ended: Result<(), Halt>) -> Result<(), Halt> {
        let (mut states, mut unexpanded) = (0, 0);
        for shard in self.shards.iter_mut().map(unlocked) {
            states += shard.visited.len();
            unexpanded += shard.unexpanded();
        }
        let told = agree(&self.team, ended, &[states, unexpanded], place(&self.options.budget.storage))?;
        let sum = |number: usize| told.iter().filter_map(|words| words.get(number)).sum::<u64>();
        (self.totals.states, self.totals.frontier) = (sum(0), sum(1));
        let limit = self.options.budget.limits.check_states(self.totals.states);
        limit.filter(|_| self.totals.frontier > 0).map_or(Ok(()), |limit| Err(limit.into()))
    }

    /// What a level that ends on disk looks at.
    fn level_watch(&self) -> LevelWatch<'a> {
        LevelWatch::new(self.options.budget, self.start, self.totals.states)
    }

    /// Moves the states of all processes to disk, unless they are there.
    fn move_to_disk(&mut self) -> Result<(), Halt> {
        let (mut moved, watch) = (Ok(()), self.level_watch());
        if let Some(spill) = &self.spill {
            // One after the other, so that there is room for what moving takes.
            let mut shards = self.shards.iter_mut().map(unlocked);
            moved = shards.try_for_each(|shard| shard.visited.spill(spill, &watch));
        }
        agree(&self.team, moved, &[], place(&self.options.budget.storage))?;
        self.on_disk = true;
        // On disk states are ordered by hash.
        self.forget_order();
        Ok(())
    }

    /// The ranks of the states found since the last level; from now on they have their turns.
    fn rank_new(&mut self) -> Vec<Vec<u32>> {
        let shards: Vec<&Shard<I>> = self.shards.iter_mut().map(|shard| &*unlocked(shard)).collect();
        let labels: Vec<&[u64]> = shards.iter().map(|shard| shard.visited.labels()).collect();
        order::ranks(&labels, &mut self.turns)
    }

    /// A checkpoint does not keep the order of states in different shards, so they take turns.
    fn order_resumed(&mut self) {
        if !self.in_order {
            return;
        }
        let all = self.team.shards() as u64;
        if self.totals.frontier * all > MOST_RANKS {
            return self.forget_order();
        }
        if !self.team.is_alone() {
            for (number, shard) in self.team.here().zip(self.shards.iter_mut().map(unlocked)) {
                let rank = |place| (place * all + number as u64) as u32;
                let ranks = (0..shard.unexpanded()).map(rank).collect();
                shard.set_ranks(ranks);
            }
            return;
        }
        let shards: Vec<&mut Shard<I>> = self.shards.iter_mut().map(unlocked).collect();
        let longest = shards.iter().map(|shard| shard.visited.len()).max().unwrap_or(0);
        let mut ranks = vec![Vec::new(); shards.len()];
        let mut rank = 0;
        for index in 0..longest {
            for (number, shard) in shards.iter().enumerate().filter(|(_, shard)| index < shard.visited.len()) {
                self.turns.push(number as u8);
                if index >= shard.expanded {
                    ranks[number].push(rank);
                    rank += 1;
                }
            }
        }
        shards.into_iter().zip(ranks).for_each(|(shard, ranks)| shard.set_ranks(ranks));
    }

    /// States of each shard in a round.
    pub fn round_states(&self, threads: usize) -> u64 {
        match (self.on_disk, self.team.is_alone() && threads == 1) {
            (true, _) => DISK_ROUND,
            (false, true) => ROUND,
            (false, false) => SHARED_ROUND,
        }
    }

    /// What to expand in a round of at most so many states of each shard, after those below a rank.
    pub fn portion(&self, most: u64, below: u64, totals: RoundTotals) -> Portion {
        let RoundTotals { states, transitions, frontier } = totals;
        let shards = self.team.shards() as u64;
        let most_states = self.stage.map_or(self.most_states(), |stage| stage.min(self.most_states()));
        let left = most_states.saturating_sub(states) / 4 / shards;
        let mut most = most.min(left.max(FEWEST));
        if !self.in_order {
            return Portion::States(most);
        }
        let expanded = states.saturating_sub(frontier).max(1);
        let words = (transitions / expanded + 1) * (self.system.width() as u64 + 2);
        most = most.min((ROUND_WORDS / words).max(FEWEST));
        Portion::Below(below + most * shards)
    }

    /// What may be stored in a round, with what all processes stored before it, if that is known, and the words that are sent to the shards
    /// here. Several processes do not know of each other what they store in a round. On disk it is counted when the level ends, and what
    /// ids permit in memory is no limit where states can move to disk: nothing may be dropped then.
    pub fn room(&self, known: u64, stored_here: u64, words: usize) -> Option<Room> {
        let records = (words / (self.system.width() + 2)) as u64;
        let most = match &self.spill {
            None => self.most_states(),
            Some(_) => self.options.budget.limits.states.filter(|_| !self.on_disk)?,
        };
        Room::of(most, known.max(stored_here), records)
    }

    /// If there is only one shard, in memory: the states that it may store without counting them.
    pub fn most_alone(&self) -> Option<u64> {
        let is_alone = self.team.shards() == 1 && !self.on_disk;
        is_alone.then(|| match &self.spill {
            None => self.most_states(),
            Some(_) => self.options.budget.limits.states.unwrap_or(u64::MAX),
        })
    }

    /// The limit of states, with that of what can be in memory.
    fn most_states(&self) -> u64 {
        let most = self.options.budget.limits.states.unwrap_or(u64::MAX);
        if self.on_disk { most } else { most.min(self.most_in_memory.saturating_mul(self.team.processes() as u64)) }
    }

    /// A level ends: from here one could go on.
    fn note_level(&mut self) {
        if let Some(checkpoint) = &mut self.checkpoint {
            let RoundTotals { states, transitions, frontier } = self.totals;
            let totals = Totals { depth: self.depth, states, transitions, frontier };
            checkpoint.note(totals, self.shards.iter_mut().map(unlocked));
        }
    }

    /// Writes the last level that ended to where checkpoints are.
    fn keep_level(&mut self) -> Result<(), Halt> {
        match &mut self.checkpoint {
            None => Ok(()),
            Some(checkpoint) => checkpoint.write(&self.team, self.shards.iter_mut().map(unlocked)),
        }
    }

    fn run(&mut self, stages: &mut Option<Stages<I>>) -> Result<End<I>, Halt> {
        while self.totals.frontier > 0 {
            let worth_sharing = self.totals.frontier >= WORTH_SHARING * self.team.processes() as u64;
            let mut round = self.level(if worth_sharing { self.shards.len() } else { 1 })?;
            self.ranked = round.ranked.take().filter(|_| !round.left && !round.is_full);
            (self.totals, self.due, self.below) = (round.totals, round.due, round.below);
            if let Some(end) = round.end {
                return Ok(end);
            }
            if round.is_full {
                self.move_to_disk()?;
            }
            if let Some(Stages { size, look }) = stages
                && round.stage_is_over
            {
                let Some(next) = self.show(look)? else { return Ok(End::Limit(Limit::States(*size))) };
                *size = next;
                self.stage = Some(next);
            }
            if round.left {
                continue;
            }
            self.next_level()?;
            self.depth += u64::from(self.totals.frontier > 0);
            if self.checkpoint.is_some() && self.totals.frontier > 0 {
                self.note_level();
                if self.due {
                    self.keep_level()?;
                }
            }
        }
        Ok(End::Exhausted)
    }

    /// Shows what there is so far, and takes it back.
    fn show(&mut self, look: &mut dyn FnMut(&Space<I>) -> Option<u64>) -> Result<Option<u64>, Halt> {
        let turns = self.turns.len();
        let mut statistics = self.statistics();
        if self.team.is_alone() {
            if self.in_order {
                self.rank_new();
            }
        } else {
            let RankedLevel { ranks, .. } = self.rank_new_among_all()?;
            self.places.iter_mut().for_each(|places| places.add_level(&ranks));
            statistics = shared_statistics(&self.team, statistics)?;
        }
        let width = self.system.width();
        let take = |shard: &mut Mutex<Shard<I>>| {
            let store = unlocked(shard).visited.store_mut();
            store.map_or_else(|| StateStore::new(width), |store| std::mem::replace(store, StateStore::new(width)))
        };
        let stores = self.shards.iter_mut().map(take).collect();
        let mut space = Space {
            end: End::Limit(Limit::States(self.stage.unwrap_or(u64::MAX))),
            cut_off: false,
            findings: Vec::new(),
            statistics,
            shards: stores,
            turns: std::mem::take(&mut self.turns),
            levels: std::mem::take(&mut self.levels),
            kept: self.places.as_ref().map(|_| Snapshot::new(width)),
            places: self.places.take(),
        };
        let next = look(&space);
        for (shard, store) in self.shards.iter_mut().zip(std::mem::take(&mut space.shards)) {
            if let Some(empty) = unlocked(shard).visited.store_mut() {
                *empty = store;
            }
        }
        self.levels = space.levels;
        self.turns = space.turns;
        self.turns.truncate(turns);
        self.places = space.places;
        self.places.iter_mut().for_each(Places::forget_level);
        Ok(next)
    }

    fn statistics(&mut self) -> Statistics {
        let mut statistics = Statistics {
            transitions: self.totals.transitions,
            depth: self.depth,
            elapsed: self.start.elapsed(),
            workers: self.team.shards(),
            ..Statistics::default()
        };
        for shard in self.shards.iter_mut().map(unlocked) {
            statistics.states += shard.visited.len();
            statistics.frontier += shard.visited.len() - shard.expanded;
            statistics.bytes += shard.visited.bytes() as u64;
        }
        statistics.bytes += self.places.as_ref().map_or(0, |places| places.bytes() as u64);
        statistics
    }

    /// What all processes know after a round, whether it was the last, and what to expand in the next: at most so many states of each shard.
    pub fn judge_round(
        &self,
        mut summary: Summary<I>,
        before: RoundTotals,
        most: u64,
        portion: Portion,
    ) -> Result<RoundResult<I>, Halt> {
        let budget = self.options.budget;
        summary.stopped = budget.is_stopped();
        summary.memory = budget.limits.memory;
        summary.late = budget.limits.late(self.start);
        summary.due = self.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.is_due());
        summary.cannot_spill = self.spill.is_none();
        let mut ranked = None;
        if !self.team.is_alone() {
            // The last round of a level also tells the labels of the next one, which saves an exchange.
            let ends_level = self.in_order && matches!(portion, Portion::Below(rank) if rank >= self.level_size);
            let new = ends_level.then(|| self.new_labels());
            let mut words = new.as_ref().map_or_else(Vec::new, |new| order::packed(&new.labels));
            let numbers = summary.words();
            words.extend_from_slice(&numbers);
            words.push(numbers.len() as u64);
            let mut told = self.team.tell(words)?;
            let summaries: Vec<Vec<u64>> = told.iter_mut().map(cut_summary).collect();
            ranked = new.map(|new| new.among(told, self.team.process()));
            summary = Summary::sum(&summaries, summary.failed, self.system);
        }
        let transitions = before.transitions + summary.transitions;
        let totals = RoundTotals { states: summary.states, transitions, frontier: summary.frontier };
        let below = if let Portion::Below(rank) = portion { rank } else { 0 };
        let portion = self.portion(most, below, totals);
        let stage = Limits { states: self.stage, ..Limits::default() };
        let stage_is_over = totals.frontier > 0 && stage.check_states(totals.states).is_some();
        let is_full = self.is_full(&summary);
        let (left, due) = (summary.left > 0, summary.due);
        let end = self.judge(summary, transitions, is_full);
        Ok(RoundResult { end, stage_is_over, is_full, left, portion, below, totals, due, ranked })
    }

    /// Whether it is time to move to disk. Half of what ids permit, because a round may pass it; half of the memory, because memory that
    /// was used and is free again is not always given back before more is asked for.
    fn is_full(&self, summary: &Summary<I>) -> bool {
        let half = summary.memory.unwrap_or(DEFAULT_MEMORY) / 2;
        let is_much = summary.bytes > half || summary.in_memory > self.most_in_memory / 2;
        !self.on_disk && !summary.cannot_spill && summary.frontier > 0 && is_much
    }

    /// Whether the exploration ends after this round, and why.
    fn judge(&self, summary: Summary<I>, transitions: u64, is_full: bool) -> Option<End<I>> {
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
        let elsewhere =
            || summary.failed_in.map(|process| failed_elsewhere(process, place(&self.options.budget.storage)).into());
        if let Some(halt) = summary.failed.clone().or_else(elsewhere) {
            // A finding counts even if the disk is full by now.
            return Some(if found { End::Found } else { halt.into() });
        }
        if let Some((state, interrupt)) = summary.interrupt {
            *lock(&self.interrupted_by) = Some(state);
            return Some(End::Interrupted(interrupt));
        }
        if found && summary.left == 0 {
            return Some(End::Found);
        }
        let end = self.limit_reached(&summary, is_full)?;
        Some(if found { End::Found } else { End::Limit(end) })
    }

    fn limit_reached(&self, summary: &Summary<I>, is_full: bool) -> Option<Limit> {
        // Outside the limits only if there is more to do: a space of exactly the permitted size is exhausted.
        if summary.frontier == 0 {
            return None;
        }
        if summary.stopped {
            return Some(Limit::Stopped);
        }
        // What all processes permit. What is on disk, or goes there now, is not limited by memory.
        let memory = summary.memory.filter(|_| !self.on_disk && !is_full);
        let states = if is_full { self.options.budget.limits.states } else { Some(self.most_states()) };
        let limits = Limits { states, memory, ..Limits::default() };
        if summary.in_memory > self.most_in_memory && !is_full {
            return limits.states.map(Limit::States);
        }
        let many = limits.check_states(summary.states).or_else(|| limits.check_memory(summary.bytes));
        many.or(summary.late.map(Limit::Time))
    }

    /// Before an answer is given: whether the states that were taken for visited on disk were visited.
    fn confirmed(&mut self, end: Result<End<I>, Halt>) -> Result<End<I>, Halt> {
        if !self.on_disk || !matches!(end, Ok(End::Exhausted | End::Found)) {
            return end;
        }
        let watch = self.level_watch();
        let compared = each_in_parallel(&mut self.shards, |shard| shard.visited.confirm(&watch));
        match agree(&self.team, compared, &[], place(&self.options.budget.storage)) {
            // Only that it is the nearest one needs the comparison, and that is not worth losing it.
            Err(halt) if matches!(halt, Halt::Collision) || !matches!(end, Ok(End::Found)) => Err(halt),
            _ => end,
        }
    }

    fn conclude(mut self, end: End<I>) -> Space<I> {
        if matches!(end, End::Limit(limit) if !matches!(limit, Limit::Lost(_))) {
            // So that one can go on with other limits. If it fails there is an earlier level to go on from.
            let _ = self.keep_level();
        }
        if self.in_order && self.team.is_alone() {
            // The states of a level that was not completed.
            self.rank_new();
        }
        let statistics = self.statistics();
        let shards: Vec<Shard<I>> = self
            .shards
            .into_iter()
            .map(|shard| shard.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
            .collect();
        let cut_off = shards.iter().any(|shard| shard.cut_off);
        let checkpoint = self.checkpoint.zip(self.options.budget.storage.checkpoints);
        let place = place(&self.options.budget.storage);
        let (width, until) = (self.system.width(), self.options.until);
        let mut space = Space { cut_off, statistics, ..Space::elsewhere(end, Snapshot::new(width)) };
        if self.team.is_alone() && !self.on_disk {
            space.findings = shards.iter().flat_map(|shard| shard.findings.iter().copied()).collect();
            space.findings.sort();
            space.shards = shards.into_iter().filter_map(Shard::into_store).collect();
            (space.turns, space.levels, space.kept) = (self.turns, self.levels, None);
            if self.in_order && !space.findings.is_empty() {
                space.findings = in_order(&space);
            }
        } else if !matches!(space.end, End::Limit(Limit::Lost(_)))
            && let Err(halt) = share(&mut space, &self.team, &shards, until, place)
        {
            space.end = halt.into();
            space.findings.clear();
        } else if let Some(places) = self.places {
            space.shards = shards.into_iter().filter_map(Shard::into_store).collect();
            (space.levels, space.places) = (self.levels, Some(places));
        }
        if let Some((checkpoint, checkpoints)) = checkpoint {
            let interrupted_by = self.interrupted_by.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
            checkpoint.conclude(checkpoints, &space, until, &self.team, interrupted_by);
        }
        space
    }
}

/// The directory that is named if another process could not write or read.
fn place<'a>(storage: &Storage<'a>) -> &'a Path {
    let checkpoints = storage.checkpoints.map(|checkpoints| checkpoints.directory());
    storage.spill.or(checkpoints).unwrap_or(Path::new(""))
}

/// What a shard does that can take long, by one thread a shard; the gravest of what goes wrong.
fn each_in_parallel<'a, I: Send>(
    shards: &mut [Mutex<Shard<'a, I>>],
    work: impl Fn(&mut Shard<'a, I>) -> Result<(), Halt> + Sync,
) -> Result<(), Halt> {
    let work = &work;
    let outcomes: Vec<Result<(), Halt>> = std::thread::scope(|scope| {
        let mut shards = shards.iter_mut().map(unlocked);
        let first = shards.next();
        let others: Vec<_> = shards.map(|shard| scope.spawn(move || work(shard))).collect();
        let first = first.map_or(Ok(()), work);
        let joined =
            |other: std::thread::ScopedJoinHandle<'_, _>| other.join().unwrap_or_else(|panic| resume_unwind(panic));
        std::iter::once(first).chain(others.into_iter().map(joined)).collect()
    });
    let halts = outcomes.into_iter().filter_map(Result::err);
    halts.min_by_key(|halt| !matches!(halt, Halt::Collision)).map_or(Ok(()), Err)
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

/// The statistics of all processes together.
fn shared_statistics(team: &Team, here: Statistics) -> Result<Statistics, LostProcess> {
    let told = team.tell(vec![here.states, here.frontier, here.bytes])?;
    let sum = |number: usize| told.iter().filter_map(|words| words.get(number)).sum::<u64>();
    Ok(Statistics { states: sum(0), frontier: sum(1), bytes: sum(2), ..here })
}

/// Makes what each process knows of a space known to all.
fn share<I: Send>(
    space: &mut Space<I>,
    team: &Team,
    shards: &[Shard<I>],
    until: Until,
    place: &Path,
) -> Result<(), Halt> {
    let cut_off = team.tell(vec![u64::from(space.cut_off)])?;
    let statistics = shared_statistics(team, space.statistics)?;
    let width = space.kept.as_ref().map_or(0, Snapshot::width);
    let (findings, kept) = snapshot::collect(team, shards, width, until, place)?;
    space.statistics = statistics;
    space.cut_off = cut_off.iter().any(|told| told.first() == Some(&1));
    space.findings = findings;
    space.kept = Some(kept);
    Ok(())
}
