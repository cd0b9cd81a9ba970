//! Fused steps: from a state, everything that one thread can do by itself before other threads matter.
//!
//! The intermediate states form a small graph, which is walked breadth first and without repetition. A state is an
//! *end*, and will be stored, in three cases: the thread's location is not fusible, no step is possible there, or
//! something must be reported there. Ending early is always correct. A step back in the control flow therefore ends the
//! walk (a local loop is then stored once per round), and so does the size limit. The search and the reading back of
//! paths both use this walk, so they agree on the ends.

use crate::compile::Machine;
use crate::expand::MoveEffect;
use crate::layout::Overflow;
use crate::step::StepOutcome;
use ravelin_program::{ThreadId, TransitionId, Value};
use ravelin_semantics::Action;

/// After this many states of one walk, all remaining ones become ends.
const MOST_STATES: usize = 256;

/// One walk. Reused from state to state so that nothing is allocated.
#[derive(Default)]
pub(crate) struct FusedChain {
    words: usize,
    states: Vec<u64>,
    links: Vec<ChainLink>,
    next: Vec<u64>,
}

struct ChainLink {
    parent: usize,
    step: usize,
    choice: Value,
    end: bool,
}

impl FusedChain {
    pub fn new(words: usize) -> FusedChain {
        FusedChain { words, next: vec![0; words], ..FusedChain::default() }
    }

    fn state(&self, node: usize) -> &[u64] {
        &self.states[node * self.words..(node + 1) * self.words]
    }

    /// The walk ended because it was long.
    pub fn is_full(&self) -> bool {
        self.links.len() >= MOST_STATES
    }

    /// The states at which the walk ended.
    pub fn ends(&self) -> impl Iterator<Item = (usize, &[u64])> + '_ {
        (0..self.links.len()).filter(|&node| self.links[node].end).map(|node| (node, self.state(node)))
    }

    /// The actions from the start to a state of the walk.
    pub fn actions(&self, thread: usize, node: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        let mut at = node;
        while at != 0 {
            let ChainLink { parent, step, choice, .. } = self.links[at];
            let transition = TransitionId(step);
            actions.push(Action::Step { thread: ThreadId(thread), transition, choice });
            at = parent;
        }
        actions.reverse();
        actions
    }

    fn start(&mut self, state: &[u64]) {
        self.states.clear();
        self.links.clear();
        self.states.extend_from_slice(state);
        self.links.push(ChainLink { parent: 0, step: 0, choice: 0, end: false });
    }

    /// Adds `next`, or finds it among the existing states.
    fn add(&mut self, parent: usize, step: usize, choice: Value, end: bool) {
        let known = (0..self.links.len()).find(|&node| self.state(node) == self.next);
        match known {
            Some(node) => self.links[node].end |= end,
            None => {
                self.states.extend_from_slice(&self.next);
                self.links.push(ChainLink { parent, step, choice, end });
            }
        }
    }

    fn forget_after(&mut self, nodes: usize) {
        self.links.truncate(nodes);
        self.states.truncate(nodes * self.words);
    }
}

impl Machine {
    /// Walks from a state through the fused steps of a thread.
    pub(crate) fn walk(
        &self,
        thread: usize,
        start: &[u64],
        chain: &mut FusedChain,
        moved: &mut MoveEffect,
    ) -> Result<(), Overflow> {
        let code = &self.threads[thread];
        let location_of = |state: &[u64]| self.layout.locations[thread].get(state) as usize;
        chain.start(start);
        let mut node = 0;
        while node < chain.links.len() {
            let location = location_of(chain.state(node));
            let goes_on = !chain.links[node].end && code.fusible[location] && chain.links.len() < MOST_STATES;
            if !goes_on || !self.follow(thread, location, node, chain, moved)? {
                chain.links[node].end = true;
                moved.visible |= code.observed_location[location];
            }
            node += 1;
        }
        Ok(())
    }

    /// Adds the successors of a state. `false` if the state itself must be stored.
    fn follow(
        &self,
        thread: usize,
        location: usize,
        node: usize,
        chain: &mut FusedChain,
        moved: &mut MoveEffect,
    ) -> Result<bool, Overflow> {
        let code = &self.threads[thread];
        let before = chain.links.len();
        let mut any = false;
        for index in code.starts[location]..code.starts[location + 1] {
            let step = &code.steps[index];
            for choice in self.choices(&step.op) {
                let mut next = std::mem::take(&mut chain.next);
                next.copy_from_slice(chain.state(node));
                let outcome = self.take(thread, step, choice, &mut next);
                chain.next = next;
                match outcome {
                    StepOutcome::Taken => {
                        any = true;
                        moved.visible |= step.back;
                        chain.add(node, index, choice, step.back);
                    }
                    StepOutcome::Disabled => {}
                    StepOutcome::Outgrown(outgrown) => return Err(outgrown),
                    // This is reported for the state.
                    StepOutcome::CutOff | StepOutcome::AssertFailed | StepOutcome::Fault(_) => {
                        chain.forget_after(before);
                        return Ok(false);
                    }
                }
            }
        }
        Ok(any)
    }
}
