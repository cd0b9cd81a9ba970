//! `ravelin relax` as its users run it: every language that has orders, every format, what it refuses, and hostile inputs.

use crate::running;

use running::{Scratch, assert_codes, code, hostile, on_text, ravelin};
use serde_json::Value;

fn said(arguments: &[&str]) -> String {
    let output = ravelin(arguments, "");
    assert_eq!(code(&output), 0, "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(arguments: &[&str]) -> Value {
    let output = ravelin(&[arguments, &["--format", "json"]].concat(), "");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    document["answers"][0].clone()
}

#[test]
fn exit_codes_are_the_contract() {
    let cases: &[(&[&str], i32)] = &[
        (&["relax", "examples/relax/mp.rav"], 0),
        (&["relax", "examples/relax/mp.rav", "--model", "tso,pso,ra,rc20", "--all"], 0),
        (&["relax", "examples/relax/dekker.rav", "--for", "safety", "--explain", "--apart"], 0),
        (&["relax", "examples/mp.rav", "--model", "rc20"], 0),
        (&["relax", "examples/counter.rav", "--for", "safety"], 1),
        (&["relax", "examples/relax/dekker.rav", "--model", "rc20", "--max-states", "5"], 3),
        (&["relax", "examples/relax/dekker.rav", "--timeout", "0"], 3),
        (&["relax", "examples/missing.rav"], 2),
        (&["relax", "examples/relax/mp.rav", "--model", "sc"], 2),
        (&["relax", "examples/relax/mp.rav", "--format", "herd"], 2),
        (&["relax", "examples/relax/mp.rav", "--minimise"], 2),
        (&["relax", "examples/relax/mp.rav", "--apart", "--diff"], 2),
        (&["relax", "examples/relax/mp.rav", "--write", "-"], 2),
        (&["relax", "examples/relax/mp.rav", "--engine", "dual"], 2),
    ];
    assert_codes(cases);
}

#[test]
fn every_language_with_orders_is_relaxed_in_itself() {
    let scratch = Scratch::new("relax-languages");
    let rav = "static x; static y;\nthread p {\n    x.store(1, seq_cst); // first\n    fence();\n    y.store(1, seq_cst);\n}\n\
               thread q {\n    if y.load(seq_cst) == 1 { let a = x.load(seq_cst); }\n}\n";
    let c = "C MP\n{}\nP0(atomic_int* x, atomic_int* y) {\n  atomic_store(x, 1);\n  \
             atomic_store_explicit(y, 1, memory_order_seq_cst);\n}\nP1(atomic_int* x, atomic_int* y) {\n  \
             int r0 = atomic_load(y);\n  int r1 = atomic_load_explicit(x, memory_order_acquire);\n}\n\
             exists (1:r0=1 /\\ 1:r1=0)\n";
    let tpl = "max_value 2;\nglobal x, y;\nfn p { x.store(1, rel); fence; y.store(1, rel); }\n\
               fn q { local r; r = y.load(acq); r = x.load(acq); }\n";
    let cases = [
        (
            "mp.rav",
            rav,
            rav.replace("    fence();\n", "")
                .replace("x.store(1, seq_cst)", "x.store(1)")
                .replace("y.store(1, seq_cst)", "y.store(1, release)")
                .replace("y.load(seq_cst)", "y.load(acquire)")
                .replace("x.load(seq_cst)", "x.load()"),
        ),
        (
            "mp.litmus",
            c,
            c.replace("atomic_store(x, 1)", "atomic_store_explicit(x, 1, memory_order_relaxed)")
                .replace("(y, 1, memory_order_seq_cst)", "(y, 1, memory_order_release)")
                .replace("atomic_load(y)", "atomic_load_explicit(y, memory_order_acquire)")
                .replace("(x, memory_order_acquire)", "(x, memory_order_relaxed)"),
        ),
        (
            "mp.tpl",
            tpl,
            tpl.replace("x.store(1, rel); fence;", "x.store(1, rlx);").replace("x.load(acq)", "x.load(rlx)"),
        ),
    ];
    for (name, before, expected) in cases {
        let file = scratch.write(name, before);
        let after = scratch.write(&format!("relaxed-{name}"), "");
        let said = said(&["relax", &file, "--model", "rc20", "--write", &after]);
        assert!(said.contains("Checked from scratch: the repaired program is robust."), "{said}");
        assert_eq!(std::fs::read_to_string(&after).expect("a file"), expected, "{name}");
        let again = json(&["relax", &after, "--model", "rc20"]);
        assert_eq!((&again["written"], &again["sets"][0]["cost"]), (&2.into(), &2.into()), "{name}: {again}");
        assert_eq!(again["diff"], "", "{name}: {again}");
    }
}

#[test]
fn what_is_wrong_as_written_is_said_first() {
    let answer = json(&["relax", "examples/mp.rav", "--model", "rc20"]);
    assert_eq!((&answer["wrong_as_written"], &answer["sets"][0]["cost"]), (&true.into(), &2.into()), "{answer}");
    assert_eq!(answer["sets"][0]["changes"][0]["order"], "release", "{answer}");
    let right = json(&["relax", "examples/relax/mp.rav", "--model", "rc20"]);
    assert!(right.get("wrong_as_written").is_none() && right["written"] == 6, "{right}");
}

/// Where nothing is optional, nothing changes.
#[test]
fn programs_without_orders_stay_as_they_are() {
    let scratch = Scratch::new("relax-plain");
    let plain = scratch.write("plain.rav", "static x; static y;\nthread p { x.write(1); }\nthread q { y.write(1); }\n");
    for model in ["tso", "pso", "ra", "rc20"] {
        let answer = json(&["relax", &plain, "--model", model]);
        assert_eq!((&answer["outcome"], &answer["diff"]), (&"not_needed".into(), &"".into()), "{answer}");
    }
    let race = scratch.write("race.rav", "static x;\nthread p { x.write(1); }\nthread q { let r = x.read(); }\n");
    let answer = json(&["relax", &race, "--model", "rc20"]);
    assert!(answer["outcome"] == "no_set" && answer["wrong_as_written"] == true, "{answer}");
    // x86 has no orders, and its fences can go.
    let x86 = scratch.write("alone.litmus", "X86 alone\n{}\nP0;\nMOV [x],$1;\nMFENCE;\nMOV EAX,[y];\nexists (x=1)\n");
    let answer = json(&["relax", &x86]);
    assert_eq!(
        (&answer["outcome"], &answer["superfluous"][0]["change"]),
        (&"not_needed".into(), &"remove fence".into())
    );
}

#[test]
fn every_format_has_the_answer() {
    let scratch = Scratch::new("relax-formats");
    let page = scratch.write("page.html", "");
    let words = ["relax", "examples/relax/seqcount.rav", "--model", "rc20", "--explain", "--html", &page];
    assert!(said(&words).contains("weaken fence to release"));
    let page = std::fs::read_to_string(&page).expect("a page");
    assert!(page.contains("weaken to relaxed") && page.contains("weaken fence to acquire"), "{page}");
    let sarif = said(&["relax", "examples/relax/mp.rav", "--model", "rc20", "--format", "sarif"]);
    assert!(sarif.contains("weaken to release") && sarif.contains("cost 2 instead of 6"), "{sarif}");
}

#[test]
fn hostile_programs_get_an_answer_or_a_message() {
    let cases = hostile(&[
        ("static x;static y;thread p[2] { x.store(1,seq_cst,);let r=y.load( /*)*/ seq_cst );y.swap(1,seq_cst);}", 0),
        ("static x; thread p[*] { x.store(1, seq_cst); let r = x.load(seq_cst); }", 0),
        ("static x;\r\nthread p {\r\n\tx.store(1, seq_cst); fence(); fence(acquire);\r\n}", 0),
        ("static x: i64 = any; static y; thread p[2] { x.store(1); let r = y.load(); y.store(1); r = x.load(); }", 2),
    ]);
    for (text, expected) in &cases {
        for options in [&["--diff"][..], &["--for", "safety", "--all"], &["--model", "tso", "--explain"]] {
            let output = on_text(text, &[&["relax"], options].concat());
            let start: String = text.chars().take(60).collect();
            assert_eq!(code(&output), *expected, "{options:?} on {start}: {output:?}");
            assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{start}: {output:?}");
        }
    }
}

/// Many accesses, of which each may have any order: the answer comes in time, with what is known.
#[test]
fn large_programs_end_in_time() {
    let thread = |number: usize| {
        let steps: String = (0..60)
            .map(|step| {
                format!(
                    "  a[{}].fetch_add(1, seq_cst); let r{step} = a[{}].load(seq_cst);\n",
                    step % 7,
                    (step + number) % 7
                )
            })
            .collect();
        format!("thread t{number} {{\n{steps}}}\n")
    };
    let text = format!("static a: [wrapping 0..=9; 7];\n{}", (0..4).map(thread).collect::<String>());
    for model in ["tso", "rc20"] {
        let output = on_text(&text, &["relax", "--model", model, "--timeout", "1"]);
        assert!(matches!(code(&output), 0 | 3), "{model}: {output:?}");
    }
}
