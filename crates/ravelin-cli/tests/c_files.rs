//! C files on the command line: how they are compiled, what is refused, and what is left behind.

use crate::running;

use ravelin_testing::has;
use running::{Scratch, assert_codes, code, ravelin};
use std::process::Output;

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

#[test]
fn a_compiler_that_does_not_end_is_ended_with_the_time_limit() {
    let scratch = Scratch::new("c-slow");
    let slow = scratch.write("slow.sh", "echo $$ > \"$(dirname \"$0\")/number\"\nsleep 1000 & wait\n");
    let path = scratch.write("any.c", "int main(void) { return 0; }\n");
    let output = running::interruptible()
        .args(["check", &path, "--timeout", "1"])
        .env("RAVELIN_CLANG", format!("sh {slow}"))
        .env("TMPDIR", &scratch.0)
        .output()
        .expect("the program ends");
    assert_eq!(code(&output), 3, "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("unknown: the time limit of 1 s was reached"), "{said}");
    let number = std::fs::read_to_string(scratch.0.join("number")).expect("the compiler was started");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", number.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "the compiler is still running: {stat}");
    let left = std::fs::read_dir(&scratch.0).expect("the folder").flatten().map(|entry| entry.file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("ravelin-")).collect();
    assert!(left.is_empty(), "{left:?}");
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
