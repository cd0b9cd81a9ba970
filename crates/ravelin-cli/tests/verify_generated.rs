//! `ravelin verify` beside the reference semantics, on generated programs written as C: as many runs as the program has
//! traces, and the verdict of `ravelin check --model rc20`.
//!
//! One C file has many programs, and its argument chooses one. Starting `ravelin` three times takes longer than all runs of
//! a small program, so its libraries are called here; other tests are about the command.
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` say how many are tried, and from where.

use crate::graphs::is_consistent_with;
use crate::programs::{compilers, finish, try_all};
use crate::simulated::{Simulator, deterministic};
use crate::traces::{All, all};
use crate::verify::{Verified, verify};

use ravelin::answer::Verdict;
use ravelin::answer::sanitizer::Problem;
use ravelin_findings::events::{Act, flags};
use ravelin_frontend::print;
use ravelin_program::{BinaryOp, Model, Program};
use ravelin_sanitizer::report::{Wanted, ignoring};
use ravelin_sanitizer::verify::JudgedModel;
use ravelin_sanitizer::{Listeners, SteeredProgram, Streams, VerifiedProgram, VerifyPlan, WatchCommand};
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::{is_default_run, seeds};
use ravelin_verify::Script;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Programs in a file.
const TOGETHER: u64 = 40;
/// The most traces of a program.
const MOST_TRACES: usize = 300;

/// Seeds of programs that are in one file.
struct Batch {
    seeds: Range<u64>,
    compiler: &'static str,
    level: &'static str,
}

/// How a program is built depends on its seed only, so that one of them can be tried again.
fn batches(default: u64, levels: &[&str]) -> Vec<Batch> {
    // With optimisation clang removes accesses whose result is not used.
    let builds = [("gcc", "-O2"), ("clang", "-O0"), ("gcc", "-O0")];
    let compilers = compilers();
    let is_there = |(compiler, level): &(&str, &str)| compilers.contains(compiler) && levels.contains(level);
    let builds: Vec<_> = builds.into_iter().filter(is_there).collect();
    let all = seeds(default);
    let batch = |number: u64| {
        let &(compiler, level) = builds.get(number as usize % builds.len().max(1))?;
        let (first, end) = (number * TOGETHER, (number + 1) * TOGETHER);
        Some(Batch { seeds: first.max(all.start)..end.min(all.end), compiler, level })
    };
    (all.start / TOGETHER..all.end.div_ceil(TOGETHER)).filter_map(batch).collect()
}

/// One C file for several programs.
fn together(programs: &[Program]) -> String {
    const BEGINNING: &str = "static unsigned long long seeds[";
    let mut text = String::new();
    let mut names = String::new();
    for (number, program) in programs.iter().enumerate() {
        let mut program = program.clone();
        program.memory.variables.iter_mut().for_each(|variable| variable.name = format!("p{number}_{}", variable.name));
        program.threads.iter_mut().for_each(|thread| thread.name = format!("p{number}_{}", thread.name));
        let c = print::c(&program).unwrap_or_else(|error| panic!("{error}"));
        let (prelude, own) = c.split_at(c.find(BEGINNING).expect("the seeds"));
        if number == 0 {
            text.push_str(prelude);
        }
        for name in ["main", "seeds", "mem"] {
            text.push_str(&format!("#undef {name}\n#define {name} {name}_{number}\n"));
        }
        text.push_str(own);
        names.push_str(&format!("main_{number}, "));
    }
    text.push_str("#undef main\nint main(int count, char **arguments) {\n");
    text.push_str(&format!("  static int (*const programs[])(int, char **) = {{{names}}};\n"));
    text.push_str("  return count > 1 ? programs[atol(arguments[1])](1, arguments) : 2;\n}\n");
    text
}

/// A generated program that is built.
struct Built<'a> {
    program: &'a Program,
    /// How it is started.
    watch: WatchCommand,
    /// Its file, and its number in it.
    executable: &'a Path,
    number: String,
    folder: &'a Path,
}

impl Built<'_> {
    /// Runs the command.
    fn verify(&self, options: &[&str]) -> Result<Verified, String> {
        verify(self.executable, options, &[&self.number], self.folder)
    }
}

/// Tries generated programs.
fn try_generated(
    name: &str,
    config: Config,
    default: u64,
    levels: &[&str],
    flags: &[&str],
    judge: impl Fn(&Built) -> Result<(), String> + Sync,
) {
    let generator = Generator::new(config);
    try_all(name, &batches(default, levels), |batch, folder| {
        let programs: Vec<Program> = batch.seeds.clone().map(|seed| deterministic(&generator.program(seed))).collect();
        let (source, executable) = (folder.join("programs.c"), folder.join("programs"));
        std::fs::write(&source, together(&programs)).map_err(|error| error.to_string())?;
        let mut compile = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        compile.env("RAVELIN_CC", batch.compiler).args(["cc", batch.level, "-w", "-pthread", "-DVERIFY"]).args(flags);
        finish(compile.arg(&source).arg("-o").arg(&executable), Duration::from_secs(300))?;
        let watch = WatchCommand {
            program: executable.clone().into(),
            options: ignoring(&[Problem::LockOrderInversion]),
            ..WatchCommand::default()
        };
        let mut wrong = Vec::new();
        for (index, program) in programs.iter().enumerate() {
            let number = index.to_string();
            let watch = WatchCommand { arguments: vec![number.clone().into()], ..watch.clone() };
            if let Err(reason) = judge(&Built { program, watch, executable: &executable, number, folder }) {
                let Batch { seeds, compiler, level } = batch;
                let seed = seeds.start + index as u64;
                wrong.push(format!("seed {seed}: {compiler} {level}: {reason}\n{}", print::rav(program)));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    });
}

/// Whether a program is robust and has no data race, by `ravelin check`; `None` if that is not known.
fn checked(program: &Program, model: Model) -> Result<Option<bool>, String> {
    let program = ravelin::Program::parse("program.rav", print::rav(program)).map_err(|error| error.to_string())?;
    let check = ravelin::check(&program).model(model).deadlocks(false).impact(false).stops(false);
    // It refuses programs that compare with too many values.
    let Ok(answer) = check.budget(ravelin::Budget::seconds(60)).run() else { return Ok(None) };
    Ok(match answer.verdict() {
        Some(Verdict::Holds) => Some(true),
        Some(Verdict::Violated) => Some(false),
        _ => None,
    })
}

/// What `ravelin verify` says with one job.
#[derive(Clone, Copy)]
struct Explored {
    verdict: Verdict,
    /// Runs that were not redundant.
    traces: u64,
}

/// Verifies a program.
fn explored(built: &Built, robustness: bool, keep_going: bool) -> Result<Explored, String> {
    explored_under(JudgedModel::Rc20, built, robustness, keep_going)
}

fn explored_under(model: JudgedModel, built: &Built, robustness: bool, keep_going: bool) -> Result<Explored, String> {
    let plan = VerifyPlan {
        watch: built.watch.clone(),
        jobs: 1,
        unroll: 1000,
        robustness,
        model,
        keep_going,
        silent: true,
        ..VerifyPlan::default()
    };
    let verified = plan.verify(&Wanted::default(), Listeners::default()).map_err(|error| error.to_string())?;
    let VerifiedProgram { report, verification } = verified;
    let violated = !report.is_clean() || !report.crashes.is_empty() || !verification.failures.is_empty();
    let verdict = match (violated, verification.complete) {
        (true, _) => Verdict::Violated,
        (false, true) => Verdict::Holds,
        (false, false) => Verdict::Unknown,
    };
    Ok(Explored { verdict, traces: verification.runs - verification.redundant })
}

/// How many traces a program has; `None` if there are too many, or if it can fail.
fn traces(program: &Program) -> Option<u64> {
    let All { traces, failures } = all(&Simulator::new(program), program.threads.len() as u32, MOST_TRACES)?;
    failures.is_empty().then_some(traces.len() as u64)
}

fn config(kinds: &[InstructionKind]) -> Config {
    use InstructionKind::{Assign, CompareExchange, Fence, Load, Rmw, Store};
    let mut config = Config {
        threads: 2..=3,
        max_events: 8,
        non_atomic: false,
        goals: 0..=0,
        domains: false,
        wrapping: false,
        strict_memory: false,
        ..Config::c11()
    };
    // C has no function for a maximum or a minimum.
    config.rmws.retain(|op| !op.binary().is_some_and(BinaryOp::selects));
    config.kinds.retain(|(kind, _)| {
        matches!(kind, Assign | CompareExchange | Fence | Load | Rmw | Store) || kinds.contains(kind)
    });
    config
}

#[test]
fn loop_free_programs_have_one_run_per_trace_and_the_verdict_of_check() {
    let (compared, violated) = (AtomicUsize::new(0), AtomicUsize::new(0));
    try_generated("verify-loop-free", config(&[]), 2000, &["-O0", "-O2"], &[], |built| {
        let Some(traces) = traces(built.program) else { return Ok(()) };
        let verified = explored(built, true, false)?;
        // After a finding there are no more runs.
        let counted = match verified.verdict {
            Verdict::Violated => explored(built, false, false)?,
            _ => verified,
        };
        if (counted.verdict, counted.traces) != (Verdict::Holds, traces) {
            let Explored { verdict, traces: found } = counted;
            return Err(format!("{found} runs, {} under sequential consistency, but {traces} traces", verdict.name()));
        }
        let Some(holds) = checked(built.program, Model::Rc20)? else { return Ok(()) };
        compared.fetch_add(1, Ordering::Relaxed);
        violated.fetch_add(usize::from(!holds), Ordering::Relaxed);
        if verified.verdict != if holds { Verdict::Holds } else { Verdict::Violated } {
            return Err(format!("{}, but check holds: {holds}", verified.verdict.name()));
        }
        Ok(())
    });
    let (compared, violated) = (compared.into_inner(), violated.into_inner());
    println!("{compared} programs compared, {violated} of them violated");
    assert!(!is_default_run() || compilers().is_empty() || (violated > 0 && violated < compared));
}

/// Compilers remove plain accesses that have no effect, so there is no optimisation.
#[test]
fn programs_with_plain_accesses_have_the_verdict_of_check() {
    let config = Config { non_atomic: true, ..config(&[]) };
    try_generated("verify-plain", config, 80, &["-O0"], &[], |built| {
        if traces(built.program).is_none() {
            return Ok(());
        }
        let Some(holds) = checked(built.program, Model::Rc20)? else { return Ok(()) };
        let verified = explored(built, true, false)?.verdict;
        if verified != if holds { Verdict::Holds } else { Verdict::Violated } {
            return Err(format!("{}, but check holds: {holds}", verified.name()));
        }
        Ok(())
    });
}

/// Where a thread can wait for ever, that is found as well. Without optimisation a loop has variables on its stack that
/// differ in the first round, so that this round counts.
#[test]
fn programs_that_wait_have_one_run_per_trace_and_the_verdict_of_check() {
    use InstructionKind::{BlockingCas, Lock, Wait};
    let config = config(&[BlockingCas, Lock, Wait]);
    try_generated("verify-waiting", config, 80, &["-O2"], &[], |built| {
        let Some(traces) = traces(built.program) else { return Ok(()) };
        let Some(holds) = checked(built.program, Model::Rc20)? else { return Ok(()) };
        let counted = explored(built, false, true)?;
        if counted.traces != traces {
            return Err(format!("{} runs, but {traces} traces", counted.traces));
        }
        let verified = explored(built, true, false)?.verdict;
        match (counted.verdict, verified) {
            // A thread waits for ever in some schedule.
            (Verdict::Violated, Verdict::Violated) => Ok(()),
            (Verdict::Holds, verdict) if verdict == if holds { Verdict::Holds } else { Verdict::Violated } => Ok(()),
            (stuck, verdict) => {
                let (stuck, verdict) = (stuck.name(), verdict.name());
                Err(format!("{verdict}, {stuck} without robustness, but check holds: {holds}"))
            }
        }
    });
}

/// On x86: what store buffers can do, and nothing else. Locks are left out, because the model unlocks by a plain store, and
/// the C program by a locked instruction.
#[test]
fn programs_have_the_verdict_of_check_for_store_buffers() {
    use InstructionKind::{BlockingCas, Wait};
    let (compared, violated, only_rc20) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    try_generated("verify-tso", config(&[BlockingCas, Wait]), 400, &["-O2"], &[], |built| {
        if traces(built.program).is_none() || explored(built, false, true)?.verdict != Verdict::Holds {
            return Ok(());
        }
        let Some(holds) = checked(built.program, Model::Tso)? else { return Ok(()) };
        let verified = explored_under(JudgedModel::Tso, built, true, false)?.verdict;
        compared.fetch_add(1, Ordering::Relaxed);
        violated.fetch_add(usize::from(!holds), Ordering::Relaxed);
        if holds && checked(built.program, Model::Rc20)? == Some(false) {
            only_rc20.fetch_add(1, Ordering::Relaxed);
        }
        if verified != if holds { Verdict::Holds } else { Verdict::Violated } {
            return Err(format!("{}, but check holds: {holds}", verified.name()));
        }
        Ok(())
    });
    let [compared, violated, only_rc20] = [compared, violated, only_rc20].map(AtomicUsize::into_inner);
    println!("{compared} programs compared, {violated} of them violated, {only_rc20} under rc20 only");
    assert!(!is_default_run() || compilers().is_empty() || (compared > 200 && violated > 0 && only_rc20 > 0));
}

/// What the cheapest changes cost by `ravelin fence`; `None` if that is not known.
fn cost_of_fences(program: &Program, folder: &Path) -> Result<Option<u64>, String> {
    let model = folder.join("program.rav");
    std::fs::write(&model, print::rav(program)).map_err(|error| error.to_string())?;
    let mut fence = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    let answer = fence.args(["fence", "--model", "rc20", "--timeout", "60", "--format", "json"]).arg(&model).output();
    let text = answer.map_err(|error| error.to_string())?.stdout;
    let json: serde_json::Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    Ok(json["answers"][0]["sets"][0]["cost"].as_u64())
}

/// `verify` also offers seq_cst accesses, which are seldom cheaper, and changes both orders of a compare-exchange for the
/// price of one. Otherwise the offers and prices are the same.
#[test]
fn the_cheapest_changes_cost_as_much_as_those_of_fence() {
    let (compared, equal) = (AtomicUsize::new(0), AtomicUsize::new(0));
    try_generated("verify-fixes", config(&[]), 80, &["-O0", "-O2"], &["-g"], |built| {
        if traces(built.program).is_none() || checked(built.program, Model::Rc20)? != Some(false) {
            return Ok(());
        }
        let Some(cost) = cost_of_fences(built.program, built.folder)? else { return Ok(()) };
        let fixed = built.verify(&["--fix-all"])?;
        if fixed.code != 0 {
            return Err(format!("exit code {} with {}", fixed.code, fixed.answer));
        }
        let fixes: Vec<&str> =
            fixed.answer["fixes"].as_array().into_iter().flatten().filter_map(|fix| fix.as_str()).collect();
        let price = |fix: &&str| match fix.rsplit(':').next() {
            Some("fence") => 4,
            Some("acq_rel" | "seq_cst") => 2,
            _ => 1,
        };
        let found: u64 = fixes.iter().map(price).sum();
        let has_other_offers =
            print::rav(built.program).contains(".compare_exchange") || fixes.iter().any(|fix| fix.ends_with("seq_cst"));
        compared.fetch_add(1, Ordering::Relaxed);
        equal.fetch_add(usize::from(found == cost), Ordering::Relaxed);
        match found.cmp(&cost) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less if has_other_offers => Ok(()),
            _ => Err(format!("{fixes:?} cost {found}, but fence has a set that costs {cost}")),
        }
    });
    let (compared, equal) = (compared.into_inner(), equal.into_inner());
    println!("{compared} programs compared, {equal} of them cost the same");
    assert!(!is_default_run() || compilers().is_empty() || 2 * equal > compared);
}

/// Makes a run with a stale access. Says whether it is RC20-consistent.
fn is_consistent(built: &Built, schedule: &str) -> Result<bool, String> {
    let script: Script = schedule.parse().map_err(|error| format!("{error}"))?;
    let stale = script.stale.ok_or("nothing is stale in this schedule")?;
    let watch =
        WatchCommand { options: vec!["no-robustness".to_owned()], streams: Streams::none(), ..built.watch.clone() };
    let mut program = SteeredProgram::start(watch, true, 1000).map_err(|error| error.to_string())?;
    let run = program.run(&script).map_err(|error| error.to_string())?.ok_or("it was interrupted")?;
    // Choices are steps, and rounds of waiting loops are none. What only starts and joins threads orders nothing here.
    let steps: Vec<_> = run.run.events.iter().filter(|event| !event.is(flags::ROUND)).collect();
    let is_access =
        |index: &usize| matches!(steps[*index].operation.act, Act::Load | Act::Store | Act::Update | Act::Fence);
    let accesses: Vec<usize> = (0..steps.len()).filter(is_access).collect();
    let at = |step: usize| accesses.iter().position(|access| *access == step).ok_or("this step is no access");
    let events: Vec<_> = accesses.iter().map(|index| *steps[*index]).collect();
    let source = stale.source.map(at).transpose()?;
    Ok(is_consistent_with(&events, at(stale.step)?, source))
}

/// A run in which one access is stale is one of the behaviours that the model allows, to its end.
#[test]
fn runs_with_a_stale_access_are_consistent() {
    let tried = AtomicUsize::new(0);
    try_generated("verify-stale", config(&[]), 80, &["-O0", "-O2"], &["-g"], |built| {
        if traces(built.program).is_none() {
            return Ok(());
        }
        let verified = built.verify(&["--consequences"])?;
        for finding in verified.answer["findings"].as_array().into_iter().flatten() {
            for value in finding["consequence"]["values"].as_array().into_iter().flatten() {
                let schedule = value["schedule"].as_str().ok_or("a schedule")?;
                tried.fetch_add(1, Ordering::Relaxed);
                if !is_consistent(built, schedule)? {
                    return Err(format!("{schedule} is not consistent"));
                }
            }
        }
        Ok(())
    });
    let tried = tried.into_inner();
    println!("{tried} runs");
    assert!(!is_default_run() || compilers().is_empty() || tried > 20);
}
