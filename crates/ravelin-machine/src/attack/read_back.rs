//! From the states of a successful attack back to the actions of its computation.

use crate::compile::BuildError;
use crate::run::{UnpackedState, UnreadablePath};
use ravelin_explore::StorageError;
use ravelin_semantics::Action;

/// The computation that an attack found, up to the moment when the delayed stores reach memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttackRun {
    pub start: UnpackedState,
    pub steps: Vec<AttackStep>,
}

/// One action. A store reaches memory at once unless it is delayed; the delayed ones reach it after the last step, in
/// the order in which they were issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttackStep {
    pub part: WitnessPart,
    pub action: Action,
    pub delayed: bool,
}

/// The parts of a witness: τ1 · isu · τ2 · ld · τ3; then come the delayed stores, τ4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WitnessPart {
    /// τ1: an SC run.
    Prefix,
    /// The issue of the attacked store.
    Store,
    /// τ2: the attacker delays stores.
    Delaying,
    /// What overtakes the store.
    Load,
    /// τ3: helpers on the happens-before path.
    Path,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadBackError {
    #[error(transparent)]
    Build(BuildError),
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A defect of the machine.
    #[error(transparent)]
    Path(#[from] UnreadablePath),
}
