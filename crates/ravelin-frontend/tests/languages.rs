//! How the language of a file is detected.

use ravelin_frontend::Language;
use std::path::Path;

#[test]
fn a_language_is_told_by_the_extension() {
    assert_eq!(Language::from_path(Path::new("examples/dekker.rav")), Some(Language::Rav));
    assert_eq!(Language::from_path(Path::new("dekker.RAV")), Some(Language::Rav));
    assert_eq!(Language::from_path(Path::new("SB.litmus")), Some(Language::Litmus));
    assert_eq!(Language::from_path(Path::new("rav")), None);
}

#[test]
fn a_language_is_told_by_its_first_words() {
    let cases = [
        ("/* c */ forbidden CS CS\nprocess", Some(Language::Memorax)),
        ("X86_64 SB\n{}\n P0 | P1 ;", Some(Language::Litmus)),
        ("# Dekker\n#\nthread t1\ninitial a\nend", Some(Language::Trencher)),
        ("# Persist\nmemory_size 4\nthread t1\ninitial a\nend", Some(Language::Trencher)),
        ("// ROBUSTNESS egr: not: ra.\nmax_value 2;\nglobal x;", Some(Language::Rocker)),
        ("//! Peterson\nstatic x;\nthread p { }", Some(Language::Rav)),
        ("thread p { }", Some(Language::Rav)),
        ("strict mem;\nstatic x;", Some(Language::Rav)),
        ("hello", None),
        ("", None),
        ("// only a comment", None),
    ];
    for (text, language) in cases {
        assert_eq!(Language::from_text(text), language, "{text}");
    }
}
