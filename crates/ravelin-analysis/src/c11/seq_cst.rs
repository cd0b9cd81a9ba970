//! seq_cst *accesses* under RC20, as RC11's psc axiom has them.
//!
//! No finite monitor for the axiom is known. There are readings of seq_cst accesses that allow less than RC11, and one that allows
//! more ([`SeqCstReading`]; compared with all graphs in `tests/c11_random.rs` and `tests/c11_seq_cst.rs`):
//!
//! - `rel-acq`, with the exact rule for fences and with what follows from chains of seq_cst accesses, allows all that RC11 allows. Nothing
//!   found there: the program is robust.
//! - `after` and `before`, with a hidden seq_cst fence behind or in front of each, allow nothing that RC11 forbids: what they find is a
//!   violation.
//!
//! In between, graphs decide. Whatever the first search finds becomes a graph, which the axioms judge. States merge graphs, so a graph that
//! RC11 forbids settles nothing: first all findings of the search are judged, then all graphs of SC runs with one stale
//! access (`sc_graphs.rs`). If these can be listed the answer is exact, otherwise it may be *unknown*.

use super::question::{C11Inquiry, C11Violation, violation};
use super::sc_graphs::judge_graphs;
use crate::{AnalysisError, InternalError};
use ravelin_answer::SeqCstBasis;
use ravelin_explore::{Budget, Limit, Options, Until};
use ravelin_machine::monitor::MonitorFinding;
use ravelin_program::SeqCstReading;
use ravelin_semantics::rc20::OrderReading;

/// The states of the search for all findings, how many graphs there may be, and the effort of judging them: a second or two.
const MORE_STATES: u64 = 200_000;
const MORE_GRAPHS: u64 = 20_000;
const MORE_EFFORT: u64 = 10_000_000;
/// So many times more if there is a limit of time.
const TIMED: u64 = 5;
/// How many findings of one search are judged.
const MOST_FINDINGS: u64 = 1_000;

impl<'a> C11Inquiry<'a> {
    /// Asks about a program with seq_cst accesses.
    pub(super) fn ask_about_seq_cst(&mut self) -> Result<(), AnalysisError> {
        let races = self.question.races;
        let (first, second) = match self.question.seq_cst {
            SeqCstReading::Exact => return self.ask_exactly(),
            SeqCstReading::RelAcq => return self.ask_release_acquire(),
            SeqCstReading::Both => (SeqCstReading::After, Some(SeqCstReading::Before)),
            one => (one, None),
        };
        self.search(first, races, OrderReading::Written)?;
        if let (None, Some(second)) = (&self.answer.violation, second) {
            // Hidden fences have no part in races, so one search settles them.
            self.search(second, races && self.answer.limit.is_some(), OrderReading::Written)?;
        }
        if self.answer.violation.is_some() {
            self.answer.basis = Some(SeqCstBasis::Graph);
        } else if self.answer.limit.is_none() {
            // They find a part of what there is.
            let (found, rejected) = self.search_weaker(Until::FirstFinding, &mut |_| Ok(None))?;
            debug_assert!(found.is_none());
            self.answer.basis = if rejected { Some(SeqCstBasis::ReadingOnly) } else { self.proved() };
        }
        Ok(())
    }

    fn ask_release_acquire(&mut self) -> Result<(), AnalysisError> {
        let weaker = OrderReading::SeqCstAsReleaseAcquire;
        self.search(SeqCstReading::RelAcq, self.question.races, weaker)?;
        let allowed = |graph| ravelin_semantics::rc20::rc20_consistent(graph, OrderReading::Written);
        self.answer.basis = match &self.answer.violation {
            None => self.proved(),
            Some(C11Violation::NotRobust(witness)) if !allowed(&witness.graph) => Some(SeqCstBasis::ReleaseAcquireOnly),
            Some(C11Violation::Race(race)) if !allowed(&race.graph) => Some(SeqCstBasis::ReleaseAcquireOnly),
            Some(_) => Some(SeqCstBasis::Graph),
        };
        Ok(())
    }

    /// A search that allows all that RC11 allows ended without a finding, unless a limit was hit.
    fn proved(&self) -> Option<SeqCstBasis> {
        self.answer.limit.is_none().then_some(SeqCstBasis::Search)
    }

    fn ask_exactly(&mut self) -> Result<(), AnalysisError> {
        let program = self.program;
        let mut by_axioms = |found: &MonitorFinding| violation(program, OrderReading::Written, found);
        let (found, rejected) = self.search_weaker(Until::LevelOfFirstFinding, &mut by_axioms)?;
        if found.is_some() || !rejected {
            self.answer.basis = if found.is_some() { Some(SeqCstBasis::Graph) } else { self.proved() };
            self.answer.violation = found;
            return Ok(());
        }
        for seq_cst in [SeqCstReading::After, SeqCstReading::Before] {
            let races = self.question.races && (seq_cst == SeqCstReading::After || self.answer.limit.is_some());
            self.search(seq_cst, races, OrderReading::Written)?;
            if self.answer.violation.is_some() {
                self.answer.basis = Some(SeqCstBasis::Graph);
                return Ok(());
            }
        }
        let (found, _) = self.search_weaker(Until::Exhausted, &mut by_axioms)?;
        if found.is_some() {
            (self.answer.violation, self.answer.basis) = (found, Some(SeqCstBasis::Graph));
            return Ok(());
        }
        let effort = MORE_EFFORT * if self.is_timed() { TIMED } else { 1 };
        let graphs = judge_graphs(program, OrderReading::Written, self.question.races, effort, self.more(MORE_GRAPHS));
        if let Some(found) = &graphs.found {
            let what = "a graph that was found is not there when it is looked at again";
            let found = by_axioms(found)?.ok_or_else(|| InternalError(what.to_owned()))?;
            (self.answer.violation, self.answer.basis) = (Some(found), Some(SeqCstBasis::Graph));
        } else if graphs.complete {
            (self.answer.limit, self.answer.basis) = (None, Some(SeqCstBasis::AllGraphs));
        } else {
            self.answer.basis = Some(SeqCstBasis::Open);
            // That there are too many graphs is not a limit of the question.
            let given = graphs.limit.filter(|limit| match limit {
                Limit::States(_) => self.budget().limits.states.is_some_and(|left| left <= graphs.graphs),
                _ => true,
            });
            self.limited(given);
        }
        self.answer.statistics.states += graphs.graphs;
        Ok(())
    }

    /// Searches with the reading that allows all that RC11 allows, for a finding that is judged to be a violation. Also returns
    /// whether there were others.
    fn search_weaker(
        &mut self,
        until: Until,
        judge: &mut dyn FnMut(&MonitorFinding) -> Result<Option<C11Violation>, InternalError>,
    ) -> Result<(Option<C11Violation>, bool), AnalysisError> {
        let mut settings = self.settings(SeqCstReading::RelAcq, self.question.races);
        settings.chains = true;
        let budget = match until {
            Until::Exhausted => {
                // Some violation is found in fewer orders of steps, but not every one that might be accepted.
                settings.reductions.partial_order = false;
                self.more(MORE_STATES)
            }
            _ => self.budget(),
        };
        let mut judged = Ok(None);
        let mut left = MOST_FINDINGS;
        let mut accept = |found: &MonitorFinding| {
            if left == 0 || budget.is_stopped() {
                return Err(Limit::States(MOST_FINDINGS));
            }
            left -= 1;
            judged = judge(found);
            Ok(!matches!(judged, Ok(None)))
        };
        let search = self.monitor(settings, &Options { budget, until }, &mut accept)?;
        if until != Until::Exhausted {
            self.limited(search.limit.filter(|_| !search.rejected));
        }
        Ok((judged?, search.rejected))
    }

    /// What more effort may take: at most so many states, and more if there is a limit of time.
    fn more(&self, most: u64) -> Budget<'a> {
        self.budget().in_memory().silent().at_most(if self.is_timed() { most * TIMED } else { most })
    }

    fn is_timed(&self) -> bool {
        self.question.budget.limits.time.is_some()
    }
}
