//! Deadlocks in every output of `reach` and `check`, and `exists` goals in their own words.

use crate::running::{SB, Scratch, assert_codes, code, on_text, ravelin};
use ravelin::Document;
use serde_json::Value;

const LOCKS: &str = "examples/lock-order.rav";

fn text(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn json(arguments: &[&str], input: &str) -> Value {
    let output = ravelin(&[arguments, &["--format", "json"]].concat(), input);
    let document = text(&output);
    Document::read(&document).unwrap_or_else(|error| panic!("{error}\n{document}"));
    serde_json::from_str::<Value>(&document).expect("JSON")["answers"][0].clone()
}

#[test]
fn deadlocks_decide_exit_codes_unless_they_are_meant() {
    let cases: &[(&[&str], i32)] = &[
        (&["reach", LOCKS, "--model", "sc"], 1),
        (&["reach", LOCKS, "--model", "tso", "--engine", "dual"], 1),
        (&["reach", LOCKS, "--model", "tso", "--engine", "lazy"], 1),
        (&["reach", LOCKS, "--model", "pso", "--engine", "sb"], 1),
        (&["reach", LOCKS, "--model", "sc", "--no-deadlocks"], 0),
        (&["reach", LOCKS, "--model", "rc20"], 1),
        (&["reach", LOCKS, "--model", "ra", "--engine", "bounded"], 1),
        (&["reach", LOCKS, "--model", "rc20", "--no-deadlocks"], 0),
        (&["check", LOCKS, "--model", "tso"], 1),
        (&["check", LOCKS, "--property", "trf"], 1),
        (&["check", LOCKS, "--model", "rc20"], 1),
        (&["check", LOCKS, "--model", "tso,pso,ra,rc20", "--no-deadlocks"], 0),
        // Expectations of `check` are about robustness, those of `reach` say which they are about.
        (&["check", LOCKS, "--model", "tso", "--expect"], 0),
        (&["reach", LOCKS, "examples/parker.rav", "--model", "sc,tso,pso", "--expect"], 0),
    ];
    assert_codes(cases);
}

/// Lines, not numbers of locations, in text, in words and on pages.
#[test]
fn every_output_names_the_lines_that_wait() {
    let waiting = ["save waits at `lock(savings_lock)` (line 18)", "spend waits at `lock(current_lock)` (line 27)"];
    for command in [&["reach", LOCKS][..], &["check", LOCKS, "--model", "tso"], &["check", LOCKS, "--model", "ra"]] {
        let shown = text(&ravelin(command, ""));
        let report = ravelin(&[command, &["--format", "json"]].concat(), "");
        let told = text(&ravelin(&["explain", "-"], &text(&report)));
        let sarif = text(&ravelin(&[command, &["--format", "sarif"]].concat(), ""));
        for part in waiting {
            assert!(shown.contains(part), "{command:?}: {shown}");
            assert!(told.contains(part), "{command:?}: {told}");
            assert!(sarif.contains(part) && sarif.contains("\"deadlock\""), "{command:?}: {sarif}");
        }
    }
}

#[test]
fn json_has_the_threads_that_wait() {
    let reached = json(&["reach", LOCKS, "--model", "sc"], "");
    assert_eq!((&reached["verdict"], &reached["deadlocks"]), (&"violated".into(), &"found".into()));
    let violation = &reached["witness"]["violation"];
    assert_eq!(violation["kind"], "deadlock");
    let threads = violation["threads"].as_array().expect("threads");
    let lines: Vec<_> = threads.iter().map(|waiting| (waiting["line"].as_u64(), waiting["cell"].as_str())).collect();
    assert_eq!(lines, [(Some(18), Some("savings_lock")), (Some(27), Some("current_lock"))]);
    let checked = json(&["check", LOCKS, "--model", "tso"], "");
    assert_eq!((&checked["verdict"], &checked["deadlocks"]["sc"]), (&"holds".into(), &"found".into()));
    // Only weak memory loses the wake-up.
    let parker = json(&["check", "examples/parker.rav", "--model", "tso"], "");
    let found = &parker["deadlocks"];
    assert_eq!((&found["sc"], &found["model"]), (&"none".into(), &"found".into()));
    assert_eq!(found["witness"]["model"], "tso");
    let parker = json(&["check", "examples/c11/parker-release.rav", "--model", "rc20"], "");
    let found = &parker["deadlocks"];
    assert_eq!((&found["sc"], &found["model"]), (&"none".into(), &"found".into()));
    let fixed = json(&["check", "examples/parker-fixed.rav", "--model", "tso"], "");
    assert_eq!((&fixed["deadlocks"]["sc"], &fixed["deadlocks"]["model"]), (&"none".into(), &"none".into()));
    assert_eq!(json(&["reach", LOCKS, "--no-deadlocks"], "")["deadlocks"], "not_asked");
    assert!(json(&["check", "examples/sb.rav", "--model", "tso"], "").get("deadlocks").is_none(), "nothing waits");
}

#[test]
fn a_document_about_threads_that_are_none_is_refused() {
    let report = text(&ravelin(&["check", LOCKS, "--model", "tso", "--format", "json"], ""));
    Document::read(&report).expect("a document");
    let mut document: Value = serde_json::from_str(&report).expect("JSON");
    document["answers"][0]["deadlocks"]["witness"]["violation"]["threads"][0]["thread"] = "other".into();
    let error = Document::read(&document.to_string()).expect_err("there is no such thread");
    assert!(error.to_string().contains("there is no thread `other`"), "{error}");
    document["answers"][0]["deadlocks"]["witness"]["violation"]["threads"] = Value::Array(Vec::new());
    assert!(Document::read(&document.to_string()).is_err(), "some thread waits");
}

#[test]
fn what_is_not_settled_is_said() {
    let open = "static x; static y; static z; thread p { x.store(1); x.store(2); x.store(3); x.store(4); x.store(5);
        let r = y.load(); wait(z == 1); } thread q { y.store(1); let r = x.load(); z.store(1); } never x == 6;";
    let output = on_text(open, &["reach"]);
    assert_eq!(code(&output), 0);
    assert!(text(&output).contains("Whether a deadlock is possible under tso is not settled."), "{output:?}");
    let any = "static x; thread p[*] { wait(x == 1); } never x == 1;";
    let output = on_text(any, &["reach", "--model", "sc"]);
    assert!(text(&output).contains("Deadlocks were not looked for: give the number of threads"), "{output:?}");
}

#[test]
fn exists_is_answered_in_its_own_words() {
    let scratch = Scratch::new("exists");
    let sb = scratch.write("sb.litmus", SB);
    let under = |model: &str| ravelin(&["reach", &sb, "--model", model], "");
    let (sc, tso) = (under("sc"), under("tso"));
    assert_eq!((code(&sc), code(&tso)), (0, 1));
    assert!(text(&sc).contains("under sc: no such state") && !text(&sc).contains("holds"), "{sc:?}");
    assert!(text(&tso).contains("under tso: found\n  reaches `exists"), "{tso:?}");
    assert!(!text(&tso).contains("violat"), "{tso:?}");
    // herd's layout says the same of the same condition.
    for (model, word) in [("sc", "\nNo\n"), ("tso", "\nOk\n")] {
        let herd = text(&ravelin(&["states", &sb, "--model", model, "--format", "herd"], ""));
        assert!(herd.contains(word), "{herd}");
    }
    assert_eq!(json(&["reach", &sb, "--model", "sc"], "")["verdict"], "holds");
    assert_eq!(json(&["reach", &sb, "--model", "tso"], "")["exists"], 1);
    let told = ravelin(&["reach", &sb, "--model", "sc", "--format", "json"], "");
    let told = text(&ravelin(&["explain", "-"], &text(&told)));
    assert!(told.contains("No state that"), "{told}");
    // Expectations use the same words.
    let expecting = "//! expect reach sc: no such state\n//! expect reach tso: found\n
static x; static y; thread p { x.store(1); let r = y.load(); } thread q { y.store(1); let r = x.load(); }
exists p.r == 0 && q.r == 0;\n";
    let file = scratch.write("sb.rav", expecting);
    let compared = ravelin(&["reach", "--expect", "--model", "sc,tso", &file], "");
    assert!(text(&compared).contains("2 agree, 0 differ"), "{compared:?}");
    // Beside a prohibition both are said.
    let both = scratch.write("both.rav", &format!("{expecting}never x == 2;\n"));
    let output = ravelin(&["reach", &both, "--model", "sc"], "");
    assert!(text(&output).contains("under sc: holds, and no such state"), "{output:?}");
}
