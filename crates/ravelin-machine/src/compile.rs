//! Compiles a program to a machine.

use crate::access::{Future, futures, private_slots};
use crate::code::{Code, WaitCode};
use crate::fuse;
use crate::layout::{Field, Growth, Layout, Overflow};
use crate::liveness::LiveRegisters;
use crate::observe::{self, GoalFootprint};
use crate::persistent;
use crate::ranges::Ranges;
use crate::settings::{Purpose, Settings};
use crate::symmetry::Symmetry;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Address, Arithmetic, Domain, Expr, Goal, HardwareProgram, InitialValue, Instruction, LocId, Model, Observable,
    Order, Program, RegId, RmwOp, Value,
};
use rustc_hash::FxHashMap;
use thiserror::Error;

/// Why a program cannot be run explicitly.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    #[error("thread `{0}` has any number of copies; an explicit search needs a number: give --copies N")]
    AnyNumberOfCopies(String),
    #[error(
        "there are more than {MOST_INITIAL_STATES} initial states; declare smaller types for the cells that start with any value"
    )]
    TooManyInitialStates,
    #[error("`havoc` in thread `{0}` has more than {MOST_HAVOC_VALUES} values; give it a smaller range")]
    HavocTooLarge(String),
    #[error("{0} is not a hardware model; use sc, tso or pso")]
    NotHardware(Model),
    #[error("the store buffer may hold at most {MOST_BUFFERED} stores, not {0}")]
    BufferTooLarge(usize),
    #[error("{0} cells are written and shared by threads; under ra and rc20 at most {MOST_SHARED_CELLS} can be")]
    TooManySharedCells(usize),
    /// A limit was hit while the program was compiled. Searches report it as theirs.
    #[error(transparent)]
    Limit(#[from] Limit),
}

const MOST_INITIAL_STATES: u64 = 1 << 16;
const MOST_HAVOC_VALUES: i128 = 1 << 16;
const MOST_BUFFERED: usize = 64;
/// A view has a position for every shared cell, and every message has a view.
pub(crate) const MOST_SHARED_CELLS: usize = 512;

/// A program compiled for one model and purpose.
pub struct Machine {
    /// After [`HardwareProgram`], but for [`Purpose::Monitor`]; its transition ids are those of actions.
    pub(crate) program: Program,
    pub(crate) settings: Settings,
    pub(crate) layout: Layout,
    pub(crate) slot_by_address: FxHashMap<Value, usize>,
    pub(crate) cell_domains: Vec<Domain>,
    pub(crate) threads: Vec<ThreadCode>,
    pub(crate) goals: Vec<CompiledGoal>,
    /// No goal can be violated unless some thread is at an observed location.
    pub(crate) goals_need_locations: bool,
    pub(crate) observed: GoalFootprint,
    pub(crate) symmetry: Symmetry,
    /// By slot: the only thread that touches it, if there is only one.
    pub(crate) private: Vec<Option<usize>>,
}

/// One thread's code.
pub(crate) struct ThreadCode {
    /// By location: where its transitions start; one more at the end.
    pub starts: Vec<usize>,
    pub steps: Vec<CompiledStep>,
    /// By location: all steps are local and may be taken at once.
    pub fusible: Vec<bool>,
    pub futures: Vec<Future>,
    pub observed_location: Vec<bool>,
    /// Registers dead at the beginning, as masks to keep.
    pub unused_at_first: Vec<(u32, u64)>,
}

/// A compiled transition.
pub(crate) struct CompiledStep {
    pub to: Value,
    pub op: StepOp,
    /// Registers dead at `to`, as masks to keep: (word, bits).
    pub forget: Vec<(u32, u64)>,
    /// Leads back in the control flow. The partial order reduction never takes such a step alone.
    pub back: bool,
    /// Writes a register that a `never` reads.
    pub writes_watched: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum StepOp {
    Nop,
    Assign {
        target: RegisterTarget,
        value: Code,
    },
    Havoc {
        target: RegisterTarget,
        lo: Value,
        hi: Value,
    },
    Assume(Code),
    Assert(Code),
    Load {
        target: RegisterTarget,
        place: CellTarget,
    },
    Store {
        place: CellTarget,
        value: Code,
        marker: bool,
    },
    Rmw {
        op: RmwOp,
        arithmetic: Arithmetic,
        place: CellTarget,
        operand: Code,
        old: Option<RegisterTarget>,
    },
    CompareExchange {
        place: CellTarget,
        expected: Code,
        new: Code,
        weak: bool,
        old: Option<RegisterTarget>,
        ok: Option<RegisterTarget>,
    },
    Wait {
        place: CellTarget,
        condition: WaitCode,
        old: Option<RegisterTarget>,
    },
    BlockingCas {
        place: CellTarget,
        expected: Code,
        new: Code,
    },
    /// Waits for an empty buffer.
    Drain,
    /// Orders stores under PSO.
    Marker,
    BusLock,
    BusUnlock,
    Locked {
        body: Vec<StepOp>,
        drains: bool,
    },
}

impl StepOp {
    /// Cannot be taken while the thread has stores pending.
    pub fn waits_for_buffer(&self) -> bool {
        match self {
            StepOp::Rmw { .. } | StepOp::CompareExchange { .. } | StepOp::BlockingCas { .. } => true,
            StepOp::Drain | StepOp::BusLock | StepOp::BusUnlock => true,
            StepOp::Locked { drains, .. } => *drains,
            _ => false,
        }
    }
}

/// A register to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterTarget {
    pub field: Field,
    pub domain: Domain,
    pub thread: usize,
    pub register: usize,
}

/// A cell to access.
#[derive(Clone, Debug)]
pub(crate) enum CellTarget {
    Slot(usize),
    /// With the array that must contain it: first address and length.
    Computed {
        address: Code,
        within: Option<(Value, Value)>,
    },
}

pub(crate) struct CompiledGoal {
    pub condition: Code,
    pub goal: Goal,
    pub needs_quiet: bool,
}

impl Machine {
    /// Compiles a program. The watch counts what the machine holds.
    pub fn new(program: &Program, settings: Settings, growth: &Growth, watch: &Watch) -> Result<Machine, BuildError> {
        if settings.model.is_c11() {
            return Err(BuildError::NotHardware(settings.model));
        }
        Machine::compile(program, settings, growth, watch)
    }

    /// The same under every model. Under ra and rc20 the machine's memory is that of SC; what a step reads there, and what it means
    /// for other threads, is up to [`crate::messages`].
    pub(crate) fn compile(
        program: &Program,
        settings: Settings,
        growth: &Growth,
        watch: &Watch,
    ) -> Result<Machine, BuildError> {
        if let Some(thread) = program.threads.iter().find(|thread| thread.copies == ravelin_program::Copies::Any) {
            return Err(BuildError::AnyNumberOfCopies(thread.name.clone()));
        }
        for thread in &program.threads {
            let too_large = |instruction: &Instruction| {
                matches!(instruction, Instruction::Havoc { lo, hi, .. }
                    if i128::from(*hi) - i128::from(*lo) >= MOST_HAVOC_VALUES)
            };
            if thread.transitions.iter().any(|transition| too_large(&transition.instruction)) {
                return Err(BuildError::HavocTooLarge(thread.name.clone()));
            }
        }
        if settings.buffer > MOST_BUFFERED {
            return Err(BuildError::BufferTooLarge(settings.buffer));
        }
        // C11 orders mean what they say to a monitor; to all others, what hardware makes of them.
        let program = if settings.purpose == Purpose::Monitor || settings.model.is_c11() {
            program.clone()
        } else {
            HardwareProgram::new(program).into_inner()
        };
        let initial: u64 = program
            .memory
            .variables
            .iter()
            .flat_map(|variable| variable.initial.iter().map(move |initial| (variable.domain, initial)))
            .filter(|(_, initial)| **initial == InitialValue::Any)
            .try_fold(1u64, |product, (domain, _)| product.checked_mul(domain.size()?))
            .unwrap_or(u64::MAX);
        if initial > MOST_INITIAL_STATES {
            return Err(BuildError::TooManyInitialStates);
        }
        let ranges = Ranges::infer(&program, watch)?;
        let capacity = buffer_capacities(&program, settings, watch)?;
        let bus = program.threads.iter().flat_map(|thread| &thread.transitions);
        let bus = bus.into_iter().any(|transition| transition.instruction == Instruction::BusLock);
        let layout = Layout::new(&program, &ranges, &capacity, bus, growth);
        let observed = GoalFootprint::new(&program, settings.purpose);
        let futures = (0..program.threads.len()).map(|thread| futures(&program, thread, &ranges, &layout, watch));
        let futures = futures.collect::<Result<Vec<Vec<Future>>, Limit>>()?;
        let private = private_slots(&program.threads, &futures, layout.cells.len(), watch)?;
        let compile = Compile { program: &program, layout: &layout, ranges: &ranges, settings, watch };
        let threads = futures
            .into_iter()
            .enumerate()
            .map(|(thread, futures)| compile.thread(thread, futures, &observed, &private))
            .collect::<Result<Vec<ThreadCode>, Limit>>()?;
        let goals = program.goals.iter().map(|goal| compile.goal(goal)).collect();
        let symmetry = Symmetry::find(&program, &layout, &ranges, settings, watch)?;
        Ok(Machine {
            slot_by_address: layout.addresses.iter().enumerate().map(|(slot, &address)| (address, slot)).collect(),
            cell_domains: layout
                .addresses
                .iter()
                .map(|&address| program.memory.domain_at(address).unwrap_or(Domain::FULL))
                .collect(),
            threads,
            goals_need_locations: program.goals.iter().all(observe::needs_location),
            goals,
            observed,
            symmetry,
            private,
            settings,
            layout,
            program,
        })
    }

    /// Words of a packed state.
    pub fn words(&self) -> usize {
        self.layout.words
    }

    /// Emits every initial state, or returns what does not fit.
    pub(crate) fn initial_states(&self, emit: &mut dyn FnMut(&[u64])) -> Result<(), Overflow> {
        let mut state = vec![0; self.layout.words];
        for (thread, code) in self.program.threads.iter().enumerate() {
            self.layout.locations[thread].set(&mut state, code.initial.0 as Value);
            for (register, declared) in code.registers.iter().enumerate() {
                let field = self.layout.registers[thread][register];
                if !field.holds(declared.initial) {
                    return Err(Overflow::Register { thread, register });
                }
                field.set(&mut state, declared.initial);
            }
            // As after every step: a loop that ends where it began would otherwise have states of its first round.
            for &(word, keep) in &self.threads[thread].unused_at_first {
                state[word as usize] &= keep;
            }
        }
        let mut open = Vec::new();
        for (slot, &address) in self.layout.addresses.iter().enumerate() {
            let field = self.layout.cells[slot];
            match self.program.memory.initial_at(address) {
                InitialValue::Value(value) if field.holds(value) => field.set(&mut state, value),
                InitialValue::Value(_) => return Err(Overflow::Cell { slot }),
                InitialValue::Any => {
                    let domain = self.cell_domains[slot];
                    if !field.holds(domain.lo) || !field.holds(domain.hi) {
                        return Err(Overflow::Cell { slot });
                    }
                    field.set(&mut state, domain.lo);
                    open.push((field, domain));
                }
            }
        }
        // Counts through the open cells like an odometer.
        loop {
            emit(&state);
            let Some(next) = open.iter().position(|(field, domain)| field.get(&state) < domain.hi) else {
                return Ok(());
            };
            for (field, domain) in &open[..next] {
                field.set(&mut state, domain.lo);
            }
            let (field, _) = open[next];
            let value = field.get(&state) + 1;
            field.set(&mut state, value);
        }
    }
}

/// Entries for each thread's buffer: the bound, or fewer if the thread can never have as many stores pending.
fn buffer_capacities(program: &Program, settings: Settings, watch: &Watch) -> Result<Vec<usize>, Limit> {
    if !settings.model.is_buffered() {
        return Ok(vec![0; program.threads.len()]);
    }
    program
        .threads
        .iter()
        .map(|thread| {
            let (entries, markers) = most_pending(thread, settings.buffer, settings.model, watch)?;
            // There can be markers between and after the entries, never two together, never one at the front.
            Ok(if markers { entries * 2 } else { entries })
        })
        .collect()
}

/// The most stores a thread can have pending, counted up to `most`; and whether PSO markers occur.
fn most_pending(
    thread: &ravelin_program::Thread,
    most: usize,
    model: Model,
    watch: &Watch,
) -> Result<(usize, bool), Limit> {
    let mut pending = vec![0usize; thread.locations.len()];
    let mut markers = false;
    let mut changed = true;
    let mut largest = 0;
    while changed {
        changed = false;
        for transition in &thread.transitions {
            watch.step()?;
            let before = pending[transition.from.0];
            let instruction = &transition.instruction;
            let after = match instruction {
                Instruction::Store { .. } | Instruction::Unlock(_) => (before + 1).min(most),
                Instruction::Fence(Order::SeqCst) | Instruction::BusLock | Instruction::BusUnlock => 0,
                other if other.is_locked() => 0,
                _ => before,
            };
            markers |= model == Model::Pso
                && match instruction {
                    Instruction::Store { order, .. } => order.is_release(),
                    Instruction::Fence(order) => order.is_release() && *order != Order::SeqCst,
                    Instruction::Unlock(_) => true,
                    _ => false,
                };
            largest = largest.max(after);
            if after > pending[transition.to.0] {
                pending[transition.to.0] = after;
                changed = true;
            }
        }
    }
    Ok((largest, markers))
}

struct Compile<'a> {
    program: &'a Program,
    layout: &'a Layout,
    ranges: &'a Ranges,
    settings: Settings,
    watch: &'a Watch<'a>,
}

impl Compile<'_> {
    fn thread(
        &self,
        number: usize,
        futures: Vec<Future>,
        observed: &GoalFootprint,
        private: &[Option<usize>],
    ) -> Result<ThreadCode, Limit> {
        let thread = &self.program.threads[number];
        let live = LiveRegisters::new(thread, number, observed, self.watch)?;
        let back = persistent::back_transitions(thread);
        let mut starts = Vec::with_capacity(thread.locations.len() + 1);
        let mut steps = Vec::new();
        for location in 0..thread.locations.len() {
            starts.push(steps.len());
            for (id, transition) in thread.outgoing(LocId(location)) {
                let forget = self.forget(number, live.at(transition.to.0), live.at(location), &transition.instruction);
                self.watch.hold(size_of::<CompiledStep>() + size_of_val(&*forget) + 64)?;
                steps.push(CompiledStep {
                    to: transition.to.0 as Value,
                    op: self.op(number, &transition.instruction),
                    forget,
                    back: back[id.0],
                    writes_watched: transition
                        .instruction
                        .written_registers()
                        .iter()
                        .any(|register| observed.watched[number][register.0]),
                });
            }
        }
        starts.push(steps.len());
        let at_first = live.at(thread.initial.0);
        let dead = |&register: &usize| at_first[register / 64] >> (register % 64) & 1 == 0;
        let unused_at_first = self.masks(number, (0..thread.registers.len()).filter(dead));
        self.watch.release(live.bytes());
        drop(live);
        let fusible =
            fuse::fusible_locations(self.program, number, self.settings, observed, self.layout, self.ranges, private);
        let observed_location = observed.locations[number].clone();
        Ok(ThreadCode { starts, steps, fusible, futures, observed_location, unused_at_first })
    }

    /// What to clear on arrival: registers dead there that may hold something.
    fn forget(&self, thread: usize, live: &[u64], before: &[u64], instruction: &Instruction) -> Vec<(u32, u64)> {
        let is_live = |register: usize| live[register / 64] >> (register % 64) & 1 == 1;
        let written = instruction.written_registers().into_iter().map(|RegId(register)| register);
        let mut dying: Vec<usize> = written.filter(|&register| !is_live(register)).collect();
        for (word, (before, live)) in before.iter().zip(live).enumerate() {
            let mut bits = before & !live;
            while bits != 0 {
                dying.push(64 * word + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        dying.sort_unstable();
        self.masks(thread, dying.into_iter())
    }

    /// What to keep in order to forget these registers.
    fn masks(&self, thread: usize, dead: impl Iterator<Item = usize>) -> Vec<(u32, u64)> {
        let mut masks: Vec<(u32, u64)> = Vec::new();
        if !self.settings.reductions.liveness {
            return masks;
        }
        for field in dead.map(|register| self.layout.registers[thread][register]) {
            if field.mask == 0 {
                continue;
            }
            let bits = field.mask << field.shift;
            match masks.iter_mut().find(|(word, _)| *word == field.word) {
                Some((_, keep)) => *keep &= !bits,
                None => masks.push((field.word, !bits)),
            }
        }
        masks
    }

    fn goal(&self, goal: &Goal) -> CompiledGoal {
        let layout = self.layout;
        let condition: Expr<Field> = goal.condition.map_atoms(&mut |atom| match atom {
            Observable::At(thread, location) => {
                Expr::Atom(layout.locations[thread.0]).eq(Expr::Const(location.0 as Value))
            }
            Observable::Register(thread, register) => Expr::Atom(layout.registers[thread.0][register.0]),
            Observable::Memory(address) => match layout.slot_of(*address) {
                Some(slot) => Expr::Atom(layout.cells[slot]),
                None => unreachable!("ranges give every address that a goal names a slot"),
            },
        });
        let condition = Code::new(&condition, &mut |field| *field);
        CompiledGoal { condition, needs_quiet: goal.mentions_memory() || goal.is_final(), goal: goal.clone() }
    }

    fn code(&self, thread: usize, expr: &Expr) -> Code {
        Code::new(expr, &mut |register: &RegId| self.layout.registers[thread][register.0])
    }

    fn target(&self, thread: usize, register: RegId) -> RegisterTarget {
        RegisterTarget {
            field: self.layout.registers[thread][register.0],
            domain: self.program.threads[thread].registers[register.0].domain,
            thread,
            register: register.0,
        }
    }

    fn place(&self, thread: usize, address: &Address) -> CellTarget {
        let within = address.within.map(|variable| {
            let variable = &self.program.memory.variables[variable.0];
            (variable.base, variable.cells() as Value)
        });
        let inside = |constant| {
            address.within.is_none_or(|variable| self.program.memory.variables[variable.0].contains(constant))
        };
        if let Some(constant) = address.expr.constant()
            && inside(constant)
            && let Some(slot) = self.layout.slot_of(constant)
        {
            return CellTarget::Slot(slot);
        }
        CellTarget::Computed { address: self.code(thread, &address.expr), within }
    }

    fn op(&self, thread: usize, instruction: &Instruction) -> StepOp {
        let code = |expr: &Expr| self.code(thread, expr);
        let place = |address: &Address| self.place(thread, address);
        let target = |register: &Option<RegId>| register.map(|register| self.target(thread, register));
        let pso = self.settings.model == Model::Pso || self.settings.purpose == Purpose::Attacks(Model::Pso);
        let attacked = matches!(self.settings.purpose, Purpose::Attacks(_));
        match instruction {
            Instruction::Nop => StepOp::Nop,
            Instruction::Assign { reg, value } => {
                StepOp::Assign { target: self.target(thread, *reg), value: code(value) }
            }
            Instruction::Havoc { reg, lo, hi } => StepOp::Havoc { target: self.target(thread, *reg), lo: *lo, hi: *hi },
            Instruction::Assume(condition) => StepOp::Assume(code(condition)),
            Instruction::Assert(condition) => StepOp::Assert(code(condition)),
            Instruction::Load { reg, address, .. } => {
                StepOp::Load { target: self.target(thread, *reg), place: place(address) }
            }
            Instruction::Store { address, value, order } => {
                StepOp::Store { place: place(address), value: code(value), marker: pso && order.is_release() }
            }
            Instruction::Unlock(address) => StepOp::Store { place: place(address), value: Code::Const(0), marker: pso },
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => StepOp::Rmw {
                op: *op,
                arithmetic: *arithmetic,
                place: place(address),
                operand: code(operand),
                old: target(old),
            },
            Instruction::CompareExchange { address, expected, new, weak, old, ok, .. } => StepOp::CompareExchange {
                place: place(address),
                expected: code(expected),
                new: code(new),
                weak: *weak,
                old: target(old),
                ok: target(ok),
            },
            Instruction::Wait { address, condition, old, .. } => StepOp::Wait {
                place: place(address),
                condition: WaitCode::new(condition, &mut |register| self.layout.registers[thread][register.0]),
                old: target(old),
            },
            Instruction::BlockingCas { address, expected, new, .. } => {
                StepOp::BlockingCas { place: place(address), expected: code(expected), new: code(new) }
            }
            Instruction::Lock(address) => {
                StepOp::BlockingCas { place: place(address), expected: Code::Const(0), new: Code::Const(1) }
            }
            Instruction::Fence(_) if !self.settings.model.is_buffered() && !attacked => StepOp::Nop,
            Instruction::Fence(Order::SeqCst) => StepOp::Drain,
            Instruction::Fence(order) if pso && order.is_release() => StepOp::Marker,
            Instruction::Fence(_) => StepOp::Nop,
            Instruction::BusLock => StepOp::BusLock,
            Instruction::BusUnlock => StepOp::BusUnlock,
            Instruction::Locked { body, drains } => {
                StepOp::Locked { body: body.iter().map(|part| self.op(thread, part)).collect(), drains: *drains }
            }
        }
    }
}

impl Machine {
    pub(crate) fn purpose(&self) -> Purpose {
        self.settings.purpose
    }
}
