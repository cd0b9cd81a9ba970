//! Rounds of messages between all processes.
//!
//! One thread owns the channels of the communication layer. In a round it sends every other process its words, in
//! pieces, the last of them marked. It collects their pieces until all last pieces have arrived. A process may be at
//! most one round ahead of another: it cannot end a round before the other has begun it.

use crate::connection::{Connection, ConnectionStatus, Socket};
use ravelin_explore::{LostProcess, Peers};
use std::collections::VecDeque;
use std::io::Write;
use std::net::Shutdown;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use timely_bytes::arc::Bytes;
use timely_communication::allocator::zero_copy::allocator::TcpBuilder;
use timely_communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely_communication::allocator::{Allocator, ProcessBuilder};
use timely_communication::{Bytesable, Hooks, Pull, Push};

/// Words of a piece: 256 KiB, so that the other side begins to read before everything is written.
const PIECE: usize = 1 << 15;
/// How often to check for broken connections. Messages wake the thread by themselves.
const LOOK: Duration = Duration::from_millis(50);

/// How long the final messages may take, after all processes have received the end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The connections of this process to all others.
pub struct Links {
    processes: usize,
    number: usize,
    /// To the thread that owns the channels. Rounds are made one after the other.
    rounds: Mutex<Option<Sender<LinkRequest>>>,
    thread: Option<JoinHandle<()>>,
}

struct LinkRequest {
    outgoing: Vec<Vec<u64>>,
    /// Nothing comes after this.
    farewell: bool,
    answer: SyncSender<Result<Vec<Vec<u64>>, LostProcess>>,
}

impl Links {
    /// `connections` by process, `None` for this one.
    pub(crate) fn new(
        connections: Vec<Option<Connection>>,
        number: usize,
        fate: Arc<ConnectionStatus>,
    ) -> std::io::Result<Links> {
        let processes = connections.len();
        let hooks = Hooks::default();
        let inner = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), None);
        let sockets: Vec<Socket> =
            connections.iter().flatten().map(Connection::socket).collect::<std::io::Result<_>>()?;
        let (builders, guard) = initialize_networking_from_sockets(inner, connections, number, 1, hooks)?;
        // It would wait for the layer's threads, some of which sleep at broken connections.
        std::mem::forget(guard);
        let (rounds, requests) = channel();
        let mut builders = builders.into_iter();
        let thread = match builders.next() {
            None => None,
            Some(builder) => Some(
                std::thread::Builder::new()
                    .name("ravelin-links".to_owned())
                    .spawn(move || serve(builder, &sockets, number, processes, &requests, &fate))?,
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

    fn exchange(&self, outgoing: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, LostProcess> {
        self.round(outgoing, false)
    }
}

impl Links {
    fn round(&self, outgoing: Vec<Vec<u64>>, farewell: bool) -> Result<Vec<Vec<u64>>, LostProcess> {
        let (answer, answered) = sync_channel(1);
        let rounds = self.rounds.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // The thread ends only when this is dropped; if it is gone nevertheless, no process can be reached.
        let lost = LostProcess { process: usize::from(self.number == 0) };
        let sent = rounds.as_ref().map(|rounds| rounds.send(LinkRequest { outgoing, farewell, answer }));
        if !matches!(sent, Some(Ok(()))) {
            return Err(lost);
        }
        answered.recv().unwrap_or(Err(lost))
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        // A last round: after it, every process has received everything.
        let _ = self.round(vec![Vec::new(); self.processes], true);
        self.rounds.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Makes rounds until there are no more requests.
fn serve(
    builder: TcpBuilder,
    sockets: &[Socket],
    number: usize,
    processes: usize,
    requests: &Receiver<LinkRequest>,
    fate: &Arc<ConnectionStatus>,
) {
    let mut allocator = Allocator::Tcp(builder.build());
    let (pushers, puller) = allocator.allocate::<MessagePiece>(0);
    let mut channels =
        Channels { allocator, pushers, puller, ahead: (0..processes).map(|_| Inbox::default()).collect() };
    while let Ok(LinkRequest { outgoing, farewell, answer }) = requests.recv() {
        let incoming = channels.round(outgoing, farewell, number, fate);
        let ended = incoming.is_err();
        // The requesting thread waits for the answer.
        let _ = answer.send(incoming);
        if ended {
            // The others may wait for this process, which has nothing more to send.
            sockets.iter().for_each(|socket| socket.shutdown(Shutdown::Both));
            std::mem::forget(channels);
            return;
        }
    }
    // Without its channels the layer sends what it has, then the empty header, and closes.
    drop(channels);
    let start = Instant::now();
    while !fate.has_told(processes - 1) && start.elapsed() < LAST_WORDS {
        std::thread::sleep(Duration::from_millis(1));
    }
}

struct Channels {
    allocator: Allocator,
    pushers: Vec<Box<dyn Push<MessagePiece>>>,
    puller: Box<dyn Pull<MessagePiece>>,
    /// By sender: what has arrived and was not delivered.
    ahead: Vec<Inbox>,
}

/// What one process sent: finished messages, and the beginning of the next.
#[derive(Default)]
struct Inbox {
    complete: VecDeque<(Vec<u64>, bool)>,
    begun: Vec<u64>,
    /// What was sent to that process last: room for a message.
    used: Vec<u64>,
}

impl Channels {
    fn round(
        &mut self,
        outgoing: Vec<Vec<u64>>,
        farewell: bool,
        number: usize,
        fate: &ConnectionStatus,
    ) -> Result<Vec<Vec<u64>>, LostProcess> {
        let mut own = Vec::new();
        for (process, words) in outgoing.into_iter().enumerate() {
            if process == number {
                own = words;
                continue;
            }
            let words = Arc::new(words);
            let mut begin = 0;
            loop {
                let end = words.len().min(begin + PIECE);
                let last = end == words.len();
                let content = PieceContent::Outgoing(words.clone(), begin..end);
                self.pushers[process].send(MessagePiece { sender: number, last, farewell, content });
                if last {
                    break;
                }
                begin = end;
                self.allocator.release();
            }
            self.pushers[process].done();
            // It was copied to where it is sent from.
            if let Ok(mut used) = Arc::try_unwrap(words) {
                used.clear();
                self.ahead[process].used = used;
            }
        }
        self.allocator.release();
        loop {
            // Checked first: what arrived before a connection ended counts.
            let ended = fate.ended();
            self.allocator.receive();
            self.allocator.events().borrow_mut().clear();
            while let Some(MessagePiece { sender, last, farewell, content }) = self.puller.recv() {
                let Some(inbox) = self.ahead.get_mut(sender) else { continue };
                if inbox.begun.capacity() == 0 {
                    inbox.begun = std::mem::take(&mut inbox.used);
                }
                content.append_to(&mut inbox.begun);
                if last {
                    inbox.complete.push_back((std::mem::take(&mut inbox.begun), farewell));
                }
            }
            self.allocator.release();
            let missing = |&process: &usize| process != number && self.ahead[process].complete.is_empty();
            let missing: Vec<usize> = (0..self.ahead.len()).filter(missing).collect();
            if missing.is_empty() {
                break;
            }
            if let Some(&process) = ended.iter().find(|process| missing.contains(process)) {
                return Err(LostProcess { process });
            }
            self.allocator.await_events(Some(LOOK));
        }
        let mut incoming = Vec::new();
        for (process, inbox) in self.ahead.iter_mut().enumerate() {
            match inbox.complete.pop_front() {
                // The other process has ended for a reason that this process does not know.
                Some((_, true)) if !farewell => return Err(LostProcess { process }),
                Some((words, _)) => incoming.push(words),
                None => incoming.push(if process == number { std::mem::take(&mut own) } else { Vec::new() }),
            }
        }
        Ok(incoming)
    }
}

/// Part of a message.
struct MessagePiece {
    sender: usize,
    last: bool,
    /// The sender makes no round after this one.
    farewell: bool,
    content: PieceContent,
}

/// The words of a piece, which are copied once on each side: to where they are sent from, and from where they arrived.
enum PieceContent {
    Outgoing(Arc<Vec<u64>>, Range<usize>),
    Incoming(Bytes),
}

impl PieceContent {
    fn append_to(&self, words: &mut Vec<u64>) {
        match self {
            PieceContent::Outgoing(all, range) => words.extend_from_slice(&all[range.clone()]),
            PieceContent::Incoming(bytes) => words.extend(bytes[HEAD..].chunks_exact(8).map(word)),
        }
    }
}

/// Bytes before the words of a piece.
const HEAD: usize = 8;
/// How many words of a piece are converted at once.
const BATCH: usize = 512;

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

impl Bytesable for MessagePiece {
    fn from_bytes(bytes: Bytes) -> MessagePiece {
        // Another process of this program wrote it, but not even a defect may end this one.
        let head = bytes.get(..HEAD).map_or(0, word);
        let content = if bytes.len() < HEAD {
            PieceContent::Outgoing(Arc::default(), 0..0)
        } else {
            PieceContent::Incoming(bytes)
        };
        MessagePiece { sender: (head >> 2) as usize, last: head & 1 == 1, farewell: head & 2 == 2, content }
    }

    fn length_in_bytes(&self) -> usize {
        match &self.content {
            PieceContent::Outgoing(_, range) => HEAD + range.len() * 8,
            PieceContent::Incoming(bytes) => bytes.len(),
        }
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        let head = (self.sender as u64) << 2 | u64::from(self.farewell) << 1 | u64::from(self.last);
        // The writer is a buffer of the right size.
        let mut write = |bytes: &[u8]| {
            let written = writer.write_all(bytes);
            debug_assert!(written.is_ok());
        };
        write(&head.to_le_bytes());
        match &self.content {
            PieceContent::Outgoing(all, range) => {
                let mut batch = [0; BATCH * 8];
                for words in all[range.clone()].chunks(BATCH) {
                    for (bytes, word) in batch.chunks_exact_mut(8).zip(words) {
                        bytes.copy_from_slice(&word.to_le_bytes());
                    }
                    write(&batch[..words.len() * 8]);
                }
            }
            PieceContent::Incoming(bytes) => write(&bytes[HEAD..]),
        }
    }
}
