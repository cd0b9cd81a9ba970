//! What litmus tests mean. Each file of `litmus_corpus/` says in its header how it may end, in lines that a reader of
//! litmus tests skips as information:
//!
//! - `SC=` lists the final states under SC, `TSO=` those that TSO adds, `PSO=` those that PSO adds to these, and `RC20=`
//!   all those of RC20, separated by `|`;
//! - `Allowed=` names the models under which an `exists` is satisfied. `forall` and `~exists` must hold under all models.
//!
//! The reference semantics decides, also on the same program after it went through `.rav`.

use crate::litmus_files;

use litmus_files::{corpus, read};
use ravelin_frontend::{litmus, print, rav, render};
use ravelin_program::{
    Arithmetic, Domain, Escape, GoalKind, Instruction, Model, Observable, Observation, Order, Program, RmwOp, Source,
    Value,
};
use ravelin_semantics::operational::{Reference, State};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate};
use std::collections::BTreeSet;

const MOST_STATES: usize = 100_000;

/// How a program may end under a model, and whether its goal is violated.
fn run(program: &Program, model: Model) -> (BTreeSet<String>, bool) {
    let reference = Reference::new(program, model, None).expect("a program that is modelled");
    let explored = reference.explore(MOST_STATES).expect("few initial states");
    assert!(explored.complete, "{} has too many states", program.name);
    assert!(explored.faults.is_empty() && explored.stuck.is_empty(), "{} goes wrong", program.name);
    let value = |state: &State, atom: &Observable| match *atom {
        Observable::Register(thread, register) => state.threads[thread.0].registers[register.0],
        Observable::Memory(address) => state.cell(address),
        Observable::At(..) => unreachable!("litmus tests do not speak of places in the code"),
    };
    let ends = explored.finals.iter().filter_map(|state| shown(program, &|atom| value(state, atom)));
    (ends.collect(), !explored.violated_goals.is_empty())
}

/// A final state as herd prints it, or nothing if it is filtered out.
fn shown(program: &Program, value: &dyn Fn(&Observable) -> Value) -> Option<String> {
    let everything = Observation::default();
    let Observation { shown, filter } = program.observation.as_ref().unwrap_or(&everything);
    let passes = filter
        .as_ref()
        .is_none_or(|filter| filter.eval(&mut |atom| value(atom)).expect("a condition with a value") != 0);
    let parts: Vec<String> = shown.iter().map(|(name, atom)| format!("{name}={};", value(atom))).collect();
    passes.then(|| parts.join(" "))
}

/// A line `Key=…` of a header.
fn header<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().take_while(|line| !line.starts_with('{')).find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
}

fn states(list: &str) -> BTreeSet<String> {
    list.split('|').map(|state| state.trim().to_owned()).filter(|state| !state.is_empty()).collect()
}

#[test]
fn every_test_of_the_corpus_ends_as_it_says() {
    for (name, text) in corpus() {
        let program = read(&name, &text);
        let mut expected = header(&text, "SC").map(states);
        let allowed: Vec<&str> = header(&text, "Allowed").unwrap_or_default().split_whitespace().collect();
        for (model, key) in [(Model::Sc, ""), (Model::Tso, "TSO"), (Model::Pso, "PSO")] {
            let (found, violated) = run(&program, model);
            if let Some(expected) = &mut expected {
                expected.extend(header(&text, key).map(states).unwrap_or_default());
                assert_eq!(&found, expected, "{name} under {model}");
            }
            let exists = program.goals.iter().any(|goal| goal.kind == GoalKind::Exists);
            assert_eq!(violated, exists && allowed.contains(&model.name()), "{name} under {model}");
        }
        let Some(expected) = header(&text, "RC20").map(states) else { continue };
        let all = enumerate(&program, OrderReading::Written, GraphLimits::default()).expect("a small program");
        let ends = all.final_states(&program);
        let found = ends.iter().filter_map(|end| {
            shown(&program, &|atom| match *atom {
                Observable::Register(thread, register) => end.registers[thread.0][register.0],
                Observable::Memory(address) => end.memory.get(&address).copied().unwrap_or(0),
                Observable::At(..) => unreachable!("litmus tests do not speak of places in the code"),
            })
        });
        assert_eq!(found.collect::<BTreeSet<_>>(), expected, "{name} under RC20");
    }
}

/// Printed as `.rav` and read again, a test ends in the same ways: its registers keep their order, and so do its cells.
#[test]
fn every_test_of_the_corpus_survives_the_way_through_rav() {
    for (name, text) in corpus() {
        let program = read(&name, &text);
        let printed = print::rav(&program);
        let parsed = rav::parse(Source::new(&name, printed.clone()));
        let shown = render(&parsed.diagnostics, &parsed.source, false);
        let again = parsed.program.unwrap_or_else(|| panic!("{name}:\n{printed}\n{shown}"));
        let count = |program: &Program| program.threads.iter().map(|thread| thread.transitions.len()).sum::<usize>();
        assert!(count(&again) >= count(&program), "{name}:\n{printed}");
        for model in [Model::Sc, Model::Tso] {
            let (_, violated) = run(&program, model);
            let (_, violated_again) = run(&again, model);
            assert_eq!(violated, violated_again, "{name} under {model}:\n{printed}");
            assert_eq!(
                ends(&program, &program, model),
                ends(&again, &program, model),
                "{name} under {model}:\n{printed}"
            );
        }
    }
}

/// Final values of the registers that people see and of the named cells. Cells are told by their names in the original.
fn ends(program: &Program, original: &Program, model: Model) -> BTreeSet<(Vec<Value>, Vec<Value>)> {
    let reference = Reference::new(program, model, None).expect("a program that is modelled");
    let explored = reference.explore(MOST_STATES).expect("few initial states");
    let visible: Vec<Vec<bool>> = original
        .threads
        .iter()
        .map(|thread| thread.registers.iter().map(|register| !register.hidden).collect())
        .collect();
    let named = |address: &Value| !program.memory.name_of(*address).starts_with("gap");
    let cells: Vec<Value> = program.memory.named_addresses().filter(named).collect();
    let of_state = |state: &State| {
        let registers = state.threads.iter().zip(&visible).flat_map(|(thread, visible)| {
            thread.registers.iter().zip(visible).filter(|(_, visible)| **visible).map(|(value, _)| *value)
        });
        (registers.collect(), cells.iter().map(|&address| state.cell(address)).collect())
    };
    explored.finals.iter().map(of_state).collect()
}

#[test]
fn what_is_shown_is_what_is_mentioned_in_herds_order() {
    let program = litmus::parse(Source::new(
        "t",
        "X86_64 t\n{ int t[2]; }\nP1 | P0 ;\nnop | nop ;\nlocations [y; t; 1:rbx; 1:rax; 0:r10;]\nexists (x=1 /\\ 0:r9=0 /\\ 0:rsi=0)",
    ))
    .program
    .expect("no errors");
    let names: Vec<String> =
        program.observation.expect("an observation").shown.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["0:rsi", "0:r9", "0:r10", "1:rax", "1:rbx", "t[0]", "t[1]", "[x]", "[y]"]);
    assert_eq!(program.threads.iter().map(|thread| thread.name.as_str()).collect::<Vec<_>>(), ["P1", "P0"]);
}

#[test]
fn instructions_are_what_the_mapping_says() {
    let text = "X86_64 t\n{}\nP0 ;\nmovl $1,(x) ;\nmovl (x),%eax ;\nxchgl %eax,(x) ;\nlock addl $2,(x) ;\nmfence ;\nsfence ;\n\
                lfence ;\naddl $1,(x) ;\n";
    let program = read("t", text);
    let steps: Vec<String> = program.threads[0]
        .transitions
        .iter()
        .map(|transition| program.show_instruction(&program.threads[0], &transition.instruction))
        .collect();
    let expected = [
        "x.store(1)",
        "rax = x.load()",
        "rax = x.swap(rax, seq_cst)",
        "x.fetch_add(2, seq_cst)",
        "fence(seq_cst)",
        "fence(release)",
        "fence(acquire)",
        "$value = x.load()",
        "x.store($value + 1)",
    ];
    assert_eq!(steps, expected);
    assert_eq!(program.source.quote(program.threads[0].transitions[3].span), "lock addl $2,(x)");
}

#[test]
fn accesses_of_c_keep_their_orders() {
    let text = "C t\n{}\nP0 (atomic_int* x) {\n int r = *x;\n *x = 2;\n atomic_store(x, 1);\n r = \
                atomic_fetch_xor_explicit(x, 3, memory_order_acq_rel);\n}\n";
    let program = read("t", text);
    let orders: Vec<Order> = program.threads[0]
        .transitions
        .iter()
        .map(|transition| match transition.instruction {
            Instruction::Load { order, .. } | Instruction::Store { order, .. } => order,
            Instruction::Rmw { op: RmwOp::Xor, order, .. } => order,
            ref other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(orders, [Order::NonAtomic, Order::NonAtomic, Order::SeqCst, Order::AcqRel]);
}

#[test]
fn arithmetic_is_as_wide_as_the_test() {
    let wrapping = |lo: i64, hi: i64| Arithmetic::Wrapping(Domain::new(lo, hi, Escape::Wrap));
    let narrow = wrapping(i32::MIN.into(), i32::MAX.into());
    let wide = wrapping(i64::MIN, i64::MAX);
    let cases = [
        ("X86_64 t\n{}\nP0 ;\naddl %ebx,%eax ;\n", narrow),
        ("X86_64 t\n{}\nP0 ;\naddq %rbx,%rax ;\n", wide),
        ("X86_64 t\n{ uint64_t x; }\nP0 ;\naddq %rbx,%rax ;\n", wide),
        ("X86 t\n{}\nP0 ;\nADD EAX,EBX ;\n", narrow),
        ("C t\n{}\nP0 (int* x) { int r = *x; r = r + 1; }\n", narrow),
        ("C t\n{}\nP0 (int* x) { long r = *x; r = r + 1; }\n", wide),
        ("C t\n{}\nP0 (int* x) { int r = *x; r = r + 1; *x = 0x100000000; }\n", wide),
        ("C t\n{}\nP0 (atomic_int* x) { atomic_fetch_add(x, 1); }\n", narrow),
    ];
    for (text, arithmetic) in cases {
        let mut found = Vec::new();
        for transition in &read("t", text).threads[0].transitions {
            transition.instruction.for_each_arithmetic(&mut |arithmetic| found.push(arithmetic));
        }
        assert!(!found.is_empty() && found.iter().all(|other| *other == arithmetic), "{text}{found:?}");
    }
}

#[test]
fn a_loop_without_steps_spins_and_dead_code_is_dropped() {
    let program = read("t", "X86_64 t\n{}\nP0 ;\nA: jmp B ;\nmovl $1,(x) ;\nB: jmp A ;\n");
    let thread = &program.threads[0];
    assert_eq!((thread.locations.len(), thread.transitions.len()), (1, 1));
    assert_eq!(thread.transitions[0].instruction, Instruction::Nop);
    assert_eq!(thread.locations[0].labels, ["A", "B"]);
    let program = read("t", "C t\n{}\nP0 (int* x) { while (1) ; *x = 1; }\n");
    assert_eq!(program.threads[0].transitions.len(), 1);
}

/// A store to a part of a register shows which register it is, and how much of it.
#[test]
fn every_view_of_a_register_is_found_under_its_name() {
    let [byte, word, long, quad]: [Value; 4] = [0x89, 0x6789, 0x2345_6789, 0x1_2345_6789];
    let cases = [
        ("rax", Some(("rax", quad))),
        ("EBX", Some(("rbx", long))),
        ("dl", Some(("rdx", byte))),
        ("sp", Some(("rsp", word))),
        ("sil", Some(("rsi", byte))),
        ("r8", Some(("r8", quad))),
        ("r15d", Some(("r15", long))),
        ("r08", None),
        ("r16", None),
        ("r", None),
        ("rip", None),
        ("ah", None),
    ];
    let all = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp"].map(str::to_owned);
    let all: Vec<String> = all.into_iter().chain((8..16).map(|number| format!("r{number}"))).collect();
    let cases = cases.into_iter().chain(all.iter().map(|name| (name.as_str(), Some((name.as_str(), quad)))));
    for (name, found) in cases {
        let shown = found.map_or("rax", |(register, _)| register);
        let text = format!("X86_64 t\n{{}}\nP0 ;\nmov $4886718345,%{name} ;\nlocations [0:{shown};]\n");
        match found {
            Some((register, value)) => {
                let expected = BTreeSet::from([format!("0:{register}={value};")]);
                assert_eq!(run(&read(name, &text), Model::Sc).0, expected, "{name}");
            }
            None => assert!(!is_register(&text), "{name}"),
        }
    }
    assert!(is_register("X86 t\n{}\nP0 ;\nMOV EAX,1 ;\n") && !is_register("X86 t\n{}\nP0 ;\nMOV rax,1 ;\n"));
}

/// Whether a text has no errors; otherwise it names a register that does not exist.
fn is_register(text: &str) -> bool {
    let parsed = litmus::parse(Source::new("t", text));
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
    assert!(errors.iter().all(|error| error.message.contains("register")), "{text}{errors:?}");
    errors.is_empty()
}
