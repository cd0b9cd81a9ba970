//! Expected answers of `check`, in headers and tables, and the actual ones in the same words.

use super::table::ExpectationTable;
use ravelin_answer::{Answer, Property, Verdict};
use ravelin_frontend::Expectation;
use ravelin_program::Model;
use std::path::Path;

/// The part of the answers.
pub fn part(property: Property) -> &'static str {
    match property {
        Property::Robust => "check",
        Property::Observational => "observational",
        Property::Safe => "safe",
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
            None => expected.push((Property::Robust, header.answer.clone())),
            Some(name) => match Property::ALL.into_iter().find(|property| property.name() == name) {
                Some(property) => expected.push((property, header.answer.clone())),
                None => pending += 1,
            },
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

/// The actual answer, in the words of the expected one. Of a program that is not robust, a grade may be expected as well:
/// `not robust, goals hold`.
pub fn answer_word(property: Property, answer: &Answer, expected: &str) -> String {
    let verdict = answer.verdict().unwrap_or(Verdict::Unknown);
    let word = match (property, answer, verdict) {
        (Property::Trf, _, Verdict::Holds) => "free",
        (Property::Trf, _, Verdict::Violated) => "race",
        // A program with a race is not robust; `race` distinguishes the two.
        (_, Answer::C11Robustness(answer), _) if answer.race.is_some() && expected != "not robust" => "race",
        // What is not robust cannot be proved to be.
        (Property::Observational, _, Verdict::Unknown) if expected != "not robust" => "not proved",
        (Property::Observational, _, Verdict::Unknown) => "not robust",
        (Property::Safe, _, verdict) => verdict.name(),
        (_, _, verdict) => verdict.on_robustness(),
    };
    match answer.impact().and_then(|impact| impact.grade) {
        Some(grade) if expects_grade(expected) => format!("{word}, {}", grade.name()),
        _ => word.to_owned(),
    }
}

/// Whether an expected answer has a grade.
pub fn expects_grade(expected: &str) -> bool {
    expected.contains(", ")
}
