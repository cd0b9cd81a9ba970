//! `ravelin verify`: the examples do what their first lines say, programs with a known number of traces have as many runs,
//! and programs that make it hard get a clear answer and leave nothing behind.

use crate::programs::{compilers, finish, finish_with, try_all};
use crate::running::{code, interruptible};
use crate::workshop::{Workshop, text};

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(120);

/// A version of an example, and what its first lines say about it.
struct Version {
    path: PathBuf,
    flags: Vec<String>,
    expected: String,
}

/// How a version is built.
struct Build<'a> {
    version: &'a Version,
    compiler: &'static str,
    level: &'static str,
}

fn versions() -> Vec<Version> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/verify"));
    let entries = std::fs::read_dir(folder).expect("the examples");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut versions = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a text");
        let before = versions.len();
        for line in text.lines() {
            let Some((flags, expected)) = line.strip_prefix("//! expect verify").and_then(|line| line.split_once(": "))
            else {
                continue;
            };
            let flags = flags.split_whitespace().map(str::to_owned).collect();
            versions.push(Version { path: path.clone(), flags, expected: expected.to_owned() });
        }
        assert!(versions.len() > before, "{} expects nothing", path.display());
    }
    versions
}

/// Both compilers, at different levels in turns; C++ compiles slowly, so it gets one of each. All of them with
/// `RAVELIN_CASES_ALL=1`.
#[test]
fn examples_are_judged_as_they_say() {
    let compilers = compilers();
    let all = std::env::var_os("RAVELIN_CASES_ALL").is_some();
    let versions = versions();
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

fn is_cpp(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "cpp")
}

/// Builds with `ravelin cc` or `ravelin c++`.
fn compile(source: &Path, compiler: &str, flags: &[&str], program: &Path) -> Result<(), String> {
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
    answer: Value,
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
fn built(name: &str, workshop: &Workshop) -> Option<PathBuf> {
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
    let known = [("sb", 3), ("mp", 3), ("iriw", 15), ("dekker", 7), ("peterson", 18), ("lamport", 50)];
    for (name, traces) in known {
        for jobs in ["1", "3"] {
            let verified = verify(&program, &["--jobs", jobs], &[name], &workshop.0).expect("an answer");
            assert_eq!((verified.code, verified.traces()), (0, traces), "{name} with {jobs} jobs");
        }
        let fresh = verify(&program, &["--fresh-processes"], &[name], &workshop.0).expect("an answer");
        assert_eq!((fresh.code, fresh.traces()), (0, traces), "{name} with fresh processes");
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
        ("endless-effects", "unknown", "too long"),
        ("endless-looks", "unknown", "--unroll"),
        ("forks", "unknown", "another process"),
        ("forks-first", "unknown", "another process"),
        ("exec", "unknown", "another process"),
        ("handles", "unknown", "signal"),
        ("alarms", "unknown", "signal"),
        ("cancels", "unknown", "cancelled"),
        ("leaves", "unknown", "not controlled"),
        ("prints", "verified", ""),
        ("prints-first", "verified", ""),
        ("reads", "verified", ""),
        ("detached", "verified", ""),
        ("alone", "verified", ""),
        ("many", "verified", ""),
        ("nested", "verified", ""),
        ("pipes", "verified", ""),
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
