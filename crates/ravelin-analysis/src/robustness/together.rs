//! Whether threads that delay stores do harm together, by the monitor: for the engine of that name, and under PSO where none
//! does harm alone.
//!
//! That one delaying thread is enough is a theorem for TSO only. The monitor beside the SC space needs no such theorem
//! (`ravelin-machine/src/monitor/buffers.rs`): without an access that may be stale, the program is robust. An access that
//! it finds where no attack is feasible settles nothing, because there is no computation to show: an update that faults
//! counts as an access there. No other such program is known.

use super::check::{RobustnessEffort, RobustnessQuestion};
use crate::AnalysisError;
use crate::c11::refused;
use ravelin_explore::{Limit, Options, Storage};
use ravelin_machine::Reductions;
use ravelin_machine::monitor::{C11Settings, MonitorError, monitor};
use ravelin_program::{Program, SeqCstReading};
use std::time::Instant;

/// What threads that delay stores can do together.
pub(super) enum Together {
    /// Nothing that SC has not.
    Harmless,
    /// That is not known: an access may be stale, or the monitor does not support the program.
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
    let settings = C11Settings {
        model: question.model,
        seq_cst: SeqCstReading::RelAcq,
        chains: false,
        observational: false,
        races: false,
        reductions: Reductions::ALL,
    };
    // Other processes do not take part in this search.
    let storage = Storage { peers: None, ..question.budget.storage };
    let budget = ravelin_explore::Budget { storage, ..question.budget.child(start, explored.states) };
    let search = match monitor(program, settings, &Options { budget, ..Options::default() }) {
        Err(MonitorError::Refused(_)) => return Ok(Together::Open),
        Err(MonitorError::Limit(limit)) => return Ok(Together::Limit(limit)),
        search => search.map_err(refused)?,
    };
    explored.states += search.statistics.states;
    explored.sc += search.statistics.states;
    explored.bytes = explored.bytes.max(search.statistics.bytes);
    Ok(match (search.found, search.limit) {
        (Some(_), _) => Together::Open,
        (None, Some(limit)) => Together::Limit(question.budget.limits.as_given(limit)),
        (None, None) => Together::Harmless,
    })
}
