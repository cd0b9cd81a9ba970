//! The rules that results refer to: one per kind of violation.

use serde_json::{Value, json};

/// A kind of violation.
#[derive(Debug)]
pub(crate) struct Rule {
    pub id: &'static str,
    /// In a few words.
    pub heading: &'static str,
    pub description: &'static str,
    pub level: &'static str,
}

impl Rule {
    pub(super) fn told(&self) -> Value {
        json!({
            "id": self.id,
            "name": name(self.id),
            "shortDescription": { "text": self.heading },
            "fullDescription": { "text": self.description },
            "defaultConfiguration": { "level": self.level },
        })
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
pub(crate) const STATIC: &[Rule] = &[
    Rule {
        id: "not-robust-tso",
        heading: "Not robust against x86-TSO",
        description: "Store buffers let this program do what sequential consistency forbids: a delayed store and an access that overtakes it are part of a happens-before cycle.",
        level: "warning",
    },
    Rule {
        id: "not-robust-pso",
        heading: "Not robust against PSO",
        description: "Store buffers, one for each address, let this program do what sequential consistency forbids: a delayed store and an access that overtakes it are part of a happens-before cycle.",
        level: "warning",
    },
    Rule {
        id: "stale-access",
        heading: "Stale access",
        description: "C11 allows this access to miss a write that it cannot miss under sequential consistency, so the program is not robust.",
        level: "warning",
    },
    Rule {
        id: "data-race",
        heading: "Data race",
        description: "Conflicting accesses, at least one of them non-atomic, are not ordered by happens-before.",
        level: "error",
    },
    Rule {
        id: "triangular-race",
        heading: "Triangular race",
        description: "A thread stores and then, with no fence between, reads what another thread stores to. Programs without such races are robust against x86-TSO; those with one may be.",
        level: "note",
    },
    Rule {
        id: "goal",
        heading: "Forbidden state",
        description: "A state that the program says is never reached can be reached.",
        level: "error",
    },
    Rule { id: "assert", heading: "Failing assertion", description: "An assertion can fail.", level: "error" },
    Rule {
        id: "fault",
        heading: "Error of the program",
        description: "An address lies outside of memory, a value outside of its type, or something is divided by zero.",
        level: "error",
    },
    Rule {
        id: "fences",
        heading: "Fences needed",
        description: "Without these fences, or stronger orders, the program is not robust, or not safe.",
        level: "warning",
    },
];

/// Of the sanitizer.
#[cfg(feature = "sanitizer")]
pub(crate) const SANITIZER: &[Rule] = &[
    Rule {
        id: "data-race",
        heading: "data race",
        description: "Conflicting accesses, at least one of them non-atomic, are not ordered by happens-before.",
        level: "error",
    },
    Rule {
        id: "stale-read",
        heading: "may read a stale value",
        description: "Under sequential consistency this read sees a write that it may miss under C11.",
        level: "warning",
    },
    Rule {
        id: "stale-write",
        heading: "store may be overtaken",
        description: "Under sequential consistency this store comes after a write that may overwrite it under C11.",
        level: "warning",
    },
    Rule {
        id: "stale-update",
        heading: "update may read a stale value",
        description: "Under sequential consistency this read-modify-write sees a write that it may miss under C11.",
        level: "warning",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_stands_once_in_its_table() {
        let tables = [
            STATIC,
            #[cfg(feature = "sanitizer")]
            SANITIZER,
        ];
        for rules in tables {
            for (number, rule) in rules.iter().enumerate() {
                assert_eq!(rules.iter().position(|other| other.id == rule.id), Some(number));
            }
        }
        assert_eq!(name("not-robust-tso"), "NotRobustTso");
    }
}
