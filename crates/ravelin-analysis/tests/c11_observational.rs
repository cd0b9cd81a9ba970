//! Observational robustness: a proof means that all execution graphs, without loads whose values are not used, are graphs of SC, and that
//! nothing that can be observed differs.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{check_one, without_faulting_domains};
use ravelin_analysis::AnalysisError;
use ravelin_analysis::Verdict::{self, Holds, Unknown, Violated};
use ravelin_analysis::c11::{C11Question, ObservationalAnswer, ObstacleReason, c11_robustness, observational};
use ravelin_analysis::reachability::{ReachabilityQuestion, reach};
use ravelin_frontend::{Language, parse};
use ravelin_machine::Reductions;
use ravelin_program::{
    Admission, Domain, Expr, Goal, Instruction, LocId, Model, Notation, Observable, Order, Program, RegId, Register,
    Source, Span, Thread, ThreadId, TransitionId, Value,
};
use ravelin_semantics::rc20::{
    Execution, Graph, GraphEvent, GraphLimits, OrderReading, Relation, ThreadFailure, enumerate, races,
    rc20_consistent, sc_consistent, violated_goals,
};
use ravelin_testing::programs::{Config, Generator};
use ravelin_testing::seeds;
use std::collections::{BTreeMap, BTreeSet};

const LIMITS: GraphLimits = GraphLimits { executions: 20_000, states: 20_000, values: 100 };

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("claim.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

fn ask(program: &Program, model: Model) -> ObservationalAnswer {
    observational(program, &C11Question::new(model)).expect("an answer")
}

const CELLS: &str = "static x; static y; static z; static d;\n";

/// Name, program, verdict against RC20, and, if that is proved, the number of loads that are irrelevant.
const CLAIMS: &[(&str, &str, Verdict, usize)] = &[
    (
        "MP, the data not used",
        "thread p { x.store(1); y.store(1); } thread q { let a = y.load(); let b = x.load(); }",
        Holds,
        1,
    ),
    (
        "MP, the data in a branch",
        "thread p { x.store(1); y.store(1); } thread q { let a = y.load(); let b = x.load(); if b == 0 { z.store(1); } }",
        Unknown,
        0,
    ),
    (
        "MP, the data written through a copy",
        "thread p { x.store(1); y.store(1); } thread q { let a = y.load(); let b = x.load(); let c = b; z.store(c); }",
        Unknown,
        0,
    ),
    (
        "MP, the data overwritten",
        "thread p { x.store(1); y.store(1); } thread q { let a = y.load(); let b = x.load(); let c = b; c = 2; z.store(c); }",
        Holds,
        1,
    ),
    (
        "MP, the data in an address",
        "static s: [0..2; 2]; thread p { x.store(1); y.store(1); } thread q { let a = y.load(); let b = x.load(); s[b].store(1); }",
        Unknown,
        0,
    ),
    (
        "MP, the data asserted",
        "thread p { x.store(1); y.store(1); } thread q { let a = y.load(); let b = x.load(); assert(b < 2); }",
        Unknown,
        0,
    ),
    (
        "MP, the data in a goal",
        "thread p { x.store(1); y.store(1); } thread q { let a = y.load(); let b = x.load(); } finally never q.b == 5;",
        Unknown,
        0,
    ),
    (
        "MP, the data in a goal that cannot see it",
        "thread p { x.store(1); y.store(1); } thread q { let a = y.load(); let b = x.load(); b = 0; } finally never q.b == 5;",
        Holds,
        1,
    ),
    (
        "a goal that can see it at any time",
        "thread p { x.store(1); y.store(1); } thread q { let a = y.load(); let b = x.load(); b = 0; } never q.b == 5;",
        Unknown,
        0,
    ),
    (
        "SB, nothing used",
        "thread p { x.store(1, release); let a = y.load(acquire); } thread q { y.store(1, release); let b = x.load(acquire); }",
        Holds,
        2,
    ),
    (
        "SB, one value used",
        "thread p { x.store(1, release); let a = y.load(acquire); z.store(a); } thread q { y.store(1, release); let b = x.load(acquire); }",
        Unknown,
        0,
    ),
    (
        "a retry looks at what it reads",
        "thread p { x.store(1); y.store(1); } thread q { wait(y == 1); let a = x.load(); while a == 0 { a = x.load(); } }",
        Unknown,
        0,
    ),
    (
        "a store is never irrelevant, though the load before it is: not complete",
        "thread p { x.store(1, release); y.store(1, release); } thread q { let a = y.load(); x.store(2, release); }",
        Unknown,
        0,
    ),
    (
        "what waits is never irrelevant",
        "thread p { x.store(1, release); wait(y == 0, acquire); } thread q { y.store(1, release); wait(x == 0, acquire); }",
        Unknown,
        0,
    ),
    (
        "a failing compare-exchange is never irrelevant",
        "thread p { x.store(1); y.store(1); } thread q { wait(y == 1); let a = x.compare_exchange(5, 6); }",
        Unknown,
        0,
    ),
    (
        "an irrelevant load does not synchronise",
        "thread p { d.write(1); x.store(1, release); y.store(1); } thread q { wait(y == 1); let a = x.load(acquire); d.write(2); }",
        Violated,
        0,
    ),
    (
        "synchronisation beside an irrelevant load",
        "thread p { d.write(1); x.store(1); y.store(1, release); z.store(1); }
         thread q { wait(z == 1); let a = x.load(); wait(y == 1, acquire); d.write(2); }",
        Holds,
        1,
    ),
    (
        "an irrelevant load is an access that races",
        "thread p { x.store(1); x.store(2); y.store(1); } thread q { wait(y == 1); let a = x.load(); z.store(1); } thread r { wait(z == 1); x.write(3); }",
        Violated,
        0,
    ),
    (
        "a register that blocks what it does not hold",
        "thread p { x.store(1); y.store(1); } thread q { let r: blocking 0..=0 = 0; wait(y == 1); r = x.load(); }",
        Unknown,
        0,
    ),
    (
        "seq_cst accesses, the values not used",
        "thread p { x.store(1, seq_cst); let a = y.load(seq_cst); } thread q { y.store(1, seq_cst); let b = x.load(seq_cst); }",
        Holds,
        2,
    ),
    (
        "robust",
        "thread p { x.store(1); y.store(1, release); } thread q { if y.load(acquire) == 1 { let b = x.load(); z.store(b); } }",
        Holds,
        0,
    ),
];

#[test]
fn verdicts() {
    for (name, threads, expected, irrelevant) in CLAIMS {
        let program = program(&format!("{CELLS}{threads}"));
        let answer = ask(&program, Model::Rc20);
        assert_eq!(answer.verdict, *expected, "{name}: {:?}", answer.obstacle.map(|found| found.sentence));
        if *expected == Holds {
            assert_eq!(answer.irrelevant.len(), *irrelevant, "{name}");
        }
        assert_eq!(answer.obstacle.is_some(), *expected == Unknown, "{name}");
        assert_eq!(answer.race.is_some(), *expected == Violated, "{name}");
        if let Some(race) = answer.race {
            assert!(rc20_consistent(&race.graph, OrderReading::Written), "{name}");
            assert!(!races(&race.graph, OrderReading::Written).is_empty(), "{name}");
        }
        assert_eq!(disagreement(&program), None, "{name}");
    }
}

#[test]
fn an_obstacle_names_the_load_and_its_use() {
    let text = "static x; static y; static z;\nthread p { x.store(1); y.store(1); }\nthread q {\nlet a = y.load();\nlet b = x.load();\nlet c = b;\nz.store(c);\n}";
    let program = program(text);
    let answer = ask(&program, Model::Rc20);
    let obstacle = answer.obstacle.expect("an obstacle");
    let ObstacleReason::Use { load } = obstacle.reason else { panic!("{:?}", obstacle.reason) };
    let line = |step: &ravelin_answer::RunStep| step.position.map(|position| position.line);
    assert_eq!(line(&obstacle.steps[load]), Some(5));
    assert_eq!(
        obstacle.sentence,
        "q may read an old value with `b = x.load()` on line 5, and `z.store(c)` on line 7 depends on it."
    );
}

#[test]
fn a_limit_gives_no_verdict() {
    let program = program(
        "static x: u8; static y: u8; thread p { loop { x.fetch_add(1); } } thread q { loop { let a = x.load(); y.store(1); } }",
    );
    let mut question = C11Question::new(Model::Rc20);
    question.budget.limits.states = Some(3);
    let answer = observational(&program, &question).expect("an answer");
    assert_eq!((answer.verdict, answer.limit.is_some()), (Unknown, true));
}

/// What is wrong, if anything.
fn disagreement(program: &Program) -> Option<String> {
    let all = || {
        compare_graphs(program, Model::Rc20, OrderReading::Written)?;
        compare_graphs(program, Model::Ra, OrderReading::ReleaseAcquire)
    };
    match std::panic::catch_unwind(all) {
        Ok(Ok(())) => None,
        Ok(Err(what)) => Some(what),
        Err(_) => Some("a panic".to_owned()),
    }
}

fn verdict(program: &Program, model: Model, reductions: Reductions) -> Result<Option<Verdict>, String> {
    match observational(program, &C11Question { reductions, ..C11Question::new(model) }) {
        Ok(answer) => Ok(Some(answer.verdict)),
        Err(AnalysisError::NotC11(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn compare_graphs(program: &Program, model: Model, reading: OrderReading) -> Result<(), String> {
    let Some(said) = verdict(program, model, Reductions::ALL)? else { return Ok(()) };
    if verdict(program, model, Reductions { symmetry: false, ..Reductions::ALL })? != Some(said) {
        return Err(format!("{model}: symmetry makes a difference"));
    }
    let Ok(all) = enumerate(program, reading, LIMITS) else { return Ok(()) };
    let has_race = all.has_race(reading);
    if said == Violated && !has_race {
        return Err(format!("{model}: a race that is none"));
    }
    if said == Unknown {
        let robust = c11_robustness(program, &C11Question::new(model)).map_err(|error| error.to_string())?;
        return match robust.verdict {
            Holds if robust.seq_cst.is_none() => Err(format!("{model}: robust, and not observationally so")),
            _ => Ok(()),
        };
    }
    if said != Holds {
        return Ok(());
    }
    if has_race {
        return Err(format!("{model}: a race is missed"));
    }
    for execution in &all.executions {
        if !uses(program, execution).iter().any(|used| sc_without_unused_loads(program, &execution.graph, used)) {
            return Err(format!(
                "{model}: a graph without its irrelevant loads is not one of SC: {:?}",
                execution.graph
            ));
        }
    }
    let outcomes = |executions: &mut dyn Iterator<Item = &Execution>| -> BTreeSet<Outcome> {
        executions.map(|execution| outcome(program, execution)).collect()
    };
    let under_sc = outcomes(&mut all.executions.iter().filter(|execution| sc_consistent(&execution.graph)));
    if let Some(new) = outcomes(&mut all.executions.iter()).difference(&under_sc).next() {
        return Err(format!("{model}: an outcome that SC does not have: {new:?}"));
    }
    let violated = violated_goals(program, reading, LIMITS).is_ok_and(|goals| !goals.is_empty());
    let question = ReachabilityQuestion::new(Model::Sc);
    if violated && reach(program, &question).map_err(|error| error.to_string())?.verdict == Holds {
        return Err(format!("{model}: a goal is violated, and not under SC"));
    }
    Ok(())
}

/// Where threads stand, how they failed, memory, and registers that goals name.
type Outcome = (Vec<(LocId, Option<String>)>, BTreeMap<Value, Value>, Vec<Value>);

fn outcome(program: &Program, execution: &Execution) -> Outcome {
    let state = execution.state(program);
    let failure = |failure: ThreadFailure| failure.to_string();
    let threads = execution.threads.iter().map(|thread| (thread.location, thread.failure.map(failure))).collect();
    let observed =
        observed(program, |_| true).into_iter().map(|(thread, register)| state.registers[thread.0][register.0]);
    let observed = if execution.complete { observed.collect() } else { Vec::new() };
    (threads, state.memory, observed)
}

/// The registers that some goals name.
fn observed(program: &Program, counts: impl Fn(&Goal) -> bool) -> BTreeSet<(ThreadId, RegId)> {
    let mut observed = BTreeSet::new();
    for goal in program.goals.iter().filter(|goal| counts(goal)) {
        goal.condition.for_each_atom(&mut |atom| {
            if let Observable::Register(thread, register) = atom {
                observed.insert((*thread, *register));
            }
        });
    }
    observed
}

/// po, rf, mo and fr of the atomic events that are no unused loads are acyclic.
fn sc_without_unused_loads(program: &Program, graph: &Graph, used: &BTreeSet<usize>) -> bool {
    let (rf, mo) = (graph.rf(), graph.mo());
    let fr = rf.inverse().then(&mo).filter(|read, write| read != write);
    let order: Relation = graph.po().union(&rf).union(&mo).union(&fr);
    let kept = |event: usize| {
        let GraphEvent { thread, transition, .. } = graph.events[event];
        let Some((thread, transition)) = thread.zip(transition) else { return true };
        let instruction = &program.threads[thread.0].transitions[transition.0].instruction;
        let is_load = matches!(instruction, Instruction::Load { .. });
        graph.events[event].is_atomic() && (!is_load || used.contains(&event))
    };
    order.filter(|a, b| kept(a) && kept(b)).is_acyclic()
}

/// The events whose values are used, for every way in which the threads can have come to this execution. Local steps are no events, so they
/// are found by running each thread again.
fn uses(program: &Program, execution: &Execution) -> Vec<BTreeSet<usize>> {
    let mut all = vec![BTreeSet::new()];
    for (number, thread) in program.threads.iter().enumerate() {
        let events: Vec<usize> = (0..execution.graph.len())
            .filter(|&event| execution.graph.events[event].thread == Some(ThreadId(number)))
            .collect();
        let of_thread = |registers: BTreeSet<(ThreadId, RegId)>| -> Vec<usize> {
            registers.into_iter().filter(|(owner, _)| owner.0 == number).map(|(_, register)| register.0).collect()
        };
        let mut found = Vec::new();
        let rerun = Rerun {
            thread,
            graph: &execution.graph,
            events: &events,
            end: (execution.threads[number].location, &execution.threads[number].registers),
            observed: of_thread(observed(program, |_| true)),
            watched: of_thread(observed(program, |goal| !goal.is_final())),
        };
        let registers: Vec<Value> = thread.registers.iter().map(|register| register.initial).collect();
        let tainted = vec![BTreeSet::new(); registers.len()];
        rerun.from(thread.initial, 0, registers, tainted, BTreeSet::new(), &mut found);
        found.dedup();
        all = (all.iter())
            .flat_map(|used: &BTreeSet<usize>| found.iter().map(move |more| used.union(more).copied().collect()))
            .take(64)
            .collect();
    }
    all
}

/// A register gets a value, which depends on these loads.
type Change = (RegId, Value, BTreeSet<usize>);

struct Rerun<'a> {
    thread: &'a Thread,
    graph: &'a Graph,
    events: &'a [usize],
    end: (LocId, &'a Vec<Value>),
    observed: Vec<usize>,
    watched: Vec<usize>,
}

impl Rerun<'_> {
    /// `sources` are, for each register, the loads that its value depends on.
    fn from(
        &self,
        location: LocId,
        done: usize,
        registers: Vec<Value>,
        sources: Vec<BTreeSet<usize>>,
        mut used: BTreeSet<usize>,
        found: &mut Vec<BTreeSet<usize>>,
    ) {
        if found.len() > 64 {
            return;
        }
        let read = |instruction: &Instruction| {
            instruction
                .read_registers()
                .into_iter()
                .flat_map(|register| sources[register.0].clone())
                .collect::<Vec<_>>()
        };
        self.watched.iter().for_each(|&register| used.extend(sources[register].clone()));
        if done == self.events.len() && location == self.end.0 && registers == *self.end.1 {
            let mut used = used.clone();
            // Whatever waits, fails or is blocked here looks at its operands.
            for (_, step) in self.thread.outgoing(location) {
                used.extend(read(&step.instruction));
            }
            if self.thread.is_end(location) {
                self.observed.iter().for_each(|&register| used.extend(sources[register].clone()));
            }
            found.push(used);
        }
        let admit = |domain: Domain, value: Value| match domain.admit(value) {
            Ok(Admission::Value(value)) => Some(value),
            _ => None,
        };
        for (id, step) in self.thread.outgoing(location) {
            let operands = read(&step.instruction);
            let eval = |expr: &Expr| expr.eval(&mut |register| registers[register.0]).ok();
            let mut go = |next: usize, changes: &[Change], uses: bool| {
                let (mut registers, mut sources, mut used) = (registers.clone(), sources.clone(), used.clone());
                if uses {
                    used.extend(operands.iter().copied());
                }
                for (register, value, from) in changes {
                    let domain = self.thread.registers[register.0].domain;
                    let Some(value) = admit(domain, *value) else { return };
                    registers[register.0] = value;
                    sources[register.0] = from.clone();
                }
                self.from(step.to, next, registers, sources, used, found);
            };
            match &step.instruction {
                Instruction::Nop => go(done, &[], false),
                Instruction::Assign { reg, value } => {
                    let Some(result) = eval(value) else { continue };
                    go(done, &[(*reg, result, operands.iter().copied().collect())], false);
                }
                Instruction::Havoc { reg, lo, hi } => {
                    (*lo..=*hi).for_each(|value| go(done, &[(*reg, value, BTreeSet::new())], false));
                }
                Instruction::Assume(condition) | Instruction::Assert(condition) => {
                    if eval(condition).is_some_and(|value| value != 0) {
                        go(done, &[], true);
                    }
                }
                _ => {
                    let Some(&event) = self.events.get(done) else { continue };
                    if self.graph.events[event].transition != Some(id) {
                        continue;
                    }
                    self.access(event, id, &mut |changes| go(done + 1, changes, true));
                }
            }
        }
    }

    fn access(&self, event: usize, id: TransitionId, go: &mut dyn FnMut(&[Change])) {
        let label = self.graph.events[event].label;
        let read = label.value_read().unwrap_or(0);
        let none = BTreeSet::new;
        match &self.thread.transitions[id.0].instruction {
            Instruction::Load { reg, order, .. } => {
                let from = if *order == Order::NonAtomic { none() } else { BTreeSet::from([event]) };
                go(&[(*reg, read, from)]);
            }
            Instruction::Wait { old, .. } | Instruction::Rmw { old, .. } => {
                go(&old.iter().map(|old| (*old, read, none())).collect::<Vec<_>>());
            }
            Instruction::CompareExchange { old, ok, .. } => {
                let old = old.iter().map(|old| (*old, read, none()));
                let ok = ok.iter().map(|ok| (*ok, Value::from(label.writes()), none()));
                go(&old.chain(ok).collect::<Vec<_>>());
            }
            _ => go(&[]),
        }
    }
}

/// Loads go to registers that are not read, some of them through a copy; a few stores write what was copied.
fn with_unused_loads(program: &mut Program, seed: u64) {
    for (number, thread) in program.threads.iter_mut().enumerate() {
        let first = thread.registers.len();
        for name in ["unused", "copy"] {
            let (name, domain, span) = (format!("{name}{number}"), Domain::FULL, Span::NOWHERE);
            thread.registers.push(Register {
                name,
                domain,
                initial: 0,
                hidden: false,
                notation: Notation::Signed,
                span,
            });
        }
        let (unused, copy) = (RegId(first), RegId(first + 1));
        for (index, transition) in thread.transitions.iter_mut().enumerate() {
            let draw = (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (8 + 5 * (index % 8) + number)) % 8;
            match &mut transition.instruction {
                Instruction::Load { reg, .. } if draw < 6 => *reg = unused,
                Instruction::Assign { reg, value } if draw < 4 => {
                    (*reg, *value) = (copy, Expr::Atom(unused));
                }
                Instruction::Store { value, .. } if draw == 0 => *value = Expr::Atom(copy),
                _ => {}
            }
        }
    }
}

fn compare(config: Config, programs: std::ops::Range<u64>, change: impl Fn(&mut Program)) {
    let generator = Generator::new(config);
    for seed in programs {
        let mut program = without_faulting_domains(generator.program(seed));
        with_unused_loads(&mut program, seed);
        change(&mut program);
        check_one(seed, &program, disagreement);
    }
}

#[test]
fn proofs_hold_for_all_graphs() {
    compare(Config::c11(), seeds(500), |_| {});
}

/// Atomic accesses and fences alone, more of them.
#[test]
fn proofs_hold_for_all_graphs_of_more_events() {
    let config = Config { max_events: 8, non_atomic: false, arrays: false, domains: false, ..Config::c11() };
    compare(config, seeds(500), |_| {});
}

/// Release and acquire, and non-atomic accesses that they are to order.
#[test]
fn no_race_is_hidden_by_an_irrelevant_load() {
    let config =
        Config { domains: false, arrays: false, orders: vec![Order::Acquire, Order::Release], ..Config::c11() };
    compare(config, seeds(400), |program| {
        let transitions = program.threads.iter_mut().flat_map(|thread| &mut thread.transitions);
        for (number, transition) in transitions.enumerate() {
            if let Instruction::Store { order, .. } = &mut transition.instruction
                && number % 3 == 0
            {
                *order = Order::NonAtomic;
            }
        }
    });
}

/// The first thread twice.
#[test]
fn identical_threads_need_not_be_told_apart() {
    let config = Config { threads: 1..=2, total_instructions: 6, max_events: 5, non_atomic: false, ..Config::c11() };
    compare(config, seeds(400), |program| {
        let mut twin = program.threads[0].clone();
        twin.name = "twin".to_owned();
        program.threads.push(twin);
    });
}

/// The threads are alike, but a goal looks into one of them.
#[test]
fn threads_that_goals_tell_apart_are_told_apart() {
    let thread = |name: &str| {
        format!(
            "thread {name} {{ y.store(2); let r = x.load(acquire); x.store(0); y.store(1, seq_cst); x.store(3); }} "
        )
    };
    let program = program(&format!("{CELLS}{}{} never p.r == 7;", thread("p"), thread("q")));
    assert_eq!(ask(&program, Model::Rc20).verdict, Unknown);
    assert_eq!(disagreement(&program), None);
}

/// Many programs are observationally robust without being robust, or the tests above show little.
#[test]
fn there_is_something_to_prove() {
    let config = Config { max_events: 8, non_atomic: false, arrays: false, domains: false, ..Config::c11() };
    let generator = Generator::new(config);
    let proved = (0..300).filter(|&seed| {
        let mut program = without_faulting_domains(generator.program(seed));
        with_unused_loads(&mut program, seed);
        let robust = c11_robustness(&program, &C11Question::new(Model::Rc20));
        robust.is_ok_and(|answer| answer.verdict == Violated)
            && verdict(&program, Model::Rc20, Reductions::ALL) == Ok(Some(Holds))
    });
    assert!(proved.count() > 20);
}
