//! `ravelin run --schedule weak`: what fails only because C11 is weaker than sequential consistency fails, what is right
//! never does, and a run is the same again.

use crate::building::{Built, text_of};
use crate::programs::{compilers, finish_with, try_all};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// In how many of these runs the program failed.
fn failures(answer: &Value) -> u64 {
    let failures = answer["weak"]["failures"].as_array().expect("weak runs");
    failures.iter().filter_map(|failure| failure["runs"].as_u64()).sum()
}

#[test]
fn what_c11_allows_fails_in_some_weak_run_and_in_no_other() {
    let built = Built::new("weak.c", "");
    for case in ["sb", "mp-relaxed", "2+2w", "dekker", "iriw", "exit"] {
        let (random, output) = built.report("--schedule random --runs 200 --no-robustness", case);
        assert_eq!(output.status.code(), Some(0), "{case}: {random}");
        let (weak, output) = built.report("--schedule weak --runs 200", case);
        assert_eq!(output.status.code(), Some(1), "{case}: {weak}");
        assert_eq!((&weak["verdict"], weak["findings"].as_array().map(Vec::len)), (&"violated".into(), Some(0)));
        assert!((1..150).contains(&failures(&weak)), "{case} fails {} times", failures(&weak));
    }
}

#[test]
fn what_is_right_under_c11_fails_in_no_weak_run() {
    let built = Built::new("weak.c", "");
    for case in ["sb-seq-cst", "sb-fences", "mp", "dekker-seq-cst", "dekker-fences", "lock", "counts", "halves"] {
        let (answer, output) = built.report("--schedule weak --runs 300", case);
        assert_eq!(output.status.code(), Some(0), "{case}: {}", text_of(&output));
        assert_eq!((&answer["verdict"], failures(&answer)), (&"holds".into(), 0), "{case}");
        let has_old_values = !["halves"].contains(&case);
        assert_eq!(answer["weak"]["stale"].as_u64() > Some(0), has_old_values, "{case}: {}", answer["weak"]);
    }
    let (iriw, _) = built.report("--schedule weak --runs 300", "iriw-seq-cst");
    assert_eq!(failures(&iriw), 0);
}

#[test]
fn a_failure_names_the_old_values_and_is_replayed() {
    let built = Built::new("weak.c", "");
    let (answer, output) = built.report("--schedule weak --runs 100", "sb");
    let failure = &answer["weak"]["failures"][0];
    assert_eq!((&failure["how"], &failure["standstill"]), (&"killed by signal 6 (SIGABRT)".into(), &false.into()));
    let stale = failure["stale"].as_array().expect("accesses");
    let sentence = stale[0]["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("acquire load of `") && sentence.contains("read 0 although 1 was newer"), "{sentence}");
    assert_eq!((&stale[0]["value"], &stale[0]["newest"]), (&"0".into(), &"1".into()));
    assert_eq!(stale[0]["newer"]["kind"], "store", "{}", text_of(&output));
    let schedule = failure["first_run"]["schedule"].as_str().expect("a schedule");
    let again = built.ravelin("replay report.json");
    assert_eq!(again.status.code(), Some(1), "{}", text_of(&again));
    let expected = format!("replayed {schedule}: finding 1 occurred again: killed by signal 6 (SIGABRT)");
    assert!(text_of(&again).contains(&expected), "{}", text_of(&again));
    // The command that the report shows makes the same run.
    let command = answer["again"].as_str().and_then(|again| again.strip_prefix("ravelin ")).expect("a command");
    let text = text_of(&built.ravelin(command));
    assert!(text.contains("read 0 although 1 was newer") && text.contains("1 finding"), "{text}");
}

#[test]
fn the_same_seed_gives_the_same_weak_run_and_another_number_of_values_another_one() {
    let built = Built::new("weak.c", "");
    let without_processes = |mut answer: Value| {
        for process in answer["processes"].as_array_mut().into_iter().flatten() {
            process["process"] = Value::Null;
        }
        answer
    };
    let (first, _) = built.report("--schedule weak --seed 5 --runs 20", "counts");
    for options in ["", "--jobs 1", "--fresh-processes"] {
        let (again, _) = built.report(&format!("--schedule weak --seed 5 --runs 20 {options}"), "counts");
        let (mut first, mut again) = (without_processes(first.clone()), without_processes(again));
        for report in [&mut first, &mut again] {
            report["fresh_processes"] = Value::Null;
        }
        assert_eq!(again, first, "{options}");
    }
    let (one, _) = built.report("--schedule weak --seed 5 --runs 20 --values 1", "counts");
    assert_eq!(one["weak"]["stale"], 0, "with one value there are no old ones");
    assert_ne!(first["weak"]["stale"], 0);
}

#[test]
fn weak_runs_refuse_what_is_about_other_runs() {
    let built = Built::new("weak.c", "");
    for (options, expected) in [
        ("--values 3", "--values is for --schedule weak"),
        ("--schedule random --values 3", "--values is for --schedule weak"),
        ("--schedule weak --values 0", "0 is not in 1"),
        ("--schedule weak --consequences", "--consequences is about robustness"),
        ("--schedule weak --fix-all", "--fix-all is about robustness"),
        ("--schedule weak --try-fix 1", "--try-fix is about robustness"),
    ] {
        let output = built.ravelin(&format!("run {options} -- ./program sb"));
        assert_eq!(output.status.code(), Some(2), "{options}");
        assert!(text_of(&output).contains(expected), "{options}: {}", text_of(&output));
    }
}

#[test]
fn pages_and_sarif_show_weak_failures() {
    let built = Built::new("weak.c", "");
    let output = built.ravelin("run --schedule weak --runs 100 --format sarif -o x.sarif --html x.html ./program sb");
    assert_eq!(output.status.code(), Some(1), "{}", text_of(&output));
    let read = |name: &str| std::fs::read_to_string(built.folder.join(name)).expect("a file");
    let sarif: Value = serde_json::from_str(&read("x.sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!((results.len(), &results[0]["ruleId"]), (1, &"weak-failure".into()));
    let page = read("x.html");
    assert!(page.contains("Killed by signal 6 (SIGABRT)") && page.contains("although 1 was newer"));
}

/// `docs/weak.md` shows what its commands print, but for the name of the program.
#[test]
fn the_page_about_weak_runs_shows_what_its_commands_print() {
    if !compilers().contains(&"gcc") {
        return;
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = std::fs::read_to_string(root.join("docs/weak.md")).expect("a page");
    let program = std::env::temp_dir().join(format!("store-buffering-{}", std::process::id()));
    let block = |begin: &str| page.split(begin).nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let mut printed = String::new();
    for line in block("```sh\n").lines() {
        let line = line.replace("./store-buffering", &program.display().to_string());
        let line = line.replace("-o store-buffering", &format!("-o {}", program.display()));
        let words = line.strip_prefix("ravelin ").expect("a command of ravelin").split_whitespace();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        command.args(words).current_dir(root).env("RAVELIN_CC", "gcc");
        printed = text_of(&command.output().expect("ravelin runs"));
    }
    let _ = std::fs::remove_file(&program);
    let of_program = |line: &&str| line.contains("./store-buffering");
    let shown: Vec<&str> = block("```text\n").lines().filter(|line| !of_program(line)).collect();
    assert!(shown.len() > 10);
    for line in shown {
        assert!(printed.lines().any(|other| other == line), "{line}\nis not in\n{printed}");
    }
}

/// The examples of `verify`: those that are right are right in weak runs, and broken ones are found.
#[test]
fn the_examples_of_verify_are_right_in_weak_runs_and_broken_ones_are_found() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/verify"));
    let entries = std::fs::read_dir(folder).expect("examples").map(|entry| entry.expect("an entry").path());
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp");
    let mut examples: Vec<PathBuf> = entries.filter(is_source).collect();
    examples.sort();
    if compilers().is_empty() {
        return;
    }
    try_all("weak-examples", &examples, |source, folder| {
        let name = source.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let compiler = if source.extension().is_some_and(|extension| extension == "cpp") { "c++" } else { "cc" };
        for flags in [&[][..], &["-DBROKEN"][..]] {
            let program = folder.join("program");
            let mut build = Command::new(env!("CARGO_BIN_EXE_ravelin"));
            build.args([compiler, "-O2", "-g", "-pthread", "-w"]).args(flags).arg(source).arg("-o").arg(&program);
            crate::programs::finish(&mut build, Duration::from_secs(120))?;
            let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
            run.args(["run", "--schedule", "weak", "--runs", "300", "-o"]).arg(folder.join("report")).arg(&program);
            let code = finish_with(&mut run, Duration::from_secs(120))?;
            // What the two threads of this example read makes no difference to it.
            let expected = i32::from(!flags.is_empty() && name != "store-buffering");
            if code != expected {
                let report = std::fs::read_to_string(folder.join("report")).unwrap_or_default();
                return Err(format!("{name} {flags:?}: exit code {code} instead of {expected}\n{report}"));
            }
        }
        Ok(())
    });
}
