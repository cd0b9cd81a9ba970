//! Reading programs, and printing what is wrong with them.

use ravelin::{CompileError, Error, ParseError, Program, ReadOptions};
use ravelin_output::{Color, complain, stderr};
use ravelin_process::input::{InputError, read as text};
use std::path::Path;
use std::time::Duration;

/// Why there is no program.
pub enum ReadError {
    Interrupted,
    /// The time limit was reached before there was a program.
    Late(Duration),
    /// The text is wrong. [`read`] has printed its diagnostics.
    Program(Box<ParseError>),
    Other(anyhow::Error),
}

impl From<ReadError> for anyhow::Error {
    fn from(error: ReadError) -> anyhow::Error {
        match error {
            ReadError::Interrupted => InputError::Interrupted.into(),
            ReadError::Late(time) => CompileError::Late(time).into(),
            ReadError::Program(errors) => (*errors).into(),
            ReadError::Other(error) => error,
        }
    }
}

impl From<InputError> for ReadError {
    fn from(error: InputError) -> ReadError {
        match error {
            InputError::Interrupted => ReadError::Interrupted,
            error => ReadError::Other(error.into()),
        }
    }
}

impl From<Error> for ReadError {
    fn from(error: Error) -> ReadError {
        match error {
            Error::Parse(errors) => ReadError::Program(errors),
            Error::Compile(CompileError::Interrupted) => ReadError::Interrupted,
            Error::Compile(CompileError::Late(time)) => ReadError::Late(time),
            error => ReadError::Other(error.into()),
        }
    }
}

/// Reads a program. Diagnostics go to standard error.
pub fn read(path: &Path, reading: &ReadOptions) -> Result<Program, ReadError> {
    parse(path, text(path)?, reading)
}

/// The program of a text that was read. Diagnostics go to standard error.
pub fn parse(path: &Path, text: String, reading: &ReadOptions) -> Result<Program, ReadError> {
    let program = reading.parse(path.display().to_string(), text).map_err(ReadError::from);
    let diagnostics = match &program {
        Ok(program) => program.warnings(Color::Auto.paints(stderr())),
        Err(ReadError::Program(errors)) => errors.render(Color::Auto.paints(stderr())),
        Err(_) => String::new(),
    };
    if !diagnostics.is_empty() {
        complain!("{diagnostics}");
    }
    program
}

/// Reads a program, and prints nothing.
pub fn read_quietly(path: &Path, reading: &ReadOptions) -> Result<Program, ReadError> {
    Ok(reading.parse(path.display().to_string(), text(path)?)?)
}
