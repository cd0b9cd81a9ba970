//! Where the processes are: a file with one address per line.

use std::fmt;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// Where a process listens while the others connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAddress {
    /// `host:port`.
    Tcp { host: String, port: u16 },
    /// `unix:PATH`, for processes of one machine.
    Unix(PathBuf),
}

/// The addresses of all processes, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    pub addresses: Vec<HostAddress>,
}

/// What is wrong with a file of hosts.
#[derive(Debug, thiserror::Error)]
pub enum HostsError {
    #[error("line {line}: `{text}` is not an address; write host:port, with brackets around an IPv6 address")]
    NotAnAddress { line: usize, text: String },
    #[error("line {line}: `{text}` is listed twice")]
    Twice { line: usize, text: String },
    #[error("no host is named")]
    Nobody,
    #[error("more than {MOST_PROCESSES} processes")]
    TooMany,
}

const MOST_PROCESSES: usize = 1024;

impl Hosts {
    /// Reads lines of `host:port`; empty lines and text after `#` are ignored. Process 0 is the first.
    pub fn parse(text: &str) -> Result<Hosts, HostsError> {
        let mut addresses = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line_text = line.split('#').next().unwrap_or_default().trim();
            if line_text.is_empty() {
                continue;
            }
            let (line, text) = (number + 1, line_text.to_owned());
            let Some(address) = HostAddress::parse(line_text) else {
                return Err(HostsError::NotAnAddress { line, text });
            };
            if addresses.contains(&address) {
                return Err(HostsError::Twice { line, text });
            }
            addresses.push(address);
        }
        match addresses.len() {
            0 => Err(HostsError::Nobody),
            1..=MOST_PROCESSES => Ok(Hosts { addresses }),
            _ => Err(HostsError::TooMany),
        }
    }

    /// Processes of this machine that meet in a directory.
    pub fn local(directory: &Path, processes: usize) -> Hosts {
        let address = |number| HostAddress::Unix(directory.join(format!("process-{number}")));
        Hosts { addresses: (0..processes).map(address).collect() }
    }

    /// Whether all processes are on this machine, judging by their names.
    pub fn are_local(&self) -> bool {
        self.addresses.iter().all(|address| match address {
            HostAddress::Unix(_) => true,
            HostAddress::Tcp { host, .. } => {
                host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
            }
        })
    }

    /// How many machines these are, judging by their names.
    pub fn machines(&self) -> usize {
        let mut names: Vec<&str> = self.addresses.iter().map(HostAddress::machine).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.addresses.iter().try_for_each(|address| writeln!(f, "{address}"))
    }
}

impl HostAddress {
    fn parse(text: &str) -> Option<HostAddress> {
        if let Some(path) = text.strip_prefix("unix:") {
            return (!path.is_empty()).then(|| HostAddress::Unix(path.into()));
        }
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().filter(|&port| port != 0)?;
        let bare = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(inner) => inner,
            None if host.contains(':') => return None,
            None => host,
        };
        let is_name = !bare.is_empty() && !bare.contains(|c: char| c.is_whitespace() || c == '[' || c == ']');
        is_name.then(|| HostAddress::Tcp { host: bare.to_owned(), port })
    }

    fn machine(&self) -> &str {
        match self {
            HostAddress::Tcp { host, .. } => host,
            HostAddress::Unix(_) => "",
        }
    }

    /// The IP addresses from which the process at this address connects.
    pub(crate) fn resolved(&self) -> std::io::Result<Vec<IpAddr>> {
        match self {
            HostAddress::Unix(_) => Ok(Vec::new()),
            HostAddress::Tcp { host, port } => {
                Ok((host.as_str(), *port).to_socket_addrs()?.map(|address| address.ip()).collect())
            }
        }
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostAddress::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            HostAddress::Tcp { host, port } => write!(f, "{host}:{port}"),
            HostAddress::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_and_written() {
        let text = "node-a:7000 # the first\n\n[::1]:7001\nunix:/run/x\n10.0.0.3:7000\n";
        let hosts = Hosts::parse(text).unwrap();
        assert_eq!(hosts.addresses.len(), 4);
        assert_eq!(hosts.addresses[1], HostAddress::Tcp { host: "::1".to_owned(), port: 7001 });
        assert_eq!(Hosts::parse(&hosts.to_string()).unwrap(), hosts);
        assert_eq!(Hosts::parse("a:1\na:2\nb:1").unwrap().machines(), 2);
        let is_local = |text: &str| Hosts::parse(text).unwrap().are_local();
        assert!(is_local("localhost:1\n127.0.0.3:1\n[::1]:1\nunix:/run/x"));
        assert!(!is_local("localhost:1\n10.0.0.1:1") && !is_local("node-a:7"));
    }

    #[test]
    fn what_is_no_address_is_said_with_its_line() {
        for wrong in ["node", "node:", "node:0", "node:99999", ":7000", "a b:1", "::1:7", "unix:", "[x:1"] {
            let message = Hosts::parse(&format!("# hosts\n{wrong}")).unwrap_err().to_string();
            assert!(message.starts_with("line 2: "), "{message}");
        }
        assert!(matches!(Hosts::parse("a:1\nb:1\na:1"), Err(HostsError::Twice { line: 3, .. })));
        assert!(matches!(Hosts::parse("# nobody\n"), Err(HostsError::Nobody)));
    }
}
