//! The engine `attacks`: one instrumented program per attack, one after the other, as in the paper. With several processes
//! the small ones are spread over them first.

use super::AttackSearch;
use super::spread::{Share, ask_once_more, spread};
use crate::AnalysisError;
use ravelin_machine::attack::{AttackResult, Query};

impl AttackSearch<'_> {
    pub(super) fn by_attacks(&mut self) -> Result<(), AnalysisError> {
        let AttackSearch { program, question, start, .. } = *self;
        let shares = spread(program, question, &self.attacks, start, &mut self.explored);
        let shares = shares.map_err(|lost| self.limit = Some(lost.into())).unwrap_or_default();
        // One that is known to be feasible is asked about before those that need more.
        let first = shares.iter().position(|&share| share == Share::Feasible).filter(|_| !question.all);
        let order = first.into_iter().chain((0..shares.len()).filter(|&number| Some(number) != first));
        let mut shown = false;
        for number in order {
            let attack = self.attacks[number];
            let found = ask_once_more(program, question, &attack, shares[number], start, &mut self.explored);
            let found = match found {
                // A full disk must not lose what is found already; the others stay open.
                Err(AnalysisError::Storage(_)) if shown => break,
                found => found?,
            };
            let result = match found {
                None | Some(Query { found: None, limit: None, .. }) => AttackResult::Infeasible,
                Some(Query { found: Some((_, run)), .. }) => AttackResult::Feasible(Box::new(run)),
                Some(Query { limit, .. }) => {
                    self.limit = limit;
                    AttackResult::Open
                }
            };
            let is_feasible = matches!(result, AttackResult::Feasible(_));
            self.settle(number, result)?;
            shown |= is_feasible;
            if is_feasible && !question.all || self.limit.is_some() {
                break;
            }
        }
        Ok(())
    }
}
