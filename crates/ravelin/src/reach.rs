//! `reach`: can something forbidden happen?

use crate::answers::reachability;
use crate::check::certify_any_number;
use crate::error::Error;
use crate::program::Program;
use crate::setters::setters;
use ravelin_analysis::parameterised::certificate::Claim;
use ravelin_analysis::reachability::certificate::{ReachabilityCertificate, certify};
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer};
use ravelin_answer::Answer;
use ravelin_explore::Budget;
use ravelin_machine::Reductions;
use ravelin_program::Model;
use std::borrow::Cow;

/// Asks whether a goal can be violated, an assertion can fail, a fault can happen, or a deadlock.
///
/// ```
/// use ravelin::{Model, Program, Verdict};
///
/// let text = "static x; thread p { x.store(1); } never x == 1;";
/// let program = Program::parse("one.rav", text)?;
/// let answer = ravelin::reach(&program).model(Model::Sc).run()?;
/// assert_eq!(answer.verdict(), Some(Verdict::Violated));
/// # Ok::<(), ravelin::Error>(())
/// ```
pub fn reach(program: &Program) -> Reach<'_> {
    let ReachabilityQuestion { model, buffer, messages, reductions, .. } = ReachabilityQuestion::new(Model::Tso);
    let (engine, budget) = (ReachEngine::default(), Budget::default());
    Reach { program, model, engine, buffer, messages, reductions, goals: true, deadlocks: true, budget }
}

/// The question what a program can reach; made by [`reach`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a question is asked with `run`"]
pub struct Reach<'a> {
    program: &'a Program,
    model: Model,
    engine: ReachEngine,
    buffer: usize,
    messages: Option<usize>,
    reductions: Reductions,
    goals: bool,
    deadlocks: bool,
    budget: Budget<'a>,
}

impl<'a> Reach<'a> {
    setters!(model, buffer, messages, reductions, deadlocks, budget);

    /// The engine; by default several engines are tried.
    pub fn engine(mut self, engine: ReachEngine) -> Self {
        self.engine = engine;
        self
    }

    /// The goals of the program count; switched off, only assertions, faults and deadlocks do.
    pub(crate) fn goals(mut self, goals: bool) -> Self {
        self.goals = goals;
        self
    }

    /// Asks.
    pub fn run(self) -> Result<Answer, Error> {
        let asked = match self.goals {
            true => Cow::Borrowed(&self.program.program),
            false => Cow::Owned(ravelin_program::Program { goals: Vec::new(), ..self.program.program.clone() }),
        };
        let found = answer(&asked, &self.question(), self.engine)?;
        Ok(Answer::Reachability(Box::new(reachability(self.program.name(), &asked, &found))))
    }

    /// A proof that nothing forbidden can happen under tso, or under sc by any number of threads, as JSON that `ravelin
    /// certificate` checks. `None` if none could be made within the budget.
    pub fn certificate(self) -> Result<Option<String>, Error> {
        let unfit = |message: &str| Err(Error::Question(message.to_owned()));
        match (self.program.is_parameterised(), self.model) {
            (true, Model::Sc) => certify_any_number(self.program, Claim::Unreachable, self.budget),
            (false, Model::Tso) => {
                let certificate = certify(&self.program.program, &self.question())?;
                let name = self.program.name().to_owned();
                let certificate = certificate.map(|found| ReachabilityCertificate { program: name, ..found });
                Ok(certificate.and_then(|certificate| serde_json::to_string(&certificate).ok()))
            }
            (true, _) => unfit("with any number of threads there are proofs to write under sc only: use --model sc"),
            (false, _) => unfit("--certify writes a proof about a program under tso: use no other model"),
        }
    }

    fn question(&self) -> ReachabilityQuestion<'a> {
        let Reach { model, buffer, messages, reductions, deadlocks, budget, .. } = *self;
        ReachabilityQuestion { model, buffer, messages, reductions, deadlocks, budget }
    }
}
