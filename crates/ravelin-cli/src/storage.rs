//! Where a search keeps states that must not be lost, or do not fit into memory: `--spill` and `--checkpoint`.

use crate::arguments::Inputs;
use crate::exit::Exit;
use crate::resume;
use clap::Args;
use ravelin::{Checkpoints, SearchRecord, Storage, parse_time};
use ravelin_output::complain;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Args)]
pub struct StorageArguments {
    /// Store states in this directory when the memory of --max-memory is full, instead of stopping. `check` then uses the engine `single`
    /// and `reach` the engine `bounded`, unless --engine names another that explores state by state
    #[arg(long, value_name = "DIR", conflicts_with = "expect")]
    pub spill: Option<PathBuf>,
    /// Save the search in this new directory, so that `ravelin resume DIR` can resume it if it is interrupted. Engines as for --spill
    #[arg(long, value_name = "DIR", conflicts_with = "expect")]
    pub checkpoint: Option<PathBuf>,
    /// Time between two checkpoints, such as 30s or 5m; 0 for one after each level
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "30s", hide_short_help = true)]
    pub checkpoint_every: Duration,
    /// The checkpoint exists and the search resumes from it.
    #[arg(skip)]
    pub resumed: bool,
}

impl StorageArguments {
    /// The option that asks for states to be kept elsewhere, if one does.
    pub fn option(&self) -> Option<&'static str> {
        let checkpoint = self.checkpoint.is_some().then_some("--checkpoint");
        checkpoint.or(self.spill.is_some().then_some("--spill"))
    }

    /// Makes the directory for checkpoints, or checks that it is the right one. `process`: which of several processes this is.
    pub fn open(&self, inputs: &Inputs, process: Option<usize>) -> anyhow::Result<OpenStorage<'_>> {
        let spill = self.spill.as_deref();
        let Some(directory) = &self.checkpoint else { return Ok(OpenStorage { spill, checkpoints: None }) };
        inputs.refuse_c("--checkpoint")?;
        let record = if self.resumed { SearchRecord::read(directory)? } else { resume::record(inputs)? };
        if !self.resumed && process.unwrap_or(0) == 0 {
            record.write(directory)?;
        }
        let checkpoints = Checkpoints::new(directory, self.checkpoint_every, record.fingerprint());
        Ok(OpenStorage { spill, checkpoints: Some((checkpoints, directory)) })
    }
}

/// StorageArguments that is ready for a search.
pub struct OpenStorage<'a> {
    spill: Option<&'a Path>,
    checkpoints: Option<(Checkpoints, &'a Path)>,
}

impl OpenStorage<'_> {
    pub fn storage(&self) -> Storage<'_> {
        let checkpoints = self.checkpoints.as_ref().map(|(checkpoints, _)| checkpoints);
        Storage { spill: self.spill, checkpoints, ..Storage::default() }
    }

    /// At the end: says how to resume the search, if there is no answer yet.
    pub fn conclude(&self, exit: Exit) {
        if let Some((checkpoints, directory)) = &self.checkpoints
            && checkpoints.is_unfinished()
            && exit == Exit::Unknown
        {
            complain!("not finished; `ravelin resume {}` resumes the search", directory.display());
        }
    }
}
