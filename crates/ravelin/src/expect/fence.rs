//! Expected answers of `fence`, in headers and tables, and the actual ones in the same words.

use super::table::ExpectationTable;
use crate::error::Error;
use crate::fence::{Fence, FenceFinding, FencePlan};
use ravelin_analysis::fences::{Sets, SynthesisOutcome, SynthesisPurpose};
use ravelin_analysis::reachability::ReachEngine;
use ravelin_frontend::Expectation;
use ravelin_frontend::sites::RepairKind;
use ravelin_program::Model;
use std::path::Path;

/// The expected answers for a file under a model, and how many more belong to analyses that do not exist yet.
pub fn expected(
    headers: &[&Expectation],
    tables: &[ExpectationTable],
    path: &Path,
    model: Model,
    engine: ReachEngine,
    copies: Option<usize>,
) -> Result<(Vec<(FencePlan, String)>, usize), String> {
    let mut expected = Vec::new();
    let mut pending = 0;
    for header in headers.iter().filter(|header| !header.pending) {
        expected.push((FencePlan::from_options(&header.options, engine, copies)?, header.answer.clone()));
    }
    for table in tables {
        for answer in table.answers(path, "fence", model) {
            expected.push((FencePlan::new(SynthesisPurpose::Robust, copies), answer));
        }
        for (question, verdict) in table.questions(path) {
            let number = verdict.split_whitespace().next().unwrap_or_default().to_owned();
            match question {
                "fences" if model == Model::Tso => {
                    expected.push((FencePlan::new(SynthesisPurpose::Robust, copies), number))
                }
                "trf-fences" if model == Model::Tso => {
                    expected.push((FencePlan::new(SynthesisPurpose::RaceFree, copies), number))
                }
                question if locks_writes(question, model) => {
                    let plan =
                        FencePlan { repair: RepairKind::Rmw, ..FencePlan::new(SynthesisPurpose::Safe(engine), copies) };
                    // `1 sync set(s) L10 P0 L21 P1`: two writes to be locked.
                    expected.push((plan, (verdict.split_whitespace().skip(3).count() / 2).to_string()));
                }
                "fences" | "trf-fences" => {}
                _ => pending += 1,
            }
        }
    }
    Ok((expected, pending))
}

/// Memorax's fence insertion under this model: `fencins-tso-sb-cheap`.
fn locks_writes(question: &str, model: Model) -> bool {
    question.strip_prefix("fencins-").is_some_and(|rest| rest.starts_with(model.name()))
}

/// The answer in a few words: `4`; if all sets are requested, `4 fences, 2 minimal sets`; of what is written, `cost 3 of 8`.
pub fn answer(question: &Fence) -> Result<String, Error> {
    let FenceFinding { task, result, wrong_as_written } = question.find()?;
    let answer = result.answer;
    let fences = answer.sets.first().map_or(0, |set| set.fences(&task.offers, &task.sites));
    let sets = answer.sets.len().max(1);
    let plural = |number: usize| if number == 1 { "" } else { "s" };
    Ok(match answer.outcome {
        SynthesisOutcome::NotNeeded | SynthesisOutcome::Found if question.plan.sets == Sets::AllMinimal => {
            format!("{fences} fence{}, {sets} minimal set{}", plural(fences), plural(sets))
        }
        SynthesisOutcome::NotNeeded | SynthesisOutcome::Found if wrong_as_written => "wrong as written".to_owned(),
        SynthesisOutcome::NotNeeded | SynthesisOutcome::Found => match task.written {
            Some(written) => format!("cost {} of {written}", answer.sets.first().map_or(0, |set| set.cost.main)),
            None => fences.to_string(),
        },
        SynthesisOutcome::WrongUnderSc(_) => "wrong under sc".to_owned(),
        SynthesisOutcome::NoSet(_) => "no set".to_owned(),
        SynthesisOutcome::Unknown(_) => "unknown".to_owned(),
    })
}
