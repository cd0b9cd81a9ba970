//! Answers of `check`: robustness against tso and pso, against ra and rc20, and freedom from triangular races.

use crate::attack::{Attack, AttackWitness, Fate};
use crate::graph::{Edge, Event};
use crate::impact::Impact;
use crate::machines::Machines;
use crate::measure::{Limit, Statistics};
use crate::place::SourcePlace;
use crate::run::{InitialState, RunStep};
use crate::threads::AnyNumber;
use crate::verdict::{Deadlocks, Stops, Verdict};
use ravelin_program::{Model, SeqCstReading};
use serde::{Deserialize, Serialize};

/// The property in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// Every computation has the trace of one under sc.
    Robust,
    /// Every read that may be stale is one that nothing depends on.
    Observational,
    /// No goal is violated, no assertion fails, nothing faults, there is no data race and no deadlock.
    Safe,
    /// There are no triangular races.
    Trf,
}

impl Property {
    /// All of them.
    pub const ALL: [Property; 4] = [Property::Robust, Property::Observational, Property::Safe, Property::Trf];

    /// Its name in documents and options.
    pub fn name(self) -> &'static str {
        match self {
            Property::Robust => "robust",
            Property::Observational => "observational",
            Property::Safe => "safe",
            Property::Trf => "trf",
        }
    }
}

/// Is a program robust against tso or pso?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Robustness {
    /// The program, as named by the user.
    pub file: String,
    /// `tso` or `pso`.
    pub model: Model,
    /// `robust`, `observational` or `safe`.
    pub property: Property,
    /// On the property.
    pub verdict: Verdict,
    /// `shared`, `attacks`, `single` or `monitor`.
    pub engine: String,
    /// pso: no single thread that delays its stores breaks robustness, and whether several do together is not known; the verdict is
    /// unknown.
    pub one_delaying_thread: bool,
    /// The program is robust because it is robust against this model, which allows more; omitted if a search of its own says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implied_by: Option<Model>,
    /// Every attack.
    pub attacks: Vec<Attack>,
    /// Of the first feasible attack.
    pub witness: Option<Box<AttackWitness>>,
    /// What ended the search early.
    pub limit: Option<Limit>,
    /// How much was explored.
    pub explored: RobustEffort,
    /// For a program with any number of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any_number: Option<AnyNumber>,
    /// Where threads can stop under sc; omitted if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<Stops>,
    /// Whether there are deadlocks; omitted if no thread can wait, if nothing was asked about them, and if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlocks: Option<Deadlocks>,
    /// Whether it matters; omitted if that was not asked, and if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
}

impl Robustness {
    /// Whether the program is robust, whichever property was asked about.
    pub fn robust(&self) -> Verdict {
        self.impact.as_ref().map_or(self.verdict, |impact| impact.robust)
    }

    /// How many attacks satisfy a predicate.
    pub fn count(&self, is: impl Fn(&Attack) -> bool) -> usize {
        self.attacks.iter().filter(|attack| is(attack)).count()
    }

    /// How many attacks have this result.
    pub fn fates(&self, fate: Fate) -> usize {
        self.count(|attack| attack.fate == fate)
    }
}

/// How much the robustness check explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RobustEffort {
    /// States of all searches.
    pub states: u64,
    /// Of these, with the engine `shared`: those under sc.
    pub sc: u64,
    /// Those of attackers with stores delayed.
    pub delaying: u64,
    /// Those of helpers on the happens-before path.
    pub helping: u64,
    /// Memory for states, in bytes.
    pub bytes: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Is a program free of triangular races?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriangularRaces {
    /// The program, as named by the user.
    pub file: String,
    /// `tso`.
    pub model: Model,
    /// `trf`.
    pub property: Property,
    /// Holds: no triangular race.
    pub verdict: Verdict,
    /// Freedom from races settles robustness as well.
    pub implies_robust: bool,
    /// The race.
    pub race: Option<Box<TriangularRace>>,
    /// What ended the search early.
    pub limit: Option<Limit>,
    /// What was explored.
    pub statistics: Statistics,
    /// Where threads can stop under sc; omitted if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<Stops>,
    /// Whether there are deadlocks; omitted if no thread can wait, if nothing was asked about them, and if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlocks: Option<Deadlocks>,
}

/// A store, a later load of the same thread with no fence between, and a store of another thread to the loaded cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriangularRace {
    /// The thread that stores and then loads.
    pub thread: String,
    /// The thread that stores to the loaded cell.
    pub racing_thread: String,
    /// The store.
    pub store: SourcePlace,
    /// The load.
    pub load: SourcePlace,
    /// The store that races with the load.
    pub racing_store: SourcePlace,
    /// The cell of the store.
    pub stored: String,
    /// The cell of the load.
    pub loaded: String,
    /// Before the first step.
    pub initial: InitialState,
    /// A run under sc.
    pub steps: Vec<RunStep>,
    /// What the threads did in memory; null if the run is too long for a graph.
    pub events: Option<Vec<Event>>,
    /// What happened before what.
    pub edges: Option<Vec<Edge>>,
}

/// Is a program robust against ra or rc20, and free of data races?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct C11Robustness {
    /// The program, as named by the user.
    pub file: String,
    /// `ra` or `rc20`.
    pub model: Model,
    /// `robust`, `observational` or `safe`.
    pub property: Property,
    /// On the property, and on data races if they were searched for.
    pub verdict: Verdict,
    /// How seq_cst accesses were to be read; null if there are none.
    pub seq_cst: Option<SeqCstReading>,
    /// What the answer rests on, as far as seq_cst accesses are concerned; null if there are none, and if a limit was hit first.
    pub seq_cst_basis: Option<SeqCstBasis>,
    /// Nothing was found, but seq_cst accesses are the reason that there may be something all the same.
    pub may_miss_violations: bool,
    /// The program is robust because it is robust against this model, which allows more; omitted if a search of its own says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implied_by: Option<Model>,
    /// A stale access.
    pub witness: Option<Box<C11Witness>>,
    /// A data race. The answer then says nothing about robustness.
    pub race: Option<Box<C11Race>>,
    /// Loops that only wait.
    pub waiting_loops: Vec<WaitingLoop>,
    /// The other loops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_loops: Vec<KeptLoop>,
    /// They were rewritten to instructions that wait.
    pub rewritten: bool,
    /// What ended the search early.
    pub limit: Option<Limit>,
    /// What was explored.
    pub statistics: Statistics,
    /// Where threads can stop under sc; omitted if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<Stops>,
    /// Whether there are deadlocks; omitted if no thread can wait, if nothing was asked about them, and if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlocks: Option<Deadlocks>,
    /// Whether it matters; omitted if that was not asked, and if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
}

impl C11Robustness {
    /// Whether the program is robust, whichever property was asked about. A data race counts as a violation.
    pub fn robust(&self) -> Verdict {
        self.impact.as_ref().map_or(self.verdict, |impact| impact.robust)
    }

    /// The waiting loop that contains the stale access.
    pub fn stale_in_loop(&self) -> Option<&WaitingLoop> {
        let witness = self.witness.as_ref()?;
        let line = witness.events.get(witness.access)?.position?.line;
        self.waiting_loops.iter().find(|waiting| waiting.line == Some(line))
    }
}

/// What an answer about a program with seq_cst accesses rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeqCstBasis {
    /// Holds: the search allows all that RC11 allows, and found nothing.
    Search,
    /// Holds: every graph of an sc run with one stale access was judged by RC11's axioms.
    AllGraphs,
    /// Violated: RC11's axioms allow the graph.
    Graph,
    /// Violated, for accesses that are release/acquire and no more: RC11's axioms forbid this graph.
    ReleaseAcquireOnly,
    /// Unknown: RC11's axioms forbid every violation that was found, and there are too many graphs to judge all of them.
    Open,
    /// Unknown: nothing was found with a reading that finds only some violations.
    ReadingOnly,
}

impl SeqCstBasis {
    /// Violations may have been missed.
    pub fn is_open(self) -> bool {
        matches!(self, SeqCstBasis::Open | SeqCstBasis::ReadingOnly)
    }

    /// What it means, in one sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            SeqCstBasis::Search => "This is proved for RC11: the search allows all that RC11 allows.",
            SeqCstBasis::AllGraphs => {
                "This is proved for RC11: every execution graph of an sc run with one stale access was judged by its axioms."
            }
            SeqCstBasis::Graph => "RC11 allows this graph: its axiom about seq_cst accesses was checked.",
            SeqCstBasis::ReleaseAcquireOnly => {
                "seq_cst accesses were read as release/acquire ones; RC11's axiom about seq_cst accesses forbids this graph."
            }
            SeqCstBasis::Open => {
                "It is not known because of seq_cst accesses: RC11 forbids every violation that was found, and there are too many \
                 execution graphs to judge all of them."
            }
            SeqCstBasis::ReadingOnly => {
                "It is not known because of seq_cst accesses: the reading that was asked for finds only some violations of RC11."
            }
        }
    }
}

/// A loop that only waits, and the instruction that could replace it or has replaced it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitingLoop {
    /// Its thread.
    pub thread: String,
    /// Its line.
    pub line: Option<usize>,
    /// The instructions that wait: one after the other with `;` between, side by side with `or` between.
    pub became: String,
    /// They allow more than the loop does, though not under sc: they were used only if the program is robust with them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weaker: bool,
    /// A goal mentions a register or a location that only the loop's attempts have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen_by_goals: bool,
}

/// A loop that does more than wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeptLoop {
    /// Its thread.
    pub thread: String,
    /// Its line.
    pub line: Option<usize>,
    /// Why no instruction that waits can replace it.
    pub reason: String,
}

/// A graph that the model allows and SC does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct C11Witness {
    /// What happens, in one sentence.
    pub sentence: String,
    /// The stale access, by number of event.
    pub access: usize,
    /// The write that it should have read, or come after.
    pub ignored: usize,
    /// Before the first step.
    pub initial: InitialState,
    /// The run under sc up to the access.
    pub steps: Vec<RunStep>,
    /// The events of the graph.
    pub events: Vec<Event>,
    /// Its edges.
    pub edges: Vec<Edge>,
    /// A cycle that sc forbids; its first edge leaves the access.
    pub cycle: Vec<Edge>,
    /// Where the graph can happen. Documents of older versions do not say so.
    #[serde(default)]
    pub machines: Option<Machines>,
    /// What would forbid the graph.
    pub remedy: Option<Remedy>,
}

/// Changes that together forbid a graph. Other violations may remain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedy {
    /// Accesses that need a stronger order.
    pub strengthen: Vec<Strengthen>,
    /// Events before which a seq_cst fence goes.
    pub fence_before: Vec<usize>,
}

/// An access and the order that it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Strengthen {
    /// The access, by number of event.
    pub event: usize,
    /// `acquire`, `release`, `acq_rel` or `seq_cst`.
    pub order: String,
}

/// Two accesses, one of them not atomic, that no synchronisation orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct C11Race {
    /// What happens, in one sentence.
    pub sentence: String,
    /// The earlier of the two, by number of event.
    pub first: usize,
    /// The later one.
    pub second: usize,
    /// Before the first step.
    pub initial: InitialState,
    /// The run under sc up to the second access.
    pub steps: Vec<RunStep>,
    /// The events of the graph.
    pub events: Vec<Event>,
    /// Its edges.
    pub edges: Vec<Edge>,
}
