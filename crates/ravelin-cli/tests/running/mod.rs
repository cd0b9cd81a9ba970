//! Running the program as its users do.

use std::io::Write;
use std::path::{Path, PathBuf};
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

/// Each run must end with its code, and one that is refused must say why.
pub fn assert_codes(cases: &[(&[&str], i32)]) {
    for (arguments, expected) in cases {
        let output = ravelin(arguments, "");
        assert_eq!(code(&output), *expected, "{arguments:?}: {output:?}");
        if *expected == 2 {
            assert!(!output.stderr.is_empty(), "{arguments:?} says nothing");
        }
    }
}

/// Whether the program was built to search with other processes; if not, the calling test is skipped.
pub fn has_cluster() -> bool {
    let built_in = cfg!(feature = "cluster");
    if !built_in {
        ravelin_testing::skip("`ravelin` was built without `cluster` (--features ravelin-cli/cluster)");
    }
    built_in
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
pub struct Scratch(pub PathBuf);

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

/// Texts that every command must survive, with the exit codes of questions about them; and more of them.
pub fn hostile(more: &[(&str, i32)]) -> Vec<(String, i32)> {
    let nested = format!("thread t {{ let r = {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    let one_thread = "static x; static y; thread t { x.store(1); let r = y.load(); }";
    let all = [("", 0), ("\u{0}", 2), ("thread t { loop {} }", 0), (one_thread, 0), (&nested, 2)];
    all.iter().chain(more).map(|(text, code)| ((*text).to_owned(), *code)).collect()
}

/// The programs in some folders of the repository, in order.
pub fn programs_in(folders: &[impl AsRef<Path>]) -> Vec<String> {
    let paths = folders.iter().flat_map(entries);
    let programs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rav"));
    let mut programs: Vec<String> = programs.map(|path| path.display().to_string()).collect();
    programs.sort();
    programs
}

/// All examples, in order.
pub fn examples() -> Vec<String> {
    let mut folders = vec![PathBuf::from("examples")];
    let mut next = 0;
    while next < folders.len() {
        let inner = entries(&folders[next]).into_iter().filter(|path| path.is_dir());
        folders.extend(inner);
        next += 1;
    }
    programs_in(&folders)
}

/// What is in a folder of the repository.
fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}
