//! The outcomes of a test that sc and tso allow, by the reference semantics.
//!
//! A test is small and has no loops, so all of its states are explored under each model, without a bound on the buffers.

use super::litmus::LitmusTest;
use crate::error::Error;
use ravelin_answer::AllowedBy;
use ravelin_program::{Model, Value};
use ravelin_semantics::operational::Reference;
use std::collections::BTreeSet;

/// A test with more states is not judged.
const MOST_STATES: usize = 300_000;

/// What each model allows.
#[derive(Clone, Debug)]
pub struct Outcomes {
    pub sc: BTreeSet<Vec<Value>>,
    pub tso: BTreeSet<Vec<Value>>,
}

impl Outcomes {
    /// All outcomes of a test; none if it is too large.
    pub fn of(test: &LitmusTest) -> Result<Option<Outcomes>, Error> {
        let Some(sc) = under(test, Model::Sc)? else { return Ok(None) };
        let Some(tso) = under(test, Model::Tso)? else { return Ok(None) };
        Ok(Some(Outcomes { sc, tso }))
    }

    /// The strongest model that allows an outcome.
    pub fn allowed(&self, outcome: &[Value]) -> AllowedBy {
        match (self.sc.contains(outcome), self.tso.contains(outcome)) {
            (true, _) => AllowedBy::Sc,
            (false, true) => AllowedBy::Tso,
            (false, false) => AllowedBy::Nothing,
        }
    }
}

fn under(test: &LitmusTest, model: Model) -> Result<Option<BTreeSet<Vec<Value>>>, Error> {
    let program = test.program();
    let internal = |error: String| Error::Internal(format!("a test of a witness: {error}"));
    let reference = Reference::new(&program, model, None).map_err(|error| internal(error.to_string()))?;
    let explored = reference.explore(MOST_STATES).map_err(|error| internal(error.to_string()))?;
    if !explored.complete {
        return Ok(None);
    }
    let outcome = |state: &ravelin_semantics::operational::State| {
        let loads = state.threads.iter().flat_map(|thread| thread.registers.iter().copied());
        let memory = test.memory.iter().map(|&cell| state.cell(program.memory.variables[cell].base));
        loads.chain(memory).collect()
    };
    Ok(Some(explored.finals.iter().map(outcome).collect()))
}
