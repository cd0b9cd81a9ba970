//! Computations that are made of what the monitor finds, on random programs: each access that it finds gives one that replays, and
//! whose trace has a cycle.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{check_all, without_faulting_domains};
use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{
    AttackWitness, RobustnessAnswer, RobustnessEngine, RobustnessQuestion, robustness, stale_computation,
};
use ravelin_explore::{Budget, Options, Until};
use ravelin_machine::Reductions;
use ravelin_machine::monitor::{C11Settings, MonitorError, MonitorFinding, monitor_for};
use ravelin_program::{Model, Program, SeqCstReading};
use ravelin_semantics::operational::Reference;
use ravelin_semantics::trace::Trace;
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the monitor refuses is left out.
fn generator(config: Config) -> Generator {
    let mut config = config;
    config.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::BusLock | InstructionKind::Locked));
    Generator::new(config)
}

/// Shows everything that the monitor finds, up to some states.
fn findings(
    program: &Program,
    model: Model,
    reductions: Reductions,
    mut show: impl FnMut(&MonitorFinding) -> Result<(), String>,
) -> Result<(), String> {
    let settings = C11Settings {
        model,
        seq_cst: SeqCstReading::RelAcq,
        chains: false,
        observational: false,
        races: false,
        reductions,
    };
    let options = Options { budget: Budget::unlimited().states(2_000), until: Until::Exhausted };
    let mut wrong = Ok(());
    let search = monitor_for(program, settings, &options, &mut |finding| {
        wrong = show(finding);
        Ok(wrong.is_err())
    });
    match search {
        Err(MonitorError::Refused(_)) | Ok(_) => wrong,
        Err(error) => Err(error.to_string()),
    }
}

/// What is wrong with a computation, if anything.
fn misfit(program: &Program, model: Model, witness: &AttackWitness) -> Result<(), String> {
    let reference = Reference::new(program, model, None).map_err(|error| error.to_string())?;
    let starts = reference.initial_states().map_err(|error| error.to_string())?;
    let traces = starts.iter().filter_map(|start| Trace::of(&reference, start, &witness.computation.actions).ok());
    match traces.into_iter().any(|trace| trace.is_computation() && trace.cycle().is_some()) {
        true => Ok(()),
        false => Err("a computation does not replay".to_owned()),
    }
}

/// Every access that may be stale is shown; `shown` counts them, and those that are attacks.
fn disagreement(program: &Program, model: Model, may_fault: bool, shown: &Cell<(u64, u64)>) -> Option<String> {
    let show = |finding: &MonitorFinding| match stale_computation(program, model, finding) {
        Err(error) => Err(error.to_string()),
        Ok(None) if may_fault => Ok(()),
        Ok(None) => Err(format!("under {model} nothing shows that {:?} is stale", finding.transition)),
        Ok(Some(found)) => {
            let (all, attacks) = shown.get();
            shown.set((all + 1, attacks + u64::from(found.attack.is_some())));
            let attack = found.attack.map_or(Ok(()), |witness| misfit(program, model, &witness));
            attack.and_then(|()| misfit(program, model, &found.together))
        }
    };
    for reductions in [Reductions::ALL, Reductions::NONE] {
        match catch_unwind(AssertUnwindSafe(|| findings(program, model, reductions, show))) {
            Err(_) => return Some("a panic".to_owned()),
            Ok(Err(what)) => return Some(what),
            Ok(Ok(())) => {}
        }
    }
    None
}

fn check(generator: &Generator, programs: u64, may_fault: bool) {
    for model in [Model::Tso, Model::Pso] {
        let shown = Cell::new((0, 0));
        check_all(generator, programs, |program| match may_fault {
            true => disagreement(program, model, true, &shown),
            false => disagreement(&without_faulting_domains(program.clone()), model, false, &shown),
        });
        let (all, attacks) = shown.get();
        assert!(all > programs && attacks > all / 10 * 9, "{model}: {all} are shown, {attacks} of them as attacks");
    }
}

#[test]
fn what_the_monitor_finds_is_shown() {
    check(&generator(Config::loop_free()), 500, false);
}

#[test]
fn what_the_monitor_finds_in_loops_is_shown() {
    check(&generator(Config::all()), 500, false);
}

#[test]
fn what_the_monitor_finds_where_values_may_not_fit_is_shown_or_passed_over() {
    check(&generator(Config::all()), 500, true);
}

fn ask(program: &Program, model: Model, engine: RobustnessEngine) -> Result<RobustnessAnswer, String> {
    let budget = Budget::unlimited().states(200_000);
    let question = RobustnessQuestion { engine, budget, ..RobustnessQuestion::new(model) };
    match catch_unwind(AssertUnwindSafe(|| robustness(program, &question))) {
        Err(_) => Err("a panic".to_owned()),
        Ok(answer) => answer.map_err(|error| error.to_string()),
    }
}

/// The engine that shows its own computations says what the engine says that searches attacks.
#[test]
fn the_engine_monitor_says_what_shared_says() {
    fn wrong(program: &Program) -> Option<String> {
        for model in [Model::Tso, Model::Pso] {
            let answers =
                [RobustnessEngine::Shared, RobustnessEngine::Monitor].map(|engine| ask(program, model, engine));
            match answers {
                [Ok(shared), Ok(monitor)] => {
                    if shared.verdict != monitor.verdict && shared.limit.is_none() && monitor.limit.is_none() {
                        return Some(format!(
                            "under {model} shared says {:?}, monitor {:?}",
                            shared.verdict, monitor.verdict
                        ));
                    }
                    if (monitor.verdict == Verdict::Violated) != monitor.witness().is_some() {
                        return Some(format!("under {model} {:?} without a witness", monitor.verdict));
                    }
                }
                [Err(what), _] | [_, Err(what)] => return Some(what),
            }
        }
        None
    }
    check_all(&Generator::new(Config::loop_free()), 500, wrong);
    check_all(&Generator::new(Config::all()), 300, wrong);
}
