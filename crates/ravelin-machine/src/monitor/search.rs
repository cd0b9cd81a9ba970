//! The monitored SC space as a system to explore, and what was found as a run.

use super::Monitor;
use super::deed::C11Settings;
use super::refusal::{Refusal, refuse};
use crate::attack::Accesses;
use crate::compile::{BuildError, Machine};
use crate::layout::{Growth, Outgrown};
use crate::run::{Run, Unreadable};
use crate::settings::{Purpose, Reductions, Settings};
use crate::step::Outcome;
use ravelin_explore::{End, Limit, Options, Sink, Statistics, System, Until, explore};
use ravelin_program::{Program, ThreadId, TransitionId, Value};
use ravelin_semantics::{Action, Model};

/// The answer.
#[derive(Debug)]
pub struct MonitorSearch {
    pub found: Option<Found>,
    pub limit: Option<Limit>,
    pub statistics: Statistics,
}

/// An SC run, and the access after it that shows something. Transitions are those of the program as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub run: Run,
    pub thread: ThreadId,
    pub transition: TransitionId,
    pub kind: FoundKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundKind {
    /// The access may read, or be ordered before, a write that is SC-before it.
    Stale,
    /// The access races with an earlier one.
    Race,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MonitorError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A defect of the machine.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// Looks for an access that may be stale, or races.
pub fn monitor(program: &Program, settings: C11Settings, options: &Options) -> Result<MonitorSearch, MonitorError> {
    refuse(program)?;
    let start = std::time::Instant::now();
    let mut program = program.clone();
    program.goals.clear();
    let mut growth = Growth::default();
    loop {
        let machine = Machine::new(&program, machine_settings(), &growth)?;
        if let Err(outgrown) = machine.fused_initial_states(&mut |_| {}) {
            growth.grow(outgrown, &machine.program, &machine.layout);
            continue;
        }
        let monitor = Monitor::new(&machine, settings)?;
        if monitor.is_idle() {
            return Ok(MonitorSearch { found: None, limit: None, statistics: Statistics::default() });
        }
        let mut limits = options.limits;
        limits.time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
        let space = explore(&monitor, &Options { limits, until: Until::FirstFinding, ..*options });
        let limit = match space.end {
            End::Interrupted(outgrown) => {
                growth.grow(outgrown, &machine.program, &machine.layout);
                continue;
            }
            End::Limit(Limit::Time(_)) => options.limits.time.map(Limit::Time),
            End::Limit(limit) => Some(limit),
            _ => None,
        };
        // Of several in one level a stale access says more than a race.
        let found = match space.findings.iter().min_by_key(|finding| finding.kind % 2) {
            Some(finding) => Some(monitor.read_back(&space.path(finding.state), finding.kind)?),
            None => None,
        };
        return Ok(MonitorSearch { found, limit, statistics: space.statistics });
    }
}

fn machine_settings() -> Settings {
    let reductions = Reductions { fuse: true, liveness: true, ..Reductions::NONE };
    Settings { model: Model::Sc, buffer: 0, purpose: Purpose::Monitor, reductions }
}

/// Where the successors of a state are collected. Kept from state to state so that nothing is allocated.
pub(crate) struct Scratch {
    words: usize,
    /// States on the way through fused steps, the state after the first step in front.
    states: Vec<u64>,
    links: Vec<Link>,
    next: Vec<u64>,
    accesses: Accesses,
}

/// How a state on the way was reached, and whether it is to be stored.
struct Link {
    parent: usize,
    step: usize,
    choice: Value,
    end: bool,
}

/// States on the way, after which all that are left are stored.
const MOST_ON_THE_WAY: usize = 256;

impl Scratch {
    fn new(words: usize) -> Scratch {
        Scratch { words, states: Vec::new(), links: Vec::new(), next: vec![0; words], accesses: Accesses::default() }
    }

    #[inline]
    fn state(&self, node: usize) -> &[u64] {
        &self.states[node * self.words..(node + 1) * self.words]
    }

    /// Adds `next`, or finds it among the states that are there.
    fn add(&mut self, parent: usize, step: usize, choice: Value, end: bool) {
        match (0..self.links.len()).find(|&node| self.state(node) == self.next) {
            Some(node) => self.links[node].end |= end,
            None => {
                self.states.extend_from_slice(&self.next);
                self.links.push(Link { parent, step, choice, end });
            }
        }
    }

    /// The actions from the expanded state to one on the way.
    fn actions(&self, thread: usize, node: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        let mut at = node;
        loop {
            let Link { parent, step, choice, .. } = self.links[at];
            actions.push(Action::Step { thread: ThreadId(thread), transition: TransitionId(step), choice });
            if at == 0 {
                actions.reverse();
                return actions;
            }
            at = parent;
        }
    }
}

impl Monitor<'_> {
    /// All successors by a thread: `emit` gets the scratch and which of its states is one. `report` gets findings.
    fn expand_thread(
        &self,
        thread: usize,
        state: &[u64],
        scratch: &mut Scratch,
        mut emit: impl FnMut(&Scratch, &[u64], usize),
        mut report: impl FnMut(u32),
    ) -> Result<(), Outgrown> {
        let code = &self.machine.threads[thread];
        let location = self.machine.layout.locations[thread].get(state) as usize;
        for index in code.starts[location]..code.starts[location + 1] {
            if self.may_be_stale(thread, index, state)? {
                report(self.number(thread, index, FoundKind::Stale));
            }
            for choice in self.machine.choices(&code.steps[index].op) {
                if !self.take(thread, index, choice, state, scratch)? {
                    continue;
                }
                if !self.plan.marks.is_empty()
                    && let Some((slot, _)) = scratch.accesses.iter().next()
                {
                    let writes = scratch.accesses.iter().any(|(_, writes)| writes);
                    if self.races(thread, index, slot, writes, &scratch.next) {
                        report(self.number(thread, index, FoundKind::Race));
                    }
                }
                scratch.states.clear();
                scratch.links.clear();
                let to = code.steps[index].to as usize;
                if !code.fusible[to] {
                    let mut next = std::mem::take(&mut scratch.next);
                    scratch.links.push(Link { parent: 0, step: index, choice, end: true });
                    self.rows.forget(self.machine, &self.plan, &mut next);
                    emit(scratch, &next, 0);
                    scratch.next = next;
                    continue;
                }
                scratch.add(0, index, choice, false);
                self.walk(thread, scratch)?;
                let mut next = std::mem::take(&mut scratch.next);
                for node in (0..scratch.links.len()).filter(|&node| scratch.links[node].end) {
                    next.copy_from_slice(scratch.state(node));
                    self.rows.forget(self.machine, &self.plan, &mut next);
                    emit(scratch, &next, node);
                }
                scratch.next = next;
            }
        }
        Ok(())
    }

    /// One step into `next`, with what it does to the sets. Whether it was taken.
    #[inline]
    fn take(
        &self,
        thread: usize,
        index: usize,
        choice: Value,
        state: &[u64],
        scratch: &mut Scratch,
    ) -> Result<bool, Outgrown> {
        let Scratch { next, accesses, .. } = scratch;
        next.copy_from_slice(state);
        accesses.clear();
        let step = &self.machine.threads[thread].steps[index];
        match self.machine.take_logged(thread, step, choice, next, accesses) {
            Outcome::Taken => {
                self.update(thread, index, accesses, |slot| self.machine.layout.cells[slot].get(state), next);
                Ok(true)
            }
            Outcome::Outgrown(outgrown) => Err(outgrown),
            _ => Ok(false),
        }
    }

    /// Goes on through the fused steps of a thread, as `chain.rs` does, with the sets.
    fn walk(&self, thread: usize, scratch: &mut Scratch) -> Result<(), Outgrown> {
        let code = &self.machine.threads[thread];
        let mut node = 0;
        while node < scratch.links.len() {
            let location = self.machine.layout.locations[thread].get(scratch.state(node)) as usize;
            let goes_on = !scratch.links[node].end && code.fusible[location] && scratch.links.len() < MOST_ON_THE_WAY;
            let mut any = false;
            if goes_on {
                let state = scratch.state(node).to_vec();
                for index in code.starts[location]..code.starts[location + 1] {
                    for choice in self.machine.choices(&code.steps[index].op) {
                        if self.take(thread, index, choice, &state, scratch)? {
                            any = true;
                            scratch.add(node, index, choice, code.steps[index].back);
                        }
                    }
                }
            }
            scratch.links[node].end |= !any;
            node += 1;
        }
        Ok(())
    }

    fn number(&self, thread: usize, step: usize, kind: FoundKind) -> u32 {
        let before: usize = self.machine.threads[..thread].iter().map(|code| code.steps.len()).sum();
        ((before + step) * 2 + usize::from(kind == FoundKind::Race)) as u32
    }

    fn read_back(&self, path: &[&[u64]], number: u32) -> Result<Found, Unreadable> {
        let Some(first) = path.first() else { return Err(Unreadable { step: 0 }) };
        let (mut run, _) = self.machine.read_back(&[&first[..self.rows.sc_words]])?;
        let mut scratch = Scratch::new(self.rows.words);
        for (step, pair) in path.windows(2).enumerate() {
            let mut actions = None;
            for thread in 0..self.machine.threads.len() {
                let look = |scratch: &Scratch, next: &[u64], node: usize| {
                    if actions.is_none() && next == pair[1] {
                        actions = Some(scratch.actions(thread, node));
                    }
                };
                self.expand_thread(thread, pair[0], &mut scratch, look, |_| {})
                    .map_err(|_| Unreadable { step: step + 1 })?;
            }
            run.actions.extend(actions.ok_or(Unreadable { step: step + 1 })?);
        }
        let mut step = number as usize / 2;
        let mut thread = 0;
        while step >= self.machine.threads[thread].steps.len() {
            step -= self.machine.threads[thread].steps.len();
            thread += 1;
        }
        let kind = if number.is_multiple_of(2) { FoundKind::Stale } else { FoundKind::Race };
        Ok(Found { run, thread: ThreadId(thread), transition: TransitionId(step), kind })
    }
}

impl System for Monitor<'_> {
    type Scratch = Scratch;
    type Interrupt = Outgrown;

    fn width(&self) -> usize {
        self.rows.words
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(self.rows.words)
    }

    /// Fences before the first access need no thought: all views know everything then.
    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        let mut whole = vec![0; self.rows.words];
        let emitted = self.machine.fused_initial_states(&mut |state| {
            whole.fill(0);
            whole[..state.len()].copy_from_slice(state);
            self.start(&mut whole);
            emit(&whole);
        });
        debug_assert!(emitted.is_ok(), "`monitor` looks before it explores");
    }

    fn expand(&self, state: &[u64], scratch: &mut Scratch, sink: &mut Sink) -> Result<(), Outgrown> {
        let mut reports = Vec::new();
        for thread in 0..self.machine.threads.len() {
            let emit = |_: &Scratch, next: &[u64], _: usize| sink.push(next);
            self.expand_thread(thread, state, scratch, emit, |number| reports.push(number))?;
        }
        reports.into_iter().for_each(|number| sink.report(number));
        Ok(())
    }
}
