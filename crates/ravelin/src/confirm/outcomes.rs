//! The outcomes of a test that sc and tso allow, by the reference semantics.
//!
//! A test is small and has no loops, so all of its states are explored under each model, without a bound on the buffers.
//! A report may describe a test that is not small: limits on states and memory end the search, and so does the budget.

use super::litmus::LitmusTest;
use crate::error::Error;
use ravelin_answer::AllowedBy;
use ravelin_explore::Budget;
use ravelin_program::{Model, Value};
use ravelin_semantics::operational::{EnabledSteps, Reference, State, ThreadState};
use std::collections::BTreeSet;
use std::time::Instant;

/// A test with more states is not judged.
const MOST_STATES: usize = 300_000;

/// Nor one whose states take more memory.
const MOST_BYTES: u64 = 512 << 20;

/// What each model allows.
#[derive(Clone, Debug)]
pub struct Outcomes {
    pub sc: BTreeSet<Vec<Value>>,
    pub tso: BTreeSet<Vec<Value>>,
}

impl Outcomes {
    /// All outcomes of a test; none if it is too large, or the budget asks to stop.
    pub fn of(test: &LitmusTest, budget: Budget) -> Result<Option<Outcomes>, Error> {
        // A thread may be at each of its accesses while the others are at each of theirs.
        let places = test.threads.iter().map(|thread| thread.operations.len() + 1);
        if places.fold(1_usize, usize::saturating_mul) > MOST_STATES {
            return Ok(None);
        }
        let Some(sc) = under(test, Model::Sc, budget)? else { return Ok(None) };
        let Some(tso) = under(test, Model::Tso, budget)? else { return Ok(None) };
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

fn under(test: &LitmusTest, model: Model, budget: Budget) -> Result<Option<BTreeSet<Vec<Value>>>, Error> {
    let program = test.program();
    let internal = |error: String| Error::Internal(format!("a test of a witness: {error}"));
    let reference = Reference::new(&program, model, None).map_err(|error| internal(error.to_string()))?;
    let start = Instant::now();
    let most_bytes = budget.limits.memory.unwrap_or(MOST_BYTES).min(MOST_BYTES);
    let bytes = bytes_of_state(test);
    let mut goes_on =
        |stored: usize| budget.late(start).is_none() && (stored as u64).saturating_mul(bytes) <= most_bytes;
    let mut outcomes = BTreeSet::new();
    let mut visit = |state: &State, _: &EnabledSteps| {
        if reference.is_final(state) {
            let loads = state.threads.iter().flat_map(|thread| thread.registers.iter().copied());
            let memory = test.memory.iter().map(|&cell| state.cell(program.memory.variables[cell].base));
            outcomes.insert(loads.chain(memory).collect());
        }
    };
    let visited = reference.visit_while(MOST_STATES, &mut goes_on, &mut visit);
    let is_complete = visited.map_err(|error| internal(error.to_string()))?.is_some();
    Ok(is_complete.then_some(outcomes))
}

/// What a stored state takes at most, with its place among those that are waiting.
fn bytes_of_state(test: &LitmusTest) -> u64 {
    /// Of a block on the heap.
    const BLOCK: usize = 16;
    let pair = size_of::<(Value, Value)>();
    // Each access is a register or an entry of the buffer, or both.
    let accesses: usize = test.threads.iter().map(|thread| thread.operations.len()).sum();
    let threads = test.threads.len() * (size_of::<ThreadState>() + 2 * BLOCK) + accesses * 3 * pair;
    // A node of a map has room for eleven.
    let memory = (test.cells.len() + 11) * 2 * pair;
    2 * (size_of::<State>() + threads + memory) as u64
}
