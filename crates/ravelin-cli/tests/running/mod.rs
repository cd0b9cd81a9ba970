//! Running the program as its users do.

use std::io::Write;
use std::process::{Command, Output, Stdio};

pub fn ravelin(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ravelin"))
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The program may end before it has read everything; what it then says is what counts.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("the program ends")
}

/// The program with signals as they are at a terminal: where tests run in the background some are ignored, and the
/// program leaves ignored signals alone. `env` becomes the program, so the process keeps its number.
pub fn interruptible() -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_ravelin")]);
    command
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {output:?}"))
}

pub fn on_text(text: &str, arguments: &[&str]) -> Output {
    let mut all = vec![arguments[0], "-", "--from", "rav"];
    all.extend(&arguments[1..]);
    ravelin(&all, text)
}

pub const SB: &str = "X86_64 SB\n{}\n P0 | P1 ;\n movl $1,(x) | movl $1,(y) ;\n movl (y),%eax | movl (x),%eax ;\nexists (0:rax=0 /\\ 1:rax=0)\n";

/// A folder of its own, gone when dropped.
pub struct Scratch(std::path::PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("ravelin-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Scratch(path)
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
