//! A run, step by step, and the values of memory, registers and store buffers after each step.
//!
//! A document contains the initial state and the changes of each step; [`RunView::after`] and [`RunView::states`] replay the
//! changes. Steps that are not in the source (parts of the evaluation of a condition) change nothing that is shown, and
//! are omitted.

use ravelin_answer::text::effect;
use ravelin_answer::{
    self as answer, BufferEntry, CellValue, InitialState, InitialThread, RegisterValue, StepAccess, WitnessPart,
};

/// A run of a program.
#[derive(Clone, Debug, Default)]
pub struct RunView {
    pub threads: Vec<InitialThread>,
    /// The initial values of memory, in the order of addresses.
    pub memory: Vec<CellValue>,
    /// Stores wait in buffers: the model is tso or pso.
    pub buffered: bool,
    pub steps: Vec<Step>,
    /// By number in the document: its index among the steps, or that of the next step if it is omitted.
    pub(super) places: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct Step {
    /// Which of the run's threads.
    pub thread: usize,
    /// The part of an attack's computation that contains it: `τ1`, `isu`, `ld`, `st` or another.
    pub part: Option<WitnessPart>,
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// The instruction, or the store that reaches memory.
    pub text: String,
    /// A pending store reaches memory.
    pub flush: bool,
    /// Its effect in words: `reads x = 0 before y is in memory`. Empty if the text is enough.
    pub effect: String,
    pub reads: Vec<StepAccess>,
    pub writes: Vec<StepAccess>,
    /// Cells whose value in memory changed.
    pub memory: Vec<CellValue>,
    /// The thread's registers whose value changed.
    pub registers: Vec<RegisterValue>,
    /// After the step, by thread, oldest first.
    pub buffers: Vec<Vec<BufferEntry>>,
}

/// The state after some steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub memory: Vec<CellValue>,
    /// By thread.
    pub registers: Vec<Vec<RegisterValue>>,
    /// By thread, oldest first.
    pub buffers: Vec<Vec<BufferEntry>>,
}

impl RunView {
    /// Memory, registers and buffers before the first step.
    pub fn initial(&self) -> State {
        State {
            memory: self.memory.clone(),
            registers: self.threads.iter().map(|thread| thread.registers.clone()).collect(),
            buffers: vec![Vec::new(); self.threads.len()],
        }
    }

    /// Memory, registers and buffers after the first `steps` steps.
    pub fn after(&self, steps: usize) -> State {
        let mut state = self.initial();
        self.steps.iter().take(steps).for_each(|step| state.follow(step));
        state
    }

    /// The state before the first step, and after each.
    pub fn states(&self) -> impl Iterator<Item = State> {
        let mut state = self.initial();
        std::iter::once(state.clone()).chain(self.steps.iter().map(move |step| {
            state.follow(step);
            state.clone()
        }))
    }

    /// The relevant lines of the source, each once.
    pub fn lines(&self) -> Vec<usize> {
        let mut lines: Vec<usize> = self.steps.iter().filter_map(|step| step.line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    pub fn thread_name(&self, step: &Step) -> &str {
        self.threads.get(step.thread).map_or("?", |thread| &thread.thread)
    }
}

impl State {
    fn follow(&mut self, step: &Step) {
        for changed in &step.memory {
            match self.memory.iter_mut().find(|cell| cell.cell == changed.cell) {
                Some(cell) => cell.clone_from(changed),
                // A cell without a name, which is not shown before it holds a value.
                None => self.memory.push(changed.clone()),
            }
        }
        if let Some(registers) = self.registers.get_mut(step.thread) {
            for changed in &step.registers {
                match registers.iter_mut().find(|register| register.register == changed.register) {
                    Some(register) => register.clone_from(changed),
                    None => registers.push(changed.clone()),
                }
            }
        }
        self.buffers.clone_from(&step.buffers);
    }
}

/// A run from its parts.
pub fn run(initial: &InitialState, steps: &[answer::RunStep], buffered: bool) -> RunView {
    let InitialState { threads, memory } = initial.clone();
    let mut run = RunView { threads, memory, buffered, ..RunView::default() };
    for step in steps {
        run.places.push(run.steps.len());
        if step.internal {
            continue;
        }
        run.steps.push(Step {
            thread: run.threads.iter().position(|thread| thread.thread == step.thread).unwrap_or_default(),
            part: step.part,
            line: step.position.map(|at| at.line),
            column: step.position.map(|at| at.column),
            text: format!("{}{}", step.text, step.within()),
            flush: step.is_flush(),
            effect: effect(&run.threads, step),
            reads: step.reads.clone(),
            writes: step.writes.clone(),
            memory: step.memory.clone(),
            registers: step.registers.clone(),
            buffers: step.buffers.clone(),
        });
    }
    run
}
