//! A row of a table by itself: it has a limit, it may fail, and neither stops the others.

use anyhow::Result;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How much is to be measured.
#[derive(Clone, Copy)]
pub struct MeasurementEffort {
    /// Leave out what takes seconds.
    pub quick: bool,
    /// Also what takes minutes.
    pub long: bool,
    /// What one question may take.
    pub limit: Duration,
    /// How often each question is asked; the median counts.
    pub repetitions: usize,
}

/// What stands in a cell that was not measured.
pub const SKIPPED: &str = "skipped";

/// An answer to a question in a thread of its own, or a few words on why there is none.
///
/// Searches keep to the limit themselves. One that does not is left behind after some more time, and ends with the
/// process; it may disturb what is measured after it, and the table says that it did not end.
pub fn guarded<T: Send + 'static>(
    effort: &MeasurementEffort,
    what: &str,
    action: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T, String> {
    let patience = effort.limit * (effort.repetitions as u32 + 2) * 2 + Duration::from_secs(60);
    ended_in(patience, what, action)
}

fn ended_in<T: Send + 'static>(
    patience: Duration,
    what: &str,
    action: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T, String> {
    eprintln!("  {what}");
    let (send, receive) = channel();
    let worker = std::thread::spawn(move || {
        // Nobody listens any more after a time-out.
        let _ = send.send(action());
    });
    let answer = match receive.recv_timeout(patience) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(format!("failed: {}", in_a_line(&format!("{error:#}")))),
        Err(RecvTimeoutError::Timeout) => Err(format!("failed: did not end in {} s", patience.as_secs())),
        Err(RecvTimeoutError::Disconnected) => {
            let _ = worker.join();
            Err("failed: stopped by an error in the program".to_owned())
        }
    };
    if let Err(problem) = &answer {
        eprintln!("  {what}: {problem}");
    }
    answer
}

/// A row that has nothing but its name and a few words.
pub fn empty(name: &str, words: &str, columns: usize) -> Vec<String> {
    let mut cells = vec![name.to_owned(), words.to_owned()];
    cells.resize(columns.max(2), String::new());
    cells
}

/// As a cell of a Markdown table can hold it.
fn in_a_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().replace('|', "/");
    let mut short: String = line.chars().take(100).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_a_few_words() {
        let long = Duration::from_secs(60);
        assert_eq!(ended_in(long, "one", || Ok(1)), Ok(1));
        let failed = ended_in::<()>(long, "two", || anyhow::bail!("a | b\nand more"));
        assert_eq!(failed, Err("failed: a / b".to_owned()));
        let panics = ended_in::<()>(long, "three", || panic!("on purpose"));
        assert_eq!(panics, Err("failed: stopped by an error in the program".to_owned()));
    }

    #[test]
    fn what_does_not_end_is_left_behind() {
        let (hold, held) = channel::<()>();
        let stuck = ended_in(Duration::ZERO, "stuck", move || Ok(held.recv().is_ok()));
        assert_eq!(stuck, Err("failed: did not end in 0 s".to_owned()));
        drop(hold);
    }

    #[test]
    fn a_failed_row_has_all_columns() {
        assert_eq!(empty("name", SKIPPED, 4), ["name", "skipped", "", ""]);
    }
}
