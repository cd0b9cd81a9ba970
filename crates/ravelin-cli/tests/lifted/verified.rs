//! The two ways to judge a C program say the same: `ravelin verify` on the compiled program, which makes every run that
//! can differ, and `ravelin check` and `reach` on its model.

use super::concurrent::{Concurrent, concurrent};
use super::{answers, models, reads_c};
use crate::programs::{compilers, try_all};
use crate::verify::{Verified, compile, verify};
use crate::versions::versions;

use ravelin_testing::{is_default_run, seeds};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

/// What `verify` found; `None` if a limit was met first.
struct Judged {
    /// A run under sequential consistency fails.
    fails: bool,
    races: bool,
    stale: bool,
    /// A run with one stale value fails in a way in which no other does.
    fails_when_stale: bool,
}

impl Judged {
    fn of(verified: &Verified) -> Option<Judged> {
        let words = verified.words();
        // With what code `main` ends is nothing to a model.
        let is_open = |word: &String| word == "unknown" || word.contains("exit code");
        if words.iter().any(is_open) || verified.answer["verification"]["complete"] != true {
            return None;
        }
        let says = |what: &[&str]| words.iter().any(|word| what.iter().any(|what| word.contains(what)));
        let findings = verified.answer["findings"].as_array().into_iter().flatten();
        let outcomes: BTreeSet<&str> = findings.filter_map(|found| found["consequence"]["outcome"].as_str()).collect();
        Some(Judged {
            fails: says(&["crash", "deadlock", "livelock"]),
            races: says(&["data race"]),
            stale: says(&["stale"]),
            fails_when_stale: outcomes.contains("abort"),
        })
    }
}

/// What of a program could be compared.
#[derive(Default)]
struct Compared {
    programs: usize,
    fails: usize,
    races: usize,
    stale: usize,
    robust: usize,
    /// Robust on x86 only.
    on_x86: usize,
}

/// Files that are not compared, and why.
const LEFT_OUT: [(&str, &str); 3] = [
    // The loop of the producer waits for a difference, which `--auto-wait` does not recognise.
    ("spsc-ring", "-"),
    ("spsc-ring-relaxed", "-"),
    // A node that is used after it was freed is a failed assertion of the model, and a data race of the program.
    ("rcu-no-grace-period", "-"),
];

/// Whether both ways agree about a file, and what they say.
fn agree(path: &Path, compiler: &str, flags: &[&str], locks: bool, folder: &Path) -> Result<Option<Compared>, String> {
    let program = folder.join("compiled");
    compile(path, compiler, flags, &program)?;
    let limits = ["--keep-going", "--max-runs", "3000", "--timeout", "30", "--jobs", "1"];
    let verified = verify(&program, &[&limits[..], &["--consequences"]].concat(), &[], folder)?;
    let Some(judged) = Judged::of(&verified) else { return Ok(None) };
    let file = [path.to_owned()];
    let defines: Vec<String> =
        flags.iter().filter(|flag| flag.starts_with("-D")).map(|flag| flag.to_string()).collect();
    let asked = |command: &str, models: &str| {
        // `verify` never counts a stale value that only repeats a loop that waits.
        let waits = (command == "check").then(|| "--auto-wait".to_owned());
        answers(command, models, &file, &defines.iter().cloned().chain(waits).collect::<Vec<_>>())
    };
    let reached = asked("reach", "sc,rc20")?;
    let mut compared = Compared { programs: 1, ..Compared::default() };
    let says = |answer: &Value, expected: bool, what: &str| match answer["verdict"].as_str() {
        Some("holds") if !expected => Err(format!("{what}: the model holds, but verify says {:?}", verified.words())),
        Some("violated") if expected => {
            Err(format!("{what}: the model is violated, but verify says {:?}", verified.words()))
        }
        Some("holds" | "violated" | "unknown") => Ok(()),
        verdict => Err(format!("{what}: {verdict:?} {:?}", answer["diagnostics"])),
    };
    says(&reached[0], !judged.fails, "reach sc")?;
    if judged.fails {
        compared.fails = 1;
        return Ok(Some(compared));
    }
    if judged.fails_when_stale && !judged.races {
        says(&reached[1], false, "reach rc20")?;
    }
    let checked = &asked("check", "rc20")?[0];
    says(checked, !judged.races && !judged.stale, "check rc20")?;
    if checked["race"].is_object() && !judged.races {
        return Err(format!("check rc20: a data race, but verify says {:?}", verified.words()));
    }
    if checked["verdict"] == "violated" && !checked["race"].is_object() && !judged.stale {
        return Err(format!("check rc20: not robust, but verify says {:?}", verified.words()));
    }
    compared.races = usize::from(judged.races);
    compared.stale = usize::from(judged.stale);
    compared.robust = usize::from(!judged.races && !judged.stale);
    // In the model unlocking is a plain store, and in the program a locked instruction.
    if !locks {
        let verified = verify(&program, &[&limits[..], &["--model", "tso", "--no-races"]].concat(), &[], folder)?;
        if let Some(on_x86) = Judged::of(&verified) {
            says(&asked("check", "tso")?[0], !on_x86.stale, "check tso")?;
            compared.on_x86 = usize::from(judged.stale && !on_x86.stale);
        }
    }
    Ok(Some(compared))
}

impl Compared {
    fn add(&mut self, other: &Compared) {
        self.programs += other.programs;
        self.fails += other.fails;
        self.races += other.races;
        self.stale += other.stale;
        self.robust += other.robust;
        self.on_x86 += other.on_x86;
    }

    fn print(&self) {
        let Compared { programs, fails, races, stale, robust, on_x86 } = self;
        println!(
            "{programs} programs compared: {robust} robust, {races} race, {stale} not robust, {on_x86} of them robust on x86, {fails} fail"
        );
    }
}

#[test]
fn random_programs_are_judged_alike_compiled_and_lifted() {
    let compilers = compilers();
    if compilers.is_empty() || !reads_c() {
        return;
    }
    let sum = Mutex::new(Compared::default());
    try_all("lifted-verified", &seeds(30).collect::<Vec<_>>(), |seed, folder| {
        let program = concurrent(*seed);
        let path = folder.join("program.c");
        let compiler = compilers[*seed as usize % compilers.len()];
        let judge = |program: &Concurrent| {
            std::fs::write(&path, program.c()).map_err(|error| error.to_string())?;
            // Without optimisation the first round of a loop counts. With it, clang removes loads that are not used, and
            // gcc does not.
            match program.waits() {
                true if !compilers.contains(&"gcc") => Ok(None),
                true => agree(&path, "gcc", &["-O1", "-w"], program.locks(), folder),
                false => agree(&path, compiler, &["-O0", "-w"], program.locks(), folder),
            }
        };
        match judge(&program) {
            Ok(compared) => sum.lock().expect("nobody panics").add(&compared.unwrap_or_default()),
            Err(reason) => {
                let small = program.shrunk(150, |smaller| judge(smaller).is_err_and(|other| other == reason));
                return Err(format!("seed {seed}: {compiler}: {reason}\n{}", small.c()));
            }
        }
        Ok(())
    });
    let sum = sum.into_inner().expect("nobody panics");
    sum.print();
    let all = [sum.fails, sum.races, sum.stale, sum.robust, sum.on_x86];
    assert!(!is_default_run() || (sum.programs > 20 && all.iter().all(|count| *count > 0)));
}

/// Classic algorithms. Those that take more runs than the limit, and those that are refused as models, are not compared.
#[test]
fn examples_are_judged_alike_compiled_and_lifted() {
    let Some(&compiler) = compilers().last().filter(|_| reads_c()) else { return };
    let mut jobs: Vec<_> = models().into_iter().map(|path| (path, Vec::new())).collect();
    let verified =
        versions("verify", "verify").into_iter().filter(|it| it.path.extension().is_some_and(|it| it == "c"));
    jobs.extend(verified.map(|version| (version.path, version.flags)));
    jobs.retain(|(path, _)| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        !LEFT_OUT.iter().any(|(file, with)| *file == name && ["-", compiler].contains(with))
    });
    // All of them take a minute.
    let turn = if std::env::var_os("RAVELIN_CASES_ALL").is_some() { 1 } else { 3 };
    let jobs: Vec<_> = jobs.into_iter().step_by(turn).collect();
    let sum = Mutex::new((Compared::default(), 0));
    try_all("examples-verified", &jobs, |(path, flags), folder| {
        let flags: Vec<&str> = flags.iter().map(String::as_str).chain(["-O1", "-w"]).collect();
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let compared = match agree(path, compiler, &flags, text.contains("mutex"), folder) {
            Ok(compared) => compared,
            Err(reason) if reason.contains("not supported") || reason.contains("is not defined in this file") => None,
            Err(reason) => return Err(format!("{} {compiler} {flags:?}: {reason}", path.display())),
        };
        let mut sum = sum.lock().expect("nobody panics");
        sum.0.add(&compared.unwrap_or_default());
        sum.1 += 1;
        Ok(())
    });
    let (sum, tried) = sum.into_inner().expect("nobody panics");
    sum.print();
    assert!(compilers().is_empty() || 2 * sum.programs > tried, "{} of {tried}", sum.programs);
}
