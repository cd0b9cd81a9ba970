//! Figure 7 and section 6.1 of *Dynamic Robustness Verification against Weak Memory*: programs that are not robust, and robust versions of them,
//! by an exhaustive check (the paper's Rocker) and by watching runs (the paper's RSan).

use super::document::{Chapter, picture};
use super::overhead;
use super::plot::{Curve, CurveOrigin, Measure, Plot, add_point};
use super::row::{MeasurementEffort, SKIPPED, empty, guarded};
use crate::papers::rsan_2025 as paper;
use crate::questions::c11;
use crate::sanitizer::runs::{self, Violations, violations};
use crate::sanitizer::{BuildVariant, Instrumentation, RunCost, built, cost};
use crate::sources;
use crate::table::{MarkdownTable, count, seconds, seconds_or_stopped};
use anyhow::{Context, Result};
use ravelin_analysis::Verdict;
use ravelin_explore::Budget;
use ravelin_program::{Model, Program};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program of section 6.1 in our version, with as many threads as a constant says.
struct RsanSubject {
    /// As the paper calls it.
    name: &'static str,
    file: &'static str,
    robust: bool,
    constant: Option<&'static str>,
    /// Values of the constant, and the threads that are not counted by it.
    values: &'static [usize],
    besides: usize,
    /// What the paper says of it with so many threads, about Rocker and about RSan.
    says: fn(usize) -> [String; 2],
}

const SUBJECTS: [RsanSubject; 10] = [
    subject("dekker", "dekker", false, None, &[2], 0, |_| [String::new(), runs_needed(paper::RUNS_DEKKER_PETERSON)]),
    subject("peterson", "peterson", false, None, &[2], 0, |_| {
        [String::new(), runs_needed(paper::RUNS_DEKKER_PETERSON)]
    }),
    subject("eventCounters", "event-counters", false, Some("WORKERS"), &[1, 3, 5, 7], 1, |threads| {
        let runs = if threads == 8 { runs_needed(paper::RUNS_EVENT_COUNTERS_8) } else { String::new() };
        [String::new(), runs]
    }),
    subject("lamport", "lamport", false, Some("N"), &[2, 3, 4], 0, |threads| {
        let rocker = if threads >= paper::LAMPORT_OUT_OF_MEMORY { "more than 2 GB" } else { "" };
        [rocker.to_owned(), "at once".to_owned()]
    }),
    subject("seqlock", "seqlock", false, Some("WRITERS"), &[2, 3], 1, |_| {
        [String::new(), "not found in an hour".to_owned()]
    }),
    subject("dekker", "dekker-fixed", true, None, &[2], 0, |_| robust_programs()),
    subject("peterson", "peterson-fixed", true, None, &[2], 0, |_| robust_programs()),
    subject("eventCounters", "event-counters-fixed", true, Some("WORKERS"), &[1, 3, 5, 7], 1, |_| robust_programs()),
    subject("lamport", "lamport-fixed", true, Some("N"), &[2, 3], 0, |_| nothing()),
    subject("seqlock", "seqlock-fixed", true, Some("WRITERS"), &[2, 3], 1, |_| nothing()),
];

const fn subject(
    name: &'static str,
    file: &'static str,
    robust: bool,
    constant: Option<&'static str>,
    values: &'static [usize],
    besides: usize,
    says: fn(usize) -> [String; 2],
) -> RsanSubject {
    RsanSubject { name, file, robust, constant, values, besides, says }
}

fn runs_needed(runs: u32) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

/// Of robust versions of these two the paper does not speak.
fn nothing() -> [String; 2] {
    [String::new(), String::new()]
}

fn robust_programs() -> [String; 2] {
    let ([least, most], [fast, slow]) = (paper::ROBUST_ROCKER_MB, paper::ROBUST_ROCKER_SECONDS);
    [
        format!("{least} to {most} MB, {fast} to {slow} s"),
        format!("{} MB, {} s a run", paper::ROBUST_RUN_MB, paper::ROBUST_RUN_SECONDS),
    ]
}

/// How often a program runs under each schedule. The paper's most is 30.
const RUNS: usize = 100;
/// What the C programs are run with: a seed for their choices, how often a thread may jump back, and how long threads may wait for each other.
const WORDS: [&str; 3] = ["1", "3", "100"];

pub fn chapter(effort: &MeasurementEffort, ravelin: Option<&Path>) -> Chapter {
    let mut text = String::from(
        "## Dynamic Robustness Verification against Weak Memory (2025), figure 7 and sections 6.1 and 6.3\n\n\
         Margalit, Kokologiannakis, Itzhaky, Lahav, PLDI 2025; measured there with Rocker, a static checker over SPIN, and RSan, a sanitizer, on an Intel Xeon Gold 6132 at 2.60 GHz, with \
         limits of an hour and 2 GB. Figure 7 is curves whose values are not printed; what the text says of them is shown. Our versions of the programs are in `examples/robustness-c11/`, \
         with another constant where they have more threads; the paper's have more rounds and other sizes, so times are comparable in order of magnitude only.\n\n",
    );
    let mut unexplained = Vec::new();
    let mut curves = Curves::default();
    text += &exhaustive(effort, &mut curves, &mut unexplained);
    let ravelin = match ravelin {
        _ if effort.quick => Err(SKIPPED.to_owned()),
        Some(path) => std::path::absolute(path).map_err(|error| format!("failed: {error}")),
        // Compiling takes as long as it takes; it is no measurement.
        None => built().map_err(|error| format!("failed: {error}")),
    };
    text += &watched(effort, &ravelin, &mut curves, &mut unexplained);
    text += &picture("rsan-figure-7-time", "Time until a violation is found, by threads");
    text += &picture("rsan-figure-7-memory", "Memory until a violation is found, by threads");
    text += &overhead::section(effort, &ravelin);
    Chapter { paper: "003", text, plots: curves.plots(), unexplained }
}

/// The check of all executions.
fn exhaustive(effort: &MeasurementEffort, curves: &mut Curves, unexplained: &mut Vec<String>) -> String {
    let mut table =
        MarkdownTable::new(&["program", "threads", "file", "answer", "states", "memory", "time", "paper, Rocker"]);
    for subject in &SUBJECTS {
        for &value in subject.values {
            let threads = value + subject.besides;
            let (file, constant, limit) = (subject.file, subject.constant, effort.limit);
            let repetitions = effort.repetitions;
            let asked = guarded(effort, &format!("check of {file} with {threads} threads"), move || {
                let budget = Budget::unlimited().time(limit).memory(4 << 30);
                c11::measure(&program(file, constant, value)?, Model::Rc20, budget, repetitions)
            });
            let (answer, time) = match asked {
                Ok(asked) => asked,
                Err(problem) => {
                    table.row(empty(subject.name, &problem, 8));
                    continue;
                }
            };
            let expected = if subject.robust { Verdict::Holds } else { Verdict::Violated };
            let mut word = c11::word(&answer).to_owned();
            if answer.verdict != expected {
                word = format!("**{word}**");
                if answer.verdict != Verdict::Unknown {
                    unexplained.push(format!("{file} with {threads} threads: {}", c11::word(&answer)));
                }
            }
            let megabytes = answer.statistics.bytes as f64 / 1e6;
            if let Some(time) = time.filter(|_| answer.verdict == expected) {
                curves.add(subject, RsanMethod::Check, threads, time, megabytes);
            }
            table.row(vec![
                subject.name.to_owned(),
                threads.to_string(),
                format!("`{file}.rav`"),
                word,
                count(answer.statistics.states),
                format!("{megabytes:.1} MB"),
                seconds_or_stopped(time),
                (subject.says)(threads)[0].clone(),
            ]);
        }
    }
    format!(
        "### Section 6.1 and figure 7: the exhaustive check\n\n\
         Obtained by `ravelin check FILE --model rc20`: processor time of one worker and the memory of the search, until the first violation or for all executions. The paper says of Rocker that it \
         often needs minutes and gigabytes where there is a violation; beside the robust versions stands what it needs for all of them.\n\n{table}\n"
    )
}

/// Runs under the sanitizer.
fn watched(
    effort: &MeasurementEffort,
    ravelin: &Result<PathBuf, String>,
    curves: &mut Curves,
    unexplained: &mut Vec<String>,
) -> String {
    let mut table = MarkdownTable::new(&[
        "program",
        "threads",
        "file",
        "os: first run",
        "of 100",
        "random: first run",
        "of 100",
        "time a run",
        "memory a run",
        "paper, RSan",
    ]);
    for subject in &SUBJECTS {
        for &value in subject.values {
            let threads = value + subject.besides;
            let (file, constant, effort_of_run) = (subject.file, subject.constant, *effort);
            let asked = ravelin.clone().and_then(|ravelin| {
                let what = format!("runs of {file} with {threads} threads");
                guarded(effort, &what, move || run(&ravelin, &program(file, constant, value)?, &effort_of_run))
            });
            let (found, cost) = match asked {
                Ok(asked) => asked,
                Err(problem) => {
                    table.row(empty(subject.name, &problem, 10));
                    continue;
                }
            };
            let mut cells = vec![subject.name.to_owned(), threads.to_string(), format!("`{file}.rav`")];
            for (schedule, Violations { most, first }) in ["os", "random"].into_iter().zip(found) {
                let shown = first.map_or_else(|| "–".to_owned(), |first| first.to_string());
                // A run can miss a violation; it cannot show one of a robust program.
                if subject.robust && first.is_some() {
                    unexplained.push(format!("{file} with {threads} threads: a violation under {schedule}"));
                    cells.push(format!("**{shown}**"));
                } else {
                    cells.push(shown);
                }
                cells.push(most.to_string());
            }
            let megabytes = cost.memory as f64 * 1024.0 / 1e6;
            if let Some(first) = found[0].first.or(found[1].first) {
                curves.add(subject, RsanMethod::Run, threads, cost.time * first as u32, megabytes);
            }
            cells.extend([seconds(cost.time), format!("{megabytes:.1} MB"), (subject.says)(threads)[1].clone()]);
            table.row(cells);
        }
    }
    format!(
        "### Section 6.1 and figure 7: runs under the sanitizer\n\n\
         Obtained from `ravelin convert FILE --to c`, `ravelin cc` and `ravelin run --schedule os|random --runs {RUNS}`: the first run that showed a violation, and in how many runs the most frequent \
         one turned up, under the operating system's schedules and under a random walk (seeds 1 to {RUNS}). Medians of the processor time and of the most memory of a run under the operating system's; memory below 5 MB is that of the process which starts it. A dash: none in {RUNS} runs, as it must \
         be for the robust versions. What the operating system does differs from run to run.\n\n{table}\n"
    )
}

fn program(file: &str, constant: Option<&str>, value: usize) -> Result<Program> {
    let path = format!("robustness-c11/{file}.rav");
    match constant {
        Some(constant) => sources::example_with(&path, constant, value),
        None => sources::example(&path),
    }
}

/// What runs under the schedules of the operating system and of a random walk show, and the medians of what a run costs.
fn run(ravelin: &Path, program: &Program, effort: &MeasurementEffort) -> Result<([Violations; 2], RunCost)> {
    let folder = std::env::temp_dir().join(format!("ravelin-tables-{}-runs", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("findings")).context("no directory")?;
    let done = run_in(&folder, ravelin, program, effort);
    let _ = std::fs::remove_dir_all(&folder);
    done
}

fn run_in(
    folder: &Path,
    ravelin: &Path,
    program: &Program,
    effort: &MeasurementEffort,
) -> Result<([Violations; 2], RunCost)> {
    let source: PathBuf = folder.join("program.c");
    std::fs::write(&source, ravelin_frontend::print::c(program)?).context("no directory")?;
    let executable = runs::compile(ravelin, &source, &[], folder)?;
    let subject = runs::WatchedProgram { name: String::new(), source, flags: Vec::new(), arguments: &WORDS };
    // A hundred runs, in which threads may wait for each other until their patience ends, are one question.
    let all_runs = effort.limit * 4;
    let [os, random] =
        ["os", "random"].map(|schedule| violations(ravelin, &executable, schedule, &subject, RUNS, folder, all_runs));
    let build = BuildVariant { compiler: "gcc", kind: Instrumentation::Ravelin };
    let run = |_| cost(build, &executable, &WORDS, &folder.join("findings"), effort.limit);
    let costs = (0..effort.repetitions).map(run).collect::<Result<Vec<RunCost>>>()?;
    Ok(([os?, random?], RunCost::median(&costs)))
}

#[derive(Clone, Copy)]
enum RsanMethod {
    Check,
    Run,
}

/// What the two pictures of figure 7 show: programs that are not robust and grow.
#[derive(Default)]
struct Curves {
    time: Vec<Curve>,
    memory: Vec<Curve>,
}

impl Curves {
    fn add(&mut self, subject: &RsanSubject, way: RsanMethod, threads: usize, time: Duration, megabytes: f64) {
        if subject.robust || subject.values.len() < 2 {
            return;
        }
        let way = match way {
            RsanMethod::Check => "check",
            RsanMethod::Run => "run",
        };
        let name = format!("{way}: {}", subject.name);
        for (curves, value) in [(&mut self.time, time.as_secs_f64()), (&mut self.memory, megabytes)] {
            add_point(curves, &name, CurveOrigin::Ours, (threads as f64, value));
        }
    }

    fn plots(mut self) -> Vec<(&'static str, Plot)> {
        let paper = |name: &str, points: &[(f64, f64)]| Curve {
            name: name.to_owned(),
            origin: CurveOrigin::Paper,
            points: points.to_vec(),
        };
        // The text says that neither depends on the number of threads.
        let constant = |value| [(2.0, value), (8.0, value)];
        self.time.push(paper("RSan: a run (paper)", &constant(paper::ROBUST_RUN_SECONDS)));
        self.memory.push(paper("RSan: a run (paper)", &constant(paper::ROBUST_RUN_MB)));
        let beyond = (paper::LAMPORT_OUT_OF_MEMORY as f64, paper::ROBUST_ROCKER_MB[1]);
        self.memory.push(paper("Rocker: lamport, more", &[beyond]));
        let plot = |title: &str, up, curves| Plot { title: title.to_owned(), across: "threads", up, curves };
        vec![
            ("rsan-figure-7-time", plot("Until a violation is found (figure 7, time)", Measure::Seconds, self.time)),
            (
                "rsan-figure-7-memory",
                plot("Until a violation is found (figure 7, memory)", Measure::Megabytes, self.memory),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::EXACT;
    use super::*;

    #[test]
    fn programs_are_robust_or_not_as_the_paper_has_them() {
        for subject in SUBJECTS {
            let value = subject.values[0];
            let program = program(subject.file, subject.constant, value).unwrap();
            assert_eq!(program.threads.len(), value + subject.besides, "{}", subject.file);
            let budget = Budget::unlimited().time(EXACT.limit);
            let (answer, _) = c11::measure(&program, Model::Rc20, budget, EXACT.repetitions).unwrap();
            assert_eq!(c11::word(&answer), if subject.robust { "robust" } else { "not robust" }, "{}", subject.file);
        }
    }

    #[test]
    fn pictures_have_the_papers_numbers_even_if_nothing_was_measured() {
        for (name, plot) in Curves::default().plots() {
            assert!(plot.curves.iter().all(|curve| curve.origin == CurveOrigin::Paper), "{name}");
            assert!(!plot.svg().contains("nothing was measured"), "{name}");
        }
    }
}
