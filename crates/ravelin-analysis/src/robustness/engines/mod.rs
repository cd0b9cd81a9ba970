//! The engines that search attacks, one file each, and what they share: the attacks that are to be settled, what became of
//! them, and what was explored on the way.

mod attacks;
mod monitor;
mod shared;
mod single;
mod spread;

use super::check::{AttackFate, JudgedAttack, RobustnessEffort, RobustnessEngine, RobustnessQuestion};
use super::together::Together;
use super::{Attack, witness};
use crate::AnalysisError;
use ravelin_explore::{Limit, Options, Until};
use ravelin_machine::attack::{AttackResult, Query, query};
use ravelin_program::Program;
use std::time::Instant;

/// A search for the attacks that need one.
pub(super) struct AttackSearch<'a> {
    program: &'a Program,
    question: &'a RobustnessQuestion<'a>,
    start: Instant,
    /// All attacks of the program.
    pub judged: Vec<JudgedAttack>,
    /// Those that are searched, and the place of each among all.
    attacks: Vec<Attack>,
    places: Vec<usize>,
    pub explored: RobustnessEffort,
    pub limit: Option<Limit>,
    /// What the monitor said, if it was asked.
    pub together: Option<Together>,
}

impl<'a> AttackSearch<'a> {
    /// For the open ones of these attacks.
    pub fn new(
        program: &'a Program,
        question: &'a RobustnessQuestion,
        start: Instant,
        judged: Vec<JudgedAttack>,
    ) -> AttackSearch<'a> {
        let is_open = |place: &usize| matches!(judged[*place].fate, AttackFate::Open);
        let places: Vec<usize> = (0..judged.len()).filter(is_open).collect();
        let attacks = places.iter().map(|&place| judged[place].attack).collect();
        AttackSearch {
            program,
            question,
            start,
            judged,
            attacks,
            places,
            explored: RobustnessEffort::default(),
            limit: None,
            together: None,
        }
    }

    /// Searches with the engine of choice.
    pub fn run(&mut self) -> Result<(), AnalysisError> {
        if self.attacks.is_empty() {
            return Ok(());
        }
        match self.question.engine {
            RobustnessEngine::Shared => self.by_shared(),
            RobustnessEngine::Attacks => self.by_attacks(),
            RobustnessEngine::Single => self.by_single(),
            RobustnessEngine::Monitor => self.by_monitor(),
        }
    }

    /// Notes what became of an attack. A run is replayed before it is a witness.
    fn settle(&mut self, number: usize, result: AttackResult) -> Result<(), AnalysisError> {
        let judged = &mut self.judged[self.places[number]];
        judged.fate = match result {
            AttackResult::Open => AttackFate::Open,
            AttackResult::Infeasible => AttackFate::Infeasible,
            AttackResult::Feasible(run) => {
                let witness = witness::build(self.program, self.question.model, judged.attack, &run)?;
                AttackFate::Feasible(Box::new(witness))
            }
        };
        Ok(())
    }

    /// One query of the instrumented program, within what is left of the limits.
    fn ask(&mut self, attacks: &[Attack]) -> Result<Query, AnalysisError> {
        ask(self.program, self.question, attacks, self.start, &mut self.explored)
    }
}

/// One query of the instrumented program, within what is left of the limits of a question.
fn ask(
    program: &Program,
    question: &RobustnessQuestion,
    attacks: &[Attack],
    start: Instant,
    explored: &mut RobustnessEffort,
) -> Result<Query, AnalysisError> {
    let budget = question.budget.child(start, explored.states);
    let mut found = query(program, question.model, attacks, &Options { budget, until: Until::Exhausted })?;
    explored.states += found.statistics.states;
    explored.bytes = explored.bytes.max(found.statistics.bytes);
    found.limit = found.limit.map(|limit| question.budget.limits.as_given(limit));
    Ok(found)
}
