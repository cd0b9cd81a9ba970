//! A crash is reported with its signal, thread and place, and the program ends as it would without the sanitizer. What
//! else a user should know about the end of a program: processes that go on, and programs that nothing reports about.

use crate::running::code;
use crate::workshop::{Workshop, compilers, text};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// Crashes in a thread in the way its argument says.
const CRASHES: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int how;
static int *volatile nowhere;
static __attribute__((noinline)) void deepest(int *nothing) {
  if (how == 0) *(volatile int *)nothing = 1; // write
  if (how == 1) abort(); // abort
  if (how == 2) assert(!"possible"); // assert
  if (how == 3) memset(nothing, 1, 8); // library
  if (how == 4) __builtin_trap(); // trap
  if (how == 5) raise(SIGKILL);
  if (how == 6) raise(SIGTERM);
  if (how == 7) raise(SIGSEGV); // sent
}
static void *thread(void *argument) {
  deepest(nowhere);
  return argument;
}
static void leaves(int signal) { _exit(7); }
static void gives_up(int signal) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigaction(signal, &action, 0);
}
int main(int argc, char **argv) {
  struct sigaction before;
  sigaction(SIGSEGV, 0, &before);
  if (before.sa_handler != SIG_DFL || signal(SIGABRT, SIG_DFL) != SIG_DFL) return 9;
  how = atoi(argv[1]);
  if (argc > 2) signal(SIGSEGV, *argv[2] == 'l' ? leaves : gives_up);
  pthread_t started;
  pthread_create(&started, 0, thread, 0);
  pthread_join(started, 0);
}
"#;

/// Builds a program with each compiler and level.
fn builds(name: &str, source: &str, mut works: impl FnMut(&Workshop)) {
    for (cc, _) in compilers() {
        for level in ["-O0", "-O2"] {
            let place = Workshop::new(&format!("{name}-{cc}{level}"));
            place.write("program.c", source);
            place.builds(&format!("cc --ravelin-compiler={cc} {level} -g -w program.c -o program"));
            works(&place);
        }
    }
}

/// The number of the line that ends with a comment.
fn line(source: &str, comment: &str) -> usize {
    source.lines().position(|line| line.ends_with(&format!("// {comment}"))).expect("a line") + 1
}

#[test]
fn a_crash_is_told_with_signal_thread_and_line() {
    let cases = [
        (0, "write", "signal 11 (SIGSEGV) at address 0x0"),
        (1, "abort", "signal 6 (SIGABRT)"),
        (2, "assert", "signal 6 (SIGABRT)"),
        (3, "library", "signal 11 (SIGSEGV) at address 0x0"),
        (4, "trap", "signal 4 (SIGILL)"),
        (7, "sent", "signal 11 (SIGSEGV)"),
    ];
    builds("crash", CRASHES, |place| {
        for (how, comment, heading) in cases {
            let output = place.ravelin(&format!("run ./program {how}"));
            let (told, at) = (text(&output), format!("in deepest at program.c:{}", line(CRASHES, comment)));
            assert!(told.contains(&format!("crash by {heading}")), "{comment}: {told}");
            assert!(told.contains("in thread 1\n") && told.contains(&at), "{comment}: {told}");
            assert!(told.contains("nothing found"), "{comment}: {told}");
            let plain = Command::new(place.0.join("program")).arg(how.to_string()).output().expect("it starts");
            assert_eq!(Some(code(&output) - 128), plain.status.signal(), "{comment}: {told}");
        }
        for (how, signal) in [(5, "signal 9 (SIGKILL)"), (6, "signal 15 (SIGTERM)")] {
            let told = text(&place.ravelin(&format!("run ./program {how}")));
            assert!(told.contains(&format!("killed by {signal}")), "{told}");
        }
    });
}

#[test]
fn a_crash_is_in_json_and_each_place_once_in_many_runs() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("crashes");
    place.write("program.c", CRASHES);
    place.builds(&format!("cc --ravelin-compiler={cc} -g -w program.c -o program"));
    let output = place.ravelin("run --schedule random --runs 5 --format json ./program 1");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let crashes = report["answers"][0]["crashes"].as_array().expect("crashes");
    let [crash] = &crashes[..] else { panic!("{crashes:?}") };
    assert_eq!((&crash["signal"], &crash["name"], &crash["runs"]), (&6.into(), &"SIGABRT".into(), &5.into()));
    assert_eq!(crash["thread"]["number"], 1);
    let told = text(&place.ravelin("run --schedule random --runs 5 ./program 1"));
    assert_eq!(told.matches("crash by").count(), 1, "{told}");
    assert!(told.contains("5 runs killed by signal 6 (SIGABRT)"), "{told}");
}

#[test]
fn handlers_of_the_program_come_first() {
    builds("handlers", CRASHES, |place| {
        let leaves = place.ravelin("run ./program 0 leaves");
        assert_eq!(code(&leaves), 7, "{}", text(&leaves));
        assert!(!text(&leaves).contains("crash by"), "{}", text(&leaves));
        let gives_up = place.ravelin("run ./program 0 gives-up");
        assert_eq!(code(&gives_up), 128 + 11, "{}", text(&gives_up));
        assert!(text(&gives_up).contains("in deepest at program.c"), "{}", text(&gives_up));
    });
}

/// A daemon, by the function of the C library and by hand.
const DAEMON: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *thread(void *argument) { return argument; }
int main(int argc, char **argv) {
  pthread_t started;
  pthread_create(&started, 0, thread, 0);
  pthread_join(started, 0);
  if (argc > 1) {
    if (daemon(1, 0) != 0) return 1;
  } else if (fork() != 0) {
    exit(0);
  } else {
    setsid();
    close(0), close(1), close(2);
  }
  usleep(300000);
}
"#;

#[test]
fn a_process_that_goes_on_is_told() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("daemon");
    place.write("program.c", DAEMON);
    place.builds(&format!("cc --ravelin-compiler={cc} -g -w program.c -o program"));
    for arguments in ["", "daemon"] {
        let output = place.ravelin(&format!("run ./program {arguments}"));
        assert!(text(&output).contains("ended without waiting for a process"), "{arguments}: {}", text(&output));
    }
}

#[test]
fn a_program_that_nothing_reports_about_says_how_to_start_it() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("alone");
    place.write("program.c", CRASHES);
    place.builds(&format!("cc --ravelin-compiler={cc} -g -w program.c -o program"));
    let alone = Command::new(place.0.join("program")).arg("20").output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&alone.stderr).matches("ravelin run").count(), 1, "{}", text(&alone));
    let watched = place.ravelin("run ./program 20");
    assert!(!text(&watched).contains("start it by"), "{}", text(&watched));
}

/// Every process of a program has the same note.
#[test]
fn notes_of_many_processes_and_runs_are_one() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("notes");
    let forks = "#include <pthread.h>\n#include <unistd.h>
        static void *thread(void *argument) { return argument; }
        int main(void) { pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0);
          if (fork() == 0) _exit(0); }";
    place.write("program.c", forks);
    place.builds(&format!("cc --ravelin-compiler={cc} -g -w program.c -o program"));
    place.write("twice.sh", "./program; ./program; ./program\n");
    for line in ["run sh twice.sh", "run --schedule random --runs 7 ./program", "run --runs 3 ./program"] {
        let output = place.ravelin(&format!("{line} "));
        assert_eq!(text(&output).matches("note:").count(), 1, "{line}: {}", text(&output));
        assert!(text(&output).contains("processes)"), "{line}: {}", text(&output));
        let page = place.ravelin(&line.replacen("run", "run --html page.html", 1));
        let html = std::fs::read_to_string(place.0.join("page.html")).expect("a page");
        assert_eq!(html.matches("without waiting for a process").count(), 1, "{line}: {}", text(&page));
    }
}
