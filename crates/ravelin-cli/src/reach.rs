//! `ravelin reach`.

use crate::arguments::{Format, Inputs, Models, Output, Reach, Search};
use crate::exit::Exit;
use crate::expect::{self, Asked};
use crate::{input, progress};
use anyhow::bail;
use ravelin_analysis::reachability::{Question, reach};
use ravelin_program::Program;
use ravelin_report::{json, text};
use serde_json::Value;
use std::io::Write;

pub fn run(arguments: &Reach) -> anyhow::Result<Exit> {
    let Reach { inputs, expect, models, search, output } = arguments;
    if output.format == Format::Herd {
        bail!("herd's layout is for final states: use it with `ravelin states`");
    }
    if *expect {
        return expect::run(Asked::Reach, inputs, models, search, output);
    }
    for_each_question("reach", inputs, models, search, output, &|file, program, question, style| {
        let answer = reach(program, question)?;
        let shown = match output.format {
            Format::Text | Format::Herd => Shown::Text(text::reachability(file, &answer, style)),
            Format::Json => Shown::Json(json::reachability(file, &answer)),
        };
        Ok((answer.verdict.into(), shown))
    })
}

/// An answer in the form that was asked for.
pub enum Shown {
    Text(String),
    Json(Value),
}

/// Answers a question about one program.
pub type Answer<'a> = dyn Fn(&str, &Program, &Question, text::Style) -> anyhow::Result<(Exit, Shown)> + 'a;

/// Asks the same of every file under every model, prints each answer as it comes (or all of them as one JSON document), and
/// gives the worst exit code. A file that cannot be read does not keep the others from being asked.
pub fn for_each_question(
    command: &str,
    inputs: &Inputs,
    models: &Models,
    search: &Search,
    output: &Output,
    answer: &Answer,
) -> anyhow::Result<Exit> {
    let stop = progress::stop_on_ctrl_c();
    let style = text::Style { color: output.paints() };
    let mut worst = Exit::Holds;
    let mut documents = Vec::new();
    let mut stdout = std::io::stdout().lock();
    for path in &inputs.files {
        let file = path.display().to_string();
        let program = match input::read(path, inputs.from.map(Into::into), inputs.copies) {
            Ok(Some(program)) => program,
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
        for &model in &models.models {
            let line = progress::Line::new(format!("{file} {command}"));
            let show = |progress: &ravelin_explore::Progress| line.show(progress);
            let question = Question {
                model: model.into(),
                buffer: models.buffer,
                reductions: search.reductions(),
                limits: search.limits(),
                workers: search.workers(),
                stop: Some(stop),
                progress: Some(&show),
            };
            let result = answer(&file, &program, &question, style);
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
