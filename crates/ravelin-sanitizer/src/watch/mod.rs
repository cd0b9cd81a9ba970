//! Runs a program and lets its runtime write down what it finds.
//!
//! The program gets our standard streams and every signal that was meant for it. Its addresses are not randomised, so
//! that runs can be compared. What its processes found is read after its end, however it ended.

mod signals;

pub use signals::interrupted;

use crate::unpack::{NotUnpacked, Runtime};
use object::Object;
use ravelin_findings::{Findings, Unreadable, header};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

/// What is to be run, and how it is watched.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Words for the runtime: `no-predict`, `halt-on-first`, `no-races`, `no-robustness`, `schedule=…` and others.
    pub options: Vec<String>,
    /// What the program reads and where what it writes goes; our own streams if there is nothing said.
    pub streams: Streams,
    /// Where the findings files stay; otherwise they are removed.
    pub keep: Option<PathBuf>,
    /// What is added to its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// It is not watched itself, but starts programs that are.
    pub only_starts: bool,
}

/// The standard streams of a program.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    /// A file to read, instead of our input.
    pub input: Option<PathBuf>,
    /// Nobody reads what the program writes.
    pub silent: bool,
}

/// A program that was run.
#[derive(Debug)]
pub struct Watched {
    /// 0 to 255: its own exit code, or 128 and the signal that killed it.
    pub exit_code: u8,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// Its file.
    pub executable: Option<PathBuf>,
    /// What each of its processes found.
    pub processes: Vec<Findings>,
}

impl Watched {
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
    NotFindings(PathBuf, Unreadable),
    #[error(transparent)]
    NotUnpacked(#[from] NotUnpacked),
}

/// Runs the program to its end.
pub fn watch(watch: &Watch) -> Result<Watched, NotWatched> {
    let directory = Directory::new(watch.keep.as_deref())?;
    let executable = find_program(&watch.program);
    let built = executable.as_deref().map(Built::read).unwrap_or_default();
    let mut command = Command::new(&watch.program);
    command.args(&watch.arguments);
    command.envs(watch.environment.iter().map(|(name, value)| (name, value)));
    command.env("RAVELIN_FINDINGS", &directory.path).env("RAVELIN_OPTIONS", watch.options.join(" "));
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
    if watch.streams.silent {
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    }
    // SAFETY: between fork and exec only a system call is made, which neither allocates nor takes a lock.
    unsafe { command.pre_exec(without_randomisation) };
    let status = signals::run(command).map_err(|error| NotWatched::NotStarted(PathBuf::from(&watch.program), error))?;
    let processes = read_all(&directory.path)?;
    if processes.is_empty() && !built.with_runtime && !watch.only_starts {
        return Err(NotWatched::NotBuilt(PathBuf::from(&watch.program)));
    }
    let signal = status.signal();
    let code = status.code().unwrap_or_else(|| 128 + signal.unwrap_or(0));
    Ok(Watched { exit_code: (code & 0xff) as u8, signal, executable, processes })
}

/// Reads one findings file.
pub fn read_findings(path: &Path) -> Result<Findings, NotWatched> {
    let bytes = used_part(path).map_err(|error| NotWatched::NotRead(path.to_owned(), error))?;
    ravelin_findings::read(&bytes).map_err(|error| NotWatched::NotFindings(path.to_owned(), error))
}

/// The header of a findings file and what the header says is in use: the file is made for many more findings than there
/// mostly are.
fn used_part(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read;
    let mut file = fs::File::open(path)?;
    let header = header::WORDS * 8;
    let mut bytes = Vec::with_capacity(header);
    file.by_ref().take(header as u64).read_to_end(&mut bytes)?;
    let used = bytes.get(8 * header::USED..).and_then(|rest| rest.first_chunk::<8>()).copied().map(u64::from_ne_bytes);
    let rest = used.unwrap_or(0).saturating_mul(8).saturating_sub(bytes.len() as u64);
    file.take(rest).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads all findings files in a directory, by process number.
fn read_all(directory: &Path) -> Result<Vec<Findings>, NotWatched> {
    let not_read = |error| NotWatched::NotRead(directory.to_owned(), error);
    let mut processes = Vec::new();
    for entry in fs::read_dir(directory).map_err(not_read)? {
        let path = entry.map_err(not_read)?.path();
        if path.extension() != Some(OsStr::new("findings")) {
            continue;
        }
        match read_findings(&path) {
            Ok(findings) => processes.push(findings),
            // Killed before the header was written: nothing was watched yet.
            Err(_) if is_blank(&path) => {}
            Err(error) => return Err(error),
        }
    }
    processes.sort_by_key(|findings| findings.process);
    Ok(processes)
}

/// Whether a findings file was never begun.
fn is_blank(path: &Path) -> bool {
    use io::Read;
    let mut first = vec![0; header::WORDS * 8];
    let read = fs::File::open(path).and_then(|file| file.take(first.len() as u64).read(&mut first));
    read.is_ok_and(|length| first[..length].iter().all(|&byte| byte == 0))
}

/// A directory for findings files, removed in the end unless it is the user's.
struct Directory {
    path: PathBuf,
    own: bool,
}

impl Directory {
    fn new(keep: Option<&Path>) -> Result<Directory, NotWatched> {
        if let Some(keep) = keep {
            let not_kept = |error| NotWatched::NotKept(keep.to_owned(), error);
            fs::create_dir_all(keep).map_err(not_kept)?;
            let path = fs::canonicalize(keep).map_err(not_kept)?;
            // Old findings would be taken for those of this run.
            for entry in fs::read_dir(&path).map_err(not_kept)? {
                let file = entry.map_err(not_kept)?.path();
                if file.extension() == Some(OsStr::new("findings")) {
                    fs::remove_file(&file).map_err(not_kept)?;
                }
            }
            return Ok(Directory { path, own: false });
        }
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            // Of one length, so that the program's stack is always at the same place.
            let path = std::env::temp_dir().join(format!("ravelin-run-{:08}-{number:06}", std::process::id()));
            match std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(&path) {
                Ok(()) => return Ok(Directory { path, own: true }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(NotWatched::NotKept(path, error)),
            }
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.own {
            // A leftover in the temporary directory is no reason to lose the report.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// How a program was built, as its symbols tell.
#[derive(Default)]
struct Built {
    /// Our runtime is inside.
    with_runtime: bool,
    /// It loads the compiler's own runtime as a shared library.
    with_stock_runtime: bool,
    /// It uses atomics that call our runtime if it is loaded: the crate `ravelin`.
    wants_runtime: bool,
}

impl Built {
    fn read(path: &Path) -> Built {
        let bytes = fs::read(path).unwrap_or_default();
        let Ok(file) = object::File::parse(&*bytes) else { return Built::default() };
        use object::ObjectSymbol;
        let interface = "__tsan_func_entry";
        let with_runtime = file.dynamic_symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok(interface))
                // The stock runtime, linked statically, defines it, too; it has its own way to tell.
                && !file.dynamic_symbols().any(|symbol| symbol.name() == Ok("__tsan_on_report"));
        let with_stock_runtime = needs_stock_runtime(&bytes);
        Built { with_runtime, with_stock_runtime, wants_runtime: file.section_by_name("ravelin_wanted").is_some() }
    }
}

/// Whether a program loads gcc's runtime. Its name stands in the table of dynamic strings and hardly anywhere else.
fn needs_stock_runtime(bytes: &[u8]) -> bool {
    let Ok(file) = object::File::parse(bytes) else { return false };
    use object::ObjectSection;
    let strings = file.section_by_name(".dynstr").and_then(|section| section.data().ok()).unwrap_or_default();
    strings.split(|&byte| byte == 0).any(|name| name == b"libtsan.so.2" || name == b"libtsan.so.0")
}

/// The file that a command runs: as named, or found on the path.
pub fn find_program(program: &OsStr) -> Option<PathBuf> {
    let named = Path::new(program);
    if named.components().count() > 1 || named.is_absolute() {
        return fs::canonicalize(named).ok();
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(named)).find(|file| file.is_file())
}

fn without_randomisation() -> io::Result<()> {
    // SAFETY: personality takes a number and touches no memory. Where it is forbidden the program runs all the same.
    unsafe {
        let now = libc::personality(0xffff_ffff);
        if now >= 0 {
            libc::personality((now | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
        }
    }
    Ok(())
}
