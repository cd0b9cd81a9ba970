//! What it costs to keep states outside memory: `--spill` against memory, and checkpoints.

use super::cluster::Subjects;
use crate::measure::{in_turns, process_time, ratio, timed};
use crate::sources::parse;
use crate::table::{MarkdownTable, count, judged, seconds};
use anyhow::{Result, ensure};
use ravelin_explore::{Budget, Checkpoints, Limits, Options, Statistics, Storage, Until};
use ravelin_machine::{Reductions, Settings};
use ravelin_program::{Model, Program};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The part of the memory that a space needs which a spilling search may use.
const SHARE: u64 = 8;
/// Between two checkpoints: the default is 30 s, which these spaces do not take.
const EVERY: Duration = Duration::from_secs(2);

/// The tables, as Markdown.
pub fn tables(Subjects { counters, lamport, repetitions }: &Subjects, directory: &Path) -> Result<String> {
    let mut spilled = MarkdownTable::new(&["space", "states", "in memory", "memory", "spilling", "memory", "ratio"]);
    let mut kept = MarkdownTable::new(&["space", "states", "without", "with", "cost"]);
    for (name, text, model) in [
        (counters.name(), counters.text(), Model::Sc),
        (format!("{}, tso", lamport.name()), lamport.text(), Model::Tso),
    ] {
        let program = &parse("space.rav", text)?;
        let settings = Settings { reductions: Reductions::NONE, ..Settings::new(model) };
        let search = |memory: Option<u64>, beyond: Storage<'_>| {
            let limits = Limits { memory, ..Limits::default() };
            let budget = Budget { limits, storage: beyond, ..Budget::default() };
            let options = Options { budget, until: Until::Exhausted };
            explored(program, settings, &options)
        };
        let plain = search(None, Storage::default())?;
        let budget = plain.bytes / SHARE;
        // A search, with its states counted again.
        let same = |how: &str, memory, beyond: Storage<'_>| {
            eprintln!("{name}, {how}");
            let (found, time) = timed(process_time, || search(memory, beyond));
            let states = found?.states;
            ensure!(states == plain.states, "{name}, {how}: {states} states instead of {}", plain.states);
            Ok(time)
        };
        let [time, spilling, keeping] = in_turns(
            *repetitions,
            [
                &mut || same("in memory", None, Storage::default()),
                &mut || same("spilling", Some(budget), Storage { spill: Some(directory), ..Storage::default() }),
                &mut || {
                    let parts = directory.join("checkpoints");
                    std::fs::create_dir(&parts)?;
                    let checkpoints = Checkpoints::new(&parts, EVERY, 0);
                    let beyond = Storage { checkpoints: Some(&checkpoints), ..Storage::default() };
                    let time = same("with checkpoints", None, beyond);
                    std::fs::remove_dir_all(&parts)?;
                    time
                },
            ],
        )?;
        let slower = ratio(spilling, time);
        let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
        spilled.row(vec![
            name.clone(),
            count(plain.states),
            seconds(time),
            mebibytes(plain.bytes),
            seconds(spilling),
            mebibytes(budget),
            judged(slower, "", "≤ 5", slower <= 5.0),
        ]);
        let cost = (ratio(keeping, time) - 1.0) * 100.0;
        kept.row(vec![
            name.clone(),
            count(plain.states),
            seconds(time),
            seconds(keeping),
            judged(cost, " %", "≤ 10 %", cost <= 10.0),
        ]);
    }
    Ok(format!(
        "## States on disk\n\nProcessor time of one worker, what the system does for it included. Spilling may use an eighth of the memory that \
         the space needs.\n\n{spilled}\n## Checkpoints\n\nThe same with a checkpoint every {} s.\n\n{kept}",
        EVERY.as_secs()
    ))
}

fn explored(program: &Program, settings: Settings, options: &Options) -> Result<Statistics> {
    let explored = ravelin_machine::run(program, settings, options)?;
    ensure!(explored.limit().is_none(), "a limit ended the search");
    Ok(*explored.statistics())
}

/// A directory that is gone when dropped.
pub struct Temporary(PathBuf);

impl Temporary {
    pub fn new() -> Result<Temporary> {
        let path = std::env::temp_dir().join(format!("ravelin-bench-{}", std::process::id()));
        std::fs::create_dir(Path::new(&path))?;
        Ok(Temporary(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
