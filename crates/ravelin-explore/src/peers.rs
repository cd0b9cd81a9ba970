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

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.peers.map_or(0, |peers| peers.number())
    }

    /// Shards of each process.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Sends records to the shards elsewhere. `senders` are the outboxes of each shard here, by owner; those for owners here are left as they
    /// are. `incoming` has then what came; what it had before are buffers to use again.
    pub fn exchange(&self, senders: &mut [&mut [Vec<u64>]], incoming: &mut Incoming) -> Result<(), LostProcess> {
        let Some(peers) = self.peers else { return Ok(()) };
        let here = peers.number();
        let mut outgoing = Vec::with_capacity(peers.processes());
        for process in 0..peers.processes() {
            if process == here {
                outgoing.push(Vec::new());
                continue;
            }
            let owners = process * self.workers..(process + 1) * self.workers;
            let mut message = Vec::new();
            let mut lengths = Vec::with_capacity(self.workers * self.workers);
            for owner in owners {
                for outboxes in senders.iter_mut() {
                    let outbox = &mut outboxes[owner];
                    lengths.push(outbox.len() as u64);
                    if message.is_empty() {
                        // With one worker this is all, and nothing is copied.
                        std::mem::swap(&mut message, outbox);
                        if let Some(used) = incoming.messages.get_mut(process).filter(|used| used.capacity() > 0) {
                            used.clear();
                            std::mem::swap(used, outbox);
                        }
                    } else {
                        message.append(outbox);
                    }
                }
            }
            message.extend(lengths);
            outgoing.push(message);
        }
        incoming.messages = peers.exchange(outgoing)?;
        incoming.workers = self.workers;
        Ok(())
    }

    /// Sends each process what is for it, and gives what each sent here, in their order.
    pub fn send(&self, outgoing: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, LostProcess> {
        match self.peers {
            None => Ok(outgoing),
            Some(peers) => peers.exchange(outgoing),
        }
    }

    /// Tells all processes the same, and gives what each told, in their order.
    pub fn tell(&self, words: Vec<u64>) -> Result<Vec<Vec<u64>>, LostProcess> {
        match self.peers {
            None => Ok(vec![words]),
            Some(peers) => peers.tell(words),
        }
    }
}

/// What came from other processes in a round: by process a message, the records for each owner here by each sender there, one after the
/// other, and then their lengths.
#[derive(Default)]
pub(crate) struct Incoming {
    messages: Vec<Vec<u64>>,
    workers: usize,
}

impl Incoming {
    /// Words in all.
    pub fn words(&self) -> usize {
        self.messages.iter().map(Vec::len).sum()
    }

    /// The records for an owner here, with the process that they come from; those of each sender for themselves.
    pub fn records_for(&self, owner: usize) -> impl Iterator<Item = (usize, &[u64])> {
        let workers = self.workers;
        self.messages.iter().enumerate().flat_map(move |(process, message)| {
            let parts = message.len().checked_sub(workers * workers).filter(|_| workers > 0);
            let (records, lengths) = message.split_at(parts.unwrap_or(message.len()));
            let mut rest = records;
            let all = lengths.iter().map(move |&length| {
                let (part, others) = rest.split_at((length as usize).min(rest.len()));
                rest = others;
                part
            });
            all.skip(owner * workers).take(workers).map(move |part| (process, part))
        })
    }
}
