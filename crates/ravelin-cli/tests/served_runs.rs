//! Runs that are forked before the second thread: each is that of a new process, whatever the program does before and
//! after, and nothing is left when they end.

use crate::building::{Built, text_of};
use crate::running::interruptible;
use crate::workshop::compilers;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Far longer than anything here takes, on whatever machine.
const WATCHDOG: Duration = Duration::from_secs(60);

/// A report without the numbers of processes, and why each run was a new process.
fn comparable(mut answer: Value) -> (Value, Option<String>) {
    for process in answer["processes"].as_array_mut().into_iter().flatten() {
        process["process"] = Value::Null;
    }
    let reason = answer.as_object_mut().and_then(|answer| answer.remove("fresh_processes"));
    (answer, reason.and_then(|reason| Some(reason.as_str()?.to_owned())))
}

/// Makes the same runs by both kinds of processes, and compares. Returns why they were new ones.
fn compared(built: &Built, options: &str, words: &str) -> Option<String> {
    let (forked, output) = built.report(options, words);
    let (fresh, other_output) = built.report(&format!("{options} --fresh-processes"), words);
    let ((forked, reason), (fresh, wanted)) = (comparable(forked), comparable(fresh));
    assert_eq!(wanted.as_deref(), Some("this was asked for"), "{options} {words}");
    let lines = |answer: &Value| serde_json::to_string_pretty(answer).expect("JSON");
    let (one, other) = (lines(&forked), lines(&fresh));
    let difference = one.lines().zip(other.lines()).enumerate().find(|(_, (one, other))| one != other);
    assert!(forked == fresh, "{options} {words}: {reason:?}, {difference:?}");
    assert_eq!(output.status, other_output.status, "{options} {words}");
    assert_eq!(text_of(&output), text_of(&other_output), "{options} {words}");
    reason
}

#[test]
fn a_forked_run_is_that_of_a_new_process() {
    for (source, words, reason) in [
        ("seqlock.c", &[""][..], None),
        ("pool.cpp", &[""], None),
        ("stuck.c", &["twice", "condition", "barrier", "semaphore", "rwlock", "livelock", "yielding", "crossed"], None),
        ("alone.cpp", &["wait_for", "future", "semaphore", "timed_mutex", "sleep_for"], None),
        ("waits.c", &[""], Some("the program starts other processes")),
    ] {
        let built = Built::new(source, "");
        for words in words {
            for options in ["--schedule random --seed 1 --jobs 1", "--schedule pct --seed 40 --jobs 2"] {
                let options = format!("{options} --runs 10 --livelock 20000 --spinning");
                let told = compared(&built, &options, words);
                assert_eq!(told.as_deref(), reason, "{source} {words} {options}");
            }
        }
    }
}

#[test]
fn programs_of_all_compilers_are_served() {
    for (c, cxx) in compilers() {
        for (source, compiler) in [("served.c", c), ("pool.cpp", cxx)] {
            let built = Built::new(source, &format!("--ravelin-compiler={compiler}"));
            assert_eq!(compared(&built, "--schedule random --runs 12", ""), None, "{source} {compiler}");
        }
    }
}

#[test]
fn what_a_program_does_before_its_second_thread_is_done_in_each_run_or_there_is_a_reason() {
    let built = Built::new("served.c", "");
    for (before, reason) in [
        ("nothing", None),
        ("time", None),
        ("memory", None),
        ("print", None),
        ("read-file", None),
        ("random", None),
        ("process", Some("the program starts other processes")),
        ("process-left", Some("the program starts other processes")),
        ("command", Some("the program starts processes before its second thread")),
        ("number", Some("the program asks for its process number before its second thread")),
        ("pipe", Some("a pipe, a socket or another shared file is open before the second thread")),
        ("socket", Some("a pipe, a socket or another shared file is open before the second thread")),
        ("events", Some("a pipe, a socket or another shared file is open before the second thread")),
        ("timer-file", Some("a pipe, a socket or another shared file is open before the second thread")),
        ("alarm", Some("the program sets a timer before its second thread")),
        ("timer", Some("the program sets a timer before its second thread")),
        ("signal", Some("a signal is pending before the second thread")),
        ("write-file", Some("the program changes files before its second thread")),
        ("memory-file", Some("a file is open for writing before the second thread")),
        ("stream", Some("the program changes files before its second thread")),
        ("folder", Some("the program changes files before its second thread")),
        ("shared", Some("the program shares memory with other processes")),
        ("session", Some("the program leads a group of processes")),
        ("thread", Some("the program has threads that the sanitizer does not know")),
    ] {
        let later = if before == "read-file" { "read-file" } else { "" };
        let told = compared(&built, "--schedule random --seed 3 --runs 6", &format!("{before} {later}"));
        assert_eq!(told.as_deref(), reason, "{before}");
    }
}

#[test]
fn a_run_ends_as_a_new_process_would() {
    let built = Built::new("served.c", "");
    for (later, reason) in [
        ("crash", None),
        ("abort", None),
        ("kill", None),
        ("exit", None),
        ("_exit", None),
        ("exec", None),
        ("fork", Some("the program starts other processes")),
        ("daemon", Some("the program starts other processes")),
    ] {
        for schedule in ["random", "pct"] {
            let options = format!("--schedule {schedule} --runs 24 --jobs 1");
            let told = compared(&built, &options, &format!("nothing {later}"));
            // Only runs in which the reader sees the flag come so far.
            assert_eq!(told.as_deref(), reason, "{later} {schedule}");
        }
    }
}

#[test]
fn findings_that_are_kept_and_programs_with_one_thread_need_new_processes() {
    let built = Built::new("served.c", "");
    let told = |options: &str| comparable(built.report(&format!("--runs 3 {options}"), "").0).1;
    let kept = told("--schedule random --findings kept");
    assert_eq!(kept.as_deref(), Some("the findings files are kept"));
    assert_eq!(told("").as_deref(), Some("the operating system decides the schedule"));
    let (one, _) = comparable(built.report("--schedule random", "").0);
    assert_eq!(one["runs"].as_array().map(Vec::len), Some(1));
    let alone = Built::from("int main(void) { return 5; }", "alone.c", "");
    let (answer, output) = alone.report("--schedule random --runs 3", "");
    assert_eq!(answer["fresh_processes"], "the program has one thread");
    assert_eq!(output.status.code(), Some(5));
}

/// Runs with an input.
fn with_input(built: &Built, words: &str, input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    command.args(words.split_whitespace()).current_dir(&built.folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("ravelin");
    child.stdin.take().expect("a pipe").write_all(input).expect("a reader");
    child.wait_with_output().expect("an end")
}

#[test]
fn each_run_has_the_whole_input_and_only_the_first_is_heard() {
    let built = Built::new("served.c", "");
    for fresh in ["", "--fresh-processes"] {
        let run = |options: &str, words: &str| {
            let line = format!(
                "run --schedule random --runs 20 {fresh} {options} --format json -o report.json ./program {words}"
            );
            let output = with_input(&built, &line, b"abc\n");
            let text = std::fs::read_to_string(built.folder.join("report.json")).expect("a report");
            (serde_json::from_str::<Value>(&text).expect("JSON")["answers"][0].clone(), output)
        };
        let (answer, output) = run("--seed 5", "input input");
        assert_eq!(answer["fresh_processes"].is_null(), fresh.is_empty(), "{answer}");
        let codes: Vec<u64> =
            answer["runs"].as_array().expect("runs").iter().filter_map(|run| run["exit_code"].as_u64()).collect();
        assert!(codes.len() == 20 && codes.iter().all(|code| [0, 3].contains(code)), "{codes:?}");
        assert!(codes.contains(&3), "no run read the rest: {codes:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout).matches("seen").count(), 1);
        let (_, output) = run("--seed 5", "print");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(printed.matches("kept in a buffer").count(), 1, "{printed}");
        assert_eq!(printed.matches("written at once").count(), 1, "{printed}");
    }
}

#[test]
fn runs_of_a_job_are_children_of_one_process() {
    let built = Built::new("served.c", "");
    let parents = |options: &str| {
        let file = built.folder.join("parents");
        let _ = std::fs::remove_file(&file);
        let (answer, _) = built.report(&format!("--schedule random --runs 40 --jobs 1 {options}"), "nothing number");
        let text = std::fs::read_to_string(&file).expect("a file");
        let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
        assert!(all.len() > 2, "{answer}");
        // The first run is a new process, which may or may not come so far.
        all.remove(0);
        all.dedup();
        all.len()
    };
    assert_eq!(parents(""), 1);
    assert_eq!(parents("--fresh-processes"), 1, "that of ravelin");
}

#[test]
fn a_run_without_progress_is_ended_and_told() {
    let built = Built::new("served.c", "");
    let run = |fresh: &str| {
        let _ = std::fs::remove_file(built.folder.join("ran"));
        let options = format!("--schedule random --runs 2 --jobs 1 --no-progress 1 --no-robustness {fresh}");
        let (answer, output) = built.report(&options, "nothing hang");
        assert_eq!(output.status.code(), Some(1), "{answer}");
        comparable(answer)
    };
    let ((forked, reason), (fresh, _)) = (run(""), run("--fresh-processes"));
    assert_eq!(reason, None);
    assert_eq!(forked["stuck"], fresh["stuck"]);
    let threads = forked["stuck"][0]["threads"].as_array().expect("threads");
    let sentence = "is in a call that the schedule does not know";
    assert!(threads.iter().any(|thread| thread["sentence"] == sentence), "{forked}");
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < WATCHDOG, "still not: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The processes whose program is this file.
fn processes_of(program: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|number| std::fs::read_link(format!("/proc/{number}/exe")).is_ok_and(|file| file == program))
        .collect()
}

fn parent_of(process: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or_default().to_owned();
    rest.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn send(signal: &str, process: u32) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status();
    assert!(sent.expect("kill is there").success(), "SIG{signal} to {process}");
}

/// Starts runs of which the second never ends, and waits until it runs. Returns the server and the run.
fn start_endless(built: &Built, later: &str) -> (Child, u32, u32) {
    // There is none if this is the first time.
    let _ = std::fs::remove_file(built.folder.join("ran"));
    let stands = built.folder.join("stands");
    let _ = std::fs::remove_file(&stands);
    let program = std::fs::canonicalize(built.folder.join("program")).expect("the program");
    let mut command = interruptible();
    command.args(["run", "--schedule", "random", "--jobs", "1", "--runs", "2", "--livelock", "0", "--seed", "1"]);
    // Nothing is found: the exit code is that of the program.
    command.arg("--no-robustness");
    command.args(["./program", "nothing", later]).current_dir(&built.folder).env("TMPDIR", &built.folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("ravelin");
    let mut pair = None;
    until("the second run", || {
        let all = processes_of(&program);
        let of = |parent: u32| all.iter().copied().find(|process| parent_of(*process) == parent);
        pair = of(child.id()).and_then(|server| Some((server, of(server)?)));
        pair.is_some() && stands.exists()
    });
    let (server, run) = pair.expect("both");
    (child, server, run)
}

#[test]
fn signals_end_the_run_and_nothing_is_left() {
    let built = Built::new("served.c", "");
    let program = std::fs::canonicalize(built.folder.join("program")).expect("the program");
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        for later in ["hang", "spin"] {
            let (child, ..) = start_endless(&built, later);
            send(signal, child.id());
            let output = child.wait_with_output().expect("an end");
            assert_eq!(output.status.code(), Some(code), "{signal} {later}: {}", text_of(&output));
            assert!(text_of(&output).contains("2 runs"), "{signal} {later}: {}", text_of(&output));
            until("no process is left", || processes_of(&program).is_empty());
        }
    }
    let left: Vec<_> =
        std::fs::read_dir(&built.folder).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("ravelin-")), "{left:?}");
}

#[test]
fn whoever_is_killed_takes_the_others_along_or_is_replaced() {
    let built = Built::new("served.c", "");
    let program = std::fs::canonicalize(built.folder.join("program")).expect("the program");
    // ravelin itself.
    let (mut child, ..) = start_endless(&built, "hang");
    send("KILL", child.id());
    child.wait().expect("an end");
    until("no process is left", || processes_of(&program).is_empty());
    // The run: it has ended by the signal.
    let (child, _, run) = start_endless(&built, "hang");
    std::fs::remove_file(built.folder.join("ran")).expect("a file");
    send("KILL", run);
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(137), "{}", text_of(&output));
    assert!(text_of(&output).contains("2 runs"), "{}", text_of(&output));
    // The server: its run is made again by a new process.
    let (child, server, _) = start_endless(&built, "hang");
    std::fs::remove_file(built.folder.join("ran")).expect("a file");
    send("KILL", server);
    let output = child.wait_with_output().expect("an end");
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", text_of(&output));
    assert!(text_of(&output).contains("2 runs"), "{}", text_of(&output));
    until("no process is left", || processes_of(&program).is_empty());
}

#[test]
fn suggestions_are_tried_out_in_forked_runs() {
    let built = Built::new("served.c", "");
    let said = |fresh: &str| {
        let output = built.ravelin(&format!("run --schedule random --runs 20 --fix-all {fresh} ./program"));
        (output.status.code(), text_of(&output))
    };
    assert_eq!(said(""), said("--fresh-processes"));
}
