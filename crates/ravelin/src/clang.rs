//! C and C++ files through clang: LLVM IR, which the front end lifts.
//!
//! What is compiled is the text that was read, so that the places of the answer are places of that text. It is written into a temporary
//! folder. If the name is that of a file, clang reads the text in place of what the file contains by now, and finds included files where it
//! finds them otherwise. `-O1 -disable-llvm-passes` keeps every access where the source has it. The macro `__RAVELIN__` is
//! defined.
//!
//! A signal or the time limit ends clang, with all that it has started.

use ravelin_process::child::{ChildEnd, ChildGroup};
use ravelin_process::folder::TemporaryFolder;
use ravelin_process::input::LARGEST_FILE;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use thiserror::Error;

/// The variable that chooses a compiler.
const CHOICE: &str = "RAVELIN_CLANG";
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
/// Their code makes programs of C++ larger, and is not lifted. Not every program compiles with these. The macro keeps
/// `std::shared_ptr` of libstdc++ from reading its two counters at once.
const CXX_FLAGS: [&str; 3] = ["-fno-exceptions", "-fno-rtti", "-D_GLIBCXX_TSAN=1"];
const HEADER: &str = include_str!("../include/ravelin.h");

/// Why a C file was not compiled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// There is no clang.
    #[error(
        "C files are read with clang, which was not found: install it (on Debian `apt-get install clang`), or name one with {CHOICE}"
    )]
    NoCompiler,
    /// It is not a C program, as clang says.
    #[error("{0}")]
    Rejected(String),
    /// clang does not work.
    #[error("{0}: {1}")]
    Failed(String, io::Error),
    /// A signal asked this program to end.
    #[error("interrupted while clang was running")]
    Interrupted,
    /// The time limit is reached.
    #[error("clang was still running after {} s", .0.as_secs_f64())]
    Late(Duration),
}

/// Compiles the text of a file to LLVM IR. `flags` come after those that are always given.
pub(crate) fn compile(
    name: &str,
    text: &str,
    flags: &[String],
    time: Option<Duration>,
) -> Result<String, CompileError> {
    let start = Instant::now();
    let task = CompileTask { clang: clang().ok_or(CompileError::NoCompiler)?, source: Path::new(name), text, flags };
    let left = || time.map(|time| time.saturating_sub(start.elapsed()));
    let compiled = match is_cxx(task.source) {
        true => match task.compile(&CXX_FLAGS, left()) {
            Err(CompileError::Rejected(_)) => task.compile(&[], left()),
            compiled => compiled,
        },
        false => task.compile(&[], left()),
    };
    compiled.map_err(|error| match (error, time) {
        (CompileError::Late(_), Some(time)) => CompileError::Late(time),
        (error, _) => error,
    })
}

struct CompileTask<'a> {
    /// With words before it, as in `ccache clang`.
    clang: Vec<OsString>,
    source: &'a Path,
    text: &'a str,
    flags: &'a [String],
}

impl CompileTask<'_> {
    fn compile(&self, more: &[&str], time: Option<Duration>) -> Result<String, CompileError> {
        let program = self.clang.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let failed = |error| CompileError::Failed(program.clone(), error);
        let folder = TemporaryFolder::new("clang").map_err(failed)?;
        let file = |name: &str| folder.path().join(name);
        let (copies, include, messages, ir) = (file("text"), file("include"), file("messages"), file("ir"));
        // Places in the IR name the file, with a folder.
        let copy = copies.join(self.source.file_name().unwrap_or("source".as_ref()));
        fs::create_dir(&copies).and_then(|()| fs::write(&copy, self.text)).map_err(failed)?;
        fs::create_dir(&include).and_then(|()| fs::write(include.join("ravelin.h"), HEADER)).map_err(failed)?;

        let (program, before) = self.clang.split_first().ok_or(CompileError::NoCompiler)?;
        let mut command = Command::new(program);
        command.args(before).args(FLAGS).args(more);
        let replaces =
            is_c(self.source) && self.source.is_file() && !self.source.as_os_str().as_bytes().contains(&b';');
        if replaces {
            let mut replaced = self.source.as_os_str().to_owned();
            replaced.push(";");
            replaced.push(&copy);
            command.args(["-Xclang", "-remap-file", "-Xclang"]).arg(replaced);
        } else {
            let parent = self.source.parent().filter(|parent| !parent.as_os_str().is_empty());
            command.arg("-iquote").arg(parent.unwrap_or(Path::new(".")));
        }
        command.arg("-idirafter").arg(&include).args(self.flags);
        command.args(["-x", if is_cxx(self.source) { "c++" } else { "c" }]);
        command.arg("-o").arg(&ir).arg("--").arg(if replaces { self.source } else { &copy });
        command.env("TMPDIR", folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&messages).map_err(failed)?);
        let status = match ChildGroup::spawn(&mut command).and_then(|mut child| child.wait(time)).map_err(failed)? {
            ChildEnd::Exited(status) => status,
            ChildEnd::Interrupted => return Err(CompileError::Interrupted),
            ChildEnd::Late => return Err(CompileError::Late(time.unwrap_or_default())),
        };
        if !status.success() {
            // What cannot be read is not shown.
            let messages = fs::read(&messages).unwrap_or_default();
            let name = self.source.display().to_string();
            let messages = String::from_utf8_lossy(&messages).replace(&copy.display().to_string(), &name);
            let messages = messages.trim_end();
            return Err(CompileError::Rejected(match messages {
                "" => format!("{name}: clang ended with {status}"),
                _ => format!("{name}: clang does not compile it\n{messages}"),
            }));
        }
        if ir.metadata().is_ok_and(|found| found.len() > LARGEST_FILE) {
            let size = format!("what clang makes of it is larger than {} MiB", LARGEST_FILE >> 20);
            return Err(CompileError::Rejected(format!("{}: {size}", self.source.display())));
        }
        fs::read_to_string(&ir).map_err(failed)
    }
}

/// The extensions of C and C++.
fn is_c(path: &Path) -> bool {
    ravelin_frontend::Language::from_path(path) == Some(ravelin_frontend::Language::C)
}

fn is_cxx(path: &Path) -> bool {
    is_c(path) && path.extension().is_some_and(|extension| !extension.eq_ignore_ascii_case("c"))
}

/// The chosen compiler, or `clang`, or the newest `clang-NN`.
fn clang() -> Option<Vec<OsString>> {
    if let Some(chosen) = std::env::var_os(CHOICE) {
        let words = chosen.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let words: Vec<OsString> = words.map(|word| std::ffi::OsStr::from_bytes(word).to_owned()).collect();
        return (!words.is_empty()).then_some(words);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    Some(vec![newest(&folders)?.into_os_string()])
}

/// `clang` of the first of these folders that has one, or the `clang-NN` of the highest number in any of them.
fn newest(folders: &[PathBuf]) -> Option<PathBuf> {
    if let Some(plain) = folders.iter().map(|folder| folder.join("clang")).find(|path| path.is_file()) {
        return Some(plain);
    }
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let versions = entries.filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.strip_prefix("clang-")?.parse().ok()?;
        Some((number, entry.path()))
    });
    versions.filter(|(_, path)| path.is_file()).max().map(|(_, path)| path)
}
