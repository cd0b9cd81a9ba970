//! What a proof for any number of threads costs: the known cases, how they grow with their domains, and beside the exploration of one
//! instance with four copies.

use crate::command::made_by;
use crate::measure::{REPETITIONS, machine, repeated, repetitions, timed, wall_time};
use crate::questions::reach::letter;
use crate::sources;
use crate::table::{MarkdownTable, count, seconds_or_stopped};
use anyhow::{Result, bail};
use ravelin_analysis::Verdict;
use ravelin_analysis::parameterised::{reach_by_proof, robust_by_nets};
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer};
use ravelin_analysis::robustness::{RobustnessQuestion, robustness};
use ravelin_explore::Budget;
use ravelin_frontend::Language;
use ravelin_program::{Model, Program};

#[derive(clap::Args)]
pub struct Arguments {
    /// Seconds after which a search is stopped
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// How often each question is asked; the median counts
    #[arg(long, default_value_t = REPETITIONS, value_parser = repetitions())]
    repetitions: usize,
}

/// Copies in the instance that is explored for comparison.
const COPIES: usize = 4;

/// Programs that grow: file, the text that is replaced, what grows, and the replacements.
const GROWTH: [(&str, &str, &str, &[usize]); 3] = [
    ("ticket-lock.rav", "0..4", "tickets of the ticket lock", &[2, 3, 4, 6, 8]),
    ("spinlock.rav", "0..4", "values behind the spinlock", &[2, 4, 8, 16]),
    ("readers-writer-lock.rav", "const READERS = 3", "readers that may be in", &[1, 2, 3, 4, 6]),
];

pub fn run(arguments: &Arguments) -> Result<()> {
    println!("# What a proof for any number of threads costs\n");
    println!(
        "{} Wall-clock time on one core, the median of {} runs; a search is stopped after {} s and then not repeated. The \
         columns *any number* are by coverability alone, without the look at small instances that comes first; if the answer is *violated*, \
         they include the search for the smallest instance, which is named. The columns *× {COPIES}* explore the instance with {COPIES} copies of \
         each template. h: holds or robust, v: violated or not robust, ?: stopped; then the time, and markings, constraints or states.\n",
        made_by(),
        arguments.repetitions,
        arguments.timeout
    );
    println!("{}\n", machine());
    println!("## Known cases\n");
    let mut table = head("program");
    for path in sources::files(&crate::root().join("examples/any-number"), "rav")? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("{name}");
        table.row(row(&name, &sources::read(&path, Language::Rav)?, arguments));
    }
    println!("{table}");
    println!("## Growth\n");
    for (file, replaced, title, values) in GROWTH {
        println!("The {title} (`examples/any-number/{file}`):\n");
        let text = sources::text(&crate::root().join("examples/any-number").join(file))?;
        let mut table = head("N");
        for &value in values {
            eprintln!("{file} with {value}");
            let with = match replaced.starts_with("const") {
                true => text.replace(replaced, &format!("const READERS = {value}")),
                // The modulus of the counter, too.
                false => text.replace(replaced, &format!("0..{value}")).replace("% 4", &format!("% {value}")),
            };
            table.row(row(&value.to_string(), &sources::parse(file, with)?, arguments));
        }
        println!("{table}");
    }
    Ok(())
}

fn head(first: &str) -> MarkdownTable {
    let instance = |what: &str| format!("{what} × {COPIES}");
    let [robust, sc, tso] = ["robust", "reach sc", "reach tso"];
    let any = |what: &str| format!("{what}, any number");
    let cells = [robust, sc, tso].map(|what| [any(what), instance(what)]).concat();
    let cells: Vec<&str> = std::iter::once(first).chain(cells.iter().map(String::as_str)).collect();
    MarkdownTable::new(&cells)
}

fn row(name: &str, program: &Program, arguments: &Arguments) -> Vec<String> {
    let instance = program.instance(COPIES);
    let mut cells = vec![name.to_owned()];
    cells.push(measured(arguments, || robust(program, arguments, true)));
    cells.push(measured(arguments, || robust(&instance, arguments, false)));
    for model in [Model::Sc, Model::Tso] {
        cells.push(measured(arguments, || reach(program, model, arguments, true)));
        cells.push(measured(arguments, || reach(&instance, model, arguments, false)));
    }
    cells
}

/// What was answered.
struct ParameterisedResult {
    verdict: Verdict,
    /// Markings, constraints or states.
    number: u64,
    /// The smallest that is violated, with a comma before it; empty if there is none.
    instance: String,
    met_limit: bool,
}

/// An answer with its time in a cell, or why there is none.
fn measured(arguments: &Arguments, ask: impl Fn() -> Result<ParameterisedResult>) -> String {
    let asked = repeated(
        arguments.repetitions,
        |found: &ParameterisedResult| found.met_limit,
        || {
            let (found, time) = timed(wall_time, &ask);
            Ok((found?, time))
        },
    );
    match asked {
        Err(refused) => refused.to_string(),
        Ok((ParameterisedResult { verdict, number, instance, .. }, time)) => {
            format!("{} {} ({}){instance}", letter(verdict), seconds_or_stopped(time), count(number))
        }
    }
}

fn budget(arguments: &Arguments) -> Budget<'static> {
    Budget::seconds(arguments.timeout).memory(4 << 30)
}

fn robust(program: &Program, arguments: &Arguments, any: bool) -> Result<ParameterisedResult> {
    let question = RobustnessQuestion { budget: budget(arguments), ..RobustnessQuestion::new(Model::Tso) };
    let found = if any { robust_by_nets(program, &question) } else { robustness(program, &question) }?;
    let instance = found.any_number.as_ref().and_then(|any| any.instance.as_ref());
    let instance = instance.map(|instance| format!(", {}", instance.show())).unwrap_or_default();
    let markings = found.any_number.as_ref().map(|any| any.nets.iter().map(|net| net.counts.kept).sum::<u64>());
    let number = markings.unwrap_or(found.explored.states);
    Ok(ParameterisedResult { verdict: found.verdict, number, instance, met_limit: found.limit.is_some() })
}

fn reach(program: &Program, model: Model, arguments: &Arguments, any: bool) -> Result<ParameterisedResult> {
    let has_goals = !program.goals.is_empty();
    let asserts = program.threads.iter().flat_map(|thread| &thread.transitions);
    let asserts = asserts.filter(|step| matches!(step.instruction, ravelin_program::Instruction::Assert(_))).count();
    if !has_goals && asserts == 0 {
        bail!("–");
    }
    let question = ReachabilityQuestion { budget: budget(arguments), ..ReachabilityQuestion::new(model) };
    let found = if any { reach_by_proof(program, &question) } else { answer(program, &question, ReachEngine::Auto) }?;
    let instance = found.any_number.as_ref().and_then(|any| any.instance.as_ref());
    let instance = instance.map(|instance| format!(", {}", instance.show())).unwrap_or_default();
    let reachability = found.reachability;
    let (verdict, number) = (reachability.verdict, reachability.statistics.states);
    Ok(ParameterisedResult { verdict, number, instance, met_limit: reachability.limit.is_some() })
}
