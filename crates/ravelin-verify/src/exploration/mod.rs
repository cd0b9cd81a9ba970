//! Which runs to make: one for each trace.

/// The runs that are still to be made.
pub struct Exploration {}
