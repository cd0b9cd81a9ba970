//! The parts that answers of several commands share, field by field as docs/json.md has them.

use super::{Story, Verdict, Wrong};
use serde::Deserialize;
use serde_json::Value;

/// An answer that is an error, that does not apply, or that was interrupted before anything was known.
#[derive(Deserialize)]
struct NoAnswer {
    file: String,
    model: Option<String>,
    message: String,
    #[serde(default)]
    diagnostics: Vec<RawDiagnostic>,
}

/// What is wrong with a program, and where.
#[derive(Deserialize)]
struct RawDiagnostic {
    severity: String,
    message: String,
    line: Option<u32>,
}

/// The story of an answer that is none; `None` if it is one.
pub fn no_answer(answer: &Value) -> Result<Option<Story>, Wrong> {
    let verdict = match answer["verdict"].as_str() {
        Some("error") => Verdict::Error,
        Some("not_applicable") => Verdict::NotApplicable,
        Some("unknown") if answer["message"].is_string() => Verdict::Unknown,
        _ => return Ok(None),
    };
    let NoAnswer { file, model, message, diagnostics } = NoAnswer::deserialize(answer)?;
    let message = message.trim_end_matches('.');
    let (word, sentence) = match (verdict, &model) {
        (Verdict::NotApplicable, Some(model)) => {
            ("does not apply", format!("The model {model} does not apply to {file}: {message}."))
        }
        (Verdict::Unknown, Some(model)) => ("unknown", format!("It is not known for {file} under {model}: {message}.")),
        (Verdict::Unknown, None) => ("unknown", format!("It is not known for {file}: {message}.")),
        _ => ("error", format!("There is no answer about {file}: {message}.")),
    };
    let told = |diagnostic: &RawDiagnostic| {
        let line = diagnostic.line.map(|line| format!(" on line {line}")).unwrap_or_default();
        format!("{}{line}: {}", diagnostic.severity, diagnostic.message)
    };
    let notes = diagnostics.iter().map(told).collect();
    let marked = diagnostics.iter().filter_map(|diagnostic| diagnostic.line).collect();
    Ok(Some(Story { file, model, verdict, word: word.to_owned(), sentence, notes, marked, ..Story::default() }))
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RawVerdict {
    Holds,
    Violated,
    Unknown,
}

impl From<RawVerdict> for Verdict {
    fn from(verdict: RawVerdict) -> Verdict {
        match verdict {
            RawVerdict::Holds => Verdict::Holds,
            RawVerdict::Violated => Verdict::Violated,
            RawVerdict::Unknown => Verdict::Unknown,
        }
    }
}

/// What ended a search early.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RawLimit {
    States { value: u64 },
    Memory { value: u64 },
    Time { value: f64 },
    Interrupted,
}

impl RawLimit {
    pub fn words(&self) -> String {
        match self {
            RawLimit::States { value } => {
                format!("the limit of {} states was reached", crate::numbers::grouped(*value))
            }
            RawLimit::Memory { value } => format!("the limit of {} MiB of memory was reached", value >> 20),
            RawLimit::Time { value } => format!("the time limit of {value} s was reached"),
            RawLimit::Interrupted => "it was interrupted".to_owned(),
        }
    }
}

/// An instruction in the source.
#[derive(Deserialize)]
pub struct RawPlace {
    pub text: String,
    pub line: Option<u32>,
}

impl RawPlace {
    /// ` on line 7`, or nothing.
    pub fn on_line(&self) -> String {
        self.line.map(|line| format!(" on line {line}")).unwrap_or_default()
    }
}

/// The instance of a program with any number of threads that a witness is about.
#[derive(Deserialize)]
pub struct RawAnyNumber {
    pub instance: Option<RawInstance>,
}

#[derive(Deserialize)]
pub struct RawInstance {
    pub copies: Vec<RawCopies>,
    pub smallest: bool,
}

#[derive(Deserialize)]
pub struct RawCopies {
    pub thread: String,
    pub copies: usize,
}

impl RawInstance {
    /// `2 copies of p and 1 of q`.
    pub fn words(&self) -> String {
        let copies = self.copies.iter().enumerate().map(|(number, RawCopies { thread, copies })| {
            let noun = match (number, copies) {
                (0, 1) => " copy",
                (0, _) => " copies",
                _ => "",
            };
            format!("{copies}{noun} of {thread}")
        });
        copies.collect::<Vec<_>>().join(" and ")
    }
}

/// What to say of the number of threads, behind a verdict and as a note.
pub fn number_of_threads(found: Option<&RawAnyNumber>, verdict: Verdict) -> (String, Option<String>) {
    let Some(found) = found else { return (String::new(), None) };
    match (&found.instance, verdict) {
        (_, Verdict::Holds) => (", for every number of threads".to_owned(), None),
        (Some(instance), _) => {
            let note = match instance.smallest {
                true => "The smallest instance: with fewer copies there is no such computation.",
                false => "Smaller instances could not all be explored within the limits; one may show it, too.",
            };
            (format!(" with {}", instance.words()), Some(note.to_owned()))
        }
        (None, _) => (String::new(), None),
    }
}
