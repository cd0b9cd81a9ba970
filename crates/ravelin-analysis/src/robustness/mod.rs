//! Robustness: does every computation under a weak memory model have the trace of some SC computation?
//!
//! From *Checking and Enforcing Robustness against TSO* (Bouajjani, Derevenetc, Meyer; ESOP 2013). A program that is not robust has
//! an *attack* that is feasible: a thread delays a store past a later load, and the other threads close a happens-before cycle
//! around the two.
//!
//! Reading order: `attack` (what there is to check), `dismiss` (what needs no search), `check` (the question),
//! `engines` (who searches), `together` (several threads that delay, under PSO) and `stale` (what the monitor finds, as
//! a computation), `witness` (how an answer is made good); then `triangular` (a cheaper condition) and `instrument` (attacks as programs).

mod alone;
mod attack;
mod check;
mod dismiss;
mod engines;
mod instrument;
mod name;
mod stale;
mod together;
mod triangular;
mod witness;

pub use attack::{Attack, attacks, attacks_against, ends_attack, is_delayable, is_overtaking_load};
pub(crate) use attack::{count_attacks, count_tso_attacks};
pub(crate) use check::MOST_ATTACKS;
pub use check::{
    AttackFate, JudgedAttack, RobustnessAnswer, RobustnessEffort, RobustnessEngine, RobustnessQuestion,
    implied_robustness, robustness,
};
pub use dismiss::ProgramFacts;
pub use instrument::{CannotInstrument, instrument};
pub use name::{AttackNames, UnknownAttack, attack_name, find_attack};
pub use stale::{StaleComputation, stale_computation};
pub use triangular::{RaceFreedom, RaceWitness, race_freedom};
pub use witness::AttackWitness;
pub(crate) use witness::build as build_witness;
