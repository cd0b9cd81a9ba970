//! `ravelin verify`: every schedule of a program.

use super::arguments::{ReductionKind, Verify};
use super::bar;
use crate::exit::Exit;
use crate::files;
use anyhow::Context;
use ravelin::Verdict;
use ravelin::answer::SanitizerReport;
use ravelin_output::{LiveLine, stderr, stdout};
use ravelin_sanitizer::report::ignoring;
use ravelin_sanitizer::verify::NotResumable;
use ravelin_sanitizer::verify::exploration::{Options, Reduction};
use ravelin_sanitizer::{Listeners, Progress, VerifiedProgram, VerifyPlan, WatchCommand, command_line};
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

/// Runs a program under every schedule and reports.
pub fn verify(arguments: &Verify) -> anyhow::Result<ExitCode> {
    let wanted = arguments.report.wanted()?;
    let plan = plan(arguments)?;
    let line = LiveLine::on(stderr());
    let start = Instant::now();
    let show = |progress: Progress| {
        if let Some(line) = &line {
            line.show(&bar::verifying(&progress, start.elapsed()));
        }
    };
    let saved = Mutex::new(Ok(()));
    let save = |words: &[u64]| {
        if let (Some(file), Ok(mut saved)) = (&arguments.checkpoint, saved.lock()) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            *saved = files::write(file, bytes);
        }
    };
    let listeners =
        Listeners { progress: line.is_some().then_some(&show), rest: arguments.checkpoint.is_some().then_some(&save) };
    let VerifiedProgram { report, verification } = plan.verify(&wanted, listeners)?;
    drop(line);
    saved.into_inner().unwrap_or(Ok(()))?;
    let violated = !report.is_clean() || !report.crashes.is_empty() || !verification.failures.is_empty();
    let verdict = match (violated, verification.complete) {
        (true, _) => Verdict::Violated,
        (false, true) => Verdict::Holds,
        (false, false) => Verdict::Unknown,
    };
    if let Some(file) = arguments.checkpoint.as_ref().filter(|_| verdict != Verdict::Unknown) {
        // There is an answer. If the file cannot be removed, it is found to be of this program next time.
        let _ = std::fs::remove_file(file);
    }
    let command = command_line(&plan.watch, 0);
    let sources = report.sources();
    let answer =
        SanitizerReport { verdict, verification: Some(verification), again: None, ..report.answer(Some(command)) };
    arguments.report.print("verify", answer, &sources, stdout())?;
    Ok(match verdict {
        Verdict::Violated => ExitCode::from(arguments.exit_code),
        other => Exit::from(other).into(),
    })
}

/// What an earlier verification has left in a file, if there is one.
fn checkpoint(file: &Path) -> anyhow::Result<Option<Vec<u64>>> {
    match std::fs::read(file) {
        Ok(bytes) => {
            let (words, rest) = bytes.as_chunks::<8>();
            anyhow::ensure!(rest.is_empty(), "{}: {}", file.display(), NotResumable::NotACheckpoint);
            Ok(Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| file.display().to_string()),
    }
}

/// What the command line asks for.
fn plan(arguments: &Verify) -> anyhow::Result<VerifyPlan> {
    let [program, rest @ ..] = &*arguments.program else { anyhow::bail!("name the program to verify") };
    let mut options: Vec<String> = arguments.no_races.then(|| "no-races".to_owned()).into_iter().collect();
    options.extend(ignoring(&arguments.ignore));
    Ok(VerifyPlan {
        watch: WatchCommand { program: program.clone(), arguments: rest.to_vec(), options, ..WatchCommand::default() },
        jobs: arguments.jobs.map_or_else(ravelin::usual_workers, |jobs| jobs as usize),
        options: Options {
            reduction: match arguments.reduction {
                ReductionKind::Off => Reduction::Off,
                ReductionKind::Sleep => Reduction::Sleep,
                ReductionKind::Source => Reduction::Source,
                ReductionKind::Optimal => Reduction::Optimal,
            },
            preemptions: arguments.preemptions,
        },
        unroll: arguments.unroll,
        max_runs: arguments.max_runs,
        timeout: arguments.timeout,
        robustness: !arguments.no_robustness,
        keep_going: arguments.keep_going,
        fresh_processes: arguments.fresh_processes,
        silent: false,
        resume: arguments.checkpoint.as_deref().map(checkpoint).transpose()?.flatten(),
    })
}
