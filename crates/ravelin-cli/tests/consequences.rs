//! `--consequences`: what programs do with stale values. The examples in `examples/consequences` say what is expected.

use crate::programs::{compilers, finish_with, try_all};
use crate::verify::{LIMIT, Verified, built, compile, verify};
use crate::versions::{Version, versions};
use crate::workshop::Workshop;

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

fn name(version: &Version) -> &str {
    version.path.file_stem().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Builds a version of an example; `None` if there is no compiler.
fn example(of: &str, workshop: &Workshop) -> Option<PathBuf> {
    let versions = versions("consequences", "consequence");
    let version = versions.iter().find(|version| name(version) == of).expect("an example");
    let program = workshop.0.join(of);
    let flags: Vec<&str> = version.flags.iter().map(String::as_str).chain(["-O1"]).collect();
    compile(&version.path, compilers().first()?, &flags, &program).unwrap_or_else(|error| panic!("{error}"));
    Some(program)
}

/// The outcomes of all findings.
fn outcomes(answer: &Value) -> Vec<&str> {
    let findings = answer["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    findings.iter().filter_map(|found| found["consequence"]["outcome"].as_str()).collect()
}

/// The consequence of the first finding.
fn first(seen: &Verified) -> &Value {
    &seen.answer["findings"][0]["consequence"]
}

/// Each example twenty times. A thread that loops for ever takes seconds, so that it is tried once.
#[test]
fn the_consequence_of_a_stale_value_is_found_every_time() {
    let compilers = compilers();
    let versions = versions("consequences", "consequence");
    let builds: Vec<(usize, &Version)> = versions.iter().enumerate().collect();
    try_all("consequences", &builds, |(number, version), scratch| {
        let Some(compiler) = compilers.get(number % compilers.len().max(1)) else { return Ok(()) };
        let named = format!("{} {:?} {compiler}", version.path.display(), version.flags);
        let wrong = |reason: String| format!("{named}: {reason}");
        let program = scratch.join("program");
        let level = ["-O1", "-O2"][number % 2];
        let flags: Vec<&str> = version.flags.iter().map(String::as_str).chain([level]).collect();
        compile(&version.path, compiler, &flags, &program).map_err(wrong)?;
        let is_slow = name(version) == "endless-loop";
        for time in 0..if is_slow { 1 } else { 20 } {
            let seen = verify(&program, &["--consequences"], &[], scratch).map_err(wrong)?;
            let found = outcomes(&seen.answer);
            if seen.code != 1 || found.is_empty() || found.iter().any(|outcome| *outcome != version.expected) {
                return Err(wrong(format!("{found:?}, exit code {}, time {time}", seen.code)));
            }
            let consequence = first(&seen);
            let is_all = consequence["all_schedules"] == true;
            let ends_it = matches!(&*version.expected, "crash" | "abort" | "standstill");
            let sentence = consequence["sentence"].as_str().unwrap_or_default();
            let says_all = sentence.contains("in every schedule after it");
            if is_all == ends_it || says_all != (version.expected == "rejoins") {
                return Err(wrong(format!("all schedules: {is_all}, {sentence}")));
            }
        }
        if is_slow {
            return Ok(());
        }
        let ends_badly = matches!(&*version.expected, "crash" | "abort" | "standstill" | "exit-code");
        for (which, expected) in [("crash", ends_badly), ("value", version.expected != "rejoins"), ("any", true)] {
            let decided = verify(&program, &["--consequences", "--fail-on", which], &[], scratch).map_err(wrong)?;
            if decided.code != i32::from(expected) {
                return Err(wrong(format!("exit code {} with --fail-on {which}", decided.code)));
            }
        }
        let mut replay = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        replay.arg("replay").arg(scratch.join("report.json")).arg("--stale");
        let again = finish_with(&mut replay, LIMIT).map_err(wrong)?;
        if again != i32::from(ends_badly || version.expected == "data-race") {
            return Err(wrong(format!("exit code {again} when it is replayed")));
        }
        Ok(())
    });
}

/// Every format says what happens, and for another output also what differs.
#[test]
fn reports_of_every_format_name_the_consequence() {
    let workshop = Workshop::new("consequence-formats");
    for (of, sentence) in
        [("crash", "the program crashes by signal 11"), ("output", "`0 degrees` instead of `21 degrees`")]
    {
        let Some(program) = example(of, &workshop) else { return };
        let (page, log, text) =
            (workshop.0.join("page.html"), workshop.0.join("log.sarif"), workshop.0.join("report.txt"));
        for (format, file) in [("sarif", &log), ("text", &text)] {
            let mut again = Command::new(env!("CARGO_BIN_EXE_ravelin"));
            again.args(["verify", "--consequences", "--format", format, "--output"]).arg(file);
            again.arg("--html").arg(&page).arg(&program);
            assert_eq!(finish_with(&mut again, LIMIT).expect("a run"), 1);
        }
        for file in [log, text] {
            let text = std::fs::read_to_string(&file).expect("a file");
            assert!(text.contains(sentence), "{}: {text}", file.display());
        }
        let page = std::fs::read_to_string(&page).expect("a page").replace("<code>", "`").replace("</code>", "`");
        assert!(page.contains(sentence), "{of}");
    }
    let Some(program) = example("output", &workshop) else { return };
    let seen = verify(&program, &["--consequences"], &[], &workshop.0).expect("an answer");
    let difference = &first(&seen)["difference"];
    assert_eq!(difference["stream"], "standard-output");
    assert_eq!((&difference["line"], &difference["stale"]), (&Value::from(2), &Value::from("0 degrees")));
    assert_eq!(difference["usual"], "21 degrees");
}

/// A loop without a step that a stale value lets go round for ever ends, and a run that is ended by a limit is no crash.
#[test]
fn a_run_that_a_limit_ends_is_no_consequence() {
    let workshop = Workshop::new("verify-loops");
    let Some(program) = example("endless-loop", &workshop) else { return };
    let seen = verify(&program, &["--consequences", "--timeout", "0.7"], &[], &workshop.0).expect("an answer");
    assert_eq!(first(&seen)["outcome"], "not-decided", "{}", seen.answer);
    assert_eq!(first(&seen)["sentence"], "not tried: the time was over");
}

/// All schedules after the stale access are run, so what one of twenty shows is found; and only one stale value was tried
/// before it.
#[test]
fn every_schedule_after_the_stale_access_is_run() {
    let workshop = Workshop::new("continuations");
    let Some(program) = built("continuations.c", &workshop) else { return };
    let consequence = |options: &[&str], what: &str| {
        let options = [&["--consequences"], options].concat();
        let seen = verify(&program, &options, &[what], &workshop.0).expect("an answer");
        first(&seen).clone()
    };
    let all = consequence(&[], "all");
    assert_eq!((&all["outcome"], &all["runs"], &all["all_schedules"]), (&"rejoins".into(), &20.into(), &true.into()));
    let sentence = all["sentence"].as_str().expect("a sentence");
    assert!(sentence.ends_with("in every schedule after it (20 runs tried)"), "{sentence}");
    let some = consequence(&["--max-runs", "12"], "all");
    assert_eq!((&some["runs"], &some["all_schedules"]), (&12.into(), &false.into()));
    let sentence = some["sentence"].as_str().expect("a sentence");
    assert!(sentence.ends_with("without the stale value (12 runs tried)"), "{sentence}");
    for jobs in ["1", "2"] {
        assert_eq!(consequence(&["--jobs", jobs], "one-in-many")["outcome"], "abort");
    }
    let mut replay = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    replay.arg("replay").arg(workshop.0.join("report.json")).arg("--stale");
    assert_eq!(finish_with(&mut replay, LIMIT).expect("a run"), 1, "the schedule is complete");
}

/// The order of lines of different threads, and what differs from run to run, are no consequences.
#[test]
fn output_that_differs_anyway_is_no_consequence() {
    let workshop = Workshop::new("consequence-output");
    let Some(program) = built("continuations.c", &workshop) else { return };
    for what in ["lines", "process"] {
        let seen = verify(&program, &["--consequences"], &[what], &workshop.0).expect("an answer");
        assert_eq!(outcomes(&seen.answer), ["rejoins"], "{what}: {}", seen.answer);
    }
}

/// The same findings with schedules that are drawn.
#[test]
fn drawn_schedules_show_consequences_too() {
    let workshop = Workshop::new("run-consequences");
    let report = workshop.0.join("report.json");
    for (of, outcome) in [
        ("crash", "crash"),
        ("dekker", "abort"),
        ("exit-code", "exit-code"),
        ("output", "output"),
        ("retry", "rejoins"),
    ] {
        let Some(program) = example(of, &workshop) else { return };
        let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        run.args(["run", "--consequences", "--runs", "60", "--exit-code", "9", "--format", "json", "--output"])
            .arg(&report);
        assert_eq!(finish_with(run.arg(&program), LIMIT).expect("a run"), 9, "{of}");
        let json: Value = serde_json::from_slice(&std::fs::read(&report).expect("a report")).expect("JSON");
        let answer = &json["answers"][0];
        assert_eq!(outcomes(answer), [outcome], "{of}");
        assert_eq!(answer["runs"].as_array().map(Vec::len), Some(60), "{of}");
        assert_eq!(answer["findings"][0]["consequence"]["all_schedules"], false, "{of}");
        let mut replay = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        let code = finish_with(replay.arg("replay").arg(&report).arg("--stale"), LIMIT).expect("a run");
        assert_eq!(code, i32::from(!matches!(outcome, "rejoins" | "output")), "{of} again");
    }
}

/// A run of more than a hundred thousand steps is looked at, and of a longer one the answer says how much was.
#[test]
fn long_runs_have_consequences_and_longer_ones_are_named() {
    let workshop = Workshop::new("long-consequences");
    let Some(program) = built("continuations.c", &workshop) else { return };
    let report = workshop.0.join("report.json");
    let answer = |what: &str| {
        let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        run.args(["run", "--consequences", "--runs", "2", "--format", "json", "--output"]).arg(&report);
        finish_with(run.arg(&program).arg(what), LIMIT).expect("a run");
        let mut json: Value = serde_json::from_slice(&std::fs::read(&report).expect("a report")).expect("JSON");
        json["answers"][0].take()
    };
    let long = answer("long");
    assert_eq!(outcomes(&long), ["exit-code"], "{long:#}");
    let longer = answer("too-long");
    assert!(longer["notes"].to_string().contains("longer than 131,072 steps"), "{longer:#}");
}

/// What only the axioms find in a run that is too long is shown with its lines: the run was ended before it could report.
#[test]
fn findings_of_runs_that_are_too_long_have_lines() {
    let workshop = Workshop::new("too-long-consequences");
    let Some(program) = built("too-long.c", &workshop) else { return };
    let report = workshop.0.join("report.json");
    let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    run.args(["run", "--consequences", "--runs", "30", "--format", "json", "--output"]).arg(&report);
    finish_with(run.arg(&program), LIMIT).expect("a run");
    let json: Value = serde_json::from_slice(&std::fs::read(&report).expect("a report")).expect("JSON");
    let finding = &json["answers"][0]["findings"][0];
    assert_eq!(finding["access"]["stack"][0]["function"], "look", "{finding:#}");
    assert_eq!(finding["other"]["stack"][0]["function"], "begin", "{finding:#}");
}
