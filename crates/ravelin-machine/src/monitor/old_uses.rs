//! Which cells may only grow, and which registers may hold values of them that are too old to matter: what the text of a
//! program says about `old_values.rs`.
//!
//! The uses of a register from a location on are a fixpoint against the control flow. A comparison with a second register
//! is open until, seen backwards, the second one is loaded: only then is it known from which cell its value comes, and
//! that it is not older than the state at the location.

use super::plan::MonitorPlan;
use crate::compile::{CellTarget, Machine, StepOp};
use crate::ranges::Ranges;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{BinaryOp, Escape, Expr, Instruction, Program, RegId, RmwOp, UnaryOp, Value};
use std::collections::BTreeSet;

/// The addresses of cells for which some thread may wait with a `bcas`, and which every write makes larger, unless a value
/// wraps around.
pub(super) fn growing_cells(program: &Program, watch: &Watch) -> Result<BTreeSet<Value>, Limit> {
    let transitions = || {
        let threads = program.threads.iter().enumerate();
        threads
            .flat_map(|(thread, code)| code.transitions.iter().map(move |transition| (thread, &transition.instruction)))
    };
    let mut growing: BTreeSet<Value> = BTreeSet::new();
    for (_, instruction) in transitions() {
        watch.step()?;
        if let Instruction::BlockingCas { address, .. } = instruction
            && let Some(constant) = address.expr.constant()
        {
            growing.insert(constant);
        }
    }
    if growing.is_empty() {
        return Ok(growing);
    }
    let ranges = Ranges::infer(program, watch)?;
    for (thread, instruction) in transitions().filter(|(_, instruction)| !makes_larger(instruction)) {
        for access in instruction.accesses().iter().filter(|access| access.writes) {
            let reached = ranges.addresses(program, thread, access.address);
            watch.steps(1 + growing.len())?;
            growing.retain(|cell| !(reached.lo..=reached.hi).contains(cell));
        }
    }
    Ok(growing)
}

/// What it writes is more than what it read, unless it wraps around.
fn makes_larger(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Rmw { op: RmwOp::Add, operand, .. } => operand.constant().is_some_and(|value| value > 0),
        Instruction::CompareExchange { expected, new, .. } | Instruction::BlockingCas { expected, new, .. } => {
            match (new, expected.constant(), new.constant()) {
                (_, Some(expected), Some(new)) => expected < new,
                (Expr::Binary(BinaryOp::Add, _, left, right), ..) => {
                    **left == *expected && right.constant().is_some_and(|value| value > 0)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// A register that matters at a location only as far as it is not old.
pub(super) struct OldUse {
    pub location: usize,
    pub register: RegId,
    /// The slot of the growing cell.
    pub cell: usize,
    /// The slots from which registers are loaded that it is compared with.
    pub others: BTreeSet<usize>,
}

/// The uses of a thread's registers that can be old values of these cells.
pub(super) fn old_registers(
    machine: &Machine,
    plan: &MonitorPlan,
    thread: usize,
    cells: &[usize],
    watch: &Watch,
) -> Result<Vec<OldUse>, Limit> {
    let code = &machine.program.threads[thread];
    let mut pairs = BTreeSet::new();
    for (transition, step) in code.transitions.iter().zip(&machine.threads[thread].steps) {
        watch.step()?;
        if let (Instruction::BlockingCas { expected: Expr::Atom(register), .. }, StepOp::BlockingCas { place, .. }) =
            (&transition.instruction, &step.op)
            && let CellTarget::Slot(slot) = place
            && cells.contains(slot)
        {
            pairs.insert((*register, *slot));
        }
    }
    let mut found = Vec::new();
    for (register, cell) in pairs {
        let uses = uses(machine, plan, thread, register, cell, watch)?;
        let old =
            uses.into_iter().enumerate().filter(|(_, uses)| uses.expected && !uses.elsewhere && uses.open.is_empty());
        found.extend(old.map(|(location, uses)| OldUse { location, register, cell, others: uses.others }));
    }
    Ok(found)
}

/// What happens to a register from a location on, before it is overwritten.
#[derive(Clone, Default, PartialEq, Eq)]
struct RegisterUses {
    /// A `bcas` on the cell expects it.
    expected: bool,
    /// It is used in a way that tells old values apart.
    elsewhere: bool,
    /// It is compared with these registers, which may not be loaded in between.
    open: BTreeSet<RegId>,
    /// It is compared with registers that are loaded from these slots in between.
    others: BTreeSet<usize>,
}

impl RegisterUses {
    /// Adds other uses, and returns whether that changed anything.
    fn add(&mut self, more: &RegisterUses) -> bool {
        let before = (self.expected, self.elsewhere, self.open.len(), self.others.len());
        self.expected |= more.expected;
        self.elsewhere |= more.elsewhere;
        self.open.extend(&more.open);
        self.others.extend(&more.others);
        before != (self.expected, self.elsewhere, self.open.len(), self.others.len())
    }
}

/// By location.
fn uses(
    machine: &Machine,
    plan: &MonitorPlan,
    thread: usize,
    register: RegId,
    cell: usize,
    watch: &Watch,
) -> Result<Vec<RegisterUses>, Limit> {
    let code = &machine.program.threads[thread];
    let mut uses = vec![RegisterUses::default(); code.locations.len()];
    watch.hold(size_of_val(&*uses))?;
    loop {
        let mut changed = false;
        for (index, transition) in code.transitions.iter().enumerate().rev() {
            let mut before = before(machine, thread, index, register, &uses[transition.to.0]);
            before.add(&own_use(machine, plan, thread, index, register, cell));
            watch.steps(1 + before.open.len() + before.others.len())?;
            changed |= uses[transition.from.0].add(&before);
        }
        if !changed {
            return Ok(uses);
        }
    }
}

/// The uses after a step, seen from before it.
fn before(machine: &Machine, thread: usize, step: usize, register: RegId, after: &RegisterUses) -> RegisterUses {
    let written = machine.program.threads[thread].transitions[step].instruction.written_registers();
    if written.contains(&register) {
        return RegisterUses::default();
    }
    let mut uses = after.clone();
    for other in written {
        if !uses.open.remove(&other) {
            continue;
        }
        match &machine.threads[thread].steps[step].op {
            // A value that wraps around in the register is not what the cell holds.
            StepOp::Load { target, place: CellTarget::Slot(slot) } => {
                let (held, cell) = (target.domain, machine.cell_domains[*slot]);
                let fits = held.escape != Escape::Wrap || held.lo <= cell.lo && cell.hi <= held.hi;
                uses.elsewhere |= !fits;
                uses.others.insert(*slot);
            }
            _ => uses.elsewhere = true,
        }
    }
    uses
}

/// How a step itself uses a register.
fn own_use(
    machine: &Machine,
    plan: &MonitorPlan,
    thread: usize,
    step: usize,
    register: RegId,
    cell: usize,
) -> RegisterUses {
    let instruction = &machine.program.threads[thread].transitions[step].instruction;
    let mut uses = RegisterUses::default();
    if !instruction.read_registers().contains(&register) {
        return uses;
    }
    match (instruction, &machine.threads[thread].steps[step].op) {
        // What it would write does not matter, because it does not pass. It must not ask the monitor anything.
        (Instruction::BlockingCas { expected: Expr::Atom(expected), .. }, StepOp::BlockingCas { place, .. })
            if *expected == register
                && matches!(place, CellTarget::Slot(slot) if *slot == cell)
                && plan.asked[thread][step].is_empty() =>
        {
            uses.expected = true;
        }
        (Instruction::Assume(condition), _) => uses.elsewhere = !only_compares(condition, register, &mut uses.open),
        _ => uses.elsewhere = true,
    }
    uses
}

/// Whether a condition depends on a register only by comparisons with other registers, which are added to `others`.
fn only_compares(condition: &Expr, register: RegId, others: &mut BTreeSet<RegId>) -> bool {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    let mut mentioned = false;
    condition.for_each_atom(&mut |atom| mentioned |= *atom == register);
    match condition {
        _ if !mentioned => true,
        Expr::Unary(UnaryOp::Not, _, inner) => only_compares(inner, register, others),
        Expr::Binary(And | Or, _, left, right) => {
            only_compares(left, register, others) && only_compares(right, register, others)
        }
        Expr::Binary(Eq | Ne | Lt | Le | Gt | Ge, _, left, right) => match (&**left, &**right) {
            (Expr::Atom(one), Expr::Atom(other)) if one != other => {
                others.insert(if *one == register { *other } else { *one });
                true
            }
            _ => false,
        },
        _ => false,
    }
}
