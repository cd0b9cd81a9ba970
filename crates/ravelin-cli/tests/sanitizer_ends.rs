//! However a program ends, and wherever there is no room: what was found is kept or said to be missing, and the program
//! ends as it would without the sanitizer.

use crate::running;
use crate::workshop;

use ravelin_findings::header;
use running::code;
use serde_json::Value;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use workshop::{SB, Workshop, compilers, text};

/// A workshop with store buffering in `sb`, and a directory for temporary files; `None` without a compiler.
fn with_sb(name: &str) -> Option<(Workshop, PathBuf)> {
    let (cc, _) = compilers().first().copied()?;
    let place = Workshop::new(name);
    place.write("sb.c", SB);
    place.builds(&format!("cc --ravelin-compiler={cc} -O1 sb.c -o sb"));
    let temporary = place.0.join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    Some((place, temporary))
}

/// Runs a command of the shell under `ravelin run OPTIONS`.
fn run_shell(place: &Workshop, temporary: &PathBuf, options: &str, line: &str) -> Output {
    let mut command = place.command(&format!("run {options} sh -c"));
    command.arg(line).env("TMPDIR", temporary).output().expect("ravelin starts")
}

fn is_empty(directory: &PathBuf) -> bool {
    std::fs::read_dir(directory).expect("a folder").next().is_none()
}

fn finds(output: &Output) {
    assert_eq!(code(output), 1, "{}", text(output));
    assert!(text(output).contains("may read a stale value"), "{}", text(output));
}

#[test]
fn findings_take_nothing_from_the_disk() {
    let Some((place, temporary)) = with_sb("disk") else { return };
    let output = run_shell(&place, &temporary, "", "./sb && ls -A \"$TMPDIR\"");
    finds(&output);
    assert_eq!(output.stdout, b"done\n");
    // There need not even be a place for temporary files.
    finds(&place.command("run ./sb").env("TMPDIR", "/nonexistent").output().expect("ravelin starts"));
}

#[test]
fn programs_that_others_start_are_watched() {
    let Some((place, temporary)) = with_sb("started") else { return };
    // A shell that closes everything it does not know, two programs at a time, and one in place of another.
    let closed: String = (3..10).map(|file| format!("exec {file}>&-; ")).collect();
    for line in ["./sb", &format!("{closed} ./sb"), "./sb & ./sb; wait", "(exec ./sb) | cat", "exec ./sb"] {
        finds(&run_shell(&place, &temporary, "", line));
    }
    let output = run_shell(&place, &temporary, "--format json --output report", "./sb & ./sb; wait; ./sb");
    let report = std::fs::read(place.0.join("report")).expect("the report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["answers"][0]["processes"].as_array().map(Vec::len), Some(3), "{}", text(&output));
}

#[test]
fn a_program_that_is_killed_loses_nothing() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("killed");
    place.write("sb.c", format!("#include <signal.h>\n{}", SB.replace("puts(\"done\");", "raise(SIGKILL);")));
    place.builds(&format!("cc --ravelin-compiler={cc} sb.c -o sb"));
    for options in ["", "--findings kept"] {
        finds(&place.ravelin(&format!("run {options} ./sb")));
    }
}

/// To make a file longer than the limit would be a signal that ends the program.
#[test]
fn a_limit_for_files_does_not_end_the_program() {
    let Some((place, temporary)) = with_sb("limit") else { return };
    finds(&run_shell(&place, &temporary, "", "ulimit -f 1; ./sb"));
    assert!(is_empty(&temporary));
}

#[test]
fn a_program_that_cannot_reach_the_memory_uses_a_directory() {
    let Some((place, temporary)) = with_sb("directory") else { return };
    finds(&run_shell(&place, &temporary, "", "RAVELIN_ARENA=/nonexistent ./sb"));
    assert!(is_empty(&temporary), "the directory is left behind");
}

/// It makes the directory as that user. Needs to be allowed to become another one.
#[test]
fn a_program_that_becomes_another_user_leaves_its_findings_and_nothing_else() {
    let Some((place, temporary)) = with_sb("user") else { return };
    let other = "setpriv --reuid 65534 --clear-groups";
    if !Command::new("sh").args(["-c", &format!("{other} true")]).status().is_ok_and(|status| status.success()) {
        ravelin_testing::skip("no program can be run as another user");
        return;
    }
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
    std::fs::set_permissions(&temporary, everybody).expect("a folder of ours");
    finds(&run_shell(&place, &temporary, "", &format!("{other} ./sb")));
    assert!(is_empty(&temporary), "the directory is left behind");
    // What is no findings file is not waited for.
    let pipe = r#"mkdir "$RAVELIN_FINDINGS" && mkfifo "$RAVELIN_FINDINGS/1.findings""#;
    let output = run_shell(&place, &temporary, "", &format!("{other} sh -c '{pipe}'"));
    assert_eq!(code(&output), 3, "{}", text(&output));
    assert!(is_empty(&temporary), "the directory is left behind");
}

#[test]
fn what_cannot_be_recorded_is_not_called_nothing() {
    let Some((place, temporary)) = with_sb("unrecorded") else { return };
    // Neither in memory nor in a file; in the directory of the user, where there is no room.
    let nowhere = "RAVELIN_ARENA=/nonexistent RAVELIN_FINDINGS=/nonexistent/x ./sb";
    let no_room = "ulimit -f 1; ./sb";
    for (options, line, expected) in [
        ("", nowhere, 2),
        ("--findings kept", no_room, 3),
        ("--findings kept --format json", no_room, 3),
        ("--findings kept --format sarif", no_room, 3),
    ] {
        let output = run_shell(&place, &temporary, options, line);
        let shown = text(&output);
        assert_eq!(code(&output), expected, "{options} {line}: {shown}");
        assert!(shown.contains("done\n"), "the program ended early: {shown}");
        assert!(shown.contains("cannot be recorded"), "{shown}");
        assert!(!shown.contains("nothing found") && !shown.contains("\"holds\""), "{shown}");
    }
    let output = run_shell(&place, &temporary, "--findings kept", no_room);
    assert!(text(&output).contains("sh: what was found could not be recorded"), "{}", text(&output));
    // One process that can and one that cannot.
    let output = run_shell(&place, &temporary, "--findings kept", "./sb; ulimit -f 1; ./sb");
    finds(&output);
    assert!(text(&output).contains("could not record what it found"), "{}", text(&output));
}

/// A report without findings says nothing if there was no room for some.
#[test]
fn findings_that_had_no_room_are_not_nothing() {
    let place = Workshop::new("dropped");
    let mut words = vec![0; header::WORDS];
    words[header::MAGIC_AT] = header::MAGIC;
    words[header::USED] = header::WORDS as u64;
    for (dropped, expected, said) in [(0, 0, "nothing found"), (2, 3, "there was no room for 2 more findings")] {
        words[header::DROPPED] = dropped;
        place.write("1.findings", words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect::<Vec<u8>>());
        let output = place.ravelin("findings 1.findings");
        assert_eq!(code(&output), expected, "{}", text(&output));
        assert!(text(&output).contains(said), "{}", text(&output));
        assert_eq!(text(&output).contains("nothing found"), dropped == 0, "{}", text(&output));
    }
}

/// The runtime reserves more address space than such a limit leaves.
#[test]
fn a_program_that_is_not_watched_is_not_called_clean() {
    let Some((place, temporary)) = with_sb("unwatched") else { return };
    for options in ["", "--format json", "--format sarif", "--fix-all", "--fix-all --format json"] {
        let output = run_shell(&place, &temporary, options, "ulimit -v 1000000; ./sb");
        let shown = text(&output);
        assert_eq!(code(&output), 3, "{options}: {shown}");
        assert!(shown.contains("done\n") && shown.contains("nothing is watched"), "{options}: {shown}");
        assert!(!shown.contains("nothing found") && !shown.contains("nothing was found"), "{options}: {shown}");
        match options {
            "--format json" | "--fix-all --format json" => {
                assert!(shown.contains(r#""verdict": "unknown""#), "{shown}")
            }
            "--fix-all" => assert!(shown.contains("whether anything remains is unknown"), "{shown}"),
            "" => assert!(shown.contains("not everything was watched"), "{shown}"),
            _ => {}
        }
        assert!(options.contains("fix") || shown.contains("no address space"), "{options}: {shown}");
    }
    // What another process found is still told.
    finds(&run_shell(&place, &temporary, "", "./sb; ulimit -v 1000000; ./sb"));
}

/// Whatever address space there is: an answer or an error, and no panic.
#[test]
fn a_limit_for_memory_makes_no_panic() {
    let Some((place, _)) = with_sb("memory") else { return };
    let ravelin = env!("CARGO_BIN_EXE_ravelin");
    // Below the first ones the kernel does not even start it.
    for limit in (26_000..44_000).step_by(1_000).chain([60_000, 200_000]) {
        for options in ["", "--schedule random --runs 3 --jobs 3"] {
            let line = format!("ulimit -v {limit}; exec {ravelin} run {options} ./sb");
            let output = Command::new("sh").args(["-c", &line]).current_dir(&place.0).output().expect("a shell");
            let shown = text(&output);
            if shown.contains("failed to allocate an alternative stack") {
                // The standard library gives up before the program begins.
                continue;
            }
            assert_ne!(output.status.code(), Some(101), "{line}: {shown}");
            assert_ne!(output.status.code(), Some(0), "{line}: {shown}");
            assert!(!shown.contains("panicked"), "{line}: {shown}");
        }
    }
}

/// A file system that is full must not end the program. Needs to be allowed to mount one.
#[test]
fn a_full_file_system_does_not_end_the_program() {
    let Some((place, _)) = with_sb("full") else { return };
    let mounted = |line: &str| {
        let full = "mount -t tmpfs -o size=4k none small && head -c 4096 /dev/zero > small/full";
        let mount = format!("mkdir -p small && {full} && {line}");
        Command::new("unshare").args(["-rm", "sh", "-c", &mount]).current_dir(&place.0).output()
    };
    if !mounted("true").is_ok_and(|output| output.status.success()) {
        ravelin_testing::skip("a file system cannot be mounted in a namespace of its own");
        return;
    }
    let ravelin = env!("CARGO_BIN_EXE_ravelin");
    let output = mounted(&format!("exec {ravelin} run --findings small ./sb")).expect("unshare starts");
    assert_eq!(code(&output), 3, "{}", text(&output));
    assert!(text(&output).contains("done\n"), "{}", text(&output));
    assert!(!text(&output).contains("nothing found"), "{}", text(&output));
    let output = mounted(&format!("TMPDIR=small exec {ravelin} run ./sb")).expect("unshare starts");
    finds(&output);
}

#[test]
fn nothing_is_left_behind_when_ravelin_is_killed() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("left");
    let temporary = place.0.join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    place.write(
        "wait.c",
        "#include <unistd.h>\nint main(void) { char c; write(1, \"up\", 2); while (read(0, &c, 1) > 0) {} }",
    );
    place.builds(&format!("cc --ravelin-compiler={cc} -w wait.c -o wait"));
    let mut command = place.command("run ./wait");
    command.env("TMPDIR", &temporary).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("ravelin starts");
    let mut up = [0; 2];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut up).expect("it is up");
    child.kill().expect("it runs");
    child.wait().expect("an end");
    // The program itself ends with its input.
    drop(child.stdin.take());
    assert!(is_empty(&temporary));
}

/// What is freed though it is no block, or no longer.
const WRONG_FREES: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *thread_function(void *arg) { return arg; }
static long statics[64] __attribute__((aligned(64)));
static void twice(size_t size) {
  char *block = malloc(size), *volatile again = block, *after = malloc(size);
  memset(block, 1, size);
  free(block);
  free(again);
  free(after);
}
// The last block: what is freed becomes part of the rest of the heap, which may be given back.
static void last_twice(size_t size) {
  char *block = malloc(size), *volatile again = block;
  memset(block, 1, size);
  free(block);
  free(again);
}
int main(int argc, char **argv) {
  int number = atoi(argv[1]);
  free(malloc(10));
  if (argc > 2) {
    pthread_t thread;
    pthread_create(&thread, 0, thread_function, 0);
    pthread_join(thread, 0);
  }
  char *volatile block;
  switch (number) {
  case 0: twice(24); break;
  case 1: twice(5000); break;
  case 2: twice(100000); break;
  case 3: twice(1 << 20); break;
  case 4: twice(100 << 20); break;
  case 5: block = (char *)&statics[8]; free(block); break;
  case 6: block = (char *)&statics[8] + 1; free(block); break;
  case 7: block = malloc(100); free(block + 16); break;
  case 8: block = (char *)0x123456780; free(block); break;
  case 9: block = malloc(3000); malloc(10); free(block); block = realloc(block, 9000); break;
  case 10: block = (char *)&statics[8]; block = realloc(block, 100); break;
  case 11: statics[7] = 0x7fffffffffffff1; block = (char *)&statics[8]; free(block); break;
  case 12: statics[7] = 0x7fffffffffffff2; block = (char *)&statics[8]; free(block); break;
  case 13: last_twice(5000); break;
  case 14: last_twice(100000); break;
  case 15: free(malloc(8 << 20)); last_twice(8 << 20); break;
  case 16: free(malloc(8 << 20)); block = malloc(8 << 20); free(block); block = realloc(block, 10); break;
  }
}
"#;

#[test]
fn a_wrong_free_ends_the_program_as_it_would_anyway() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("frees");
    place.write("frees.c", WRONG_FREES);
    let built = Command::new(cc).args(["-w", "-pthread", "frees.c", "-o", "plain"]).current_dir(&place.0).status();
    assert!(built.expect("a compiler").success());
    place.builds(&format!("cc --ravelin-compiler={cc} -w frees.c -o watched"));
    for number in 0..=16 {
        for more in ["", " threads"] {
            let arguments = format!("{number}{more}");
            let mut plain = Command::new(place.0.join("plain"));
            let plain = plain.args(arguments.split_whitespace()).output().expect("it starts");
            let watched = place.ravelin(&format!("run --ignore double-free ./watched {arguments}"));
            let ended = plain.status.signal().map_or_else(|| code(&plain), |signal| 128 + signal);
            assert_eq!(code(&watched), ended, "{arguments}: {}", text(&watched));
            assert!(text(&watched).contains(&text(&plain)), "{arguments}: {} in {}", text(&plain), text(&watched));
        }
    }
    for arguments in ["0", "0 threads"] {
        let watched = place.ravelin(&format!("run ./watched {arguments}"));
        assert!(text(&watched).contains("memory is freed twice"), "{arguments}: {}", text(&watched));
    }
}
