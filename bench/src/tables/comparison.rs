//! The paper's number beside ours: equal ones are shown in brackets, others stand out, and every difference is told below the
//! table with its reason, or as one that nobody has explained. Results that differ are in bold; sizes are not, because the
//! programs are written anew.

use std::fmt::{self, Display};

/// Why the numbers of a row differ where they do.
pub struct Reason {
    /// The columns it speaks of.
    pub columns: &'static [&'static str],
    /// The rows; all if there are none.
    pub rows: &'static [&'static str],
    pub why: &'static str,
}

/// The differences found so far.
pub struct Comparison {
    reasons: &'static [Reason],
    found: Vec<Difference>,
}

struct Difference {
    row: String,
    column: &'static str,
    ours: String,
    paper: String,
}

impl Comparison {
    pub fn new(reasons: &'static [Reason]) -> Comparison {
        Comparison { reasons, found: Vec::new() }
    }

    /// A cell with a result of both.
    pub fn result<T: PartialEq + Display>(&mut self, row: &str, column: &'static str, ours: T, paper: T) -> String {
        let cell = self.size(row, column, &ours, &paper);
        if ours == paper { cell } else { format!("**{cell}**") }
    }

    /// A cell with a size of both programs.
    pub fn size<T: PartialEq + Display>(&mut self, row: &str, column: &'static str, ours: T, paper: T) -> String {
        if ours == paper {
            return format!("{ours} ({paper})");
        }
        let (ours, paper) = (ours.to_string(), paper.to_string());
        let cell = format!("{ours} ≠ {paper}");
        self.found.push(Difference { row: row.to_owned(), column, ours, paper });
        cell
    }

    /// Differences that no reason speaks of.
    pub fn unexplained(&self) -> Vec<String> {
        let open = self.found.iter().filter(|difference| self.reason(difference).is_none());
        open.map(|Difference { row, column, ours, paper }| format!("{row}: {column} is {ours}, in the paper {paper}"))
            .collect()
    }

    fn reason(&self, difference: &Difference) -> Option<usize> {
        self.reasons.iter().position(|reason| {
            reason.columns.contains(&difference.column)
                && (reason.rows.is_empty() || reason.rows.contains(&difference.row.as_str()))
        })
    }
}

/// A list, one item a reason that is needed; nothing if there are no differences.
impl Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() {
            return writeln!(f, "No number differs from the paper's.");
        }
        writeln!(f, "Where ours (first) differ from the paper's:\n")?;
        for open in self.unexplained() {
            writeln!(f, "- **Not explained:** {open}.")?;
        }
        for (number, reason) in self.reasons.iter().enumerate() {
            let mut rows: Vec<&str> = Vec::new();
            let mut columns: Vec<&str> = Vec::new();
            for difference in self.found.iter().filter(|difference| self.reason(difference) == Some(number)) {
                if !rows.contains(&difference.row.as_str()) {
                    rows.push(&difference.row);
                }
                if !columns.contains(&difference.column) {
                    columns.push(difference.column);
                }
            }
            if !rows.is_empty() {
                writeln!(f, "- {} of {}: {}", columns.join(", "), rows.join(", "), reason.why)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REASONS: [Reason; 2] = [
        Reason { columns: &["T"], rows: &["lock"], why: "Ours has fewer threads." },
        Reason { columns: &["RQ"], rows: &[], why: "Counted otherwise." },
    ];

    #[test]
    fn equal_numbers_say_nothing() {
        let mut comparison = Comparison::new(&REASONS);
        assert_eq!(comparison.result("lock", "T", 2, 2), "2 (2)");
        assert_eq!(comparison.to_string(), "No number differs from the paper's.\n");
    }

    #[test]
    fn differences_stand_out_with_their_reason() {
        let mut comparison = Comparison::new(&REASONS);
        assert_eq!(comparison.result("lock", "T", 2, 7), "**2 ≠ 7**");
        comparison.result("lock", "RQ", 1, 2);
        assert_eq!(comparison.size("stack", "RQ", 3, 4), "3 ≠ 4");
        assert!(comparison.unexplained().is_empty());
        let text = comparison.to_string();
        assert!(text.contains("- T of lock: Ours has fewer threads."), "{text}");
        assert!(text.contains("- RQ of lock, stack: Counted otherwise."), "{text}");
    }

    #[test]
    fn what_nobody_explained_is_said_so() {
        let mut comparison = Comparison::new(&REASONS);
        comparison.result("stack", "T", 2, 7);
        assert_eq!(comparison.unexplained(), ["stack: T is 2, in the paper 7"]);
        assert!(comparison.to_string().contains("**Not explained:** stack: T is 2, in the paper 7."));
    }
}
