//! A run: the state before the first step, and the effect of each step.

use crate::attack::WitnessPart;
use ravelin_program::{Position, Value};
use serde::{Deserialize, Serialize};

/// The state before the first step. A large memory is restricted to the cells that the run touches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitialState {
    /// Every thread, in the order of the program.
    pub threads: Vec<InitialThread>,
    /// Memory.
    pub memory: Vec<CellValue>,
}

/// A thread, and its registers without the hidden ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitialThread {
    /// Its name.
    pub thread: String,
    /// Their values.
    pub registers: Vec<RegisterValue>,
}

/// A cell of memory and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellValue {
    /// Its name.
    pub cell: String,
    /// Its value.
    pub value: Value,
    /// The value as the program names it: of an `enum`, or an unsigned number that is no signed one. Omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A register and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisterValue {
    /// Its name.
    pub register: String,
    /// Its value.
    pub value: Value,
    /// The value as the program names it, as for a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunStep {
    /// Its thread.
    pub thread: String,
    /// What kind of step.
    pub kind: RunStepKind,
    /// The position of its instruction.
    #[serde(flatten, with = "crate::place")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
    pub position: Option<Position>,
    /// The instruction, or the store that reaches memory.
    pub text: String,
    /// The calls of functions that the step is a part of, innermost first. Omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<StepCall>,
    /// Part of the evaluation of a condition, not in the source.
    pub internal: bool,
    /// It waits until the thread's own stores are in memory: a fence, or a locked instruction. Omitted if it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drains: bool,
    /// What it read.
    pub reads: Vec<StepAccess>,
    /// What the store or the flush wrote, and where.
    pub writes: Vec<StepAccess>,
    /// Cells whose value in memory changed.
    pub memory: Vec<CellValue>,
    /// Registers of the thread whose value changed.
    pub registers: Vec<RegisterValue>,
    /// By thread: its pending stores after the step, oldest first.
    pub buffers: Vec<Vec<BufferEntry>>,
    /// For an attack's computation: the part that contains the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<WitnessPart>,
}

/// A call of a function of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepCall {
    /// The function.
    pub function: String,
    /// Where it is called.
    #[serde(flatten, with = "crate::place")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
    pub position: Option<Position>,
}

/// What kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunStepKind {
    /// A thread executes an instruction.
    Step,
    /// A pending store reaches memory.
    Flush,
}

impl CellValue {
    /// The value for users.
    pub fn shown(&self) -> String {
        shown(self.value, self.name.as_deref())
    }
}

impl RegisterValue {
    /// The value for users.
    pub fn shown(&self) -> String {
        shown(self.value, self.name.as_deref())
    }
}

impl StepAccess {
    /// The value for users.
    pub fn shown(&self) -> String {
        shown(self.value, self.name.as_deref())
    }
}

fn shown(value: Value, name: Option<&str>) -> String {
    name.map_or_else(|| value.to_string(), str::to_owned)
}

impl RunStep {
    /// The calls that it is a part of, in words: ` in acquire (from line 30)`.
    pub fn within(&self) -> String {
        let call = |call: &StepCall| match call.position {
            Some(position) => format!(" in {} (from line {})", call.function, position.line),
            None => format!(" in {}", call.function),
        };
        self.calls.iter().map(call).collect()
    }

    /// Whether a pending store reaches memory.
    pub fn is_flush(&self) -> bool {
        self.kind == RunStepKind::Flush
    }
}

/// A cell that was read or written, with the value, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepAccess {
    /// The cell.
    pub cell: String,
    /// The value that was read or written.
    pub value: Value,
    /// The value as the program names it, as for a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it was read or written.
    pub place: AccessStorage,
}

/// Where a value came from, or went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccessStorage {
    /// Memory.
    Memory,
    /// The thread's own store buffer.
    Buffer,
    /// Under ra and rc20: a write that is not the latest in modification order.
    Older,
}

/// An entry of a store buffer: a store, or under PSO the word `marker`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "EntryDocument", into = "EntryDocument")]
pub enum BufferEntry {
    /// A pending store.
    Store(CellValue),
    /// Under PSO: entries before it reach memory before entries after it.
    Marker,
}

/// A buffer entry as it appears in a document.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum EntryDocument {
    Store(CellValue),
    Word(Word),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum Word {
    Marker,
}

impl From<EntryDocument> for BufferEntry {
    fn from(entry: EntryDocument) -> BufferEntry {
        match entry {
            EntryDocument::Store(store) => BufferEntry::Store(store),
            EntryDocument::Word(Word::Marker) => BufferEntry::Marker,
        }
    }
}

impl From<BufferEntry> for EntryDocument {
    fn from(entry: BufferEntry) -> EntryDocument {
        match entry {
            BufferEntry::Store(store) => EntryDocument::Store(store),
            BufferEntry::Marker => EntryDocument::Word(Word::Marker),
        }
    }
}
