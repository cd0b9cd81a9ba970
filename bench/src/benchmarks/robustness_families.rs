//! Every engine on families of programs that grow: how long each takes to the first violation, or to the proof that there is
//! none, and how the default compares with the best of them.

use crate::families::Family;
use crate::measure::{process_time, ratio, repeated, timed};
use crate::questions::robustness::{every_attack, first_attack};
use crate::sources;
use crate::table::{MarkdownTable, count, seconds_or_stopped};
use anyhow::{Result, ensure};
use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{RobustnessAnswer, RobustnessEngine, RobustnessQuestion, robustness};
use ravelin_explore::Budget;
use ravelin_frontend::Language;
use ravelin_program::Program;
use std::path::PathBuf;
use std::time::Duration;

/// What the default may take beyond twice the time of the best engine.
const GRACE: Duration = Duration::from_millis(10);
/// How long one question may take.
const LONGEST: Duration = Duration::from_secs(10);
/// How many bytes.
const LARGEST: u64 = 3 << 30;

/// Two tables for the families, and two for the files of some folders: the first violation, and every attack settled.
pub fn families(most_threads: usize, folders: &[PathBuf], repetitions: usize) -> Result<()> {
    println!("## Families\n");
    println!(
        "Each family of `bench/src/families` as the number of its threads grows, asked of every engine, in processor time. States: of \
         the default, `shared`. Ratio: its time over that of the better of the others; in bold if it takes more than twice as long \
         and 10 ms. An engine that takes more than {} s or {} GB is stopped.\n",
        LONGEST.as_secs(),
        LARGEST >> 30
    );
    for (title, ask) in QUESTIONS {
        println!("### {title}\n");
        let mut contest = Contest::new(&["family", "threads"], ask, repetitions);
        for family in Family::ALL {
            for threads in 2..=most_threads {
                let expected = if family.robust { Verdict::Holds } else { Verdict::Violated };
                let names = [family.name.to_owned(), threads.to_string()];
                let (verdict, is_settled) = contest.enter(&family.program(threads)?, &names)?;
                ensure!(!is_settled || verdict == expected, "{names:?}: a wrong answer");
                if !is_settled {
                    break;
                }
            }
        }
        println!("{}", contest.table);
    }
    for folder in folders {
        for (title, ask) in QUESTIONS {
            println!("### {}: {title}\n", folder.display());
            let mut contest = Contest::new(&["file"], ask, repetitions);
            for path in sources::files(folder, "txt")?.into_iter().chain(sources::files(folder, "rav")?) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let language = Language::from_path(&path).unwrap_or(Language::Trencher);
                contest.enter(&sources::read(&path, language)?, &[name])?;
            }
            println!("{}", contest.table);
        }
    }
    Ok(())
}

type Ask = fn(RobustnessEngine) -> RobustnessQuestion<'static>;

const QUESTIONS: [(&str, Ask); 2] =
    [("The first violation, or the proof that there is none", first_attack), ("Every attack", every_attack)];

/// One question, asked of every engine about program after program.
struct Contest {
    ask: Ask,
    repetitions: usize,
    others: Vec<RobustnessEngine>,
    table: MarkdownTable,
}

impl Contest {
    /// `names`: the columns in which programs are named.
    fn new(names: &[&str], ask: Ask, repetitions: usize) -> Contest {
        let default = RobustnessEngine::default();
        let others: Vec<_> = RobustnessEngine::ALL.into_iter().filter(|engine| *engine != default).collect();
        let mut head = [names, &["answer", "states", default.name()]].concat();
        head.extend(others.iter().map(|engine| engine.name()));
        head.push("ratio");
        Contest { ask, repetitions, others, table: MarkdownTable::new(&head) }
    }

    /// Asks about a program. Returns what the default answered, and whether it did in time.
    fn enter(&mut self, program: &Program, names: &[String]) -> Result<(Verdict, bool)> {
        eprintln!("{}", names.join(" "));
        let (answer, default) = measure(program, (self.ask)(RobustnessEngine::default()), self.repetitions)?;
        let mut best: Option<Duration> = None;
        let mut row = names.to_vec();
        row.extend([word(answer.verdict).to_owned(), count(answer.explored.states), seconds_or_stopped(default)]);
        for &engine in &self.others {
            let (_, time) = measure(program, (self.ask)(engine), self.repetitions)?;
            best = [best, time].into_iter().flatten().min();
            row.push(seconds_or_stopped(time));
        }
        row.push(match (default, best) {
            (Some(default), Some(best)) if default <= 2 * best + GRACE => format!("{:.1}", ratio(default, best)),
            (Some(default), Some(best)) => format!("**{:.1}**", ratio(default, best)),
            (None, Some(best)) => format!("**more than {:.0}**", ratio(LONGEST, best)),
            (_, None) => String::new(),
        });
        self.table.row(row);
        Ok((answer.verdict, default.is_some()))
    }
}

fn measure(
    program: &Program,
    question: RobustnessQuestion,
    repetitions: usize,
) -> Result<(RobustnessAnswer, Option<Duration>)> {
    let question = RobustnessQuestion { budget: Budget::unlimited().time(LONGEST).memory(LARGEST), ..question };
    repeated(
        repetitions,
        |answer: &RobustnessAnswer| answer.limit.is_some(),
        || {
            let (answer, time) = timed(process_time, || robustness(program, &question));
            Ok((answer?, time))
        },
    )
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "robust",
        Verdict::Violated => "not robust",
        Verdict::Unknown => "unknown",
    }
}
