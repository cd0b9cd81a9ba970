//! C files on the command line: how they are compiled, what is refused, and what is left behind.

use crate::running;
use crate::signals::{send, until};

use ravelin_testing::has;
use running::{Scratch, assert_codes, code, ravelin};
use std::process::{Command, Output, Stdio};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn options_of_c_are_refused_for_other_languages() {
    let rav = "examples/sb.rav";
    for (options, said) in [
        (&["--entry", "a,b"][..], "--entry is for files of C and LLVM IR, and this is one of rav"),
        (&["--heap", "3"], "--heap is for files of C and LLVM IR, and this is one of rav"),
        (&["--cflags", "-O2"], "--cflags, -I or -D is for files of C, and this is one of rav"),
        (&["-DX=1"], "--cflags, -I or -D is for files of C, and this is one of rav"),
    ] {
        let output = ravelin(&[&["check", rav], options].concat(), "");
        assert_eq!(code(&output), 2, "{options:?}");
        assert!(stderr(&output).contains(said), "{options:?}: {}", stderr(&output));
    }
    assert_codes(&[
        (&["check", rav, "--init", "setup"], 2),
        (&["check", rav, "--heap", "0"], 2),
        (&["check", "missing.c"], 2),
        (&["check", "examples/c/dekker.c", "--wrap", "4"], 2),
        (&["check", "examples/c/dekker.c", "--checkpoint", "/nowhere"], 2),
    ]);
}

#[test]
fn what_does_not_compile_is_shown_as_clang_says_it() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let scratch = Scratch::new("c-errors");
    for (name, text) in [("wrong.c", "int x = y;\n"), ("wrong.cc", "#include <atomic>\nint x = y;\n")] {
        let path = scratch.write(name, text);
        let output = ravelin(&["check", &path], "");
        assert_eq!(code(&output), 2, "{output:?}");
        let line = text.lines().count();
        let said = format!("{path}:{line}:9: error: use of undeclared identifier 'y'");
        assert!(stderr(&output).contains(&said), "{}", stderr(&output));
    }
    let output = ravelin(&["check", "-", "--from", "c"], "int x = y;\n");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("-:1:9: error: use of undeclared identifier 'y'"), "{}", stderr(&output));
}

#[test]
fn included_files_and_macros_are_found() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let scratch = Scratch::new("c-includes");
    scratch.write("beside.h", "#define BESIDE 1\n");
    std::fs::create_dir(scratch.0.join("there")).expect("a folder");
    scratch.write("there/other.h", "#define OTHER 1\n");
    let text = "#include \"beside.h\"\n#include <other.h>\n#include <ravelin.h>\n#if !BESIDE || !OTHER || ONE != 1 || !TWO\n\
                #error not found\n#endif\nint x = y;\n";
    let path = scratch.write("included.c", text);
    let there = scratch.0.join("there").display().to_string();
    let output = ravelin(&["check", &path, "-I", &there, "-DONE=1", "--cflags", "-DTWO -Wall"], "");
    let said = stderr(&output);
    assert!(said.contains("included.c:7:9: error: use of undeclared") && !said.contains("not found"), "{said}");
}

/// A file, a compiler for it that does not end, and the commands that read it with that.
struct SlowCompiler {
    scratch: Scratch,
    compiler: String,
    commands: Vec<Vec<String>>,
}

impl SlowCompiler {
    fn new(name: &str) -> SlowCompiler {
        let scratch = Scratch::new(name);
        let slow = scratch.write("slow.sh", "echo $$ > \"$(dirname \"$0\")/number\"\nsleep 1000 & wait\n");
        let path = scratch.write("any.c", "int main(void) { return 0; }\n");
        let proof = scratch.0.join("proof").display().to_string();
        let lock = scratch.write("lock.rav", crate::any_number::LOCK);
        let proved = ravelin(&["reach", &lock, "--model", "sc", "--certify", &proof], "");
        assert_eq!(code(&proved), 0, "{proved:?}");
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut commands: Vec<Vec<String>> = vec![
            words(&["convert", &path, "--to", "rav"]),
            words(&["simulate", &path]),
            words(&["simulate", &path, "--interactive"]),
            words(&["certificate", &proof, "--program", &path]),
        ];
        commands.extend(["check", "reach", "fence", "relax", "states", "confirm"].map(|it| words(&[it, &path])));
        SlowCompiler { scratch, compiler: format!("sh {slow}"), commands }
    }

    fn command(&self, words: &[String]) -> Command {
        let mut command = running::interruptible();
        command.args(words).env("RAVELIN_CLANG", &self.compiler).env("TMPDIR", &self.scratch.0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Whether the compiler was started.
    fn number(&self) -> Option<u32> {
        std::fs::read_to_string(self.scratch.0.join("number")).ok()?.trim().parse().ok()
    }

    /// The answer says why there is none, the compiler is gone, and nothing is left behind.
    fn was_ended(&self, words: &[String], output: &Output, why: &str) {
        let said = format!("{}{}", stdout(output), stderr(output));
        assert_eq!(code(output), 3, "{words:?}: {said}");
        assert!(said.contains(why), "{words:?}: {said}");
        let number = self.number().unwrap_or_else(|| panic!("{words:?}: no compiler was started"));
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{words:?}: the compiler is still running: {stat}");
        let left = std::fs::read_dir(&self.scratch.0).expect("the folder").flatten().map(|entry| entry.file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("ravelin-")).collect();
        assert!(left.is_empty(), "{words:?}: {left:?}");
        std::fs::remove_file(self.scratch.0.join("number")).expect("it was there");
    }
}

#[test]
fn a_compiler_that_does_not_end_is_ended_with_the_time_limit() {
    let slow = SlowCompiler::new("c-slow");
    for words in &slow.commands {
        let words = [&words[..], &["--timeout".to_owned(), "1".to_owned()]].concat();
        let output = slow.command(&words).output().expect("the program ends");
        let says = match words[0].as_str() {
            "convert" | "simulate" | "certificate" => "clang was still running after 1 s",
            _ => "unknown: the time limit of 1 s was reached",
        };
        slow.was_ended(&words, &output, says);
    }
}

#[test]
fn a_compiler_that_does_not_end_is_ended_by_a_signal() {
    let slow = SlowCompiler::new("c-signal");
    let mut signals = ["INT", "TERM"].into_iter().cycle();
    for words in &slow.commands {
        let child = slow.command(words).spawn().expect("the program starts");
        until("the compiler runs", || slow.number().is_some());
        send(signals.next().unwrap_or("INT"), child.id());
        slow.was_ended(words, &child.wait_with_output().expect("the program ends"), "interrupted");
    }
}

#[test]
fn without_clang_it_is_said_how_to_install_it() {
    let scratch = Scratch::new("c-no-clang");
    let path = scratch.write("any.c", "int main(void) { return 0; }\n");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ravelin"));
    command.args(["check", &path]).env("PATH", "/nowhere").env_remove("RAVELIN_CLANG");
    let output = command.output().expect("the program ends");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("apt-get install clang"), "{}", stderr(&output));
}

const SB: &str = "//! expect check tso: not robust
//! expect check rc20: not robust
#include <stdatomic.h>
atomic_int x, y;
int a, b;
void left(void) {
  atomic_store_explicit(&x, 1, memory_order_release);
  a = atomic_load_explicit(&y, memory_order_acquire);
}
void right(void) {
  atomic_store_explicit(&y, 1, memory_order_release);
  b = atomic_load_explicit(&x, memory_order_acquire);
}
";

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn functions_run_in_parallel_and_answers_name_lines() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let scratch = Scratch::new("c-entry");
    let path = scratch.write("sb.c", SB);
    let entry = ["--entry", "left,right"];
    let output = ravelin(&[&["check", &path, "--model", "tso"], &entry[..]].concat(), "");
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(stdout(&output).contains("left reads `y` on line 8 before its store to `x` on line 7"), "{output:?}");
    let piped = ravelin(&[&["check", "-", "--from", "c", "--model", "tso"], &entry[..]].concat(), SB);
    assert!(stdout(&piped).contains("left reads `y` on line 8 before its store to `x` on line 7"), "{piped:?}");
    let both = ravelin(&[&["check", &path], &entry[..]].concat(), "");
    assert!(stdout(&both).contains("under tso") && stdout(&both).contains("under rc20"), "{both:?}");
    let compared = ravelin(&[&["check", "--expect", &path], &entry[..]].concat(), "");
    assert_eq!(code(&compared), 0, "{compared:?}");
    assert!(stdout(&compared).contains("2 answers: 2 agree"), "{compared:?}");
    let sarif = ravelin(&[&["check", &path, "--model", "tso", "--format", "sarif"], &entry[..]].concat(), "");
    assert!(stdout(&sarif).contains("\"startLine\": 7"), "{sarif:?}");
    let model = ravelin(&[&["convert", &path, "--to", "rav"], &entry[..]].concat(), "");
    let again = ravelin(&["check", "-", "--from", "rav", "--model", "tso"], &stdout(&model));
    assert_eq!(code(&again), 1, "{}", stdout(&model));
}

#[test]
fn repairs_are_patches_of_the_file() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let scratch = Scratch::new("c-repairs");
    let path = scratch.write("sb.c", SB);
    let fence = "  atomic_thread_fence(memory_order_seq_cst);\n";
    for model in ["tso", "rc20"] {
        let output = ravelin(&["fence", &path, "--entry", "left,right", "--model", model, "--diff"], "");
        assert_eq!(code(&output), 0, "{output:?}");
        let said = stdout(&output);
        assert!(said.contains("Checked from scratch: the repaired program is robust"), "{said}");
        let added = said.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).count();
        assert_eq!((added, said.matches(&format!("+{fence}")).count()), (2, 2), "{said}");
    }
    let repaired = scratch.0.join("repaired.c").display().to_string();
    let output = ravelin(&["fence", &path, "--entry", "left,right", "--model", "rc20", "--write", &repaired], "");
    assert_eq!(code(&output), 0, "{output:?}");
    let output = ravelin(&["check", &repaired, "--entry", "left,right", "--model", "tso,rc20"], "");
    assert_eq!(code(&output), 0, "{output:?}");
    let relaxed = ravelin(&["relax", &repaired, "--entry", "left,right", "--model", "rc20", "--diff"], "");
    assert!(stdout(&relaxed).contains("+  atomic_store_explicit(&x, 1, memory_order_relaxed);"), "{relaxed:?}");
    let locked = ravelin(&["fence", &path, "--entry", "left,right", "--model", "tso", "--repair", "rmw", "--diff"], "");
    assert!(stdout(&locked).contains("+  atomic_exchange_explicit(&x, 1, memory_order_seq_cst);"), "{locked:?}");
}

#[test]
fn fences_in_expressions_and_orders_of_methods_are_written() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let scratch = Scratch::new("c-expressions");
    let text = "#include <atomic>\n#include <cassert>\nstd::atomic<int> x, y;\nint data;\nextern \"C\" {\nvoid p() {\n  \
                data = 1;\n  x.store(1, std::memory_order_relaxed);\n}\nvoid q() {\n  if (x.load(std::memory_order_relaxed))\n    \
                assert(data == 1);\n}\n}\n";
    let path = scratch.write("mp.cpp", text);
    let output = ravelin(&["fence", &path, "--entry", "p,q", "--model", "rc20", "--diff"], "");
    assert_eq!(code(&output), 0, "{output:?}");
    let said = stdout(&output);
    assert!(said.contains("+  x.store(1, std::memory_order_release);"), "{said}");
    assert!(said.contains("+  if (x.load(std::memory_order_acquire))"), "{said}");
}

#[test]
fn operators_of_atomic_types_get_orders() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let scratch = Scratch::new("c-operators");
    let head = "int data;\nstruct point { COUNTER x; };\nstruct point point, *there = &point;\nCOUNTER ready, count, bits[2];\n";
    let body = "void p(void) {\n  data = 1;\n  ready = 1;\n  count++;\n  --count;\n  there->x += 2;\n  bits[data] |= 1;\n}\n\
                void q(void) {\n  if (ready) count += data;\n  int seen = there->x + bits[1];\n  count ^= seen;\n}\n";
    let c = format!("#include <stdatomic.h>\n{}{body}", head.replace("COUNTER", "atomic_int"));
    let cpp = format!("#include <atomic>\n{}extern \"C\" {{\n{body}}}\n", head.replace("COUNTER", "std::atomic<int>"));
    for (name, text, wanted) in [
        (
            "operators.c",
            c,
            &[
                "+  atomic_store_explicit(&ready, 1, memory_order_release);",
                "+  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);",
                "+  atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);",
                "+  atomic_fetch_add_explicit(&there->x, 2, memory_order_relaxed);",
                "+  atomic_fetch_or_explicit(&bits[data], 1, memory_order_relaxed);",
                "+  if (atomic_load_explicit(&ready, memory_order_acquire)) \
                 atomic_fetch_add_explicit(&count, data, memory_order_relaxed);",
                "+  int seen = atomic_load_explicit(&there->x, memory_order_relaxed) + \
                 atomic_load_explicit(&bits[1], memory_order_relaxed);",
                "+  atomic_fetch_xor_explicit(&count, seen, memory_order_relaxed);",
            ],
        ),
        (
            "operators.cpp",
            cpp,
            &[
                "+  ready.store(1, std::memory_order_release);",
                "+  count.fetch_add(1, std::memory_order_relaxed);",
                "+  count.fetch_sub(1, std::memory_order_relaxed);",
                "+  there->x.fetch_add(2, std::memory_order_relaxed);",
                "+  bits[data].fetch_or(1, std::memory_order_relaxed);",
                "+  if (ready.load(std::memory_order_acquire)) count.fetch_add(data, std::memory_order_relaxed);",
                "+  int seen = there->x.load(std::memory_order_relaxed) + bits[1].load(std::memory_order_relaxed);",
                "+  count.fetch_xor(seen, std::memory_order_relaxed);",
            ],
        ),
    ] {
        let path = scratch.write(name, &text);
        let output = ravelin(&["relax", &path, "--entry", "p,q", "--model", "rc20", "--diff"], "");
        let said = stdout(&output);
        assert_eq!(code(&output), 0, "{output:?}");
        for line in wanted {
            assert!(said.lines().any(|own| own == *line), "{name}: {line}: {said}");
        }
    }
    // The value of an assignment is used, or the operator is none of an order.
    let kept = "#include <stdatomic.h>\natomic_int x, y;\nvoid p(void) { x = y = 1; }\nvoid q(void) { y = x; }\n";
    let path = scratch.write("kept.c", kept);
    let output = ravelin(&["relax", &path, "--entry", "p,q", "--model", "rc20"], "");
    assert!(stdout(&output).contains("keep their orders"), "{output:?}");
}

#[test]
fn what_has_no_model_is_refused_with_its_line() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let scratch = Scratch::new("c-refused");
    for (text, line) in [
        ("void other(void);\nint main(void) {\n  other();\n}\n", 3),
        ("int f(int n) { return n ? f(n + 1) : 0; }\nint main(int n) {\n  return f(n + 1);\n}\n", 0),
        ("int x;\n", 0),
    ] {
        let path = scratch.write("refused.c", text);
        let output = ravelin(&["check", &path], "");
        assert_eq!(code(&output), 2, "{text}: {output:?}");
        assert!(line == 0 || stderr(&output).contains(&format!("refused.c:{line}:")), "{text}: {output:?}");
    }
    let output = ravelin(&["fence", "-", "--from", "llvm"], "define void @main() {\n  ret void\n}\n");
    assert!([0, 2].contains(&code(&output)), "{output:?}");
    for text in ["", "}", "define", "!0 = !{", "define void @main() {\n  store atomic"] {
        let output = ravelin(&["check", "-", "--from", "llvm"], text);
        assert_eq!(code(&output), 2, "{text}: {output:?}");
    }
}

/// A slot behind a computed index, a variable with several versions, an assertion with two halves.
const SLOTS: &str = "#include <assert.h>
#include <stdatomic.h>
typedef struct { atomic_int full; int data; } slot;
static slot slots[2];
static atomic_uint next;
void producer(void) {
  unsigned at = atomic_load_explicit(&next, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&next, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {}
  slots[at & 1].data = 7;
  atomic_store_explicit(&slots[at & 1].full, 1, memory_order_relaxed);
}
void consumer(void) {
  if (atomic_load_explicit(&slots[0].full, memory_order_acquire)) {
    int value = slots[0].data;
    assert(value == 7 || value == 9);
  }
}
";

#[test]
fn runs_name_what_the_source_names() {
    if !has("clang", "--version", "clang") {
        return;
    }
    let scratch = Scratch::new("c-names");
    let path = scratch.write("slots.c", SLOTS);
    let output = ravelin(&["reach", &path, "--entry", "producer,consumer", "--model", "rc20"], "");
    let text = stdout(&output);
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(text.contains("`assert(value == 7 || value == 9)` fails in consumer (line 15)"), "{text}");
    assert!(text.contains("next.compare_exchange_weak(at, at + 1)  "), "{text}");
    assert!(text.contains("slots[0].data.write(7)  "), "{text}");
    assert!(text.contains("slots[0].full.store(1)  "), "{text}");
    assert!(!text.contains("mem[") && !text.contains("at.") && !text.contains("r."), "{text}");
}
