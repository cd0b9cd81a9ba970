//! The contract of exit codes.

use ravelin::answer::NoVerdict;
use ravelin::{Answer, CompileError, ParseError, Verdict};
use ravelin_output::complain;
use ravelin_process::input::InputError;
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

impl Exit {
    /// Prints what went wrong. The errors of a program were printed when it was read.
    pub fn of_error(error: &anyhow::Error) -> Exit {
        if !error.is::<ParseError>() {
            complain!("error: {error:#}");
        }
        // The context of an error may be that of a file.
        let is_ended = |cause: &(dyn std::error::Error + 'static)| {
            matches!(cause.downcast_ref(), Some(CompileError::Interrupted | CompileError::Late(_)))
                || matches!(cause.downcast_ref(), Some(InputError::Interrupted))
        };
        if error.chain().any(is_ended) { Exit::Unknown } else { Exit::Wrong }
    }

    /// What an answer means.
    pub fn of(answer: &Answer) -> Exit {
        match (answer.verdict(), answer) {
            (_, Answer::None(none)) if none.verdict == NoVerdict::Error => Exit::Wrong,
            // A deadlock is reported beside the verdict of `check`.
            _ if answer.deadlocks().is_some_and(|deadlocks| deadlocks.witness.is_some()) => Exit::Violated,
            (verdict, _) => verdict.unwrap_or(Verdict::Holds).into(),
        }
    }

    pub fn code(self) -> u8 {
        match self {
            Exit::Holds => 0,
            Exit::Violated => 1,
            Exit::Wrong => 2,
            Exit::Unknown => 3,
        }
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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        exit.code().into()
    }
}

/// What a shell says of a program that SIGPIPE ended.
pub const READER_IS_GONE: u8 = 141;

/// Success means that all output was delivered. If its reader went away before (`ravelin … | head`), an answer other than success
/// remains what it is, and success becomes what other programs end with then.
pub fn unless_lost(code: ExitCode) -> ExitCode {
    if code == ExitCode::SUCCESS && ravelin_output::reader_is_gone() { READER_IS_GONE.into() } else { code }
}
