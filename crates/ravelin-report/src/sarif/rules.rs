//! The rules that results refer to: one per kind of violation.

use super::format::{Configuration, ReportingDescriptor, SarifLevel};
use ravelin_answer::sanitizer::Problem;
use std::sync::LazyLock;

/// A kind of violation.
#[derive(Debug)]
pub(super) struct Rule {
    pub id: &'static str,
    /// In a few words.
    pub heading: &'static str,
    pub description: &'static str,
    pub level: SarifLevel,
}

impl Rule {
    pub(super) fn descriptor(&self) -> ReportingDescriptor<'static> {
        ReportingDescriptor {
            id: self.id,
            name: name(self.id),
            short_description: self.heading.into(),
            full_description: self.description.into(),
            default_configuration: Configuration { level: self.level },
        }
    }
}

/// `stale-read` is `StaleRead`: names are identifiers, as other tools write them.
fn name(id: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    id.split('-').map(word).collect()
}

/// Of `check`, `reach` and `fence`.
pub(super) const STATIC: &[Rule] = &[
    Rule {
        id: "not-robust-tso",
        heading: "Not robust against x86-TSO",
        description: "Store buffers let this program do what sequential consistency forbids: a delayed store and an access that overtakes it are part of a happens-before cycle.",
        level: SarifLevel::Warning,
    },
    Rule {
        id: "not-robust-pso",
        heading: "Not robust against PSO",
        description: "Store buffers, one for each address, let this program do what sequential consistency forbids: a delayed store and an access that overtakes it are part of a happens-before cycle.",
        level: SarifLevel::Warning,
    },
    Rule {
        id: "stale-access",
        heading: "Stale access",
        description: "C11 allows this access to miss a write that it cannot miss under sequential consistency, so the program is not robust.",
        level: SarifLevel::Warning,
    },
    Rule {
        id: "data-race",
        heading: "Data race",
        description: "Conflicting accesses, at least one of them non-atomic, are not ordered by happens-before.",
        level: SarifLevel::Error,
    },
    Rule {
        id: "triangular-race",
        heading: "Triangular race",
        description: "A thread stores and then, with no fence between, reads what another thread stores to. Programs without such races are robust against x86-TSO; those with one may be.",
        level: SarifLevel::Note,
    },
    Rule {
        id: "goal",
        heading: "Forbidden state",
        description: "A state that the program says is never reached can be reached.",
        level: SarifLevel::Error,
    },
    Rule {
        id: "deadlock",
        heading: "Deadlock",
        description: "Every thread that is not at its end waits for a value that no thread will write.",
        level: SarifLevel::Error,
    },
    Rule {
        id: "assert",
        heading: "Failing assertion",
        description: "An assertion can fail.",
        level: SarifLevel::Error,
    },
    Rule {
        id: "fault",
        heading: "Error of the program",
        description: "An address lies outside of memory, a value outside of its type, or something is divided by zero.",
        level: SarifLevel::Error,
    },
    Rule {
        id: "fences",
        heading: "Fences needed",
        description: "Without these fences, or stronger orders, the program is not robust, or not safe.",
        level: SarifLevel::Warning,
    },
];

/// Of the sanitizer: one for each kind of finding.
pub(super) static SANITIZER: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |problem: Problem| Rule {
        id: problem.name(),
        heading: problem.words(),
        description: problem.description(),
        level: if problem.is_certain() { SarifLevel::Error } else { SarifLevel::Warning },
    };
    let failure = Rule {
        id: WEAK_FAILURE,
        heading: "a weak run fails",
        description: "The program failed in a run in which atomic accesses took old values, as C11 allows.",
        level: SarifLevel::Error,
    };
    Problem::ALL.into_iter().map(rule).chain([failure]).collect()
});

/// The rule of weak runs that ended badly.
pub(super) const WEAK_FAILURE: &str = "weak-failure";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_stands_once_in_its_table() {
        for rules in [STATIC, &**SANITIZER] {
            for (number, rule) in rules.iter().enumerate() {
                assert_eq!(rules.iter().position(|other| other.id == rule.id), Some(number));
            }
        }
        assert_eq!(name("not-robust-tso"), "NotRobustTso");
    }
}
