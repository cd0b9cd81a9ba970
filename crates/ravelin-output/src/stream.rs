//! Standard output and standard error.
//!
//! The standard library's own streams are not enough. Text that is buffered at the end of the program is lost without
//! an error. A descriptor that cannot be written to counts as success, and one that was closed before the program began
//! is replaced by `/dev/null`. Here every write goes to the descriptor at once, and every failure is an error.
//!
//! A reader that has seen enough (`ravelin … | head`) is no error. Later output is discarded, and [`reader_is_gone`]
//! reports it to the code that chooses the exit code.

use crate::escape::{Colors, escaped_but_for};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fmt;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

static OUTPUT: State = State::new("standard output");
static ERRORS: State = State::new("standard error");

/// What is known about a stream.
struct State {
    name: &'static str,
    closed_from_the_start: AtomicBool,
    reader_is_gone: AtomicBool,
    painted: AtomicBool,
}

impl State {
    const fn new(name: &'static str) -> State {
        State {
            name,
            closed_from_the_start: AtomicBool::new(false),
            reader_is_gone: AtomicBool::new(false),
            painted: AtomicBool::new(false),
        }
    }
}

/// One of the two streams.
#[derive(Clone, Copy)]
pub struct Stream {
    state: &'static State,
    descriptor: BorrowedFd<'static>,
}

pub fn stdout() -> Stream {
    Stream { state: &OUTPUT, descriptor: rustix::stdio::stdout() }
}

pub fn stderr() -> Stream {
    Stream { state: &ERRORS, descriptor: rustix::stdio::stderr() }
}

/// Whether something could not be written because the other end of a pipe was closed.
pub fn reader_is_gone() -> bool {
    [&OUTPUT, &ERRORS].iter().any(|state| state.reader_is_gone.load(Ordering::Relaxed))
}

impl Stream {
    /// From now on colours in text pass.
    pub fn allow_colors(self) {
        self.state.painted.store(true, Ordering::Relaxed);
    }

    pub fn is_terminal(self) -> bool {
        self.descriptor.is_terminal()
    }

    /// Writes a text, with control characters escaped.
    pub fn text(self, text: &str) -> io::Result<()> {
        let colors = if self.state.painted.load(Ordering::Relaxed) { Colors::Kept } else { Colors::Escaped };
        self.bytes(escaped_but_for(text, colors).as_bytes())
    }

    /// Lets `write!` and `writeln!` write text.
    pub fn write_fmt(self, text: fmt::Arguments) -> io::Result<()> {
        self.text(&text.to_string())
    }

    /// Writes text for another program, such as a converted program, a script or a manual page: unchanged, unless it is
    /// shown on a terminal.
    pub fn program(self, text: &str) -> io::Result<()> {
        if self.is_terminal() { self.text(text) } else { self.bytes(text.as_bytes()) }
    }

    /// Writes a message; if that fails, nothing else changes.
    pub fn complain(self, text: &str) {
        let colors = if self.state.painted.load(Ordering::Relaxed) { Colors::Kept } else { Colors::Escaped };
        let line = format!("{}\n", escaped_but_for(text, colors));
        let _ = self.send(line.as_bytes());
    }

    /// Sends what moves the cursor of a terminal; if that fails, nothing else changes.
    pub(crate) fn control(self, text: &str) {
        let _ = self.send(text.as_bytes());
    }

    fn bytes(self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() || self.state.reader_is_gone.load(Ordering::Relaxed) {
            return Ok(());
        }
        let failed = |why: &dyn fmt::Display, kind| {
            Err(io::Error::new(kind, format!("cannot write to {}: {why}", self.state.name)))
        };
        if self.state.closed_from_the_start.load(Ordering::Relaxed) {
            return failed(&"it is closed", io::ErrorKind::NotConnected);
        }
        match self.send(bytes) {
            Ok(()) => Ok(()),
            Err(Errno::PIPE) => {
                self.state.reader_is_gone.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => failed(&io::Error::from(error), io::Error::from(error).kind()),
        }
    }

    fn send(self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match rustix::io::write(self.descriptor, bytes) {
                // Nothing written and no error: there is no way to continue.
                Ok(0) => return Err(Errno::IO),
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                // Another process that shares the descriptor has made it non-blocking.
                Err(Errno::AGAIN) => {
                    let mut ready = [PollFd::new(&self.descriptor, PollFlags::OUT)];
                    match poll(&mut ready, None) {
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(error) => return Err(error),
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor
    }
}

/// Records which streams are closed. The standard library opens `/dev/null` in their place before `main`, so this runs
/// earlier.
#[cfg(target_os = "linux")]
#[used]
// SAFETY: the section holds pointers to functions of this type, which are called once, on the only thread. This one
// stores two flags and makes two system calls. It needs nothing of the standard library that is not initialised yet.
#[unsafe(link_section = ".init_array")]
static NOTE_CLOSED: extern "C" fn() = {
    extern "C" fn note_closed() {
        for (number, state) in [(1, &OUTPUT), (2, &ERRORS)] {
            // SAFETY: the number is only queried, and need not be that of a descriptor.
            let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
            let closed = rustix::io::fcntl_getfd(descriptor) == Err(Errno::BADF);
            state.closed_from_the_start.store(closed, Ordering::Relaxed);
        }
    }
    note_closed
};
