//! The cargo command with the sanitizer.

use super::TARGET;
use super::rustc::{OUTER, RACES, WRAPPER, instrumentation};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// A cargo command line, and the environment it needs.
#[derive(Debug)]
pub struct Cargo {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    /// Whether documentation tests were omitted.
    pub without_doctests: bool,
    /// Whether non-atomic accesses are instrumented.
    pub races: bool,
    /// Why they are not although they should be.
    pub without_races: Option<String>,
}

/// Whether non-atomic accesses are instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Races {
    No,
    IfPossible,
    Required,
}

/// Why no command could be made.
#[derive(Debug, thiserror::Error)]
pub enum NoCargo {
    #[error("name a command of cargo: test, run, build or bench, or verify")]
    NoCommand,
    #[error("cargo {0} builds nothing to watch; use test, run, build, bench or verify")]
    NothingToWatch(String),
    #[error("there is a runtime for the target {TARGET} only, not for {0}")]
    OtherTarget(String),
    #[error("this toolchain cannot instrument {}: {said}", if *.races { "non-atomic accesses" } else { "atomics" })]
    NoPasses { races: bool, said: String },
    #[error("{}: cargo cannot be run", .0.display())]
    NotStarted(PathBuf, #[source] io::Error),
    #[error("cargo does not say where it builds: {0}")]
    NoDirectory(String),
    #[error("{}: the directory cannot be prepared", .0.display())]
    NotPrepared(PathBuf, #[source] io::Error),
}

impl Cargo {
    /// The command that builds the tests which `words` (arguments of `cargo test`) select, and names their programs.
    pub fn test_programs(words: &[OsString], races: Races) -> Result<Cargo, NoCargo> {
        let first = ["test", "--no-run", "--message-format=json-render-diagnostics"].map(OsString::from);
        Cargo::new(&first.into_iter().chain(words.iter().cloned()).collect::<Vec<_>>(), races)
    }

    /// The command `words` (a command of cargo and its arguments).
    pub fn new(words: &[OsString], races: Races) -> Result<Cargo, NoCargo> {
        let [command, arguments @ ..] = words else { return Err(NoCargo::NoCommand) };
        let name = command.to_string_lossy().into_owned();
        if !["test", "t", "run", "r", "build", "b", "bench"].contains(&&*name) {
            return Err(NoCargo::NothingToWatch(name));
        }
        let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let asked = CargoRequest::read(arguments);
        if let Some(target) = asked.target.as_ref().filter(|target| *target != TARGET) {
            return Err(NoCargo::OtherTarget(target.clone()));
        }
        let (races, without_races) = match probe(races != Races::No) {
            Ok(()) => (races != Races::No, None),
            Err(lacking @ NoCargo::NoPasses { .. }) if races == Races::IfPossible => {
                probe(false)?;
                (false, Some(lacking.to_string()))
            }
            Err(error) => return Err(error),
        };
        let base = match asked.directory {
            Some(directory) => directory,
            None => directory(&program, asked.manifest.as_deref())?,
        };
        let directory = base.join(if races { "ravelin" } else { "ravelin-no-races" });
        let wrapper = prepare(&directory)?;
        let mut all = vec![command.clone(), "--target-dir".into(), directory.into_os_string()];
        if asked.target.is_none() {
            all.extend(["--target".into(), TARGET.into()]);
        }
        let without_doctests = ["test", "t"].contains(&&*name) && !asked.selects;
        if without_doctests {
            all.push("--tests".into());
        }
        all.extend(asked.others);
        let mut environment = vec![("RUSTC_WRAPPER".into(), wrapper.into_os_string())];
        // It would come between the compiler and the wrapper.
        environment.push(("RUSTC_WORKSPACE_WRAPPER".into(), OsString::new()));
        environment.push((OUTER.into(), env::var_os("RUSTC_WRAPPER").unwrap_or_default()));
        if races {
            environment.push((RACES.into(), "1".into()));
        }
        Ok(Cargo { program, arguments: all, environment, without_doctests, races, without_races })
    }
}

/// The arguments of cargo that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
struct CargoRequest {
    target: Option<String>,
    directory: Option<PathBuf>,
    manifest: Option<PathBuf>,
    /// Whether the arguments select targets of the package.
    selects: bool,
    /// All arguments except the target directory.
    others: Vec<OsString>,
}

impl CargoRequest {
    fn read(arguments: &[OsString]) -> CargoRequest {
        const SELECT: &[&str] = &[
            "--lib",
            "--bin",
            "--bins",
            "--test",
            "--tests",
            "--example",
            "--examples",
            "--bench",
            "--benches",
            "--all-targets",
            "--doc",
        ];
        let mut asked = CargoRequest::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            // The arguments after this belong to the program.
            if argument == "--" {
                asked.others.push(argument.clone());
                asked.others.extend(rest.cloned());
                break;
            }
            let bytes = argument.as_bytes();
            let equals = bytes.iter().position(|&byte| byte == b'=').filter(|_| bytes.starts_with(b"--"));
            let (option, value) = match equals {
                Some(at) => (&bytes[..at], Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned())),
                None => (bytes, None),
            };
            let option = String::from_utf8_lossy(option).into_owned();
            asked.selects |= SELECT.contains(&&*option);
            if !["--target", "--target-dir", "--manifest-path"].contains(&&*option) {
                asked.others.push(argument.clone());
                continue;
            }
            let apart = value.is_none();
            let value = value.or_else(|| rest.next().cloned()).unwrap_or_default();
            match &*option {
                "--target-dir" => {
                    asked.directory = Some(std::path::absolute(&value).unwrap_or_else(|_| PathBuf::from(&value)));
                    continue;
                }
                "--target" => asked.target = Some(value.to_string_lossy().into_owned()),
                _ => asked.manifest = Some(PathBuf::from(&value)),
            }
            asked.others.push(argument.clone());
            if apart {
                asked.others.push(value);
            }
        }
        asked
    }
}

/// Checks with an empty crate whether the toolchain supports the instrumentation.
fn probe(races: bool) -> Result<(), NoCargo> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    // rustc writes more files than requested, under the same names each time.
    let folder = env::temp_dir().join(format!("ravelin-probe-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| NoCargo::NotPrepared(folder.clone(), error))?;
    let output = Command::new(&rustc)
        .args(["-", "--crate-name=probe", "--crate-type=lib", "--emit=obj", "-Copt-level=1"])
        .args(["--target", TARGET, "--out-dir"])
        .arg(&folder)
        .args(instrumentation("1", races))
        .stdin(Stdio::null())
        .output();
    // Leftovers in a temporary directory are harmless.
    let _ = fs::remove_dir_all(&folder);
    let output = output.map_err(|error| NoCargo::NotStarted(PathBuf::from(rustc), error))?;
    if output.status.success() {
        return Ok(());
    }
    Err(NoCargo::NoPasses { races, said: String::from_utf8_lossy(&output.stderr).trim().to_owned() })
}

/// Where cargo would build.
fn directory(cargo: &OsStr, manifest: Option<&Path>) -> Result<PathBuf, NoCargo> {
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--format-version=1"]).stdin(Stdio::null());
    if let Some(manifest) = manifest {
        command.arg("--manifest-path").arg(manifest);
    }
    let output = command.output().map_err(|error| NoCargo::NotStarted(PathBuf::from(cargo), error))?;
    if !output.status.success() {
        return Err(NoCargo::NoDirectory(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let told: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
    let directory = told.as_ref().and_then(|told| told.get("target_directory")?.as_str());
    directory.map(PathBuf::from).ok_or_else(|| NoCargo::NoDirectory("its answer is no JSON".to_owned()))
}

/// Creates the directory and the wrapper in it. Output of another version of the sanitizer is removed, because cargo
/// cannot know that it must be rebuilt.
fn prepare(directory: &Path) -> Result<PathBuf, NoCargo> {
    let not_prepared = |error| NoCargo::NotPrepared(directory.to_owned(), error);
    let version = directory.join("ravelin-version");
    let ours = concat!(env!("CARGO_PKG_VERSION"), " ", env!("RAVELIN_RUNTIME_VERSION"), "\n");
    fs::create_dir_all(directory).map_err(not_prepared)?;
    // A second process would remove what the first one has begun to build.
    let lock = fs::File::create(directory.join("ravelin-lock")).map_err(not_prepared)?;
    lock.lock().map_err(not_prepared)?;
    if fs::read_to_string(&version).is_ok_and(|built| built != ours) {
        for left in [TARGET, "debug", "release"] {
            match fs::remove_dir_all(directory.join(left)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(not_prepared(error)),
                _ => {}
            }
        }
    }
    fs::write(&version, ours).map_err(not_prepared)?;
    drop(lock);
    let wrapper = directory.join(WRAPPER);
    let ourselves = env::current_exe().map_err(not_prepared)?;
    if fs::read_link(&wrapper).is_ok_and(|there| there == ourselves) {
        return Ok(wrapper);
    }
    // Another process may be doing the same now, so the file is renamed into place.
    let temporary = directory.join(format!("{WRAPPER}-{}", std::process::id()));
    let _ = fs::remove_file(&temporary);
    std::os::unix::fs::symlink(&ourselves, &temporary)
        .and_then(|()| fs::rename(&temporary, &wrapper))
        .map_err(not_prepared)?;
    Ok(wrapper)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> CargoRequest {
        CargoRequest::read(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_passed_on() {
        let line = "--release -p queue --features a,b --manifest-path=x/Cargo.toml -- --target none --lib";
        let asked = request(line);
        assert_eq!(asked.others.join(OsStr::new(" ")), OsStr::new(line));
        assert_eq!((asked.target, asked.selects), (None, false));
        assert_eq!(asked.manifest, Some(PathBuf::from("x/Cargo.toml")));
    }

    #[test]
    fn a_target_directory_is_ours_to_give() {
        for line in ["--target-dir /t --lib", "--lib --target-dir=/t"] {
            let asked = request(line);
            assert_eq!(asked.directory, Some(PathBuf::from("/t")));
            assert_eq!(asked.others, [OsString::from("--lib")]);
            assert!(asked.selects);
        }
        assert_eq!(request("--target x").target.as_deref(), Some("x"));
    }

    #[test]
    fn only_what_builds_can_be_watched() {
        assert!(matches!(Cargo::new(&[], Races::No), Err(NoCargo::NoCommand)));
        assert!(matches!(Cargo::new(&["clippy".into()], Races::No), Err(NoCargo::NothingToWatch(_))));
        let words = ["build", "--target", "wasm32-unknown-unknown"].map(OsString::from);
        assert!(matches!(Cargo::new(&words, Races::No), Err(NoCargo::OtherTarget(_))));
    }
}
