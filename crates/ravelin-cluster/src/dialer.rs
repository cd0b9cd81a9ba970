//! Calls another process on a separate thread: finding an address and connecting to it can take any time, and a thread
//! with a deadline must not wait for that.

use crate::connection::Socket;
use crate::hosts::HostAddress;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// How long one attempt may take; a lost packet is sent again after a second.
const ATTEMPT: Duration = Duration::from_secs(5);

/// Calls until the other side answers, and again on request. Its thread ends soon after it is dropped, or at the
/// deadline.
pub(crate) struct Dialer {
    again: Sender<()>,
    sockets: Receiver<Socket>,
}

impl Dialer {
    pub fn start(address: &HostAddress, deadline: Instant) -> io::Result<Dialer> {
        let (again, asked) = channel();
        let (send, sockets) = sync_channel(1);
        let address = address.clone();
        std::thread::Builder::new().name("ravelin-dialer".to_owned()).spawn(move || {
            while Instant::now() < deadline {
                let pause = match dial(&address, deadline) {
                    Ok(socket) => match send.send(socket) {
                        Ok(()) => deadline.saturating_duration_since(Instant::now()),
                        Err(_) => return,
                    },
                    Err(_) => PAUSE,
                };
                if asked.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
            }
        })?;
        Ok(Dialer { again, sockets })
    }

    /// A connection, if there is one by now.
    pub fn socket(&self) -> Option<Socket> {
        self.sockets.try_recv().ok()
    }

    /// Calls once more.
    pub fn call_again(&self) {
        // After the deadline there is no receiver.
        let _ = self.again.send(());
    }
}

fn dial(address: &HostAddress, deadline: Instant) -> io::Result<Socket> {
    match address {
        HostAddress::Unix(path) => UnixStream::connect(path).map(Socket::Unix),
        HostAddress::Tcp { host, port } => {
            let mut last = io::Error::from(io::ErrorKind::NotFound);
            for address in (host.as_str(), *port).to_socket_addrs()? {
                let left = deadline.saturating_duration_since(Instant::now()).min(ATTEMPT);
                match TcpStream::connect_timeout(&address, left.max(Duration::from_millis(1))) {
                    Ok(stream) => {
                        stream.set_nodelay(true)?;
                        return Ok(Socket::Tcp(stream));
                    }
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }
}
