//! Values that an instruction may still use.
//!
//! The operands of a phi are used at the end of the block that they come from, and its result begins on the edge. So what
//! is live at the start of a block is what is needed after its phis have been evaluated, their results among it.

use super::module::{BlockId, Function, IrInstruction, LocalId, Operation, Terminator, Value};
use std::collections::HashSet;

/// Steps after which a function is given up: a hostile one may keep each value alive in each block.
const MOST_STEPS: usize = 20_000_000;

/// Which locals are live where.
#[derive(Clone, Debug)]
pub struct Liveness {
    starts: Vec<Vec<LocalId>>,
    /// Per block: what phis of the next blocks take from it.
    handed_over: Vec<Vec<LocalId>>,
}

impl Liveness {
    /// Takes time in the number of uses and of pairs of a local and a block in which it is live. `None`: these are too
    /// many.
    pub fn of(function: &Function) -> Option<Liveness> {
        let count = function.blocks.len();
        let predecessors = predecessors(function);
        let definitions = definitions(function);
        let mut handed_over: Vec<Vec<LocalId>> = vec![Vec::new(); count];
        // Per local: the blocks in which it is used.
        let mut uses: Vec<Vec<BlockId>> = vec![Vec::new(); function.locals.len()];
        for (number, block) in function.blocks.iter().enumerate() {
            let mut note = |value: &Value, at: BlockId| {
                if let Some(local) = value.local()
                    && uses[local.0 as usize].last() != Some(&at)
                {
                    uses[local.0 as usize].push(at);
                }
            };
            for instruction in &block.instructions {
                match &instruction.operation {
                    Operation::Phi { incoming, .. } => {
                        for (value, from) in incoming {
                            note(value, *from);
                            handed_over[from.0 as usize].extend(value.local());
                        }
                    }
                    operation => operation.each_value(&mut |value| note(value, BlockId(number as u32))),
                }
            }
            block.terminator.each_value(&mut |value| note(value, BlockId(number as u32)));
        }
        let mut starts: Vec<Vec<LocalId>> = vec![Vec::new(); count];
        let mut steps = MOST_STEPS;
        for (number, mut work) in uses.into_iter().enumerate() {
            let local = LocalId(number as u32);
            while let Some(block) = work.pop() {
                steps = steps.checked_sub(1)?;
                let begins = definitions[number].filter(|definition| definition.block == block);
                if begins.is_some_and(|definition| !definition.by_phi) {
                    continue;
                }
                let live = &mut starts[block.0 as usize];
                if live.last() != Some(&local) {
                    live.push(local);
                    if begins.is_none() {
                        let before = &predecessors[block.0 as usize];
                        steps = steps.checked_sub(before.len())?;
                        work.extend(before);
                    }
                }
            }
        }
        Some(Liveness { starts, handed_over })
    }

    /// What is live at the start of a block, in order.
    pub fn live_in(&self, block: BlockId) -> &[LocalId] {
        &self.starts[block.0 as usize]
    }

    /// What is live when a block is left: what the next blocks need, and the operands of their phis.
    pub fn live_out(&self, function: &Function, block: BlockId) -> HashSet<LocalId> {
        let mut live = HashSet::new();
        let mut successors = function.block(block).terminator.successors();
        successors.sort();
        successors.dedup();
        for next in successors {
            // The results of phis do not exist before the edge.
            let results: HashSet<LocalId> = phis(function, next).filter_map(|phi| phi.result).collect();
            live.extend(self.live_in(next).iter().filter(|local| !results.contains(local)));
        }
        live.extend(&self.handed_over[block.0 as usize]);
        if let Terminator::Invoke { result: Some(result), .. } = &function.block(block).terminator {
            live.remove(result);
        }
        live
    }

    /// Goes backwards through a block, from before its terminator.
    pub fn backwards<'a>(&self, function: &'a Function, block: BlockId) -> Backwards<'a> {
        let mut live = self.live_out(function, block);
        let body = function.block(block);
        body.terminator.each_value(&mut |value| live.extend(value.local()));
        Backwards { instructions: &body.instructions, live }
    }

    /// What is live after an instruction of a block, its result included if that is used. For all of a block,
    /// [`backwards`](Liveness::backwards) is faster.
    pub fn live_after(&self, function: &Function, block: BlockId, index: usize) -> HashSet<LocalId> {
        let mut at = self.backwards(function, block);
        while at.instructions.len() > index + 1 {
            at.step();
        }
        at.live
    }
}

/// A place in a block that moves towards its start.
#[derive(Clone, Debug)]
pub struct Backwards<'a> {
    instructions: &'a [IrInstruction],
    live: HashSet<LocalId>,
}

impl<'a> Backwards<'a> {
    /// The instruction before this place; `None` at the start of the block.
    pub fn instruction(&self) -> Option<&'a IrInstruction> {
        self.instructions.last()
    }

    /// What is live here: after that instruction.
    pub fn live(&self) -> &HashSet<LocalId> {
        &self.live
    }

    /// Goes to before that instruction. Phis change nothing, because they are evaluated on the edge.
    pub fn step(&mut self) {
        let Some((last, before)) = self.instructions.split_last() else { return };
        self.instructions = before;
        if matches!(last.operation, Operation::Phi { .. }) {
            return;
        }
        if let Some(result) = last.result {
            self.live.remove(&result);
        }
        last.operation.each_value(&mut |value| self.live.extend(value.local()));
    }
}

fn phis(function: &Function, block: BlockId) -> impl Iterator<Item = &IrInstruction> {
    let instructions = function.block(block).instructions.iter();
    instructions.take_while(|instruction| matches!(instruction.operation, Operation::Phi { .. }))
}

fn predecessors(function: &Function) -> Vec<Vec<BlockId>> {
    let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); function.blocks.len()];
    for (number, block) in function.blocks.iter().enumerate() {
        for next in block.terminator.successors() {
            let before = &mut predecessors[next.0 as usize];
            if before.last() != Some(&BlockId(number as u32)) {
                before.push(BlockId(number as u32));
            }
        }
    }
    predecessors
}

#[derive(Clone, Copy)]
struct Definition {
    block: BlockId,
    by_phi: bool,
}

/// Per local: where it is defined, if not as a parameter.
fn definitions(function: &Function) -> Vec<Option<Definition>> {
    let mut definitions = vec![None; function.locals.len()];
    for (number, block) in function.blocks.iter().enumerate() {
        let block_id = BlockId(number as u32);
        for instruction in &block.instructions {
            if let Some(result) = instruction.result {
                let by_phi = matches!(instruction.operation, Operation::Phi { .. });
                definitions[result.0 as usize] = Some(Definition { block: block_id, by_phi });
            }
        }
        if let Terminator::Invoke { result: Some(result), .. } = &block.terminator {
            definitions[result.0 as usize] = Some(Definition { block: block_id, by_phi: false });
        }
    }
    definitions
}
