//! Compares the answers that files, and tables beside them, expect with the actual ones.

mod check;
mod fence;
mod files;
mod table;

pub use files::{ComparisonSummary, Comparisons};
pub use table::ExpectationTable;

use crate::error::Error;
use crate::program::Program;
use ravelin_analysis::states::{EndState, FinalStates, final_goal};
use ravelin_analysis::{reachability, robustness};
use ravelin_answer::{Answer, Comparison, DeadlockVerdict, Property, Verdict};
use ravelin_explore::Budget;
use ravelin_frontend::Expectation;
use ravelin_machine::Reductions;
use ravelin_program::{GoalKind, Model, SeqCstReading};
use std::collections::BTreeSet;
use std::path::Path;

/// The question whose answers are compared.
#[derive(Clone, Copy, Debug)]
pub enum Command {
    /// The answers of [`crate::reach`].
    Reach {
        /// The engine.
        engine: reachability::ReachEngine,
        /// The most pending stores of one thread.
        buffer: usize,
        /// The reductions in use.
        reductions: Reductions,
    },
    /// The answers of [`crate::states`].
    States {
        /// The most pending stores of one thread.
        buffer: usize,
        /// The reductions in use.
        reductions: Reductions,
    },
    /// The answers of [`crate::check`].
    Check {
        /// How attacks are searched.
        engine: robustness::RobustnessEngine,
        /// How seq_cst accesses are read.
        seq_cst: SeqCstReading,
        /// Whether to search for data races.
        races: bool,
    },
    /// The answers of [`crate::fence`].
    Fence {
        /// The engine for safety.
        engine: reachability::ReachEngine,
    },
}

impl Command {
    /// Its name in expectations.
    pub fn name(self) -> &'static str {
        match self {
            Command::Reach { .. } => "reach",
            Command::States { .. } => "states",
            Command::Check { .. } => "check",
            Command::Fence { .. } => "fence",
        }
    }
}

/// How answers are compared.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonOptions<'a> {
    /// The question.
    pub command: Command,
    /// The models to compare under.
    pub models: &'a [Model],
    /// Expectations in addition to those of the files.
    pub tables: &'a [ExpectationTable],
    /// The budget of each question.
    pub budget: Budget<'a>,
}

/// The result for one file.
#[derive(Debug, Default)]
pub struct FileComparison {
    /// Every answer with the expected one.
    pub comparisons: Vec<Comparison>,
    /// Questions without an answer.
    pub errors: Vec<String>,
    /// Expectations about questions that are not supported yet.
    pub pending: usize,
}

impl ComparisonOptions<'_> {
    /// Compares one file under every model. Tables identify it by the name of its path.
    pub fn compare(&self, path: &Path, program: &Program) -> FileComparison {
        let mut compared = FileComparison::default();
        for &model in self.models {
            let name = self.command.name();
            let fits = |expected: &&Expectation| expected.command == name && expected.model == model.name();
            let headers: Vec<&Expectation> = program.expectations.iter().filter(fits).collect();
            compared.pending += headers.iter().filter(|expected| expected.pending).count();
            let mut of_model =
                ModelComparison { comparing: self, path, program, model, headers, compared: FileComparison::default() };
            let result = match self.command {
                Command::Check { engine, seq_cst, races } => of_model.check(engine, seq_cst, races),
                Command::Reach { engine, buffer, reductions } => of_model.reach(engine, buffer, reductions),
                Command::States { buffer, reductions } => of_model.states(buffer, reductions),
                Command::Fence { engine } => of_model.fence(engine),
            };
            if let Err(error) = result {
                of_model.failed(&error);
            }
            compared.comparisons.extend(of_model.compared.comparisons);
            compared.errors.extend(of_model.compared.errors);
            compared.pending += of_model.compared.pending;
        }
        compared
    }
}

/// One file under one model.
struct ModelComparison<'a> {
    comparing: &'a ComparisonOptions<'a>,
    path: &'a Path,
    program: &'a Program,
    model: Model,
    headers: Vec<&'a Expectation>,
    compared: FileComparison,
}

impl ModelComparison<'_> {
    fn add(&mut self, part: &str, expected: String, found: String) {
        let agrees = expected == found;
        let (file, model) = (self.program.name().to_owned(), self.model);
        self.compared.comparisons.push(Comparison { file, model, part: part.to_owned(), expected, found, agrees });
    }

    fn failed(&mut self, error: &Error) {
        self.compared.errors.push(format!("{}: {error}", self.program.name()));
    }

    fn reach(&mut self, engine: reachability::ReachEngine, usual: usize, reductions: Reductions) -> Result<(), Error> {
        let headers = self.headers.iter().filter(|expected| !expected.pending);
        let headers = headers.map(|expected| (buffer_option(expected), expected.answer.clone()));
        let rows = self.comparing.tables.iter();
        let rows = rows.flat_map(|table| table.answers(self.path, "reach", self.model));
        let all: Vec<_> = headers.chain(rows.map(|answer| (None, answer))).collect();
        for (buffer, expected) in all {
            // An expectation about a bound refers to the engine that has one.
            let engine = if buffer.is_some() { reachability::ReachEngine::Bounded } else { engine };
            let question = crate::reach(self.program).model(self.model).engine(engine).reductions(reductions);
            let question = question.buffer(buffer.unwrap_or(usual)).budget(self.comparing.budget);
            // Expectations are about goals, or about deadlocks.
            let about_deadlocks = matches!(expected.as_str(), "deadlock" | "no deadlock");
            let answer = question.deadlocks(about_deadlocks).goals(!about_deadlocks).run();
            match answer {
                Ok(answer) => self.add("reach", expected, reach_word(&answer, about_deadlocks).to_owned()),
                Err(error) => self.failed(&error),
            }
        }
        Ok(())
    }

    fn states(&mut self, buffer: usize, reductions: Reductions) -> Result<(), Error> {
        let headers = self.headers.iter().filter(|expected| !expected.pending);
        let headers: Vec<String> = headers.map(|expected| expected.answer.clone()).collect();
        let (path, model, tables) = (self.path, self.model, self.comparing.tables.iter());
        let states: Vec<BTreeSet<String>> = tables.clone().filter_map(|table| table.states(path, model)).collect();
        let conditions: Vec<String> = tables.filter_map(|table| table.condition(path, model)).collect();
        if headers.is_empty() && states.is_empty() && conditions.is_empty() {
            return Ok(());
        }
        let budget = self.comparing.budget;
        let question = reachability::ReachabilityQuestion {
            buffer,
            reductions,
            budget,
            ..reachability::ReachabilityQuestion::new(self.model)
        };
        let answer = ravelin_analysis::states::states(&self.program.program, &question)?;
        for expected in headers {
            self.add("states", expected, summary(&answer));
        }
        for expected in states {
            let found: BTreeSet<String> = answer.finals.iter().map(|state| state.shown.text.clone()).collect();
            self.add("states", show(&expected), show(&found));
        }
        for expected in conditions {
            let found = condition(&self.program.program, &answer);
            self.add("condition", expected, found.to_owned());
        }
        Ok(())
    }

    fn check(
        &mut self,
        engine: robustness::RobustnessEngine,
        seq_cst: SeqCstReading,
        races: bool,
    ) -> Result<(), Error> {
        let (expected, pending) = check::expected(&self.headers, self.comparing.tables, self.path, self.model);
        self.compared.pending += pending;
        // A property that is expected several times is checked once.
        for property in Property::ALL {
            let these: Vec<&String> = expected.iter().filter(|(of, _)| *of == property).map(|(_, text)| text).collect();
            // Triangular races refer to tso.
            if these.is_empty() || property == Property::Trf && self.model != Model::Tso {
                continue;
            }
            let question = crate::check(self.program).model(self.model).property(property).engine(engine);
            let graded = these.iter().any(|expected| check::expects_grade(expected));
            // Deadlocks are a part of grades and of safety.
            let question = question.seq_cst(seq_cst).races(races).stops(false).impact(graded);
            let question = question.deadlocks(graded || property == Property::Safe).budget(self.comparing.budget);
            let answer = question.run()?;
            for expected in these {
                let found = check::answer_word(property, &answer, expected);
                self.add(check::part(property), expected.clone(), found);
            }
        }
        Ok(())
    }

    fn fence(&mut self, engine: reachability::ReachEngine) -> Result<(), Error> {
        let copies = self.program.reading.copies;
        let expected = fence::expected(&self.headers, self.comparing.tables, self.path, self.model, engine, copies);
        let (expected, pending) = expected.map_err(Error::Question)?;
        self.compared.pending += pending;
        for (plan, expected) in expected {
            let mut question = crate::fence(self.program).model(self.model).budget(self.comparing.budget);
            question.plan = plan;
            match fence::answer(&question) {
                Ok(found) => self.add("fence", expected, found),
                Err(error) => self.failed(&error),
            }
        }
        Ok(())
    }
}

/// The answer of `reach` in the words of an expectation.
fn reach_word(answer: &Answer, about_deadlocks: bool) -> &'static str {
    match answer {
        Answer::Reachability(answer) if about_deadlocks => match (answer.verdict, answer.deadlocks) {
            (_, DeadlockVerdict::Found) => "deadlock",
            (_, DeadlockVerdict::None) => "no deadlock",
            (Verdict::Violated, _) => "violated",
            _ => "unknown",
        },
        Answer::Reachability(answer) => answer.word(),
        _ => "none",
    }
}

fn buffer_option(expectation: &Expectation) -> Option<usize> {
    expectation.options.iter().find(|(key, _)| key == "buffer").and_then(|(_, value)| value.parse().ok())
}

fn summary(answer: &FinalStates) -> String {
    let beyond = answer.finals.iter().filter(|state| state.beyond_sc == Some(true)).count();
    format!("{} final, {beyond} not sc", answer.finals.len())
}

fn show(states: &BTreeSet<String>) -> String {
    states.iter().map(String::as_str).collect::<Vec<_>>().join(" | ")
}

/// herd's verdict on the condition.
fn condition(program: &ravelin_program::Program, answer: &FinalStates) -> &'static str {
    let holds = |state: &EndState| state.shown.condition.unwrap_or(true);
    let ok = match final_goal(program).map_or(GoalKind::Exists, |goal| goal.kind) {
        GoalKind::Finally => answer.finals.iter().all(holds),
        GoalKind::NeverFinally => !answer.finals.iter().any(holds),
        GoalKind::Exists | GoalKind::Never => answer.finals.iter().any(holds),
    };
    if ok { "Ok" } else { "No" }
}
