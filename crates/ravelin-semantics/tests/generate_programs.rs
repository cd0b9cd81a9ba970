//! What random programs are like, and what the three models must agree on for each of them.

use ravelin_program::{Expr, Fault, Instruction, Model, Order, Program, Unnamed, validate};
use ravelin_semantics::operational::{Exploration, Reference};
use ravelin_testing::programs::{Config, Generator, shrink};
use std::collections::HashSet;
use std::mem::discriminant;

fn presets() -> [(&'static str, Generator); 3] {
    [("all", Config::all()), ("loop_free", Config::loop_free()), ("c11", Config::c11())]
        .map(|(name, config)| (name, Generator::new(config)))
}

fn explore(program: &Program, model: Model, limit: usize) -> Exploration {
    let reference = Reference::new(program, model, Some(4)).expect("generated programs are modelled");
    reference.explore(limit).expect("few initial states")
}

fn instructions(program: &Program) -> impl Iterator<Item = &Instruction> {
    program.threads.iter().flat_map(|thread| &thread.transitions).map(|transition| &transition.instruction)
}

#[test]
fn every_program_is_valid_and_its_seed_determines_it() {
    for (name, generator) in presets() {
        for seed in 0..5000 {
            let program = generator.program(seed);
            assert_eq!(validate(&program), [], "{name}, seed {seed}");
            assert!(seed % 50 != 0 || program == generator.program(seed), "{name}, seed {seed}");
        }
    }
}

#[test]
fn every_kind_of_instruction_occurs() {
    let generator = Generator::new(Config::all());
    let mut seen = HashSet::new();
    for seed in 0..1000 {
        seen.extend(instructions(&generator.program(seed)).map(discriminant));
    }
    assert_eq!(seen.len(), 17);
}

#[test]
fn loop_free_programs_have_no_loops_and_c11_programs_are_tiny() {
    let [_, (_, loop_free), (_, c11)] = presets();
    for seed in 0..1000 {
        assert!(loop_free.program(seed).is_acyclic(), "seed {seed}");
        let program = c11.program(seed);
        assert!(program.is_acyclic(), "seed {seed}");
        let mut events = 0;
        for instruction in instructions(&program) {
            events += instruction.accesses().len() + usize::from(matches!(instruction, Instruction::Fence(_)));
            let strict = program.memory.unnamed == Unnamed::Nothing;
            assert!(
                strict || instruction.accesses().iter().all(|access| access.address.within.is_some()),
                "seed {seed}"
            );
            let hardware_only =
                matches!(instruction, Instruction::BusLock | Instruction::BusUnlock | Instruction::Locked { .. });
            assert!(!hardware_only, "seed {seed}");
        }
        assert!(events <= 7, "seed {seed}");
    }
}

#[test]
fn pointers_sometimes_miss_where_memory_is_strict() {
    for (name, generator) in presets() {
        let (mut strict, mut missed) = (0, 0);
        for seed in 0..1000 {
            let program = generator.program(seed);
            if program.memory.unnamed == Unnamed::Nothing {
                strict += 1;
                let faults = explore(&program, Model::Sc, 20_000).faults;
                missed += usize::from(faults.iter().any(|fault| matches!(fault.2, Fault::NoObject { .. })));
            }
        }
        assert!((200..300).contains(&strict) && missed > 30, "{name}: {missed} of {strict}");
    }
}

#[test]
fn what_sc_allows_tso_allows_and_what_tso_allows_pso_allows() {
    let (mut compared, mut weaker, mut large) = (0, 0, 0);
    for (name, generator) in presets() {
        for seed in 0..250 {
            let program = generator.program(seed);
            let [sc, tso, pso] = Model::HARDWARE.map(|model| explore(&program, model, 20_000));
            if !(sc.complete && tso.complete && pso.complete) {
                large += 1;
                continue;
            }
            compared += 1;
            weaker += usize::from(sc.finals != pso.finals);
            assert!(sc.finals.is_subset(&tso.finals), "{name}, seed {seed}");
            assert!(tso.finals.is_subset(&pso.finals), "{name}, seed {seed}");
            assert!(sc.failed_asserts.is_subset(&tso.failed_asserts), "{name}, seed {seed}");
            assert!(tso.failed_asserts.is_subset(&pso.failed_asserts), "{name}, seed {seed}");
            assert!(sc.violated_goals.is_subset(&tso.violated_goals), "{name}, seed {seed}");
            assert!(tso.violated_goals.is_subset(&pso.violated_goals), "{name}, seed {seed}");
        }
    }
    assert!(large * 20 < compared, "{large} programs of {compared} are large");
    assert!(weaker * 20 > compared, "only {weaker} programs of {compared} show a weak behaviour");
}

/// Weak memory shows in the final states.
fn is_weak(program: &Program) -> bool {
    let [sc, tso, _] = Model::HARDWARE.map(|model| explore(program, model, 20_000));
    sc.complete && tso.complete && sc.finals != tso.finals
}

#[test]
fn the_shrinker_finds_store_buffering_in_weak_programs() {
    let generator = Generator::new(Config::all());
    let weak: Vec<Program> = (0..).map(|seed| generator.program(seed)).filter(is_weak).take(5).collect();
    for program in weak {
        let small = shrink(&program, &mut is_weak);
        assert_eq!(validate(&small), []);
        assert!(is_weak(&small));
        assert!(small.goals.is_empty());
        assert_eq!(small.threads.len(), 2, "{}", program.name);
        // SB needs two instructions a thread. A shape that one edit at a time cannot leave may keep a few more.
        let left = instructions(&small).count();
        assert!((4..=6).contains(&left), "{}: {left} instructions are left", program.name);
    }
}

#[test]
fn the_shrinker_simplifies_what_does_not_matter() {
    let generator = Generator::new(Config::all());
    let exchanges = |program: &Program| {
        instructions(program).any(|instruction| matches!(instruction, Instruction::CompareExchange { .. }))
    };
    let program = (0..).map(|seed| generator.program(seed)).find(exchanges).expect("one has a compare-exchange");
    let small = shrink(&program, &mut |program| exchanges(program));
    assert_eq!(small.threads.len(), 1);
    let [transition] = &small.threads[0].transitions[..] else { panic!("one transition is left") };
    let Instruction::CompareExchange { expected, new, success, failure, weak, old, ok, .. } = &transition.instruction
    else {
        panic!("the compare-exchange is left")
    };
    assert_eq!((expected, new), (&Expr::Const(0), &Expr::Const(0)));
    assert_eq!((*success, *failure, *weak, *old, *ok), (Order::Relaxed, Order::Relaxed, false, None, None));
    assert!(small.threads[0].registers.is_empty());
    assert!(small.memory.variables.len() <= 1);
}

#[test]
fn a_program_that_cannot_be_made_smaller_stays() {
    let program = Generator::new(Config::all()).program(3);
    assert_eq!(shrink(&program, &mut |_| false), program);
}
