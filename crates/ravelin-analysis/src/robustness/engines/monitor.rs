//! The monitor first: the SC space with sets of facts beside it (`ravelin-machine/src/monitor/buffers.rs`).
//!
//! If no access may be stale the program is robust, and no attack is feasible. Otherwise the shared search shows an attack:
//! the monitor has only an SC run to show, and the access after it.

use super::super::together::{Together, together};
use super::AttackSearch;
use crate::AnalysisError;
use ravelin_machine::attack::AttackResult;

impl AttackSearch<'_> {
    pub(super) fn by_monitor(&mut self) -> Result<(), AnalysisError> {
        let found = together(self.program, self.question, self.start, &mut self.explored)?;
        let settled = match &found {
            Together::Harmless => {
                (0..self.attacks.len()).try_for_each(|number| self.settle(number, AttackResult::Infeasible))
            }
            Together::Open => self.by_shared(),
            Together::Limit(limit) => {
                self.limit = Some(*limit);
                Ok(())
            }
        };
        self.together = Some(found);
        settled
    }
}
