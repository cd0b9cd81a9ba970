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
    let mut build = Command::new(&ravelin);
    build.current_dir(&project).arg("cargo").arg(if arguments.races { "--races" } else { "--no-races" });
    build.args(["build", "--bins", "--target-dir"]);
    build.arg(project.join("target"));
    if !build.status().context("ravelin cargo")?.success() {
        bail!("the stress tests could not be built");
    }
    let folder = if arguments.races { "ravelin" } else { "ravelin-no-races" };
    let built = project.join("target").join(folder).join("x86_64-unknown-linux-gnu/debug");
    let mut rows: BTreeMap<String, CrateRow> = BTreeMap::new();
    let mut names: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(project.join("src/bin"))? {
        names.push(entry?.path());
    }
    names.sort();
    for name in names.iter().filter_map(|path| path.file_stem()?.to_str()).filter(|name| name.contains(&arguments.only))
    {
        let row = rows.entry(name.to_owned()).or_default();
        for _ in 0..arguments.runs {
            once(&ravelin, &project, &built.join(name), row)?;
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

/// One run: what it found is counted, and printed if it is not triaged.
fn once(ravelin: &Path, project: &Path, program: &Path, row: &mut CrateRow) -> Result<()> {
    let mut run = Command::new(ravelin);
    run.current_dir(project).args(["run", "--format", "json", "--suppressions", "triaged.suppressions"]).arg(program);
    let output = run.output().context("ravelin run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let json: Value = text
        .find('{')
        .and_then(|start| serde_json::from_str(&text[start..]).ok())
        .with_context(|| format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr)))?;
    let answer = &json["answers"][0];
    let processes = answer["processes"].as_array().into_iter().flatten();
    row.accesses += processes.filter_map(|process| process["accesses"].as_u64()).sum::<u64>();
    row.triaged += answer["hidden"]["suppressed"].as_u64().unwrap_or(0);
    for finding in answer["findings"].as_array().into_iter().flatten() {
        row.new += 1;
        println!("{}: {finding:#}", program.display());
    }
    Ok(())
}
