//! `--spill`: the same answers with next to no memory, and what is said when the disk does not play along.

use crate::running;

use running::{Scratch, code, ravelin};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// More states than anybody wants to wait for.
const ENDLESS: &str = "static x; static y;
    thread a { loop { x.store(x.load() + 1); } }
    thread b { loop { y.store(y.load() + 1); } }
    thread c { let r = x.load(); let s = y.load(); assert(r + s < 100000000); }";

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn examples(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root.join(folder)).expect("examples").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rav"));
    files.sort();
    files.iter().map(|path| format!("{folder}/{}", path.file_name().unwrap_or_default().to_string_lossy())).collect()
}

/// What has to be the same: the verdict, the number of states of a whole space, final states, the length of a shortest witness.
fn essence(answer: &Value) -> Value {
    let whole = answer["verdict"] != "violated" && answer["limit"].is_null();
    let of_whole = |states: &Value| if whole { states.clone() } else { Value::Null };
    let length = |list: &Value| list.as_array().map(Vec::len);
    let shortest = answer["witness"]["shortest"] == true;
    serde_json::json!([
        [answer["file"], answer["model"], answer["verdict"], answer["complete"]],
        [of_whole(&answer["statistics"]["states"]), of_whole(&answer["explored"]["states"])],
        if answer["limit"].is_null() { [length(&answer["final"]), length(&answer["stuck"])] } else { [None; 2] },
        length(&answer["witness"]["steps"]).filter(|_| shortest),
    ])
}

#[test]
fn every_example_has_the_same_answer_with_hardly_any_memory() {
    let scratch = Scratch::new("spill");
    let directory = scratch.write("keep", "").replace("keep", "states");
    let files: Vec<String> = [examples("examples"), examples("examples/fence-insertion")].concat();
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let questions: &[(&[&str], &[&str])] = &[
        (&["check", "--model", "tso,pso"], &["--engine", "single"]),
        (&["check", "--model", "tso"], &["--engine", "attacks"]),
        (&["check", "--property", "trf"], &[]),
        // Enough for every example; grades of violations, which are searched for in memory, take as many as they may. One
        // model at a time: an answer that follows from another one counts other states.
        (&["check", "--model", "ra", "--max-states", "6000"], &[]),
        (&["check", "--model", "rc20", "--max-states", "6000"], &[]),
        (&["reach", "--model", "sc,tso,pso", "--max-states", "60000"], &["--engine", "bounded"]),
        // States with messages are large, and none of these searches ends between ten thousand and sixty thousand.
        (&["reach", "--model", "rc20", "--max-states", "20000"], &["--engine", "bounded"]),
        (&["states", "--model", "sc,tso", "--max-states", "60000"], &[]),
    ];
    for (question, engine) in questions {
        let asked = [*question, engine, &["--format", "json", "--workers", "2"][..], &names].concat();
        let spilled = [&asked[..], &["--spill", &directory, "--max-memory", "1"]].concat();
        let (expected, found) = (ravelin(&asked, ""), ravelin(&spilled, ""));
        let read = |output: &Output| -> Vec<Value> {
            let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)));
            document["answers"].as_array().expect("answers").iter().map(essence).collect()
        };
        for (expected, found) in read(&expected).iter().zip(read(&found)) {
            assert!(!question.contains(&"6000") || expected[0][2] != "unknown", "{expected} is not settled");
            assert_eq!(expected, &found, "{question:?}");
        }
        assert_eq!(code(&expected), code(&found), "{question:?}");
    }
    let left: Vec<_> = std::fs::read_dir(&directory).expect("it was made").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn engines_that_need_the_states_in_memory_are_refused() {
    for (question, engine) in [("check", "shared"), ("reach", "dual"), ("reach", "lazy"), ("reach", "sb")] {
        let output = ravelin(&[question, "examples/sb.rav", "--engine", engine, "--spill", "nowhere"], "");
        assert_eq!(code(&output), 2, "{}", said(&output));
        assert!(said(&output).contains("--spill"), "{}", said(&output));
    }
}

/// The shell's limit on the size of files stands for a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_search_with_a_message() {
    let scratch = Scratch::new("spill-full");
    let program = scratch.write("endless.rav", ENDLESS);
    let directory = program.replace("endless.rav", "states");
    let script = format!(
        "trap '' XFSZ; ulimit -f 200; exec '{}' reach '{program}' --spill '{directory}' --max-memory 1M --timeout 60",
        env!("CARGO_BIN_EXE_ravelin")
    );
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("cannot write to") && said(&output).contains("File too large"), "{}", said(&output));
    assert_eq!(std::fs::read_dir(&directory).expect("it was made").count(), 0);
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let scratch = Scratch::new("spill-nowhere");
    let file = scratch.write("file", "");
    let output = ravelin(&["check", "examples/sb.rav", "--model", "tso", "--spill", &format!("{file}/x")], "");
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("cannot make the directory"), "{}", said(&output));
}
