//! Small concurrent types, each with a switch that breaks it. `tests/correct.rs` uses them as they should be, and
//! `tests/broken.rs` as they should not.

pub mod parker;
pub mod publication;
pub mod reference_count;
