//! Robustness against release/acquire and RC20 as its users ask for it: which models are asked about, what is shown, what is refused.

use crate::running;

use running::{Scratch, code, on_text, programs_in, ravelin};
use serde_json::Value;

fn answers(arguments: &[&str]) -> Vec<Value> {
    let output = ravelin(&[arguments, &["--format", "json"]].concat(), "");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    document["answers"].as_array().cloned().expect("answers")
}

fn said(text: &str, arguments: &[&str]) -> (i32, String) {
    let output = on_text(text, arguments);
    (code(&output), String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_default_models_follow_the_language() {
    let scratch = Scratch::new("c11-models");
    let trencher = scratch.write("sb.txt", "thread t1\ninitial a\ntransition a b write 1 0\nend\n");
    let rocker = scratch.write("sb.tpl", "max_value 2;\nglobal x;\nfn p { x.store(1); }\n");
    let c = scratch.write(
        "one.litmus",
        "C one\n{}\nP0(atomic_int* x) {\n  atomic_store_explicit(x, 1, memory_order_relaxed);\n}\nexists ([x]=1)\n",
    );
    let x86 = scratch.write("two.litmus", running::SB);
    let cases: [(&str, &[&str]); 5] = [
        ("examples/mp.rav", &["tso", "rc20"]),
        (&rocker, &["tso", "rc20"]),
        (&c, &["tso", "rc20"]),
        (&x86, &["tso"]),
        (&trencher, &["tso"]),
    ];
    for (file, expected) in cases {
        let found = answers(&["check", file]);
        let models: Vec<&str> = found.iter().filter_map(|answer| answer["model"].as_str()).collect();
        assert_eq!(models, expected, "{file}");
    }
}

#[test]
fn several_models_are_compared_in_one_table() {
    let output = ravelin(&["check", "examples/mp.rav", "examples/sb-fenced.rav", "--model", "tso,pso,ra,rc20"], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<Vec<&str>> = text
        .lines()
        .rev()
        .take(3)
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    assert_eq!(lines[2], ["tso", "pso", "ra", "rc20"]);
    assert_eq!(lines[1], ["examples/mp.rav", "robust", "not robust, wrong", "robust", "not robust, wrong"]);
    assert_eq!(lines[0][0], "examples/sb-fenced.rav");
}

/// What C11 does not have is a matter for whoever asks about C11 by name.
#[test]
fn programs_without_a_meaning_in_c11_are_told_so() {
    let text = "static x; thread p { locked { x.store(1); } }";
    let (exit, shown) = said(text, &["check"]);
    assert_eq!(exit, 0);
    assert!(shown.contains("under rc20: does not apply"), "{shown}");
    let (exit, shown) = said(text, &["check", "--model", "rc20"]);
    assert_eq!(exit, 2);
    assert!(shown.contains("locked block"), "{shown}");
}

#[test]
fn a_witness_is_a_graph_with_a_cycle_and_a_remedy() {
    let witness = answers(&["check", "examples/mp.rav", "--model", "rc20"])[0]["witness"].clone();
    let events = witness["events"].as_array().expect("events");
    assert_eq!(events.len(), 6);
    let cycle = witness["cycle"].as_array().expect("a cycle");
    assert!(cycle.windows(2).all(|pair| pair[0]["to"] == pair[1]["from"]));
    assert_eq!(cycle.first().expect("an edge")["from"], cycle.last().expect("an edge")["to"]);
    let orders = witness["remedy"]["strengthen"].as_array().expect("orders");
    let orders: Vec<&str> = orders.iter().filter_map(|order| order["order"].as_str()).collect();
    assert_eq!(orders, ["release", "acquire"]);
    let fences = &answers(&["check", "examples/sb.rav", "--model", "rc20"])[0]["witness"]["remedy"];
    assert_eq!(fences["fence_before"].as_array().map(Vec::len), Some(2), "{fences}");
}

#[test]
fn races_are_found_unless_they_are_taken_to_be_absent() {
    let text = "static x; thread p { x.write(1); } thread q { let r = x.read(); }";
    assert_eq!(said(text, &["check", "--model", "rc20"]).0, 1);
    assert!(said(text, &["check", "--model", "rc20"]).1.contains("data race"));
    assert_eq!(said(text, &["check", "--model", "rc20", "--no-races"]).0, 0);
    // The lock is never free under sc when `q` comes to it, but a stale value would let it pass, and race.
    let waits = "static x; static z; thread p { z.write(1); x.store(1); } thread q { wait(x == 1); lock(z); }";
    let (exit, shown) = said(waits, &["check", "--model", "rc20"]);
    assert!(exit == 1 && shown.contains("data race"), "{shown}");
    // Synchronisation is what this one lacks.
    let flag = "static x; static f; thread p { x.write(1); f.store(1); } thread q { wait(f == 1); let r = x.read(); }";
    assert_eq!(said(flag, &["check", "--model", "rc20"]).0, 1);
    let (exit, shown) = said(flag, &["fence", "--model", "rc20", "--diff"]);
    assert_eq!(exit, 0, "{shown}");
    assert!(shown.contains("f.store(1, release)") && shown.contains("wait(f == 1, acquire)"), "{shown}");
}

#[test]
fn loops_that_only_wait_are_recognised() {
    let text = "static x; static y;\nthread p { x.store(1, release); y.store(1, release); }\nthread q { while y.load(acquire) != 1 {} while x.load(acquire) != 1 {} }\nthread r { while x.load(acquire) != 1 {} }";
    let (exit, shown) = said(text, &["check", "--model", "rc20", "--auto-wait"]);
    assert_eq!(exit, 0, "{shown}");
    assert!(shown.contains("rewritten to") && shown.contains("wait(y == 1"), "{shown}");
    let spin = "static x; static y;\nthread p { x.store(1); while y.load() != 1 {} }\nthread q { y.store(1); while x.load() != 1 {} }";
    let (exit, shown) = said(spin, &["check", "--model", "rc20"]);
    assert_eq!(exit, 1, "{shown}");
    assert!(shown.contains("in a loop that only waits"), "{shown}");
    assert_eq!(said(spin, &["check", "--model", "rc20", "--auto-wait"]).0, 0);
    // A failed attempt may race, and a loop that stores does not only wait.
    let race = "static x; static y;\nthread p { while x.load() != 3 {} }\nthread q { x.write(1); while y.load() == 1 { y.store(0); } }";
    let (exit, shown) = said(race, &["check", "--model", "rc20", "--auto-wait"]);
    assert!(exit == 1 && shown.contains("data race"), "{shown}");
    assert!(shown.contains("line 2: not taken: `x` is accessed non-atomically too"), "{shown}");
    assert!(shown.contains("line 3: not taken: the loop stores to `y`"), "{shown}");
}

/// With the loops that wait as they are, every load of them would be repaired.
#[test]
fn fences_are_found_with_waiting_loops_rewritten() {
    let spin = "static x; static y; static d;\nthread p { d.store(1); x.store(1); while y.load() != 1 {} }\nthread q { y.store(1); while x.load() == 0 {} let r = d.load(); }";
    let (exit, shown) = said(spin, &["fence", "--model", "rc20", "--auto-wait", "--diff"]);
    assert_eq!(exit, 0, "{shown}");
    assert!(shown.contains("2 changes") && shown.contains("while x.load(acquire) == 0"), "{shown}");
    assert!(shown.contains("robust, with its loops that only wait rewritten"), "{shown}");
    let (exit, shown) = said(spin, &["fence", "--model", "rc20", "--diff"]);
    assert!(exit == 0 && shown.contains("fence()"), "{shown}");
    let (exit, shown) = said(spin, &["fence", "--model", "rc20", "--auto-wait", "--for", "safety"]);
    assert!(exit == 2 && shown.contains("--auto-wait is for --for robustness"), "{shown}");
}

#[test]
fn the_reading_of_seq_cst_accesses_is_said() {
    let text = "static x; static y;\nthread p { x.store(1, seq_cst); let r = y.load(seq_cst); }\nthread q { y.store(1, seq_cst); let r = x.load(seq_cst); }";
    let (exit, shown) = said(text, &["check", "--model", "rc20"]);
    assert_eq!(exit, 0, "{shown}");
    assert!(shown.contains("This is proved for RC11"), "{shown}");
    let (exit, shown) = said(text, &["check", "--model", "rc20", "--seq-cst", "rel-acq"]);
    assert!(exit == 1 && shown.contains("RC11's axiom about seq_cst accesses forbids this graph"), "{shown}");
    // Neither `after` nor `before` finds this one.
    let missed = "static x; static y; static z;\nthread p { y.fetch_add(1, seq_cst); x.store(1, seq_cst); }\nthread q { x.store(2, seq_cst); z.store(1, seq_cst); let r = y.load(acquire); }";
    let (exit, shown) = said(missed, &["check", "--model", "rc20"]);
    assert!(exit == 1 && shown.contains("RC11 allows this graph"), "{shown}");
    let (exit, shown) = said(missed, &["check", "--model", "rc20", "--seq-cst", "both"]);
    assert!(exit == 3 && shown.contains("finds only some violations of RC11"), "{shown}");
    let scratch = Scratch::new("c11-seq-cst");
    let file = scratch.write("missed.rav", missed);
    let open = &answers(&["check", &file, "--model", "rc20", "--seq-cst", "both"])[0];
    assert_eq!((&open["verdict"], &open["seq_cst_basis"]), (&"unknown".into(), &"reading_only".into()));
    assert_eq!(open["may_miss_violations"], true);
    let exact = &answers(&["check", &file, "--model", "rc20"])[0];
    assert_eq!((&exact["seq_cst"], &exact["seq_cst_basis"]), (&"exact".into(), &"graph".into()));
    assert_eq!(exact["may_miss_violations"], false);
}

#[test]
fn hostile_programs_get_an_answer_or_a_message() {
    let cases: &[(&str, i32)] = &[
        ("", 0),
        ("thread t { loop {} }", 0),
        ("static x: [u8; 5000]; thread p[2] { for i in 0..5000 { x[i].store(1); let r = x[0].load(); } }", 2),
        ("static x; static y; thread p[*] { x.store(1); let r = y.load(); }", 2),
        ("static x; thread p { let r = x.fetch_add(1); r = 1 / r; }", 0),
        (
            "thread p[2] { mem[0 - 5].store(1); let r = mem[1_000_000_007].load(); mem[1_000_000_007].store(2); r = mem[0 - 5].load(); }",
            1,
        ),
    ];
    for (text, expected) in cases {
        for command in [&["check"][..], &["fence"]] {
            let output = on_text(text, &[command, &["--model", "rc20", "--max-states", "100000"]].concat());
            assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{text}: {output:?}");
            if command == ["check"] {
                assert_eq!(code(&output), *expected, "{text}: {output:?}");
            }
        }
    }
}

#[test]
fn fences_against_c11_are_refused_what_they_cannot_do() {
    let cases: &[&[&str]] = &[
        &["fence", "examples/mp.rav", "--model", "rc20", "--for", "safety", "--seq-cst", "after"],
        &["fence", "examples/mp.rav", "--model", "rc20", "--for", "safety", "--engine", "dual"],
        &["fence", "examples/mp.rav", "--model", "rc20", "--repair", "rmw"],
        &["fence", "examples/mp.rav", "--model", "rc20", "--property", "trf"],
    ];
    for arguments in cases {
        assert_eq!(code(&ravelin(arguments, "")), 2, "{arguments:?}");
    }
    let dear = &answers(&["fence", "examples/mp.rav", "--model", "rc20", "--weights", "1,9"])[0];
    assert_eq!(dear["sets"][0]["cost"], 2, "two fences are cheaper than two orders: {dear}");
}

#[test]
fn changes_that_keep_goals_are_written_and_explained() {
    let scratch = Scratch::new("c11-safety");
    let after = scratch.write("after.rav", "");
    let words = ["fence", "examples/mp.rav", "--model", "rc20", "--for", "safety", "--explain", "--write", &after];
    let answer = &answers(&words)[0];
    assert_eq!((answer["purpose"].as_str(), answer["sets"][0]["cost"].as_u64()), (Some("safety"), Some(2)), "{answer}");
    let needed = answer["needed"].as_array().expect("reasons");
    assert!(needed.len() == 2 && needed.iter().all(|reason| reason["trouble"]["run"]["cycle"].is_array()), "{answer}");
    let written = std::fs::read_to_string(&after).expect("a file");
    assert!(written.contains("ready.store(1, release)") && written.contains("ready.load(acquire)"), "{written}");
    assert_eq!(code(&ravelin(&["reach", "examples/mp.rav", "--model", "rc20"], "")), 1);
    assert_eq!(code(&ravelin(&["reach", &after, "--model", "rc20"], "")), 0);
    // What is wrong under sc is shown, and what no order repairs.
    let wrong = &answers(&["fence", "examples/counter.rav", "--model", "ra,rc20", "--for", "safety"]);
    assert!(wrong.iter().all(|answer| answer["outcome"] == "wrong_under_sc" && !answer["trouble"]["run"].is_null()));
    let orders = scratch.write("orders.places", "L18:order\n");
    let none = &answers(&["fence", "examples/mp.rav", "--model", "rc20", "--for", "safety", "--placement", &orders])[0];
    assert!(none["outcome"] == "no_set" && none["trouble"]["run"]["model"] == "rc20", "{none}");
}

#[test]
fn fences_are_about_the_models_of_check_if_none_is_named() {
    let models = |words: &[&str]| -> Vec<String> {
        answers(words).iter().map(|answer| answer["model"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(models(&["fence", "examples/mp.rav"]), ["tso", "rc20"]);
    assert_eq!(models(&["fence", "examples/mp.rav", "--for", "safety"]), ["tso", "rc20"]);
    assert_eq!(models(&["fence", "examples/mp.rav", "--for", "safety", "--engine", "dual"]), ["tso"]);
    assert_eq!(models(&["fence", "examples/mp.rav", "--repair", "rmw"]), ["tso"]);
    assert_eq!(models(&["fence", "examples/mp.rav", "--property", "trf"]), ["tso"]);
    assert_eq!(models(&["fence", "examples/any-number/sb-two.rav"]), ["tso"]);
    let (exit, shown) = said("static x; thread p { locked { x.store(1); } }", &["fence"]);
    assert!(exit == 0 && shown.contains("under rc20: does not apply"), "{shown}");
}

#[test]
fn examples_keep_their_goals_with_the_changes_that_they_say() {
    let files = programs_in(&["examples/c11"]);
    let mut arguments = vec!["fence", "--expect", "--model", "ra,rc20"];
    arguments.extend(files.iter().map(String::as_str));
    let output = ravelin(&arguments, "");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{shown}");
    let compared: usize =
        shown.split("files, ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a number");
    assert!(compared > 30, "{shown}");
}

#[test]
fn examples_are_as_robust_against_c11_as_they_say() {
    let files = programs_in(&["examples", "examples/robustness-c11"]);
    let mut arguments = vec!["check", "--expect", "--model", "ra,rc20"];
    arguments.extend(files.iter().map(String::as_str));
    let output = ravelin(&arguments, "");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{shown}");
    let compared: usize =
        shown.split("files, ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a number");
    assert!(compared > 80, "{shown}");
}
