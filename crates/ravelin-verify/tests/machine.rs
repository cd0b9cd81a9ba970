//! Steered runs of threads that use objects, in place of the runs of a process: locks, semaphores, waits with a time
//! limit, waiting loops, starts and joins of threads.
//!
//! A thread that goes round a waiting loop makes events with `flags::ROUND` and then waits for another value. Each thread
//! that is not started by another one exists from the beginning.

use crate::traces::{Key, key};
use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, RunOperation, flags};
use ravelin_findings::steering::SteeredEnd;
use ravelin_verify::{Choice, RecordedRun, Script};
use std::collections::{BTreeSet, HashSet};

/// What a thread does next. Numbers name cells, locks, semaphores and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    Load(u64),
    Store(u64, u64),
    Lock(u64),
    /// Without it, it skips what follows up to the unlock.
    TryLock(u64),
    Unlock(u64),
    LockShared(u64),
    UnlockShared(u64),
    Give(u64),
    Take(u64),
    TakeInTime(u64),
    Start(u32),
    Join(u32),
    /// Waits until the cell is 1.
    Await(u64),
    /// Waits until both cells are 1, and reads the second one only if the first one is.
    AwaitBoth(u64, u64),
    Exit,
}

pub struct Machine {
    pub threads: Vec<Vec<Do>>,
}

#[derive(Clone)]
struct State {
    at: Vec<usize>,
    /// Whether the thread is between the two reads of [`Do::AwaitBoth`].
    halfway: Vec<bool>,
    /// What the thread read in its last round, as long as it has not changed.
    round: Vec<Option<(u64, u64)>>,
    started: Vec<bool>,
    ended: Vec<bool>,
    cells: [u64; 8],
    holder: [Option<usize>; 8],
    readers: [Vec<usize>; 8],
    given: [u64; 8],
    exited: bool,
}

/// What a step does: it happens, only goes round, or has to wait.
enum PlannedStep {
    Makes(RunEvent),
    Round(RunEvent),
    Waits,
}

const CELLS: u64 = 0x1000;
const LOCKS: u64 = 0x2000;
const SEMAPHORES: u64 = 0x3000;

impl Machine {
    pub fn run(&self, script: &Script) -> RecordedRun {
        let mut state = self.initial();
        let mut run = RecordedRun::default();
        let mut turn = 0;
        for choice in &script.choices {
            turn = choice.thread as usize;
            if !self.step(&mut state, &mut run, *choice) {
                run.end = Some(SteeredEnd::NotEnabled);
                self.end(&state, &mut run);
                return run;
            }
        }
        let mut asleep: Vec<usize> = script.sleepers.iter().map(|&thread| thread as usize).collect();
        while !state.exited {
            let threads = (0..self.threads.len()).map(|step| (turn + step) % self.threads.len());
            let mut blocked_by_sleep = false;
            let mut made = None;
            for thread in threads {
                let choice = Choice { thread: thread as u32, times_out: false };
                let mut next = (state.clone(), run.clone());
                if self.step(&mut next.0, &mut next.1, choice) {
                    if asleep.contains(&thread) {
                        blocked_by_sleep = true;
                        continue;
                    }
                    made = Some((thread, next));
                    break;
                }
            }
            // Time passes only if nothing else happens.
            if made.is_none() && !blocked_by_sleep {
                made = (0..self.threads.len()).find_map(|thread| {
                    let mut next = (state.clone(), run.clone());
                    let choice = Choice { thread: thread as u32, times_out: true };
                    self.step(&mut next.0, &mut next.1, choice).then_some((thread, next))
                });
            }
            let Some((thread, next)) = made else {
                run.end = blocked_by_sleep.then_some(SteeredEnd::Asleep);
                break;
            };
            let pending: Vec<RunEvent> = asleep.iter().filter_map(|&thread| self.pending(&state, thread)).collect();
            (state, run) = next;
            turn = thread;
            if let Some(event) = run.events.last() {
                let woken = |other: &RunEvent| !event.is(flags::ROUND) && other.operation.conflicts(&event.operation);
                let woken: Vec<u32> = pending.iter().filter(|other| woken(other)).map(|other| other.thread).collect();
                asleep.retain(|&thread| !woken.contains(&(thread as u32)));
            }
        }
        self.end(&state, &mut run);
        run
    }

    /// The traces of all runs, by trying everything everywhere.
    pub fn all(&self) -> BTreeSet<Key> {
        let mut all = BTreeSet::new();
        let mut seen = HashSet::new();
        let mut pending = vec![(self.initial(), RecordedRun::default())];
        while let Some((state, run)) = pending.pop() {
            let mut is_maximal = true;
            for choice in (0..self.threads.len() as u32)
                .flat_map(|thread| [false, true].map(|times_out| Choice { thread, times_out }))
            {
                let mut next = (state.clone(), run.clone());
                if !state.exited && self.step(&mut next.0, &mut next.1, choice) {
                    is_maximal = false;
                    if seen.insert((next.0.halfway.clone(), next.0.round.clone(), trace(&next.1))) {
                        pending.push(next);
                    }
                }
            }
            if is_maximal {
                all.insert(trace(&run));
            }
        }
        all
    }

    /// The traces of all runs with at most so many preemptions, by trying everything everywhere.
    pub fn within(&self, most: u32) -> BTreeSet<Key> {
        let mut all = BTreeSet::new();
        let mut seen = HashSet::new();
        let mut pending = vec![(self.initial(), RecordedRun::default(), None, 0)];
        while let Some((state, run, last, preemptions)) = pending.pop() {
            let next = |thread: u32| {
                let mut next = state.clone();
                match self.make(&mut next, thread as usize, false) {
                    PlannedStep::Makes(event) if !state.exited => Some((next, event)),
                    _ => None,
                }
            };
            let goes_on = last.is_some_and(|last| next(last).is_some());
            let mut is_maximal = true;
            for thread in 0..self.threads.len() as u32 {
                let Some((state, event)) = next(thread) else { continue };
                is_maximal = false;
                let preemptions = preemptions + u32::from(goes_on && last != Some(thread));
                let mut run = run.clone();
                run.events.push(event);
                if preemptions <= most && seen.insert((trace(&run), thread, preemptions)) {
                    pending.push((state, run, Some(thread), preemptions));
                }
            }
            if is_maximal {
                all.insert(trace(&run));
            }
        }
        all
    }

    fn initial(&self) -> State {
        let threads = self.threads.len();
        let mut started = vec![true; threads];
        for action in self.threads.iter().flatten() {
            if let Do::Start(thread) = action {
                started[*thread as usize] = false;
            }
        }
        State {
            at: vec![0; threads],
            halfway: vec![false; threads],
            round: vec![None; threads],
            started,
            ended: vec![false; threads],
            cells: [0; 8],
            holder: [None; 8],
            readers: Default::default(),
            given: [0; 8],
            exited: false,
        }
    }

    fn end(&self, state: &State, run: &mut RecordedRun) {
        run.ended_early = state.exited;
        run.pending = (0..self.threads.len()).filter_map(|thread| self.pending(state, thread)).collect();
    }

    /// Makes the step of a choice, if it can happen.
    fn step(&self, state: &mut State, run: &mut RecordedRun, choice: Choice) -> bool {
        let thread = choice.thread as usize;
        if state.exited || thread >= self.threads.len() {
            return false;
        }
        match self.make(state, thread, choice.times_out) {
            PlannedStep::Waits => false,
            PlannedStep::Makes(event) => {
                run.events.push(event);
                true
            }
            PlannedStep::Round(event) => {
                let halfway = std::mem::take(&mut state.halfway[thread]);
                if halfway {
                    let first = run.events.iter_mut().rev().find(|event| event.thread == choice.thread);
                    first.expect("the first read of the round").flags |= flags::ROUND;
                }
                run.events.push(event);
                true
            }
        }
    }

    fn pending(&self, state: &State, thread: usize) -> Option<RunEvent> {
        if thread >= self.threads.len() || state.ended[thread] || !state.started[thread] {
            return None;
        }
        let mut event = self.event(state, thread);
        event.flags |= flags::PENDING;
        Some(event)
    }

    /// What a thread is about to do.
    fn event(&self, state: &State, thread: usize) -> RunEvent {
        let (act, address, size) = match self.threads[thread].get(state.at[thread]) {
            None => (Act::End, thread as u64, 0),
            Some(Do::Load(cell) | Do::Await(cell)) => (Act::Load, CELLS + cell * 8, 8),
            Some(Do::AwaitBoth(first, second)) => {
                (Act::Load, CELLS + if state.halfway[thread] { second } else { first } * 8, 8)
            }
            Some(Do::Store(cell, _)) => (Act::Store, CELLS + cell * 8, 8),
            Some(Do::Lock(lock)) => (Act::Lock, LOCKS + lock, 1),
            Some(Do::TryLock(lock)) => {
                let free = state.holder[*lock as usize].is_none() && state.readers[*lock as usize].is_empty();
                (if free { Act::Lock } else { Act::LockFails }, LOCKS + lock, 1)
            }
            Some(Do::Unlock(lock)) => (Act::Unlock, LOCKS + lock, 1),
            Some(Do::LockShared(lock)) => (Act::LockShared, LOCKS + lock, 1),
            Some(Do::UnlockShared(lock)) => (Act::UnlockShared, LOCKS + lock, 1),
            Some(Do::Give(semaphore)) => (Act::Give, SEMAPHORES + semaphore, 1),
            Some(Do::Take(semaphore) | Do::TakeInTime(semaphore)) => (Act::Take, SEMAPHORES + semaphore, 1),
            Some(Do::Start(other)) => (Act::Start, u64::from(*other), 0),
            Some(Do::Join(other)) => (Act::Join, u64::from(*other), 0),
            Some(Do::Exit) => (Act::Exit, 0, 0),
        };
        let action = self.threads[thread].get(state.at[thread]);
        let flags = match action {
            Some(Do::TryLock(_)) => flags::TRIES,
            Some(Do::TakeInTime(_)) => flags::TIMED,
            _ => 0,
        };
        let pc = (state.at[thread] * 2 + usize::from(state.halfway[thread])) as u64 + 1;
        RunEvent {
            thread: thread as u32,
            operation: RunOperation { act, order: RecordedOrder::SeqCst, address, size },
            flags,
            read: 0,
            written: 0,
            pc,
            // It says where the thread is.
            state: if matches!(act, Act::Load) { pc << 8 | (thread as u64 + 1) } else { 0 },
        }
    }

    fn make(&self, state: &mut State, thread: usize, times_out: bool) -> PlannedStep {
        if !state.started[thread] || state.ended[thread] {
            return PlannedStep::Waits;
        }
        let mut event = self.event(state, thread);
        let action = self.threads[thread].get(state.at[thread]).copied();
        if let Some(Do::TakeInTime(semaphore)) = action
            && times_out
        {
            event.flags |= flags::TIMED_OUT;
            event.read = 1;
            state.at[thread] += 1;
            return if state.given[semaphore as usize] == 0 { PlannedStep::Makes(event) } else { PlannedStep::Waits };
        }
        if times_out {
            return PlannedStep::Waits;
        }
        let is_free = |lock: u64| state.holder[lock as usize].is_none() && state.readers[lock as usize].is_empty();
        match action {
            None => state.ended[thread] = true,
            Some(Do::Load(cell)) => event.read = state.cells[cell as usize],
            Some(Do::Store(cell, value)) => {
                event.read = std::mem::replace(&mut state.cells[cell as usize], value);
                event.written = value;
                event.flags |= flags::OVERWRITES;
            }
            Some(Do::Await(cell)) => {
                event.read = state.cells[cell as usize];
                if event.read != 1 {
                    return self.go_round(state, thread, event);
                }
            }
            Some(Do::AwaitBoth(first, second)) => {
                let halfway = state.halfway[thread];
                event.read = state.cells[if halfway { second } else { first } as usize];
                if event.read != 1 {
                    return self.go_round(state, thread, event);
                }
                state.halfway[thread] = !halfway;
                if !halfway {
                    if state.round[thread] == Some((second, state.cells[second as usize])) {
                        state.halfway[thread] = false;
                        return PlannedStep::Waits;
                    }
                    return PlannedStep::Makes(event);
                }
            }
            Some(Do::Lock(lock)) if is_free(lock) => state.holder[lock as usize] = Some(thread),
            Some(Do::TryLock(lock)) if is_free(lock) => state.holder[lock as usize] = Some(thread),
            Some(Do::TryLock(lock)) => {
                let rest = &self.threads[thread][state.at[thread]..];
                state.at[thread] += rest.iter().position(|other| *other == Do::Unlock(lock)).expect("an unlock");
            }
            Some(Do::Unlock(lock)) => state.holder[lock as usize] = None,
            Some(Do::LockShared(lock)) if state.holder[lock as usize].is_none() => {
                state.readers[lock as usize].push(thread);
            }
            Some(Do::UnlockShared(lock)) => state.readers[lock as usize].retain(|&reader| reader != thread),
            Some(Do::Give(semaphore)) => state.given[semaphore as usize] += 1,
            Some(Do::Take(semaphore) | Do::TakeInTime(semaphore)) if state.given[semaphore as usize] > 0 => {
                state.given[semaphore as usize] -= 1;
            }
            Some(Do::Start(other)) => state.started[other as usize] = true,
            Some(Do::Join(other)) if state.ended[other as usize] => {}
            Some(Do::Exit) => state.exited = true,
            Some(Do::Lock(_) | Do::LockShared(_) | Do::Take(_) | Do::TakeInTime(_) | Do::Join(_)) => {
                return PlannedStep::Waits;
            }
        }
        if action.is_some() {
            state.at[thread] += 1;
        }
        state.round[thread] = None;
        PlannedStep::Makes(event)
    }

    /// A read that makes a waiting loop go round. The thread waits then until the cell has another value.
    fn go_round(&self, state: &mut State, thread: usize, mut event: RunEvent) -> PlannedStep {
        let read = ((event.operation.address - CELLS) / 8, event.read);
        if state.round[thread] == Some(read) && !state.halfway[thread] {
            return PlannedStep::Waits;
        }
        state.round[thread] = Some(read);
        event.flags |= flags::ROUND;
        PlannedStep::Round(event)
    }
}

/// The trace of the events that are no parts of rounds.
pub fn trace(run: &RecordedRun) -> Key {
    let events: Vec<RunEvent> = run.events.iter().filter(|event| !event.is(flags::ROUND)).copied().collect();
    key(&events)
}
