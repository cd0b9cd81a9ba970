//! How many times a program can store at all, if it stores in no loop.
//!
//! A value in memory comes from a chain of stores, each computed from what the one before it left. Where no store lies on a
//! cycle of its thread, chains are no longer than the number of stores that a run can make, and the fixpoint need not go
//! further: `x = y + 1` against `y = x + 1` is finite if each happens once. With any number of threads there is no such bound, unless
//! those do not store.

use ravelin_explore::{Limit, Watch};
use ravelin_program::{Copies, Program, Thread};

/// The most stores and locked steps that write in any run, over all threads; `None` if some are on cycles.
pub(super) fn most_stores(program: &Program, watch: &Watch) -> Result<Option<usize>, Limit> {
    let mut all = Some(0);
    for thread in &program.threads {
        let most = match (thread.copies, most_stores_of(thread, watch)?) {
            (Copies::Any, Some(1..)) => None,
            (_, most) => most,
        };
        all = all.zip(most).map(|(all, most)| all + most);
    }
    Ok(all)
}

/// The longest way through a thread, counting stores. Cycles without stores count nothing, so relaxing all transitions settles
/// within as many rounds as there are locations, unless a cycle stores.
fn most_stores_of(thread: &Thread, watch: &Watch) -> Result<Option<usize>, Limit> {
    let mut most: Vec<Option<usize>> = vec![None; thread.locations.len()];
    most[thread.initial.0] = Some(0);
    for _ in 0..=thread.locations.len() {
        let mut changed = false;
        for transition in &thread.transitions {
            watch.step()?;
            let Some(before) = most[transition.from.0] else { continue };
            let writes = transition.instruction.accesses().iter().any(|access| access.writes);
            let after = Some(before + usize::from(writes));
            if most[transition.to.0] < after {
                most[transition.to.0] = after;
                changed = true;
            }
        }
        if !changed {
            return Ok(Some(most.into_iter().flatten().max().unwrap_or(0)));
        }
    }
    Ok(None)
}
