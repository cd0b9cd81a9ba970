//! The same question about every file under every model: reading, asking, printing, and the worst exit code.

use crate::arguments::{Format, Inputs, Models, Output, Search};
use crate::exit::Exit;
use crate::in_time::in_time;
use crate::input::Interrupted;
use crate::{diagnose, input, interrupt, progress};
use ravelin_analysis::reachability::Question;
use ravelin_explore::{Beyond, Progress};
use ravelin_frontend::Language;
use ravelin_output::{complain, reader_is_gone, stdout};
use ravelin_program::{Model, Program};
use ravelin_report::{json, sarif, text};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

/// An answer in the forms that are needed: text to be printed, JSON to be printed or to make pages of.
pub struct Shown {
    text: Option<String>,
    json: Option<Value>,
}

impl Shown {
    /// Makes what the output asks for, and nothing else.
    pub fn new(output: &Output, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) -> Shown {
        let is_text = matches!(output.format, Format::Text | Format::Herd);
        Shown { text: is_text.then(text), json: (!is_text || output.pages.is_wanted()).then(json) }
    }

    /// Adds to the text, if there is one.
    pub fn append(&mut self, more: &str) {
        if let Some(text) = &mut self.text {
            text.push_str(more);
        }
    }

    /// Adds a field to the JSON, if there is some.
    pub fn insert(&mut self, field: &str, value: Value) {
        if let Some(Value::Object(fields)) = &mut self.json {
            fields.insert(field.to_owned(), value);
        }
    }
}

impl Shown {
    /// For an analysis that was interrupted and did not say in time how far it had come. Without a model there was no program yet.
    fn interrupted(file: &str, model: Option<&str>, last: Option<Progress>, output: &Output) -> Shown {
        Shown::new(
            output,
            || text::interrupted(file, model, last.as_ref(), output.style()),
            || json::interrupted(file, model, last.as_ref()),
        )
    }
}

/// An exit code and what is shown, or why there is no answer.
pub type Answered = anyhow::Result<(Exit, Shown)>;

/// What is asked about, and the ways to watch and to end the search.
pub struct Subject<'a> {
    pub file: &'a str,
    pub program: &'a Program,
    pub language: Language,
    pub model: Model,
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

/// Of several processes that find the same answer, one tells it.
pub fn is_first(beyond: Beyond) -> bool {
    beyond.peers.is_none_or(|peers| peers.number() == 0)
}

/// Asks the same of every file under every model, prints each answer as it comes (or all of them as one JSON document), and
/// gives the worst exit code. A file that cannot be read does not keep the others from being asked.
pub fn for_each_subject(
    command: &str,
    inputs: &Inputs,
    models: &dyn Fn(&Program, Language) -> Vec<Model>,
    output: &Output,
    beyond: Beyond,
    answer: &dyn Fn(&Subject) -> Answered,
) -> anyhow::Result<Exit> {
    if inputs.files.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        anyhow::bail!("standard input can be read only once");
    }
    output.pages.check()?;
    let stop = interrupt::stop();
    let style = output.style();
    let mut worst = Exit::Holds;
    let mut documents = Vec::new();
    let mut sources: Vec<(String, String)> = Vec::new();
    let mut printed = Ok(());
    for path in &inputs.files {
        let file = path.display().to_string();
        let (program, language) = match input::read_or_errors(path, &inputs.reading()) {
            Ok(Ok(read)) => read,
            Ok(Err(parsed)) => {
                documents.push(diagnose::error(&file, &parsed));
                sources.push((file, parsed.source.text));
                worst = Exit::Wrong;
                continue;
            }
            Err(error) if error.is::<Interrupted>() => {
                let shown = Shown::interrupted(&file, None, None, output);
                documents.extend(shown.json);
                worst = worst.max(Exit::Unknown);
                stdout().text(&shown.text.filter(|_| is_first(beyond)).unwrap_or_default())?;
                continue;
            }
            Err(error) => {
                complain!("error: {error:#}");
                documents.push(json::error(&file, &format!("{error:#}")));
                worst = Exit::Wrong;
                continue;
            }
        };
        for model in models(&program, language) {
            // The reader is gone, so the next answer is not needed. With several processes all must go on together.
            if reader_is_gone() && !output.pages.is_wanted() && beyond.peers.is_none() {
                return Ok(worst);
            }
            if beyond.peers.is_some() && program.is_parameterised() {
                anyhow::bail!("{file}: any number of threads is not searched by several processes; use --copies");
            }
            let line = progress::Line::new(&format!("{file} {command}"), is_first(beyond));
            let show = |progress: &Progress| line.show(progress);
            let subject =
                Subject { file: &file, program: &program, language, model, style, stop, progress: &show, beyond };
            let (tells, model_name) = (is_first(beyond), model.name());
            let late = || {
                line.clear();
                if !tells {
                    return Exit::Unknown.code();
                }
                let shown = Shown::interrupted(&file, Some(model_name), line.last(), output);
                let told = stdout().text(&shown.text.unwrap_or_default()).map_err(Into::into);
                let all = documents.iter().cloned().chain(shown.json).collect();
                let told = told.and_then(|()| conclude(command, all, &sources, output, worst.max(Exit::Unknown)));
                told.unwrap_or_else(|error| Exit::of_error(&error)).code()
            };
            let result = if stop.load(Ordering::SeqCst) && beyond.peers.is_none() {
                Ok((Exit::Unknown, Shown::interrupted(&file, Some(model_name), None, output)))
            } else if beyond.checkpoints.is_some() || beyond.spill.is_some() {
                // A checkpoint is worth waiting for, and files have to be removed.
                answer(&subject)
            } else {
                in_time(|| answer(&subject), late)
            };
            drop(line);
            match result {
                Ok((exit, shown)) => {
                    worst = worst.max(exit);
                    documents.extend(shown.json);
                    let told = shown.text.filter(|_| tells).unwrap_or_default();
                    match stdout().text(&told) {
                        // The page is still wanted.
                        Err(error) if output.pages.is_wanted() => printed = Err(error),
                        told => told?,
                    }
                }
                Err(error) => {
                    complain!("error: {file}: {error:#}");
                    documents.push(json::error(&file, &format!("{error:#}")));
                    worst = Exit::Wrong;
                }
            }
        }
        sources.push((file, program.source.text));
    }
    if !is_first(beyond) {
        return Ok(worst);
    }
    printed.map_err(anyhow::Error::from).and(conclude(command, documents, &sources, output, worst))
}

/// Writes pages and documents, when all answers are there.
fn conclude(
    command: &str,
    documents: Vec<Value>,
    sources: &[(String, String)],
    output: &Output,
    mut worst: Exit,
) -> anyhow::Result<Exit> {
    // What cannot be written to a file is still printed.
    if let Err(error) = output.pages.write(command, &documents, sources) {
        complain!("error: {error:#}");
        worst = Exit::Wrong;
    }
    match output.format {
        Format::Json => stdout().text(&json::document(command, documents))?,
        Format::Sarif => {
            let root = std::env::current_dir().ok().map(|folder| folder.display().to_string());
            stdout().text(&sarif::answers::report(&documents, root.as_deref()))?;
        }
        Format::Text | Format::Herd => {}
    }
    Ok(worst)
}
