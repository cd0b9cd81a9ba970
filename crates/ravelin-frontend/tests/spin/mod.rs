//! Running SPIN on a printed program.

use ravelin_frontend::print;
use ravelin_program::Program;
use ravelin_testing::has;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether SPIN and gcc are there; otherwise the test is skipped.
pub fn is_installed() -> bool {
    has("spin", "-V", "spin") && has("gcc", "--version", "gcc")
}

/// Whether SPIN finds an assertion violated. Anything but a clear answer fails the test.
pub fn violates(program: &Program) -> bool {
    let text = print::promela(program).expect("has a text");
    let directory = Scratch::new();
    std::fs::write(directory.0.join("model.pml"), &text).unwrap();
    let command = text.lines().find_map(|line| line.split_once(" *     ")).expect("says how to run it").1;
    let command = command.replace("FILE", "model.pml").replace("-O2", "-O0");
    // Tables for small programs: SPIN clears the usual ones, 250 MB, before each search. One that is too shallow fails
    // below, and states that share a place in a table are kept in a list.
    assert!(command.ends_with("./pan -m1000000"), "{command}");
    let command = command.replace("-m1000000", "-m50000 -w16");
    let output = Command::new("sh").args(["-c", &command]).current_dir(&directory.0).output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(!report.contains("search depth too small") && !report.contains("too_wide"), "{report}\n{text}");
    match (report.contains("errors: 0"), report.contains("assertion violated")) {
        (true, false) => false,
        (false, true) => true,
        _ => panic!("{report}\n{}\n{text}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// A directory of its own, gone when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ravelin-promela-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
