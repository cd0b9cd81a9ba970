//! SPIN, given our Promela, answers every example as its header says of sequential consistency.

use crate::spin;

use ravelin_frontend::{expectations, print, rav};
use ravelin_program::Source;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

fn examples(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of examples") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            examples(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rav") {
            found.push(path);
        }
    }
}

#[test]
fn spin_agrees_on_every_example_under_sc() {
    if !spin::is_installed() {
        return;
    }
    let mut files = Vec::new();
    examples(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut files);
    let files = Mutex::new(files);
    let compared = Mutex::new(0);
    // Most of the time goes into gcc, so two at once.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(path) = files.lock().expect("no panic").pop() else { break };
                    let text = std::fs::read_to_string(&path).expect("a readable example");
                    let expected = expectations(&text).0.into_iter().find(|line| {
                        // Deadlocks have lines of their own; the models for SPIN are about goals.
                        (line.command.as_str(), line.model.as_str(), line.pending) == ("reach", "sc", false)
                            && !line.answer.contains("deadlock")
                    });
                    let Some(expected) = expected else { continue };
                    let program = rav::parse(Source::new(path.display().to_string(), text)).program.expect("a program");
                    // SPIN knows no processes in any number.
                    if program.is_parameterised() {
                        continue;
                    }
                    if let Err(reason) = print::promela(&program) {
                        panic!("{} has no Promela: {reason}", path.display());
                    }
                    let verdict = if spin::violates(&program) { "violated" } else { "holds" };
                    assert_eq!(verdict, expected.answer, "{}", path.display());
                    *compared.lock().expect("no panic") += 1;
                }
            });
        }
    });
    assert!(compared.into_inner().expect("no panic") > 80);
}
