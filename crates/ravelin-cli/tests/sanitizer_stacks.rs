//! Stacks lead to the program's own lines: through libraries that start threads, into headers, and to accesses long ago.

use crate::running::code;
use crate::workshop::{Workshop, compilers, text};
use serde_json::Value;

/// A race between threads of the C++ library, inside one of its headers.
const THREADS: &str = r#"
#include <thread>
#include <vector>
static std::vector<int> list(4);
static void pops() {
  list.pop_back(); // pops
}
int main() {
  std::thread one(pops); // one
  std::thread two(pops); // two
  one.join();
  two.join();
}
"#;

/// The number of the line that ends with a comment.
fn line(source: &str, comment: &str) -> usize {
    source.lines().position(|line| line.ends_with(&format!("// {comment}"))).expect("a line") + 1
}

#[test]
fn threads_of_cpp_and_accesses_in_headers_show_lines_of_the_program() {
    for (cc, cxx) in compilers() {
        for level in ["-O0", "-O2"] {
            let place = Workshop::new(&format!("stacks-{cc}{level}"));
            place.write("threads.cpp", THREADS);
            place.builds(&format!("c++ --ravelin-compiler={cxx} {level} -g threads.cpp -o threads"));
            let told = text(&place.ravelin("run --schedule random --html page.html ./threads"));
            for started in ["one", "two"] {
                let started = format!("     in main at threads.cpp:{}:", line(THREADS, started));
                assert!(told.contains(&started), "{cxx} {level}: {told}");
            }
            let quoted =
                format!("     called from threads.cpp:\n     {:>5} | list.pop_back(); // pops", line(THREADS, "pops"));
            assert!(told.contains(&quoted), "{cxx} {level}: {told}");
            // The runtime calls a thread's first function, and is no part of the program.
            assert!(!told.contains("in ? at threads+"), "{cxx} {level}: {told}");
            let sarif = place.ravelin("run --schedule random --format sarif ./threads");
            let sarif: Value = serde_json::from_slice(&sarif.stdout).expect("SARIF");
            let related = sarif["runs"][0]["results"][0]["relatedLocations"].to_string();
            assert!(related.contains("is called from here"), "{cxx} {level}: {related}");
        }
    }
}

/// A race with an access that is many accesses ago.
const LONG_AGO: &str = r#"
#include <pthread.h>
#include <sched.h>
int shared;
static volatile int ready;
__attribute__((noinline, no_sanitize("thread"))) static void say(void) { ready = 1; }
__attribute__((noinline, no_sanitize("thread"))) static void await(void) { while (!ready) sched_yield(); }
static long many[40000];
static void *writer(void *argument) {
  shared = 1;
  for (int i = 0; i < 40000; i++) ((volatile long *)many)[i] = i;
  say();
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  await();
  shared = 2;
  pthread_join(thread, 0);
}
"#;

#[test]
fn a_longer_history_remembers_older_accesses() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("history");
    place.write("long.c", LONG_AGO);
    place.builds(&format!("cc --ravelin-compiler={cc} -g -O1 long.c -o long"));
    let short = text(&place.ravelin("run --history 5000 ./long"));
    assert!(short.contains("(where is no longer known)"), "{short}");
    let ago = short.split("at least ").nth(1).and_then(|rest| rest.split(" accesses").next()).expect("a number");
    let ago: u64 = ago.replace(',', "").parse().expect("a number");
    assert!((5_000..=40_000).contains(&ago), "{short}");
    let long = text(&place.ravelin("run --history 100000 ./long"));
    assert!(long.contains("in writer at long.c:10") && !long.contains("no longer known"), "{long}");
    for wrong in ["0", "999", "many", "1000000000"] {
        assert_eq!(code(&place.ravelin(&format!("run --history {wrong} ./long"))), 2, "{wrong}");
    }
}
