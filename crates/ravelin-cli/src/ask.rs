//! The same question about every file under every model: reading, asking, printing, and the worst exit code.

use crate::arguments::{Format, Inputs, Models, Output, Search};
use crate::exit::Exit;
use crate::{input, progress};
use ravelin_analysis::reachability::Question;
use ravelin_explore::{Beyond, Progress};
use ravelin_frontend::Language;
use ravelin_program::Program;
use ravelin_report::{json, text};
use ravelin_semantics::Model;
use serde_json::Value;
use std::io::Write;
use std::sync::atomic::AtomicBool;

/// An answer in the form that was asked for.
pub enum Shown {
    Text(String),
    Json(Value),
}

/// An exit code and what is shown, or why there is no answer.
pub type Answered = anyhow::Result<(Exit, Shown)>;

/// What is asked about, and the ways to watch and to end the search.
pub struct Subject<'a, M = Model> {
    pub file: &'a str,
    pub program: &'a Program,
    pub language: Language,
    pub model: M,
    pub style: text::Style,
    pub stop: &'a AtomicBool,
    pub progress: &'a (dyn Fn(&Progress) + Sync),
    pub beyond: Beyond<'a>,
}

impl<'a> Subject<'a> {
    /// The question about reachable states.
    pub fn reachability(&self, models: &Models, search: &Search) -> Question<'a> {
        Question {
            model: self.model,
            buffer: models.buffer,
            reductions: search.reductions(),
            limits: search.resources.limits(),
            workers: search.resources.workers(),
            stop: Some(self.stop),
            progress: Some(self.progress),
            beyond: self.beyond,
        }
    }
}

/// Asks the same of every file under every model, prints each answer as it comes (or all of them as one JSON document), and
/// gives the worst exit code. A file that cannot be read does not keep the others from being asked.
pub fn for_each_subject<M: Copy>(
    command: &str,
    inputs: &Inputs,
    models: &dyn Fn(&Program, Language) -> Vec<M>,
    output: &Output,
    beyond: Beyond,
    answer: &dyn Fn(&Subject<M>) -> Answered,
) -> anyhow::Result<Exit> {
    if inputs.files.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        anyhow::bail!("standard input can be read only once");
    }
    let stop = progress::stop_on_ctrl_c();
    let style = text::Style { color: output.paints() };
    let mut worst = Exit::Holds;
    let mut documents = Vec::new();
    let mut stdout = std::io::stdout().lock();
    for path in &inputs.files {
        let file = path.display().to_string();
        let (program, language) = match input::read(path, inputs.from.map(Into::into), inputs.copies) {
            Ok(Some(read)) => read,
            failed => {
                let message = failed.err().map(|error| format!("{error:#}"));
                if let Some(message) = &message {
                    eprintln!("error: {message}");
                }
                documents.push(json::error(&file, message.as_deref().unwrap_or("the program has errors")));
                worst = Exit::Wrong;
                continue;
            }
        };
        for model in models(&program, language) {
            let line = progress::Line::new(format!("{file} {command}"));
            let show = |progress: &Progress| line.show(progress);
            let subject =
                Subject { file: &file, program: &program, language, model, style, stop, progress: &show, beyond };
            let result = answer(&subject);
            drop(line);
            match result {
                Ok((exit, shown)) => {
                    worst = worst.max(exit);
                    match shown {
                        Shown::Text(text) => stdout.write_all(text.as_bytes())?,
                        Shown::Json(value) => documents.push(value),
                    }
                }
                Err(error) => {
                    eprintln!("error: {file}: {error:#}");
                    documents.push(json::error(&file, &format!("{error:#}")));
                    worst = Exit::Wrong;
                }
            }
        }
    }
    if output.format == Format::Json {
        stdout.write_all(json::document(command, documents).as_bytes())?;
    }
    stdout.flush()?;
    Ok(worst)
}
