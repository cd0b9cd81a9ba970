//! `--keep`: the programs of the tests, to be run on another machine.

use super::machine::FLAGS;
use crate::files;
use anyhow::Context;
use ravelin::confirm::MachineTest;
use std::fmt::Write;
use std::path::Path;

/// Writes the programs, a Makefile and a README.
pub fn keep(folder: &Path, file: &str, tests: &[MachineTest]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut names = Vec::new();
    let mut readme = format!("Made by `ravelin confirm` from {file}.\n\n");
    readme.push_str("`make` compiles the programs, `make run` runs each for five seconds; `./test-run 60` runs one for 60 seconds.\n");
    readme.push_str(
        "They need x86-64, Linux, and as many cores as they have threads. Each prints how often it saw which\n",
    );
    readme.push_str("outcome, and which model allows it. What is marked `forbidden` must not appear.\n");
    for test in tests {
        let name = match test.part {
            ravelin::answer::TestPart::Run => "test-run",
            ravelin::answer::TestPart::Cycle => "test-cycle",
        };
        let _ =
            writeln!(readme, "\n{name}.c ({}): the outcome of the witness is\n  {}", test.method.name(), test.wanted);
        for thread in &test.threads {
            let _ = writeln!(readme, "  {}: {}", thread.thread, thread.accesses.join("; "));
        }
        files::write(&folder.join(format!("{name}.c")), &test.program)?;
        names.push(name.to_owned());
        if let Some(fenced) = &test.fenced {
            let _ = writeln!(readme, "\n{name}-fenced.c: the same with fences, which forbid it:");
            for fence in &fenced.fences {
                let _ = writeln!(readme, "  {fence}");
            }
            files::write(&folder.join(format!("{name}-fenced.c")), &fenced.program)?;
            names.push(format!("{name}-fenced"));
        }
    }
    let all = names.join(" ");
    let makefile = format!(
        "CC = gcc\nCFLAGS = {}\n\nall: {all}\n\n%: %.c\n\t$(CC) $(CFLAGS) -o $@ $<\n\nrun: all\n\tfor test in {all}; do echo $$test; ./$$test 5; done\n\nclean:\n\trm -f {all}\n\n.PHONY: all run clean\n",
        FLAGS.join(" ")
    );
    files::write(&folder.join("Makefile"), makefile)?;
    files::write(&folder.join("README"), readme)
}
