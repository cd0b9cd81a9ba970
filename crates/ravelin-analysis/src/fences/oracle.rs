//! Whether a program with some fences will do, asked of the analysis that knows.

use super::clause::Clauses;
use crate::c11::C11Violation;
use crate::parameterised::Instance;
use crate::reachability::{self, ReachabilityQuestion};
use crate::robustness::{
    AttackFate, AttackWitness, MOST_ATTACKS, RaceWitness, RobustnessQuestion, attacks_against, count_attacks,
    race_freedom, robustness,
};
use crate::witness::Witness;
use crate::{AnalysisError, Verdict};
use ravelin_explore::{Budget, Limit};
use ravelin_program::{HardwareProgram, Model, Program};
use std::time::Instant;

use super::synthesis::FenceQuestion;

/// Attacks that are settled by one query.
const MOST_AT_ONCE: usize = 1_000;

/// What the fences are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynthesisPurpose {
    /// No computation has a trace that SC does not have.
    Robust,
    /// No SC run has a triangular race.
    RaceFree,
    /// No goal can be reached, no assertion fails, no fault happens.
    Safe(reachability::ReachEngine),
}

/// What is still wrong with a program.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// With the instance it is about, if the program has any number of threads.
    Attack(Box<AttackWitness>, Option<Box<Instance>>),
    Race(Box<RaceWitness>),
    /// The same.
    Run(Box<Witness>, Option<Box<Instance>>),
    /// Under a model of C11 (`c11/repair.rs`).
    C11(Box<C11Violation>),
}

impl Trouble {
    /// The offers that would forbid it.
    pub(super) fn clause(&self, clauses: &Clauses) -> Vec<usize> {
        match self {
            Trouble::Attack(witness, instance) => clauses.of_run_of(instance.as_deref(), &witness.computation),
            Trouble::Run(witness, instance) => clauses.of_run_of(instance.as_deref(), &witness.computation),
            Trouble::Race(race) => clauses.between(&race.actions, race.from, race.to),
            // What orders and fences do together there is learned by following the run.
            Trouble::C11(_) => Vec::new(),
        }
    }
}

/// What an analysis says.
pub(super) enum OracleReply {
    /// Proved.
    Fine,
    /// Not empty.
    Wrong(Vec<Trouble>),
    /// No answer within the states that this query was given; more may bring one.
    Spent,
    /// No answer, perhaps because of a limit.
    Unknown(Option<Limit>),
    /// PSO: no thread alone can do harm, and that several cannot is not proved.
    OneDelayingThread,
}

/// Asks, and counts.
pub(super) struct FenceOracle<'a> {
    pub question: &'a FenceQuestion<'a>,
    pub start: Instant,
    pub queries: usize,
    pub states: u64,
}

impl FenceOracle<'_> {
    /// Looks for what is wrong; for as much as one query can find with so many states. Only searches for attacks keep to a share: the others
    /// end at the first run that is wrong.
    pub fn ask(&mut self, program: &Program, share: u64) -> Result<OracleReply, AnalysisError> {
        self.query(program, Some(share))
    }

    /// Looks for one thing that is wrong.
    pub fn ask_for_one(&mut self, program: &Program) -> Result<OracleReply, AnalysisError> {
        self.query(program, None)
    }

    /// Whether a goal can be reached under SC already.
    pub fn ask_sc(&mut self, program: &Program) -> Result<OracleReply, AnalysisError> {
        self.reach(program, Model::Sc, reachability::ReachEngine::Auto)
    }

    fn query(&mut self, program: &Program, share: Option<u64>) -> Result<OracleReply, AnalysisError> {
        match self.question.purpose {
            SynthesisPurpose::Robust => self.robust(program, share),
            SynthesisPurpose::RaceFree => self.race_free(program),
            SynthesisPurpose::Safe(engine) => self.reach(program, self.question.model, engine),
        }
    }

    fn robust(&mut self, program: &Program, share: Option<u64>) -> Result<OracleReply, AnalysisError> {
        self.queries += 1;
        // Every feasible attack gets a witness, which is replayed; where there are many attacks, most of them tell the same.
        let lowered = HardwareProgram::new(program);
        // Listed only if they can be: `robustness` refuses more.
        let few = || {
            count_attacks(&lowered) <= MOST_ATTACKS
                && attacks_against(self.question.model, &lowered).len() <= MOST_AT_ONCE
        };
        let all = share.is_some() && few();
        let left = self.left();
        // The search for any number of threads has no use for half an answer.
        let share =
            share.filter(|share| !program.is_parameterised() && left.limits.states.is_none_or(|left| *share < left));
        let budget = share.map_or(left, |share| left.at_most(share));
        let answer = robustness(program, &RobustnessQuestion { all, budget, ..self.robustness_question() })?;
        self.states += answer.explored.states;
        let instance = answer.any_number.and_then(|found| found.instance).map(Box::new);
        let feasible = answer.attacks.into_iter().filter_map(|judged| match judged.fate {
            AttackFate::Feasible(witness) => Some(witness),
            _ => None,
        });
        let troubles: Vec<Trouble> =
            feasible.chain(answer.together).map(|witness| Trouble::Attack(witness, instance.clone())).collect();
        Ok(match answer.verdict {
            _ if !troubles.is_empty() => OracleReply::Wrong(troubles),
            Verdict::Holds => OracleReply::Fine,
            _ if answer.one_delaying_thread => OracleReply::OneDelayingThread,
            _ if share.is_some() && matches!(answer.limit, Some(Limit::States(_))) => OracleReply::Spent,
            _ => OracleReply::Unknown(answer.limit.map(|limit| self.question.budget.limits.as_given(limit))),
        })
    }

    fn race_free(&mut self, program: &Program) -> Result<OracleReply, AnalysisError> {
        self.queries += 1;
        let answer = race_freedom(program, &self.robustness_question())?;
        self.states += answer.statistics.states;
        Ok(match (answer.verdict, answer.race) {
            (_, Some(race)) => OracleReply::Wrong(vec![Trouble::Race(Box::new(race))]),
            (Verdict::Holds, None) => OracleReply::Fine,
            _ => OracleReply::Unknown(answer.limit.map(|limit| self.question.budget.limits.as_given(limit))),
        })
    }

    fn reach(
        &mut self,
        program: &Program,
        model: Model,
        engine: reachability::ReachEngine,
    ) -> Result<OracleReply, AnalysisError> {
        self.queries += 1;
        let question = ReachabilityQuestion { budget: self.left(), ..ReachabilityQuestion::new(model) };
        let answer = reachability::answer(program, &question, engine)?;
        self.states += answer.reachability.statistics.states;
        Ok(match (answer.reachability.verdict, answer.reachability.witness) {
            (_, Some(witness)) => {
                let instance = answer.any_number.and_then(|found| found.instance).map(Box::new);
                OracleReply::Wrong(vec![Trouble::Run(Box::new(witness), instance)])
            }
            (Verdict::Holds, None) => OracleReply::Fine,
            _ => {
                OracleReply::Unknown(answer.reachability.limit.map(|limit| self.question.budget.limits.as_given(limit)))
            }
        })
    }

    fn robustness_question(&self) -> RobustnessQuestion<'_> {
        RobustnessQuestion { budget: self.left(), ..RobustnessQuestion::new(self.question.model) }
    }

    /// All queries together may take the time and the states that were given.
    fn left(&self) -> Budget<'_> {
        self.question.budget.child(self.start, self.states)
    }
}
