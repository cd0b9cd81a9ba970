//! A live line on a terminal, and silence in a pipe.

use ravelin::Progress;
use ravelin_output::{LiveLine, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Quick answers show no line.
const QUICK: Duration = Duration::from_millis(200);

/// The line.
pub struct Line {
    title: String,
    live: Option<LiveLine>,
    last: Mutex<Option<Progress>>,
}

impl Line {
    /// Nothing is shown unless asked for.
    pub fn new(title: &str, asked_for: bool) -> Line {
        let live = if asked_for { LiveLine::on(stderr()) } else { None };
        Line { title: title.to_owned(), live, last: Mutex::new(None) }
    }

    pub fn show(&self, progress: &Progress) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(*progress);
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
