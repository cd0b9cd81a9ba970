//! A live line on a terminal, and silence in a pipe, unless the environment asks for lines.

use ravelin::Progress;
use ravelin::answer::text::grouped;
use ravelin_output::{LiveLine, complain, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Quick answers show no line.
const QUICK: Duration = Duration::from_millis(200);

/// `ravelin serve` sets it and reads the lines (`ravelin-serve/src/child.rs`).
const LINES: &str = "RAVELIN_PROGRESS";
/// The time between two lines.
const PAUSE: Duration = Duration::from_millis(250);

/// The line.
pub struct Line {
    title: String,
    live: Option<LiveLine>,
    /// Whether lines are written.
    lines: bool,
    last: Mutex<Option<Progress>>,
    /// How long the search had run when the last line was written.
    written: Mutex<Duration>,
}

impl Line {
    /// Nothing is shown unless asked for.
    pub fn new(title: &str, asked_for: bool) -> Line {
        let live = if asked_for { LiveLine::on(stderr()) } else { None };
        let lines = asked_for && std::env::var_os(LINES).is_some();
        Line { title: title.to_owned(), live, lines, last: Mutex::new(None), written: Mutex::default() }
    }

    pub fn show(&self, progress: &Progress) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(*progress);
        if self.lines {
            self.write(progress);
        }
        let Some(live) = &self.live else { return };
        if progress.elapsed < QUICK {
            return;
        }
        let seconds = progress.elapsed.as_secs_f64();
        let Progress { phase, states, frontier, depth, .. } = *progress;
        let (title, mebibytes) = (&self.title, progress.bytes >> 20);
        live.show(&match phase {
            "" => {
                let rate = states as f64 / seconds;
                format!(
                    "{title}: {states} states, {rate:.0}/s, frontier {frontier}, depth {depth}, {mebibytes} MiB, \
                     {seconds:.0} s"
                )
            }
            phase => format!("{title}: {phase}, {mebibytes} MiB, {seconds:.0} s"),
        });
    }

    fn write(&self, progress: &Progress) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        // The time starts again with each part of a search.
        if progress.elapsed < *written {
            *written = Duration::ZERO;
        }
        if progress.elapsed < *written + PAUSE {
            return;
        }
        *written = progress.elapsed;
        let mebibytes = progress.bytes >> 20;
        match progress.phase {
            "" => complain!("progress: {} states, {mebibytes} MiB", grouped(progress.states)),
            phase => complain!("progress: {phase}, {mebibytes} MiB"),
        }
    }

    /// How far the search had come when it last said so.
    pub fn last(&self) -> Option<Progress> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the line off the screen.
    pub fn clear(&self) {
        if let Some(live) = &self.live {
            live.clear();
        }
    }
}
