//! Reading programs, and saying what is wrong with them.
//!
//! A pipe may send nothing for as long as it likes. So whatever is not a plain file is read by a thread of its own, and a signal ends the
//! wait for it.

use crate::arguments::Color;
use crate::interrupt;
use crate::terminal::paints;
use anyhow::{Context, bail};
use ravelin_frontend::{Language, Parsed, render, trencher};
use ravelin_output::complain;
use ravelin_program::{Program, Source};
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

/// How a text becomes a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// The language, if the name of the file does not tell.
    pub from: Option<Language>,
    /// Copies of each `thread p[*]`.
    pub copies: Option<usize>,
    /// Trencher's language: values are taken modulo this number.
    pub wrap: Option<i64>,
}

impl Reading {
    /// The instance that is asked for, if the program is about any number of threads.
    pub fn instance(&self, program: Program) -> Program {
        match self.copies {
            Some(copies) if program.is_parameterised() => program.instance(copies),
            _ => program,
        }
    }

    /// Reads a text.
    pub fn parse(&self, source: Source, language: Language) -> Parsed {
        let mut parsed = ravelin_frontend::parse(source, language);
        if let (Some(modulus), Some(program)) = (self.wrap, &mut parsed.program) {
            trencher::wrap(program, modulus);
        }
        parsed
    }
}

/// Reads and parses a program, and tells its language. Diagnostics go to standard error; with an error among them there is no program.
pub fn read(path: &Path, reading: &Reading) -> anyhow::Result<Option<(Program, Language)>> {
    Ok(read_or_errors(path, reading)?.ok())
}

/// The same, with what was understood if there are errors.
pub fn read_or_errors(path: &Path, reading: &Reading) -> anyhow::Result<Result<(Program, Language), Parsed>> {
    let mut parsed = parse(path, reading)?;
    let Some(program) = parsed.program.take() else { return Ok(Err(parsed)) };
    Ok(Ok((reading.instance(program), parsed.language)))
}

/// Reads and parses a file, and prints its diagnostics.
pub fn parse(path: &Path, reading: &Reading) -> anyhow::Result<Parsed> {
    let parsed = parse_quietly(path, reading)?;
    if !parsed.diagnostics.is_empty() {
        let color = paints(Color::Auto, ravelin_output::stderr());
        complain!("{}", render(&parsed.diagnostics, &parsed.source, color));
    }
    Ok(parsed)
}

/// Reads and parses a file.
pub fn parse_quietly(path: &Path, reading: &Reading) -> anyhow::Result<Parsed> {
    let source = read_source(path)?;
    let Some(language) = reading.from.or_else(|| tell(path, &source.text)) else {
        let known: Vec<String> = Language::ALL.iter().map(|language| format!(".{}", language.extension())).collect();
        bail!(
            "{}: cannot detect the language from the name or the text; use one of the file extensions {}, or --from",
            path.display(),
            known.join(", ")
        );
    };
    if reading.wrap.is_some() && language != Language::Trencher {
        bail!("{}: --wrap is for files of Trencher's language, and this is one of {}", path.display(), language.name());
    }
    Ok(reading.parse(source, language))
}

/// The language of a file: by its name, or else by what stands in it. `.txt` says little, so there the text decides.
fn tell(path: &Path, text: &str) -> Option<Language> {
    match Language::from_path(path) {
        Some(Language::Trencher) | None => Language::from_text(text).or_else(|| Language::from_path(path)),
        known => known,
    }
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
    Ok(Source::new(path.display().to_string(), text))
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
