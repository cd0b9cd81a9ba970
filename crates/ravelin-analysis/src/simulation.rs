//! Walking through a program step by step on the reference semantics, by chance or by choice.

use crate::witness::{initial, narrate};
use ravelin_answer::{InitialState, RunStep};
use ravelin_program::{Model, Program, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{NotModelled, Reference, State, TooMany};
use thiserror::Error;

/// A walk in progress.
pub struct Simulation {
    reference: Reference,
    start: State,
    state: State,
    random: u64,
}

/// A step that can be taken now.
pub struct StepChoice {
    pub action: Action,
    pub told: RunStep,
    next: State,
}

/// How a walk stands when no step is left or one asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There are steps to take.
    Running,
    /// Every thread is at its end and nothing is pending.
    Final,
    /// Nothing can move. The threads that are not at their end are named.
    Stuck(Vec<String>),
}

#[derive(Clone, Debug, Error)]
pub enum SimulationError {
    #[error(transparent)]
    NotModelled(#[from] NotModelled),
    #[error(transparent)]
    TooMany(#[from] TooMany),
}

impl Simulation {
    /// Starts in an initial state that the seed chooses.
    pub fn new(program: &Program, model: Model, seed: u64) -> Result<Simulation, SimulationError> {
        let reference = Reference::new(program, model, None)?;
        let mut starts = reference.initial_states()?;
        let mut random = seed;
        let chosen = draw(&mut random, starts.len());
        let state = starts.swap_remove(chosen);
        Ok(Simulation { reference, start: state.clone(), state, random })
    }

    /// How the walk began, if these are its steps.
    pub fn initial(&self, steps: &[RunStep]) -> InitialState {
        initial(&self.reference, &self.start, steps)
    }

    pub fn choices(&self) -> Vec<StepChoice> {
        let steps = self.reference.steps(&self.state);
        let tell = |(action, next): (Action, State)| StepChoice {
            told: narrate(&self.reference, &self.state, action, &next),
            action,
            next,
        };
        steps.next.into_iter().map(tell).collect()
    }

    pub fn take(&mut self, choice: StepChoice) {
        self.state = choice.next;
    }

    /// Picks one of so many possibilities by chance.
    pub fn draw(&mut self, possibilities: usize) -> usize {
        draw(&mut self.random, possibilities)
    }

    /// What is wrong in the present state, in words: violated goals, failing assertions, faults.
    pub fn troubles(&self) -> Vec<String> {
        let program = self.reference.program();
        let steps = self.reference.steps(&self.state);
        let step = |thread: &ravelin_program::ThreadId, transition: &ravelin_program::TransitionId| {
            let thread = &program.threads[thread.0];
            let text = program.show_instruction(thread, &thread.transitions[transition.0].instruction);
            format!("{}: {text}", thread.name)
        };
        let goals = self.reference.violated_goals(&self.state);
        let goals = goals
            .iter()
            .map(|&goal| format!("a goal is violated: {}", program.show_condition(&program.goals[goal].condition)));
        let asserts =
            steps.failed_asserts.iter().map(|(thread, transition)| format!("{} fails", step(thread, transition)));
        let faults =
            steps.faults.iter().map(|(thread, transition, fault)| format!("{}: {fault}", step(thread, transition)));
        goals.chain(asserts).chain(faults).collect()
    }

    pub fn standing(&self) -> Standing {
        let program = self.reference.program();
        if self.reference.is_final(&self.state) {
            return Standing::Final;
        }
        if !self.reference.steps(&self.state).next.is_empty() {
            return Standing::Running;
        }
        let waiting = program.threads.iter().zip(&self.state.threads);
        let waiting = waiting.filter(|(thread, local)| !thread.is_end(local.location));
        Standing::Stuck(waiting.map(|(thread, _)| thread.name.clone()).collect())
    }

    /// What memory and the registers hold, by name: `x = 1`, `p[0].r = 0`.
    pub fn values(&self) -> Vec<(String, Value)> {
        let program = self.reference.program();
        let memory = self.state.memory.iter().map(|(address, value)| (program.memory.name_of(*address), *value));
        let threads = program.threads.iter().zip(&self.state.threads);
        let registers = threads.flat_map(|(thread, local)| {
            let registers = thread.registers.iter().zip(&local.registers).filter(|(register, _)| !register.hidden);
            registers.map(|(register, value)| (format!("{}.{}", thread.name, register.name), *value))
        });
        memory.chain(registers).collect()
    }
}

/// A splitmix64 step: the same seed gives the same walk everywhere.
fn draw(random: &mut u64, possibilities: usize) -> usize {
    *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *random;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    ((u128::from(mixed) * possibilities.max(1) as u128) >> 64) as usize
}
