//! The sanitizer as its users meet it: builds with the compilers of the machine, runs, reports.

use crate::running;
use crate::schema;
use crate::workshop;

use ravelin_findings::{
    AccessKind, AccessRecord, FindingRecord, MemoryKind, OrderStep, OrderStepKind, Problem, Record, RecordedOrder,
    Spinning, ThreadRecord, encode, header,
};
use running::code;
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use workshop::{SB, Workshop, compilers, installed, text};

/// The same with seq_cst accesses, which is right.
fn sb_seq_cst() -> String {
    SB.replace("memory_order_release", "memory_order_seq_cst").replace("memory_order_acquire", "memory_order_seq_cst")
}

const RACE: &str = r#"
#include <thread>
#include <memory>
namespace shop {
struct Counter { int pad = 0; int value = 0; void add() { ++value; } };
}
int main() {
  for (int i = 0; i < 20; i++) {
    auto counter = std::make_unique<shop::Counter>();
    std::thread other([&] { counter->add(); });
    counter->add();
    other.join();
  }
}
"#;

#[test]
fn store_buffering_is_found_however_it_is_built() {
    for (cc, _) in compilers() {
        let place = Workshop::new(&format!("sb-{cc}"));
        place.write("sb.c", SB);
        place.builds(&format!("cc --ravelin-compiler={cc} -O2 sb.c -o one"));
        place.builds(&format!("cc --ravelin-compiler={cc} -O1 -Wall -Werror -c sb.c -o sb.o"));
        place.builds(&format!("cc --ravelin-compiler={cc} sb.o -o two"));
        for program in ["./one", "./two"] {
            let output = place.ravelin(&format!("run {program}"));
            let shown = text(&output);
            assert_eq!(code(&output), 1, "{cc} {program}: {shown}");
            assert!(shown.starts_with("done\n"), "{shown}");
            for part in
                ["may read a stale value", "sb.c:", "first", "second", "suggestion: put a seq_cst fence between"]
            {
                assert!(shown.contains(part), "{cc} {program} lacks {part}: {shown}");
            }
        }
    }
}

#[test]
fn a_right_program_keeps_its_exit_code() {
    for (cc, _) in compilers() {
        let place = Workshop::new(&format!("right-{cc}"));
        place.write("sb.c", sb_seq_cst());
        place.builds(&format!("cc --ravelin-compiler={cc} -O2 sb.c -o sb"));
        for (line, expected) in [("run ./sb", 0), ("run ./sb argument", 5), ("run --exit-code 9 ./sb", 0)] {
            let output = place.ravelin(line);
            assert_eq!(code(&output), expected, "{cc} {line}: {}", text(&output));
            assert!(text(&output).contains("nothing found"), "{}", text(&output));
        }
    }
}

#[test]
fn a_race_is_found_with_names_and_lines() {
    for (_, cxx) in compilers() {
        let place = Workshop::new(&format!("race-{cxx}"));
        place.write("race.cpp", RACE);
        place.builds(&format!("c++ --ravelin-compiler={cxx} -std=c++17 -O1 race.cpp -o race"));
        let output = place.ravelin("run --format json ./race");
        assert_eq!(code(&output), 1, "{}", text(&output));
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let finding = &document["answers"][0]["findings"][0];
        assert_eq!(finding["problem"], "data-race", "{document:#}");
        assert_eq!(finding["access"]["stack"][0]["function"], "shop::Counter::add", "{document:#}");
        assert_eq!(finding["access"]["stack"][0]["file"], "race.cpp");
        let none = place.ravelin("run --no-races ./race");
        assert_eq!(code(&none), 0, "{}", text(&none));
        place.write("list", "race:shop::* # known\nrobust:nothing\n");
        let suppressed = place.ravelin("run --suppressions list ./race");
        assert_eq!(code(&suppressed), 0, "{}", text(&suppressed));
        let shown = text(&suppressed);
        assert!(shown.contains("suppressed") && shown.contains("list:2: robust:nothing"), "{shown}");
    }
}

/// Copies of structures, a member that crosses a word, an integer of two words.
const SIZES: &str = r#"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#define BYTES(n) struct bytes_##n { char of[n]; } shared_##n, from_##n, to_##n;
BYTES(3) BYTES(12) BYTES(16) BYTES(24) BYTES(100) BYTES(1000)
struct __attribute__((packed)) { char before[5]; long value; } packed;
__int128 wide;
long taken;
__int128 taken_wide;
atomic_int flag;
static void *older(void *arg) {
  shared_3 = from_3; shared_12 = from_12; shared_16 = from_16;
  shared_24 = from_24; shared_100 = from_100; shared_1000 = from_1000;
  packed.value = 1;
  wide = 1;
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return arg;
}
static void *newer(void *arg) {
  while (!atomic_load_explicit(&flag, memory_order_relaxed)) sched_yield();
  to_3 = shared_3; to_12 = shared_12; to_16 = shared_16;
  to_24 = shared_24; to_100 = shared_100; to_1000 = shared_1000;
  taken = packed.value;
  taken_wide = wide;
  return arg;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, older, 0);
  pthread_create(&b, 0, newer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"#;

#[test]
fn both_accesses_of_a_race_have_the_size_they_were_made_with() {
    for (cc, _) in compilers() {
        let place = Workshop::new(&format!("sizes-{cc}"));
        place.write("sizes.c", SIZES);
        place.builds(&format!("cc --ravelin-compiler={cc} -O1 -w -pthread sizes.c -o sizes"));
        let output = place.ravelin("run --format json --output report ./sizes");
        let report = std::fs::read(place.0.join("report")).expect("the report");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        let findings = report["answers"][0]["findings"].as_array().expect("findings");
        let mut sizes: Vec<(&str, u64, u64)> = Vec::new();
        for found in findings {
            let size = |access: &str| found[access]["size"].as_u64().expect("a size");
            sizes.push((found["location"]["name"].as_str().expect("a name"), size("access"), size("other")));
        }
        sizes.sort_unstable();
        let expected = [
            ("packed+5", 8, 8),
            ("shared_100", 100, 100),
            ("shared_1000", 1000, 1000),
            ("shared_12", 12, 12),
            ("shared_16", 16, 16),
            ("shared_24", 24, 24),
            ("shared_3", 3, 3),
            ("wide", 16, 16),
        ];
        assert_eq!(sizes, expected, "{cc}: {}", text(&output));
    }
}

#[test]
fn reports_go_where_they_are_asked_to() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("reports");
    place.write("sb.c", SB);
    place.builds(&format!("cc --ravelin-compiler={cc} sb.c -o sb"));
    let sarif = place.ravelin("run --format sarif --output report.sarif --exit-code 7 ./sb");
    assert_eq!((code(&sarif), &*sarif.stdout), (7, &b"done\n"[..]), "{}", text(&sarif));
    let written = std::fs::read(place.0.join("report.sarif")).expect("the report");
    let document: Value = serde_json::from_slice(&written).expect("JSON");
    schema::validate(&document);
    assert_eq!(document["runs"][0]["results"][0]["ruleId"], "stale-read");
    let kept = place.ravelin("run --findings kept ./sb");
    assert_eq!(code(&kept), 1);
    let file = std::fs::read_dir(place.0.join("kept")).expect("a folder").next().expect("a file").expect("a file");
    let again = place.ravelin(&format!("findings {}", file.path().display()));
    assert_eq!(code(&again), 1, "{}", text(&again));
    assert!(String::from_utf8_lossy(&again.stdout).contains("sb.c:"), "{}", text(&again));
}

#[test]
fn libraries_find_the_runtime_in_the_executable() {
    for (cc, _) in compilers() {
        let place = Workshop::new(&format!("library-{cc}"));
        place.write("part.c", SB.replace("int main(int argc, char **argv)", "int part(int argc, char **argv)"));
        place.write("main.c", "int part(int, char **); int main(void) { return part(1, 0); }");
        let cc = format!("cc --ravelin-compiler={cc}");
        place.builds(&format!("{cc} -fPIC -shared -Wl,-z,defs part.c -o libpart.so"));
        place.builds(&format!("{cc} main.c -L. -lpart -Wl,-rpath,{} -o main", place.0.display()));
        let output = place.ravelin("run ./main");
        assert_eq!(code(&output), 1, "{}", text(&output));
        assert!(text(&output).contains("part.c:"), "{}", text(&output));
        place.write(
            "loads.c",
            "#include <dlfcn.h>\nint main(void) { void *part = dlopen(\"./libpart.so\", RTLD_NOW); if (!part) return 3;\n\
             int (*f)(int, char **) = (int (*)(int, char **))dlsym(part, \"part\"); return f(1, 0); }",
        );
        place.builds(&format!("{cc} loads.c -o loads -ldl"));
        let output = place.ravelin("run ./loads");
        assert_eq!(code(&output), 1, "{}", text(&output));
    }
}

#[test]
fn a_compilers_questions_reach_the_compiler() {
    for (cc, cxx) in compilers() {
        let place = Workshop::new(&format!("questions-{cc}"));
        for (ours, theirs) in [("cc", cc), ("c++", cxx)] {
            for question in ["--version", "-dumpmachine", "-print-search-dirs", "-v", "--help", ""] {
                let asked = place.ravelin(&format!("{ours} --ravelin-compiler={theirs} {question}"));
                let direct = Command::new(theirs).args(question.split_whitespace()).output().expect("a compiler");
                assert_eq!(asked.status.code(), direct.status.code(), "{theirs} {question}");
                assert_eq!(asked.stdout, direct.stdout, "{theirs} {question}");
            }
        }
        place.write("args", "-c 'a b.c' -o ab.o");
        place.write("a b.c", "int f(void) { return 1; }");
        place.builds(&format!("cc --ravelin-compiler={cc} @args"));
        place.builds(&format!("cc --ravelin-compiler={cc} -r ab.o -o r.o"));
        let mut child = place
            .command(&format!("cc --ravelin-compiler={cc} -x c - -o from-stdin"))
            .stdin(Stdio::piped())
            .spawn()
            .expect("a compiler");
        let mut input = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut input, b"int main(void) { return 4; }").expect("a pipe");
        drop(input);
        assert!(child.wait().expect("an end").success());
        assert_eq!(code(&place.ravelin("run ./from-stdin")), 4);
        let wrong = place.ravelin(&format!("cc --ravelin-compiler={cc} -c missing.c"));
        assert_eq!(code(&wrong), 1, "{}", text(&wrong));
    }
}

#[test]
fn what_does_not_work_is_told() {
    let place = Workshop::new("wrong");
    place.write("m.c", "int main(void) { return 0; }");
    place.write("not-findings", "nothing");
    place.write("wrong-list", "race:x\nrace x\n");
    let cases = [
        ("cc -static m.c", "-static does not work with the sanitizer"),
        ("cc -fsanitize=address -c m.c", "-fsanitize=address does not work with this sanitizer"),
        ("cc --ravelin-compiler=no-such-compiler -c m.c", "no-such-compiler: the compiler cannot be run"),
        ("run", "PROGRAM"),
        ("run ./missing", "./missing: the program cannot be run"),
        ("run --suppressions missing true", "missing: the suppressions cannot be read"),
        ("run --suppressions wrong-list true", "wrong-list:2: `race x` is not a suppression"),
        ("run --no-such-option true", "--no-such-option"),
        ("run true", "true was not built with `ravelin cc`"),
        ("findings not-findings", "not-findings: this is not a file of findings"),
        ("findings missing", "missing: the findings cannot be read"),
    ];
    for (line, message) in cases {
        let output = place.ravelin(line);
        assert_eq!(code(&output), 2, "{line}: {}", text(&output));
        assert!(text(&output).contains(message), "{line}: {}", text(&output));
    }
    let none = place.command("cc -c m.c").env("PATH", "/nonexistent").output().expect("ravelin starts");
    assert_eq!(code(&none), 2);
    assert!(text(&none).contains("no compiler was found"), "{}", text(&none));
}

#[test]
fn a_crash_and_a_signal_keep_what_was_found() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("crash");
    place.write("crash.c", SB.replace("puts(\"done\");", "__builtin_trap();"));
    place.builds(&format!("cc --ravelin-compiler={cc} crash.c -o crash"));
    let output = place.ravelin("run ./crash");
    assert_eq!(code(&output), 1, "{}", text(&output));
    assert!(text(&output).contains("may read a stale value"), "{}", text(&output));
    place.write("abort.c", "#include <stdlib.h>\nint main(void) { abort(); }");
    place.builds(&format!("cc --ravelin-compiler={cc} abort.c -o abort"));
    assert_eq!(code(&place.ravelin("run ./abort")), 134);
    // Signals sent to ravelin are meant for the program.
    place.write(
        "wait.c",
        "#include <unistd.h>\n#include <stdio.h>\nint main(void) { puts(\"up\"); fflush(stdout); pause(); }",
    );
    place.builds(&format!("cc --ravelin-compiler={cc} wait.c -o wait"));
    let mut child = place.command("run ./wait").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
    let mut up = [0; 3];
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut up).expect("it is up");
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let status = child.wait().expect("an end");
    assert_eq!((status.signal(), status.code()), (None, Some(143)));
}

#[test]
fn a_process_that_becomes_another_program_keeps_what_was_found() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("exec");
    let program = SB.replace("puts(\"done\");", "execl(\"./after\", \"after\", (char *)0);");
    place.write("before.c", format!("#include <unistd.h>\n{program}"));
    place.write("after.c", "int main(void) { return 0; }");
    place.builds(&format!("cc --ravelin-compiler={cc} before.c -o before"));
    place.builds(&format!("cc --ravelin-compiler={cc} after.c -o after"));
    let output = place.ravelin("run ./before");
    assert_eq!(code(&output), 1, "{}", text(&output));
    assert!(text(&output).contains("may read a stale value"), "{}", text(&output));
}

#[test]
fn calls_that_a_jump_has_left_are_in_no_stack() {
    let place = Workshop::new("jump");
    place.write("jump.c", JUMP);
    for (cc, _) in compilers() {
        place.builds(&format!("cc --ravelin-compiler={cc} -O1 jump.c -o jump"));
        let output = place.ravelin("run ./jump");
        assert_eq!(code(&output), 1, "{}", text(&output));
        assert!(text(&output).contains("in thread_function at jump.c:"), "{}", text(&output));
        assert!(!text(&output).contains("in deep"), "{}", text(&output));
    }
}

/// A race after many calls that never returned.
const JUMP: &str = "\
#include <pthread.h>
#include <setjmp.h>
static int counter;
__attribute__((noinline)) static int deep(jmp_buf *buffer, int depth) {
  if (!depth) longjmp(*buffer, 1);
  volatile int below = deep(buffer, depth - 1);
  return below + 1;
}
static void *thread_function(void *unused) {
  jmp_buf buffer;
  for (volatile int i = 0; i < 100; i++)
    if (!setjmp(buffer)) deep(&buffer, 10);
  counter++;
  return unused;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, thread_function, 0);
  pthread_create(&two, 0, thread_function, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
}
";

#[test]
fn findings_of_several_processes_are_one_report() {
    let place = Workshop::new("merge");
    let access = |thread, kind, stack: &[u64]| AccessRecord {
        thread,
        kind,
        order: RecordedOrder::Relaxed,
        size: 4,
        stack: stack.to_vec(),
    };
    let finding = |count, at: u64, spinning| {
        Record::Finding(FindingRecord {
            count,
            spinning,
            problem: Problem::StaleRead,
            address: 0x5000,
            access: access(2, AccessKind::Load, &[at, 0x9000]),
            other: access(1, AccessKind::Store, &[0x2001]),
            place: MemoryKind::Heap { start: 0x4ff8, size: 64, thread: 0, stack: vec![0x3001] },
            path: vec![OrderStep {
                kind: OrderStepKind::ReadsFrom,
                address: 0x6000,
                before: access(1, AccessKind::Store, &[0x2011]),
                after: access(2, AccessKind::Load, &[0x1011]),
                lacks_release: true,
                lacks_acquire: true,
            }],
            forgotten: 0,
            point: 0,
        })
    };
    let thread = Record::Thread(ThreadRecord { number: 2, parent: 0, name: b"reader".to_vec(), stack: vec![0x7001] });
    let file = |process: u64, records: &[Record]| {
        let mut words = vec![0; header::WORDS];
        words[header::MAGIC_AT] = header::MAGIC;
        words[header::PROCESS] = process;
        words[header::THREADS] = 3;
        words.extend(records.iter().flat_map(encode));
        words[header::USED] = words.len() as u64;
        words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect::<Vec<u8>>()
    };
    place.write(
        "1.findings",
        file(1, &[finding(3, 0x1001, Spinning::No), finding(1, 0x1101, Spinning::Harmless), thread]),
    );
    place.write("2.findings", file(2, &[finding(10, 0x1201, Spinning::No), finding(4, 0x1001, Spinning::No)]));
    let output = place.ravelin("findings 1.findings 2.findings");
    assert_eq!(code(&output), 1);
    let shown = text(&output);
    assert!(shown.contains("1. may read a stale value, seen 10 times"), "{shown}");
    assert!(shown.contains("2. may read a stale value, seen 7 times"), "{shown}");
    assert!(shown.contains("thread 2 \"reader\"") && shown.contains("byte 8 of a heap block of 64 bytes"), "{shown}");
    assert!(shown.contains("make the store at 0x2010 release and the load at 0x1010 acquire"), "{shown}");
    assert!(shown.contains("not shown: 1 where a waiting loop"), "{shown}");
    assert!(text(&place.ravelin("findings --spinning 1.findings")).contains("0x1100"));
}

/// A project with a static and a shared library in C and a program in C++.
#[test]
fn cmake_takes_it_for_the_compiler_underneath() {
    if !installed("cmake") {
        return;
    }
    for (cc, cxx) in compilers() {
        let place = Workshop::new(&format!("cmake-{cc}"));
        place.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.10)\nproject(sample C CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
             find_package(Threads REQUIRED)\nadd_library(still STATIC still.c)\nadd_library(moved SHARED moved.c)\n\
             add_executable(main main.cpp)\ntarget_compile_features(main PRIVATE cxx_std_17)\n\
             target_link_libraries(main still moved Threads::Threads)\n\
             message(STATUS \"id ${CMAKE_C_COMPILER_ID} ${CMAKE_CXX_COMPILER_ID}\")\n",
        );
        place.write("still.c", "int still(void) { return 1; }");
        place.write("moved.c", SB.replace("int main(int argc, char **argv)", "int moved(int argc, char **argv)"));
        place.write(
            "main.cpp",
            "extern \"C\" { int still(void); int moved(int, char **); }\nint main() { return still() - 1 + moved(1, nullptr); }",
        );
        let ravelin = env!("CARGO_BIN_EXE_ravelin");
        let configured = Command::new("cmake")
            .args(["-S", ".", "-B", "build"])
            .current_dir(&place.0)
            .env("CC", format!("{ravelin} cc --ravelin-compiler={cc}"))
            .env("CXX", format!("{ravelin} c++ --ravelin-compiler={cxx}"))
            .output()
            .expect("cmake");
        assert!(configured.status.success(), "{}", text(&configured));
        let id = if cc == "gcc" { "id GNU GNU" } else { "id Clang Clang" };
        assert!(text(&configured).contains(id), "{}", text(&configured));
        let built = Command::new("cmake").args(["--build", "build"]).current_dir(&place.0).output().expect("cmake");
        assert!(built.status.success(), "{}", text(&built));
        let output = place.ravelin("run build/main");
        assert_eq!(code(&output), 1, "{}", text(&output));
        assert!(text(&output).contains("moved.c:"), "{}", text(&output));
    }
}

#[test]
fn make_takes_it_for_a_compiler() {
    if !installed("make") {
        return;
    }
    let place = Workshop::new("make");
    place.write("sb.c", SB);
    place.write("Makefile", "CFLAGS = -O2 -MD -MT sb.o -MF sb.d\nsb: sb.o\n\t$(CC) sb.o -o sb\n");
    let cc = format!("CC={} cc", env!("CARGO_BIN_EXE_ravelin"));
    let built = Command::new("make").arg(cc).current_dir(&place.0).output().expect("make");
    assert!(built.status.success(), "{}", text(&built));
    assert!(Path::new(&place.0.join("sb.d")).exists());
    assert_eq!(code(&place.ravelin("run ./sb")), 1);
}

/// A program that gcc linked with its own shared runtime gets ours when it is run.
#[test]
fn a_program_with_the_stock_runtime_can_be_watched() {
    let place = Workshop::new("stock");
    place.write("sb.c", SB);
    let built = Command::new("gcc")
        .args(["-g", "-fsanitize=thread", "sb.c", "-o", "sb"])
        .current_dir(&place.0)
        .output()
        .is_ok_and(|output| output.status.success());
    if !built {
        ravelin_testing::skip("gcc cannot link its own thread sanitizer");
        return;
    }
    let output = place.ravelin("run ./sb");
    assert_eq!(code(&output), 1, "{}", text(&output));
    assert!(text(&output).contains("may read a stale value"), "{}", text(&output));
}

/// The commands that the README shows build the example and find what it says.
#[test]
fn the_readmes_commands_work() {
    if compilers().is_empty() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
    let commands: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("ravelin "))
        .filter(|line| line.contains("dekker"))
        .collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let workshop = Workshop::new("readme");
    workshop.write("examples/c/dekker.c", std::fs::read(root.join("examples/c/dekker.c")).expect("the example"));
    workshop.builds(commands[0]);
    // Threads that take turns all the time give nothing to find, so a few runs are allowed.
    let found = (0..10).map(|_| workshop.ravelin(commands[1])).find(|output| code(output) == 1);
    let report = text(&found.expect("one of ten runs shows it"));
    for part in ["may read a stale value", "acquire load of `wants", "may miss the release store", "suggestion: "] {
        assert!(report.contains(part), "{part} in {report}");
    }
}
