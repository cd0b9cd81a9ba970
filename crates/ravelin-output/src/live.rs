//! One line on a terminal that is written over: how far something is.
//!
//! The terminal cuts the line at its right edge instead of wrapping it, so that the next one starts in the same row,
//! however wide the terminal is by then.

use crate::escape::escaped;
use crate::stream::Stream;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The shortest time between two versions of a line.
const INTERVAL: Duration = Duration::from_millis(100);

/// Erases the row of the cursor, which then stands at its begin.
const ERASE: &str = "\r\x1b[K";
const DO_NOT_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";

/// The line. It is gone when dropped.
pub struct LiveLine {
    stream: Stream,
    /// When it was last written, if it is on the screen.
    written: Mutex<Option<Instant>>,
}

impl LiveLine {
    /// Only a terminal that can move its cursor has such a line.
    pub fn on(stream: Stream) -> Option<LiveLine> {
        let can_move = std::env::var_os("TERM").is_none_or(|kind| kind != "dumb");
        (stream.is_terminal() && can_move).then(|| LiveLine { stream, written: Mutex::new(None) })
    }

    /// Replaces the line, unless that was done just before.
    pub fn show(&self, text: &str) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.is_none_or(|written| written.elapsed() >= INTERVAL) {
            self.stream.control(&frame(text));
            *written = Some(Instant::now());
        }
    }

    /// Takes the line off the screen.
    pub fn clear(&self) {
        if self.written.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            self.stream.control(ERASE);
        }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// What replaces the line. It is one write, so the terminal is never left without wrapping.
fn frame(text: &str) -> String {
    let text = escaped(text).replace('\n', " ");
    format!("{ERASE}{DO_NOT_WRAP}{text}{WRAP}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_line() {
        let frame = frame("a\nb\r\x1b[2Jc");
        let shown = frame.strip_prefix("\r\x1b[K\x1b[?7l").and_then(|rest| rest.strip_suffix("\x1b[?7h"));
        let shown = shown.expect("a line that is erased before and does not wrap");
        assert!(shown.starts_with("a b") && shown.ends_with('c'), "{shown}");
        assert!(!shown.contains(char::is_control), "{shown:?}");
    }
}
