//! What accompanies answers of `check`: whether it matters that a program is not robust.
//!
//! A violation of robustness is an execution that sequential consistency does not have. Its grade says what that does to
//! the program. From the mildest, each claim is about *all* violations of the program:
//!
//! 1. *rejoins*: with loops that only wait rewritten to instructions that wait, the program is robust. So a stale value
//!    causes one more iteration of such a loop, and nothing else.
//! 2. *unobserved*: that program is observationally robust (Margalit and Lahav, POPL 2021). tso allows less than
//!    release/acquire, and pso less than RC20 with relaxed accesses, so a proof for these holds there as well.
//! 3. *goals hold* and *wrong*: reachability under the model says so.
//!
//! In the first two cases goals hold exactly if they hold under sc: a loop is not rewritten here if goals speak of
//! registers or places inside of it. A program that violates a goal, under the model or under sc, is *wrong*. The searches have limits of their own, so that an answer of `check` is not much slower for them. `--property safe` asks
//! without these about goals, and `--property observational` about values that are used.

use crate::answers;
use crate::error::Error;
use crate::program::Program;
use ravelin_analysis::AnalysisError;
use ravelin_analysis::c11::{C11Question, SpinLoop, c11_robustness, observational, with_waits};
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer as reach};
use ravelin_analysis::robustness::{RobustnessQuestion, robustness};
use ravelin_analysis::witness::Witness;
use ravelin_answer::{Answer, DeadlockVerdict, Grade, Impact, Property, Verdict};
use ravelin_explore::{Budget, Watch};
use ravelin_machine::may_stop;
use ravelin_program::{GoalKind, Instruction, Model, Position, SeqCstReading, ThreadId, TransitionId};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// States of each search, and time of all of them, unless the property is about what is searched for. The first takes less than a second,
/// and makes an answer independent of the machine; the second is for programs whose states are large.
const MOST_STATES: u64 = 20_000;
const MOST_TIME: Duration = Duration::from_secs(5);

/// The question that an answer is about.
#[derive(Clone, Copy)]
pub(crate) struct ImpactQuestion<'a> {
    pub program: &'a Program,
    pub model: Model,
    pub property: Property,
    pub races: bool,
    pub seq_cst: SeqCstReading,
    pub budget: Budget<'a>,
    pub start: Instant,
}

/// Adds whether it matters to an answer about robustness, within the rest of the budget, and the verdict on the property
/// that was asked about. Instances of a program with any number of threads are not examined.
pub(crate) fn add_impact(asked: &ImpactQuestion, answer: &mut Answer) -> Result<(), Error> {
    let ImpactQuestion { program, property, budget, start, .. } = *asked;
    // Of several processes that find the same answer, one reports it.
    let is_other = budget.storage.peers.is_some_and(|peers| peers.number() != 0);
    let is_spent = budget.spent(start, answer.states()).is_some();
    if property == Property::Robust && (program.is_parameterised() || is_other || is_spent) {
        return Ok(());
    }
    let robust = answer.verdict().unwrap_or(Verdict::Unknown);
    let has_race = matches!(answer, Answer::C11Robustness(answer) if answer.race.is_some());
    let mut assessment = Assessment { asked, states: answer.states(), begin: Instant::now(), mild: None };
    let found = match has_race || program.is_parameterised() || is_spent {
        true => Impact { robust, ..unsettled(program, robust) },
        false => assessment.impact(robust, answer)?,
    };
    let on_property = match property {
        Property::Robust | Property::Trf => robust,
        _ if has_race => Verdict::Violated,
        // Whether goals hold is another question.
        Property::Observational if robust == Verdict::Holds || assessment.mild.is_some() => Verdict::Holds,
        Property::Observational => Verdict::Unknown,
        Property::Safe => safe(&found, answer),
    };
    answer.set_impact(found, property, on_property);
    Ok(())
}

/// Goals and deadlocks under the model together.
fn safe(found: &Impact, answer: &Answer) -> Verdict {
    let deadlocks = answer.deadlocks().map_or(DeadlockVerdict::NotAsked, |deadlocks| deadlocks.model);
    match (found.model, deadlocks) {
        (Verdict::Violated, _) | (_, DeadlockVerdict::Found) => Verdict::Violated,
        (Verdict::Holds, DeadlockVerdict::None | DeadlockVerdict::NotAsked) => Verdict::Holds,
        _ => Verdict::Unknown,
    }
}

fn unsettled(program: &Program, robust: Verdict) -> Impact {
    Impact {
        robust,
        grade: None,
        stated: stated(&program.program),
        sc: Verdict::Unknown,
        model: Verdict::Unknown,
        repeated: Vec::new(),
        unused: Vec::new(),
        obstacle: None,
        witness: None,
    }
}

/// Goals and assertions. An `exists` is a question.
fn stated(program: &ravelin_program::Program) -> usize {
    let instructions = program.threads.iter().flat_map(|thread| &thread.transitions).map(|step| &step.instruction);
    let assertions = instructions.filter(|instruction| matches!(instruction, Instruction::Assert(_))).count();
    program.goals.iter().filter(|goal| goal.kind != GoalKind::Exists).count() + assertions
}

/// The searches, and how many states they took.
struct Assessment<'a> {
    asked: &'a ImpactQuestion<'a>,
    states: u64,
    begin: Instant,
    /// All violations are known to be of this grade, whatever goals say.
    mild: Option<Grade>,
}

impl Assessment<'_> {
    fn impact(&mut self, robust: Verdict, answer: &Answer) -> Result<Impact, Error> {
        let ImpactQuestion { program, model, .. } = *self.asked;
        let mut found = unsettled(program, robust);
        let under_sc = self.goals(Model::Sc)?;
        found.sc = under_sc.0;
        found.witness = under_sc.1.as_ref().map(|witness| Box::new(answers::witness(witness)));
        if robust == Verdict::Violated {
            self.mild = self.mild_grade(&mut found)?;
        }
        let is_sc = robust == Verdict::Holds || self.mild.is_some();
        found.model = match found.sc {
            // A run under sc is one under every other model.
            Verdict::Violated => Verdict::Violated,
            sc if is_sc => sc,
            _ => {
                let (verdict, witness) = self.goals(model)?;
                found.witness = witness.as_ref().map(|witness| Box::new(answers::witness(witness)));
                verdict
            }
        };
        let deadlock = answer.deadlocks().is_some_and(|deadlocks| deadlocks.witness.is_some());
        found.grade = (robust == Verdict::Violated).then_some(match (self.mild, found.model) {
            _ if deadlock => Grade::Wrong,
            (_, Verdict::Violated) => Grade::Wrong,
            (Some(mild), _) => mild,
            (None, Verdict::Holds) if found.stated > 0 => Grade::GoalsHold,
            (None, _) => Grade::Open,
        });
        Ok(found)
    }

    /// The budget of one more search, which the property is about or not.
    fn left(&self, about: Property) -> Budget<'_> {
        let budget = self.asked.budget.child(self.asked.start, self.states).silent().in_memory();
        if self.asked.property == about {
            return budget;
        }
        let time = MOST_TIME.saturating_sub(self.begin.elapsed());
        budget.at_most(MOST_STATES).time(budget.limits.time.map_or(time, |given| given.min(time)))
    }

    fn is_spent(&self, about: Property) -> bool {
        self.asked.budget.spent(self.asked.start, self.states).is_some()
            || self.asked.property != about && self.begin.elapsed() >= MOST_TIME
    }

    /// Whether goals and assertions hold, and nothing faults, under a model.
    fn goals(&mut self, model: Model) -> Result<(Verdict, Option<Witness>), Error> {
        let program = &self.asked.program.program;
        if let (Model::Sc, Some(known)) = (model, self.asked.program.goals.get()) {
            return Ok(known.clone());
        }
        if self.is_spent(Property::Safe) {
            return Ok((Verdict::Unknown, None));
        }
        let watch = Watch::new(self.left(Property::Safe), "looking for assertions and faults");
        if stated(program) == 0 && !may_stop(program, &watch).unwrap_or(true) {
            return Ok((Verdict::Holds, None));
        }
        let goals = program.goals.iter().filter(|goal| goal.kind != GoalKind::Exists).cloned().collect();
        let program = ravelin_program::Program { goals, ..program.clone() };
        let mut found = (Verdict::Unknown, None);
        for &engine in self.engines(model) {
            if found.0 != Verdict::Unknown || self.is_spent(Property::Safe) {
                break;
            }
            let question = ReachabilityQuestion {
                deadlocks: false,
                budget: self.left(Property::Safe),
                ..ReachabilityQuestion::new(model)
            };
            match reach(&program, &question, engine) {
                Ok(answer) => {
                    self.states += answer.reachability.statistics.states;
                    found = (answer.reachability.verdict, answer.reachability.witness);
                }
                Err(AnalysisError::Internal(error)) => return Err(AnalysisError::Internal(error).into()),
                // The program has no meaning for this search, or a limit was hit.
                Err(_) => {}
            }
        }
        if model == Model::Sc && found.0 != Verdict::Unknown {
            return Ok(self.asked.program.goals.get_or_init(|| found).clone());
        }
        Ok(found)
    }

    /// Those that are asked one after the other. Unless the property is about goals, no two of them race, so that an answer
    /// is always the same.
    fn engines(&self, model: Model) -> &'static [ReachEngine] {
        match model {
            Model::Tso if self.asked.property != Property::Safe => &[ReachEngine::Bounded, ReachEngine::Dual],
            Model::Pso if self.asked.property != Property::Safe => &[ReachEngine::Bounded, ReachEngine::Sb],
            _ => &[ReachEngine::Auto],
        }
    }

    /// The grade if all violations are mild. A loop that goals can look into is taken as it is written.
    fn mild_grade(&mut self, found: &mut Impact) -> Result<Option<Grade>, Error> {
        let program = &self.asked.program.program;
        let watch = Watch::new(self.left(Property::Observational), "looking for loops that wait");
        let Ok((waiting, spins)) = with_waits(program, &watch) else { return Ok(None) };
        let mut rewritten: Vec<&SpinLoop> = spins.iter().filter(|spin| spin.rewrite().is_some()).collect();
        if rewritten.iter().any(|spin| spin.is_seen_by_goals(program)) {
            rewritten.clear();
        }
        let grade = if !rewritten.is_empty() && self.is_robust(&waiting)? {
            Some(Grade::Rejoins)
        } else {
            self.unobserved(if rewritten.is_empty() { program } else { &waiting }, found)?
        };
        if grade.is_some() {
            found.repeated = lines(rewritten.iter().filter_map(|spin| spin.position));
        }
        Ok(grade)
    }

    /// Whether a program is observationally robust.
    fn unobserved(&mut self, program: &ravelin_program::Program, found: &mut Impact) -> Result<Option<Grade>, Error> {
        if self.is_spent(Property::Observational) {
            return Ok(None);
        }
        let question = C11Question {
            races: self.asked.races,
            budget: self.left(Property::Observational),
            ..C11Question::new(allowing_more(self.asked.model))
        };
        let answer = match observational(program, &question) {
            Ok(answer) => answer,
            Err(AnalysisError::Internal(error)) => return Err(AnalysisError::Internal(error).into()),
            // Locked blocks, for example, have no meaning in C11.
            Err(_) => return Ok(None),
        };
        self.states += answer.statistics.states;
        found.obstacle = answer.obstacle.map(|obstacle| obstacle.sentence);
        if answer.verdict != Verdict::Holds {
            return Ok(None);
        }
        let position = |&(thread, transition): &(ThreadId, TransitionId)| {
            program.source.position(program.threads[thread.0].transitions[transition.0].span)
        };
        found.unused = lines(answer.irrelevant.iter().filter_map(position));
        Ok(Some(Grade::Unobserved))
    }

    fn is_robust(&mut self, program: &ravelin_program::Program) -> Result<bool, Error> {
        let ImpactQuestion { model, races, seq_cst, .. } = *self.asked;
        if self.is_spent(Property::Observational) {
            return Ok(false);
        }
        let found = if model.is_c11() {
            let question =
                C11Question { seq_cst, races, budget: self.left(Property::Observational), ..C11Question::new(model) };
            c11_robustness(program, &question).map(|found| (found.verdict, found.statistics.states))
        } else {
            let question =
                RobustnessQuestion { budget: self.left(Property::Observational), ..RobustnessQuestion::new(model) };
            robustness(program, &question).map(|found| (found.verdict, found.explored.states))
        };
        match found {
            Ok((verdict, states)) => {
                self.states += states;
                Ok(verdict == Verdict::Holds)
            }
            Err(AnalysisError::Internal(error)) => Err(AnalysisError::Internal(error).into()),
            Err(_) => Ok(false),
        }
    }
}

/// Each line once, in order.
fn lines(positions: impl Iterator<Item = Position>) -> Vec<usize> {
    positions.map(|position| position.line).collect::<BTreeSet<usize>>().into_iter().collect()
}

/// A model of C11 that allows what a model allows, and for which there is a proof of observational robustness. Loads of
/// tso acquire and its stores release; those of pso are relaxed, unless they say otherwise.
fn allowing_more(model: Model) -> Model {
    match model {
        Model::Sc | Model::Tso | Model::Ra => Model::Ra,
        Model::Pso | Model::Rc20 => Model::Rc20,
    }
}
