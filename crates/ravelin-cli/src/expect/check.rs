//! What is expected of `check`, in headers and tables, and what is answered, in the same words.

use super::table::Table;
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_analysis::robustness::{RobustnessQuestion, race_freedom, robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_frontend::Expectation;
use ravelin_program::{Model, Program};
use std::path::Path;

/// What a program should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    Robust,
    /// Freedom from triangular races.
    Trf,
}

impl Property {
    pub fn part(self) -> &'static str {
        match self {
            Property::Robust => "check",
            Property::Trf => "trf",
        }
    }

    fn answer(self, verdict: Verdict) -> &'static str {
        match (self, verdict) {
            (_, Verdict::Unknown) => "unknown",
            (Property::Robust, Verdict::Holds) => "robust",
            (Property::Robust, Verdict::Violated) => "not robust",
            (Property::Trf, Verdict::Holds) => "free",
            (Property::Trf, Verdict::Violated) => "race",
        }
    }
}

/// The expected answers for a file under a model, and how many more belong to analyses that do not exist yet.
pub fn expected(
    headers: &[&Expectation],
    tables: &[Table],
    path: &Path,
    model: Model,
) -> (Vec<(Property, String)>, usize) {
    let mut expected = Vec::new();
    let mut pending = 0;
    for header in headers.iter().filter(|header| !header.pending) {
        match header.options.iter().find(|(key, _)| key == "property").map(|(_, value)| value.as_str()) {
            None | Some("robust") => expected.push((Property::Robust, header.answer.clone())),
            Some("trf") => expected.push((Property::Trf, header.answer.clone())),
            Some(_) => pending += 1,
        }
    }
    for table in tables {
        let answers = table.answers(path, "check", model.name());
        expected.extend(answers.into_iter().map(|answer| (Property::Robust, answer)));
        let column = match model.name() {
            "tso" => "trace_robust",
            "ra" => "ra_trace_robust",
            "rc20" => "rc11_trace_robust",
            _ => continue,
        };
        match table.robust(path, column) {
            Some("yes") => expected.push((Property::Robust, "robust".to_owned())),
            Some("no") => expected.push((Property::Robust, "not robust".to_owned())),
            _ => {}
        }
        // The questions of Trencher are about TSO.
        if model != Model::Tso {
            continue;
        }
        for (question, verdict) in table.questions(path) {
            match (question, verdict) {
                ("robustness", verdict) => expected.push((Property::Robust, verdict.to_owned())),
                ("trf", "TRF") => expected.push((Property::Trf, "free".to_owned())),
                ("trf", _) => expected.push((Property::Trf, "race".to_owned())),
                _ => pending += 1,
            }
        }
    }
    (expected, pending)
}

/// Each expected answer beside the one found. A property that is expected several times is asked for once.
pub fn answers(
    program: &Program,
    question: &RobustnessQuestion,
    expected: Vec<(Property, String)>,
) -> Result<Vec<(Property, String, String)>, AnalysisError> {
    let mut all = Vec::new();
    for property in [Property::Robust, Property::Trf] {
        let mut these = expected.iter().filter(|(of, _)| *of == property).peekable();
        if these.peek().is_none() {
            continue;
        }
        let verdict = match property {
            Property::Robust => robustness(program, question)?.verdict,
            Property::Trf => race_freedom(program, question)?.verdict,
        };
        let found = property.answer(verdict);
        all.extend(these.map(|(_, expected)| (property, expected.clone(), found.to_owned())));
    }
    Ok(all)
}

/// Each expected answer under a C11 model beside the one found.
pub fn c11_answers(
    program: &Program,
    question: &C11Question,
    expected: Vec<(Property, String)>,
) -> Result<Vec<(String, String)>, AnalysisError> {
    let expected: Vec<String> =
        expected.into_iter().filter(|(of, _)| *of == Property::Robust).map(|(_, answer)| answer).collect();
    if expected.is_empty() {
        return Ok(Vec::new());
    }
    let answer = c11_robustness(program, question)?;
    // A program with a race is not robust; whoever expects `race` wants to know which of the two it is.
    let found = |expected: &str| match answer.race() {
        Some(_) if expected != "not robust" => "race",
        _ => Property::Robust.answer(answer.verdict),
    };
    Ok(expected
        .into_iter()
        .map(|expected| {
            let found = found(&expected).to_owned();
            (expected, found)
        })
        .collect())
}
