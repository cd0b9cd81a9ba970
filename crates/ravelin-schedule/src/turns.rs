//! The threads of a program, whether they can run, and which of them has the turn.
//!
//! Random walk and PCT differ only in [`Turns::pick`]. Both are made fair where the papers assume that threads end. A
//! thread in a waiting loop yields to the others: under the random walk until some thread has an effect, under PCT by
//! getting the lowest priority. Under PCT a thread that has run alone for very long yields, too. Time is counted in
//! points and jumps ahead when all threads wait, so that sleeping takes no real time and does not depend on it.
//!
//! Each call takes time at most proportional to the number of threads that can run. Under the random walk, a call
//! during which no thread waits or yields takes constant time.

use crate::{Random, Schedule, Steering, Strategy};
use ravelin_findings::steering::SteeredEnd;

/// What a thread that cannot continue waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// For a thread that wakes the waiters of this object.
    Object(usize),
    /// For an event on a file descriptor.
    Descriptor,
    /// For a time.
    Time,
    /// For another value in memory that its loop has read.
    Memory,
    /// For the end, or the wait, of all other threads: it ends the process.
    Others,
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStatus {
    /// It runs, or could.
    Ready,
    /// It waits, at most until this time.
    Waiting { on: WaitReason, until: Option<u64> },
    /// It is in a call of unknown duration.
    Outside,
    /// It has ended; another thread may get its place.
    Ended,
}

/// What a thread has done since its last point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointEffect {
    /// Something that others can see.
    Effect,
    /// It only read; `again` if it read the same as before.
    Look { again: bool },
    /// It asked to let others run.
    Yield,
}

/// What the calling thread has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnDecision {
    /// Continue.
    Stay,
    /// Pass the turn to this thread.
    Switch(usize),
    /// Ask the operating system whether a descriptor is ready, for at most this many nanoseconds; keep the turn
    /// meanwhile, and then call [`Turns::asked`].
    Ask { limit: Option<u64> },
    /// No thread has the turn until one comes back from outside.
    Idle,
    /// No thread will ever continue.
    Stuck(Stalemate),
    /// The run of a steered program ends here.
    Cut(SteeredEnd),
}

/// Why a program cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stalemate {
    /// Every thread waits for another.
    Deadlock,
    /// Threads run, but only repeat waiting loops.
    Livelock,
}

/// Nanoseconds that pass at a point.
const TICK: u64 = 1_000;
/// After this many reads in a row a thread is taken to wait, even if it reads different things.
const PATIENCE: u32 = 32;
/// After this many points without effect, time jumps ahead or descriptors are polled.
const QUIET: u64 = 1 << 10;
/// After this many points alone, a thread yields under PCT.
const ALONE: u64 = 1 << 10;

#[derive(Clone, Debug)]
struct ScheduledThread {
    state: ThreadStatus,
    /// For PCT: the thread with the highest priority runs.
    priority: i64,
    /// For the random walk: it yields until some thread has an effect.
    yields: bool,
    /// Reads since its last effect.
    looks: u32,
    timed_out: bool,
    /// For a steered program: what it waited for until it was woken.
    woken_on: Option<(WaitReason, Option<u64>)>,
}

/// All threads of a program.
#[derive(Clone, Debug)]
pub struct Turns {
    strategy: Strategy,
    random: Random,
    /// The numbers before the program began.
    first: Random,
    /// The numbers that the program gets while it has one thread.
    alone_random: Random,
    threads: Vec<ScheduledThread>,
    /// The threads that are ready.
    ready: Vec<usize>,
    /// Places of ended threads.
    free: Vec<usize>,
    /// How many of the ready ones yield.
    yielding: usize,
    running: Option<usize>,
    /// For PCT: when the running thread gets which priority, last first.
    changes: Vec<(u64, i64)>,
    lowest: i64,
    points: u64,
    /// Points since the last effect of any thread.
    quiet: u64,
    /// Points since the turn last changed.
    alone: u64,
    livelock: u64,
    now: u64,
    /// The earliest time that a thread waits for; `u64::MAX` if there is none.
    earliest: u64,
    trail: u64,
    /// The choices, if they are given.
    steering: Option<Steering>,
}

impl Turns {
    /// One thread, the first, which has the turn. After `livelock` points without any effect the program is taken to be
    /// stuck; 0 for never.
    pub fn new(schedule: Schedule, livelock: u64) -> Turns {
        let mut random = Random::new(schedule.seed);
        let mut changes = Vec::new();
        if let Strategy::Pct { depth, length } = schedule.strategy {
            changes.extend((1..i64::from(depth)).map(|priority| (1 + random.below(length), priority)));
            changes.sort_unstable_by(|one, other| other.cmp(one));
        }
        let mut turns = Turns {
            strategy: schedule.strategy,
            first: random.clone(),
            random,
            alone_random: Random::new(0),
            threads: Vec::new(),
            ready: Vec::new(),
            free: Vec::new(),
            yielding: 0,
            running: Some(0),
            changes,
            lowest: 0,
            points: 0,
            quiet: 0,
            alone: 0,
            livelock: if livelock == 0 { u64::MAX } else { livelock },
            now: 0,
            earliest: u64::MAX,
            trail: 0xcbf2_9ce4_8422_2325,
            steering: (schedule.strategy == Strategy::Steered).then(Steering::default),
        };
        turns.add();
        turns.first = turns.random.clone();
        turns
    }

    /// The same program under another schedule of the same kind, as if it had been under that from its beginning. That
    /// is only known as long as it has one thread: what it can see until then is the same under both. A steered program
    /// may have had others, which have ended: all its schedules are the same until its steps are given.
    pub fn under(&self, schedule: Schedule, livelock: u64) -> Turns {
        if self.strategy == Strategy::Steered && schedule.strategy == Strategy::Steered {
            return self.clone();
        }
        debug_assert_eq!(self.threads.len(), 1);
        let mut other = Turns::new(schedule, livelock);
        let priority = other.threads[0].priority;
        other.random = other.first.clone().after(&self.first, &self.random);
        other.threads.clone_from(&self.threads);
        other.threads[0].priority = priority;
        other.alone_random = self.alone_random.clone();
        other.ready.clone_from(&self.ready);
        other.running = self.running;
        other.points = self.points;
        other.quiet = self.quiet;
        other.now = self.now;
        other.earliest = self.earliest;
        other.trail = self.trail;
        other.change_priority(0);
        other
    }

    /// Gives the choices for the steps from now on, and the threads that are asleep after them. With a `seed` that is not 0,
    /// threads are drawn after that.
    pub fn steer(&mut self, choices: Vec<u64>, sleepers: Vec<usize>, seed: u64) {
        self.steering.get_or_insert_default().begin(choices, sleepers, seed);
    }

    /// The choices, if they are given.
    pub fn steering(&mut self) -> Option<&mut Steering> {
        self.steering.as_mut()
    }

    /// A thread continues after a wait. Those that were woken with it, but instead of it, wait again.
    pub fn taken(&mut self, me: usize) {
        let Some(steering) = &mut self.steering else { return };
        for other in steering.take(me) {
            let woken_on = self.threads[other].woken_on.take();
            if let Some((on, until)) = woken_on {
                self.leave_ready(other);
                self.threads[other].state = ThreadStatus::Waiting { on, until };
            }
        }
        self.threads[me].woken_on = None;
    }

    /// Points so far.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Where the number of points is, for a debugger that reads it from outside.
    pub fn points_place(&self) -> *const u64 {
        &raw const self.points
    }

    /// A hash that two runs share as long as they are the same.
    pub fn trail(&self) -> u64 {
        self.trail
    }

    /// The time, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The thread that has the turn.
    pub fn running(&self) -> Option<usize> {
        self.running
    }

    /// What a thread is doing.
    pub fn state(&self, thread: usize) -> ThreadStatus {
        self.threads.get(thread).map_or(ThreadStatus::Ended, |thread| thread.state)
    }

    /// How many places for threads there are, including those of ended threads.
    pub fn places(&self) -> usize {
        self.threads.len()
    }

    /// How many threads could run.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Whether the thread's last wait ended because its time was over.
    pub fn timed_out(&self, thread: usize) -> bool {
        self.threads[thread].timed_out
    }

    /// Any number, determined by the schedule. What happens before there is a second thread is the same under every
    /// schedule, and so are the numbers.
    pub fn number(&mut self) -> u64 {
        if self.threads.len() == 1 {
            return self.alone_random.number();
        }
        self.random.number()
    }

    /// Time passes without a point.
    pub fn pass(&mut self, nanoseconds: u64) {
        self.now = self.now.saturating_add(nanoseconds);
    }

    /// A new thread, ready to run.
    pub fn add(&mut self) -> usize {
        let depth = match self.strategy {
            Strategy::Random | Strategy::Weak { .. } | Strategy::Steered => 0,
            Strategy::Pct { depth, .. } => i64::from(depth),
        };
        let priority = depth + (self.random.number() >> 8) as i64;
        let thread = ScheduledThread {
            state: ThreadStatus::Ready,
            priority,
            yields: false,
            looks: 0,
            timed_out: false,
            woken_on: None,
        };
        // Threads of a steered program are numbered in the order of their starts.
        let free = if self.steering.is_some() { None } else { self.free.pop() };
        let place = match free {
            Some(place) => {
                self.threads[place] = thread;
                place
            }
            None => {
                self.threads.push(thread);
                self.threads.len() - 1
            }
        };
        self.ready.push(place);
        self.quiet = 0;
        place
    }

    /// The thread with the turn is at a point. `place` identifies the place in the program, in the same way in every
    /// run.
    pub fn point(&mut self, me: usize, did: PointEffect, place: u64) -> TurnDecision {
        debug_assert_eq!(self.running, Some(me));
        self.points += 1;
        self.now += TICK;
        self.trail = (self.trail ^ place << 8 ^ me as u64).wrapping_mul(0x0000_0100_0000_01b3);
        if self.steering.is_some() {
            return self.pick(me);
        }
        let gives_way = match did {
            PointEffect::Effect => {
                self.threads[me].looks = 0;
                self.effect();
                false
            }
            PointEffect::Look { again } => {
                self.quiet += 1;
                let looks = &mut self.threads[me].looks;
                *looks = looks.saturating_add(1);
                again || *looks >= PATIENCE
            }
            PointEffect::Yield => {
                self.quiet += 1;
                true
            }
        };
        if self.quiet >= QUIET
            && let Some(stuck) = self.nothing_happens()
        {
            return TurnDecision::Stuck(stuck);
        }
        if self.now >= self.earliest {
            self.expire();
        }
        self.change_priority(me);
        if self.ready.len() == 1 {
            return TurnDecision::Stay;
        }
        self.alone += 1;
        let unfair = matches!(self.strategy, Strategy::Pct { length, .. } if self.alone >= ALONE.max(length));
        if gives_way || unfair {
            self.give_way(me);
        }
        self.pick(me)
    }

    /// The thread with the turn gets the priorities that PCT has for the points so far.
    fn change_priority(&mut self, me: usize) {
        while let Some((point, priority)) = self.changes.last().copied()
            && point <= self.points
        {
            self.threads[me].priority = priority;
            self.changes.pop();
        }
    }

    /// The thread with the turn waits.
    pub fn wait(&mut self, me: usize, on: WaitReason, until: Option<u64>) -> TurnDecision {
        debug_assert_eq!(self.running, Some(me));
        if let Some(steering) = &mut self.steering {
            if steering.has_begun_to_wait(me) {
                self.threads[me].timed_out = false;
                self.threads[me].woken_on = Some((on, until));
                return self.pick(me);
            }
        } else if until.is_some_and(|until| until <= self.now) {
            self.threads[me].timed_out = true;
            return TurnDecision::Stay;
        }
        self.leave_ready(me);
        self.threads[me].timed_out = false;
        self.threads[me].state = ThreadStatus::Waiting { on, until };
        self.earliest = self.earliest.min(until.unwrap_or(u64::MAX));
        self.pick(me)
    }

    /// Must be called after [`TurnDecision::Ask`]: threads that wait for a descriptor poll again, and if none was ready time
    /// passes.
    pub fn asked(&mut self, me: usize, any: bool) -> TurnDecision {
        if any {
            self.descriptors();
        } else if self.ready.is_empty() && self.earliest != u64::MAX {
            self.now = self.now.max(self.earliest);
            self.expire();
        }
        self.pick(me)
    }

    /// Wakes threads that wait for an object, at most `most`, chosen at random. Returns how many were woken.
    pub fn wake(&mut self, object: usize, most: usize) -> usize {
        self.effect();
        let mut waiting: Vec<usize> = (0..self.threads.len())
            .filter(|&place| matches!(self.threads[place].state, ThreadStatus::Waiting { on: WaitReason::Object(on), .. } if on == object))
            .collect();
        if self.steering.is_some() {
            return self.wake_any(object, waiting, most);
        }
        let woken = waiting.len().min(most);
        for _ in 0..woken {
            let chosen = if waiting.len() > 1 { self.random.below(waiting.len() as u64) as usize } else { 0 };
            self.make_ready(waiting.remove(chosen), false);
        }
        woken
    }

    /// Lets any of these threads continue, and of those that are about to wait for the object, until `most` have.
    fn wake_any(&mut self, object: usize, waiting: Vec<usize>, most: usize) -> usize {
        let mut takers = waiting.clone();
        takers.extend(self.steering.iter().flat_map(|steering| steering.registered(object)));
        for thread in waiting {
            if let ThreadStatus::Waiting { on, until } = self.threads[thread].state {
                self.make_ready(thread, false);
                self.threads[thread].woken_on = Some((on, until));
            }
        }
        let woken = takers.len().min(most);
        if woken > 0
            && let Some(steering) = &mut self.steering
        {
            steering.give(takers, most);
        }
        woken
    }

    /// Makes a waiting thread continue, whatever it waits for.
    pub fn rouse(&mut self, thread: usize) {
        self.effect();
        if matches!(self.state(thread), ThreadStatus::Waiting { .. }) {
            self.make_ready(thread, false);
        }
    }

    /// An event on a descriptor: all threads that wait for one poll again.
    pub fn descriptors(&mut self) {
        self.effect();
        for place in 0..self.threads.len() {
            if matches!(self.threads[place].state, ThreadStatus::Waiting { on: WaitReason::Descriptor, .. }) {
                self.make_ready(place, false);
            }
        }
    }

    /// A thread enters a call of unknown duration. If it has the turn, another thread gets it.
    pub fn leave(&mut self, thread: usize) -> TurnDecision {
        self.leave_ready(thread);
        self.threads[thread].state = ThreadStatus::Outside;
        if self.running == Some(thread) { self.pick(thread) } else { TurnDecision::Stay }
    }

    /// A thread is back from outside. Returns whether it has the turn now.
    pub fn come_back(&mut self, me: usize) -> bool {
        self.effect();
        self.make_ready(me, false);
        if self.running.is_none() {
            self.running = Some(me);
        }
        self.running == Some(me)
    }

    /// No thread has the turn until one comes back from outside, although a descriptor may get ready.
    pub fn abandon(&mut self) {
        self.running = None;
    }

    /// No thread has had the turn for a while: threads that wait for a descriptor poll again. If there is none, time
    /// passes, because those outside may wait for a thread that sleeps.
    pub fn abandoned(&mut self) {
        self.descriptors();
        if self.ready.is_empty() && self.earliest != u64::MAX {
            self.now = self.now.max(self.earliest);
            self.expire();
        }
    }

    /// If no thread has the turn and one could run: the thread that gets it.
    pub fn anybody(&mut self) -> Option<usize> {
        if self.running.is_some() || self.ready.is_empty() {
            return None;
        }
        match self.pick(usize::MAX) {
            TurnDecision::Switch(chosen) => Some(chosen),
            _ => None,
        }
    }

    /// A thread ends; its place is free.
    pub fn end(&mut self, me: usize) -> TurnDecision {
        self.effect();
        self.leave_ready(me);
        self.threads[me].state = ThreadStatus::Ended;
        self.free.push(me);
        if self.running == Some(me) { self.pick(me) } else { TurnDecision::Stay }
    }

    /// The thread that continues after `me`, which has the turn.
    fn pick(&mut self, me: usize) -> TurnDecision {
        if let Some(choice) = self.steering.as_ref().and_then(Steering::choice)
            && choice.times_out
            && matches!(self.state(choice.thread), ThreadStatus::Waiting { until: Some(_), .. })
        {
            self.make_ready(choice.thread, true);
        }
        if self.ready.is_empty() {
            return self.nobody(me);
        }
        let chosen = match self.strategy {
            Strategy::Steered => match self.pick_steered(me) {
                Ok(chosen) => chosen,
                Err(end) => return TurnDecision::Cut(end),
            },
            Strategy::Random | Strategy::Weak { .. } if self.yielding == 0 => {
                self.ready[self.random.below(self.ready.len() as u64) as usize]
            }
            Strategy::Random | Strategy::Weak { .. } => self.pick_unyielding(me),
            Strategy::Pct { .. } => self.highest(),
        };
        if chosen == me {
            return TurnDecision::Stay;
        }
        self.running = Some(chosen);
        self.alone = 0;
        TurnDecision::Switch(chosen)
    }

    fn pick_unyielding(&mut self, me: usize) -> usize {
        if self.yielding == self.ready.len() {
            self.clear_yields();
            // The calling thread has just asked to let others run.
            if self.ready.len() > 1 && self.ready.contains(&me) {
                self.threads[me].yields = true;
                self.yielding = 1;
            }
        }
        let mut skip = self.random.below((self.ready.len() - self.yielding) as u64);
        for &place in &self.ready {
            if !self.threads[place].yields {
                if skip == 0 {
                    return place;
                }
                skip -= 1;
            }
        }
        self.ready[0]
    }

    fn highest(&self) -> usize {
        let mut best = self.ready[0];
        for &place in &self.ready[1..] {
            if self.threads[place].priority > self.threads[best].priority {
                best = place;
            }
        }
        best
    }

    /// The thread that the script chooses, or the one that continues after it.
    fn pick_steered(&self, me: usize) -> Result<usize, SteeredEnd> {
        let Some(steering) = &self.steering else { return Err(SteeredEnd::NotEnabled) };
        match steering.choice() {
            Some(choice) if self.ready.contains(&choice.thread) => Ok(choice.thread),
            Some(_) => Err(SteeredEnd::NotEnabled),
            None => steering.next(me, &self.ready),
        }
    }

    /// No thread is ready.
    fn nobody(&mut self, me: usize) -> TurnDecision {
        let outside = self.threads.iter().any(|thread| thread.state == ThreadStatus::Outside);
        let descriptors = self
            .threads
            .iter()
            .any(|thread| matches!(thread.state, ThreadStatus::Waiting { on: WaitReason::Descriptor, .. }));
        let limit = (self.earliest != u64::MAX).then(|| self.earliest.saturating_sub(self.now));
        if descriptors || (outside && limit.is_some()) {
            // The calling thread keeps the turn, although it is not ready itself.
            self.running = Some(me);
            return TurnDecision::Ask { limit };
        }
        if limit.is_some() {
            self.now = self.earliest;
            self.expire();
            return self.pick(me);
        }
        if outside {
            self.running = None;
            return TurnDecision::Idle;
        }
        let waits_on = |wanted| move |thread: &ScheduledThread| matches!(thread.state, ThreadStatus::Waiting { on, .. } if on == wanted);
        if let Some(last) = self.threads.iter().position(waits_on(WaitReason::Others)) {
            self.make_ready(last, false);
            return self.pick(me);
        }
        if self.threads.iter().any(waits_on(WaitReason::Memory)) {
            return TurnDecision::Stuck(Stalemate::Livelock);
        }
        if self.threads.iter().all(|thread| thread.state == ThreadStatus::Ended) {
            self.running = None;
            return TurnDecision::Idle;
        }
        TurnDecision::Stuck(Stalemate::Deadlock)
    }

    /// There was no effect for a long time. A thread that waits for a time or a descriptor may be what the others wait
    /// for.
    fn nothing_happens(&mut self) -> Option<Stalemate> {
        if self.quiet.is_multiple_of(QUIET) {
            if self.earliest != u64::MAX {
                self.now = self.now.max(self.earliest);
                self.expire();
                return None;
            }
            let quiet = self.quiet;
            self.descriptors();
            self.quiet = quiet;
        }
        let outside = || self.threads.iter().any(|thread| thread.state == ThreadStatus::Outside);
        (self.quiet >= self.livelock && !outside()).then_some(Stalemate::Livelock)
    }

    /// A thread had an effect that others may have waited for.
    fn effect(&mut self) {
        self.quiet = 0;
        if self.yielding > 0 {
            self.clear_yields();
        }
    }

    fn give_way(&mut self, me: usize) {
        self.alone = 0;
        match self.strategy {
            Strategy::Random | Strategy::Weak { .. } => {
                if !self.threads[me].yields {
                    self.threads[me].yields = true;
                    self.yielding += 1;
                }
            }
            Strategy::Pct { .. } => {
                self.lowest -= 1;
                self.threads[me].priority = self.lowest;
            }
            Strategy::Steered => {}
        }
    }

    fn clear_yields(&mut self) {
        for &place in &self.ready {
            self.threads[place].yields = false;
        }
        self.yielding = 0;
    }

    fn make_ready(&mut self, thread: usize, timed_out: bool) {
        self.threads[thread].state = ThreadStatus::Ready;
        self.threads[thread].timed_out = timed_out;
        self.threads[thread].looks = 0;
        self.ready.push(thread);
    }

    fn leave_ready(&mut self, thread: usize) {
        if std::mem::take(&mut self.threads[thread].yields) {
            self.yielding -= 1;
        }
        if let Some(at) = self.ready.iter().position(|&place| place == thread) {
            self.ready.swap_remove(at);
        }
    }

    /// Wakes the threads whose time is over.
    fn expire(&mut self) {
        self.earliest = u64::MAX;
        for place in 0..self.threads.len() {
            if let ThreadStatus::Waiting { until: Some(until), .. } = self.threads[place].state {
                if until <= self.now {
                    self.make_ready(place, true);
                } else {
                    self.earliest = self.earliest.min(until);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
