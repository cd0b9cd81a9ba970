//! Firing a sequence of transitions, to see that it does what is claimed.

use super::{InitialTokens, Net, NetTransitionId};
use thiserror::Error;

/// Why a sequence is no witness.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unfireable {
    #[error("there is no transition {0}")]
    Unknown(NetTransitionId),
    #[error("firing {number} of the sequence needs more tokens in `{place}`")]
    Tokens { number: usize, place: String },
    #[error("the marking at its end covers no target")]
    CoversNothing,
}

/// Fires a sequence from an initial marking, with as many tokens as are needed where any number may be, and says which target is covered
/// at its end.
pub fn fire(net: &Net, sequence: &[NetTransitionId]) -> Result<usize, Unfireable> {
    let unbounded = |place: u32| matches!(net.initial[place as usize], InitialTokens::AtLeast(_));
    let start = |initial: &InitialTokens| match *initial {
        InitialTokens::Exactly(tokens) | InitialTokens::AtLeast(tokens) => u64::from(tokens),
    };
    let mut tokens: Vec<u64> = net.initial.iter().map(start).collect();
    for (number, &transition) in sequence.iter().enumerate() {
        let fired = net.transitions.get(transition as usize).ok_or(Unfireable::Unknown(transition))?;
        for (place, count) in fired.takes.iter() {
            let held = &mut tokens[place as usize];
            match held.checked_sub(u64::from(count)) {
                Some(left) => *held = left,
                // They were there from the start.
                None if unbounded(place) => *held = 0,
                None => {
                    let place = net.places[place as usize].clone();
                    return Err(Unfireable::Tokens { number: number + 1, place });
                }
            }
        }
        for &set in &fired.sets {
            net.cell_with(set).iter().for_each(|place| tokens[*place as usize] = 0);
            tokens[set as usize] = 1;
        }
        for (place, count) in fired.gives.iter() {
            tokens[place as usize] += u64::from(count);
        }
    }
    let covered = |(place, count): (u32, u32)| unbounded(place) || tokens[place as usize] >= u64::from(count);
    net.targets.iter().position(|target| target.iter().all(covered)).ok_or(Unfireable::CoversNothing)
}
