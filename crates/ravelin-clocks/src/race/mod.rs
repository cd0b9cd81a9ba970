//! Data races on non-atomic accesses: FastTrack's rules (Flanagan and Freund, PLDI 2009) for the bytes of a word.
//!
//! [`slot`] defines what is remembered of one access and when two accesses race, [`cell`] what is kept for a word,
//! [`list`] what is kept elsewhere.

pub mod cell;
pub mod list;
pub mod slot;
