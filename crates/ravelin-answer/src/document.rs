//! A document: the answers of one invocation.

use crate::confirm::Confirmation;
use crate::cover::{CoverOutcome, Coverability};
use crate::fence::{FenceOutcome, FencePlaces, Fences};
use crate::impact::Impact;
use crate::json::Json;
use crate::measure::{Limit, Statistics};
use crate::reach::{Reachability, Simulation};
use crate::robust::{C11Robustness, Property, Robustness, TriangularRaces};
use crate::sanitizer::{FixTrial, SanitizerReport};
use crate::states::FinalStates;
use crate::verdict::{Deadlocks, Stops, Verdict};
use ravelin_program::{Model, Position};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;

/// Changes when a field changes its meaning or is removed.
pub const SCHEMA: &str = "ravelin/2";

/// The answers of one invocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    /// `ravelin/2`.
    pub schema: String,
    /// `check`, `reach`, `fence`, `states`, `simulate`, `confirm`, `cover`, or one of these with ` --expect`; `diagnose`; `run`,
    /// `replay` or `findings`.
    pub command: String,
    /// One per file and model.
    pub answers: Vec<Answer>,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// Of `check` under tso and pso.
    Robustness(Box<Robustness>),
    /// Of `check --property trf`.
    TriangularRaces(Box<TriangularRaces>),
    /// Of `check` under ra and rc20.
    C11Robustness(Box<C11Robustness>),
    /// Of `reach`.
    Reachability(Box<Reachability>),
    /// Of `fence`.
    Fences(Box<Fences>),
    /// Of `fence --places`.
    FencePlaces(FencePlaces),
    /// Of `states`.
    FinalStates(Box<FinalStates>),
    /// Of `simulate`.
    Simulation(Box<Simulation>),
    /// Of `confirm`.
    Confirmation(Box<Confirmation>),
    /// Of `cover`.
    Coverability(Box<Coverability>),
    /// Of `run`, `replay` and `findings`.
    Sanitizer(Box<SanitizerReport>),
    /// Of `run` with `--try-fix` or `--fix-all`.
    FixTrial(Box<FixTrial>),
    /// There is no answer.
    None(NoAnswer),
    /// With `--expect`.
    Comparison(Comparison),
    /// Of `diagnose`.
    Diagnostics(Diagnostics),
}

impl Answer {
    /// The program, as named by the user.
    pub fn file(&self) -> &str {
        match self {
            Answer::Robustness(answer) => &answer.file,
            Answer::TriangularRaces(answer) => &answer.file,
            Answer::C11Robustness(answer) => &answer.file,
            Answer::Reachability(answer) => &answer.file,
            Answer::Fences(answer) => &answer.file,
            Answer::FencePlaces(answer) => &answer.file,
            Answer::FinalStates(answer) => &answer.file,
            Answer::Simulation(answer) => &answer.file,
            Answer::Confirmation(answer) => &answer.file,
            Answer::Coverability(answer) => &answer.file,
            Answer::Sanitizer(answer) => &answer.program,
            Answer::FixTrial(answer) => &answer.program,
            Answer::None(answer) => &answer.file,
            Answer::Comparison(answer) => &answer.file,
            Answer::Diagnostics(answer) => &answer.file,
        }
    }

    /// The memory model, for answers about one.
    pub fn model(&self) -> Option<Model> {
        match self {
            Answer::Robustness(answer) => Some(answer.model),
            Answer::TriangularRaces(answer) => Some(answer.model),
            Answer::C11Robustness(answer) => Some(answer.model),
            Answer::Reachability(answer) => Some(answer.model),
            Answer::Fences(answer) => Some(answer.model),
            Answer::FinalStates(answer) => Some(answer.model),
            Answer::Simulation(answer) => Some(answer.model),
            Answer::Confirmation(answer) => Some(answer.model),
            Answer::Comparison(answer) => Some(answer.model),
            Answer::None(answer) => answer.model,
            Answer::FencePlaces(_) | Answer::Coverability(_) | Answer::Diagnostics(_) => None,
            Answer::Sanitizer(_) | Answer::FixTrial(_) => None,
        }
    }

    /// The verdict. Fences that were found hold, and so does a complete list of states. There is none if the question
    /// has no verdict.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Answer::Robustness(answer) => Some(answer.verdict),
            Answer::TriangularRaces(answer) => Some(answer.verdict),
            Answer::C11Robustness(answer) => Some(answer.verdict),
            Answer::Reachability(answer) => Some(answer.verdict),
            Answer::Fences(answer) => Some(match answer.outcome {
                FenceOutcome::NotNeeded | FenceOutcome::Found => Verdict::Holds,
                FenceOutcome::WrongUnderSc | FenceOutcome::NoSet => Verdict::Violated,
                FenceOutcome::Unknown => Verdict::Unknown,
            }),
            Answer::FinalStates(answer) if answer.complete => Some(Verdict::Holds),
            Answer::FinalStates(_) => Some(Verdict::Unknown),
            Answer::Confirmation(answer) => Some(answer.verdict),
            Answer::Coverability(answer) => Some(match answer.verdict {
                CoverOutcome::Coverable => Verdict::Violated,
                CoverOutcome::Uncoverable => Verdict::Holds,
                CoverOutcome::Unknown => Verdict::Unknown,
            }),
            Answer::Sanitizer(answer) => Some(answer.verdict),
            Answer::FixTrial(answer) => Some(answer.verdict),
            Answer::None(answer) if answer.verdict == NoVerdict::Unknown => Some(Verdict::Unknown),
            Answer::None(_) | Answer::FencePlaces(_) | Answer::Simulation(_) => None,
            Answer::Comparison(_) | Answer::Diagnostics(_) => None,
        }
    }

    /// Proved to be robust: of `check`.
    pub fn is_robust(&self) -> bool {
        match self {
            Answer::Robustness(answer) => answer.robust() == Verdict::Holds,
            Answer::TriangularRaces(answer) => answer.verdict == Verdict::Holds && answer.implies_robust,
            Answer::C11Robustness(answer) => answer.robust() == Verdict::Holds,
            _ => false,
        }
    }

    /// How many states were explored.
    pub fn states(&self) -> u64 {
        match self {
            Answer::Robustness(answer) => answer.explored.states,
            Answer::TriangularRaces(answer) => answer.statistics.states,
            Answer::C11Robustness(answer) => answer.statistics.states,
            Answer::Reachability(answer) => answer.statistics.states,
            Answer::Fences(answer) => answer.effort.states,
            Answer::FinalStates(answer) => answer.statistics.states,
            _ => 0,
        }
    }

    /// Where threads can stop under SC, for answers that contain it.
    pub fn stops(&self) -> Option<&Stops> {
        match self {
            Answer::Robustness(answer) => answer.stops.as_ref(),
            Answer::TriangularRaces(answer) => answer.stops.as_ref(),
            Answer::C11Robustness(answer) => answer.stops.as_ref(),
            Answer::Fences(answer) => answer.stops.as_ref(),
            Answer::FinalStates(answer) => answer.stops.as_ref(),
            _ => None,
        }
    }

    /// What is known about deadlocks beside an answer of `check`.
    pub fn deadlocks(&self) -> Option<&Deadlocks> {
        match self {
            Answer::Robustness(answer) => answer.deadlocks.as_ref(),
            Answer::TriangularRaces(answer) => answer.deadlocks.as_ref(),
            Answer::C11Robustness(answer) => answer.deadlocks.as_ref(),
            _ => None,
        }
    }

    /// Whether it matters that a program is not robust, beside an answer of `check`.
    pub fn impact(&self) -> Option<&Impact> {
        match self {
            Answer::Robustness(answer) => answer.impact.as_ref(),
            Answer::C11Robustness(answer) => answer.impact.as_ref(),
            _ => None,
        }
    }

    /// The same with the model, the property that was asked about and the verdict on it.
    pub(crate) fn judged(&self) -> Option<(&Impact, Model, Property, Verdict)> {
        match self {
            Answer::Robustness(answer) => {
                Some((answer.impact.as_ref()?, answer.model, answer.property, answer.verdict))
            }
            Answer::C11Robustness(answer) => {
                Some((answer.impact.as_ref()?, answer.model, answer.property, answer.verdict))
            }
            _ => None,
        }
    }

    /// Adds whether it matters, to an answer of `check`, with the verdict on the property that was asked about.
    pub fn set_impact(&mut self, impact: Impact, asked: Property, on_property: Verdict) {
        match self {
            Answer::Robustness(answer) => {
                (answer.impact, answer.property, answer.verdict) = (Some(impact), asked, on_property);
            }
            Answer::C11Robustness(answer) => {
                (answer.impact, answer.property, answer.verdict) = (Some(impact), asked, on_property);
            }
            _ => {}
        }
    }

    /// Adds what is known about deadlocks, to an answer of `check`.
    pub fn set_deadlocks(&mut self, deadlocks: Deadlocks) {
        match self {
            Answer::Robustness(answer) => answer.deadlocks = Some(deadlocks),
            Answer::TriangularRaces(answer) => answer.deadlocks = Some(deadlocks),
            Answer::C11Robustness(answer) => answer.deadlocks = Some(deadlocks),
            _ => {}
        }
    }

    /// Adds where threads can stop, to an answer that contains it.
    pub fn set_stops(&mut self, stops: Stops) {
        match self {
            Answer::Robustness(answer) => answer.stops = Some(stops),
            Answer::TriangularRaces(answer) => answer.stops = Some(stops),
            Answer::C11Robustness(answer) => answer.stops = Some(stops),
            Answer::Fences(answer) => answer.stops = Some(stops),
            Answer::FinalStates(answer) => answer.stops = Some(stops),
            _ => {}
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoAnswer {
    /// The program, as named by the user.
    pub file: String,
    /// Null if the program was not read.
    pub model: Option<Model>,
    /// Which of the reasons.
    pub verdict: NoVerdict,
    /// The reason in words.
    pub message: String,
    /// What ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The last known progress of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Statistics>,
    /// What is wrong with the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// The reasons why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoVerdict {
    /// The input or the command line is wrong.
    Error,
    /// The program has no meaning under a model that was not named explicitly.
    NotApplicable,
    /// A signal or a limit ended the analysis before it answered.
    Unknown,
}

impl NoAnswer {
    /// The input or the command line is wrong.
    pub fn error(file: impl Into<String>, message: impl Into<String>) -> NoAnswer {
        NoAnswer {
            file: file.into(),
            model: None,
            verdict: NoVerdict::Error,
            message: message.into(),
            limit: None,
            statistics: None,
            diagnostics: Vec::new(),
        }
    }

    /// The program has no meaning under the model.
    pub fn not_applicable(file: impl Into<String>, model: Model, message: impl Into<String>) -> NoAnswer {
        NoAnswer { model: Some(model), verdict: NoVerdict::NotApplicable, ..NoAnswer::error(file, message) }
    }

    /// A signal arrived. `last` is the last reported progress of the search.
    pub fn interrupted(file: impl Into<String>, model: Option<Model>, last: Option<Statistics>) -> NoAnswer {
        NoAnswer::limited(file, model, last, Limit::Interrupted)
    }

    /// A limit was reached. `last` is the last reported progress of the search.
    pub fn limited(file: impl Into<String>, model: Option<Model>, last: Option<Statistics>, limit: Limit) -> NoAnswer {
        let message = limit.to_string();
        let limit = Some(limit);
        NoAnswer { model, verdict: NoVerdict::Unknown, limit, statistics: last, ..NoAnswer::error(file, message) }
    }
}

/// What is wrong with a program, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where it begins.
    #[serde(flatten, with = "crate::place")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
    pub position: Option<Position>,
    /// The line of the first character after it.
    pub end_line: Option<usize>,
    /// The column of the first character after it.
    pub end_column: Option<usize>,
    /// The text beside the carets.
    pub label: Option<String>,
    /// More information.
    pub notes: Vec<String>,
    /// What would help.
    pub help: Option<String>,
    /// Other relevant places.
    pub others: Vec<OtherPlace>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// There is no program.
    Error,
    /// There is a program.
    Warning,
}

impl Severity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// Another relevant place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherPlace {
    /// Where it begins.
    #[serde(flatten, with = "crate::place")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
    pub position: Option<Position>,
    /// The line of the first character after it.
    pub end_line: Option<usize>,
    /// The column of the first character after it.
    pub end_column: Option<usize>,
    /// What is there.
    pub label: String,
}

/// An answer and the expected one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The program, as named by the user.
    pub file: String,
    /// The model.
    pub model: Model,
    /// Which part of the answer: `reach`, `states`, `condition`, `check`, `trf`, `fence`.
    pub part: String,
    /// What a file or a table says.
    pub expected: String,
    /// What was answered.
    pub found: String,
    /// They are the same.
    pub agrees: bool,
}

/// What is wrong with a program, for editors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnostics {
    /// The program, as named by the user.
    pub file: String,
    /// Its language.
    pub language: String,
    /// Everything that is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why a text is not a document.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// Not JSON at all.
    #[error("this is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// Other JSON.
    #[error(
        "this is no document of Ravelin: it has no `schema`, `command` and `answers` (`--format json` writes them)"
    )]
    NotADocument,
    /// Of another version.
    #[error("the document has the schema `{0}`, and this program reads `{SCHEMA}`")]
    Schema(String),
    /// An answer is malformed.
    #[error("answer {number}: {what}")]
    Answer {
        /// From 1.
        number: usize,
        /// What is wrong with it.
        what: String,
    },
}

impl Document {
    /// A document of the answers that a command gave.
    pub fn new(command: impl Into<String>, answers: Vec<Answer>) -> Document {
        Document { schema: SCHEMA.to_owned(), command: command.into(), answers }
    }

    /// Reads the text of a document.
    pub fn read(text: &str) -> Result<Document, DocumentError> {
        let text = text.trim_start_matches('\u{feff}');
        // Texts of answers are kept unchanged: the order of registers and cells is that of the program.
        #[derive(Deserialize)]
        struct Outline<'a> {
            schema: Option<String>,
            command: Option<String>,
            #[serde(borrow)]
            answers: Option<Vec<&'a RawValue>>,
        }
        let outline = serde_json::from_str::<Outline>(text);
        let outline = outline.map_err(|_| match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => DocumentError::NotADocument,
            Err(error) => DocumentError::NotJson(error),
        })?;
        let schema = outline.schema.ok_or(DocumentError::NotADocument)?;
        if schema != SCHEMA {
            return Err(DocumentError::Schema(schema));
        }
        let command = outline.command.ok_or(DocumentError::NotADocument)?;
        let found = outline.answers.ok_or(DocumentError::NotADocument)?;
        let mut answers = Vec::with_capacity(found.len());
        for (number, answer) in found.iter().enumerate() {
            let wrong = |what: String| DocumentError::Answer { number: number + 1, what };
            let unread = |error: serde_json::Error| {
                let what = error.to_string();
                // Lines and columns would be counted from the start of the answer.
                wrong(what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what).to_owned())
            };
            let mut json: Json = serde_json::from_str(answer.get()).map_err(unread)?;
            let kind = match command.as_str() {
                "run" | "replay" | "findings" => sanitizer_kind(&mut json),
                _ => kind(&mut json),
            };
            let answer = kind.and_then(|kind| Answer::of_kind(&kind, json)).map_err(unread)?;
            answer.check().map_err(wrong)?;
            answers.push(answer);
        }
        Ok(Document::new(command, answers))
    }

    /// As it is printed.
    pub fn text(&self) -> String {
        // Keys are strings and numbers are plain: serialising these types cannot fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The values of `kind`.
const KINDS: &[&str] = &[
    "robustness",
    "triangular_races",
    "c11_robustness",
    "reachability",
    "fences",
    "fence_places",
    "final_states",
    "simulation",
    "confirmation",
    "coverability",
    "sanitizer",
    "fix_trial",
    "none",
    "comparison",
    "diagnostics",
];

impl Answer {
    /// Reads what stands beside `kind`.
    fn of_kind(kind: &str, json: Json) -> serde_json::Result<Answer> {
        Ok(match kind {
            "robustness" => Answer::Robustness(Deserialize::deserialize(json)?),
            "triangular_races" => Answer::TriangularRaces(Deserialize::deserialize(json)?),
            "c11_robustness" => Answer::C11Robustness(Deserialize::deserialize(json)?),
            "reachability" => Answer::Reachability(Deserialize::deserialize(json)?),
            "fences" => Answer::Fences(Deserialize::deserialize(json)?),
            "fence_places" => Answer::FencePlaces(Deserialize::deserialize(json)?),
            "final_states" => Answer::FinalStates(Deserialize::deserialize(json)?),
            "simulation" => Answer::Simulation(Deserialize::deserialize(json)?),
            "confirmation" => Answer::Confirmation(Deserialize::deserialize(json)?),
            "coverability" => Answer::Coverability(Deserialize::deserialize(json)?),
            "sanitizer" => Answer::Sanitizer(Deserialize::deserialize(json)?),
            "fix_trial" => Answer::FixTrial(Deserialize::deserialize(json)?),
            "none" => Answer::None(Deserialize::deserialize(json)?),
            "comparison" => Answer::Comparison(Deserialize::deserialize(json)?),
            "diagnostics" => Answer::Diagnostics(Deserialize::deserialize(json)?),
            _ => return Err(serde_json::Error::unknown_variant(kind, KINDS)),
        })
    }
}

/// The way to read that serde derives for `tag = "kind"`, compiled once.
impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Answer, D::Error> {
        let mut json = Json::deserialize(deserializer)?;
        kind(&mut json).and_then(|kind| Answer::of_kind(&kind, json)).map_err(D::Error::custom)
    }
}

/// Takes the kind of an answer out of it.
fn kind(json: &mut Json) -> serde_json::Result<String> {
    String::deserialize(json.take("kind").ok_or_else(|| serde_json::Error::missing_field("kind"))?)
}

/// The same for an answer of the sanitizer. In documents of earlier versions these have no `kind`.
fn sanitizer_kind(json: &mut Json) -> serde_json::Result<String> {
    match (json.has("kind"), json.has("gone")) {
        (true, _) => kind(json),
        (false, true) => Ok("fix_trial".to_owned()),
        (false, false) => Ok("sanitizer".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitizer::{FirstRun, sample};

    #[test]
    fn what_the_sanitizer_found_is_read_as_it_is_written_with_and_without_a_kind() {
        let document = Document::new("run", vec![Answer::Sanitizer(Box::new(sample::report()))]);
        let text = document.text();
        assert_eq!(Document::read(&text).expect("a document"), document);
        assert_eq!(Document::read(&text.replace("\"kind\": \"sanitizer\",", "")).expect("an earlier one"), document);
    }

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        let comparison = Comparison {
            file: "sb.rav".to_owned(),
            model: Model::Tso,
            part: "check".to_owned(),
            expected: "robust".to_owned(),
            found: "robust".to_owned(),
            agrees: true,
        };
        let diagnostics =
            Diagnostics { file: "sb.rav".to_owned(), language: "rav".to_owned(), diagnostics: Vec::new() };
        for answer in [
            Answer::None(NoAnswer::error("sb.rav", "no such file")),
            Answer::Comparison(comparison),
            Answer::Diagnostics(diagnostics),
            Answer::FencePlaces(FencePlaces { file: "sb.rav".to_owned(), places: Vec::new() }),
            Answer::Sanitizer(Box::new(sample::report())),
        ] {
            let text = serde_json::to_string(&answer).expect("JSON");
            assert_eq!(serde_json::from_str::<Answer>(&text).expect("an answer"), answer);
        }
        // The others lack their fields, but are known.
        for kind in KINDS {
            let error = serde_json::from_str::<Answer>(&format!("{{\"kind\": \"{kind}\"}}")).expect_err("no fields");
            assert!(error.to_string().starts_with("missing field"), "{kind}: {error}");
        }
        let error = serde_json::from_str::<Answer>(r#"{ "kind": "other" }"#).expect_err("there is no such kind");
        assert!(error.to_string().starts_with("unknown variant `other`, expected one of `robustness`"), "{error}");
    }

    #[test]
    fn a_finding_in_a_run_that_is_none_is_refused() {
        let mut report = sample::report();
        report.findings[1].first_run = Some(FirstRun { run: 3, schedule: None, point: 0 });
        let text = Document::new("run", vec![Answer::Sanitizer(Box::new(report))]).text();
        let error = Document::read(&text).expect_err("there is no run 3");
        assert_eq!(error.to_string(), "answer 1: finding 2: there is no run 3");
    }
}
