//! Files, pipes and standard input as text, up to a size.
//!
//! A pipe may send nothing for a long time. So everything but a plain file is read by a thread of its own, and a signal
//! ends the wait for it.

use crate::interrupt;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Larger files are not read.
pub const LARGEST_FILE: u64 = 64 << 20;
/// Time between two looks at the signal.
const LOOK: Duration = Duration::from_millis(25);

/// Why there is no text.
#[derive(Debug)]
pub enum InputError {
    /// A signal asked the program to end before its input was there.
    Interrupted,
    /// It cannot be read; the name of the file, or of standard input.
    Io(String, io::Error),
    /// It is larger than [`LARGEST_FILE`].
    TooLarge(String),
    /// It is not UTF-8 from this byte on.
    NotText(String, usize),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Interrupted => f.write_str("it was interrupted before the input was read"),
            InputError::Io(name, error) => write!(f, "{name}: {error}"),
            InputError::TooLarge(name) => write!(f, "{name}: larger than {} MiB", LARGEST_FILE >> 20),
            InputError::NotText(name, byte) => write!(f, "{name}: not UTF-8 text (at byte {byte})"),
        }
    }
}

impl std::error::Error for InputError {}

/// Whether a path names standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// The text of a file, or of standard input (`-`).
pub fn read(path: &Path) -> Result<String, InputError> {
    let bytes = read_bytes(path)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(InputError::TooLarge(path.display().to_string()));
    }
    String::from_utf8(bytes)
        .map_err(|error| InputError::NotText(path.display().to_string(), error.utf8_error().valid_up_to()))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, InputError> {
    let failed = |error| {
        let name = if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() };
        InputError::Io(name, error)
    };
    if !is_standard_input(path) && path.metadata().is_ok_and(|found| found.is_file()) {
        return read_now(path).map_err(failed);
    }
    let (sender, receiver) = mpsc::channel();
    let wanted = path.to_owned();
    let read = move || {
        // After a signal the receiver is gone.
        let _ = sender.send(read_now(&wanted));
    };
    std::thread::Builder::new().name("input".to_owned()).spawn(read).map_err(failed)?;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(bytes) => return bytes.map_err(failed),
            Err(RecvTimeoutError::Timeout) if !interrupt::is_asked() => {}
            Err(RecvTimeoutError::Timeout) => return Err(InputError::Interrupted),
            Err(RecvTimeoutError::Disconnected) => return Err(failed(io::Error::other("cannot be read"))),
        }
    }
}

/// All bytes, or one more than a file may have.
fn read_now(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if is_standard_input(path) {
        io::stdin().lock().take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
