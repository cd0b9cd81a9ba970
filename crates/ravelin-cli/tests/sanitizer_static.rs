//! The sanitizer beside the static check: the C of an example that is robust against RC20 gives no violation, however
//! often it runs; and all C that is written compiles and ends.

mod programs;

use programs::{findings, finish, finish_with};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Runs of each program, with as many seeds.
const RUNS: usize = 3;

struct Example {
    path: PathBuf,
    /// What its header says about RC20, if it does.
    rc20: Option<String>,
}

fn examples() -> Vec<Example> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
    let mut folders = vec![root.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rav") {
                let text = std::fs::read_to_string(&path).expect("a text");
                let rc20 = text.lines().find_map(|line| line.strip_prefix("//! expect check rc20: "));
                found.push(Example { rc20: rc20.map(str::to_owned), path });
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// Converts an example; `None` if it has no C.
fn converted(example: &Example, folder: &Path) -> Option<PathBuf> {
    let file = folder.join("example.c");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    command.arg("convert").arg(&example.path).args(["--to", "c", "--copies", "2", "-o"]).arg(&file);
    let code = finish_with(&mut command, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"));
    (code == 0).then_some(file)
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
            without.push(example.path.display().to_string());
            continue;
        };
        let program = folder.join("example");
        let mut compile = Command::new("gcc");
        compile.args(["-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"]);
        compile
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../ravelin-runtime/include"))
            .arg(&file)
            .arg("-o")
            .arg(&program);
        finish(&mut compile, Duration::from_secs(60))
            .unwrap_or_else(|error| panic!("{}: {error}", example.path.display()));
        let mut run = Command::new(&program);
        run.args(["1", "20", "100"]);
        finish(&mut run, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{}: {error}", example.path.display()));
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
        let program = folder.join("example");
        let mut compile = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        compile.args(["cc", "-O1", "-g", "-w", "-pthread", "-I"]);
        compile
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../ravelin-runtime/include"))
            .arg(&file)
            .arg("-o")
            .arg(&program);
        finish(&mut compile, Duration::from_secs(60))
            .unwrap_or_else(|error| panic!("{}: {error}", example.path.display()));
        let violations: usize = (1..=RUNS).map(|seed| violations(&program, seed, &folder)).sum();
        match expected.as_str() {
            "robust" | "race" if violations > 0 => wrong.push(example.path.display().to_string()),
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
    findings.iter().filter(|finding| finding["problem"] != "data-race").count()
}
