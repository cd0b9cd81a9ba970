//! The contract of exit codes.

use ravelin_analysis::Verdict;
use std::process::ExitCode;

/// In order of precedence: with several files or models the worst counts, and the first here is the mildest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Holds,
    Unknown,
    Violated,
    /// The input or the command line is wrong.
    Wrong,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Holds => 0,
            Exit::Violated => 1,
            Exit::Wrong => 2,
            Exit::Unknown => 3,
        })
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Exit {
        match verdict {
            Verdict::Holds => Exit::Holds,
            Verdict::Violated => Exit::Violated,
            Verdict::Unknown => Exit::Unknown,
        }
    }
}

/// Whoever read our output has seen enough (`ravelin … | head`); that is not an error.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
