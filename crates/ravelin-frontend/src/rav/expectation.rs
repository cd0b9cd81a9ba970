//! Expectations: what an analysis should answer about a file, written at its top for tests and for readers.
//!
//! ```text
//! //! expect robust tso: violated
//! //! pending reach tso engine=dual: holds
//! ```
//!
//! `pending` marks an expectation whose analysis does not exist yet: it is known, and not checked. Other `//!` lines are
//! free text. Which commands, models and answers there are is not this module's business; but `verify` and `consequence`
//! lines, which have no model, are for the compiled program and left to others.

use super::lexer::lex;
use crate::Diagnostic;
use crate::suggest::nearest;
use ravelin_program::Span;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    pub command: String,
    pub model: String,
    /// `key=value` pairs, in the order in which they are written.
    pub options: Vec<(String, String)>,
    pub answer: String,
    pub pending: bool,
    /// The whole line.
    pub span: Span,
}

/// The expectations of a text, and what is wrong with lines that look like one.
pub fn expectations(text: &str) -> (Vec<Expectation>, Vec<Diagnostic>) {
    let (mut found, mut diagnostics) = (Vec::new(), Vec::new());
    for line in lex(text).header {
        let body = line.text.trim_start_matches("//!").trim();
        match expectation(body, line.span) {
            Some(Ok(expectation)) => found.push(expectation),
            Some(Err(diagnostic)) => diagnostics.push(diagnostic),
            None => {}
        }
    }
    (found, diagnostics)
}

/// What is expected of a compiled program.
const OF_COMPILED: [&str; 2] = ["verify", "consequence"];

/// `None` for free text.
fn expectation(body: &str, span: Span) -> Option<Result<Expectation, Diagnostic>> {
    let (word, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    let pending = match word {
        "expect" => false,
        "pending" => true,
        _ => {
            // Prose may start with any word; only a line that has the shape of an expectation is suspected.
            let meant = nearest(word, ["expect", "pending"]).filter(|_| rest.contains(':'))?;
            return Some(Err(Diagnostic::warning(span, format!("this header line starts with `{word}`"))
                .with_help(format!("did you mean `{meant}`?"))));
        }
    };
    let wrong = |message: &str| {
        Some(Err(Diagnostic::error(span, message)
            .with_note("an expectation reads `//! expect COMMAND MODEL key=value …: ANSWER`")))
    };
    let Some((question, answer)) = rest.split_once(':') else {
        return wrong("this expectation has no `:` before its answer");
    };
    let answer = answer.trim();
    if answer.is_empty() {
        return wrong("this expectation has no answer after its `:`");
    }
    let mut words = question.split_whitespace();
    if !pending && words.clone().next().is_some_and(|command| OF_COMPILED.contains(&command)) {
        return None;
    }
    let (Some(command), Some(model)) = (words.next(), words.next()) else {
        return wrong("this expectation needs a command and a model");
    };
    if command.contains('=') || model.contains('=') {
        return wrong("this expectation needs a command and a model before its options");
    }
    let mut options = Vec::new();
    for word in words {
        match word.split_once('=') {
            Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                options.push((key.to_owned(), value.to_owned()));
            }
            _ => return wrong(&format!("`{word}` is not an option of the form key=value")),
        }
    }
    Some(Ok(Expectation {
        command: command.to_owned(),
        model: model.to_owned(),
        options,
        answer: answer.to_owned(),
        pending,
        span,
    }))
}
