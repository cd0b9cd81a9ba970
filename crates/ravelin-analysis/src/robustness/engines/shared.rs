//! The engine `shared`: one SC space for all attacks, from which each thread's attacks are searched in shares that grow
//! (`ravelin_machine::attack::hunt`). It settles every program that one of the others settles, and usually first.

use super::AttackSearch;
use crate::AnalysisError;
use ravelin_machine::attack::{AttackResult, Extent, hunt};
use std::time::{Duration, Instant};

/// How long runs may be replayed after the time is over.
const REPLAY: Duration = Duration::from_millis(100);

impl AttackSearch<'_> {
    pub(super) fn by_shared(&mut self) -> Result<(), AnalysisError> {
        let question = self.question;
        let extent = if question.all { Extent::All } else { Extent::First };
        let budget = question.budget.child(self.start, 0);
        let found = hunt(self.program, question.model, &self.attacks, extent, budget, question.share)?;
        self.explored.add(&found.statistics);
        self.limit = found.limit.map(|limit| question.budget.limits.as_given(limit));
        let searched = Instant::now();
        let mut shown = false;
        for (number, result) in found.results.into_iter().enumerate() {
            // Replaying takes its time too. One witness is worth it in any case, and most of what was found in a moment.
            let is_feasible = matches!(result, AttackResult::Feasible(_));
            let is_over = is_feasible && shown && searched.elapsed() > REPLAY;
            let late = question.budget.late(self.start).filter(|_| is_over);
            self.limit = self.limit.or(late);
            self.settle(number, if late.is_some() { AttackResult::Open } else { result })?;
            shown |= is_feasible;
        }
        Ok(())
    }
}
