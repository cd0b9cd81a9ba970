//! `--html` and `--svg`: answers written to files, to be looked at.
//!
//! Both are views of the document of the invocation, whatever is printed. An answer is not lost because its page could not be written:
//! that is reported afterwards, and makes the exit code 2.

use crate::arguments::Output;
use anyhow::{Context, bail};
use ravelin_output::{complain, replace};
use ravelin_report::page::page;
use ravelin_report::picture::svg;
use ravelin_report::story;
use std::path::{Path, PathBuf};

/// What is to be written where.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Pages {
    /// Also write an HTML page: the verdict, the source, the run step by step, the graph
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also draw the execution graph of the first witness that has one, with its happens-before cycle
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

impl Pages {
    pub fn are_wanted(&self) -> bool {
        self.html.is_some() || self.svg.is_some()
    }

    /// Refuses what cannot be written to.
    pub fn check(&self) -> anyhow::Result<()> {
        for (flag, path) in [("--html", &self.html), ("--svg", &self.svg)] {
            if path.as_deref() == Some(Path::new("-")) {
                bail!("{flag} takes the name of a file");
            }
        }
        if self.are_wanted() && self.html == self.svg {
            bail!("--html and --svg cannot be the same file");
        }
        Ok(())
    }

    /// Writes what is wanted. Sources are names, as the answers have them, and texts.
    pub fn write(&self, document: &ravelin::Document, sources: &[(String, String)]) -> anyhow::Result<()> {
        if !self.are_wanted() {
            return Ok(());
        }
        let document = story::stories(document)?;
        let html = self.html.as_deref().map(|path| put(path, &page(&document, sources)));
        let svg = self.svg.as_deref().map(|path| match document.graph() {
            Some(graph) => put(path, &svg(graph)),
            None => {
                complain!("note: {} was not written: no answer has a witness with a graph", path.display());
                Ok(())
            }
        });
        html.into_iter().chain(svg).collect()
    }
}

impl Output {
    /// Refuses `--html` and `--svg` where there is nothing to look at.
    pub fn refuse_pages(&self, command: &str) -> anyhow::Result<()> {
        if self.pages.are_wanted() {
            bail!("`{command}` cannot write a page: use --html and --svg with check, reach, fence or states");
        }
        Ok(())
    }
}

fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    replace(path, text).with_context(|| format!("{} cannot be written", path.display()))
}
