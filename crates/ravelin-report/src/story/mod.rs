//! What Ravelin answered, as a story: read back from the JSON document that it printed (docs/json.md), typed and checked.
//!
//! Whatever tells an answer at length is made from this and from the sources alone: the page ([`crate::page`]), the picture
//! ([`crate::picture`]), and the words of `ravelin explain`. So an answer that was kept can be told again, and what a page shows can
//! be checked against the document it was made of.
//!
//! Nothing in a document is taken on trust: a document of another schema, one in which a field is missing, or one whose edges lead
//! nowhere is an error that says so.
//!
//! ```
//! use ravelin_report::story::{self, Verdict};
//!
//! let document = story::read(
//!     r#"{ "schema": "ravelin/1", "command": "reach",
//!          "answers": [{ "file": "sb.rav", "verdict": "error", "message": "no such file" }] }"#,
//! )?;
//! assert_eq!(document.stories[0].verdict, Verdict::Error);
//! assert_eq!(document.stories[0].sentence, "There is no answer about sb.rav: no such file.");
//! # Ok::<(), story::StoryError>(())
//! ```

mod check;
mod facts;
mod fence;
mod graph;
mod raw;
mod reach;
mod run;
mod sanitizer;
mod states;
mod telling;

pub use fence::{Change, FenceSet, Fences, Needed};
pub use graph::{Edge, EdgeKind, Event, Graph};
pub use run::{Access, Cell, Entry, Place, Register, Run, State, Step, Thread};
pub use sanitizer::{
    Blocked, Finding, Findings, Frame, PathStep, SanitizerAccess, SanitizerThread, Site, Stuck, describe_access,
};
pub use states::{EndState, States};
pub use telling::{Role, Telling};

use crate::json::SCHEMA;
use serde_json::Value;
use thiserror::Error;

/// All answers of one invocation.
#[derive(Clone, Debug)]
pub struct Document {
    /// `check`, `reach`, `fence`, `states`, `simulate`, `run`, `replay` or `findings`.
    pub command: String,
    pub stories: Vec<Story>,
}

/// One answer.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// The program, as it was named.
    pub file: String,
    pub command: String,
    /// `sc`, `tso`, `pso`, `ra`, `rc20`; none for the sanitizer and for errors.
    pub model: Option<String>,
    pub verdict: Verdict,
    /// The verdict in a word or two: `not robust`, `data race`, `holds`.
    pub word: String,
    /// The verdict in one sentence.
    pub sentence: String,
    /// What else there is to say, a sentence each.
    pub notes: Vec<String>,
    /// Lines of the source that the notes are about.
    pub marked: Vec<u32>,
    /// The run or the graph that shows it.
    pub telling: Option<Telling>,
    /// `fence`: the sets, the diff, and why each fence is needed.
    pub fences: Option<Fences>,
    /// `states`: all states in which the program can end.
    pub states: Option<States>,
    /// `run` and `findings`: what the sanitizer found.
    pub findings: Option<Findings>,
    /// Names and values for a table: how much was explored, in how long.
    pub statistics: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Violated,
    Unknown,
    /// There is no answer, because the input or the command line was wrong.
    Error,
    /// The program has no meaning under the model.
    NotApplicable,
    /// Nothing was asked that could hold: `states`, `simulate`, `fence --places`.
    #[default]
    None,
}

impl Verdict {
    /// The word that stands for it in class names and attributes.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown => "unknown",
            Verdict::Error => "error",
            Verdict::NotApplicable => "not-applicable",
            Verdict::None => "none",
        }
    }
}

/// Why a text is no story.
#[derive(Debug, Error)]
pub enum StoryError {
    #[error("this is not JSON: {0}")]
    NotJson(serde_json::Error),
    #[error(
        "this is no document of Ravelin: it has no `schema`, `command` and `answers` (`--format json` writes them)"
    )]
    NotADocument,
    #[error("the document has the schema `{0}`, and this program reads `{SCHEMA}`")]
    Schema(String),
    #[error(
        "answers of `{0}` cannot be told; those of check, reach, fence, states, simulate, run, replay and findings can"
    )]
    Command(String),
    #[error("answer {number}: {what}")]
    Answer { number: usize, what: String },
}

/// Reads the text of a document.
pub fn read(text: &str) -> Result<Document, StoryError> {
    let text = text.trim_start_matches('\u{feff}');
    from_value(&serde_json::from_str(text).map_err(StoryError::NotJson)?)
}

/// Reads a document.
pub fn from_value(document: &Value) -> Result<Document, StoryError> {
    let schema = document["schema"].as_str().ok_or(StoryError::NotADocument)?;
    if schema != SCHEMA {
        return Err(StoryError::Schema(schema.to_owned()));
    }
    let command = document["command"].as_str().ok_or(StoryError::NotADocument)?;
    let answers = document["answers"].as_array().ok_or(StoryError::NotADocument)?;
    let tell = match command {
        "check" => check::story,
        "reach" => reach::reach,
        "simulate" => reach::simulate,
        "fence" => fence::story,
        "states" => states::story,
        "run" | "replay" | "findings" => sanitizer::story,
        other => return Err(StoryError::Command(other.to_owned())),
    };
    let mut stories = Vec::with_capacity(answers.len());
    for (number, answer) in answers.iter().enumerate() {
        let at = |Wrong(what)| StoryError::Answer { number: number + 1, what };
        let mut story = match raw::no_answer(answer).map_err(at)? {
            Some(story) => story,
            None => tell(answer).map_err(at)?,
        };
        story.command = command.to_owned();
        story.notes.extend(crate::stops::notes(answer));
        stories.push(story);
    }
    Ok(Document { command: command.to_owned(), stories })
}

/// What is wrong with an answer.
#[derive(Debug)]
struct Wrong(String);

impl From<serde_json::Error> for Wrong {
    fn from(error: serde_json::Error) -> Wrong {
        Wrong(error.to_string())
    }
}

impl From<String> for Wrong {
    fn from(what: String) -> Wrong {
        Wrong(what)
    }
}

#[cfg(test)]
mod tests;
