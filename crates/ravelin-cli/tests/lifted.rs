//! C files as models: the examples have the answers that they expect, what is lifted from a random program ends as the
//! compiled program does, models that are printed as C are the same models when they are read again, and what cannot be
//! a model is refused with its reason.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` say how many random programs are tried, and from where.

mod concurrent;
mod odd;
mod random_c;
mod verified;

use crate::programs::{compilers, try_all};
use crate::running::{code, ravelin};
use crate::simulated::deterministic;
use crate::workshop::text as said;

use random_c::{CProgram, program, shrunk};
use ravelin_frontend::{expectations, print};
use ravelin_program::{InitialValue, Program, Variable};
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::{is_default_run, seeds, skip};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Warnings about generated code.
const QUIET: [&str; 11] = [
    "-Wall",
    "-Werror",
    "-Wno-misleading-indentation",
    "-Wno-parentheses-equality",
    "-Wno-memset-elt-size",
    "-Wno-unused",
    "-Wno-tautological-compare",
    "-Wno-self-assign",
    "-Wno-bool-compare",
    "-Wno-bool-operation",
    "-Wno-int-in-bool-context",
];

/// Whether C files can be read here; otherwise the calling test is skipped.
fn reads_c() -> bool {
    let reads = code(&on_c("int main(void) { return 0; }", &["states", "--model", "sc"])) == 0;
    if !reads {
        skip("C files cannot be read here (apt-get install clang)");
    }
    reads
}

fn on_c(text: &str, arguments: &[&str]) -> std::process::Output {
    ravelin(&[&[arguments[0], "-", "--from", "c"], &arguments[1..]].concat(), text)
}

/// The C files of `examples/c/models`, in order.
fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/models");
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut models: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == "c")).collect();
    models.sort();
    assert!(models.len() > 30, "{models:?}");
    models
}

/// The lines with expectations of a file, each with its answer.
fn expected(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).expect("a text");
    let (expected, wrong) = expectations(&text);
    assert!(wrong.is_empty() && !expected.is_empty(), "{}: {wrong:?}", path.display());
    expected
        .into_iter()
        .map(|line| (format!("{} {} {:?}", line.command, line.model, line.options), line.answer))
        .collect()
}

#[test]
fn c_files_and_their_models_expect_the_same() {
    for path in models() {
        assert_eq!(expected(&path), expected(&path.with_extension("rav")), "{}", path.display());
    }
}

/// Programs that are expected to be right and to end do so, and compilers have nothing to say about any.
#[test]
fn c_files_compile_and_run() {
    let mut jobs = Vec::new();
    for path in models() {
        for compiler in compilers() {
            jobs.push((path.clone(), compiler));
        }
    }
    try_all("models", &jobs, |(path, compiler), folder| {
        let program = folder.join("program");
        let wrong = |reason: String| format!("{} {compiler}: {reason}", path.display());
        let mut compile = Command::new(compiler);
        compile.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-pthread"]).arg(path).arg("-o").arg(&program);
        succeeds(&mut compile).map_err(wrong)?;
        let right = |(question, answer): &(String, String)| {
            !question.starts_with("reach") || ["holds", "no deadlock"].contains(&answer.as_str())
        };
        let expected = expected(path);
        let races = expected.iter().any(|(_, answer)| answer == "race");
        let ends = !path.to_string_lossy().contains("-forever");
        for _ in 0..if ends && !races && expected.iter().all(right) { 20 } else { 0 } {
            succeeds(Command::new("timeout").arg("60").arg(&program)).map_err(wrong)?;
        }
        Ok(())
    });
}

#[test]
fn c_files_have_the_answers_that_they_expect() {
    if !reads_c() {
        return;
    }
    let files: Vec<String> = models().iter().map(|path| path.display().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for command in ["check", "reach", "fence"] {
        let output = ravelin(&[&[command, "--expect"], &files[..]].concat(), "");
        assert_eq!(code(&output), 0, "{command}: {}", said(&output));
    }
}

/// What is lifted has at most half as many states more than what is written by hand, where all of them are visited.
#[test]
fn c_files_have_hardly_more_states_than_their_models() {
    if !reads_c() {
        return;
    }
    let twins: Vec<PathBuf> = models().iter().map(|path| path.with_extension("rav")).collect();
    let mut compared = 0;
    for (command, models_asked) in [("check", "tso"), ("check", "rc20"), ("reach", "sc")] {
        let [lifted, written] =
            [&models(), &twins].map(|files| answers(command, models_asked, files, &[]).expect("answers"));
        for ((path, lifted), written) in models().iter().zip(lifted).zip(written) {
            let states = |answer: &Value| {
                let of = |part: &str| answer[part]["states"].as_u64();
                of("statistics").or_else(|| of("explored")).expect("a number of states")
            };
            if lifted["verdict"] == "holds" && written["verdict"] == "holds" {
                let (lifted, written) = (states(&lifted), states(&written));
                assert!(2 * lifted <= 3 * written, "{command} {models_asked} {}: {lifted}, {written}", path.display());
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared} pairs of programs");
}

/// Runs a command; what it writes, if it succeeds.
fn succeeds(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// What a program prints when it is compiled and run.
fn printed(program: &CProgram, compiler: &str, flags: &[&str], folder: &Path) -> Result<String, String> {
    let (source, executable) = (folder.join("random.c"), folder.join("random"));
    std::fs::write(&source, program.c()).map_err(|error| error.to_string())?;
    let mut compile = Command::new(compiler);
    compile.args(["-std=c11", "-pthread"]).args(flags).arg(&source).arg("-o").arg(&executable);
    succeeds(&mut compile)?;
    succeeds(Command::new("timeout").arg("60").arg(&executable))
}

/// The generator makes programs that end, that compilers understand in the same way, and in which nothing is undefined.
#[test]
fn random_c_programs_print_the_same_wherever_they_are_compiled() {
    let sanitized = ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"];
    let all: Vec<(&str, Vec<&str>)> = compilers()
        .into_iter()
        .flat_map(|compiler| {
            ["-O0", "-O2"].map(|level| (compiler, [&QUIET[..], &[level, "-Wno-unknown-warning-option"]].concat()))
        })
        .chain(compilers().into_iter().filter(|compiler| *compiler == "gcc").map(|gcc| (gcc, sanitized.to_vec())))
        .collect();
    try_all("random-c", &seeds(30).collect::<Vec<_>>(), |seed, folder| {
        let program = program(*seed);
        let mut first = None;
        for (compiler, flags) in &all {
            let found = printed(&program, compiler, flags, folder).map_err(|error| format!("seed {seed}: {error}"))?;
            if found != *first.get_or_insert(found.clone()) {
                return Err(format!("seed {seed}: {compiler} {flags:?} differs\n{}", program.c()));
            }
        }
        Ok(())
    });
}

#[test]
fn shrinking_keeps_what_it_is_asked_to_keep() {
    for seed in 0..20 {
        let program = program(seed);
        let keeps = |program: &CProgram| program.c().contains(" << ");
        if keeps(&program) {
            let small = shrunk(program.clone(), 2_000, keeps);
            let lines = |program: &CProgram| program.c().lines().count();
            assert!(keeps(&small) && lines(&small) < 30 && lines(&small) < lines(&program), "{seed}: {}", small.c());
        }
    }
}

/// What a file says about itself under some models: one answer for each file and model.
fn answers(command: &str, models: &str, files: &[PathBuf], options: &[String]) -> Result<Vec<Value>, String> {
    let mut ask = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    ask.args([command, "--model", models, "--format", "json", "--workers", "1", "--timeout", "60"])
        .args(options)
        .args(files);
    let output = ask.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let json: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("{error}: {}", said(&output)))?;
    let answers = json["answers"].as_array().cloned().unwrap_or_default();
    let wanted = files.len() * models.split(',').count();
    if answers.len() == wanted {
        Ok(answers)
    } else {
        Err(format!("{} of {wanted} answers: {}", answers.len(), said(&output)))
    }
}

/// Why programs may be refused (docs/c-models.md).
const REFUSED: [&str; 5] = [
    // A struct is copied between places neither of which is known.
    "a copy of memory whose type is not known",
    "are set or copied, and others are not",
    // A small struct that is passed by value is one number, and was written in parts.
    "are read in other sizes than they were written in",
    "and a model has no accesses of different sizes to the same bytes",
    // Many scalars of other sizes may be where an unknown pointer leads.
    "may meet bytes that are accessed in other sizes",
];

/// Whether the lifted program ends with the values that the compiled one prints: assertions that all of them hold are
/// never wrong, and one about another value is. `false` if the program is refused for a reason that is allowed.
fn ends_as_compiled(program: &CProgram, folder: &Path) -> Result<bool, String> {
    let compiler = *compilers().first().ok_or("no compiler")?;
    let printed = printed(program, compiler, &["-w", "-O1"], folder)?;
    let mut values: BTreeMap<&str, i64> = BTreeMap::new();
    for (cell, value) in printed.lines().filter_map(|line| line.split_once(' ')) {
        values.insert(cell, value.parse().map_err(|_| format!("{cell} is {value}"))?);
    }
    let Some((changed, _)) = values.first_key_value().map(|(cell, value)| (*cell, *value)) else { return Ok(true) };
    let source = folder.join("random.c");
    for (other, expected) in [(0, "holds"), (1, "violated")] {
        let text = program.asserting(|cell| values[cell] ^ if cell == changed { other } else { 0 });
        std::fs::write(&source, text).map_err(|error| error.to_string())?;
        let answer = &answers("reach", "sc", std::slice::from_ref(&source), &[])?[0];
        if answer["verdict"] != expected {
            let diagnostics = answer["diagnostics"].as_array().into_iter().flatten();
            let messages: Vec<&str> = diagnostics.filter_map(|diagnostic| diagnostic["message"].as_str()).collect();
            if messages.iter().any(|message| REFUSED.iter().any(|reason| message.contains(reason))) {
                return Ok(false);
            }
            let found = answer["verdict"].as_str().unwrap_or("no answer");
            return Err(format!("assertions are expected to be {expected}: {found} {}", messages.join("; ")));
        }
    }
    Ok(true)
}

#[test]
fn lifted_programs_end_as_compiled_ones() {
    if compilers().is_empty() || !reads_c() {
        return;
    }
    let (compared, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    try_all("lifted-c", &seeds(100).collect::<Vec<_>>(), |seed, folder| {
        let program = program(*seed);
        let reason = match ends_as_compiled(&program, folder) {
            Ok(is_compared) => {
                (if is_compared { &compared } else { &refused }).fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            Err(reason) => reason,
        };
        let small =
            shrunk(program, 300, |smaller| ends_as_compiled(smaller, folder).is_err_and(|other| other == reason));
        Err(format!("seed {seed}: {reason}\n{}", small.c()))
    });
    let (compared, refused) = (compared.into_inner(), refused.into_inner());
    println!("{compared} programs compared, {refused} refused");
    assert!(!is_default_run() || refused < 25);
}

/// Programs whose choices C can repeat. `strict mem;` and gaps are drawn, too.
fn concurrent() -> Config {
    use InstructionKind::{Assert, Assign, CompareExchange, Fence, Load, Rmw, Store};
    let mut config = Config { goals: 0..=0, domains: false, wrapping: false, ..Config::c11() };
    config.kinds.retain(|(kind, _)| matches!(kind, Assert | Assign | CompareExchange | Fence | Load | Rmw | Store));
    config
}

/// What is asked about every program and its C, and about every tenth.
const ASKED: [(&str, &str); 3] = [("check", "tso,pso,ra,rc20"), ("reach", "sc,tso,rc20"), ("states", "sc,tso,rc20")];
const ASKED_SELDOM: [(&str, &str); 1] = [("fence", "tso,rc20")];

/// Programs that are asked about together.
const TOGETHER: u64 = 20;

/// What is compared of an answer: the verdict, whether there is a race, what the cheapest fences cost, and the values of
/// the variables at the end. What no thread accesses need not be in a model: it has its initial value.
fn compared(answer: &Value, cells: &[(String, i64)]) -> (Value, bool, Value, BTreeSet<Vec<i64>>) {
    let states = answer["final"].as_array().into_iter().flatten();
    let value = |state: &Value, (name, initial): &(String, i64)| state["memory"][name].as_i64().unwrap_or(*initial);
    let memory = |state: &Value| cells.iter().map(|cell| value(state, cell)).collect();
    let cost = answer["sets"][0]["cost"].clone();
    (answer["verdict"].clone(), answer["race"].is_object(), cost, states.map(memory).collect())
}

/// The cells of a program, as answers name them, with their initial values.
fn cells(program: &Program) -> Vec<(String, i64)> {
    let value = |initial: &InitialValue| match initial {
        InitialValue::Value(value) => *value,
        InitialValue::Any => 0,
    };
    let named = |variable: &Variable| match variable.len {
        Some(_) => (0usize..)
            .zip(&variable.initial)
            .map(|(index, it)| (format!("{}[{index}]", variable.name), value(it)))
            .collect(),
        None => vec![(variable.name.clone(), value(&variable.initial[0]))],
    };
    program.memory.variables.iter().flat_map(named).collect::<Vec<_>>()
}

#[test]
fn models_are_the_same_after_a_way_through_c() {
    if !reads_c() {
        return;
    }
    let (generator, all) = (Generator::new(concurrent()), seeds(2000));
    let batches: Vec<_> =
        all.clone().step_by(TOGETHER as usize).map(|first| first..all.end.min(first + TOGETHER)).collect();
    try_all("through-c", &batches, |seeds, folder| {
        // Not every read-modify-write has a function in C.
        let drawn = seeds.clone().map(|seed| (seed, deterministic(&generator.program(seed))));
        let drawn = drawn.filter_map(|(seed, program)| Some((seed, print::c(&program).ok()?, program)));
        let drawn: Vec<(u64, String, Program)> = drawn.collect();
        let (mut written, mut as_c) = (Vec::new(), Vec::new());
        for (seed, c, program) in &drawn {
            let paths = ["rav", "c"].map(|extension| folder.join(format!("seed{seed}.{extension}")));
            std::fs::write(&paths[0], print::rav(program)).map_err(|error| error.to_string())?;
            std::fs::write(&paths[1], c).map_err(|error| error.to_string())?;
            let [rav, c] = paths;
            written.push(rav);
            as_c.push(c);
        }
        let seldom = if (seeds.start / TOGETHER).is_multiple_of(10) { &ASKED_SELDOM[..] } else { &[] };
        for (command, models) in ASKED.iter().chain(seldom) {
            let (ours, theirs) = (answers(command, models, &written, &[])?, answers(command, models, &as_c, &[])?);
            let each = models.split(',').count();
            for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                let (seed, c, program) = &drawn[number / each];
                // Where addresses are computed, memory is one array in C, and only verdicts are compared.
                let flat = c.lines().any(|line| line.starts_with("static") && line.contains(" mem["));
                let cells = if flat { Vec::new() } else { cells(program) };
                let (ours, theirs) = (compared(ours, &cells), compared(theirs, &cells));
                if ours != theirs {
                    let text = print::rav(program);
                    return Err(format!("seed {seed}: {command}: {ours:?}, through C {theirs:?}\n{text}"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn odd_files_get_an_answer_or_a_reason() {
    if !reads_c() {
        return;
    }
    let mut wrong = Vec::new();
    for case in odd::cases() {
        let output = on_c(&case.text, &[case.arguments, &["--timeout", "60"]].concat());
        let (found, words) = (code(&output), said(&output));
        if found != case.code || !words.contains(case.says) {
            let beginning: String = words.chars().take(400).collect();
            let odd::Case { name, code, says, .. } = case;
            wrong.push(format!("{name}: exit code {found}, expected {code} and {says:?}: {beginning}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
