//! `--keep`: the programs of the tests, to be run on another machine.
//!
//! The folder is new, empty, or one that an earlier `--keep` wrote, which its README says. Nothing else is ever replaced, and nothing is
//! written through a link.

use super::machine::FLAGS;
use crate::files;
use anyhow::{Context, bail};
use ravelin::answer::TestPart;
use ravelin::confirm::MachineTest;
use ravelin_output::file::is_unfinished;
use std::ffi::OsStr;
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;

/// How the README of every such folder begins.
const MARK: &str = "Made by `ravelin confirm`";
const README: &str = "README";
const MAKEFILE: &str = "Makefile";
/// Programs, each with its text in a file that ends with `.c`.
const PROGRAMS: [&str; 4] = ["test-run", "test-run-fenced", "test-cycle", "test-cycle-fenced"];

/// Refuses a folder with files that --keep has not written.
pub fn check(folder: &Path) -> anyhow::Result<()> {
    let named = || folder.display().to_string();
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(named),
    };
    let mut has_files = false;
    for entry in entries {
        let entry = entry.with_context(named)?;
        // The type of the entry itself: a link is never ours.
        let is_file = entry.file_type().with_context(named)?.is_file();
        if !is_file || !is_ours(&entry.file_name()) && !is_unfinished(&entry.path()) {
            bail!(
                "{}: --keep needs a new or empty folder, and this one has `{}`",
                named(),
                entry.file_name().display()
            );
        }
        has_files = true;
    }
    if has_files && !is_marked(folder) {
        bail!("{}: --keep needs a new or empty folder, and its files were not written by --keep", named());
    }
    Ok(())
}

fn is_ours(name: &OsStr) -> bool {
    let name = name.to_str().unwrap_or_default();
    let program = name.strip_suffix(".c").unwrap_or(name);
    [README, MAKEFILE].contains(&name) || PROGRAMS.contains(&program)
}

fn is_marked(folder: &Path) -> bool {
    std::fs::read(folder.join(README)).is_ok_and(|text| text.starts_with(MARK.as_bytes()))
}

/// Writes the programs, a Makefile and a README.
pub fn keep(folder: &Path, file: &str, tests: &[MachineTest]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    // Again: some time has passed.
    check(folder)?;
    let programs = programs(tests);
    // First, since it marks the others.
    files::write(&folder.join(README), readme(file, tests))?;
    for (name, test) in &programs {
        files::write(&folder.join(format!("{name}.c")), &test.program)?;
    }
    let names: Vec<&str> = programs.iter().map(|(name, _)| *name).collect();
    files::write(&folder.join(MAKEFILE), makefile(&names.join(" ")))
}

/// All tests, also those with fences, with their names.
fn programs(tests: &[MachineTest]) -> Vec<(&'static str, &MachineTest)> {
    let mut programs = Vec::new();
    for test in tests {
        let (name, fenced) = names(test);
        programs.push((name, test));
        programs.extend(test.fenced.iter().map(|test| (fenced, test.as_ref())));
    }
    programs
}

/// Of a test, and of the same with fences.
fn names(test: &MachineTest) -> (&'static str, &'static str) {
    let [run, run_fenced, cycle, cycle_fenced] = PROGRAMS;
    match test.part {
        TestPart::Run => (run, run_fenced),
        TestPart::Cycle => (cycle, cycle_fenced),
    }
}

fn readme(file: &str, tests: &[MachineTest]) -> String {
    let mut text = format!("{MARK} from {}.\n\n", plain(file));
    let first = tests.first().map_or(PROGRAMS[0], |test| names(test).0);
    let _ = writeln!(
        text,
        "`make` compiles the programs, `make run` runs each for five seconds; `./{first} 60` runs one for 60 seconds."
    );
    text.push_str(
        "They need x86-64, Linux, and as many cores as they have threads. Each prints how often it saw which\n",
    );
    text.push_str("outcome, and which model allows it. What is marked `forbidden` must not appear.\n");
    for test in tests {
        let (name, fenced_name) = names(test);
        let wanted = plain(&test.wanted);
        let _ = writeln!(text, "\n{name}.c ({}): the outcome of the witness is\n  {wanted}", test.method.name());
        for thread in &test.threads {
            let _ = writeln!(text, "  {}: {}", plain(&thread.thread), plain(&thread.accesses.join("; ")));
        }
        if let Some(fenced) = &test.fenced {
            let _ = writeln!(text, "\n{fenced_name}.c: the same with fences, which forbid it:");
            for fence in &fenced.fences {
                let _ = writeln!(text, "  {}", plain(fence));
            }
        }
    }
    text
}

fn makefile(all: &str) -> String {
    format!(
        "CC = gcc\nCFLAGS = {}\n\nall: {all}\n\n%: %.c\n\t$(CC) $(CFLAGS) -o $@ $<\n\nrun: all\n\tfor test in {all}; do echo $$test; ./$$test 5; done\n\nclean:\n\trm -f {all}\n\n.PHONY: all run clean\n",
        FLAGS.join(" ")
    )
}

/// Names come from programs: nothing in them begins a line or moves a cursor.
fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '.' } else { letter }).collect()
}
