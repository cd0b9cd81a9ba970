//! From a path of packed states to the steps of a run, each with the message that it reads and where its own stands.

use super::search::{MessageMachine, Successor, Successors};
use crate::expand::ReportNumber;
use crate::run::{Run, UnpackedState, UnreadablePath, Violation};
use crate::step::StepOutcome;
use ravelin_program::{ThreadId, TransitionId, Value};
use ravelin_semantics::Action;

/// A run under release/acquire or RC20. Transition ids are those of the program as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRun {
    pub start: UnpackedState,
    pub steps: Vec<MessageStep<Value>>,
}

/// One step. Places in modification order count from the initial write, which is 0, as the order is when the step is taken. `C` is how
/// cells are named. Accesses of cells that have no messages read and write the latest value; they have no places here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageStep<C = usize> {
    pub action: Action,
    /// The write that it reads.
    pub reads: Option<(C, usize)>,
    /// The place of its own write.
    pub writes: Option<(C, usize)>,
}

impl MessageMachine<'_> {
    /// The run along a path.
    pub fn read_back(&self, path: &[&[u64]]) -> Result<MessageRun, UnreadablePath> {
        let Some((first, rest)) = path.split_first() else { return Err(UnreadablePath { step: 0 }) };
        let (Run { start, actions }, _) = self.machine.read_back(&[self.base(first)])?;
        let local = |action| MessageStep { action, reads: None, writes: None };
        let mut steps: Vec<MessageStep<Value>> = actions.into_iter().map(local).collect();
        // By cell: messages forgotten so far, which the places of packed states do not count.
        let mut forgotten = vec![0; self.slots().len()];
        let mut state = *first;
        let mut scratch = self.new_scratch();
        for (step, target) in rest.iter().enumerate() {
            let mut look = Look { target, found: None, thread: 0 };
            self.unpack(state, &mut scratch);
            for thread in 0..self.machine.threads.len() {
                look.thread = thread;
                if look.found.is_none() {
                    let moved = self.move_thread(thread, self.base(state), &mut scratch, &mut look);
                    moved.map_err(|_| UnreadablePath { step: step + 1 })?;
                }
            }
            let (taken, more, removed) = look.found.ok_or(UnreadablePath { step: step + 1 })?;
            let named = |place: Option<(usize, usize)>| {
                place.map(|(cell, position)| {
                    (self.machine.layout.addresses[self.slots()[cell]], forgotten[cell] + position)
                })
            };
            steps.push(MessageStep { action: taken.action, reads: named(taken.reads), writes: named(taken.writes) });
            steps.extend(more.into_iter().map(local));
            for (all, now) in forgotten.iter_mut().zip(removed) {
                *all += now;
            }
            state = target;
        }
        Ok(MessageRun { start, steps })
    }

    /// What a report says about a state.
    pub fn violation(&self, state: &[u64], report: u32) -> Option<Violation> {
        match self.machine.report_of(report) {
            ReportNumber::Goal(goal) => Some(Violation::Goal(goal)),
            ReportNumber::Assert { thread, step } => {
                Some(Violation::Assert { thread: ThreadId(thread), transition: TransitionId(step) })
            }
            ReportNumber::Fault { thread, step } => {
                let mut scratch = self.new_scratch();
                self.unpack(state, &mut scratch);
                let mut fault = FirstFault { step, fault: None };
                self.move_thread(thread, self.base(state), &mut scratch, &mut fault).ok()?;
                let fault = fault.fault?;
                Some(Violation::Fault { thread: ThreadId(thread), transition: TransitionId(step), fault })
            }
            ReportNumber::Deadlock => Some(Violation::Deadlock),
            ReportNumber::Final | ReportNumber::Stuck => None,
        }
    }
}

/// Looks for the step to a state.
struct Look<'a> {
    target: &'a [u64],
    found: Option<(MessageStep, Vec<Action>, Vec<usize>)>,
    thread: usize,
}

impl Successors for Look<'_> {
    fn successor(&mut self, successor: &Successor) {
        if self.found.is_none() && successor.state == self.target {
            let more = successor.chain.map(|(chain, node)| chain.actions(self.thread, node));
            self.found = Some((successor.step, more.unwrap_or_default(), successor.removed.to_vec()));
        }
    }

    fn trouble(&mut self, _: usize, _: usize, _: StepOutcome) {}
}

/// Looks for the fault of a step.
struct FirstFault {
    step: usize,
    fault: Option<ravelin_program::Fault>,
}

impl Successors for FirstFault {
    fn successor(&mut self, _: &Successor) {}

    fn trouble(&mut self, _: usize, step: usize, outcome: StepOutcome) {
        if let (true, None, StepOutcome::Fault(fault)) = (step == self.step, self.fault, outcome) {
            self.fault = Some(fault);
        }
    }
}
