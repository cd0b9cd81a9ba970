//! Attacks on robustness against tso and pso: a store that is delayed past a later access of its thread.

use crate::graph::{Edge, EdgeKind, Event};
use crate::place::SourcePlace;
use crate::run::{InitialState, RunStep};
use ravelin_program::{Model, Position};
use serde::{Deserialize, Serialize};

/// An attack and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attack {
    /// As `convert --instrument` takes it.
    pub name: String,
    /// The attacker.
    pub thread: String,
    /// The store that is delayed.
    pub store: SourcePlace,
    /// The access that overtakes it; under pso possibly a store.
    pub load: SourcePlace,
    /// Which of the two it is.
    pub overtaking: OvertakingAccess,
    /// Its result.
    pub fate: Fate,
    /// Why it is infeasible.
    pub reason: Option<InfeasibilityReason>,
}

/// What overtakes a delayed store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OvertakingAccess {
    /// A load.
    Load,
    /// A store: only under pso.
    Store,
}

/// The result of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// No computation has it.
    Infeasible,
    /// There is a witness.
    Feasible,
    /// Not settled: a limit was reached, or another attack is feasible and that is enough.
    Open,
}

/// Why an attack is infeasible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InfeasibilityReason {
    /// No path of the thread's control flow leads from the store to the load.
    NeverFollows,
    /// Every path from the store to the load passes a fence or a locked instruction (NR1 of the paper's Table 2).
    Fenced,
    /// The load can only read the cell of the store itself, so it would read its own value early (W5).
    OwnCell,
    /// No other thread ever stores to what the load reads, so no thread can join after it.
    LoadUncontested,
    /// No other thread ever accesses what the store writes, so no path can end there.
    StoreUncontested,
    /// No chain of the other threads' accesses leads from the load back to the store.
    NoWayBack,
    /// What the thread reads from its own delayed stores keeps it from the load, or makes it read such a store (W5).
    OwnValues,
    /// PSO: the overtaking access would be a release store, which waits for all stores before it.
    ReleaseWaits,
    /// The program is robust against a model that allows more.
    Implied,
    /// The search was exhaustive.
    Searched,
}

impl InfeasibilityReason {
    /// The reasons that need no search.
    pub const WITHOUT_SEARCH: [InfeasibilityReason; 9] = [
        InfeasibilityReason::NeverFollows,
        InfeasibilityReason::Fenced,
        InfeasibilityReason::OwnCell,
        InfeasibilityReason::LoadUncontested,
        InfeasibilityReason::StoreUncontested,
        InfeasibilityReason::NoWayBack,
        InfeasibilityReason::OwnValues,
        InfeasibilityReason::ReleaseWaits,
        InfeasibilityReason::Implied,
    ];

    /// For users, as the end of "infeasible: …".
    pub fn describe(self) -> &'static str {
        match self {
            InfeasibilityReason::NeverFollows => "the access never follows the store",
            InfeasibilityReason::Fenced => "a fence or locked instruction is on every path",
            InfeasibilityReason::OwnCell => "the access can only touch the store's own cell",
            InfeasibilityReason::LoadUncontested => "no other thread stores to the accessed cell",
            InfeasibilityReason::StoreUncontested => "no other thread accesses what is stored",
            InfeasibilityReason::NoWayBack => "no chain of accesses leads back to the store",
            InfeasibilityReason::OwnValues => "the thread's own delayed stores keep it from the access",
            InfeasibilityReason::ReleaseWaits => "a release store waits for the stores before it",
            InfeasibilityReason::Implied => "the program is robust against a model that allows more",
            InfeasibilityReason::Searched => "searched",
        }
    }
}

/// A computation whose trace no SC computation has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttackWitness {
    /// The attack's name.
    pub attack: String,
    /// The model that allows the computation.
    pub model: Model,
    /// The thread that delays its stores.
    pub attacker: String,
    /// Threads on the happens-before path, in the order in which they join it.
    pub helpers: Vec<String>,
    /// pso: the threads that delay stores past later accesses, where no thread is known that does harm alone; otherwise omitted. The
    /// attack is then one of the stores and what overtakes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<String>,
    /// The delayed store.
    pub store: SourcePlace,
    /// The access that overtook it.
    pub load: SourcePlace,
    /// Which of the two it is.
    pub overtaking: OvertakingAccess,
    /// What happens, in one sentence.
    pub sentence: String,
    /// Before the first step.
    pub initial: InitialState,
    /// The computation, each step with its part.
    pub steps: Vec<RunStep>,
    /// What the threads did in memory.
    pub events: Vec<Event>,
    /// What happened before what. Edges that follow from others are omitted.
    pub edges: Vec<Edge>,
    /// The happens-before cycle.
    pub cycle: Vec<CycleEvent>,
}

/// An event of the cycle, and the edge to the next one; the last leads to the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleEvent {
    /// Its number.
    pub event: usize,
    /// Its thread.
    pub thread: String,
    /// The position of its instruction.
    #[serde(flatten, with = "crate::place")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
    pub position: Option<Position>,
    /// What it does in memory: `stores x = 1`.
    pub text: String,
    /// The edge to the next.
    pub edge: EdgeKind,
    /// The cell of the edge; null for program order.
    pub cell: Option<String>,
}

/// A part of an attack's computation: τ1 · isu · τ2 · ld · τ3 · st · τ4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WitnessPart {
    /// Before the delayed store is issued.
    #[serde(rename = "τ1")]
    Before,
    /// The delayed store is issued.
    #[serde(rename = "isu")]
    Issue,
    /// The attacker continues with its stores delayed.
    #[serde(rename = "τ2")]
    Delaying,
    /// The overtaking access.
    #[serde(rename = "ld")]
    Load,
    /// The helpers' happens-before path.
    #[serde(rename = "τ3")]
    Path,
    /// The delayed store reaches memory.
    #[serde(rename = "st")]
    Store,
    /// The other delayed stores reach memory.
    #[serde(rename = "τ4")]
    Rest,
}

impl WitnessPart {
    /// Its name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            WitnessPart::Before => "τ1",
            WitnessPart::Issue => "isu",
            WitnessPart::Delaying => "τ2",
            WitnessPart::Load => "ld",
            WitnessPart::Path => "τ3",
            WitnessPart::Store => "st",
            WitnessPart::Rest => "τ4",
        }
    }

    /// What happens in it, for users.
    pub fn meaning(self) -> &'static str {
        match self {
            WitnessPart::Before => "before the delayed store is issued",
            WitnessPart::Issue => "the store is issued and waits in its buffer",
            WitnessPart::Delaying => "its thread goes on while the store waits",
            WitnessPart::Load => "an access overtakes the waiting store",
            WitnessPart::Path => "other threads act on what was accessed",
            WitnessPart::Store => "the waiting store reaches memory, too late",
            WitnessPart::Rest => "the other waiting stores reach memory",
        }
    }
}
