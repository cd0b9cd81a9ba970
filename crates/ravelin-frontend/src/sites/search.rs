//! Which places of an outline can be used: those with which the text still means the same program but for the change.
//!
//! All are tried at once. If the programs then differ, the places that are refused or suspected are set apart, the rest is tried, and
//! what was set apart is tried in halves. So a few bad places cost a few attempts. An attempt costs as much as reading the text, and
//! their number is limited: in a text that keeps on failing, places that were not tried are not used.

use super::matching::{ProgramMatch, ProgramMismatch};
use std::collections::HashSet;

/// How many bytes all attempts together may read, as far as that leaves [`FEWEST`] of them.
const READ: usize = 20_000_000;
const FEWEST: usize = 12;
const MOST: usize = 400;

/// The places that can be used together, by `attempt`, and what it gave for them.
pub fn search(
    places: usize,
    length: usize,
    mut attempt: impl FnMut(&[usize]) -> Result<ProgramMatch, ProgramMismatch>,
) -> (Vec<usize>, ProgramMatch) {
    let mut budget = (READ / (length + 1)).clamp(FEWEST, MOST);
    let mut good: Vec<usize> = Vec::new();
    let mut best = ProgramMatch::default();
    let mut open: Vec<Vec<usize>> = vec![(0..places).collect()];
    while let Some(batch) = open.pop() {
        if batch.is_empty() || budget == 0 {
            continue;
        }
        budget -= 1;
        let mut together = good.clone();
        together.extend(&batch);
        together.sort_unstable();
        match attempt(&together) {
            Ok(matched) => (good, best) = (together, matched),
            Err(differ) if !differ.refused.is_empty() => {
                let refused: HashSet<usize> = differ.refused.into_iter().collect();
                let rest: Vec<usize> = batch.iter().copied().filter(|place| !refused.contains(place)).collect();
                // Something is refused only if it is in the batch, because what is good was not refused.
                if rest.len() < batch.len() {
                    open.push(rest);
                }
            }
            Err(_) if batch.len() == 1 => {}
            Err(differ) => {
                let suspects: HashSet<usize> = differ.suspects.into_iter().collect();
                let (mut set_apart, mut rest): (Vec<usize>, Vec<usize>) =
                    batch.iter().partition(|place| suspects.contains(place));
                if set_apart.is_empty() || rest.is_empty() {
                    rest = batch[..batch.len() / 2].to_vec();
                    set_apart = batch[batch.len() / 2..].to_vec();
                }
                open.push(set_apart);
                open.push(rest);
            }
        }
    }
    (good, best)
}
