//! Files that are written: as a whole or not at all, with the permissions they had, behind the links that lead to them.

use crate::running;

use running::{Scratch, code, ravelin};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const OLD: &str = "what was there before, and is worth keeping\n";

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Every command that writes a file, with `OUT` for its name.
const WRITERS: &[&str] = &[
    "convert examples/sb.rav --to rav -o OUT",
    "fence examples/dekker.rav --model tso --write OUT",
    "check examples/dekker.rav --html OUT",
    "check examples/dekker.rav --svg OUT",
    "check examples/any-number/sb-two-fenced.rav --certify OUT",
    "reach examples/dekker-fenced.rav --model tso --certify OUT",
    "simulate examples/sb.rav --profile OUT",
];

fn words(line: &str, out: &str) -> Vec<String> {
    line.split(' ').map(|word| if word == "OUT" { out.to_owned() } else { word.to_owned() }).collect()
}

fn run(words: &[String]) -> Output {
    ravelin(&words.iter().map(String::as_str).collect::<Vec<_>>(), "")
}

/// The shell's limit on the size of files stands for a full disk.
fn run_on_full_disk(words: &[String]) -> Output {
    run_with_limit("trap '' XFSZ; ulimit -f 0; exec \"$@\"", words)
}

fn run_with_limit(script: &str, words: &[String]) -> Output {
    Command::new("env")
        .args(["--default-signal=XFSZ", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_ravelin")])
        .args(words)
        .current_dir(ROOT)
        .stdin(Stdio::null())
        .output()
        .expect("a shell")
}

fn folder(scratch: &Scratch, name: &str) -> PathBuf {
    let path = PathBuf::from(scratch.write(name, ""));
    std::fs::remove_file(&path).expect("a file");
    std::fs::create_dir(&path).expect("a folder");
    path
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_full_disk_leaves_every_file_as_it_was() {
    let scratch = Scratch::new("files-full");
    for (number, line) in WRITERS.iter().enumerate() {
        let folder = folder(&scratch, &number.to_string());
        let out = folder.join("out");
        std::fs::write(&out, OLD).expect("a file");
        let output = run_on_full_disk(&words(line, &out.display().to_string()));
        assert_eq!(code(&output), 2, "{line}: {}", said(&output));
        assert!(said(&output).contains("error: "), "{line}: {}", said(&output));
        assert_eq!(std::fs::read_to_string(&out).expect("a file"), OLD, "{line}");
        assert_eq!(names(&folder), ["out"], "{line}");
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_no_signal() {
    let scratch = Scratch::new("files-limit");
    let folder = folder(&scratch, "folder");
    for line in WRITERS {
        let output =
            run_with_limit("ulimit -f 0; exec \"$@\"", &words(line, &folder.join("out").display().to_string()));
        assert_eq!(code(&output), 2, "{line}: {}", said(&output));
        assert!(said(&output).contains("error: "), "{line}: {}", said(&output));
        assert_eq!(names(&folder), Vec::<String>::new(), "{line}");
    }
    // Standard output may be a file, too.
    let script = format!("ulimit -f 0; exec \"$@\" > {}", folder.join("out").display());
    let output = run_with_limit(&script, &words("check examples/dekker.rav", ""));
    assert_eq!(code(&output), 2, "{}", said(&output));
    // What is run has the signal as it was.
    let program = scratch.write("ignored", "#!/bin/sh\ngrep SigIgn /proc/self/status >&2\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    let ignored = |script: &str| {
        let output = run_with_limit(script, &["run".to_owned(), program.clone()]);
        let text = said(&output);
        let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_else(|| panic!("{text}"));
        u64::from_str_radix(mask.trim(), 16).expect("a mask") >> 24 & 1 == 1
    };
    assert!(!ignored("exec \"$@\""));
    assert!(ignored("trap '' XFSZ; exec \"$@\""));
}

#[test]
fn a_full_disk_does_not_cut_the_source_that_is_repaired() {
    let scratch = Scratch::new("files-source");
    let text = std::fs::read_to_string(format!("{ROOT}/examples/dekker.rav")).expect("an example");
    let source = scratch.write("dekker.rav", &text);
    let words = ["fence", &source, "--model", "tso", "--write", &source].map(str::to_owned);
    assert_eq!(code(&run_on_full_disk(&words)), 2);
    assert_eq!(std::fs::read_to_string(&source).expect("a file"), text);
    assert_eq!(code(&run(&words)), 0);
    assert_eq!(code(&ravelin(&["check", &source, "--model", "tso"], "")), 0, "it is repaired");
}

#[test]
fn permissions_and_links_stay() {
    let scratch = Scratch::new("files-kept");
    for (number, line) in WRITERS.iter().enumerate() {
        let folder = folder(&scratch, &number.to_string());
        let (out, link) = (folder.join("out"), folder.join("link"));
        std::fs::write(&out, OLD).expect("a file");
        std::fs::set_permissions(&out, std::fs::Permissions::from_mode(0o640)).expect("permissions");
        symlink("out", &link).expect("a link");
        let output = run(&words(line, &link.display().to_string()));
        assert!(code(&output) < 2, "{line}: {}", said(&output));
        assert!(link.is_symlink(), "{line}");
        assert_ne!(std::fs::read_to_string(&out).expect("a file"), OLD, "{line}");
        let mode = std::fs::metadata(&out).expect("a file").permissions().mode();
        assert_eq!(mode & 0o7777, 0o640, "{line}");
        assert_eq!(names(&folder).len(), 2, "{line}: {:?}", names(&folder));
    }
}

#[test]
fn what_is_no_ordinary_file_is_written_to() {
    let scratch = Scratch::new("files-devices");
    for line in WRITERS {
        let output = run(&words(line, "/dev/null"));
        assert!(code(&output) < 2, "{line}: {}", said(&output));
        let output = run(&words(line, "/dev/full"));
        assert_eq!(code(&output), 2, "{line}: {}", said(&output));
        let output = run(&words(line, "/dev/stdout"));
        assert!(code(&output) < 2 && !output.stdout.is_empty(), "{line}: {}", said(&output));
    }
    let fifo = scratch.write("fifo", "");
    std::fs::remove_file(&fifo).expect("a file");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let reader = Command::new("cat").arg(&fifo).stdout(Stdio::piped()).spawn().expect("cat");
    assert_eq!(code(&ravelin(&["convert", "examples/sb.rav", "--to", "rav", "-o", &fifo], "")), 0);
    let read = reader.wait_with_output().expect("cat ends");
    assert_eq!(read.stdout, ravelin(&["convert", "examples/sb.rav", "--to", "rav"], "").stdout);
}

#[test]
fn what_else_goes_to_the_same_file_stays() {
    let scratch = Scratch::new("files-shared");
    let out = scratch.write("out", "");
    let line = format!(
        "(echo before; '{}' convert examples/sb.rav --to rav -o /dev/stdout; echo after) > '{out}'",
        env!("CARGO_BIN_EXE_ravelin")
    );
    assert!(Command::new("sh").args(["-c", &line]).current_dir(ROOT).status().expect("a shell").success());
    let text = std::fs::read_to_string(&out).expect("a file");
    assert!(text.starts_with("before\n") && text.ends_with("after\n") && text.contains("thread"), "{text}");
}

#[test]
fn a_directory_is_no_file() {
    let scratch = Scratch::new("files-directory");
    for (number, line) in WRITERS.iter().enumerate() {
        let folder = folder(&scratch, &number.to_string());
        let output = run(&words(line, &folder.display().to_string()));
        assert_eq!(code(&output), 2, "{line}: {}", said(&output));
        assert!(said(&output).contains("directory"), "{line}: {}", said(&output));
        assert!(names(&folder).is_empty(), "{line}");
    }
}

#[test]
fn what_is_read_only_is_not_replaced() {
    let scratch = Scratch::new("files-read-only");
    let folder = folder(&scratch, "folder");
    let (out, frozen) = (folder.join("out"), folder.join("frozen"));
    for path in [&out, &frozen] {
        std::fs::write(path, OLD).expect("a file");
    }
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
    };
    mode(&frozen, 0o444);
    mode(&folder, 0o555);
    // Whoever may do everything is not kept from anything.
    let may_write_anyway = std::fs::write(folder.join("new"), "").is_ok();
    if !may_write_anyway {
        for line in WRITERS {
            let output = run(&words(line, &out.display().to_string()));
            assert_eq!(code(&output), 2, "{line}: {}", said(&output));
            assert_eq!(std::fs::read_to_string(&out).expect("a file"), OLD, "{line}");
        }
        mode(&folder, 0o755);
        let output = run(&words(WRITERS[0], &frozen.display().to_string()));
        assert_eq!(code(&output), 2, "{}", said(&output));
        assert_eq!(std::fs::read_to_string(&frozen).expect("a file"), OLD);
    }
    mode(&folder, 0o755);
}
