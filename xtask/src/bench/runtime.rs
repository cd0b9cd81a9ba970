//! What the sanitizer costs: processor time and memory of programs of our own, plain, with the stock thread sanitizer of
//! each compiler, and with Ravelin, in turns.
//!
//! The programs are in `xtask/programs/runtime`. What counts is Ravelin over the stock sanitizer of the same compiler.

use super::measure::machine;
use super::table::Table;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// How often each program runs; the median counts
    #[arg(long, default_value_t = 3)]
    repetitions: usize,
    /// Only programs with this word in their name
    #[arg(long, default_value = "")]
    only: String,
    /// The ravelin to measure instead of building one
    #[arg(long)]
    ravelin: Option<PathBuf>,
    /// Sources of mimalloc, to measure it under a stress test as well
    #[arg(long, value_name = "FOLDER")]
    mimalloc: Option<PathBuf>,
}

/// A program and the arguments it is run with.
const WORKLOADS: [(&str, &str, &str); 12] = [
    ("contended spinlock", "spinlock.c", ""),
    ("MPMC queue", "queue.c", ""),
    ("work-stealing deque, fences", "deque.c", ""),
    ("allocator, 60 000 atomics", "allocator.c", ""),
    ("mostly plain accesses", "plain.c", ""),
    ("shared_ptr and mutexes", "pointers.cpp", ""),
    ("random, 2 threads, 4 atomics", "random.c", "2 4 0 2000000"),
    ("random, 4 threads, 64 atomics", "random.c", "4 64 0 2000000"),
    ("random, 4 threads, 64, fences", "random.c", "4 64 8 2000000"),
    ("random, 16 threads, 1024 atomics", "random.c", "16 1024 0 2000000"),
    ("random, 16 threads, 1024, fences", "random.c", "16 1024 8 2000000"),
    ("random, 64 threads, 60000 atomics", "random.c", "64 60000 32 2000000"),
];

/// The program that needs a folder of its own.
const MIMALLOC: (&str, &str, &str) = ("mimalloc, 25 threads", "mimalloc.c", "");

/// One way to build: the column's name, the compiler, and what instruments.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Build {
    compiler: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Stock,
    Ravelin,
}

const BUILDS: [Build; 5] = [
    Build { compiler: "gcc", kind: Kind::Plain },
    Build { compiler: "gcc", kind: Kind::Stock },
    Build { compiler: "gcc", kind: Kind::Ravelin },
    Build { compiler: "clang", kind: Kind::Stock },
    Build { compiler: "clang", kind: Kind::Ravelin },
];

#[derive(Clone, Copy)]
struct Cost {
    time: Duration,
    /// The most memory the program ever had, in KiB.
    memory: u64,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let ravelin = match &arguments.ravelin {
        Some(path) => path.clone(),
        None => built()?,
    };
    let builds: Vec<Build> =
        BUILDS.into_iter().filter(|build| crate::is_installed(build.compiler, "--version")).collect();
    println!("# What the sanitizer costs\n");
    println!(
        "Made by `cargo xtask bench runtime`. Processor time, user and system, of all threads, and the most memory at any \
         time; the median of {} runs, taken in turns. TSan is the stock thread sanitizer of the compiler, which looks for \
         data races only; its reports and Ravelin's are collected, not printed.\n",
        arguments.repetitions
    );
    println!("{}\n", machine());
    let folder = std::env::temp_dir().join(format!("ravelin-bench-runtime-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("findings"))?;
    let measured = measure(arguments, &ravelin, &builds, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let measured = measured?;
    println!("## Time\n\n{}", table(&measured, &builds, |cost| cost.time.as_secs_f64(), |time| format!("{time:.2} s")));
    println!(
        "## Memory\n\n{}",
        table(&measured, &builds, |cost| cost.memory as f64 / 1024.0, |mib| format!("{mib:.0} MiB"))
    );
    Ok(())
}

type Measured = Vec<(&'static str, Vec<Cost>)>;

fn measure(arguments: &Arguments, ravelin: &Path, builds: &[Build], folder: &Path) -> Result<Measured> {
    let mut measured = Vec::new();
    let workloads = WORKLOADS.into_iter().chain(arguments.mimalloc.iter().map(|_| MIMALLOC));
    for (name, file, words) in workloads.filter(|(name, ..)| name.contains(&arguments.only)) {
        eprintln!("{name}");
        let library = arguments.mimalloc.as_deref().filter(|_| file == MIMALLOC.1);
        let mut programs = Vec::new();
        for (number, build) in builds.iter().enumerate() {
            let program = folder.join(format!("{number}-{}", file.replace('.', "-")));
            if !program.exists() {
                compile(*build, ravelin, file, library, &program)?;
            }
            programs.push(program);
        }
        let mut costs = vec![Vec::new(); builds.len()];
        for _ in 0..arguments.repetitions.max(1) {
            for ((build, program), costs) in builds.iter().zip(&programs).zip(&mut costs) {
                let report = folder.join("findings");
                costs.push(cost(*build, program, words, &report).with_context(|| format!("{name}, {}", build.name()))?);
            }
        }
        measured.push((name, costs.into_iter().map(median).collect()));
    }
    ensure!(!measured.is_empty(), "no program has {:?} in its name", arguments.only);
    Ok(measured)
}

fn compile(build: Build, ravelin: &Path, file: &str, library: Option<&Path>, program: &Path) -> Result<()> {
    let cpp = file.ends_with(".cpp");
    let compiler = match (build.compiler, cpp) {
        ("gcc", true) => "g++",
        ("clang", true) => "clang++",
        (compiler, _) => compiler,
    };
    let mut command = match build.kind {
        Kind::Ravelin => {
            let mut command = Command::new(ravelin);
            command.arg(if cpp { "c++" } else { "cc" }).env(if cpp { "RAVELIN_CXX" } else { "RAVELIN_CC" }, compiler);
            command
        }
        Kind::Stock => {
            let mut command = Command::new(compiler);
            command.arg("-fsanitize=thread");
            command
        }
        Kind::Plain => Command::new(compiler),
    };
    command.args(["-O2", "-g", "-w", "-pthread"]);
    if cpp {
        command.arg("-std=c++17");
    }
    if let Some(library) = library {
        command.arg("-DNDEBUG").arg("-I").arg(library.join("include")).arg(library.join("src/static.c"));
    }
    command.arg(crate::root().join("xtask/programs/runtime").join(file)).arg("-o").arg(program);
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// One run. A program that Ravelin watches writes its findings into a folder by itself, without `ravelin run`.
fn cost(build: Build, program: &Path, words: &str, report: &Path) -> Result<Cost> {
    let mut command = Command::new(program);
    command.args(words.split_whitespace()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("TSAN_OPTIONS", "exitcode=0 report_bugs=0");
    if build.kind == Kind::Ravelin {
        command.env("RAVELIN_FINDINGS", report);
    }
    // The child is waited for below, because only wait4 tells what it cost.
    #[allow(clippy::zombie_processes)]
    let child = command.spawn()?;
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to variables that live until the call returns; the child was started above and nobody
    // else waits for it.
    let waited = unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage) };
    ensure!(waited == child.id() as libc::pid_t, "nothing to wait for");
    if status != 0 {
        bail!("ended with status {status:#x}");
    }
    let time =
        |time: libc::timeval| Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64);
    Ok(Cost { time: time(usage.ru_utime) + time(usage.ru_stime), memory: usage.ru_maxrss as u64 })
}

/// The median of time and of memory, each by itself.
fn median(costs: Vec<Cost>) -> Cost {
    let mut times: Vec<Duration> = costs.iter().map(|cost| cost.time).collect();
    let mut memories: Vec<u64> = costs.iter().map(|cost| cost.memory).collect();
    times.sort();
    memories.sort();
    Cost { time: times[times.len() / 2], memory: memories[memories.len() / 2] }
}

impl Build {
    fn name(self) -> String {
        let kind = match self.kind {
            Kind::Plain => "plain",
            Kind::Stock => "TSan",
            Kind::Ravelin => "Ravelin",
        };
        format!("{kind} {}", self.compiler)
    }
}

/// A row for each program: what each build took, and Ravelin over the stock sanitizer of the same compiler.
fn table(measured: &Measured, builds: &[Build], value: fn(&Cost) -> f64, show: fn(f64) -> String) -> Table {
    let pairs: Vec<(usize, usize)> = (0..builds.len())
        .filter(|&number| builds[number].kind == Kind::Ravelin)
        .filter_map(|ours| {
            let stock = Build { kind: Kind::Stock, ..builds[ours] };
            Some((ours, builds.iter().position(|build| *build == stock)?))
        })
        .collect();
    let mut head = vec!["program".to_owned()];
    head.extend(builds.iter().map(|build| build.name()));
    head.extend(pairs.iter().map(|&(ours, _)| format!("ratio {}", builds[ours].compiler)));
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    let mut logarithms = vec![0.0; pairs.len()];
    for (name, costs) in measured {
        let mut row = vec![(*name).to_owned()];
        row.extend(costs.iter().map(|cost| show(value(cost))));
        for (&(ours, stock), logarithm) in pairs.iter().zip(&mut logarithms) {
            let ratio = value(&costs[ours]) / value(&costs[stock]).max(1e-6);
            *logarithm += ratio.max(1e-6).ln();
            row.push(format!("{ratio:.2}"));
        }
        table.row(row);
    }
    let mut row = vec!["geometric mean".to_owned()];
    row.extend(builds.iter().map(|_| String::new()));
    row.extend(logarithms.iter().map(|sum| format!("{:.2}", (sum / measured.len() as f64).exp())));
    table.row(row);
    table
}

/// Builds ravelin as its users have it.
pub fn built() -> Result<PathBuf> {
    let status = crate::cargo().args(["build", "--release", "--quiet", "-p", "ravelin-cli"]).status()?;
    ensure!(status.success(), "ravelin does not build");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), Into::into);
    Ok(target.join("release").join("ravelin"))
}
