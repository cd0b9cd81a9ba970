//! Why a part of a search cannot go on, and how all processes come to the same end.

use crate::files::{StorageAction, StorageError};
use crate::limits::Limit;
use crate::peers::{LostProcess, Team};
use crate::space::End;
use std::io;
use std::path::Path;

/// A stop that is not an answer.
#[derive(Clone, Debug)]
pub(crate) enum Halt {
    Limit(Limit),
    Failed(StorageError),
    /// Two states have the same hash, and a search on disk took one for the other.
    Collision,
}

impl From<Limit> for Halt {
    fn from(limit: Limit) -> Halt {
        Halt::Limit(limit)
    }
}

impl From<StorageError> for Halt {
    fn from(error: StorageError) -> Halt {
        Halt::Failed(error)
    }
}

impl From<LostProcess> for Halt {
    fn from(lost: LostProcess) -> Halt {
        Halt::Limit(lost.into())
    }
}

impl<I> From<Halt> for End<I> {
    fn from(halt: Halt) -> End<I> {
        match halt {
            Halt::Limit(limit) => End::Limit(limit),
            Halt::Failed(error) => End::Failed(error),
            Halt::Collision => unreachable!("a search that compares at every level takes no state for another"),
        }
    }
}

/// The error of another process, which has said what happened.
pub(crate) fn failed_elsewhere(process: usize, place: &Path) -> StorageError {
    let message = format!("process {process} could not write or read its part");
    StorageError::new(StorageAction::Write, place, &io::Error::other(message))
}

/// Words that say how a step went, before the others.
const OUTCOME: usize = 3;

fn told(result: &Result<(), Halt>) -> [u64; OUTCOME] {
    match result {
        Ok(()) => [0, 0, 0],
        Err(Halt::Limit(limit)) => {
            let [kind, value] = limit.words();
            [1, kind, value]
        }
        Err(Halt::Collision) => [2, 0, 0],
        Err(Halt::Failed(_)) => [3, 0, 0],
    }
}

/// After a step that can fail in one process only: all processes tell how it went, and if it failed anywhere it did for all, the gravest
/// reason first. Also gives what each told beside, in their order. `place` is named by the error of another process.
pub(crate) fn agree(
    team: &Team,
    result: Result<(), Halt>,
    beside: &[u64],
    place: &Path,
) -> Result<Vec<Vec<u64>>, Halt> {
    if team.is_alone() {
        return result.map(|()| vec![beside.to_vec()]);
    }
    let mut words = told(&result).to_vec();
    words.extend_from_slice(beside);
    let all = team.tell(words)?;
    let graveness = |words: &[u64]| words.first().copied().unwrap_or(3);
    let gravest = all.iter().map(|words| graveness(words)).max().unwrap_or(0);
    let Some(process) = all.iter().position(|words| gravest > 0 && graveness(words) == gravest) else {
        return Ok(all.into_iter().map(|words| words[OUTCOME.min(words.len())..].to_vec()).collect());
    };
    Err(match (result, gravest) {
        (Err(Halt::Failed(error)), 3..) => Halt::Failed(error),
        (_, 1) => Limit::of_words([all[process][1], all[process][2]]).into(),
        (_, 2) => Halt::Collision,
        _ => failed_elsewhere(process, place).into(),
    })
}
