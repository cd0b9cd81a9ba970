//! Programs with expected findings: reading what their first lines say, building, running, comparing.
//!
//! The format is described in `tests/sanitizer/README.md`.

use ravelin::answer::sanitizer::Problem;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// A program, as its first lines describe it.
pub struct Program {
    pub path: PathBuf,
    /// What is said once for all cases: `std`, `flags`, `libraries`, …
    settings: BTreeMap<String, String>,
    pub cases: Vec<Case>,
    /// The lines that carry a label.
    labels: BTreeMap<String, Vec<u64>>,
}

/// One way to build and run a program.
pub struct Case {
    pub name: String,
    flags: Vec<String>,
    options: Vec<String>,
    expected: Vec<Expected>,
}

/// A finding that must, or may, be there.
struct Expected {
    must: bool,
    kind: Kind,
    /// Two accesses, or none if it may be anywhere.
    at: Option<[At; 2]>,
}

/// What is wrong: a race, a violation of any kind, or a misuse by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Race,
    Violation,
    Misuse(String),
}

impl Kind {
    /// As a document names it.
    fn of_problem(name: &str) -> Kind {
        match name {
            "data-race" => Kind::Race,
            "stale-read" | "stale-write" | "stale-update" => Kind::Violation,
            misuse => Kind::Misuse(misuse.to_owned()),
        }
    }

    /// As a case names it.
    fn read(word: &str) -> Option<Kind> {
        match word {
            "race" => Some(Kind::Race),
            "violation" => Some(Kind::Violation),
            name => Problem::of_name(name).map(|problem| Kind::of_problem(problem.name())),
        }
    }

    fn show(&self) -> &str {
        match self {
            Kind::Race => "race",
            Kind::Violation => "violation",
            Kind::Misuse(name) => name,
        }
    }
}

/// `LABEL` or `LABEL/SIZE`: an access on a labelled line, of so many bytes if that is said.
struct At {
    label: String,
    size: Option<u64>,
}

/// A finding as `ravelin run` tells it, reduced to accesses on lines of the program itself.
#[derive(Debug)]
pub struct Found {
    kind: Kind,
    accesses: [FoundAt; 2],
}

#[derive(Debug)]
struct FoundAt {
    /// 0 if it is not known.
    line: u64,
    size: u64,
}

impl Program {
    /// `None` for a file that is only part of a program.
    pub fn read(path: &Path) -> Result<Option<Program>, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut program =
            Program { path: path.to_owned(), settings: BTreeMap::new(), cases: Vec::new(), labels: BTreeMap::new() };
        for (number, line) in (1..).zip(text.lines()) {
            if let Some((_, label)) = line.split_once("//@") {
                program.labels.entry(label.trim().to_owned()).or_default().push(number);
            } else if let Some(case) = line.strip_prefix("// case ") {
                program.cases.push(Case::read(case).ok_or_else(|| format!("{}: case {case}", path.display()))?);
            } else if let Some((name, value)) = line.strip_prefix("// ").and_then(|line| line.split_once(": ")) {
                program.settings.insert(name.to_owned(), value.to_owned());
            }
        }
        for expected in program.cases.iter().flat_map(|case| &case.expected) {
            let labels = expected.at.iter().flatten();
            if let Some(missing) =
                labels.into_iter().find(|at| at.label != NOWHERE && !program.labels.contains_key(&at.label))
            {
                return Err(format!("{}: no line is labelled {}", path.display(), missing.label));
            }
        }
        match (program.cases.is_empty(), text.starts_with("// part of ")) {
            (true, true) => Ok(None),
            (true, false) => Err(format!("{}: says nothing about what is expected", path.display())),
            (false, _) => Ok(Some(program)),
        }
    }

    /// Every program below a folder.
    pub fn all(folder: &Path) -> Result<Vec<Program>, String> {
        let mut paths = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            for path in entries.flatten().map(|entry| entry.path()) {
                match path.extension().and_then(|extension| extension.to_str()) {
                    _ if path.is_dir() => folders.push(path),
                    Some("c" | "cpp") => paths.push(path),
                    _ => {}
                }
            }
        }
        paths.sort();
        paths.iter().filter_map(|path| Program::read(path).transpose()).collect()
    }

    pub fn is_cpp(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "cpp")
    }

    pub fn takes(&self, compiler: &str) -> bool {
        let wanted =
            self.settings.get("compilers").is_none_or(|only| only.split_whitespace().any(|name| name == compiler));
        wanted && (!self.words("flags").any(|flag| flag == "-fopenmp") || has_openmp(compiler))
    }

    fn words(&self, setting: &str) -> impl Iterator<Item = &str> {
        self.settings.get(setting).into_iter().flat_map(|value| value.split_whitespace())
    }

    /// Whether a build serves all cases: the program gets the name of the case as its argument.
    pub fn is_built_once(&self) -> bool {
        self.settings.get("arguments").is_some_and(|arguments| arguments == "the case's name")
    }

    /// Builds once and runs all cases; what is wrong with them.
    pub fn try_all_cases(&self, compiler: &str, level: &str, folder: &Path) -> Result<(), String> {
        let (program, only) = self.build(&[], compiler, level, folder)?;
        let judged = self.cases.iter().map(|case| {
            let judged = self.judge_runs(case, &program, std::slice::from_ref(&case.name), folder, only);
            judged.map_err(|reason| format!("{}: {reason}", case.name))
        });
        let wrong: Vec<String> = judged.filter_map(Result::err).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n    ")) }
    }

    /// Builds and runs one case; what is wrong with it.
    pub fn try_case(&self, case: &Case, compiler: &str, level: &str, folder: &Path) -> Result<(), String> {
        let (program, only) = self.build(&case.flags, compiler, level, folder)?;
        let mut arguments: Vec<String> = self.words("arguments").map(str::to_owned).collect();
        for part in self.words("plugin") {
            let library = folder.join("plugin.so");
            let mut command = self.compiler(compiler, level);
            command.args(["-shared", "-fPIC"]).arg(self.path.with_file_name(part)).arg("-o").arg(&library);
            finish(&mut command, Duration::from_secs(120))?;
            arguments.push(library.display().to_string());
        }
        self.judge_runs(case, &program, &arguments, folder, only)
    }

    /// Builds a program. Returns its path, and what alone it is to be searched for, too.
    fn build(
        &self,
        flags: &[String],
        compiler: &str,
        level: &str,
        folder: &Path,
    ) -> Result<(PathBuf, LookedFor), String> {
        let program = folder.join("program");
        let mut command = self.compiler(compiler, level);
        command.args(flags).args(self.words("flags")).arg(&self.path).arg("-o").arg(&program);
        command.args(self.words("libraries"));
        finish(&mut command, Duration::from_secs(120))?;
        // Every case is tried at both levels, with one compiler or the other.
        let only = if level == "-O0" { LookedFor::Violations } else { LookedFor::Races };
        Ok((program, only))
    }

    /// Judges a case, and again when only one of races and violations is looked for.
    fn judge_runs(
        &self,
        case: &Case,
        program: &Path,
        arguments: &[String],
        folder: &Path,
        only: LookedFor,
    ) -> Result<(), String> {
        self.judge_some_runs(case, program, arguments, folder, LookedFor::Both)?;
        let judged = self.judge_some_runs(case, program, arguments, folder, only);
        judged.map_err(|reason| format!("{}: {reason}", only.option().unwrap_or_default()))
    }

    fn judge_some_runs(
        &self,
        case: &Case,
        program: &Path,
        arguments: &[String],
        folder: &Path,
        looked_for: LookedFor,
    ) -> Result<(), String> {
        // What an unlucky order of threads hides must turn up in one of some runs; what must not turn up never may.
        let runs = self.words("runs").next().and_then(|runs| runs.parse().ok()).unwrap_or(10);
        let mut found = Vec::new();
        let mut judged = Ok(());
        for _ in 0..runs {
            found.extend(self.run(case, program, arguments, folder, looked_for)?);
            judged = self.judge(case, &found, looked_for);
            match &judged {
                Err(missing) if missing.starts_with("not found") => {}
                _ => break,
            }
        }
        judged
    }

    /// Runs one case of a program that is built already; what is wrong with it. What stands behind the name of the case are
    /// its arguments.
    pub fn try_built(&self, case: &Case, program: &Path, folder: &Path) -> Result<(), String> {
        self.judge_runs(case, program, &case.flags, folder, LookedFor::Races)
    }

    fn compiler(&self, compiler: &str, level: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        command.arg(if self.is_cpp() { "c++" } else { "cc" });
        command.env(if self.is_cpp() { "RAVELIN_CXX" } else { "RAVELIN_CC" }, real_name(compiler, self.is_cpp()));
        command.args([level, "-g", "-pthread", "-w"]);
        command.arg("-I").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../ravelin-runtime/include"));
        command.args(self.words("std").map(|std| format!("-std={std}")));
        command
    }

    fn run(
        &self,
        case: &Case,
        program: &Path,
        arguments: &[String],
        folder: &Path,
        looked_for: LookedFor,
    ) -> Result<Vec<Found>, String> {
        let report = folder.join("report.json");
        let _ = std::fs::remove_file(&report);
        let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        command.args(["run", "--format", "json", "--output"]).arg(&report).args(&case.options);
        command.args(looked_for.option().filter(|option| !case.options.iter().any(|other| other == option)));
        if !case.options.iter().any(|option| option == "--schedule") {
            command.args(schedule());
        }
        command.arg("--").arg(program).args(arguments);
        let code = finish_with(&mut command, Duration::from_secs(120))?;
        let text =
            std::fs::read_to_string(&report).map_err(|error| format!("no report ({error}), exit code {code}"))?;
        let json: Value = serde_json::from_str(&text).map_err(|error| format!("{error} in {text}"))?;
        let findings = findings(&json).ok_or_else(|| format!("no findings in {text}"))?;
        let ends = self.words("exit").next().unwrap_or("0");
        let wanted = if findings.is_empty() { ends } else { "1" };
        if wanted != "any" && ends != "any" && wanted != code.to_string() {
            return Err(format!("exit code {code}, expected {wanted}"));
        }
        findings.iter().map(|finding| self.found(finding)).collect()
    }

    fn found(&self, finding: &Value) -> Result<Found, String> {
        let problem = finding["problem"].as_str().ok_or_else(|| format!("no problem in {finding}"))?;
        let at = |access: &Value| FoundAt { line: self.line(access), size: access["size"].as_u64().unwrap_or(0) };
        Ok(Found { kind: Kind::of_problem(problem), accesses: [at(&finding["access"]), at(&finding["other"])] })
    }

    /// The innermost line of an access that is in the program itself; 0 if that is not known.
    fn line(&self, access: &Value) -> u64 {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut positions = access["stack"].as_array().into_iter().flatten();
        let here = |position: &&Value| position["file"].as_str().is_some_and(|file| file.ends_with(name));
        positions.find(here).and_then(|position| position["line"].as_u64()).unwrap_or(0)
    }

    fn judge(&self, case: &Case, found: &[Found], looked_for: LookedFor) -> Result<(), String> {
        let matches = |expected: &Expected, found: &Found| {
            let lost = |found: &FoundAt| found.line == 0 && self.settings.contains_key("forgets");
            let on = |at: &At, found: &FoundAt| {
                if at.label == NOWHERE {
                    return found.line == 0;
                }
                let line = self.labels.get(&at.label).is_some_and(|lines| lines.contains(&found.line));
                (line || lost(found)) && at.size.is_none_or(|size| size == found.size)
            };
            let there = expected.at.as_ref().is_none_or(|[a, b]| {
                let [first, second] = &found.accesses;
                (on(a, first) && on(b, second)) || (on(a, second) && on(b, first))
            });
            expected.kind == found.kind && there
        };
        if let Some(found) = found.iter().find(|found| !looked_for.counts(&found.kind)) {
            return Err(format!("found, but not looked for: {found:?}"));
        }
        let expected = case.expected.iter().filter(|expected| looked_for.counts(&expected.kind));
        for expected in expected.filter(|expected| expected.must) {
            if !found.iter().any(|found| matches(expected, found)) {
                return Err(format!("not found: {} in {found:?}", expected.show()));
            }
        }
        match found.iter().find(|found| !case.expected.iter().any(|expected| matches(expected, found))) {
            Some(found) => Err(format!("found, but not expected: {found:?}")),
            None => Ok(()),
        }
    }
}

/// What a run looks for.
#[derive(Clone, Copy)]
enum LookedFor {
    Both,
    Violations,
    Races,
}

impl LookedFor {
    fn option(self) -> Option<&'static str> {
        match self {
            LookedFor::Both => None,
            LookedFor::Violations => Some("--no-races"),
            LookedFor::Races => Some("--no-robustness"),
        }
    }

    fn counts(self, kind: &Kind) -> bool {
        match self {
            LookedFor::Both => true,
            LookedFor::Violations => *kind != Kind::Race,
            LookedFor::Races => *kind != Kind::Violation,
        }
    }
}

impl Case {
    /// `NAME flags… | options…: expectation, …`. The last colon before the expectations ends the flags.
    fn read(text: &str) -> Option<Case> {
        let (how, expected) = text.rsplit_once(": ")?;
        let (build, run) = how.split_once(" | ").unwrap_or((how, ""));
        let mut build = build.split_whitespace().map(str::to_owned);
        let name = build.next()?;
        let options = run.split_whitespace().map(str::to_owned).collect();
        let expected = match expected {
            "none" => Vec::new(),
            several => several.split(", ").map(Expected::read).collect::<Option<_>>()?,
        };
        Some(Case { name, flags: build.collect(), options, expected })
    }
}

impl Expected {
    fn read(text: &str) -> Option<Expected> {
        let (must, text) = text.strip_prefix("may ").map_or((true, text), |rest| (false, rest));
        let mut words = text.split_whitespace();
        let kind = Kind::read(words.next()?)?;
        let at = match (words.next(), words.next(), words.next()) {
            (None, ..) => None,
            (Some(a), Some(b), None) => Some([At::read(a)?, At::read(b)?]),
            _ => return None,
        };
        Some(Expected { must, kind, at })
    }

    fn show(&self) -> String {
        let place = self.at.as_ref().map(|[a, b]| format!(" {} {}", a.show(), b.show())).unwrap_or_default();
        format!("{}{place}", self.kind.show())
    }
}

/// The label of a place that is not known.
const NOWHERE: &str = "-";

impl At {
    fn read(text: &str) -> Option<At> {
        Some(match text.split_once('/') {
            Some((label, size)) => At { label: label.to_owned(), size: Some(size.parse().ok()?) },
            None => At { label: text.to_owned(), size: None },
        })
    }

    fn show(&self) -> String {
        self.size.map_or_else(|| self.label.clone(), |size| format!("{}/{size}", self.label))
    }
}

/// `RAVELIN_CASES_SCHEDULE` as options of `ravelin run`, for cases without a schedule of their own.
fn schedule() -> Vec<String> {
    let words = std::env::var("RAVELIN_CASES_SCHEDULE").unwrap_or_default();
    words.split_whitespace().map(str::to_owned).collect()
}

/// The findings of a report.
pub fn findings(report: &Value) -> Option<&Vec<Value>> {
    report["answers"][0]["findings"].as_array()
}

/// The compilers on this machine.
pub fn compilers() -> Vec<&'static str> {
    crate::workshop::compilers().into_iter().map(|(c, _)| c).collect()
}

/// Whether a compiler's library for OpenMP is there. gcc brings its own.
fn has_openmp(compiler: &str) -> bool {
    static OF_CLANG: OnceLock<bool> = OnceLock::new();
    compiler == "gcc"
        || *OF_CLANG.get_or_init(|| {
            let mut command = Command::new(real_name(compiler, false));
            command.args(["-fopenmp", "-include", "omp.h", "-fsyntax-only", "-x", "c", "/dev/null"]);
            let found = command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
            if !found {
                ravelin_testing::skip("OpenMP of clang is not installed (apt-get install libomp-dev)");
            }
            found
        })
}

fn real_name(compiler: &str, cpp: bool) -> &'static str {
    match (compiler, cpp) {
        ("gcc", false) => "gcc",
        ("gcc", true) => "g++",
        (_, false) => "clang",
        (_, true) => "clang++",
    }
}

/// How many programs run at a time.
const AT_ONCE: usize = 2;

/// Tries all jobs, a few at a time, each with a folder that no other uses meanwhile. None may have anything wrong with it.
pub fn try_all<Job: Sync>(name: &str, jobs: &[Job], wrong: impl Fn(&Job, &Path) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let (wrong, next, failures) = (&wrong, &next, &failures);
            scope.spawn(move || {
                let scratch = std::env::temp_dir().join(format!("ravelin-{name}-{}-{worker}", std::process::id()));
                std::fs::create_dir_all(&scratch).expect("a folder");
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(reason) = wrong(job, &scratch) {
                        failures.lock().expect("nobody panics").push(reason);
                    }
                }
                let _ = std::fs::remove_dir_all(&scratch);
            });
        }
    });
    let mut failures = failures.into_inner().expect("nobody panics");
    failures.sort();
    assert!(failures.is_empty(), "{} of {} failed:\n{}", failures.len(), jobs.len(), failures.join("\n"));
}

/// Runs a command that must succeed.
pub fn finish(command: &mut Command, limit: Duration) -> Result<(), String> {
    match finish_with(command, limit)? {
        0 => Ok(()),
        code => Err(format!("{command:?} ended with {code}")),
    }
}

/// Runs a command and gives its exit code; what it says is thrown away. Kills what takes too long.
pub fn finish_with(command: &mut Command, limit: Duration) -> Result<i32, String> {
    use std::process::Stdio;
    let said = std::env::var_os("RAVELIN_CASES_LOUD").is_some();
    let sink = || if said { Stdio::inherit() } else { Stdio::null() };
    command.stdin(Stdio::null()).stdout(sink()).stderr(sink());
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let end = std::time::Instant::now() + limit;
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => return Ok(status.code().unwrap_or(-1)),
            None if std::time::Instant::now() > end => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{command:?} takes longer than {} s", limit.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}
