//! The paper's number beside ours: equal ones are shown in brackets, others stand out, and every difference is told below the
//! table with its reason, or as one that nobody has explained. Results that differ are in bold; sizes are not, because the
//! programs are written anew.

use std::fmt::{self, Display};

/// Why some numbers differ, and which: a reason excuses exactly these, so that a number that changes is told again.
pub struct DifferenceReason {
    pub excuses: &'static [Excuse],
    pub why: &'static str,
}

/// The numbers of one row that a reason excuses: column, ours, the paper's.
pub struct Excuse {
    pub row: &'static str,
    pub numbers: &'static [(&'static str, &'static str, &'static str)],
}

/// The differences found so far.
pub struct TableComparison {
    reasons: &'static [DifferenceReason],
    found: Vec<Difference>,
}

struct Difference {
    row: String,
    column: &'static str,
    ours: String,
    paper: String,
}

impl TableComparison {
    pub fn new(reasons: &'static [DifferenceReason]) -> TableComparison {
        TableComparison { reasons, found: Vec::new() }
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
        self.reasons.iter().position(|reason| reason.excuses.iter().any(|excuse| excuse.speaks_of(difference)))
    }
}

impl Excuse {
    fn speaks_of(&self, difference: &Difference) -> bool {
        let number = (difference.column, difference.ours.as_str(), difference.paper.as_str());
        self.row == difference.row && self.numbers.contains(&number)
    }
}

/// A list, one item per reason that is needed; nothing if there are no differences.
impl Display for TableComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() {
            return writeln!(f, "No number differs from the paper's.");
        }
        writeln!(f, "Where ours (first) differ from the paper's:\n")?;
        for open in self.unexplained() {
            writeln!(f, "- **Not explained:** {open}.")?;
        }
        for (number, reason) in self.reasons.iter().enumerate() {
            let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
            for difference in self.found.iter().filter(|difference| self.reason(difference) == Some(number)) {
                let Difference { row, column, ours, paper } = difference;
                let number = format!("{column} {ours} ≠ {paper}");
                match rows.last_mut() {
                    Some((last, numbers)) if last == row => numbers.push(number),
                    _ => rows.push((row, vec![number])),
                }
            }
            if !rows.is_empty() {
                let rows: Vec<String> =
                    rows.into_iter().map(|(row, numbers)| format!("{row} ({})", numbers.join(", "))).collect();
                writeln!(f, "- {}: {}", rows.join("; "), reason.why)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REASONS: [DifferenceReason; 2] = [
        DifferenceReason {
            excuses: &[Excuse { row: "lock", numbers: &[("T", "2", "7")] }],
            why: "Ours has fewer threads.",
        },
        DifferenceReason {
            excuses: &[
                Excuse { row: "lock", numbers: &[("RQ", "1", "2")] },
                Excuse { row: "stack", numbers: &[("RQ", "3", "4")] },
            ],
            why: "Counted otherwise.",
        },
    ];

    #[test]
    fn equal_numbers_say_nothing() {
        let mut comparison = TableComparison::new(&REASONS);
        assert_eq!(comparison.result("lock", "T", 2, 2), "2 (2)");
        assert_eq!(comparison.to_string(), "No number differs from the paper's.\n");
    }

    #[test]
    fn differences_stand_out_with_their_reason() {
        let mut comparison = TableComparison::new(&REASONS);
        assert_eq!(comparison.result("lock", "T", 2, 7), "**2 ≠ 7**");
        comparison.result("lock", "RQ", 1, 2);
        assert_eq!(comparison.size("stack", "RQ", 3, 4), "3 ≠ 4");
        assert!(comparison.unexplained().is_empty());
        let text = comparison.to_string();
        assert!(text.contains("- lock (T 2 ≠ 7): Ours has fewer threads."), "{text}");
        assert!(text.contains("- lock (RQ 1 ≠ 2); stack (RQ 3 ≠ 4): Counted otherwise."), "{text}");
    }

    #[test]
    fn what_nobody_explained_is_said_so() {
        let mut comparison = TableComparison::new(&REASONS);
        comparison.result("stack", "T", 2, 7);
        assert_eq!(comparison.unexplained(), ["stack: T is 2, in the paper 7"]);
        assert!(comparison.to_string().contains("**Not explained:** stack: T is 2, in the paper 7."));
    }

    #[test]
    fn another_number_in_an_excused_place_is_not_excused() {
        let mut comparison = TableComparison::new(&REASONS);
        comparison.result("lock", "T", 3, 7);
        comparison.result("lock", "RQ", 1, 3);
        assert_eq!(comparison.unexplained(), ["lock: T is 3, in the paper 7", "lock: RQ is 1, in the paper 3"]);
    }
}
