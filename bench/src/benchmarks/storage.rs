//! What it costs to keep states outside memory: `--spill` against memory, and checkpoints.

use super::counters::Counters;
use super::lamport::Lamport;
use crate::measure::{process_time, ratio, timed};
use crate::sources::parse;
use crate::table::{Table, count, judged, seconds};
use anyhow::{Result, ensure};
use ravelin_explore::{Beyond, Checkpoints, Limits, Options, Statistics, Until};
use ravelin_machine::{Reductions, Settings};
use ravelin_program::Program;
use ravelin_semantics::Model;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The part of the memory that a space needs which a spilling search may use.
const SHARE: u64 = 8;
/// Between two checkpoints: the default is 30 s, which these spaces do not take.
const EVERY: Duration = Duration::from_secs(2);

/// The tables, as Markdown.
pub fn tables(directory: &Path) -> Result<String> {
    let mut spilled = Table::new(&["space", "states", "in memory", "memory", "spilling", "memory", "ratio"]);
    let mut kept = Table::new(&["space", "states", "without", "with", "cost"]);
    let counters = parse("counters.rav", Counters { number: 6 }.text())?;
    let lamport = parse("lamport.rav", Lamport { threads: 4 }.text())?;
    for (name, program, model) in
        [("6 counters of 16", &counters, Model::Sc), ("Lamport, 4 threads, tso", &lamport, Model::Tso)]
    {
        let settings = Settings { reductions: Reductions::NONE, ..Settings::new(model) };
        let search = |memory: Option<u64>, beyond: Beyond| {
            let limits = Limits { memory, ..Limits::default() };
            let options = Options { limits, until: Until::Exhausted, beyond, ..Options::default() };
            timed(process_time, || explored(program, settings, &options))
        };
        let (plain, time) = search(None, Beyond::default());
        let plain = plain?;
        let budget = plain.bytes / SHARE;
        let (spill, spilling) = search(Some(budget), Beyond { spill: Some(directory), ..Beyond::default() });
        let spill = spill?;
        ensure!(plain.states == spill.states, "{name}: {} states in memory, {} spilled", plain.states, spill.states);
        let slower = ratio(spilling, time);
        let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
        spilled.row(vec![
            name.to_owned(),
            count(plain.states),
            seconds(time),
            mebibytes(plain.bytes),
            seconds(spilling),
            mebibytes(budget),
            judged(slower, "", "≤ 5", slower <= 5.0),
        ]);
        let parts = directory.join(name);
        std::fs::create_dir(&parts)?;
        let checkpoints = Checkpoints::new(&parts, EVERY, 0);
        let (checked, keeping) = search(None, Beyond { checkpoints: Some(&checkpoints), ..Beyond::default() });
        ensure!(plain.states == checked?.states, "{name}: another number of states with checkpoints");
        let cost = (ratio(keeping, time) - 1.0) * 100.0;
        kept.row(vec![
            name.to_owned(),
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
