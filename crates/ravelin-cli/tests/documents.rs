//! The commands that the documents show are run, and must print what is shown.
//!
//! The pages in `docs` are read by trycmd as they are: `? 1` is an exit code, `[..]` any text. The
//! documents in `PLAIN` show what a user sees, without such marks. Their marks are added here:
//!
//! - A comment `<!-- exit code 1 -->` before a console block is the exit code of its first command.
//! - A line that says how long something took (`in 0.02 s`) has other numbers in each run.
//! - The end of a block needs no empty line.

use std::fmt::Write;
use std::path::Path;

/// The documents that show exactly what a user sees.
const PLAIN: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The document whose commands need the feature `cluster`.
const CLUSTER: &str = "docs/cluster.md";

#[test]
fn commands_in_documents_work() {
    // The examples are named from the root of the project.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).expect("the root of the project");
    let marked = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
    std::fs::create_dir_all(&marked).expect("a folder for the marked documents");
    let cases = trycmd::TestCases::new();
    for document in PLAIN {
        let text = std::fs::read_to_string(document).expect("a document");
        for mark in ["\n? ", "[..]"] {
            assert!(!text.contains(mark), "{document} shows the mark `{}` to its readers", mark.trim());
        }
        let copy = marked.join(document);
        std::fs::write(&copy, with_marks(&text)).expect("a marked document");
        cases.case(copy);
    }
    cases.case("docs/*.md");
    if !cfg!(feature = "cluster") {
        cases.skip(CLUSTER);
        ravelin_testing::skip("`ravelin` was built without `cluster` (--features ravelin-cli/cluster)");
    }
    cases.run();
}

/// The document as trycmd reads it. It has the same commands in the same blocks.
fn with_marks(text: &str) -> String {
    let mut marked = String::new();
    let mut exit_code = None;
    let mut block = Block::Outside;
    for line in text.lines() {
        match block {
            Block::Outside if line == "```console" => block = Block::Console,
            Block::Outside if line.starts_with("```") => block = Block::Other,
            Block::Outside => {
                let comment = line.strip_prefix("<!-- exit code ").and_then(|rest| rest.strip_suffix(" -->"));
                exit_code = comment.or(exit_code.filter(|_| line.is_empty()));
            }
            Block::Console | Block::Other if line == "```" => {
                // trycmd takes the last line break of a block for its own.
                if block == Block::Console && !marked.ends_with("\n\n") {
                    marked.push('\n');
                }
                block = Block::Outside;
            }
            Block::Console | Block::Other => {}
        }
        if block == Block::Console && says_a_time(line) {
            marked.push_str(&without_numbers(line));
        } else {
            marked.push_str(line);
        }
        marked.push('\n');
        if block == Block::Console
            && line.starts_with("$ ")
            && let Some(code) = exit_code.take()
        {
            writeln!(marked, "? {code}").expect("a string takes everything");
        }
    }
    marked
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Outside,
    Console,
    Other,
}

/// Whether a line has a part such as `in 0.02 s`.
fn says_a_time(line: &str) -> bool {
    line.split(", in ").skip(1).any(|rest| {
        let (number, unit) = rest.split_once(' ').unwrap_or((rest, ""));
        number.parse::<f64>().is_ok() && unit.split(|letter: char| !letter.is_alphabetic()).next() == Some("s")
    })
}

/// The line with any text in place of each number.
fn without_numbers(line: &str) -> String {
    let mut marked = String::new();
    for word in line.split_inclusive(' ') {
        let number = word.trim_start_matches('(').trim_end_matches([' ', ',', '.', ')']);
        let digits = number.starts_with(|first: char| first.is_ascii_digit())
            && number.chars().all(|digit| digit.is_ascii_digit() || [',', '.'].contains(&digit));
        marked.push_str(&if digits { word.replace(number, "[..]") } else { word.to_owned() });
    }
    marked
}

#[test]
fn marks_are_added_where_a_reader_sees_none() {
    let shown = "\
<!-- exit code 1 -->

```console
$ ravelin check a.rav
a.rav under tso: not robust
  step 1 of 7
  1,088 states explored (86 under sc, 2 with stores delayed), in 0.02 s.
```

```console
$ ravelin check b.rav
b.rav under sc: holds: 32 states explored, depth 7, in 0.00 s, exhaustively
```
";
    let marked = "\
<!-- exit code 1 -->

```console
$ ravelin check a.rav
? 1
a.rav under tso: not robust
  step 1 of 7
  [..] states explored ([..] under sc, [..] with stores delayed), in [..] s.

```

```console
$ ravelin check b.rav
b.rav under sc: holds: [..] states explored, depth [..], in [..] s, exhaustively

```
";
    assert_eq!(with_marks(shown), marked);
}
