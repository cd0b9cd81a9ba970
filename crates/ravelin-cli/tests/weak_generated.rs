//! `ravelin run --schedule weak` beside the reference semantics, on generated loop-free programs written as C: every final
//! state of a run is one that RC20 allows, and all that RC20 allows are reached.
//!
//! Compiling takes longer than running, so one C file has many programs, and its argument chooses one. At its end a
//! program writes its registers and variables to a file.

use crate::programs::{compilers, finish, finish_with, try_all};
use crate::simulated::deterministic;

use ravelin_frontend::print;
use ravelin_program::{BinaryOp, Instruction, Order, Program, Value};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate};
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::seeds;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Programs in a file.
const TOGETHER: u64 = 20;
/// Runs at a time, and how often they are made until all final states were seen.
const RUNS: u64 = 300;
const TIMES: u64 = 40;

/// Registers of all threads, then variables.
type Outcome = Vec<Value>;

fn generator() -> Generator {
    use InstructionKind::{Assign, CompareExchange, Fence, Load, Rmw, Store};
    let mut config = Config {
        threads: 2..=3,
        instructions: 2..=4,
        max_events: 6,
        arrays: false,
        non_atomic: false,
        goals: 0..=0,
        domains: false,
        wrapping: false,
        strict_memory: false,
        ..Config::c11()
    };
    // C has no function for a maximum or a minimum.
    config.rmws.retain(|op| !op.binary().is_some_and(BinaryOp::selects));
    config.kinds.retain(|(kind, _)| matches!(kind, Assign | CompareExchange | Fence | Load | Rmw | Store));
    Generator::new(config)
}

/// Whether some access is seq_cst, of which not all behaviours are tried.
fn has_seq_cst_access(program: &Program) -> bool {
    let mut steps = program.threads.iter().flat_map(|thread| &thread.transitions);
    steps.any(|step| match &step.instruction {
        Instruction::Load { order, .. } | Instruction::Store { order, .. } | Instruction::Rmw { order, .. } => {
            *order == Order::SeqCst
        }
        Instruction::CompareExchange { success, failure, .. } => [success, failure].contains(&&Order::SeqCst),
        _ => false,
    })
}

/// One C file for several programs. Each ends by writing its outcome, one line, to the file that is the second argument.
fn together(programs: &[Program]) -> Result<String, String> {
    const BEGINNING: &str = "static unsigned long long seeds[";
    let (mut text, mut starts) = (String::from("#include <fcntl.h>\n#include <stdio.h>\n"), String::new());
    for (number, program) in programs.iter().enumerate() {
        let mut program = program.clone();
        program.memory.variables.iter_mut().for_each(|variable| variable.name = format!("p{number}_{}", variable.name));
        program.threads.iter_mut().for_each(|thread| thread.name = format!("p{number}_{}", thread.name));
        let c = print::c(&program).map_err(|error| error.to_string())?;
        let (prelude, own) = c.split_at(c.find(BEGINNING).ok_or("no seeds")?);
        // Models have a `main` of their own, which comes first.
        let (own, _) = own.split_at(own.find("#ifdef __RAVELIN__\nint main(").ok_or("no main function")?);
        if number == 0 {
            text.push_str(prelude);
        }
        for name in ["seeds", "mem"] {
            let _ = writeln!(text, "#undef {name}\n#define {name} {name}_{number}");
        }
        let _ = writeln!(text, "static long long registers_{number}[{}][64];", program.threads.len());
        let mut functions = own.split("\nstatic void *");
        text.push_str(functions.next().unwrap_or_default());
        let mut threads = Vec::new();
        for (thread, (function, of)) in functions.zip(&program.threads).enumerate() {
            let declared = |line: &str| {
                let (name, _) = line.strip_prefix("  long long ")?.split_once(" = ")?;
                Some(name.to_owned())
            };
            let names: Vec<String> = function.lines().filter_map(declared).collect();
            if names.len() != of.registers.len() {
                return Err(format!("{} registers are {names:?} in C", of.registers.len()));
            }
            let kept: String = (names.iter().enumerate())
                .map(|(index, name)| format!("  registers_{number}[{thread}][{index}] = {name};\n"))
                .collect();
            let _ = write!(text, "\nstatic void *{}", function.replace("  LEAVE();\n", &kept));
            threads.push(function.split_once('(').ok_or("no function")?.0.to_owned());
        }
        let count = program.threads.len();
        let _ = writeln!(text, "static void program_{number}(FILE *to) {{\n  pthread_t threads[{count}];");
        for (index, thread) in threads.iter().enumerate() {
            let _ = writeln!(text, "  pthread_create(&threads[{index}], 0, {thread}, 0);");
        }
        let _ = writeln!(text, "  for (int i = 0; i < {count}; i++) pthread_join(threads[i], 0);");
        for (index, thread) in program.threads.iter().enumerate() {
            for register in 0..thread.registers.len() {
                let _ = writeln!(text, "  fprintf(to, \"%lld \", registers_{number}[{index}][{register}]);");
            }
        }
        for variable in &program.memory.variables {
            let name = &variable.name;
            let _ =
                writeln!(text, "  fprintf(to, \"%lld \", __atomic_load_n((long long *)&{name}, __ATOMIC_RELAXED));");
        }
        text.push_str("}\n");
        let _ = write!(starts, "program_{number}, ");
    }
    let _ = write!(
        text,
        "int main(int count, char **arguments) {{
  static void (*const programs[])(FILE *) = {{{starts}}};
  char line[4096] = {{0}};
  FILE *to = fmemopen(line, sizeof line - 1, \"w\");
  if (count < 3) return 2;
  programs[atol(arguments[1])](to);
  fputc('\\n', to);
  fclose(to);
  int file = open(arguments[2], O_WRONLY | O_APPEND | O_CREAT, 0600);
  return write(file, line, strlen(line)) < 0;
}}
"
    );
    Ok(text)
}

/// The final states of weak runs from this seed on.
fn outcomes(executable: &Path, number: usize, seed: u64, folder: &Path) -> Result<BTreeSet<Outcome>, String> {
    let file = folder.join("outcomes");
    let _ = std::fs::remove_file(&file);
    let mut run = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    run.args(["run", "--schedule", "weak", "--no-races", "--jobs", "1", "-o"]).arg(folder.join("report"));
    run.arg("--runs").arg(RUNS.to_string()).arg("--seed").arg(seed.to_string());
    run.arg(executable).arg(number.to_string()).arg(&file);
    match finish_with(&mut run, Duration::from_secs(120))? {
        0 => {}
        code => {
            let report = std::fs::read_to_string(folder.join("report")).unwrap_or_default();
            return Err(format!("the runs ended with {code}:\n{report}"));
        }
    }
    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    if text.lines().count() != RUNS as usize {
        return Err(format!("{} of {RUNS} runs wrote an outcome", text.lines().count()));
    }
    Ok(text.lines().map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()).collect()).collect())
}

/// What RC20 allows; `None` if that is not known, or a thread can fail or stop before its end.
fn allowed(program: &Program) -> Option<BTreeSet<Outcome>> {
    let all = enumerate(program, OrderReading::Written, GraphLimits::default()).ok()?;
    if !all.failures().is_empty() || all.executions.iter().any(|execution| !execution.complete) {
        return None;
    }
    let outcome = |state: ravelin_semantics::rc20::FinalState| {
        let variables = program.memory.variables.iter().map(|variable| state.memory[&variable.base]);
        state.registers.iter().flatten().copied().chain(variables).collect()
    };
    Some(all.final_states(program).into_iter().map(outcome).collect())
}

#[test]
fn weak_runs_reach_the_final_states_of_rc20_and_no_others() {
    let generator = generator();
    let builds = [("gcc", "-O2"), ("clang", "-O0"), ("gcc", "-O0")];
    let builds: Vec<_> = builds.into_iter().filter(|(compiler, _)| compilers().contains(compiler)).collect();
    let firsts = seeds(60).step_by(TOGETHER as usize).enumerate();
    let batches: Vec<_> =
        firsts.filter_map(|(number, first)| Some((first, *builds.get(number % builds.len().max(1))?))).collect();
    let [compared, states] = [0; 2].map(AtomicUsize::new);
    try_all("weak-generated", &batches, |&(first, (compiler, level)), folder| {
        let programs: Vec<Program> =
            (0..TOGETHER).map(|number| deterministic(&generator.program(first + number))).collect();
        let (source, executable) = (folder.join("programs.c"), folder.join("programs"));
        std::fs::write(&source, together(&programs)?).map_err(|error| error.to_string())?;
        let mut compile = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        compile.env("RAVELIN_CC", compiler).args(["cc", level, "-g", "-w", "-pthread", "-DVERIFY"]);
        finish(compile.arg(&source).arg("-o").arg(&executable), Duration::from_secs(300))?;
        let mut wrong = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            let Some(allowed) = allowed(program) else { continue };
            let mut reached = BTreeSet::new();
            for time in 0..TIMES {
                match outcomes(&executable, number, 1 + time * RUNS, folder) {
                    Ok(outcomes) => reached.extend(outcomes),
                    Err(reason) => {
                        wrong.push(format!("seed {}: {reason}\n{}", first + number as u64, print::rav(program)));
                        break;
                    }
                }
                if reached.len() >= allowed.len() || has_seq_cst_access(program) {
                    break;
                }
            }
            let outside: Vec<&Outcome> = reached.difference(&allowed).collect();
            let missed: Vec<&Outcome> = allowed.difference(&reached).collect();
            let all = has_seq_cst_access(program) || missed.is_empty();
            if !outside.is_empty() || !all {
                let seed = first + number as u64;
                wrong.push(format!(
                    "seed {seed}, {compiler} {level}: not allowed {outside:?}, missed {missed:?}\n{}",
                    print::rav(program)
                ));
            }
            compared.fetch_add(1, Ordering::Relaxed);
            states.fetch_add(reached.len(), Ordering::Relaxed);
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    });
    let (compared, states) = (compared.into_inner(), states.into_inner());
    println!("{compared} programs compared, with {states} final states");
    assert!(builds.is_empty() || compared > 0 && states > compared, "{compared} programs with {states} final states");
}
