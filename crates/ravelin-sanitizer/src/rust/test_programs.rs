//! The tests of a cargo project, each as a program of its own.
//!
//! Cargo builds the test programs and says where they are. Each lists its tests, and runs the one that is named. The test
//! harness runs a test in a second thread, which sends the result to the first: both are compiled, and their steps are no
//! subject. The runtime refuses that thread (`refuse-thread`). The harness then runs the test in its first thread, as it
//! does where there are too many threads.

use super::cargo::Cargo;
use crate::watch::WatchCommand;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program with tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestProgram {
    /// The name of its target: that of the crate, or of a file in `tests`.
    pub target: String,
    pub executable: PathBuf,
    /// The directory of its package, in which its tests run.
    pub directory: PathBuf,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub name: String,
    pub program: TestProgram,
}

/// Why there are no tests to verify.
#[derive(Debug, thiserror::Error)]
pub enum NoTests {
    #[error("{}: cargo cannot be run", .0.display())]
    NotStarted(PathBuf, #[source] io::Error),
    /// Cargo has said why.
    #[error("the tests were not built")]
    NotBuilt,
    #[error("{}: the tests cannot be listed", .0.display())]
    NotListed(PathBuf, #[source] io::Error),
    #[error("{}: this program does not list its tests: {said}", .program.display())]
    NoHarness { program: PathBuf, said: String },
}

/// Arguments of `cargo test` without the names of tests, and the names.
pub fn without_test_names(arguments: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    const WITH_VALUE: &[&str] = &[
        "-p",
        "--package",
        "--exclude",
        "--bin",
        "--test",
        "--example",
        "--bench",
        "-F",
        "--features",
        "--profile",
        "--target",
        "--target-dir",
        "--manifest-path",
        "--lockfile-path",
        "--color",
        "--config",
        "-Z",
        "-j",
        "--jobs",
        "-C",
    ];
    let (mut others, mut names) = (Vec::new(), Vec::new());
    let mut is_value = false;
    for argument in arguments {
        let is_name = !is_value && !argument.as_encoded_bytes().starts_with(b"-");
        is_value = !is_value && WITH_VALUE.iter().any(|option| argument == option);
        if is_name { names.push(argument.clone()) } else { others.push(argument.clone()) }
    }
    (others, names)
}

/// Builds test programs by a command that [`Cargo`] has made of `test --no-run --message-format=json-render-diagnostics`.
pub fn build_tests(cargo: &Cargo) -> Result<Vec<TestProgram>, NoTests> {
    let output = Command::new(&cargo.program)
        .args(&cargo.arguments)
        .envs(cargo.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| NoTests::NotStarted(PathBuf::from(&cargo.program), error))?;
    if !output.status.success() {
        return Err(NoTests::NotBuilt);
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(test_program).collect())
}

/// The test program in a line of cargo's messages, if there is one.
fn test_program(line: &str) -> Option<TestProgram> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    let is_test = message.get("profile")?.get("test")?.as_bool()?;
    let executable = PathBuf::from(message.get("executable")?.as_str()?);
    let manifest = Path::new(message.get("manifest_path")?.as_str()?);
    let target = message.get("target")?.get("name")?.as_str()?.to_owned();
    is_test.then(|| TestProgram {
        target,
        executable,
        directory: manifest.parent().map(PathBuf::from).unwrap_or_default(),
    })
}

impl TestProgram {
    /// Its tests that are not ignored. `words` select some, as the words after `--` do for the test harness.
    pub fn tests(&self, words: &[OsString]) -> Result<Vec<Test>, NoTests> {
        let ignored = self.list(words, &["--ignored"])?;
        let tests = self.list(words, &[])?.into_iter().filter(|name| !ignored.contains(name));
        Ok(tests.map(|name| Test { name, program: self.clone() }).collect())
    }

    fn list(&self, words: &[OsString], more: &[&str]) -> Result<Vec<String>, NoTests> {
        let output = Command::new(&self.executable)
            .args(words)
            .args(["--list", "--format", "terse"])
            .args(more)
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| NoTests::NotListed(self.executable.clone(), error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(NoTests::NoHarness { program: self.executable.clone(), said });
        }
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }
}

impl Test {
    /// Its name, with that of its program: `queue::push_pop`.
    pub fn path(&self) -> String {
        format!("{}::{}", self.program.target, self.name)
    }

    /// The command that runs it alone.
    pub fn command(&self, mut options: Vec<String>) -> WatchCommand {
        options.push("refuse-thread".to_owned());
        let words = ["--exact", &self.name, "--test-threads=1", "--nocapture"];
        WatchCommand {
            program: self.program.executable.clone().into_os_string(),
            arguments: words.map(OsString::from).to_vec(),
            options,
            environment: vec![("CARGO_MANIFEST_DIR".into(), self.program.directory.clone().into_os_string())],
            directory: Some(self.program.directory.clone()),
            ..WatchCommand::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests_are_told_from_values_of_options() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let (others, names) = without_test_names(&words("--test queue push --features a,b --release pop --lib"));
        assert_eq!(others, words("--test queue --features a,b --release --lib"));
        assert_eq!(names, words("push pop"));
    }

    #[test]
    fn test_programs_are_found_among_the_messages_of_cargo() {
        let line = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml","target":{{"name":"queue"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let expected = TestProgram { target: "queue".into(), executable: "/t/queue-1".into(), directory: "/p".into() };
        assert_eq!(test_program(&line(true, r#""/t/queue-1""#)), Some(expected));
        for other in
            [&*line(false, r#""/t/queue""#), &*line(true, "null"), r#"{"reason":"build-finished"}"#, "Compiling"]
        {
            assert_eq!(test_program(other), None, "{other}");
        }
    }
}
