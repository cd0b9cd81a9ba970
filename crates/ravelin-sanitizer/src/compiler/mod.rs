//! The machine's compiler with the sanitizer built in: `ravelin cc` and `ravelin c++`.
//!
//! The compiler instruments (`-fsanitize=thread`), and Ravelin's runtime is linked in place of the compiler's. gcc
//! always asks its linker for `libtsan`, so it gets a directory in which that name is an empty library. clang gets an
//! option to link none. Shared libraries contain no runtime: they find the functions in the executable, which exports
//! them.

mod command_line;

pub use command_line::UnsupportedRequest;

use crate::unpack::{NotUnpacked, Runtime};
use command_line::{CompileStage, understand};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The option by which a compiler is chosen.
const CHOICE: &str = "--ravelin-compiler=";

/// C or C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CLanguage {
    C,
    Cxx,
}

impl CLanguage {
    /// The environment variable that chooses a compiler.
    pub fn variable(self) -> &'static str {
        match self {
            CLanguage::C => "RAVELIN_CC",
            CLanguage::Cxx => "RAVELIN_CXX",
        }
    }

    fn compilers(self) -> &'static [&'static str] {
        match self {
            CLanguage::C => &["gcc", "cc", "clang"],
            CLanguage::Cxx => &["g++", "c++", "clang++"],
        }
    }
}

/// Why no command could be made.
#[derive(Debug, thiserror::Error)]
pub enum NoCommand {
    #[error("no compiler was found: tried {}; choose one with {} or {CHOICE}NAME", .0.compilers().join(", "), .0.variable())]
    NoCompiler(CLanguage),
    #[error("{CHOICE} and {0} need the name of a compiler")]
    NoName(&'static str),
    #[error(transparent)]
    Refused(#[from] UnsupportedRequest),
    #[error(transparent)]
    NotUnpacked(#[from] NotUnpacked),
}

/// The command that compiles and links as `arguments` say, with the sanitizer.
pub fn command(language: CLanguage, arguments: &[OsString]) -> Result<Command, NoCommand> {
    let (chosen, arguments) = choice(arguments);
    let words = compiler(language, chosen)?;
    let (program, before) = words.split_first().ok_or(NoCommand::NoName(language.variable()))?;
    let asked = understand(&arguments)?;
    let mut command = Command::new(program);
    command.args(before);
    if asked.stops == CompileStage::AtOnce {
        command.args(&arguments);
        return Ok(command);
    }
    let runtime = Runtime::unpack()?;
    let clang = is_clang(words.last().unwrap_or(program), program, before);
    command.arg("-fsanitize=thread");
    if !asked.debug_chosen {
        command.arg("-g");
    }
    if clang {
        command.arg("-fno-sanitize-link-runtime");
    } else {
        command.arg("-Wno-tsan").arg("-B").arg(runtime.instead_of_gcc());
    }
    command.arg("-idirafter").arg(runtime.include());
    command.args(arguments.iter().filter(|argument| !command_line::is_about_the_runtime(argument)));
    match asked.stops {
        CompileStage::Executable => link(&mut command, &runtime),
        // The executable defines the runtime's functions; requiring all definitions here would fail.
        CompileStage::SharedLibrary => drop(command.args(["-Xlinker", "-z", "-Xlinker", "undefs"])),
        CompileStage::AtOnce | CompileStage::Compiled | CompileStage::Relocatable => {}
    }
    Ok(command)
}

/// Adds the runtime to an executable. All of it goes through `-Xlinker`, because after `-x c` a file would be compiled.
fn link(command: &mut Command, runtime: &Runtime) {
    let mut list = OsString::from("--dynamic-list=");
    list.push(runtime.dynamic_list());
    for word in [&list, OsStr::new("--whole-archive"), runtime.object().as_os_str(), OsStr::new("--no-whole-archive")] {
        command.arg("-Xlinker").arg(word);
    }
    // If the C library contains these itself, nothing more must be loaded.
    command.args(["-Xlinker", "--push-state", "-Xlinker", "--as-needed", "-lpthread", "-ldl", "-lm"]);
    command.args(["-Xlinker", "--pop-state"]);
}

/// Takes Ravelin's own option out of the arguments.
fn choice(arguments: &[OsString]) -> (Option<OsString>, Vec<OsString>) {
    let mut chosen = None;
    let mut others = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match argument.as_bytes().strip_prefix(CHOICE.as_bytes()) {
            Some(name) => chosen = Some(OsStr::from_bytes(name).to_owned()),
            None => others.push(argument.clone()),
        }
    }
    (chosen, others)
}

/// The compiler as words of a command: a choice may have some before it, as in `ccache gcc`.
fn compiler(language: CLanguage, chosen: Option<OsString>) -> Result<Vec<OsString>, NoCommand> {
    if let Some(chosen) = chosen.or_else(|| std::env::var_os(language.variable())) {
        let words = chosen.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        return Ok(words.map(|word| OsStr::from_bytes(word).to_owned()).collect());
    }
    let found = language.compilers().iter().find(|name| is_on_path(name));
    found.map(|name| vec![name.into()]).ok_or(NoCommand::NoCompiler(language))
}

fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// Whether a compiler takes clang's options: detected from its name, or else from its own description.
fn is_clang(named: &OsStr, program: &OsStr, before: &[OsString]) -> bool {
    let name = Path::new(named).file_name().unwrap_or(named).to_string_lossy().into_owned();
    if name.contains("clang") {
        return true;
    }
    if name.contains("gcc") || name.contains("g++") {
        return false;
    }
    let version = Command::new(program).args(before).arg("--version").stdin(Stdio::null()).output();
    version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("clang"))
}
