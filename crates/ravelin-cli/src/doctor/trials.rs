//! What `ravelin doctor` tries out: commands on small programs in a temporary folder, with the exit code that each has to have.

use anyhow::Context;
use ravelin_process::child::{ChildEnd, ChildGroup};
use ravelin_process::folder::TemporaryFolder;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// One command may take this long: a first build of a Rust project is the longest.
const LONGEST: Duration = Duration::from_secs(60);
/// Of what a command prints if it fails.
const MESSAGE_LINES: usize = 6;

/// Something that Ravelin does, with tools of others.
pub struct Trial {
    pub what: &'static str,
    /// The first of these programs that there is, which is asked for its version. Empty: none is needed.
    tools: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    steps: &'static [Step],
    /// How to get it, and what works without.
    pub advice: &'static str,
}

/// A command of `ravelin`, and its exit code.
struct Step {
    words: &'static [&'static str],
    exit: i32,
}

pub enum Outcome {
    Works { tool: String },
    Missing,
    Fails { tool: String, message: String },
    Interrupted,
}

const MODEL: &str = "\
static x: 0..=1;
static y: 0..=1;
thread a { x.store(1, relaxed); let r = y.load(relaxed); }
thread b { y.store(1, relaxed); let r = x.load(relaxed); }
";

const C_MODEL: &str = "\
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static void *one(void *unused) { x = 1; return unused; }
static void *two(void *unused) { y = x; return unused; }
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
";

/// The two threads race for `x`.
const C_RACE: &str = "\
#include <pthread.h>
static int x;
static void *other(void *unused) { x = 1; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    x = 2;
    pthread_join(thread, 0);
    return 0;
}
";

const CXX_RACE: &str = "\
#include <thread>
static int x;
int main() {
    std::thread other([] { x = 1; });
    x = 2;
    other.join();
}
";

const MANIFEST: &str = "[package]\nname = \"tried\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n";
const RUST: &str = "\
use std::sync::atomic::{AtomicUsize, Ordering};
static X: AtomicUsize = AtomicUsize::new(0);
fn main() {
    std::thread::spawn(|| X.fetch_add(1, Ordering::AcqRel)).join().unwrap();
}
";

pub const TRIALS: [Trial; 8] = [
    Trial {
        what: "models",
        tools: &[],
        files: &[("model.rav", MODEL)],
        steps: &[Step { words: &["check", "model.rav", "--model", "tso"], exit: 1 }],
        advice: "",
    },
    Trial {
        what: "C files as models",
        tools: &["clang"],
        files: &[("model.c", C_MODEL)],
        steps: &[Step { words: &["check", "model.c", "--model", "tso"], exit: 0 }],
        advice: "It needs clang: on Debian `apt-get install clang`. RAVELIN_CLANG names one that has another name.",
    },
    Trial {
        what: "sanitizer for C, with gcc",
        tools: &["gcc"],
        files: &[("race.c", C_RACE)],
        steps: &[
            Step { words: &["cc", "--ravelin-compiler=gcc", "-o", "race", "race.c"], exit: 0 },
            Step { words: &["run", "./race"], exit: 1 },
        ],
        advice: "It needs gcc: on Debian `apt-get install gcc libc6-dev`. clang does the same.",
    },
    Trial {
        what: "sanitizer for C, with clang",
        tools: &["clang"],
        files: &[("race.c", C_RACE)],
        steps: &[
            Step { words: &["cc", "--ravelin-compiler=clang", "-o", "race", "race.c"], exit: 0 },
            Step { words: &["run", "./race"], exit: 1 },
        ],
        advice: "It needs clang: on Debian `apt-get install clang`. gcc does the same.",
    },
    Trial {
        what: "sanitizer for C++",
        tools: &["g++", "clang++"],
        files: &[("race.cc", CXX_RACE)],
        steps: &[
            Step { words: &["c++", "-o", "race", "race.cc"], exit: 0 },
            Step { words: &["run", "./race"], exit: 1 },
        ],
        advice: "It needs g++ or clang++: on Debian `apt-get install g++`.",
    },
    Trial {
        what: "every schedule of a test",
        tools: &["gcc", "clang"],
        files: &[("race.c", C_RACE)],
        steps: &[
            Step { words: &["cc", "-o", "race", "race.c"], exit: 0 },
            Step { words: &["verify", "./race"], exit: 1 },
        ],
        advice: "The test has to be compiled, for which gcc or clang is needed.",
    },
    Trial {
        what: "witnesses on this machine",
        tools: &["gcc", "clang"],
        files: &[("model.rav", MODEL)],
        steps: &[Step { words: &["confirm", "model.rav", "--timeout", "10s"], exit: 1 }],
        advice: "`ravelin confirm` needs gcc or clang.",
    },
    Trial {
        what: "sanitizer for Rust",
        tools: &["cargo"],
        files: &[("Cargo.toml", MANIFEST), ("main.rs", RUST)],
        steps: &[Step { words: &["cargo", "run", "--offline"], exit: 0 }],
        advice: "It needs cargo and rustc, from https://rustup.rs.",
    },
];

/// Does all steps of a trial.
pub fn try_out(trial: &Trial) -> anyhow::Result<Outcome> {
    let folder = TemporaryFolder::new("doctor")?;
    for (name, text) in trial.files {
        let path = folder.path().join(if *name == "main.rs" { "src/main.rs" } else { name });
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    // Without any of the tools the steps may still work: variables name others.
    let (tool, is_missing) = match version(trial.tools, folder.path())? {
        Tool::Found(words) => (words, false),
        Tool::Missing => (String::new(), !trial.tools.is_empty()),
        Tool::Interrupted => return Ok(Outcome::Interrupted),
    };
    let itself = std::env::current_exe().context("the file of this program")?;
    for step in trial.steps {
        let mut command = Command::new(&itself);
        command.args(step.words);
        let said = match said(&mut command, folder.path())? {
            Some(said) => said,
            None => return Ok(Outcome::Interrupted),
        };
        if said.exit != Some(step.exit) {
            if is_missing {
                return Ok(Outcome::Missing);
            }
            let message = said.message(step);
            return Ok(Outcome::Fails { tool, message });
        }
    }
    Ok(Outcome::Works { tool })
}

enum Tool {
    /// The first line of what it says of its version.
    Found(String),
    Missing,
    Interrupted,
}

/// The first of these tools that there is.
fn version(tools: &[&str], folder: &Path) -> anyhow::Result<Tool> {
    for tool in tools {
        match said(Command::new(tool).arg("--version"), folder) {
            Ok(Some(said)) => return Ok(Tool::Found(said.text.lines().next().unwrap_or(tool).to_owned())),
            Ok(None) => return Ok(Tool::Interrupted),
            Err(_) => {}
        }
    }
    Ok(Tool::Missing)
}

/// What a command said.
struct Said {
    /// `None`: it was ended by a signal, or took too long.
    exit: Option<i32>,
    is_late: bool,
    text: String,
}

impl Said {
    fn message(&self, step: &Step) -> String {
        let how = match (self.exit, self.is_late) {
            (Some(exit), _) => format!("ended with {exit} instead of {}", step.exit),
            (None, true) => format!("did not end within {} s", LONGEST.as_secs()),
            (None, false) => "was ended by a signal".to_owned(),
        };
        let mut lines = vec![format!("ravelin {} {how}:", step.words.join(" "))];
        let text: Vec<&str> = self.text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.extend(text.iter().skip(text.len().saturating_sub(MESSAGE_LINES)).map(|line| format!("  {line}")));
        lines.join("\n")
    }
}

/// Runs a command in a folder. `None`: a signal asks this program to end.
fn said(command: &mut Command, folder: &Path) -> anyhow::Result<Option<Said>> {
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
    let end = ChildGroup::spawn(command)?.wait(Some(LONGEST))?;
    let text = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text(&stdout)? + &text(&stderr)?;
    Ok(match end {
        ChildEnd::Exited(status) => Some(Said { exit: status.code(), is_late: false, text }),
        ChildEnd::Late => Some(Said { exit: None, is_late: true, text }),
        ChildEnd::Interrupted => None,
    })
}
