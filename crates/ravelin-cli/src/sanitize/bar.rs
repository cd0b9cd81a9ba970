//! How far many runs of a program are, as one line.

use ravelin_output::{LiveLine, stderr};
use ravelin_sanitizer::Progress;
use std::time::{Duration, Instant};

/// How far the runs are, and when they end if the others take as long.
pub fn progress(done: u64, runs: u64, violated: u64, elapsed: Duration) -> String {
    let bar = "█".repeat((30 * done.min(runs) / runs.max(1)) as usize);
    let left = elapsed.as_secs_f64() / done.max(1) as f64 * runs.saturating_sub(done) as f64;
    format!("{bar:░<30} {done}/{runs} runs, something found in {violated}, {left:.0} s left")
}

/// A line on a terminal that shows how far the runs of all schedules are.
pub struct VerifyLine<'a> {
    line: LiveLine,
    /// That of a test of a project.
    name: Option<&'a str>,
    start: Instant,
}

impl<'a> VerifyLine<'a> {
    /// `None` if standard error is no terminal.
    pub fn new(name: Option<&'a str>) -> Option<VerifyLine<'a>> {
        Some(VerifyLine { line: LiveLine::on(stderr())?, name, start: Instant::now() })
    }

    pub fn show(&self, progress: &Progress) {
        let bar = verifying(progress, self.start.elapsed());
        self.line.show(&self.name.map_or_else(|| bar.clone(), |name| format!("{name}: {bar}")));
    }
}

/// How far the runs of all schedules are.
fn verifying(progress: &Progress, elapsed: Duration) -> String {
    let statistics = &progress.statistics;
    let (runs, seconds) = (statistics.runs, elapsed.as_secs_f64().max(0.001));
    let a_second = runs as f64 / seconds;
    let all = statistics.estimated_runs.max(runs as f64);
    let left = (all - runs as f64) / a_second.max(0.001);
    let found = progress.problems;
    format!(
        "{runs} runs of about {all:.0}, {a_second:.0} a second, at most {} steps, {found} found, {left:.0} s left",
        statistics.depth
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_how_far_the_runs_are() {
        let bar = "█".repeat(7) + &"░".repeat(23);
        let line = progress(25, 100, 3, Duration::from_secs(10));
        assert_eq!(line, format!("{bar} 25/100 runs, something found in 3, 30 s left"));
        assert_eq!(progress(0, 2, 0, Duration::ZERO), "░".repeat(30) + " 0/2 runs, something found in 0, 0 s left");
    }
}
