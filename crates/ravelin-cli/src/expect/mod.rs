//! `--expect`: many files, each compared with what it, or a table, says should be answered.

mod check;
mod fence;
mod table;

use crate::arguments::{Format, Inputs, Output, Resources};
use crate::exit::Exit;
use crate::in_time::in_time;
use crate::{input, interrupt};
use ravelin_analysis::c11::C11Question;
use ravelin_analysis::reachability::{self, Question, answer};
use ravelin_analysis::robustness::{Engine, RobustnessQuestion};
use ravelin_analysis::states::{FinalStates, final_goal, states};
use ravelin_explore::Limits;
use ravelin_frontend::{Expectation, Parsed};
use ravelin_machine::Reductions;
use ravelin_output::{complain, stdout};
use ravelin_program::{GoalKind, Model, Program, SeqCstReading};
use ravelin_report::json;
use ravelin_report::table::Table as Columns;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use table::Table;

/// The command that is compared.
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    Reach { engine: reachability::Engine, buffer: usize, reductions: Reductions },
    States { buffer: usize, reductions: Reductions },
    Check { engine: Engine, seq_cst: SeqCstReading, races: bool },
    Fence { engine: reachability::Engine },
}

impl Asked {
    fn name(self) -> &'static str {
        match self {
            Asked::Reach { .. } => "reach",
            Asked::States { .. } => "states",
            Asked::Check { .. } => "check",
            Asked::Fence { .. } => "fence",
        }
    }
}

/// How hard to try each question; files are asked about side by side, each by one worker.
#[derive(Clone, Copy)]
struct Effort {
    limits: Limits,
    stop: &'static AtomicBool,
}

impl Effort {
    fn reachability(self, model: Model, buffer: usize, reductions: Reductions) -> Question<'static> {
        let Effort { limits, stop } = self;
        Question { buffer, reductions, limits, stop: Some(stop), ..Question::new(model) }
    }

    fn robustness(self, model: Model, engine: Engine) -> RobustnessQuestion<'static> {
        RobustnessQuestion { engine, limits: self.limits, stop: Some(self.stop), ..RobustnessQuestion::new(model) }
    }
}

/// One answer beside what was expected.
struct Comparison {
    file: String,
    model: Model,
    /// Which part of the answer: `reach`, `states`, `condition`, `check`, `trf`, `fence`.
    part: &'static str,
    expected: String,
    found: String,
}

impl Comparison {
    fn agrees(&self) -> bool {
        self.expected == self.found
    }
}

/// What came of one file.
struct Outcome {
    comparisons: Vec<Comparison>,
    errors: Vec<String>,
    pending: usize,
}

/// Compares all files, several at a time; tables (`.tsv`) among them are not programs but say what to expect.
pub fn run(
    asked: Asked,
    inputs: &Inputs,
    models: &[Model],
    resources: &Resources,
    output: &Output,
) -> anyhow::Result<Exit> {
    output.refuse_sarif(&format!("{} --expect", asked.name()))?;
    output.refuse_pages(&format!("{} --expect", asked.name()))?;
    let (tables, programs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        inputs.files.iter().partition(|path| path.extension().is_some_and(|extension| extension == "tsv"));
    let tables = tables.into_iter().map(|path| Table::read(path)).collect::<anyhow::Result<Vec<Table>>>()?;
    let effort = Effort { limits: resources.limits(), stop: interrupt::stop() };
    let next = Mutex::new(programs.iter().enumerate());
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        std::thread::scope(|scope| {
            for _ in 0..resources.workers() {
                scope.spawn(|| {
                    loop {
                        let job = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((number, path)) = job else { break };
                        let outcome = compare(asked, path, inputs, models, &tables, effort);
                        // An answer that was interrupted says nothing about what was expected.
                        if effort.stop.load(Ordering::SeqCst) {
                            break;
                        }
                        outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((number, outcome));
                    }
                });
            }
        });
    };
    let compared = || {
        let mut outcomes = std::mem::take(&mut *outcomes.lock().unwrap_or_else(PoisonError::into_inner));
        outcomes.sort_by_key(|(number, _)| *number);
        let missing = programs.len() - outcomes.len();
        report(asked, outcomes.into_iter().map(|(_, outcome)| outcome).collect(), missing, output)
    };
    in_time(work, || compared().unwrap_or_else(|error| Exit::of_error(&error)).code());
    compared()
}

/// Compares one file under every model.
fn compare(asked: Asked, path: &Path, inputs: &Inputs, models: &[Model], tables: &[Table], effort: Effort) -> Outcome {
    let mut outcome = Outcome { comparisons: Vec::new(), errors: Vec::new(), pending: 0 };
    let file = path.display().to_string();
    let parsed = match input::parse_quietly(path, &inputs.reading()) {
        Ok(Parsed { program: Some(program), expectations, language, .. }) => (program, expectations, language),
        Ok(parsed) => {
            let first = parsed.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
            let place = first.and_then(|first| parsed.source.position(first.span));
            let place = place.map(|place| format!(":{place}")).unwrap_or_default();
            let message = first.map_or("not a program", |first| first.message.as_str());
            outcome.errors.push(format!("{file}{place}: {message}"));
            return outcome;
        }
        Err(error) => {
            outcome.errors.push(format!("{error:#}"));
            return outcome;
        }
    };
    let (program, expectations, language) = parsed;
    let program = inputs.copies.map_or(program.clone(), |copies| program.instance(copies));
    for &model in models {
        let add =
            |part, expected: String, found: String| Comparison { file: file.clone(), model, part, expected, found };
        let relevant: Vec<&Expectation> = expectations
            .iter()
            .filter(|expectation| expectation.command == asked.name() && expectation.model == model.name())
            .collect();
        outcome.pending += relevant.iter().filter(|expectation| expectation.pending).count();
        let result = match (asked, model) {
            (Asked::Reach { engine, buffer: usual, reductions }, Model::Sc | Model::Tso | Model::Pso) => {
                let mut all = Vec::new();
                let headers = relevant.iter().filter(|expectation| !expectation.pending);
                let headers = headers.map(|expectation| (buffer_option(expectation), expectation.answer.clone()));
                let rows = tables.iter().flat_map(|table| table.answers(path, asked.name(), model.name()));
                for (buffer, expected) in headers.chain(rows.map(|answer| (None, answer))) {
                    let question = effort.reachability(model, buffer.unwrap_or(usual), reductions);
                    // An expectation about a bound is about the engine that has one.
                    let engine = if buffer.is_some() { reachability::Engine::Bounded } else { engine };
                    match answer(&program, &question, engine) {
                        Ok(answer) => all.push(add("reach", expected, answer.reachability.verdict.name().to_owned())),
                        Err(error) => outcome.errors.push(format!("{file}: {error}")),
                    }
                }
                Ok(all)
            }
            (Asked::States { buffer, reductions }, Model::Sc | Model::Tso | Model::Pso) => {
                states(&program, &effort.reachability(model, buffer, reductions)).map(|answer| {
                    let mut all = Vec::new();
                    for expectation in relevant.iter().filter(|expectation| !expectation.pending) {
                        all.push(add("states", expectation.answer.clone(), summary(&answer)));
                    }
                    for table in tables {
                        if let Some(expected) = table.states(path, model.name()) {
                            let found: BTreeSet<String> =
                                answer.finals.iter().map(|state| state.shown.clone()).collect();
                            all.push(add("states", show(&expected), show(&found)));
                        }
                        if let Some(expected) = table.condition(path, model.name()) {
                            all.push(add("condition", expected, condition(&program, &answer).to_owned()));
                        }
                    }
                    all
                })
            }
            (Asked::Check { engine, .. }, Model::Sc | Model::Tso | Model::Pso) => {
                let (expected, pending) = check::expected(&relevant, tables, path, model);
                outcome.pending += pending;
                let answers = check::answers(&program, &effort.robustness(model, engine), expected);
                answers.map(|answers| {
                    let answers = answers.into_iter();
                    answers.map(|(property, expected, found)| add(property.part(), expected, found)).collect()
                })
            }
            (Asked::Check { seq_cst, races, .. }, Model::Ra | Model::Rc20) => {
                let (expected, pending) = check::expected(&relevant, tables, path, model);
                outcome.pending += pending;
                let question = C11Question {
                    seq_cst,
                    races,
                    limits: effort.limits,
                    stop: Some(effort.stop),
                    ..C11Question::new(model)
                };
                check::c11_answers(&program, &question, expected)
                    .map(|answers| answers.into_iter().map(|(expected, found)| add("check", expected, found)).collect())
            }
            (Asked::Fence { engine }, Model::Sc | Model::Tso | Model::Pso) => {
                match fence::expected(&relevant, tables, path, model, engine, inputs.copies) {
                    Ok((expected, pending)) => {
                        outcome.pending += pending;
                        for (plan, expected) in expected {
                            match fence::answer(&program, language, model, &plan, effort) {
                                Ok(found) => outcome.comparisons.push(add("fence", expected, found)),
                                Err(error) => outcome.errors.push(format!("{file}: {error}")),
                            }
                        }
                    }
                    Err(error) => outcome.errors.push(format!("{file}: {error}")),
                }
                Ok(Vec::new())
            }
            // What is asked about has no answer under such a model.
            (_, Model::Ra | Model::Rc20) => Ok(Vec::new()),
        };
        match result {
            Ok(comparisons) => outcome.comparisons.extend(comparisons),
            Err(error) => outcome.errors.push(format!("{file}: {error}")),
        }
    }
    outcome
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

/// herd's word on the condition.
fn condition(program: &Program, answer: &FinalStates) -> &'static str {
    let holds = |state: &ravelin_analysis::states::EndState| state.condition.unwrap_or(true);
    let ok = match final_goal(program).map_or(GoalKind::Exists, |goal| goal.kind) {
        GoalKind::Finally => answer.finals.iter().all(holds),
        GoalKind::NeverFinally => !answer.finals.iter().any(holds),
        GoalKind::Exists | GoalKind::Never => answer.finals.iter().any(holds),
    };
    if ok { "Ok" } else { "No" }
}

/// `missing`: files that were not compared because of a signal.
fn report(asked: Asked, outcomes: Vec<Outcome>, missing: usize, output: &Output) -> anyhow::Result<Exit> {
    let files = outcomes.len();
    let silent = outcomes.iter().filter(|outcome| outcome.comparisons.is_empty() && outcome.errors.is_empty()).count();
    let pending: usize = outcomes.iter().map(|outcome| outcome.pending).sum();
    let (mut comparisons, mut errors) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        comparisons.extend(outcome.comparisons);
        errors.extend(outcome.errors);
    }
    let differing: Vec<&Comparison> = comparisons.iter().filter(|comparison| !comparison.agrees()).collect();
    if output.format == Format::Json {
        let answers = comparisons.iter().map(|comparison| {
            json!({
                "file": comparison.file,
                "model": comparison.model.name(),
                "part": comparison.part,
                "expected": comparison.expected,
                "found": comparison.found,
                "agrees": comparison.agrees(),
            })
        });
        let errors = errors.iter().map(|error| json!({ "verdict": "error", "message": error }));
        stdout().text(&json::document(&format!("{} --expect", asked.name()), answers.chain(errors).collect()))?;
    } else {
        for error in &errors {
            writeln!(stdout(), "error: {error}")?;
        }
        let mut columns = Columns::new(&[]);
        for comparison in &differing {
            columns.row([
                comparison.file.clone(),
                comparison.model.name().to_owned(),
                comparison.part.to_owned(),
                format!("expected {}", comparison.expected),
                format!("found {}", comparison.found),
            ]);
        }
        stdout().text(&columns.render("  "))?;
        writeln!(
            stdout(),
            "{files} files, {} answers: {} agree, {} differ; {silent} files without expectations, {pending} expectations pending, {} errors",
            comparisons.len(),
            comparisons.len() - differing.len(),
            differing.len(),
            errors.len()
        )?;
    }
    if missing > 0 {
        complain!("interrupted: {missing} files were not compared");
    }
    Ok(match (errors.is_empty(), differing.is_empty()) {
        (false, _) => Exit::Wrong,
        (true, false) => Exit::Violated,
        (true, true) if missing > 0 => Exit::Unknown,
        (true, true) => Exit::Holds,
    })
}
