//! Values that name threads: `turn.store(me)`, `tail.swap(me)`.
//!
//! Where two threads differ only by constants, these constants are taken to be their *numbers*, and the registers and
//! cells that can hold them are found: whatever is assigned, stored, loaded or compared with one that does, does too.
//! Exchanging the threads then also exchanges the two numbers in all these places. That changes nothing else if numbers
//! are only copied, compared for equality, and used as indices of cells that are exchanged accordingly; anything else
//! (`me + 1`, `me < other`) makes the threads different ([`super::exchange`]).
//!
//! A number may be the address of a thread's own node: `tail.swap(&node)`. A pointer and a constant (`next + 8`) is an
//! index then, of all cells that stand so far behind a number. Which cells a pointer leads to is known by its list of
//! values ([`crate::ranges::few`]): all values of a place that holds numbers come from constants and from values at the
//! beginning, so the list is complete, and other cells, between and behind the nodes, do not get numbers by mistake.
//!
//! A register may hold a number here and something else there. What it holds from where it is written to where it is last
//! read is a *web*, and webs are what is found: two locations have the same web of a register if a step leads from one to
//! the other without writing it, and it is live there.

use crate::access::slots;
use crate::layout::Layout;
use crate::liveness::LiveRegisters;
use crate::observe::GoalFootprint;
use crate::ranges::Ranges;
use crate::settings::Purpose;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Address, BinaryOp, Expr, Instruction, LocId, Program, RegId, RmwOp, Thread, Transition, Value, WaitAtom,
};

/// A thread with more pairs of locations and registers than this is not looked at.
const MOST_PAIRS: usize = 1 << 20;

/// The webs of the registers of a thread.
#[derive(Clone, Debug)]
pub(crate) struct RegisterWebs {
    registers: usize,
    /// By location and register: the number of the web, if it is live there.
    webs: Vec<Option<u32>>,
    count: usize,
}

impl RegisterWebs {
    /// `None` if there are too many.
    fn new(thread: &Thread, number: usize, observed: &GoalFootprint, watch: &Watch) -> Result<Option<Self>, Limit> {
        let (locations, registers) = (thread.locations.len(), thread.registers.len());
        if locations.saturating_mul(registers) > MOST_PAIRS {
            return Ok(None);
        }
        let live = LiveRegisters::new(thread, number, observed, watch)?;
        watch.hold(locations * registers * 16)?;
        let is_live = |location: usize, register: usize| live.at(location)[register / 64] >> (register % 64) & 1 == 1;
        let mut parents: Vec<usize> = (0..locations * registers).collect();
        fn root(parents: &mut [usize], mut at: usize) -> usize {
            while parents[at] != at {
                parents[at] = parents[parents[at]];
                at = parents[at];
            }
            at
        }
        for transition in &thread.transitions {
            watch.steps(1 + registers / 8)?;
            let written = transition.instruction.written_registers();
            for register in (0..registers).filter(|&register| is_live(transition.to.0, register)) {
                if !written.contains(&RegId(register)) {
                    let from = root(&mut parents, transition.from.0 * registers + register);
                    let to = root(&mut parents, transition.to.0 * registers + register);
                    parents[from] = to;
                }
            }
        }
        let mut webs = vec![None; locations * registers];
        let mut count = 0;
        for at in 0..locations * registers {
            if !is_live(at / registers, at % registers) {
                continue;
            }
            let root = root(&mut parents, at);
            if webs[root].is_none() {
                webs[root] = Some(count);
                count += 1;
            }
            webs[at] = webs[root];
        }
        Ok(Some(RegisterWebs { registers, webs, count: count as usize }))
    }

    pub fn at(&self, location: usize, register: usize) -> Option<u32> {
        self.webs[location * self.registers + register]
    }
}

/// Which webs and cells can hold numbers of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NumberPlaces {
    /// By thread and web.
    webs: Vec<Vec<bool>>,
    /// By slot.
    pub slots: Vec<bool>,
}

/// Pairs of numbers, and the places that can hold them.
pub(super) type FoundNumbers = (Vec<(Value, Value)>, NumberPlaces);

/// A web of a register, or a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberPlace {
    Web(usize, u32),
    Slot(usize),
}

/// Places that hold, or are compared with, one another's values, and constants among them.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueFlow {
    places: Vec<NumberPlace>,
    constants: Vec<Value>,
}

/// A program, where its cells are, and the webs of its threads.
pub(super) struct NumberScope<'a> {
    pub program: &'a Program,
    pub layout: &'a Layout,
    pub ranges: &'a Ranges,
    /// Without them, threads may not differ by numbers.
    pub webs: Option<Vec<RegisterWebs>>,
}

/// The webs of all threads, unless there are too many.
pub(super) fn webs_of(program: &Program, watch: &Watch) -> Result<Option<Vec<RegisterWebs>>, Limit> {
    let observed = GoalFootprint::new(program, Purpose::Goals);
    let threads = program.threads.iter().enumerate();
    threads.map(|(number, thread)| RegisterWebs::new(thread, number, &observed, watch)).collect()
}

impl NumberScope<'_> {
    pub fn cells(&self, thread: usize, address: &Address) -> Vec<NumberPlace> {
        slots(self.program, thread, address, self.ranges, self.layout).iter().map(NumberPlace::Slot).collect()
    }

    /// Where a register is at a location, if it is live there.
    pub fn web(&self, thread: usize, location: LocId, register: RegId) -> Option<NumberPlace> {
        let web = self.webs.as_ref()?[thread].at(location.0, register.0)?;
        Some(NumberPlace::Web(thread, web))
    }

    /// All flows of a step. Those of two steps that differ only in constants correspond to each other.
    pub fn flows(&self, thread: usize, transition: &Transition) -> Vec<ValueFlow> {
        let mut flows = Vec::new();
        let read = |register: &RegId| Vec::from_iter(self.web(thread, transition.from, *register));
        let written = |register: &RegId| Vec::from_iter(self.web(thread, transition.to, *register));
        let among = |places: Vec<NumberPlace>, values: &[&Expr], flows: &mut Vec<ValueFlow>| {
            let mut flow = ValueFlow { places, constants: Vec::new() };
            for value in values {
                flow.add(value, &read);
                comparisons(value, &read, flows);
            }
            flows.push(flow);
        };
        match &transition.instruction {
            Instruction::Assign { reg, value } => among(written(reg), &[value], &mut flows),
            Instruction::Assume(condition) | Instruction::Assert(condition) => {
                comparisons(condition, &read, &mut flows)
            }
            Instruction::Load { reg, address, .. } => {
                among([written(reg), self.cells(thread, address)].concat(), &[], &mut flows);
            }
            Instruction::Store { address, value, .. } => among(self.cells(thread, address), &[value], &mut flows),
            Instruction::Rmw { op, address, operand, old, .. } => {
                let mut places = self.cells(thread, address);
                places.extend(old.iter().flat_map(written));
                let values: &[&Expr] = if *op == RmwOp::Exchange { &[operand] } else { &[] };
                among(places, values, &mut flows);
            }
            Instruction::CompareExchange { address, expected, new, old, .. } => {
                let mut places = self.cells(thread, address);
                places.extend(old.iter().flat_map(written));
                among(places, &[expected, new], &mut flows);
            }
            Instruction::BlockingCas { address, expected, new, .. } => {
                among(self.cells(thread, address), &[expected, new], &mut flows);
            }
            Instruction::Wait { address, condition, old, .. } => {
                let cells = self.cells(thread, address);
                let atom = |atom: &WaitAtom| match atom {
                    WaitAtom::Read => cells.clone(),
                    WaitAtom::Register(id) => read(id),
                };
                comparisons(&condition.expr, &atom, &mut flows);
                let old = old.iter().flat_map(written);
                among(cells.iter().copied().chain(old).collect(), &[], &mut flows);
            }
            // What a locked block reads may have been written in it: it has no numbers (`exchange.rs`).
            Instruction::Locked { .. }
            | Instruction::Nop
            | Instruction::Havoc { .. }
            | Instruction::Fence(_)
            | Instruction::Lock(_)
            | Instruction::Unlock(_)
            | Instruction::BusLock
            | Instruction::BusUnlock => {}
        }
        flows
    }
}

impl ValueFlow {
    /// Adds what a value comes from, if it is not computed.
    fn add<A>(&mut self, value: &Expr<A>, places: &impl Fn(&A) -> Vec<NumberPlace>) {
        match value {
            Expr::Const(constant) => self.constants.push(*constant),
            Expr::Atom(atom) => self.places.extend(places(atom)),
            Expr::Unary(..) | Expr::Binary(..) => {}
        }
    }
}

/// The two sides of each comparison for equality.
fn comparisons<A>(expr: &Expr<A>, places: &impl Fn(&A) -> Vec<NumberPlace>, flows: &mut Vec<ValueFlow>) {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => {}
        Expr::Unary(_, _, operand) => comparisons(operand, places, flows),
        Expr::Binary(op, _, left, right) => {
            if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
                let mut flow = ValueFlow::default();
                flow.add(left, places);
                flow.add(right, places);
                flows.push(flow);
            }
            comparisons(left, places, flows);
            comparisons(right, places, flows);
        }
    }
}

impl NumberPlaces {
    /// The numbers by which two threads differ, in the order in which their code names them, and the places that can hold
    /// them; `None` if they differ in more than constants.
    pub(super) fn find(
        scope: &NumberScope,
        webs: &[RegisterWebs],
        all: &[ValueFlow],
        (first, second): (usize, usize),
        watch: &Watch,
    ) -> Result<Option<FoundNumbers>, Limit> {
        let NumberScope { program, layout, .. } = *scope;
        let (mut numbers, mut seeds) = (Vec::new(), Vec::new());
        let code = |thread: usize| &program.threads[thread].transitions;
        for (a, b) in code(first).iter().zip(code(second)) {
            watch.step()?;
            let (a, b) = (scope.flows(first, a), scope.flows(second, b));
            if a.len() != b.len() {
                return Ok(None);
            }
            for (a, b) in a.into_iter().zip(b) {
                if a.constants.len() != b.constants.len() {
                    return Ok(None);
                }
                let differing = a.constants.iter().copied().zip(b.constants.iter().copied()).filter(|(a, b)| a != b);
                for pair in differing {
                    if !numbers.contains(&pair) {
                        numbers.push(pair);
                    }
                    seeds.extend(a.places.iter().chain(&b.places).copied());
                }
            }
        }
        let mut places = NumberPlaces {
            webs: webs.iter().map(|webs| vec![false; webs.count]).collect(),
            slots: vec![false; layout.cells.len()],
        };
        seeds.into_iter().for_each(|place| places.insert(place));
        let mut changed = !numbers.is_empty();
        while changed {
            changed = false;
            for flow in all {
                watch.steps(1 + flow.places.len())?;
                let some = flow.places.iter().any(|&place| places.contains(place));
                if some && !flow.places.iter().all(|&place| places.contains(place)) {
                    flow.places.iter().for_each(|&place| places.insert(place));
                    changed = true;
                }
            }
        }
        Ok(Some((numbers, places)))
    }

    fn insert(&mut self, place: NumberPlace) {
        match place {
            NumberPlace::Web(thread, web) => self.webs[thread][web as usize] = true,
            NumberPlace::Slot(slot) => self.slots[slot] = true,
        }
    }

    pub fn has_web(&self, thread: usize, web: u32) -> bool {
        self.webs.get(thread).is_some_and(|webs| webs[web as usize])
    }

    pub(super) fn contains(&self, place: NumberPlace) -> bool {
        match place {
            NumberPlace::Web(thread, web) => self.webs[thread][web as usize],
            NumberPlace::Slot(slot) => self.slots[slot],
        }
    }
}
