//! Stronger orders and fences for random programs: every set that is found makes the program robust, or safe, none of its changes can be left
//! out, and no other set is cheaper or missing. All sets of offers are judged by the enumeration of execution graphs.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{without_faulting_domains, without_seq_cst_accesses};
use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Weights, StrengthenQuestion, c11_offers, order_sites, strengthen};
use ravelin_analysis::fences::{CostBy, FenceSet, Offer, Sets, SynthesisOutcome, automaton_sites};
use ravelin_analysis::reachability::{ReachabilityQuestion, reach};
use ravelin_program::{
    BinaryOp, Change, Condition, Expr, Goal, GoalKind, Instruction, Model, Observable, Order, Program, RegId, Site,
    Span, ThreadId, ThreadTransition, TransitionId, repaired,
};
use ravelin_semantics::generate::{Config, Generator, InstructionKind, shrink};
use ravelin_semantics::rc20::{Execution, GraphLimits, OrderReading, enumerate, robust, sc_consistent, violated_goals};
use ravelin_testing::seeds;

const LIMITS: GraphLimits = GraphLimits { executions: 1_000, states: 1_000, values: 100 };
/// More have too many sets to try them all.
const MOST_OFFERS: usize = 6;

/// What is asked.
#[derive(Clone, Copy)]
struct Case {
    model: Model,
    sites: fn(&Program) -> Vec<Site>,
    weights: C11Weights,
    purpose: Purpose,
}

/// What the changes are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Robust,
    /// Goals about final states, assertions and faults.
    Safe,
    /// Goals about every state.
    SafeOnTheWay,
    /// As `Safe` with seq_cst accesses, about which an answer may be unknown.
    SafeOrOpen,
}

impl Case {
    fn reading(self) -> OrderReading {
        if self.model == Model::Ra { OrderReading::ReleaseAcquire } else { OrderReading::Written }
    }
}

/// The purpose is served; `None` if that is too much to find out.
fn judge(program: &Program, case: Case) -> Option<bool> {
    match case.purpose {
        Purpose::Robust => is_robust(program, case.reading()),
        Purpose::Safe | Purpose::SafeOnTheWay | Purpose::SafeOrOpen => is_safe(program, case.reading()),
    }
}

/// No graph violates a goal, and no execution fails.
fn is_safe(program: &Program, reading: OrderReading) -> Option<bool> {
    let goals = violated_goals(program, reading, LIMITS).ok()?;
    Some(goals.is_empty() && enumerate(program, reading, LIMITS).ok()?.failures().is_empty())
}

/// Robust and without races.
fn is_robust(program: &Program, reading: OrderReading) -> Option<bool> {
    if !robust(program, reading, LIMITS).ok()?.is_robust() {
        return Some(false);
    }
    // Without non-atomic accesses nothing races.
    let mut steps = program.threads.iter().flat_map(|thread| &thread.transitions);
    let non_atomic = |instruction: &Instruction| matches!(instruction, Instruction::Load { order, .. } | Instruction::Store { order, .. } if *order == Order::NonAtomic);
    if !steps.any(|step| non_atomic(&step.instruction)) {
        return Some(true);
    }
    Some(!enumerate(program, reading, LIMITS).ok()?.has_race(reading))
}

/// What is wrong, if anything.
fn disagreement(program: &Program, case: Case, seed: u64) -> Option<String> {
    check(program, case, seed).err().flatten()
}

/// The number of minimal sets and of changes in the largest of them, or what is wrong; `Err(None)` if the program is too large.
fn check(program: &Program, case: Case, seed: u64) -> Result<(usize, usize), Option<String>> {
    let sites = (case.sites)(program);
    let all: Vec<usize> = (0..sites.len()).collect();
    let mut offers = c11_offers(program, &sites, &all, &CostBy::Size, case.weights, case.model);
    // Any part of the offers is as good as all of them.
    let mut random = seed;
    while offers.len() > MOST_OFFERS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        offers.remove((random >> 33) as usize % offers.len());
    }
    // A set that holds one that is enough is enough. That is what the clauses stand on, so it is not always taken for granted.
    let doubtful = seed.is_multiple_of(8);
    let mut serves: Vec<bool> = Vec::with_capacity(1 << offers.len());
    for bits in 0..1usize << offers.len() {
        let below = (0..offers.len()).filter(|offer| bits >> offer & 1 == 1).any(|offer| serves[bits & !(1 << offer)]);
        if below && !doubtful {
            serves.push(true);
            continue;
        }
        let fine = judge(&made(program, &sites, &offers, bits), case).ok_or(None)?;
        if below && !fine {
            return Err(Some(format!("{bits:b} is not enough, although less is, of {offers:?}")));
        }
        serves.push(fine);
    }
    let minimal: Vec<usize> = (0..serves.len())
        .filter(|&bits| serves[bits] && !(0..offers.len()).any(|o| bits >> o & 1 == 1 && serves[bits & !(1 << o)]))
        .collect();
    let cost = |bits: usize| -> u64 {
        offers.iter().enumerate().filter(|(offer, _)| bits >> offer & 1 == 1).map(|(_, offer)| offer.cost.main).sum()
    };
    let least = minimal.iter().map(|&bits| cost(bits)).min();
    let cheapest: Vec<usize> = minimal.iter().copied().filter(|&bits| Some(cost(bits)) == least).collect();
    let wrong_under_sc = case.purpose != Purpose::Robust
        && reach(program, &ReachabilityQuestion::new(Model::Sc)).map_err(|_| None)?.verdict == Verdict::Violated;
    for sets in [Sets::AllMinimal, Sets::AllCheapest, Sets::Cheapest] {
        let question = match case.purpose {
            Purpose::Robust => StrengthenQuestion::robust(case.model),
            _ => StrengthenQuestion::safe(case.model),
        };
        let question = StrengthenQuestion { sets, ..question };
        let ask = || strengthen(program, &sites, &offers, &question);
        let answer = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)) {
            Ok(Ok(answer)) => answer.found,
            // What a monitor does not take is said, and no question of repair.
            Ok(Err(ravelin_analysis::AnalysisError::NotC11(_))) => return Err(None),
            Ok(Err(error)) => return Err(Some(error.to_string())),
            Err(_) => return Err(Some("a panic".to_owned())),
        };
        let mut found: Vec<usize> =
            answer.sets.iter().map(|set| set.offers.iter().map(|offer| 1 << offer).sum()).collect();
        found.sort_unstable();
        let right = match sets {
            Sets::AllMinimal => found == minimal,
            Sets::AllCheapest => found == cheapest,
            Sets::Cheapest => found.len() == 1 && cheapest.contains(&found[0]),
        };
        let expected = match answer.outcome {
            SynthesisOutcome::NotNeeded => minimal == [0] && found.is_empty(),
            SynthesisOutcome::Found => right && minimal != [0],
            SynthesisOutcome::NoSet(_) => minimal.is_empty() && found.is_empty() && !wrong_under_sc,
            SynthesisOutcome::WrongUnderSc(_) => minimal.is_empty() && found.is_empty() && wrong_under_sc,
            SynthesisOutcome::Unknown(_) if case.purpose == Purpose::SafeOrOpen => {
                if found.iter().any(|set| !minimal.contains(set)) {
                    return Err(Some(format!("{sets:?}: found {found:?}, expected {minimal:?} of {offers:?}")));
                }
                return Err(None);
            }
            SynthesisOutcome::Unknown(_) => false,
        };
        if !expected {
            let outcome = answer.outcome;
            return Err(Some(format!("{sets:?}: found {found:?}, expected {minimal:?} of {offers:?}\n{outcome:?}")));
        }
        if !answer.sets.is_sorted_by_key(|set: &FenceSet| set.cost) {
            return Err(Some("the sets are not sorted by cost".to_owned()));
        }
    }
    let changes = minimal.iter().map(|bits| bits.count_ones() as usize).max().unwrap_or(0);
    Ok((if minimal == [0] { 0 } else { minimal.len() }, changes))
}

fn made(program: &Program, sites: &[Site], offers: &[Offer], bits: usize) -> Program {
    let taken = (0..offers.len()).filter(|offer| bits >> offer & 1 == 1).collect();
    let set = FenceSet { offers: taken, cost: Default::default() };
    repaired(program, sites, &set.choices(offers))
}

/// Most random goals are violated under SC or not at all. This adds one that forbids a final state that the model has and SC does not have, if there
/// is one; in every fourth program the goals are left as they are.
fn with_weak_goal(mut program: Program, case: Case, seed: u64) -> Program {
    if case.purpose != Purpose::SafeOnTheWay {
        program.goals.retain(Goal::is_final);
    }
    if seed.is_multiple_of(4) {
        return program;
    }
    let Ok(all) = enumerate(&program, case.reading(), LIMITS) else { return program };
    let complete: Vec<&Execution> = all.executions.iter().filter(|execution| execution.complete).collect();
    let sc = complete.iter().filter(|execution| sc_consistent(&execution.graph));
    let under_sc: Vec<_> = sc.map(|execution| execution.state(&program)).collect();
    let weak: Vec<_> = complete.iter().filter(|execution| !under_sc.contains(&execution.state(&program))).collect();
    let Some(execution) = (!weak.is_empty()).then(|| weak[seed as usize % weak.len()]) else { return program };
    let state = execution.state(&program);
    let is = |atom, value| Expr::binary(BinaryOp::Eq, Expr::Atom(atom), Expr::Const(value));
    let mut literals: Vec<Condition> = state.memory.iter().map(|(&cell, &v)| is(Observable::Memory(cell), v)).collect();
    for (number, values) in state.registers.iter().enumerate() {
        let (thread, location) = (ThreadId(number), execution.threads[number].location);
        let visible = values.iter().enumerate().filter(|(r, _)| !program.threads[number].registers[*r].hidden);
        literals.extend(visible.map(|(r, &v)| is(Observable::Register(thread, RegId(r)), v)));
        if case.purpose == Purpose::SafeOnTheWay {
            literals.push(Expr::Atom(Observable::At(thread, location)));
            let labels = &mut program.threads[number].locations[location.0].labels;
            if labels.is_empty() {
                labels.push(format!("l{}", location.0));
            }
        }
    }
    let condition = literals.into_iter().reduce(|all, one| Expr::binary(BinaryOp::And, all, one));
    let condition = condition.unwrap_or(Expr::Const(0));
    let kind = if case.purpose == Purpose::SafeOnTheWay { GoalKind::Never } else { GoalKind::NeverFinally };
    program.goals = vec![Goal { kind, condition, span: Span::NOWHERE }];
    program
}

/// As in `c11_random.rs`: what a seq_cst access means is a matter of reading, and faults make no events.
fn plain(program: Program) -> Program {
    without_faulting_domains(without_seq_cst_accesses(program))
}

/// Between two steps that are not local. Elsewhere they would only take the place of others, where not all can be tried.
fn fences(program: &Program) -> Vec<Site> {
    let between = |site: &Site| {
        site.edges.iter().any(|edge| {
            let thread = &program.threads[edge.thread.0];
            let step = &thread.transitions[edge.transition.0];
            !step.instruction.is_local() && thread.outgoing(step.to).any(|(_, next)| !next.instruction.is_local())
        })
    };
    automaton_sites(program).into_iter().filter(between).collect()
}

fn orders_and_fences(program: &Program) -> Vec<Site> {
    let mut sites = fences(program);
    sites.extend(order_sites(program));
    sites
}

/// Fences that are there may go, and others may come.
fn existing(program: &Program) -> Vec<Site> {
    let mut sites = orders_and_fences(program);
    for (number, thread) in program.threads.iter().enumerate() {
        for (id, transition) in thread.transitions.iter().enumerate() {
            if matches!(transition.instruction, Instruction::Fence(_)) {
                let edge = ThreadTransition { thread: ThreadId(number), transition: TransitionId(id) };
                sites.push(Site {
                    name: format!("{number}:{id}"),
                    change: Change::Keep,
                    edges: vec![edge],
                    position: None,
                });
            }
        }
    }
    sites
}

/// Few events, and most of them relaxed.
fn small() -> Config {
    use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    Config {
        threads: 2..=3,
        instructions: 2..=3,
        total_instructions: 6,
        max_events: 6,
        variables: 2..=2,
        arrays: false,
        domains: false,
        branches: false,
        kinds: vec![
            (InstructionKind::Load, 6),
            (InstructionKind::Store, 6),
            (InstructionKind::Rmw, 1),
            (InstructionKind::CompareExchange, 1),
            (InstructionKind::Wait, 1),
            (InstructionKind::BlockingCas, 1),
            (InstructionKind::Fence, 1),
        ],
        orders: vec![Relaxed, Relaxed, Relaxed, Acquire, Release, AcqRel, SeqCst],
        ..Config::c11()
    }
}

/// At least one of a hundred programs must need changes, or this shows little.
fn compare(case: Case, config: Config, programs: u64) {
    let generator = Generator::new(config);
    let (mut tried, mut changed, mut together, mut several) = (0, 0, 0, 0);
    for seed in seeds(programs) {
        let program = match case.purpose {
            Purpose::SafeOrOpen => without_faulting_domains(generator.program(seed)),
            _ => plain(generator.program(seed)),
        };
        let program = if case.purpose == Purpose::Robust { program } else { with_weak_goal(program, case, seed) };
        match check(&program, case, seed) {
            Err(Some(what)) => {
                let smaller = shrink(&program, &mut |program| disagreement(program, case, seed).is_some());
                let found = disagreement(&smaller, case, seed).unwrap_or(what);
                panic!("seed {seed}: {found}\n{}", ravelin_frontend::print::rav(&smaller));
            }
            Err(None) => {}
            Ok((sets, changes)) => {
                tried += 1;
                changed += u64::from(sets > 0);
                together += u64::from(changes > 1);
                several += u64::from(sets > 1);
            }
        }
    }
    println!(
        "of {tried} programs {changed} can be repaired, {together} by several changes together; {several} have a choice"
    );
    if ravelin_testing::is_default_run() {
        assert!(changed * 100 >= programs, "only {changed} of {programs} programs are repaired");
    }
}

const RC20: Case = Case {
    model: Model::Rc20,
    sites: orders_and_fences,
    weights: C11Weights { order: 1, seq_cst: 4, weak_fence: 2, weak_fences: false },
    purpose: Purpose::Robust,
};

#[test]
fn orders_and_seq_cst_fences_against_rc20() {
    compare(RC20, small(), 100);
}

#[test]
fn orders_alone_against_rc20() {
    compare(Case { sites: order_sites, ..RC20 }, Config { max_events: 7, non_atomic: false, ..small() }, 100);
}

#[test]
fn all_fences_against_rc20() {
    let weights = C11Weights { weak_fences: true, ..C11Weights::default() };
    compare(Case { sites: fences, weights, ..RC20 }, Config { max_events: 5, ..small() }, 100);
}

#[test]
fn fences_against_release_acquire() {
    compare(Case { model: Model::Ra, ..RC20 }, small(), 100);
}

#[test]
fn fences_that_stand_there_are_kept_only_if_needed() {
    let mut config = small();
    config.kinds.push((InstructionKind::Fence, 8));
    compare(Case { sites: existing, ..RC20 }, config, 100);
}

#[test]
fn orders_and_seq_cst_fences_that_keep_goals_under_rc20() {
    compare(Case { purpose: Purpose::Safe, ..RC20 }, small(), 150);
}

#[test]
fn orders_alone_that_keep_goals_under_rc20() {
    let config = Config { max_events: 7, non_atomic: false, goals: 1..=1, ..small() };
    compare(Case { sites: order_sites, purpose: Purpose::Safe, ..RC20 }, config, 150);
}

#[test]
fn all_fences_that_keep_goals_under_rc20() {
    let weights = C11Weights { weak_fences: true, ..C11Weights::default() };
    let case = Case { sites: fences, weights, purpose: Purpose::Safe, ..RC20 };
    compare(case, Config { max_events: 5, ..small() }, 150);
}

#[test]
fn fences_that_keep_goals_under_release_acquire() {
    compare(Case { model: Model::Ra, purpose: Purpose::Safe, ..RC20 }, small(), 150);
}

#[test]
fn fences_that_stand_there_are_kept_only_if_goals_need_them() {
    let mut config = small();
    config.kinds.push((InstructionKind::Fence, 8));
    compare(Case { sites: existing, purpose: Purpose::Safe, ..RC20 }, config, 150);
}

/// Assertions that fail because of what is read under the model only.
#[test]
fn orders_and_fences_that_keep_assertions_under_rc20() {
    let mut config = Config { goals: 0..=0, max_events: 6, domains: true, arrays: true, ..small() };
    config.kinds.push((InstructionKind::Assert, 4));
    compare(Case { purpose: Purpose::Safe, ..RC20 }, config, 400);
}

/// Goals about every state, in programs with branches.
#[test]
fn orders_and_fences_that_keep_goals_on_the_way() {
    let config = Config { branches: true, goals: 1..=2, ..small() };
    compare(Case { purpose: Purpose::SafeOnTheWay, ..RC20 }, config, 150);
}

/// With seq_cst accesses, of which `reach` may leave open what they allow.
#[test]
fn orders_and_fences_beside_seq_cst_accesses() {
    use Order::{Acquire, Relaxed, Release, SeqCst};
    let config = Config { orders: vec![Relaxed, Relaxed, Acquire, Release, SeqCst, SeqCst], ..small() };
    compare(Case { purpose: Purpose::SafeOrOpen, ..RC20 }, config, 200);
}
