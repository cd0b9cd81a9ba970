//! Where tests of the sanitizer build and run programs.

use super::running::code;
use ravelin_testing::has;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder of its own to work in, gone when dropped.
pub struct Workshop(pub PathBuf);

impl Workshop {
    pub fn new(name: &str) -> Workshop {
        let path = std::env::temp_dir().join(format!("ravelin-sanitizer-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Workshop(path)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, contents).expect("a file");
    }

    pub fn ravelin(&self, line: &str) -> Output {
        self.command(line).output().expect("ravelin starts")
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        command.args(line.split_whitespace()).current_dir(&self.0).stdin(Stdio::null());
        command.env_remove("RAVELIN_CC").env_remove("RAVELIN_CXX");
        command
    }

    /// Must succeed.
    pub fn builds(&self, line: &str) {
        let output = self.ravelin(line);
        assert_eq!(code(&output), 0, "{line}: {}", text(&output));
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The C and C++ compilers of this machine. What is missing counts as skipped.
pub fn compilers() -> Vec<(&'static str, &'static str)> {
    let installed =
        |(c, cxx): &(&str, &str)| installed(c) && has(cxx, "--version", if *cxx == "g++" { "g++" } else { c });
    [("gcc", "g++"), ("clang", "clang++")].into_iter().filter(installed).collect()
}

/// Whether a program whose package has its name is there; otherwise the test is skipped.
pub fn installed(program: &str) -> bool {
    has(program, "--version", program)
}

/// Store buffering with release and acquire; with two threads one after the other it shows in nearly every round.
pub const SB: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
atomic_int x, y;
static void *first(void *arg) {
  atomic_store_explicit(&x, 1, memory_order_release);
  atomic_load_explicit(&y, memory_order_acquire);
  return arg;
}
static void *second(void *arg) {
  atomic_store_explicit(&y, 1, memory_order_release);
  atomic_load_explicit(&x, memory_order_acquire);
  return arg;
}
int main(int argc, char **argv) {
  for (int i = 0; i < 50; i++) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
  }
  puts("done");
  return argc > 1 ? 5 : 0;
}
"#;
