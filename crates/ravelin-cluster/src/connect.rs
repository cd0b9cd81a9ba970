//! Finding the other processes: everyone listens for those after it and connects to those before it, both say who they are, and when
//! all are there nobody listens any more.

use crate::connection::{Connection, Fate, Socket};
use crate::hosts::{Address, Hosts};
use crate::links::Links;
use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a process says of itself and expects of the others.
#[derive(Clone, Copy, Debug)]
pub struct Introduction {
    /// Which process this is.
    pub process: usize,
    /// The same for processes that answer the same question about the same input with the same version.
    pub fingerprint: u64,
}

/// Why the processes did not come together.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("there is no process {process}: {processes} are named, the first is process 0")]
    NoSuchProcess { process: usize, processes: usize },
    #[error("cannot listen at {address}: {error}")]
    Listen { address: Address, error: io::Error },
    #[error("cannot find {address}: {error}")]
    Unknown { address: Address, error: io::Error },
    #[error(
        "process {process} at {address} is about something else: another program, other options, or another version of Ravelin"
    )]
    Different { process: usize, address: Address },
    #[error("what answers at {address} is not process {process} of this run")]
    Stranger { process: usize, address: Address },
    #[error("waited {} s in vain for {}", .waited.as_secs(), .missing.iter().map(Address::to_string).collect::<Vec<_>>().join(", "))]
    Missing { waited: Duration, missing: Vec<Address> },
    #[error("interrupted while waiting for the other processes")]
    Stopped,
    #[error(transparent)]
    Io(#[from] io::Error),
}

const MAGIC: u64 = u64::from_be_bytes(*b"ravelin\x01");
/// How long one connection may take to introduce itself; others wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// What follows an introduction.
const WELCOME: u64 = 1;
const DIFFERENT: u64 = 2;

/// Connects this process with all others; returns when all are there.
pub fn connect(
    hosts: &Hosts,
    introduction: Introduction,
    patience: Duration,
    stop: Option<&AtomicBool>,
) -> Result<Links, ConnectError> {
    let processes = hosts.addresses.len();
    let process = introduction.process;
    if process >= processes {
        return Err(ConnectError::NoSuchProcess { process, processes });
    }
    let meeting = Meeting { hosts, introduction, start: Instant::now(), patience, stop };
    let mut sockets: Vec<Option<Socket>> = (0..processes).map(|_| None).collect();
    // Listening begins first, so that those who connect do not fail without need.
    let listener = if process + 1 < processes { Some(Listener::open(&hosts.addresses[process])?) } else { None };
    for (other, socket) in sockets.iter_mut().enumerate().take(process) {
        *socket = Some(meeting.connect_to(other)?);
    }
    if let Some(listener) = &listener {
        meeting.await_others(listener, &mut sockets)?;
    }
    drop(listener);
    let fate = Fate::new(processes);
    let connections = sockets.into_iter().enumerate();
    let connections =
        connections.map(|(other, socket)| socket.map(|socket| Connection::new(socket, other, fate.clone()))).collect();
    Ok(Links::new(connections, process, fate)?)
}

struct Meeting<'a> {
    hosts: &'a Hosts,
    introduction: Introduction,
    start: Instant,
    patience: Duration,
    stop: Option<&'a AtomicBool>,
}

impl Meeting<'_> {
    /// Waits a moment, if there is time for it.
    fn wait(&self, missing: impl FnOnce() -> Vec<Address>) -> Result<(), ConnectError> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(ConnectError::Stopped);
        }
        if self.start.elapsed() > self.patience {
            return Err(ConnectError::Missing { waited: self.patience, missing: missing() });
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }

    fn words(&self) -> [u64; 4] {
        let Introduction { process, fingerprint } = self.introduction;
        [MAGIC, self.hosts.addresses.len() as u64, process as u64, fingerprint]
    }

    fn connect_to(&self, other: usize) -> Result<Socket, ConnectError> {
        let address = &self.hosts.addresses[other];
        loop {
            if let Ok(mut socket) = dial(address) {
                socket.set_read_timeout(Some(PATIENCE))?;
                match say(&mut socket, &self.words()).and_then(|()| hear::<5>(&mut socket)) {
                    Ok([MAGIC, _, number, _, answer]) if number == other as u64 => match answer {
                        WELCOME => {
                            socket.set_read_timeout(None)?;
                            return Ok(socket);
                        }
                        _ => return Err(ConnectError::Different { process: other, address: address.clone() }),
                    },
                    Ok(_) => return Err(ConnectError::Stranger { process: other, address: address.clone() }),
                    // It may be a process that is not yet ready, or one that is just ending.
                    Err(_) => {}
                }
            }
            self.wait(|| vec![address.clone()])?;
        }
    }

    /// Lets those in that come from a named host, are about the same, and are not there yet.
    fn await_others(&self, listener: &Listener, sockets: &mut [Option<Socket>]) -> Result<(), ConnectError> {
        let process = self.introduction.process;
        let mut expected: Vec<(usize, Vec<IpAddr>)> = Vec::new();
        for (other, address) in self.hosts.addresses.iter().enumerate().skip(process + 1) {
            let ips = address.resolved().map_err(|error| ConnectError::Unknown { address: address.clone(), error })?;
            expected.push((other, ips));
        }
        while sockets.iter().skip(process + 1).any(Option::is_none) {
            let missing = || {
                let all = self.hosts.addresses.iter().zip(sockets.iter()).skip(process + 1);
                all.filter(|(_, socket)| socket.is_none()).map(|(address, _)| address.clone()).collect()
            };
            let Some((mut socket, from)) = listener.accept()? else {
                self.wait(missing)?;
                continue;
            };
            let is_named = |(_, ips): &&(usize, Vec<IpAddr>)| from.is_none_or(|from| ips.contains(&from));
            if !expected.iter().any(|expected| is_named(&expected)) {
                continue;
            }
            socket.set_read_timeout(Some(PATIENCE))?;
            let Ok([MAGIC, processes, other, fingerprint]) = hear::<4>(&mut socket) else { continue };
            let named = expected.iter().filter(is_named).find(|(number, _)| *number as u64 == other);
            let Some(&(other, _)) = named else { continue };
            let same = processes == self.hosts.addresses.len() as u64 && fingerprint == self.introduction.fingerprint;
            let answer = if same { WELCOME } else { DIFFERENT };
            let words = self.words();
            let told = say(&mut socket, &[words[0], words[1], words[2], words[3], answer]);
            if !same {
                return Err(ConnectError::Different { process: other, address: self.hosts.addresses[other].clone() });
            }
            if told.is_ok() && sockets[other].is_none() {
                socket.set_read_timeout(None)?;
                sockets[other] = Some(socket);
            }
        }
        Ok(())
    }
}

fn say(socket: &mut Socket, words: &[u64]) -> io::Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    socket.write_all(&bytes)
}

fn hear<const N: usize>(socket: &mut Socket) -> io::Result<[u64; N]> {
    let mut words = [0; N];
    for word in &mut words {
        let mut bytes = [0; 8];
        socket.read_exact(&mut bytes)?;
        *word = u64::from_be_bytes(bytes);
    }
    Ok(words)
}

fn dial(address: &Address) -> io::Result<Socket> {
    match address {
        Address::Unix(path) => UnixStream::connect(path).map(Socket::Unix),
        Address::Tcp { host, port } => {
            let stream = TcpStream::connect((host.as_str(), *port))?;
            stream.set_nodelay(true)?;
            Ok(Socket::Tcp(stream))
        }
    }
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, std::path::PathBuf),
}

impl Listener {
    fn open(address: &Address) -> Result<Listener, ConnectError> {
        let opened = match address {
            Address::Tcp { host, port } => TcpListener::bind((host.as_str(), *port)).and_then(|listener| {
                listener.set_nonblocking(true)?;
                Ok(Listener::Tcp(listener))
            }),
            Address::Unix(path) => UnixListener::bind(path).and_then(|listener| {
                listener.set_nonblocking(true)?;
                Ok(Listener::Unix(listener, path.clone()))
            }),
        };
        opened.map_err(|error| ConnectError::Listen { address: address.clone(), error })
    }

    /// A connection that waits, with where it comes from; `None` if there is none.
    fn accept(&self) -> io::Result<Option<(Socket, Option<IpAddr>)>> {
        let accepted = match self {
            Listener::Tcp(listener) => listener.accept().and_then(|(stream, from)| {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Ok((Socket::Tcp(stream), Some(from.ip().to_canonical())))
            }),
            Listener::Unix(listener, _) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                Ok((Socket::Unix(stream), None))
            }),
        };
        match accepted {
            Ok(accepted) => Ok(Some(accepted)),
            // Nobody is there, or somebody was and is gone again.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // The name of a socket that nobody listens at is of no use.
            let _ = std::fs::remove_file(path);
        }
    }
}
