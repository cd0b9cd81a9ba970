//! The judge agrees with the axioms on random programs.

use crate::graphs::{SimulatedKnowledge, stale_by_axioms, trace, with_pending};
use crate::interleavings::every_run;
use crate::simulated::{Simulator, deterministic};
use ravelin_program::{Order, Program, Transition};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, robust};
use ravelin_testing::programs::{Config, Generator, InstructionKind, check_one};
use ravelin_testing::{is_default_run, seeds};
use ravelin_verify::judge::{JudgedModel, judge};
use std::collections::BTreeMap;

/// The most runs of a program.
const MOST_RUNS: usize = 700;

/// Loop-free programs of atomic accesses, without what ends a run early.
fn config(orders: &[Order], max_events: usize, fences: usize) -> Config {
    let mut config = Config {
        threads: 2..=4,
        max_events,
        arrays: false,
        domains: false,
        wrapping: false,
        non_atomic: false,
        orders: orders.to_vec(),
        goals: 0..=0,
        strict_memory: false,
        ..Config::c11()
    };
    config.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::Assert));
    for (kind, weight) in &mut config.kinds {
        match kind {
            InstructionKind::Wait | InstructionKind::BlockingCas | InstructionKind::Lock => *weight += 2,
            InstructionKind::Fence => *weight = fences,
            _ => {}
        }
    }
    config
}

/// What was found out about a program.
#[derive(Debug, Default, PartialEq, Eq)]
struct Findings {
    robust: bool,
    runs: usize,
    traces: usize,
    stale: usize,
    stale_on_x86: usize,
}

/// Compares the judge with the axioms on every run of a program. `None` if it has too many, or one that fails.
fn compare(program: &Program) -> Result<Option<Findings>, String> {
    let simulator = Simulator::new(program);
    let known = SimulatedKnowledge { simulator: &simulator, program };
    let mut findings = Findings::default();
    let mut seen = BTreeMap::new();
    let mut wrong = None;
    let all = every_run(&simulator, program.threads.len() as u32, MOST_RUNS, &mut |run| {
        let events = with_pending(run);
        let found = judge(&events, JudgedModel::Rc20, &known);
        let (trace, names) = trace(&events, &found.stale);
        findings.runs += 1;
        if let Some(others) = seen.get(&trace) {
            if *others != names {
                wrong = Some(format!("linearisations differ: {others:?}, {names:?} in {trace:#?}"));
            }
            return;
        }
        findings.traces += 1;
        findings.stale += found.stale.len();
        for model in [JudgedModel::Rc20, JudgedModel::Tso] {
            let found = judge(&events, model, &known);
            let expected = stale_by_axioms(&events, model, &known);
            if found.stale != expected || found.mixed_sizes {
                wrong = Some(format!("{model:?}: {:#?}\nfound {:#?}\nexpected {expected:#?}", run.events, found.stale));
            }
            findings.stale_on_x86 += if model == JudgedModel::Tso { found.stale.len() } else { 0 };
        }
        seen.insert(trace, names);
    });
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    if all.is_none() {
        return Ok(None);
    }
    let Ok(verdict) = robust(program, OrderReading::Written, GraphLimits::default()) else { return Ok(None) };
    findings.robust = verdict.is_robust();
    if findings.robust != (findings.stale == 0) {
        return Err(format!("{} stale accesses, but the graphs say {verdict:?}", findings.stale));
    }
    Ok(Some(findings))
}

fn agrees(config: Config, default: u64) {
    let generator = Generator::new(config);
    let mut total = Findings::default();
    let (mut programs, mut not_robust) = (0, 0);
    for seed in seeds(default) {
        let program = deterministic(&generator.program(seed));
        match compare(&program) {
            Ok(None) => {}
            Ok(Some(findings)) => {
                programs += 1;
                not_robust += usize::from(!findings.robust);
                total.runs += findings.runs;
                total.traces += findings.traces;
                total.stale += findings.stale;
                total.stale_on_x86 += findings.stale_on_x86;
            }
            Err(_) => {
                let show = |program: &Program| format!("{:#?}", instructions(program));
                check_one(seed, &program, show, |program| compare(&deterministic(program)).err());
            }
        }
    }
    println!("{programs} programs, {not_robust} of them not robust, {total:?}");
    if is_default_run() {
        assert!(programs > default as usize / 2 && not_robust > programs / 20 && not_robust < programs);
        assert!(total.stale_on_x86 > 0 && total.stale_on_x86 < total.stale, "{total:?}");
    }
}

#[test]
fn on_programs_with_all_orders() {
    agrees(config(&Order::ATOMIC, 7, 6), 200);
}

#[test]
fn on_programs_with_seq_cst_fences_and_relaxed_accesses() {
    agrees(config(&[Order::Relaxed, Order::SeqCst], 7, 16), 120);
}

#[test]
fn on_programs_with_fences_of_every_kind() {
    let orders = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
    agrees(config(&orders, 7, 16), 120);
}

#[test]
fn on_programs_with_many_seq_cst_accesses() {
    agrees(config(&[Order::Acquire, Order::Release, Order::SeqCst, Order::SeqCst, Order::SeqCst], 7, 2), 120);
}

/// What there is to read in a failing program.
fn instructions(program: &Program) -> Vec<Vec<String>> {
    let shown =
        |transition: &Transition| format!("{} -> {}: {:?}", transition.from.0, transition.to.0, transition.instruction);
    program.threads.iter().map(|thread| thread.transitions.iter().map(shown).collect()).collect()
}
