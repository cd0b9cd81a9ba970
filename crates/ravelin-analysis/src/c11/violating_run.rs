//! A violation that was seen once, looked for again in programs with other changes: which sets of offers leave it, and so what to learn.
//!
//! A [`ViolatingRun`] against robustness is the SC run up to an access, and the access; against safety it is a run under the model, with the
//! write that each step reads and the place of its own. Changes keep the numbers of the program's transitions; the fences that are put
//! in are steps that a thread takes right behind the edge that they stand at. So the run can be followed in the program with any set of
//! changes, and the axioms say whether the access may still be stale, or race, or whether the model still has the run.
//!
//! **Clauses.** Stronger orders and fences add to sw, hb and psc and take nothing away, and no axiom is violated by having less of these;
//! what SC says about a graph does not depend on them, nor do the values that are read and the locations that threads reach. So a graph that
//! violates robustness or a goal, or has a race, in the program with a set M of offers is one in the program with any subset of M as well, with
//! weaker labels and without the fences: every set that serves the purpose has an offer that is not in M. The clause is what is not in M, and
//! small if M is large: M is grown from the set under which the violation was seen, by one offer after the other, as long as the same run still shows it.
//! Cheap offers come first, so that what remains in the clause is dear and raises the bound. One run gives several clauses: the next
//! one is grown from M with the whole first clause taken, if the violation survives that, as it does where a release and an
//! acquire are both missing.

use super::question::C11Violation;
use super::replay::ReplayedRun;
use crate::InternalError;
use crate::fences::{FenceSet, Offer};
use ravelin_machine::Violation;
use ravelin_machine::messages::{MessageRun, MessageStep};
use ravelin_program::{Program, Site, ThreadId, TransitionId, Value, repaired};
use ravelin_semantics::Action;
use ravelin_semantics::rc20::{
    Graph, GraphEvent, GrowingGraph, Label, NoSuchStep, OrderReading, atomics_sc_consistent, races, rc20_consistent,
};
use std::collections::HashSet;
use std::convert::Infallible;

/// A program and what can be changed.
#[derive(Clone, Copy)]
pub(super) struct ChangeableProgram<'a> {
    pub program: &'a Program,
    pub sites: &'a [Site],
    pub offers: &'a [Offer],
    pub reading: OrderReading,
}

/// A run of the program, without what was put in, and what is wrong at its end.
#[derive(Clone, Debug)]
pub(super) struct ViolatingRun {
    /// What cells hold at first.
    memory: Vec<(Value, Value)>,
    steps: Vec<MessageStep<Value>>,
    end: RunEnd,
}

/// What is wrong at the end of a run.
#[derive(Clone, Copy, Debug)]
enum RunEnd {
    /// The next access of a thread may be stale.
    Stale(ThreadId, TransitionId),
    /// It may be stale, or race.
    StaleOrRace(ThreadId, TransitionId),
    /// A goal is violated, or it is a deadlock. That depends on what was read, and on no order or fence.
    Goal,
    /// The next step of a thread may fail: an assertion, or a fault.
    Failure(ThreadId, TransitionId),
}

impl RunEnd {
    /// The step after the run.
    fn step(self) -> Option<(ThreadId, TransitionId)> {
        match self {
            RunEnd::Goal => None,
            RunEnd::Stale(thread, transition)
            | RunEnd::StaleOrRace(thread, transition)
            | RunEnd::Failure(thread, transition) => Some((thread, transition)),
        }
    }
}

impl ChangeableProgram<'_> {
    /// The program with some of the offers.
    pub fn made(&self, taken: &[usize]) -> Program {
        let set = FenceSet { offers: taken.to_vec(), cost: crate::fences::Cost::default() };
        repaired(self.program, self.sites, &set.choices(self.offers))
    }

    /// What was seen in the program with some changes. Races are violations of robustness if they were asked for.
    pub fn sighting(&self, violation: &C11Violation, races: bool) -> Result<ViolatingRun, InternalError> {
        let (actions, graph, access) = match violation {
            C11Violation::NotRobust(witness) => (&witness.actions, &witness.graph, witness.access),
            C11Violation::Race(race) => (&race.actions, &race.graph, race.second),
        };
        let initial = |event: &GraphEvent| match event.label {
            Label::Write { address, value, .. } if event.is_initial() => Some((address, value)),
            _ => None,
        };
        let GraphEvent { thread: Some(thread), transition: Some(transition), .. } = graph.events[access] else {
            return Err(InternalError("a violation of robustness is no step of a thread".to_owned()));
        };
        let under_sc = |&action: &Action| MessageStep { action, reads: None, writes: None };
        Ok(ViolatingRun {
            memory: graph.events.iter().filter_map(initial).collect(),
            steps: actions.iter().filter(|action| self.is_own(**action)).map(under_sc).collect(),
            end: if races { RunEnd::StaleOrRace(thread, transition) } else { RunEnd::Stale(thread, transition) },
        })
    }

    /// A run to a violation of a goal, an assertion or a domain in the program with some changes. `None` if the program without changes does
    /// not violate the goal at the end of the run: a condition that a thread is *not* at a label can hold before a fence that was put in, and only there.
    pub fn unsafe_run(&self, violation: Violation, run: &MessageRun) -> Result<Option<ViolatingRun>, InternalError> {
        let steps = run.steps.iter().filter(|step| self.is_own(step.action)).copied().collect();
        let run = MessageRun { start: run.start.clone(), steps };
        let end = match violation {
            Violation::Goal(goal) if !ReplayedRun::of(self.program, &run)?.violated_goals().contains(&goal) => {
                return Ok(None);
            }
            // In a deadlock no thread stands before a fence: it could pass.
            Violation::Goal(_) | Violation::Deadlock => RunEnd::Goal,
            Violation::Assert { thread, transition } | Violation::Fault { thread, transition, .. } => {
                RunEnd::Failure(thread, transition)
            }
        };
        Ok(Some(ViolatingRun { memory: run.start.memory, steps: run.steps, end }))
    }

    /// A step of the program as it is, not one that was put in.
    fn is_own(&self, action: Action) -> bool {
        match action {
            Action::Step { thread, transition, .. } => transition.0 < self.program.threads[thread.0].transitions.len(),
            Action::Flush { .. } => false,
        }
    }

    /// The sighting is a violation of the program with these offers, too.
    pub fn leave(&self, sighting: &ViolatingRun, taken: &[usize]) -> bool {
        let program = self.made(taken);
        let Ok(grown) = self.follow(&program, sighting) else { return false };
        let not_robust = |graph: &Graph| !atomics_sc_consistent(graph) && rc20_consistent(graph, self.reading);
        match sighting.end {
            RunEnd::Stale(thread, transition) => grown.extensions(thread, transition).iter().any(not_robust),
            RunEnd::StaleOrRace(thread, transition) => {
                let violates = |graph: &Graph| not_robust(graph) || has_race(graph, thread, self.reading);
                grown.extensions(thread, transition).iter().any(violates)
            }
            RunEnd::Goal => rc20_consistent(grown.graph(), self.reading),
            RunEnd::Failure(thread, transition) => {
                let from = program.threads[thread.0].transitions[transition.0].from;
                grown.threads()[thread.0].location == from
                    && rc20_consistent(grown.graph(), self.reading)
                    && !grown.failures(thread, transition, self.reading).is_empty()
            }
        }
    }

    /// Clauses that hold for every set of offers that serves the purpose and that a set which leaves the sighting does not
    /// satisfy. They have no offer in common. An empty one says that there is no such set.
    pub fn clauses(&self, sighting: &ViolatingRun, taken: &[usize]) -> Vec<Vec<usize>> {
        // What the run does not pass leaves no trace in its graph.
        let mut passed: HashSet<(ThreadId, TransitionId)> = sighting
            .steps
            .iter()
            .filter_map(|step| match step.action {
                Action::Step { thread, transition, .. } => Some((thread, transition)),
                Action::Flush { .. } => None,
            })
            .collect();
        passed.extend(sighting.end.step());
        let is_passed = |offer: &usize| {
            self.sites[self.offers[*offer].site]
                .edges
                .iter()
                .any(|edge| passed.contains(&(edge.thread, edge.transition)))
        };
        let mut open: Vec<usize> = (0..self.offers.len()).filter(is_passed).collect();
        open.sort_by_key(|&offer| (self.offers[offer].cost, offer));
        let mut leave = |taken: &[usize]| Ok::<bool, Infallible>(self.leave(sighting, taken));
        let Ok(clauses) = ravelin_covers::clauses(&open, taken, &mut leave);
        clauses
    }

    /// Follows the run in the program with changes.
    fn follow<'p>(&self, program: &'p Program, sighting: &ViolatingRun) -> Result<GrowingGraph<'p>, NoSuchStep> {
        let mut grown = GrowingGraph::new(program, &sighting.memory);
        for thread in (0..program.threads.len()).map(ThreadId) {
            self.pass_fences(program, &mut grown, thread)?;
        }
        let place = |place: Option<(Value, usize)>| place.map(|(_, place)| place);
        for step in &sighting.steps {
            grown.follow_at(step.action, place(step.reads), place(step.writes))?;
            self.pass_fences(program, &mut grown, step.action.thread())?;
        }
        Ok(grown)
    }

    /// Takes the steps of a thread that were put in where it stands. They are fences, each the only way on. It makes no difference
    /// for the graph when they are taken, and one that nothing follows is in nobody's way.
    fn pass_fences(&self, program: &Program, grown: &mut GrowingGraph<'_>, thread: ThreadId) -> Result<(), NoSuchStep> {
        let locations = self.program.threads[thread.0].locations.len();
        loop {
            let location = grown.threads()[thread.0].location;
            if location.0 < locations {
                return Ok(());
            }
            let Some((transition, _)) = program.threads[thread.0].outgoing(location).next() else { return Ok(()) };
            grown.follow(Action::Step { thread, transition, choice: 0 })?;
        }
    }
}

/// The newest event of a thread races in a graph that the model has.
fn has_race(graph: &Graph, thread: ThreadId, reading: OrderReading) -> bool {
    let Some(newest) = GrowingGraph::newest(graph, thread) else { return false };
    let takes_part = |&(first, second): &(usize, usize)| first == newest || second == newest;
    rc20_consistent(graph, reading) && races(graph, reading).iter().any(takes_part)
}
