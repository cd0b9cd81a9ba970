//! The rounds of a spilling search. As in [`crate::search`] every worker owns a shard, expands its own states and absorbs what others
//! send to it; what is absorbed waits until the level is done.

use super::levels::Levels;
use super::shard::{LevelFinding, ShardSettings, SpillShard};
use super::{Halt, LevelWatch, Tuning};
use crate::barrier::Barrier;
use crate::files::{Directory, StorageError};
use crate::limits::{Limit, Progress};
use crate::search::{MOST_STATES, Options, Until};
use crate::snapshot::{Snapshot, first_of_each_kind};
use crate::space::{End, Space, StateFinding, StateId, Statistics, split};
use crate::store::hash;
use crate::system::{System, shard_of};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// States that a worker expands in one round.
const ROUND: usize = 1 << 14;
/// States in a level from which several threads are used.
const WORTH_SHARING: u64 = 4096;

pub(super) fn explore<S: System>(
    system: &S,
    options: &Options,
    directory: &Directory,
    memory: u64,
    start: Instant,
    tuning: Tuning,
) -> Space<S::Interrupt> {
    let watch = LevelWatch { budget: options.budget.at_most(MOST_STATES), start, stored: AtomicU64::new(0) };
    let shards = options.budget.workers.clamp(1, 64);
    for careful in [false, true] {
        let bytes = usize::try_from(memory).unwrap_or(usize::MAX) / shards;
        let mask = u64::MAX << tuning.unused_hash_bits;
        let making = ShardSettings { directory, bytes, mask, careful };
        let made: Result<Vec<_>, _> =
            (0..shards).map(|shard| SpillShard::new(system, shard, shards, &making)).collect();
        let mut search = match made {
            Ok(made) => SpillSearch {
                system,
                options,
                directory,
                watch: &watch,
                shards: made.into_iter().map(Mutex::new).collect(),
                level: 0,
                transitions: 0,
            },
            Err(error) => return Space::unknown(End::Failed(error), system.width()),
        };
        watch.stored.store(0, Ordering::Relaxed);
        let halt = search.run().err().unwrap_or(Halt::End(End::Exhausted));
        let halt = search.compared(halt);
        match halt {
            Halt::End(end) => return search.conclude(end),
            Halt::Collision => {}
        }
    }
    unreachable!("a careful search does not take hashes for states")
}

struct SpillSearch<'a, S: System> {
    system: &'a S,
    options: &'a Options<'a>,
    directory: &'a Directory,
    watch: &'a LevelWatch<'a>,
    shards: Vec<Mutex<SpillShard<S>>>,
    /// The level that is expanded.
    level: usize,
    transitions: u64,
}

type Halted<S> = Halt<<S as System>::Interrupt>;

impl<S: System> SpillSearch<'_, S> {
    fn run(&mut self) -> Result<(), Halted<S>> {
        self.begin()?;
        loop {
            self.expand_level()?;
            let states = self.states();
            if self.each(|shard| shard.levels.level_len()) == 0 {
                return Ok(());
            }
            self.level += 1;
            let limits = self.watch.budget.limits;
            let full = limits.states.filter(|_| self.largest_place() > MOST_STATES).map(Limit::States);
            if let Some(limit) = limits.check_states(states).or(full) {
                return Err(limit.into());
            }
        }
    }

    fn begin(&mut self) -> Result<(), Halted<S>> {
        let shards = self.shards.len();
        let mut outboxes = vec![Vec::new(); shards];
        self.system.initial(&mut |state| {
            let hash = hash(state);
            let outbox: &mut Vec<u64> = &mut outboxes[shard_of(hash, shards)];
            outbox.extend_from_slice(state);
            outbox.extend_from_slice(&[hash, u64::from(StateId::NONE)]);
        });
        for (shard, outbox) in self.shards.iter_mut().zip(&mut outboxes) {
            let shard = unlocked(shard);
            shard.absorb(outbox, self.directory)?;
            shard.end_level(self.directory, self.watch)?;
        }
        Ok(())
    }

    fn each(&mut self, count: impl Fn(&SpillShard<S>) -> u64) -> u64 {
        self.shards.iter_mut().map(|shard| count(unlocked(shard))).sum()
    }

    fn states(&mut self) -> u64 {
        self.each(|shard| shard.levels.len())
    }

    fn largest_place(&mut self) -> u64 {
        let shards = self.shards.len() as u64;
        self.shards.iter_mut().map(|shard| unlocked(shard).levels.level_len() * shards).max().unwrap_or(0)
    }

    /// Expands a level and makes the next.
    fn expand_level(&mut self) -> Result<(), Halted<S>> {
        let states = self.each(|shard| shard.unexpanded());
        let threads = if states >= WORTH_SHARING { self.shards.len() } else { 1 };
        let meeting = LevelBarrier::new(threads, self.shards.len(), self.transitions);
        let this = &*self;
        if threads == 1 {
            this.work(0, 1, &meeting);
        } else {
            std::thread::scope(|scope| {
                for number in 0..threads {
                    let meeting = &meeting;
                    scope.spawn(move || this.work(number, threads, meeting));
                }
            });
        }
        if let Some(payload) = lock(&meeting.panic).take() {
            resume_unwind(payload);
        }
        self.transitions = *lock(&meeting.transitions);
        let halt = lock(&meeting.halt).take();
        halt.map_or(Ok(()), Err)
    }

    /// What one thread does for a level, for every so manieth shard.
    fn work(&self, first: usize, threads: usize, meeting: &LevelBarrier<S::Interrupt>) {
        let own = || self.shards.iter().enumerate().skip(first).step_by(threads);
        loop {
            meeting.guarded(|| {
                for (number, shard) in own() {
                    let shard = &mut *lock(shard);
                    shard.expand(self.system, self.level, ROUND)?;
                    for (outbox, shared) in shard.sink.outboxes.iter_mut().zip(&meeting.exchange[number]) {
                        std::mem::swap(outbox, &mut *lock(shared));
                    }
                }
                Ok(())
            });
            meeting.barrier.wait();
            meeting.guarded(|| {
                for (number, shard) in own() {
                    for sender in &meeting.exchange {
                        let mut outbox = lock(&sender[number]);
                        lock(shard).absorb(&mut outbox, self.directory)?;
                        outbox.clear();
                    }
                }
                Ok(())
            });
            if meeting.barrier.wait() {
                let left = self.settle_round(meeting);
                meeting.done.store(!left || meeting.is_halted(), Ordering::Relaxed);
            }
            meeting.barrier.wait();
            if meeting.done.load(Ordering::Relaxed) {
                break;
            }
        }
        if meeting.is_halted() {
            return;
        }
        // Nobody may see that another halted before it has seen whether the rounds went well.
        meeting.barrier.wait();
        for (_, shard) in own() {
            meeting.guarded(|| lock(shard).end_level(self.directory, self.watch).map(|_| ()));
        }
    }

    /// After a round: whether states of the level are left. Findings, interrupts and limits halt the search.
    fn settle_round(&self, meeting: &LevelBarrier<S::Interrupt>) -> bool {
        let mut transitions = lock(&meeting.transitions);
        let (mut states, mut left, mut bytes, mut found, mut interrupt) = (0, 0, 0, false, None);
        for shard in &self.shards {
            let mut shard = lock(shard);
            states += shard.levels.len();
            left += shard.unexpanded();
            bytes += shard.bytes() as u64;
            *transitions += std::mem::take(&mut shard.sink.transitions);
            found |= !shard.findings.is_empty();
            interrupt = interrupt.or(shard.interrupt.take());
        }
        if let Some(progress) = self.options.budget.progress {
            progress(&Progress {
                phase: "",
                states,
                transitions: *transitions,
                frontier: left,
                depth: self.level as u64,
                bytes,
                elapsed: self.watch.start.elapsed(),
            });
        }
        let limit = self.watch.look(states);
        let is_done = match self.options.until {
            Until::FirstFinding => found,
            Until::LevelOfFirstFinding => found && interrupt.is_none() && (left == 0 || limit.is_err()),
            Until::Exhausted => false,
        };
        if is_done {
            // A finding counts even if the disk is full by now.
            *lock(&meeting.halt) = Some(Halt::End(End::Found));
        } else if let Some(interrupt) = interrupt {
            meeting.halt(Halt::End(End::Interrupted(interrupt)));
        } else if let Err(limit) = limit {
            meeting.halt(limit.into());
        }
        left > 0
    }

    /// Before an answer is given: whether what was taken for visited was visited.
    fn compared(&mut self, halt: Halted<S>) -> Halted<S> {
        let rests_on_it = matches!(halt, Halt::End(End::Exhausted | End::Found));
        if !rests_on_it {
            return halt;
        }
        let (directory, watch) = (self.directory, self.watch);
        let outcomes: Vec<Result<(), Halted<S>>> = std::thread::scope(|scope| {
            let compare = |shard| scope.spawn(move || lock::<SpillShard<S>>(shard).compare(directory, watch));
            let running: Vec<_> = self.shards.iter().map(compare).collect();
            running.into_iter().map(|running| running.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let halts: Vec<Halted<S>> = outcomes.into_iter().filter_map(Result::err).collect();
        match halt {
            // Only that it is the nearest one needs the comparison, and that is not worth losing it.
            Halt::End(End::Found) if !halts.iter().any(|halt| matches!(halt, Halt::Collision)) => halt,
            _ => halts.into_iter().min_by_key(|halt| matches!(halt, Halt::End(_))).unwrap_or(halt),
        }
    }

    fn conclude(mut self, end: End<S::Interrupt>) -> Space<S::Interrupt> {
        let statistics = Statistics {
            states: self.states(),
            transitions: self.transitions,
            depth: self.level as u64,
            frontier: self.each(|shard| shard.unexpanded()),
            bytes: self.each(|shard| shard.bytes() as u64),
            elapsed: self.watch.start.elapsed(),
            workers: self.shards.len(),
        };
        let mut found: Vec<LevelFinding> =
            self.shards.iter_mut().flat_map(|shard| std::mem::take(&mut unlocked(shard).findings)).collect();
        found.sort_unstable();
        let cut_off = self.shards.iter_mut().any(|shard| unlocked(shard).cut_off);
        let (end, findings, kept) = match self.kept(&found) {
            Ok((findings, kept)) => (end, findings, kept),
            Err(error) => (End::Failed(error), Vec::new(), Snapshot::new(self.system.width())),
        };
        Space { statistics, cut_off, findings, ..Space::elsewhere(end, kept) }
    }

    /// The states of all findings, and the paths that are worth keeping, back in memory.
    fn kept(&mut self, found: &[LevelFinding]) -> Result<(Vec<StateFinding>, Snapshot), StorageError> {
        let shards = self.shards.len();
        let levels: Vec<&Levels> = self.shards.iter_mut().map(|shard| &unlocked(shard).levels).collect();
        let read = |level: usize, place: u32| {
            let (shard, index) = split(place, shards);
            levels[shard].state(level, index as u64)
        };
        let mut kept = Snapshot::new(self.system.width());
        let mut findings: Vec<StateFinding> = Vec::with_capacity(found.len());
        let mut places: Vec<(usize, u32)> = Vec::new();
        for &LevelFinding { level, place, kind } in found {
            if places.last() != Some(&(level, place)) {
                kept.keep_state(StateId(places.len() as u32), read(level, place)?.0);
                places.push((level, place));
            }
            findings.push(StateFinding { state: StateId(places.len() as u32 - 1), kind });
        }
        for id in first_of_each_kind(&findings, self.options.until) {
            let (level, mut place) = places[id.0 as usize];
            let mut backwards = Vec::new();
            for level in (0..=level).rev() {
                let (state, parent) = read(level, place)?;
                backwards.push(state);
                place = parent as u32;
            }
            kept.keep_path(id, backwards.into_iter().rev().flatten().collect());
        }
        Ok((findings, kept))
    }
}

/// Where the threads of a level meet.
struct LevelBarrier<I> {
    barrier: Barrier,
    /// Row: sender, column: owner. Each is locked by one thread at a time, the barriers see to it.
    exchange: Vec<Vec<Mutex<Vec<u64>>>>,
    transitions: Mutex<u64>,
    halt: Mutex<Option<Halt<I>>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    done: AtomicBool,
}

impl<I> LevelBarrier<I> {
    fn new(threads: usize, shards: usize, transitions: u64) -> LevelBarrier<I> {
        LevelBarrier {
            barrier: Barrier::new(threads),
            exchange: (0..shards).map(|_| (0..shards).map(|_| Mutex::new(Vec::new())).collect()).collect(),
            transitions: Mutex::new(transitions),
            halt: Mutex::new(None),
            panic: Mutex::new(None),
            done: AtomicBool::new(false),
        }
    }

    fn halt(&self, halt: Halt<I>) {
        lock(&self.halt).get_or_insert(halt);
    }

    fn is_halted(&self) -> bool {
        lock(&self.halt).is_some() || lock(&self.panic).is_some()
    }

    /// Neither an error nor a panic may leave the others waiting at the barrier.
    fn guarded(&self, work: impl FnOnce() -> Result<(), Halt<I>>) {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => {}
            Ok(Err(halt)) => self.halt(halt),
            Err(payload) => *lock(&self.panic) = Some(payload),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn unlocked<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}
