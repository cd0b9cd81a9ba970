//! The same question about every file under every model: reading, survey, printing, and the worst exit code.

use crate::arguments::{Format, Inputs, Output};
use crate::exit::Exit;
use crate::input::{self, ReadError};
use crate::progress::Line;
use ravelin::answer::NoAnswer;
use ravelin::answer::text::{Style, herd, stops};
use ravelin::{Answer, Budget, Document, Limit, Limits, Model, Program, Progress, Storage};
use ravelin_output::{complain, reader_is_gone, stdout};
use ravelin_process::{in_time, interrupt};
use ravelin_report::sarif;
use std::io;
use std::time::{Duration, Instant};

/// What is asked about, and what the question may take.
pub struct Subject<'a> {
    pub program: &'a Program,
    pub model: Model,
    pub budget: Budget<'a>,
}

/// An answer as text.
type Text<'a> = &'a dyn Fn(&Answer, Style) -> String;

/// A command that asks the same of every file under every model.
pub struct Survey<'a> {
    pub command: &'static str,
    pub inputs: &'a Inputs,
    pub models: &'a dyn Fn(&Program) -> Vec<Model>,
    pub output: &'a Output,
    pub budget: Budget<'a>,
    /// An exit code and an answer, or why there is none.
    pub answer: &'a dyn Fn(&Subject) -> anyhow::Result<(Exit, Answer)>,
    pub text: Text<'a>,
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
    /// Another process prints them.
    silent: bool,
    documents: Vec<Answer>,
    /// Names and texts of the programs.
    pub sources: Vec<(String, String)>,
    worst: Exit,
}

impl<'a> Answers<'a> {
    pub fn new(command: &'static str, output: &'a Output, silent: bool) -> Answers<'a> {
        Answers { command, output, silent, documents: Vec::new(), sources: Vec::new(), worst: Exit::Holds }
    }

    fn prints_at_the_end(&self) -> bool {
        matches!(self.output.format, Format::Json | Format::Sarif)
    }

    /// Takes an answer, and prints its text.
    pub fn add(&mut self, exit: Exit, answer: Answer, text: Text) -> io::Result<()> {
        let printed = match self.prints_at_the_end() || self.silent {
            true => Ok(()),
            false => stdout().text(&text(&answer, self.output.style())),
        };
        self.keep(exit, answer);
        printed
    }

    fn keep(&mut self, exit: Exit, answer: Answer) {
        self.worst = self.worst.max(exit);
        if self.prints_at_the_end() || self.output.pages.are_wanted() {
            self.documents.push(answer);
        }
    }

    /// Takes the place of an answer: an error that was printed on standard error.
    pub fn fail(&mut self, answer: NoAnswer) {
        self.keep(Exit::Wrong, Answer::None(answer));
    }

    /// Takes the place of an answer about a file that could not be read.
    pub fn without_input(&mut self, file: String, error: ReadError) -> io::Result<()> {
        match error {
            ReadError::Interrupted => {
                let answer = Answer::None(NoAnswer::interrupted(file, None, None));
                return self.add(Exit::Unknown, answer, &|answer, style| answer.text(style));
            }
            ReadError::Late(time) => {
                let answer = Answer::None(NoAnswer::limited(file, None, None, Limit::Time(time).into()));
                return self.add(Exit::Unknown, answer, &|answer, style| answer.text(style));
            }
            ReadError::Program(errors) => {
                let diagnostics = errors.diagnostics();
                self.fail(NoAnswer { diagnostics, ..NoAnswer::error(&file, "the program has errors") });
                self.sources.push((file, errors.text().to_owned()));
            }
            ReadError::Other(error) => {
                complain!("error: {error:#}");
                self.fail(NoAnswer::error(&file, format!("{error:#}")));
            }
        }
        Ok(())
    }

    /// Reads an input. A signal or a limit ends that in time.
    pub fn read<T>(&self, file: &str, limits: Limits, read: impl FnOnce() -> T) -> T {
        in_time(limits, read, |limit: Limit| self.conclude_with(NoAnswer::limited(file, None, None, limit.into())))
    }

    /// Asks a question that reports its progress. Unless it has files to take care of, a signal or a limit ends it in
    /// time.
    pub fn ask<T>(&self, file: &str, model: Option<Model>, budget: Budget, question: impl FnOnce(Budget) -> T) -> T {
        let line = Line::new(&format!("{file} {}", self.command), !self.silent);
        let show = |progress: &Progress| line.show(progress);
        let ask = || question(budget.stop(interrupt::stop()).progress(&show));
        if budget.storage.checkpoints.is_some() || budget.storage.spill.is_some() {
            // A checkpoint is worth waiting for, and files have to be removed.
            return ask();
        }
        in_time(budget.limits, ask, |limit: Limit| {
            line.clear();
            self.conclude_with(NoAnswer::limited(file, model, line.last().as_ref().map(Into::into), limit.into()))
        })
    }

    /// What ends a command that a signal or a limit ends: this answer comes last.
    fn conclude_with(&self, last: NoAnswer) -> u8 {
        if self.silent {
            return Exit::Unknown.code();
        }
        let last = Answer::None(last);
        let printed = match self.prints_at_the_end() {
            true => Ok(()),
            false => stdout().text(&last.text(self.output.style())).map_err(Into::into),
        };
        let mut documents = self.documents.clone();
        documents.push(last);
        let exit = printed.and_then(|()| self.write(documents, self.worst.max(Exit::Unknown)));
        exit.unwrap_or_else(|error| Exit::of_error(&error)).code()
    }

    /// Writes pages and documents, when all answers are there.
    pub fn conclude(mut self) -> anyhow::Result<Exit> {
        if self.silent {
            return Ok(self.worst);
        }
        let documents = std::mem::take(&mut self.documents);
        self.write(documents, self.worst)
    }

    fn write(&self, documents: Vec<Answer>, mut worst: Exit) -> anyhow::Result<Exit> {
        let document = Document::new(self.command, documents);
        // What cannot be written to a file is still printed.
        if let Err(error) = self.output.pages.write(&document, &self.sources) {
            complain!("error: {error:#}");
            worst = Exit::Wrong;
        }
        match self.output.format {
            Format::Json => stdout().text(&document.text())?,
            Format::Sarif => {
                let root = std::env::current_dir().ok().map(|folder| folder.display().to_string());
                stdout().text(&sarif::report(&document.answers, root.as_deref()))?;
            }
            Format::Text | Format::Herd => {}
        }
        Ok(worst)
    }
}

/// Says which counters may be why a search did not end. The time for the question is over, so this takes little.
fn name_what_grows(program: &Program) {
    const TIME: Duration = Duration::from_millis(200);
    const MOST: usize = 3;
    let budget = Budget { limits: Limits { time: Some(TIME), ..Limits::default() }, ..Budget::default() };
    for (name, place) in program.endless(budget.stop(interrupt::stop())).into_iter().take(MOST) {
        let by = place.map(|position| format!(": line {} adds to it in a loop", position.line)).unwrap_or_default();
        complain!("note: {}: `{name}` may grow without bound{by}", program.name());
    }
}

impl Survey<'_> {
    /// Asks the same of every file under every model, prints each answer as it comes (or all of them as one document), and gives the worst
    /// exit code. A file that cannot be read does not keep the others from being asked.
    pub fn run(self) -> anyhow::Result<Exit> {
        let Survey { inputs, output, .. } = self;
        let storage = self.budget.storage;
        let options = inputs.input.reading(self.budget.limits.time);
        if inputs.files.iter().filter(|path| ravelin_process::input::is_standard_input(path)).count() > 1 {
            anyhow::bail!("standard input can be read only once");
        }
        output.pages.check()?;
        interrupt::stop();
        let mut answers = Answers::new(self.command, output, !is_first(storage));
        let mut printed = Ok(());
        for path in &inputs.files {
            let file = path.display().to_string();
            let reading = Instant::now();
            let read = answers.read(&file, self.budget.limits, || input::read(path, &options));
            // Reading takes from the time of every question about the file.
            let budget = self.budget.child(reading, 0);
            let program = match read {
                Ok(program) => program,
                Err(error) => {
                    answers.without_input(file, error)?;
                    continue;
                }
            };
            let mut endless = Some(&program);
            for model in (self.models)(&program) {
                // The reader is gone, so the next answer is not needed. Several processes must do the same.
                if reader_is_gone() && !output.pages.are_wanted() && storage.peers.is_none() {
                    return Ok(answers.worst);
                }
                if storage.peers.is_some() && program.is_parameterised() {
                    anyhow::bail!("{file}: any number of threads is not searched by several processes; use --copies");
                }
                let result = if interrupt::is_asked() && storage.peers.is_none() {
                    Ok((Exit::Unknown, Answer::None(NoAnswer::interrupted(&file, Some(model), None))))
                } else {
                    let question = |budget: Budget| (self.answer)(&Subject { program: &program, model, budget });
                    answers.ask(&file, Some(model), budget, question)
                };
                let unknown = matches!(result, Ok((Exit::Unknown, _)));
                match result.map(|(exit, answer)| answers.add(exit, answer, self.text)) {
                    // The page is still wanted.
                    Ok(Err(error)) if output.pages.are_wanted() => printed = Err(error),
                    Ok(done) => done?,
                    Err(error) => {
                        complain!("error: {file}: {error:#}");
                        answers.fail(NoAnswer::error(&file, format!("{error:#}")));
                    }
                }
                if let Some(program) = endless.take_if(|_| unknown && is_first(storage)) {
                    name_what_grows(program);
                }
            }
            answers.sources.push((file, program.text().to_owned()));
        }
        printed.map_err(anyhow::Error::from).and(answers.conclude())
    }
}
