//! Stronger and weaker orders and fences for random programs: every set that is found makes the program robust, or safe, none of its changes
//! can be left out or be weaker, and no other set is cheaper or missing. All choices are judged by the enumeration of execution graphs.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{check_one, without_faulting_domains, without_seq_cst_accesses};
use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Weights, StrengthenQuestion, c11_offers, order_sites, strengthen};
use ravelin_analysis::fences::{CostBy, FenceSet, Offer, Sets, SynthesisOutcome, automaton_sites};
use ravelin_analysis::reachability::{ReachabilityQuestion, reach};
use ravelin_program::{
    BinaryOp, Change, Condition, Expr, FenceStrength, Goal, GoalKind, Instruction, Lowering, Model, Observable, Order,
    Program, RegId, Site, Span, ThreadId, ThreadTransition, TransitionId, repaired,
};
use ravelin_semantics::rc20::{Execution, GraphLimits, OrderReading, enumerate, robust, sc_consistent, violated_goals};
use ravelin_testing::Random;
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::seeds;

const LIMITS: GraphLimits = GraphLimits { executions: 1_000, states: 1_000, values: 100 };
/// More are too many to try them all.
const MOST_CHOICES: usize = 80;

/// What is asked.
#[derive(Clone, Copy)]
struct Case {
    model: Model,
    sites: fn(&Program) -> Vec<Site>,
    weights: C11Weights,
    lower: Lowering,
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
    /// As `Robust` with seq_cst accesses, likewise.
    RobustOrOpen,
}

impl Case {
    fn reading(self) -> OrderReading {
        if self.model == Model::Ra { OrderReading::ReleaseAcquire } else { OrderReading::Written }
    }
}

/// The purpose is served; `None` if that is too much to find out.
fn judge(program: &Program, case: Case) -> Option<bool> {
    match case.purpose {
        Purpose::Robust | Purpose::RobustOrOpen => is_robust(program, case.reading()),
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

/// By site what is chosen there.
type Choice = Vec<Option<FenceStrength>>;

/// The number of minimal sets and of changes in the largest of them, or what is wrong; `Err(None)` if the program is too large.
fn check(program: &Program, case: Case, seed: u64) -> Result<(usize, usize), Option<String>> {
    let mut sites = (case.sites)(program);
    let offers_at = |sites: &[Site]| {
        let all: Vec<usize> = (0..sites.len()).collect();
        c11_offers(program, sites, &all, &CostBy::Size, case.weights, case.model, case.lower)
    };
    // Any part of the sites is as good as all of them: elsewhere all stays as it is.
    let mut random = Random::new(seed);
    while choices(&sites, &offers_at(&sites)) > MOST_CHOICES {
        sites.remove(random.below(sites.len()));
    }
    let offers = offers_at(&sites);
    let base = case.lower.lowered(program, &sites);
    let made = |choice: &Choice| {
        let chosen = choice.iter().enumerate().filter_map(|(site, strength)| Some((site, (*strength)?)));
        repaired(&base, &sites, &chosen.collect::<Vec<_>>())
    };
    // A choice that is as strong as one that is enough is enough. That is what the clauses stand on, so it is not always taken for granted.
    let doubtful = seed.is_multiple_of(8);
    let mut serving: Vec<Choice> = Vec::new();
    for choice in all_choices(&sites, &offers) {
        let above = serving.iter().any(|less| is_at_least(&choice, less));
        if above && !doubtful {
            serving.push(choice);
            continue;
        }
        let fine = judge(&made(&choice), case).ok_or(None)?;
        if above && !fine {
            return Err(Some(format!("{choice:?} is not enough, although less is, of {offers:?}")));
        }
        if fine {
            serving.push(choice);
        }
    }
    let is_minimal = |choice: &&Choice| !serving.iter().any(|less| less != *choice && is_at_least(choice, less));
    let mut minimal: Vec<Choice> = serving.iter().filter(is_minimal).cloned().collect();
    minimal.sort_unstable();
    let cost = |choice: &Choice| -> u64 {
        let taken = offers.iter().filter(|offer| choice[offer.site] == Some(offer.strength));
        taken.map(|offer| offer.cost.main).sum()
    };
    let least = minimal.iter().map(cost).min();
    let cheapest: Vec<Choice> = minimal.iter().filter(|choice| Some(cost(choice)) == least).cloned().collect();
    let nothing = vec![vec![None; sites.len()]];
    let is_about_goals = !matches!(case.purpose, Purpose::Robust | Purpose::RobustOrOpen);
    let wrong_under_sc = is_about_goals
        && reach(&base, &ReachabilityQuestion::new(Model::Sc)).map_err(|_| None)?.verdict == Verdict::Violated;
    for sets in [Sets::AllMinimal, Sets::AllCheapest, Sets::Cheapest] {
        let question = match is_about_goals {
            false => StrengthenQuestion::robust(case.model),
            true => StrengthenQuestion::safe(case.model),
        };
        let question = StrengthenQuestion { sets, ..question };
        let ask = || strengthen(&base, &sites, &offers, &question);
        let answer = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)) {
            Ok(Ok(answer)) => answer.found,
            // What a monitor does not take is said, and no question of repair.
            Ok(Err(ravelin_analysis::AnalysisError::NotC11(_))) => return Err(None),
            Ok(Err(error)) => return Err(Some(error.to_string())),
            Err(_) => return Err(Some("a panic".to_owned())),
        };
        let choice_of = |set: &FenceSet| {
            let mut choice: Choice = vec![None; sites.len()];
            set.choices(&offers).into_iter().for_each(|(site, strength)| choice[site] = Some(strength));
            choice
        };
        let mut found: Vec<Choice> = answer.sets.iter().map(choice_of).collect();
        found.sort_unstable();
        let right = match sets {
            Sets::AllMinimal => found == minimal,
            Sets::AllCheapest => found == cheapest,
            Sets::Cheapest => found.len() == 1 && cheapest.contains(&found[0]),
        };
        let expected = match answer.outcome {
            SynthesisOutcome::NotNeeded => minimal == nothing && found.is_empty(),
            SynthesisOutcome::Found => right && minimal != nothing,
            SynthesisOutcome::NoSet(_) => minimal.is_empty() && found.is_empty() && !wrong_under_sc,
            SynthesisOutcome::WrongUnderSc(_) => minimal.is_empty() && found.is_empty() && wrong_under_sc,
            SynthesisOutcome::Unknown(_) if matches!(case.purpose, Purpose::SafeOrOpen | Purpose::RobustOrOpen) => {
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
    let changes = minimal.iter().map(|choice| choice.iter().flatten().count()).max().unwrap_or(0);
    Ok((if minimal == nothing { 0 } else { minimal.len() }, changes))
}

/// How many choices there are.
fn choices(sites: &[Site], offers: &[Offer]) -> usize {
    let kinds = |site: usize| 1 + offers.iter().filter(|offer| offer.site == site).count();
    (0..sites.len()).map(kinds).fold(1, usize::saturating_mul)
}

/// All of them, each behind those that are weaker.
fn all_choices(sites: &[Site], offers: &[Offer]) -> Vec<Choice> {
    let mut all: Vec<Choice> = vec![Vec::new()];
    for site in 0..sites.len() {
        let mut kinds: Vec<Option<FenceStrength>> = vec![None];
        kinds.extend(offers.iter().filter(|offer| offer.site == site).map(|offer| Some(offer.strength)));
        let one_more = |choice: &Choice| -> Vec<Choice> {
            kinds.iter().map(|&kind| choice.iter().copied().chain([kind]).collect()).collect()
        };
        all = all.iter().flat_map(one_more).collect();
    }
    let rank = |kind: &Option<FenceStrength>| match kind {
        None => 0,
        Some(FenceStrength::Acquire | FenceStrength::StoreStore) => 1,
        Some(FenceStrength::AcqRel) => 2,
        Some(FenceStrength::Full) => 3,
    };
    all.sort_by_key(|choice| choice.iter().map(rank).sum::<u32>());
    all
}

/// Everywhere as strong.
fn is_at_least(strong: &Choice, weak: &Choice) -> bool {
    strong.iter().zip(weak).all(|(strong, weak)| match (strong, weak) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(strong), Some(weak)) => strong.is_at_least(*weak),
    })
}

/// Most random goals are violated under SC or not at all. This adds one that forbids a final state that the model has and SC does not have, if there
/// is one with all that may be weaker so; in every fourth program the goals are left as they are.
fn with_weak_goal(mut program: Program, case: Case, seed: u64) -> Program {
    if case.purpose != Purpose::SafeOnTheWay {
        program.goals.retain(Goal::is_final);
    }
    if seed.is_multiple_of(4) {
        return program;
    }
    let base = case.lower.lowered(&program, &(case.sites)(&program));
    let Ok(all) = enumerate(&base, case.reading(), LIMITS) else { return program };
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
    sites.extend(orders(program));
    sites
}

fn orders(program: &Program) -> Vec<Site> {
    order_sites(program, Lowering::Nothing)
}

/// Fences that are there may go, and others may come.
fn existing(program: &Program) -> Vec<Site> {
    let mut sites = orders_and_fences(program);
    sites.extend(kept(program));
    sites
}

/// What is there may be weaker, and nothing else may come.
fn written(program: &Program) -> Vec<Site> {
    let mut sites = order_sites(program, Lowering::Accesses);
    sites.extend(kept(program));
    sites
}

/// What is there may be weaker, and others may come.
fn written_and_fences(program: &Program) -> Vec<Site> {
    let mut sites = fences(program);
    sites.extend(written(program));
    sites
}

fn kept(program: &Program) -> Vec<Site> {
    let mut sites = Vec::new();
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
            Purpose::SafeOrOpen | Purpose::RobustOrOpen => without_faulting_domains(generator.program(seed)),
            _ => plain(generator.program(seed)),
        };
        let program = match case.purpose {
            Purpose::Robust | Purpose::RobustOrOpen => program,
            _ => with_weak_goal(program, case, seed),
        };
        match check(&program, case, seed) {
            Err(Some(_)) => check_one(seed, &program, |program| disagreement(program, case, seed)),
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
    lower: Lowering::Nothing,
    purpose: Purpose::Robust,
};

/// Everything that is written may be weaker.
const RELAXED: Case = Case { sites: written, lower: Lowering::Accesses, ..RC20 };

/// Few events, none of them relaxed, so that there is much to weaken.
fn strong() -> Config {
    use Order::{AcqRel, Acquire, Release, SeqCst};
    // Most data races are there whatever the orders are, so that few programs with non-atomic accesses tell something.
    let orders = vec![Acquire, Release, AcqRel, SeqCst, SeqCst];
    let mut config = Config { orders, non_atomic: false, max_events: 7, total_instructions: 7, ..small() };
    config.kinds.push((InstructionKind::Fence, 3));
    config.kinds.push((InstructionKind::Rmw, 1));
    config.kinds.push((InstructionKind::CompareExchange, 1));
    config
}

#[test]
fn weaker_orders_and_fences_against_rc20() {
    compare(RELAXED, strong(), 150);
}

#[test]
fn weaker_orders_around_data_that_are_not_atomic() {
    compare(Case { purpose: Purpose::RobustOrOpen, ..RELAXED }, Config { non_atomic: true, ..strong() }, 300);
}

#[test]
fn weaker_orders_and_new_fences_against_rc20() {
    compare(Case { sites: written_and_fences, ..RELAXED }, strong(), 100);
}

#[test]
fn weaker_orders_of_seq_cst_accesses_against_rc20() {
    compare(Case { purpose: Purpose::RobustOrOpen, ..RELAXED }, strong(), 150);
}

#[test]
fn weaker_orders_and_fences_that_keep_goals_under_rc20() {
    compare(Case { purpose: Purpose::Safe, ..RELAXED }, strong(), 150);
}

#[test]
fn weaker_orders_of_seq_cst_accesses_that_keep_goals_under_rc20() {
    compare(Case { purpose: Purpose::SafeOrOpen, ..RELAXED }, strong(), 150);
}

#[test]
fn orders_and_seq_cst_fences_against_rc20() {
    compare(RC20, small(), 100);
}

#[test]
fn orders_alone_against_rc20() {
    compare(Case { sites: orders, ..RC20 }, Config { max_events: 7, non_atomic: false, ..small() }, 100);
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
    compare(Case { sites: orders, purpose: Purpose::Safe, ..RC20 }, config, 150);
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
