//! A connection to one process as the communication layer expects it: bytes in and out. It adds an orderly treatment of
//! lost connections, which that layer lacks: a connection that breaks is recorded, and the thread that found it sleeps.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use timely_communication::allocator::zero_copy::stream::Stream;

/// State that the connections of a process share.
pub(crate) struct ConnectionStatus {
    /// The processes whose connections ended early, in this order: later ones often end because of the first.
    ended: Mutex<Vec<usize>>,
    /// The number of connections over which everything was sent.
    said: AtomicUsize,
}

impl ConnectionStatus {
    pub fn new() -> Arc<ConnectionStatus> {
        Arc::new(ConnectionStatus { ended: Mutex::new(Vec::new()), said: AtomicUsize::new(0) })
    }

    /// The processes whose connections ended early, the first one first.
    pub fn ended(&self) -> Vec<usize> {
        self.ended.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Whether everything was sent to this many processes.
    pub fn has_told(&self, processes: usize) -> bool {
        self.said.load(Ordering::Acquire) >= processes
    }
}

/// Either kind of socket.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Calls the same method on either kind.
macro_rules! either {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Tcp($stream) => $call,
            Socket::Unix($stream) => $call,
        }
    };
}

impl Socket {
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        either!(self, stream => stream.set_nonblocking(nonblocking))
    }

    /// Ends a connection, if it has not ended.
    pub fn shutdown(&self, how: Shutdown) {
        let _ = either!(self, stream => stream.shutdown(how));
    }

    fn try_clone(&self) -> io::Result<Socket> {
        Ok(match self {
            Socket::Tcp(stream) => Socket::Tcp(stream.try_clone()?),
            Socket::Unix(stream) => Socket::Unix(stream.try_clone()?),
        })
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        either!(self, stream => stream.read(buffer))
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        either!(self, stream => stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        either!(self, stream => stream.flush())
    }
}

pub(crate) struct Connection {
    socket: Socket,
    process: usize,
    fate: Arc<ConnectionStatus>,
    /// How many of the last bytes that were read are 0.
    zeros: usize,
}

/// The communication layer closes a connection with this many bytes of value 0, an empty header.
const FAREWELL: usize = 48;

impl Connection {
    pub fn new(socket: Socket, process: usize, fate: Arc<ConnectionStatus>) -> Connection {
        Connection { socket, process, fate, zeros: 0 }
    }

    /// Another handle, for closing it.
    pub fn socket(&self) -> io::Result<Socket> {
        self.socket.try_clone()
    }

    /// The connection ended early. The communication layer would panic, so its thread is not informed: it sleeps until
    /// the process ends.
    fn mourn(&self) -> ! {
        self.fate.ended.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(self.process);
        loop {
            std::thread::park();
        }
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.socket.read(buffer) {
                Ok(0) if buffer.is_empty() || self.zeros >= FAREWELL => return Ok(0),
                Ok(read) if read > 0 => {
                    let zeros = buffer[..read].iter().rev().take_while(|&&byte| byte == 0).count();
                    self.zeros = if zeros == read { self.zeros + read } else { zeros };
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => self.mourn(),
            }
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.socket.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Ok(0) | Err(_) if !bytes.is_empty() => self.mourn(),
            result => result,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

impl Stream for Connection {
    fn try_clone(&self) -> io::Result<Connection> {
        Ok(Connection { socket: self.socket.try_clone()?, process: self.process, fate: self.fate.clone(), zeros: 0 })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // The layer does this once, after everything is sent. The other side may have been faster.
        self.fate.said.fetch_add(1, Ordering::AcqRel);
        self.socket.shutdown(how);
        Ok(())
    }
}
