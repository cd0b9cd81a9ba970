//! A live line on a terminal, and silence in a pipe.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ravelin::Progress;
use ravelin_output::escaped;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time between two looks at the screen, and before the first: quick answers show no line.
const INTERVAL: Duration = Duration::from_millis(200);

/// The line.
pub struct Line {
    bar: Option<ProgressBar>,
    /// It is on the screen: not before there is something to tell.
    shown: AtomicBool,
    last: Mutex<Option<Progress>>,
}

impl Line {
    /// Nothing is shown unless asked for.
    pub fn new(title: &str, asked_for: bool) -> Line {
        if !asked_for || !std::io::stderr().is_terminal() {
            return Line { bar: None, shown: AtomicBool::new(false), last: Mutex::new(None) };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg}") {
            bar.set_style(style);
        }
        // The bar writes to the terminal itself.
        bar.set_prefix(escaped(title).into_owned());
        Line { bar: Some(bar), shown: AtomicBool::new(false), last: Mutex::new(None) }
    }

    pub fn show(&self, progress: &Progress) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(*progress);
        let Some(bar) = &self.bar else { return };
        if progress.elapsed < INTERVAL {
            return;
        }
        if !self.shown.swap(true, Ordering::Relaxed) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let seconds = progress.elapsed.as_secs_f64();
        let Progress { phase, states, frontier, depth, .. } = *progress;
        let mebibytes = progress.bytes >> 20;
        bar.set_message(match phase {
            "" => {
                let rate = states as f64 / seconds;
                format!(
                    "{states} states, {rate:.0}/s, frontier {frontier}, depth {depth}, {mebibytes} MiB, {seconds:.0} s"
                )
            }
            phase => format!("{phase}, {mebibytes} MiB, {seconds:.0} s"),
        });
        bar.tick();
    }
}

impl Line {
    /// How far the search had come when it last said so.
    pub fn last(&self) -> Option<Progress> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the line off the screen.
    pub fn clear(&self) {
        if let Some(bar) = self.bar.as_ref().filter(|_| self.shown.load(Ordering::Relaxed)) {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.clear();
    }
}
