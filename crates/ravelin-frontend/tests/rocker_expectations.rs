//! What the comments at the beginning of a Rocker file expect.

use ravelin_frontend::{Expectation, rocker};
use ravelin_program::Source;

/// As `wegr ra not robust`, and how many warnings there are.
fn read(lines: &[&'static str]) -> (Vec<String>, usize) {
    let text = format!("{}\nmax_value 2;\nglobal x;\nfn p {{ x.store(1); }}\n", lines.join("\n"));
    let parsed = rocker::parse(Source::new("test.tpl", text));
    let show = |one: &Expectation| {
        let kind = if one.options.is_empty() { "egr" } else { "wegr" };
        format!("{kind} {} {}", one.model, one.answer)
    };
    assert!(parsed.program.is_some(), "{lines:?}: {:?}", parsed.diagnostics);
    (parsed.expectations.iter().map(show).collect(), parsed.diagnostics.len())
}

#[test]
fn what_a_line_says_is_followed_by_what_it_implies() {
    let cases: [(&[&'static str], &[&str]); 5] = [
        (&["// ROBUSTNESS egr: not: ra."], &["egr ra not robust", "egr rc20 not robust"]),
        (
            &["// ROBUSTNESS egr: robust: rlx."],
            &["egr rc20 robust", "egr ra robust", "wegr rc20 robust", "wegr ra robust"],
        ),
        (&["// ROBUSTNESS egr: robust: ra. not: rlx."], &["egr ra robust", "egr rc20 not robust", "wegr ra robust"]),
        (
            &["// ROBUSTNESS wegr: not: rlx.", "// ROBUSTNESS egr: robust: ra, sc."],
            &[
                "wegr rc20 not robust",
                "egr ra robust",
                "egr sc robust",
                "egr rc20 not robust",
                "wegr ra robust",
                "wegr sc robust",
            ],
        ),
        (&["// spin_depth 8", "// about ROBUSTNESS"], &[]),
    ];
    for (lines, expected) in cases {
        assert_eq!(read(lines), (expected.iter().map(|&text| text.to_owned()).collect(), 0), "{lines:?}");
    }
}

#[test]
fn nonsense_and_contradictions_give_warnings() {
    for line in [
        "// ROBUSTNESS",
        "// ROBUSTNESS egr",
        "// ROBUSTNESS egr:",
        "// ROBUSTNESS gr: robust: ra.",
        "// ROBUSTNESS egr: maybe: ra.",
        "// ROBUSTNESS egr: robust: tso.",
        "// ROBUSTNESS egr: robust ra.",
    ] {
        assert_eq!(read(&[line]), (Vec::new(), 1), "{line}");
    }
    let (_, warnings) = read(&["// ROBUSTNESS egr: robust: rlx.", "// ROBUSTNESS wegr: not: ra."]);
    assert!(warnings > 0);
}
