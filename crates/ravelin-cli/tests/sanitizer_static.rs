//! The sanitizer beside the static check: the C of an example that is robust against RC20 gives no violation, however
//! often it runs; neither does that of generated programs, under schedules of our own, which find nearly all of the others;
//! and all C that is written compiles and ends.

use crate::{programs, running};

use programs::{findings, finish, finish_with};
use ravelin_frontend::print;
use ravelin_program::Instruction;
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Runs of each program, with as many seeds.
const RUNS: usize = 3;

struct Example {
    path: String,
    /// What its header says about RC20, if it does.
    rc20: Option<String>,
}

fn examples() -> Vec<Example> {
    let example = |path: String| {
        let text = std::fs::read_to_string(&path).expect("a text");
        let rc20 = text.lines().find_map(|line| line.strip_prefix("//! expect check rc20: "));
        Example { rc20: rc20.map(str::to_owned), path }
    };
    running::examples().into_iter().map(example).collect()
}

/// Converts an example; `None` if it has no C.
fn converted(example: &Example, folder: &Path) -> Option<PathBuf> {
    let file = folder.join("example.c");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    command.arg("convert").arg(&example.path).args(["--to", "c", "--copies", "2", "-o"]).arg(&file);
    let code = finish_with(&mut command, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"));
    (code == 0).then_some(file)
}

/// Compiles the C of an example, beside it.
fn compiled(mut compiler: Command, example: &Example, file: &Path) -> PathBuf {
    let program = file.with_extension("");
    compiler.args(["-pthread", "-I", concat!(env!("CARGO_MANIFEST_DIR"), "/../ravelin-runtime/include")]);
    compiler.arg(file).arg("-o").arg(&program);
    finish(&mut compiler, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{}: {error}", example.path));
    program
}

/// Generated programs, and the runs of each under PCT.
const GENERATED: u64 = 32;
const SCHEDULES: &str = "25";

#[test]
fn generated_programs_are_judged_alike_under_pct() {
    judged_alike("rc20", 6);
}

#[test]
fn generated_programs_are_judged_alike_on_x86_under_pct() {
    judged_alike("tso", 4);
}

/// Nothing is found in robust programs, and something in so many tenths of the others.
fn judged_alike(model: &str, tenths: usize) {
    // Where a value does not fit, a model faults or blocks, and its C goes on.
    let (domains, wrapping) = (false, false);
    let strict_memory = false;
    let mut config =
        Config { non_atomic: false, goals: 0..=0, threads: 2..=3, domains, wrapping, strict_memory, ..Config::c11() };
    config.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::Assert | InstructionKind::Havoc));
    let generator = Generator::new(config);
    let folder = scratch(&format!("static-generated-{model}"));
    let seeds = ravelin_testing::seeds(GENERATED);
    let next = std::sync::atomic::AtomicU64::new(seeds.start);
    let results = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (generator, next, results) = (&generator, &next, &results);
            let folder = folder.join(worker.to_string());
            std::fs::create_dir_all(&folder).expect("a folder");
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    if let Some(result) = judged_both_ways(&generator.program(seed), model, &folder) {
                        results.lock().expect("nobody panics").push((seed, result));
                    }
                }
            });
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
    let results = results.into_inner().expect("nobody panics");
    let wrong: Vec<u64> =
        results.iter().filter(|(_, (robust, found))| *robust && *found).map(|(seed, _)| *seed).collect();
    assert!(wrong.is_empty(), "violations in robust programs, by their seeds: {wrong:?}");
    let not_robust = results.iter().filter(|(_, (robust, _))| !robust).count();
    let found = results.iter().filter(|(_, (robust, found))| !robust && *found).count();
    println!("{found} of {not_robust} generated programs that are not robust were found, of {} in all", results.len());
    assert!(not_robust >= 5 && found * 10 >= not_robust * tenths, "{found} of {not_robust} were found");
}

/// Whether a program is robust statically, and whether a violation is found in runs of it; `None` if it has no C or no
/// static answer, or if its C does more than the program.
fn judged_both_ways(program: &ravelin_program::Program, model: &str, folder: &Path) -> Option<(bool, bool)> {
    if waits_in_a_loop(program) {
        return None;
    }
    let (text, source, executable) = (folder.join("program.rav"), folder.join("program.c"), folder.join("program"));
    std::fs::write(&source, print::c(program).ok()?).expect("a file");
    std::fs::write(&text, print::rav(program)).expect("a file");
    let mut check = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    check.args(["check", "--model", model, "--no-deadlocks", "--timeout", "60", "--format", "json"]).arg(&text);
    let checked = check.output().expect("ravelin starts");
    let robust = match checked.status.code() {
        Some(0) => true,
        Some(1) => false,
        _ => return None,
    };
    // A program that faults, as by a division by zero, ends there, and its C goes on.
    let json: Value = serde_json::from_slice(&checked.stdout).expect("JSON");
    if json["answers"][0]["stops"]["found"].as_array()?.iter().any(|stop| stop["kind"] == "fault") {
        return None;
    }
    let mut compile = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    compile.args(["cc", "-O1", "-g", "-w", "-pthread"]).arg(&source).arg("-o").arg(&executable);
    finish(&mut compile, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"));
    let report = folder.join("report.json");
    let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    run.args([
        "run",
        "--model",
        model,
        "--schedule",
        "pct",
        "--runs",
        SCHEDULES,
        "--jobs",
        "1",
        "--format",
        "json",
        "--output",
    ]);
    run.arg(&report).arg("--").arg(&executable).args(["1", "3", "100"]);
    finish_with(&mut run, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"));
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&report).expect("a report")).expect("JSON");
    let found = findings(&json).expect("findings").iter().any(is_violation);
    Some((robust, found))
}

/// Whether it waits for one of several values. In C that is a loop, whose rounds are events; waiting for one value has a
/// mark that says what it is.
fn waits_in_a_loop(program: &ravelin_program::Program) -> bool {
    let instructions = program.threads.iter().flat_map(|thread| &thread.transitions).map(|step| &step.instruction);
    instructions.into_iter().any(|instruction| match instruction {
        Instruction::Wait { condition, .. } => condition.values().is_none_or(|values| values.len() != 1),
        _ => false,
    })
}

/// Whether a finding is a robustness violation.
fn is_violation(finding: &Value) -> bool {
    finding["problem"].as_str().is_some_and(|problem| problem.starts_with("stale-"))
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ravelin-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn the_c_of_every_example_compiles_and_ends() {
    let folder = scratch("static-plain");
    let mut without = Vec::new();
    for example in examples() {
        let Some(file) = converted(&example, &folder) else {
            without.push(example.path.clone());
            continue;
        };
        let mut gcc = Command::new("gcc");
        gcc.args(["-O1", "-Wall", "-Wextra", "-Werror"]);
        let program = compiled(gcc, &example, &file);
        let mut run = Command::new(&program);
        run.args(["1", "20", "100"]);
        finish(&mut run, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{}: {error}", example.path));
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(without.is_empty(), "no C for {without:?}");
}

#[test]
fn what_is_robust_statically_gives_no_violation() {
    let folder = scratch("static-watched");
    let (mut wrong, mut found, mut not_robust) = (Vec::new(), 0, 0);
    for example in examples() {
        let Some(expected) = &example.rc20 else { continue };
        let Some(file) = converted(&example, &folder) else { continue };
        let mut ravelin = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        ravelin.args(["cc", "-O1", "-g", "-w"]);
        let program = compiled(ravelin, &example, &file);
        let violations: usize = (1..=RUNS).map(|seed| violations(&program, seed, &folder)).sum();
        match expected.as_str() {
            "robust" | "race" if violations > 0 => wrong.push(example.path.clone()),
            "not robust" => {
                not_robust += 1;
                found += usize::from(violations > 0);
            }
            _ => {}
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!("{found} of {not_robust} programs that are not robust were found in {RUNS} runs");
    assert!(wrong.is_empty(), "violations in robust programs: {wrong:?}");
}

/// How many robustness violations one run gives.
fn violations(program: &Path, seed: usize, folder: &Path) -> usize {
    let report = folder.join("report.json");
    let _ = std::fs::remove_file(&report);
    let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    run.args(["run", "--format", "json", "--output"]).arg(&report).arg("--").arg(program);
    run.args([&seed.to_string(), "50", "200"]);
    finish_with(&mut run, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(&report).expect("a report");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let findings = findings(&json).expect("findings");
    findings.iter().filter(|finding| is_violation(finding)).count()
}
