//! What accompanies answers of `check`: deadlocks under sc, and under the model of the answer as far as that is known.

use crate::answers;
use crate::error::Error;
use crate::program::Program;
use ravelin_analysis::deadlocks::{DeadlockAnswer, MOST_STATES, deadlocks};
use ravelin_analysis::reachability::ReachabilityQuestion;
use ravelin_answer::{Answer, DeadlockVerdict, Deadlocks};
use ravelin_explore::Budget;
use ravelin_machine::may_wait;
use ravelin_program::Model;
use std::time::Instant;

/// Adds what is known about deadlocks to an answer whose question began at `start`, within the rest of its budget. One
/// under sc is searched for once per program. Instances of a program with any number of threads are not examined.
pub(crate) fn add_deadlocks(
    program: &Program,
    model: Model,
    budget: Budget,
    start: Instant,
    answer: &mut Answer,
) -> Result<(), Error> {
    let states = answer.states();
    // Of several processes that find the same answer, one reports it.
    let is_other = budget.storage.peers.is_some_and(|peers| peers.number() != 0);
    let cannot = program.is_parameterised() || !may_wait(&program.program);
    if cannot || is_other || budget.spent(start, states).is_some() {
        return Ok(());
    }
    let ask = |model: Model, states: u64| {
        let budget = budget.child(start, states).at_most(MOST_STATES).silent().in_memory();
        deadlocks(&program.program, &ReachabilityQuestion { budget, ..ReachabilityQuestion::new(model) })
    };
    let asked;
    let under_sc = match program.deadlocks.get() {
        Some(known) => known,
        None => {
            asked = ask(Model::Sc, states)?;
            match asked.verdict {
                // Another question may have more time.
                DeadlockVerdict::Unknown => &asked,
                _ => program.deadlocks.get_or_init(|| asked),
            }
        }
    };
    let told = |found: &DeadlockAnswer| found.witness.as_ref().map(|witness| Box::new(answers::witness(witness)));
    let sc = under_sc.verdict;
    let found = match sc {
        // A run under sc is one under every other model.
        DeadlockVerdict::Found => Deadlocks { sc, model: sc, witness: told(under_sc) },
        DeadlockVerdict::None if answer.is_robust() => Deadlocks { sc, model: sc, witness: None },
        _ if budget.spent(start, states + under_sc.states).is_none() => {
            let under_model = ask(model, states + under_sc.states)?;
            let sc = if under_model.verdict == DeadlockVerdict::None { DeadlockVerdict::None } else { sc };
            Deadlocks { sc, model: under_model.verdict, witness: told(&under_model) }
        }
        _ => Deadlocks { sc, model: DeadlockVerdict::Unknown, witness: None },
    };
    answer.set_deadlocks(found);
    Ok(())
}
