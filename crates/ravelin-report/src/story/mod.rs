//! Ravelin's answers as stories: read back from the printed JSON document (docs/json.md), typed and checked.
//!
//! Every detailed view of an answer is derived from this and from the sources alone: the page ([`crate::page`]), the
//! picture ([`crate::picture`]), and the words of `ravelin explain`. A stored answer can therefore be shown again, and
//! the content of a page can be checked against its document.
//!
//! Everything in a document is validated: a document of another schema, one with a missing field, or one with invalid
//! edges gives an error that says so.
//!
//! ```
//! use ravelin_report::story::{self, Verdict};
//!
//! let document = story::read(
//!     r#"{ "schema": "ravelin/2", "command": "reach",
//!          "answers": [{ "kind": "none", "file": "sb.rav", "model": null, "verdict": "error", "message": "no such file" }] }"#,
//! )?;
//! assert_eq!(document.stories[0].verdict, Verdict::Error);
//! assert_eq!(document.stories[0].sentence, "There is no answer about sb.rav: no such file.");
//! # Ok::<(), story::StoryError>(())
//! ```

mod check;
mod confirm;
mod demonstration;
mod facts;
mod fence;
mod graph;
mod reach;
mod run;
mod sanitizer;
mod states;

pub use demonstration::{Demonstration, Role};
pub use fence::{FenceReason, Fences};
pub use graph::{Edge, Event, Graph};
pub use run::{RunView, State, Step};
pub use states::{EndStateView, States};

use ravelin_answer::{self as answer, Answer, AnyNumber, Confirmation, NoAnswer, NoVerdict, SanitizerReport};
use ravelin_program::Model;
use thiserror::Error;

/// All answers of one invocation.
#[derive(Clone, Debug)]
pub struct Document {
    /// `check`, `reach`, `fence`, `states`, `simulate`, `run`, `replay` or `findings`.
    pub command: String,
    pub stories: Vec<Story>,
}

impl Document {
    /// The graph of the first witness that has one.
    pub fn graph(&self) -> Option<&Graph> {
        self.stories.iter().find_map(|story| {
            let needed = story
                .fences
                .iter()
                .flat_map(|fences| &fences.needed)
                .filter_map(|needed| needed.demonstration.as_ref());
            let states = story.states.iter().flat_map(|states| states.finals.iter().chain(&states.stuck));
            let needed = needed.chain(states.filter_map(|state| state.run.as_deref()));
            story
                .demonstration
                .as_ref()
                .into_iter()
                .chain(needed)
                .find_map(|demonstration| demonstration.graph.as_ref())
        })
    }
}

/// One answer.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// The program, as named by the user.
    pub file: String,
    pub command: String,
    /// `sc`, `tso`, `pso`, `ra`, `rc20`; none for the sanitizer and for errors.
    pub model: Option<Model>,
    pub verdict: Verdict,
    /// The verdict in a word or two: `not robust`, `data race`, `holds`.
    pub word: String,
    /// The verdict in one sentence.
    pub sentence: String,
    /// Further remarks, one sentence each.
    pub notes: Vec<String>,
    /// Lines of the source that the notes refer to.
    pub marked: Vec<usize>,
    /// The run or the graph that demonstrates it.
    pub demonstration: Option<Demonstration>,
    /// `fence`: the sets, the diff, and why each fence is needed.
    pub fences: Option<Fences>,
    /// `states`: all states in which the program can end.
    pub states: Option<States>,
    /// `confirm`: what this machine showed.
    pub confirmation: Option<Confirmation>,
    /// `run` and `findings`: what the sanitizer found.
    pub findings: Option<SanitizerReport>,
    /// Names and values for a table: how much was explored, and the time.
    pub statistics: Vec<(String, String)>,
}

impl Story {
    /// The verdict as one of several models side by side: a model allows what the program forbids or asks for, or it
    /// does not.
    pub fn of_model(&self) -> &str {
        match (self.command.as_str(), self.verdict) {
            ("reach", Verdict::Violated) => "allowed",
            ("reach", Verdict::Holds) => "forbidden",
            _ => &self.word,
        }
    }
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
    /// The question has no verdict: `states`, `simulate`, `fence --places`.
    #[default]
    None,
}

impl Verdict {
    /// Its word in class names and attributes.
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

impl From<answer::Verdict> for Verdict {
    fn from(verdict: answer::Verdict) -> Verdict {
        match verdict {
            answer::Verdict::Holds => Verdict::Holds,
            answer::Verdict::Violated => Verdict::Violated,
            answer::Verdict::Unknown => Verdict::Unknown,
        }
    }
}

/// Why a text is not a story.
#[derive(Debug, Error)]
pub enum StoryError {
    #[error(transparent)]
    Document(#[from] answer::DocumentError),
    #[error(
        "answers of `{0}` cannot be told; those of check, reach, fence, states, simulate, confirm, run, verify, replay and findings can"
    )]
    Command(String),
}

/// Commands whose answers are stories.
const COMMANDS: [&str; 10] =
    ["check", "reach", "fence", "states", "simulate", "confirm", "run", "verify", "replay", "findings"];

/// Reads the text of a document.
pub fn read(text: &str) -> Result<Document, StoryError> {
    stories(&answer::Document::read(text)?)
}

/// The stories of a document.
pub fn stories(document: &answer::Document) -> Result<Document, StoryError> {
    let command = document.command.clone();
    if !COMMANDS.contains(&command.as_str()) {
        return Err(StoryError::Command(command));
    }
    let mut stories = Vec::with_capacity(document.answers.len());
    for answer in &document.answers {
        let mut story = match answer {
            Answer::Robustness(answer) => check::robustness(answer),
            Answer::TriangularRaces(answer) => check::triangular_races(answer),
            Answer::C11Robustness(answer) => check::c11_robustness(answer),
            Answer::Reachability(answer) => reach::reachability(answer),
            Answer::Simulation(answer) => reach::simulation(answer),
            Answer::Fences(answer) => fence::fences(answer),
            Answer::FencePlaces(answer) => fence::places(answer),
            Answer::FinalStates(answer) => states::final_states(answer),
            Answer::Confirmation(answer) => confirm::confirmation(answer),
            Answer::Sanitizer(answer) => sanitizer::report(answer),
            Answer::FixTrial(answer) => sanitizer::trial(answer),
            Answer::None(answer) => no_answer(answer),
            Answer::Coverability(_) | Answer::Comparison(_) | Answer::Diagnostics(_) => {
                return Err(StoryError::Command(command));
            }
        };
        story.command = command.clone();
        check::add_impact(answer, &mut story);
        if let Some(deadlocks) = answer.deadlocks() {
            check::add_deadlocks(deadlocks, answer.model(), &mut story);
        }
        story.notes.extend(answer.stops().map(answer::Stops::notes).unwrap_or_default());
        stories.push(story);
    }
    Ok(Document { command, stories })
}

/// An error, a model that does not apply, or an analysis that was interrupted before anything was known.
fn no_answer(answer: &NoAnswer) -> Story {
    let NoAnswer { file, model, verdict, diagnostics, .. } = answer;
    let message = answer.message.trim_end_matches('.');
    let under = model.map(|model| format!(" under {model}")).unwrap_or_default();
    let (verdict, word, sentence) = match verdict {
        NoVerdict::Error => (Verdict::Error, "error", format!("There is no answer about {file}: {message}.")),
        NoVerdict::NotApplicable => {
            let model = model.map_or("", Model::name);
            let sentence = format!("The model {model} does not apply to {file}: {message}.");
            (Verdict::NotApplicable, "does not apply", sentence)
        }
        NoVerdict::Unknown => (Verdict::Unknown, "unknown", format!("It is not known for {file}{under}: {message}.")),
    };
    let note = |diagnostic: &answer::Diagnostic| {
        let line = diagnostic.position.map(|at| format!(" on line {}", at.line)).unwrap_or_default();
        format!("{}{line}: {}", diagnostic.severity.name(), diagnostic.message)
    };
    Story {
        file: file.clone(),
        model: *model,
        verdict,
        word: word.to_owned(),
        sentence,
        notes: diagnostics.iter().map(note).collect(),
        marked: diagnostics.iter().filter_map(|diagnostic| Some(diagnostic.position?.line)).collect(),
        ..Story::default()
    }
}

/// The text about the number of threads, after a verdict and as a note.
fn number_of_threads(found: Option<&AnyNumber>, verdict: Verdict) -> (String, Option<String>) {
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

#[cfg(test)]
mod tests;
