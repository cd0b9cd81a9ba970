//! `ravelin verify`: the examples do what their first lines say, programs with a known number of traces have as many runs,
//! and programs that make it hard get a clear answer and leave nothing behind.

use crate::programs::{compilers, finish, finish_with, try_all};
use crate::running::{code, interruptible};
use crate::versions::{Version, versions};
use crate::workshop::{Workshop, text};

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub const LIMIT: Duration = Duration::from_secs(120);

/// How a version is built.
struct Build<'a> {
    version: &'a Version,
    compiler: &'static str,
    level: &'static str,
}

/// Both compilers, at different levels in turns; C++ compiles slowly, so it gets one of each. All of them with
/// `RAVELIN_CASES_ALL=1`.
#[test]
fn examples_are_judged_as_they_say() {
    let compilers = compilers();
    let all = std::env::var_os("RAVELIN_CASES_ALL").is_some();
    let versions = versions("verify", "verify");
    let mut builds = Vec::new();
    for (number, version) in versions.iter().enumerate() {
        for (which, &compiler) in compilers.iter().enumerate() {
            for (height, level) in ["-O0", "-O2"].into_iter().enumerate() {
                let in_turn = (number + which + height) % 2 == 0 && (!is_cpp(&version.path) || which == number / 2 % 2);
                if all || in_turn {
                    builds.push(Build { version, compiler, level });
                }
            }
        }
    }
    try_all("verify", &builds, |build, scratch| {
        let Build { version, compiler, level } = build;
        let program = scratch.join("program");
        let name = format!("{} {:?} {compiler} {level}", version.path.display(), version.flags);
        let wrong = |reason: String| format!("{name}: {reason}");
        let flags: Vec<&str> = version.flags.iter().map(String::as_str).chain([*level]).collect();
        compile(&version.path, compiler, &flags, &program).map_err(wrong)?;
        let verified = verify(&program, &[], &[], scratch).map_err(wrong)?;
        let answer = verified.words();
        let is_there = answer.contains(&version.expected);
        let expected = if version.expected == "verified" { 0 } else { 1 };
        if !is_there || verified.code != expected {
            return Err(wrong(format!("{answer:?}, exit code {}, expected {}", verified.code, version.expected)));
        }
        Ok(())
    });
}

/// What a unified diff makes of a text.
fn patched(text: &str, diff: &str) -> String {
    let old: Vec<&str> = text.lines().collect();
    let (mut new, mut next) = (String::new(), 0);
    let mut push = |line: &str| new.push_str(&format!("{line}\n"));
    for line in diff.lines().skip(2) {
        match line.split_at_checked(1) {
            Some(("@", rest)) => {
                let from: usize = rest.split(['-', ',']).nth(1).and_then(|from| from.parse().ok()).expect("a line");
                old[next..from - 1].iter().for_each(|line| push(line));
                next = from - 1;
            }
            Some(("-", _)) => next += 1,
            Some(("+", line)) => push(line),
            Some((_, line)) => {
                assert_eq!(old[next], line, "the diff is of another text");
                push(line);
                next += 1;
            }
            None => {}
        }
    }
    old[next..].iter().for_each(|line| push(line));
    new
}

/// Broken examples whose orders are written out: the cheapest changes, as a patch. What they make of the program is
/// verified from scratch.
#[test]
fn the_cheapest_changes_are_a_patch_with_which_every_schedule_is_right() {
    let workshop = Workshop::new("verify-fix-all");
    let Some(&compiler) = compilers().first() else { return };
    let folder = &workshop.0;
    for (name, flags, fixes) in [
        ("chase-lev-deque.c", &["-DBROKEN"][..], &["23:fence"][..]),
        ("hazard-pointers.c", &["-DBROKEN"], &["23:fence"]),
        ("seqlock.c", &["-DBROKEN"], &["23:acquire", "24:acquire"]),
        ("store-buffering.c", &["-DBROKEN"], &["21:fence"]),
        ("store-buffering.c", &[], &[]),
    ] {
        let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/verify")).join(name);
        let (source, program) = (folder.join(name), folder.join("program"));
        std::fs::copy(&example, &source).expect("a copy");
        let flags: Vec<&str> = [flags, &["-O2"]].concat();
        compile(&source, compiler, &flags, &program).expect("a program");
        let fixed = verify(&program, &["--fix-all", "--diff"], &[], folder).expect("an answer");
        let places: Vec<String> = fixes.iter().map(|fix| format!("{}:{fix}", source.display())).collect();
        let found: Vec<String> = serde_json::from_value(fixed.answer["fixes"].clone()).expect("fixes");
        assert_eq!((fixed.code, &found), (0, &places), "{name}: {}", fixed.answer);
        assert_eq!(fixed.answer["verification"]["complete"], true, "{name}");
        let Some(diff) = fixed.answer["diff"].as_str().filter(|_| !fixes.is_empty()) else { continue };
        let text = std::fs::read_to_string(&source).expect("a text");
        std::fs::write(&source, patched(&text, diff)).expect("a file");
        compile(&source, compiler, &flags, &program).expect("the patched program");
        assert_eq!(verify(&program, &[], &[], folder).expect("an answer").words(), ["verified"], "{name}: {diff}");
    }
}

/// What orders cannot repair stays, is listed once, and does not keep the rest from being repaired.
#[test]
fn what_no_order_removes_remains() {
    let workshop = Workshop::new("verify-fix-rest");
    let Some(program) = built("unrepairable.c", &workshop) else { return };
    for (argument, fixes, gone, remaining) in
        [("races", 0, 0, 2), ("fails", 0, 0, 1), ("fails-and-sb", 2, 1, 1), ("deadlock", 0, 0, 1)]
    {
        let fixed = verify(&program, &["--fix-all"], &[argument], &workshop.0).expect("an answer");
        let number = |name: &str| fixed.answer[name].as_array().map_or(0, Vec::len);
        let numbers = (number("fixes"), number("gone"), number("remaining"));
        assert_eq!((fixed.code, numbers), (1, (fixes, gone, remaining)), "{argument}: {}", fixed.answer);
    }
    for (options, code) in [(&["--fix-all", "--timeout", "0.001"][..], 3), (&["--fix-all", "--max-runs", "1"], 3)] {
        assert_eq!(verify(&program, options, &["mp"], &workshop.0).expect("an answer").code, code, "{options:?}");
    }
}

fn is_cpp(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "cpp")
}

/// Builds with `ravelin cc` or `ravelin c++`.
pub fn compile(source: &Path, compiler: &str, flags: &[&str], program: &Path) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    let (word, variable, real) = match (is_cpp(source), compiler) {
        (false, _) => ("cc", "RAVELIN_CC", compiler),
        (true, "gcc") => ("c++", "RAVELIN_CXX", "g++"),
        (true, _) => ("c++", "RAVELIN_CXX", "clang++"),
    };
    command.env(variable, real).arg(word).args(["-g", "-pthread", "-Wall"]).args(flags);
    finish(command.arg(source).arg("-o").arg(program), LIMIT)
}

/// An answer.
pub struct Verified {
    pub code: i32,
    pub answer: Value,
}

impl Verified {
    /// What it says, in the words of the examples.
    pub fn words(&self) -> Vec<String> {
        match self.answer["verdict"].as_str() {
            Some("holds") => return vec!["verified".to_owned()],
            Some("violated") => {}
            _ => return vec!["unknown".to_owned()],
        }
        let listed = |name: &str| self.answer[name].as_array().cloned().unwrap_or_default();
        let problems = listed("findings").into_iter().chain(listed("stuck"));
        let names = problems.filter_map(|found| Some(found["problem"].as_str()?.replace('-', " ")));
        let crashes = listed("crashes").into_iter().map(|_| "crash".to_owned());
        let failures = self.answer["verification"]["failures"].as_array().cloned().unwrap_or_default();
        let failures = failures.into_iter().map(|failure| format!("exit code {}", failure["exit_code"]));
        names.chain(crashes).chain(failures).map(|word| format!("violated: {word}")).collect()
    }

    /// Runs that were not redundant.
    pub fn traces(&self) -> u64 {
        let number = |name: &str| self.answer["verification"][name].as_u64().expect("a number");
        number("runs") - number("redundant")
    }

    fn limits(&self) -> String {
        self.answer["verification"]["limits"].to_string()
    }
}

/// Runs `ravelin verify` with options on a program with arguments.
pub fn verify(program: &Path, options: &[&str], arguments: &[&str], folder: &Path) -> Result<Verified, String> {
    let report = folder.join("report.json");
    let _ = std::fs::remove_file(&report);
    let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    command.args(["verify", "--format", "json", "--output"]).arg(&report).args(options).arg("--");
    let code = finish_with(command.arg(program).args(arguments), LIMIT)?;
    let text = std::fs::read_to_string(&report).map_err(|error| format!("no report ({error}), exit code {code}"))?;
    let mut json: Value = serde_json::from_str(&text).map_err(|error| format!("{error} in {text}"))?;
    Ok(Verified { code, answer: json["answers"][0].take() })
}

/// Builds one of the programs in `tests/verify`, with any compiler; `None` if there is none.
pub fn built(name: &str, workshop: &Workshop) -> Option<PathBuf> {
    let compiler = *compilers().first()?;
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verify")).join(name);
    let program = workshop.0.join("program");
    compile(&source, compiler, &["-O1"], &program).unwrap_or_else(|error| panic!("{error}"));
    Some(program)
}

/// The numbers are those of an exhaustive search. How many traces Peterson's and Lamport's algorithms have depends on
/// where a round ends.
#[test]
fn known_programs_have_one_run_per_trace() {
    let workshop = Workshop::new("verify-counts");
    let Some(program) = built("counts.c", &workshop) else { return };
    let known = [
        ("sb", 3),
        ("mp", 3),
        ("iriw", 15),
        ("dekker", 7),
        ("peterson", 18),
        ("lamport", 50),
        ("ends", 6),
        ("peeled", 1),
    ];
    for (name, traces) in known {
        for jobs in ["1", "3"] {
            let verified = verify(&program, &["--jobs", jobs], &[name], &workshop.0).expect("an answer");
            assert_eq!((verified.code, verified.traces()), (0, traces), "{name} with {jobs} jobs");
        }
        let fresh = verify(&program, &["--fresh-processes"], &[name], &workshop.0).expect("an answer");
        assert_eq!((fresh.code, fresh.traces()), (0, traces), "{name} with fresh processes");
    }
}

/// What was not looked for is not claimed.
#[test]
fn without_races_the_answer_does_not_say_that_there_are_none() {
    let workshop = Workshop::new("verify-no-races");
    let Some(program) = built("store_buffers.c", &workshop) else { return };
    for (options, expected) in [(&["--model", "tso"][..], None), (&["--model", "tso", "--no-races"], Some(true))] {
        let verified = verify(&program, options, &["fenced"], &workshop.0).expect("an answer");
        assert_eq!(verified.words(), ["verified"]);
        assert_eq!(verified.answer["verification"]["ignores_races"].as_bool(), expected);
    }
}

#[test]
fn on_x86_only_a_delayed_store_is_found() {
    let workshop = Workshop::new("verify-tso");
    let Some(program) = built("store_buffers.c", &workshop) else { return };
    // Whether it is verified.
    let known = [
        ("sb", false),
        ("fenced", true),
        ("half", false),
        ("weaker", false),
        ("rmw", true),
        ("failed", true),
        ("mutex", true),
        ("locks", true),
        ("tries", true),
        ("reads", true),
        ("writes", true),
        ("spins", true),
        ("waits", true),
        ("fails", false),
        ("fails-to-read", false),
        ("fails-to-write", false),
        ("finds-empty", false),
        ("signals", false),
        ("finds-done", false),
        ("nests", false),
        ("spin", false),
        ("seq-cst", true),
        ("mp", true),
        ("2+2w", true),
        ("r", false),
        ("n6", false),
        ("parker", false),
        ("iriw", true),
    ];
    for (name, expected) in known {
        let verified = verify(&program, &["--model", "tso"], &[name], &workshop.0).expect("an answer");
        let words = verified.words();
        let is_stale = |word: &String| word.starts_with("violated: stale");
        let is_right = if expected { words == ["verified"] } else { words.iter().all(is_stale) };
        assert!(is_right && !words.is_empty(), "{name}: {words:?}");
        assert_eq!(verified.answer["verification"]["model"], "tso");
        let code = watched_for_x86(&program, name, &workshop);
        assert_eq!(code, i32::from(!expected), "{name} under run");
    }
}

/// The exit code of `run --model tso` with schedules that show every store that can be delayed in these programs.
fn watched_for_x86(program: &Path, name: &str, workshop: &Workshop) -> i32 {
    let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    run.args(["run", "--model", "tso", "--schedule", "random", "--runs", "40", "--output"]);
    run.arg(workshop.0.join("watched.txt")).arg("--").arg(program).arg(name);
    finish_with(&mut run, LIMIT).unwrap_or_else(|error| panic!("{error}"))
}

/// Without `--keep-going` a verification ends with the first finding. So all of them: x86 can do one of them exactly if
/// store buffers alone have a finding.
#[test]
fn findings_say_which_machines_can_do_them() {
    let workshop = Workshop::new("verify-machines");
    let Some(program) = built("store_buffers.c", &workshop) else { return };
    // Whether some finding is possible on x86, and some on ARMv8; `None` if there is none.
    let known = [
        ("sb", Some((true, true))),
        ("fenced", None),
        ("half", Some((true, true))),
        // On ARMv8 such a fence is a full one.
        ("weaker", Some((true, false))),
        ("rmw", Some((false, true))),
        ("failed", Some((false, true))),
        ("mutex", Some((false, true))),
        ("spin", Some((true, true))),
        // The loads are relaxed.
        ("seq-cst", Some((false, true))),
        ("mp", Some((false, true))),
        ("2+2w", Some((false, true))),
        ("r", Some((true, true))),
        ("n6", Some((true, true))),
        ("parker", Some((true, true))),
        ("iriw", Some((false, true))),
    ];
    for (name, expected) in known {
        let verified = verify(&program, &["--keep-going"], &[name], &workshop.0).expect("an answer");
        let findings = verified.answer["findings"].as_array().cloned().unwrap_or_default();
        let any = |machine: &str| {
            let possible = |found: &Value| {
                found["machines"][machine].as_bool().unwrap_or_else(|| panic!("{name}: no machines in {found}"))
            };
            findings.iter().map(possible).fold(false, |any, one| any | one)
        };
        let found = (!findings.is_empty()).then(|| (any("x86"), any("armv8")));
        assert_eq!(found, expected, "{name}");
    }
}

/// The thread that waits may be in the middle of a round.
#[test]
fn a_process_may_end_while_threads_wait() {
    let workshop = Workshop::new("verify-ends");
    let Some(program) = built("ends.c", &workshop) else { return };
    for name in ["two", "lock"] {
        for jobs in ["1", "3"] {
            let options = ["--jobs", jobs, "--ignore", "thread-leak"];
            let verified = verify(&program, &options, &[name], &workshop.0).expect("an answer");
            assert_eq!(verified.words(), ["verified"], "{name} with {jobs} jobs: {}", verified.limits());
        }
    }
}

#[test]
fn hostile_programs_get_a_clear_answer() {
    let workshop = Workshop::new("verify-hostile");
    let Some(program) = built("hostile.c", &workshop) else { return };
    let cases = [
        ("crash", "violated: crash", ""),
        ("abort", "violated: crash", ""),
        ("exit", "violated: exit code 3", ""),
        ("thread-exits", "violated: exit code 4", ""),
        ("killed", "violated: exit code 137", ""),
        ("endless", "violated: livelock", ""),
        ("early", "violated: thread leak", ""),
        ("alone-fails", "violated: exit code 5", ""),
        ("exchange-races", "violated: data race", ""),
        ("exchange-fails", "verified", ""),
        ("endless-effects", "unknown", "longer than 131,072 steps"),
        ("endless-looks", "unknown", "--unroll"),
        ("forks", "unknown", "another process"),
        ("forks-first", "unknown", "another process"),
        ("exec", "unknown", "another process"),
        ("handles", "unknown", "signal"),
        ("alarms", "unknown", "signal"),
        ("cancels", "unknown", "cancelled"),
        ("leaves", "verified", ""),
        ("prints", "verified", ""),
        ("prints-first", "verified", ""),
        ("reads", "verified", ""),
        ("detached", "verified", ""),
        ("alone", "verified", ""),
        ("many", "verified", ""),
        ("nested", "verified", ""),
        ("pipes", "verified", ""),
        ("main-ends", "verified", ""),
        ("main-ends-and-fails", "violated: exit code 6", ""),
    ];
    for (name, expected, limit) in cases {
        let verified = verify(&program, &[], &[name], &workshop.0).unwrap_or_else(|error| panic!("{name}: {error}"));
        let words = verified.words();
        assert!(words.iter().any(|word| word == expected), "{name}: {words:?}, expected {expected}");
        assert!(verified.limits().contains(limit), "{name}: {}, expected {limit}", verified.limits());
        let code = match expected {
            "verified" => 0,
            "unknown" => 3,
            _ => 1,
        };
        assert_eq!(verified.code, code, "{name}");
    }
}

/// What comes before `ravelin_verify_begin` and after `ravelin_verify_end` does not multiply runs.
#[test]
fn runs_begin_and_end_where_the_program_says_so() {
    let workshop = Workshop::new("verify-begins");
    let Some(program) = built("begins.c", &workshop) else { return };
    let other_threads = "the program has other threads where it says that runs begin";
    let cases = [
        ("joined", 3, None),
        ("first", 3, None),
        ("unmarked", 9, None),
        ("twice", 9, None),
        ("twice-from-the-first", 9, None),
        ("thread", 3, Some(other_threads)),
        ("waiting", 3, Some(other_threads)),
        ("spinning", 3, Some(other_threads)),
        ("running", 3, Some(other_threads)),
        ("many", 3, None),
        ("alone", 1, None),
        ("ended", 3, None),
        ("ended-twice", 3, None),
        ("ended-with-setup", 3, None),
        ("ended-while-running", 3, None),
        ("ended-while-waiting", 1, None),
    ];
    for (name, traces, fresh) in cases {
        for options in [&["--jobs", "1"][..], &["--jobs", "3"], &["--fresh-processes"]] {
            let verified = verify(&program, options, &[name], &workshop.0).unwrap_or_else(|error| panic!("{error}"));
            let limits = verified.limits();
            assert_eq!((verified.code, verified.traces()), (0, traces), "{name} {options:?}: {limits}");
            if options[0] == "--jobs" && traces > 1 {
                assert_eq!(verified.answer["fresh_processes"].as_str(), fresh, "{name} {options:?}");
            }
        }
    }
    let sometimes = verify(&program, &[], &["sometimes"], &workshop.0).expect("an answer");
    assert_eq!(sometimes.code, 3);
    assert!(sometimes.limits().contains("in some schedules only"), "{}", sometimes.limits());
    let race = verify(&program, &[], &["race"], &workshop.0).expect("an answer");
    assert_eq!(race.words()[0], "violated: data race");
    let fails = verify(&program, &[], &["fails"], &workshop.0).expect("an answer");
    assert_eq!(fails.words(), ["violated: exit code 3"]);
    let schedule = fails.answer["verification"]["failures"][0]["schedule"].as_str().expect("steps");
    assert!(schedule.len() < 60, "{schedule}: only steps from there on");
    let fails = verify(&program, &[], &["fails-after"], &workshop.0).expect("an answer");
    assert_eq!(fails.words(), ["violated: exit code 3"]);
    let mut replay = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    replay.arg("replay").arg(workshop.0.join("report.json"));
    assert_eq!(finish_with(&mut replay, LIMIT), Ok(1), "the run fails again after its end");
}

#[test]
fn without_the_runtime_a_program_that_says_where_runs_begin_does_the_same() {
    let workshop = Workshop::new("verify-begins-plain");
    let Some(&compiler) = compilers().first() else { return };
    let program = workshop.0.join("plain");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(compiler);
    command.args(["-pthread", "-Wall", "-Werror", "-I"]).arg(folder.join("../ravelin-runtime/include"));
    command.arg(folder.join("tests/verify/begins.c")).arg("-o").arg(&program);
    finish(&mut command, LIMIT).unwrap_or_else(|error| panic!("{error}"));
    for name in ["joined", "twice", "thread", "waiting", "ended", "ended-while-waiting"] {
        assert_eq!(finish_with(Command::new(&program).arg(name), LIMIT), Ok(0), "{name}");
    }
}

/// Models written as C programs. A thread that has made its rounds ends the program, so that it is no deadlock if others wait
/// for what it would do next.
#[test]
fn models_as_c_programs_have_the_verdict_of_check() {
    let Some(&compiler) = compilers().first() else { return };
    let workshop = Workshop::new("verify-models");
    let models = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/robustness-c11"));
    for (model, rounds, expected) in [
        ("lamport-fixed", "2", "verified"),
        ("rcu", "3", "verified"),
        ("ticket-lock", "2", "verified"),
        ("chase-lev", "10", "violated: stale read"),
        ("chase-lev-fixed", "10", "verified"),
    ] {
        let (source, program) = (workshop.0.join("model.c"), workshop.0.join("model"));
        let mut convert = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        let converted = convert.args(["convert", "--to", "c"]).arg(models.join(format!("{model}.rav"))).output();
        std::fs::write(&source, converted.expect("ravelin runs").stdout).expect("a source");
        compile(&source, compiler, &["-O2", "-DVERIFY"], &program).unwrap_or_else(|error| panic!("{error}"));
        let verified = verify(&program, &[], &["1", rounds], &workshop.0).unwrap_or_else(|error| panic!("{error}"));
        let words = verified.words();
        assert_eq!(words[0], expected, "{model}: {words:?}, {}", verified.limits());
    }
}

/// A lost update needs one preemption.
#[test]
fn a_bound_on_preemptions_finds_what_is_within_it() {
    let workshop = Workshop::new("verify-preemptions");
    let Some(program) = built("begins.c", &workshop) else { return };
    let answer = |most: &str| verify(&program, &["--preemptions", most], &["fails"], &workshop.0).expect("an answer");
    assert_eq!(answer("0").code, 3);
    assert!(answer("0").limits().contains("--preemptions"));
    assert_eq!(answer("1").words(), ["violated: exit code 3"]);
}

#[test]
fn a_verification_is_resumed_from_its_checkpoint() {
    let workshop = Workshop::new("verify-resume");
    let Some(program) = built("counts.c", &workshop) else { return };
    let file = workshop.0.join("left");
    let command = format!("verify --checkpoint {} --max-runs 20 {} lamport", file.display(), program.display());
    let output = workshop.ravelin(&command);
    assert_eq!(code(&output), 3, "{}", text(&output));
    assert!(text(&output).contains("ravelin resume"), "{}", text(&output));
    let resumed = workshop.ravelin(&format!("resume {}", file.display()));
    assert_eq!(code(&resumed), 0, "{}", text(&resumed));
    assert!(text(&resumed).contains("verified"), "{}", text(&resumed));
    assert!(!file.exists(), "there is an answer");
    std::fs::write(&file, "something else").expect("a file");
    for command in [command, format!("resume {}", file.display())] {
        let output = workshop.ravelin(&command);
        assert_eq!(code(&output), 2, "{}", text(&output));
        assert!(text(&output).contains("no checkpoint"), "{}", text(&output));
    }
}

#[test]
fn limits_are_kept() {
    let workshop = Workshop::new("verify-limits");
    let Some(program) = built("hostile.c", &workshop) else { return };
    let cases: [(&[&str], &str, &str); 5] = [
        (&["--max-runs", "5"], "large", "5 runs"),
        (&["--timeout", "0.3"], "large", "--timeout"),
        (&["--timeout", "0.3"], "busy", "--timeout"),
        (&["--timeout", "0.3", "--fresh-processes"], "busy", "--timeout"),
        (&["--preemptions", "0"], "large", "--preemptions"),
    ];
    for (options, name, limit) in cases {
        let verified = verify(&program, options, &[name], &workshop.0).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(verified.code, 3, "{options:?} {name}");
        assert!(verified.limits().contains(limit), "{options:?} {name}: {}", verified.limits());
    }
    let verified = verify(&program, &["--max-runs", "5"], &["large"], &workshop.0).expect("an answer");
    assert_eq!(verified.answer["verification"]["runs"], 5);
}

#[test]
fn programs_that_cannot_be_verified_are_refused() {
    let workshop = Workshop::new("verify-refused");
    for program in ["./nothing", "/", "true"] {
        let output = workshop.ravelin(&format!("verify {program}"));
        assert_eq!(code(&output), 2, "{program}: {}", text(&output));
        assert!(!output.stderr.is_empty(), "{program}");
    }
}

/// Processes of this program.
fn processes(program: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_it =
        |number: &u32| std::fs::read_link(format!("/proc/{number}/exe")).is_ok_and(|executable| executable == program);
    numbers.filter(is_it).collect()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LIMIT, "still not: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_interrupt_ends_it_with_what_is_known() {
    let workshop = Workshop::new("verify-interrupt");
    let Some(program) = built("hostile.c", &workshop) else { return };
    for name in ["large", "busy"] {
        let mut command = interruptible();
        command.arg("verify").arg(&program).arg(name).env("TMPDIR", &workshop.0);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("it starts");
        until("it runs", || !processes(&program).is_empty());
        send("INT", child.id());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(code(&output), 3, "{name}: {}", text(&output));
        assert!(text(&output).contains("it was interrupted"), "{name}: {}", text(&output));
        until("all processes have ended", || processes(&program).is_empty());
    }
    let left: Vec<_> = std::fs::read_dir(&workshop.0).expect("a folder").flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, [program], "files are left behind");
}

/// Processes from which runs are forked, and runs, that are killed from outside change no answer.
#[test]
fn killed_processes_are_replaced() {
    let workshop = Workshop::new("verify-killed");
    let Some(program) = built("hostile.c", &workshop) else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    command.args(["verify", "--max-runs", "400"]).arg(&program).arg("large");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("it starts");
    for _ in 0..3 {
        let mut running = Vec::new();
        until("it runs", || {
            running = processes(&program);
            !running.is_empty() || child.try_wait().expect("a state").is_some()
        });
        for process in running {
            // It may have ended by itself.
            let _ = Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status();
        }
    }
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 3, "{}", text(&output));
    assert!(text(&output).contains("--max-runs"), "{}", text(&output));
    until("all processes have ended", || processes(&program).is_empty());
}

fn send(signal: &str, process: u32) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status();
    assert!(sent.expect("kill is there").success(), "SIG{signal} to {process}");
}
