//! What is left of a verification, as words, so that it can be continued.
//!
//! The words begin with a hash of what is verified: the program's file, its arguments and options. What was found so far
//! is not saved: a verification that found something has its answer.

use super::plan::VerifyPlan;
use super::worker::VerifyState;
use crate::fingerprint::fingerprint;
use crate::watch::find_program;
use ravelin_verify::Exploration;

const MAGIC: u64 = u64::from_le_bytes(*b"RAVVERI\x01");
/// Words before those of the exploration.
const HEAD: usize = 6;
/// In the word of flags.
const TOO_LONG: u64 = 1;
const UNROLLED: u64 = 2;
const NOT_CONTROLLED: u64 = 4;

/// Why saved words cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotResumable {
    #[error("this is no checkpoint of `ravelin verify`, or one of another version")]
    NotACheckpoint,
    #[error("this checkpoint is of another program, or of other options")]
    Other,
}

/// What is left.
pub fn save(plan: &VerifyPlan, state: &VerifyState) -> Vec<u64> {
    let cut = |words: &str| state.cuts.iter().any(|cut| cut.contains(words));
    let flags =
        [(cut("a run was longer"), TOO_LONG), (cut("--unroll"), UNROLLED), (!state.notes.is_empty(), NOT_CONTROLLED)];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, flag)| all | flag);
    let mut words = vec![MAGIC, subject(plan), state.doubts, flags, state.threads, 0];
    words.extend(state.exploration.save());
    words
}

/// Continues where the words were saved.
pub fn restore(plan: &VerifyPlan, words: &[u64], state: &mut VerifyState) -> Result<(), NotResumable> {
    let Some((head, rest)) = words.split_at_checked(HEAD) else { return Err(NotResumable::NotACheckpoint) };
    if head[0] != MAGIC {
        return Err(NotResumable::NotACheckpoint);
    }
    if head[1] != subject(plan) {
        return Err(NotResumable::Other);
    }
    state.exploration = Exploration::restore(rest).ok_or(NotResumable::NotACheckpoint)?;
    state.doubts = head[2];
    state.threads = head[4];
    let flags = head[3];
    if flags & TOO_LONG != 0 {
        state.cuts.push(super::worker::TOO_LONG);
    }
    if flags & UNROLLED != 0 {
        state.cuts.push(super::worker::UNROLLED);
    }
    if flags & NOT_CONTROLLED != 0 {
        state.notes.push("something was not controlled before the checkpoint".to_owned());
    }
    Ok(())
}

/// A hash of what is verified.
fn subject(plan: &VerifyPlan) -> u64 {
    let file = find_program(&plan.watch.program).as_deref().map_or(0, fingerprint);
    let text = format!(
        "{:?} {:?} {:?} {} {} {:?}",
        plan.watch.arguments, plan.watch.options, plan.options, plan.unroll, plan.robustness, plan.model
    );
    file ^ ravelin_findings::hash(text.as_bytes())
}
