//! C files as models: what lifting costs without the compiler, and how many states a lifted model has beside one that
//! was written by hand.

use crate::command::made_by;
use crate::measure::{
    REPETITIONS, machine, process_time, repeated, repetitions, thread_time, timed, wall_time, what_times_are,
};
use crate::questions::reach::ask;
use crate::sources;
use crate::table::{MarkdownTable, count, judged, seconds};
use anyhow::{Context, Result, ensure};
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_analysis::reachability::{PortfolioAnswer, ReachEngine, ReachabilityQuestion};
use ravelin_explore::Budget;
use ravelin_frontend::c::{LiftOptions, lift};
use ravelin_frontend::{Language, render};
use ravelin_program::{Model, Program, Source};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// The compiler
    #[arg(long, default_value = "clang", value_name = "PROGRAM")]
    clang: String,
    /// Sources of libvsync, whose tests of locks are lifted too: a small file with some hundred lines of headers
    #[arg(long, value_name = "FOLDER")]
    libvsync: Option<PathBuf>,
    /// Seconds after which a search is stopped
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// How often each file is lifted; the median counts
    #[arg(long, default_value_t = REPETITIONS, value_parser = repetitions())]
    repetitions: usize,
}

/// What lifting 300 lines may take.
const LONG: f64 = 0.3;
/// How many times the states of the model that was written by hand the lifted one may have.
const LARGE: f64 = 1.5;
/// As `docs/c-models.md` says.
const FLAGS: [&str; 9] = [
    "-S",
    "-emit-llvm",
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-g",
    "-fno-discard-value-names",
    "-w",
    "-D__RAVELIN__",
];
/// Tests of libvsync: two threads take a lock.
const LOCKS: [&str; 5] = ["caslock", "clhlock", "mcslock", "ticketlock", "ttaslock"];
/// Programs of the manual of GenMC, written anew: file, flags, and the time that the manual shows in seconds.
const OF_GENMC: [(&str, &str, &[&str], f64); 4] = [
    ("mp.c", "message-passing.c", &[], 0.02),
    ("mp-assume.c", "message-passing.c", &["-DASSUME"], 0.02),
    ("mp-error.c", "message-passing.c", &["-DPUBLISH=memory_order_relaxed"], 0.02),
    ("bam.c", "barrier.c", &[], 0.01),
];
const OF_LIBVSYNC: [&str; 5] =
    ["-DVATOMIC_BUILTINS", "-DNTHREADS=2", "-DVSYNC_DISABLE_POLITE_AWAIT", "-Iinclude", "-Ivatomic/include"];

pub fn run(arguments: &Arguments) -> Result<()> {
    let folder = crate::root().join("examples/c/models");
    println!("# C files as models: time and states\n");
    println!(
        "{} Clang compiles each file before, which is not counted; times of lifting are processor time, {}.\n",
        made_by(),
        what_times_are(arguments.repetitions)
    );
    println!("{}\n", machine());
    println!("## Lifting\n");
    println!(
        "Lines without comments and blank lines after the preprocessor, without those of the system's headers; lines of IR. Promised: \
         300 lines in less than {LONG} s.\n"
    );
    let files = sources::files(&folder, "c")?;
    let mut table = MarkdownTable::new(&["file", "lines", "lines of IR", "lifting"]);
    let mut pairs = Vec::new();
    for path in files {
        let compiled = Compiled::new(arguments, &path, Path::new("."), &[])?;
        let program = row(arguments, &compiled, &mut table)?;
        let written = sources::read(&path.with_extension("rav"), Language::Rav)?;
        pairs.push((compiled.name, program, written));
    }
    if let Some(sources) = &arguments.libvsync {
        for lock in LOCKS {
            let path = PathBuf::from(format!("test/spinlock/{lock}.c"));
            let flags = [&OF_LIBVSYNC[..], &["-Itest/include"]].concat();
            row(arguments, &Compiled::new(arguments, &path, sources, &flags)?, &mut table)?;
        }
    }
    println!("{table}");
    println!("## States\n");
    println!(
        "Of the model lifted from each C file of `examples/c/models`, and of its twin that was written by hand: `reach --model sc` and \
         `check --model rc20`. A search ends with the first violation. Promised: a ratio of at most {LARGE}.\n"
    );
    let heading = ["program", "sc lifted", "sc by hand", "ratio", "rc20 lifted", "rc20 by hand", "ratio"];
    let mut table = MarkdownTable::new(&heading);
    for (name, lifted, written) in &pairs {
        eprintln!("{name}");
        let mut cells = vec![name.clone()];
        for of in [sc_states, rc20_states] {
            let (lifted, written) = (of(arguments, lifted)?, of(arguments, written)?);
            let ratio = lifted as f64 / written.max(1) as f64;
            cells.extend([count(lifted), count(written), judged(ratio, "", "1.5", ratio <= LARGE)]);
        }
        table.row(cells);
    }
    println!("{table}");
    println!("## GenMC\n");
    println!(
        "GenMC's manual shows its time for some small programs (`doc/manual.md` of github.com/MPI-SWS/genmc at commit 6d8d52f3), \
         on a machine that it does not name. Beside it is the time of Ravelin for the same programs, written anew in \
         `bench/programs/genmc`: clang on the wall clock, and then lifting and `reach --model rc20`. GenMC's papers measure other \
         programs, and other sizes of these algorithms, so no time of theirs belongs beside the models above.\n"
    );
    let mut table =
        MarkdownTable::new(&["program", "answer", "states", "GenMC's manual", "clang", "lifting and reach"]);
    for of in OF_GENMC {
        genmc_row(arguments, of, &mut table)?;
    }
    println!("{table}");
    Ok(())
}

fn genmc_row(
    arguments: &Arguments,
    (name, file, flags, published): (&str, &str, &[&str], f64),
    table: &mut MarkdownTable,
) -> Result<()> {
    eprintln!("{name}");
    let path = crate::root().join("bench/programs/genmc").join(file);
    let compiled = Compiled::new(arguments, &path, Path::new("."), flags)?;
    let (_, compiling) = repeated(
        arguments.repetitions,
        |_: &String| false,
        || {
            let all = [&FLAGS[..], flags].concat();
            let (ir, time) = timed(wall_time, || run_clang(arguments, &path, Path::new("."), &all));
            Ok((ir?, time))
        },
    )?;
    let question = ReachabilityQuestion { budget: budget(arguments), ..ReachabilityQuestion::new(Model::Rc20) };
    let (found, time) = repeated(
        arguments.repetitions,
        |found: &PortfolioAnswer| found.reachability.limit.is_some(),
        || {
            let (found, time) = timed(process_time, || -> Result<PortfolioAnswer> {
                let program = compiled.lifted()?;
                Ok(ask(&program, &question, ReachEngine::Auto, 1)?.0)
            });
            Ok((found?, time))
        },
    )?;
    table.row(vec![
        name.to_owned(),
        format!("{:?}", found.reachability.verdict).to_lowercase(),
        count(found.reachability.statistics.states),
        format!("{published:.2} s"),
        seconds(compiling.unwrap_or_default()),
        time.map_or("> limit".to_owned(), seconds),
    ]);
    Ok(())
}

/// A C file and what clang made of it.
struct Compiled {
    name: String,
    text: String,
    ir: String,
    lines: usize,
}

impl Compiled {
    /// The path is relative to the folder in which the compiler runs.
    fn new(arguments: &Arguments, path: &Path, folder: &Path, flags: &[&str]) -> Result<Compiled> {
        let clang = |more: &[&str]| run_clang(arguments, path, folder, &[more, flags].concat());
        let preprocessed = clang(&["-E", "-w", "-D__RAVELIN__"])?;
        Ok(Compiled {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            text: sources::text(&folder.join(path))?,
            ir: clang(&FLAGS)?,
            lines: own_lines(&preprocessed),
        })
    }

    fn lifted(&self) -> Result<Program> {
        let source = Source::new(self.name.clone(), self.text.clone());
        let parsed = lift(source, Language::C, &self.ir, &LiftOptions::default());
        let wrong = render(&parsed.diagnostics, &parsed.source, false);
        parsed.program.with_context(|| format!("{}: {wrong}", self.name))
    }
}

/// What clang writes for a file.
fn run_clang(arguments: &Arguments, path: &Path, folder: &Path, flags: &[&str]) -> Result<String> {
    let mut command = Command::new(&arguments.clang);
    command.current_dir(folder).args(flags).arg("-o").arg("-").arg(path);
    let output = command.output().with_context(|| arguments.clang.clone())?;
    ensure!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Lines that are no system's, of what a preprocessor wrote.
fn own_lines(preprocessed: &str) -> usize {
    let (mut own, mut lines) = (true, 0);
    for line in preprocessed.lines() {
        if let Some(place) = line.strip_prefix("# ") {
            own = !place.split_once('"').is_some_and(|(_, file)| file.starts_with("/usr/") || file.starts_with('<'));
        } else {
            lines += usize::from(own && !line.trim().is_empty());
        }
    }
    lines
}

/// Lifts a file, and writes what that took.
fn row(arguments: &Arguments, compiled: &Compiled, table: &mut MarkdownTable) -> Result<Program> {
    eprintln!("{}", compiled.name);
    let (program, time) = repeated(
        arguments.repetitions,
        |_: &Program| false,
        || {
            let (program, time) = timed(thread_time, || compiled.lifted());
            Ok((program?, time))
        },
    )?;
    let time = time.unwrap_or_default();
    let kept = time.as_secs_f64() <= LONG * (compiled.lines as f64 / 300.0).max(1.0);
    let shown = if kept { seconds(time) } else { format!("{} (promised {LONG} s)", seconds(time)) };
    let lines_of_ir = compiled.ir.lines().count() as u64;
    table.row(vec![compiled.name.clone(), count(compiled.lines as u64), count(lines_of_ir), shown]);
    Ok(program)
}

fn budget(arguments: &Arguments) -> Budget<'static> {
    Budget::unlimited().time(Duration::from_secs(arguments.timeout)).memory(4 << 30).workers(1)
}

fn sc_states(arguments: &Arguments, program: &Program) -> Result<u64> {
    let question = ReachabilityQuestion { budget: budget(arguments), ..ReachabilityQuestion::new(Model::Sc) };
    let (found, _) = ask(program, &question, ReachEngine::Auto, 1)?;
    ensure!(found.reachability.limit.is_none(), "a search met its limit: {}", program.source.name);
    Ok(found.reachability.statistics.states)
}

fn rc20_states(arguments: &Arguments, program: &Program) -> Result<u64> {
    let question = C11Question { budget: budget(arguments), ..C11Question::new(Model::Rc20) };
    let answer = c11_robustness(program, &question)?;
    ensure!(answer.limit.is_none(), "a search met its limit: {}", program.source.name);
    Ok(answer.statistics.states)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system_are_not_counted() {
        let text =
            "# 1 \"a.c\"\nint x;\n\n# 1 \"/usr/include/stdio.h\" 1\nint y;\nint z;\n# 2 \"a.c\" 2\nint f(void);\n";
        assert_eq!(own_lines(text), 2);
    }
}
