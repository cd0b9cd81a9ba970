//! A finite view of a program: every register and every cell with the values it can hold, and each thread as an explicit
//! graph of local states.
//!
//! Backward searches over upward-closed sets need finite domains. They are not asked for but inferred: a fixpoint over sets of
//! values, flow-sensitive in registers (a local state is a location and the live registers) and flow-insensitive in memory
//! (a load may give any value ever stored in the cell). Once it is there registers are gone: what is left of a thread is a
//! graph whose edges read, store, fence or do several of these in one locked step, with constant cells and values. Computed
//! addresses are resolved on the way, so the cells that exist are known too.
//!
//! Values are found in rounds, one store further in each. In a program whose loops do not store, the number of stores bounds the
//! rounds, so that it is finite whatever it computes.
//!
//! Failed assertions and faults are edges to local states of their own ([`ControlPoint::Failed`]), so that a search needs one kind of
//! goal only. Where a set does not become finite, the variable or register is named ([`NotFinite`]).
//!
//! The bus lock is part of the local state of the thread that holds it. A store that another thread's bus lock keeps in its
//! buffer for ever is an edge to a *stranded* local state, which remembers what is pending: see [`LocalState::stranded`].
//!
//! Costs: the product of a thread's live values at each location, times the values of the cells it reads there. A watch keeps this within
//! the budget, and counts what the view holds.

mod explore;
pub(crate) mod liveness;
mod refusal;
mod rounds;
mod steps;

pub use refusal::NotFinite;

use ravelin_explore::Watch;
use ravelin_program::{Fault, HardwareProgram, LocId, Program, TransitionId, Value};

/// Index of a [`FiniteCell`].
pub type CellId = u16;
/// Index into [`FiniteCell::values`].
pub type ValueId = u16;
/// Index of a [`LocalState`] in its thread's graph.
pub type LocalStateId = u32;
/// A cell with a value it holds, or gets.
pub type CellPair = (CellId, ValueId);

/// The finite view.
#[derive(Clone, Debug)]
pub struct Finite {
    /// After the x86 mapping; transitions are those of [`ravelin_semantics::Action`].
    pub program: HardwareProgram,
    pub cells: Vec<FiniteCell>,
    pub threads: Vec<LocalGraph>,
    /// Some thread may take the bus lock.
    pub has_bus: bool,
}

/// A memory cell that some thread may access, or a goal speaks of.
#[derive(Clone, Debug)]
pub struct FiniteCell {
    pub address: Value,
    /// Everything it can hold, and everything that may be pending for it.
    pub values: Vec<Value>,
    /// How many of the first values it may start with.
    pub initial: usize,
}

/// What one thread can do by itself.
#[derive(Clone, Debug)]
pub struct LocalGraph {
    pub states: Vec<LocalState>,
    pub edges: Vec<LocalEdge>,
    pub initial: LocalStateId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocalState {
    pub place: ControlPoint,
    /// All registers; those that are not live are 0.
    pub registers: Box<[Value]>,
    pub holds_bus: bool,
    /// Not empty: some stores of the thread will never reach memory (somebody else holds the bus lock until the end of the
    /// run), and these are the newest ones for each cell. Sorted by cell.
    pub stranded: Box<[CellPair]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlPoint {
    At(LocId),
    Failed(LocalFailure),
}

/// An assertion that fails, or a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocalFailure {
    pub transition: TransitionId,
    /// `None` for an assertion.
    pub fault: Option<Fault>,
}

/// A step of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalEdge {
    pub from: LocalStateId,
    pub to: LocalStateId,
    pub effect: EdgeEffect,
    /// What it is in the program. An edge to a failed place is the refusal of this transition.
    pub transition: TransitionId,
    pub choice: Value,
}

/// What an edge does beyond the thread's own registers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeEffect {
    Local,
    /// Reads these cells at one moment, each as the thread sees it: its own newest pending store, else memory. Sorted by cell.
    Load(Box<[CellPair]>),
    Store(CellPair),
    /// Needs an empty store buffer.
    Fence,
    /// Needs an empty store buffer and the bus free of others; reads and then writes memory. Both sorted by cell.
    Atomic {
        reads: Box<[CellPair]>,
        writes: Box<[CellPair]>,
    },
    /// Needs an empty store buffer and the bus free.
    BusLock,
    /// Needs an empty store buffer.
    BusUnlock,
}

impl EdgeEffect {
    /// Concerns nobody but the thread and what it has seen of memory.
    pub fn is_silent(&self) -> bool {
        matches!(self, EdgeEffect::Local | EdgeEffect::Load(_))
    }
}

impl Finite {
    /// The finite view of a program, or what keeps it from being finite.
    pub fn new(program: &Program, watch: &Watch) -> Result<Finite, NotFinite> {
        explore::finite(program, explore::ViewFocus { any_number: false, constant_cells: false }, watch)
    }

    /// The finite view of a program with any number of copies of some threads, which are one graph each.
    pub fn of_templates(program: &Program, watch: &Watch) -> Result<Finite, NotFinite> {
        explore::finite(program, explore::ViewFocus { any_number: true, constant_cells: false }, watch)
    }

    /// The same with every access: those to cells that only ever hold one value, too. They tell nobody anything, and yet they are
    /// ordered by happens-before.
    pub fn of_accesses(program: &Program, watch: &Watch) -> Result<Finite, NotFinite> {
        explore::finite(program, explore::ViewFocus { any_number: true, constant_cells: true }, watch)
    }

    pub fn find_cell(&self, address: Value) -> Option<CellId> {
        self.cells.iter().position(|cell| cell.address == address).map(|cell| cell as CellId)
    }
}

impl FiniteCell {
    pub fn find(&self, value: Value) -> Option<ValueId> {
        self.values.iter().position(|known| *known == value).map(|value| value as ValueId)
    }
}
