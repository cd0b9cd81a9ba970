//! How several processes come to the ranks of the states that they found in a level (`order.rs`): each tells the labels of its own.

use crate::halt::Halt;
use crate::order;
use crate::rounds::lock;
use crate::search::Search;

impl<I: Send> Search<'_, I> {
    /// The ranks of the states found since the last level, among those of all processes.
    pub(crate) fn rank_new_among_all(&mut self) -> Result<RankedLevel, Halt> {
        let new = self.new_labels();
        let told = self.team.tell(order::packed(&new.labels))?;
        Ok(new.among(told, self.team.process()))
    }

    /// The labels of the states found here since the last level.
    pub(crate) fn new_labels(&self) -> NewLabels {
        let shards: Vec<_> = self.shards.iter().map(lock).collect();
        let labels: Vec<&[u64]> = shards.iter().map(|shard| shard.visited.labels()).collect();
        let mut turns = Vec::new();
        let ranks = order::ranks(&labels, &mut turns);
        NewLabels { labels: order::in_turns(&labels, &turns), ranks }
    }
}

/// The states of a level that begins: by shard of this process their ranks among those of all processes, and how many all are.
pub(crate) struct RankedLevel {
    pub ranks: Vec<Vec<u32>>,
    pub states: u64,
}

/// The states here of a level that begins: their labels in order, and by shard their ranks among them.
pub(crate) struct NewLabels {
    pub labels: Vec<u64>,
    ranks: Vec<Vec<u32>>,
}

impl NewLabels {
    /// With what all processes, of which this is one, told of theirs.
    pub fn among(mut self, mut told: Vec<Vec<u64>>, process: usize) -> RankedLevel {
        let states = told.iter().filter_map(|labels| labels.first()).sum();
        told.remove(process);
        let among_all = order::ranks_among(&self.labels, &told);
        self.ranks.iter_mut().flatten().for_each(|rank| *rank = among_all[*rank as usize]);
        RankedLevel { ranks: self.ranks, states }
    }
}

/// What is sent with a summary comes before it: the labels of new states, as they are packed, or nothing.
pub(crate) fn cut_summary(words: &mut Vec<u64>) -> Vec<u64> {
    let numbers = words.pop().unwrap_or(0) as usize;
    words.split_off(words.len().saturating_sub(numbers))
}
