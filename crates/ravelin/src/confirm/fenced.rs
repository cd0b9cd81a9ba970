//! The counter-test: a test with the cheapest fences that make it robust, found as `ravelin fence` finds them.

use super::execution::TestAccessKind;
use super::litmus::{LitmusTest, TestAccess};
use crate::error::Error;
use ravelin_analysis::fences::{
    CostBy, FenceQuestion, SynthesisOutcome, SynthesisPurpose, Weights, automaton_sites, fences, offers,
};
use ravelin_explore::Budget;
use ravelin_program::{Model, ThreadTransition};

/// After so many states the test is run without a counter-test.
const MOST_STATES: u64 = 1_000_000;

/// The test with its fences, and where they are in words. None if none are needed or a limit was met.
pub fn fenced(test: &LitmusTest, budget: Budget) -> Result<Option<(LitmusTest, Vec<String>)>, Error> {
    let program = test.program();
    let sites = automaton_sites(&program);
    let allowed: Vec<usize> = (0..sites.len()).collect();
    let offers = offers(&program, &sites, &allowed, &CostBy::Size, Weights::FULL_ONLY);
    let budget = budget.silent().at_most(MOST_STATES);
    let question = FenceQuestion { budget, ..FenceQuestion::new(Model::Tso, SynthesisPurpose::Robust) };
    let answer = fences(&program, &sites, &offers, &question).map_err(Error::Analysis)?;
    let (SynthesisOutcome::Found, Some(set)) = (&answer.outcome, answer.sets.first()) else { return Ok(None) };
    let chosen = set.choices(&offers);
    let mut after: Vec<ThreadTransition> = chosen.iter().flat_map(|(site, _)| sites[*site].edges.clone()).collect();
    after.sort_unstable();
    let mut fenced = test.clone();
    let mut places = Vec::new();
    // From the last to the first, so that numbers stay right.
    for ThreadTransition { thread, transition } in after.into_iter().rev() {
        let operations = &mut fenced.threads[thread.0].operations;
        let earlier = &test.threads[thread.0].operations[transition.0];
        places.push(format!("{}: after {}", test.threads[thread.0].name, test.operation_text(earlier)));
        let fence = TestAccess { kind: TestAccessKind::Fence, cell: 0, value: 0, position: None };
        operations.insert(transition.0 + 1, fence);
    }
    places.reverse();
    Ok(Some((fenced, places)))
}
