//! The question: is a program robust against TSO or PSO? Attacks are listed, those that need no search are dismissed, the rest is
//! searched by the engine of choice, and every feasible one is shown by a witness that was replayed.
//!
//! By Theorem 1 of the paper a program is robust against TSO exactly if no attack is feasible: a violating computation with as few
//! delays as possible delays the stores of one thread only. For PSO that is not proved (docs/robustness.md), so the answer is
//! "holds" only if at most one thread can delay anything that matters; otherwise the search shows that no single thread can do harm by
//! delaying stores, and the answer is unknown.

use super::attack::{Attack, attacks_against, count_attacks};
use super::dismiss::{ProgramFacts, makes_delay_pointless};
use super::spread::{Share, ask_once_more, spread};
use super::witness::{self, AttackWitness};
use crate::parameterised::{AnyNumber, robust_for_any_number};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_answer::InfeasibilityReason;
use ravelin_explore::{Budget, Limit, Options, Until};
use ravelin_machine::BuildError;
use ravelin_machine::attack::{self as machine, AttackResult, AttackRun, Extent, Hunt, HuntStatistics, hunt, query};
use ravelin_program::{HardwareProgram, Model, Program, ThreadId};
use std::time::{Duration, Instant};

/// Attacks that are listed. Each feasible one has a witness, which is large.
const MOST_ATTACKS: usize = 200_000;
/// States of the first stage of the shared search after which it is taken not to end. Programs whose searches end take a few for each of
/// its thousand SC states.
const FIRST_STAGE: u64 = 1 << 18;
/// States that the search for a near attack may take then.
const NEAR: u64 = 1 << 18;

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
}

impl RobustnessEngine {
    pub const ALL: [RobustnessEngine; 3] =
        [RobustnessEngine::Shared, RobustnessEngine::Attacks, RobustnessEngine::Single];

    pub fn name(self) -> &'static str {
        match self {
            RobustnessEngine::Shared => "shared",
            RobustnessEngine::Attacks => "attacks",
            RobustnessEngine::Single => "single",
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
    pub budget: Budget<'a>,
}

impl RobustnessQuestion<'_> {
    pub fn new(model: Model) -> Self {
        RobustnessQuestion { model, engine: RobustnessEngine::Shared, all: false, budget: Budget::default() }
    }

    pub(super) fn options(&self) -> Options<'_> {
        Options { budget: self.budget, enough: None, until: Until::Exhausted }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct RobustnessAnswer {
    pub verdict: Verdict,
    pub model: Model,
    pub engine: RobustnessEngine,
    pub attacks: Vec<JudgedAttack>,
    /// PSO: no thread can do harm by delaying stores alone, but more than one can delay some, and that together they cannot is not proved.
    pub one_delaying_thread: bool,
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
    /// Of these (engine `shared`): of the SC space, of attackers that delay stores, of helpers on their path.
    pub sc: u64,
    pub delaying: u64,
    pub helping: u64,
    pub bytes: u64,
    pub elapsed: Duration,
}

impl RobustnessEffort {
    fn add(&mut self, settled: &HuntStatistics) {
        self.states += settled.sc_states + settled.delaying_states + settled.helping_states;
        self.sc += settled.sc_states;
        self.delaying += settled.delaying_states;
        self.helping += settled.helping_states;
        self.bytes = self.bytes.max(settled.bytes);
    }
}

impl RobustnessAnswer {
    /// The witness of the first feasible attack.
    pub fn witness(&self) -> Option<&AttackWitness> {
        self.attacks.iter().find_map(|attack| match &attack.fate {
            AttackFate::Feasible(witness) => Some(&**witness),
            _ => None,
        })
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
    if question.model.is_c11() {
        return Err(BuildError::NotHardware(question.model).into());
    }
    if program.is_parameterised() {
        return robust_for_any_number(program, question);
    }
    let start = Instant::now();
    let lowered = HardwareProgram::new(program);
    let count = count_attacks(&lowered);
    if count > MOST_ATTACKS {
        return Err(AnalysisError::TooManyAttacks { count, limit: MOST_ATTACKS });
    }
    let mut facts = ProgramFacts::new(&lowered);
    let mut judged: Vec<JudgedAttack> = attacks_against(question.model, &lowered)
        .into_iter()
        .map(|attack| {
            let fate = facts.dismiss(attack, question.model).map_or(AttackFate::Open, AttackFate::Dismissed);
            JudgedAttack { attack, fate }
        })
        .collect();
    let mut explored = RobustnessEffort::default();
    let open: Vec<usize> = (0..judged.len()).filter(|&index| matches!(judged[index].fate, AttackFate::Open)).collect();
    let attacks: Vec<Attack> = open.iter().map(|&index| judged[index].attack).collect();
    let mut limit = None;
    let mut settle = |number: usize, fate: AttackResult| -> Result<(), AnalysisError> {
        let judged = &mut judged[open[number]];
        judged.fate = match fate {
            AttackResult::Open => AttackFate::Open,
            AttackResult::Infeasible => AttackFate::Infeasible,
            AttackResult::Feasible(run) => {
                AttackFate::Feasible(feasible(program, question.model, judged.attack, &run)?)
            }
        };
        Ok(())
    };
    if !attacks.is_empty() {
        match question.engine {
            RobustnessEngine::Shared => {
                let extent = if question.all { Extent::All } else { Extent::First };
                let hunt = |first_stage, explored: &mut RobustnessEffort| {
                    let budget = question.budget.child(start, explored.states);
                    let options = Options { budget, ..question.options() };
                    let found = hunt(program, question.model, &attacks, extent, &options, first_stage);
                    let found = found?;
                    explored.add(&found.statistics);
                    Ok::<Hunt, AnalysisError>(found)
                };
                let mut found = hunt((!question.all).then_some(FIRST_STAGE), &mut explored)?;
                if found.endless {
                    found = match nearest(program, question, &attacks, start, &mut explored)? {
                        Some(near) => near,
                        None => hunt(None, &mut explored)?,
                    };
                }
                let Hunt { results, limit: reached, .. } = found;
                limit = reached.map(|reached| question.budget.limits.as_given(reached));
                let mut shown = false;
                for (number, result) in results.into_iter().enumerate() {
                    // Replaying takes its time too; one witness is worth it in any case.
                    let feasible = matches!(result, AttackResult::Feasible(_));
                    let late = question.budget.late(start).filter(|_| feasible && shown);
                    limit = limit.or(late);
                    settle(number, if late.is_some() { AttackResult::Open } else { result })?;
                    shown |= feasible;
                }
            }
            RobustnessEngine::Attacks => {
                let mut shown = false;
                let shares = spread(program, question, &attacks, start, &mut explored);
                let shares = shares.map_err(|lost| limit = Some(lost.into())).unwrap_or_default();
                // One that is known to be feasible is asked about before those that need more.
                let first = shares.iter().position(|&share| share == Share::Feasible).filter(|_| !question.all);
                let order = first.into_iter().chain((0..shares.len()).filter(|&number| Some(number) != first));
                for number in order {
                    let found =
                        ask_once_more(program, question, &attacks[number], shares[number], start, &mut explored);
                    let found = match found {
                        // A full disk must not lose what is found already; the others stay open.
                        Err(AnalysisError::Storage(_)) if shown => break,
                        found => found?,
                    };
                    let Some(found) = found else {
                        settle(number, AttackResult::Infeasible)?;
                        continue;
                    };
                    let feasible = found.found.is_some();
                    shown |= feasible;
                    let fate = match found {
                        machine::Query { found: Some((_, run)), .. } => AttackResult::Feasible(Box::new(run)),
                        machine::Query { limit: None, .. } => AttackResult::Infeasible,
                        machine::Query { limit: reached, .. } => {
                            limit = reached;
                            AttackResult::Open
                        }
                    };
                    settle(number, fate)?;
                    if feasible && !question.all || limit.is_some() {
                        break;
                    }
                }
            }
            RobustnessEngine::Single => {
                // One query says whether some attack is feasible. To settle all, the feasible ones are taken out one by one.
                let mut left: Vec<usize> = (0..attacks.len()).collect();
                while !left.is_empty() {
                    let these: Vec<Attack> = left.iter().map(|&number| attacks[number]).collect();
                    let found = match ask(program, question, &these, start, &mut explored) {
                        Err(AnalysisError::Storage(_)) if left.len() < attacks.len() => break,
                        found => found?,
                    };
                    match found.found {
                        Some((attack, run)) => {
                            let Some(place) = left.iter().position(|&number| attacks[number] == attack) else {
                                return Err(
                                    InternalError("an attack was found that was not asked for".to_owned()).into()
                                );
                            };
                            settle(left.remove(place), AttackResult::Feasible(Box::new(run)))?;
                            if !question.all {
                                break;
                            }
                        }
                        None => {
                            limit = found.limit;
                            if limit.is_none() {
                                for &number in &left {
                                    settle(number, AttackResult::Infeasible)?;
                                }
                            }
                            break;
                        }
                    }
                }
            }
        }
    }
    explored.elapsed = start.elapsed();
    let feasible = judged.iter().any(|judged| matches!(judged.fate, AttackFate::Feasible(_)));
    let open = judged.iter().any(|judged| matches!(judged.fate, AttackFate::Open));
    let several_delay = question.model == Model::Pso && delaying_threads(&judged) > 1;
    let verdict = match (feasible, open, several_delay) {
        (true, ..) => Verdict::Violated,
        (false, false, false) => Verdict::Holds,
        _ => Verdict::Unknown,
    };
    Ok(RobustnessAnswer {
        verdict,
        model: question.model,
        engine: question.engine,
        attacks: judged,
        one_delaying_thread: !feasible && !open && several_delay,
        limit: limit.filter(|_| open),
        explored,
        any_number: None,
    })
}

/// The nearest feasible attack, if it is near: breadth first over all attacks at once. For programs in which the search of one attack does
/// not end, so that the others would have to wait.
fn nearest(
    program: &Program,
    question: &RobustnessQuestion,
    attacks: &[Attack],
    start: Instant,
    explored: &mut RobustnessEffort,
) -> Result<Option<Hunt>, AnalysisError> {
    let budget = question.budget.at_most(explored.states.saturating_add(NEAR)).in_memory();
    let question = RobustnessQuestion { budget, ..*question };
    let Some((attack, run)) = ask(program, &question, attacks, start, explored)?.found else { return Ok(None) };
    let run = AttackResult::Feasible(Box::new(run));
    let results = attacks.iter().map(|&asked| if asked == attack { run.clone() } else { AttackResult::Open }).collect();
    Ok(Some(Hunt { results, limit: None, endless: false, statistics: HuntStatistics::default() }))
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

fn feasible(
    program: &Program,
    model: Model,
    attack: Attack,
    run: &AttackRun,
) -> Result<Box<AttackWitness>, AnalysisError> {
    Ok(Box::new(witness::build(program, model, attack, run)?))
}

/// One query of the instrumented program, within what is left of the limits.
pub(super) fn ask(
    program: &Program,
    question: &RobustnessQuestion,
    attacks: &[Attack],
    start: Instant,
    explored: &mut RobustnessEffort,
) -> Result<machine::Query, AnalysisError> {
    let options = Options { budget: question.budget.child(start, explored.states), ..question.options() };
    let mut found = query(program, question.model, attacks, &options)?;
    explored.states += found.statistics.states;
    explored.bytes = explored.bytes.max(found.statistics.bytes);
    found.limit = found.limit.map(|limit| question.budget.limits.as_given(limit));
    Ok(found)
}
