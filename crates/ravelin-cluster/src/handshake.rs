//! How two processes authenticate each other before anything else is sent. No side ever waits: each is a state machine
//! that takes the bytes that have arrived and sends as many as there is room for.
//!
//! ```text
//! caller                                           listener
//! hello:     magic, processes, from, to, nonce  →
//!                                               ←  challenge: magic, nonce
//! proofs:    of the secret, of the question     →
//!                                               ←  proof of the question
//! ```
//!
//! Every proof covers both nonces, so it is useless in another connection. It names its role and its direction, so it
//! cannot be reflected. The caller proves first: a listener reveals nothing about its run to a caller that cannot. The
//! question is represented by its fingerprint, which is never sent. The two proofs of a caller are separate only for
//! better messages: a different secret and a different question are different mistakes.
//!
//! No side reads past the last byte of the handshake, because the rest is for the communication layer.

use crate::connection::Socket;
use crate::secret::{NONCE, PROOF, Secret, nonce};
use std::io::{self, Read, Write};
use std::time::Instant;

const MAGIC: [u8; 8] = *b"ravelin\x02";
const HELLO: usize = 32 + NONCE;
const CHALLENGE: usize = 8 + NONCE;

const CALLER_SECRET: &[u8] = b"ravelin caller secret  ";
const CALLER_QUESTION: &[u8] = b"ravelin caller question";
const LISTENER_QUESTION: &[u8] = b"ravelin listener       ";

/// What a process uses in all its handshakes.
#[derive(Clone, Debug)]
pub(crate) struct HandshakeTerms {
    pub process: usize,
    pub processes: usize,
    pub fingerprint: u64,
    pub secret: Secret,
}

/// The state of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeState {
    Goes,
    /// Both sides have authenticated each other.
    Met,
    Refused(HandshakeError),
}

/// Why a handshake failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeError {
    /// The connection ended. `proved`: after this side had sent everything.
    Closed { proved: bool },
    /// Not a process of any run, or not one of this run.
    Stranger,
    /// It does not know the secret.
    Secret,
    /// It knows the secret and has another question.
    Different,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The listener awaits this.
    Hello,
    /// The caller awaits this.
    Challenge,
    /// The listener awaits these.
    Proofs,
    /// The caller awaits this.
    LastProof,
    /// The listener has only to send.
    Sending,
}

pub(crate) struct Handshake {
    socket: Socket,
    pub since: Instant,
    stage: Stage,
    /// The process on the other side; a listener learns it from the hello.
    pub other: Option<usize>,
    own_nonce: [u8; NONCE],
    other_nonce: [u8; NONCE],
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    sent: usize,
}

impl Handshake {
    /// With a process that this one called.
    pub fn of_caller(socket: Socket, other: usize, terms: &HandshakeTerms) -> io::Result<Handshake> {
        let mut handshake = Handshake::new(socket, Stage::Challenge)?;
        handshake.other = Some(other);
        let numbers = [terms.processes, terms.process, other].map(|number| (number as u64).to_be_bytes());
        handshake.say(&[&MAGIC, numbers.as_flattened(), &handshake.own_nonce.clone()]);
        Ok(handshake)
    }

    /// With a peer that called this one.
    pub fn of_listener(socket: Socket) -> io::Result<Handshake> {
        Handshake::new(socket, Stage::Hello)
    }

    fn new(socket: Socket, stage: Stage) -> io::Result<Handshake> {
        socket.set_nonblocking(true)?;
        Ok(Handshake {
            socket,
            since: Instant::now(),
            stage,
            other: None,
            own_nonce: nonce()?,
            other_nonce: [0; NONCE],
            incoming: Vec::new(),
            outgoing: Vec::new(),
            sent: 0,
        })
    }

    /// The connection, for use after the handshake.
    pub fn into_socket(self) -> io::Result<Socket> {
        self.socket.set_nonblocking(false)?;
        Ok(self.socket)
    }

    /// Does what is possible now.
    pub fn advance(&mut self, terms: &HandshakeTerms) -> HandshakeState {
        loop {
            if !self.send() {
                return HandshakeState::Refused(HandshakeError::Closed { proved: false });
            }
            let wanted = match self.stage {
                Stage::Hello => HELLO,
                Stage::Challenge => CHALLENGE,
                Stage::Proofs => 2 * PROOF,
                Stage::LastProof => PROOF,
                Stage::Sending => {
                    return if self.sent == self.outgoing.len() { HandshakeState::Met } else { HandshakeState::Goes };
                }
            };
            match self.receive(wanted) {
                Ok(true) => {}
                Ok(false) => return HandshakeState::Goes,
                Err(_) => {
                    return HandshakeState::Refused(HandshakeError::Closed { proved: self.stage == Stage::LastProof });
                }
            }
            let message = std::mem::take(&mut self.incoming);
            match self.take(&message, terms) {
                Ok(Some(stage)) => self.stage = stage,
                Ok(None) => return HandshakeState::Met,
                Err(refusal) => return HandshakeState::Refused(refusal),
            }
        }
    }

    /// Takes a whole message. Returns the next stage, or none after the last.
    fn take(&mut self, message: &[u8], terms: &HandshakeTerms) -> Result<Option<Stage>, HandshakeError> {
        if matches!(self.stage, Stage::Hello | Stage::Challenge) {
            if !message.starts_with(&MAGIC) {
                return Err(HandshakeError::Stranger);
            }
            self.other_nonce.copy_from_slice(&message[message.len() - NONCE..]);
        }
        match self.stage {
            Stage::Hello => {
                let number =
                    |at: usize| message[at..].first_chunk().map_or(u64::MAX, |bytes| u64::from_be_bytes(*bytes));
                let (processes, from, to) = (number(8), number(16), number(24));
                let other =
                    usize::try_from(from).ok().filter(|other| terms.process < *other && *other < terms.processes);
                let (Some(other), true) = (other, to == terms.process as u64) else {
                    return Err(HandshakeError::Stranger);
                };
                self.other = Some(other);
                if processes != terms.processes as u64 {
                    return Err(HandshakeError::Different);
                }
                self.say(&[&MAGIC, &self.own_nonce.clone()]);
                Ok(Some(Stage::Proofs))
            }
            Stage::Challenge => {
                let secret = terms.secret.proof(&self.claim(CALLER_SECRET, terms, 0).parts());
                let question = terms.secret.proof(&self.claim(CALLER_QUESTION, terms, terms.fingerprint).parts());
                self.say(&[&secret, &question]);
                Ok(Some(Stage::LastProof))
            }
            Stage::Proofs => {
                let (secret, question) = message.split_at(PROOF);
                if !terms.secret.is_proof(secret, &self.claim(CALLER_SECRET, terms, 0).parts()) {
                    return Err(HandshakeError::Secret);
                }
                let claim = self.claim(CALLER_QUESTION, terms, terms.fingerprint);
                if !terms.secret.is_proof(question, &claim.parts()) {
                    return Err(HandshakeError::Different);
                }
                let proof = terms.secret.proof(&self.claim(LISTENER_QUESTION, terms, terms.fingerprint).parts());
                self.say(&[&proof]);
                Ok(Some(Stage::Sending))
            }
            Stage::LastProof => {
                let claim = self.claim(LISTENER_QUESTION, terms, terms.fingerprint);
                if terms.secret.is_proof(message, &claim.parts()) { Ok(None) } else { Err(HandshakeError::Secret) }
            }
            Stage::Sending => Ok(None),
        }
    }

    /// The content of a proof of a role. Both sides name the caller first and the listener second.
    fn claim<'a>(&'a self, role: &'a [u8], terms: &HandshakeTerms, fingerprint: u64) -> PeerClaim<'a> {
        let is_caller = matches!(self.stage, Stage::Challenge | Stage::LastProof);
        let other = self.other.unwrap_or(usize::MAX);
        let (caller, listener) = if is_caller { (terms.process, other) } else { (other, terms.process) };
        let nonces = [&self.own_nonce, &self.other_nonce];
        let numbers = [terms.processes as u64, caller as u64, listener as u64, fingerprint].map(u64::to_be_bytes);
        PeerClaim { role, numbers, nonces: if is_caller { nonces } else { [nonces[1], nonces[0]] } }
    }

    fn say(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.outgoing.extend_from_slice(part));
    }

    /// Sends as much as there is room for. Returns whether the connection is intact.
    fn send(&mut self) -> bool {
        while self.sent < self.outgoing.len() {
            match self.socket.write(&self.outgoing[self.sent..]) {
                Ok(0) => return false,
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
        true
    }

    /// Receives the available part of a message of this many bytes. Returns whether it is complete.
    fn receive(&mut self, wanted: usize) -> io::Result<bool> {
        let mut buffer = [0; HELLO];
        while self.incoming.len() < wanted {
            let room = (wanted - self.incoming.len()).min(buffer.len());
            match self.socket.read(&mut buffer[..room]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.incoming.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
            // A peer whose first bytes are wrong is refused at once.
            let known = self.incoming.len().min(MAGIC.len());
            let begins = matches!(self.stage, Stage::Hello | Stage::Challenge);
            if begins && self.incoming[..known] != MAGIC[..known] {
                self.incoming.resize(wanted, 0);
            }
        }
        Ok(true)
    }
}

/// The parts of a proved claim.
struct PeerClaim<'a> {
    role: &'a [u8],
    numbers: [[u8; 8]; 4],
    /// The caller's, then the listener's.
    nonces: [&'a [u8; NONCE]; 2],
}

impl PeerClaim<'_> {
    fn parts(&self) -> [&[u8]; 4] {
        [self.role, self.numbers.as_flattened(), self.nonces[0], self.nonces[1]]
    }
}
