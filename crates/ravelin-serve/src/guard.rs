//! Which requests are answered. A browser lets any page send requests to this machine. It does not let the page read
//! the answers, unless the page's own name is made to point here (DNS rebinding). The name in `Host` must therefore be
//! one of this server's. Requests that start a check must be JSON, which other origins cannot send without a preflight
//! request, and must not name another origin.

use crate::http::{HttpRequest, Response};
use std::net::{IpAddr, SocketAddr};

/// The names of the server.
pub struct HostGuard {
    pub address: SocketAddr,
    /// Names in addition to addresses and `localhost`.
    pub names: Vec<String>,
}

impl HostGuard {
    /// `None` if the request may be answered.
    pub fn refuse(&self, request: &HttpRequest) -> Option<Response> {
        let Some(host) = request.header("host").filter(|host| self.is_ours(host)) else {
            return Some(Response::error(403, "this server is not called so; use the address that it printed"));
        };
        if let Some(origin) = request.header("origin")
            && origin.strip_prefix("http://") != Some(host)
        {
            return Some(Response::error(403, "requests of other pages are not answered"));
        }
        if matches!(request.header("sec-fetch-site"), Some("cross-site" | "same-site"))
            && request.path.starts_with("/api/")
        {
            return Some(Response::error(403, "requests of other pages are not answered"));
        }
        if request.method == "POST" {
            let kind = request.header("content-type").unwrap_or_default();
            let kind = kind.split(';').next().unwrap_or_default().trim();
            if !kind.eq_ignore_ascii_case("application/json") {
                return Some(Response::error(415, "requests must be JSON (Content-Type: application/json)"));
            }
        }
        None
    }

    /// Addresses are always accepted: only names can be made to point here.
    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse::<u16>().ok()),
            _ => (host, Some(80)),
        };
        if port != Some(self.address.port()) {
            return false;
        }
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        if let Ok(address) = bare.parse::<IpAddr>() {
            return !self.address.ip().is_loopback() || address.is_loopback();
        }
        name.eq_ignore_ascii_case("localhost") || self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_are_ours() {
        let guard = HostGuard { address: ([127, 0, 0, 1], 7357).into(), names: vec!["desk".to_owned()] };
        for host in ["127.0.0.1:7357", "localhost:7357", "LOCALHOST:7357", "[::1]:7357", "desk:7357"] {
            assert!(guard.is_ours(host), "{host}");
        }
        for host in [
            "evil.example:7357",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost",
            "10.0.0.1:7357",
            "",
            ":7357",
            "[::1]",
            "a:b:7357",
        ] {
            assert!(!guard.is_ours(host), "{host}");
        }
        let open = HostGuard { address: ([0, 0, 0, 0], 80).into(), names: Vec::new() };
        assert!(open.is_ours("10.0.0.1") && open.is_ours("10.0.0.1:80") && !open.is_ours("evil.example"));
    }
}
