//! Robustness: does every computation under a weak memory model have the trace of some SC computation?
//!
//! From *Checking and Enforcing Robustness against TSO* (Bouajjani, Derevenetc, Meyer; ESOP 2013).

mod attack;

pub use attack::{Attack, attacks, ends_attack, is_delayable, is_overtaking_load};
