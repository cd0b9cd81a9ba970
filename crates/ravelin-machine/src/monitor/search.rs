//! The monitored SC space as a system to explore, and the findings as runs.

use super::columns::WIDTHS;
use super::effect::C11Settings;
use super::old_values::{Guesses, OldValues, WrongGuess};
use super::plan::MonitorPlan;
use super::refusal::{MonitorRefusal, refuse};
use super::taint::Taints;
use super::{Monitor, MonitorParts};
use crate::attack::AccessLog;
use crate::compile::{BuildError, Machine};
use crate::growing::{GrowthAttempt, growing};
use crate::layout::{Growth, Overflow};
use crate::observe::GoalFootprint;
use crate::run::{Run, UnreadablePath};
use crate::settings::{Purpose, Reductions, Settings};
use crate::step::StepOutcome;
use ravelin_explore::{End, Limit, Options, Sink, Statistics, Storage, StorageError, System, Until, Watch, explore};
use ravelin_program::{HardwareProgram, Instruction, Model, Order, Program, ThreadId, TransitionId, Value};
use ravelin_semantics::Action;
use std::collections::{BTreeSet, HashSet};
use std::time::Instant;

/// The answer.
#[derive(Debug)]
pub struct MonitorSearch {
    /// The first finding, or the first that was accepted.
    pub found: Option<MonitorFinding>,
    /// There were others before it, which were not accepted.
    pub rejected: bool,
    /// In an observational search: loads that may be stale somewhere, whose values were not used so far.
    pub irrelevant: Vec<(ThreadId, TransitionId)>,
    pub limit: Option<Limit>,
    pub statistics: Statistics,
}

/// An SC run, and the access after it that is stale or races. Transitions are those of the program as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorFinding {
    pub run: Run,
    pub thread: ThreadId,
    pub transition: TransitionId,
    pub kind: MonitorFindingKind,
    /// In an observational search: the steps of the run that are loads which may be stale, their values not used so far.
    pub irrelevant: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MonitorFindingKind {
    /// The access may read, or be ordered before, a write that is SC-before it.
    Stale,
    /// The access races with an earlier one.
    Race,
    /// In an observational search: the step uses what a load may have read that may be stale, or a goal can see it behind the step.
    Use,
}

impl MonitorFindingKind {
    const ALL: [MonitorFindingKind; 3] = [MonitorFindingKind::Stale, MonitorFindingKind::Race, MonitorFindingKind::Use];

    /// Of a number that the exploration knows.
    fn of(number: u32) -> MonitorFindingKind {
        MonitorFindingKind::ALL[number as usize % MonitorFindingKind::ALL.len()]
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MonitorError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Refused(#[from] MonitorRefusal),
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A limit was hit before there was anything to search.
    #[error(transparent)]
    Limit(#[from] Limit),
    /// A defect of the machine.
    #[error(transparent)]
    Unreadable(#[from] UnreadablePath),
}

/// Searches for an access that may be stale, or races. Without partial order reduction, no other is nearer.
pub fn monitor(program: &Program, settings: C11Settings, options: &Options) -> Result<MonitorSearch, MonitorError> {
    let options = Options { until: Until::LevelOfFirstFinding, ..*options };
    monitor_for(program, settings, &options, &mut |_| Ok(true))
}

/// Searches for a finding that is accepted, among those that an exploration reports which ends as `options` say. Of a
/// space that is not all in the memory of this process there are runs only to the first finding of each access.
pub fn monitor_for(
    program: &Program,
    settings: C11Settings,
    options: &Options,
    accept: &mut dyn FnMut(&MonitorFinding) -> Result<bool, Limit>,
) -> Result<MonitorSearch, MonitorError> {
    refuse(program)?;
    let goals = GoalFootprint::new(program, Purpose::Goals);
    let mut program = if settings.model.is_hardware() { on_hardware(program) } else { program.clone() };
    program.goals.clear();
    let mut guesses = Guesses::default();
    if settings.reductions.old_values && !settings.observational {
        guesses = Guesses::new(&mut program, &Watch::new(options.budget, "looking for cells that grow"))?;
    }
    let build = |growth: &Growth, watch: &Watch| Ok(Machine::new(&program, machine_settings(settings), growth, watch)?);
    growing(options, build, |machine, left| {
        let start = Instant::now();
        loop {
            let watch = Watch::since(left.budget, "planning the monitor", start);
            match attempt(&machine, settings, &goals, &mut guesses, &watch, options.until, accept)? {
                MonitorAttempt::Done(search) => {
                    let limit = search.limit.map(|limit| options.budget.limits.as_given(limit));
                    return Ok(GrowthAttempt::Done(MonitorSearch { limit, ..*search }));
                }
                MonitorAttempt::Interrupted(MonitorInterrupt::Outgrown(outgrown)) => {
                    return Ok(GrowthAttempt::Outgrown(Box::new(machine), outgrown));
                }
                MonitorAttempt::Interrupted(MonitorInterrupt::WrongGuess(wrong)) => guesses.correct(wrong, &machine),
            }
        }
    })
}

/// The instructions of a machine, which has no accesses that are not atomic.
pub(super) fn on_hardware(program: &Program) -> Program {
    let mut program = HardwareProgram::stable(program).into_inner();
    for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        if let Instruction::Load { order, .. } | Instruction::Store { order, .. } = &mut transition.instruction
            && *order == Order::NonAtomic
        {
            *order = Order::Relaxed;
        }
    }
    program
}

enum MonitorAttempt {
    Done(Box<MonitorSearch>),
    Interrupted(MonitorInterrupt),
}

/// Why a search has to start again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MonitorInterrupt {
    Outgrown(Overflow),
    WrongGuess(WrongGuess),
}

impl From<Overflow> for MonitorInterrupt {
    fn from(outgrown: Overflow) -> MonitorInterrupt {
        MonitorInterrupt::Outgrown(outgrown)
    }
}

impl From<WrongGuess> for MonitorInterrupt {
    fn from(wrong: WrongGuess) -> MonitorInterrupt {
        MonitorInterrupt::WrongGuess(wrong)
    }
}

/// Plans, and explores with sets of as many words as the plan needs.
fn attempt(
    machine: &Machine,
    settings: C11Settings,
    goals: &GoalFootprint,
    guesses: &mut Guesses,
    watch: &Watch,
    until: Until,
    accept: &mut dyn FnMut(&MonitorFinding) -> Result<bool, Limit>,
) -> Result<MonitorAttempt, MonitorError> {
    let plan = MonitorPlan::new(machine, settings, watch)?;
    if plan.is_idle() {
        return Ok(MonitorAttempt::Done(Box::new(MonitorSearch {
            found: None,
            rejected: false,
            irrelevant: Vec::new(),
            limit: None,
            statistics: Statistics::default(),
        })));
    }
    let old_values = OldValues::new(machine, &plan, guesses, watch)?;
    let words = plan.columns().div_ceil(64);
    let parts = MonitorParts { plan, settings, goals, old_values };
    match words {
        words if words <= WIDTHS[0] => search::<{ WIDTHS[0] }>(machine, parts, watch, until, accept),
        words if words <= WIDTHS[1] => search::<{ WIDTHS[1] }>(machine, parts, watch, until, accept),
        _ => search::<{ WIDTHS[2] }>(machine, parts, watch, until, accept),
    }
}

/// Explores with sets of `N` words, which are enough for the plan.
fn search<const N: usize>(
    machine: &Machine,
    parts: MonitorParts,
    watch: &Watch,
    until: Until,
    accept: &mut dyn FnMut(&MonitorFinding) -> Result<bool, Limit>,
) -> Result<MonitorAttempt, MonitorError> {
    let monitor = Monitor::<N>::new(machine, parts, watch)?;
    let budget = watch.rest();
    let space = explore(&monitor, &Options { budget, until });
    let mut limit = match space.end {
        End::Interrupted(why) => return Ok(MonitorAttempt::Interrupted(why)),
        End::Failed(error) => return Err(error.into()),
        End::Limit(limit) => Some(limit),
        _ => None,
    };
    let mut findings = space.findings.clone();
    let Storage { spill, checkpoints, peers, .. } = budget.storage;
    if spill.is_some() || checkpoints.is_some() || peers.is_some() {
        let mut kinds = HashSet::new();
        findings.retain(|finding| kinds.insert(finding.kind));
    }
    // Of several findings in one level, a stale access says more than a race.
    findings.sort_by_key(|finding| MonitorFindingKind::of(finding.kind) as u32);
    let (mut found, mut rejected) = (None, false);
    for finding in &findings {
        let candidate = monitor.read_back(&space.path(finding.state), finding.kind)?;
        match accept(&candidate) {
            Ok(true) => {
                found = Some(candidate);
                break;
            }
            Ok(false) => rejected = true,
            Err(reached) => {
                rejected = true;
                limit = limit.or(Some(reached));
                break;
            }
        }
    }
    // What holds for a thread holds for those that it was exchanged with.
    let ignored = monitor.taints.as_ref().map(Taints::ignored).unwrap_or_default().into_iter();
    let images = |(thread, step): (ThreadId, TransitionId)| {
        monitor.symmetry.alike(thread.0).into_iter().map(move |thread| (ThreadId(thread), step))
    };
    let irrelevant = ignored.flat_map(images).collect::<BTreeSet<_>>().into_iter().collect();
    let statistics = space.statistics;
    Ok(MonitorAttempt::Done(Box::new(MonitorSearch { found, rejected, irrelevant, limit, statistics })))
}

pub(super) fn machine_settings(settings: C11Settings) -> Settings {
    // The monitor's sets are exchanged with the threads.
    let reductions = Reductions { symmetry: false, ..settings.reductions };
    Settings { model: Model::Sc, buffer: 0, purpose: Purpose::Monitor, reductions, deadlocks: false }
}

/// Collects the successors of a state. Reused from state to state so that nothing is allocated.
pub(crate) struct MonitorScratch {
    words: usize,
    /// Intermediate states of fused steps, starting with the state after the first step.
    states: Vec<u64>,
    links: Vec<MonitorLink>,
    pub(super) next: Vec<u64>,
    pub(super) accesses: AccessLog,
    /// A fused step led back in the control flow.
    pub(super) went_back: bool,
    /// The successors by one thread, before it is known whether they are enough.
    pub(super) found: Vec<u64>,
}

/// How an intermediate state was reached, and whether to store it.
struct MonitorLink {
    parent: usize,
    step: usize,
    choice: Value,
    ignored: bool,
    end: bool,
}

/// After this many intermediate states, all remaining ones are stored.
const MOST_ON_THE_WAY: usize = 256;

impl MonitorScratch {
    fn new(words: usize) -> MonitorScratch {
        MonitorScratch {
            words,
            states: Vec::new(),
            links: Vec::new(),
            next: vec![0; words],
            accesses: AccessLog::default(),
            went_back: false,
            found: Vec::new(),
        }
    }

    #[inline]
    fn state(&self, node: usize) -> &[u64] {
        &self.states[node * self.words..(node + 1) * self.words]
    }

    /// Adds `next`, or finds it among the existing states.
    fn add(&mut self, parent: usize, step: usize, choice: Value, ignored: bool, end: bool) {
        match (0..self.links.len()).find(|&node| self.state(node) == self.next) {
            Some(node) => self.links[node].end |= end,
            None => {
                self.states.extend_from_slice(&self.next);
                self.links.push(MonitorLink { parent, step, choice, ignored, end });
            }
        }
    }

    /// The actions from the expanded state to an intermediate one, and which of them are loads that are ignored.
    fn actions(&self, thread: usize, node: usize) -> Vec<(Action, bool)> {
        let mut actions = Vec::new();
        let mut at = node;
        loop {
            let MonitorLink { parent, step, choice, ignored, .. } = self.links[at];
            actions.push((Action::Step { thread: ThreadId(thread), transition: TransitionId(step), choice }, ignored));
            if at == 0 {
                actions.reverse();
                return actions;
            }
            at = parent;
        }
    }
}

impl<const N: usize> Monitor<'_, N> {
    /// All successors by a thread: `emit` gets each with the scratch and the number of the last intermediate state.
    /// `report` gets findings, with the scratch and the intermediate state from which the step is taken, if it is one.
    pub(super) fn expand_thread(
        &self,
        thread: usize,
        state: &[u64],
        scratch: &mut MonitorScratch,
        mut emit: impl FnMut(&MonitorScratch, &mut [u64], usize),
        mut report: impl FnMut(u32, &MonitorScratch, Option<usize>),
    ) -> Result<(), MonitorInterrupt> {
        let code = &self.machine.threads[thread];
        let location = self.machine.layout.locations[thread].get(state) as usize;
        for index in code.starts[location]..code.starts[location + 1] {
            let stale = self.out_of_date(thread, index, state)?;
            let may_ignore = |taints: &Taints| taints.may_ignore(thread, index);
            let ignored = stale == Some(MonitorFindingKind::Stale) && self.taints.as_ref().is_some_and(may_ignore);
            if let Some(kind) = stale.filter(|_| !ignored) {
                report(self.number(thread, index, kind), scratch, None);
            }
            if self.uses_taint(thread, index, state) {
                report(self.number(thread, index, MonitorFindingKind::Use), scratch, None);
            }
            for choice in self.machine.choices(&code.steps[index].op) {
                let Some(seen) = self.take(thread, index, choice, ignored, state, scratch)? else { continue };
                if seen {
                    report(self.number(thread, index, MonitorFindingKind::Use), scratch, None);
                }
                if !self.plan.marks.is_empty()
                    && let Some((slot, _)) = scratch.accesses.iter().next()
                {
                    let writes = scratch.accesses.iter().any(|(_, writes)| writes);
                    if self.races(thread, index, slot, writes, &scratch.next) {
                        report(self.number(thread, index, MonitorFindingKind::Race), scratch, None);
                    }
                }
                scratch.states.clear();
                scratch.links.clear();
                let to = code.steps[index].to as usize;
                if !code.fusible[to] {
                    let mut next = std::mem::take(&mut scratch.next);
                    scratch.links.push(MonitorLink { parent: 0, step: index, choice, ignored, end: true });
                    self.forget(&mut next);
                    emit(scratch, &mut next, 0);
                    scratch.next = next;
                    continue;
                }
                scratch.add(0, index, choice, ignored, false);
                self.walk(thread, scratch, &mut report)?;
                let mut next = std::mem::take(&mut scratch.next);
                for node in (0..scratch.links.len()).filter(|&node| scratch.links[node].end) {
                    next.copy_from_slice(scratch.state(node));
                    self.forget(&mut next);
                    emit(scratch, &mut next, node);
                }
                scratch.next = next;
            }
        }
        Ok(())
    }

    /// A step uses what may be stale.
    #[inline]
    fn uses_taint(&self, thread: usize, index: usize, state: &[u64]) -> bool {
        self.taints.as_ref().is_some_and(|taints| taints.is_used(thread, index, state))
    }

    /// Takes one step into `next`, including its effect on the sets. If it was taken, returns whether a goal may see there what may
    /// be stale.
    #[inline]
    pub(super) fn take(
        &self,
        thread: usize,
        index: usize,
        choice: Value,
        ignored: bool,
        state: &[u64],
        scratch: &mut MonitorScratch,
    ) -> Result<Option<bool>, MonitorInterrupt> {
        let MonitorScratch { next, accesses, .. } = scratch;
        next.copy_from_slice(state);
        accesses.clear();
        let step = &self.machine.threads[thread].steps[index];
        match self.machine.take_logged(thread, step, choice, next, accesses) {
            StepOutcome::Taken => {
                self.check_guesses(accesses, state, next)?;
                self.update(thread, index, accesses, |slot| self.machine.layout.cells[slot].get(state), ignored, next);
                Ok(Some(match &self.taints {
                    Some(taints) => taints.update(thread, index, ignored, state, next),
                    None => false,
                }))
            }
            StepOutcome::Outgrown(outgrown) => Err(outgrown.into()),
            _ => Ok(None),
        }
    }

    /// Continues through the fused steps of a thread, as `chain.rs` does, with the sets.
    fn walk(
        &self,
        thread: usize,
        scratch: &mut MonitorScratch,
        report: &mut impl FnMut(u32, &MonitorScratch, Option<usize>),
    ) -> Result<(), MonitorInterrupt> {
        let code = &self.machine.threads[thread];
        let mut node = 0;
        while node < scratch.links.len() {
            let location = self.machine.layout.locations[thread].get(scratch.state(node)) as usize;
            let goes_on = !scratch.links[node].end && code.fusible[location] && scratch.links.len() < MOST_ON_THE_WAY;
            let mut any = false;
            if goes_on {
                let state = scratch.state(node).to_vec();
                for index in code.starts[location]..code.starts[location + 1] {
                    let used = self.number(thread, index, MonitorFindingKind::Use);
                    if self.uses_taint(thread, index, &state) {
                        report(used, scratch, Some(node));
                    }
                    for choice in self.machine.choices(&code.steps[index].op) {
                        if let Some(seen) = self.take(thread, index, choice, false, &state, scratch)? {
                            any = true;
                            if seen {
                                report(used, scratch, Some(node));
                            }
                            let back = code.steps[index].back;
                            scratch.went_back |= back;
                            scratch.add(node, index, choice, false, back);
                        }
                    }
                }
            }
            scratch.links[node].end |= !any;
            node += 1;
        }
        Ok(())
    }

    /// The run along a path of stored states. These are representatives. The run consists of the threads that they stand for,
    /// and of states in which old values are not forgotten: its steps can be taken with these as well.
    fn read_back(&self, path: &[&[u64]], number: u32) -> Result<MonitorFinding, UnreadablePath> {
        let Some(first) = path.first() else { return Err(UnreadablePath { step: 0 }) };
        let (mut run, _) = self.machine.read_back(&[&first[..self.machine.layout.words]])?;
        // The thread of the run that each thread of the stored state stands for.
        let mut stands_for: Vec<usize> = (0..self.machine.threads.len()).collect();
        let mut irrelevant = Vec::new();
        let mut extend = |run: &mut Run, actions: Vec<(Action, bool)>, stands_for: &[usize]| {
            for (action, ignored) in actions {
                if ignored {
                    irrelevant.push(run.actions.len());
                }
                run.actions.push(match action {
                    Action::Step { thread, transition, choice } => {
                        Action::Step { thread: ThreadId(stands_for[thread.0]), transition, choice }
                    }
                    other => other,
                });
            }
        };
        let mut scratch = MonitorScratch::new(self.rows.words);
        for (step, states) in path.windows(2).enumerate() {
            let mut reached = None;
            for thread in 0..self.machine.threads.len() {
                let look = |scratch: &MonitorScratch, next: &mut [u64], node: usize| {
                    let mut standing = stands_for.clone();
                    self.symmetry.canonicalise_with(&self.rows, next, |one, other| standing.swap(one, other));
                    if reached.is_none() && next == states[1] {
                        reached = Some((standing, scratch.actions(thread, node)));
                    }
                };
                // A thread that was not moved here may have a value that has no room.
                let _ = self.expand_thread(thread, states[0], &mut scratch, look, |_, _, _| {});
            }
            let (standing, actions) = reached.ok_or(UnreadablePath { step: step + 1 })?;
            extend(&mut run, actions, &stands_for);
            stands_for = standing;
        }
        let (kind, last) = (MonitorFindingKind::of(number), path[path.len() - 1]);
        let mut shown = None;
        for thread in 0..self.machine.threads.len() {
            let report = |reported: u32, scratch: &MonitorScratch, node: Option<usize>| {
                if reported == number && shown.is_none() {
                    let step = reported as usize / MonitorFindingKind::ALL.len() - self.steps_before(thread);
                    let actions = node.map(|node| scratch.actions(thread, node)).unwrap_or_default();
                    shown = Some((thread, step, actions));
                }
            };
            let _ = self.expand_thread(thread, last, &mut scratch, |_, _, _| {}, report);
        }
        let (thread, step, actions) = shown.ok_or(UnreadablePath { step: path.len() })?;
        extend(&mut run, actions, &stands_for);
        let (thread, transition) = (ThreadId(stands_for[thread]), TransitionId(step));
        Ok(MonitorFinding { run, thread, transition, kind, irrelevant })
    }

    fn number(&self, thread: usize, step: usize, kind: MonitorFindingKind) -> u32 {
        ((self.steps_before(thread) + step) * MonitorFindingKind::ALL.len() + kind as usize) as u32
    }

    fn steps_before(&self, thread: usize) -> usize {
        self.machine.threads[..thread].iter().map(|code| code.steps.len()).sum()
    }
}

impl<const N: usize> System for Monitor<'_, N> {
    type Scratch = MonitorScratch;
    type Interrupt = MonitorInterrupt;

    fn width(&self) -> usize {
        self.rows.words
    }

    fn scratch(&self) -> MonitorScratch {
        MonitorScratch::new(self.rows.words)
    }

    /// Fences before the first access do not matter: all views know everything then.
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

    fn expand(&self, state: &[u64], scratch: &mut MonitorScratch, sink: &mut Sink) -> Result<(), MonitorInterrupt> {
        let mut reports = Vec::new();
        for thread in 0..self.alone.len() {
            if self.expand_alone(thread, state, scratch, &mut reports)? {
                for next in scratch.found.chunks_exact_mut(self.rows.words) {
                    self.symmetry.canonicalise(&self.rows, next);
                    sink.push(next);
                }
                reports.into_iter().for_each(|number| sink.report(number));
                return Ok(());
            }
        }
        for thread in 0..self.machine.threads.len() {
            let emit = |_: &MonitorScratch, next: &mut [u64], _: usize| {
                self.symmetry.canonicalise(&self.rows, next);
                sink.push(next);
            };
            self.expand_thread(thread, state, scratch, emit, |number, _, _| reports.push(number))?;
        }
        reports.into_iter().for_each(|number| sink.report(number));
        Ok(())
    }
}
