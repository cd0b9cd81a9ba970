//! A run, step by step, and what memory, registers and store buffers hold after each step.
//!
//! A document tells what there is at the beginning and what each step changes; [`Run::after`] and [`Run::states`] replay the changes.
//! Steps that nobody wrote (parts of the evaluation of a condition) change nothing that is shown, and are left out.

use super::Wrong;
use serde::Deserialize;

/// A run of a program.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub threads: Vec<Thread>,
    /// What memory holds at the beginning, in the order of addresses.
    pub memory: Vec<Cell>,
    /// Stores wait in buffers: the model is tso or pso.
    pub buffered: bool,
    pub steps: Vec<Step>,
    /// By number in the document: which of the steps it is, or the one after it if it is left out.
    pub(super) places: Vec<usize>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Thread {
    #[serde(rename = "thread")]
    pub name: String,
    /// What they hold at the beginning.
    pub registers: Vec<Register>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Cell {
    pub cell: String,
    pub value: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Register {
    pub register: String,
    pub value: i64,
}

#[derive(Clone, Debug)]
pub struct Step {
    /// Which of the run's threads.
    pub thread: usize,
    /// The part of an attack's computation that it belongs to: `τ1`, `isu`, `ld`, `st` and so on.
    pub part: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// The instruction, or what reaches memory.
    pub text: String,
    /// A pending store reaches memory.
    pub flush: bool,
    /// What it does, in words: `reads x = 0 before y is in memory`. Empty if the text says it all.
    pub effect: String,
    pub reads: Vec<Access>,
    pub writes: Vec<Access>,
    /// Cells whose value in memory changed.
    pub memory: Vec<Cell>,
    /// The thread's registers whose value changed.
    pub registers: Vec<Register>,
    /// After the step, by thread, oldest first.
    pub buffers: Vec<Vec<Entry>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Access {
    pub cell: String,
    pub value: i64,
    pub place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Memory,
    Buffer,
}

/// What waits in a store buffer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    Store(Cell),
    /// Under pso: what is before reaches memory before what is after.
    Marker(Marker),
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Marker {
    Marker,
}

/// What there is after some steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub memory: Vec<Cell>,
    /// By thread.
    pub registers: Vec<Vec<Register>>,
    /// By thread, oldest first.
    pub buffers: Vec<Vec<Entry>>,
}

impl Run {
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

    /// The lines of the source that take part, each once.
    pub fn lines(&self) -> Vec<u32> {
        let mut lines: Vec<u32> = self.steps.iter().filter_map(|step| step.line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    pub fn thread_name(&self, step: &Step) -> &str {
        self.threads.get(step.thread).map_or("?", |thread| &thread.name)
    }
}

impl State {
    fn follow(&mut self, step: &Step) {
        for changed in &step.memory {
            match self.memory.iter_mut().find(|cell| cell.cell == changed.cell) {
                Some(cell) => cell.value = changed.value,
                // A cell without a name of its own, which is not told before it holds something.
                None => self.memory.push(changed.clone()),
            }
        }
        if let Some(registers) = self.registers.get_mut(step.thread) {
            for changed in &step.registers {
                match registers.iter_mut().find(|register| register.register == changed.register) {
                    Some(register) => register.value = changed.value,
                    None => registers.push(changed.clone()),
                }
            }
        }
        self.buffers.clone_from(&step.buffers);
    }
}

/// What there is before the first step, as a document has it.
#[derive(Deserialize)]
pub struct RawInitial {
    threads: Vec<Thread>,
    memory: Vec<Cell>,
}

/// A step, as a document has it.
#[derive(Deserialize)]
pub struct RawStep {
    thread: String,
    part: Option<String>,
    kind: RawKind,
    line: Option<u32>,
    column: Option<u32>,
    text: String,
    internal: bool,
    reads: Vec<Access>,
    writes: Vec<Access>,
    memory: Vec<Cell>,
    registers: Vec<Register>,
    buffers: Vec<Vec<Entry>>,
}

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawKind {
    Step,
    Flush,
}

impl RawStep {
    pub fn is_part(&self, part: &str) -> bool {
        self.part.as_deref() == Some(part)
    }

    pub fn loads(&self) -> bool {
        !self.reads.is_empty()
    }
}

/// A run from its parts.
pub fn run(initial: RawInitial, steps: Vec<RawStep>, buffered: bool) -> Result<Run, Wrong> {
    let RawInitial { threads, memory } = initial;
    let mut run = Run { threads, memory, buffered, ..Run::default() };
    for (number, raw) in steps.into_iter().enumerate() {
        run.places.push(run.steps.len());
        if raw.internal {
            continue;
        }
        let wrong = |what: &str| Wrong(format!("step {}: {what}", number + 1));
        let thread = run.threads.iter().position(|thread| thread.name == raw.thread);
        let thread = thread.ok_or_else(|| wrong(&format!("there is no thread `{}`", raw.thread)))?;
        if raw.buffers.len() != run.threads.len() {
            return Err(wrong("it does not have a buffer for each thread"));
        }
        let effect = effect(&raw, thread);
        run.steps.push(Step {
            thread,
            part: raw.part,
            line: raw.line,
            column: raw.column,
            text: raw.text,
            flush: raw.kind == RawKind::Flush,
            effect,
            reads: raw.reads,
            writes: raw.writes,
            memory: raw.memory,
            registers: raw.registers,
            buffers: raw.buffers,
        });
    }
    Ok(run)
}

/// A step in a few words: what was read and from where, what changed.
fn effect(step: &RawStep, thread: usize) -> String {
    let mut parts = Vec::new();
    for read in &step.reads {
        let how = match read.place {
            Place::Buffer => " from its own buffer".to_owned(),
            Place::Memory => overtaken(&step.buffers[thread]),
        };
        parts.push(format!("reads {} = {}{how}", read.cell, read.value));
    }
    if step.kind == RawKind::Step {
        let written = step.writes.iter().filter(|write| write.place == Place::Memory);
        parts.extend(written.map(|write| format!("writes {} = {}", write.cell, write.value)));
    }
    if step.reads.is_empty() {
        parts.extend(step.registers.iter().map(|changed| format!("{} = {}", changed.register, changed.value)));
    }
    parts.join(", ")
}

/// The thread's own stores that a read of memory came before.
fn overtaken(buffer: &[Entry]) -> String {
    let mut cells: Vec<&str> = Vec::new();
    for entry in buffer {
        if let Entry::Store(store) = entry
            && !cells.contains(&store.cell.as_str())
        {
            cells.push(&store.cell);
        }
    }
    if cells.is_empty() { String::new() } else { format!(" before {} is in memory", cells.join(", ")) }
}
