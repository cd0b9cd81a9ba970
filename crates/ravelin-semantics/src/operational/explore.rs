//! All steps out of a state, and a naive search over all states: the baseline that faster engines must agree with.
//!
//! The search is breadth-first, keeps every state in full and prunes nothing. It may not end under an unbounded
//! buffered model, or where values grow; the limit on states is for these cases.

use super::{Reference, Refusal, State, TooMany};
use crate::Action;
use ravelin_program::{Fault, Instruction, ThreadId, TransitionId, Value};
use rustc_hash::FxHashSet;
use std::collections::{BTreeSet, VecDeque};

/// What can happen next in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnabledSteps {
    /// By thread; for each first flushes by address, then transitions by number and choice.
    pub next: Vec<(Action, State)>,
    /// Transitions that would make the program fault. They have no successor.
    pub faults: Vec<(ThreadId, TransitionId, Fault)>,
    /// Assertions that fail here. They have no successor.
    pub failed_asserts: Vec<(ThreadId, TransitionId)>,
    /// A store could not be issued because of the bound on pending stores.
    pub cut_off: bool,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// How many states were seen.
    pub states: usize,
    pub finals: BTreeSet<State>,
    /// States that are not final and have no step.
    pub stuck: BTreeSet<State>,
    /// In order of discovery, each once.
    pub faults: Vec<(ThreadId, TransitionId, Fault)>,
    pub failed_asserts: BTreeSet<(ThreadId, TransitionId)>,
    /// Numbers of the goals that some state violates.
    pub violated_goals: BTreeSet<usize>,
    /// Somewhere a store could not be issued because of the bound on pending stores.
    pub cut_off: bool,
    /// Every state reachable within the bound was seen, not only as many as the limit allows.
    pub complete: bool,
}

impl Reference {
    /// Everything that can happen next.
    pub fn steps(&self, state: &State) -> EnabledSteps {
        let mut steps = EnabledSteps::default();
        for (index, thread) in self.program.threads.iter().enumerate() {
            let id = ThreadId(index);
            for address in state.threads[index].buffer.flushable(self.model) {
                self.attempt(state, Action::Flush { thread: id, address }, &mut steps);
            }
            for (transition, code) in thread.outgoing(state.threads[index].location) {
                for choice in choices(&code.instruction) {
                    self.attempt(state, Action::Step { thread: id, transition, choice }, &mut steps);
                }
            }
        }
        steps
    }

    fn attempt(&self, state: &State, action: Action, steps: &mut EnabledSteps) {
        let refusal = match self.apply(state, action) {
            Ok(next) => return steps.next.push((action, next)),
            Err(refusal) => refusal,
        };
        let Action::Step { thread, transition, .. } = action else { return };
        match refusal {
            // Several choices of one transition may end in the same fault.
            Refusal::Fault(fault) if !steps.faults.contains(&(thread, transition, fault)) => {
                steps.faults.push((thread, transition, fault));
            }
            Refusal::AssertFails => steps.failed_asserts.push((thread, transition)),
            Refusal::BufferFull { .. } => steps.cut_off = true,
            _ => {}
        }
    }

    /// Visits every reachable state once, with its steps, breadth-first; at most `limit` of them. Returns their number,
    /// or `None` if there are more.
    pub fn visit(&self, limit: usize, visit: &mut dyn FnMut(&State, &EnabledSteps)) -> Result<Option<usize>, TooMany> {
        self.visit_while(limit, &mut |_| true, visit)
    }

    /// The same, as long as `goes_on` says so. It is asked before each state, with the number of states that are stored.
    pub fn visit_while(
        &self,
        limit: usize,
        goes_on: &mut dyn FnMut(usize) -> bool,
        visit: &mut dyn FnMut(&State, &EnabledSteps),
    ) -> Result<Option<usize>, TooMany> {
        let mut waiting: VecDeque<State> = self.initial_states()?.into();
        let mut seen: FxHashSet<State> = waiting.iter().cloned().collect();
        let mut visited = 0;
        while let Some(state) = waiting.pop_front() {
            if visited == limit || !goes_on(seen.len()) {
                return Ok(None);
            }
            visited += 1;
            let steps = self.steps(&state);
            visit(&state, &steps);
            for (_, next) in steps.next {
                if !seen.contains(&next) {
                    seen.insert(next.clone());
                    waiting.push_back(next);
                }
            }
        }
        Ok(Some(visited))
    }

    /// Visits every reachable state, at most `limit` of them.
    pub fn explore(&self, limit: usize) -> Result<Exploration, TooMany> {
        let mut found = Exploration::default();
        let ended = self.visit(limit, &mut |state, steps| {
            found.states += 1;
            if self.is_final(state) {
                found.finals.insert(state.clone());
            } else if steps.next.is_empty() {
                found.stuck.insert(state.clone());
            }
            for fault in &steps.faults {
                if !found.faults.contains(fault) {
                    found.faults.push(*fault);
                }
            }
            found.failed_asserts.extend(&steps.failed_asserts);
            found.violated_goals.extend(self.violated_goals(state));
            found.cut_off |= steps.cut_off;
        })?;
        found.complete = ended.is_some();
        Ok(found)
    }
}

/// The choices that an instruction leaves open.
fn choices(instruction: &Instruction) -> std::ops::RangeInclusive<Value> {
    match *instruction {
        Instruction::Havoc { lo, hi, .. } => lo..=hi,
        Instruction::CompareExchange { weak: true, .. } => 0..=1,
        _ => 0..=0,
    }
}
