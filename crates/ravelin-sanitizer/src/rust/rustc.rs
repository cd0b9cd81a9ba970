//! The wrapper that cargo calls instead of rustc.
//!
//! Code for the target gets the instrumentation, and a linked executable gets the runtime; everything else is compiled
//! as cargo asks. Options of the user's profile that conflict with the sanitizer are changed: debug information must
//! exist, and link-time optimisation would run the instrumentation twice. At level 0 the compiler shares functions
//! between crates and parts of crates, so that nothing of `core` is inlined. Level 1 with the checks of level 0 is used
//! instead.

use super::redirect::{NotRedirected, redirect};
use super::standard_library::{NotUnderstood, Wrapping};
use crate::unpack::{NotUnpacked, Runtime};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The name under which the `ravelin` program acts as this wrapper.
pub const WRAPPER: &str = "ravelin-rustc";
/// Says whether plain accesses are instrumented.
pub(super) const RACES: &str = "RAVELIN_RUST_RACES";
/// The user's own wrapper.
pub(super) const OUTER: &str = "RAVELIN_RUST_WRAPPER";

/// Why nothing was compiled.
#[derive(Debug, thiserror::Error)]
pub enum NotCompiled {
    #[error("{WRAPPER} is called by cargo, with the name of the compiler")]
    NoCompiler,
    #[error("-C target-feature=+crt-static: the runtime takes the place of functions of a dynamic C library")]
    Static,
    #[error("{}: the compiler cannot be run", .0.display())]
    NotStarted(PathBuf, #[source] io::Error),
    #[error(transparent)]
    NotUnpacked(#[from] NotUnpacked),
    #[error(transparent)]
    NotUnderstood(#[from] NotUnderstood),
    #[error(transparent)]
    NotRedirected(#[from] NotRedirected),
}

/// Compiles as cargo says: the compiler, and its arguments.
pub fn compile(arguments: &[OsString]) -> Result<ExitStatus, NotCompiled> {
    let [compiler, arguments @ ..] = arguments else { return Err(NotCompiled::NoCompiler) };
    let asked = RustcRequest::read(arguments);
    let mut command = match std::env::var_os(OUTER).filter(|outer| !outer.is_empty()) {
        Some(outer) => {
            let mut command = Command::new(outer);
            command.arg(compiler);
            command
        }
        None => Command::new(compiler),
    };
    if asked.for_target && !asked.only_asks {
        if asked.is_static {
            return Err(NotCompiled::Static);
        }
        command.args(instrumented(arguments, &asked, std::env::var_os(RACES).is_some()));
        match asked.links {
            LinkMode::Executable => link(&mut command, compiler)?,
            // The executable that loads it has the runtime.
            LinkMode::SharedLibrary => drop(command.arg("-Clink-arg=-Wl,-z,undefs")),
            LinkMode::Nothing => {}
        }
    } else {
        command.args(arguments);
    }
    let status = command.status().map_err(|error| NotCompiled::NotStarted(PathBuf::from(compiler), error))?;
    if status.success() && asked.for_target && !asked.only_asks && asked.links == LinkMode::Executable {
        let made = asked.executable.filter(|path| path.is_file());
        if let Some(executable) = made {
            redirect(&executable)?;
        }
    }
    Ok(status)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkMode {
    Nothing,
    Executable,
    SharedLibrary,
}

/// What a command line of rustc asks for.
#[derive(Debug, PartialEq, Eq)]
struct RustcRequest {
    /// For the target and not for the host: cargo then names the target.
    for_target: bool,
    /// A query, such as for the version.
    only_asks: bool,
    links: LinkMode,
    /// Where the executable will be.
    executable: Option<PathBuf>,
    level: String,
    /// `-C debug-assertions`, `-C overflow-checks` and some amount of `-C debuginfo` were requested.
    assertions: bool,
    overflow: bool,
    debug: bool,
    /// The C library is linked statically.
    is_static: bool,
}

impl RustcRequest {
    fn read(arguments: &[OsString]) -> RustcRequest {
        let mut asked = RustcRequest {
            for_target: false,
            only_asks: arguments.is_empty(),
            links: LinkMode::Nothing,
            executable: None,
            level: "0".to_owned(),
            assertions: false,
            overflow: false,
            debug: false,
            is_static: false,
        };
        let (mut name, mut extra, mut directory, mut output) = (None, String::new(), None, None);
        let (mut kind, mut emits_link) = (LinkMode::Nothing, true);
        for (option, value) in options(arguments) {
            match &*option {
                "--target" => asked.for_target = true,
                "--print" | "-vV" | "-V" | "-v" | "--version" | "--explain" | "-" => asked.only_asks = true,
                "--test" => kind = LinkMode::Executable,
                "--crate-type" if kind != LinkMode::Executable => kind = kind_of(&value),
                "--emit" => emits_link = value.split(',').any(|what| what == "link" || what.starts_with("link=")),
                "--crate-name" => name = Some(value),
                "--out-dir" => directory = Some(PathBuf::from(value)),
                "-o" => output = Some(PathBuf::from(value)),
                "-O" => asked.level = "3".to_owned(),
                "-g" => asked.debug = true,
                "-C" => match value.split_once('=').unwrap_or((&value, "")) {
                    ("opt-level", level) => asked.level = level.to_owned(),
                    ("extra-filename", end) => extra = end.to_owned(),
                    ("debug-assertions", _) => asked.assertions = true,
                    ("overflow-checks", _) => asked.overflow = true,
                    ("target-feature", features) => asked.is_static |= features.contains("+crt-static"),
                    ("debuginfo", amount) => asked.debug = !["0", "none"].contains(&amount),
                    _ => {}
                },
                _ => {}
            }
        }
        if emits_link {
            asked.links = kind;
        }
        let file = name.map(|name| format!("{name}{extra}"));
        asked.executable = output.or_else(|| Some(directory.unwrap_or_default().join(file?)));
        asked
    }
}

fn kind_of(kinds: &str) -> LinkMode {
    match kinds {
        "bin" => LinkMode::Executable,
        kinds if kinds.split(',').any(|kind| kind == "dylib" || kind == "cdylib") => LinkMode::SharedLibrary,
        _ => LinkMode::Nothing,
    }
}

/// Options and their values, however they are written: `--a b`, `--a=b`, `-C b`, `-Cb`.
fn options(arguments: &[OsString]) -> Vec<(String, String)> {
    const WITH_VALUE: &[&str] =
        &["--target", "--print", "--crate-type", "--emit", "--crate-name", "--out-dir", "-o", "-C"];
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut options = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let option = if word == "--codegen" { "-C" } else { word };
        if WITH_VALUE.contains(&option) {
            options.push((option.to_owned(), words.next().cloned().unwrap_or_default()));
        } else if let Some((option, value)) = word.split_once('=').filter(|(option, _)| option.starts_with("--")) {
            let option = if option == "--codegen" { "-C" } else { option };
            options.push((option.to_owned(), value.to_owned()));
        } else if let Some(value) = word.strip_prefix("-C") {
            options.push(("-C".to_owned(), value.to_owned()));
        } else {
            options.push((word.clone(), String::new()));
        }
    }
    options
}

/// The arguments with the instrumentation added.
fn instrumented(arguments: &[OsString], asked: &RustcRequest, races: bool) -> Vec<OsString> {
    let mut all = without_hindrances(arguments);
    let mut add = |argument: String| all.push(OsString::from(argument));
    let level = match &*asked.level {
        "0" => "1",
        level => level,
    };
    if asked.level == "0" {
        add("-Copt-level=1".to_owned());
        for (name, chosen) in [("debug-assertions", asked.assertions), ("overflow-checks", asked.overflow)] {
            if !chosen {
                add(format!("-C{name}=on"));
            }
        }
    }
    if !asked.debug {
        add("-Cdebuginfo=line-tables-only".to_owned());
    }
    for option in instrumentation(level, races) {
        add(option);
    }
    all
}

/// The options that request the instrumentation, at a level of optimisation.
pub(super) fn instrumentation(level: &str, races: bool) -> Vec<String> {
    // Accesses of two branches stay separate: a merged one would have no line.
    let apart = "-hoist-common-insts=false -sink-common-insts=false -enable-tail-merge=false";
    let mut options = vec![format!("-Cllvm-args={apart}")];
    if races {
        // Functions are marked first: in marked functions the optimiser invents no accesses.
        options.push("-Cllvm-args=-force-attribute=sanitize_thread".to_owned());
        options.push("-Cno-prepopulate-passes".to_owned());
        options.push(format!("-Cpasses=forceattrs,default<O{level}>,cgscc(inline),tsan-module,tsan"));
    } else {
        options.push("-Cpasses=cgscc(inline),tsan-module,tsan".to_owned());
    }
    options
}

/// The arguments without options that conflict with the sanitizer.
fn without_hindrances(arguments: &[OsString]) -> Vec<OsString> {
    let hinders = |value: &str| {
        let name = value.split('=').next().unwrap_or_default();
        ["lto", "linker-plugin-lto", "embed-bitcode", "strip", "split-debuginfo", "prefer-dynamic"].contains(&name)
            || value == "debuginfo=0"
            || value == "debuginfo=none"
    };
    let mut all = Vec::with_capacity(arguments.len());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let word = argument.to_string_lossy();
        if word == "-C" || word == "--codegen" {
            let value = arguments.next();
            if let Some(value) = value.filter(|value| !hinders(&value.to_string_lossy())) {
                all.extend([argument.clone(), value.clone()]);
            }
        } else if !word.strip_prefix("-C").is_some_and(hinders) {
            all.push(argument.clone());
        }
    }
    all
}

/// Adds the runtime to an executable.
fn link(command: &mut Command, rustc: &OsStr) -> Result<(), NotCompiled> {
    let runtime = Runtime::unpack()?;
    let wrapping = Wrapping::of(rustc, &runtime)?;
    let argument = |before: &str, file: &Path| {
        let mut argument = OsString::from(before);
        argument.push(file);
        argument
    };
    command.arg(argument("-Clink-arg=", &runtime.object()));
    command.arg(argument("-Clink-arg=", &wrapping.object));
    command.arg(argument("-Clink-arg=-Wl,--dynamic-list=", &runtime.dynamic_list()));
    // rustc names the C library before these, and some linkers search only later libraries.
    command.args(["-Clink-arg=-lpthread", "-Clink-arg=-ldl", "-Clink-arg=-lc"]);
    for symbol in &wrapping.symbols {
        command.arg(format!("-Clink-arg=-Wl,--wrap={symbol}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn request(line: &str) -> RustcRequest {
        RustcRequest::read(&words(line))
    }

    const BINARY: &str = "--crate-name app src/main.rs --crate-type bin --emit=dep-info,link -C debuginfo=2 -C metadata=1 -C extra-filename=-1f --out-dir /t/deps --target x86_64-unknown-linux-gnu";

    #[test]
    fn what_runs_on_the_host_is_left_alone() {
        assert!(request(BINARY).for_target);
        assert!(!request("--crate-name build_script_build build.rs --crate-type bin --emit=dep-info,link").for_target);
        assert!(request("-vV").only_asks);
        assert!(request("- --crate-name ___ --print=file-names --crate-type bin --target x").only_asks);
    }

    #[test]
    fn executables_are_found_where_rustc_puts_them() {
        let binary = request(BINARY);
        assert_eq!((binary.links, binary.executable), (LinkMode::Executable, Some(PathBuf::from("/t/deps/app-1f"))));
        let test = request(
            "--crate-name app src/lib.rs --emit=dep-info,link --test --out-dir=/t -Cextra-filename=-2 --target x",
        );
        assert_eq!((test.links, test.executable), (LinkMode::Executable, Some(PathBuf::from("/t/app-2"))));
        assert_eq!(request("--crate-type lib --emit=dep-info,metadata,link --target x").links, LinkMode::Nothing);
        assert_eq!(request("--crate-type cdylib,rlib --target x").links, LinkMode::SharedLibrary);
        assert_eq!(request("--crate-type bin --emit=metadata --target x").links, LinkMode::Nothing);
    }

    #[test]
    fn options_that_hinder_are_changed() {
        let line = "-C lto=fat -Cstrip=symbols -C debuginfo=0 -C opt-level=3 --codegen embed-bitcode=no -C panic=abort";
        let all = instrumented(&words(line), &request(line), false);
        let all: Vec<_> = all.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(
            all.join(" "),
            "-C opt-level=3 -C panic=abort -Cdebuginfo=line-tables-only \
             -Cllvm-args=-hoist-common-insts=false -sink-common-insts=false -enable-tail-merge=false \
             -Cpasses=cgscc(inline),tsan-module,tsan"
        );
    }

    #[test]
    fn level_0_becomes_level_1_with_its_checks() {
        let all = |line| {
            let all = instrumented(&words(line), &request(line), true);
            all.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        let debug = all("-C debuginfo=2");
        assert!(debug.contains("-Copt-level=1 -Cdebug-assertions=on -Coverflow-checks=on"), "{debug}");
        assert!(debug.contains("default<O1>"), "{debug}");
        assert!(!all("-C debug-assertions=off").contains("-Cdebug-assertions=on"));
        assert!(all("-C opt-level=s").contains("default<Os>"));
    }
}
