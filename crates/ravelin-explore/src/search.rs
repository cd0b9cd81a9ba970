//! Breadth-first search, level by level, sharded by the states' hashes.
//!
//! Each worker owns a shard of the visited set. A round has two halves: every worker expands some states of its own shard
//! and sorts the successors into outboxes by owner; then every worker absorbs what was sent to it. Within a half nobody
//! touches what belongs to another, so there is no lock that is ever waited for and the result depends only on the number
//! of workers. A level smaller than a few thousand states is not worth waking others for: one thread does all shards' work.
//!
//! Exchange by hash is also what an exploration over several machines does.

use crate::barrier::Barrier;
use crate::limits::{Limit, Limits, Progress};
use crate::space::{End, Finding, Space, StateId, Statistics, join};
use crate::store::{Store, hash};
use crate::system::{Sink, System, shard_of};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// States that a worker expands in one round. Small enough that limits and progress are looked at often and that a round's
/// outboxes stay in the cache.
const ROUND: usize = 4096;
/// The same with several workers: so many that the moments in which a core is taken away from one of them even out.
const SHARED_ROUND: usize = 1 << 15;
/// Words in a worker's outboxes after which a round ends early: states with very many successors must not keep it from
/// looking at the limits.
const LARGEST_ROUND: usize = 1 << 22;
/// States in a level from which several workers are used.
const WORTH_SHARING: usize = 4096;
/// Ids are 32 bits, and one is taken.
const MOST_STATES: u64 = u32::MAX as u64 - 1;

pub struct Options<'a> {
    pub limits: Limits,
    pub workers: usize,
    pub until: Until,
    /// Set from outside to end the exploration; what was found until then is kept.
    pub stop: Option<&'a AtomicBool>,
    /// Called between rounds.
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { limits: Limits::default(), workers: 1, until: Until::FirstFinding, stop: None, progress: None }
    }
}

/// When an exploration is done, if nothing stops it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    FirstFinding,
    Exhausted,
}

/// Explores a system from its initial states.
pub fn explore<S: System>(system: &S, options: &Options) -> Space<S::Interrupt> {
    let workers = options.workers.clamp(1, 64);
    let mut search = Search {
        system,
        options,
        start: Instant::now(),
        depth: 0,
        transitions: 0,
        shards: (0..workers).map(|shard| Mutex::new(Shard::new(system, shard, workers))).collect(),
    };
    search.begin();
    let end = search.run();
    search.conclude(end)
}

struct Search<'a, S: System> {
    system: &'a S,
    options: &'a Options<'a>,
    start: Instant,
    depth: u64,
    transitions: u64,
    shards: Vec<Mutex<Shard<S>>>,
}

/// What one worker owns.
struct Shard<S: System> {
    number: usize,
    shards: usize,
    store: Store,
    /// States before this index are expanded.
    expanded: usize,
    /// States from this index on belong to the next level.
    level_end: usize,
    scratch: S::Scratch,
    sink: Sink,
    interrupt: Option<S::Interrupt>,
    findings: Vec<Finding>,
    cut_off: bool,
}

impl<S: System> Shard<S> {
    fn new(system: &S, number: usize, shards: usize) -> Shard<S> {
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
    fn expand(&mut self, system: &S, states: usize) {
        let until = self.level_end.min(self.expanded + states);
        while self.expanded < until && self.sink.words() < LARGEST_ROUND {
            self.sink.parent = join(self.number, self.expanded, self.shards);
            let state = self.store.state(self.expanded);
            self.expanded += 1;
            if let Err(interrupt) = system.expand(state, &mut self.scratch, &mut self.sink) {
                self.interrupt = Some(interrupt);
                break;
            }
        }
        self.cut_off |= self.sink.cut_off;
        let found = self.sink.findings.drain(..).map(|(kind, state)| Finding { state: StateId(state), kind });
        self.findings.extend(found);
    }

    fn unexpanded(&self) -> usize {
        self.level_end - self.expanded
    }
}

impl<S: System> Search<'_, S> {
    fn begin(&mut self) {
        let shards = self.shards.len();
        let mut outboxes = vec![Vec::new(); shards];
        self.system.initial(&mut |state| {
            let hash = hash(state);
            let outbox: &mut Vec<u64> = &mut outboxes[shard_of(hash, shards)];
            outbox.extend_from_slice(state);
            outbox.extend_from_slice(&[hash, u64::from(StateId::NONE)]);
        });
        for (shard, outbox) in self.shards.iter_mut().zip(outboxes) {
            let shard = unlocked(shard);
            shard.store.absorb(&outbox);
            shard.level_end = shard.store.len();
        }
    }

    fn run(&mut self) -> End<S::Interrupt> {
        loop {
            let level: usize = self.shards.iter_mut().map(|shard| unlocked(shard).unexpanded()).sum();
            if level == 0 {
                return End::Exhausted;
            }
            let end = if self.shards.len() > 1 && level >= WORTH_SHARING {
                self.level_together()
            } else {
                self.level_alone()
            };
            if let Some(end) = end {
                return end;
            }
            let mut grew = false;
            for shard in &mut self.shards {
                let shard = unlocked(shard);
                shard.level_end = shard.store.len();
                grew |= shard.unexpanded() > 0;
            }
            self.depth += u64::from(grew);
        }
    }

    /// Expands a whole level on this thread.
    fn level_alone(&mut self) -> Option<End<S::Interrupt>> {
        loop {
            let mut left = false;
            for index in 0..self.shards.len() {
                unlocked(&mut self.shards[index]).expand(self.system, ROUND);
                for owner in 0..self.shards.len() {
                    let mut outbox = std::mem::take(&mut unlocked(&mut self.shards[index]).sink.outboxes[owner]);
                    unlocked(&mut self.shards[owner]).store.absorb(&outbox);
                    outbox.clear();
                    unlocked(&mut self.shards[index]).sink.outboxes[owner] = outbox;
                }
                left |= unlocked(&mut self.shards[index]).unexpanded() > 0;
            }
            if let Some(end) = self.settle_round() {
                return Some(end);
            }
            if !left {
                return None;
            }
        }
    }

    /// Expands a whole level with one thread a shard.
    fn level_together(&mut self) -> Option<End<S::Interrupt>> {
        let shards = self.shards.len();
        let barrier = Barrier::new(shards);
        // Row: sender, column: owner. Each is locked by one worker at a time, the barriers see to it.
        let exchange: Vec<Vec<Mutex<Vec<u64>>>> =
            (0..shards).map(|_| (0..shards).map(|_| Mutex::new(Vec::new())).collect()).collect();
        let end = Mutex::new(None);
        let done = AtomicBool::new(false);
        let room = AtomicUsize::new(0);
        let search = Mutex::new((self.transitions, self.depth));
        let panic: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
        let this = &*self;
        std::thread::scope(|scope| {
            for (number, shard) in this.shards.iter().enumerate() {
                let (barrier, exchange, end, done) = (&barrier, &exchange, &end, &done);
                let (search, panic, room) = (&search, &panic, &room);
                scope.spawn(move || {
                    loop {
                        {
                            let mut shard = lock(shard);
                            // A panic must not leave the others waiting at the barrier.
                            let expanded = catch_unwind(AssertUnwindSafe(|| shard.expand(this.system, SHARED_ROUND)));
                            if let Err(payload) = expanded {
                                *lock(panic) = Some(payload);
                            }
                            for (outbox, shared) in shard.sink.outboxes.iter_mut().zip(&exchange[number]) {
                                std::mem::swap(outbox, &mut *lock(shared));
                            }
                        }
                        barrier.wait();
                        {
                            let mut shard = lock(shard);
                            // All shards are about equally large. Growing in different rounds, each would wait for the other.
                            shard.store.reserve(room.load(Ordering::Relaxed));
                            for sender in exchange {
                                let mut outbox = lock(&sender[number]);
                                shard.store.absorb(&outbox);
                                outbox.clear();
                            }
                        }
                        if barrier.wait() {
                            let mut left = false;
                            let mut summary = Summary::default();
                            let mut largest = 0;
                            for shard in &this.shards {
                                let mut shard = lock(shard);
                                left |= shard.unexpanded() > 0;
                                largest = largest.max(shard.store.len());
                                summary.add(&mut shard);
                            }
                            room.store(largest + SHARED_ROUND * 4, Ordering::Relaxed);
                            let mut totals = lock(search);
                            totals.0 += summary.transitions;
                            let stop = this.judge(summary, totals.0, totals.1);
                            let panicked = lock(panic).is_some();
                            done.store(stop.is_some() || !left || panicked, Ordering::Relaxed);
                            *lock(end) = stop;
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
        self.transitions = search.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        end.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn settle_round(&mut self) -> Option<End<S::Interrupt>> {
        let mut summary = Summary::default();
        for shard in &mut self.shards {
            summary.add(unlocked(shard));
        }
        self.transitions += summary.transitions;
        self.judge(summary, self.transitions, self.depth)
    }

    /// Whether the exploration ends after this round, and why.
    fn judge(&self, summary: Summary<S::Interrupt>, transitions: u64, depth: u64) -> Option<End<S::Interrupt>> {
        let elapsed = self.start.elapsed();
        if let Some(progress) = self.options.progress {
            progress(&Progress {
                states: summary.states,
                transitions,
                frontier: summary.frontier,
                depth,
                bytes: summary.bytes,
                elapsed,
            });
        }
        if summary.found && self.options.until == Until::FirstFinding {
            return Some(End::Found);
        }
        if let Some(interrupt) = summary.interrupt {
            return Some(End::Interrupted(interrupt));
        }
        let limits = &self.options.limits;
        let most_states = limits.states.unwrap_or(MOST_STATES).min(MOST_STATES);
        // Outside the limits only if there is more to do: a space of exactly the permitted size is exhausted.
        if summary.frontier == 0 {
            return None;
        }
        if self.options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(End::Limit(Limit::Stopped));
        }
        if summary.states > most_states || summary.largest_id > MOST_STATES {
            return Some(End::Limit(Limit::States(most_states)));
        }
        if let Some(memory) = limits.memory.filter(|&memory| summary.bytes > memory) {
            return Some(End::Limit(Limit::Memory(memory)));
        }
        limits.time.filter(|&time| elapsed > time).map(|time| End::Limit(Limit::Time(time)))
    }

    fn conclude(self, end: End<S::Interrupt>) -> Space<S::Interrupt> {
        let workers = self.shards.len();
        let shards: Vec<Shard<S>> = self
            .shards
            .into_iter()
            .map(|shard| shard.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
            .collect();
        let mut findings: Vec<Finding> = shards.iter().flat_map(|shard| shard.findings.iter().copied()).collect();
        findings.sort();
        let statistics = Statistics {
            states: shards.iter().map(|shard| shard.store.len() as u64).sum(),
            transitions: self.transitions,
            depth: self.depth,
            frontier: shards.iter().map(|shard| (shard.store.len() - shard.expanded) as u64).sum(),
            bytes: shards.iter().map(|shard| shard.store.bytes() as u64).sum(),
            elapsed: self.start.elapsed(),
            workers,
        };
        Space {
            end,
            cut_off: shards.iter().any(|shard| shard.cut_off),
            findings,
            statistics,
            shards: shards.into_iter().map(|shard| shard.store).collect(),
        }
    }
}

/// The shards together, after a round.
struct Summary<I> {
    states: u64,
    largest_id: u64,
    frontier: u64,
    bytes: u64,
    transitions: u64,
    found: bool,
    interrupt: Option<I>,
}

impl<I> Default for Summary<I> {
    fn default() -> Self {
        Summary { states: 0, largest_id: 0, frontier: 0, bytes: 0, transitions: 0, found: false, interrupt: None }
    }
}

impl<I> Summary<I> {
    fn add<S: System<Interrupt = I>>(&mut self, shard: &mut Shard<S>) {
        let states = shard.store.len() as u64;
        self.states += states;
        self.largest_id = self.largest_id.max(states * shard.shards as u64);
        self.frontier += states - shard.expanded as u64;
        self.bytes += shard.store.bytes() as u64;
        self.transitions += std::mem::take(&mut shard.sink.transitions);
        self.found |= !shard.findings.is_empty();
        self.interrupt = self.interrupt.take().or(shard.interrupt.take());
    }
}

/// A worker that panics takes the exploration down with it anyway; nothing is read from a half-changed shard.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn unlocked<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}
