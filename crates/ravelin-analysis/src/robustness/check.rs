//! The question: is a program robust against TSO or PSO? Attacks are listed, those that need no search are dismissed, the rest is
//! searched by the engine of choice, and every feasible one is shown by a witness that was replayed.
//!
//! By Theorem 1 of the paper a program is robust against TSO exactly if no attack is feasible: a violating computation with as few
//! delays as possible delays the stores of one thread only. For PSO that is not so (docs/robustness.md). If several threads can
//! delay what matters and none does harm alone, the monitor decides (`together.rs`), and shows its own computation.

use super::attack::{Attack, attacks_against, count_attacks};
use super::dismiss::{ProgramFacts, makes_delay_pointless};
use super::engines::AttackSearch;
use super::stale::StaleComputation;
use super::together::{Together, together};
use super::witness::AttackWitness;
use crate::parameterised::{AnyNumber, robust_for_any_number};
use crate::{AnalysisError, Verdict};
use ravelin_answer::InfeasibilityReason;
use ravelin_explore::{Budget, Limit, Watch};
use ravelin_machine::BuildError;
use ravelin_machine::attack::{FIRST_SHARE, HuntStatistics};
use ravelin_program::{HardwareProgram, Model, Program, ThreadId};
use std::time::{Duration, Instant};

/// Attacks that are listed. Each feasible one has a witness, which is large.
pub(crate) const MOST_ATTACKS: usize = 200_000;

/// How attacks are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RobustnessEngine {
    /// One SC space, shared by all attacks.
    #[default]
    Shared,
    /// One instrumented program an attack.
    Attacks,
    /// One instrumented program for all attacks.
    Single,
    /// The SC space with a monitor; attacks only to show a violation.
    Monitor,
}

impl RobustnessEngine {
    pub const ALL: [RobustnessEngine; 4] =
        [RobustnessEngine::Shared, RobustnessEngine::Attacks, RobustnessEngine::Single, RobustnessEngine::Monitor];

    pub fn name(self) -> &'static str {
        match self {
            RobustnessEngine::Shared => "shared",
            RobustnessEngine::Attacks => "attacks",
            RobustnessEngine::Single => "single",
            RobustnessEngine::Monitor => "monitor",
        }
    }
}

/// What is asked, and how hard to try.
#[derive(Clone, Copy)]
pub struct RobustnessQuestion<'a> {
    /// TSO or PSO.
    pub model: Model,
    pub engine: RobustnessEngine,
    /// Settle every attack, instead of stopping at the first feasible one.
    pub all: bool,
    /// How much each search of the engine `shared` may take before the others have their turn. Shares double.
    pub share: u64,
    pub budget: Budget<'a>,
}

impl RobustnessQuestion<'_> {
    pub fn new(model: Model) -> Self {
        RobustnessQuestion {
            model,
            engine: RobustnessEngine::Shared,
            all: false,
            share: FIRST_SHARE,
            budget: Budget::default(),
        }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct RobustnessAnswer {
    pub verdict: Verdict,
    pub model: Model,
    pub engine: RobustnessEngine,
    pub attacks: Vec<JudgedAttack>,
    /// A computation in which several threads delay stores, where none is known that does harm alone.
    pub together: Option<Box<AttackWitness>>,
    /// PSO: no thread can do harm by delaying stores alone, but more than one can delay some, and whether they can together is not known.
    pub one_delaying_thread: bool,
    /// The program is robust, because it is robust against this model.
    pub implied_by: Option<Model>,
    pub limit: Option<Limit>,
    pub explored: RobustnessEffort,
    /// The question was about any number of threads. If the answer is *not robust*, the attacks are those of an instance.
    pub any_number: Option<Box<AnyNumber>>,
}

/// An attack and what became of it.
#[derive(Clone, Debug)]
pub struct JudgedAttack {
    pub attack: Attack,
    pub fate: AttackFate,
}

#[derive(Clone, Debug)]
pub enum AttackFate {
    /// Infeasible, for a reason that needs no search.
    Dismissed(InfeasibilityReason),
    /// Infeasible: the search was exhaustive.
    Infeasible,
    Feasible(Box<AttackWitness>),
    /// Not settled: a limit was reached, or another attack is feasible and that is enough.
    Open,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RobustnessEffort {
    /// States of all searches.
    pub states: u64,
    /// Of these (engine `shared`): of the SC space, with and without a monitor, of attackers that delay stores, of helpers on their path.
    pub sc: u64,
    pub delaying: u64,
    pub helping: u64,
    pub bytes: u64,
    pub elapsed: Duration,
}

impl RobustnessEffort {
    pub(super) fn add(&mut self, settled: &HuntStatistics) {
        self.states += settled.sc_states + settled.delaying_states + settled.helping_states;
        self.sc += settled.sc_states;
        self.delaying += settled.delaying_states;
        self.helping += settled.helping_states;
        self.bytes = self.bytes.max(settled.bytes);
    }
}

impl RobustnessAnswer {
    /// The witness of the first feasible attack, or of threads that only together do harm.
    pub fn witness(&self) -> Option<&AttackWitness> {
        let feasible = self.attacks.iter().find_map(|attack| match &attack.fate {
            AttackFate::Feasible(witness) => Some(&**witness),
            _ => None,
        });
        feasible.or(self.together.as_deref())
    }

    /// How many attacks were dismissed for a reason.
    pub fn dismissed(&self, reason: InfeasibilityReason) -> usize {
        self.count(|fate| matches!(fate, AttackFate::Dismissed(because) if *because == reason))
    }

    pub fn count(&self, is: impl Fn(&AttackFate) -> bool) -> usize {
        self.attacks.iter().filter(|attack| is(&attack.fate)).count()
    }
}

/// Asks whether a program is robust.
pub fn robustness(program: &Program, question: &RobustnessQuestion) -> Result<RobustnessAnswer, AnalysisError> {
    let start = Instant::now();
    match judge(program, question) {
        Err(AnalysisError::Limit(limit)) => Ok(RobustnessAnswer {
            verdict: Verdict::Unknown,
            model: question.model,
            engine: question.engine,
            attacks: Vec::new(),
            together: None,
            one_delaying_thread: false,
            implied_by: None,
            limit: Some(question.budget.limits.as_given(limit)),
            explored: RobustnessEffort { elapsed: start.elapsed(), ..RobustnessEffort::default() },
            any_number: None,
        }),
        answer => answer,
    }
}

/// The answer about a program that is robust against a model that allows more ([`crate::implies`]): no attack is feasible.
pub fn implied_robustness(
    program: &Program,
    question: &RobustnessQuestion,
    by: Model,
) -> Result<RobustnessAnswer, AnalysisError> {
    let start = Instant::now();
    let attacks = match list_attacks(&HardwareProgram::new(program), question, start) {
        // The list is not what was asked for.
        Err(AnalysisError::Limit(_) | AnalysisError::TooManyAttacks { .. }) => Vec::new(),
        attacks => attacks?,
    };
    let settled = |mut judged: JudgedAttack| {
        if matches!(judged.fate, AttackFate::Open) {
            judged.fate = AttackFate::Dismissed(InfeasibilityReason::Implied);
        }
        judged
    };
    Ok(RobustnessAnswer {
        verdict: Verdict::Holds,
        model: question.model,
        engine: question.engine,
        attacks: attacks.into_iter().map(settled).collect(),
        together: None,
        one_delaying_thread: false,
        implied_by: Some(by),
        limit: None,
        explored: RobustnessEffort { elapsed: start.elapsed(), ..RobustnessEffort::default() },
        any_number: None,
    })
}

/// All attacks, those dismissed that need no search.
fn list_attacks(
    lowered: &HardwareProgram,
    question: &RobustnessQuestion,
    start: Instant,
) -> Result<Vec<JudgedAttack>, AnalysisError> {
    let count = count_attacks(lowered);
    if count > MOST_ATTACKS {
        return Err(AnalysisError::TooManyAttacks { count, limit: MOST_ATTACKS });
    }
    let watch = Watch::since(question.budget, "listing attacks", start);
    let mut facts = ProgramFacts::new(lowered, question.model, &watch)?;
    let mut judged: Vec<JudgedAttack> = Vec::new();
    for attack in attacks_against(question.model, lowered) {
        watch.hold(size_of::<JudgedAttack>() + size_of::<Attack>())?;
        let fate = facts.dismiss(attack)?.map_or(AttackFate::Open, AttackFate::Dismissed);
        judged.push(JudgedAttack { attack, fate });
    }
    Ok(judged)
}

/// The same; a limit that is hit before there are attacks to search is an error.
fn judge(program: &Program, question: &RobustnessQuestion) -> Result<RobustnessAnswer, AnalysisError> {
    if question.model.is_c11() {
        return Err(BuildError::NotHardware(question.model).into());
    }
    if program.is_parameterised() {
        return robust_for_any_number(program, question);
    }
    let start = Instant::now();
    let judged = list_attacks(&HardwareProgram::new(program), question, start)?;
    let mut search = AttackSearch::new(program, question, start, judged);
    search.run()?;
    let AttackSearch { judged: attacks, mut explored, limit, together: monitored, .. } = search;
    let feasible = attacks.iter().any(|judged| matches!(judged.fate, AttackFate::Feasible(_)));
    let open = attacks.iter().any(|judged| matches!(judged.fate, AttackFate::Open));
    let several_delay = question.model == Model::Pso && delaying_threads(&attacks) > 1;
    let together = match monitored {
        _ if feasible => Together::Harmless,
        Some(Together::Harmful(shown)) => Together::Harmful(shown),
        _ if open || !several_delay => Together::Harmless,
        Some(monitored) => monitored,
        None => together(program, question, start, &mut explored)?,
    };
    explored.elapsed = start.elapsed();
    let verdict = match (feasible, open, &together) {
        (true, ..) | (_, _, Together::Harmful(_)) => Verdict::Violated,
        (false, false, Together::Harmless) => Verdict::Holds,
        _ => Verdict::Unknown,
    };
    let limit = match together {
        Together::Limit(limit) => Some(limit),
        _ => limit.filter(|_| open),
    };
    let one_delaying_thread = matches!(together, Together::Open);
    let together = match together {
        Together::Harmful(StaleComputation { together, .. }) => Some(together),
        _ => None,
    };
    Ok(RobustnessAnswer {
        verdict,
        model: question.model,
        engine: question.engine,
        attacks,
        together,
        one_delaying_thread,
        implied_by: None,
        limit,
        explored,
        any_number: None,
    })
}

/// How many threads can delay a store in a way that may matter.
fn delaying_threads(attacks: &[JudgedAttack]) -> usize {
    let delays = |judged: &&JudgedAttack| match judged.fate {
        AttackFate::Dismissed(reason) => !makes_delay_pointless(reason),
        _ => true,
    };
    let mut threads: Vec<ThreadId> = attacks.iter().filter(delays).map(|judged| judged.attack.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads.len()
}
