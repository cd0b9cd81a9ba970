//! Finds the other processes. Each process listens for those after it and calls those before it. Both sides
//! authenticate each other (`handshake.rs`), and when all are connected no process listens any more.
//!
//! There is one deadline for all of it. Nothing here waits for a single connection. All handshakes proceed in parallel,
//! each with a limit of some seconds. The number of unfinished ones is limited: if more arrive, the oldest is closed.
//! Connections that send nothing, or one byte now and then, therefore keep no process out.

use crate::connection::{Connection, ConnectionStatus, Socket};
use crate::dialer::Dialer;
use crate::handshake::{Handshake, HandshakeError, HandshakeState, HandshakeTerms};
use crate::hosts::{HostAddress, Hosts};
use crate::links::Links;
use crate::listener::Listener;
use crate::secret::Secret;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The identity of a process, and what it expects of the others.
#[derive(Clone, Copy, Debug)]
pub struct Introduction {
    /// The number of this process.
    pub process: usize,
    /// Equal for processes that answer the same question about the same input with the same version.
    pub fingerprint: u64,
}

/// How a process waits for the others.
#[derive(Clone, Copy)]
pub struct WaitPolicy<'a> {
    /// The time limit for all of it.
    pub patience: Duration,
    /// A peer that does not know it is refused.
    pub secret: Option<&'a Secret>,
    /// Set by another thread to give up.
    pub stop: Option<&'a AtomicBool>,
    /// Called once for each process that was refused.
    pub note: Option<&'a dyn Fn(&UnexpectedPeer)>,
}

impl WaitPolicy<'_> {
    pub fn new(patience: Duration) -> Self {
        WaitPolicy { patience, secret: None, stop: None, note: None }
    }
}

/// A peer that is not expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnexpectedPeer {
    /// It knows the secret, if there is one, and has another question.
    Different { process: usize, address: HostAddress },
    /// It does not know the secret.
    Secret { process: usize, address: HostAddress },
    /// It was called, and closed the connection after this process had introduced itself.
    Refuses { process: usize, address: HostAddress },
    /// The number of connections that were closed because they came from other addresses or failed the handshake.
    Strangers(usize),
}

impl fmt::Display for UnexpectedPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnexpectedPeer::Different { process, address } => write!(
                f,
                "process {process} at {address} is about something else: another program, other options, or another version of Ravelin"
            ),
            UnexpectedPeer::Secret { process, address } => {
                write!(f, "process {process} at {address} has another secret, or one of the two has none")
            }
            UnexpectedPeer::Refuses { process, address } => write!(
                f,
                "process {process} at {address} closes the connection: it is about something else, or has another secret"
            ),
            UnexpectedPeer::Strangers(1) => write!(f, "one connection that belongs to no process was closed"),
            UnexpectedPeer::Strangers(count) => write!(f, "{count} connections that belong to no process were closed"),
        }
    }
}

/// Why the processes did not connect.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("there is no process {process}: {processes} are named, the first is process 0")]
    NoSuchProcess { process: usize, processes: usize },
    #[error("cannot listen at {address}: {error}")]
    Listen { address: HostAddress, error: io::Error },
    #[error("cannot find {address}: {error}")]
    Unknown { address: HostAddress, error: io::Error },
    #[error(
        "waited {} s without an answer from {}{}", .waited.as_secs_f64(), .missing.iter().map(HostAddress::to_string).collect::<Vec<_>>().join(", "),
        .seen.iter().map(|seen| format!("; {seen}")).collect::<String>()
    )]
    Missing {
        waited: Duration,
        missing: Vec<HostAddress>,
        /// The peers that came instead.
        seen: Vec<UnexpectedPeer>,
    },
    #[error("interrupted while waiting for the other processes")]
    Stopped,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The time between two checks of all connections.
const PAUSE: Duration = Duration::from_millis(5);
/// How long one handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// The most callers with unfinished handshakes.
const MOST_CALLERS: usize = 128;
/// The most callers that are accepted at one check, so that existing ones are served in between.
const MOST_AT_ONCE: usize = 32;
/// The time before a process that refused this one is called again.
const BEFORE_NEXT_CALL: Duration = Duration::from_millis(200);

/// Connects this process with all others, and returns when all are connected.
pub fn connect(hosts: &Hosts, introduction: Introduction, waiting: &WaitPolicy) -> Result<Links, ConnectError> {
    let processes = hosts.addresses.len();
    let Introduction { process, fingerprint } = introduction;
    if process >= processes {
        return Err(ConnectError::NoSuchProcess { process, processes });
    }
    let secret = waiting.secret.cloned().unwrap_or_default();
    let mut meeting = PeerMeeting {
        hosts,
        terms: HandshakeTerms { process, processes, fingerprint, secret },
        waiting,
        sockets: (0..processes).map(|_| None).collect(),
        seen: Vec::new(),
        strangers: 0,
    };
    meeting.hold()?;
    let fate = ConnectionStatus::new();
    let connections = meeting.sockets.into_iter().enumerate();
    let connections =
        connections.map(|(other, socket)| socket.map(|socket| Connection::new(socket, other, fate.clone()))).collect();
    Ok(Links::new(connections, process, fate)?)
}

/// The addresses from which each process after this one may call.
type CallerAddresses = Vec<Vec<IpAddr>>;

struct PeerMeeting<'a> {
    hosts: &'a Hosts,
    terms: HandshakeTerms,
    waiting: &'a WaitPolicy<'a>,
    /// By process.
    sockets: Vec<Option<Socket>>,
    seen: Vec<UnexpectedPeer>,
    strangers: usize,
}

/// A process before this one, which this one calls.
struct OutgoingCall {
    other: usize,
    dialer: Dialer,
    handshake: Option<Handshake>,
    /// When to call again, after a failed handshake.
    again: Option<Instant>,
}

impl PeerMeeting<'_> {
    fn hold(&mut self) -> Result<(), ConnectError> {
        let start = Instant::now();
        let deadline = start + self.waiting.patience.min(Duration::from_secs(u64::from(u32::MAX)));
        let process = self.terms.process;
        // Listening begins first, so that callers do not fail needlessly.
        let awaits = process + 1 < self.terms.processes;
        let listener = if awaits { Some(Listener::open(&self.hosts.addresses[process])?) } else { None };
        let found = self.find_callers()?;
        let mut expected: Option<CallerAddresses> = None;
        let mut callers: VecDeque<Handshake> = VecDeque::new();
        let mut calls: Vec<OutgoingCall> = Vec::new();
        for other in 0..process {
            let dialer = Dialer::start(&self.hosts.addresses[other], deadline)?;
            calls.push(OutgoingCall { other, dialer, handshake: None, again: None });
        }
        loop {
            if self.waiting.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(ConnectError::Stopped);
            }
            if expected.is_none() {
                expected = found.try_recv().ok().transpose()?;
            }
            if let (Some(listener), Some(expected)) = (&listener, &expected) {
                self.let_in(listener, expected, &mut callers)?;
            }
            self.hear(&mut callers)?;
            for call in &mut calls {
                self.call(call)?;
            }
            if self.missing().is_empty() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                let mut seen = std::mem::take(&mut self.seen);
                seen.extend((self.strangers > 0).then_some(UnexpectedPeer::Strangers(self.strangers)));
                return Err(ConnectError::Missing { waited: self.waiting.patience, missing: self.missing(), seen });
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn missing(&self) -> Vec<HostAddress> {
        let all = self.hosts.addresses.iter().zip(&self.sockets).enumerate();
        let missing = all.filter(|(other, (_, socket))| *other != self.terms.process && socket.is_none());
        missing.map(|(_, (address, _))| address.clone()).collect()
    }

    /// Looks up, on a separate thread, the addresses from which the processes after this one call.
    fn find_callers(&self) -> Result<Receiver<Result<CallerAddresses, ConnectError>>, ConnectError> {
        let (send, found) = channel();
        let addresses = self.hosts.addresses[self.terms.process + 1..].to_vec();
        std::thread::Builder::new().name("ravelin-resolver".to_owned()).spawn(move || {
            let each =
                |address: HostAddress| address.resolved().map_err(|error| ConnectError::Unknown { address, error });
            // The receiver may have given up.
            let _ = send.send(addresses.into_iter().map(each).collect());
        })?;
        Ok(found)
    }

    /// Accepts new callers from the named addresses.
    fn let_in(
        &mut self,
        listener: &Listener,
        expected: &[Vec<IpAddr>],
        callers: &mut VecDeque<Handshake>,
    ) -> Result<(), ConnectError> {
        for _ in 0..MOST_AT_ONCE {
            let Some((socket, from)) = listener.accept()? else { break };
            if from.is_some_and(|from| !expected.iter().any(|addresses| addresses.contains(&from))) {
                self.strangers += 1;
                continue;
            }
            if callers.len() >= MOST_CALLERS {
                callers.pop_front();
                self.strangers += 1;
            }
            callers.push_back(Handshake::of_listener(socket)?);
        }
        Ok(())
    }

    /// Continues the handshakes of callers.
    fn hear(&mut self, callers: &mut VecDeque<Handshake>) -> Result<(), ConnectError> {
        for _ in 0..callers.len() {
            let Some(mut caller) = callers.pop_front() else { break };
            let (outcome, other) = (caller.advance(&self.terms), caller.other);
            match (outcome, other) {
                (HandshakeState::Goes, _) if caller.since.elapsed() < HANDSHAKE => callers.push_back(caller),
                (HandshakeState::Met, Some(other)) => {
                    if self.sockets[other].is_none() {
                        self.sockets[other] = Some(caller.into_socket()?);
                    }
                }
                (HandshakeState::Refused(HandshakeError::Secret), Some(process)) => {
                    self.note(UnexpectedPeer::Secret { process, address: self.hosts.addresses[process].clone() });
                }
                (HandshakeState::Refused(HandshakeError::Different), Some(process)) => {
                    self.note(UnexpectedPeer::Different { process, address: self.hosts.addresses[process].clone() });
                }
                _ => self.strangers += 1,
            }
        }
        Ok(())
    }

    /// Continues the call of one process.
    fn call(&mut self, call: &mut OutgoingCall) -> Result<(), ConnectError> {
        if self.sockets[call.other].is_some() {
            return Ok(());
        }
        if call.again.take_if(|again| *again <= Instant::now()).is_some() {
            call.dialer.call_again();
        }
        if call.handshake.is_none()
            && let Some(socket) = call.dialer.socket()
        {
            call.handshake = Some(Handshake::of_caller(socket, call.other, &self.terms)?);
        }
        let Some(handshake) = &mut call.handshake else { return Ok(()) };
        let outcome = handshake.advance(&self.terms);
        if outcome == HandshakeState::Goes && handshake.since.elapsed() < HANDSHAKE {
            return Ok(());
        }
        let Some(handshake) = call.handshake.take() else { return Ok(()) };
        let (process, address) = (call.other, self.hosts.addresses[call.other].clone());
        match outcome {
            HandshakeState::Met => {
                self.sockets[call.other] = Some(handshake.into_socket()?);
                return Ok(());
            }
            HandshakeState::Refused(HandshakeError::Closed { proved: true }) => {
                self.note(UnexpectedPeer::Refuses { process, address })
            }
            HandshakeState::Refused(HandshakeError::Secret) => self.note(UnexpectedPeer::Secret { process, address }),
            // It may be a process that is not yet ready, one that is just ending, or an unrelated program.
            _ => {}
        }
        call.again = Some(Instant::now() + BEFORE_NEXT_CALL);
        Ok(())
    }

    fn note(&mut self, sighting: UnexpectedPeer) {
        if self.seen.contains(&sighting) {
            return;
        }
        if let Some(note) = self.waiting.note {
            note(&sighting);
        }
        self.seen.push(sighting);
    }
}
