//! Triangular races (Owens, *Reasoning about the implementation of concurrency abstractions on x86-TSO*, ECOOP 2010): a
//! condition on SC runs alone, easier to understand than robustness, and stronger.
//!
//! An SC run has a triangular race under the following conditions. A thread stores to x and then, without a fence or
//! locked instruction in between, loads y ≠ x from memory. Another thread then stores to y, plainly or locked, while
//! the first has not moved. A load comes from memory if the thread has not stored to its cell since the store to x. A
//! program without triangular races is robust (the first helper on a witness's path makes one); the converse fails.
//!
//! The system is SC, and at any plain store a thread may become watched. The watched thread carries the cells it has
//! stored to since. After its load it stops, and so does every thread that does not store to y: other steps could as
//! well be taken before the load. Only a bus-locked block may take several steps until it comes to its store.

use super::Attacks;
use super::read_back::ReadBackError;
use super::successors::{Successors, Trail, plainly};
use super::view::AttackFields;
use crate::compile::{CompiledStep, Machine, StepOp};
use crate::growing::{GrowthAttempt, growing};
use crate::layout::{Growth, Overflow};
use crate::run::{Run, UnreadablePath};
use crate::step::StepOutcome;
use ravelin_explore::{End, Limit, Options, Sink, Statistics, System, Until, Watch, explore};
use ravelin_program::{Model, Program, Value};
use ravelin_semantics::Action;

/// The answer.
pub struct TriangularSearch {
    pub race: Option<TriangularRace>,
    pub limit: Option<Limit>,
    pub statistics: Statistics,
}

/// An SC run, and the three actions in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriangularRace {
    pub run: Run,
    /// Indices into the run's actions: the first thread's store, its load, the other thread's store.
    pub store: usize,
    pub load: usize,
    pub racing_store: usize,
}

/// Searches for a triangular race.
pub fn triangular_races(program: &Program, options: &Options) -> Result<TriangularSearch, ReadBackError> {
    let build = |growth: &Growth, watch: &Watch| Ok(super::machine(program, Model::Sc, growth, watch)?);
    growing(options, build, |machine, left| {
        let system = RaceWatch::new(&machine);
        let space = explore(&system, &Options { until: Until::FirstFinding, ..*left });
        let limit = match space.end {
            End::Interrupted(outgrown) => return Ok(GrowthAttempt::Outgrown(Box::new(machine), outgrown)),
            End::Failed(error) => return Err(error.into()),
            End::Limit(limit) => Some(options.budget.limits.as_given(limit)),
            _ => None,
        };
        let race = match space.findings.first() {
            Some(finding) => Some(system.read_back(&space.path(finding.state))?),
            None => None,
        };
        Ok(GrowthAttempt::Done(TriangularSearch { race, limit, statistics: space.statistics }))
    })
}

/// The fields of [`AttackFields`] have another purpose here. `delayed` marks the cells stored to since the watch began (their
/// values do not matter). `target` is the first of them (x), and from the load on its cell (y).
struct RaceWatch<'a> {
    attacks: Attacks<'a>,
    /// By thread and location: a load can follow before a fence or locked instruction.
    load_ahead: Vec<Vec<bool>>,
}

impl<'a> RaceWatch<'a> {
    fn new(machine: &'a Machine) -> RaceWatch<'a> {
        let threads: Vec<usize> = (0..machine.threads.len()).collect();
        let view = AttackFields::new(machine, &threads, 1, false);
        let load_ahead = threads.iter().map(|&thread| loads_ahead(machine, thread)).collect();
        RaceWatch { attacks: Attacks { machine, view }, load_ahead }
    }

    fn watched(&self, state: &[u64]) -> usize {
        match self.attacks.view.attacker {
            Some(field) => (field.get(state) as usize).wrapping_sub(1),
            None => 0,
        }
    }

    fn expand_into(&self, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        let threads = 0..self.attacks.machine.threads.len();
        let watched = self.watched(state);
        match self.attacks.view.phase.get(state) {
            0 => {
                for thread in threads {
                    self.attacks.run(thread, state, out)?;
                    self.begin_watch(thread, state, out)?;
                }
            }
            1 => {
                self.watch(watched, state, out)?;
                for thread in threads.filter(|&thread| thread != watched) {
                    self.attacks.run(thread, state, out)?;
                }
            }
            2 => {
                for thread in threads.filter(|&thread| thread != watched) {
                    self.race(thread, state, out)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn begin_watch(&self, thread: usize, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        for (index, step) in self.attacks.steps(thread, state) {
            if !matches!(step.op, StepOp::Store { .. })
                || !self.load_ahead[thread][step.to as usize]
                || self.attacks.holds_bus(thread, state)
            {
                continue;
            }
            if self.take(thread, step, 0, state, out)? {
                let Some((slot, _)) = out.log.iter().next() else { continue };
                let view = &self.attacks.view;
                view.phase.set(&mut out.next, 1);
                view.target.set(&mut out.next, slot as Value);
                if let Some(field) = view.attacker {
                    field.set(&mut out.next, thread as Value + 1);
                }
                self.attacks.follow(thread, plainly(thread, index, 0), out)?;
            }
        }
        Ok(())
    }

    /// The watched thread continues; a load may be the one that races.
    fn watch(&self, thread: usize, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        let view = &self.attacks.view;
        for (index, step) in self.attacks.steps(thread, state) {
            if step.op.waits_for_buffer() {
                continue;
            }
            for choice in self.attacks.machine.choices(&step.op) {
                if !self.take(thread, step, choice, state, out)? {
                    continue;
                }
                let trail = plainly(thread, index, choice);
                let touched: Vec<(usize, bool)> = out.log.iter().collect();
                for &(slot, writes) in &touched {
                    if let (true, Some(stored)) = (writes, view.delayed[slot]) {
                        stored.present.set(&mut out.next, 1);
                    }
                }
                if self.load_ahead[thread][step.to as usize] {
                    self.attacks.follow(thread, trail, out)?;
                }
                for &(slot, writes) in &touched {
                    let own = slot as Value == view.target.get(state) || view.delayed_value(slot, state).is_some();
                    if !writes && !own && view.levels[slot].is_some() {
                        self.take(thread, step, choice, state, out)?;
                        self.attacks.stop_attacker(thread, out);
                        view.clear_path(&mut out.next);
                        view.target.set(&mut out.next, slot as Value);
                        out.keep_as_it_is(trail);
                    }
                }
            }
        }
        Ok(())
    }

    /// Another thread's store to the loaded cell, or its way there within a bus-locked block.
    fn race(&self, thread: usize, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        let view = &self.attacks.view;
        let in_block = self.attacks.holds_bus(thread, state);
        for (index, step) in self.attacks.steps(thread, state) {
            for choice in self.attacks.machine.choices(&step.op) {
                if !self.take(thread, step, choice, state, out)? {
                    continue;
                }
                let loaded = view.target.get(state) as usize;
                let races = out.log.iter().any(|(slot, writes)| writes && slot == loaded);
                let goes_on =
                    matches!(step.op, StepOp::BusLock) || in_block && self.attacks.holds_bus(thread, &out.next);
                if races {
                    view.phase.set(&mut out.next, RACE);
                    out.keep_as_it_is(plainly(thread, index, choice));
                } else if goes_on {
                    self.attacks.follow(thread, plainly(thread, index, choice), out)?;
                }
            }
        }
        Ok(())
    }

    fn take(
        &self,
        thread: usize,
        step: &CompiledStep,
        choice: Value,
        state: &[u64],
        out: &mut Successors,
    ) -> Result<bool, Overflow> {
        out.begin(state);
        out.log.clear();
        let Successors { next, log, .. } = out;
        match self.attacks.machine.take_logged(thread, step, choice, next, log) {
            StepOutcome::Taken => Ok(true),
            StepOutcome::Outgrown(outgrown) => Err(outgrown),
            _ => Ok(false),
        }
    }

    fn read_back(&self, path: &[&[u64]]) -> Result<TriangularRace, ReadBackError> {
        let Attacks { machine, view } = &self.attacks;
        let sc: Vec<&[u64]> =
            path.iter().take_while(|state| view.phase.get(state) == 0).map(|state| &state[..view.sc_words]).collect();
        let (mut run, _) = machine.read_back(&sc)?;
        let mut out = Successors::recording(view.words);
        let (mut store, mut load) = (0, 0);
        for (step, pair) in path.windows(2).enumerate().skip(sc.len() - 1) {
            out.clear();
            let unread = || ReadBackError::Path(UnreadablePath { step });
            self.expand_into(pair[0], &mut out).map_err(|_| unread())?;
            let trail = out.trail_to(pair[1]).ok_or_else(unread)?;
            match (view.phase.get(pair[0]), view.phase.get(pair[1])) {
                (0, 1) => store = run.actions.len(),
                (1, 2) => load = run.actions.len(),
                _ => {}
            }
            run.actions.extend(trail.into_iter().map(|Trail { action, .. }| -> Action { action }));
        }
        let racing_store = run.actions.len() - 1;
        Ok(TriangularRace { run, store, load, racing_store })
    }
}

/// The phase of a state in which the race has happened.
const RACE: Value = 3;

impl System for RaceWatch<'_> {
    type Scratch = Successors;
    type Interrupt = Overflow;

    fn width(&self) -> usize {
        self.attacks.view.words
    }

    fn scratch(&self) -> Successors {
        Successors::new(self.attacks.view.words)
    }

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        self.attacks.initial_states(emit);
    }

    fn expand(&self, state: &[u64], out: &mut Successors, sink: &mut Sink) -> Result<(), Overflow> {
        if self.attacks.view.phase.get(state) == RACE {
            sink.report(0);
            return Ok(());
        }
        out.clear();
        self.expand_into(state, out)?;
        for next in out.states() {
            sink.push(next);
        }
        Ok(())
    }
}

/// By location: whether a load can follow before a fence or locked instruction.
fn loads_ahead(machine: &Machine, thread: usize) -> Vec<bool> {
    let code = &machine.threads[thread];
    let reads =
        |op: &StepOp| matches!(op, StepOp::Load { .. } | StepOp::Wait { .. } | StepOp::Locked { drains: false, .. });
    let ahead = super::hunter::accesses_ahead(machine, thread);
    ahead.iter().map(|ahead| ahead.iter().zip(&code.steps).any(|(ahead, step)| *ahead && reads(&step.op))).collect()
}
