//! Coverability of Petri nets.

use ravelin_answer::{CoverOutcome, Coverability, Firing};
use ravelin_backward::nets::{CoverAnswer, CoverVerdict, Net};

/// The answer to `cover`.
pub fn coverability(file: &str, net: &Net, found: &CoverAnswer) -> Coverability {
    // Rules are numbered from one for users.
    let (verdict, sequence, limit) = match &found.verdict {
        CoverVerdict::Coverable(sequence) => (CoverOutcome::Coverable, Some(sequence), None),
        CoverVerdict::Uncoverable => (CoverOutcome::Uncoverable, None, None),
        CoverVerdict::Unknown(limit) => (CoverOutcome::Unknown, None, Some(*limit)),
    };
    let fired = sequence.into_iter().flatten().map(|&transition| {
        let fired = &net.transitions[transition as usize];
        Firing { rule: transition + 1, takes: net.show(&fired.takes), gives: net.show(&fired.gives) }
    });
    Coverability {
        file: file.to_owned(),
        verdict,
        sequence: sequence.map(|sequence| sequence.iter().map(|transition| transition + 1).collect()),
        steps: fired.collect(),
        limit: limit.map(Into::into),
        places: net.places.len(),
        transitions: net.transitions.len(),
        markings_generated: found.counts.generated,
        markings_pruned: found.counts.pruned,
        markings_kept: found.counts.kept,
        markings_minimal: found.counts.minimal,
        seconds: found.elapsed.as_secs_f64(),
    }
}
