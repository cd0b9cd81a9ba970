//! `reach` with its engines, and certificates, as users run them.

use crate::running;

use running::{Scratch, code, on_text, ravelin};

const COUNTER: &str = "static x;
    thread a { loop { x.store(x.load() + 1); } }
    thread b { let r = x.load(); assert(r < 100000000); }";

fn said(output: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn engines_agree_and_refuse_what_they_cannot_do() {
    let cases: &[(&[&str], i32)] = &[
        (&["reach", "examples/peterson.rav", "--engine", "dual"], 1),
        (&["reach", "examples/peterson.rav", "--engine", "sb"], 1),
        (&["reach", "examples/peterson.rav", "--engine", "lazy"], 1),
        (&["reach", "examples/peterson.rav", "--engine", "bounded"], 1),
        (&["reach", "examples/lazy-tso/no-fixpoint.rav", "--engine", "dual"], 0),
        (&["reach", "examples/lazy-tso/no-fixpoint.rav", "--engine", "sb"], 0),
        (&["reach", "examples/lazy-tso/no-fixpoint.rav", "--engine", "bounded"], 3),
        (&["reach", "examples/peterson.rav", "--engine", "dual", "--model", "pso"], 2),
        (&["reach", "examples/peterson.rav", "--engine", "steam"], 2),
        (&["reach", "examples/peterson.rav", "--certify", "x.json", "--model", "sc"], 2),
    ];
    for (arguments, expected) in cases {
        let output = ravelin(arguments, "");
        assert_eq!(code(&output), *expected, "{arguments:?}: {}", said(&output));
    }
    let refused = on_text(COUNTER, &["reach", "--engine", "dual"]);
    assert_eq!(code(&refused), 2);
    assert!(said(&refused).contains("`x` takes more than"), "{}", said(&refused));
}

/// The first short look of the portfolio is its own affair: the limit that is reported is the user's.
#[test]
fn values_without_end_are_searched_up_to_the_limits_that_were_given() {
    for model in ["tso", "pso"] {
        let output = on_text(COUNTER, &["reach", "--model", model, "--max-states", "50000"]);
        assert_eq!(code(&output), 3, "{}", said(&output));
        assert!(said(&output).contains("limit of 50000 states"), "{model}: {}", said(&output));
    }
}

#[test]
fn certificates_prove_their_program_and_no_other() {
    let scratch = Scratch::new("certificate");
    let file = scratch.write("proof.json", "");
    let written = ravelin(&["reach", "examples/fence-insertion/burns-fenced.rav", "--certify", &file], "");
    assert_eq!(code(&written), 0, "{}", said(&written));
    assert_eq!(code(&ravelin(&["certificate", &file], "")), 0);
    assert_eq!(code(&ravelin(&["certificate", &file, "--program", "examples/dekker.rav"], "")), 1);
    let nothing = scratch.write("nothing.json", "{}");
    assert_eq!(code(&ravelin(&["certificate", &nothing], "")), 2);
    assert_eq!(code(&ravelin(&["certificate", "missing.json"], "")), 2);
}
