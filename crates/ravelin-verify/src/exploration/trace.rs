//! The happens-before relation of a run, by vector clocks.
//!
//! Rounds of waiting loops are left out. What each thread would have done next at the end is appended: such an event
//! happens after what its thread and others have done, and before nothing.
//!
//! While clocks are computed, adjacent conflicts are found: pairs of conflicting events of different threads with
//! nothing that happens between them. Candidates for an event are visited from the latest to the earliest, and those
//! that happen before a candidate visited earlier are no longer adjacent. The cost is one clock per event and candidate.
//! Candidates are the last write and what came after it, unless ranges of different sizes overlap.

use super::step::PlannedStep;
use crate::RecordedRun;
use ravelin_findings::events::{Act, RangeEffect, RunEvent, flags};
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

/// A run and its happens-before relation. The memory is reused from run to run.
#[derive(Default)]
pub struct Trace {
    /// The events, then those that are pending.
    events: Vec<RunEvent>,
    /// How many have happened.
    len: usize,
    /// The last one ended the process while threads could still run.
    ended_early: bool,
    /// How many threads the run has.
    width: usize,
    /// For each event the number of its thread, counted within the run.
    slots: Vec<u32>,
    /// For each event its number within its thread, from 1.
    numbers: Vec<u32>,
    /// For each event the last event of its thread before it, or the start of the thread.
    before: Vec<u32>,
    /// For each event the object that it touches.
    objects: Vec<u32>,
    clocks: Vec<u32>,
    /// Adjacent conflicts: earlier and later event, in the order of the later one.
    conflicts: Vec<(u32, u32)>,
    touched: Vec<Object>,
    ranges: FxHashMap<(u64, u32), u32>,
    threads: FxHashMap<u32, Thread>,
}

/// What overlapping ranges have in common.
#[derive(Default)]
struct Object {
    /// All events that touch it.
    events: Vec<u32>,
    last_write: Option<u32>,
    /// Other events since then, the latest one of each thread.
    reads: Vec<u32>,
    /// Ranges of several sizes overlap in it.
    mixed: bool,
}

#[derive(Clone, Copy)]
struct Thread {
    slot: u32,
    last: u32,
    count: u32,
    start: u32,
    end: u32,
}

impl Trace {
    /// Takes a run.
    pub fn read(&mut self, run: &RecordedRun) {
        self.events.clear();
        self.events.extend(run.events.iter().filter(|event| !event.is(flags::ROUND)));
        self.len = self.events.len();
        self.events.extend(&run.pending);
        let exits = |last: &RunEvent| last.operation.act == Act::Exit;
        self.ended_early = run.end.is_none() && (run.ended_early || self.events[..self.len].last().is_some_and(exits));
        self.number_objects();
        self.compute_clocks();
    }

    /// How many events have happened.
    pub fn len(&self) -> usize {
        self.len
    }

    /// An event, or beyond the [length](Trace::len) one that is pending.
    pub fn event(&self, at: usize) -> &RunEvent {
        &self.events[at]
    }

    /// All events, then those that are pending.
    pub fn events(&self) -> &[RunEvent] {
        &self.events
    }

    pub fn step(&self, at: usize) -> PlannedStep {
        PlannedStep { ends: Some(at) == self.ending(), ..PlannedStep::of(&self.events[at]) }
    }

    /// The event with which the process ended while threads could still run.
    pub fn ending(&self) -> Option<usize> {
        self.len.checked_sub(1).filter(|_| self.ended_early)
    }

    /// Adjacent conflicts in the order of the later event, which may be pending.
    pub fn conflicts(&self) -> &[(u32, u32)] {
        &self.conflicts
    }

    /// Whether an event happens after another one, or is that.
    pub fn is_after(&self, later: usize, earlier: usize) -> bool {
        self.clock(later)[self.slots[earlier] as usize] >= self.numbers[earlier]
    }

    /// Whether `earlier` happens before `later` whatever is reversed: by what the thread did before, or by what starts
    /// or ends a thread.
    pub fn is_needed(&self, later: usize, earlier: usize) -> bool {
        let before = self.before[later];
        before != NONE && self.is_after(before as usize, earlier)
    }

    /// The events that touch what this one touches and come before it, from the latest to the earliest.
    pub fn on_same_object(&self, of: usize) -> impl Iterator<Item = usize> {
        let object = self.objects[of];
        let events = if object == NONE { &[][..] } else { &self.touched[object as usize].events };
        let before = events.partition_point(|&other| (other as usize) < of);
        events[..before].iter().rev().map(|&other| other as usize)
    }

    /// Whether ranges of several sizes overlap where this event touches memory.
    pub fn is_mixed(&self, of: usize) -> bool {
        let object = self.objects[of];
        object != NONE && self.touched[object as usize].mixed
    }

    /// The events of each thread, in the order of their first events.
    pub fn threads(&self) -> Vec<Vec<usize>> {
        let mut threads = vec![Vec::new(); self.width];
        for at in 0..self.len {
            threads[self.slots[at] as usize].push(at);
        }
        threads
    }

    /// Whether all that happens before an event is among the first events of threads.
    pub fn is_ready(&self, at: usize, made: &[u32]) -> bool {
        let own = self.slots[at] as usize;
        let mut needed = self.clock(at).iter().zip(made).enumerate();
        needed.all(|(slot, (needed, made))| slot == own || needed <= made)
    }

    /// The events in an equivalent order that begins with these steps, if there is one.
    pub fn beginning_with(&self, steps: &[PlannedStep]) -> Option<Vec<RunEvent>> {
        let mut made = vec![0; self.width];
        let mut chosen = vec![false; self.len];
        let mut events = Vec::with_capacity(self.len);
        for step in steps {
            let slot = self.threads.get(&step.thread)?.slot;
            let next = |&at: &usize| self.slots[at] == slot && self.numbers[at] == made[slot as usize] + 1;
            let at = (0..self.len).find(next)?;
            made[slot as usize] += 1;
            if !step.is(&self.events[at]) || self.clock(at).iter().zip(&made).any(|(needed, made)| needed > made) {
                return None;
            }
            chosen[at] = true;
            events.push(self.events[at]);
        }
        let rest = (0..self.len).filter(|&at| !chosen[at]);
        events.extend(rest.map(|at| self.events[at]));
        Some(events)
    }

    fn clock(&self, of: usize) -> &[u32] {
        &self.clocks[of * self.width..][..self.width]
    }

    /// Joins ranges that overlap to objects.
    fn number_objects(&mut self) {
        self.ranges.clear();
        self.objects.clear();
        let mut ranges: Vec<(u64, u32)> = Vec::new();
        for event in &self.events {
            let operation = &event.operation;
            let range = match operation.act {
                // All starts conflict.
                Act::Start => (u64::MAX, 0),
                _ if operation.act.effect() == RangeEffect::None || operation.size == 0 => {
                    self.objects.push(NONE);
                    continue;
                }
                _ => (operation.address, operation.size),
            };
            let next = ranges.len() as u32;
            let number = *self.ranges.entry(range).or_insert(next);
            if number == next {
                ranges.push(range);
            }
            self.objects.push(number);
        }
        let mut order: Vec<u32> = (0..ranges.len() as u32).collect();
        order.sort_unstable_by_key(|&range| ranges[range as usize]);
        let mut object_of = vec![0; ranges.len()];
        let (mut count, mut end) = (0, 0);
        for range in order {
            let (address, size) = ranges[range as usize];
            let overlaps = count > 0 && address < end;
            if !overlaps {
                if self.touched.len() == count {
                    self.touched.push(Object::default());
                }
                let object = &mut self.touched[count];
                (object.last_write, object.mixed) = (None, false);
                object.events.clear();
                object.reads.clear();
                count += 1;
                end = 0;
            }
            self.touched[count - 1].mixed |= overlaps;
            end = end.max(address.saturating_add(u64::from(size)));
            object_of[range as usize] = count as u32 - 1;
        }
        for object in &mut self.objects {
            if *object != NONE {
                *object = object_of[*object as usize];
            }
        }
    }

    fn compute_clocks(&mut self) {
        self.threads.clear();
        for event in &self.events {
            let slot = self.threads.len() as u32;
            let new = Thread { slot, last: NONE, count: 0, start: NONE, end: NONE };
            self.threads.entry(event.thread).or_insert(new);
        }
        self.width = self.threads.len();
        self.slots.clear();
        self.numbers.clear();
        self.before.clear();
        self.conflicts.clear();
        self.clocks.clear();
        self.clocks.resize(self.events.len() * self.width, 0);
        let mut clock = vec![0; self.width];
        let mut candidates = Vec::new();
        for at in 0..self.events.len() {
            let event = self.events[at];
            let thread = self.threads[&event.thread];
            let before = if thread.last == NONE { thread.start } else { thread.last };
            clock.fill(0);
            if before != NONE {
                join(&mut clock, &self.clocks[before as usize * self.width..][..self.width]);
            }
            if event.operation.act == Act::Join
                && let Some(joined) = self.thread_at(event.operation.address)
                && joined.end != NONE
            {
                join(&mut clock, &self.clocks[joined.end as usize * self.width..][..self.width]);
            }
            self.slots.push(thread.slot);
            self.numbers.push(thread.count + 1);
            self.before.push(before);
            self.find_conflicts(at, &mut candidates);
            for &other in &candidates {
                let slot = self.slots[other as usize] as usize;
                if clock[slot] < self.numbers[other as usize] {
                    self.conflicts.push((other, at as u32));
                    join(&mut clock, &self.clocks[other as usize * self.width..][..self.width]);
                }
            }
            clock[thread.slot as usize] = thread.count + 1;
            self.clocks[at * self.width..][..self.width].copy_from_slice(&clock);
            if at < self.len {
                self.make(at);
            }
        }
    }

    /// Collects the events before one that could be adjacent to it, from the latest to the earliest.
    fn find_conflicts(&self, at: usize, candidates: &mut Vec<u32>) {
        candidates.clear();
        if self.objects[at] == NONE {
            return;
        }
        let object = &self.touched[self.objects[at] as usize];
        let operation = &self.events[at].operation;
        let conflicts = |&other: &u32| operation.conflicts(&self.events[other as usize].operation);
        if object.mixed {
            candidates.extend(object.events.iter().rev().copied().filter(conflicts));
        } else {
            candidates.extend(object.reads.iter().rev().copied().filter(conflicts));
            candidates.extend(object.last_write.filter(conflicts));
        }
    }

    /// Records that an event has happened.
    fn make(&mut self, at: usize) {
        let event = self.events[at];
        if self.objects[at] != NONE {
            let object = &mut self.touched[self.objects[at] as usize];
            object.events.push(at as u32);
            if event.operation.act.effect() == RangeEffect::Writes || event.operation.act == Act::Start {
                object.last_write = Some(at as u32);
                object.reads.clear();
            } else {
                // An earlier one of the thread happens before this one. It conflicts with what this one conflicts with,
                // unless it was a failed attempt to lock.
                let (events, act) = (&self.events, event.operation.act);
                object.reads.retain(|&other| {
                    let other = &events[other as usize];
                    other.thread != event.thread || other.operation.act != act
                });
                object.reads.push(at as u32);
            }
        }
        let number = event.operation.address;
        if let Some(thread) = self.threads.get_mut(&event.thread) {
            thread.last = at as u32;
            thread.count += 1;
            if event.operation.act == Act::End {
                thread.end = at as u32;
            }
        }
        if event.operation.act == Act::Start
            && let Ok(number) = u32::try_from(number)
            && let Some(started) = self.threads.get_mut(&number)
        {
            started.start = at as u32;
        }
    }

    fn thread_at(&self, number: u64) -> Option<Thread> {
        self.threads.get(&u32::try_from(number).ok()?).copied()
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
