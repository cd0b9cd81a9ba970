//! `ravelin fence` as its users run it: every language and option, what it refuses, and inputs that nobody would wish for.

use crate::running;

use running::{SB, Scratch, assert_codes, code, hostile, on_text, programs_in, ravelin};
use serde_json::Value;

fn said(arguments: &[&str]) -> String {
    let output = ravelin(arguments, "");
    assert_eq!(code(&output), 0, "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(arguments: &[&str]) -> Value {
    let all = [arguments, &["--format", "json"]].concat();
    let output = ravelin(&all, "");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    document["answers"][0].clone()
}

#[test]
fn exit_codes_are_the_contract() {
    let cases: &[(&[&str], i32)] = &[
        (&["fence", "examples/dekker.rav"], 0),
        (&["fence", "examples/mp.rav"], 0),
        (&["fence", "examples/mp.rav", "--model", "tso,pso"], 0),
        (&["fence", "examples/counter.rav", "--for", "safety"], 1),
        (&["fence", "examples/parker.rav", "--placement", "outside-loops"], 1),
        (&["fence", "examples/dekker.rav", "--max-states", "5"], 3),
        (&["fence", "examples/dekker.rav", "--timeout", "0"], 3),
        (&["fence", "examples/missing.rav"], 2),
        (&["fence", "examples/dekker.rav", "--model", "sc"], 2),
        (&["fence", "examples/dekker.rav", "--format", "herd"], 2),
        (&["fence", "examples/dekker.rav", "--cost", "missing.costs"], 2),
        (&["fence", "examples/dekker.rav", "--placement", "everywhere"], 2),
        (&["fence", "examples/dekker.rav", "--model", "pso", "--weights", "0,1"], 2),
        (&["fence", "examples/dekker.rav", "--model", "pso", "--weights", "18446744073709551615,1"], 2),
        (&["fence", "examples/dekker.rav", "--weights", "2,1"], 2),
        (&["fence", "examples/dekker.rav", "--engine", "dual"], 2),
        (&["fence", "examples/dekker.rav", "--write", "-"], 2),
        (&["fence", "-", "-", "--from", "rav"], 2),
        (&["fence", "examples/dekker.rav", "--model", "pso", "--weights", "1"], 2),
        (&["fence", "examples/dekker.rav", "--for", "safety", "--property", "trf"], 2),
        (&["fence", "examples/dekker.rav", "--model", "pso", "--property", "trf"], 2),
        (&["fence", "examples/dekker.rav", "--repair", "rmw", "--minimise"], 2),
        (&["fence", "examples/dekker.rav", "--repair", "rmw", "--placement", "before-loads"], 2),
        (&["fence", "examples/dekker.rav", "--apart", "--diff"], 2),
        (&["fence", "examples/dekker.rav", "examples/sb.rav", "--write", "/nowhere/at/all"], 2),
        (&["fence", "examples/sb.rav", "--write", "/nowhere/at/all"], 2),
    ];
    assert_codes(cases);
}

#[test]
fn hostile_programs_get_an_answer_or_a_message() {
    let cases = hostile(&[
        ("static x;static y;thread p[2] { x.store(1);let r=y.load();y.store(1);r=x.load(); }", 0),
        ("static x; static y; thread p[*] { x.store(1); let r = y.load(); y.store(1); r = x.load(); }", 0),
        ("static x: i64 = any; static y; thread p[2] { x.store(1); let r = y.load(); y.store(1); r = x.load(); }", 2),
        (
            "static x; static y;\r\nthread p[2] {\r\n\tx.store(1);\r\n\tlet r = y.load();\r\n\ty.store(1);\r\n\tr = x.load();\r\n}",
            0,
        ),
    ]);
    for (text, expected) in &cases {
        for options in [&["--for", "robustness"][..], &["--for", "safety"], &["--minimise", "--diff", "--explain"]] {
            let output = on_text(text, &[&["fence"], options].concat());
            let start: String = text.chars().take(60).collect();
            assert_eq!(code(&output), *expected, "{options:?} on {start}: {output:?}");
            assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{start}: {output:?}");
        }
    }
}

/// What is written is in its own language, and right.
#[test]
fn every_language_is_repaired_in_itself() {
    let scratch = Scratch::new("fence-languages");
    let trencher = "# store buffering\nthread t1\ninitial a\ntransition a b write 1 0\ntransition b c read r 1\nend\n\
                    thread t2\ninitial a\ntransition a b write 1 1\ntransition b c read r 0\nend\n";
    let memorax = "forbidden CS CS\nmacro P()\nprocess\ndata flag = 0 : [0:1]\ntext\n  L0: write: flag[my] := 1;\n      read: flag[0] = 0;\n  \
                   CS: write: flag[my] := 0;\n      goto L0\nendmacro\nP() P()\n";
    let rocker = "max_value 2;\nglobal x, y;\nfn p { local r; x.store(1); r = y.load(); }\nfn q { local r; y.store(1); r = x.load(); }\n";
    let c = "C SB\n{}\nP0(atomic_int* x, atomic_int* y) {\n  atomic_store_explicit(x, 1, memory_order_relaxed);\n  \
             int r0 = atomic_load_explicit(y, memory_order_relaxed);\n}\nP1(atomic_int* x, atomic_int* y) {\n  \
             atomic_store_explicit(y, 1, memory_order_relaxed);\n  int r0 = atomic_load_explicit(x, memory_order_relaxed);\n}\n\
             exists (0:r0=0 /\\ 1:r0=0)\n";
    let cases = [
        ("sb.txt", trencher, "mfence"),
        ("sb.rmm", memorax, "fence"),
        ("sb.tpl", rocker, "fence"),
        ("sb.litmus", SB, "mfence"),
        ("c.litmus", c, "atomic_thread_fence(memory_order_seq_cst)"),
    ];
    for (name, text, fence) in cases {
        let before = scratch.write(name, text);
        let after = scratch.write(&format!("fenced-{name}"), "");
        said(&["fence", &before, "--write", &after]);
        let written = std::fs::read_to_string(&after).expect("a file");
        assert!(written.contains(fence), "{name}: {written}");
        // Fences are about robustness; the reads of the second program wait for each other.
        assert_eq!(code(&ravelin(&["check", &before, "--no-deadlocks"], "")), 1, "{name}");
        assert_eq!(code(&ravelin(&["check", &after, "--no-deadlocks"], "")), 0, "{name}: {written}");
        let again = json(&["fence", &after]);
        assert_eq!(again["outcome"], "not_needed", "{name}: {again}");
    }
}

#[test]
fn memorax_writes_are_locked() {
    let scratch = Scratch::new("fence-locked");
    let text = "forbidden CS CS\nprocess\ndata flag = 0 : [0:1]\ntext\n  write: flag[my] := 1;\n  read: flag[0] = 0;\n  CS: nop\n\
                process\ndata flag = 0 : [0:1]\ntext\n  write: flag[my] := 1;\n  read: flag[0] = 0;\n  CS: nop\n";
    let before = scratch.write("sb.rmm", text);
    let after = scratch.write("locked.rmm", "");
    said(&["fence", &before, "--for", "safety", "--repair", "rmw", "--write", &after]);
    let written = std::fs::read_to_string(&after).expect("a file");
    assert_eq!(written.matches("locked write").count(), 2, "{written}");
    // Both wait for the other's flag, which is safe.
    assert_eq!(code(&ravelin(&["reach", &after, "--no-deadlocks"], "")), 0);
}

#[test]
fn superfluous_fences_are_removed() {
    let text = "static x; static y;\nthread p {\n    fence();\n    x.store(1);\n    fence();\n    fence();\n    let r = y.load();\n}\n\
                thread q {\n    y.store(1);\n    fence();\n    let r = x.load();\n    fence();\n}\n";
    let scratch = Scratch::new("fence-minimise");
    let before = scratch.write("sb.rav", text);
    let after = scratch.write("fewer.rav", "");
    let answer = json(&["fence", &before, "--minimise", "--write", &after]);
    assert_eq!(answer["sets"][0]["fences"], 2, "{answer}");
    let written = std::fs::read_to_string(&after).expect("a file");
    assert_eq!(written.matches("fence()").count(), 2, "{written}");
    assert_eq!(code(&ravelin(&["check", &after], "")), 0);
    // Fences that do nothing under tso stay: they may be there for the compiler.
    let ordered = scratch.write(
        "ordered.rav",
        "static x; thread p {\n    x.store(1);\n    fence(release);\n    fence();\n    x.store(2);\n}\n",
    );
    said(&["fence", &ordered, "--minimise", "--write", &after]);
    let written = std::fs::read_to_string(&after).expect("a file");
    assert!(written.contains("fence(release);") && !written.contains("fence();"), "{written}");
    // Nothing is needed where nobody looks.
    let alone = scratch.write(
        "alone.rav",
        "static x; static y;\nthread p {\n    x.store(1);\n    fence();\n    let r = y.load();\n}\n",
    );
    said(&["fence", &alone, "--minimise", "--write", &after]);
    assert!(!std::fs::read_to_string(&after).expect("a file").contains("fence"));
}

/// Where a full fence stands and a weaker one does, and where a weak one stands already.
#[test]
fn under_pso_fences_are_exchanged_for_weaker_ones() {
    let scratch = Scratch::new("fence-weaker");
    let program = |fence: &str| {
        format!(
            "static x; static y;\nthread a {{\n    x.store(1);\n    {fence}\n    y.store(1);\n}}\nthread b {{\n    let q = y.load();\n    let r = x.load();\n}}\n"
        )
    };
    let after = scratch.write("after.rav", "");
    for (fence, change) in [("fence();", "weaken fence"), ("fence(release);", "keep fence")] {
        let before = scratch.write("before.rav", &program(fence));
        let answer = json(&["fence", &before, "--model", "pso", "--minimise", "--write", &after]);
        assert_eq!(answer["sets"][0]["cost"], 1, "{answer}");
        assert_eq!(answer["sets"][0]["changes"][0]["change"], change, "{answer}");
        assert_eq!(std::fs::read_to_string(&after).expect("a file"), program("fence(release);"));
    }
}

#[test]
fn many_sets_are_listed_within_the_limits() {
    let thread = |number: usize| {
        let (mine, other) = if number.is_multiple_of(2) { ("x", "y") } else { ("y", "x") };
        format!("thread t{number} {{ {mine}.store(1); nop; nop; nop; nop; nop; let r = {other}.load(); }}\n")
    };
    let text: String = (0..6).map(thread).collect();
    let output = on_text(&format!("static x; static y;\n{text}"), &["fence", "--all", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    let answer = &document["answers"][0];
    assert_eq!(answer["truncated"], true);
    assert_eq!(answer["sets"].as_array().map(Vec::len), Some(1_000));
}

#[test]
fn an_answer_is_not_lost_because_it_cannot_be_written() {
    let output = ravelin(&["fence", "examples/sb.rav", "--write", "/nowhere/at/all"], "");
    assert_eq!(code(&output), 2);
    assert!(String::from_utf8_lossy(&output.stdout).contains("2 fences make it robust"), "{output:?}");
    assert!(!output.stderr.is_empty());
}

#[test]
fn what_cannot_be_expressed_may_not_be_needed() {
    let robust = "X86_64 one\n{}\n P0 | P1 ;\n movl $1,(x) | movl $1,(y) ;\nexists ([x]=0)\n";
    let output = ravelin(&["fence", "-", "--from", "litmus", "--repair", "rmw"], robust);
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!(code(&ravelin(&["fence", "-", "--from", "litmus", "--repair", "rmw"], SB)), 2);
}

#[test]
fn costs_decide() {
    // The fence of `p` may go before either load.
    let text = "static x; static y; static z;\nthread p {\n    x.store(1);\n    let s = z.load();\n    let r = y.load();\n}\n\
                thread q {\n    y.store(1);\n    fence();\n    let r = x.load();\n}\n";
    let scratch = Scratch::new("fence-costs");
    let file = scratch.write("costs.rav", text);
    let places = json(&["fence", &file, "--places"]);
    let names: Vec<String> = places["places"]
        .as_array()
        .expect("places")
        .iter()
        .map(|place| place["place"].as_str().expect("a name").to_owned())
        .collect();
    let first = json(&["fence", &file]);
    let chosen = first["sets"][0]["changes"][0]["place"].as_str().expect("a place").to_owned();
    assert!(names.contains(&chosen));
    // What was cheapest becomes dear: another set is chosen.
    let dear = scratch.write("dear.costs", &format!("# dear\n{chosen} 100\n"));
    let second = json(&["fence", &file, "--cost", &dear]);
    assert_ne!(first["sets"][0]["changes"], second["sets"][0]["changes"]);
    assert_eq!(second["sets"][0]["cost"], 1);
    let all = json(&["fence", &file, "--all"]);
    assert_eq!(all["sets"].as_array().map(Vec::len), Some(2), "{all}");
    for (wrong, what) in [
        ("L99 1\n", "L99"),
        ("L3\n", "a place and its cost"),
        ("L3 0\n", "positive"),
        ("L4 1\nL4 2\n", "already"),
        ("L4 18446744073709551615\n", "at most"),
        ("L3 x\n", "positive"),
    ] {
        let list = scratch.write("wrong.costs", wrong);
        let output = ravelin(&["fence", &file, "--cost", &list], "");
        assert_eq!(code(&output), 2, "{wrong}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(what), "{output:?}");
    }
    let only = scratch.write("only.places", &format!("{chosen} # here\n"));
    let third = json(&["fence", &file, "--placement", &only]);
    assert_eq!(third["sets"][0]["changes"], first["sets"][0]["changes"]);
}

#[test]
fn a_profile_is_a_list_of_costs() {
    let scratch = Scratch::new("fence-profile");
    let profile = scratch.write("dekker.costs", "");
    said(&["simulate", "examples/dekker.rav", "--profile", &profile, "--runs", "20", "--seed", "1"]);
    let text = std::fs::read_to_string(&profile).expect("a profile");
    assert!(text.lines().filter(|line| !line.starts_with('#')).count() > 5, "{text}");
    let answer = json(&["fence", "examples/dekker.rav", "--cost", &profile]);
    assert_eq!(answer["outcome"], "found", "{answer}");
    let locked = json(&["fence", "examples/dekker.rav", "--cost", &profile, "--repair", "rmw"]);
    assert_eq!(locked["outcome"], "found", "{locked}");
}

#[test]
fn each_fence_is_explained() {
    let answer = json(&["fence", "examples/sb.rav", "--explain"]);
    let needed = answer["needed"].as_array().expect("reasons");
    assert_eq!(needed.len(), 2);
    assert!(needed.iter().all(|reason| reason["trouble"]["attack"]["cycle"].is_array()), "{answer}");
    let safe = json(&["fence", "examples/peterson.rav", "--explain", "--for", "safety"]);
    assert!(safe["needed"].as_array().expect("reasons").iter().all(|reason| !reason["trouble"]["run"].is_null()));
}

#[test]
fn examples_need_the_fences_that_they_say() {
    let files = programs_in(&["examples", "examples/fence-insertion"]);
    let mut arguments = vec!["fence", "--expect", "--model", "tso,pso"];
    arguments.extend(files.iter().map(String::as_str));
    let answer = said(&arguments);
    assert!(answer.contains(" 0 differ;") && answer.contains(" 0 errors"), "{answer}");
    let answers: usize =
        answer.split("files, ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a number");
    assert!(answers > 50, "{answer}");
}

#[test]
fn tables_of_other_tools_are_understood() {
    let scratch = Scratch::new("fence-table");
    let trencher = scratch.write(
        "sb.txt",
        "thread t1\ninitial a\ntransition a b write 1 0\ntransition b c read r 1\nend\n\
         thread t2\ninitial a\ntransition a b write 1 1\ntransition b c read r 0\nend\n",
    );
    let table = scratch
        .write("expected.tsv", "file\tquestion\tverdict\nsb.txt\tfences\t2 fences\nsb.txt\ttrf-fences\t2 fences\n");
    assert!(said(&["fence", "--expect", &trencher, &table]).contains("2 agree, 0 differ"));
    let wrong = scratch.write("wrong.tsv", "file\tquestion\tverdict\nsb.txt\tfences\t1 fences\n");
    assert_eq!(code(&ravelin(&["fence", "--expect", &trencher, &wrong], "")), 1);
}
