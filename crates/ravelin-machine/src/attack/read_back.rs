//! From the states of a successful attack back to the actions of its computation.

use super::clock::HuntStop;
use super::hunter::Hunter;
use super::successors::{Successors, Trail};
use crate::compile::BuildError;
use crate::run::{UnpackedState, UnreadablePath};
use ravelin_explore::{StateId, StorageError};
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

/// A feasible attack as its hunter keeps it.
pub(super) enum FeasibleRun {
    Read(AttackRun),
    /// Its beginning is in several processes, which read it when they have brought it together.
    Path(AttackPath),
}

/// The states of a successful attack, from the SC state in which the attacked store is issued.
pub(super) struct AttackPath {
    pub start: StateId,
    /// The attacker's step from the last state of τ2 to the first of τ3.
    pub load: usize,
    /// τ2 and τ3.
    pub delaying: Vec<Vec<u64>>,
    pub helping: Vec<Vec<u64>>,
}

impl FeasibleRun {
    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        match self {
            FeasibleRun::Read(run) => run.steps.len() * size_of::<AttackStep>(),
            FeasibleRun::Path(path) => {
                let states = path.delaying.iter().chain(&path.helping);
                states.map(|state| size_of::<Vec<u64>>() + state.len() * size_of::<u64>()).sum()
            }
        }
    }
}

impl Hunter<'_> {
    /// The computation: along an SC path to the start, through τ2, the load, and through τ3.
    pub fn read_back<S: AsRef<[u64]>>(&self, path: &AttackPath, to_start: &[S]) -> Result<AttackRun, HuntStop> {
        let unread = |step: usize| UnreadablePath { step };
        let mut steps = Vec::new();
        let mut push = |part: WitnessPart, trail: &[Trail]| {
            steps.extend(trail.iter().map(|&Trail { action, delayed }| AttackStep { part, action, delayed }));
        };
        let mut out = Successors::recording(self.attacks.view.words);
        let to_start: Vec<&[u64]> = to_start.iter().map(AsRef::as_ref).collect();
        let start = to_start.last().ok_or(unread(0))?;
        let (run, _) = self.attacks.machine.read_back(&to_start)?;
        push(
            WitnessPart::Prefix,
            &run.actions.iter().map(|&action| Trail { action, delayed: false }).collect::<Vec<_>>(),
        );
        let (Some(root), Some(last), Some(after_load)) =
            (path.delaying.first(), path.delaying.last(), path.helping.first())
        else {
            return Err(unread(run.actions.len()).into());
        };
        self.starts(self.attacks.view.store.get(root) as usize, start, &mut out)?;
        let trail = out.trail_to(root).ok_or(unread(run.actions.len()))?;
        push(WitnessPart::Store, &trail[..1]);
        push(WitnessPart::Delaying, &trail[1..]);
        for (step, pair) in path.delaying.windows(2).enumerate() {
            self.step_delaying(&pair[0], &mut out)?;
            push(WitnessPart::Delaying, &out.trail_to(&pair[1]).ok_or(unread(step))?);
        }
        let (_, load) = self.load_to(last, after_load, |step| step == path.load)?.ok_or(unread(path.delaying.len()))?;
        push(WitnessPart::Load, &[load]);
        for (step, pair) in path.helping.windows(2).enumerate() {
            out.clear();
            self.expand_helping(&pair[0], &mut out)?;
            push(WitnessPart::Path, &out.trail_to(&pair[1]).ok_or(unread(step))?);
        }
        Ok(AttackRun { start: run.start, steps })
    }
}
