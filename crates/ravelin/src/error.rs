//! Why there is no answer.

use crate::clang::CompileError;
use crate::program::ParseError;
use ravelin_analysis::AnalysisError;
use ravelin_analysis::fences::UnknownSite;
use ravelin_analysis::simulation::SimulationError;
use ravelin_frontend::sites::{NoSites, NoText};
use thiserror::Error;

/// Why there is no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a program.
    #[error(transparent)]
    Parse(#[from] Box<ParseError>),
    /// A C file was not compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The program has no meaning under the model.
    #[error("{0}")]
    NotApplicable(String),
    /// The program does not support this question.
    #[error(transparent)]
    Analysis(AnalysisError),
    /// The language of the program cannot express such a repair.
    #[error(transparent)]
    NoSites(#[from] NoSites),
    /// The repaired program cannot be written.
    #[error(transparent)]
    NoText(#[from] NoText),
    /// A cost or a placement names an unknown place.
    #[error(transparent)]
    UnknownSite(#[from] UnknownSite),
    /// The program cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// Something else is wrong with the question.
    #[error("{0}")]
    Question(String),
    /// An answer contradicts the reference semantics.
    #[error("internal error, please report it: {0}")]
    Internal(String),
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Error {
        Error::Parse(Box::new(error))
    }
}

impl From<AnalysisError> for Error {
    fn from(error: AnalysisError) -> Error {
        match error {
            AnalysisError::NotC11(refusal) => Error::NotApplicable(refusal.to_string()),
            error => Error::Analysis(error),
        }
    }
}
