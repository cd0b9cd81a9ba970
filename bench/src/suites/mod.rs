//! `cargo xtask suites`: programs of others run their own tests under the sanitizer, as `docs/case-studies-c.md` tells.
//!
//! Sources come by package name ([`crate::real`]). What was triaged is suppressed by name
//! (`case-studies/c/suites.suppressions`); anything else is printed in full and makes the command fail. A test that
//! takes too long is ended; what it had found by then counts. Whether a test passes is its own matter and is only shown.

mod list;

use crate::real::build::{self, Workshop};
use crate::real::input;
use crate::real::packages::PackageSources;
use crate::sanitizer::{BuildVariant, Instrumentation};
use anyhow::{Context, Result, bail, ensure};
use list::{SUITES, Suite};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct Arguments {
    /// Only suites with this in their name
    #[arg(long, default_value = "")]
    only: String,
    /// The compiler: gcc or clang
    #[arg(long, default_value = "gcc")]
    compiler: String,
    /// Seconds after which a run is ended
    #[arg(long, default_value_t = 120)]
    limit: u64,
    /// A ravelin that is built already
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let ravelin = arguments.ravelin.clone().map_or_else(crate::sanitizer::built, Ok)?;
    let ravelin = ravelin.canonicalize().with_context(|| format!("cannot find {}", ravelin.display()))?;
    let Some(compiler) = ["gcc", "clang"].into_iter().find(|name| *name == arguments.compiler) else {
        bail!("`{}` is no compiler; expected gcc or clang", arguments.compiler);
    };
    let build = BuildVariant { compiler, kind: Instrumentation::Ravelin };
    let cache = crate::target().join("bench-programs");
    std::fs::create_dir_all(&cache)?;
    let workshop = Workshop::new(&cache, &ravelin)?;
    println!("| suite | runs | ended by limit | failed | findings triaged | not triaged |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let mut new = 0;
    for suite in SUITES.iter().filter(|suite| suite.name.contains(&arguments.only)) {
        let (packages, compilation) = suite.program.parts().context("a suite without a program")?;
        let packages = packages.iter().map(|package| package.fetched(&cache)).collect::<Result<Vec<_>>>()?;
        let program = workshop.compiled(suite.name, compilation, &packages, build)?;
        let mut row = SuiteRow::default();
        let mut runner = Runner { ravelin: &ravelin, program: &program, limit: arguments.limit, row: &mut row };
        for words in suite.runs {
            let place = std::env::temp_dir().join(format!("ravelin-suites-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&place);
            std::fs::create_dir_all(&place)?;
            let done = copy(suite, &packages, &cache, &place).and_then(|()| runner.commands(words, &place));
            std::fs::remove_dir_all(&place)?;
            done?;
        }
        let SuiteRow { commands, late, failed, triaged, new: found } = row;
        println!("| {} | {commands} | {late} | {failed} | {triaged} | {found} |", suite.name);
        new += found;
    }
    ensure!(new == 0, "{new} findings are not triaged");
    Ok(())
}

#[derive(Default)]
struct SuiteRow {
    commands: u64,
    late: u64,
    failed: u64,
    triaged: u64,
    new: u64,
}

/// Bytes of the text that is given to programs that compress.
const TEXT: u64 = 9 << 20;

/// Puts the files of a suite into the folder of a run.
fn copy(suite: &Suite, packages: &[PackageSources], cache: &Path, place: &Path) -> Result<()> {
    for pattern in suite.copies {
        if *pattern == "{input}" {
            std::fs::copy(input::file(&cache.join("inputs"), TEXT)?, place.join("text"))?;
            continue;
        }
        for file in build::files(&[pattern], packages)? {
            std::fs::copy(&file, place.join(file.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

/// Runs a program under the sanitizer and counts what happens.
struct Runner<'a> {
    ravelin: &'a Path,
    program: &'a Path,
    /// Seconds for one command.
    limit: u64,
    row: &'a mut SuiteRow,
}

impl Runner<'_> {
    /// The commands of one run, in its folder.
    fn commands(&mut self, run: &str, place: &Path) -> Result<()> {
        for command in run.split(" ; ") {
            let mut words = Vec::new();
            for word in command.split_whitespace() {
                if !word.contains('*') || word.starts_with('-') {
                    words.push(word.to_owned());
                    continue;
                }
                let files = build::matching(&place.join(word).to_string_lossy())?;
                ensure!(!files.is_empty(), "no file is {word}");
                words.extend(files.iter().map(|file| file.to_string_lossy().into_owned()));
            }
            self.once(&words, place)?;
        }
        Ok(())
    }

    /// One command: what it found is counted, and printed if it is not triaged.
    fn once(&mut self, words: &[String], place: &Path) -> Result<()> {
        /// How `timeout` ends if it was needed.
        const LATE: i32 = 124;
        const FOUND: i32 = 99;
        let report = place.join("report.json");
        // A program that is ended gives `ravelin run` the time to report.
        let mut run = Command::new("timeout");
        run.current_dir(place).env("TMPDIR", place).env("TEST_TMPDIR", place).stdin(Stdio::null());
        run.arg(self.limit.to_string()).arg(self.ravelin);
        run.args(["run", "--format", "json", "--exit-code", &FOUND.to_string(), "--output"]).arg(&report);
        run.arg("--suppressions").arg(crate::root().join("case-studies/c/suites.suppressions"));
        let output = run.arg(self.program).args(words).output().context("ravelin run")?;
        let said = format!("{} {}", self.program.display(), words.join(" "));
        match output.status.code() {
            Some(LATE) => self.row.late += 1,
            Some(0 | FOUND) => {}
            _ => {
                self.row.failed += 1;
                eprintln!("{said}: {}", output.status);
            }
        }
        self.row.commands += 1;
        let text = std::fs::read_to_string(&report);
        let text = text.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        let json: Value = serde_json::from_str(&text)?;
        let answer = &json["answers"][0];
        self.row.triaged += answer["hidden"]["suppressed"].as_u64().unwrap_or(0);
        for finding in answer["findings"].as_array().into_iter().flatten() {
            self.row.new += 1;
            println!("{said}: {finding:#}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_names_of_their_own_and_something_to_run() {
        for (number, suite) in SUITES.iter().enumerate() {
            assert!(SUITES[..number].iter().all(|other| other.name != suite.name), "{}", suite.name);
            let (packages, compilation) = suite.program.parts().expect(suite.name);
            assert!(!suite.runs.is_empty() && !packages.is_empty() && !compilation.files.is_empty(), "{}", suite.name);
        }
    }
}
