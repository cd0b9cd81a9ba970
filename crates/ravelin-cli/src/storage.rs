//! Where a search keeps what memory does not hold: `--spill`.

use clap::Args;
use ravelin_explore::Beyond;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Storage {
    /// Go on when the memory of --max-memory is full, and keep states in files in this directory. `check` then searches attacks with the
    /// engine `single`, `reach` with `bounded`, unless --engine names another that explores state by state
    #[arg(long, value_name = "DIR", conflicts_with = "expect")]
    pub spill: Option<PathBuf>,
}

impl Storage {
    pub fn beyond(&self) -> Beyond<'_> {
        Beyond { spill: self.spill.as_deref(), ..Beyond::default() }
    }

    /// The option that asks for states to be kept elsewhere, if one does.
    pub fn asked(&self) -> Option<&'static str> {
        self.spill.is_some().then_some("--spill")
    }
}
