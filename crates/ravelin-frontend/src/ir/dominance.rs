//! Which blocks every path to a block goes through, after Cooper, Harvey and Kennedy, *A Simple, Fast Dominance
//! Algorithm* (2001). Blocks that the entry does not reach have no part in it.

use super::module::{BlockId, Function};

/// Steps after which a function is given up. Only hostile functions need so many.
const MOST_STEPS: usize = 20_000_000;

pub struct Dominance {
    /// Reachable blocks in reverse postorder: the entry first.
    pub order: Vec<BlockId>,
    /// Per block: its place in the order; `None`: not reachable.
    pub rank: Vec<Option<u32>>,
    /// Per block: the reachable blocks before it, each once.
    pub predecessors: Vec<Vec<BlockId>>,
    /// Per block: the blocks that it dominates immediately.
    pub children: Vec<Vec<BlockId>>,
    /// Per block: where its dominance ends.
    pub frontier: Vec<Vec<BlockId>>,
}

impl Dominance {
    /// `None`: the function has no blocks, or is too entangled.
    pub fn of(function: &Function) -> Option<Dominance> {
        let count = function.blocks.len();
        let order = reverse_postorder(function)?;
        let mut rank: Vec<Option<u32>> = vec![None; count];
        for (number, block) in order.iter().enumerate() {
            rank[block.0 as usize] = Some(number as u32);
        }
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for &block in &order {
            for next in function.block(block).terminator.successors() {
                let before = &mut predecessors[next.0 as usize];
                // Edges of one block come one after the other.
                if before.last() != Some(&block) {
                    before.push(block);
                }
            }
        }
        // In ranks from here on.
        let ranks =
            |blocks: &[BlockId]| -> Vec<u32> { blocks.iter().filter_map(|block| rank[block.0 as usize]).collect() };
        let before: Vec<Vec<u32>> = order.iter().map(|block| ranks(&predecessors[block.0 as usize])).collect();
        let mut steps = MOST_STEPS;
        let dominators = immediate_dominators(&before, &mut steps)?;
        let mut children = vec![Vec::new(); count];
        for (number, dominator) in dominators.iter().enumerate().skip(1) {
            children[order[*dominator as usize].0 as usize].push(order[number]);
        }
        let mut frontier: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for (number, before) in before.iter().enumerate() {
            // The entry may be the target of a jump in a hostile text; its own dominator is itself.
            if before.len() < 2 && number > 0 {
                continue;
            }
            for &start in before {
                let mut runner = start;
                while runner != dominators[number] || number == 0 {
                    steps = steps.checked_sub(1)?;
                    let ends = &mut frontier[order[runner as usize].0 as usize];
                    if ends.last() != Some(&order[number]) {
                        ends.push(order[number]);
                    }
                    if runner == 0 {
                        break;
                    }
                    runner = dominators[runner as usize];
                }
            }
        }
        Some(Dominance { order, rank, predecessors, children, frontier })
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.rank[block.0 as usize].is_some()
    }
}

fn reverse_postorder(function: &Function) -> Option<Vec<BlockId>> {
    if function.blocks.is_empty() {
        return None;
    }
    let mut entered = vec![false; function.blocks.len()];
    entered[0] = true;
    let mut order = Vec::new();
    let mut stack = vec![(BlockId(0), function.blocks[0].terminator.successors().into_iter())];
    while let Some((block, successors)) = stack.last_mut() {
        match successors.next() {
            Some(next) => {
                if !std::mem::replace(&mut entered[next.0 as usize], true) {
                    stack.push((next, function.block(next).terminator.successors().into_iter()));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    Some(order)
}

/// By ranks; the entry is its own dominator.
fn immediate_dominators(before: &[Vec<u32>], steps: &mut usize) -> Option<Vec<u32>> {
    const UNKNOWN: u32 = u32::MAX;
    let mut dominators = vec![UNKNOWN; before.len()];
    dominators[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for number in 1..before.len() {
            let mut common = UNKNOWN;
            for &other in &before[number] {
                *steps = steps.checked_sub(1)?;
                if dominators[other as usize] == UNKNOWN {
                    continue;
                }
                if common == UNKNOWN {
                    common = other;
                    continue;
                }
                let mut other = other;
                while common != other {
                    *steps = steps.checked_sub(1)?;
                    if common > other {
                        common = dominators[common as usize];
                    } else {
                        other = dominators[other as usize];
                    }
                }
            }
            if dominators[number] != common {
                dominators[number] = common;
                changed = true;
            }
        }
    }
    Some(dominators)
}
