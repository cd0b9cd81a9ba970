//! Fences for random programs: every set that is found serves its purpose, none of its fences can be left out, and no other set
//! is smaller or missing. The purpose is judged by the reference semantics: by enumerating all computations for robustness, by exploring
//! all states for safety. Programs with loops are judged by another engine.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::check_one;
use ravelin_analysis::Verdict;
use ravelin_analysis::fences::{
    CostBy, FenceQuestion, FenceSet, Offer, Sets, SynthesisOutcome, SynthesisPurpose, Weights, automaton_sites, fences,
    offers,
};
use ravelin_analysis::reachability::ReachEngine;
use ravelin_analysis::robustness::{self, RobustnessQuestion, race_freedom};
use ravelin_program::{
    Change, Expr, FenceStrength, Goal, GoalKind, Instruction, Lowering, Model, Observable, Order, OrderSlot, Program,
    RegId, Site, Span, ThreadId, ThreadTransition, TransitionId, repaired,
};
use ravelin_semantics::operational::Reference;
use ravelin_semantics::trace::find_violation;
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::seeds;

const MOST_CONFIGURATIONS: usize = 50_000;
/// Programs with more offers have too many sets to try them all.
const MOST_OFFERS: usize = 9;

/// What is asked.
#[derive(Clone, Copy)]
struct Case {
    model: Model,
    purpose: SynthesisPurpose,
    sites: fn(&Program) -> Vec<Site>,
    weights: Weights,
    lower: Lowering,
}

/// Whether a program serves the purpose; `None` if that is too much to find out.
fn judge(program: &Program, case: Case) -> Option<bool> {
    match case.purpose {
        // The computations of a loop cannot be listed; the engine that asks about all attacks at once is another way to the answer.
        SynthesisPurpose::Robust if !program.is_acyclic() => {
            let question = RobustnessQuestion {
                engine: robustness::RobustnessEngine::Single,
                ..RobustnessQuestion::new(case.model)
            };
            Some(robustness::robustness(program, &question).ok()?.verdict == Verdict::Holds)
        }
        SynthesisPurpose::Robust => {
            let reference = Reference::new(program, case.model, None).ok()?;
            Some(find_violation(&reference, MOST_CONFIGURATIONS).ok()?.is_none())
        }
        SynthesisPurpose::RaceFree => {
            let answer = race_freedom(program, &RobustnessQuestion::new(Model::Tso)).ok()?;
            Some(answer.verdict == Verdict::Holds)
        }
        SynthesisPurpose::Safe(_) => is_safe(program, case.model),
    }
}

fn is_safe(program: &Program, model: Model) -> Option<bool> {
    let reference = Reference::new(program, model, None).ok()?;
    let explored = reference.explore(MOST_CONFIGURATIONS).ok()?;
    let wrong =
        !explored.violated_goals.is_empty() || !explored.failed_asserts.is_empty() || !explored.faults.is_empty();
    if wrong || explored.complete { Some(!wrong) } else { None }
}

/// What is wrong, if anything.
fn disagreement(program: &Program, case: Case) -> Option<String> {
    check(program, case).err().flatten()
}

/// How many minimal sets there are, or what is wrong; `Err(None)` if the program is too large to try everything.
fn check(program: &Program, case: Case) -> Result<usize, Option<String>> {
    let sites = (case.sites)(program);
    let all: Vec<usize> = (0..sites.len()).collect();
    let offers = offers(program, &sites, &all, &CostBy::Size, case.weights);
    if offers.len() > MOST_OFFERS {
        return Err(None);
    }
    let program = &case.lower.lowered(program, &sites);
    // Which sets serve the purpose, by bits of offers.
    let mut serves = Vec::with_capacity(1 << offers.len());
    for bits in 0..1usize << offers.len() {
        let below = (0..offers.len()).filter(|offer| bits >> offer & 1 == 1).any(|offer| serves[bits & !(1 << offer)]);
        serves.push(below || judge(&repaired(program, &sites, &choices(bits, &offers)), case).ok_or(None)?);
    }
    let ask = |sets: Sets, first_share: u64| {
        let ask = || {
            let question = FenceQuestion { sets, first_share, ..FenceQuestion::new(case.model, case.purpose) };
            fences(program, &sites, &offers, &question)
        };
        match std::panic::catch_unwind(ask) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Some(error.to_string())),
            Err(_) => Err(Some("a panic".to_owned())),
        }
    };
    let answer = ask(Sets::AllMinimal, FenceQuestion::new(case.model, case.purpose).first_share)?;
    let minimal: Vec<usize> = (0..serves.len())
        .filter(|&bits| serves[bits] && !(0..offers.len()).any(|o| bits >> o & 1 == 1 && serves[bits & !(1 << o)]))
        .collect();
    // A full fence where a store-store fence does is not minimal either.
    let weaker = |full: usize| {
        let is_weak = |offer: &Offer| offer.site == offers[full].site && offer.strength < offers[full].strength;
        offers.iter().position(is_weak)
    };
    let is_weakest = |&bits: &usize| {
        !(0..offers.len())
            .filter(|offer| bits >> offer & 1 == 1)
            .any(|full| weaker(full).is_some_and(|weak| serves[bits & !(1 << full) | 1 << weak]))
    };
    let minimal: Vec<usize> = minimal.into_iter().filter(is_weakest).collect();
    let mut found: Vec<usize> = answer.sets.iter().map(|set| set.offers.iter().map(|offer| 1 << offer).sum()).collect();
    found.sort_unstable();
    let expected = match answer.outcome {
        SynthesisOutcome::NotNeeded => minimal == [0] && found.is_empty(),
        SynthesisOutcome::Found => minimal == found && minimal != [0],
        SynthesisOutcome::WrongUnderSc(_) => minimal.is_empty() && is_safe(program, Model::Sc) == Some(false),
        SynthesisOutcome::NoSet(_) => minimal.is_empty(),
        // Robustness against PSO is not always decided.
        SynthesisOutcome::Unknown(_) => case.model == Model::Pso && case.purpose == SynthesisPurpose::Robust,
    };
    if !expected {
        return Err(Some(format!("{:?}: found {found:?}, expected {minimal:?} of {offers:?}", answer.outcome)));
    }
    if !answer.sets.is_sorted_by_key(|set: &FenceSet| set.cost) {
        return Err(Some("the sets are not sorted by cost".to_owned()));
    }
    // With shares so small that every query is cut and asked again, and with the set that needs no search.
    let cut = ask(Sets::AllMinimal, 1)?;
    let mut again: Vec<usize> = cut.sets.iter().map(|set| set.offers.iter().map(|offer| 1 << offer).sum()).collect();
    again.sort_unstable();
    if again != found || std::mem::discriminant(&cut.outcome) != std::mem::discriminant(&answer.outcome) {
        return Err(Some(format!(
            "with small shares {:?} {again:?}, else {:?} {found:?}",
            cut.outcome, answer.outcome
        )));
    }
    let one = ask(Sets::Cheapest, 1)?;
    let bits = one.sets.first().map(|set| set.offers.iter().map(|offer| 1 << offer).sum::<usize>());
    if one.sets.first().map(|set| set.cost) != answer.sets.first().map(|set| set.cost)
        || bits.is_some_and(|bits| !serves[bits])
    {
        return Err(Some(format!("one of the cheapest is {:?} of {:?}", one.sets, answer.sets)));
    }
    Ok(found.len())
}

fn choices(bits: usize, offers: &[Offer]) -> Vec<(usize, FenceStrength)> {
    let taken = offers.iter().enumerate().filter(|(number, _)| bits >> number & 1 == 1);
    // Where both kinds of fence are taken, the full one is meant.
    let mut choices: Vec<(usize, FenceStrength)> = taken.map(|(_, offer)| (offer.site, offer.strength)).collect();
    choices.sort_by_key(|&(site, strength)| (site, std::cmp::Reverse(strength)));
    choices.dedup_by_key(|(site, _)| *site);
    choices
}

/// Stores that become locked exchanges.
fn stores(program: &Program) -> Vec<Site> {
    sites_at(program, Change::Lock, |instruction| {
        matches!(instruction, Instruction::Store { .. } | Instruction::Unlock(_))
    })
}

/// Stores and fences that are there may be weaker.
fn written(program: &Program) -> Vec<Site> {
    let mut sites = sites_at(program, Change::Keep, |instruction| {
        matches!(instruction, Instruction::Fence(Order::SeqCst | Order::Release | Order::AcqRel))
    });
    sites.extend(sites_at(program, Change::Order(OrderSlot::Main), |instruction| {
        matches!(instruction, Instruction::Store { order: Order::Release | Order::SeqCst, .. })
    }));
    sites
}

/// The same, and full fences may come.
fn written_and_locations(program: &Program) -> Vec<Site> {
    let mut sites = written(program);
    sites.retain(|site| site.change != Change::Keep);
    sites.extend(automaton_sites(program).into_iter().step_by(2));
    sites
}

/// Fences that are there may go, and others may come.
fn fences_and_locations(program: &Program) -> Vec<Site> {
    let mut sites = sites_at(program, Change::Keep, |instruction| matches!(instruction, Instruction::Fence(_)));
    sites.extend(automaton_sites(program).into_iter().step_by(2));
    sites
}

fn sites_at(program: &Program, change: Change, is: fn(&Instruction) -> bool) -> Vec<Site> {
    let mut sites = Vec::new();
    for (number, thread) in program.threads.iter().enumerate() {
        for (id, transition) in thread.transitions.iter().enumerate() {
            if is(&transition.instruction) {
                let edge = ThreadTransition { thread: ThreadId(number), transition: TransitionId(id) };
                sites.push(Site { name: format!("{number}:{id}"), change, edges: vec![edge], position: None });
            }
        }
    }
    sites
}

/// Few instructions, so that all sets of fences can be tried. What faults or fails does so under SC already, mostly.
fn small() -> Config {
    let mut config = Config {
        threads: 2..=3,
        instructions: 2..=3,
        total_instructions: 7,
        variables: 2..=2,
        domains: false,
        arrays: false,
        computed_addresses: false,
        ..Config::loop_free()
    };
    config.kinds.retain(|(kind, _)| *kind != InstructionKind::Assert);
    config
}

/// With two kinds of fences there are twice as many offers.
fn smaller() -> Config {
    Config { threads: 2..=2, instructions: 2..=2, total_instructions: 4, ..small() }
}

/// The program with a goal that only the weak model violates, if there is such a thing.
fn with_weak_goal(mut program: Program, model: Model, seed: u64) -> Option<Program> {
    let finals = |model| {
        let explored = Reference::new(&program, model, None).ok()?.explore(MOST_CONFIGURATIONS).ok()?;
        explored.complete.then_some(explored.finals)
    };
    let (sc, weak) = (finals(Model::Sc)?, finals(model)?);
    let weak: Vec<_> = weak.difference(&sc).collect();
    let state = weak.get(seed as usize % weak.len().max(1))?;
    let is = |atom, value| Expr::Atom(atom).eq(Expr::Const(value));
    let mut condition = Expr::Const(1);
    for (thread, local) in state.threads.iter().enumerate() {
        for (register, value) in local.registers.iter().enumerate() {
            condition = condition.and(is(Observable::Register(ThreadId(thread), RegId(register)), *value));
        }
    }
    for (address, value) in &state.memory {
        condition = condition.and(is(Observable::Memory(*address), *value));
    }
    program.goals = vec![Goal { kind: GoalKind::NeverFinally, condition, span: Span::NOWHERE }];
    Some(program)
}

/// At least one of fifty programs must need fences, or this shows little.
fn compare(case: Case, config: Config, programs: u64) {
    let generator = Generator::new(config);
    let (mut fenced, mut several) = (0, 0);
    for seed in seeds(programs) {
        let mut program = generator.program(seed);
        if let SynthesisPurpose::Safe(_) = case.purpose
            && let Some(weak) = with_weak_goal(case.lower.lowered(&program, &(case.sites)(&program)), case.model, seed)
        {
            program.goals = weak.goals;
        }
        match check(&program, case) {
            Err(Some(_)) => check_one(seed, &program, |program| disagreement(program, case)),
            Err(None) => {}
            Ok(sets) => {
                fenced += u64::from(sets > 0);
                several += u64::from(sets > 1);
            }
        }
    }
    println!("{fenced} of {programs} programs need fences, {several} have a choice");
    if ravelin_testing::is_default_run() {
        assert!(fenced * 50 >= programs, "only {fenced} of {programs} programs need fences");
    }
}

const ROBUST: Case = Case {
    model: Model::Tso,
    purpose: SynthesisPurpose::Robust,
    sites: automaton_sites,
    weights: Weights::FULL_ONLY,
    lower: Lowering::Nothing,
};
const SAFE: Case = Case { purpose: SynthesisPurpose::Safe(ReachEngine::Bounded), ..ROBUST };
const TWO_KINDS: Weights = Weights { full: 2, store_store: Some(1) };

#[test]
fn robust_against_tso() {
    compare(ROBUST, small(), 600);
}

#[test]
fn robust_against_tso_with_loops() {
    compare(ROBUST, Config { loops: true, branches: true, ..small() }, 600);
}

#[test]
fn free_of_triangular_races() {
    compare(Case { purpose: SynthesisPurpose::RaceFree, ..ROBUST }, small(), 600);
}

#[test]
fn safe_under_tso() {
    compare(SAFE, small(), 600);
}

#[test]
fn safe_under_tso_by_any_engine() {
    compare(Case { purpose: SynthesisPurpose::Safe(ReachEngine::Auto), ..ROBUST }, small(), 300);
}

#[test]
fn safe_under_pso_with_two_kinds_of_fences() {
    compare(Case { model: Model::Pso, weights: TWO_KINDS, ..SAFE }, smaller(), 1_000);
}

#[test]
fn robust_against_pso_where_it_is_decided() {
    compare(Case { model: Model::Pso, weights: TWO_KINDS, ..ROBUST }, smaller(), 1_000);
}

#[test]
fn locked_stores() {
    compare(Case { sites: stores, ..ROBUST }, small(), 600);
    compare(Case { sites: stores, ..SAFE }, small(), 600);
}

#[test]
fn fences_that_stand_there_are_kept_only_if_needed() {
    compare(Case { sites: fences_and_locations, ..ROBUST }, small(), 600);
    // Of programs with everything in them, few have a weak state that a fence in the right place forbids.
    let kinds = vec![
        (InstructionKind::Load, 4),
        (InstructionKind::Store, 4),
        (InstructionKind::Fence, 1),
        (InstructionKind::Rmw, 1),
    ];
    compare(Case { sites: fences_and_locations, ..SAFE }, Config { kinds, ..small() }, 600);
}

/// Stores that are seq_cst or release, and many fences.
fn strong() -> Config {
    let mut config = Config { orders: vec![Order::Release, Order::SeqCst, Order::SeqCst], ..small() };
    config.kinds.push((InstructionKind::Fence, 2));
    config.kinds.push((InstructionKind::Store, 4));
    config
}

#[test]
fn weaker_stores_and_fences_against_tso() {
    let lower = Lowering::SeqCstStores;
    compare(Case { sites: written, lower, ..ROBUST }, strong(), 600);
    compare(Case { sites: written_and_locations, lower, ..ROBUST }, strong(), 300);
    compare(Case { sites: written, lower, purpose: SynthesisPurpose::RaceFree, ..ROBUST }, strong(), 300);
    compare(Case { sites: written, lower, ..SAFE }, strong(), 600);
}

#[test]
fn weaker_stores_and_fences_against_pso() {
    let case = Case { model: Model::Pso, weights: TWO_KINDS, sites: written, lower: Lowering::Stores, ..ROBUST };
    compare(case, strong(), 600);
    compare(Case { purpose: SAFE.purpose, ..case }, strong(), 600);
}
