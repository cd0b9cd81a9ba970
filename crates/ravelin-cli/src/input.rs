//! Reading programs, and saying what is wrong with them.
//!
//! A pipe may send nothing for as long as it likes. So whatever is not a plain file is read by a thread of its own, and a signal ends the
//! wait for it.

use crate::arguments::Color;
use crate::interrupt;
use crate::terminal::paints;
use anyhow::{Context, bail};
use ravelin::{Error, ParseError, Program, ReadOptions};
use ravelin_output::complain;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Files larger than this are not programs that anybody wrote.
const LARGEST_FILE: u64 = 64 << 20;
/// Between two looks at the signal.
const LOOK: Duration = Duration::from_millis(25);

/// A signal asked the program to end before its input was there.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it was interrupted before the input was read")
    }
}

impl std::error::Error for Interrupted {}

/// Why there is no program.
pub enum Unread {
    Interrupted,
    /// The text is wrong. Its diagnostics were printed.
    Errors(Box<ParseError>),
    Other(anyhow::Error),
}

impl From<Unread> for anyhow::Error {
    fn from(unread: Unread) -> anyhow::Error {
        match unread {
            Unread::Interrupted => Interrupted.into(),
            Unread::Errors(errors) => (*errors).into(),
            Unread::Other(error) => error,
        }
    }
}

/// Reads a program. Diagnostics go to standard error.
pub fn read(path: &Path, reading: &ReadOptions) -> Result<Program, Unread> {
    let program = read_quietly(path, reading);
    let color = || paints(Color::Auto, ravelin_output::stderr());
    match &program {
        Ok(program) => {
            let warnings = program.warnings(color());
            if !warnings.is_empty() {
                complain!("{warnings}");
            }
        }
        Err(Unread::Errors(errors)) => complain!("{}", errors.render(color())),
        Err(_) => {}
    }
    program
}

/// The same without a word.
pub fn read_quietly(path: &Path, reading: &ReadOptions) -> Result<Program, Unread> {
    let source = read_source(path).map_err(|error| match error.is::<Interrupted>() {
        true => Unread::Interrupted,
        false => Unread::Other(error),
    })?;
    reading.parse(source.name, source.text).map_err(|error| match error {
        Error::Parse(errors) => Unread::Errors(errors),
        error => Unread::Other(error.into()),
    })
}

/// A file and its text.
pub struct Source {
    pub name: String,
    pub text: String,
}

pub fn read_source(path: &Path) -> anyhow::Result<Source> {
    let bytes = read_bytes(path)?;
    if bytes.len() as u64 > LARGEST_FILE {
        bail!("{}: larger than {} MiB", path.display(), LARGEST_FILE >> 20);
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => bail!("{}: not UTF-8 text (at byte {})", path.display(), error.utf8_error().valid_up_to()),
    };
    Ok(Source { name: path.display().to_string(), text })
}

fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = || if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() };
    if !is_standard_input(path) && path.metadata().is_ok_and(|found| found.is_file()) {
        return read_now(path).with_context(name);
    }
    let (sender, receiver) = mpsc::channel();
    let wanted = path.to_owned();
    let read = move || {
        // After a signal the receiver is gone.
        let _ = sender.send(read_now(&wanted));
    };
    std::thread::Builder::new().name("input".to_owned()).spawn(read).with_context(name)?;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(bytes) => return bytes.with_context(name),
            Err(RecvTimeoutError::Timeout) if !interrupt::is_asked() => {}
            Err(RecvTimeoutError::Timeout) => return Err(Interrupted.into()),
            Err(RecvTimeoutError::Disconnected) => bail!("{}: cannot be read", name()),
        }
    }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// All bytes, or one more than a program may have.
fn read_now(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if is_standard_input(path) {
        io::stdin().lock().take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
