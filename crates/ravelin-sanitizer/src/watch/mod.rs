//! Runs a program and lets its runtime record what it finds.
//!
//! The program gets Ravelin's standard streams and every signal that was meant for it. Its addresses are not
//! randomised, so that runs can be compared. The findings of its processes are read after its end, however it ended.

mod output;
mod server;
mod signals;
mod steering;
mod store;

pub use output::{OutputPipes, RunOutput};
pub use server::{FreshReason, RunServer, ServedRun};
pub use signals::{interrupted, kill_runs};
pub use steering::{SteeredProgram, SteeredRun};
pub use store::{file_in_memory, path_in_memory, read_findings};

use crate::unpack::{NotUnpacked, Runtime};
use object::Object;
use ravelin_findings::{Findings, UnreadableFindings};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::{fs, io};
use store::{FindingsStore, StoredFindings};

/// What to run, and how to watch it.
#[derive(Clone, Debug, Default)]
pub struct WatchCommand {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Words for the runtime: `no-predict`, `halt-on-first`, `no-races`, `no-robustness`, `schedule=…` and others.
    pub options: Vec<String>,
    /// The program's input and output; Ravelin's own streams by default.
    pub streams: Streams,
    /// The directory in which the findings files stay; otherwise they are removed.
    pub keep: Option<PathBuf>,
    /// What is added to its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory in which it runs, if it is another one.
    pub directory: Option<PathBuf>,
    /// It is not watched itself, but starts programs that are.
    pub only_starts: bool,
    /// What is known about the file of the program. Clones share it, so that a large file is read once.
    pub file: KnownFile,
}

/// The standard streams of a program.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    /// A file to read, instead of Ravelin's input.
    pub input: Option<PathBuf>,
    /// The program's output is discarded.
    pub silent: bool,
    /// Or it is read.
    pub captured: Option<Arc<OutputPipes>>,
}

impl Streams {
    /// No input, and the output is discarded.
    pub fn none() -> Streams {
        Streams { input: Some(PathBuf::from("/dev/null")), silent: true, captured: None }
    }

    /// No input, and the output is shown.
    pub fn shown() -> Streams {
        Streams { silent: false, ..Streams::none() }
    }
}

/// A program that was run.
#[derive(Clone, Debug)]
pub struct WatchedRun {
    /// 0 to 255: its own exit code, or 128 and the signal that killed it.
    pub exit_code: u8,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// Its file.
    pub executable: Option<PathBuf>,
    /// What each of its processes found.
    pub processes: Vec<Findings>,
    /// How many of its processes could not record what they found.
    pub unrecorded: u64,
}

impl WatchedRun {
    /// A program that ended with a code or by a signal.
    fn new(code: Option<i32>, signal: Option<i32>, executable: Option<PathBuf>, stored: StoredFindings) -> WatchedRun {
        let StoredFindings { processes, unrecorded } = stored;
        let code = code.unwrap_or_else(|| 128 + signal.unwrap_or(0));
        WatchedRun { exit_code: (code & 0xff) as u8, signal, executable, processes, unrecorded }
    }

    /// Whether the same schedule gives the same run.
    pub fn is_replayable(&self) -> bool {
        self.processes.iter().all(|process| process.notes & ravelin_findings::notes::NOT_REPLAYABLE == 0)
    }
}

/// Why there is nothing to report.
#[derive(Debug, thiserror::Error)]
pub enum NotWatched {
    #[error("{}: the program cannot be run", .0.display())]
    NotStarted(PathBuf, #[source] io::Error),
    #[error("{} was not built with `ravelin cc`, `ravelin c++` or `cargo ravelin`: nothing in it was watched", .0.display())]
    NotBuilt(PathBuf),
    #[error("{}: the findings cannot be kept here", .0.display())]
    NotKept(PathBuf, #[source] io::Error),
    #[error("{}: the findings cannot be read", .0.display())]
    NotRead(PathBuf, #[source] io::Error),
    #[error("{}: {}", .0.display(), .1)]
    NotFindings(PathBuf, UnreadableFindings),
    #[error(transparent)]
    NotUnpacked(#[from] NotUnpacked),
    #[error(transparent)]
    NotResumable(#[from] crate::verify::NotResumable),
}

/// What is known about the file of a program, as soon as it was looked at.
#[derive(Clone, Debug, Default)]
pub struct KnownFile(Arc<OnceLock<ProgramFile>>);

impl WatchCommand {
    fn file(&self) -> &ProgramFile {
        self.file.0.get_or_init(|| ProgramFile::new(&self.program))
    }
}

/// The file of a program, looked at once for all its runs.
#[derive(Debug)]
pub struct ProgramFile {
    executable: Option<PathBuf>,
    built: BuildTraits,
}

impl ProgramFile {
    pub fn new(program: &OsStr) -> ProgramFile {
        let executable = find_program(program);
        let built = executable.as_deref().map(BuildTraits::read).unwrap_or_default();
        ProgramFile { executable, built }
    }
}

/// Runs the program to its end.
pub fn watch(watch: &WatchCommand) -> Result<WatchedRun, NotWatched> {
    watch_file(watch, &ProgramFile::new(&watch.program))
}

/// The same for a program whose file is known.
pub fn watch_file(watch: &WatchCommand, file: &ProgramFile) -> Result<WatchedRun, NotWatched> {
    watch_in(watch, file, &FindingsStore::new(watch.keep.as_deref())?)
}

/// The same with a given store.
fn watch_in(watch: &WatchCommand, file: &ProgramFile, store: &FindingsStore) -> Result<WatchedRun, NotWatched> {
    let command = command(watch, &file.built, store)?;
    let status = signals::run(command).map_err(|error| NotWatched::NotStarted(PathBuf::from(&watch.program), error))?;
    let StoredFindings { processes, mut unrecorded } = store.read()?;
    if processes.is_empty() && unrecorded == 0 {
        if file.built.with_runtime {
            // It ended before the runtime began, or the runtime could not even record that it cannot record.
            unrecorded = 1;
        } else if !watch.only_starts {
            return Err(NotWatched::NotBuilt(PathBuf::from(&watch.program)));
        }
    }
    let executable = file.executable.clone();
    Ok(WatchedRun::new(status.code(), status.signal(), executable, StoredFindings { processes, unrecorded }))
}

/// The command that runs the program, with everything that its runtime needs.
fn command(watch: &WatchCommand, built: &BuildTraits, store: &FindingsStore) -> Result<Command, NotWatched> {
    let mut command = Command::new(&watch.program);
    command.args(&watch.arguments);
    command.envs(watch.environment.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &watch.directory {
        command.current_dir(directory);
    }
    let rust = if built.in_rust { " rust" } else { "" };
    command.env("RAVELIN_OPTIONS", watch.options.join(" ") + rust);
    store.tell(&mut command);
    if built.with_stock_runtime
        && let Some(shared) = Runtime::unpack()?.shared()
    {
        let mut path = shared.into_os_string();
        if let Some(before) = std::env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty()) {
            path.push(":");
            path.push(before);
        }
        command.env("LD_LIBRARY_PATH", path);
    }
    if built.wants_runtime
        && !built.with_runtime
        && let Some(shared) = Runtime::unpack()?.shared()
    {
        let mut preload = shared.join("libtsan.so.2").into_os_string();
        if let Some(before) = std::env::var_os("LD_PRELOAD").filter(|files| !files.is_empty()) {
            preload.push(":");
            preload.push(before);
        }
        command.env("LD_PRELOAD", preload);
    }
    if let Some(input) = &watch.streams.input {
        let file = fs::File::open(input).map_err(|error| NotWatched::NotStarted(input.clone(), error))?;
        command.stdin(file);
    }
    if let Some(pipes) = &watch.streams.captured {
        let not_started = |error| NotWatched::NotStarted(PathBuf::from(&watch.program), error);
        let [out, error] = pipes.ends().map_err(not_started)?;
        command.stdout(out).stderr(error);
    } else if watch.streams.silent {
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    }
    // SAFETY: between fork and exec only a system call is made, which neither allocates nor takes a lock.
    unsafe { command.pre_exec(without_randomisation) };
    Ok(command)
}

/// How a program was built, according to its symbols.
#[derive(Debug, Default)]
struct BuildTraits {
    /// Ravelin's runtime is inside.
    with_runtime: bool,
    /// It loads the compiler's own runtime as a shared library.
    with_stock_runtime: bool,
    /// It uses atomics that call Ravelin's runtime if it is loaded: the crate `ravelin-hints`.
    wants_runtime: bool,
    /// Its `main` is that of Rust's standard library.
    in_rust: bool,
}

impl BuildTraits {
    fn read(path: &Path) -> BuildTraits {
        let bytes = fs::read(path).unwrap_or_default();
        let Ok(file) = object::File::parse(&*bytes) else { return BuildTraits::default() };
        use object::ObjectSymbol;
        let interface = "__tsan_func_entry";
        let with_runtime = file.dynamic_symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok(interface))
                // The stock runtime, linked statically, defines it, too; it prints its own reports.
                && !file.dynamic_symbols().any(|symbol| symbol.name() == Ok("__tsan_on_report"));
        let with_stock_runtime = needs_stock_runtime(&bytes);
        BuildTraits {
            with_runtime,
            with_stock_runtime,
            wants_runtime: file.section_by_name("ravelin_wanted").is_some(),
            in_rust: file.symbols().any(|symbol| symbol.name().is_ok_and(|name| name.contains("lang_start"))),
        }
    }
}

/// Whether a program loads gcc's runtime. Its name is in the table of dynamic strings and hardly anywhere else.
fn needs_stock_runtime(bytes: &[u8]) -> bool {
    let Ok(file) = object::File::parse(bytes) else { return false };
    use object::ObjectSection;
    let strings = file.section_by_name(".dynstr").and_then(|section| section.data().ok()).unwrap_or_default();
    strings.split(|&byte| byte == 0).any(|name| name == b"libtsan.so.2" || name == b"libtsan.so.0")
}

/// The file that a command runs: the named one, or one found on the path.
pub fn find_program(program: &OsStr) -> Option<PathBuf> {
    let named = Path::new(program);
    if named.components().count() > 1 || named.is_absolute() {
        return fs::canonicalize(named).ok();
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(named)).find(|file| file.is_file())
}

fn without_randomisation() -> io::Result<()> {
    // SAFETY: personality takes a number and touches no memory. If it is forbidden, the program still runs.
    unsafe {
        let now = libc::personality(0xffff_ffff);
        if now >= 0 {
            libc::personality((now | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
        }
    }
    Ok(())
}
