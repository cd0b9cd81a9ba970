//! `--expect`: many files, each compared with what it, or a table, says should be answered.

use crate::arguments::{Format, Inputs, Output, Resources};
use crate::exit::Exit;
use crate::in_time::in_time;
use crate::input::{self, Unread};
use crate::interrupt;
use ravelin::answer::NoAnswer;
use ravelin::answer::text::TextTable as Columns;
use ravelin::{Answer, Command, ComparisonOptions, Document, ExpectationTable, FileComparison, Model};
use ravelin_output::{complain, stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Compares all files, several at a time; tables (`.tsv`) among them are not programs but say what to expect.
pub fn run(
    command: Command,
    inputs: &Inputs,
    models: &[Model],
    resources: &Resources,
    output: &Output,
) -> anyhow::Result<Exit> {
    output.refuse_sarif(&format!("{} --expect", command.name()))?;
    output.refuse_pages(&format!("{} --expect", command.name()))?;
    let (tables, programs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        inputs.files.iter().partition(|path| path.extension().is_some_and(|extension| extension == "tsv"));
    let tables =
        tables.into_iter().map(|path| ExpectationTable::read(path)).collect::<Result<Vec<ExpectationTable>, _>>()?;
    let stop = interrupt::stop();
    // Files are asked about side by side, each by one worker.
    let budget = resources.budget().workers(1).stop(stop);
    let comparing = ComparisonOptions { command, models, tables: &tables, budget };
    let next = Mutex::new(programs.iter().enumerate());
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        std::thread::scope(|scope| {
            for _ in 0..resources.workers() {
                scope.spawn(|| {
                    loop {
                        let job = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((number, path)) = job else { break };
                        let outcome = compare(&comparing, path, inputs);
                        // An answer that was interrupted says nothing about what was expected.
                        if stop.load(Ordering::SeqCst) {
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
        report(command, outcomes.into_iter().map(|(_, outcome)| outcome).collect(), missing, output)
    };
    in_time(work, || compared().unwrap_or_else(|error| Exit::of_error(&error)).code());
    compared()
}

/// Compares one file under every model.
fn compare(comparing: &ComparisonOptions, path: &Path, inputs: &Inputs) -> FileComparison {
    match input::read_quietly(path, &inputs.input.reading()) {
        Ok(program) => comparing.compare(path, &program),
        Err(Unread::Errors(errors)) => FileComparison { errors: vec![errors.to_string()], ..FileComparison::default() },
        Err(unread) => {
            FileComparison { errors: vec![format!("{:#}", anyhow::Error::from(unread))], ..FileComparison::default() }
        }
    }
}

/// `missing`: files that were not compared because of a signal.
fn report(command: Command, outcomes: Vec<FileComparison>, missing: usize, output: &Output) -> anyhow::Result<Exit> {
    let files = outcomes.len();
    let silent = outcomes.iter().filter(|outcome| outcome.comparisons.is_empty() && outcome.errors.is_empty()).count();
    let pending: usize = outcomes.iter().map(|outcome| outcome.pending).sum();
    let (mut comparisons, mut errors) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        comparisons.extend(outcome.comparisons);
        errors.extend(outcome.errors);
    }
    let differ = comparisons.iter().filter(|comparison| !comparison.agrees).count();
    let exit = match (errors.is_empty(), differ == 0) {
        (false, _) => Exit::Wrong,
        (true, false) => Exit::Violated,
        (true, true) if missing > 0 => Exit::Unknown,
        (true, true) => Exit::Holds,
    };
    if output.format == Format::Json {
        let errors = errors.iter().map(|error| Answer::None(NoAnswer::error("", error)));
        let answers = comparisons.into_iter().map(Answer::Comparison).chain(errors);
        stdout().text(&Document::new(format!("{} --expect", command.name()), answers.collect()).text())?;
    } else {
        for error in &errors {
            writeln!(stdout(), "error: {error}")?;
        }
        let mut columns = Columns::new(&[]);
        for comparison in comparisons.iter().filter(|comparison| !comparison.agrees) {
            columns.row([
                comparison.file.clone(),
                comparison.model.name().to_owned(),
                comparison.part.clone(),
                format!("expected {}", comparison.expected),
                format!("found {}", comparison.found),
            ]);
        }
        stdout().text(&columns.render("  "))?;
        writeln!(
            stdout(),
            "{files} files, {} answers: {} agree, {differ} differ; {silent} files without expectations, {pending} expectations pending, {} errors",
            comparisons.len(),
            comparisons.len() - differ,
            errors.len()
        )?;
    }
    if missing > 0 {
        complain!("interrupted: {missing} files were not compared");
    }
    Ok(exit)
}
