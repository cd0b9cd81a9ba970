//! Answers of `confirm`: whether this machine shows what a witness says.

use crate::measure::Limit;
use crate::states::EndRun;
use crate::verdict::Verdict;
use ravelin_program::Model;
use serde::{Deserialize, Serialize};

/// Does this machine do what a witness under tso says?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Confirmation {
    /// The program or the report, as named by the user.
    pub file: String,
    /// The model that allows the outcome: tso.
    pub model: Model,
    /// Violated: this machine shows an outcome that sequential consistency forbids. Holds: the model forbids it, and nothing was
    /// run. Unknown: the model allows it, and it was not seen.
    pub verdict: Verdict,
    /// The same, with what the model forbids apart.
    pub outcome: ConfirmOutcome,
    /// What gave the witness: `check`, `reach`, `states`, or a finding of `run` or `verify`.
    pub source: String,
    /// The outcome that was looked for, or why nothing was run.
    pub sentence: String,
    /// What could not be tried, and other remarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The tests that were run, one after the other: the last one shows the outcome, if one does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<HardwareTest>,
    /// What ended it early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The run of the witness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Box<EndRun>>,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConfirmOutcome {
    /// This machine shows the outcome.
    Seen,
    /// The model allows the outcome, and it was not seen.
    NotSeen,
    /// The model forbids the outcome, or there is none that differs from sc. Nothing was run.
    Forbidden,
    /// This machine shows an outcome that the model forbids: the model or the machine is wrong.
    ModelBroken,
}

impl ConfirmOutcome {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            ConfirmOutcome::Seen => "seen",
            ConfirmOutcome::NotSeen => "allowed, not seen",
            ConfirmOutcome::Forbidden => "x86 forbids it",
            ConfirmOutcome::ModelBroken => "an outcome that the model forbids was seen",
        }
    }

    /// What it means for the exit code.
    pub fn verdict(self) -> Verdict {
        match self {
            ConfirmOutcome::Seen | ConfirmOutcome::ModelBroken => Verdict::Violated,
            ConfirmOutcome::NotSeen => Verdict::Unknown,
            ConfirmOutcome::Forbidden => Verdict::Holds,
        }
    }
}

/// A test without loops and conditions that was made from a witness, and what it showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HardwareTest {
    /// All accesses of the witness, or only those of its happens-before cycle.
    pub part: TestPart,
    /// How its threads are brought together.
    pub method: TestMethod,
    /// The threads, each on a core of its own if there are enough.
    pub threads: Vec<TestThread>,
    /// The outcome of the witness in this test.
    pub wanted: String,
    /// What was measured.
    pub measured: TestCounts,
    /// The same test with fences: if it was run, and what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fenced: Option<FencedTest>,
}

/// Which accesses of a witness a test has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TestPart {
    /// All.
    Run,
    /// Those of the happens-before cycle.
    Cycle,
}

/// How the threads of a test meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TestMethod {
    /// Never: values name iterations, and iterations are matched afterwards.
    Perpetual,
    /// Before each iteration, which has cells of its own.
    Barrier,
}

impl TestMethod {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TestMethod::Perpetual => "perpetual",
            TestMethod::Barrier => "barrier",
        }
    }
}

/// A thread of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestThread {
    /// Its name in the program.
    pub thread: String,
    /// Its accesses and fences in order: `store x = 1 (line 3)`.
    pub accesses: Vec<String>,
}

/// What a test showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestCounts {
    /// How often each thread made its accesses.
    pub iterations: u64,
    /// Wall-clock time.
    pub seconds: f64,
    /// How often the wanted outcome was seen.
    pub seen: u64,
    /// How often outcomes were seen that the model forbids.
    pub forbidden: u64,
    /// Every outcome that was counted, also those that were not seen.
    pub histogram: Vec<OutcomeCount>,
}

/// How often an outcome was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeCount {
    /// What the loads read, and what is in memory at the end if that counts.
    pub outcome: String,
    /// How often.
    pub count: u64,
    /// Who allows it.
    pub allowed: AllowedBy,
    /// It is that of the witness.
    pub wanted: bool,
}

/// The strongest model that allows an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AllowedBy {
    /// Sequential consistency.
    Sc,
    /// x86-TSO, and not sequential consistency.
    Tso,
    /// None of them.
    Nothing,
}

impl AllowedBy {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            AllowedBy::Sc => "sc",
            AllowedBy::Tso => "tso, not sc",
            AllowedBy::Nothing => "forbidden",
        }
    }
}

/// A test with the fences that make it robust.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FencedTest {
    /// Where they are: `p[0]: after store x = 1 (line 3)`.
    pub fences: Vec<String>,
    /// What was measured.
    pub measured: TestCounts,
}

impl TestCounts {
    /// Whether nothing was counted: the test did not complete a single batch.
    pub fn is_empty(&self) -> bool {
        self.iterations == 0
    }

    /// How often the wanted outcome is seen in a second; none if no time has passed.
    pub fn rate(&self) -> Option<u64> {
        (self.seconds > 0.0).then(|| (self.seen as f64 / self.seconds).round() as u64)
    }
}
