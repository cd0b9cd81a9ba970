//! Answers of `fence`: the sets, their costs, why each fence is needed, or why there is no set.

use crate::attack::AttackWitness;
use crate::measure::Limit;
use crate::reach::RunWitness;
use crate::robust::{C11Race, C11Witness, TriangularRace};
use crate::threads::Instance;
use crate::verdict::Stops;
use ravelin_program::{Model, Position, SeqCstReading};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Which fences does a program need?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fences {
    /// The program, as named by the user.
    pub file: String,
    /// `tso`, `pso`, `ra` or `rc20`.
    pub model: Model,
    /// What the fences are for.
    pub purpose: FencePurpose,
    /// Which sets were requested.
    pub wanted: WantedSets,
    /// Goals of the program.
    pub goals: usize,
    /// Under rc20, for programs with seq_cst accesses, how these were to be read; else null.
    pub seq_cst: Option<SeqCstReading>,
    /// The cost of the existing fences and orders, if they were optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// With `written`: accesses that keep their orders, because the text cannot say weaker ones, as for operators of atomic types in C.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixed_orders: usize,
    /// Only existing fences and orders were to change, but the program is wrong with them, so others were tried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrong_as_written: bool,
    /// What was found.
    pub outcome: FenceOutcome,
    /// The requested sets, cheapest first; with `unknown` those found before.
    pub sets: Vec<FenceSet>,
    /// There are more sets; these are the cheapest.
    pub truncated: bool,
    /// With `not_needed`: existing fences that are not needed, and orders that can be relaxed.
    pub superfluous: Vec<FenceChange>,
    /// With `wrong_under_sc` and `no_set`: what no fence forbids.
    pub trouble: Option<Box<Trouble>>,
    /// Why it is not known.
    pub unknown: Option<FencesUnknown>,
    /// On request: for each fence of the first set what goes wrong without it.
    pub needed: Vec<NeededFence>,
    /// The result of reading and checking the repaired text; null if nothing was changed.
    pub checked: Option<String>,
    /// The change for the first set, as a unified diff; empty if nothing changes, null if it cannot be printed.
    pub diff: Option<String>,
    /// The program with this change.
    pub repaired: Option<String>,
    /// The effort.
    pub effort: FenceEffort,
    /// Where threads can stop under sc; omitted if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<Stops>,
}

impl Fences {
    /// What a set makes of the program, and its cost. If it only weakens existing fences and orders, the cost of these is
    /// included.
    pub fn achieved(&self, set: &FenceSet) -> (String, String) {
        let quality = self.purpose.quality();
        match self.written.filter(|_| !set.adds()) {
            Some(written) if set.cost < written => {
                (format!("{quality} with weaker orders or fences"), format!("cost {} instead of {written}", set.cost))
            }
            Some(written) => (format!("{quality}, and nothing can be weaker"), format!("cost {written}")),
            None => {
                let (plural, make) = if set.fences == 1 { ("", "makes") } else { ("s", "make") };
                let word = format!("{} {}{plural} {make} it {quality}", set.fences, set.noun());
                (word, format!("cost {}", set.cost))
            }
        }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The purpose of fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FencePurpose {
    /// Nothing differs from sc.
    Robustness,
    /// There are no triangular races.
    Trf,
    /// No goal can be reached.
    Safety,
}

impl FencePurpose {
    /// Its name in documents and options.
    pub fn name(self) -> &'static str {
        match self {
            FencePurpose::Robustness => "robustness",
            FencePurpose::Trf => "trf",
            FencePurpose::Safety => "safety",
        }
    }

    /// What the fences make of a program.
    pub fn quality(self) -> &'static str {
        match self {
            FencePurpose::Robustness => "robust",
            FencePurpose::Trf => "free of triangular races",
            FencePurpose::Safety => "safe",
        }
    }
}

/// Which sets were requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WantedSets {
    /// One of least cost.
    Cheapest,
    /// All of least cost.
    AllCheapest,
    /// All minimal ones.
    AllMinimal,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FenceOutcome {
    /// The program needs no fence.
    NotNeeded,
    /// There are sets.
    Found,
    /// No fence helps: the program is wrong under sc already.
    WrongUnderSc,
    /// No set at the allowed places helps.
    NoSet,
    /// Not settled.
    Unknown,
}

/// A set of fences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FenceSet {
    /// Its cost.
    pub cost: u64,
    /// Changes of any kind; one in two copies of a thread counts twice.
    pub fences: usize,
    /// The changes and their places, in the order of the text.
    pub changes: Vec<FenceChange>,
}

impl FenceSet {
    /// The noun for its changes.
    pub fn noun(&self) -> &'static str {
        let has = |kind: ChangeKind| self.changes.iter().any(|change| change.change == Some(kind));
        if has(ChangeKind::LockStore) {
            "locked store"
        } else if [ChangeKind::Strengthen, ChangeKind::Weaken, ChangeKind::KeepOrder].into_iter().any(has) {
            "change"
        } else {
            "fence"
        }
    }
}

impl FenceSet {
    /// Whether something is inserted or becomes stronger.
    pub fn adds(&self) -> bool {
        let is_more =
            |kind: ChangeKind| kind.is_insertion() || matches!(kind, ChangeKind::Strengthen | ChangeKind::LockStore);
        self.changes.iter().filter_map(|change| change.change).any(is_more)
    }
}

/// A place, and the change there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FenceChange {
    /// `L13`, `L13.9`, `t1:q4`.
    pub place: String,
    /// Where it is.
    #[serde(flatten, with = "crate::place")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
    pub position: Option<Position>,
    /// The text before it, or the changed text.
    pub after: String,
    /// The threads that it is in.
    pub threads: Vec<String>,
    /// The change; omitted for a place without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeKind>,
    /// The new order of an access or of an existing fence; omitted if it does not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
}

impl FenceChange {
    /// The change in words: `weaken to release`.
    pub fn words(&self) -> String {
        let name = self.change.map_or("", |kind| kind.name());
        self.order.as_ref().map_or_else(|| name.to_owned(), |order| format!("{name} to {order}"))
    }
}

/// The change at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ChangeKind {
    /// A full fence.
    #[serde(rename = "insert fence")]
    InsertFence,
    /// A fence that orders stores.
    #[serde(rename = "insert store-store fence")]
    InsertStoreStoreFence,
    /// An acquire fence.
    #[serde(rename = "insert acquire fence")]
    InsertAcquireFence,
    /// A release and acquire fence.
    #[serde(rename = "insert acq_rel fence")]
    InsertAcqRelFence,
    /// An existing fence stays.
    #[serde(rename = "keep fence")]
    KeepFence,
    /// An existing fence is removed.
    #[serde(rename = "remove fence")]
    RemoveFence,
    /// A store becomes a locked exchange.
    #[serde(rename = "lock store")]
    LockStore,
    /// An existing fence gets a weaker order.
    #[serde(rename = "weaken fence")]
    WeakenFence,
    /// An access gets a stronger order.
    #[serde(rename = "strengthen")]
    Strengthen,
    /// An access gets a weaker order.
    #[serde(rename = "weaken")]
    Weaken,
    /// The order of an access stays.
    #[serde(rename = "keep order")]
    KeepOrder,
}

impl ChangeKind {
    /// In words, as documents have it.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::InsertFence => "insert fence",
            ChangeKind::InsertStoreStoreFence => "insert store-store fence",
            ChangeKind::InsertAcquireFence => "insert acquire fence",
            ChangeKind::InsertAcqRelFence => "insert acq_rel fence",
            ChangeKind::KeepFence => "keep fence",
            ChangeKind::RemoveFence => "remove fence",
            ChangeKind::LockStore => "lock store",
            ChangeKind::WeakenFence => "weaken fence",
            ChangeKind::Strengthen => "strengthen",
            ChangeKind::Weaken => "weaken",
            ChangeKind::KeepOrder => "keep order",
        }
    }

    /// Whether it inserts something after the place.
    pub fn is_insertion(self) -> bool {
        self.name().starts_with("insert")
    }
}

/// What no fence forbids, or what happens without one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trouble {
    /// The witness.
    #[serde(flatten)]
    pub found: TroubleKind,
    /// The instance it belongs to, for a program with any number of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Instance>,
}

/// A flattened field would read every kind of witness in a second way, which is a lot of code.
impl<'de> Deserialize<'de> for Trouble {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Trouble, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            attack: Option<Box<AttackWitness>>,
            race: Option<Box<TriangularRace>>,
            run: Option<Box<RunWitness>>,
            stale: Option<Box<C11Witness>>,
            data_race: Option<Box<C11Race>>,
            instance: Option<Instance>,
        }
        let fields = Fields::deserialize(deserializer)?;
        let found = (fields.attack.map(TroubleKind::Attack))
            .or(fields.race.map(TroubleKind::Race))
            .or(fields.run.map(TroubleKind::Run))
            .or(fields.stale.map(TroubleKind::Stale))
            .or(fields.data_race.map(TroubleKind::DataRace));
        let found = found.ok_or_else(|| D::Error::custom("there is no witness"))?;
        Ok(Trouble { found, instance: fields.instance })
    }
}

/// Which kind of witness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    /// An attack on robustness against tso or pso.
    Attack(Box<AttackWitness>),
    /// A triangular race.
    Race(Box<TriangularRace>),
    /// A run that violates a goal.
    Run(Box<RunWitness>),
    /// A stale access under ra or rc20.
    Stale(Box<C11Witness>),
    /// A data race.
    DataRace(Box<C11Race>),
}

/// Why it is not known which fences are needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FencesUnknown {
    /// What ended the search early.
    pub limit: Option<Limit>,
    /// Robustness against pso is not proved where several threads can delay stores.
    pub one_delaying_thread: bool,
    /// A set that could not be checked; no set is cheaper.
    pub unchecked: FenceSet,
}

/// A fence, and what happens without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NeededFence {
    /// Where it is.
    pub place: String,
    /// Null if a limit was hit before anything was found.
    pub trouble: Option<Trouble>,
}

/// The effort of a search for fences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FenceEffort {
    /// Questions about the program with some fences.
    pub queries: usize,
    /// Clauses that were learned.
    pub clauses: usize,
    /// States of all queries.
    pub states: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// The places where fences may go, and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FencePlaces {
    /// The program, as named by the user.
    pub file: String,
    /// The places.
    pub places: Vec<PlaceCost>,
}

/// A place and the cost of a fence there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceCost {
    /// The place.
    #[serde(flatten)]
    pub place: FenceChange,
    /// The cost of a fence there.
    pub cost: u64,
}
