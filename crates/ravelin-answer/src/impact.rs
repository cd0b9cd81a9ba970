//! Whether it matters that a program is not robust: a part of the answers of `check`.

use crate::reach::RunWitness;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// What weak memory can do to a program, beyond the question whether it is robust.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Impact {
    /// Whether the program is robust, whichever property was asked about. A data race counts as a violation.
    pub robust: Verdict,
    /// How much the violations matter; omitted if there is none, or a data race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// How many goals and assertions the program states. An `exists` is a question, not a goal.
    pub stated: usize,
    /// Whether goals and assertions hold and nothing faults under sc.
    pub sc: Verdict,
    /// The same under the model of the answer.
    pub model: Verdict,
    /// Lines of loops in which a stale value causes one more iteration and nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<usize>,
    /// Lines of loads that may be stale and whose value nothing depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<usize>,
    /// What keeps the program from being proved observationally robust, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// A run that violates a goal; under sc if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Box<RunWitness>>,
}

/// How much the violations of robustness matter, the mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// With a stale value a thread comes back to the same place with the same live registers and has written nothing.
    Rejoins,
    /// No value that may be stale is used, except as in `rejoins`.
    Unobserved,
    /// Values change, and all stated goals hold under the model.
    GoalsHold,
    /// A goal is violated, an assertion fails, a thread faults, or there is a deadlock.
    Wrong,
    /// Not settled.
    Open,
}

impl Grade {
    /// In expectations.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Rejoins => "rejoins",
            Grade::Unobserved => "unobserved",
            Grade::GoalsHold => "goals hold",
            Grade::Wrong => "wrong",
            Grade::Open => "open",
        }
    }

    /// Nothing has to be repaired.
    pub fn is_harmless(self) -> bool {
        matches!(self, Grade::Rejoins | Grade::Unobserved | Grade::GoalsHold)
    }
}

impl Impact {
    /// The violations of robustness are known to do no harm.
    pub fn is_harmless(&self) -> bool {
        self.grade.is_some_and(Grade::is_harmless)
    }
}
