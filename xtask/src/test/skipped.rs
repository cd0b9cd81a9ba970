//! The list of skipped tests, which tests write (`ravelin-testing/src/skip.rs`) and this module counts.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The target directory, which what is used by tests is written to.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from)
}

pub struct Skipped {
    list: PathBuf,
}

impl Skipped {
    /// An empty list.
    pub fn new() -> Result<Skipped> {
        let list = target().join("skipped-tests");
        std::fs::write(&list, "").with_context(|| format!("cannot write {}", list.display()))?;
        Ok(Skipped { list: std::path::absolute(list)? })
    }

    /// The variable that passes the list to tests.
    pub fn variable(&self) -> &'static str {
        "RAVELIN_SKIPPED"
    }

    pub fn list(&self) -> &Path {
        &self.list
    }

    /// Prints the skipped tests and returns their number.
    pub fn print(&self) -> Result<usize> {
        let text = std::fs::read_to_string(&self.list).context("the list of skipped tests is gone")?;
        let lines: BTreeSet<&str> = text.lines().collect();
        if !lines.is_empty() {
            println!("\n== skipped ==");
            lines.iter().for_each(|line| println!("{line}"));
        }
        Ok(tests(&lines))
    }
}

/// The number of tests in `PACKAGE TEST: REASON` lines; a test may occur with several reasons.
fn tests(lines: &BTreeSet<&str>) -> usize {
    let names: BTreeSet<&str> =
        lines.iter().map(|line| line.split_once(": ").map_or(*line, |(test, _)| test)).collect();
    names.len()
}

#[cfg(test)]
mod tests {
    #[test]
    fn tests_are_counted_once() {
        let lines = ["a x::one: no gcc", "a x::one: no clang", "b x::one: no gcc"].into_iter().collect();
        assert_eq!(super::tests(&lines), 2);
    }
}
