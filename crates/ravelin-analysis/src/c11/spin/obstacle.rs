//! Why a loop is no loop that only waits, in words.

use super::regions::may_be_attempted;
use ravelin_program::{Address, Instruction, Program, Show, Thread};
use std::fmt;

/// What keeps a loop from being rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpinObstacle {
    /// It writes this cell also when it goes round again.
    Stores(String),
    /// It does something else that other threads or goals could notice.
    Does(&'static str),
    /// What a failed attempt leaves in this register is used.
    Register(String),
    /// It reads several cells that other threads write, or one of them several times.
    Cells(Vec<String>),
    /// The cell is accessed non-atomically too, so that a failed attempt may be a data race.
    NonAtomic(String),
    /// It branches in another way than by a condition and its opposite.
    Choice,
    /// A label stands inside of it.
    Label(String),
    /// A step of a failed attempt may fault.
    Fault(String),
    /// Which cell it reads depends on what it reads.
    Address(String),
    /// There is no way out.
    Endless,
    /// There is a way into its middle.
    Entered,
    /// It has another loop inside that is not rewritten.
    Nested,
    /// An access that would go has an order or a fence that matters.
    Orders(String),
    /// No instruction computes the new value of this cell from the old one.
    NewValue(String),
    /// It has too many steps to look at.
    Large,
}

impl SpinObstacle {
    /// The first step that no loop that only waits has.
    pub(super) fn of_step(program: &Program, thread: &Thread, instruction: &Instruction) -> Option<SpinObstacle> {
        if may_be_attempted(instruction) {
            return None;
        }
        let cell = |address| SpinObstacle::Stores(cell_name(program, thread, address));
        Some(match instruction {
            Instruction::Havoc { .. } => SpinObstacle::Does("chooses a value"),
            Instruction::Assert(_) => SpinObstacle::Does("has an assertion"),
            Instruction::Locked { .. } => SpinObstacle::Does("has a locked block"),
            Instruction::BusLock | Instruction::BusUnlock => SpinObstacle::Does("uses the bus lock"),
            other => match other.accesses().first() {
                Some(access) => cell(access.address),
                None => SpinObstacle::Does("does more than wait"),
            },
        })
    }
}

/// A cell as it is written in the source.
pub(super) fn cell_name(program: &Program, thread: &Thread, address: &Address) -> String {
    Show::bare(program, thread).address(address)
}

impl fmt::Display for SpinObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpinObstacle::Stores(cell) => write!(f, "the loop stores to `{cell}`"),
            SpinObstacle::Does(what) => write!(f, "the loop {what}"),
            SpinObstacle::Register(register) => write!(f, "what a failed attempt leaves in `{register}` is used"),
            SpinObstacle::Cells(cells) => match cells.as_slice() {
                [once] => write!(f, "it reads `{once}`, which other threads write, several times"),
                cells => {
                    let names: Vec<String> = cells.iter().map(|cell| format!("`{cell}`")).collect();
                    write!(f, "it reads {} cells that other threads write: {}", cells.len(), names.join(", "))
                }
            },
            SpinObstacle::NonAtomic(cell) => {
                write!(f, "`{cell}` is accessed non-atomically too, so a failed attempt may be a data race")
            }
            SpinObstacle::Choice => write!(f, "it chooses between several ways, or has an assumption"),
            SpinObstacle::Label(label) => write!(f, "the label `@{label}` stands inside"),
            SpinObstacle::Fault(what) => write!(f, "`{what}` may fault in a failed attempt"),
            SpinObstacle::Address(cell) => write!(f, "which cell `{cell}` is depends on what the loop reads"),
            SpinObstacle::Endless => write!(f, "it never ends"),
            SpinObstacle::Entered => write!(f, "there is a way into its middle"),
            SpinObstacle::Nested => write!(f, "it has another loop inside"),
            SpinObstacle::Orders(cell) => {
                write!(f, "the load of `{cell}` before the compare-exchange is stronger than the compare-exchange")
            }
            SpinObstacle::NewValue(cell) => write!(f, "no instruction computes the new value of `{cell}` in one step"),
            SpinObstacle::Large => write!(f, "it has too many steps"),
        }
    }
}
