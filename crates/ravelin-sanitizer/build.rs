//! Builds the runtime that watched programs link, so that `ravelin` carries it inside and needs no other files.
//!
//! The sources are in `runtime`: links to the crates of the project, which `cargo package` replaces by the files. A
//! package from crates.io therefore builds the runtime as a checkout does. Its only outside dependency is the crate
//! `libc`.
//!
//! A separate cargo builds them as a small workspace in `OUT_DIR`, for two reasons. The outer cargo holds the lock of
//! its own directory. And the flags and profiles of the outer build (lints, coverage, another target) are not meant for
//! code that runs inside other programs.
//!
//! The static library holds all of std. Linked to one relocatable object with only the interface visible, it is small,
//! and nothing in it can clash with the watched program. If the tools for that are missing, the static library is used
//! as it is. The binary carries the results compressed by `gzip`, if there is one: 0.8 MB instead of 2.8.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The crates of the runtime, the linked one first, and what each uses.
const CRATES: &[(&str, &[&str])] = &[
    ("ravelin-runtime", &["ravelin-clocks", "ravelin-findings", "ravelin-schedule"]),
    ("ravelin-clocks", &[]),
    ("ravelin-findings", &[]),
    ("ravelin-schedule", &["ravelin-findings"]),
];

/// How the runtime is built: it is called at every access of the watched program.
const PROFILE: &str = r#"
[profile.release]
opt-level = 3
strip = false
panic = "abort"
lto = "fat"
codegen-units = 1
"#;

/// Variables that cargo and its wrappers set for their children, and that must not reach the runtime's build.
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
    println!("cargo::rerun-if-changed=build.rs");
    let sources = package().join("runtime");
    for source in CRATES.iter().map(|(name, _)| *name).chain(["include"]) {
        // A link does not change when its target does.
        let target = sources.join(source).canonicalize();
        let target =
            target.unwrap_or_else(|error| panic!("the source of the runtime, `{source}`, is missing: {error}"));
        println!("cargo::rerun-if-changed={}", target.display());
    }

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    if is_linted() {
        for file in ["ravelin.o.packed", "ravelin.so.packed", "ravelin.list", "ravelin.h"] {
            fs::write(out.join(file), []).expect("OUT_DIR is writable");
        }
        println!("cargo::rustc-env=RAVELIN_RUNTIME_VERSION=linted");
        return;
    }
    let workspace = out.join("workspace");
    write_workspace(&sources, &workspace);
    let archive = build(&workspace, &out.join("runtime")).join("libravelin_runtime.a");
    let exported = interface(&archive);
    assert!(exported.iter().any(|name| name == "__tsan_init"), "the runtime lacks the compilers' interface");

    let object = out.join("ravelin.o");
    if !relocatable(&archive, &exported, &out, &object) {
        println!("cargo::warning=ld or objcopy is missing or failed: the runtime is linked as a whole static library");
        fs::copy(&archive, &object).expect("the static library can be copied");
    }
    // The shared library is only for programs that were linked without Ravelin; without it they are not watched.
    let shared = out.join("ravelin.so");
    if !succeeds(Command::new("cc").arg("-shared").arg("-o").args([&shared, &object]).args(["-lpthread", "-ldl"])) {
        fs::write(&shared, []).expect("OUT_DIR is writable");
    }
    let list: String = exported.iter().map(|name| format!("  {name};\n")).collect();
    fs::write(out.join("ravelin.list"), format!("{{\n{list}}};\n")).expect("OUT_DIR is writable");

    for file in [&object, &shared] {
        pack(file);
    }
    fs::copy(sources.join("include/ravelin.h"), out.join("ravelin.h")).expect("the header can be copied");
    println!("cargo::rustc-env=RAVELIN_RUNTIME_VERSION={}", version(&out));
}

/// Whether this is for `cargo clippy`, which has an `OUT_DIR` of its own and runs nothing. It needs the files, and not
/// what is in them, so the runtime is not built a second time. The runtime's crates are linted as members of the
/// workspace. `cargo xtask test` sets the variable where it runs what clippy's driver compiled.
fn is_linted() -> bool {
    const IS_RUN: &str = "RAVELIN_LINTED_IS_RUN";
    println!("cargo::rerun-if-env-changed={IS_RUN}");
    let wrapper = env::var_os("RUSTC_WORKSPACE_WRAPPER").map(PathBuf::from);
    let by_clippy = wrapper.is_some_and(|wrapper| wrapper.file_stem().is_some_and(|name| name == "clippy-driver"));
    by_clippy && env::var_os(IS_RUN).is_none()
}

/// Writes `FILE.packed` beside a file: compressed, or the same if it is empty or cannot be compressed.
fn pack(file: &Path) {
    let plain = fs::read(file).expect("the file was just written");
    let output = Command::new("gzip").args(["--best", "--no-name", "--stdout"]).arg(file).output();
    let packed = output.ok().filter(|output| output.status.success() && !plain.is_empty()).map(|output| output.stdout);
    let mut name = file.as_os_str().to_owned();
    name.push(".packed");
    fs::write(name, packed.unwrap_or(plain)).expect("OUT_DIR is writable");
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

/// The directory of this package.
fn package() -> PathBuf {
    PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
}

/// Creates the workspace that is built: manifests, links to the sources, and the lock file of the outer build.
fn write_workspace(sources: &Path, workspace: &Path) {
    let write = |path: &Path, text: &str| fs::write(path, text).expect("OUT_DIR is writable");
    let _ = fs::remove_dir_all(workspace);
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets CARGO_PKG_VERSION");
    for (name, uses) in CRATES {
        let directory = workspace.join(name);
        fs::create_dir_all(&directory).expect("OUT_DIR is writable");
        symlink(sources.join(name), directory.join("src")).expect("OUT_DIR takes links");
        let mut manifest = format!("[package]\nname = {name:?}\nversion = {version:?}\nedition = \"2024\"\n");
        if *name == "ravelin-runtime" {
            manifest += "[lib]\ncrate-type = [\"staticlib\"]\n";
        }
        manifest += "[dependencies]\n";
        if *name == "ravelin-runtime" {
            manifest += "libc = \"0.2\"\n";
        }
        for used in *uses {
            manifest += &format!("{used} = {{ path = \"../{used}\" }}\n");
        }
        write(&directory.join("Cargo.toml"), &manifest);
    }
    write(&workspace.join("Cargo.toml"), &format!("[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n{PROFILE}"));
    // A package has its own lock file; a checkout has one for all crates. Cargo ignores unneeded entries.
    let locks = [package().join("Cargo.lock"), package().join("../../Cargo.lock")];
    if let Some(lock) = locks.iter().find(|lock| lock.is_file()) {
        println!("cargo::rerun-if-changed={}", lock.display());
        write(&workspace.join("Cargo.lock"), &fs::read_to_string(lock).unwrap_or_default());
    }
}

/// Builds the runtime, and returns the output directory.
fn build(workspace: &Path, target: &Path) -> PathBuf {
    let manifest = workspace.join("Cargo.toml");
    let mut build = cargo("build", &manifest);
    build.args(["--package", "ravelin-runtime", "--release", "--target-dir"]).arg(target);
    // A user of this crate may have locked another version of libc, and may have no network for the one that is locked
    // here. The other version was downloaded for this crate, which needs it as well.
    if !succeeds(cargo("fetch", &manifest).arg("--quiet")) {
        let _ = fs::remove_file(workspace.join("Cargo.lock"));
        build.arg("--offline");
    }
    match build.status() {
        Ok(status) if status.success() => target.join("release"),
        Ok(status) => panic!("the sanitizer's runtime could not be built: cargo ended with {status}"),
        Err(error) => panic!("the sanitizer's runtime could not be built: cargo could not be started: {error}"),
    }
}

/// `cargo COMMAND` for the runtime: with the user's configuration, but without what the outer build adds to it.
fn cargo(command: &str, manifest: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(package()).arg(command).arg("--manifest-path").arg(manifest);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let of_a_package = ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_", "CARGO_PROFILE_", "DEP_"];
        if NOT_INHERITED.contains(&&*name) || of_a_package.iter().any(|start| name.starts_with(start)) {
            cargo.env_remove(&*name);
        }
    }
    cargo
}

/// The interface: the visible symbols of the runtime's own object that are not Rust's. Some are pieces of assembly that
/// rustc does not know about.
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
/// Reading them here would need a crate just for that.
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
    // A group that the program also has would be dropped as a whole, although its content belongs to the runtime.
    let options = ["-r", "--gc-sections", "--force-group-allocation"];
    let linked = succeeds(Command::new("ld").args(options).args(roots).arg("-o").arg(&whole).arg(archive));
    let merged = merge_sections(&whole, out).unwrap_or(whole);
    let names = out.join("interface");
    let listed = fs::write(&names, exported.join("\n") + "\n__ravelin_code\n__ravelin_code_end\n").is_ok();
    linked
        && listed
        && succeeds(
            Command::new("objcopy")
                .arg(format!("--keep-global-symbols={}", names.display()))
                // std's code for printing backtraces needs a library, but it is never called.
                .args(["--strip-debug", "--strip-unneeded", "--wildcard", "--weaken-symbol=_Unwind_*"])
                .args([&merged, object]),
        )
        && keeps(object, exported)
}

/// The sections of rustc, one per function and constant, as a few: a watched program is linked in half the time, and
/// the object is a tenth smaller. `None` if this linker cannot do it. Functions that are seldom called stay together.
/// Two symbols tell where the code is, most of whose functions have no name any more: no stack shows them.
fn merge_sections(object: &Path, out: &Path) -> Option<PathBuf> {
    const SCRIPT: &str = "SECTIONS {
        .text 0 : { __ravelin_code = .; *(.text.unlikely .text.unlikely.*) *(.text .text.*) __ravelin_code_end = .; }
        .rodata 0 : { *(.rodata .rodata.*) }
        .data.rel.ro 0 : { *(.data.rel.ro .data.rel.ro.*) }
        .data 0 : { *(.data .data.*) }
        .bss 0 : { *(.bss .bss.*) }
        .tdata 0 : { *(.tdata .tdata.*) }
        .tbss 0 : { *(.tbss .tbss.*) }
        .gcc_except_table 0 : { *(.gcc_except_table .gcc_except_table.*) }
    }";
    let (script, merged) = (out.join("sections"), out.join("merged.o"));
    fs::write(&script, SCRIPT).ok()?;
    let done = succeeds(Command::new("ld").arg("-r").arg("-T").arg(&script).arg("-o").arg(&merged).arg(object));
    done.then_some(merged)
}

/// Whether the object still defines the whole interface.
fn keeps(object: &Path, exported: &[String]) -> bool {
    let defined: std::collections::HashSet<String> = symbols(object).into_iter().map(|symbol| symbol.name).collect();
    exported.iter().all(|name| defined.contains(name))
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
