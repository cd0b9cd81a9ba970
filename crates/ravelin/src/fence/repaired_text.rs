//! The repaired program as a text: checked from scratch, and printed as a diff.

use super::ask::RepairQuestion;
use crate::clang::CompileError;
use crate::error::Error;
use crate::program::{Program, ReadOptions};
use ravelin_analysis::Verdict;
use ravelin_analysis::c11::with_exact_waits;
use ravelin_explore::{Limits, Watch};

/// Reads the text and checks it as if it came from elsewhere. Returns the answer.
pub(crate) fn check(
    program: &Program,
    text: &str,
    question: &RepairQuestion,
    limits: Limits,
    auto_wait: bool,
) -> Result<String, Error> {
    let unread = |error: Error| Error::Internal(format!("the repaired program cannot be read: {error}"));
    let unchecked = || Ok("The repaired program could not be checked from scratch within the limits.".to_owned());
    let reading = ReadOptions { time: limits.time, ..program.reading.clone() };
    let repaired = match reading.parse(program.name(), text) {
        Err(Error::Compile(CompileError::Interrupted | CompileError::Late(_))) => return unchecked(),
        Err(Error::Compile(error)) => {
            let message = format!("the change cannot be written like this; the changed text does not compile: {error}");
            return Err(Error::Question(message));
        }
        repaired => repaired.map_err(unread)?,
    };
    let (verdict, quality) = match auto_wait.then(|| with_exact_waits(&repaired.program, &Watch::unlimited())) {
        Some(Ok((waiting, _))) => question.check(&waiting)?,
        _ => question.check(&repaired.program)?,
    };
    match verdict {
        Verdict::Holds => {
            let with = program.reading.copies.map(|copies| format!(" with {copies} copies")).unwrap_or_default();
            let waits = if auto_wait { ", with its loops that only wait rewritten" } else { "" };
            let mut said = format!("Checked from scratch: the repaired program is {quality}{with}{waits}.");
            if repaired.expectations.iter().any(|expectation| !expectation.pending) {
                said.push_str(" Its `//! expect` lines still speak of the program as it was.");
            }
            Ok(said)
        }
        Verdict::Unknown => unchecked(),
        Verdict::Violated => Err(Error::Internal(format!("the repaired program is not {quality}"))),
    }
}

/// The change as a unified diff with two lines around each change; empty if nothing changed.
pub fn unified_diff(file: &str, before: &str, after: &str) -> String {
    use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
    if before == after {
        return String::new();
    }
    let lines = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &lines);
    diff.postprocess_lines(&lines);
    let mut config = UnifiedDiffConfig::default();
    config.context_len(2);
    let printer = BasicLineDiffPrinter(&lines.interner);
    let hunks = diff.unified_diff(&printer, config, &lines);
    format!("--- {file}\n+++ {file}\n{hunks}")
}
