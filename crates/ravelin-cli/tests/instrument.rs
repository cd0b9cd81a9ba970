//! `ravelin convert --instrument`: what it prints is a program, and tells feasible attacks from others.

use crate::running::ravelin;

/// The name of an attack by a thread's first lines, counted in the file, that have these texts in them.
fn attack(file: &str, thread: &str, store: &str, load: &str) -> String {
    let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a readable example");
    let line = |wanted: &str| text.lines().position(|line| line.contains(wanted)).expect("it is there") + 1;
    format!("{thread}:L{}:L{}", line(store), line(load))
}

#[test]
fn printed_programs_reach_success_exactly_for_feasible_attacks() {
    let cases = [
        ("examples/dekker.rav", "p[0]", "wants[me].store(1)", "while wants", 1),
        ("examples/dekker.rav", "p[1]", "wants[me].store(1)", "while wants", 1),
        ("examples/dekker.rav", "p[0]", "turn.store", "while turn", 0),
        ("examples/dekker-fenced.rav", "p[0]", "wants[me].store(1)", "while wants", 0),
        ("examples/peterson-fenced.rav", "p[0]", "flag[me].store(1)", "while flag", 0),
        ("examples/peterson-fenced.rav", "p[0]", "turn.store", "while flag", 0),
        ("examples/sb.rav", "left", "x.store", "y.load", 1),
    ];
    for (file, thread, store, load, expected) in cases {
        let mut attack = attack(file, thread, store, load);
        if load == "while flag" {
            // Two loads stand in that line; the first is meant.
            attack.push_str(".15");
        }
        let printed = ravelin(&["convert", file, "--instrument", &attack], "");
        assert!(printed.status.success(), "{file} {attack}: {printed:?}");
        let answer =
            ravelin(&["reach", "-", "--from", "rav", "--model", "sc"], &String::from_utf8_lossy(&printed.stdout));
        assert_eq!(answer.status.code(), Some(expected), "{file} {attack}: {answer:?}");
    }
}

#[test]
fn other_languages_can_be_asked_for() {
    let attack = attack("examples/sb.rav", "left", "x.store", "y.load");
    for (to, begins) in [("rav", "// sb, instr"), ("dot", "digraph"), ("promela", "/* sb, instr")] {
        let printed = ravelin(&["convert", "examples/sb.rav", "--instrument", &attack, "--to", to], "");
        assert!(printed.status.success(), "{printed:?}");
        let text = String::from_utf8(printed.stdout).expect("UTF-8");
        assert!(text.starts_with(begins), "{text}");
    }
    let refused = ravelin(&["convert", "examples/sb.rav", "--instrument", &attack, "--to", "litmus"], "");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_wrong_attack_is_answered_with_what_there_is() {
    let text = "static x;\nthread t {\n    x.store(1);\n    let r = x.load();\n}\n";
    let output = ravelin(&["convert", "-", "--from", "rav", "--instrument", "t:L4:L3"], text);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: -: thread `t` has no store at `L4`; its stores are\n  L3  x.store(1)\n"
    );
    let output = ravelin(&["convert", "examples/sb.rav"], "");
    assert_eq!(output.status.code(), Some(2));
}
