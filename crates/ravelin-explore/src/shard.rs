//! What one worker owns of a search: a part of the states, and what it found there.

use crate::any::AnySystem;
use crate::halt::Halt;
use crate::order::parent_word;
use crate::peers::Team;
use crate::room::Room;
use crate::space::{StateFinding, StateId, join};
use crate::spill::LevelWatch;
use crate::store::StateStore;
use crate::system::{Sink, System};
use crate::visited::{LongIds, Sent, VisitedSet};

/// States that a worker expands in a round.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Portion {
    /// So many of each shard.
    States(u64),
    /// Those below a rank.
    Below(u64),
}

pub(crate) struct Shard<'a, I: Send> {
    number: usize,
    /// Shards of each process, and of all.
    workers: usize,
    pub shards: usize,
    /// Levels before the current one.
    level: u32,
    pub visited: VisitedSet,
    /// States before this index are expanded.
    pub expanded: u64,
    /// States from this index on belong to the next level.
    pub level_end: u64,
    scratch: <AnySystem<'a, I> as System>::Scratch,
    pub sink: Sink,
    /// Why the search cannot go on, the state that says so and its rank.
    pub interrupt: Option<(Vec<u64>, u32, I)>,
    /// What went wrong with the states here.
    pub failed: Option<Halt>,
    pub findings: Vec<StateFinding>,
    /// By finding: the level and the rank of the state.
    pub places: Vec<u64>,
    pub cut_off: bool,
}

impl<'a, I: Send> Shard<'a, I> {
    pub fn new(system: &AnySystem<'a, I>, number: usize, team: &Team, visited: VisitedSet) -> Shard<'a, I> {
        let (workers, shards) = (team.workers(), team.shards());
        Shard {
            number,
            workers,
            shards,
            level: 0,
            visited,
            expanded: 0,
            level_end: 0,
            scratch: system.scratch(),
            sink: Sink::new(system.width(), shards),
            interrupt: None,
            failed: None,
            findings: Vec::new(),
            places: Vec::new(),
            cut_off: false,
        }
    }

    /// First half of a round: expands some states of the current level. `alone`: this is the only shard, which may store up to so many
    /// states. What it finds need not wait for the second half then, and is still in the cache.
    pub fn expand(&mut self, system: &AnySystem<'a, I>, portion: Portion, alone: Option<u64>) {
        let until = match portion {
            Portion::States(states) => self.level_end.min(self.expanded + states),
            Portion::Below(_) => self.level_end,
        };
        let largest_round = self.visited.largest_round();
        let mut absorbed = 0;
        while self.expanded < until {
            let index = self.expanded;
            let id = join(self.number, index, self.shards);
            let rank = self.visited.rank(index);
            match (rank, portion) {
                (Some(rank), Portion::Below(bound)) if u64::from(rank) >= bound => break,
                // Others have expanded all below the bound, so this worker does, too.
                (Some(rank), _) => {
                    self.sink.parent = parent_word(rank, join(self.number % self.workers, index, self.workers));
                    self.sink.first_successor = Some(self.sink.transitions);
                }
                (None, _) if self.sink.words() + absorbed >= largest_round => break,
                (None, _) => self.sink.parent = id,
            }
            let state = match self.visited.next(index) {
                Ok(state) => state,
                Err(error) => {
                    self.failed = Some(error.into());
                    break;
                }
            };
            self.expanded += 1;
            let expanded = system.expand(state, &mut self.scratch, &mut self.sink);
            if !self.sink.findings.is_empty() {
                let place = u64::from(self.level) << 32 | u64::from(rank.unwrap_or(0));
                for kind in self.sink.findings.drain(..) {
                    self.findings.push(StateFinding { state: StateId(id), kind });
                    self.places.push(place);
                }
            }
            if let Err(interrupt) = expanded {
                let state = state.to_vec();
                self.interrupt = Some((state, rank.unwrap_or(0), interrupt));
                break;
            }
            if let Some(most) = alone
                && let [outbox] = &mut self.sink.outboxes[..]
            {
                absorbed += self.visited.absorb_alone(outbox, most);
            }
        }
        self.cut_off |= self.sink.cut_off;
    }

    pub fn unexpanded(&self) -> u64 {
        self.level_end - self.expanded
    }

    /// Second half: takes what was sent here, by sender, as long as there is room.
    pub fn absorb(&mut self, sent: &[Sent], room: Option<&Room>) {
        let ids = LongIds { workers: self.workers as u64, shards: self.shards as u64 };
        let absorbed = self.visited.absorb(sent, self.sink.record_words(), room, ids);
        self.failed = self.failed.take().or(absorbed.err().map(Halt::from));
    }

    /// All that is known is now the current level, but for what is expanded.
    pub fn next_level(&mut self, watch: &LevelWatch) -> Result<(), Halt> {
        self.visited.end_level(watch)?;
        self.level += 1;
        self.level_end = self.visited.len();
        Ok(())
    }

    /// From now on states are kept in no particular order.
    pub fn forget_order(&mut self) {
        self.visited.forget_order();
        self.sink.first_successor = None;
    }

    /// Gives the states of the current level their ranks.
    pub fn set_ranks(&mut self, ranks: Vec<u32>) {
        self.visited.set_ranks(ranks, self.level_end);
    }

    /// The states, if they are in memory.
    pub fn into_store(self) -> Option<StateStore> {
        match self.visited {
            VisitedSet::Memory(set) => Some(set.store),
            VisitedSet::Disk(_) => None,
        }
    }
}
