//! Exploration with a layout that grows. If a value or an address does not fit, a wider layout is made and the
//! exploration begins again. Widths double and addresses are extrapolated, so the discarded work is small compared to
//! the rest. The time limit covers all attempts.

use crate::compile::Machine;
use crate::layout::{Growth, Overflow};
use ravelin_explore::{Options, Watch};
use std::time::Instant;

/// The result of one attempt.
pub(crate) enum GrowthAttempt<T> {
    Done(T),
    /// Something did not fit into the layout of this machine.
    Outgrown(Box<Machine>, Overflow),
}

/// Builds machines and searches with them until everything fits.
pub(crate) fn growing<T, E>(
    options: &Options,
    build: impl Fn(&Growth, &Watch) -> Result<Machine, E>,
    mut search: impl FnMut(Machine, &Options) -> Result<GrowthAttempt<T>, E>,
) -> Result<T, E> {
    let start = Instant::now();
    let mut growth = Growth::default();
    loop {
        let watch = Watch::since(options.budget, "compiling", start);
        let machine = build(&growth, &watch)?;
        let attempt = match machine.fused_initial_states(&mut |_| {}) {
            Err(outgrown) => GrowthAttempt::Outgrown(Box::new(machine), outgrown),
            Ok(()) => search(machine, &Options { budget: watch.rest(), ..*options })?,
        };
        match attempt {
            GrowthAttempt::Done(found) => return Ok(found),
            GrowthAttempt::Outgrown(machine, outgrown) => growth.grow(outgrown, &machine.program, &machine.layout),
        }
    }
}
