//! Builds the runtime that watched programs link, so that `ravelin` carries it inside and needs nothing beside itself.
//!
//! A cargo of its own builds `ravelin-runtime` with the profile `runtime`, in a directory of its own: the outer cargo
//! holds the lock of its own directory, and the flags meant for the outer build (lints, coverage, another target) are
//! not meant for code that runs inside other programs. The static library holds all of std; linked to one relocatable
//! object with only the interface visible it is small, and nothing in it can clash with the watched program. Where
//! the tools for that are missing the static library is used as it is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What cargo and its wrappers tell their children, and what must not reach the runtime's build.
const NOT_INHERITED: &[&str] = &[
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
    "CLIPPY_ARGS",
    "CLIPPY_CONF_DIR",
    "LLVM_PROFILE_FILE",
    "TARGET",
    "HOST",
    "PROFILE",
    "OPT_LEVEL",
    "DEBUG",
];

fn main() {
    let crates = crates();
    for source in ["ravelin-runtime", "ravelin-clocks/src", "ravelin-findings/src", "ravelin-schedule/src"] {
        println!("cargo::rerun-if-changed={}", crates.join(source).display());
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", crates.join("..").join(file).display());
    }
    println!("cargo::rerun-if-changed=build.rs");

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let archive = build_runtime(&crates, &out.join("runtime")).join("libravelin_runtime.a");
    let exported = interface(&archive);
    assert!(exported.iter().any(|name| name == "__tsan_init"), "the runtime lacks the compilers' interface");

    let object = out.join("ravelin.o");
    if !relocatable(&archive, &exported, &out, &object) {
        println!("cargo::warning=ld or objcopy is missing or failed: the runtime is linked as a whole static library");
        fs::copy(&archive, &object).expect("the static library can be copied");
    }
    // The shared library is only for programs that somebody else linked; without it they are not watched.
    let shared = out.join("ravelin.so");
    if !succeeds(Command::new("cc").arg("-shared").arg("-o").args([&shared, &object]).args(["-lpthread", "-ldl"])) {
        fs::write(&shared, []).expect("OUT_DIR is writable");
    }
    let list: String = exported.iter().map(|name| format!("  {name};\n")).collect();
    fs::write(out.join("ravelin.list"), format!("{{\n{list}}};\n")).expect("OUT_DIR is writable");

    let header = crates.join("ravelin-runtime/include/ravelin.h");
    let text = fs::read(header).unwrap_or_default();
    fs::write(out.join("ravelin.h"), text).expect("OUT_DIR is writable");
    println!("cargo::rustc-env=RAVELIN_RUNTIME_VERSION={}", version(&out));
}

/// A name for exactly these files: 64 bits of FNV-1a over all of them.
fn version(out: &Path) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for file in ["ravelin.o", "ravelin.so", "ravelin.list", "ravelin.h"] {
        for byte in fs::read(out.join(file)).expect("the file was just written") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// The directory of all crates of the project.
fn crates() -> PathBuf {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    here.parent().expect("the crate is a directory of the project").to_owned()
}

/// Builds the runtime, and gives the directory of what came out.
fn build_runtime(crates: &Path, target: &Path) -> PathBuf {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(crates.join("ravelin-runtime"));
    cargo.args(["build", "--package", "ravelin-runtime", "--profile", "runtime", "--target-dir"]).arg(target);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let of_a_package = ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_", "CARGO_PROFILE_", "DEP_"];
        if NOT_INHERITED.contains(&&*name) || of_a_package.iter().any(|start| name.starts_with(start)) {
            cargo.env_remove(&*name);
        }
    }
    match cargo.status() {
        Ok(status) if status.success() => target.join("runtime"),
        Ok(status) => panic!("the sanitizer's runtime could not be built: cargo ended with {status}"),
        Err(error) => panic!("the sanitizer's runtime could not be built: cargo could not be started: {error}"),
    }
}

/// The interface: the visible symbols of the runtime's own object that are not Rust's. Some are pieces of assembly, of
/// which rustc knows nothing.
fn interface(archive: &Path) -> Vec<String> {
    let rust = |name: &str| ["_R", "_ZN", "rust_", "__rust", "DW."].iter().any(|start| name.starts_with(start));
    let is_own = |symbol: &Symbol| symbol.member.starts_with("ravelin_runtime") && !rust(&symbol.name);
    let mut names: Vec<String> = symbols(archive).into_iter().filter(is_own).map(|symbol| symbol.name).collect();
    names.sort();
    names.dedup();
    names
}

/// A symbol that is defined and visible outside, and the member of the archive that defines it.
struct Symbol {
    member: String,
    name: String,
}

/// The visible symbols of an archive or an object, as `readelf` prints them (`nm` does not say which are hidden).
/// Reading them here would take a crate that is built for nothing else.
fn symbols(file: &Path) -> Vec<Symbol> {
    let output = Command::new("readelf").args(["--symbols", "--wide"]).arg(file).env("LC_ALL", "C").output();
    let output = output.unwrap_or_else(|error| panic!("`readelf` (of binutils) could not be started: {error}"));
    assert!(output.status.success(), "`readelf` failed: {}", String::from_utf8_lossy(&output.stderr));
    let mut member = String::new();
    let mut symbols = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(file) = line.strip_prefix("File: ") {
            member = file.rsplit_once('(').and_then(|(_, name)| name.strip_suffix(')')).unwrap_or(file).to_owned();
        }
        // `NUMBER: VALUE SIZE TYPE BINDING VISIBILITY SECTION NAME`
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let [_, _, _, _, "GLOBAL" | "WEAK", "DEFAULT", section, name] = fields[..]
            && section != "UND"
        {
            symbols.push(Symbol { member: member.clone(), name: name.to_owned() });
        }
    }
    symbols
}

/// One small object from the static library: what the interface needs, and only the interface visible.
fn relocatable(archive: &Path, exported: &[String], out: &Path, object: &Path) -> bool {
    let whole = out.join("whole.o");
    let roots = exported.iter().map(|name| format!("--undefined={name}"));
    // A group that the program has too would be dropped as a whole, although what is in it is our own.
    let options = ["-r", "--gc-sections", "--force-group-allocation"];
    let linked = succeeds(Command::new("ld").args(options).args(roots).arg("-o").arg(&whole).arg(archive));
    let names = out.join("interface");
    let listed = fs::write(&names, exported.join("\n") + "\n").is_ok();
    linked
        && listed
        && succeeds(
            Command::new("objcopy")
                .arg(format!("--keep-global-symbols={}", names.display()))
                // What std would need to print a backtrace is not worth a library: nobody calls it.
                .args(["--strip-debug", "--strip-unneeded", "--wildcard", "--weaken-symbol=_Unwind_*"])
                .args([&whole, object]),
        )
        && keeps(object, exported)
}

/// Whether the object still defines the whole interface.
fn keeps(object: &Path, exported: &[String]) -> bool {
    let defined: std::collections::HashSet<String> = symbols(object).into_iter().map(|symbol| symbol.name).collect();
    exported.iter().all(|name| defined.contains(name))
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
