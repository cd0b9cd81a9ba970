//! The results of suggestions that were tried.

use super::json::document;
use super::sentence;
use ravelin_answer::text::counted;
use ravelin_sanitizer::repair::{Fix, OrderChange};
use ravelin_sanitizer::report::{Finding, Report};
use serde_json::{Value, json};
use std::fmt::Write;

/// Findings before and after.
pub struct Tried {
    fixes: Vec<Fix>,
    gone: Vec<Finding>,
    remaining: Vec<Finding>,
    new: Vec<Finding>,
    /// Accesses that are weaker than seq_cst.
    weaker: usize,
    runs: u64,
    /// Everything was watched and recorded, without and with the fixes.
    complete: bool,
}

impl Tried {
    /// Compares two reports about the same runs, without and with the fixes.
    pub fn new(before: &Report, after: &Report, fixes: Vec<Fix>, weaker: usize, runs: u64) -> Tried {
        let is_in = |finding: &&Finding, report: &Report| report.findings.iter().any(|other| other.is_same(finding));
        Tried {
            fixes,
            gone: before.findings.iter().filter(|finding| !is_in(finding, after)).cloned().collect(),
            remaining: after.findings.iter().filter(|finding| is_in(finding, before)).cloned().collect(),
            new: after.findings.iter().filter(|finding| !is_in(finding, before)).cloned().collect(),
            weaker,
            runs,
            complete: before.is_complete() && after.is_complete(),
        }
    }
}

/// The data of a report about tried suggestions.
pub struct Outcome<'a> {
    pub program: &'a str,
    pub tried: &'a Tried,
    /// All suggestions were tried, not only those that the user named.
    pub all: bool,
}

impl Outcome<'_> {
    /// As text for users.
    pub fn text(&self) -> String {
        let Tried { fixes, gone, remaining, new, .. } = self.tried;
        let mut text = String::new();
        let _ = writeln!(text, "{}: {} with", self.program, counted(self.tried.runs, "run"));
        for fix in fixes {
            let _ = writeln!(text, "  {fix}");
        }
        if fixes.is_empty() {
            text.push_str("  nothing changed\n");
        }
        for (what, findings) in [("gone", gone), ("remains", remaining), ("only with the change", new)] {
            for finding in findings {
                let _ = writeln!(text, "{what}: {}", told(finding));
            }
        }
        let left = remaining.len() + new.len();
        let _ = match left {
            0 if !self.tried.complete => {
                writeln!(text, "whether anything remains is unknown: not everything was watched and recorded")
            }
            0 if gone.is_empty() => writeln!(text, "nothing was found, with or without"),
            0 => writeln!(text, "nothing remains"),
            _ => writeln!(text, "{} remain{}", counted(left as u64, "finding"), if left == 1 { "s" } else { "" }),
        };
        if self.all && !fixes.is_empty() {
            let (fences, stronger) = self.counts();
            let _ = writeln!(
                text,
                "{} and {} instead of making {} seq_cst{}",
                counted(fences as u64, "fence"),
                counted(stronger as u64, "stronger access").replace("accesss", "accesses"),
                counted(self.tried.weaker as u64, "access").replace("accesss", "accesses"),
                self.more()
            );
        }
        text
    }

    /// As JSON for programs.
    pub fn json(&self) -> String {
        let list = |findings: &[Finding]| findings.iter().map(told).collect::<Vec<_>>();
        let (fences, stronger) = self.counts();
        let left = self.tried.remaining.len() + self.tried.new.len();
        let answer: Value = json!({
            "program": self.program,
            "verdict": match (left, self.tried.complete) {
                (0, true) => "holds",
                (0, false) => "unknown",
                _ => "violated",
            },
            "runs": self.tried.runs,
            "fixes": self.tried.fixes.iter().map(Fix::to_string).collect::<Vec<_>>(),
            "gone": list(&self.tried.gone),
            "remaining": list(&self.tried.remaining),
            "new": list(&self.tried.new),
            "fences": fences,
            "strengthened": stronger,
            "weaker_than_seq_cst": self.tried.weaker,
        });
        document("run", vec![answer])
    }

    fn counts(&self) -> (usize, usize) {
        let fences = self.tried.fixes.iter().filter(|fix| fix.repair == OrderChange::Fence).count();
        (fences, self.tried.fixes.len() - fences)
    }

    /// How many more changes would make all accesses seq_cst.
    fn more(&self) -> String {
        let changes = self.tried.fixes.len();
        match self.tried.weaker.checked_sub(changes) {
            Some(more) if more > 0 => format!(", which would be {} % more", more * 100 / changes),
            _ => String::new(),
        }
    }
}

fn told(finding: &Finding) -> String {
    let place = |finding: &Finding| {
        let at = |place: Option<String>| place.unwrap_or_else(|| "an unknown place".to_owned());
        format!("{} and {}", at(finding.access.place()), at(finding.other.place()))
    };
    format!("{} ({})", sentence(finding), place(finding))
}
