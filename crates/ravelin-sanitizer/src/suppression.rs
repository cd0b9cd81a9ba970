//! Findings that a user does not want to see, listed in a file.
//!
//! A line is `race:PATTERN`, `free:PATTERN`, `robust:PATTERN`, `misuse:PATTERN`, `any:PATTERN`, or the name of one kind
//! of finding such as `double-lock:PATTERN`; `#` begins a comment. A pattern is compared with the functions and source
//! files of both stacks and with the location's name; `*` matches anything. A file also matches by any suffix of its
//! path that begins after a `/`.

use crate::report::Finding;
use ravelin_answer::sanitizer::{AccessKind, PathStepKind, Problem, ProblemGroup};
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// The findings that a line covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SuppressionScope {
    Group(ProblemGroup),
    Kind(Problem),
    /// Races with freeing the memory.
    Free,
    Any,
}

impl SuppressionScope {
    /// The scope with a name.
    fn of_name(name: &str) -> Option<SuppressionScope> {
        let groups = [ProblemGroup::Race, ProblemGroup::Robustness, ProblemGroup::Misuse];
        let group = groups.into_iter().find(|group| group.name() == name).map(SuppressionScope::Group);
        let kind = || Problem::of_name(name).map(SuppressionScope::Kind);
        match name {
            "any" => Some(SuppressionScope::Any),
            "free" => Some(SuppressionScope::Free),
            _ => group.or_else(kind),
        }
    }

    fn has(self, finding: &Finding) -> bool {
        match self {
            SuppressionScope::Any => true,
            SuppressionScope::Group(group) => finding.problem.group() == group,
            SuppressionScope::Kind(kind) => finding.problem == kind,
            SuppressionScope::Free => {
                let frees = [&finding.access, &finding.other].iter().any(|access| access.kind == AccessKind::Free);
                frees && finding.problem == Problem::DataRace
            }
        }
    }
}

/// One line of a suppressions file.
#[derive(Clone, Debug)]
struct Suppression {
    about: SuppressionScope,
    pattern: String,
    origin: String,
    used: Cell<u64>,
}

/// All lines of all suppressions files.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    lines: Vec<Suppression>,
}

/// A suppressions file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WrongSuppressions {
    #[error("{}: the suppressions cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error(
        "{file}:{line}: `{text}` is not a suppression; expected race:PATTERN, free:PATTERN, robust:PATTERN, misuse:PATTERN, any:PATTERN or a kind of finding and a pattern, such as double-lock:PATTERN"
    )]
    Line { file: String, line: usize, text: String },
}

impl Suppressions {
    /// Reads a file and adds its lines.
    pub fn read(&mut self, path: &Path) -> Result<(), WrongSuppressions> {
        let text = std::fs::read(path).map_err(|error| WrongSuppressions::Unreadable(path.to_owned(), error))?;
        self.parse(&path.display().to_string(), &String::from_utf8_lossy(&text))
    }

    /// Adds the lines of a file that is already read.
    pub fn parse(&mut self, file: &str, text: &str) -> Result<(), WrongSuppressions> {
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let parts = line.split_once(':').and_then(|(about, pattern)| {
                let about = SuppressionScope::of_name(about.trim())?;
                Some((about, pattern.trim())).filter(|(_, pattern)| !pattern.is_empty())
            });
            let Some((about, pattern)) = parts else {
                let (file, text) = (file.to_owned(), line.to_owned());
                return Err(WrongSuppressions::Line { file, line: index + 1, text });
            };
            let origin = format!("{file}:{}: {line}", index + 1);
            self.lines.push(Suppression { about, pattern: pattern.to_owned(), origin, used: Cell::new(0) });
        }
        Ok(())
    }

    /// Whether a finding is suppressed. The first line that covers it counts as used.
    pub fn cover(&self, finding: &Finding) -> bool {
        let covering = self.lines.iter().find(|line| line.covers(finding));
        covering.inspect(|line| line.used.set(line.used.get() + 1)).is_some()
    }

    /// The lines that no finding needed, each with its file and number.
    pub fn unused(&self) -> Vec<String> {
        self.lines.iter().filter(|line| line.used.get() == 0).map(|line| line.origin.clone()).collect()
    }
}

impl Suppression {
    fn covers(&self, finding: &Finding) -> bool {
        // The path of an access is no stack of it, but a circle of locks consists of its steps.
        let circle = || finding.path.iter().filter(|step| step.kind == PathStepKind::WhileHolding);
        let steps = || circle().flat_map(|step| [&step.before, &step.after]);
        let accesses = || [&finding.access, &finding.other].into_iter().chain(steps());
        let frames = || accesses().flat_map(|access| &access.stack);
        self.about.has(finding)
            && (frames().any(|frame| frame.function.as_deref().is_some_and(|name| matches(&self.pattern, name)))
                || frames().any(|frame| frame.file.as_deref().is_some_and(|file| self.matches_file(file)))
                || finding.location.name.as_deref().is_some_and(|name| matches(&self.pattern, name)))
    }

    fn matches_file(&self, file: &str) -> bool {
        let ends = file.match_indices('/').map(|(at, _)| &file[at + 1..]);
        matches(&self.pattern, file) || ends.into_iter().any(|end| matches(&self.pattern, end))
    }
}

/// Whether a pattern matches the whole text, where `*` matches anything. Takes time at most proportional to the product
/// of the lengths.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        // The earliest match leaves the most for the rest.
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        let cases = [
            ("push", "push", true),
            ("push", "push_back", false),
            ("push*", "push_back", true),
            ("*push", "Queue::push", true),
            ("Queue<*>::push", "Queue<int>::push", true),
            ("Queue<*>::push", "Queue<int>::pop", false),
            ("*", "", true),
            ("**", "x", true),
            ("a*a", "a", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        let mut suppressions = Suppressions::default();
        let text = "# ours\n\nrace:legacy_* # old\n robust : queue.c\nraces:x\n";
        let error = suppressions.parse("list", text).expect_err("races: is unknown");
        assert!(error.to_string().starts_with("list:5: `races:x`"), "{error}");
        assert_eq!(suppressions.unused(), ["list:3: race:legacy_*", "list:4: robust : queue.c"]);
        assert!(suppressions.parse("list", "any:").is_err());
        assert!(suppressions.parse("list", "misuse:f").is_ok());
        assert!(Problem::ALL.iter().all(|kind| suppressions.parse("list", &format!("{}: *", kind.name())).is_ok()));
    }
}
