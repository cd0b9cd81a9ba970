//! `--html` and `--svg` as people use them: what is written, what is printed all the same, and what is refused.

use crate::running;

use running::{Scratch, code, ravelin};

fn said(output: &std::process::Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn what_is_printed_does_not_depend_on_pages() {
    let scratch = Scratch::new("pages-printed");
    let html = scratch.write("page.html", "");
    for asked in [
        &["fence", "examples/sb.rav"][..],
        &["check", "examples/mp.rav"],
        &["reach", "examples/sb.rav", "--model", "sc"],
    ] {
        let alone = ravelin(asked, "");
        let with_page = ravelin(&[asked, &["--html", &html]].concat(), "");
        let without_times =
            |text: &str| text.lines().filter(|line| !line.contains(" in 0.")).collect::<Vec<_>>().join("\n");
        assert_eq!(without_times(&said(&alone).0), without_times(&said(&with_page).0), "{asked:?}");
        assert_eq!(code(&alone), code(&with_page));
    }
}

#[test]
fn a_page_that_cannot_be_written_does_not_lose_the_answer() {
    for flag in ["--html", "--svg"] {
        let output = ravelin(&["check", "examples/sb.rav", "--model", "tso", flag, "/no/such/folder/page"], "");
        let (out, error) = said(&output);
        assert_eq!(code(&output), 2, "{error}");
        assert!(out.contains("examples/sb.rav under tso: not robust"), "{out}");
        assert!(error.contains("error: /no/such/folder/page cannot be written"), "{error}");
        let output = ravelin(&["check", "examples/sb.rav", flag, "examples"], "");
        assert_eq!(code(&output), 2);
    }
}

#[test]
fn a_picture_needs_a_graph() {
    let scratch = Scratch::new("pages-graph");
    let svg = scratch.write("old.svg", "old");
    let output = ravelin(&["check", "examples/sb-fenced.rav", "--model", "tso", "--svg", &svg], "");
    assert_eq!(code(&output), 0);
    assert!(said(&output).1.contains("old.svg was not written: no answer has a witness with a graph"), "{output:?}");
    assert_eq!(std::fs::read_to_string(&svg).expect("it is there"), "old");
    // The first of several answers that has one.
    let output = ravelin(&["check", "examples/sb-fenced.rav", "examples/sb.rav", "--model", "tso", "--svg", &svg], "");
    assert_eq!((code(&output), said(&output).1.as_str()), (1, ""));
    assert!(std::fs::read_to_string(&svg).expect("it is there").starts_with("<svg"));
}

#[test]
fn refusals() {
    let refused: &[(&[&str], &str)] = &[
        (&["check", "examples/sb.rav", "--html", "-"], "--html takes the name of a file"),
        (&["reach", "examples/sb.rav", "--svg", "-"], "--svg takes the name of a file"),
        (&["check", "examples/sb.rav", "--html", "a", "--svg", "a"], "cannot be the same file"),
        (&["cover", "examples/nets/mutex.spec", "--html", "a"], "`cover` cannot write a page"),
        (&["simulate", "examples/sb.rav", "--html", "a"], "`simulate` cannot write a page"),
        (&["check", "--expect", "examples/sb.rav", "--html", "a"], "`check --expect` cannot write a page"),
        (&["run", "--fix-all", "--html", "a", "./x"], "cannot be used with"),
    ];
    for (asked, reason) in refused {
        let output = ravelin(asked, "");
        assert_eq!(code(&output), 2, "{asked:?}");
        assert!(said(&output).1.contains(reason), "{asked:?}: {}", said(&output).1);
    }
}

#[test]
fn nothing_is_left_beside_the_page() {
    let scratch = Scratch::new("pages-beside");
    let html = scratch.write("page.html", "");
    ravelin(&["check", "examples/sb.rav", "--html", &html], "");
    let folder = std::path::Path::new(&html).parent().expect("a folder");
    let names: Vec<_> = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["page.html"]);
}

#[test]
fn the_picture_in_the_documents_is_the_one_that_is_drawn() {
    let scratch = Scratch::new("pages-documents");
    let svg = scratch.write("dekker.svg", "");
    ravelin(&["check", "examples/dekker.rav", "--model", "tso", "--workers", "1", "--svg", &svg], "");
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dekker.svg");
    let read = |path: &str| std::fs::read_to_string(path).expect("a picture");
    assert_eq!(read(&svg), read(kept), "ravelin check examples/dekker.rav --model tso --svg docs/dekker.svg");
}
