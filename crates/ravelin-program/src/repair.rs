//! Changes that keep accesses in order: a fence, a store that becomes a locked exchange, or an access with a stronger
//! order (`access_order.rs`).
//!
//! A [`Site`] is a place where one change can be made. One place in a source text can be several in the program: a
//! thread that is written once may run in several copies, and a loop that is written once may have been unrolled. A
//! change is made at all of them or at none.
//!
//! Both papers on fences insert them at a control location (section 7 of *Checking and Enforcing Robustness against
//! TSO*, section 6 of *Counter-Example Guided Fence Insertion*). A location that several transitions enter may be the
//! head of a loop, and then the fence is executed in every round. A site is therefore a set of transitions: the fence
//! is executed after each of them, before the next location is reached. All transitions that enter a location make up
//! the papers' fence.

use crate::{
    Expr, Instruction, LocId, Location, Observable, Order, OrderSlot, Position, Program, ThreadId, TransitionId,
};

/// A place where a program can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its name for users: `L9` is before the text of line 9, `t1:q4` is a state of an automaton.
    pub name: String,
    pub change: Change,
    /// Sorted. All are transitions of `program` as it was read, not as it was lowered for hardware.
    pub edges: Vec<ThreadTransition>,
    /// Where in the source text the change is made.
    pub position: Option<Position>,
}

/// A transition of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadTransition {
    pub thread: ThreadId,
    pub transition: TransitionId,
}

/// A change at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A fence is inserted after each of the edges. If `after_label`, the labels of the location that they lead to name
    /// the place before the fence; all transitions that enter it are then edges of the site.
    Insert { after_label: bool },
    /// The edges are existing fences. If the site is not chosen, they are removed. If it is chosen with a weaker kind,
    /// they become fences of that kind.
    Keep,
    /// The edges are plain stores, and become locked exchanges.
    Lock,
    /// The edges are atomic accesses, one of whose orders becomes at least as strong as that of the kind of fence that
    /// is chosen.
    Order(OrderSlot),
}

/// The kind of fence, or of order. A store that is locked has only one form, and its strength has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FenceStrength {
    /// An acquire fence: loads before it come before everything that follows. Only useful under RC20.
    Acquire,
    /// A release fence. Stores before it reach memory before stores after it: useful under PSO and RC20.
    StoreStore,
    /// Both. Under PSO it is a store-store fence.
    AcqRel,
    /// Nothing passes it.
    Full,
}

impl FenceStrength {
    /// The order of the fence.
    pub fn order(self) -> Order {
        match self {
            FenceStrength::Acquire => Order::Acquire,
            FenceStrength::StoreStore => Order::Release,
            FenceStrength::AcqRel => Order::AcqRel,
            FenceStrength::Full => Order::SeqCst,
        }
    }

    /// The kind of a fence with this order; `None` if it is none.
    pub fn of(order: Order) -> Option<FenceStrength> {
        match order {
            Order::NonAtomic | Order::Relaxed => None,
            Order::Acquire => Some(FenceStrength::Acquire),
            Order::Release => Some(FenceStrength::StoreStore),
            Order::AcqRel => Some(FenceStrength::AcqRel),
            Order::SeqCst => Some(FenceStrength::Full),
        }
    }

    /// It does all that the other one does.
    pub fn is_at_least(self, other: FenceStrength) -> bool {
        self.join(other) == self
    }

    /// The weakest fence that replaces two adjacent ones.
    pub fn join(self, other: FenceStrength) -> FenceStrength {
        match (self, other) {
            _ if self == other => self,
            (FenceStrength::Full, _) | (_, FenceStrength::Full) => FenceStrength::Full,
            _ => FenceStrength::AcqRel,
        }
    }
}

impl Site {
    /// In how many threads it is, which is the number of fences.
    pub fn threads(&self) -> usize {
        let mut threads: Vec<ThreadId> = self.edges.iter().map(|edge| edge.thread).collect();
        threads.dedup();
        threads.len()
    }
}

/// The program with the chosen changes. Transitions and locations keep their numbers; new ones come after them. If two
/// fences are inserted after one transition, the one that comes later in `sites` is executed first.
pub fn repaired(program: &Program, sites: &[Site], chosen: &[(usize, FenceStrength)]) -> Program {
    let mut program = program.clone();
    for (number, site) in sites.iter().enumerate() {
        let strength = chosen.iter().find(|(of, _)| *of == number).map(|(_, strength)| *strength);
        match (site.change, strength) {
            (Change::Insert { after_label }, Some(strength)) => insert(&mut program, site, strength, after_label),
            (Change::Lock, Some(_)) => {
                for edge in &site.edges {
                    lock(&mut program.threads[edge.thread.0].transitions[edge.transition.0].instruction);
                }
            }
            (Change::Keep, None) => {
                for edge in &site.edges {
                    program.threads[edge.thread.0].transitions[edge.transition.0].instruction = Instruction::Nop;
                }
            }
            (Change::Keep, Some(strength)) => {
                for edge in &site.edges {
                    let instruction = &mut program.threads[edge.thread.0].transitions[edge.transition.0].instruction;
                    if let Instruction::Fence(order) = instruction
                        && order.is_at_least(strength.order())
                    {
                        *order = strength.order();
                    }
                }
            }
            (Change::Order(slot), Some(strength)) => {
                for edge in &site.edges {
                    let access = &mut program.threads[edge.thread.0].transitions[edge.transition.0].instruction;
                    slot.raise(access, strength.order());
                }
            }
            (Change::Insert { .. } | Change::Lock | Change::Order(_), None) => {}
        }
    }
    program
}

/// One fence for all edges that lead to the same location.
fn insert(program: &mut Program, site: &Site, strength: FenceStrength, after_label: bool) {
    let mut fences: Vec<(ThreadId, LocId, LocId)> = Vec::new();
    for edge in &site.edges {
        let thread = &mut program.threads[edge.thread.0];
        let transition = &mut thread.transitions[edge.transition.0];
        let (target, span, call) = (transition.to, transition.span, transition.call);
        let known = fences.iter().find(|(of, to, _)| *of == edge.thread && *to == target).map(|(.., fence)| *fence);
        let fence = known.unwrap_or(LocId(thread.locations.len()));
        transition.to = fence;
        if known.is_some() {
            continue;
        }
        thread.locations.push(Location { labels: Vec::new(), span });
        thread.transitions.push(crate::Transition {
            from: fence,
            to: target,
            instruction: Instruction::Fence(strength.order()),
            span,
            call,
        });
        fences.push((edge.thread, target, fence));
        if after_label {
            thread.locations[fence.0].labels = std::mem::take(&mut thread.locations[target.0].labels);
            if thread.initial == target {
                thread.initial = fence;
            }
            let mut retarget = |atom: &Observable| {
                Expr::Atom(match atom {
                    Observable::At(of, at) if (*of, *at) == (edge.thread, target) => Observable::At(edge.thread, fence),
                    other => other.clone(),
                })
            };
            for goal in &mut program.goals {
                goal.condition = goal.condition.map_atoms(&mut retarget);
            }
            if let Some(observation) = &mut program.observation {
                observation.filter = observation.filter.as_ref().map(|filter| filter.map_atoms(&mut retarget));
            }
        }
    }
}

fn lock(instruction: &mut Instruction) {
    let (address, operand) = match &*instruction {
        Instruction::Store { address, value, .. } => (address.clone(), value.clone()),
        Instruction::Unlock(address) => (address.clone(), Expr::Const(0)),
        _ => return,
    };
    *instruction = Instruction::exchange(address, operand, Order::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_join() {
        use FenceStrength::{AcqRel, Acquire, Full, StoreStore};
        assert_eq!(Acquire.join(StoreStore), AcqRel);
        assert_eq!(AcqRel.join(Acquire), AcqRel);
        assert_eq!(StoreStore.join(StoreStore), StoreStore);
        assert_eq!(Full.join(Acquire), Full);
        for strength in [Acquire, StoreStore, AcqRel, Full] {
            assert_eq!(FenceStrength::of(strength.order()), Some(strength));
        }
        assert!(AcqRel.is_at_least(Acquire) && !Acquire.is_at_least(StoreStore) && !AcqRel.is_at_least(Full));
    }
}
