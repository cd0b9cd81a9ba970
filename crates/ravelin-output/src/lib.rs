//! How results leave a process, so that none is lost or changed unnoticed.
//!
//! - [`stream`]: standard output and standard error. A write that fails is an error, also on a full disk and when the
//!   stream was closed before the program began. A closed pipe is remembered, for the exit code.
//! - [`escape`]: text on a stream quotes file names, programs and foreign reports. Their control characters are shown,
//!   not sent.
//! - [`file`]: a file is replaced as a whole or not at all.
//! - [`live`]: a line on a terminal that is written over.
//! - [`terminal`]: whether text is painted, and how wide a line is.
//!
//! It knows nothing about programs, answers or formats.

pub mod escape;
pub mod file;
pub mod live;
pub mod stream;
pub mod terminal;

pub use escape::escaped;
pub use file::replace;
pub use live::LiveLine;
pub use stream::{Stream, reader_is_gone, stderr, stdout};
pub use terminal::Color;

/// Writes a line to standard error. If that fails, nothing else changes.
#[macro_export]
macro_rules! complain {
    ($($words:tt)*) => {
        $crate::stderr().complain(&format!($($words)*))
    };
}
