//! `states`: in which states can a program end?

use crate::answers::final_states;
use crate::error::Error;
use crate::program::Program;
use crate::setters::setters;
use crate::stops::add_stops;
use ravelin_analysis::reachability::ReachabilityQuestion;
use ravelin_answer::Answer;
use ravelin_explore::Budget;
use ravelin_machine::Reductions;
use ravelin_program::Model;
use std::time::Instant;

/// Asks for all states in which a program can end, and which of them only the weak model allows.
///
/// ```
/// use ravelin::{Answer, Program};
///
/// let text = "static x; static y;
///     thread p { x.store(1); let a = y.load(); }
///     thread q { y.store(1); let b = x.load(); }";
/// let program = Program::parse("sb.rav", text)?;
/// let Answer::FinalStates(states) = ravelin::states(&program).run()? else { unreachable!() };
/// assert_eq!(states.finals.len(), 4);
/// assert_eq!(states.finals.iter().filter(|state| state.beyond_sc == Some(true)).count(), 1);
/// # Ok::<(), ravelin::Error>(())
/// ```
pub fn states(program: &Program) -> States<'_> {
    let ReachabilityQuestion { model, buffer, messages, reductions, .. } = ReachabilityQuestion::new(Model::Tso);
    States { program, model, buffer, messages, reductions, stops: true, budget: Budget::default() }
}

/// The question in which states a program can end; made by [`states`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a question is asked with `run`"]
pub struct States<'a> {
    program: &'a Program,
    model: Model,
    buffer: usize,
    messages: Option<usize>,
    reductions: Reductions,
    stops: bool,
    budget: Budget<'a>,
}

impl<'a> States<'a> {
    setters!(model, buffer, messages, reductions, stops, budget);

    /// Asks.
    pub fn run(self) -> Result<Answer, Error> {
        let start = Instant::now();
        let program = &self.program.program;
        let States { model, buffer, messages, reductions, budget, .. } = self;
        let asked = ReachabilityQuestion::new(model);
        let question = ReachabilityQuestion { buffer, messages, reductions, budget, ..asked };
        let found = ravelin_analysis::states::states(program, &question)?;
        let mut answer = Answer::FinalStates(Box::new(final_states(self.program.name(), program, &found)));
        if self.stops {
            add_stops(self.program, self.budget, start, &mut answer)?;
        }
        Ok(answer)
    }
}
