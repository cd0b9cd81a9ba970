//! Limits and signals end every command in every phase: on programs that are slow to read, to compile, to expand, to search or to
//! replay.
//!
//! A watchdog with a generous limit decides, so that a slow machine fails nothing; how late an answer is, and how much memory it took,
//! is measured by `cargo xtask bench limits`. What is checked is that there is an answer at all, with an exit code of the contract, and that an answer
//! *unknown* names the limit.

use crate::running;
use crate::slow;

use running::{Scratch, interruptible};
use slow::{SlowProgram, slow_programs};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Far longer than anything here takes, on whatever machine.
const WATCHDOG: Duration = Duration::from_secs(60);

#[test]
fn a_time_limit_ends_every_phase() {
    each_question("time", &["--timeout", "1"], |_| {});
}

#[test]
fn a_memory_limit_ends_every_phase() {
    each_question("memory", &["--max-memory", "48M", "--timeout", "2"], |_| {});
}

#[test]
fn a_signal_ends_every_phase() {
    let mut signals = ["INT", "TERM"].into_iter().cycle();
    each_question("signal", &[], |child| {
        // Not before the program listens: until then a signal ends it at once.
        std::thread::sleep(Duration::from_millis(700));
        let signal = format!("-{}", signals.next().unwrap_or("INT"));
        let _ = Command::new("kill").args([signal, child.id().to_string()]).status();
    });
}

fn each_question(name: &str, limits: &[&str], mut meanwhile: impl FnMut(&Child)) {
    let scratch = Scratch::new(&format!("in-time-{name}"));
    for SlowProgram { file, text, questions } in slow_programs() {
        let path = scratch.write(file, &text);
        for question in questions {
            let words = [question, &[path.as_str()][..], limits].concat();
            let mut child = interruptible()
                .args(&words)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program starts");
            let mut pipe = child.stdout.take().expect("a pipe");
            // What a long answer says must not fill the pipe.
            let reader = std::thread::spawn(move || {
                let mut said = Vec::new();
                let _ = pipe.read_to_end(&mut said);
                String::from_utf8_lossy(&said).into_owned()
            });
            meanwhile(&child);
            let code = ends(&mut child, &words);
            let said = reader.join().expect("the reader ends");
            // A signal that came before the program listened, or a refusal, is no answer.
            assert!(matches!(code, Some(0..=3) | None), "{words:?}: {code:?}\n{said}");
            if code == Some(3) {
                let names_limit = ["limit", "interrupted", "not covered", "more than", "delaying thread"];
                assert!(names_limit.iter().any(|part| said.contains(part)), "{words:?} does not say why:\n{said}");
            }
        }
    }
}

/// Waits for the end. `None` after a signal.
fn ends(child: &mut Child, words: &[&str]) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return status.code();
        }
        if start.elapsed() > WATCHDOG {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{words:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
