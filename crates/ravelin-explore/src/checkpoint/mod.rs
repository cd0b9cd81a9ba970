//! Checkpoints: at the end of a level, when the last time is long enough ago, every process appends what its part of the space has
//! grown by to a file, and an exploration that was ended from outside goes on from there.
//!
//! A run makes explorations one after the other, always in the same order, so the number of an exploration tells which it is. Each
//! has one file a process (`part.rs`), which only grows; a level is there when all parts have it. When an exploration is finished its outcome
//! is kept instead (`outcome.rs`). The number of processes and workers may change from one time to the next: then states are shared out
//! anew by their hashes and parts of a new generation are written, and the old ones go when the new ones are complete.
//!
//! All processes have to see the same directory.

mod outcome;
mod part;
mod resume;

use crate::any::AnySystem;
use crate::files::{StorageAction, StorageError};
use crate::halt::{Halt, agree};
use crate::peers::Team;
use crate::search::Until;
use crate::shard::Shard;
use crate::space::{End, Space};
use crate::spill::{LevelWatch, SpillSettings};
use crate::store::hash;
use crate::system::System;
use part::{BlockHead, BlockSpan, CheckpointHeader, CheckpointWriter};
use ravelin_output::file::is_unfinished;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Where the explorations of a run are kept.
pub struct Checkpoints {
    directory: PathBuf,
    every: Duration,
    run: u64,
    next: AtomicU64,
    unfinished: AtomicBool,
}

impl Checkpoints {
    /// `every`: time between two checkpoints, zero for one a level. `run`: a fingerprint of the question; checkpoints of another are
    /// refused.
    pub fn new(directory: &Path, every: Duration, run: u64) -> Checkpoints {
        let (next, unfinished) = (AtomicU64::new(0), AtomicBool::new(false));
        Checkpoints { directory: directory.to_owned(), every, run, next, unfinished }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether an exploration was ended by a limit, and can go on from here.
    pub fn is_unfinished(&self) -> bool {
        self.unfinished.load(Ordering::Relaxed)
    }
}

/// How an exploration begins.
pub(crate) enum CheckpointStart<I> {
    /// It was finished before.
    Finished(Box<Space<I>>),
    GoesOn(Box<Checkpoint>, Option<Totals>),
}

/// What all processes together had done at the end of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub depth: u64,
    pub states: u64,
    pub transitions: u64,
    pub frontier: u64,
}

/// The checkpoints of one exploration.
pub(crate) struct Checkpoint {
    directory: PathBuf,
    every: Duration,
    header: CheckpointHeader,
    generation: u64,
    /// None until the first block is written.
    writer: Option<CheckpointWriter>,
    /// The generation that this one is to replace.
    replaces: bool,
    last: Instant,
    /// The end of the last level, and the findings of each shard by then.
    boundary: BlockHead,
    found: Vec<usize>,
    /// By shard: findings that are written.
    found_written: Vec<usize>,
    /// The level of the last block.
    depth_written: Option<u64>,
}

impl Checkpoint {
    /// Looks for what is there of the next exploration, and fills the shards with it.
    pub fn begin<I: Send>(
        checkpoints: &Checkpoints,
        system: &AnySystem<I>,
        until: Until,
        team: &Team,
        shards: &mut [Shard<I>],
        (spill, watch): (Option<&SpillSettings>, &LevelWatch),
    ) -> Result<CheckpointStart<I>, Halt> {
        let mut initial = 0u64;
        system.initial(&mut |state| initial = initial.wrapping_add(hash(state)));
        let header = CheckpointHeader {
            width: system.width() as u64,
            processes: team.processes() as u64,
            process: (team.first() / shards.len().max(1)) as u64,
            workers: shards.len() as u64,
            until: u64::from(until == Until::Exhausted),
            initial,
            sequence: checkpoints.next.fetch_add(1, Ordering::Relaxed),
            run: checkpoints.run,
        };
        let directory = checkpoints.directory.clone();
        let found = resume::look(&directory, &header, system);
        // Whoever cannot read must not leave the others waiting; and all must have seen the same.
        let seen = match &found {
            Ok(found) => found.fingerprint(),
            Err(_) => vec![u64::MAX],
        };
        let told = team.tell(seen.clone())?;
        let found = found?;
        if let Some(process) = told.iter().position(|other| *other != seen) {
            let message = format!("process {process} sees other checkpoints there, or cannot read them");
            return Err(StorageError::new(StorageAction::Read, &directory, &io::Error::other(message)).into());
        }
        let mut checkpoint = Checkpoint {
            directory,
            every: checkpoints.every,
            header,
            generation: 0,
            writer: None,
            replaces: false,
            last: Instant::now(),
            boundary: BlockHead::default(),
            found: vec![0; shards.len()],
            found_written: vec![0; shards.len()],
            depth_written: None,
        };
        match found {
            resume::SavedExploration::Outcome(space) => Ok(CheckpointStart::Finished(space)),
            resume::SavedExploration::Nothing => {
                checkpoint.forget(|sequence, _| sequence >= header.sequence);
                team.tell(Vec::new())?;
                Ok(CheckpointStart::GoesOn(Box::new(checkpoint), None))
            }
            resume::SavedExploration::Parts(parts) => {
                // What follows depends on how this one ends.
                checkpoint.forget(|sequence, _| sequence > header.sequence);
                team.tell(Vec::new())?;
                checkpoint.generation = parts.generation;
                let mut totals = Totals::default();
                let filled = parts.fill(team, shards, spill, watch).map(|filled| totals = filled);
                agree(team, filled, &[], &checkpoint.directory)?;
                if parts.is_shared_out_like(&header) {
                    checkpoint.writer = Some(parts.writer(&header)?);
                    checkpoint.depth_written = Some(totals.depth);
                    checkpoint.found_written = shards.iter().map(|shard| shard.findings.len()).collect();
                } else {
                    checkpoint.generation += 1;
                    checkpoint.replaces = true;
                }
                Ok(CheckpointStart::GoesOn(Box::new(checkpoint), Some(totals)))
            }
        }
    }

    /// The exploration begins again from its initial states. What is written stays until there is something newer.
    pub fn begin_again(&mut self) {
        self.writer = None;
        self.generation += 1;
        self.replaces = true;
        self.found_written.fill(0);
        self.depth_written = None;
    }

    /// Whether it is time for the next one.
    pub fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    /// Notes the end of a level; what is stored now is what a checkpoint of it would hold.
    pub fn note<'s, 'a: 's, I: Send + 'a>(
        &mut self,
        totals: Totals,
        shards: impl Iterator<Item = &'s mut Shard<'a, I>>,
    ) {
        let mut boundary = BlockHead { depth: totals.depth, transitions: totals.transitions, ..BlockHead::default() };
        self.found.clear();
        for shard in shards {
            boundary.cut_off |= shard.cut_off;
            self.found.push(shard.findings.len());
            let (to, expanded) = (shard.visited.len(), shard.expanded);
            boundary.shards.push(BlockSpan { from: 0, to, expanded });
        }
        self.boundary = boundary;
    }

    /// Writes what was noted last, unless it is there already.
    pub fn write<'s, 'a: 's, I: Send + 'a>(
        &mut self,
        team: &Team,
        shards: impl Iterator<Item = &'s mut Shard<'a, I>>,
    ) -> Result<(), Halt> {
        if self.depth_written == Some(self.boundary.depth) {
            return Ok(());
        }
        let shards: Vec<&mut Shard<I>> = shards.collect();
        let written = self.append(&shards).map_err(Halt::from);
        agree(team, written, &[], &self.directory)?;
        if std::mem::take(&mut self.replaces) {
            let (sequence, generation) = (self.header.sequence, self.generation);
            self.forget(|other, older| other == sequence && older.is_some_and(|older| older < generation));
        }
        self.depth_written = Some(self.boundary.depth);
        self.found_written.clone_from(&self.found);
        self.last = Instant::now();
        Ok(())
    }

    fn append<I: Send>(&mut self, shards: &[&mut Shard<I>]) -> Result<(), StorageError> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let path = part_path(&self.directory, self.header.sequence, self.generation, self.header.process);
                CheckpointWriter::open(&path, self.header, None)?
            }
        };
        let mut head = self.boundary.clone();
        head.number = writer.blocks;
        let new = self.found_written.iter().zip(&self.found).map(|(&from, &to)| from..to);
        head.findings = new.clone().map(|new| new.len() as u64).sum();
        for (span, &from) in head.shards.iter_mut().zip(&writer.written) {
            span.from = from.min(span.to);
        }
        writer.begin(&head)?;
        for (span, shard) in head.shards.iter().zip(shards) {
            shard.visited.visit(span.from..span.to, |state, parent| {
                writer.words(state);
                writer.words(&[parent]);
                writer.breathe()
            })?;
        }
        for (new, shard) in new.zip(shards) {
            for finding in &shard.findings[new] {
                writer.words(&[finding.state.0, u64::from(finding.kind)]);
                writer.breathe()?;
            }
        }
        // Where checkpoints are rare they are worth waiting for the disk.
        writer.end(&head, self.every >= Duration::from_secs(1))?;
        self.writer = Some(writer);
        Ok(())
    }

    /// At the end: keeps the outcome, if it is one for good. The answer is worth more, so nothing that goes wrong here changes it.
    pub fn conclude<I>(
        mut self,
        checkpoints: &Checkpoints,
        space: &Space<I>,
        until: Until,
        team: &Team,
        interrupted_by: Option<Vec<u64>>,
    ) {
        let finished = matches!(space.end, End::Exhausted | End::Found | End::Interrupted(_));
        if !finished {
            checkpoints.unfinished.store(true, Ordering::Relaxed);
            return;
        }
        self.writer = None;
        let path = outcome_path(&self.directory, self.header.sequence);
        let first = self.header.process == 0;
        let written = !first || outcome::write(&path, &self.header, space, until, interrupted_by).unwrap_or(false);
        // The parts go when the outcome is there.
        let told = team.tell(vec![u64::from(written)]);
        if told.is_ok_and(|told| told.iter().all(|ok| ok.first() == Some(&1))) {
            let sequence = self.header.sequence;
            self.forget(|other, generation| other == sequence && generation.is_some());
        }
    }

    /// Removes files of explorations by number and generation (outcomes have none); one process does it for all.
    fn forget(&self, which: impl Fn(u64, Option<u64>) -> bool) {
        if self.header.process != 0 {
            return;
        }
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let known = name.to_str().and_then(parse_name);
            let goes = known.is_some_and(|(sequence, rest)| which(sequence, rest.map(|rest| rest.0)));
            // Outcomes are written by this process only, and none is being written now.
            if goes || is_unfinished(&entry.path()) {
                // What is left behind is found to be out of date the next time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn part_path(directory: &Path, sequence: u64, generation: u64, process: u64) -> PathBuf {
    directory.join(format!("{sequence:05}-{generation:03}-{process:03}.states"))
}

fn outcome_path(directory: &Path, sequence: u64) -> PathBuf {
    directory.join(format!("{sequence:05}.done"))
}

/// The number of the exploration, and generation and process if it is a part.
fn parse_name(name: &str) -> Option<(u64, Option<(u64, u64)>)> {
    if let Some(sequence) = name.strip_suffix(".done") {
        return Some((sequence.parse().ok()?, None));
    }
    let mut numbers = name.strip_suffix(".states")?.split('-').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some((next()?, Some((next()?, next()?))))
}
