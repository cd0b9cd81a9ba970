//! From what the monitor finds, an SC run and an access behind it that may be stale, to a computation of store buffers.
//!
//! [`execution`] makes the execution that the run and the stale access are, without what its happens-before cycle does not need.
//! [`order`] puts its steps, and the moments at which stores reach memory, in an order that a machine has. There are several. One in
//! which a single thread delays stores, and helpers close the cycle behind the access that overtakes, shows an *attack* and is shown as
//! one. That is always possible for some violation under TSO (Theorem 1 of *Checking and Enforcing Robustness against TSO*), but perhaps
//! not for this one. In the other, all threads delay what they have to. Both are replayed, so a mistake here is no wrong answer.
//!
//! The cost is that of a graph of two points for each step of the cycle, once for each thread and access that may be the attack's.

mod execution;
mod order;

use super::attack::{Attack, is_delayable, is_overtaking_load};
use super::witness::{self, AttackWitness, build};
use crate::InternalError;
use execution::Execution;
use order::{Point, Points};
use ravelin_machine::attack::{AttackRun, AttackStep, WitnessPart};
use ravelin_machine::monitor::MonitorFinding;
use ravelin_program::{HardwareProgram, Model, Program, ThreadId};

/// Computations that no SC computation has the trace of, made of one stale access.
#[derive(Clone, Debug)]
pub struct StaleComputation {
    /// One in which a single thread delays stores: an attack.
    pub attack: Option<Box<AttackWitness>>,
    /// One in which all threads delay what they have to.
    pub together: Box<AttackWitness>,
}

/// The computations; `None` if the model has none for this run: the access faults with everything that it could read.
pub fn stale_computation(
    program: &Program,
    model: Model,
    finding: &MonitorFinding,
) -> Result<Option<StaleComputation>, InternalError> {
    let internal = |what: String| InternalError(format!("a stale access under {model} does not hold: {what}"));
    let lowered = HardwareProgram::new(program);
    for whole in Execution::candidates(program, finding).map_err(internal)? {
        let Some(execution) = whole.of_cycle() else { continue };
        let candidate = StaleExecution { program, lowered: &lowered, model, finding, execution: &execution };
        if let Some(together) = candidate.together().map(Box::new) {
            let attack = candidate.attack().map(Box::new);
            return Ok(Some(StaleComputation { attack, together }));
        }
    }
    Ok(None)
}

/// An execution with a cycle, in question.
struct StaleExecution<'a> {
    program: &'a Program,
    lowered: &'a Program,
    model: Model,
    finding: &'a MonitorFinding,
    execution: &'a Execution,
}

impl StaleExecution<'_> {
    /// The computation in which threads delay what they have to, if the model has it and its trace has a cycle.
    fn together(&self) -> Option<AttackWitness> {
        let points = Points::of(self.execution, self.model, vec![true; self.lowered.threads.len()])?;
        let order = points.around(points.visible(self.execution.stale()))?;
        witness::several(self.program, self.model, &self.finding.run.start, &points.actions(&order)).ok()
    }

    /// A computation in which only one thread delays stores, and which has the form of an attack's witness.
    fn attack(&self) -> Option<AttackWitness> {
        let deeds = &self.execution.deeds;
        for thread in 0..self.lowered.threads.len() {
            let delays = (0..self.lowered.threads.len()).map(|other| other == thread).collect();
            let Some(points) = Points::of(self.execution, self.model, delays) else { continue };
            let own: Vec<usize> = (0..deeds.len()).filter(|&deed| deeds[deed].thread == thread).collect();
            for &access in own.iter().rev().filter(|&&access| self.overtakes(access)) {
                let Some((attack, run)) = self.run_of_attack(&points, &own, access) else { continue };
                if let Ok(witness) = build(self.program, self.model, attack, &run) {
                    return Some(witness);
                }
            }
        }
        None
    }

    /// Whether a deed may overtake a delayed store of its thread.
    fn overtakes(&self, deed: usize) -> bool {
        let deed = &self.execution.deeds[deed];
        let instruction = &self.lowered.threads[deed.thread].transitions[deed.transition.0].instruction;
        is_overtaking_load(instruction) || self.model == Model::Pso && is_delayable(instruction)
    }

    /// The computation in which this access of the attacker overtakes; what has to come behind the access comes behind it.
    fn run_of_attack(&self, points: &Points, own: &[usize], access: usize) -> Option<(Attack, AttackRun)> {
        let deeds = &self.execution.deeds;
        let reached = points.reached_from(points.visible(access));
        let waits = |deed: usize| deeds[deed].buffered && deed != access && reached[points.memory(deed)];
        let delayed = |deed: usize| own.contains(&deed) && deed < access && waits(deed);
        let store = own.iter().copied().find(|&deed| delayed(deed))?;
        let order = points.around(points.visible(access))?;
        let mut steps = Vec::new();
        let (mut issued, mut loaded) = (false, false);
        for point in order {
            let Point::Step(deed) = point else { continue };
            issued |= deed == store;
            let part = match (issued, loaded) {
                _ if deed == store => WitnessPart::Store,
                _ if deed == access => WitnessPart::Load,
                (false, _) => WitnessPart::Prefix,
                (true, false) => WitnessPart::Delaying,
                (true, true) => WitnessPart::Path,
            };
            loaded |= deed == access;
            steps.push(AttackStep { part, action: deeds[deed].action, delayed: delayed(deed) });
        }
        let attack = Attack {
            thread: ThreadId(deeds[access].thread),
            store: deeds[store].transition,
            load: deeds[access].transition,
        };
        Some((attack, AttackRun { start: self.finding.run.start.clone(), steps }))
    }
}
