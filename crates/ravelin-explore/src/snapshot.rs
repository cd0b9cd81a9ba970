//! What is kept of a space whose states are not all in this process's memory: the states that were reported, and the ways there.

use crate::halt::{Halt, agree};
use crate::peers::{LostProcess, Team};
use crate::search::Until;
use crate::shard::Shard;
use crate::space::{StateFinding, StateId, split};
use std::collections::HashMap;
use std::path::Path;

/// States and paths by id; a path is the words of its states, one after the other.
#[derive(Default)]
pub(crate) struct Snapshot {
    width: usize,
    states: HashMap<StateId, Vec<u64>>,
    paths: HashMap<StateId, Vec<u64>>,
}

impl Snapshot {
    pub fn new(width: usize) -> Snapshot {
        Snapshot { width: width.max(1), ..Snapshot::default() }
    }

    /// Words of a state.
    pub fn width(&self) -> usize {
        self.width
    }

    pub fn keep_state(&mut self, id: StateId, state: Vec<u64>) {
        self.states.insert(id, state);
    }

    /// The states from the start to this one, both included.
    pub fn keep_path(&mut self, id: StateId, states: Vec<u64>) {
        self.paths.insert(id, states);
    }

    pub fn state(&self, id: StateId) -> &[u64] {
        self.states.get(&id).map_or(&[], Vec::as_slice)
    }

    pub fn path(&self, id: StateId) -> Vec<&[u64]> {
        self.paths.get(&id).map(|states| states.chunks_exact(self.width).collect()).unwrap_or_default()
    }
}

/// The findings whose paths are worth keeping: a shortest one of each kind. Where an exploration goes on after a finding, nobody asks
/// for paths.
pub(crate) fn first_of_each_kind(findings: &[StateFinding], until: Until) -> Vec<StateId> {
    let mut kinds = Vec::new();
    let mut chosen = Vec::new();
    for finding in findings.iter().filter(|_| until != Until::Exhausted) {
        if !kinds.contains(&finding.kind) {
            kinds.push(finding.kind);
            chosen.push(finding.state);
        }
    }
    chosen.dedup();
    chosen
}

/// Collects findings, their states and the paths to them from all processes; afterwards all have the same. `place` is named by what goes
/// wrong elsewhere.
pub(crate) fn collect<I: Send>(
    team: &Team,
    shards: &[Shard<I>],
    width: usize,
    until: Until,
    place: &Path,
) -> Result<(Vec<StateFinding>, Snapshot), Halt> {
    // Whoever cannot read goes on with the others, and says so at the end.
    let mut failed = Ok(());
    let mut here = |id: StateId| {
        let (shard, index) = split(id.0, team.shards());
        let shard = shard.checked_sub(team.first()).and_then(|local| shards.get(local))?;
        let read = shard.visited.state(index);
        read.map_err(|error| failed = Err(Halt::from(error))).ok()
    };
    let mut told = Vec::new();
    for (finding, &place) in shards.iter().flat_map(|shard| shard.findings.iter().zip(&shard.places)) {
        if let Some((state, _)) = here(finding.state) {
            told.extend([place, finding.state.0, u64::from(finding.kind)]);
            told.extend(state);
        }
    }
    let mut kept = Snapshot::new(width);
    let mut all = Vec::new();
    for told in team.tell(told)? {
        for record in told.chunks_exact(width + 3) {
            let id = StateId(record[1]);
            all.push((record[0], StateFinding { state: id, kind: record[2] as u32 }));
            kept.keep_state(id, record[3..].to_vec());
        }
    }
    // What was said of one state stays in its order.
    all.sort_by_key(|(place, finding)| (*place, finding.state));
    let all: Vec<StateFinding> = all.into_iter().map(|(_, finding)| finding).collect();
    let chosen = first_of_each_kind(&all, until);
    let paths = follow_back(team, width, chosen.iter().map(|id| id.0).collect(), |id| here(StateId(id)))?;
    agree(team, failed, &[], place)?;
    for (id, states) in chosen.into_iter().zip(paths) {
        kept.keep_path(id, states.concat());
    }
    Ok((all, kept))
}

/// The states from the start to each of some states, which all processes have to name alike. `here`: a state of this process and its parent.
///
/// All paths are followed backwards at once, a step an exchange: whoever has a state tells it and its parent.
pub(crate) fn follow_back(
    team: &Team,
    width: usize,
    mut heads: Vec<u64>,
    mut here: impl FnMut(u64) -> Option<(Vec<u64>, u64)>,
) -> Result<Vec<Vec<Vec<u64>>>, LostProcess> {
    let mut paths: Vec<Vec<Vec<u64>>> = vec![Vec::new(); heads.len()];
    while heads.iter().any(|&head| head != StateId::NONE) {
        let mut told = Vec::new();
        for (path, &head) in heads.iter().enumerate().filter(|(_, head)| **head != StateId::NONE) {
            if let Some((state, parent)) = here(head) {
                told.extend([path as u64, parent]);
                told.extend(state);
            }
        }
        let mut moved = false;
        for told in team.tell(told)? {
            for record in told.chunks_exact(width + 2) {
                if let Some(path) = paths.get_mut(record[0] as usize) {
                    heads[record[0] as usize] = record[1];
                    path.push(record[2..].to_vec());
                    moved = true;
                }
            }
        }
        if !moved {
            break;
        }
    }
    paths.iter_mut().for_each(|path| path.reverse());
    Ok(paths)
}
