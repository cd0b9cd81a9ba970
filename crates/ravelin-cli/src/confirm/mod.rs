//! `ravelin confirm`: a witness under tso, shown on this machine.
//!
//! The witness comes from a report, or from asking `reach` and `check` about a program (`target.rs`). The library makes tests of it
//! (`ravelin::confirm`), `machine.rs` compiles and runs them, and `folder.rs` leaves them for another machine.

mod folder;
mod machine;
mod target;

use crate::arguments::{InputOptions, Output};
use crate::ask::Answers;
use crate::exit::Exit;
use crate::input;
use crate::named::named;
use clap::Args;
use machine::Compiler;
use ravelin::answer::{ConfirmOutcome, Confirmation, FencedTest, HardwareTest, Limit, NoAnswer, Verdict};
use ravelin::confirm::{MachineTest, TestPlan};
use ravelin::{Answer, Budget, Limits, Model, usual_memory, usual_workers};
use ravelin_output::complain;
use ravelin_process::interrupt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use target::{Question, Target};

const CONFIRM_HELP: &str = "\
The outcome of the witness is looked for with `mov`, `lock` and `mfence` in the order of the program, one thread per core. A second
test has the fences that `ravelin fence` finds, and must not show it. Of a report of `verify` or `run --model tso` the cycle of a finding
is tested, without fences that are between its accesses in the program.

Exit codes: 0 x86 forbids the outcome, 1 it was seen (or one that the model forbids, which is said first), 2 the input or the
command line is wrong or there is nothing to confirm, 3 the model allows it and it was not seen.";

#[derive(Debug, Args)]
#[command(after_help = CONFIRM_HELP)]
pub struct Confirm {
    /// A program, or a report of `--format json` of check, reach, states, run or verify; `-` reads standard input
    #[arg(value_name = "FILE|REPORT")]
    pub file: PathBuf,
    #[command(flatten)]
    pub input: InputOptions,
    /// What gives the witness of a program: `reach`, `check` or `states`; `auto` asks reach, and then check
    #[arg(long, default_value = "auto", value_name = "QUESTION", value_parser = named(&Question::ALL, Question::name))]
    pub question: Question,
    /// How long to run until the outcome is seen, and at most to compile a C file before: seconds, or such as 90s, 5m, 1h [default: 5s, and no limit to compile]
    #[arg(long, value_name = "TIME", value_parser = ravelin::parse_time)]
    pub timeout: Option<Duration>,
    /// How long to run the test with fences, after the outcome was seen; 0 omits it
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = ravelin::parse_time)]
    pub fenced: Duration,
    /// The C compiler [default: gcc, or clang if there is no gcc]
    #[arg(long, value_name = "COMPILER")]
    pub cc: Option<String>,
    /// Leave the programs in this folder (new, empty, or of an earlier --keep), with a Makefile and a README, to be run on another machine
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Stop looking for a witness after this number of states
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    #[command(flatten)]
    pub output: Output,
}

/// How long a test runs.
const USUAL_TIME: Duration = Duration::from_secs(5);

pub fn run(arguments: &Confirm) -> anyhow::Result<Exit> {
    let Confirm { file: path, output, .. } = arguments;
    output.refuse_herd()?;
    output.refuse_sarif("confirm")?;
    output.pages.check()?;
    if let Some(folder) = &arguments.keep {
        folder::check(folder)?;
    }
    interrupt::stop();
    let file = path.display().to_string();
    let mut answers = Answers::new("confirm", output, false);
    let limits = Limits { states: arguments.max_states, memory: usual_memory(), ..Limits::default() };
    let text = match answers.read(&file, limits, || ravelin_process::input::read(path)) {
        Ok(text) => text,
        Err(error) => {
            answers.without_input(file, error.into())?;
            return answers.conclude();
        }
    };
    let budget = Budget { limits, ..Budget::default() }.workers(usual_workers());
    let found = if text.trim_start().starts_with('{') && arguments.input.from.is_none() {
        answers.ask(&file, Some(Model::Tso), budget, |budget| Target::of_report(&text, budget))
    } else {
        match answers.read(&file, limits, || input::parse(path, text, &arguments.input.reading(arguments.timeout))) {
            Ok(program) => {
                answers.sources.push((file.clone(), program.text().to_owned()));
                let question = |budget: Budget| Target::of_program(&program, arguments.question, budget);
                answers.ask(&file, Some(Model::Tso), budget, question)
            }
            Err(error) => {
                answers.without_input(file, error)?;
                return answers.conclude();
            }
        }
    };
    let answer = match found {
        // What was not found then says nothing.
        Err(_) if interrupt::is_asked() => Ok(Answer::None(NoAnswer::interrupted(&file, Some(Model::Tso), None))),
        found => found.and_then(|target| confirmed(arguments, &file, target)),
    };
    match answer {
        Ok(answer) => answers.add(Exit::of(&answer), answer, &|answer, style| answer.text(style))?,
        Err(error) => {
            complain!("error: {file}: {error:#}");
            answers.fail(NoAnswer::error(&file, format!("{error:#}")));
        }
    }
    answers.conclude()
}

/// Shows it on this machine, unless the model forbids it.
fn confirmed(arguments: &Confirm, file: &str, target: Target) -> anyhow::Result<Answer> {
    let Target { source, sentence, notes, plan, witness } = target;
    let mut answer = Confirmation {
        file: file.to_owned(),
        model: Model::Tso,
        verdict: Verdict::Holds,
        outcome: ConfirmOutcome::Forbidden,
        source: source.to_owned(),
        sentence,
        notes,
        tests: Vec::new(),
        limit: None,
        witness,
    };
    if let TestPlan::Tests(tests) = plan {
        if let Some(folder) = &arguments.keep {
            folder::keep(folder, file, &tests)?;
        }
        show(arguments, &tests, &mut answer)?;
    }
    answer.verdict = answer.outcome.verdict();
    Ok(Answer::Confirmation(Box::new(answer)))
}

/// Runs one test after the other until one shows its outcome, and then that one with fences.
fn show(arguments: &Confirm, tests: &[MachineTest], answer: &mut Confirmation) -> anyhow::Result<()> {
    answer.outcome = ConfirmOutcome::NotSeen;
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        answer
            .notes
            .push("Nothing was run: this machine is not x86-64 with Linux (--keep writes the programs).".to_owned());
        return Ok(());
    }
    let Some(compiler) = Compiler::find(arguments.cc.as_deref())? else {
        answer.limit = Some(Limit::Interrupted);
        return Ok(());
    };
    answer.notes.extend(shared_cores(tests));
    let end = Instant::now() + arguments.timeout.unwrap_or(USUAL_TIME);
    for (number, test) in tests.iter().enumerate() {
        if interrupt::is_asked() {
            break;
        }
        let Some(program) = compiler.compile(&test.program)? else { break };
        let left = end.saturating_duration_since(Instant::now());
        let share = left / (tests.len() - number) as u32;
        let measured = program.run(test, share, true)?;
        let (seen, forbidden) = (measured.seen > 0, measured.forbidden > 0);
        let mut told = HardwareTest {
            part: test.part,
            method: test.method,
            threads: test.threads.clone(),
            wanted: test.wanted.clone(),
            measured,
            fenced: None,
        };
        if let (true, false, Some(fenced)) = (seen && !interrupt::is_asked(), arguments.fenced.is_zero(), &test.fenced)
            && let Some(program) = compiler.compile(&fenced.program)?
        {
            let measured = program.run(fenced, arguments.fenced, false)?;
            told.fenced = Some(FencedTest { fences: fenced.fences.clone(), measured });
        }
        let fenced_forbidden = told.fenced.as_ref().is_some_and(|fenced| fenced.measured.forbidden > 0);
        answer.tests.push(told);
        if forbidden || fenced_forbidden {
            answer.outcome = ConfirmOutcome::ModelBroken;
            break;
        }
        if seen {
            answer.outcome = ConfirmOutcome::Seen;
            break;
        }
    }
    if interrupt::is_asked() {
        answer.limit = Some(Limit::Interrupted);
    }
    Ok(())
}

/// What has to be said if the largest test has more threads than there are cores.
fn shared_cores(tests: &[MachineTest]) -> Option<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = tests.iter().map(|test| test.threads.len()).max().filter(|&threads| threads > cores)?;
    Some(format!(
        "{threads} threads share {cores} of this machine's cores: outcomes that need all of them to run at the same time could not be tried."
    ))
}
