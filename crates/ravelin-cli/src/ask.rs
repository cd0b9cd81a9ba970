//! The same question about every file under every model: reading, asking, printing, and the worst exit code.

use crate::arguments::{Format, Inputs, Output};
use crate::exit::Exit;
use crate::in_time::in_time;
use crate::input::{self, Unread};
use crate::{interrupt, progress};
use ravelin::answer::NoAnswer;
use ravelin::answer::text::{Style, herd, stops};
use ravelin::{Answer, Budget, Document, Model, Program, Progress, Storage};
use ravelin_output::{complain, reader_is_gone, stdout};
use ravelin_report::sarif;
use std::sync::atomic::Ordering;

/// What is asked about, and what the question may take.
pub struct Subject<'a> {
    pub program: &'a Program,
    pub model: Model,
    pub budget: Budget<'a>,
}

/// An exit code and an answer, or why there is none.
pub type Answered = anyhow::Result<(Exit, Answer)>;

/// A command that asks the same of every file under every model.
pub struct Asking<'a> {
    pub command: &'static str,
    pub inputs: &'a Inputs,
    pub models: &'a dyn Fn(&Program) -> Vec<Model>,
    pub output: &'a Output,
    pub budget: Budget<'a>,
    pub answer: &'a dyn Fn(&Subject) -> Answered,
    /// The answer as text.
    pub text: &'a dyn Fn(&Answer, Style) -> String,
}

/// Of several processes that find the same answer, one prints it.
pub fn is_first(storage: Storage) -> bool {
    storage.peers.is_none_or(|peers| peers.number() == 0)
}

/// An answer as it is, and in herd's layout if that is asked for.
pub fn usual_text(answer: &Answer, output: &Output, style: Style) -> String {
    match (answer, output.format) {
        (Answer::FinalStates(states), Format::Herd) => {
            // What reads herd's layout knows no stops.
            let notes = states.stops.as_ref().map(stops).unwrap_or_default();
            notes.lines().for_each(|line| complain!("{}: {}", states.file, line.trim_start()));
            herd(states)
        }
        _ => answer.text(style),
    }
}

/// Answers as they come: printed at once as text, or kept for one document.
pub struct Answers<'a> {
    command: &'static str,
    output: &'a Output,
    documents: Vec<Answer>,
    /// Names and texts of the programs.
    sources: Vec<(String, String)>,
    worst: Exit,
}

impl<'a> Answers<'a> {
    pub fn new(command: &'static str, output: &'a Output) -> Answers<'a> {
        Answers { command, output, documents: Vec::new(), sources: Vec::new(), worst: Exit::Holds }
    }

    fn keeps(&self) -> bool {
        self.prints_at_the_end() || self.output.pages.is_wanted()
    }

    fn prints_at_the_end(&self) -> bool {
        matches!(self.output.format, Format::Json | Format::Sarif)
    }

    /// Takes an answer and prints its text.
    pub fn add(&mut self, exit: Exit, answer: Answer, text: &dyn Fn(&Answer, Style) -> String) -> std::io::Result<()> {
        self.worst = self.worst.max(exit);
        let printed = match self.prints_at_the_end() {
            true => Ok(()),
            false => stdout().text(&text(&answer, self.output.style())),
        };
        if self.keeps() {
            self.documents.push(answer);
        }
        printed
    }

    /// Takes the place of an answer: an error that was printed on standard error.
    pub fn fail(&mut self, answer: NoAnswer) {
        self.worst = Exit::Wrong;
        if self.keeps() {
            self.documents.push(Answer::None(answer));
        }
    }

    /// What ends a command that a signal asks to end: this answer comes last.
    pub fn conclude_with(&self, last: NoAnswer) -> u8 {
        let last = Answer::None(last);
        let printed = match self.prints_at_the_end() {
            true => Ok(()),
            false => stdout().text(&last.text(self.output.style())).map_err(Into::into),
        };
        let mut documents = self.documents.clone();
        documents.push(last);
        let worst = self.worst.max(Exit::Unknown);
        let exit = printed.and_then(|()| conclude(self.command, documents, &self.sources, self.output, worst));
        exit.unwrap_or_else(|error| Exit::of_error(&error)).code()
    }

    /// Writes pages and documents, when all answers are there.
    pub fn conclude(self) -> anyhow::Result<Exit> {
        conclude(self.command, self.documents, &self.sources, self.output, self.worst)
    }
}

fn conclude(
    command: &str,
    documents: Vec<Answer>,
    sources: &[(String, String)],
    output: &Output,
    mut worst: Exit,
) -> anyhow::Result<Exit> {
    let document = Document::new(command, documents);
    // What cannot be written to a file is still printed.
    if let Err(error) = output.pages.write(&document, sources) {
        complain!("error: {error:#}");
        worst = Exit::Wrong;
    }
    match output.format {
        Format::Json => stdout().text(&document.text())?,
        Format::Sarif => {
            let root = std::env::current_dir().ok().map(|folder| folder.display().to_string());
            stdout().text(&sarif::answers::report(&document.answers, root.as_deref()))?;
        }
        Format::Text | Format::Herd => {}
    }
    Ok(worst)
}

impl Asking<'_> {
    /// Asks the same of every file under every model, prints each answer as it comes (or all of them as one document), and gives the worst
    /// exit code. A file that cannot be read does not keep the others from being asked.
    pub fn run(self) -> anyhow::Result<Exit> {
        let Asking { command, inputs, output, .. } = self;
        let storage = self.budget.storage;
        if inputs.files.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            anyhow::bail!("standard input can be read only once");
        }
        output.pages.check()?;
        let stop = interrupt::stop();
        let mut answers = Answers::new(command, output);
        let mut printed = Ok(());
        for path in &inputs.files {
            let file = path.display().to_string();
            let program = match input::read(path, &inputs.input.reading()) {
                Ok(program) => program,
                Err(Unread::Errors(errors)) => {
                    let diagnostics = errors.diagnostics();
                    answers.fail(NoAnswer { diagnostics, ..NoAnswer::error(&file, "the program has errors") });
                    answers.sources.push((file, errors.text().to_owned()));
                    continue;
                }
                Err(Unread::Interrupted) => {
                    let answer = Answer::None(NoAnswer::interrupted(&file, None, None));
                    let silent = |_: &Answer, _: Style| String::new();
                    let text: &dyn Fn(&Answer, Style) -> String =
                        if is_first(storage) { &|answer, style| answer.text(style) } else { &silent };
                    answers.add(Exit::Unknown, answer, text)?;
                    continue;
                }
                Err(Unread::Other(error)) => {
                    complain!("error: {error:#}");
                    answers.fail(NoAnswer::error(&file, format!("{error:#}")));
                    continue;
                }
            };
            for model in (self.models)(&program) {
                // The reader is gone, so the next answer is not needed. Several processes must do the same.
                if reader_is_gone() && !output.pages.is_wanted() && storage.peers.is_none() {
                    return Ok(answers.worst);
                }
                if storage.peers.is_some() && program.is_parameterised() {
                    anyhow::bail!("{file}: any number of threads is not searched by several processes; use --copies");
                }
                let line = progress::Line::new(&format!("{file} {command}"), is_first(storage));
                let show = |progress: &Progress| line.show(progress);
                let budget = self.budget.stop(stop).progress(&show);
                let subject = Subject { program: &program, model, budget };
                let late = || {
                    line.clear();
                    if !is_first(storage) {
                        return Exit::Unknown.code();
                    }
                    let last = line.last().as_ref().map(Into::into);
                    answers.conclude_with(NoAnswer::interrupted(&file, Some(model), last))
                };
                let result = if stop.load(Ordering::SeqCst) && storage.peers.is_none() {
                    Ok((Exit::Unknown, Answer::None(NoAnswer::interrupted(&file, Some(model), None))))
                } else if storage.checkpoints.is_some() || storage.spill.is_some() {
                    // A checkpoint is worth waiting for, and files have to be removed.
                    (self.answer)(&subject)
                } else {
                    in_time(|| (self.answer)(&subject), late)
                };
                drop(line);
                match result {
                    Ok((exit, answer)) => {
                        let silent = |_: &Answer, _: Style| String::new();
                        let text = if is_first(storage) { self.text } else { &silent };
                        match answers.add(exit, answer, text) {
                            // The page is still wanted.
                            Err(error) if output.pages.is_wanted() => printed = Err(error),
                            told => told?,
                        }
                    }
                    Err(error) => {
                        complain!("error: {file}: {error:#}");
                        answers.fail(NoAnswer::error(&file, format!("{error:#}")));
                    }
                }
            }
            answers.sources.push((file, program.text().to_owned()));
        }
        if !is_first(storage) {
            return Ok(answers.worst);
        }
        printed.map_err(anyhow::Error::from).and(answers.conclude())
    }
}
