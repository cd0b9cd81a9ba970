//! What the header of a `.rav` file expects.

use ravelin_frontend::expectations;

#[test]
fn header_lines_are_expectations_or_free_text() {
    let text = "//! Dekker: the classic.\n//! expect robust tso: violated\n\
                //! pending reach tso engine=dual k=3: holds with 3 states\nstatic x;\n//! expect late tso: no\n";
    let (found, diagnostics) = expectations(text);
    assert!(diagnostics.is_empty());
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].command.as_str(), found[0].model.as_str()), ("robust", "tso"));
    assert!(!found[0].pending && found[1].pending);
    assert_eq!(found[1].options, [("engine".into(), "dual".into()), ("k".into(), "3".into())]);
    assert_eq!(found[1].answer, "holds with 3 states");
}

/// They have no model.
#[test]
fn what_is_expected_of_a_compiled_program_is_for_others() {
    let text =
        "//! expect verify -DBROKEN: violated: data race\n//! expect consequence: crash\n//! expect check tso: race\n";
    let (found, diagnostics) = expectations(text);
    assert!(diagnostics.is_empty());
    assert_eq!(found.iter().map(|it| it.command.as_str()).collect::<Vec<_>>(), ["check"]);
}

#[test]
fn what_looks_like_an_expectation_and_is_none_is_reported() {
    for text in [
        "//! expect",
        "//! expect robust tso",
        "//! expect robust: holds",
        "//! expect robust tso:",
        "//! expect robust tso k: holds",
        "//! expect robust tso =1: holds",
        "//! expct robust tso: holds",
    ] {
        let (found, diagnostics) = expectations(text);
        assert!(found.is_empty() && diagnostics.len() == 1, "{text}");
    }
}
