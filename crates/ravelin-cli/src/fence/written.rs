//! The repaired program as a text: checked from scratch, written to a file, shown as a diff.

use super::ask::Question;
use crate::ask::Subject;
use crate::input::Reading;
use anyhow::{Context, bail};
use ravelin_analysis::Verdict;
use ravelin_program::Source;
use std::path::Path;

/// Reads the text and asks about it what anybody would ask who had got it from somewhere. Says what was answered.
pub fn check(subject: &Subject, reading: &Reading, text: &str, question: &Question) -> anyhow::Result<String> {
    let parsed = reading.parse(Source::new(subject.file, text), subject.language);
    let Some(program) = parsed.program else {
        bail!("internal error, please report it: the repaired program cannot be read");
    };
    let program = reading.instance(program);
    let (verdict, quality) = question.check(&program)?;
    match verdict {
        Verdict::Holds => {
            let with = reading.copies.map(|copies| format!(" with {copies} copies")).unwrap_or_default();
            let mut said = format!("Checked from scratch: the repaired program is {quality}{with}.");
            if parsed.expectations.iter().any(|expectation| !expectation.pending) {
                said.push_str(" Its `//! expect` lines still speak of the program as it was.");
            }
            Ok(said)
        }
        Verdict::Unknown => Ok("The repaired program could not be checked from scratch within the limits.".to_owned()),
        Verdict::Violated => bail!("internal error, please report it: the repaired program is not {quality}"),
    }
}

pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    ravelin_output::replace(path, text).with_context(|| path.display().to_string())
}

/// What changed, as a unified diff with two lines around each change; nothing if nothing did.
pub fn diff(file: &str, before: &str, after: &str) -> String {
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
