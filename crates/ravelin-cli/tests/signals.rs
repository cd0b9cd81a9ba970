//! Signals that ask a program to end: SIGINT, SIGTERM and SIGHUP are one another's equals, and nothing is left behind.

use crate::running;
use crate::serving;

use running::{Scratch, has_cluster, interruptible, ravelin};
use serving::{Server, parts};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Far longer than anything here takes, on whatever machine.
const WATCHDOG: Duration = Duration::from_secs(60);
const SIGNALS: [(&str, u32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];
/// More states than any test waits for.
const ENDLESS: &str = "//! expect check tso: robust\nstatic x; static y;\nthread p[6] { let r = 0; loop { let a; havoc a in 0..200; x.store(a); r = y.load(); y.store(r + a); } }\nnever p[0].r == 0 - 1;\n";

fn start(words: &[&str]) -> Child {
    start_in(&std::env::temp_dir(), words)
}

/// With a directory for temporary files.
fn start_in(temporary: &Path, words: &[&str]) -> Child {
    interruptible()
        .args(words)
        .env("TMPDIR", temporary)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

pub fn send(signal: &str, process: u32) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status();
    assert!(sent.expect("kill is there").success(), "SIG{signal} to {process}");
}

pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < WATCHDOG, "still not: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process catches (`SigCgt`) or ignores (`SigIgn`) a signal.
fn has(process: u32, set: &str, number: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(set)?.strip_prefix(':'));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

/// Waits until a process has begun to search.
fn until_it_searches(process: u32) {
    until("it listens for signals", || has(process, "SigCgt", 2));
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default().to_owned();
        after_name.split_whitespace().nth(11).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0)
    };
    until("it has used some time", || ticks() > 10);
}

/// Whether a process has a thread of this name.
fn waits(process: u32, name: &str) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks
        .into_iter()
        .any(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|found| found.trim() == name))
}

pub fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_some_and(|state| state != "Z")
}

fn children(parent: u32) -> Vec<u32> {
    let mut all = Vec::new();
    // Any thread may have started them.
    for task in std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.extend(text.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
    }
    all
}

pub fn ended(mut child: Child) -> Output {
    until("it ends", || child.try_wait().expect("a child").is_some());
    child.wait_with_output().expect("it has ended")
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {output:?}"))
}

fn folder(scratch: &Scratch, name: &str) -> PathBuf {
    let path = PathBuf::from(scratch.write(name, ""));
    std::fs::remove_file(&path).expect("a file");
    path
}

#[test]
fn every_search_answers_with_what_is_known() {
    let scratch = Scratch::new("signals-answers");
    let program = scratch.write("endless.rav", ENDLESS);
    for (signal, _) in SIGNALS {
        for (command, model) in [
            ("reach", "tso"),
            ("reach", "rc20"),
            ("check", "tso"),
            ("check", "rc20"),
            ("fence", "tso"),
            ("states", "rc20"),
        ] {
            let child = start(&[command, &program, "--model", model]);
            until_it_searches(child.id());
            send(signal, child.id());
            let output = ended(child);
            assert_eq!(code(&output), 3, "{signal} {command} {model}: {output:?}");
            let text = String::from_utf8_lossy(&output.stdout);
            let known = if command == "states" { "final states" } else { "unknown: it was interrupted" };
            assert!(text.contains(known) || text.contains("interrupted"), "{signal} {command} {model}: {text}");
        }
    }
}

#[test]
fn waiting_for_input_ends_with_the_first_signal() {
    let scratch = Scratch::new("signals-input");
    let fifo = folder(&scratch, "fifo.rav").display().to_string();
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo is there").success());
    let questions: [&[&str]; 7] = [
        &["check", "-", "--from", "rav"],
        &["check", "-", "--expect"],
        &["reach", "-"],
        &["fence", "-"],
        &["states", "-"],
        &["cover", "-"],
        &["check", &fifo],
    ];
    for (signal, _) in SIGNALS {
        for (words, format) in questions.iter().flat_map(|words| [(words, "text"), (words, "json")]) {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            let child = interruptible()
                .args(*words)
                .args(["--format", format])
                .stdin(reader)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program starts");
            until("it waits for its input", || has(child.id(), "SigCgt", 2) && waits(child.id(), "input"));
            send(signal, child.id());
            // The pipe is still open.
            let output = ended(child);
            drop(writer);
            assert_eq!(code(&output), 3, "{signal} {words:?}: {output:?}");
            let told = [output.stdout.clone(), output.stderr.clone()].concat();
            assert!(String::from_utf8_lossy(&told).contains("interrupted"), "{signal} {words:?}: {output:?}");
            if format == "json" {
                serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON");
            }
        }
    }
}

#[test]
fn documents_are_complete_after_a_signal() {
    let scratch = Scratch::new("signals-json");
    let program = scratch.write("endless.rav", ENDLESS);
    for (command, model) in
        [("check", "rc20"), ("reach", "tso"), ("reach", "rc20"), ("states", "tso"), ("fence", "tso")]
    {
        let child = start(&[command, &program, "--model", model, "--format", "json"]);
        until_it_searches(child.id());
        send("TERM", child.id());
        let output = ended(child);
        assert_eq!(code(&output), 3, "{command}: {output:?}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        // `fence` has a place of its own for it, if it answers in time.
        let answer = &document["answers"][0];
        let limit = if answer["unknown"].is_object() { &answer["unknown"]["limit"] } else { &answer["limit"] };
        assert_eq!(limit["kind"], "interrupted", "{command}: {document}");
        let report = scratch.write("report.json", &String::from_utf8_lossy(&output.stdout));
        let explained = ravelin(&["explain", &report], "");
        assert_eq!(code(&explained), 0, "{command}: {explained:?}");
    }
}

#[test]
fn an_interrupted_comparison_is_no_difference() {
    let scratch = Scratch::new("signals-expect");
    let program = scratch.write("endless.rav", ENDLESS);
    let child = start(&["check", "--expect", &program]);
    until_it_searches(child.id());
    send("TERM", child.id());
    let output = ended(child);
    assert_eq!(code(&output), 3, "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 files were not compared"), "{output:?}");
}

#[test]
fn what_is_ignored_stays_ignored() {
    let scratch = Scratch::new("signals-nohup");
    let program = scratch.write("endless.rav", ENDLESS);
    let child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec env --default-signal=INT,TERM \"$0\" reach \"$1\" --model tso"])
        .args([env!("CARGO_BIN_EXE_ravelin"), &program])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    until_it_searches(child.id());
    assert!(has(child.id(), "SigIgn", 1) && !has(child.id(), "SigCgt", 1));
    send("HUP", child.id());
    send("TERM", child.id());
    assert_eq!(code(&ended(child)), 3);
}

/// A pipe that nobody reads, and that takes nothing more.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(&[b' '; 1 << 16]).expect("as much as a pipe holds");
    (reader, writer)
}

#[test]
fn the_second_signal_ends_the_program_at_once() {
    let scratch = Scratch::new("signals-second");
    let program = scratch.write("endless.rav", ENDLESS);
    for (signal, number) in SIGNALS {
        // The answer cannot be written, so the first signal does not end it.
        let (mut reader, writer) = full_pipe();
        let child = interruptible()
            .args(["reach", &program, "--model", "tso"])
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        until_it_searches(child.id());
        send("TERM", child.id());
        // What follows at once would belong to the first.
        std::thread::sleep(Duration::from_millis(300));
        send(signal, child.id());
        let output = ended(child);
        assert_eq!(code(&output), 128 + number as i32, "{signal}: {output:?}");
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).expect("what was in the pipe");
        assert_eq!(rest.len(), 1 << 16);
    }
}

#[test]
fn two_signals_at_once_are_one() {
    let scratch = Scratch::new("signals-twice");
    let program = scratch.write("endless.rav", ENDLESS);
    let child = start(&["reach", &program, "--model", "tso"]);
    until_it_searches(child.id());
    // As `timeout` does.
    let number = child.id().to_string();
    let sent = Command::new("sh").args(["-c", "kill -TERM $0; kill -TERM $0", &number]).status();
    assert!(sent.expect("a shell").success());
    let output = ended(child);
    assert_eq!(code(&output), 3, "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"), "{output:?}");
}

#[test]
fn a_checkpoint_keeps_what_is_explored() {
    let scratch = Scratch::new("signals-checkpoint");
    let program = scratch.write("endless.rav", ENDLESS);
    for (signal, _) in SIGNALS {
        let kept = folder(&scratch, &format!("kept-{signal}"));
        let directory = kept.display().to_string();
        // Long before the first checkpoint would be due.
        let words = ["reach", &program, "--model", "sc", "--checkpoint", &directory, "--checkpoint-every", "1h"];
        let child = start(&words);
        until_it_searches(child.id());
        send(signal, child.id());
        let output = ended(child);
        assert_eq!(code(&output), 3, "{signal}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("ravelin resume"), "{signal}: {output:?}");
        let names: Vec<String> = std::fs::read_dir(&kept)
            .expect("a checkpoint")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        assert!(names.iter().any(|name| name.ends_with(".states")), "{signal}: {names:?}");
        let resumed = ravelin(&["resume", &directory, "--max-states", "1"], "");
        assert_eq!(code(&resumed), 3, "{signal}: {resumed:?}");
    }
}

/// A cluster whose processes search, its processes, and the directory for its temporary files.
fn cluster(scratch: &Scratch, name: &str) -> (Child, Vec<u32>, PathBuf) {
    let program = scratch.write("endless.rav", ENDLESS);
    let temporary = folder(scratch, name);
    std::fs::create_dir(&temporary).expect("a directory");
    let leader = start_in(&temporary, &["cluster", "reach", &program, "--model", "sc", "--local", "2"]);
    until("both processes run", || children(leader.id()).len() == 2);
    let processes = children(leader.id());
    processes.iter().for_each(|&process| until_it_searches(process));
    (leader, processes, temporary)
}

fn assert_nothing_is_left(processes: &[u32], temporary: &Path) {
    let names =
        || std::fs::read_dir(temporary).expect("a directory").flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    until("all processes have ended", || !processes.iter().any(|&process| is_running(process)));
    assert_eq!(names(), Vec::<PathBuf>::new());
}

#[test]
fn a_cluster_takes_its_processes_with_it() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("signals-cluster");
    for (signal, _) in SIGNALS {
        let (leader, processes, temporary) = cluster(&scratch, signal);
        send(signal, leader.id());
        let output = ended(leader);
        assert_eq!(code(&output), 3, "{signal}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"), "{signal}: {output:?}");
        assert_nothing_is_left(&processes, &temporary);
    }
}

#[test]
fn a_cluster_that_hangs_ends_with_the_second_signal() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("signals-cluster-hangs");
    let (leader, processes, temporary) = cluster(&scratch, "second");
    processes.iter().for_each(|&process| send("STOP", process));
    send("TERM", leader.id());
    std::thread::sleep(Duration::from_millis(300));
    send("TERM", leader.id());
    let output = ended(leader);
    assert_eq!(code(&output), 143, "{output:?}");
    assert_nothing_is_left(&processes, &temporary);
}

#[test]
fn a_cluster_whose_leader_is_killed_ends() {
    if !has_cluster() {
        return;
    }
    let scratch = Scratch::new("signals-cluster-killed");
    let (leader, processes, temporary) = cluster(&scratch, "killed");
    send("KILL", leader.id());
    assert_eq!(ended(leader).status.code(), None);
    assert_nothing_is_left(&processes, &temporary);
}

#[test]
fn a_server_takes_its_checks_with_it() {
    for (signal, expected) in [("INT", Some(0)), ("TERM", Some(0)), ("HUP", Some(0)), ("KILL", None)] {
        let mut server = Server::start(&["--timeout", "300"]);
        let asked = serde_json::json!({ "program": ENDLESS, "language": "rav", "question": "reach", "model": "tso", "name": "" });
        let _waiting = server.send(&parts("POST", "/api/check", &server.host, &asked.to_string()));
        until("the check runs", || !children(server.number()).is_empty());
        let checks = children(server.number());
        assert_eq!(server.signal(signal), expected, "{signal}");
        until("the check has ended", || !checks.iter().any(|&check| is_running(check)));
    }
}

/// A stale read in one thread after the other, and then nothing for ever.
const WATCHED: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static atomic_int x, y;
static void *first(void *arg) { atomic_store_explicit(&x, 1, memory_order_release); atomic_load_explicit(&y, memory_order_acquire); return arg; }
static void *second(void *arg) { atomic_store_explicit(&y, 1, memory_order_release); atomic_load_explicit(&x, memory_order_acquire); return arg; }
int main(int argc, char **argv) {
  if (argc > 1) { signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN); signal(SIGINT, SIG_IGN); }
  for (int i = 0; i < 20; i++) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0);
    pthread_join(a, 0); pthread_join(b, 0);
  }
  puts("up"); fflush(stdout);
  for (;;) pause();
}
"#;

#[test]
fn a_watched_program_gets_the_signal_and_its_report_is_shown() {
    let scratch = Scratch::new("signals-run");
    let source = scratch.write("watched.c", WATCHED);
    let program = scratch.write("watched", "");
    if !ravelin_testing::has("cc", "--version", "gcc") {
        return;
    }
    let mut compile = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    let compiled = compile.args(["cc", "-g", &source, "-o", &program]).output().expect("ravelin starts");
    assert!(compiled.status.success(), "{compiled:?}");
    assert!(std::fs::metadata(&program).is_ok_and(|found| found.permissions().mode() & 0o100 != 0));
    for (signal, _) in SIGNALS {
        for ignores in [false, true] {
            let more = ["it"];
            let words = [&["run", &program][..], if ignores { &more } else { &[] }].concat();
            let mut child = start(&words);
            let mut up = [0; 3];
            child.stdout.as_mut().expect("a pipe").read_exact(&mut up).expect("it is up");
            send(signal, child.id());
            if ignores {
                std::thread::sleep(Duration::from_millis(300));
                send(signal, child.id());
            }
            let output = ended(child);
            let report = String::from_utf8_lossy(&output.stderr);
            assert_eq!(code(&output), 1, "{signal} {ignores}: {report}");
            assert!(report.contains("may read a stale value"), "{signal} {ignores}: {report}");
        }
    }
}
