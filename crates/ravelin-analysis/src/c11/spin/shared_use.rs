//! Who writes which cells, and which are accessed non-atomically, as far as addresses tell.

use ravelin_program::{Address, Copies, Instruction, Order, Program};

/// The accesses of a program.
pub(super) struct SharedUse<'a> {
    accesses: Vec<AccessSite>,
    program: &'a Program,
}

struct AccessSite {
    thread: usize,
    address: Address,
    writes: bool,
    atomic: bool,
}

impl<'a> SharedUse<'a> {
    pub fn of(program: &'a Program) -> SharedUse<'a> {
        let mut accesses = Vec::new();
        for (thread, code) in program.threads.iter().enumerate() {
            for transition in &code.transitions {
                let atomic = !matches!(
                    transition.instruction,
                    Instruction::Load { order: Order::NonAtomic, .. }
                        | Instruction::Store { order: Order::NonAtomic, .. }
                        | Instruction::Wait { order: Order::NonAtomic, .. }
                );
                for access in transition.instruction.accesses() {
                    accesses.push(AccessSite {
                        thread,
                        address: access.address.clone(),
                        writes: access.writes,
                        atomic,
                    });
                }
            }
        }
        SharedUse { accesses, program }
    }

    pub fn is_accessed_non_atomically(&self, address: &Address) -> bool {
        self.accesses.iter().any(|site| !site.atomic && self.may_meet(&site.address, address))
    }

    /// Another thread, or another copy of this one, may write the cell.
    pub fn is_written_by_others(&self, thread: usize, address: &Address) -> bool {
        let alone = self.program.threads[thread].copies == Copies::One;
        let others = self.accesses.iter().filter(|site| site.writes && !(alone && site.thread == thread));
        others.into_iter().any(|site| self.may_meet(&site.address, address))
    }

    /// Two addresses may be those of one cell.
    fn may_meet(&self, one: &Address, other: &Address) -> bool {
        let variable = |address: &Address| address.within.map(|variable| &self.program.memory.variables[variable.0]);
        match (one.constant(), other.constant()) {
            (Some(one), Some(other)) => one == other,
            (Some(constant), None) => variable(other).is_none_or(|variable| variable.contains(constant)),
            (None, Some(constant)) => variable(one).is_none_or(|variable| variable.contains(constant)),
            (None, None) => one.within.is_none() || other.within.is_none() || one.within == other.within,
        }
    }
}
