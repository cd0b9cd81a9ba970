//! Where a process listens while the others connect.

use crate::connect::ConnectError;
use crate::connection::Socket;
use crate::hosts::HostAddress;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::os::unix::net::UnixListener;

/// It never blocks, and its address is free again when it is dropped.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, std::path::PathBuf),
}

impl Listener {
    pub fn open(address: &HostAddress) -> Result<Listener, ConnectError> {
        let opened = match address {
            HostAddress::Tcp { host, port } => TcpListener::bind((host.as_str(), *port)).and_then(|listener| {
                listener.set_nonblocking(true)?;
                Ok(Listener::Tcp(listener))
            }),
            HostAddress::Unix(path) => UnixListener::bind(path).and_then(|listener| {
                listener.set_nonblocking(true)?;
                Ok(Listener::Unix(listener, path.clone()))
            }),
        };
        opened.map_err(|error| ConnectError::Listen { address: address.clone(), error })
    }

    /// A pending connection and its source address; `None` if there is none.
    pub fn accept(&self) -> io::Result<Option<(Socket, Option<IpAddr>)>> {
        let accepted = match self {
            Listener::Tcp(listener) => listener.accept().and_then(|(stream, from)| {
                stream.set_nodelay(true)?;
                Ok((Socket::Tcp(stream), Some(from.ip().to_canonical())))
            }),
            Listener::Unix(listener, _) => listener.accept().map(|(stream, _)| (Socket::Unix(stream), None)),
        };
        match accepted {
            Ok(accepted) => Ok(Some(accepted)),
            // There is no caller, or it has left again.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::ConnectionAborted
                        | io::ErrorKind::ConnectionReset
                        | io::ErrorKind::InvalidInput
                        | io::ErrorKind::Interrupted
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
            // The name of a socket without a listener is useless.
            let _ = std::fs::remove_file(path);
        }
    }
}
