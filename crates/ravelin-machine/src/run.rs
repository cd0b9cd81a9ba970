//! Explores a program with a machine, and reads runs back from the packed states.

use crate::chain::FusedChain;
use crate::compile::{BuildError, Machine};
use crate::expand::{MoveEffect, ReportNumber};
use crate::growing::{GrowthAttempt, growing};
use crate::layout::{Growth, Overflow};
use crate::settings::{Purpose, Settings};
use crate::step::StepOutcome;
use crate::symmetry::SymmetryScratch;
use ravelin_explore::{
    End, Limit, Limits, Options, Space, StateFinding, StateId, Statistics, StorageError, System, Watch, explore,
};
use ravelin_program::{Fault, LocId, Program, ThreadId, TransitionId, Value};
use ravelin_semantics::Action;
use std::collections::BTreeSet;

/// Explores a program.
pub fn run(program: &Program, settings: Settings, options: &Options) -> Result<ExploredProgram, RunError> {
    let build = |growth: &Growth, watch: &Watch| Ok(Machine::new(program, settings, growth, watch)?);
    growing(options, build, |machine, left| {
        let space = explore(&machine, left);
        Ok(match space.end {
            End::Interrupted(outgrown) => GrowthAttempt::Outgrown(Box::new(machine), outgrown),
            End::Failed(error) => return Err(error.into()),
            _ => GrowthAttempt::Done(ExploredProgram { machine, space, limits: options.budget.limits }),
        })
    })
}

/// Why a program was not explored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An explored program.
pub struct ExploredProgram {
    pub(crate) machine: Machine,
    pub(crate) space: Space<Overflow>,
    pub(crate) limits: Limits,
}

/// What was violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Index into the program's goals.
    Goal(usize),
    Assert {
        thread: ThreadId,
        transition: TransitionId,
    },
    Fault {
        thread: ThreadId,
        transition: TransitionId,
        fault: Fault,
    },
    /// Some thread is not at its end, and every such thread waits for a value that no thread will write.
    Deadlock,
}

/// A run: from which initial state, and the actions. Transition ids are those of the lowered program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub start: UnpackedState,
    pub actions: Vec<Action>,
}

/// A state in which nothing can move.
pub struct ProgramEnd {
    /// Every thread is at its end.
    pub is_final: bool,
    pub state: UnpackedState,
    pub(crate) id: StateId,
}

/// A state, unpacked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnpackedState {
    pub locations: Vec<LocId>,
    pub registers: Vec<Vec<Value>>,
    /// Address and value of every cell the machine knows.
    pub memory: Vec<(Value, Value)>,
}

impl ExploredProgram {
    pub fn statistics(&self) -> &Statistics {
        &self.space.statistics
    }

    /// Words of a packed state.
    pub fn words(&self) -> usize {
        self.machine.words()
    }

    /// Some store could not be issued because the buffer was full. If there was none, a larger buffer would give the
    /// same answer. With partial order reduction, a blocked store on an omitted path does not count.
    pub fn cut_off(&self) -> bool {
        self.space.cut_off
    }

    /// The limit that ended the exploration, if one did.
    pub fn limit(&self) -> Option<Limit> {
        match self.space.end {
            End::Limit(limit) => Some(self.limits.as_given(limit)),
            _ => None,
        }
    }

    /// The first violation in breadth-first order, with the run that leads to it. `Err` says that the run could not be
    /// read back, which is a defect of the machine.
    pub fn violation(&self) -> Option<Result<(Violation, Run), UnreadablePath>> {
        self.violating().next().map(|finding| self.read_back(finding))
    }

    /// As [`ExploredProgram::violation`], one for each goal, assertion and faulting step that was found violated, and
    /// one for a deadlock.
    pub fn violations(&self) -> Vec<Result<(Violation, Run), UnreadablePath>> {
        self.violating().map(|finding| self.read_back(finding)).collect()
    }

    /// The first state of each violation.
    pub(crate) fn violating(&self) -> impl Iterator<Item = &StateFinding> {
        let mut seen = BTreeSet::new();
        let asked = self.machine.purpose() != Purpose::Finals;
        self.space.findings.iter().filter(move |finding| asked && seen.insert(finding.kind))
    }

    fn read_back(&self, finding: &StateFinding) -> Result<(Violation, Run), UnreadablePath> {
        let path = self.space.path(finding.state);
        let (run, last) = self.machine.read_back(&path)?;
        if self.machine.report_of(finding.kind) == ReportNumber::Deadlock {
            return Ok((Violation::Deadlock, run));
        }
        // A report about a representative may apply to another thread in the run itself.
        let violation = self.machine.violation_in(&last).ok_or(UnreadablePath { step: path.len() })?;
        Ok((violation, run))
    }

    /// The final states that were found, and those in which nothing can move although some thread is not at its end.
    pub fn ends(&self) -> impl Iterator<Item = ProgramEnd> + '_ {
        self.space.findings.iter().filter_map(|finding| {
            let is_final = match self.machine.report_of(finding.kind) {
                ReportNumber::Final => true,
                ReportNumber::Stuck => false,
                _ => return None,
            };
            let state = self.machine.snapshot(self.space.state(finding.state));
            Some(ProgramEnd { is_final, state, id: finding.state })
        })
    }

    /// A run to one of the [`ends`](ExploredProgram::ends).
    pub fn run_to(&self, end: &ProgramEnd) -> Result<Run, UnreadablePath> {
        self.machine.read_back(&self.space.path(end.id)).map(|(run, _)| run)
    }
}

/// A stored path has a step that the machine cannot find again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step} of the stored path cannot be found again")]
pub struct UnreadablePath {
    pub step: usize,
}

impl Machine {
    pub(crate) fn snapshot(&self, state: &[u64]) -> UnpackedState {
        UnpackedState {
            locations: self.layout.locations.iter().map(|field| LocId(field.get(state) as usize)).collect(),
            registers: self
                .layout
                .registers
                .iter()
                .map(|registers| registers.iter().map(|field| field.get(state)).collect())
                .collect(),
            memory: self
                .layout
                .addresses
                .iter()
                .zip(&self.layout.cells)
                .map(|(&a, field)| (a, field.get(state)))
                .collect(),
        }
    }

    /// What is violated in a state: a goal, or the next step of a thread.
    fn violation_in(&self, state: &[u64]) -> Option<Violation> {
        if let Some(goal) = (0..self.goals.len()).find(|&goal| self.violates(goal, state)) {
            return Some(Violation::Goal(goal));
        }
        (0..self.threads.len()).find_map(|number| {
            let code = &self.threads[number];
            let location = self.layout.locations[number].get(state) as usize;
            (code.starts[location]..code.starts[location + 1]).find_map(|index| {
                let (thread, transition) = (ThreadId(number), TransitionId(index));
                self.choices(&code.steps[index].op).find_map(|choice| {
                    match self.take(number, &code.steps[index], choice, &mut state.to_vec()) {
                        StepOutcome::AssertFailed => Some(Violation::Assert { thread, transition }),
                        StepOutcome::Fault(fault) => Some(Violation::Fault { thread, transition, fault }),
                        _ => None,
                    }
                })
            })
        })
    }

    /// The actions along a path of stored states. Stored states may be representatives under symmetry; the run consists
    /// of states that really follow one another.
    pub(crate) fn read_back(&self, path: &[&[u64]]) -> Result<(Run, Vec<u64>), UnreadablePath> {
        let Some((first, rest)) = path.split_first() else { return Err(UnreadablePath { step: 0 }) };
        let (start, mut state, mut actions) = self.find_start(first).ok_or(UnreadablePath { step: 0 })?;
        for (step, target) in rest.iter().enumerate() {
            let (next, more) = self.find_step(&state, target).ok_or(UnreadablePath { step: step + 1 })?;
            state = next;
            actions.extend(more);
        }
        Ok((Run { start, actions }, state))
    }

    fn find_start(&self, target: &[u64]) -> Option<(UnpackedState, Vec<u64>, Vec<Action>)> {
        let mut starts = Vec::new();
        self.initial_states(&mut |state| starts.push(state.to_vec())).ok()?;
        starts.into_iter().find_map(|start| {
            // Local steps of one thread after the other, as in `fused_initial_states`; a thread may also not have
            // moved.
            let mut reached = vec![(start.clone(), Vec::new())];
            for thread in 0..self.threads.len() {
                let mut further = Vec::new();
                for (state, actions) in &reached {
                    for (end, more) in self.ends_of_walk(thread, state) {
                        let mut actions: Vec<Action> = actions.clone();
                        actions.extend(more);
                        further.push((end, actions));
                    }
                }
                if reached.iter().any(|(state, _)| self.represents(state, target)) {
                    break;
                }
                reached = further;
            }
            let (end, actions) = reached.into_iter().find(|(state, _)| self.represents(state, target))?;
            Some((self.snapshot(&start), end, actions))
        })
    }

    /// The ends of a walk through a thread's fused steps, each with its path.
    fn ends_of_walk(&self, thread: usize, state: &[u64]) -> Vec<(Vec<u64>, Vec<Action>)> {
        let mut chain = FusedChain::new(self.layout.words);
        match self.walk(thread, state, &mut chain, &mut MoveEffect::default()) {
            Ok(()) => chain.ends().map(|(node, end)| (end.to_vec(), chain.actions(thread, node))).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// One stored step: a step or a flush of one thread, then its fused steps.
    fn find_step(&self, state: &[u64], target: &[u64]) -> Option<(Vec<u64>, Vec<Action>)> {
        let look = |thread: usize, action: Action, next: &[u64]| {
            let (end, more) =
                self.ends_of_walk(thread, next).into_iter().find(|(end, _)| self.represents(end, target))?;
            Some((end, std::iter::once(action).chain(more).collect()))
        };
        for thread in 0..self.threads.len() {
            let code = &self.threads[thread];
            let location = self.layout.locations[thread].get(state) as usize;
            for index in code.starts[location]..code.starts[location + 1] {
                for choice in self.choices(&code.steps[index].op) {
                    let mut next = state.to_vec();
                    if self.take(thread, &code.steps[index], choice, &mut next) == StepOutcome::Taken {
                        let action = Action::Step { thread: ThreadId(thread), transition: TransitionId(index), choice };
                        if let Some(found) = look(thread, action, &next) {
                            return Some(found);
                        }
                    }
                }
            }
            if self.needs_bus(thread, state).is_err() {
                continue;
            }
            for entry in 0..self.buffer_len(thread, state) {
                if self.may_flush(thread, entry, state) {
                    let slot = self.layout.buffers[thread].entries[entry].slot.get(state) as usize;
                    let mut next = state.to_vec();
                    self.flush(thread, entry, &mut next);
                    let action = Action::Flush { thread: ThreadId(thread), address: self.layout.addresses[slot] };
                    if let Some(found) = look(thread, action, &next) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    fn represents(&self, state: &[u64], target: &[u64]) -> bool {
        let mut canonical = state.to_vec();
        self.symmetry.canonicalise(&mut canonical, &mut SymmetryScratch::default());
        canonical == target
    }
}

impl Machine {
    /// Bytes of one packed state.
    pub fn bytes(&self) -> usize {
        self.width() * 8
    }
}
