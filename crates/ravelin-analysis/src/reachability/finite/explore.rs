//! The fixpoint: local states, cells and values, each found from the others until nothing is new.
//!
//! Values are stored in one round and read from the next on: every local state that reads a cell is then run again with the
//! new values only (a locked block, which may read several cells, with all of them). The edges are tidied up in the end: a cell
//! that only ever holds one value tells nobody anything, so reading it, or storing to it, is a local step.

use super::refusal::{self, line_of};
use super::rounds::most_stores;
use super::steps::{CellValues, LocalEnd, LocalOutcome, StartState, outcome_bytes, outcomes};
use super::{
    CellId, CellPair, ControlPoint, EdgeEffect, Finite, FiniteCell, LocalEdge, LocalFailure, LocalGraph, LocalState,
    LocalStateId, NotFinite,
};
use super::{ValueId, liveness::live_registers};
use ravelin_explore::Watch;
use ravelin_program::{
    Copies, Domain, HardwareProgram, InitialValue, Instruction, LocId, Observable, Program, ThreadId, TransitionId,
    Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most values of a cell or of a register.
const MOST_VALUES: usize = 4096;
const MOST_CELLS: usize = 4096;
const MOST_LOCAL_STATES: usize = 1 << 18;
/// Of all threads together.
const MOST_EDGES: usize = 1 << 20;
/// What an edge takes, roughly: in the set while the graph grows, and in the list in the end.
const EDGE_BYTES: usize = 2 * size_of::<LocalEdge>() + 32;

/// What to see.
#[derive(Clone, Copy)]
pub(super) struct ViewFocus {
    /// Threads may have any number of copies.
    pub any_number: bool,
    /// Accesses to cells that only ever hold one value are kept.
    pub constant_cells: bool,
}

pub(super) fn finite(program: &Program, view: ViewFocus, watch: &Watch) -> Result<Finite, NotFinite> {
    let program = HardwareProgram::new(program);
    refuse_at_once(&program, view)?;
    let mut fixpoint = Fixpoint::new(&program, watch)?;
    let rounds = most_stores(&program, watch)?;
    let mut round = 0;
    loop {
        while let Some(work) = fixpoint.work.pop() {
            fixpoint.run(work)?;
        }
        if rounds == Some(round) || !fixpoint.reveal()? {
            break;
        }
        round += 1;
    }
    let Fixpoint { memory, threads, has_bus, .. } = fixpoint;
    let threads = threads.into_iter().map(|thread| thread.finish(&memory.cells, view)).collect();
    Ok(Finite { cells: memory.cells, threads, has_bus, program })
}

fn refuse_at_once(program: &Program, view: ViewFocus) -> Result<(), NotFinite> {
    for thread in &program.threads {
        if thread.copies == Copies::Any && !view.any_number {
            return Err(NotFinite::AnyNumberOfCopies(thread.name.clone()));
        }
        for transition in &thread.transitions {
            match &transition.instruction {
                Instruction::BusLock if view.any_number => {
                    let line = line_of(program, transition.span);
                    return Err(NotFinite::BusLock { thread: thread.name.clone(), line });
                }
                Instruction::Locked { body, drains: false }
                    if body.iter().any(|part| matches!(part, Instruction::Store { .. })) =>
                {
                    let line = line_of(program, transition.span);
                    return Err(NotFinite::UndrainedStore { thread: thread.name.clone(), line });
                }
                Instruction::Havoc { reg, lo, hi } if lo.abs_diff(*hi) >= MOST_VALUES as u64 => {
                    return Err(register_refusal(program, thread, reg.0, MOST_VALUES));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn register_refusal(program: &Program, thread: &ravelin_program::Thread, register: usize, limit: usize) -> NotFinite {
    let register = &thread.registers[register];
    NotFinite::Register {
        name: register.name.clone(),
        thread: thread.name.clone(),
        line: line_of(program, register.span),
        limit,
    }
}

/// One transition of a local state to be run.
struct Work {
    thread: usize,
    state: LocalStateId,
    transition: TransitionId,
    only: Option<CellPair>,
}

struct Fixpoint<'a> {
    program: &'a Program,
    memory: CellTable<'a>,
    threads: Vec<GraphDraft>,
    work: Vec<Work>,
    has_bus: bool,
    watch: &'a Watch<'a>,
}

/// The cells so far.
struct CellTable<'a> {
    program: &'a Program,
    cells: Vec<FiniteCell>,
    by_address: FxHashMap<Value, CellId>,
    by_value: Vec<FxHashMap<Value, ValueId>>,
    /// By cell, how many of its values were stored before this round.
    visible: Vec<usize>,
    /// The others, of all cells.
    fresh: Vec<CellPair>,
    /// Cells whose set of values the last step looked at, whether or not it could be taken.
    read: Vec<CellId>,
}

/// A graph while it grows.
struct GraphDraft {
    states: Vec<LocalState>,
    by_state: FxHashMap<LocalState, LocalStateId>,
    edges: FxHashSet<LocalEdge>,
    live: Vec<Vec<bool>>,
    /// By register, the values seen.
    values: Vec<FxHashSet<Value>>,
    /// By cell, who reads it.
    readers: FxHashMap<CellId, FxHashSet<(LocalStateId, TransitionId)>>,
    initial: LocalStateId,
}

impl<'a> Fixpoint<'a> {
    fn new(program: &'a Program, watch: &'a Watch<'a>) -> Result<Fixpoint<'a>, NotFinite> {
        let transitions = || program.threads.iter().flat_map(|thread| &thread.transitions);
        let has_bus = transitions().any(|transition| transition.instruction == Instruction::BusLock);
        let memory = CellTable {
            program,
            cells: Vec::new(),
            by_address: FxHashMap::default(),
            by_value: Vec::new(),
            visible: Vec::new(),
            fresh: Vec::new(),
            read: Vec::new(),
        };
        let mut fixpoint = Fixpoint { program, memory, threads: Vec::new(), work: Vec::new(), has_bus, watch };
        for goal in &program.goals {
            let mut addresses = Vec::new();
            goal.condition.for_each_atom(&mut |atom| {
                if let Observable::Memory(address) = atom {
                    addresses.push(*address);
                }
            });
            for address in addresses {
                fixpoint.memory.cell(address)?;
            }
        }
        for (index, thread) in program.threads.iter().enumerate() {
            fixpoint.threads.push(GraphDraft {
                states: Vec::new(),
                by_state: FxHashMap::default(),
                edges: FxHashSet::default(),
                live: live_registers(program, ThreadId(index), watch)?,
                values: vec![FxHashSet::default(); thread.registers.len()],
                readers: FxHashMap::default(),
                initial: 0,
            });
            let registers = thread.registers.iter().map(|register| register.initial).collect();
            let place = ControlPoint::At(thread.initial);
            let start = LocalState { place, registers, holds_bus: false, stranded: Box::default() };
            let initial = fixpoint.state(index, start)?;
            fixpoint.threads[index].initial = initial;
        }
        Ok(fixpoint)
    }

    fn run(&mut self, work: Work) -> Result<(), NotFinite> {
        let Work { thread, state, transition, only } = work;
        self.watch.step()?;
        let code = &self.program.threads[thread];
        let step = &code.transitions[transition.0];
        let before = self.threads[thread].states[state as usize].clone();
        let start = StartState {
            program: self.program,
            thread: ThreadId(thread),
            registers: &before.registers,
            holds_bus: before.holds_bus,
            stranded: &before.stranded,
            watch: self.watch,
            only: only.filter(|_| !matches!(step.instruction, Instruction::Locked { .. })),
        };
        let found = outcomes(&start, &step.instruction, &mut self.memory)?;
        self.watch.release(found.len() * outcome_bytes(&start));
        for cell in std::mem::take(&mut self.memory.read) {
            self.threads[thread].readers.entry(cell).or_default().insert((state, transition));
        }
        for LocalOutcome { effect, end, choice } in found {
            let after = match end {
                LocalEnd::Goes { registers, holds_bus } => LocalState {
                    place: ControlPoint::At(step.to),
                    registers,
                    holds_bus,
                    stranded: before.stranded.clone(),
                },
                LocalEnd::Fails(fault) => LocalState {
                    place: ControlPoint::Failed(LocalFailure { transition, fault }),
                    registers: vec![0; code.registers.len()].into(),
                    holds_bus: before.holds_bus,
                    stranded: Box::default(),
                },
            };
            if let EdgeEffect::Store(pair) = effect {
                let strands = self.has_bus && !before.holds_bus;
                if strands {
                    let stranded = with(&before.stranded, pair);
                    let to = self.state(thread, LocalState { stranded: stranded.clone(), ..after.clone() })?;
                    self.watch.hold(EDGE_BYTES)?;
                    let edge = LocalEdge { from: state, to, effect: EdgeEffect::Local, transition, choice };
                    self.threads[thread].edges.insert(edge);
                }
                if !before.stranded.is_empty() {
                    continue;
                }
            }
            let to = self.state(thread, after)?;
            self.watch.hold(EDGE_BYTES)?;
            self.threads[thread].edges.insert(LocalEdge { from: state, to, effect, transition, choice });
        }
        if self.threads.iter().map(|thread| thread.edges.len()).sum::<usize>() > MOST_EDGES {
            return Err(self.too_large());
        }
        Ok(())
    }

    /// Shows the values that this round stored to all readers. `false` if there are none.
    fn reveal(&mut self) -> Result<bool, NotFinite> {
        for (cell, visible) in self.memory.cells.iter().zip(&mut self.memory.visible) {
            *visible = cell.values.len();
        }
        for pair in std::mem::take(&mut self.memory.fresh) {
            for (thread, graph) in self.threads.iter().enumerate() {
                let Some(readers) = graph.readers.get(&pair.0) else { continue };
                self.watch.hold(readers.len() * size_of::<Work>())?;
                let work =
                    readers.iter().map(|&(state, transition)| Work { thread, state, transition, only: Some(pair) });
                self.work.extend(work);
            }
        }
        // What waits is taken before anything else is shown, so it does not add up.
        self.watch.release(self.work.len() * size_of::<Work>());
        Ok(!self.work.is_empty())
    }

    /// Names what has the most values.
    fn too_large(&self) -> NotFinite {
        let cell = self.memory.cells.iter().max_by_key(|cell| cell.values.len());
        let registers = self.threads.iter().enumerate().flat_map(|(thread, graph)| {
            graph.values.iter().enumerate().map(move |(register, values)| (values.len(), thread, register))
        });
        match (cell, registers.max()) {
            (Some(cell), register) if register.is_none_or(|(values, ..)| values <= cell.values.len()) => {
                refusal::cell(self.program, cell.address, cell.values.len() - 1)
            }
            (_, Some((values, thread, register))) => {
                register_refusal(self.program, &self.program.threads[thread], register, values - 1)
            }
            _ => NotFinite::Addresses { limit: MOST_CELLS },
        }
    }

    /// The number of a local state; a new one is put to work.
    fn state(&mut self, thread: usize, mut state: LocalState) -> Result<LocalStateId, NotFinite> {
        let graph = &mut self.threads[thread];
        let code = &self.program.threads[thread];
        if let ControlPoint::At(LocId(location)) = state.place {
            for (value, live) in state.registers.iter_mut().zip(&graph.live[location]) {
                if !live {
                    *value = 0;
                }
            }
        }
        if let Some(known) = graph.by_state.get(&state) {
            return Ok(*known);
        }
        for (register, value) in state.registers.iter().enumerate() {
            let seen = &mut graph.values[register];
            if seen.insert(*value) && seen.len() > MOST_VALUES {
                return Err(register_refusal(self.program, code, register, MOST_VALUES));
            }
        }
        if graph.states.len() == MOST_LOCAL_STATES {
            return Err(NotFinite::LocalStates { thread: code.name.clone(), limit: MOST_LOCAL_STATES });
        }
        let id = graph.states.len() as LocalStateId;
        self.watch.hold(2 * (size_of::<LocalState>() + size_of_val(&*state.registers)) + 32)?;
        graph.states.push(state.clone());
        graph.by_state.insert(state.clone(), id);
        if let ControlPoint::At(location) = state.place {
            let outgoing = code.outgoing(location);
            self.work.extend(outgoing.map(|(transition, _)| Work { thread, state: id, transition, only: None }));
        }
        Ok(id)
    }
}

/// The newest stranded stores after one more.
fn with(stranded: &[CellPair], pair: CellPair) -> Box<[CellPair]> {
    let mut all: Vec<CellPair> = stranded.iter().copied().filter(|(cell, _)| *cell != pair.0).collect();
    all.push(pair);
    all.sort_unstable();
    all.into()
}

impl CellValues for CellTable<'_> {
    fn cell(&mut self, address: Value) -> Result<CellId, NotFinite> {
        if let Some(cell) = self.by_address.get(&address) {
            return Ok(*cell);
        }
        if self.cells.len() == MOST_CELLS {
            return Err(NotFinite::Addresses { limit: MOST_CELLS });
        }
        let cell = self.cells.len() as CellId;
        self.cells.push(FiniteCell { address, values: Vec::new(), initial: 0 });
        self.by_address.insert(address, cell);
        self.by_value.push(FxHashMap::default());
        self.visible.push(0);
        let (lo, hi) = match self.program.memory.initial_at(address) {
            InitialValue::Value(value) => (value, value),
            InitialValue::Any => {
                let domain = self.program.memory.domain_at(address).unwrap_or(Domain::FULL);
                (domain.lo, domain.hi)
            }
        };
        if lo.abs_diff(hi) >= MOST_VALUES as u64 {
            return Err(refusal::cell(self.program, address, MOST_VALUES));
        }
        for value in lo..=hi {
            self.value(cell, value)?;
        }
        let initial = self.cells[cell as usize].values.len();
        self.cells[cell as usize].initial = initial;
        self.visible[cell as usize] = initial;
        self.fresh.retain(|(of, _)| *of != cell);
        Ok(cell)
    }

    fn address(&self, cell: CellId) -> Value {
        self.cells[cell as usize].address
    }

    fn values(&self, cell: CellId) -> &[Value] {
        &self.cells[cell as usize].values
    }

    fn visible(&self, cell: CellId) -> usize {
        self.visible[cell as usize]
    }

    fn note_read(&mut self, cell: CellId) {
        if self.read.last() != Some(&cell) {
            self.read.push(cell);
        }
    }

    fn value(&mut self, cell: CellId, value: Value) -> Result<ValueId, NotFinite> {
        if let Some(known) = self.by_value[cell as usize].get(&value) {
            return Ok(*known);
        }
        let values = &mut self.cells[cell as usize].values;
        if values.len() == MOST_VALUES {
            return Err(refusal::cell(self.program, self.cells[cell as usize].address, MOST_VALUES));
        }
        let id = values.len() as ValueId;
        values.push(value);
        self.by_value[cell as usize].insert(value, id);
        self.fresh.push((cell, id));
        Ok(id)
    }
}

impl GraphDraft {
    fn finish(self, cells: &[FiniteCell], view: ViewFocus) -> LocalGraph {
        let constant = |(cell, _): &CellPair| cells[*cell as usize].values.len() == 1 && !view.constant_cells;
        let telling =
            |pairs: &[CellPair]| pairs.iter().copied().filter(|pair| !constant(pair)).collect::<Box<[CellPair]>>();
        let tidy = |effect: &EdgeEffect| match effect {
            EdgeEffect::Load(reads) => match telling(reads) {
                reads if reads.is_empty() => EdgeEffect::Local,
                reads => EdgeEffect::Load(reads),
            },
            EdgeEffect::Store(pair) if constant(pair) => EdgeEffect::Local,
            EdgeEffect::Atomic { reads, writes } => {
                EdgeEffect::Atomic { reads: telling(reads), writes: telling(writes) }
            }
            effect => effect.clone(),
        };
        let mut edges: Vec<LocalEdge> =
            self.edges.iter().map(|edge| LocalEdge { effect: tidy(&edge.effect), ..edge.clone() }).collect();
        edges.sort_unstable();
        edges.dedup();
        LocalGraph { states: self.states, edges, initial: self.initial }
    }
}
