//! `ravelin resume`: resumes a search that keeps checkpoints.

use crate::arguments::{Arguments, Command, Inputs, Resources};
use crate::cluster::Cluster;
use crate::exit::Exit;
use crate::storage::StorageArguments;
use crate::{check, reach, states, words};
use anyhow::{Context, bail};
use clap::{Args, Parser};
use ravelin::{SearchRecord, parse_time};
use ravelin_process::input;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Resumes a search with --checkpoint that was interrupted.
#[derive(Debug, Args)]
pub struct Resume {
    /// The directory that was given to --checkpoint, or the file for `verify`
    pub directory: PathBuf,
    /// Time between two checkpoints [default: that of the search]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub checkpoint_every: Option<Duration>,
    /// Store states in this directory when the memory of --max-memory is full [default: as the search]
    #[arg(long, value_name = "DIR")]
    pub spill: Option<PathBuf>,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub cluster: Cluster,
}

/// Options with a value that do not belong to the question, but to where it was asked, and limits, which are those of each time.
const NOT_THE_QUESTION: [&str; 6] =
    ["--cluster", "--process", "--connect-timeout", "--secret-file", "--timeout", "--max-memory"];

pub fn run(arguments: &Resume) -> anyhow::Result<Exit> {
    let directory = std::path::absolute(&arguments.directory)?;
    let mut cluster = arguments.cluster.clone();
    cluster.cluster = cluster.cluster.map(std::path::absolute).transpose()?;
    let spill = arguments.spill.as_ref().map(std::path::absolute).transpose()?;
    let record = SearchRecord::read(&directory)?;
    let there = record.directory();
    std::env::set_current_dir(there).with_context(|| format!("cannot go to `{}`", there.display()))?;
    if let Some(path) = record.changed(text) {
        bail!("{} has changed since the checkpoint was made", path.display());
    }
    let words = std::iter::once("ravelin").chain(record.command().iter().map(String::as_str));
    let Ok(mut before) = Arguments::try_parse_from(words) else {
        bail!("`{}` has a command line that is not understood", directory.display());
    };
    let Resume { checkpoint_every, resources, .. } = arguments;
    let resume = |storage: &mut StorageArguments, limits: &mut Resources| {
        storage.checkpoint = Some(directory.clone());
        storage.resumed = true;
        storage.spill = spill.clone().or(storage.spill.take());
        storage.checkpoint_every = checkpoint_every.unwrap_or(storage.checkpoint_every);
        // Limits are those of each time: the one that was reached would end the search at once.
        *limits = Resources { workers: resources.workers.or(limits.workers), ..resources.clone() };
    };
    match &mut before.command {
        Command::Check(check) => {
            resume(&mut check.storage, &mut check.resources);
            check.cluster = cluster;
            check::run(check)
        }
        Command::Reach(reach) => {
            resume(&mut reach.storage, &mut reach.search.resources);
            reach.cluster = cluster;
            reach::run(reach)
        }
        Command::States(states) if cluster.option().is_none() => {
            resume(&mut states.storage, &mut states.search.resources);
            states::run(states)
        }
        _ => bail!("several processes can answer `check` and `reach`"),
    }
}

/// The record of this command, for [`run`] of another one.
pub fn record(inputs: &Inputs) -> anyhow::Result<SearchRecord> {
    let mut command = Vec::new();
    for word in words::without(&NOT_THE_QUESTION, std::env::args_os().skip(1)) {
        match word.into_string() {
            Ok(word) => command.push(word),
            Err(word) => {
                bail!("a checkpoint keeps the command line, which has to be UTF-8 text: {}", word.to_string_lossy())
            }
        }
    }
    if inputs.files.iter().any(|file| input::is_standard_input(file)) {
        bail!("what comes from standard input cannot be read again by `ravelin resume`: name a file");
    }
    let files: Vec<(PathBuf, String)> = inputs.files.iter().map(|file| (file.clone(), text(file))).collect();
    Ok(SearchRecord::new(command, &files)?)
}

/// The text of a program. Reading the program reports what is wrong with the file.
fn text(file: &Path) -> String {
    input::read(file).unwrap_or_default()
}
