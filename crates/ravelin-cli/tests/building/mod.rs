//! Programs built by `ravelin cc` or `ravelin c++` in folders of their own, for tests that run them with many options.

use crate::json_schema::valid;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Seconds that no command of a test takes.
const LONG: &str = "600";

/// A folder of its own with one program in it, gone when dropped.
pub struct Built {
    pub folder: PathBuf,
}

impl Built {
    /// A program of `tests/schedules`.
    pub fn new(source: &str, flags: &str) -> Built {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schedules")).join(source);
        Built::from(&std::fs::read_to_string(path).expect("a program"), source, flags)
    }

    /// A program with this text.
    pub fn from(text: &str, name: &str, flags: &str) -> Built {
        static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("ravelin-schedules-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let built = Built { folder };
        built.rebuild(text, name, flags);
        built
    }

    /// Another text in its place.
    pub fn rebuild(&self, text: &str, name: &str, flags: &str) {
        std::fs::write(self.folder.join(name), text).expect("a file");
        let compiler = if name.ends_with(".cpp") { "c++ -std=c++20" } else { "cc" };
        let output = self.ravelin(&format!("{compiler} -O1 -g -w -pthread {flags} {name} -o program"));
        assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    }

    /// Runs `ravelin` in the folder; what hangs is ended after a long time, with exit code 124.
    pub fn ravelin(&self, line: &str) -> Output {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=20", LONG, env!("CARGO_BIN_EXE_ravelin")]);
        command.args(line.split_whitespace()).current_dir(&self.folder).stdin(Stdio::null());
        command.env_remove("RAVELIN_CC").env_remove("RAVELIN_CXX").output().expect("ravelin starts")
    }

    /// Runs with these options and arguments, and reads the report.
    pub fn report(&self, options: &str, arguments: &str) -> (Value, Output) {
        let output =
            self.ravelin(&format!("run {options} --format json --output report.json -- ./program {arguments}"));
        let text = std::fs::read_to_string(self.folder.join("report.json"))
            .unwrap_or_else(|error| panic!("{error}: {}", text_of(&output)));
        (valid(&text)["answers"][0].clone(), output)
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// All that a command has written.
pub fn text_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
