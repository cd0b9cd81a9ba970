//! `ravelin check` as its users run it: exit codes, what it refuses, tables, JSON, and inputs that nobody would wish for.

use crate::running;

use running::{SB, Scratch, assert_codes, code, hostile, on_text, ravelin};
use serde_json::Value;

#[test]
fn exit_codes_are_the_contract() {
    let cases: &[(&[&str], i32)] = &[
        (&["check", "examples/dekker.rav"], 1),
        (&["check", "examples/dekker-fenced.rav"], 1),
        (&["check", "examples/dekker-fenced.rav", "--model", "tso"], 0),
        (&["check", "examples/dekker-fenced.rav", "examples/dekker.rav", "--model", "tso"], 1),
        (&["check", "examples/dekker-fenced.rav", "--model", "tso,rc20"], 1),
        (&["check", "examples/sb-fenced.rav"], 0),
        (&["check", "examples/mp.rav", "--model", "ra"], 0),
        (&["check", "examples/mp.rav", "--model", "rc20"], 1),
        (&["check", "examples/mp.rav", "--model", "rc20", "--attacks"], 2),
        (&["check", "examples/mp.rav", "--model", "rc20", "--engine", "shared"], 2),
        (&["check", "examples/mp.rav", "--model", "rc20", "--property", "trf"], 2),
        (&["check", "examples/mp.rav", "--model", "arm"], 2),
        (&["check", "examples/robustness-c11/seqlock.rav", "--model", "rc20", "--max-states", "10"], 3),
        (&["check", "examples/robustness-c11/seqlock.rav", "--model", "rc20", "--timeout", "0"], 3),
        (&["check", "examples/mp.rav", "--model", "tso,pso"], 1),
        (&["check", "examples/clh-lock.rav", "--model", "tso,pso"], 0),
        (&["check", "examples/clh-lock.rav", "--model", "pso", "--max-states", "100"], 3),
        (&["check", "examples/missing.rav", "examples/dekker.rav"], 2),
        (&["check", "examples/dekker.rav", "--model", "sc"], 2),
        (&["check", "examples/dekker.rav", "--model", "tso,sc"], 2),
        (&["check", "examples/dekker.rav", "--no-fuse"], 2),
        (&["check", "examples/dekker.rav", "--format", "herd"], 2),
        (&["check", "examples/dekker.rav", "--engine", "steam"], 2),
        (&["check", "examples/nbwl.rav", "--property", "trf"], 1),
        (&["check", "examples/mp.rav", "--property", "trf"], 0),
        (&["check", "examples/mp.rav", "--property", "trf", "--model", "pso"], 2),
        (&["check", "examples/mp.rav", "--property", "trf", "--attacks"], 2),
        (&["check", "examples/mp.rav", "--property", "trf", "--engine", "single"], 2),
        (&["check", "examples/mp.rav", "--property", "trf", "--max-states", "3"], 3),
        (&["check", "examples/mcs-lock.rav", "--model", "tso", "--max-states", "10"], 3),
        (&["check", "examples/mcs-lock.rav", "--model", "tso", "--timeout", "0"], 3),
    ];
    assert_codes(cases);
}

/// The other half of store buffering.
const OTHER_HALF: &str = "thread q { y.store(1); let r = x.load(); }";

#[test]
fn addresses_and_counters_do_not_wrap_with_the_program() {
    for half in [
        "static x; static y; static z: [_; 2]; thread p { let i = 1; z[i].store(1); x.store(1); let r = y.load(); }",
        "static x; static y; thread p { for i in 0..4 { nop; } x.store(1); let r = y.load(); }",
    ] {
        let text = format!("max_value 3 wrap; {half} {OTHER_HALF}");
        for question in [&["--model", "tso"][..], &["--model", "rc20"], &["--model", "ra"], &["--property", "trf"]] {
            let output = on_text(&text, &[&["check"], question].concat());
            assert_eq!(code(&output), 1, "{question:?}: {text}\n{}", String::from_utf8_lossy(&output.stdout));
        }
        let goal = format!("{text} exists p.r == 0 && q.r == 0;");
        for (model, expected) in [("sc", 0), ("tso", 1)] {
            assert_eq!(code(&on_text(&goal, &["reach", "--model", model])), expected, "{model}: {goal}");
        }
    }
}

#[test]
fn a_thread_that_can_stop_is_reported_beside_the_answer() {
    let stops = "static x: 0..2;\nstatic y;\nthread p {\n  x.store(2);\n  x.store(1); let r = y.load();\n}\n";
    let stops = format!("{stops}{OTHER_HALF}");
    let said = "thread p can fault under sc, line 4 (the value 2 is outside 0..=1): what follows was not looked at.";
    let asserts = format!("static x; static y; thread p {{ assert(x.load() == 1); x.store(1); }} {OTHER_HALF}");
    for command in [
        &["check", "--model", "tso"][..],
        &["check", "--model", "pso"],
        &["check", "--model", "rc20"],
        &["check", "--property", "trf"],
        &["fence", "--diff"],
        &["states"],
    ] {
        let output = on_text(&stops, command);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(said), "{command:?}: {text}");
        let text = on_text(&asserts, command).stdout;
        let text = String::from_utf8_lossy(&text);
        assert!(
            text.contains("thread p can fail `assert(x == 1)` under sc, line 1: what follows"),
            "{command:?}: {text}"
        );
        let output = on_text(&stops, &[command, &["--format", "json"]].concat());
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        let found = &document["answers"][0]["stops"]["found"];
        assert_eq!(found.as_array().map(Vec::len), Some(1), "{command:?}: {document}");
        assert_eq!((&found[0]["kind"], &found[0]["line"]), (&"fault".into(), &4.into()), "{command:?}");
    }
    // In each answer; and not where nothing stops.
    let text = String::from_utf8_lossy(&on_text(&stops, &["check", "--model", "tso,rc20"]).stdout).into_owned();
    assert_eq!(text.matches("can fault").count(), 2, "{text}");
    let text = on_text("static x: bool; thread p { x.store(1); }", &["check"]).stdout;
    assert!(!String::from_utf8_lossy(&text).contains("under sc, line"));
    // A search that is too long for it says so; a fault found on the way is real.
    let endless =
        "static x; static y; thread p { let r; loop { r = r + 1; x.store(r); } } thread q { let r = 1 / y.load(); }";
    let text = on_text(endless, &["check", "--model", "tso"]).stdout;
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("thread q can fault under sc"), "{text}");
    assert!(text.contains("is not settled: the limit of 1000000 states was reached"), "{text}");
}

#[test]
fn a_fault_that_needs_many_copies_is_found_or_the_answer_says_what_was_looked_at() {
    let four =
        "static n: blocking 0..6; static d: [bool; 3];\nthread p[*] { let k: 0..6 = n.fetch_add(1); d[k].load(); }";
    let none = "static n: blocking 0..3; static d: [bool; 3];\nthread p[*] { let k: 0..3 = n.fetch_add(1); d[k * k / (k + 1)].load(); }";
    let one = "static d: bool;\nthread p[*] { let k = 1 / d.load(); d.store(1); }";
    let found = "thread p[3] can fault under sc, line 2";
    let limited = "Faults under sc were looked for with at most 2 copies of each `[*]` thread";
    for (text, copies, said, not_said) in [
        (four, Value::from(4), &[found, "at most 4 copies"][..], ""),
        (none, Value::Null, &[], "under sc"),
        (one, Value::from(2), &["thread p[0] can fault under sc, line 2", limited], ""),
    ] {
        let shown = on_text(text, &["check", "--model", "tso"]);
        let shown = String::from_utf8_lossy(&shown.stdout);
        assert!(said.iter().all(|said| shown.contains(said)), "{text}: {shown}");
        assert!(not_said.is_empty() || !shown.contains(not_said), "{text}: {shown}");
        let output = on_text(text, &["check", "--model", "tso", "--format", "json"]);
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        assert_eq!(document["answers"][0]["stops"]["copies"], copies, "{text}: {document}");
    }
}

#[test]
fn a_fault_beside_herds_layout_goes_to_standard_error() {
    let text = "static x: 0..2; static y; thread p { x.store(2); } thread q { let r = y.load(); } exists q.r == 0;";
    let output = on_text(text, &["states", "--format", "herd"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("-: thread p can fault under sc, line 1"), "{said}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("fault"), "{output:?}");
    let output = on_text(&text.replace("store(2)", "store(1)"), &["states", "--format", "herd"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("sc"), "{output:?}");
}

/// Kopetz and Reisinger's non-blocking write as Persist has it: both threads read their own delayed stores and count on.
const COUNTING: &str = "thread writer\ninitial w1\ntransition w1 w2 read ccf 1\ntransition w2 w3 write + 1 ccf 1
transition w3 w4 write 0 0\ntransition w4 w5 write + 2 ccf 1\ntransition w5 w1 noop\nend
thread both\ninitial w1\ntransition w1 w2 read ccf 1\ntransition w2 w3 write + 1 ccf 1\ntransition w3 w4 write 0 0
transition w4 r1 write + 2 ccf 1\ntransition r1 r2 read b 1\ntransition r2 r3 read value 0\ntransition r3 r4 read e 1
transition r4 r1 check || != b e == & b 1 1\ntransition r4 r5 check && == b e == & b 1 0\ntransition r5 w1 noop\nend\n";

#[test]
fn a_near_violation_is_found_where_stores_can_be_delayed_for_ever() {
    for workers in ["1", "2"] {
        let words = ["check", "-", "--from", "trencher", "--model", "tso", "--workers", workers];
        let output = ravelin(&[&words[..], &["--max-states", "1000000"]].concat(), COUNTING);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(code(&output), 1, "{text}");
        assert!(text.contains("computation under tso of 17 steps"), "{text}");
    }
}

#[test]
fn values_of_trencher_wrap_if_asked_for() {
    // Robust, and with values that wrap there is an end to its states.
    let counts =
        "thread t\ninitial a\ntransition a b read r 0\ntransition b c write + r 1 0\ntransition c a mfence\nend\n";
    let ask = |text: &str, words: &[&str]| ravelin(&[words, &["-", "--from", "trencher"]].concat(), text);
    let few = ["reach", "--model", "sc", "--max-states", "5000"];
    assert_eq!(code(&ask(counts, &few)), 3);
    assert_eq!(code(&ask(counts, &[&few[..], &["--wrap", "256"]].concat())), 0);
    // What memory_size says about values is replaced.
    let sized = format!("memory_size 1\n{counts}");
    let states = |words: &[&str]| {
        let output = ask(&sized, &[&few[..], &["--format", "json"], words].concat());
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        document["answers"][0]["statistics"]["states"].as_u64().expect("a number")
    };
    assert!(states(&["--wrap", "8"]) < states(&[]));
    for words in [&["check"][..], &["reach"], &["fence"], &["states"]] {
        let output = ask(counts, &[words, &["--wrap", "4"]].concat());
        assert_ne!(code(&output), 2, "{words:?}: {output:?}");
        let output = ravelin(&[words, &["examples/sb.rav", "--wrap", "4"]].concat(), "");
        assert_eq!(code(&output), 2, "{words:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("--wrap is for files of Trencher's language, and this is one of rav"), "{said}");
    }
    let output = ask(counts, &["convert", "--to", "rav", "--wrap", "4"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("max_value 3 wrap;"), "{output:?}");
    assert_eq!(code(&ask(counts, &["check", "--wrap", "1"])), 2);
    // The repaired program is checked with the same values.
    let output = ask(COUNTING, &["fence", "--model", "tso", "--wrap", "4"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("Checked from scratch"), "{output:?}");
}

#[test]
fn hostile_programs_get_an_answer_or_a_message() {
    let cases = hostile(&[
        ("static x; thread t { let r = 0; x.store(1); r = 1 / r; r = x.load(); }", 0),
        ("static x: 0..2; static y; thread p[2] { x.store(2); let r = y.load(); y.store(1); r = x.load(); }", 0),
        ("static x: i64 = any; static y; thread p[2] { x.store(1); let r = y.load(); y.store(1); r = x.load(); }", 2),
        ("static x; static y; thread p[*] { x.store(1); let r = y.load(); y.store(1); r = x.load(); }", 1),
        ("static x; static y; thread p[2] { bus_unlock; x.store(1); let r = y.load(); y.store(1); r = x.load(); }", 0),
        (
            "thread p[2] { mem[0 - 5].store(1); let r = mem[1_000_000_007].load(); mem[1_000_000_007].store(2); r = mem[0 - 5].load(); }",
            1,
        ),
    ]);
    for (text, expected) in &cases {
        for engine in ["shared", "attacks", "single", "monitor"] {
            let output = on_text(text, &["check", "--engine", engine, "--timeout", "20", "--max-states", "200000"]);
            let shown: String = text.chars().take(80).collect();
            assert_eq!(code(&output), *expected, "{engine}: {shown}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// What is stored inside cannot be seen before the lock is free, but no bound on the numbers says that this is all.
const TICKET_LOCK: &str = "
static next; static serving; static a; static b;
thread p[2] {
    loop {
        let mine = next.fetch_add(1);
        while serving.load() != mine {}
        a.store(a.load() + 1);
        let seen = b.load();
        b.store(seen + 1);
        serving.store(mine + 1);
    }
}
";

#[test]
fn a_counter_without_bound_is_unknown_and_an_early_violation_is_found_all_the_same() {
    for engine in ["shared", "attacks", "single", "monitor"] {
        let limits = ["check", "--engine", engine, "--max-states", "20000"];
        let robust = on_text(TICKET_LOCK, &limits);
        let text = String::from_utf8_lossy(&robust.stdout);
        assert_eq!(code(&robust), 3, "{robust:?}");
        assert!(text.contains("unknown: the limit of 20000 states was reached"), "{text}");
        assert!(text.contains(" open."), "{text}");
        let walkers = "thread p[2] { let a = 0; loop { mem[a].store(1); let r = mem[a + 1].load(); a = a + 1; } }";
        let walking = on_text(walkers, &["check", "--engine", engine, "--max-states", "300"]);
        assert_eq!(code(&walking), 3, "{engine}: {walking:?}");
        // One query an attack spends the limit on the attacks that come first.
        if engine == "attacks" {
            continue;
        }
        let sb =
            "static x; static y; thread l { x.store(1); let r = y.load(); } thread r { y.store(1); let r = x.load(); }";
        let violated = on_text(&format!("{TICKET_LOCK}{sb}"), &limits);
        assert_eq!(code(&violated), 1, "{engine}: {violated:?}");
    }
}

#[test]
fn check_against_sc_is_refused_with_a_reason() {
    let output = ravelin(&["check", "examples/sb.rav", "--model", "sc"], "");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("every program is robust against sc"), "{message}");
}

#[test]
fn attacks_are_listed_with_what_became_of_them() {
    let output = ravelin(&["check", "examples/r.rav", "examples/2+2w.rav", "--attacks", "--model", "tso,pso"], "");
    let text = String::from_utf8_lossy(&output.stdout);
    for part in [
        "examples/r.rav under tso: 1 attack\n",
        "right:L21:L22    21  y.store(2)    22  r = x.load()  feasible\n",
        "stops this attack, the only feasible one.\n",
        "examples/2+2w.rav under tso: 0 attacks\nexamples/2+2w.rav under tso: robust\n",
        "infeasible: the access never follows the store\n",
        "stops this attack; one more is feasible.\n",
    ] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    let fenced = ravelin(&["check", "examples/cilk-the-fenced.rav", "--attacks"], "");
    let text = String::from_utf8_lossy(&fenced.stdout);
    assert!(text.contains("infeasible: a fence or locked instruction is on every path"), "{text}");
}

/// The examples with this extension, by their names from the root of the project.
fn examples(folder: &std::path::Path, extensions: &[&str], found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            examples(&path, extensions, found);
        } else if path.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted)) {
            found.push(path.display().to_string());
        }
    }
}

/// The list in docs/robustness.md of what is unknown under pso is true.
#[test]
fn examples_that_are_unknown_under_pso_are_listed() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut files = Vec::new();
    examples(&std::path::Path::new(root).join("examples"), &["rav"], &mut files);
    let reads_c = code(&ravelin(&["states", "-", "--from", "c", "--model", "sc"], "int main(void) { return 0; }")) == 0;
    match reads_c {
        true => examples(&std::path::Path::new(root).join("examples/c/models"), &["c"], &mut files),
        false => ravelin_testing::skip("C files cannot be read here (apt-get install clang)"),
    }
    files.sort();
    let page = std::fs::read_to_string(format!("{root}/docs/robustness.md")).expect("the page");
    let listed: Vec<String> = (page.lines())
        .filter_map(|line| line.strip_prefix("| `examples/")?.split('`').next())
        .filter(|name| reads_c || !name.ends_with(".c"))
        .map(|name| format!("{root}/examples/{name}"))
        .collect();
    assert!(listed.len() > usize::from(reads_c), "{listed:?}");
    for (command, expected) in [("check", &[][..]), ("reach", &listed[..])] {
        let mut arguments = vec![command, "--model", "pso", "--format", "json", "--workers", "1"];
        arguments.extend(["--max-states", "100000"]);
        arguments.extend(files.iter().map(String::as_str));
        let output = ravelin(&arguments, "");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let answers = json["answers"].as_array().expect("answers");
        assert_eq!(answers.len(), files.len(), "{command}");
        let mut unknown = Vec::new();
        for answer in answers {
            let file = answer["file"].as_str().expect("a file");
            match answer["verdict"].as_str() {
                Some("unknown") => unknown.push(file.to_owned()),
                Some("error") => assert!(file.contains("any-number"), "{command} {file}: {answer}"),
                _ => {}
            }
        }
        unknown.sort();
        let mut expected: Vec<String> = expected.to_vec();
        expected.sort();
        assert_eq!(unknown, expected, "{command}");
    }
}

#[test]
fn nobody_is_called_robust_against_pso_for_want_of_an_attack() {
    // Two threads can delay a store, and the monitor has no locked blocks.
    let program = "static x; static y; static z;\n\
        thread p { x.store(1); y.store(2, release); let r = y.load(); }\n\
        thread q { y.store(1); x.store(2, release); let r = x.load(); }\n";
    let locked = format!("{program}thread w {{ locked {{ z.store(1); }} }}\n");
    let robust = ravelin(&["check", "-", "--from", "rav", "--model", "pso"], program);
    assert!(String::from_utf8_lossy(&robust.stdout).contains("under pso: robust\n"), "{robust:?}");
    let output = ravelin(&["check", "-", "--from", "rav", "--model", "pso"], &locked);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("unknown: no violation with one delaying thread\n"), "{text}");
    assert!(text.contains("Robustness against PSO is not proved"), "{text}");
}

#[test]
fn answers_are_json_documents_with_the_documented_fields() {
    let json = |arguments: &[&str]| -> Value {
        let output = ravelin(arguments, "");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    let documented = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md")).expect("docs");
    let files = ["examples/dekker.rav", "examples/dekker-fenced.rav", "examples/clh-lock.rav"];
    let check = json(&[&["check", "--model", "tso,pso", "--format", "json"], files.as_slice()].concat());
    let answers = check["answers"].as_array().expect("answers");
    let verdicts: Vec<&Value> = answers.iter().map(|answer| &answer["verdict"]).collect();
    assert_eq!(verdicts, ["violated", "violated", "holds", "violated", "holds", "holds"]);
    assert_eq!(answers[5]["one_delaying_thread"], false);
    let race = json(&["check", "examples/nbwl.rav", "--property", "trf", "--format", "json"]);
    let race = &race["answers"][0];
    let (attack, witness) = (&answers[0]["attacks"][0], &answers[0]["witness"]);
    let parts: Vec<&Value> = witness["steps"].as_array().expect("steps").iter().map(|step| &step["part"]).collect();
    assert!(parts.contains(&&"isu".into()) && parts.contains(&&"ld".into()) && parts.contains(&&"st".into()));
    assert!(answers[2]["attacks"].as_array().expect("attacks").iter().all(|attack| attack["reason"] == "fenced"));
    for object in [
        &answers[0],
        attack,
        &attack["store"],
        witness,
        &witness["steps"][0],
        &witness["cycle"][0],
        &answers[0]["explored"],
        race,
        &race["race"],
    ] {
        for field in object.as_object().expect("an object").keys() {
            assert!(documented.contains(&format!("`{field}`")), "docs/json.md does not mention `{field}`");
        }
    }
}

#[test]
fn answers_about_robustness_are_compared_with_headers_and_tables() {
    let scratch = Scratch::new("expect-check");
    let test = scratch.write("SB.litmus", SB);
    let compare = |text: &str, file: &str| {
        let table = scratch.write("expected.tsv", text);
        let output = ravelin(&["check", "--expect", "--model", "tso,pso", &table, file], "");
        (code(&output), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (right, text) = compare("test\ttrace_robust\nSB\tno\n", &test);
    assert!(right == 0 && text.contains("1 answers: 1 agree, 0 differ"), "{text}");
    let (wrong, text) = compare("test\ttrace_robust\nSB\tyes\n", &test);
    assert!(wrong == 1 && text.contains("expected robust  found not robust"), "{text}");
    let trencher = "thread t1\ninitial a\ntransition a b write 1 0\ntransition b c read r 1\nend\nthread t2\ninitial a\ntransition a b write 1 1\ntransition b c read r 0\nend\n";
    let file = scratch.write("t.txt", trencher);
    let rows = "file\tquestion\tverdict\nt.txt\trobustness\tnot robust\nt.txt\ttrf\tnot TRF\nt.txt\tfences\t2 fences\n";
    let (agrees, text) = compare(rows, &file);
    assert!(agrees == 0 && text.contains("2 answers: 2 agree, 0 differ"), "{text}");
    assert!(text.contains("1 expectations pending"), "{text}");
    let headers = "//! expect check tso: robust\n//! expect check tso property=trf: race\n//! expect check pso: not robust\n//! pending check rc20: not robust\nstatic x;\nthread t { x.store(1); }\n";
    let (differs, text) = compare("test\n", &scratch.write("h.rav", headers));
    assert!(differs == 1 && text.contains("3 answers: 1 agree, 2 differ"), "{text}");
    assert!(text.contains("tso  trf    expected race        found free"), "{text}");
}
