//! The sanitizer on programs whose first lines say what must be found in them: `tests/sanitizer`.
//!
//! Every case is built and run at least once, with compilers and levels of optimisation in turns; with
//! `RAVELIN_CASES_ALL=1` every case with every compiler and level. `RAVELIN_CASES=word` tries only what has the
//! word in its name, `RAVELIN_CASES_LOUD=1` lets the compilers and programs be heard, and `RAVELIN_CASES_SCHEDULE="--schedule
//! random"` runs them with a schedule of our own.

use crate::programs;

use programs::{Program, compilers, try_all};
use std::path::Path;

struct Job<'a> {
    program: &'a Program,
    case: usize,
    compiler: &'static str,
    level: &'static str,
}

impl Job<'_> {
    fn name(&self) -> String {
        let file = self.program.path.strip_prefix(folder()).unwrap_or(&self.program.path).display();
        format!("{file} {} {} {}", self.program.cases[self.case].name, self.compiler, self.level)
    }
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sanitizer"))
}

#[test]
fn programs_are_judged_as_they_say() {
    let compilers = compilers();
    let programs = Program::all(folder()).unwrap_or_else(|error| panic!("{error}"));
    let jobs = jobs(&programs, &compilers);
    assert!(compilers.is_empty() || !jobs.is_empty(), "no case has the word of RAVELIN_CASES in its name");
    try_all("programs", &jobs, |job, scratch| {
        let case = &job.program.cases[job.case];
        let tried = if job.program.is_built_once() {
            job.program.try_all_cases(job.compiler, job.level, scratch)
        } else {
            job.program.try_case(case, job.compiler, job.level, scratch)
        };
        tried.map_err(|reason| format!("{}: {reason}", job.name()))
    });
}

/// Each case with both compilers at different levels in turns; C++ compiles slowly, so it gets one of each. The cases of
/// a program that is built once are one job, with the name of the first.
fn jobs<'a>(programs: &'a [Program], compilers: &[&'static str]) -> Vec<Job<'a>> {
    let all = std::env::var_os("RAVELIN_CASES_ALL").is_some();
    let word = std::env::var("RAVELIN_CASES").unwrap_or_default();
    let mut jobs = Vec::new();
    for program in programs {
        let builds = if program.is_built_once() { 1 } else { program.cases.len() };
        for case in 0..builds {
            let mut tried = 0;
            for (which, &compiler) in compilers.iter().enumerate().filter(|(_, compiler)| program.takes(compiler)) {
                for (height, level) in ["-O0", "-O2"].into_iter().enumerate() {
                    let in_turn =
                        (case + which + height) % 2 == 0 && (!program.is_cpp() || which == case % 2 || tried == 0);
                    let job = Job { program, case, compiler, level };
                    if (all || in_turn) && job.name().contains(&word) {
                        jobs.push(job);
                        tried += 1;
                    }
                }
            }
        }
    }
    jobs
}
