//! Any number of threads and Petri nets, as users meet them: exit codes, messages, certificates, JSON, and nets that nobody would wish for.

use crate::running;

use running::{Scratch, code, on_text, ravelin};
use serde_json::Value;

const HALVES: &str =
    "static x; static y; thread p[*] { choose { x.store(1); let r = y.load(); } or { y.store(1); let r = x.load(); } }";
pub const LOCK: &str = "static l: bool; thread p[*] { while l.swap(1) == 1 {} @in; l.store(0); } never 2 of p@in;";

#[test]
fn exit_codes_and_messages() {
    let cases: &[(&str, &[&str], i32, &str)] = &[
        (HALVES, &["check"], 1, "under tso: not robust with 2 copies of p"),
        (HALVES, &["check", "--attacks"], 1, "p[0]"),
        (HALVES, &["check", "--copies", "1", "--model", "tso"], 0, "under tso: robust"),
        (HALVES, &["check", "--model", "pso"], 2, "--copies N"),
        (HALVES, &["check", "--model", "rc20"], 2, "--copies N"),
        (HALVES, &["check", "--property", "trf"], 2, "--copies N"),
        (HALVES, &["states"], 2, "--copies N"),
        (HALVES, &["simulate"], 2, "a fixed number"),
        (HALVES, &["fence"], 0, "2 fences make it robust"),
        (HALVES, &["fence", "--explain"], 0, "with 2 copies of p:"),
        (LOCK, &["check"], 0, "robust for every number of threads"),
        (LOCK, &["reach", "--model", "sc,tso"], 0, "holds for every number of threads"),
        (LOCK, &["reach", "--engine", "lazy"], 2, "--copies N"),
        (LOCK, &["reach", "--engine", "dual"], 0, "by dual"),
        (LOCK, &["reach", "--model", "tso", "--certify", "/tmp/x"], 2, "under sc only"),
        ("static x; thread p[*] { x.store(x.load() + 1); }", &["check"], 2, "`x` takes more than 4096 values"),
        ("static x; thread p[*] { x.store(1); } finally x < 2;", &["reach", "--model", "sc"], 2, "final states"),
        ("static x; thread p[*] { x.store(1); } finally x == 1;", &["reach", "--model", "sc"], 1, "with 0 copies of p"),
        ("static x; thread p[*] { bus_lock; x.store(1); bus_unlock; let r = x.load(); }", &["check"], 2, "bus lock"),
        ("static x: i64 = any; static y; thread p[*] { x.store(1); let r = y.load(); }", &["check"], 2, ""),
        ("thread p[*] { @a; nop; } never p@a == 1;", &["reach", "--model", "sc"], 1, "with 1 copy of p"),
        ("thread p[*] { nop; @a; nop; } never p@a < 1;", &["reach", "--model", "sc"], 1, "with 0 copies of p"),
        (
            "static x; thread p[*] { wait(x == 1); @a; nop; } never p@a == 1;",
            &["reach", "--model", "sc"],
            2,
            "a minimum number of copies",
        ),
    ];
    for (text, arguments, expected, says) in cases {
        let output = on_text(text, arguments);
        let shown = [output.stdout.as_slice(), &output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown);
        assert_eq!(code(&output), *expected, "{arguments:?} on {text}: {shown}");
        assert!(shown.contains(says), "{arguments:?} on {text}: {shown}");
    }
}

#[test]
fn json_tells_the_instance_and_the_nets() {
    let output = on_text(HALVES, &["check", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let instance = &document["answers"][0]["any_number"]["instance"];
    assert_eq!((&instance["copies"][0]["copies"], &instance["smallest"]), (&Value::from(2), &Value::from(true)));
    let output = on_text(LOCK, &["reach", "--model", "sc", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let net = &document["answers"][0]["any_number"]["nets"][0];
    assert_eq!((&net["coverable"], &net["sets"]), (&Value::from(false), &Value::from(false)), "{document}");
}

#[test]
fn certificates_are_written_and_checked() {
    let scratch = Scratch::new("any-number");
    let program = scratch.write("lock.rav", LOCK);
    let net = scratch.write(
        "lock.spec",
        "vars a b l rules a >= 1, l >= 1 -> a' = a - 1, l' = l - 1, b' = b + 1; init a >= 0, l = 1 target b >= 2",
    );
    let proof = scratch.write("proof.json", "");
    let other = scratch.write("other.rav", "thread p[*] { @in; nop; } never 2 of p@in;");
    let ask = |arguments: &[&str]| {
        let output = ravelin(arguments, "");
        (code(&output), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    assert_eq!(ask(&["reach", &program, "--model", "sc", "--certify", &proof]).0, 0);
    let (exit, shown) = ask(&["certificate", &proof]);
    assert!(exit == 0 && shown.contains("for every number of threads"), "{shown}");
    let (exit, shown) = ask(&["certificate", &proof, "--program", &other]);
    assert!(exit == 1 && shown.contains("proves nothing"), "{shown}");
    assert_eq!(ask(&["certificate", &proof, "--net", &net]).0, 2);
    assert_eq!(ask(&["cover", &net, "--certify", &proof]).0, 0);
    assert_eq!(ask(&["certificate", &proof]).0, 2, "the net has to be named");
    let (exit, shown) = ask(&["certificate", &proof, "--net", &net]);
    assert!(exit == 0 && shown.contains("no target"), "{shown}");
}

#[test]
fn hostile_nets_get_an_answer_or_a_message() {
    let many = format!("vars a rules {} init a = 1 target a >= 2", "a >= 1 -> a' = a - 1;".repeat(20_000));
    let long =
        format!("vars {} rules init p0 = 1 target p0 >= 2", (0..20_000).map(|n| format!("p{n} ")).collect::<String>());
    let cases: &[(&str, i32, &str)] = &[
        ("", 2, "`vars` was expected"),
        ("\u{0}", 2, "means nothing"),
        ("vars", 2, "`rules` was expected"),
        ("vars a a rules init a = 0 target a >= 1", 2, "declared twice"),
        ("vars a rules b >= 1 -> ; init a = 0 target a >= 1", 2, "`b` is not declared"),
        ("vars a rules a = 1 -> ; init a = 0 target a >= 1", 2, "exact number"),
        ("vars a b rules a >= 1 -> a' = b + 1; init a = 0 target a >= 1", 2, "transfers"),
        ("vars a b rules a >= 1 -> a' = a + b; init a = 0 target a >= 1", 2, "transfers"),
        ("vars a rules a >= 1 -> a' = 0; init a = 0 target a >= 1", 2, "resets"),
        ("vars a rules a >= 1 -> a' = a + 99999999999999999999; init a = 0 target a >= 1", 2, "larger than"),
        ("vars a rules a >= 1 -> a' = a - 1 init a = 0 target a >= 1", 2, "`;` was expected"),
        ("vars a rules init a = 0 target", 2, "the name of a place"),
        ("vars a rules init a = 0 target a >= 1 a >= 0", 1, "coverable, by firing 0 transitions"),
        ("vars a rules -> a' = a + 1; init a = 0 target a >= 3 # comment", 1, "coverable, by firing 3 transitions"),
        ("vars a rules a >= 0 -> a' = a + 1000000000; init a = 0 target a >= 1000000001", 1, "coverable, by firing 2"),
        ("vars a rules init a = 0 target a >= 1 invariants a = 0", 0, "uncoverable"),
        (&many, 0, "uncoverable"),
        (&long, 0, "uncoverable"),
    ];
    for (text, expected, says) in cases {
        let output = ravelin(&["cover", "-"], text);
        let shown = String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned();
        let start: String = text.chars().take(80).collect();
        assert_eq!(code(&output), *expected, "{start}: {shown}");
        assert!(shown.contains(says), "{start}: {shown}");
    }
    // A net that would take for ever ends at its limit.
    let slow = "vars a b c d e rules a >= 1 -> a' = a - 1, b' = b + 2; b >= 1 -> b' = b - 1, c' = c + 2; c >= 1 -> c' = c - 1, d' = d + 2; \
                d >= 1 -> d' = d - 1, e' = e + 2; init a = 4 target e >= 100";
    let output = ravelin(&["cover", "-", "--max-states", "600"], slow);
    assert_eq!(code(&output), 3, "{}", String::from_utf8_lossy(&output.stdout));
}
