//! A live line on a terminal, silence in a pipe, and Ctrl-C.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ravelin_explore::Progress;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time between two looks at the screen, and before the first: quick answers show no line.
const INTERVAL: Duration = Duration::from_millis(200);

static STOP: AtomicBool = AtomicBool::new(false);

/// The first Ctrl-C ends the search and gives what was found; the second ends the program.
pub fn stop_on_ctrl_c() -> &'static AtomicBool {
    // Without a handler Ctrl-C simply ends the program, which is what happens anyway if none can be set.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
    &STOP
}

/// The line.
pub struct Line {
    bar: Option<ProgressBar>,
    /// It is on the screen: not before there is something to tell.
    shown: AtomicBool,
}

impl Line {
    pub fn new(title: String) -> Line {
        if !std::io::stderr().is_terminal() {
            return Line { bar: None, shown: AtomicBool::new(false) };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(title);
        Line { bar: Some(bar), shown: AtomicBool::new(false) }
    }

    pub fn show(&self, progress: &Progress) {
        let Some(bar) = &self.bar else { return };
        if progress.elapsed < INTERVAL {
            return;
        }
        if !self.shown.swap(true, Ordering::Relaxed) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let seconds = progress.elapsed.as_secs_f64();
        bar.set_message(format!(
            "{} states, {:.0}/s, frontier {}, depth {}, {} MiB, {seconds:.0} s",
            progress.states,
            progress.states as f64 / seconds,
            progress.frontier,
            progress.depth,
            progress.bytes >> 20
        ));
        bar.tick();
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.as_ref().filter(|_| self.shown.load(Ordering::Relaxed)) {
            bar.finish_and_clear();
        }
    }
}
