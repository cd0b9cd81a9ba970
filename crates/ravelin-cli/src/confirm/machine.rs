//! Compiles and runs the program of a test.
//!
//! Each program is built in a temporary folder, which is removed as soon as the program runs: nothing is left behind, however this
//! process ends. A signal ends the compiler, with all that it has started. A program prints its counts after each batch, so that
//! what is known is known when a signal comes. It ends with this process: without a reader its output fails.

use anyhow::{Context, bail};
use ravelin::answer::TestCounts;
use ravelin::confirm::MachineTest;
use ravelin_process::child::{ChildEnd, ChildGroup};
use ravelin_process::folder::TemporaryFolder;
use ravelin_process::interrupt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Between two looks at the signal and the clock.
const LOOK: Duration = Duration::from_millis(20);
/// How long a program may take to end by itself.
const GRACE: Duration = Duration::from_millis(200);
/// How long a compiler may take to say its version.
const VERSION: Duration = Duration::from_secs(5);
/// Options of every compiler. The order of accesses does not depend on them.
pub const FLAGS: [&str; 4] = ["-O2", "-std=gnu11", "-Wall", "-pthread"];

/// A C compiler of this machine.
pub struct Compiler(String);

impl Compiler {
    /// The named one, or the first that there is; none if a signal came first.
    pub fn find(named: Option<&str>) -> anyhow::Result<Option<Compiler>> {
        if let Some(name) = named {
            return Ok(answers(name)?.then(|| Compiler(name.to_owned())));
        }
        for name in ["gcc", "clang", "cc"] {
            match answers(name) {
                Ok(true) => return Ok(Some(Compiler(name.to_owned()))),
                Ok(false) => return Ok(None),
                Err(_) => {}
            }
        }
        bail!("there is no C compiler: install gcc or clang, or name one with --cc")
    }
}

/// Whether a compiler says its version; false if a signal came first.
fn answers(name: &str) -> anyhow::Result<bool> {
    let mut command = Command::new(name);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = ChildGroup::spawn(&mut command);
    match child.with_context(|| format!("the compiler `{name}` cannot be started"))?.wait(Some(VERSION))? {
        ChildEnd::Exited(status) if status.success() => Ok(true),
        ChildEnd::Exited(status) => bail!("the compiler failed: `{name} --version` ended with {status}"),
        ChildEnd::Late => {
            bail!("the compiler does not answer: `{name} --version` did not end in {} s", VERSION.as_secs())
        }
        ChildEnd::Interrupted => Ok(false),
    }
}

/// A folder for a program.
struct Workshop(TemporaryFolder);

impl Workshop {
    fn new() -> anyhow::Result<Workshop> {
        Ok(Workshop(TemporaryFolder::new("confirm")?))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self) -> PathBuf {
        self.file("test")
    }
}

impl Compiler {
    /// Compiles a program; none if a signal came first.
    pub fn compile(&self, text: &str) -> anyhow::Result<Option<TestProgram>> {
        let workshop = Workshop::new()?;
        let source = workshop.file("test.c");
        std::fs::write(&source, text).with_context(|| source.display().to_string())?;
        let messages = workshop.file("messages");
        let file = File::create(&messages).with_context(|| messages.display().to_string())?;
        let mut command = Command::new(&self.0);
        command.args(FLAGS).arg("-o").arg(workshop.program()).arg(&source);
        // A compiler that is killed leaves its temporary files, which then go with the folder.
        command.env("TMPDIR", workshop.0.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let status = match ChildGroup::spawn(&mut command).with_context(|| self.0.clone())?.wait(None)? {
            ChildEnd::Exited(status) => status,
            ChildEnd::Interrupted | ChildEnd::Late => return Ok(None),
        };
        if !status.success() {
            // What cannot be read is not shown.
            let messages = std::fs::read(&messages).unwrap_or_default();
            let messages = String::from_utf8_lossy(&messages);
            bail!("{} cannot compile the program of the test ({status}):\n{messages}", self.0);
        }
        Ok(Some(TestProgram(workshop)))
    }
}

/// The compiled program of a test.
pub struct TestProgram(Workshop);

impl TestProgram {
    /// Runs it for a time, or until its outcome is seen; a signal ends it, too.
    pub fn run(self, test: &MachineTest, time: Duration, until_seen: bool) -> anyhow::Result<TestCounts> {
        let mut child = started(&self.0.program(), time)?;
        // A process keeps its program when the file is gone.
        drop(self);
        let start = Instant::now();
        let mut counts = follow(&mut child, test, start.checked_add(time.saturating_add(GRACE)), until_seen)?;
        if counts.is_empty() {
            // No batch says how long it took.
            counts.seconds = start.elapsed().as_secs_f64();
        }
        Ok(counts)
    }
}

/// Reads what a program counts until it ends, its end comes, its outcome is seen, or a signal.
fn follow(
    child: &mut ChildGroup,
    test: &MachineTest,
    end: Option<Instant>,
    until_seen: bool,
) -> anyhow::Result<TestCounts> {
    let lines = lines(child.stdout().context("no pipe")?);
    let mut counts = test.counts(0, 0.0, &vec![0; test.outcomes.len()]);
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => {
                let batch = batch(&line).with_context(|| format!("the program of the test printed `{line}`"))?;
                counts = test.counts(batch.iterations, batch.seconds, &batch.counts);
                if until_seen && counts.seen > 0 || counts.forbidden > 0 {
                    return Ok(counts);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if interrupt::is_asked() || end.is_some_and(|end| Instant::now() > end) {
            return Ok(counts);
        }
    }
    match child.wait(Some(GRACE))? {
        ChildEnd::Exited(status) if !status.success() => bail!("the program of the test failed: {status}"),
        _ => Ok(counts),
    }
}

/// The lines that a program prints, as they come.
fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    // Ends with the program.
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn started(path: &Path, time: Duration) -> anyhow::Result<ChildGroup> {
    let mut command = Command::new(path);
    command.arg(format!("{:.3}", time.as_secs_f64())).arg("--batches");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    ChildGroup::spawn(&mut command).with_context(|| path.display().to_string())
}

/// What a program printed after a batch: all counts since its start.
struct Batch {
    iterations: u64,
    seconds: f64,
    counts: Vec<u64>,
}

fn batch(line: &str) -> Option<Batch> {
    let mut words = line.split(' ');
    (words.next()? == "batch").then_some(())?;
    let iterations = words.next()?.parse().ok()?;
    let seconds = words.next()?.parse().ok()?;
    let counts = words.map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some(Batch { iterations, seconds, counts })
}
