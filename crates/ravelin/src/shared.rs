//! Robustness under several models, asked one after the other: what follows from another answer is not searched for.
//!
//! Each model has a search of its own. Where that of a model takes long, and the question is also about a model that allows more, that one
//! is asked first, with twenty thousand times the states. Its answer is needed anyway and is kept for its turn, and if the program is robust
//! against it, the first search need not end. If it does not end, the two take turns. It seldom has no end where the other has one: a
//! violation under one model is one under the model that allows more, and both visit every state under SC before they prove anything.
//!
//! One space for all models, with their monitors side by side in each state, is not quicker (docs/robustness.md has the numbers).

use crate::error::Error;
use ravelin_analysis::c11::{C11Answer, C11Question, c11_robustness};
use ravelin_analysis::implies;
use ravelin_analysis::robustness::{RobustnessAnswer, RobustnessQuestion, implied_robustness, robustness};
use ravelin_answer::Verdict;
use ravelin_explore::{Budget, Limit};
use ravelin_program::{Model, Program, SeqCstReading};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// States of the first share: a look that costs a few milliseconds, and is lost if the answer follows from another one.
/// Small programs need fewer.
const FIRST_SHARE: u64 = 1_000;
/// What a model that allows more may have, and then the model in question: so many times the states of the last share.
const GROWTH: u64 = 20_000;
/// Which part of the time of a question others may have.
const TIME_OF_OTHERS: u32 = 4;

/// What is known of a program under the models that are asked about, for [`crate::Check::beside`].
///
/// ```
/// use ravelin::{Model, Program, SharedAnswers, Verdict};
///
/// let program = Program::parse("half.rav", "static x; thread p { x.store(1); } thread q { let a = x.load(); }")?;
/// let shared = SharedAnswers::new(&Model::WEAK);
/// for model in Model::WEAK {
///     let answer = ravelin::check(&program).model(model).beside(&shared).run()?;
///     assert_eq!(answer.verdict(), Some(Verdict::Holds), "{model}");
/// }
/// # Ok::<(), ravelin::Error>(())
/// ```
#[derive(Debug)]
pub struct SharedAnswers {
    models: Vec<Model>,
    settled: Mutex<Vec<(SharedQuestion, ModelAnswer)>>,
}

/// What answers depend on, besides the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedQuestion {
    pub model: Model,
    pub races: bool,
    pub seq_cst: SeqCstReading,
}

/// An answer under one model.
#[derive(Clone, Debug)]
pub(crate) enum ModelAnswer {
    Hardware(Box<RobustnessAnswer>),
    C11(Box<C11Answer>),
}

impl ModelAnswer {
    fn verdict(&self) -> Verdict {
        match self {
            ModelAnswer::Hardware(answer) => answer.verdict,
            ModelAnswer::C11(answer) => answer.verdict,
        }
    }

    fn states(&self) -> u64 {
        match self {
            ModelAnswer::Hardware(answer) => answer.explored.states,
            ModelAnswer::C11(answer) => answer.statistics.states,
        }
    }

    /// It ended because it had no more states.
    fn is_spent(&self) -> bool {
        let limit = match self {
            ModelAnswer::Hardware(answer) => answer.limit,
            ModelAnswer::C11(answer) => answer.limit,
        };
        self.verdict() == Verdict::Unknown && matches!(limit, Some(Limit::States(_)))
    }

    /// Adds states of searches before, and the time since a start.
    fn add(&mut self, states: u64, start: Instant) {
        match self {
            ModelAnswer::Hardware(answer) => {
                answer.explored.states += states;
                answer.explored.elapsed = start.elapsed();
            }
            ModelAnswer::C11(answer) => {
                answer.statistics.states += states;
                answer.statistics.elapsed = start.elapsed();
            }
        }
    }
}

impl SharedAnswers {
    /// For questions about one program under these models.
    pub fn new(models: &[Model]) -> SharedAnswers {
        SharedAnswers { models: models.to_vec(), settled: Mutex::default() }
    }

    /// The answer about a model.
    pub(crate) fn ask(
        &self,
        program: &Program,
        question: SharedQuestion,
        budget: Budget,
    ) -> Result<ModelAnswer, Error> {
        let start = Instant::now();
        if let Some(known) = self.settled(question) {
            return Ok(known);
        }
        let allow_more = |model: &&Model| implies(program, **model, question.races, question.model);
        let mut others: Vec<SharedQuestion> =
            self.models.iter().filter(allow_more).map(|&model| SharedQuestion { model, ..question }).collect();
        // Those that allow most come first.
        others.sort_by_key(|other| std::cmp::Reverse(other.model));
        let mut states = 0;
        let mut share = FIRST_SHARE;
        let mut answer = loop {
            if let Some(by) = others.iter().find(|other| self.is_robust(**other)) {
                break implied(program, question, by.model, budget.child(start, 0))?;
            }
            others.retain(|other| self.settled(*other).is_none());
            // A limit is that of this question. Others do not take from its states, and little of its time.
            let is_late = budget.limits.time.is_some_and(|time| start.elapsed() > time / TIME_OF_OTHERS);
            let is_last = is_late || others.is_empty() || budget.limits.states.is_some_and(|most| most <= share);
            let left = budget.child(start, 0);
            let answer = ask(program, question, if is_last { left } else { left.at_most(share) })?;
            if is_last || !answer.is_spent() {
                break answer;
            }
            states += answer.states();
            share = share.saturating_mul(GROWTH);
            for &other in &others {
                let left = budget.limits.time.map(|time| (time / TIME_OF_OTHERS).saturating_sub(start.elapsed()));
                let budget = left.map_or(budget, |left| budget.time(left)).at_most(share);
                // What has no meaning in the other model is said when its turn comes.
                if let Ok(answer) = ask(program, other, budget) {
                    self.keep(other, &answer);
                }
                if self.is_robust(other) {
                    break;
                }
            }
        };
        answer.add(states, start);
        self.keep(question, &answer);
        Ok(answer)
    }

    fn settled(&self, question: SharedQuestion) -> Option<ModelAnswer> {
        let settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        settled.iter().find(|(known, _)| *known == question).map(|(_, answer)| answer.clone())
    }

    fn is_robust(&self, question: SharedQuestion) -> bool {
        self.settled(question).is_some_and(|answer| answer.verdict() == Verdict::Holds)
    }

    /// Keeps an answer that no larger budget would change.
    fn keep(&self, question: SharedQuestion, answer: &ModelAnswer) {
        if answer.verdict() != Verdict::Unknown && self.settled(question).is_none() {
            self.settled.lock().unwrap_or_else(PoisonError::into_inner).push((question, answer.clone()));
        }
    }
}

fn ask(program: &Program, question: SharedQuestion, budget: Budget) -> Result<ModelAnswer, Error> {
    let SharedQuestion { model, races, seq_cst } = question;
    Ok(match model.is_c11() {
        true => {
            let asked = C11Question { seq_cst, races, budget, ..C11Question::new(model) };
            ModelAnswer::C11(Box::new(c11_robustness(program, &asked)?))
        }
        false => {
            let asked = RobustnessQuestion { budget, ..RobustnessQuestion::new(model) };
            ModelAnswer::Hardware(Box::new(robustness(program, &asked)?))
        }
    })
}

/// The answer that follows from one under a model that allows more.
fn implied(program: &Program, question: SharedQuestion, by: Model, budget: Budget) -> Result<ModelAnswer, Error> {
    let model = question.model;
    Ok(match model.is_c11() {
        true => ModelAnswer::C11(Box::new(C11Answer::implied(model, by))),
        false => {
            let asked = RobustnessQuestion { budget, ..RobustnessQuestion::new(model) };
            ModelAnswer::Hardware(Box::new(implied_robustness(program, &asked, by)?))
        }
    })
}
