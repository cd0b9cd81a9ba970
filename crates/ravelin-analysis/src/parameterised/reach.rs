//! Can a goal be reached with some number of threads?
//!
//! Small instances are looked at first, for a moment. Then comes a proof for all of them: under SC by a net (`system`), under TSO by the
//! load-buffer semantics (`crowd`). If there is none, because some instance reaches a goal, instances are explored in increasing size until one
//! does; its run is replayed like any other.

use super::crowd::Crowd;
use super::instances::{Instance, of_size, size};
use super::robust::{AnyNumber, NetReport};
use super::run::system_run;
use super::system::system_net;
use crate::reachability::finite::Finite;
use crate::reachability::{
    BackwardCounts, PortfolioAnswer, ReachEngine, ReachabilityAnswer, ReachabilityEffort, ReachabilityQuestion, answer,
    assertions,
};
use crate::witness::{Witness, replay};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_answer::DeadlockVerdict;
use ravelin_backward::nets::{CoverVerdict, cover, fire};
use ravelin_backward::{BackwardEnd, BackwardSearch};
use ravelin_explore::{Budget, Limit, Statistics, Watch};
use ravelin_machine::{BuildError, Settings};
use ravelin_program::{Copies, Model, Program};
use std::time::Instant;

/// Copies in the instances that are looked at before any proof, and states of each.
const FIRST_SIZE: usize = 2;
const FIRST_LOOK: u64 = 20_000;
/// States of one instance while the smallest one with a violation is looked for.
const SECOND_LOOK: u64 = 2_000_000;
/// Copies in the largest instance that is looked at, where the proof does not tell how many it takes.
const MOST_COPIES: usize = 12;

/// Asks whether a goal can be reached in some instance.
pub fn reach_for_any_number(
    program: &Program,
    question: &ReachabilityQuestion,
    engine: ReachEngine,
) -> Result<PortfolioAnswer, AnalysisError> {
    ask(program, question, engine, true)
}

/// The same without a look at small instances first.
pub fn reach_by_proof(program: &Program, question: &ReachabilityQuestion) -> Result<PortfolioAnswer, AnalysisError> {
    ask(program, question, ReachEngine::Auto, false)
}

fn ask(
    program: &Program,
    question: &ReachabilityQuestion,
    engine: ReachEngine,
    looks_first: bool,
) -> Result<PortfolioAnswer, AnalysisError> {
    match (question.model, engine) {
        (Model::Sc, _) | (Model::Tso, ReachEngine::Auto | ReachEngine::Dual) => {}
        (Model::Tso, _) => return Err(AnalysisError::EngineNeedsNumber(engine.name())),
        (Model::Ra | Model::Rc20, _) => return Err(BuildError::NotHardware(question.model).into()),
        (Model::Pso, _) => {
            let thread = program.threads.iter().find(|thread| thread.copies == Copies::Any);
            let name = thread.map_or_else(String::new, |thread| thread.name.clone());
            return Err(BuildError::AnyNumberOfCopies(name).into());
        }
    }
    let mut asking = GoalInquiry { program, question, start: Instant::now(), found: AnyNumber::default(), states: 0 };
    if looks_first && let Some(answer) = asking.small_instances()? {
        return Ok(asking.finish(answer));
    }
    let answer = match question.model {
        Model::Sc => asking.by_net()?,
        _ => asking.by_load_buffers()?,
    };
    Ok(asking.finish(answer))
}

struct GoalInquiry<'a> {
    program: &'a Program,
    question: &'a ReachabilityQuestion<'a>,
    start: Instant,
    found: AnyNumber,
    states: u64,
}

/// An instance with a run to a violation that is known already, to be shown if no smaller one is found.
struct KnownViolation {
    copies: Vec<usize>,
    witness: Witness,
}

impl GoalInquiry<'_> {
    /// A quick look at what a few copies do. An instance that takes longer ends it.
    fn small_instances(&mut self) -> Result<Option<PortfolioAnswer>, AnalysisError> {
        let least = self.program.threads.iter().filter(|thread| thread.copies == Copies::Any).count();
        for total in 0..=FIRST_SIZE.max(least) {
            for copies in of_size(self.program, total) {
                let (answer, instance) = self.explore(&copies, FIRST_LOOK)?;
                match answer.reachability.verdict {
                    Verdict::Violated => return Ok(Some(self.violated(answer, instance))),
                    Verdict::Unknown => return Ok(None),
                    Verdict::Holds => {}
                }
            }
            self.found.up_to = Some(total);
        }
        Ok(None)
    }

    fn by_net(&mut self) -> Result<PortfolioAnswer, AnalysisError> {
        let watch = Watch::since(self.question.budget, "making a net", self.start);
        let finite = Finite::of_templates(self.program, &watch)?;
        let system = system_net(&finite, &watch)?;
        let covered = cover(&system.net, self.left());
        self.found.nets.push(NetReport::new(&finite, None, &system.net, &system.actors, &covered));
        let counts = covered.counts;
        match covered.verdict {
            CoverVerdict::Uncoverable => Ok(self.answer(Verdict::Holds, None, ReachEngine::Cover, counts, None)),
            CoverVerdict::Unknown(limit) => {
                Ok(self.answer(Verdict::Unknown, Some(limit), ReachEngine::Cover, counts, None))
            }
            CoverVerdict::Coverable(sequence) => {
                let internal = |what: String| AnalysisError::from(InternalError(what));
                let target = fire(&system.net, &sequence).map_err(|error| internal(error.to_string()))?;
                let told = system_run(&finite, &system, &sequence, target);
                let (copies, run, violation) =
                    told.ok_or_else(|| internal("a firing sequence is no run".to_owned()))?;
                let instance = self.program.instance_of(&copies);
                let witness = replay(&instance, Settings::new(Model::Sc), violation, &run)?;
                let bound = size(self.program, &copies);
                let known = KnownViolation { copies, witness };
                self.smallest(Some(known), bound, ReachEngine::Cover, counts)
            }
        }
    }

    fn by_load_buffers(&mut self) -> Result<PortfolioAnswer, AnalysisError> {
        let watch = Watch::new(self.left(), "preparing the backward search");
        let finite = Finite::of_templates(self.program, &watch)?;
        let (crowd, goals) = Crowd::new(&finite, &watch)?;
        let starts: Vec<_> = goals.into_iter().map(|(_, constraint)| constraint).enumerate().collect();
        let mut search = BackwardSearch::new(crowd, &watch);
        let end = search.run(starts);
        let counts = search.counts;
        match end {
            BackwardEnd::Unreachable => Ok(self.answer(Verdict::Holds, None, ReachEngine::Dual, counts, None)),
            BackwardEnd::Limit(limit) => {
                Ok(self.answer(Verdict::Unknown, Some(limit), ReachEngine::Dual, counts, None))
            }
            BackwardEnd::Reached(_) => self.smallest(None, MOST_COPIES, ReachEngine::Dual, counts),
        }
    }

    /// The smallest instance with a violation; there is one.
    fn smallest(
        &mut self,
        known: Option<KnownViolation>,
        bound: usize,
        engine: ReachEngine,
        counts: BackwardCounts,
    ) -> Result<PortfolioAnswer, AnalysisError> {
        let mut smallest = true;
        let mut limit = None;
        'sizes: for total in self.found.up_to.map_or(0, |total| total + 1)..=bound {
            for copies in of_size(self.program, total) {
                let spent = self.question.budget.spent(self.start, self.states + counts.kept);
                if spent.is_some() {
                    (limit, smallest) = (spent, false);
                    break 'sizes;
                }
                let (answer, instance) = self.explore(&copies, SECOND_LOOK)?;
                match answer.reachability.verdict {
                    Verdict::Violated => return Ok(self.violated(answer, Instance { smallest, ..instance })),
                    Verdict::Unknown => {
                        smallest = false;
                        limit = answer.reachability.limit.or(limit);
                    }
                    Verdict::Holds => {}
                }
            }
            if smallest {
                self.found.up_to = Some(total);
            }
        }
        let Some(KnownViolation { copies, witness }) = known else {
            // Some instance reaches a goal, but none can be shown.
            return Ok(self.answer(Verdict::Unknown, limit, engine, counts, None));
        };
        if smallest {
            let what = "a goal can be reached according to a net, and in no instance".to_owned();
            return Err(InternalError(what).into());
        }
        self.found.instance = Some(Instance::new(self.program, &copies, false));
        Ok(self.answer(Verdict::Violated, None, engine, counts, Some(witness)))
    }

    fn explore(&mut self, copies: &[usize], states: u64) -> Result<(PortfolioAnswer, Instance), AnalysisError> {
        let instance = Instance::new(self.program, copies, true);
        let budget = self.left().at_most(states);
        let answer = answer(&instance.program, &ReachabilityQuestion { budget, ..*self.question }, ReachEngine::Auto)?;
        self.found.instances += 1;
        self.states += answer.reachability.statistics.states;
        Ok((answer, instance))
    }

    fn left(&self) -> Budget<'_> {
        self.question.budget.child(self.start, self.states)
    }

    fn violated(&mut self, answer: PortfolioAnswer, instance: Instance) -> PortfolioAnswer {
        self.found.instance = Some(instance);
        answer
    }

    fn answer(
        &self,
        verdict: Verdict,
        limit: Option<Limit>,
        engine: ReachEngine,
        counts: BackwardCounts,
        witness: Option<Witness>,
    ) -> PortfolioAnswer {
        let reachability = ReachabilityAnswer {
            verdict,
            model: self.question.model,
            goals: self.program.goals.len() + assertions(self.program),
            buffer: None,
            messages: None,
            seq_cst_open: false,
            cut_off: false,
            limit: limit.map(|limit| self.question.budget.limits.as_given(limit)),
            witness,
            statistics: Statistics {
                states: self.states + counts.kept,
                bytes: counts.bytes,
                workers: 1,
                ..Statistics::default()
            },
            words: 0,
        };
        PortfolioAnswer {
            reachability,
            engine,
            effort: ReachabilityEffort::Constraints(counts),
            not_tried: None,
            any_number: None,
            deadlocks: DeadlockVerdict::NotAsked,
        }
    }

    fn finish(self, mut answer: PortfolioAnswer) -> PortfolioAnswer {
        answer.reachability.statistics.elapsed = self.start.elapsed();
        PortfolioAnswer { any_number: Some(Box::new(self.found)), ..answer }
    }
}
