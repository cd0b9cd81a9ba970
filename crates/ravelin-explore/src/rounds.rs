//! The rounds of a level, written once for all searches: over the states of each worker, in memory or on disk (`visited.rs`), and over
//! the workers, threads of this process and processes elsewhere (`peers.rs`).
//!
//! A round has two halves: every worker expands some states of its own shard and sorts the successors into outboxes by owner; then every
//! worker absorbs what was sent to it. Within a half nobody touches what belongs to another, so there is no lock that is ever waited for.
//! Between the halves the processes exchange what is for shards elsewhere; after them, they tell each other what they know, so that all
//! decide alike. All take part in the same rounds, also those that have nothing left to expand.

use crate::barrier::Barrier;
use crate::halt::Halt;
use crate::limits::Limit;
use crate::peers::Incoming;
use crate::ranking::RankedLevel;
use crate::room::Room;
use crate::search::Search;
use crate::shard::{Portion, Shard};
use crate::space::End;
use crate::summary::Summary;
use crate::visited::Sent;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

/// What came of a round, known to all processes.
pub(crate) struct RoundResult<I> {
    pub end: Option<End<I>>,
    /// There are more states than the stage permits.
    pub stage_is_over: bool,
    /// Half of the memory is used, and states can move to disk.
    pub is_full: bool,
    /// There is more to expand in this level.
    pub left: bool,
    /// What to expand in the next one, after those below a rank.
    pub portion: Portion,
    pub below: u64,
    pub totals: RoundTotals,
    /// It is time for a checkpoint.
    pub due: bool,
    /// With several processes: the next level, if this was the last round before it.
    pub ranked: Option<RankedLevel>,
}

/// Of all processes, as of the last round.
#[derive(Clone, Copy, Default)]
pub(crate) struct RoundTotals {
    pub states: u64,
    pub transitions: u64,
    /// States that are found and not expanded. On disk: with those that may be new.
    pub frontier: u64,
}

impl<I> RoundResult<I> {
    fn goes_on(&self) -> bool {
        self.end.is_none() && !self.stage_is_over && !self.is_full && self.left
    }
}

/// Where the workers of this process meet in a round. It lasts for all levels, so that its buffers do.
pub(crate) struct Meeting<I> {
    /// Row: sender, column: owner. Each is locked by one worker at a time, the barriers see to it.
    exchange: Vec<Mutex<Vec<Vec<u64>>>>,
    /// What came from other processes.
    incoming: RwLock<Incoming>,
    lead: Mutex<Lead<I>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    has_panicked: AtomicBool,
    done: AtomicBool,
}

/// What the leader of a round says to the workers.
struct Lead<I> {
    portion: Portion,
    totals: RoundTotals,
    room: Option<Arc<Room>>,
    /// States for which each worker makes room. All shards are about equally large; growing in different rounds, each would wait for the
    /// other.
    reserve: usize,
    /// Why there is no other round.
    result: Option<Result<RoundResult<I>, Halt>>,
}

impl<I> Meeting<I> {
    /// `shards`: those of this process, of all.
    pub fn new(shards: usize, all: usize) -> Meeting<I> {
        Meeting {
            exchange: (0..shards).map(|_| Mutex::new(vec![Vec::new(); all])).collect(),
            incoming: RwLock::default(),
            lead: Mutex::new(Lead {
                portion: Portion::States(0),
                totals: RoundTotals::default(),
                room: None,
                reserve: 0,
                result: None,
            }),
            panic: Mutex::new(None),
            has_panicked: AtomicBool::new(false),
            done: AtomicBool::new(false),
        }
    }

    fn has_panicked(&self) -> bool {
        self.has_panicked.load(Ordering::Relaxed)
    }

    /// A panic must not leave the others waiting at the barrier.
    fn guarded(&self, work: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            *lock(&self.panic) = Some(payload);
            self.has_panicked.store(true, Ordering::Relaxed);
        }
    }
}

impl<I: Send> Search<'_, I> {
    /// Expands states of the current level until it is expanded or the search stops for another reason. `threads`: one, or one a shard.
    pub(crate) fn level(&mut self, threads: usize) -> Result<RoundResult<I>, Halt> {
        let most = self.round_states(threads);
        let totals = self.totals;
        let portion = self.portion(most, self.below, totals);
        let lead = unlocked(&mut self.meeting.lead);
        (lead.portion, lead.totals, lead.room, lead.reserve) = (portion, totals, None, 0);
        let barrier = Barrier::new(threads);
        let this = &*self;
        if threads == 1 {
            this.work(0, threads, most, &barrier);
        } else {
            std::thread::scope(|scope| {
                for first in 0..threads {
                    let barrier = &barrier;
                    scope.spawn(move || this.work(first, threads, most, barrier));
                }
            });
        }
        if let Some(payload) = unlocked(&mut self.meeting.panic).take() {
            resume_unwind(payload);
        }
        unlocked(&mut self.meeting.lead).result.take().unwrap_or(Err(Limit::Stopped.into()))
    }

    /// What one thread does for a level, for every `threads`-th shard.
    fn work(&self, first: usize, threads: usize, most: u64, barrier: &Barrier) {
        let meeting = &self.meeting;
        let own = || (first..self.shards.len()).step_by(threads);
        let alone = self.most_alone();
        let mut outboxes = Vec::new();
        loop {
            meeting.guarded(|| {
                let portion = lock(&meeting.lead).portion;
                for number in own() {
                    let shard = &mut *lock(&self.shards[number]);
                    let outboxes = &mut *lock(&meeting.exchange[number]);
                    std::mem::swap(&mut shard.sink.outboxes, outboxes);
                    shard.expand(self.system, portion, alone);
                    std::mem::swap(&mut shard.sink.outboxes, outboxes);
                }
            });
            if barrier.wait() && !meeting.has_panicked() {
                let mut lead = lock(&meeting.lead);
                if let Err(halt) = self.exchange(&mut lead) {
                    lead.result = Some(Err(halt));
                }
            }
            barrier.wait();
            meeting.guarded(|| own().for_each(|number| self.absorb(number, &mut outboxes)));
            if barrier.wait() {
                let mut lead = lock(&meeting.lead);
                let goes_on = lead.result.is_none() && !meeting.has_panicked() && self.settle(&mut lead, most, threads);
                meeting.done.store(!goes_on, Ordering::Relaxed);
            }
            barrier.wait();
            if meeting.done.load(Ordering::Relaxed) {
                break;
            }
        }
    }

    /// Between the halves of a round: what is for shards elsewhere goes there, and what is for shards here comes.
    fn exchange(&self, lead: &mut Lead<I>) -> Result<(), Halt> {
        let mut words = 0;
        if !self.team.is_alone() {
            let mut senders: Vec<_> = self.meeting.exchange.iter().map(lock).collect();
            let mut senders: Vec<&mut [Vec<u64>]> =
                senders.iter_mut().map(|outboxes| outboxes.as_mut_slice()).collect();
            let mut incoming = self.meeting.incoming.write().unwrap_or_else(|poisoned| poisoned.into_inner());
            self.team.exchange(&mut senders, &mut incoming)?;
            words += incoming.words();
        }
        for sender in &self.meeting.exchange {
            words += lock(sender).iter().map(Vec::len).sum::<usize>();
        }
        let stored = self.shards.iter().map(|shard| lock(shard).visited.len()).sum();
        lead.room = self.room(lead.totals.states, stored, words).map(Arc::new);
        Ok(())
    }

    /// Second half of a round, for one shard.
    fn absorb(&self, number: usize, outboxes: &mut Vec<Vec<u64>>) {
        let meeting = &self.meeting;
        let (room, reserve) = {
            let lead = lock(&meeting.lead);
            (lead.room.clone(), lead.reserve)
        };
        let shard = &mut *lock(&self.shards[number]);
        shard.visited.reserve(reserve);
        let owner = self.team.first() + number;
        outboxes.extend(meeting.exchange.iter().map(|sender| std::mem::take(&mut lock(sender)[owner])));
        if self.team.is_alone() {
            let sent: Vec<Sent> = outboxes.iter().map(|outbox| Sent { process: 0, records: outbox }).collect();
            shard.absorb(&sent, room.as_deref());
        } else {
            let incoming = meeting.incoming.read().unwrap_or_else(|poisoned| poisoned.into_inner());
            let process = self.team.process();
            let here = outboxes.iter().map(|outbox| Sent { process, records: outbox });
            let elsewhere = incoming.records_for(number).map(|(process, records)| Sent { process, records });
            shard.absorb(&here.chain(elsewhere).collect::<Vec<_>>(), room.as_deref());
        }
        for (sender, mut outbox) in meeting.exchange.iter().zip(outboxes.drain(..)) {
            outbox.clear();
            lock(sender)[owner] = outbox;
        }
    }

    /// After a round: whether there is another one.
    fn settle(&self, lead: &mut Lead<I>, most: u64, threads: usize) -> bool {
        let mut summary = Summary::default();
        let mut longest = 0;
        for shard in &self.shards {
            let shard: &mut Shard<I> = &mut lock(shard);
            longest = longest.max(shard.visited.len());
            summary.add(shard, self.shards.len());
        }
        if threads > 1 {
            lead.reserve = longest as usize + most as usize * 4;
        }
        let result = self.judge_round(summary, lead.totals, most, lead.portion);
        if let Ok(result) = &result {
            (lead.portion, lead.totals) = (result.portion, result.totals);
        }
        let goes_on = result.as_ref().is_ok_and(RoundResult::goes_on);
        lead.result = Some(result).filter(|_| !goes_on);
        goes_on
    }
}

/// A worker that panics takes the exploration down with it anyway; nothing is read from a half-changed shard.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(crate) fn unlocked<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}
