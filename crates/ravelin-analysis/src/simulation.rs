//! Walking through a program step by step on the reference semantics, at random or by choice.

use crate::c11::ReplayedRun;
use crate::witness::{initial, narrate};
use ravelin_answer::{InitialState, RunStep};
use ravelin_machine::monitor::{MonitorRefusal, refuse_hardware};
use ravelin_numbers::Random;
use ravelin_program::{LocId, Model, Program, ThreadId, TransitionId, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{NotModelled, Reference, State, TooMany};
use ravelin_semantics::rc20::{GraphStep, OrderReading, ThreadFailure};
use std::collections::BTreeSet;
use thiserror::Error;

/// A walk in progress.
pub struct Simulation<'a> {
    walk: Walk<'a>,
    random: Random,
}

/// Where a walk is.
enum Walk<'a> {
    /// Under sc, tso and pso: a state of the reference semantics.
    Hardware(Box<HardwareWalk>),
    /// Under ra and rc20: a graph.
    C11(Box<C11Walk<'a>>),
}

struct HardwareWalk {
    reference: Reference,
    start: State,
    state: State,
}

struct C11Walk<'a> {
    program: &'a Program,
    /// How the axioms count the orders.
    reading: OrderReading,
    reference: Reference,
    start: State,
    run: ReplayedRun<'a>,
}

/// A step that can be taken now.
pub struct StepChoice<'a> {
    pub action: Action,
    pub told: RunStep,
    next: NextState<'a>,
}

enum NextState<'a> {
    Hardware(State),
    C11(Box<ReplayedRun<'a>>),
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
    #[error(transparent)]
    NotC11(#[from] MonitorRefusal),
}

impl<'a> Simulation<'a> {
    /// Starts in an initial state that the seed chooses.
    pub fn new(program: &'a Program, model: Model, seed: u64) -> Result<Simulation<'a>, SimulationError> {
        let reference = match model.is_c11() {
            true => {
                refuse_hardware(program)?;
                Reference::as_written(program)?
            }
            false => Reference::new(program, model, None)?,
        };
        let mut starts = reference.initial_states()?;
        let mut random = Random::new(seed);
        let start = starts.swap_remove(share(&mut random, starts.len()));
        let walk = match model.is_c11() {
            true => {
                let memory: Vec<(Value, Value)> =
                    start.memory.iter().map(|(&address, &value)| (address, value)).collect();
                let run = ReplayedRun::new(program, &memory);
                let reading = if model == Model::Ra { OrderReading::ReleaseAcquire } else { OrderReading::Written };
                Walk::C11(Box::new(C11Walk { program, reading, reference, start, run }))
            }
            false => Walk::Hardware(Box::new(HardwareWalk { reference, state: start.clone(), start })),
        };
        Ok(Simulation { walk, random })
    }

    /// How the walk began, if these are its steps.
    pub fn initial(&self, steps: &[RunStep]) -> InitialState {
        match &self.walk {
            Walk::Hardware(walk) => initial(&walk.reference, &walk.start, steps),
            Walk::C11(walk) => initial(&walk.reference, &walk.start, steps),
        }
    }

    /// Under ra and rc20 there is one choice for every write that a load may read, and for every place of a store in modification order.
    pub fn choices(&self) -> Vec<StepChoice<'a>> {
        match &self.walk {
            Walk::Hardware(walk) => {
                let tell = |(action, next): (Action, State)| StepChoice {
                    told: narrate(&walk.reference, &walk.state, action, &next),
                    action,
                    next: NextState::Hardware(next),
                };
                walk.reference.steps(&walk.state).next.into_iter().map(tell).collect()
            }
            Walk::C11(walk) => {
                let tell = |step: GraphStep| {
                    let mut next = walk.run.clone();
                    next.follow(&step).ok()?;
                    let told = next.steps.last()?.clone();
                    Some(StepChoice { action: step.action, told, next: NextState::C11(Box::new(next)) })
                };
                walk.run.grown().steps(walk.reading).into_iter().filter_map(tell).collect()
            }
        }
    }

    pub fn take(&mut self, choice: StepChoice<'a>) {
        match (&mut self.walk, choice.next) {
            (Walk::Hardware(walk), NextState::Hardware(next)) => walk.state = next,
            (Walk::C11(walk), NextState::C11(next)) => walk.run = *next,
            _ => debug_assert!(false, "a choice of another walk"),
        }
    }

    /// Picks one of so many possibilities at random.
    pub fn draw(&mut self, possibilities: usize) -> usize {
        share(&mut self.random, possibilities)
    }

    fn program(&self) -> &Program {
        match &self.walk {
            Walk::Hardware(walk) => walk.reference.program(),
            Walk::C11(walk) => walk.program,
        }
    }

    /// What is wrong in the present state, in words: violated goals, failing assertions, faults.
    pub fn troubles(&self) -> Vec<String> {
        let program = self.program();
        let step = |thread: ThreadId, transition: TransitionId| {
            let thread = &program.threads[thread.0];
            let text = program.show_instruction(thread, &thread.transitions[transition.0].instruction);
            format!("{}: {text}", thread.name)
        };
        let (goals, failures) = match &self.walk {
            Walk::Hardware(walk) => {
                let steps = walk.reference.steps(&walk.state);
                let asserts = steps
                    .failed_asserts
                    .iter()
                    .map(|&(thread, transition)| (thread, transition, ThreadFailure::Assertion));
                let faults = steps
                    .faults
                    .iter()
                    .map(|&(thread, transition, fault)| (thread, transition, ThreadFailure::Fault(fault)));
                (walk.reference.violated_goals(&walk.state), asserts.chain(faults).collect())
            }
            Walk::C11(walk) => (walk.run.violated_goals(), walk.failures()),
        };
        let goals = goals
            .iter()
            .map(|&goal| format!("a goal is violated: {}", program.show_condition(&program.goals[goal].condition)));
        let failures = failures.into_iter().map(|(thread, transition, failure): (_, _, ThreadFailure)| match failure {
            ThreadFailure::Assertion => format!("{} fails", step(thread, transition)),
            ThreadFailure::Fault(fault) => format!("{}: {fault}", step(thread, transition)),
        });
        goals.chain(failures).collect()
    }

    pub fn standing(&self) -> Standing {
        let (is_final, can_move, locations): (bool, bool, Vec<LocId>) = match &self.walk {
            Walk::Hardware(walk) => (
                walk.reference.is_final(&walk.state),
                !walk.reference.steps(&walk.state).next.is_empty(),
                walk.state.threads.iter().map(|thread| thread.location).collect(),
            ),
            Walk::C11(walk) => (
                walk.run.is_final(),
                !walk.run.grown().steps(walk.reading).is_empty(),
                walk.run.grown().threads().iter().map(|thread| thread.location).collect(),
            ),
        };
        if is_final {
            return Standing::Final;
        }
        if can_move {
            return Standing::Running;
        }
        let waiting = self.program().threads.iter().zip(locations);
        let waiting = waiting.filter(|(thread, location)| !thread.is_end(*location));
        Standing::Stuck(waiting.map(|(thread, _)| thread.name.clone()).collect())
    }

    /// What memory and the registers hold, by name: `x = 1`, `p[0].r = 0`. Under ra and rc20 memory is what the latest writes in
    /// modification order left.
    pub fn values(&self) -> Vec<(String, Value)> {
        let program = self.program();
        let (memory, registers): (Vec<(Value, Value)>, Vec<&[Value]>) = match &self.walk {
            Walk::Hardware(walk) => (
                walk.state.memory.iter().map(|(&address, &value)| (address, value)).collect(),
                walk.state.threads.iter().map(|thread| &thread.registers[..]).collect(),
            ),
            Walk::C11(walk) => {
                let named: BTreeSet<Value> = program.memory.named_addresses().collect();
                let written = walk.run.graph().writes.keys().copied();
                let cells: BTreeSet<Value> = named.into_iter().chain(written).collect();
                (
                    cells.into_iter().map(|address| (address, walk.run.cell(address))).collect(),
                    walk.run.grown().threads().iter().map(|thread| &thread.registers[..]).collect(),
                )
            }
        };
        let memory = memory.into_iter().map(|(address, value)| (program.memory.name_of(address), value));
        let threads = program.threads.iter().zip(registers);
        let registers = threads.flat_map(|(thread, values)| {
            let registers = thread.registers.iter().zip(values).filter(|(register, _)| !register.hidden);
            registers.map(|(register, value)| (format!("{}.{}", thread.name, register.name), *value))
        });
        memory.chain(registers).collect()
    }
}

impl C11Walk<'_> {
    /// Steps that can fail now.
    fn failures(&self) -> Vec<(ThreadId, TransitionId, ThreadFailure)> {
        let mut failures = Vec::new();
        for (number, thread) in self.program.threads.iter().enumerate() {
            let location = self.run.grown().threads()[number].location;
            for (transition, _) in thread.outgoing(location) {
                let found = self.run.grown().failures(ThreadId(number), transition, self.reading);
                failures.extend(found.into_iter().map(|failure| (ThreadId(number), transition, failure)));
            }
        }
        failures
    }
}

/// A number below so many possibilities; 0 if there is none.
fn share(random: &mut Random, possibilities: usize) -> usize {
    random.share(possibilities.max(1) as u64) as usize
}
