//! Attacks spread over processes: a query that needs few states is answered by one process alone, and they answer different ones at the
//! same time. What needs more is left to all of them together.

use super::super::check::{RobustnessEffort, RobustnessQuestion};
use super::ask;
use crate::AnalysisError;
use ravelin_explore::{Budget, Limits, LostProcess};
use ravelin_machine::attack::Attack;
use ravelin_program::Program;
use std::time::Instant;

/// States of a query that is answered by one process.
const FEW_STATES: u64 = 300_000;

/// What a process found about an attack by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Infeasible,
    /// All processes can repeat that one query to get the run.
    Feasible,
    /// Nobody looked, or it needs more states.
    Open,
}

/// The question as one process asks it alone.
fn alone<'a>(question: &RobustnessQuestion<'a>) -> RobustnessQuestion<'a> {
    RobustnessQuestion { budget: question.budget.in_memory().at_most(FEW_STATES), ..*question }
}

/// Answers the queries that need few states, each by one process. If there is only this one, all stay open.
pub(super) fn spread(
    program: &Program,
    question: &RobustnessQuestion,
    attacks: &[Attack],
    start: Instant,
    explored: &mut RobustnessEffort,
) -> Result<Vec<Share>, LostProcess> {
    // Checkpoints know explorations by their order, which must not depend on the number of processes.
    let storage = question.budget.storage;
    let in_order = storage.checkpoints.is_some();
    let several = storage.peers.filter(|peers| peers.processes() > 1 && !in_order);
    let Some(peers) = several else { return Ok(vec![Share::Open; attacks.len()]) };
    let alone = alone(question);
    let mut here = RobustnessEffort::default();
    let mut told = vec![0; 1];
    for (number, attack) in
        attacks.iter().enumerate().filter(|(number, _)| number % peers.processes() == peers.number())
    {
        // What cannot be answered here at all is found out by all together.
        let mut one = RobustnessEffort::default();
        let left = question.budget.limits.states.map(|states| states.saturating_sub(here.states));
        let budget = left.map_or(alone.budget, |left| alone.budget.at_most(left));
        let question = RobustnessQuestion { budget, ..alone };
        let answer = ask(program, &question, std::slice::from_ref(attack), start, &mut one);
        here.states += one.states;
        let share = match &answer {
            Ok(found) if found.found.is_some() => Share::Feasible,
            Ok(found) if found.limit.is_none() => Share::Infeasible,
            Ok(_) | Err(_) => Share::Open,
        };
        told.extend([number as u64, share as u64]);
        if share == Share::Feasible && !question.all {
            break;
        }
    }
    told[0] = here.states;
    let mut shares = vec![Share::Open; attacks.len()];
    for words in peers.tell(told)? {
        let Some((states, answers)) = words.split_first() else { continue };
        explored.states += states;
        for answer in answers.chunks_exact(2) {
            if let Some(share) = shares.get_mut(answer[0] as usize) {
                *share = [Share::Infeasible, Share::Feasible, Share::Open][answer[1] as usize % 3];
            }
        }
    }
    Ok(shares)
}

/// Asks about one attack, with what is known of it from the spread queries. `None`: it is infeasible.
pub(super) fn ask_once_more(
    program: &Program,
    question: &RobustnessQuestion,
    attack: &Attack,
    share: Share,
    start: Instant,
    explored: &mut RobustnessEffort,
) -> Result<Option<ravelin_machine::attack::Query>, AnalysisError> {
    let attack = std::slice::from_ref(attack);
    match share {
        Share::Infeasible => Ok(None),
        // It was answered within few states, which were counted there. Without other limits all processes come to the same run.
        Share::Feasible => {
            let alone = alone(question);
            let limits = Limits { states: alone.budget.limits.states, ..Limits::default() };
            let again = RobustnessQuestion { budget: Budget { limits, stop: None, ..alone.budget }, ..alone };
            ask(program, &again, attack, start, &mut RobustnessEffort::default()).map(Some)
        }
        Share::Open => ask(program, question, attack, start, explored).map(Some),
    }
}
