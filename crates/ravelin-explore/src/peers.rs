//! Other processes that explore the same system, each its part of the states.
//!
//! Every process makes the same explorations in the same order, and takes part in every exchange. What a process decides, it decides
//! from what all told each other, so all decide alike and nobody has to be in charge.

use crate::limits::Limit;

/// How this process talks to the others. An exchange is made by all processes together, one after the other.
pub trait Peers: Sync {
    /// All processes, this one among them.
    fn processes(&self) -> usize;

    /// Which of them this is.
    fn number(&self) -> usize;

    /// Gives each process the words that are for it, in the order of the processes, and returns those that each had for this one. Returns
    /// when all have given theirs.
    fn exchange(&self, outgoing: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, LostProcess>;

    /// Tells all processes the same, and gives what each told, in their order.
    fn tell(&self, words: Vec<u64>) -> Result<Vec<Vec<u64>>, LostProcess> {
        let mut told = self.exchange(vec![words.clone(); self.processes()])?;
        if let Some(own) = told.get_mut(self.number()) {
            *own = words;
        }
        Ok(told)
    }
}

/// A process is gone, and with it its part of the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection to process {process} was lost")]
pub struct LostProcess {
    pub process: usize,
}

impl From<LostProcess> for Limit {
    fn from(lost: LostProcess) -> Limit {
        Limit::Lost(lost)
    }
}

/// The shards of all processes: which are here, and how to reach the others.
#[derive(Clone, Copy)]
pub(crate) struct Team<'a> {
    peers: Option<&'a dyn Peers>,
    /// Shards of each process.
    workers: usize,
}

impl<'a> Team<'a> {
    pub fn new(peers: Option<&'a dyn Peers>, workers: usize) -> Team<'a> {
        Team { peers: peers.filter(|peers| peers.processes() > 1), workers }
    }

    pub fn is_alone(&self) -> bool {
        self.peers.is_none()
    }

    pub fn processes(&self) -> usize {
        self.peers.map_or(1, |peers| peers.processes())
    }

    /// Shards of all processes.
    pub fn shards(&self) -> usize {
        self.workers * self.processes()
    }

    /// The number of the first shard that is here.
    pub fn first(&self) -> usize {
        self.workers * self.peers.map_or(0, |peers| peers.number())
    }

    /// The numbers of the shards that are here.
    pub fn here(&self) -> std::ops::Range<usize> {
        self.first()..self.first() + self.workers
    }

    /// Sends records to the shards elsewhere and gives those for the shards here. `senders` are the outboxes of each shard here, by owner;
    /// those for owners here are left as they are.
    pub fn exchange<'o>(
        &self,
        senders: impl Iterator<Item = &'o mut [Vec<u64>]>,
    ) -> Result<Vec<Vec<u64>>, LostProcess> {
        let mut incoming = vec![Vec::new(); self.workers];
        let Some(peers) = self.peers else { return Ok(incoming) };
        let mut outgoing = vec![Vec::new(); peers.processes()];
        let mut senders: Vec<&mut [Vec<u64>]> = senders.collect();
        for (process, message) in outgoing.iter_mut().enumerate().filter(|(process, _)| *process != peers.number()) {
            for owner in process * self.workers..(process + 1) * self.workers {
                message.push(senders.iter().map(|outboxes| outboxes[owner].len() as u64).sum());
                for outboxes in &mut senders {
                    message.append(&mut outboxes[owner]);
                }
            }
        }
        for message in peers.exchange(outgoing)? {
            let mut rest = &message[..];
            for inbox in &mut incoming {
                let Some((&len, words)) = rest.split_first() else { break };
                let (records, others) = words.split_at((len as usize).min(words.len()));
                inbox.extend_from_slice(records);
                rest = others;
            }
        }
        Ok(incoming)
    }

    /// Tells all processes the same, and gives what each told, in their order.
    pub fn tell(&self, words: Vec<u64>) -> Result<Vec<Vec<u64>>, LostProcess> {
        match self.peers {
            None => Ok(vec![words]),
            Some(peers) => peers.tell(words),
        }
    }
}
