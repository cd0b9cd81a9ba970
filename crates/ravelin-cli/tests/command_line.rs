//! The program as its users run it: exit codes, messages, JSON, and inputs that nobody would wish for.

use crate::running;

use running::{SB, Scratch, assert_codes, code, hostile, on_text, ravelin};
use serde_json::Value;
use std::process::{Command, Output, Stdio};

#[test]
fn exit_codes_are_the_contract() {
    let cases: &[(&[&str], i32)] = &[
        (&["reach", "examples/peterson.rav", "--model", "sc"], 0),
        (&["reach", "examples/peterson.rav", "--model", "tso"], 1),
        (&["reach", "examples/peterson.rav", "--model", "sc,tso"], 1),
        (&["reach", "examples/missing.rav"], 2),
        (&["reach", "examples/missing.rav", "examples/peterson.rav"], 2),
        (&["reach", "README.md"], 2),
        (&["reach", "examples"], 2),
        (&["reach", "examples/lamport-fast.rav", "--model", "sc", "--max-states", "10"], 3),
        (&["reach", "examples/lamport-fast.rav", "--model", "sc", "--timeout", "0"], 3),
        (&["reach", "examples/lamport-fast.rav", "--model", "sc", "--max-memory", "1"], 3),
        (&["reach", "examples/peterson.rav", "--model", "power"], 2),
        (&["reach", "examples/peterson.rav", "--max-memory", "lots"], 2),
        (&["reach", "examples/peterson.rav", "--buffer", "1000000"], 2),
        (&["states", "examples/sb.rav"], 0),
        (&["simulate", "examples/sb.rav", "--seed", "1"], 0),
        (&["convert", "examples/sb.rav", "--to", "dot"], 0),
        (&["convert", "examples/sb.rav", "--to", "latex"], 2),
        (&["convert", "examples/sb.rav", "--to", "rav", "--output", "/nonexistent/folder/file"], 2),
        (&["--help"], 0),
        (&["--version"], 0),
        (&[], 2),
        (&["conquer"], 2),
    ];
    assert_codes(cases);
}

#[test]
fn hostile_programs_get_an_answer_or_a_message() {
    let blocks = format!("thread t {{ {} }}", "loop { ".repeat(50_000));
    let cases = hostile(&[
        ("thread t { loop { nop; } }", 0),
        ("thread t { let r = 0; r = 1 / r; }", 1),
        ("static x: 0..2; thread t { x.store(2); }", 1),
        ("static a: [bool; 2]; thread t { let i = 0; havoc i in 0..3; a[i].store(1); }", 1),
        ("thread t { let r = 9_223_372_036_854_775_807; r = r + 1; }", 1),
        ("thread t { let r; havoc r in 0..1_000_000_000_000; }", 2),
        (
            "static x; thread t { let a = 0; let b = 0; havoc a in 0..60000; havoc b in 0..60000; x.store(a * 100000 + b); }",
            3,
        ),
        ("static x: i64 = any; thread t { nop; }", 2),
        ("static x: [u8; 3] = any; thread t { nop; }", 2),
        ("static x: [bool; 99_999_999]; thread t { nop; }", 2),
        ("thread p[0..1_000_000] { nop; }", 2),
        ("thread p[*] { nop; } never 2 of p@end;", 2),
        (&blocks, 2),
        ("thread t { bus_unlock; }", 1),
        ("thread t { mem[0 - 5].store(1); mem[1_000_000_007].store(2); }", 0),
    ]);
    for (text, expected) in &cases {
        let output = on_text(text, &["reach", "--model", "tso", "--timeout", "20", "--max-states", "200000"]);
        let shown: String = text.chars().take(80).collect();
        assert_eq!(code(&output), *expected, "{shown}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn counters_without_bound_end_at_the_limit() {
    let text = "static x; thread p[2] { loop { x.fetch_add(1); } } never x < 0;";
    let output = on_text(text, &["reach", "--model", "sc", "--max-states", "200000"]);
    assert_eq!(code(&output), 3, "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`x` may grow without bound: line 1 adds to it in a loop"), "{said}");
    let walker = "thread t { let p = 0; loop { mem[p].store(1); p = p + 3; } }";
    let output = on_text(walker, &["reach", "--model", "sc", "--max-states", "300"]);
    assert_eq!(code(&output), 3, "{output:?}");
}

#[test]
fn copies_make_an_instance() {
    let text = "static x; thread p[*] { x.fetch_add(1); @in; x.fetch_sub(1); } never 3 of p@in;";
    let with = |copies: &str| code(&on_text(text, &["reach", "--model", "sc", "--copies", copies]));
    assert_eq!((with("2"), with("3")), (0, 1));
}

#[test]
fn answers_are_json_documents_with_the_documented_fields() {
    let json = |arguments: &[&str]| -> Value {
        let output = ravelin(arguments, "");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    let reach = json(&["reach", "examples/sb.rav", "examples/none.rav", "--model", "sc,tso", "--format", "json"]);
    assert_eq!((&reach["schema"], &reach["command"]), (&"ravelin/2".into(), &"reach".into()));
    let verdicts: Vec<&Value> =
        reach["answers"].as_array().expect("answers").iter().map(|answer| &answer["verdict"]).collect();
    assert_eq!(verdicts, ["holds", "violated", "error"]);
    let documented = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md")).expect("docs");
    let violated = &reach["answers"][1];
    for object in [violated, &violated["witness"], &violated["witness"]["steps"][0], &violated["statistics"]] {
        for field in object.as_object().expect("an object").keys() {
            assert!(documented.contains(&format!("`{field}`")), "docs/json.md does not mention `{field}`");
        }
    }
    let states = json(&["states", "examples/sb.rav", "--format", "json"]);
    let finals = states["answers"][0]["final"].as_array().expect("final states");
    assert_eq!(finals.iter().filter(|state| state["beyond_sc"] == true).count(), 1);
    for field in
        states["answers"][0].as_object().expect("an object").keys().chain(finals[0].as_object().unwrap().keys())
    {
        assert!(documented.contains(&format!("`{field}`")), "docs/json.md does not mention `{field}`");
    }
    let simulated = json(&["simulate", "examples/sb.rav", "--seed", "9", "--format", "json"]);
    assert_eq!(simulated["answers"][0]["seed"], 9);
}

#[test]
fn the_same_seed_gives_the_same_walk() {
    let walk = |seed: &str| ravelin(&["simulate", "examples/dekker.rav", "--seed", seed, "--steps", "30"], "").stdout;
    assert_eq!(walk("5"), walk("5"));
    assert_ne!(walk("5"), walk("6"));
}

#[test]
fn an_interactive_walk_takes_the_chosen_steps() {
    let output = ravelin(&["simulate", "examples/sb.rav", "--interactive"], "1\nnonsense\n99\nr\nq\n");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(code(&output), 0);
    assert!(text.contains("`nonsense` is none of them") && text.contains("`99` is none of them"), "{text}");
    let ended = ravelin(&["simulate", "examples/sb.rav", "--interactive"], "");
    assert_eq!(code(&ended), 0);
}

#[test]
fn what_convert_prints_means_the_same() {
    for example in ["examples/sb.rav", "examples/mcs-lock.rav", "examples/nbwl.rav"] {
        let text = ravelin(&["convert", example, "--to", "rav"], "");
        let verdict = |output: &Output| String::from_utf8_lossy(&output.stdout).split(": ").nth(1).map(str::to_owned);
        let printed = on_text(&String::from_utf8_lossy(&text.stdout), &["reach", "--model", "sc"]);
        assert_eq!(verdict(&printed), verdict(&ravelin(&["reach", example, "--model", "sc"], "")), "{example}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ravelin"))
        .args(["convert", "examples/cilk-the.rav", "--to", "promela"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn files_of_other_tools_are_told_by_name_and_by_text() {
    let scratch = Scratch::new("languages");
    let rocker = "max_value 1; global x, y; fn p { local r; x.store(1); r = y.load(); } fn q { y.store(1); }";
    let memorax = "forbidden A A\ndata x = 0 : [0:1]\nprocess text\n A: nop\nprocess text\n write: x := 1; A: nop";
    let trencher = "# SB\nthread t1\ninitial a\ntransition a b write 1 0\ntransition b c read r 1\nend\n";
    for (name, text, expected) in [
        ("sb.litmus", SB, 1),
        ("sb.unknown", SB, 1),
        ("p.tpl", rocker, 0),
        ("p.anything", rocker, 0),
        ("m.rmm", memorax, 1),
        ("m", memorax, 1),
        ("t.txt", trencher, 0),
        ("rav.txt", "static x; thread t { x.store(1); }", 0),
        ("nothing.txt", "once upon a time", 2),
    ] {
        let output = ravelin(&["reach", &scratch.write(name, text), "--model", "tso"], "");
        assert_eq!(code(&output), expected, "{name}: {output:?}");
    }
    let forced = ravelin(&["reach", &scratch.write("sb.rav", SB), "--from", "litmus"], "");
    assert_eq!(code(&forced), 1, "{forced:?}");
}

#[test]
fn final_states_in_the_layout_of_herd() {
    let scratch = Scratch::new("herd");
    let output = ravelin(&["states", &scratch.write("SB.litmus", SB), "--model", "tso", "--format", "herd"], "");
    let text = String::from_utf8_lossy(&output.stdout);
    let expected = "Test SB Allowed\nStates 4\n0:rax=0; 1:rax=0;\n0:rax=0; 1:rax=1;\n0:rax=1; 1:rax=0;\n0:rax=1; 1:rax=1;\nOk\nWitnesses\nPositive: 1 Negative: 3\nCondition exists (0:rax=0 /\\ 1:rax=0)\nObservation SB Sometimes 1 3\nTime SB ";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(code(&ravelin(&["reach", "examples/sb.rav", "--format", "herd"], "")), 2);
}

#[test]
fn answers_are_compared_with_tables() {
    let scratch = Scratch::new("expect");
    let test = scratch.write("SB.litmus", SB);
    let states = "0:rax=0; 1:rax=1; | 0:rax=1; 1:rax=0; | 0:rax=1; 1:rax=1;";
    let table = |extra: &str, condition: &str| {
        format!("test\tstates_sc\textra_states_tso\tcond_sc\tcond_tso\nSB\t{states}\t{extra}\tNo\t{condition}\n")
    };
    let compare = |text: &str| {
        let table = scratch.write("expected.tsv", text);
        ravelin(&["states", "--expect", "--model", "sc,tso", &table, &test], "")
    };
    let right = compare(&table("0:rax=0; 1:rax=0;", "Ok"));
    assert_eq!(code(&right), 0, "{right:?}");
    assert!(String::from_utf8_lossy(&right.stdout).contains("1 files, 4 answers: 4 agree, 0 differ"), "{right:?}");
    let wrong = compare(&table("", "No"));
    assert_eq!(code(&wrong), 1, "{wrong:?}");
    assert!(String::from_utf8_lossy(&wrong.stdout).contains("2 agree, 2 differ"), "{wrong:?}");
    assert_eq!(code(&compare("no columns\n")), 2);
    let answers = scratch.write("answers.tsv", "file\tcommand\tmodel\tanswer\nSB.litmus\treach\ttso\tholds\n");
    assert_eq!(code(&ravelin(&["reach", "--expect", &answers, &test], "")), 1);
    let broken = scratch.write("broken.rav", "thread {");
    assert_eq!(code(&ravelin(&["reach", "--expect", &broken], "")), 2);
}

#[test]
fn what_changes_nothing_is_said() {
    let dekker = "examples/dekker.rav";
    let scratch = Scratch::new("nothing");
    let empty = scratch.write("empty.rav", "");
    let cases: &[(&[&str], i32, &str)] = &[
        (&["check", dekker, "--model", "tso", "--timeout", "0"], 3, "--timeout 0 leaves no time"),
        (&["check", dekker, "--model", "tso", "--max-states", "0"], 3, "--max-states 0 lets no state"),
        (&["check", dekker, "--model", "tso", "--max-memory", "0"], 3, "--max-memory 0 leaves no memory"),
        (&["check", dekker, "--model", "tso", "--workers", "0"], 2, "at least 1 is needed"),
        (&["check", dekker, "--model", "TSO", "--copies", "3"], 1, "--copies 3 changes nothing"),
        (&["check", &empty, "--model", "tso"], 0, "no threads: there is nothing to find out"),
        (&["check", "--expect", &empty], 2, "nothing to compare"),
        (&["check", dekker, "--model", "arm"], 2, "each finding says whether ARMv8 can do it"),
        (&["check", dekker, "--model", "x86"], 2, "x86 is tso"),
        (&["check", dekker, "--engine", "sharde"], 2, "shared"),
    ];
    for (words, expected, said) in cases {
        let output = ravelin(words, "");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(code(&output), *expected, "{words:?}: {error}");
        assert!(error.contains(said), "{words:?}: {error}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("no thread has a store") || words[1] == empty);
    }
    let said_once = ravelin(&["check", dekker, "--timeout", "0"], "");
    assert_eq!(String::from_utf8_lossy(&said_once.stderr).matches("leaves no time").count(), 1);
}
