//! The two ways to get no answer.

use crate::reachability::NotFinite;
use ravelin_explore::{Limit, StorageError};
use ravelin_machine::attack::ReadBackError;
use ravelin_machine::{BuildError, RunError};
use thiserror::Error;

#[derive(Clone, Debug, Error)]
pub enum AnalysisError {
    #[error(transparent)]
    Build(BuildError),
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the program has {count} pairs of a store and a later access to check; at most {limit} can be")]
    TooManyAttacks { count: usize, limit: usize },
    #[error(transparent)]
    NotFinite(NotFinite),
    #[error("the engine `{0}` is for tso; for pso there are `bounded` and `sb`")]
    EngineIsForTso(&'static str),
    #[error("the engine `{0}` is for tso and pso; for ra and rc20 there is `bounded`")]
    EngineIsForHardware(&'static str),
    #[error(
        "thread `{0}` has any number of copies, which is decided for tso only (docs/parameterised.md says why); give --copies N"
    )]
    AnyNumberIsForTso(String),
    #[error("the engine `{0}` needs a number of threads: give --copies N, or ask `auto`")]
    EngineNeedsNumber(&'static str),
    #[error(transparent)]
    NotC11(#[from] ravelin_machine::monitor::MonitorRefusal),
    /// A limit was hit before there was anything to search. Questions answer *unknown* then.
    #[error(transparent)]
    Limit(#[from] Limit),
    #[error("internal error, please report it: {0}")]
    Internal(InternalError),
}

impl AnalysisError {
    /// This engine cannot try; another may.
    pub fn is_refusal(&self) -> bool {
        matches!(self, AnalysisError::NotFinite(_))
    }
}

impl From<BuildError> for AnalysisError {
    fn from(error: BuildError) -> AnalysisError {
        match error {
            BuildError::Limit(limit) => limit.into(),
            error => AnalysisError::Build(error),
        }
    }
}

impl From<NotFinite> for AnalysisError {
    fn from(refusal: NotFinite) -> AnalysisError {
        match refusal {
            NotFinite::Limit(limit) => limit.into(),
            refusal => AnalysisError::NotFinite(refusal),
        }
    }
}

impl From<RunError> for AnalysisError {
    fn from(error: RunError) -> AnalysisError {
        match error {
            RunError::Build(error) => error.into(),
            RunError::Storage(error) => error.into(),
        }
    }
}

impl From<ReadBackError> for AnalysisError {
    fn from(error: ReadBackError) -> AnalysisError {
        match error {
            ReadBackError::Build(error) => error.into(),
            ReadBackError::Storage(error) => error.into(),
            ReadBackError::Path(unreadable) => InternalError(unreadable.to_string()).into(),
        }
    }
}

impl From<InternalError> for AnalysisError {
    fn from(error: InternalError) -> AnalysisError {
        AnalysisError::Internal(error)
    }
}

/// An answer that contradicts the reference semantics. Shown instead of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct InternalError(pub String);
