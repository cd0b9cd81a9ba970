//! Checking a certificate against a program.

use super::data::{ConstraintData, FORMAT, MessageData, ReachabilityCertificate};
use super::make::{goals, local_state};
use super::plain::{Plain, PlainMessage, PlainSteps};
use crate::AnalysisError;
use crate::reachability::finite::{CellPair, Finite, LocalStateId};
use ravelin_backward::nets::CertificateSize;
use ravelin_explore::Watch;
use ravelin_program::{Program, Value};
use rustc_hash::FxHashMap;
use thiserror::Error;

/// Why a certificate proves nothing.
#[derive(Clone, Debug, Error)]
pub enum ReachabilityFlaw {
    #[error("this is not a `{FORMAT}`")]
    Format,
    #[error("constraint {0} names threads, local states, cells or messages that this program does not have")]
    OtherProgram(usize),
    #[error("goal {0} is not among the constraints")]
    GoalMissing(usize),
    #[error("constraint {0} allows an initial state")]
    Initial(usize),
    #[error("a step leads into constraint {0} from where no constraint holds")]
    NotClosed(usize),
    #[error("there are too many messages to check")]
    TooManyMessages,
    #[error(transparent)]
    Program(#[from] AnalysisError),
}

/// Checks that a certificate proves that no goal of the program can be reached under TSO.
pub fn check(program: &Program, certificate: &ReachabilityCertificate) -> Result<CertificateSize, ReachabilityFlaw> {
    if certificate.format != FORMAT {
        return Err(ReachabilityFlaw::Format);
    }
    let finite = Finite::new(program, &Watch::unlimited()).map_err(AnalysisError::from)?;
    let mut steps = PlainSteps::new(&finite);
    let constraints = read(&finite, &mut steps, certificate)?;
    let goals = goals(&finite, &mut steps, &Watch::unlimited())?;
    let mut index: FxHashMap<Vec<u32>, Vec<usize>> = FxHashMap::default();
    for (number, constraint) in constraints.iter().enumerate() {
        index.entry(constraint.controls.clone()).or_default().push(number);
    }
    let holds = |steps: &PlainSteps, state: &Plain| {
        // Every control that covers this one, thread by thread.
        let mut controls: Vec<Vec<u32>> = vec![Vec::new()];
        for (thread, control) in state.controls.iter().enumerate() {
            let first = finite.threads[thread].states.len() as u32;
            let sets = (first..first + steps.sets[thread].len() as u32).filter(|set| set != control);
            let covering: Vec<u32> = std::iter::once(*control)
                .chain(sets.filter(|set| steps.control_covers(thread, *set, *control)))
                .collect();
            let longer = controls
                .iter()
                .flat_map(|row| covering.iter().map(move |control| [row.as_slice(), &[*control]].concat()));
            controls = longer.collect();
        }
        let candidates = controls.iter().filter_map(|controls| index.get(controls)).flatten();
        candidates.into_iter().any(|number| steps.covers(&constraints[*number], state))
    };
    for (number, goal) in goals.iter().enumerate() {
        if !holds(&steps, goal) {
            return Err(ReachabilityFlaw::GoalMissing(number));
        }
    }
    let mut count = 0;
    for (number, constraint) in constraints.iter().enumerate() {
        if steps.is_initial(constraint) {
            return Err(ReachabilityFlaw::Initial(number));
        }
        let mut before = Vec::new();
        if !steps.predecessors(constraint, &mut before) {
            return Err(ReachabilityFlaw::TooManyMessages);
        }
        count += before.len();
        if !before.iter().all(|state| holds(&steps, state)) {
            return Err(ReachabilityFlaw::NotClosed(number));
        }
    }
    Ok(CertificateSize { claims: goals.len(), constraints: constraints.len(), steps: count })
}

/// Translates a certificate into the numbers of this program.
fn read(
    finite: &Finite,
    steps: &mut PlainSteps,
    certificate: &ReachabilityCertificate,
) -> Result<Vec<Plain>, ReachabilityFlaw> {
    let mut letters = Vec::new();
    for message in &certificate.messages {
        let message = match message {
            MessageData::Memory(pairs) => {
                pairs.iter().map(|told| pair(finite, *told)).collect::<Option<Vec<_>>>().map(PlainMessage::Memory)
            }
            MessageData::Own(told) => pair(finite, *told).map(PlainMessage::Own),
        };
        let letter = message.ok_or(ReachabilityFlaw::OtherProgram(0)).map(|message| steps.letter(message))?;
        letters.push(letter.ok_or(ReachabilityFlaw::TooManyMessages)?);
    }
    if certificate.controls.len() != finite.threads.len() {
        return Err(ReachabilityFlaw::OtherProgram(0));
    }
    let mut controls: Vec<Vec<u32>> = Vec::new();
    for (thread, sets) in certificate.controls.iter().enumerate() {
        let states = finite.threads[thread].states.iter().enumerate();
        let numbers: FxHashMap<_, LocalStateId> =
            states.map(|(number, state)| (local_state(finite, state), number as LocalStateId)).collect();
        let mut known = Vec::new();
        for set in sets {
            let set: Option<Vec<LocalStateId>> = set.iter().map(|state| numbers.get(state).copied()).collect();
            let mut set = set.filter(|set| !set.is_empty()).ok_or(ReachabilityFlaw::OtherProgram(0))?;
            set.sort_unstable();
            set.dedup();
            known.push(steps.control(thread, set));
        }
        controls.push(known);
    }
    let constraints = certificate.constraints.iter().enumerate();
    constraints
        .map(|(number, constraint)| {
            translate(finite, &letters, &controls, constraint).ok_or(ReachabilityFlaw::OtherProgram(number))
        })
        .collect()
}

fn translate(finite: &Finite, letters: &[u16], controls: &[Vec<u32>], constraint: &ConstraintData) -> Option<Plain> {
    if constraint.threads.len() != finite.threads.len() {
        return None;
    }
    let mut plain = Plain { controls: Vec::new(), words: Vec::new(), memory: vec![None; finite.cells.len()] };
    for (thread, known) in constraint.threads.iter().zip(controls) {
        plain.controls.push(*known.get(thread.control)?);
        let word = thread.word.iter().map(|letter| letters.get(usize::from(*letter)).copied());
        plain.words.push(word.collect::<Option<Vec<u16>>>()?);
    }
    for told in &constraint.memory {
        let (cell, value) = pair(finite, *told)?;
        plain.memory[cell as usize] = Some(value);
    }
    Some(plain)
}

fn pair(finite: &Finite, (address, value): (Value, Value)) -> Option<CellPair> {
    let cell = finite.find_cell(address)?;
    Some((cell, finite.cells[cell as usize].find(value)?))
}
