//! `cargo xtask crates`: concurrent crates under the sanitizer, as `docs/case-studies-rust.md` tells of them.
//!
//! Builds the stress tests of `case-studies/rust` with `ravelin cargo`, runs each several times, and prints a table. What
//! was triaged is suppressed by name; anything else is printed in full and makes the command fail. The crates come from
//! crates.io, so this is not part of the tests.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Arguments {
    /// How often each program runs
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Look for data races as well
    #[arg(long)]
    races: bool,
    /// Try what the programs do with stale values, under ten schedules that are drawn, and count it
    #[arg(long)]
    consequences: bool,
    /// Only programs with this in their name
    #[arg(long, default_value = "")]
    only: String,
    /// A ravelin that is built already
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
}

#[derive(Default)]
struct CrateRow {
    accesses: u64,
    triaged: u64,
    new: u64,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let project = crate::root().join("case-studies/rust");
    let ravelin = arguments.ravelin.clone().map_or_else(crate::sanitizer::built, Ok)?;
    let ravelin = ravelin.canonicalize().with_context(|| format!("cannot find {}", ravelin.display()))?;
    let mut build = Command::new(&ravelin);
    // A stale value may lead to a data race.
    let races = arguments.races || arguments.consequences;
    build.current_dir(&project).arg("cargo").arg(if races { "--races" } else { "--no-races" });
    build.args(["build", "--bins", "--target-dir"]);
    build.arg(project.join("target"));
    if !build.status().context("ravelin cargo")?.success() {
        bail!("the stress tests could not be built");
    }
    let folder = if races { "ravelin" } else { "ravelin-no-races" };
    let built = project.join("target").join(folder).join("x86_64-unknown-linux-gnu/debug");
    if arguments.consequences {
        return consequences(&ravelin, &programs(&project, &arguments.only)?, &built);
    }
    let mut rows: BTreeMap<String, CrateRow> = BTreeMap::new();
    for name in programs(&project, &arguments.only)? {
        let row = rows.entry(name.clone()).or_default();
        for _ in 0..arguments.runs {
            once(&ravelin, &project, &built.join(&name), row)?;
        }
    }
    println!("| program | atomic accesses in a run | findings triaged | not triaged |\n| --- | ---: | ---: | ---: |");
    for (name, row) in &rows {
        let accesses = row.accesses / u64::from(arguments.runs.max(1));
        println!("| {name} | {accesses} | {} | {} |", row.triaged, row.new);
    }
    let new: u64 = rows.values().map(|row| row.new).sum();
    if new > 0 {
        bail!("{new} findings are not triaged");
    }
    Ok(())
}

/// The stress tests with this in their names.
fn programs(project: &Path, only: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(project.join("src/bin"))? {
        let path = entry?.path();
        names.extend(path.file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    names.retain(|name| name.contains(only));
    names.sort();
    Ok(names)
}

/// What the programs do with stale values: a table, and each finding with which a program does something else.
fn consequences(ravelin: &Path, programs: &[String], built: &Path) -> Result<()> {
    let (mut table, mut others) = (String::new(), String::new());
    for name in programs {
        let mut run = Command::new(ravelin);
        run.args(["run", "--consequences", "--runs", "10", "--format", "json"]).arg(built.join(name));
        let answer = answer(&mut run)?;
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for finding in answer["findings"].as_array().into_iter().flatten() {
            // Data races of runs under sequential consistency are triaged without `--consequences`.
            let Some(outcome) = finding["consequence"]["outcome"].as_str() else { continue };
            *counts.entry(outcome).or_default() += 1;
            if outcome != "rejoins" {
                let of_program = |frame: &&Value| frame["system"] != true && frame["function"].is_string();
                let frame = finding["access"]["stack"].as_array().and_then(|stack| stack.iter().find(of_program));
                let place = frame.map_or("?", |frame| frame["function"].as_str().unwrap_or("?"));
                let sentence = finding["consequence"]["sentence"].as_str().unwrap_or_default();
                others += &format!("- {name}: `{place}`: {sentence}\n");
            }
        }
        let all: u64 = counts.values().sum();
        let rejoin = counts.remove("rejoins").unwrap_or(0);
        let rest: Vec<String> = counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        let rest = if rest.is_empty() { "none".to_owned() } else { rest.join(", ") };
        table += &format!("| {name} | {all} | {rejoin} | {rest} |\n");
    }
    println!("| program | stale accesses | of these rejoin | others |\n| --- | ---: | ---: | --- |\n{table}\n{others}");
    Ok(())
}

/// The answer of a command that writes JSON.
fn answer(run: &mut Command) -> Result<Value> {
    let output = run.output().context("ravelin run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    // The program may have written something before.
    let json: Option<Value> = text.find('{').and_then(|start| serde_json::from_str(&text[start..]).ok());
    let mut json = json.with_context(|| format!("{run:?}: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(json["answers"][0].take())
}

/// One run: what it found is counted, and printed if it is not triaged.
fn once(ravelin: &Path, project: &Path, program: &Path, row: &mut CrateRow) -> Result<()> {
    let mut run = Command::new(ravelin);
    run.current_dir(project).args(["run", "--format", "json", "--suppressions", "triaged.suppressions"]).arg(program);
    let answer = answer(&mut run)?;
    let processes = answer["processes"].as_array().into_iter().flatten();
    row.accesses += processes.filter_map(|process| process["accesses"].as_u64()).sum::<u64>();
    row.triaged += answer["hidden"]["suppressed"].as_u64().unwrap_or(0);
    for finding in answer["findings"].as_array().into_iter().flatten() {
        row.new += 1;
        println!("{}: {finding:#}", program.display());
    }
    Ok(())
}
