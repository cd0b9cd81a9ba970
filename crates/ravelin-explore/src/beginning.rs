//! The beginning of a search by several processes, explored by one of them alone.
//!
//! Processes exchange messages for each level, and of most programs the whole space is small. So process 0 explores the first levels in its
//! own memory while the others wait. If that is everything, it tells them so. Otherwise it sends each its part of the states, in their
//! order, and all go on together. What needs all of them to come to the same end (a finding, a limit, an interrupt) ends the beginning at the
//! level before, and comes again.

use crate::absorb::Insertions;
use crate::any::AnySystem;
use crate::budget::Budget;
use crate::peers::{LostProcess, Team};
use crate::rounds::RoundTotals;
use crate::shard::{Portion, Shard};
use crate::space::{StateId, Statistics, join};
use crate::store::{StateStore, hash};
use crate::system::{System, shard_of};
use crate::visited::{Sent, VisitedSet};
use std::time::{Duration, Instant};

/// How long the others wait at most: they do not look at their signals and limits.
const PATIENCE: Duration = Duration::from_millis(200);
/// States that are expanded between two looks at the limits.
const ROUND: u64 = 4096;

/// The levels that one process explored, as all know them.
pub(crate) struct Beginning {
    /// Of the last complete level.
    pub depth: u64,
    pub totals: RoundTotals,
    pub cut_off: bool,
    bytes: u64,
    /// The states of this process.
    words: Vec<u64>,
}

/// Numbers before the states.
const HEAD: usize = 6;

impl Beginning {
    /// Explores up to so many states in process 0, and shares them out.
    pub fn make<I: Send>(
        system: &AnySystem<I>,
        budget: Budget,
        team: &Team,
        most: u64,
    ) -> Result<Beginning, LostProcess> {
        let mut outgoing = vec![Vec::new(); team.processes()];
        if team.process() == 0 {
            outgoing = FirstLevels::explore(system, budget, most).shared_out(team);
        }
        let mut words = team.send(outgoing)?.into_iter().next().unwrap_or_default();
        let states = words.split_off(HEAD.min(words.len()));
        let [depth, states_in_all, transitions, frontier, cut_off, bytes] = *words else {
            return Err(LostProcess { process: 0 });
        };
        let totals = RoundTotals { states: states_in_all, transitions, frontier };
        Ok(Beginning { depth, totals, cut_off: cut_off != 0, bytes, words: states })
    }

    /// There is nothing left to explore, and nothing was found.
    pub fn is_all(&self) -> bool {
        self.totals.frontier == 0
    }

    pub fn statistics(&self, start: Instant, workers: usize) -> Statistics {
        Statistics {
            states: self.totals.states,
            transitions: self.totals.transitions,
            depth: self.depth,
            frontier: 0,
            bytes: self.bytes,
            elapsed: start.elapsed(),
            workers,
        }
    }

    /// Gives the shards of this process their states.
    pub fn fill<'s, 'a: 's, I: Send + 'a>(&self, width: usize, shards: impl Iterator<Item = &'s mut Shard<'a, I>>) {
        let mut words = self.words.as_slice();
        for shard in shards {
            let Some(([states, waiting], rest)) = words.split_first_chunk() else { return };
            let Some((records, rest)) = rest.split_at_checked(*states as usize * (width + 1)) else { return };
            let Some((ranks, rest)) = rest.split_at_checked(*waiting as usize) else { return };
            words = rest;
            if let Some(store) = shard.visited.store_mut() {
                store.reserve(*states as usize);
                for record in records.chunks_exact(width + 1) {
                    store.insert(&record[..width], hash(&record[..width]), record[width]);
                }
            }
            shard.level_end = shard.visited.len();
            shard.expanded = shard.level_end - ranks.len() as u64;
            shard.set_ranks(ranks.iter().map(|&rank| rank as u32).collect());
        }
    }
}

/// Complete levels from the initial states on.
struct FirstLevels {
    store: StateStore,
    /// States before this one are expanded.
    expanded: usize,
    depth: u64,
    transitions: u64,
    cut_off: bool,
}

impl FirstLevels {
    fn explore<I: Send>(system: &AnySystem<I>, budget: Budget, most: u64) -> FirstLevels {
        let start = Instant::now();
        let width = system.width();
        // Near a limit all have to look.
        let most = most.min(budget.limits.states.map_or(u64::MAX, |states| states / 4));
        let memory = budget.limits.memory.map(|memory| memory / 4);
        let mut shard = Shard::new(system, 0, &Team::new(None, 1), VisitedSet::new(StateStore::new(width), false));
        let mut records = Vec::new();
        system.initial(&mut |state| {
            records.extend_from_slice(state);
            records.extend([hash(state), StateId::NONE]);
        });
        shard.absorb(&[Sent { process: 0, records: &records }], None);
        let mut levels =
            FirstLevels { store: StateStore::new(width), expanded: 0, depth: 0, transitions: 0, cut_off: false };
        let mut known = shard.visited.len();
        'levels: while known > shard.expanded && known < most && start.elapsed() < PATIENCE {
            shard.level_end = known;
            while shard.unexpanded() > 0 {
                shard.expand(system, Portion::States(ROUND), None);
                let mut outboxes = std::mem::take(&mut shard.sink.outboxes);
                shard.absorb(&[Sent { process: 0, records: &outboxes[0] }], None);
                outboxes[0].clear();
                shard.sink.outboxes = outboxes;
                let is_much = memory.is_some_and(|memory| shard.visited.bytes() as u64 > memory);
                let is_late = start.elapsed() > 2 * PATIENCE || budget.late(start).is_some();
                let is_over = is_much || is_late || shard.visited.len() > most.saturating_mul(2);
                if shard.interrupt.is_some() || shard.failed.is_some() || !shard.findings.is_empty() || is_over {
                    break 'levels;
                }
            }
            levels.expanded = known as usize;
            levels.transitions = shard.sink.transitions;
            levels.cut_off = shard.cut_off;
            known = shard.visited.len();
            levels.depth += u64::from(known > shard.expanded);
        }
        if let Some(store) = shard.visited.store_mut() {
            levels.store = std::mem::replace(store, StateStore::new(width));
            levels.store.truncate(known as usize);
        }
        levels
    }

    /// By process: what it has to know, and its states.
    fn shared_out(&self, team: &Team) -> Vec<Vec<u64>> {
        let (states, width, shards) = (self.store.len(), self.store.width(), team.shards());
        let frontier = states - self.expanded;
        let head = [
            self.depth,
            states as u64,
            self.transitions,
            frontier as u64,
            u64::from(self.cut_off),
            self.store.bytes() as u64,
        ];
        let mut outgoing = vec![head.to_vec(); team.processes()];
        if frontier == 0 {
            return outgoing;
        }
        let mut ids = Vec::with_capacity(states);
        let mut records: Vec<Vec<u64>> = vec![Vec::new(); shards];
        let mut ranks: Vec<Vec<u64>> = vec![Vec::new(); shards];
        for index in 0..states {
            let state = self.store.state(index);
            let owner = shard_of(hash(state), shards);
            ids.push(join(owner, (records[owner].len() / (width + 1)) as u64, shards));
            records[owner].extend_from_slice(state);
            // Parents come before their children.
            let parent = self.store.parent_in_memory(index).map_or(StateId::NONE, |parent| ids[parent]);
            records[owner].push(parent);
            if let Some(rank) = index.checked_sub(self.expanded) {
                ranks[owner].push(rank as u64);
            }
        }
        for (shard, (records, ranks)) in records.into_iter().zip(ranks).enumerate() {
            let message = &mut outgoing[shard / team.workers()];
            message.extend([(records.len() / (width + 1)) as u64, ranks.len() as u64]);
            message.extend(records);
            message.extend(ranks);
        }
        outgoing
    }
}
