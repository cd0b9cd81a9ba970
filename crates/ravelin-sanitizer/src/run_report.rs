//! Runs, and the report about them.

use crate::fingerprint::fingerprint;
use crate::report::{Gathered, Report, Run, Wanted, gather};
use crate::runs::{CompletedRun, CompletedRuns, RunPlan};
use crate::watch::{NotWatched, WatchCommand, find_program};
use ravelin_answer::sanitizer::CommandLine;
use std::path::Path;

/// Runs and the report about them.
#[derive(Debug)]
pub struct RunReport {
    pub report: Report,
    pub ran: Vec<CompletedRun>,
}

impl RunPlan {
    /// Makes all runs, or with `halt` those up to the first with findings. `watched` is called with the number of runs
    /// done and of those with findings. Without it the runs are judged together at the end.
    pub fn judge(
        &self,
        wanted: &Wanted,
        halt: bool,
        mut watched: Option<&mut (dyn FnMut(u64, u64) + Send)>,
    ) -> Result<RunReport, NotWatched> {
        // Each gets a copy: only the report counts the use of a suppression.
        let is_clean =
            |run: &CompletedRun, wanted: &Wanted| gather(self.gathered(std::slice::from_ref(run)), wanted).is_clean();
        let (mut done, mut violated, judge) = (0, 0, wanted.clone());
        let CompletedRuns { mut ran, fresh } = self.run(move |run| {
            let clean = !(halt || watched.is_some()) || is_clean(run, &judge);
            done += 1;
            violated += u64::from(!clean);
            if let Some(watched) = &mut watched {
                watched(done, violated);
            }
            clean || !halt
        })?;
        // What other runs found after the first one depends on which of them ran in parallel.
        if halt && let Some(first) = ran.iter().position(|run| !is_clean(run, &wanted.clone())) {
            ran.truncate(first + 1);
        }
        let report = Report { fresh_processes: fresh, ..gather(self.gathered(&ran), wanted) };
        Ok(RunReport { report, ran })
    }

    /// What was run, so that it can be repeated.
    pub fn command_line(&self) -> CommandLine {
        command_line(&self.watch, self.livelock)
    }

    /// The input for a report about runs.
    pub fn gathered<'a>(&self, ran: &'a [CompletedRun]) -> Gathered<'a> {
        let summary = |run: &CompletedRun| Run {
            schedule: run.schedule,
            script: None,
            exit_code: run.watched.exit_code,
            signal: run.watched.signal,
            points: run.watched.processes.iter().map(|process| process.points).sum(),
            trail: run.watched.processes.iter().fold(0, |trail, process| trail ^ process.trail),
            replayable: run.schedule.is_some() && run.watched.is_replayable(),
        };
        let of = |(index, run): (usize, &CompletedRun)| std::iter::repeat_n(index, run.watched.processes.len());
        Gathered {
            program: self.watch.program.display().to_string(),
            arguments: self.watch.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            executable: ran.first().and_then(|run| run.watched.executable.as_deref()),
            processes: ran.iter().flat_map(|run| run.watched.processes.iter().cloned()).collect(),
            unrecorded: ran.iter().map(|run| run.watched.unrecorded).sum(),
            run_of: ran.iter().enumerate().flat_map(of).collect(),
            runs: ran.iter().map(summary).collect(),
            directory: std::env::current_dir().ok(),
        }
    }
}

/// What was run, so that it can be repeated.
pub fn command_line(watch: &WatchCommand, livelock: u64) -> CommandLine {
    let WatchCommand { program, arguments, options, directory, .. } = watch;
    let directory = directory.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let executable = find_program(program);
    let words = std::iter::once(program).chain(arguments).map(|word| word.to_string_lossy().into_owned());
    CommandLine {
        words: words.collect(),
        directory: directory.display().to_string(),
        fingerprint: executable.as_deref().map(fingerprint).unwrap_or(0),
        executable: executable.map(|executable| executable.display().to_string()),
        options: options.clone(),
        livelock,
    }
}

/// The common name of findings files, and their content.
pub fn gathered_from(files: &[impl AsRef<Path>]) -> Result<Gathered<'static>, NotWatched> {
    let names: Vec<String> = files.iter().map(|file| file.as_ref().display().to_string()).collect();
    Ok(Gathered {
        program: names.join(", "),
        arguments: Vec::new(),
        executable: None,
        processes: files.iter().map(|file| crate::read_findings(file.as_ref())).collect::<Result<_, _>>()?,
        unrecorded: 0,
        run_of: Vec::new(),
        runs: Vec::new(),
        directory: std::env::current_dir().ok(),
    })
}
