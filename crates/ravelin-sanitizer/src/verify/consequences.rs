//! What a program would do with a stale value.
//!
//! The run of a stale access is made again up to it. There the access reads an older value that the axioms allow, and
//! the program goes on under sequential consistency. Such a run is one of the behaviours of C11
//! (`ravelin-runtime/src/stale.rs` says why). Where all schedules of a program are run, those after the stale access are,
//! too, one for each trace ([`Exploration::after`]) up to a limit; otherwise a few that are drawn. What the program does is
//! compared with its runs under sequential consistency ([`SequentialRuns`]): what goes wrong there as well is no
//! consequence.
//!
//! One stale access is sound but not complete: an outcome may need two. That the program only rejoins what it does anyway
//! is no proof that it always does.

use super::plan::VerifyPlan;
use super::problem::{ProblemRun, Problems};
use super::sequential::{SequentialRuns, StaleEffect, comes_back};
use super::stale::{NotTried, StaleRun};
use super::worker::{Purpose, script_of, start_program};
use crate::watch::{NotWatched, RunOutput, SteeredProgram, SteeredRun};
use ravelin_answer::sanitizer::{Consequence, StaleOutcome, StaleValue};
use ravelin_findings::steering::SteeredEnd;
use ravelin_verify::exploration::Options;
use ravelin_verify::{Exploration, Script};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// Schedules that are drawn for each stale value, where not all are run.
const DRAWN: u64 = 7;
/// The most schedules that are run for each stale value, where all are.
const MOST_SCHEDULES: u64 = 1000;
/// Schedules that are drawn to see whether lines are written in this order under sequential consistency as well: writing
/// is no step, so that runs of one trace may differ in it.
const ORDERS: u64 = 24;

/// The worst that runs with a stale value showed.
#[derive(Debug)]
struct StaleEnd {
    effect: StaleEffect,
    script: Script,
    runs: u64,
    /// Every schedule after the stale access was run.
    is_complete: bool,
}

/// What is shared by those who find out about different stale accesses.
struct Comparison<'a> {
    plan: &'a VerifyPlan,
    sequential: Mutex<SequentialRuns>,
    /// These are all runs under sequential consistency.
    is_complete: bool,
    start: Instant,
}

impl VerifyPlan {
    /// Finds out what stale accesses lead to, until the time is over. `sequential` is what the runs did, and `is_complete`
    /// whether these were all.
    pub(super) fn find_consequences(
        &self,
        problems: &mut Problems,
        sequential: SequentialRuns,
        is_complete: bool,
        start: Instant,
    ) -> Result<(), NotWatched> {
        let comparison = Comparison { plan: self, sequential: Mutex::new(sequential), is_complete, start };
        let left: Vec<&mut ProblemRun> =
            problems.all_mut().iter_mut().filter(|problem| problem.stale.is_some()).collect();
        let jobs = self.jobs.clamp(1, left.len().max(1));
        let (left, error) = (Mutex::new(left.into_iter()), Mutex::new(None));
        let try_problems = |job: usize| -> Result<(), NotWatched> {
            let mut program = start_program(self, self.processor_of(job), Purpose::Consequences)?;
            loop {
                let Some(problem) = lock(&left).next() else { return Ok(()) };
                if let Some(stale) = &problem.stale {
                    problem.consequence = Some(comparison.consequence(stale, &mut program)?);
                }
            }
        };
        let work = |job: usize| {
            if let Err(failed) = try_problems(job) {
                lock(&error).get_or_insert(failed);
            }
        };
        let work = &work;
        std::thread::scope(|scope| {
            for job in 1..jobs {
                // If memory is limited there may be fewer, and it takes longer.
                if std::thread::Builder::new().spawn_scoped(scope, move || work(job)).is_err() {
                    break;
                }
            }
            work(0);
        });
        error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), Err)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Comparison<'_> {
    fn consequence(&self, stale: &StaleRun, program: &mut SteeredProgram) -> Result<Consequence, NotWatched> {
        let (mut ends, mut reason): (Vec<StaleEnd>, _) = (Vec::new(), NotTried::NoTime);
        let mut all_tried = true;
        for script in stale.scripts(&|| self.plan.is_over(self.start)).unwrap_or_else(|why| {
            reason = why;
            Vec::new()
        }) {
            let tried = match self.plan.drawn {
                Some(_) => self.try_some(&script, program)?,
                None => self.try_all(&script, program)?,
            };
            match tried {
                Ok(end) => ends.push(end),
                Err(why) => {
                    all_tried = false;
                    reason = why;
                }
            }
        }
        ends.sort_by_key(|end| end.effect.outcome);
        let runs = ends.iter().map(|end| end.runs).sum();
        let all_schedules = all_tried && !ends.is_empty() && ends.iter().all(|end| end.is_complete);
        let value = |end: &StaleEnd| end.script.stale.map_or(0, |stale| stale.value).to_string();
        let (outcome, sentence) = match ends.first() {
            None => (StaleOutcome::NotDecided, reason.to_string()),
            Some(StaleEnd { effect: StaleEffect { outcome: StaleOutcome::Rejoins, sentence, .. }, .. }) => {
                let tried = if all_schedules {
                    format!("{sentence}, in every schedule after it ({} tried)", words(runs))
                } else {
                    format!("{sentence} ({} tried)", words(runs))
                };
                (StaleOutcome::Rejoins, tried)
            }
            Some(end) => (end.effect.outcome, format!("with the stale value {} {}", value(end), end.effect.sentence)),
        };
        let difference = ends.first().and_then(|end| end.effect.difference.clone());
        let shown = |end: &StaleEnd| StaleValue {
            value: value(end),
            outcome: end.effect.outcome,
            schedule: end.script.to_string(),
        };
        let values = ends.iter().map(shown).collect();
        Ok(Consequence { outcome, sentence, values, runs, all_schedules, difference })
    }

    /// A few schedules after the stale access, each beside the same one without the stale value.
    fn try_some(
        &self,
        script: &Script,
        program: &mut SteeredProgram,
    ) -> Result<Result<StaleEnd, NotTried>, NotWatched> {
        let (mut worst, mut is_back) = (Worst::default(), false);
        for seed in 0..=DRAWN {
            let with = Script { seed, ..script.clone() };
            let Some(weak) = self.run(&with, program)? else { break };
            if weak.run.end == Some(SteeredEnd::NotEnabled) {
                worst.differs = true;
                continue;
            }
            let Some(strong) = self.run(&Script { stale: None, ..with.clone() }, program)? else { break };
            lock(&self.sequential).note(&strong);
            let effect = self.effect(&weak, &strong.output, &with, program)?;
            is_back |= seed == 0 && comes_back(&weak.run.events, &strong.run.events, script.choices.len() - 1);
            if worst.take(effect, with) {
                break;
            }
        }
        Ok(worst.end(false).map(|end| match end.effect.outcome {
            // What goes on in another way then does so because its schedule is another one.
            StaleOutcome::NotDecided if is_back => StaleEnd { effect: StaleEffect::comes_back(), ..end },
            _ => end,
        }))
    }

    /// Every schedule after the stale access, up to a limit.
    fn try_all(&self, script: &Script, program: &mut SteeredProgram) -> Result<Result<StaleEnd, NotTried>, NotWatched> {
        let most = self.plan.max_runs.unwrap_or(MOST_SCHEDULES).min(MOST_SCHEDULES);
        let options = Options { preemptions: None, ..self.plan.options };
        let without = Script { stale: None, ..script.clone() };
        let mut strong = Exploration::after(without, options);
        let mut usual = RunOutput::default();
        let mut runs = 0;
        // Where not all runs are known, those after the same beginning are made; otherwise one to show what it writes.
        while runs < if self.is_complete { 1 } else { most }
            && let Some(task) = strong.next()
        {
            let Some(run) = self.run(&task.script, program)? else { return Ok(Err(NotTried::NoTime)) };
            strong.done(&task, &run.run);
            lock(&self.sequential).note(&run);
            if runs == 0 {
                usual.clone_from(&run.output);
            }
            runs += 1;
        }
        let mut exploration = Exploration::after(script.clone(), options);
        let mut worst = Worst::default();
        let mut made = 0;
        while made < most
            && let Some(task) = exploration.next()
        {
            let Some(weak) = self.run(&task.script, program)? else { return Ok(worst.end(false)) };
            made += 1;
            exploration.done(&task, &weak.run);
            match weak.run.end {
                Some(SteeredEnd::NotEnabled) => worst.differs = true,
                // Another run does the same.
                Some(SteeredEnd::Asleep) => {}
                None | Some(SteeredEnd::Full | SteeredEnd::Unrolled) => {
                    let shown = match made {
                        1 => script.clone(),
                        _ => Script { stale: script.stale, ..script_of(&weak.run.events) },
                    };
                    let effect = self.effect(&weak, &usual, &shown, program)?;
                    if worst.take(effect, shown) {
                        return Ok(worst.end(false));
                    }
                }
            }
        }
        Ok(worst.end(exploration.is_finished() && exploration.is_complete()))
    }

    /// What a run with a stale value did. That it wrote something else counts only if the same run does so again, and no
    /// run under sequential consistency does.
    fn effect(
        &self,
        weak: &SteeredRun,
        usual: &RunOutput,
        script: &Script,
        program: &mut SteeredProgram,
    ) -> Result<StaleEffect, NotWatched> {
        let effect = lock(&self.sequential).effect(weak, Some(usual));
        if effect.outcome != StaleOutcome::Output {
            return Ok(effect);
        }
        let again = self.run(script, program)?;
        let mut is_by_chance = again.is_none_or(|again| again.output != weak.output);
        if !is_by_chance && lock(&self.sequential).has_lines(&weak.output) {
            let beginning = script.stale.map_or(0, |stale| stale.step);
            for seed in 1..=ORDERS {
                let kept = if seed % 2 == 0 { beginning } else { 0 };
                let drawn = Script { choices: script.choices[..kept].to_vec(), seed, ..Script::default() };
                let Some(run) = self.run(&drawn, program)? else { break };
                lock(&self.sequential).note(&run);
            }
            is_by_chance = lock(&self.sequential).has_output(&weak.output);
        }
        Ok(if is_by_chance { lock(&self.sequential).effect(weak, None) } else { effect })
    }

    /// Makes a run; `None` if the time is over, which may have ended the run.
    fn run(&self, script: &Script, program: &mut SteeredProgram) -> Result<Option<SteeredRun>, NotWatched> {
        if self.plan.is_over(self.start) {
            return Ok(None);
        }
        Ok(self.plan.run(program, script, self.start)?.filter(|_| !self.plan.is_over(self.start)))
    }
}

/// The worst so far.
#[derive(Default)]
struct Worst {
    end: Option<(StaleEffect, Script)>,
    runs: u64,
    /// The steps before the stale access could not be made again.
    differs: bool,
}

impl Worst {
    /// Returns whether it is so bad that other schedules would show nothing worse that matters. Each may take long.
    fn take(&mut self, effect: StaleEffect, script: Script) -> bool {
        self.runs += 1;
        let outcome = effect.outcome;
        if self.end.as_ref().is_none_or(|(worst, _)| outcome < worst.outcome) {
            self.end = Some((effect, script));
        }
        outcome <= StaleOutcome::Standstill
    }

    fn end(self, is_complete: bool) -> Result<StaleEnd, NotTried> {
        let Worst { end, runs, differs } = self;
        match end {
            Some((effect, script)) => Ok(StaleEnd { effect, script, runs, is_complete }),
            None if differs => Err(NotTried::Differs),
            None => Err(NotTried::NoTime),
        }
    }
}

impl ProblemRun {
    /// How bad it is.
    pub(super) fn outcome(&self) -> Option<StaleOutcome> {
        self.consequence.as_ref().map(|consequence| consequence.outcome)
    }
}

fn words(runs: u64) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}
