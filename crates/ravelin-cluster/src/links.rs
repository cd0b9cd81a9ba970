//! Rounds of messages between all processes.
//!
//! One thread owns the channels of the communication layer. In a round it sends to every other process what is for it, in pieces, the
//! last of them marked, and collects theirs until all last pieces are there. A process may be a round ahead of another, no more: it
//! cannot end a round before the other has begun it.

use crate::connection::{Connection, Fate};
use ravelin_explore::{Lost, Peers};
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use timely_bytes::arc::Bytes;
use timely_communication::allocator::zero_copy::allocator::TcpBuilder;
use timely_communication::allocator::zero_copy::initialize::{CommsGuard, initialize_networking_from_sockets};
use timely_communication::allocator::{Allocator, ProcessBuilder};
use timely_communication::{Bytesable, Hooks, Pull, Push};

/// Words of a piece: 256 KiB, so that the other side begins to read before all is written.
const PIECE: usize = 1 << 15;
/// Between two looks whether a connection broke. Messages wake the thread by themselves.
const LOOK: Duration = Duration::from_millis(50);

/// The connections of this process to all others.
pub struct Links {
    processes: usize,
    number: usize,
    /// To the thread that owns the channels. Rounds are made one after the other.
    rounds: Mutex<Option<Sender<Request>>>,
    thread: Option<JoinHandle<()>>,
}

struct Request {
    outgoing: Vec<Vec<u64>>,
    answer: SyncSender<Result<Vec<Vec<u64>>, Lost>>,
}

impl Links {
    /// `connections` by process, `None` for this one.
    pub(crate) fn new(connections: Vec<Option<Connection>>, number: usize, fate: Arc<Fate>) -> std::io::Result<Links> {
        let processes = connections.len();
        let hooks = Hooks::default();
        let inner = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), None);
        let (builders, guard) = initialize_networking_from_sockets(inner, connections, number, 1, hooks)?;
        let (rounds, requests) = channel();
        let mut builders = builders.into_iter();
        let thread = match builders.next() {
            None => None,
            Some(builder) => Some(
                std::thread::Builder::new()
                    .name("ravelin-links".to_owned())
                    .spawn(move || serve(builder, guard, number, processes, &requests, &fate))?,
            ),
        };
        Ok(Links { processes, number, rounds: Mutex::new(Some(rounds)), thread })
    }
}

impl Peers for Links {
    fn processes(&self) -> usize {
        self.processes
    }

    fn number(&self) -> usize {
        self.number
    }

    fn exchange(&self, outgoing: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, Lost> {
        let (answer, answered) = sync_channel(1);
        let rounds = self.rounds.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // The thread ends only when this is dropped; if it should be gone all the same, no process can be reached.
        let lost = Lost { process: usize::from(self.number == 0) };
        let sent = rounds.as_ref().map(|rounds| rounds.send(Request { outgoing, answer }));
        if !matches!(sent, Some(Ok(()))) {
            return Err(lost);
        }
        answered.recv().unwrap_or(Err(lost))
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        // A last round: when it is over, everybody has heard everything.
        let _ = self.exchange(vec![Vec::new(); self.processes]);
        self.rounds.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Makes rounds until nobody wants any more.
fn serve(
    builder: TcpBuilder,
    guard: CommsGuard,
    number: usize,
    processes: usize,
    requests: &Receiver<Request>,
    fate: &Arc<Fate>,
) {
    let mut allocator = Allocator::Tcp(builder.build());
    let (pushers, puller) = allocator.allocate::<Piece>(0);
    let mut channels =
        Channels { allocator, pushers, puller, ahead: (0..processes).map(|_| Inbox::default()).collect() };
    while let Ok(Request { outgoing, answer }) = requests.recv() {
        let incoming = channels.round(outgoing, number, fate);
        let ended = incoming.is_err();
        // Whoever asked waits for the answer.
        let _ = answer.send(incoming);
        if ended {
            // The layer's threads sleep at their broken connections and cannot be joined. They end with the process.
            std::mem::forget(guard);
            std::mem::forget(channels);
            return;
        }
    }
    fate.finish();
    drop(channels);
    drop(guard);
}

struct Channels {
    allocator: Allocator,
    pushers: Vec<Box<dyn Push<Piece>>>,
    puller: Box<dyn Pull<Piece>>,
    /// By sender: what has come and was not given away.
    ahead: Vec<Inbox>,
}

/// What one process sent: finished messages, and the beginning of the next.
#[derive(Default)]
struct Inbox {
    complete: std::collections::VecDeque<Vec<u64>>,
    begun: Vec<u64>,
}

impl Channels {
    fn round(&mut self, outgoing: Vec<Vec<u64>>, number: usize, fate: &Fate) -> Result<Vec<Vec<u64>>, Lost> {
        let mut own = Vec::new();
        for (process, mut words) in outgoing.into_iter().enumerate() {
            if process == number {
                own = words;
                continue;
            }
            while words.len() > PIECE {
                let rest = words.split_off(PIECE);
                self.pushers[process].send(Piece { sender: number, last: false, words });
                words = rest;
                self.allocator.release();
            }
            self.pushers[process].send(Piece { sender: number, last: true, words });
            self.pushers[process].done();
        }
        self.allocator.release();
        loop {
            // Looked at first: what came before a connection ended counts.
            let ended = fate.ended();
            self.allocator.receive();
            self.allocator.events().borrow_mut().clear();
            while let Some(Piece { sender, last, words }) = self.puller.recv() {
                let Some(inbox) = self.ahead.get_mut(sender) else { continue };
                inbox.begun.extend_from_slice(&words);
                if last {
                    inbox.complete.push_back(std::mem::take(&mut inbox.begun));
                }
            }
            self.allocator.release();
            let missing = |&process: &usize| process != number && self.ahead[process].complete.is_empty();
            let missing: Vec<usize> = (0..self.ahead.len()).filter(missing).collect();
            if missing.is_empty() {
                break;
            }
            if let Some(&process) = missing.iter().find(|&&process| ended[process]) {
                return Err(Lost { process });
            }
            self.allocator.await_events(Some(LOOK));
        }
        let mut take = |process: usize| {
            if process == number {
                std::mem::take(&mut own)
            } else {
                self.ahead[process].complete.pop_front().unwrap_or_default()
            }
        };
        Ok((0..self.pushers.len()).map(&mut take).collect())
    }
}

/// Part of a message.
struct Piece {
    sender: usize,
    last: bool,
    words: Vec<u64>,
}

/// Words of a piece that are converted at once.
const BATCH: usize = 512;

impl Bytesable for Piece {
    fn from_bytes(bytes: Bytes) -> Piece {
        let mut words = bytes.chunks_exact(8).map(|chunk| {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let head = words.next().unwrap_or(0);
        Piece { sender: (head >> 1) as usize, last: head & 1 == 1, words: words.collect() }
    }

    fn length_in_bytes(&self) -> usize {
        8 + self.words.len() * 8
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        let head = (self.sender as u64) << 1 | u64::from(self.last);
        // The writer is memory of the right size.
        let mut write = |bytes: &[u8]| {
            let written = writer.write_all(bytes);
            debug_assert!(written.is_ok());
        };
        write(&head.to_le_bytes());
        let mut batch = [0; BATCH * 8];
        for words in self.words.chunks(BATCH) {
            for (bytes, word) in batch.chunks_exact_mut(8).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            write(&batch[..words.len() * 8]);
        }
    }
}
