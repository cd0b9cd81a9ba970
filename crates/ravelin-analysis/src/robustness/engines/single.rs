//! The engine `single`: one instrumented program for all attacks, breadth first. One query says whether some attack is
//! feasible. To settle all, the feasible ones are taken out one by one.

use super::AttackSearch;
use crate::{AnalysisError, InternalError};
use ravelin_machine::attack::{Attack, AttackResult};

impl AttackSearch<'_> {
    pub(super) fn by_single(&mut self) -> Result<(), AnalysisError> {
        let mut left: Vec<usize> = (0..self.attacks.len()).collect();
        while !left.is_empty() {
            let these: Vec<Attack> = left.iter().map(|&number| self.attacks[number]).collect();
            let found = match self.ask(&these) {
                // A full disk must not lose what is found already; the others stay open.
                Err(AnalysisError::Storage(_)) if left.len() < self.attacks.len() => break,
                found => found?,
            };
            let Some((attack, run)) = found.found else {
                self.limit = found.limit;
                if self.limit.is_none() {
                    for &number in &left {
                        self.settle(number, AttackResult::Infeasible)?;
                    }
                }
                break;
            };
            let Some(place) = these.iter().position(|asked| *asked == attack) else {
                return Err(InternalError("an attack was found that was not asked for".to_owned()).into());
            };
            self.settle(left.remove(place), AttackResult::Feasible(Box::new(run)))?;
            if !self.question.all {
                break;
            }
        }
        Ok(())
    }
}
