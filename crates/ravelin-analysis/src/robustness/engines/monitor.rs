//! The monitor first: the SC space with sets of facts beside it (`ravelin-machine/src/monitor/buffers.rs`).
//!
//! If no access may be stale the program is robust, and no attack is feasible. Otherwise the access and the run before it are made
//! into a computation (`stale/`). If that has the form of an attack, and one attack is enough, this is the answer. The shared
//! search settles the others, and finds a feasible attack where the computation is none.

use super::super::stale::StaleComputation;
use super::super::together::{Together, together};
use super::AttackSearch;
use crate::AnalysisError;
use crate::robustness::AttackFate;
use ravelin_machine::attack::AttackResult;

impl AttackSearch<'_> {
    pub(super) fn by_monitor(&mut self) -> Result<(), AnalysisError> {
        let found = together(self.program, self.question, self.start, &mut self.explored)?;
        if let Together::Harmful(StaleComputation { attack: Some(witness), .. }) = &found
            && !self.question.all
            && let Some(number) = self.attacks.iter().position(|attack| *attack == witness.attack)
        {
            self.judged[self.places[number]].fate = AttackFate::Feasible(witness.clone());
            return Ok(());
        }
        let settled = match &found {
            Together::Harmless => {
                (0..self.attacks.len()).try_for_each(|number| self.settle(number, AttackResult::Infeasible))
            }
            Together::Open | Together::Harmful(_) => self.by_shared(),
            Together::Limit(limit) => {
                self.limit = Some(*limit);
                Ok(())
            }
        };
        self.together = Some(found);
        settled
    }
}
