//! `ravelin cargo` on a project with several programs: `tests/rust`, built once as it is by default and once with `--no-races`.
//!
//! `RAVELIN_CASES=word` tries only cases with the word in their names; `RAVELIN_CASES_LOUD=1` lets cargo and the
//! programs be heard.

use crate::programs;

use programs::{Program, finish, finish_with, try_all};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(600);

fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rust"))
}

/// Where everything is built: kept from run to run, as cargo's own directory is.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust")
}

/// `ravelin cargo OPTIONS COMMAND --manifest-path … --target-dir … REST`.
fn cargo(options: &[&str], command: &str, rest: &[&str]) -> Command {
    let mut cargo = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    cargo.arg("cargo").args(options).arg(command).arg("--manifest-path").arg(project().join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target()).args(rest);
    for inherited in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_BUILD_TARGET"] {
        cargo.env_remove(inherited);
    }
    cargo
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

#[test]
fn programs_are_judged_as_they_say() {
    let mut jobs: Vec<(Program, PathBuf)> = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(project().join("src/bin")).expect("a folder").flatten().collect();
    files.sort_by_key(std::fs::DirEntry::file_name);
    for (options, folder) in [(&[][..], "ravelin"), (&["--no-races"][..], "ravelin-no-races")] {
        let built = cargo(options, "build", &["--bins"]).output().expect("ravelin runs");
        assert!(built.status.success(), "{}", said(&built));
        for file in &files {
            let path = file.path();
            let name = path.file_stem().expect("a name").to_owned();
            let races = name.to_string_lossy().starts_with("races");
            if folder == "ravelin" || !races {
                let program = Program::read(&path).unwrap_or_else(|error| panic!("{error}")).expect("a program");
                jobs.push((program, target().join(folder).join("x86_64-unknown-linux-gnu/debug").join(name)));
            }
        }
    }
    let word = std::env::var("RAVELIN_CASES").unwrap_or_default();
    let cases: Vec<_> = jobs
        .iter()
        .flat_map(|(program, built)| program.cases.iter().map(move |case| (program, built, case)))
        .map(|(program, built, case)| (program, built, case, format!("{} {}", built.display(), case.name)))
        .filter(|(.., name)| name.contains(&word))
        .collect();
    assert!(!cases.is_empty(), "no case has `{word}` in its name");
    try_all("rust", &cases, |(program, built, case, name), scratch| {
        program.try_built(case, built, scratch).map_err(|reason| format!("{name}: {reason}"))
    });
}

#[test]
fn tests_are_watched_and_their_findings_decide_the_exit_code() {
    let output = cargo(&["--exit-code", "7"], "test", &["--lib", "store_buffering"]).output().expect("ravelin runs");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(7), "{text}");
    for part in [
        "1 passed",
        "may read a stale value",
        "src/lib.rs:",
        ".store(1, Release);",
        "load of `watched::tests::",
        "cargo test: ",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    // The standard library's frames are not shown.
    assert!(!text.contains("/library/"), "{text}");
    let output = cargo(&[], "test", &["--lib", "locks"]).output().expect("ravelin runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// The line of `races.rs` with this text.
fn line_of(text: &str) -> usize {
    let source = include_str!("rust/src/bin/races.rs");
    source.lines().position(|line| line.contains(text)).expect("a line") + 1
}

#[test]
fn data_races_are_looked_for_by_default_and_relaxed_publication_gets_its_orders() {
    let run = |options: &[&str]| {
        let output = cargo(options, "run", &["--bin", "races", "--", "publish"]).output().expect("ravelin runs");
        (output.status.code(), said(&output))
    };
    let advice = [
        format!("/races.rs:{} release and the load at ", line_of("READY.store(true, release)")),
        format!("/races.rs:{} acquire", line_of("READY.load(acquire)")),
    ];
    for options in [&[][..], &["--races"][..]] {
        let (code, text) = run(options);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("data race") && advice.iter().all(|part| text.contains(part)), "{text}");
    }
    let (code, text) = run(&["--no-races"]);
    assert_eq!(code, Some(0), "{text}");
    // With the orders that are asked for.
    let output = cargo(&[], "run", &["--bin", "races", "--", "published"]).output().expect("ravelin runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn a_toolchain_without_the_pass_for_races_says_that_none_were_looked_for() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::env::temp_dir().join(format!("ravelin-lacking-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let lacking = folder.join("rustc");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *forceattrs*) echo 'error: no such pass' >&2; exit 1;; esac\nexec {rustc} \"$@\"\n"
    );
    std::fs::write(&lacking, script).expect("a file");
    std::fs::set_permissions(&lacking, std::fs::Permissions::from_mode(0o755)).expect("a file of ours");
    let run = |options: &[&str]| {
        let mut cargo = cargo(options, "run", &["--bin", "races", "--", "publish"]);
        let output = cargo.env("RUSTC", &lacking).output().expect("ravelin runs");
        (output.status.code(), said(&output))
    };
    let (without, required) = (run(&[]), run(&["--races"]));
    let json = run(&["--format", "json"]);
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(without.0, Some(0), "{}", without.1);
    let note = "note: data races were not looked for: this toolchain cannot instrument non-atomic accesses: error: no such pass";
    assert!(without.1.contains(note), "{}", without.1);
    assert!(json.1.contains("\"data races were not looked for: "), "{}", json.1);
    assert_eq!(required.0, Some(2), "{}", required.1);
    assert!(required.1.contains("cannot instrument non-atomic accesses"), "{}", required.1);
}

#[test]
fn programs_get_their_arguments_and_profiles_are_overridden() {
    let rest = ["--bin", "litmus", "--release", "--", "sb", "release", "acquire"];
    let output = cargo(&["--format", "json"], "run", &rest).output().expect("ravelin runs");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"stale-read\""), "{text}");
    assert!(text.contains("litmus.rs"), "{text}");
}

#[test]
fn a_program_with_the_types_needs_no_flags() {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--bin", "litmus", "--manifest-path"]).arg(project().join("Cargo.toml"));
    build.arg("--target-dir").arg(target().join("plain"));
    finish(&mut build, LONG).unwrap_or_else(|error| panic!("{error}"));
    let program = target().join("plain/debug/litmus");
    for (orders, expected) in [(["release", "acquire"], 1), (["seq_cst", "seq_cst"], 0)] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        run.arg("run").arg(&program).arg("types").args(orders);
        assert_eq!(finish_with(&mut run, LONG), Ok(expected), "{orders:?}");
    }
    // Without the sanitizer it is an ordinary program.
    assert_eq!(finish_with(Command::new(&program).args(["types", "release", "acquire"]), LONG), Ok(0));
}

/// The standard library's locks and futexes take turns as well.
#[test]
fn the_same_seed_gives_the_same_schedule_and_report_a_hundred_times() {
    let built = cargo(&[], "build", &["--bins"]).output().expect("ravelin runs");
    assert!(built.status.success(), "{}", said(&built));
    let programs = target().join("ravelin/x86_64-unknown-linux-gnu/debug");
    for (program, arguments, code, times) in [
        ("algorithms", "dekker release acquire", 1, 99),
        ("quiet", "several-senders", 0, 19),
        ("quiet", "condvar", 0, 19),
    ] {
        let run = |seed: &str| {
            let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
            run.args(["run", "--schedule", "random", "--format", "json", "--seed", seed]);
            let output = run.arg(programs.join(program)).args(arguments.split(' ')).output().expect("ravelin runs");
            assert_eq!(output.status.code(), Some(code), "{}", said(&output));
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.lines().filter(|line| !line.contains("\"process\":")).collect::<Vec<_>>().join("\n")
        };
        let first = run("5");
        assert!(first.contains("\"replayable\": true"), "{first}");
        for time in 0..times {
            assert_eq!(run("5"), first, "{program} {arguments} {time}");
        }
        assert_ne!(run("6"), first, "{program} {arguments}");
    }
}

/// A test program starts its first thread for its first test.
#[test]
fn runs_of_programs_and_tests_are_forked() {
    let built = cargo(&[], "build", &["--bins"]).output().expect("ravelin runs");
    assert!(built.status.success(), "{}", said(&built));
    let programs = target().join("ravelin/x86_64-unknown-linux-gnu/debug");
    for (program, arguments) in
        [("algorithms", "dekker release acquire"), ("quiet", "several-senders"), ("quiet", "condvar")]
    {
        let run = |fresh: &[&str]| {
            let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
            run.args(["run", "--schedule", "random", "--format", "json", "--runs", "8"]).args(fresh);
            let output = run.arg(programs.join(program)).args(arguments.split(' ')).output().expect("ravelin runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let (about, rest): (Vec<&str>, Vec<&str>) = (text.lines())
                .filter(|line| !line.contains("\"process\":"))
                .partition(|line| line.contains("\"fresh_processes\":"));
            (about.len(), rest.join("\n"), output.status.code())
        };
        let (forked, fresh) = (run(&[]), run(&["--fresh-processes"]));
        assert_eq!((forked.0, fresh.0), (0, 1), "{program} {arguments}: {}", forked.1);
        assert_eq!((forked.1, forked.2), (fresh.1, fresh.2), "{program} {arguments}");
    }
}

#[test]
fn wrong_command_lines_are_told() {
    let cases: [(&[&str], &str); 6] = [
        (&["cargo"], "required arguments were not provided"),
        (&["cargo", "clippy"], "cargo clippy builds nothing to watch"),
        (&["cargo", "build", "--target", "wasm32-unknown-unknown"], "for the target x86_64-unknown-linux-gnu only"),
        (&["cargo", "--no-robustness", "--no-races", "test"], "cannot be used with"),
        (&["cargo", "--races", "--no-races", "test"], "cannot be used with"),
        (&["cargo", "build", "--manifest-path", "/nowhere/Cargo.toml"], "cargo does not say where it builds"),
    ];
    for (arguments, expected) in cases {
        let output = Command::new(env!("CARGO_BIN_EXE_ravelin")).args(arguments).output().expect("ravelin runs");
        let text = said(&output);
        assert!(text.contains(expected), "{arguments:?}: {text}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    }
}

#[test]
fn cargo_finds_its_command() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_cargo-ravelin")).args(["ravelin", "--help"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(said(&output).contains("target/ravelin"), "{}", said(&output));
}
