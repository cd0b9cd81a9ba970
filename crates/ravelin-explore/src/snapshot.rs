//! What is kept of a space whose states are not all in this process's memory: the states that were reported, and the ways there.

use crate::peers::{LostProcess, Team};
use crate::search::Until;
use crate::space::{StateFinding, StateId, split};
use crate::store::StateStore;
use std::collections::HashMap;

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

/// Collects findings, their states and the paths to them from all processes; afterwards all have the same.
pub(crate) fn collect(
    team: &Team,
    stores: &[&StateStore],
    width: usize,
    findings: &[StateFinding],
    until: Until,
) -> Result<(Vec<StateFinding>, Snapshot), LostProcess> {
    let here = |id: StateId| {
        let (shard, index) = split(id.0, team.shards());
        shard.checked_sub(team.first()).and_then(|local| stores.get(local)).map(|store| (*store, index))
    };
    let mut told = Vec::new();
    for finding in findings {
        if let Some((store, index)) = here(finding.state) {
            told.extend([u64::from(finding.state.0), u64::from(finding.kind)]);
            told.extend_from_slice(store.state(index));
        }
    }
    let mut kept = Snapshot::new(width);
    let mut all = Vec::new();
    for told in team.tell(told)? {
        for record in told.chunks_exact(width + 2) {
            let id = StateId(record[0] as u32);
            all.push(StateFinding { state: id, kind: record[1] as u32 });
            kept.keep_state(id, record[2..].to_vec());
        }
    }
    all.sort();
    // All paths are followed backwards at once, a step an exchange: whoever has a state tells it and its parent.
    let chosen = first_of_each_kind(&all, until);
    let mut heads: Vec<u32> = chosen.iter().map(|id| id.0).collect();
    let mut backwards: Vec<Vec<Vec<u64>>> = vec![Vec::new(); chosen.len()];
    while heads.iter().any(|&head| head != StateId::NONE) {
        let mut told = Vec::new();
        for (path, &head) in heads.iter().enumerate().filter(|(_, head)| **head != StateId::NONE) {
            if let Some((store, index)) = here(StateId(head)) {
                told.extend([path as u64, u64::from(store.parent(index))]);
                told.extend_from_slice(store.state(index));
            }
        }
        let mut moved = false;
        for told in team.tell(told)? {
            for record in told.chunks_exact(width + 2) {
                let path = record[0] as usize;
                heads[path] = record[1] as u32;
                backwards[path].push(record[2..].to_vec());
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    for (id, states) in chosen.into_iter().zip(backwards) {
        kept.keep_path(id, states.into_iter().rev().flatten().collect());
    }
    Ok((all, kept))
}
