//! All computations of a small program, and whether one of them has a cyclic trace.
//!
//! The search is breadth-first over pairs of a state and the [`Past`] of a run that leads there; of runs that agree in
//! state and prospect one is followed. Once a run has a cycle every longer one has it too, so it only remains to empty
//! the store buffers. That may be impossible, if a thread holds the bus lock for ever. Then the run is no prefix of a
//! computation and is abandoned.
//!
//! Steps that no other action can disturb, and that disturb none, are taken at once, one thread at a time: local ones,
//! fences with nothing to wait for, and issues of stores. Any violating run that does not start with such a step can be
//! rearranged so, or extended by it, without changing its cycle. An issue needs its flush at the end, hence two
//! exceptions. There are no early issues with a bus lock in the program, nor with a bound on pending stores. And a
//! thread that loops is not preferred at all, since it could keep all others waiting.
//!
//! It ends for every loop-free program, and for others if states are finitely many. Cost: the number of states under
//! the model, times the prospects of each.

use super::past::Past;
use crate::Action;
use crate::operational::{Reference, State, TooMany};
use ravelin_program::{Instruction, Model, Order, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::hash::Hash;
use thiserror::Error;

/// A computation with a cyclic trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CyclicComputation {
    /// The initial state it starts from.
    pub start: State,
    /// It ends with empty store buffers.
    pub run: Vec<Action>,
}

/// Why a search gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EnumerationLimit {
    #[error("no cyclic trace was found among the first {limit} configurations, and there are more")]
    TooManyConfigurations { limit: usize },
    #[error(transparent)]
    TooManyInitialStates(#[from] TooMany),
}

/// Searches for a computation with a cyclic trace under the reference's model. `None` if there is none. For a reference
/// without a bound on pending stores, the program is then robust against the model.
pub fn find_violation(reference: &Reference, limit: usize) -> Result<Option<CyclicComputation>, EnumerationLimit> {
    TraceSearch::new(reference, limit, true).run(|state, past| (state.clone(), past.prospect()))
}

struct TraceSearch<'a> {
    reference: &'a Reference,
    limit: usize,
    /// For each thread, whether its undisturbed steps go first.
    preferred: Vec<bool>,
    /// Issues of stores are such steps.
    issues_early: bool,
    /// How each configuration was reached.
    origins: Vec<TraceOrigin>,
    /// States from which store buffers cannot be emptied.
    hopeless: FxHashSet<State>,
    visited: usize,
}

enum TraceOrigin {
    Start(State),
    After { earlier: usize, action: Action },
}

impl<'a> TraceSearch<'a> {
    fn new(reference: &'a Reference, limit: usize, reduced: bool) -> TraceSearch<'a> {
        let program = reference.program();
        let takes_bus = |thread: &ravelin_program::Thread| {
            thread.transitions.iter().any(|transition| transition.instruction == Instruction::BusLock)
        };
        TraceSearch {
            reference,
            limit,
            preferred: program.threads.iter().map(|thread| reduced && thread.is_acyclic()).collect(),
            issues_early: reference.model().is_buffered()
                && reference.bound().is_none()
                && !program.threads.iter().any(takes_bus),
            origins: Vec::new(),
            hopeless: FxHashSet::default(),
            visited: 0,
        }
    }

    /// Follows one of the runs with the same key.
    fn run<K: Eq + Hash>(
        mut self,
        key: impl Fn(&State, &Past) -> K,
    ) -> Result<Option<CyclicComputation>, EnumerationLimit> {
        let mut seen = FxHashSet::default();
        let mut waiting = VecDeque::new();
        for state in self.reference.initial_states()? {
            let past = Past::new(state.threads.len());
            seen.insert(key(&state, &past));
            self.origins.push(TraceOrigin::Start(state.clone()));
            waiting.push_back((self.origins.len() - 1, state, past));
        }
        while let Some((configuration, state, past)) = waiting.pop_front() {
            self.count()?;
            for (action, next) in self.steps(&state) {
                let mut grown = past.clone();
                let recorded = grown.record(self.reference, &state, action, &next);
                debug_assert_eq!(recorded, Ok(()), "the step was just taken");
                if grown.is_cyclic() {
                    if let Some(rest) = self.empty_buffers(&next)? {
                        return Ok(Some(self.violation(configuration, action, rest)));
                    }
                } else if seen.insert(key(&next, &grown)) {
                    self.origins.push(TraceOrigin::After { earlier: configuration, action });
                    waiting.push_back((self.origins.len() - 1, next, grown));
                }
            }
        }
        Ok(None)
    }

    fn count(&mut self) -> Result<(), EnumerationLimit> {
        if self.visited == self.limit {
            return Err(EnumerationLimit::TooManyConfigurations { limit: self.limit });
        }
        self.visited += 1;
        Ok(())
    }

    fn steps(&self, state: &State) -> Vec<(Action, State)> {
        let mut steps = self.reference.steps(state).next;
        let is_step_of = |action: &Action, id| matches!(action, Action::Step { thread, .. } if *thread == id);
        let undisturbed = (0..state.threads.len()).map(ThreadId).find(|&thread| {
            self.is_undisturbed(state, thread) && steps.iter().any(|(action, _)| is_step_of(action, thread))
        });
        if let Some(thread) = undisturbed {
            steps.retain(|(action, _)| is_step_of(action, thread));
        }
        steps
    }

    /// All possible next steps of the thread depend only on the thread and are invisible to others. If it can do
    /// nothing now, it never will.
    fn is_undisturbed(&self, state: &State, thread: ThreadId) -> bool {
        let at = &state.threads[thread.0];
        let code = &self.reference.program().threads[thread.0];
        self.preferred[thread.0]
            && code.outgoing(at.location).all(|(_, transition)| match transition.instruction {
                Instruction::Fence(order) => {
                    at.buffer.is_empty() || (self.reference.model() == Model::Tso && order != Order::SeqCst)
                }
                Instruction::Store { .. } | Instruction::Unlock(_) => self.issues_early,
                ref other => other.is_local(),
            })
    }

    /// A shortest way to empty store buffers.
    fn empty_buffers(&mut self, state: &State) -> Result<Option<Vec<Action>>, EnumerationLimit> {
        let mut origins: FxHashMap<State, Option<(State, Action)>> = FxHashMap::from_iter([(state.clone(), None)]);
        let mut waiting = VecDeque::from([state.clone()]);
        while let Some(state) = waiting.pop_front() {
            if state.threads.iter().all(|thread| thread.buffer.is_empty()) {
                let mut rest = Vec::new();
                let mut at = &state;
                while let Some(Some((earlier, action))) = origins.get(at) {
                    rest.push(*action);
                    at = earlier;
                }
                rest.reverse();
                return Ok(Some(rest));
            }
            if self.hopeless.contains(&state) {
                continue;
            }
            self.count()?;
            for (action, next) in self.reference.steps(&state).next {
                if !origins.contains_key(&next) {
                    origins.insert(next.clone(), Some((state.clone(), action)));
                    waiting.push_back(next);
                }
            }
        }
        self.hopeless.extend(origins.into_keys());
        Ok(None)
    }

    fn violation(&self, configuration: usize, last: Action, rest: Vec<Action>) -> CyclicComputation {
        let mut run: Vec<Action> = rest.into_iter().rev().chain([last]).collect();
        let mut at = configuration;
        let start = loop {
            match &self.origins[at] {
                TraceOrigin::Start(state) => break state.clone(),
                TraceOrigin::After { earlier, action } => {
                    run.push(*action);
                    at = *earlier;
                }
            }
        };
        run.reverse();
        CyclicComputation { start, run }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;
    use ravelin_testing::Random;
    use ravelin_testing::programs::{Config, Generator};

    #[test]
    fn neither_the_prospect_nor_the_preferred_steps_lose_a_violation() {
        let generator = Generator::new(Config { total_instructions: 8, ..Config::loop_free() });
        let mut found = [0; 2];
        for seed in 0..400 {
            for model in [Model::Tso, Model::Pso] {
                let reference = Reference::new(&generator.program(seed), model, None).expect("modelled");
                let plain = TraceSearch::new(&reference, 3_000, false).run(|state, past| (state.clone(), past.clone()));
                let Ok(plain) = plain else { continue };
                let quick = find_violation(&reference, 3_000).expect("it visits fewer");
                assert_eq!(quick.is_some(), plain.is_some(), "seed {seed} under {model}");
                found[usize::from(plain.is_some())] += 1;
            }
        }
        assert!(found.iter().all(|&count| count > 50), "robust and not: {found:?}");
    }

    #[test]
    fn past_and_trace_agree_on_cycles() {
        let generator = Generator::new(Config::loop_free());
        let mut cycles = 0;
        for seed in 0..300u64 {
            for model in Model::HARDWARE {
                let reference = Reference::new(&generator.program(seed), model, None).expect("modelled");
                let start = reference.initial_states().expect("few").remove(0);
                let (mut state, mut past, mut run) = (start.clone(), Past::new(start.threads.len()), Vec::new());
                let mut random = Random::new(seed);
                loop {
                    let mut next = reference.steps(&state).next;
                    if next.is_empty() {
                        break;
                    }
                    // Stores that wait long make cycles.
                    let flushes = |(action, _): &(Action, State)| matches!(action, Action::Flush { .. });
                    if !random.once_in(8) && !next.iter().all(flushes) {
                        next.retain(|step| !flushes(step));
                    }
                    let (action, after) = next.swap_remove(random.below(next.len()));
                    past.record(&reference, &state, action, &after).expect("a step just taken");
                    run.push(action);
                    state = after;
                    let cycle = Trace::of(&reference, &start, &run).expect("a run").cycle();
                    assert_eq!(past.is_cyclic(), cycle.is_some(), "seed {seed} under {model}");
                }
                cycles += usize::from(past.is_cyclic());
            }
        }
        assert!(cycles > 20, "{cycles} runs had one");
    }
}
