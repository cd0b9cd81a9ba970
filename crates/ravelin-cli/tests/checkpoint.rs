//! `--checkpoint` and `ravelin resume`: searches that are killed, limited, moved and damaged, and go on.

use crate::running;

use running::{Scratch, code, ravelin};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A few hundred thousand states under tso, and a violation as far away as can be.
const PROGRAM: &str = "static x: 0..=63; static y: 0..=63; static z: 0..=63;
    thread a { while x.load() < 30 { x.store(x.load() + 1); } }
    thread b { while y.load() < 30 { y.store(y.load() + 1); } }
    thread c { while z.load() < 30 { z.store(z.load() + 1); } }
    never x == 30 && y == 30 && z == 30;";

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn directory(scratch: &Scratch, name: &str) -> String {
    let marker = scratch.write("marker", "");
    Path::new(&marker).with_file_name(name).display().to_string()
}

/// Verdict, depth, the size of a space that was explored to the end, the length of the witness.
fn essence(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)));
    let result = &document["answers"][0];
    assert!(result["verdict"].is_string(), "{document}");
    let statistics = &result["statistics"];
    // How much of the last level was explored before the violation was seen depends on the number of workers.
    let whole = if result["verdict"] == "holds" { &statistics["transitions"] } else { &Value::Null };
    let states = if result["verdict"] == "holds" { &statistics["states"] } else { &Value::Null };
    let steps = result["witness"]["steps"].as_array().map(Vec::len);
    serde_json::json!([result["verdict"], statistics["depth"], states, whole, steps])
}

fn reach<'a>(program: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["reach", program, "--model", "sc", "--engine", "bounded", "--format", "json", "--no-symmetry"][..], more]
        .concat()
}

#[test]
fn killed_at_any_moment_it_goes_on_and_comes_to_the_same_answer() {
    let scratch = Scratch::new("checkpoint-kill");
    let violated = scratch.write("violated.rav", PROGRAM);
    let holds = scratch.write("holds.rav", &PROGRAM.replace("never x == 30", "never x == 31"));
    let (mut kills, mut random) = (0u32, 1u64);
    for (round, program) in [&violated, &holds, &violated, &holds].into_iter().enumerate() {
        let expected = ravelin(&reach(program, &[]), "");
        let start = Instant::now();
        let whole = directory(&scratch, &format!("whole-{round}"));
        ravelin(&reach(program, &["--checkpoint", &whole, "--checkpoint-every", "0s"]), "");
        let time = start.elapsed();
        let kept = directory(&scratch, &format!("kept-{round}"));
        let first = reach(program, &["--checkpoint", &kept, "--checkpoint-every", "0s"]);
        let again = ["resume", &kept, "--checkpoint-every", "0s"];
        for attempt in 0..5 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let workers = (1 + (random >> 40) % 3).to_string();
            let words = if attempt == 0 { &first[..] } else { &again[..] };
            let mut child = Command::new(env!("CARGO_BIN_EXE_ravelin"))
                .args(words)
                .args(["--workers", &workers])
                .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program starts");
            let moment = Instant::now() + time.mul_f64((random >> 11) as f64 / (1u64 << 53) as f64 / 2.0);
            // Not before it says what it is about, or there is nothing to go on with.
            let run = Path::new(&kept).join("run.json");
            while Instant::now() < moment || !run.exists() {
                std::thread::sleep(Duration::from_millis(1));
            }
            kills += u32::from(child.try_wait().expect("a child").is_none());
            // It may have ended by itself.
            let _ = child.kill();
            child.wait().expect("it ends");
        }
        for _ in 0..2 {
            let output = ravelin(&["resume", &kept], "");
            assert_eq!(code(&output), code(&expected), "{}", said(&output));
            assert_eq!(essence(&output), essence(&expected), "round {round}");
        }
    }
    assert!(kills >= 5, "{kills} kills came before the end");
}

#[test]
fn limits_end_it_and_higher_ones_go_on() {
    let scratch = Scratch::new("checkpoint-limits");
    let program = scratch.write("program.rav", PROGRAM);
    let kept = directory(&scratch, "kept");
    let first = ravelin(&reach(&program, &["--checkpoint", &kept, "--max-states", "2000"]), "");
    assert_eq!(code(&first), 3, "{}", said(&first));
    assert!(said(&first).contains(&format!("`ravelin resume {kept}` resumes the search")), "{}", said(&first));
    let second = ravelin(&["resume", &kept, "--max-states", "20000", "--workers", "3"], "");
    assert_eq!(code(&second), 3, "{}", said(&second));
    let third = ravelin(&["resume", &kept], "");
    assert_eq!(code(&third), 1, "{}", said(&third));
    assert_eq!(essence(&third), essence(&ravelin(&reach(&program, &[]), "")));
}

#[test]
fn every_kind_of_question_goes_on() {
    let scratch = Scratch::new("checkpoint-questions");
    let questions: &[&[&str]] = &[
        &["check", "examples/lamport-fast.rav", "examples/mcs-lock.rav", "--model", "tso,pso,rc20"],
        &["check", "examples/peterson-fenced.rav", "--engine", "attacks"],
        &["check", "examples/dekker.rav", "--attacks"],
        &["check", "examples/dekker.rav", "--property", "trf"],
        &["reach", "examples/clh-lock.rav", "--model", "sc,tso"],
        &["reach", "examples/c11/mpmc-queue.rav", "--model", "rc20"],
        &["states", "examples/iriw.rav", "examples/n6.rav"],
    ];
    for (number, question) in questions.iter().enumerate() {
        let kept = directory(&scratch, &format!("kept-{number}"));
        let asked = [question, &["--checkpoint", &kept, "--checkpoint-every", "0s"][..]].concat();
        let limited = [&asked[..], &["--max-states", "40"]].concat();
        let first = ravelin(&limited, "");
        assert_ne!(code(&first), 2, "{}", said(&first));
        let resumed = ravelin(&["resume", &kept], "");
        let whole = directory(&scratch, &format!("whole-{number}"));
        let plain = [question, &["--checkpoint", &whole][..]].concat();
        let expected = ravelin(&plain, "");
        assert_eq!(code(&resumed), code(&expected), "{question:?}: {}", said(&resumed));
        let words = |output: &Output| -> Vec<String> {
            let lines = String::from_utf8_lossy(&output.stdout).into_owned();
            lines.lines().filter(|line| !line.contains(" states")).map(str::to_owned).collect()
        };
        assert_eq!(words(&resumed), words(&expected), "{question:?}");
        let again = ravelin(&["resume", &kept], "");
        assert_eq!(words(&again), words(&expected), "{question:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_a_message() {
    let scratch = Scratch::new("checkpoint-refusals");
    let program = scratch.write("program.rav", PROGRAM);
    let kept = directory(&scratch, "kept");
    let fails = |words: &[&str], message: &str| {
        let output = ravelin(words, "");
        assert_eq!(code(&output), 2, "{words:?}: {}", said(&output));
        assert!(said(&output).contains(message), "{words:?}: {}", said(&output));
    };
    let asked = reach(&program, &["--checkpoint", &kept, "--max-states", "2000", "--checkpoint-every", "0s"]);
    assert_eq!(code(&ravelin(&asked, "")), 3);
    fails(&asked, "holds a checkpoint already");
    fails(&["resume", "missing"], "holds no checkpoint");
    let marker = PathBuf::from(&kept).with_file_name("marker");
    let folder = marker.parent().expect("a folder").display().to_string();
    fails(&reach(&program, &["--checkpoint", &folder]), "is not empty");
    fails(&reach(&program, &["--checkpoint", &format!("{program}/x")]), "cannot make the directory");
    fails(&["check", "-", "--from", "rav", "--checkpoint", &directory(&scratch, "new")], "standard input");
    fails(&["check", &program, "--checkpoint", "x", "--engine", "shared"], "--checkpoint");
    // The program is another.
    std::fs::write(&program, PROGRAM.replace("30", "31")).expect("a file");
    fails(&["resume", &kept], "has changed since the checkpoint");
    std::fs::write(&program, PROGRAM).expect("a file");
    // A part is damaged in the middle, then not even a part.
    let parts = std::fs::read_dir(&kept).expect("a folder").flatten().map(|entry| entry.path());
    let part = parts.into_iter().find(|path| path.extension().is_some_and(|e| e == "states")).expect("a part");
    let whole = std::fs::read(&part).expect("a part");
    let mut damaged = whole.clone();
    damaged[whole.len() / 3] ^= 4;
    std::fs::write(&part, &damaged).expect("a file");
    fails(&["resume", &kept], "is damaged");
    std::fs::write(&part, vec![7; 1000]).expect("a file");
    fails(&["resume", &kept], "not a part of a checkpoint");
    std::fs::write(&part, &whole).expect("a file");
    // Another version, and nonsense.
    let run = Path::new(&kept).join("run.json");
    let text = std::fs::read_to_string(&run).expect("run.json");
    std::fs::write(&run, text.replace("\"version\": \"", "\"version\": \"9.")).expect("a file");
    fails(&["resume", &kept], "made by ravelin 9.");
    std::fs::write(&run, &text[..text.len() / 2]).expect("a file");
    fails(&["resume", &kept], "is damaged");
    std::fs::write(&run, text.replace("2000", "2001")).expect("a file");
    fails(&["resume", &kept], "belongs to another run");
    std::fs::write(&run, &text).expect("a file");
    assert_eq!(code(&ravelin(&["resume", &kept], "")), 1);
}

/// The shell's limit on the size of files stands for a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_it_with_a_message_and_it_can_go_on_elsewhere() {
    let scratch = Scratch::new("checkpoint-full");
    let program = scratch.write("program.rav", PROGRAM);
    let kept = directory(&scratch, "kept");
    let words = reach(&program, &["--checkpoint", &kept, "--checkpoint-every", "0s"]).join(" ");
    let script = format!("trap '' XFSZ; ulimit -f 100; exec '{}' {words}", env!("CARGO_BIN_EXE_ravelin"));
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("cannot write to"), "{}", said(&output));
    assert_eq!(code(&ravelin(&["resume", &kept], "")), 1);
}
