//! Whether threads that delay stores do harm together, by the monitor: for the engine of that name, and under PSO where none
//! does harm alone.
//!
//! That one delaying thread is enough is a theorem for TSO only. The monitor beside the SC space needs no such theorem
//! (`ravelin-machine/src/monitor/buffers.rs`): without an access that may be stale, the program is robust. What it finds otherwise
//! is made into a computation (`stale/`), which is replayed. An update that faults counts as an access for the monitor, but is
//! no step of a computation. Such a finding is passed over. If there is no other, nothing is settled: the monitor does not
//! distinguish the values that the update could read.

use super::check::{RobustnessEffort, RobustnessQuestion};
use super::stale::{StaleComputation, stale_computation};
use crate::c11::refused;
use crate::{AnalysisError, InternalError};
use ravelin_explore::{Budget, Limit, Options, Storage, Until};
use ravelin_machine::Reductions;
use ravelin_machine::monitor::{C11Settings, MonitorError, MonitorSearch, monitor_for};
use ravelin_program::{Program, SeqCstReading};
use std::time::Instant;

/// What threads that delay stores can do together.
pub(super) enum Together {
    /// Nothing that SC has not.
    Harmless,
    /// A computation that SC has not.
    Harmful(StaleComputation),
    /// That is not known: an update may fault, or the monitor does not support the program.
    Open,
    /// The same, because of a limit.
    Limit(Limit),
}

pub(super) fn together(
    program: &Program,
    question: &RobustnessQuestion,
    start: Instant,
    explored: &mut RobustnessEffort,
) -> Result<Together, AnalysisError> {
    let mut found = Findings { program, question, shown: None, wrong: None };
    for until in [Until::LevelOfFirstFinding, Until::Exhausted] {
        // Other processes do not take part in this search.
        let storage = Storage { peers: None, ..question.budget.storage };
        let budget = Budget { storage, ..question.budget.child(start, explored.states) };
        let search = match found.search(&Options { budget, until }) {
            Err(MonitorError::Refused(_)) => return Ok(Together::Open),
            Err(MonitorError::Limit(limit)) => return Ok(Together::Limit(question.budget.limits.as_given(limit))),
            search => search.map_err(refused)?,
        };
        explored.states += search.statistics.states;
        explored.sc += search.statistics.states;
        explored.bytes = explored.bytes.max(search.statistics.bytes);
        if let Some(wrong) = found.wrong {
            return Err(wrong.into());
        }
        match (found.shown.take(), search.limit, search.rejected) {
            (Some(shown), ..) => return Ok(Together::Harmful(shown)),
            (None, Some(limit), _) => return Ok(Together::Limit(question.budget.limits.as_given(limit))),
            (None, None, false) => return Ok(Together::Harmless),
            (None, None, true) => {}
        }
    }
    Ok(Together::Open)
}

/// What the monitor finds, and the first of it that is a computation.
struct Findings<'a> {
    program: &'a Program,
    question: &'a RobustnessQuestion<'a>,
    shown: Option<StaleComputation>,
    wrong: Option<InternalError>,
}

impl Findings<'_> {
    fn search(&mut self, options: &Options) -> Result<MonitorSearch, MonitorError> {
        let settings = C11Settings {
            model: self.question.model,
            seq_cst: SeqCstReading::RelAcq,
            chains: false,
            observational: false,
            races: false,
            reductions: Reductions::ALL,
        };
        monitor_for(self.program, settings, options, &mut |finding| {
            match stale_computation(self.program, self.question.model, finding) {
                Ok(shown) => self.shown = shown,
                Err(wrong) => self.wrong = Some(wrong),
            }
            Ok(self.shown.is_some() || self.wrong.is_some())
        })
    }
}
