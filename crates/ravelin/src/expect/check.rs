//! Expected answers of `check`, in headers and tables, and the actual ones in the same words.

use super::table::ExpectationTable;
use crate::check::word;
use ravelin_answer::{Answer, Property, Verdict};
use ravelin_frontend::Expectation;
use ravelin_program::Model;
use std::path::Path;

/// The part of the answers.
pub fn part(property: Property) -> &'static str {
    match property {
        Property::Robust => "check",
        Property::Trf => "trf",
    }
}

/// The expected answers for a file under a model, and how many more belong to analyses that do not exist yet.
pub fn expected(
    headers: &[&Expectation],
    tables: &[ExpectationTable],
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
        let answers = table.answers(path, "check", model);
        expected.extend(answers.into_iter().map(|answer| (Property::Robust, answer)));
        let column = match model {
            Model::Tso => "trace_robust",
            Model::Ra => "ra_trace_robust",
            Model::Rc20 => "rc11_trace_robust",
            Model::Sc | Model::Pso => continue,
        };
        match table.robust(path, column) {
            Some("yes") => expected.push((Property::Robust, "robust".to_owned())),
            Some("no") => expected.push((Property::Robust, "not robust".to_owned())),
            _ => {}
        }
        // Trencher's questions refer to TSO.
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

/// The actual answer, in the words of the expected one.
pub fn answer_word(answer: &Answer, expected: &str) -> &'static str {
    match answer {
        Answer::TriangularRaces(answer) => match answer.verdict {
            Verdict::Holds => "free",
            Verdict::Violated => "race",
            Verdict::Unknown => "unknown",
        },
        // A program with a race is not robust; `race` distinguishes the two.
        Answer::C11Robustness(answer) if answer.race.is_some() && expected != "not robust" => "race",
        answer => word(answer.verdict().unwrap_or(Verdict::Unknown)),
    }
}
