//! Making a certificate: the unreduced search, and its antichain written down.

use super::data::{ConstraintData, FORMAT, LocalStateData, MessageData, ReachabilityCertificate, ThreadConstraint};
use super::plain::{Plain, PlainMessage, PlainSteps};
use crate::AnalysisError;
use crate::reachability::ReachabilityQuestion;
use crate::reachability::control::{ControlIndex, ControlSets};
use crate::reachability::dual::goal::goal_cases;
use crate::reachability::finite::{CellPair, ControlPoint, Finite, LocalState};
use ravelin_backward::{BackwardEnd, BackwardSearch, FileId, MonotonicSystem};
use ravelin_explore::Watch;
use ravelin_program::{Program, Value};
use rustc_hash::FxHashMap;

/// A certificate that no goal can be reached under TSO; `None` if one can, or if a limit was hit before that was proved.
pub fn certify(
    program: &Program,
    question: &ReachabilityQuestion,
) -> Result<Option<ReachabilityCertificate>, AnalysisError> {
    match prove(program, question) {
        Err(AnalysisError::Limit(_)) => Ok(None),
        proof => proof,
    }
}

fn prove(program: &Program, question: &ReachabilityQuestion) -> Result<Option<ReachabilityCertificate>, AnalysisError> {
    let watch = Watch::new(question.budget, "preparing the proof");
    let finite = Finite::new(program, &watch)?;
    let mut steps = PlainSteps::new(&finite);
    let goals: Vec<(usize, Plain)> = goals(&finite, &mut steps, &watch)?.into_iter().enumerate().collect();
    let system = SingleSteps { steps, index: ControlIndex::default(), numbered: true, watch: &watch };
    let mut search = BackwardSearch::new(system, &watch);
    if search.run(goals) != BackwardEnd::Unreachable || !search.system.numbered {
        return Ok(None);
    }
    let kept = search.antichain.minimal();
    Ok(Some(write(&search.system.steps, &finite.program.name, kept)))
}

/// The goals as constraints.
pub(super) fn goals(finite: &Finite, steps: &mut PlainSteps, watch: &Watch) -> Result<Vec<Plain>, AnalysisError> {
    let (threads, cases) = goal_cases(finite, watch)?;
    let cases = cases.into_iter().map(|case| {
        let states = |(thread, control): (usize, u32)| {
            let states = threads[thread].set_of(control).map_or(vec![control], |set| set.members.clone());
            steps.control(thread, states)
        };
        Plain {
            controls: case.controls.into_iter().enumerate().map(states).collect(),
            words: vec![Vec::new(); finite.threads.len()],
            memory: case.memory.into_iter().map(|value| value.checked_sub(1).map(|value| value as u16)).collect(),
        }
    });
    Ok(cases.collect())
}

/// The single steps, for the search.
struct SingleSteps<'a> {
    steps: PlainSteps<'a>,
    index: ControlIndex,
    /// No message was left without a number.
    numbered: bool,
    watch: &'a Watch<'a>,
}

impl ControlSets for PlainSteps<'_> {
    fn is_set(&self, thread: usize, control: u32) -> bool {
        self.set(thread, control).is_some()
    }

    fn control_covers(&self, thread: usize, small: u32, large: u32) -> bool {
        PlainSteps::control_covers(self, thread, small, large)
    }
}

impl MonotonicSystem for SingleSteps<'_> {
    type Constraint = Plain;
    type Step = ();

    fn predecessors(&mut self, of: &Plain, found: &mut Vec<((), Plain)>) {
        if self.watch.step().is_err() {
            return;
        }
        let mut plain = Vec::new();
        self.numbered &= self.steps.predecessors(of, &mut plain);
        found.extend(plain.into_iter().map(|before| ((), before)));
    }

    fn is_initial(&self, configuration: &Plain) -> bool {
        self.steps.is_initial(configuration)
    }

    fn covers(&self, small: &Plain, large: &Plain) -> bool {
        self.steps.covers(small, large)
    }

    fn signature(&self, configuration: &Plain) -> u128 {
        let letters = configuration.words.iter().enumerate().flat_map(|(thread, word)| {
            word.iter().map(move |letter| 64 + (thread * 23 + usize::from(*letter) * 7) % 64)
        });
        let cells = configuration.memory.iter().enumerate();
        let known = cells.filter_map(|(cell, value)| value.map(|value| (cell * 11 + usize::from(value)) % 64));
        letters.chain(known).fold(0, |signature, place| signature | 1 << place)
    }

    fn files(&mut self, configuration: &Plain, files: &mut Vec<FileId>) {
        files.push(self.index.file(&self.steps, configuration.controls.len(), |thread| configuration.controls[thread]));
    }

    fn in_smaller_files(&self, configuration: &Plain, covers: impl FnMut(FileId) -> bool) -> bool {
        self.index.in_smaller_files(&self.steps, |thread| configuration.controls[thread], covers)
    }

    fn bytes(&self, configuration: &Plain) -> usize {
        let words: usize = configuration.words.iter().map(|word| 24 + 2 * word.len()).sum();
        words + 4 * configuration.controls.len() + 4 * configuration.memory.len()
    }
}

fn write<'a>(steps: &PlainSteps, name: &str, constraints: impl Iterator<Item = &'a Plain>) -> ReachabilityCertificate {
    let finite = steps.finite;
    let told = |(cell, value): &CellPair| pair(finite, *cell as usize, *value);
    let mut numbers: Vec<FxHashMap<u32, usize>> = vec![FxHashMap::default(); finite.threads.len()];
    let mut controls: Vec<Vec<Vec<LocalStateData>>> = vec![Vec::new(); finite.threads.len()];
    let mut written = Vec::new();
    for constraint in constraints {
        let threads = constraint.controls.iter().zip(&constraint.words).enumerate();
        let threads = threads.map(|(thread, (control, word))| {
            let number = *numbers[thread].entry(*control).or_insert_with(|| {
                let states = steps.states(thread, control).iter();
                let states = states.map(|state| local_state(finite, &finite.threads[thread].states[*state as usize]));
                controls[thread].push(states.collect());
                controls[thread].len() - 1
            });
            ThreadConstraint { control: number, word: word.clone() }
        });
        let threads = threads.collect();
        let memory = constraint.memory.iter().enumerate();
        let memory = memory.filter_map(|(cell, value)| value.map(|value| pair(finite, cell, value)));
        written.push(ConstraintData { threads, memory: memory.collect() });
    }
    let message = |message: &PlainMessage| match message {
        PlainMessage::Memory(pairs) => MessageData::Memory(pairs.iter().map(told).collect()),
        PlainMessage::Own(pair) => MessageData::Own(told(pair)),
    };
    ReachabilityCertificate {
        format: FORMAT.to_owned(),
        program: name.to_owned(),
        messages: steps.messages.iter().map(message).collect(),
        controls,
        constraints: written,
    }
}

fn pair(finite: &Finite, cell: usize, value: u16) -> (Value, Value) {
    let cell = &finite.cells[cell];
    (cell.address, cell.values[usize::from(value)])
}

/// A local state in the words of a certificate.
pub(super) fn local_state(finite: &Finite, state: &LocalState) -> LocalStateData {
    let (location, failure) = match state.place {
        ControlPoint::At(location) => (Some(location.0), None),
        ControlPoint::Failed(failure) => {
            (None, Some((failure.transition.0, failure.fault.map(|fault| fault.to_string()))))
        }
    };
    LocalStateData {
        location,
        failure,
        registers: state.registers.to_vec(),
        holds_bus: state.holds_bus,
        stranded: state.stranded.iter().map(|(cell, value)| pair(finite, *cell as usize, *value)).collect(),
    }
}
