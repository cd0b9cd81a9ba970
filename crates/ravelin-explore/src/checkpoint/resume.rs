//! Going on from a checkpoint: which parts are there, how many of their levels are whole, and the states back into the shards.

use super::part::{CheckpointFile, CheckpointHeader, CheckpointWriter};
use super::{Totals, outcome, outcome_path, parse_name, part_path};
use crate::any::AnySystem;
use crate::files::{StorageAction, StorageError};
use crate::halt::Halt;
use crate::peers::Team;
use crate::shard::Shard;
use crate::space::{Space, StateFinding, StateId, join, split};
use crate::spill::{LevelWatch, SpillSettings};
use crate::store::hash;
use crate::system::shard_of;
use std::fs;
use std::path::Path;

/// What is there of an exploration.
pub(super) enum SavedExploration<I> {
    Nothing,
    Outcome(Box<Space<I>>),
    Parts(CheckpointFiles),
}

/// The parts of all processes that wrote them.
pub(super) struct CheckpointFiles {
    pub generation: u64,
    parts: Vec<CheckpointFile>,
    /// Blocks that all of them have.
    blocks: usize,
}

/// Looks through the directory.
pub(super) fn look<I: Send>(
    directory: &Path,
    header: &CheckpointHeader,
    system: &AnySystem<I>,
) -> Result<SavedExploration<I>, StorageError> {
    if let Some(space) = outcome::read(&outcome_path(directory, header.sequence), header, system)? {
        return Ok(SavedExploration::Outcome(Box::new(space)));
    }
    let failed = |error| StorageError::new(StorageAction::Read, directory, &error);
    let mut generations = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if let Some((sequence, Some((generation, _)))) = name.to_str().and_then(parse_name)
            && sequence == header.sequence
        {
            generations.push(generation);
        }
    }
    generations.sort_unstable();
    generations.dedup();
    // A generation that has no whole level yet was about to replace the one before.
    for &generation in generations.iter().rev() {
        let parts = CheckpointFiles::read(directory, generation, header)?;
        if parts.blocks > 0 {
            return Ok(SavedExploration::Parts(parts));
        }
    }
    Ok(SavedExploration::Nothing)
}

impl<I> SavedExploration<I> {
    /// What the processes compare.
    pub fn fingerprint(&self) -> Vec<u64> {
        match self {
            SavedExploration::Nothing => vec![0],
            SavedExploration::Outcome(space) => vec![1, space.statistics.states, space.findings.len() as u64],
            SavedExploration::Parts(parts) => vec![2, parts.generation, parts.blocks as u64, parts.parts.len() as u64],
        }
    }
}

impl CheckpointFiles {
    fn read(directory: &Path, generation: u64, header: &CheckpointHeader) -> Result<CheckpointFiles, StorageError> {
        let mut parts: Vec<CheckpointFile> = Vec::new();
        let mut processes = 1;
        while (parts.len() as u64) < processes {
            let path = part_path(directory, header.sequence, generation, parts.len() as u64);
            let part = if path.exists() { CheckpointFile::read(&path, header)? } else { None };
            let Some(part) = part.filter(|part| part.header.process == parts.len() as u64) else {
                return Ok(CheckpointFiles { generation, parts, blocks: 0 });
            };
            processes = part.header.processes;
            parts.push(part);
        }
        let blocks = parts.iter().map(|part| part.blocks.len()).min().unwrap_or(0);
        // What all were written for must be the same level.
        let whole = (0..blocks).take_while(|&block| {
            let level = |part: &CheckpointFile| (part.blocks[block].head.depth, part.blocks[block].head.transitions);
            parts.iter().all(|part| level(part) == level(&parts[0]) && part.header.workers == parts[0].header.workers)
        });
        let blocks = whole.count();
        Ok(CheckpointFiles { generation, parts, blocks })
    }

    /// Shards of each process that wrote them.
    fn workers(&self) -> usize {
        self.parts[0].header.workers as usize
    }

    pub fn is_shared_out_like(&self, header: &CheckpointHeader) -> bool {
        (self.parts[0].header.processes, self.parts[0].header.workers) == (header.processes, header.workers)
    }

    /// For the same process to go on.
    pub fn writer(&self, header: &CheckpointHeader) -> Result<CheckpointWriter, StorageError> {
        let part = &self.parts[header.process as usize];
        CheckpointWriter::open(&part.path, *header, Some((part, self.blocks)))
    }

    /// Puts the states into the shards that own them now. States that are expanded come before those that are not.
    pub fn fill<I: Send>(
        &self,
        team: &Team,
        shards: &mut [Shard<I>],
        spill: Option<&SpillSettings>,
        watch: &LevelWatch,
    ) -> Result<Totals, Halt> {
        let (old, new) = (self.parts.len() * self.workers(), team.shards());
        let here = team.first()..team.first() + shards.len();
        let ids = Ids { old, new, moved: if old == new { Vec::new() } else { self.move_ids(old, new)? } };
        for expanded in [true, false] {
            self.each_state(|shard, index, state, parent, is_expanded| {
                if is_expanded != expanded || old == new && !here.contains(&shard) {
                    return Ok(());
                }
                let hash = hash(state);
                let owner = if old == new { shard } else { shard_of(hash, new) };
                let Some(local) = owner.checked_sub(here.start).filter(|&local| local < shards.len()) else {
                    return Ok(());
                };
                let visited = &mut shards[local].visited;
                debug_assert_eq!(ids.now(join(shard, index, old)), join(here.start + local, visited.len(), new));
                visited.restore(state, hash, ids.now(parent), spill, watch)
            })?;
            if expanded {
                shards.iter_mut().for_each(|shard| shard.expanded = shard.visited.len());
            }
        }
        for shard in shards.iter_mut() {
            shard.visited.end_restoring(watch)?;
            shard.level_end = shard.visited.len();
        }
        let mut totals = Totals::default();
        for part in &self.parts {
            for block in &part.blocks[..self.blocks] {
                part.visit(
                    block,
                    |_, _, _| Ok(()),
                    |state, kind| {
                        let state = StateId(ids.now(state));
                        let owner = split(state.0, new).0.checked_sub(here.start);
                        if let Some(shard) = owner.and_then(|local| shards.get_mut(local)) {
                            shard.findings.push(StateFinding { state, kind: kind as u32 });
                            shard.places.push(0);
                        }
                    },
                )?;
            }
            let last = &part.blocks[self.blocks - 1].head;
            (totals.depth, totals.transitions) = (last.depth, last.transitions);
            totals.states += last.shards.iter().map(|span| span.to).sum::<u64>();
            totals.frontier += last.shards.iter().map(|span| span.to - span.expanded).sum::<u64>();
            shards[0].cut_off |= last.cut_off;
        }
        Ok(totals)
    }

    /// Every state with its old shard and index there, and whether it is expanded.
    fn each_state(&self, mut visit: impl FnMut(usize, u64, &[u64], u64, bool) -> Result<(), Halt>) -> Result<(), Halt> {
        for (process, part) in self.parts.iter().enumerate() {
            let expanded: Vec<u64> =
                part.blocks[self.blocks - 1].head.shards.iter().map(|span| span.expanded).collect();
            for block in &part.blocks[..self.blocks] {
                let mut next: Vec<u64> = block.head.shards.iter().map(|span| span.from).collect();
                let state = |shard: usize, state: &[u64], parent| {
                    let index = next[shard];
                    next[shard] += 1;
                    let number = process * self.workers() + shard;
                    visit(number, index, state, parent, index < expanded[shard])
                };
                part.visit(block, state, |_, _| ())?;
            }
        }
        Ok(())
    }

    /// By old shard and index: the new id. In the order in which [`CheckpointFiles::fill`] puts states in.
    fn move_ids(&self, old: usize, new: usize) -> Result<Vec<Vec<u64>>, Halt> {
        let mut moved: Vec<Vec<u64>> = vec![Vec::new(); old];
        let mut lengths = vec![0; new];
        for expanded in [true, false] {
            self.each_state(|shard, index, state, _, is_expanded| {
                if is_expanded == expanded {
                    let owner = shard_of(hash(state), new);
                    let index = index as usize;
                    if moved[shard].len() <= index {
                        moved[shard].resize(index + 1, StateId::NONE);
                    }
                    moved[shard][index] = join(owner, lengths[owner], new);
                    lengths[owner] += 1;
                }
                Ok(())
            })?;
        }
        Ok(moved)
    }
}

/// From the ids that parts have to those of the shards now.
struct Ids {
    old: usize,
    new: usize,
    /// Empty if they are the same.
    moved: Vec<Vec<u64>>,
}

impl Ids {
    fn now(&self, id: u64) -> u64 {
        if id == StateId::NONE || self.old == self.new {
            return id;
        }
        let (shard, index) = split(id, self.old);
        self.moved[shard].get(index as usize).copied().unwrap_or(StateId::NONE)
    }
}
