//! How many runs each reduction makes of the same programs.

use super::Effort;
use crate::sanitizer::runs::compile;
use crate::sanitizer::verifying::{AnswerKind, verify};
use crate::table::{MarkdownTable, count};
use anyhow::Result;

const REDUCTIONS: [&str; 4] = ["off", "sleep", "source", "optimal"];
/// Without a reduction there may be more runs than anybody waits for.
pub const MOST_RUNS: u64 = 5_000;

/// The programs, relative to the root, with what they do and with the words for two sizes.
const PROGRAMS: [(&str, &str, [&str; 2]); 3] = [
    ("bench/programs/verify/cells.c", "threads that write cells of their own and read another one", ["2 2", "3 1"]),
    ("bench/programs/verify/counters.c", "threads that increment a counter", ["2 2", "2 2 1"]),
    ("bench/programs/verify/lastzero.c", "threads that write a cell each, and one that looks for a zero", ["3", "5"]),
];

pub fn table(effort: &Effort) -> Result<MarkdownTable> {
    let mut head = vec!["program", "words"];
    head.extend(REDUCTIONS);
    let mut table = MarkdownTable::new(&head);
    let most = MOST_RUNS.to_string();
    for (file, does, sizes) in PROGRAMS {
        let program = compile(effort.ravelin, &crate::root().join(file), &[], effort.folder)?;
        for size in sizes {
            let words: Vec<&str> = size.split_whitespace().collect();
            let mut row = vec![does.to_owned(), size.to_owned()];
            for reduction in REDUCTIONS {
                let options = ["--no-robustness", "--reduction", reduction, "--max-runs", &most];
                let answer = verify(effort.ravelin, &options, &program, &words)?;
                row.push(match answer.kind {
                    AnswerKind::Unknown => format!("more than {}", count(MOST_RUNS)),
                    _ => count(answer.runs),
                });
            }
            table.row(row);
        }
    }
    Ok(table)
}
