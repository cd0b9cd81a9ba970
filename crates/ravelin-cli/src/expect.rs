//! `--expect`: many files, each compared with what it, or a table, says should be answered.

use crate::arguments::{Format, Inputs, Output, Resources};
use crate::exit::Exit;
use crate::input;
use ravelin::{Command, ComparisonOptions, Comparisons, Document, ExpectationTable, Limits, Model};
use ravelin_output::{complain, stdout};
use ravelin_process::{in_time, interrupt};
use std::path::{Path, PathBuf};

/// Compares all files, several at a time. Tables (`.tsv`) among them are not programs but say what to expect.
pub fn run(
    command: Command,
    inputs: &Inputs,
    models: &[Model],
    resources: &Resources,
    output: &Output,
) -> anyhow::Result<Exit> {
    let name = format!("{} --expect", command.name());
    output.refuse_sarif(&name)?;
    output.refuse_pages(&name)?;
    let (tables, programs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        inputs.files.iter().partition(|path| path.extension().is_some_and(|extension| extension == "tsv"));
    let programs: Vec<&Path> = programs.into_iter().map(PathBuf::as_path).collect();
    let tables =
        tables.into_iter().map(|path| ExpectationTable::read(path)).collect::<Result<Vec<ExpectationTable>, _>>()?;
    // Files are asked about side by side, each by one worker.
    let budget = resources.budget().workers(1).stop(interrupt::stop());
    let comparing = ComparisonOptions { command, models, tables: &tables, budget };
    let reading = inputs.input.reading(budget.limits.time);
    let read =
        |path: &Path| input::read_quietly(path, &reading).map_err(|error| format!("{:#}", anyhow::Error::from(error)));
    let comparisons = Comparisons::default();
    let report = || report(name.clone(), command, &comparisons, programs.len(), output);
    // Limits are those of each question, and a question that exceeds one is not what was expected.
    in_time(
        Limits::default(),
        || comparisons.run(&comparing, &programs, resources.workers(), &read),
        |_| report().unwrap_or_else(|error| Exit::of_error(&error)).code(),
    );
    report()
}

fn report(
    name: String,
    command: Command,
    comparisons: &Comparisons,
    files: usize,
    output: &Output,
) -> anyhow::Result<Exit> {
    let summary = comparisons.summary(files);
    let nothing = summary.comparisons.is_empty() && summary.pending == 0 && summary.missing == 0;
    let exit = if summary.errors.is_empty() && !nothing { summary.verdict().into() } else { Exit::Wrong };
    let (missing, silent) = (summary.missing, summary.silent);
    stdout().text(&match output.format {
        Format::Json => Document::new(name, summary.answers()).text(),
        _ => summary.text(),
    })?;
    if missing > 0 {
        complain!("interrupted: {missing} files were not compared");
    }
    if nothing && silent > 0 {
        let command = command.name();
        complain!(
            "error: nothing to compare: no file says what to expect of {command} (such as `expect {command} tso: …` in a comment)"
        );
    }
    Ok(exit)
}
