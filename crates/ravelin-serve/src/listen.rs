//! Accepts connections, one thread each, until it is stopped.

use crate::child::{CheckLimits, Children};
use crate::examples::Examples;
use crate::guard::HostGuard;
use crate::http::{self, RequestError, Response};
use crate::progress::RunningChecks;
use crate::results::Results;
use crate::route::RequestContext;
use crate::{ServeError, ServerSettings};
use std::io::{ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The most connections; more are refused. Each may occupy a thread for a few seconds.
const MOST_CONNECTIONS: usize = 512;
/// How often to check whether to stop.
const GLANCE: Duration = Duration::from_millis(50);
/// Time to end running checks at the end.
const FAREWELL: Duration = Duration::from_secs(1);
/// How long reading a program may take.
const TIME_TO_READ: Duration = Duration::from_secs(5);

/// The server listens.
pub struct Ready {
    pub address: SocketAddr,
    /// The address of the page.
    pub url: String,
}

/// What all connections share.
struct ServerState {
    site: RequestContext,
    connections: AtomicUsize,
    ending: AtomicBool,
}

/// Serves until `stop`. `ready` is called once, when the server listens.
pub fn serve(settings: ServerSettings, stop: &AtomicBool, ready: &dyn Fn(&Ready)) -> Result<(), ServeError> {
    let examples = Examples::new(settings.folder.as_deref()).map_err(|error| ServeError::Folder {
        folder: settings.folder.as_ref().map(|folder| folder.display().to_string()).unwrap_or_default(),
        error,
    })?;
    let wanted = SocketAddr::new(settings.address, settings.port);
    let failed = |error| ServeError::Listen { address: wanted, error };
    let listener = TcpListener::bind(wanted).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let mut names = settings.names.clone();
    names.extend(rustix::system::uname().nodename().to_str().ok().map(str::to_owned));
    let readers = CheckLimits { time: TIME_TO_READ, workers: 1, ..settings.limits };
    let shared = Arc::new(ServerState {
        site: RequestContext {
            guard: HostGuard { address, names },
            examples,
            checks: Children::new(settings.program.clone(), settings.limits, settings.jobs),
            readers: Children::new(settings.program, readers, settings.jobs.saturating_add(1)),
            results: Results::default(),
            running: RunningChecks::default(),
            limits: settings.limits,
        },
        connections: AtomicUsize::new(0),
        ending: AtomicBool::new(false),
    });
    let shown =
        if address.ip().is_unspecified() { SocketAddr::new([127, 0, 0, 1].into(), address.port()) } else { address };
    ready(&Ready { address, url: format!("http://{shown}/") });
    let accepting = Arc::clone(&shared);
    std::thread::spawn(move || accept(&listener, &accepting));
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(GLANCE);
    }
    // Clients that wait for a check get a message, and the checks end with them.
    shared.ending.store(true, Ordering::Relaxed);
    let deadline = Instant::now() + FAREWELL;
    while shared.connections.load(Ordering::Acquire) > 0 && Instant::now() < deadline {
        std::thread::sleep(GLANCE);
    }
    Ok(())
}

fn accept(listener: &TcpListener, shared: &Arc<ServerState>) {
    loop {
        let mut stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(_) => {
                // Out of descriptors, or a client that left at once: later connections may work.
                std::thread::sleep(GLANCE);
                continue;
            }
        };
        if shared.ending.load(Ordering::Relaxed) {
            return;
        }
        if shared.connections.fetch_add(1, Ordering::AcqRel) >= MOST_CONNECTIONS {
            shared.connections.fetch_sub(1, Ordering::AcqRel);
            let _ = stream.set_nonblocking(true);
            Response::error(503, "too many connections").send(&mut stream, true);
            continue;
        }
        let of_this = Arc::clone(shared);
        let started = std::thread::Builder::new().spawn(move || {
            let counted = CountedConnection(&of_this.connections);
            converse(stream, &of_this);
            drop(counted);
        });
        if started.is_err() {
            shared.connections.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// A connection, counted as long as it exists, whatever happens to its thread.
struct CountedConnection<'a>(&'a AtomicUsize);

impl Drop for CountedConnection<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn converse(mut stream: TcpStream, shared: &ServerState) {
    let _ = stream.set_nodelay(true);
    let (response, with_body) = match http::read(&mut stream) {
        Ok(request) => {
            let gone = || shared.ending.load(Ordering::Relaxed) || has_left(&stream);
            (shared.site.answer(&request, &gone), request.method != "HEAD")
        }
        Err(RequestError::With(response)) => (response, true),
        Err(RequestError::Gone) => return,
    };
    response.send(&mut stream, with_body);
    linger(&mut stream);
}

/// Whether the client has closed the connection.
fn has_left(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return true;
    }
    let left = match stream.peek(&mut [0]) {
        Ok(number) => number == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    };
    stream.set_nonblocking(false).is_err() || left
}

/// Closing while the client still sends would discard the answer together with the unread bytes, so some of them are
/// read.
fn linger(stream: &mut TcpStream) {
    let deadline = Instant::now() + FAREWELL;
    let mut piece = [0; 16 << 10];
    if stream.shutdown(Shutdown::Write).is_err() || stream.set_read_timeout(Some(FAREWELL / 2)).is_err() {
        return;
    }
    while Instant::now() < deadline && stream.read(&mut piece).is_ok_and(|number| number > 0) {}
}
