//! `ravelin resume`: resumes a search that keeps checkpoints.
//!
//! Beside the parts of the explorations their directory has `run.json`: the command line, the version and fingerprints of the programs. It is
//! written once and never changed; its own fingerprint stands in every part.

use crate::arguments::{Arguments, Command, Inputs, Resources};
use crate::cluster::Cluster;
use crate::exit::Exit;
use crate::limits::parse_time;
use crate::storage::StorageArguments;
use crate::{check, input, reach, states};
use anyhow::{Context, bail};
use clap::{Args, Parser};
use ravelin_output::file::is_unfinished;
use ravelin_output::replace;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Resumes a search with --checkpoint that was interrupted.
#[derive(Debug, Args)]
pub struct Resume {
    /// The directory that was given to --checkpoint
    pub directory: PathBuf,
    /// Time between two checkpoints [default: that of the search]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub checkpoint_every: Option<Duration>,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub cluster: Cluster,
}

const RUN_FILE: &str = "run.json";
const FORMAT: u64 = 1;
/// Options with a value that do not belong to the question, but to where it was asked, and limits, which are those of each time.
const NOT_THE_QUESTION: [&str; 6] =
    ["--cluster", "--process", "--connect-timeout", "--secret-file", "--timeout", "--max-memory"];

pub fn run(arguments: &Resume) -> anyhow::Result<Exit> {
    let directory = std::path::absolute(&arguments.directory)?;
    let mut cluster = arguments.cluster.clone();
    cluster.cluster = cluster.cluster.map(std::path::absolute).transpose()?;
    let file = RunFile::read(&directory)?;
    let (command, started_in) = file.command()?;
    std::env::set_current_dir(&started_in).with_context(|| format!("cannot go to `{}`", started_in.display()))?;
    file.check_programs()?;
    let words = std::iter::once("ravelin".to_owned()).chain(command);
    let Ok(mut before) = Arguments::try_parse_from(words) else {
        bail!("`{}` has a command line that is not understood", directory.join(RUN_FILE).display());
    };
    let Resume { checkpoint_every, resources, .. } = arguments;
    let go_on = |storage: &mut StorageArguments, limits: &mut Resources| {
        storage.checkpoint = Some(directory.clone());
        storage.resumed = true;
        storage.checkpoint_every = checkpoint_every.unwrap_or(storage.checkpoint_every);
        // Limits are those of each time: the one that was reached would end the search at once.
        *limits = Resources { workers: resources.workers.or(limits.workers), ..resources.clone() };
    };
    match &mut before.command {
        Command::Check(check) => {
            go_on(&mut check.storage, &mut check.resources);
            check.cluster = cluster.clone();
            check::run(check)
        }
        Command::Reach(reach) => {
            go_on(&mut reach.storage, &mut reach.search.resources);
            reach.cluster = cluster.clone();
            reach::run(reach)
        }
        Command::States(states) if cluster.asked().is_none() => {
            go_on(&mut states.storage, &mut states.search.resources);
            states::run(states)
        }
        _ => bail!("several processes can answer `check` and `reach`"),
    }
}

/// What is in `run.json`.
pub struct RunFile {
    path: PathBuf,
    text: String,
}

impl RunFile {
    /// For the command line of this process.
    pub fn of_this_run(inputs: &Inputs) -> anyhow::Result<RunFile> {
        let mut command = Vec::new();
        let mut words = std::env::args_os().skip(1);
        while let Some(word) = words.next() {
            let Some(word) = word.to_str() else {
                bail!("a checkpoint keeps the command line, which has to be UTF-8 text: {}", word.to_string_lossy());
            };
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            match NOT_THE_QUESTION.contains(&name) {
                true if name == word => drop(words.next()),
                true => {}
                false => command.push(word.to_owned()),
            }
        }
        let mut files = Vec::new();
        for file in &inputs.files {
            if file.as_os_str() == "-" {
                bail!("what comes from standard input cannot be read again by `ravelin resume`: name a file");
            }
            // Reading the program reports what is wrong with the file.
            let text = input::read_source(file).map(|source| source.text).unwrap_or_default();
            files.push(json!({ "path": file.display().to_string(), "fingerprint": fingerprint(text.as_bytes()) }));
        }
        let content = json!({
            "ravelin_checkpoint": FORMAT,
            "version": env!("CARGO_PKG_VERSION"),
            "command": command,
            "directory": std::env::current_dir()?.display().to_string(),
            "files": files,
        });
        Ok(RunFile { path: PathBuf::new(), text: format!("{content:#}\n") })
    }

    /// Into a directory that is new, or empty.
    pub fn write(&self, directory: &Path) -> anyhow::Result<()> {
        let named = || format!("`{}`", directory.display());
        std::fs::create_dir_all(directory).with_context(|| format!("cannot make the directory {}", named()))?;
        if directory.join(RUN_FILE).exists() {
            bail!("{0} holds a checkpoint already; `ravelin resume {1}` resumes it", named(), directory.display());
        }
        let entries = std::fs::read_dir(directory).with_context(|| format!("cannot read {}", named()))?;
        if entries.flatten().any(|entry| !is_unfinished(&entry.path())) {
            bail!("{} is not empty; name a new directory for checkpoints", named());
        }
        let path = directory.join(RUN_FILE);
        replace(&path, &self.text).with_context(|| format!("cannot write `{}`", path.display()))
    }

    pub fn read(directory: &Path) -> anyhow::Result<RunFile> {
        let path = directory.join(RUN_FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(RunFile { path, text }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                bail!("`{}` holds no checkpoint: there is no {RUN_FILE} in it", directory.display())
            }
            Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        }
    }

    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.text.as_bytes())
    }

    fn content(&self) -> anyhow::Result<Value> {
        let damaged = || format!("`{}` is damaged", self.path.display());
        let content: Value = serde_json::from_str(&self.text).with_context(damaged)?;
        match content["ravelin_checkpoint"].as_u64() {
            Some(FORMAT) => {}
            Some(other) => {
                bail!("`{}` has version {other} of the format; this program reads {FORMAT}", self.path.display())
            }
            None => bail!("`{}` does not belong to a checkpoint", self.path.display()),
        }
        let version = content["version"].as_str().unwrap_or("another version");
        if version != env!("CARGO_PKG_VERSION") {
            bail!(
                "the checkpoint was made by ravelin {version}, and this is {}; only the same version can resume it",
                env!("CARGO_PKG_VERSION")
            );
        }
        Ok(content)
    }

    /// The arguments of `ravelin`, and the directory in which it ran.
    fn command(&self) -> anyhow::Result<(Vec<String>, PathBuf)> {
        let content = self.content()?;
        let words = content["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let Some(directory) = content["directory"].as_str() else { bail!("`{}` is damaged", self.path.display()) };
        Ok((words.map(str::to_owned).collect(), PathBuf::from(directory)))
    }

    /// Whether the programs are those of the run.
    fn check_programs(&self) -> anyhow::Result<()> {
        for file in self.content()?["files"].as_array().into_iter().flatten() {
            let path = Path::new(file["path"].as_str().unwrap_or_default());
            let text = input::read_source(path).map(|source| source.text).unwrap_or_default();
            if file["fingerprint"].as_u64() != Some(fingerprint(text.as_bytes())) {
                bail!("{} has changed since the checkpoint was made", path.display());
            }
        }
        Ok(())
    }
}

/// FNV-1a: not for secrets, but the same in every version of everything.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
