//! Random programs: some attack is feasible exactly if the judge finds a cyclic trace, and printing an instrumented
//! program changes nothing.

use ravelin_analysis::robustness::{Attack, CannotInstrument, attack_name, attacks, find_attack, instrument};
use ravelin_frontend::{Language, print};
use ravelin_program::{HardwareProgram, Model, Program, Source, validate};
use ravelin_semantics::operational::Reference;
use ravelin_semantics::trace::find_violation;
use ravelin_testing::programs::{Config, Generator};

const MOST_STATES: usize = 60_000;

/// Whether `success` can be reached; `None` if that takes too many states.
fn succeeds(instrumented: &Program) -> Option<bool> {
    let explored = Reference::new(instrumented, Model::Sc, None).expect("a valid program").explore(MOST_STATES);
    let explored = explored.ok()?;
    (explored.complete || !explored.violated_goals.is_empty()).then_some(!explored.violated_goals.is_empty())
}

fn feasible(program: &HardwareProgram, attack: Attack) -> Result<Option<bool>, CannotInstrument> {
    let instrumented = instrument(program, attack)?;
    assert_eq!(validate(&instrumented), [], "{}", program.name);
    Ok(succeeds(&instrumented))
}

/// Whether some attack is feasible; `None` if that cannot be told.
fn attackable(program: &HardwareProgram) -> Option<bool> {
    let mut unknown = false;
    for attack in attacks(program) {
        match feasible(program, attack) {
            Ok(Some(true)) => return Some(true),
            Ok(Some(false)) => {}
            Ok(None) | Err(_) => unknown = true,
        }
    }
    (!unknown).then_some(false)
}

fn compare(config: Config, seeds: std::ops::Range<u64>, at_least: [usize; 2]) {
    let generator = Generator::new(config);
    let mut counts = [0, 0];
    for seed in seeds {
        let program = HardwareProgram::new(&generator.program(seed));
        let reference = Reference::new(&program, Model::Tso, None).expect("a valid program");
        let Ok(violation) = find_violation(&reference, MOST_STATES) else { continue };
        let Some(attackable) = attackable(&program) else { continue };
        assert_eq!(attackable, violation.is_some(), "seed {seed}\n{}", print::rav(&program));
        counts[usize::from(attackable)] += 1;
    }
    assert!(counts[0] >= at_least[0] && counts[1] >= at_least[1], "too few programs to tell: {counts:?}");
}

#[test]
fn attacks_are_feasible_exactly_where_a_trace_is_cyclic() {
    compare(Config::loop_free(), 0..400, [150, 30]);
}

#[test]
fn also_where_everything_is_locked_now_and_then() {
    use ravelin_testing::programs::InstructionKind;
    let mut config = Config { computed_addresses: false, total_instructions: 11, ..Config::loop_free() };
    for (kind, weight) in &mut config.kinds {
        if matches!(kind, InstructionKind::BusLock | InstructionKind::Locked) {
            *weight = 10;
        }
    }
    compare(config, 0..300, [100, 20]);
}

#[test]
fn the_printed_program_means_the_same() {
    let generator = Generator::new(Config { any_initial: false, ..Config::loop_free() });
    let mut compared = 0;
    for seed in 0..60 {
        let program = HardwareProgram::new(&generator.program(seed));
        for attack in attacks(&program) {
            let Ok(instrumented) = instrument(&program, attack) else { continue };
            let text = print::rav(&instrumented);
            let parsed = ravelin_frontend::parse(Source::new("printed.rav", text.clone()), Language::Rav);
            let Some(again) = parsed.program else { panic!("seed {seed}: {:?}\n{text}", parsed.diagnostics) };
            if let (Some(one), Some(other)) = (succeeds(&instrumented), succeeds(&again)) {
                assert_eq!(one, other, "seed {seed}\n{text}");
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "only {compared}");
}

#[test]
fn every_attack_has_a_name_of_its_own() {
    let generator = Generator::new(Config::all());
    for seed in 0..200 {
        let program = HardwareProgram::new(&generator.program(seed));
        for attack in attacks(&program) {
            assert_eq!(find_attack(&program, &attack_name(&program, attack)), Ok(attack), "seed {seed}");
        }
    }
}
