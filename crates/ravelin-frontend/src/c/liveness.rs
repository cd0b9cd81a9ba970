//! Values that the code of a function may still use at a place, remembered for the places that are asked for.

use crate::ir::live::Liveness;
use crate::ir::module::{BlockId, Function, LocalId};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// `None`: the function is too involved, and all values count as used.
pub(super) type Live = Option<Rc<Locals>>;
type Locals = HashSet<LocalId>;

#[derive(Debug)]
pub(super) struct LiveValues {
    whole: Option<Liveness>,
    known: RefCell<HashMap<(BlockId, usize), Rc<Locals>>>,
}

impl LiveValues {
    pub fn of(function: &Function) -> LiveValues {
        LiveValues { whole: Liveness::of(function), known: RefCell::default() }
    }

    /// Used by the instruction with this number of a block, or later.
    pub fn at(&self, function: &Function, block: BlockId, index: usize) -> Live {
        let whole = self.whole.as_ref()?;
        if let Some(known) = self.known.borrow().get(&(block, index)) {
            return Some(known.clone());
        }
        let live = match index.checked_sub(1) {
            None => whole.live_in(block).iter().copied().collect(),
            Some(before) => whole.live_after(function, block, before),
        };
        let live = Rc::new(live);
        self.known.borrow_mut().insert((block, index), live.clone());
        Some(live)
    }

    /// Used after that instruction.
    pub fn after(&self, function: &Function, block: BlockId, index: usize) -> Live {
        if index >= function.block(block).instructions.len() {
            // A call that ends the block.
            return self.whole.as_ref().map(|whole| Rc::new(whole.live_out(function, block)));
        }
        self.at(function, block, index + 1)
    }
}
