//! All SC runs of a small program: from each run, every other thread at every step after its script.

use crate::simulated::Simulator;
use ravelin_findings::steering::SteeredEnd;
use ravelin_verify::{Choice, RecordedRun, Script};

/// Calls `visit` with every run that cannot go on. `None` if a run fails, or there are more than `most` of them.
pub fn every_run(simulator: &Simulator, threads: u32, most: usize, visit: &mut impl FnMut(&RecordedRun)) -> Option<()> {
    let mut left = most;
    let mut scripts = vec![Script::default()];
    while let Some(script) = scripts.pop() {
        let simulation = simulator.simulate(&script);
        match simulation.run.end {
            _ if simulation.failed.is_some() => return None,
            Some(SteeredEnd::NotEnabled) => continue,
            _ => {}
        }
        left = left.checked_sub(1)?;
        visit(&simulation.run);
        let schedule: Vec<u32> = simulation.run.events.iter().map(|event| event.thread).collect();
        for step in script.choices.len()..schedule.len() {
            for other in (0..threads).filter(|&thread| thread != schedule[step]) {
                let threads = schedule[..step].iter().copied().chain([other]);
                let choices = threads.map(|thread| Choice { thread, times_out: false }).collect();
                scripts.push(Script { choices, ..Script::default() });
            }
        }
    }
    Some(())
}
