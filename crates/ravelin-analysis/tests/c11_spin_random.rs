//! Loops that only wait in random programs: rewritten, a program ends as it did with its loops.
//!
//! The judge of the model is the enumeration of all execution graphs, which needs programs without loops: there the loops are unrolled, so
//! that they fail up to two times, and only executions that complete count. The judge of SC is the operational semantics, which has the
//! loops themselves: it also says whether a thread can wait for ever.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use ravelin_analysis::c11::{SpinLoop, SpinOutcome, with_exact_waits, with_waits};
use ravelin_explore::Watch;
use ravelin_frontend::{Language, parse};
use ravelin_program::{Expr, Instruction, LocId, Model, Program, Source, Thread, Transition, Value, validate};
use ravelin_semantics::operational::{Reference, State};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate};
use ravelin_testing::Random;
use ravelin_testing::seeds;
use std::collections::{BTreeMap, BTreeSet};

const LIMITS: GraphLimits = GraphLimits { executions: 30_000, states: 60_000, values: 100 };
const MOST_STATES: usize = 20_000;
/// How often an unrolled loop may fail.
const FAILURES: usize = 2;

/// Loops: `C` and `D` are cells, `V` and `W` values, `L` the order of a load, `S` that of a compare-exchange, `R` a register, `O` a cell
/// that no other thread writes.
const LOOPS: &[&str] = &[
    "while C.load(L) != V {}",
    "let R = C.load(L); while R < V { R = C.load(L); }",
    "while C.load(L) == O.load() {}",
    "while O.load() != C.load(L) {}",
    "while C.compare_exchange(V, W, S).is_err() {}",
    "while C.compare_exchange_weak(V, W, S) != V {}",
    "loop { let R = C.load(L); if C.compare_exchange(R, R + 1, S).is_ok() { break; } }",
    "loop { let R = C.load(L); if R == V { continue; } if C.compare_exchange(R, 3 - R, S).is_ok() { break; } }",
    "let R = C.load(L); loop { let (s, ok) = C.compare_exchange_weak(R, R ^ 1, S); if ok { break; } R = s; }",
    "let R = C.load(L); loop { let (s, ok) = C.compare_exchange(R, W, S, acquire); if ok { break; } R = s; }",
    "loop { while C.load(L) == V {} if C.compare_exchange(W, V, S).is_ok() { break; } }",
    "loop { if C.load(L) == V && C.compare_exchange(V, W, S).is_ok() { break; } }",
    "while C.load(L) == V || D.load(L) == W {}",
    "while C.load(L) == V && D.load(L) == W {}",
    "loop { let R = C.load(L); if R == V { break; } if R == W { R = 3; break; } }",
    "while { fence(); C.load(L) != V } {}",
    "loop { let R = C.load(L); fence(acquire); if R == V { break; } }",
    "loop { let R = C.load(L); if R == V { break; } if C.compare_exchange(R, V, S).is_ok() { R = 3; break; } }",
    "let R = 1; while R != V && C.load(L) == W {}",
    "loop { let R = C.load(L); if C.compare_exchange(V, W, S).is_ok() { break; } }",
    "loop { let R = C.load(L); if C.compare_exchange(V, R, S).is_ok() { break; } }",
    "loop { let R = C.load(L); if R == V && C.compare_exchange(V, R + 1, S).is_ok() { break; } }",
    "loop { let R = C.load(L); if C.load(L) != R && C.compare_exchange(R, W, S).is_ok() { break; } }",
    "loop { let R = C.load(L); if R == V && D.load(L) == W { break; } }",
];

/// Two threads of a few accesses and a loop each, sometimes with a third that only writes.
fn text(seed: u64) -> String {
    let mut stream = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut text = String::from(
        "static x: wrapping 0..4; static y: wrapping 0..4; static o0: wrapping 0..4; static o1: wrapping 0..4;\n",
    );
    let mut goals = String::new();
    let threads = 2 + usize::from(stream.below(4) == 0);
    for thread in 0..threads {
        text.push_str(&format!("thread t{thread} {{\n"));
        let with_loop = thread < 1 || thread == 1 && stream.below(2) == 0;
        let statements = 1 + stream.below(3);
        let at = stream.below(statements + 1);
        for statement in 0..=statements {
            if with_loop && statement == at {
                let other = if stream.below(2) == 0 { ("x", "y") } else { ("y", "x") };
                let mut body = stream.pick(LOOPS).to_owned();
                let register = format!("r{thread}");
                if body.contains('R') {
                    goals.push_str(&format!("finally never t{thread}.{register} == 77;\n"));
                }
                for (letter, value) in [
                    ("C", other.0),
                    ("D", other.1),
                    ("V", stream.pick(&["0", "1", "1", "2"])),
                    ("W", stream.pick(&["0", "1", "2"])),
                    ("L", stream.pick(&["relaxed", "acquire"])),
                    ("S", stream.pick(&["relaxed", "acquire", "release", "acq_rel"])),
                    ("R", &register),
                    ("O", &format!("o{thread}")),
                ] {
                    body = body.replace(letter, value);
                }
                text.push_str(&format!("    {body}\n"));
            }
            if statement == statements {
                break;
            }
            let cell = stream.pick(&["x", "y"]);
            let (load, store) = (stream.pick(&["relaxed", "acquire"]), stream.pick(&["relaxed", "release"]));
            let value = stream.below(3);
            match stream.below(12) {
                0..=4 => text.push_str(&format!("    {cell}.store({value}, {store});\n")),
                5..=7 => {
                    text.push_str(&format!("    let a{thread}{statement} = {cell}.load({load});\n"));
                    goals.push_str(&format!("finally never t{thread}.a{thread}{statement} == 77;\n"));
                }
                8 => text.push_str(&format!("    {cell}.fetch_add(1, {store});\n")),
                9 => text.push_str(&format!("    fence({});\n", stream.pick(&["seq_cst", "acquire", "release"]))),
                _ if thread < 2 => text.push_str(&format!("    o{thread}.store({value}, {store});\n")),
                _ => text.push_str("    nop;\n"),
            }
        }
        text.push_str("}\n");
    }
    text + &goals
}

/// The program with every way back taken at most so often.
fn unrolled(program: &Program, times: usize) -> Program {
    let mut unrolled = program.clone();
    for thread in &mut unrolled.threads {
        *thread = unrolled_thread(thread, times);
    }
    unrolled
}

fn unrolled_thread(thread: &Thread, times: usize) -> Thread {
    // A step leads back if it leads to a location on the way to it.
    let mut state = vec![0u8; thread.locations.len()];
    let mut back = BTreeSet::new();
    fn visit(thread: &Thread, at: LocId, state: &mut [u8], back: &mut BTreeSet<usize>) {
        state[at.0] = 1;
        for (id, transition) in thread.outgoing(at) {
            match state[transition.to.0] {
                0 => visit(thread, transition.to, state, back),
                1 => _ = back.insert(id.0),
                _ => {}
            }
        }
        state[at.0] = 2;
    }
    visit(thread, thread.initial, &mut state, &mut back);
    let size = thread.locations.len();
    let mut copies = Vec::new();
    for round in 0..=times {
        for (id, transition) in thread.transitions.iter().enumerate() {
            let from = LocId(round * size + transition.from.0);
            let next = if back.contains(&id) { round + 1 } else { round };
            let (to, instruction) = match next <= times {
                true => (LocId(next * size + transition.to.0), transition.instruction.clone()),
                // Not an end of the thread, but nothing can follow.
                false => (from, Instruction::Assume(Expr::Const(0))),
            };
            copies.push(Transition { from, to, instruction, span: transition.span, call: None });
        }
    }
    let locations = (0..=times).flat_map(|_| thread.locations.clone()).collect();
    Thread { locations, transitions: copies, ..thread.clone() }
}

/// Registers of the original program that users see, and memory.
type End = (Vec<Vec<Value>>, BTreeMap<Value, Value>);

fn end(original: &Program, registers: &[&[Value]], memory: &BTreeMap<Value, Value>) -> End {
    let seen = original.threads.iter().zip(registers).map(|(thread, values)| {
        let shown = thread.registers.iter().zip(*values).filter(|(register, _)| is_compared(&register.name));
        shown.map(|(_, value)| *value).collect()
    });
    (seen.collect(), memory.clone())
}

/// Those that goals name; others may be left as they are when a loop ends.
fn is_compared(register: &str) -> bool {
    register.starts_with('r') || register.starts_with('a')
}

fn graph_ends(original: &Program, program: &Program) -> Option<BTreeSet<End>> {
    let executions = enumerate(program, OrderReading::Written, LIMITS).ok()?;
    let ends = executions.final_states(program).into_iter().map(|state| {
        let registers: Vec<&[Value]> = state.registers.iter().map(Vec::as_slice).collect();
        end(original, &registers, &state.memory)
    });
    Some(ends.collect())
}

/// The ends under SC, and whether some thread may have to wait for ever.
fn sc_ends(original: &Program, program: &Program) -> Option<(BTreeSet<End>, bool)> {
    let reference = Reference::new(program, Model::Sc, None).ok()?;
    let mut open = reference.initial_states().ok()?;
    let mut number: BTreeMap<State, usize> = BTreeMap::new();
    let mut before: Vec<Vec<usize>> = Vec::new();
    let (mut ends, mut finished) = (BTreeSet::new(), Vec::new());
    for state in &open {
        number.insert(state.clone(), before.len());
        before.push(Vec::new());
    }
    while let Some(state) = open.pop() {
        if number.len() > MOST_STATES {
            return None;
        }
        let at = number[&state];
        if reference.is_final(&state) {
            let registers: Vec<&[Value]> = state.threads.iter().map(|thread| thread.registers.as_slice()).collect();
            ends.insert(end(original, &registers, &state.memory));
            finished.push(at);
        }
        for (_, next) in reference.steps(&state).next {
            let known = number.len();
            let to = *number.entry(next.clone()).or_insert(known);
            if to == known {
                before.push(Vec::new());
                open.push(next);
            }
            before[to].push(at);
        }
    }
    let mut can_finish = vec![false; before.len()];
    while let Some(at) = finished.pop() {
        if !std::mem::replace(&mut can_finish[at], true) {
            finished.extend(&before[at]);
        }
    }
    Some((ends, can_finish.contains(&false)))
}

fn disagreement(program: &Program) -> Result<Vec<SpinLoop>, String> {
    let (exact, loops) = with_exact_waits(program, &Watch::unlimited()).expect("no limit");
    let (waiting, all) = with_waits(program, &Watch::unlimited()).expect("no limit");
    for rewritten in [&exact, &waiting] {
        let errors = validate(rewritten);
        if !errors.is_empty() {
            return Err(format!("{errors:?}"));
        }
    }
    let weaker = all.iter().filter_map(SpinLoop::rewrite).any(|rewrite| rewrite.weaker);
    let told: Vec<&SpinOutcome> = loops.iter().map(|found| &found.outcome).collect();
    if let (Some(loops), Some(waits)) =
        (graph_ends(program, &unrolled(program, FAILURES)), graph_ends(program, &unrolled(&exact, FAILURES)))
        && loops != waits
    {
        let (lost, invented) = (loops.difference(&waits).next(), waits.difference(&loops).next());
        return Err(format!("rc20: lost {lost:?}, invented {invented:?} with {told:?}"));
    }
    if weaker
        && let (Some(loops), Some(waits)) =
            (graph_ends(program, &unrolled(program, FAILURES)), graph_ends(program, &unrolled(&waiting, FAILURES)))
        && let Some(lost) = loops.difference(&waits).next()
    {
        return Err(format!("rc20, weaker: lost {lost:?}"));
    }
    for rewritten in [&exact, &waiting] {
        if let (Some(loops), Some(waits)) = (sc_ends(program, program), sc_ends(program, rewritten))
            && loops != waits
        {
            return Err(format!("sc: {loops:?} with loops, {waits:?} with waits: {told:?}"));
        }
    }
    Ok(all)
}

#[test]
fn programs_end_as_they_did_with_their_loops() {
    let (mut taken, mut weaker) = (0, 0);
    for seed in seeds(300) {
        let text = text(seed);
        let parsed = parse(Source::new("spin.rav", &text), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics));
        match disagreement(&program) {
            Err(what) => panic!("seed {seed}: {what}\n{text}"),
            Ok(loops) => {
                taken += loops.iter().filter(|found| found.rewrite().is_some()).count();
                weaker += loops.iter().filter_map(SpinLoop::rewrite).filter(|rewrite| rewrite.weaker).count();
            }
        }
    }
    assert!(taken > 100 && weaker > 3, "only {taken} loops were rewritten, {weaker} of them to weaker instructions");
}
