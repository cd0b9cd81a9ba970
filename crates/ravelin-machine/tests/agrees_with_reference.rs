//! The machine against the reference semantics, on random programs: same final states, same stuck states, same verdicts,
//! under every model, with every reduction on and off, with one worker and with several.

use ravelin_explore::{Budget, Options, Until};
use ravelin_machine::{ExploredProgram, ProgramEnd, Purpose, Reductions, Settings, UnpackedState, Violation, run};
use ravelin_program::{
    Address, BinaryOp, Expr, Goal, GoalKind, Instruction, LocId, Model, Observable, Program, Span, ThreadId, VarId,
    Variable,
};
use ravelin_semantics::operational::{Reference, State};
use ravelin_testing::programs::{Config, Generator, check_one};
use std::collections::BTreeSet;

/// Programs with more states are left to the next seed.
const MOST_STATES: usize = 4_000;

pub fn reductions() -> Vec<(&'static str, Reductions)> {
    let none = Reductions::NONE;
    vec![
        ("none", none),
        ("fuse", Reductions { fuse: true, ..none }),
        ("liveness", Reductions { liveness: true, ..none }),
        ("partial order", Reductions { partial_order: true, ..none }),
        ("symmetry", Reductions { symmetry: true, ..none }),
        ("fuse and partial order", Reductions { fuse: true, partial_order: true, ..none }),
        ("all", Reductions::ALL),
    ]
}

/// The visible part of an end state: locations, registers that people see, and cells that are not 0.
type Seen = (Vec<usize>, Vec<Vec<i64>>, Vec<(i64, i64)>);

fn seen_by_machine(program: &Program, snapshot: &UnpackedState) -> Seen {
    let registers = program.threads.iter().zip(&snapshot.registers).map(|(thread, values)| {
        thread.registers.iter().zip(values).filter(|(register, _)| !register.hidden).map(|(_, value)| *value).collect()
    });
    let memory = snapshot.memory.iter().filter(|(_, value)| *value != 0).copied();
    (snapshot.locations.iter().map(|location| location.0).collect(), registers.collect(), memory.collect())
}

fn seen_by_reference(program: &Program, state: &State) -> Seen {
    let registers = program.threads.iter().zip(&state.threads).map(|(thread, local)| {
        let registers = thread.registers.iter().zip(&local.registers);
        registers.filter(|(register, _)| !register.hidden).map(|(_, value)| *value).collect()
    });
    let memory = state.memory.iter().filter(|(_, value)| **value != 0).map(|(address, value)| (*address, *value));
    (state.threads.iter().map(|local| local.location.0).collect(), registers.collect(), memory.collect())
}

fn explore(program: &Program, settings: Settings, workers: usize) -> ExploredProgram {
    let until = if settings.purpose == Purpose::Goals { Until::FirstFinding } else { Until::Exhausted };
    run(program, settings, &Options { budget: Budget::unlimited().workers(workers), until })
        .expect("a program that can be run")
}

/// What is wrong with the machine on this program, if anything.
fn disagreement(program: &Program, model: Model, bound: usize) -> Option<String> {
    let reference = Reference::new(program, model, Some(bound)).ok()?;
    let judged = reference.explore(MOST_STATES).ok()?;
    if !judged.complete {
        return None;
    }
    let see = |states: &BTreeSet<State>| -> BTreeSet<Seen> {
        states.iter().map(|state| seen_by_reference(program, state)).collect()
    };
    let (finals, stuck) = (see(&judged.finals), see(&judged.stuck));
    let violated = !judged.faults.is_empty() || !judged.failed_asserts.is_empty() || !judged.violated_goals.is_empty();
    for (name, reductions) in reductions() {
        for workers in [1, 3] {
            let settings = Settings { model, buffer: bound, purpose: Purpose::Finals, reductions, deadlocks: false };
            let explored = explore(program, settings, workers);
            let mut ends = (BTreeSet::new(), BTreeSet::new());
            for ProgramEnd { is_final, state: snapshot, .. } in explored.ends() {
                let ends = if is_final { &mut ends.0 } else { &mut ends.1 };
                ends.insert(seen_by_machine(program, &snapshot));
            }
            if ends.0 != finals {
                return Some(format!(
                    "final states under {model}, reductions {name}: {:?} instead of {finals:?}",
                    ends.0
                ));
            }
            if ends.1 != stuck {
                return Some(format!(
                    "stuck states under {model}, reductions {name}: {:?} instead of {stuck:?}",
                    ends.1
                ));
            }
            if reductions == Reductions::NONE && explored.cut_off() != judged.cut_off {
                return Some(format!("cut off under {model}: {} instead of {}", explored.cut_off(), judged.cut_off));
            }
            let explored = explore(program, Settings { purpose: Purpose::Goals, ..settings }, workers);
            let found = explored.violation();
            if found.is_some() != violated {
                return Some(format!(
                    "verdict under {model}, reductions {name}: {found:?}, but violated is {violated}"
                ));
            }
            match found {
                Some(Err(unreadable)) => return Some(format!("{unreadable} under {model}, reductions {name}")),
                Some(Ok((violation, run))) => {
                    if let Err(problem) = replay(&reference, violation, &run) {
                        return Some(format!("witness under {model}, reductions {name}: {problem}"));
                    }
                }
                None => {}
            }
        }
    }
    None
}

/// A run must be possible in the reference semantics and must end in the violation it is said to show.
pub fn replay(reference: &Reference, violation: Violation, run: &ravelin_machine::Run) -> Result<(), String> {
    let starts = reference.initial_states().map_err(|error| error.to_string())?;
    let mut state = starts
        .into_iter()
        .find(|state| run.start.memory.iter().all(|(address, value)| state.cell(*address) == *value))
        .ok_or("no such initial state")?;
    for (step, action) in run.actions.iter().enumerate() {
        state = reference.apply(&state, *action).map_err(|refusal| format!("step {step}: {refusal}"))?;
    }
    let steps = reference.steps(&state);
    let shown = match violation {
        Violation::Goal(goal) => reference.violated_goals(&state).contains(&goal),
        Violation::Assert { thread, transition } => steps.failed_asserts.contains(&(thread, transition)),
        Violation::Fault { thread, transition, fault } => steps.faults.contains(&(thread, transition, fault)),
        Violation::Deadlock => reference.deadlock(&state).is_some(),
    };
    if shown { Ok(()) } else { Err(format!("the last state does not show {violation:?}")) }
}

fn compare(config: Config, count: u64) {
    let generator = Generator::new(config);
    compare_all(count, &|seed| generator.program(seed));
}

fn compare_all(count: u64, program_of: &dyn Fn(u64) -> Program) {
    for seed in ravelin_testing::seeds(count) {
        let program = program_of(seed);
        check_models(seed, &program, disagreement);
    }
}

/// `wrong` must have nothing to say of a program under any model, with buffers of a size that is given back.
pub fn check_models(seed: u64, program: &Program, wrong: impl Fn(&Program, Model, usize) -> Option<String>) -> usize {
    // Mostly large enough; now and then none at all.
    let bound = [3, 1, 2, 3, 0, 4][seed as usize % 6];
    let shown = |program: &Program| format!("buffers of {bound}\n{}", show(program));
    for model in Model::HARDWARE {
        check_one(seed, program, shown, |program| wrong(program, model, bound));
    }
    bound
}

/// The first thread of a random program three times, each copy with a cell of its own in place of the first variable, and
/// goals that count copies: something for the symmetry reduction to do.
pub fn triplets(generator: &Generator, seed: u64) -> Program {
    let mut program = generator.program(seed);
    let template = program.threads[0].clone();
    program.threads.clear();
    program.goals.clear();
    // Own cells before all others or after them: they then have the first slots or the last.
    let first = seed.is_multiple_of(4);
    let after = program.memory.variables.last().map_or(0, |last| last.base + last.cells() as i64);
    let start = if first { -3 } else { after };
    let owned = program.memory.variables.first().filter(|variable| variable.len.is_none()).cloned();
    let mut own_variables = Vec::new();
    for copy in 0..3 {
        let mut thread = template.clone();
        thread.name = format!("copy{copy}");
        if let Some(variable) = &owned
            && seed.is_multiple_of(2)
        {
            let own = Variable { name: format!("own{copy}"), base: start + copy, ..variable.clone() };
            own_variables.push(own);
            for transition in &mut thread.transitions {
                rename(&mut transition.instruction, variable.base, start + copy);
            }
        }
        program.threads.push(thread);
    }
    if first {
        // Variables are listed by address, and accesses name them by their place in the list.
        let moved = own_variables.len();
        own_variables.append(&mut program.memory.variables);
        for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
            shift_arrays(&mut transition.instruction, moved);
        }
    }
    program.memory.variables.extend(own_variables);
    let location = LocId(seed as usize % template.locations.len());
    let at = |thread| Expr::Atom(Observable::At(ThreadId(thread), location));
    let count = Expr::binary(BinaryOp::Add, Expr::binary(BinaryOp::Add, at(0), at(1)), at(2));
    let condition = match seed % 3 {
        0 => Expr::binary(BinaryOp::Ge, count, 2.into()),
        1 => count.eq(1.into()),
        _ => at(0).and(at(1)).or(at(2).and(at(0))).or(at(1).and(at(2))),
    };
    program.goals.push(Goal { kind: GoalKind::Never, condition, span: Span::NOWHERE });
    program
}

fn rename(instruction: &mut Instruction, from: i64, to: i64) {
    for address in instruction.addresses_mut() {
        if address.expr == Expr::Const(from) {
            *address = Address::computed(Expr::Const(to));
        }
    }
}

fn shift_arrays(instruction: &mut Instruction, by: usize) {
    for address in instruction.addresses_mut() {
        address.within = address.within.map(|VarId(variable)| VarId(variable + by));
    }
}

pub fn show(program: &Program) -> String {
    let mut text = format!("memory {:?}\ngoals:", program.memory.variables);
    for goal in &program.goals {
        text += &format!(" {:?} {};", goal.kind, program.show_condition(&goal.condition));
    }
    for thread in &program.threads {
        text += &format!(
            "\n{} (registers {:?}):",
            thread.name,
            thread.registers.iter().map(|r| (&r.name, r.domain)).collect::<Vec<_>>()
        );
        for transition in &thread.transitions {
            let instruction = program.show_instruction(thread, &transition.instruction);
            text += &format!("\n  {} -> {}: {instruction}", transition.from.0, transition.to.0);
        }
    }
    text
}

#[test]
fn programs_with_every_instruction() {
    compare(Config::all(), 1_000);
}

#[test]
fn loop_free_programs() {
    compare(Config::loop_free(), 1_000);
}

#[test]
fn programs_that_count() {
    compare(Config::counters(), 1_000);
}

#[test]
fn programs_with_identical_threads() {
    let generator = Generator::new(Config::all());
    compare_all(400, &|seed| triplets(&generator, seed));
}
