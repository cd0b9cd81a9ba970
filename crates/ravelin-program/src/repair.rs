//! Changes that keep accesses in order: a fence, a store that becomes a locked exchange, or an access with a stronger
//! order.
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

use crate::{Expr, Instruction, LocId, Location, Observable, Order, Position, Program, ThreadId, TransitionId};

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
    /// The edges are existing fences. If the site is not chosen, they are removed.
    Keep,
    /// The edges are plain stores, and become locked exchanges.
    Lock,
    /// The edges are atomic accesses, and get a stronger order: the result of [`strengthened`].
    Strengthen,
}

/// The kind of fence. A change that is not a fence has only one form, and its strength has no meaning.
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
            (Change::Strengthen, Some(_)) => {
                for edge in &site.edges {
                    let instruction = &mut program.threads[edge.thread.0].transitions[edge.transition.0].instruction;
                    if let Some(stronger) = strengthened(instruction) {
                        *instruction = stronger;
                    }
                }
            }
            (Change::Keep, Some(_)) | (Change::Insert { .. } | Change::Lock | Change::Strengthen, None) => {}
        }
    }
    program
}

/// An access with the strongest order that release and acquire give it; `None` if it has that already, or has no order.
///
/// | access | becomes |
/// | --- | --- |
/// | relaxed load or wait | acquire |
/// | relaxed store | release |
/// | relaxed, acquire or release RMW or blocking compare-exchange | acq_rel |
/// | compare-exchange | the same if it succeeds; a relaxed failure becomes acquire |
///
/// Seq_cst is not among them: the meaning of a seq_cst access depends on the model, and a seq_cst fence beside it has a
/// stronger effect.
pub fn strengthened(instruction: &Instruction) -> Option<Instruction> {
    let mut stronger = instruction.clone();
    let raise = |order: &mut Order, weaker: &[Order], to: Order| {
        let weak = weaker.contains(order);
        if weak {
            *order = to;
        }
        weak
    };
    const BELOW_ACQ_REL: [Order; 3] = [Order::Relaxed, Order::Acquire, Order::Release];
    let changed = match &mut stronger {
        Instruction::Load { order, .. } | Instruction::Wait { order, .. } => {
            raise(order, &[Order::Relaxed], Order::Acquire)
        }
        Instruction::Store { order, .. } => raise(order, &[Order::Relaxed], Order::Release),
        Instruction::Rmw { order, .. } | Instruction::BlockingCas { order, .. } => {
            raise(order, &BELOW_ACQ_REL, Order::AcqRel)
        }
        Instruction::CompareExchange { success, failure, .. } => {
            let success = raise(success, &BELOW_ACQ_REL, Order::AcqRel);
            raise(failure, &[Order::Relaxed], Order::Acquire) || success
        }
        _ => false,
    };
    changed.then_some(stronger)
}

/// One fence for all edges that lead to the same location.
fn insert(program: &mut Program, site: &Site, strength: FenceStrength, after_label: bool) {
    let mut fences: Vec<(ThreadId, LocId, LocId)> = Vec::new();
    for edge in &site.edges {
        let thread = &mut program.threads[edge.thread.0];
        let transition = &mut thread.transitions[edge.transition.0];
        let (target, span) = (transition.to, transition.span);
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
    use crate::{Address, RegId, RmwOp, WaitCondition};

    #[test]
    fn every_order_becomes_the_strongest_below_seq_cst() {
        let address = Address::computed(Expr::Const(1));
        let exchange = |success, failure| Instruction::CompareExchange {
            address: address.clone(),
            expected: Expr::Const(0),
            new: Expr::Const(1),
            success,
            failure,
            weak: true,
            old: None,
            ok: None,
        };
        use Order::{AcqRel, Acquire, NonAtomic, Relaxed, Release, SeqCst};
        for (from, to) in [(Relaxed, Some(Acquire)), (Acquire, None), (SeqCst, None), (NonAtomic, None)] {
            let load = |order| Instruction::Load { reg: RegId(0), address: address.clone(), order };
            assert_eq!(strengthened(&load(from)), to.map(load));
            let wait = |order| Instruction::Wait {
                address: address.clone(),
                condition: WaitCondition::equals(1.into()),
                order,
                old: None,
            };
            assert_eq!(strengthened(&wait(from)), to.map(wait));
        }
        for (from, to) in [(Relaxed, Some(Release)), (Release, None), (SeqCst, None), (NonAtomic, None)] {
            let store = |order| Instruction::Store { address: address.clone(), value: Expr::Const(1), order };
            assert_eq!(strengthened(&store(from)), to.map(store));
        }
        for (from, weak) in [(Relaxed, true), (Acquire, true), (Release, true), (AcqRel, false), (SeqCst, false)] {
            let rmw = |order| Instruction::Rmw {
                op: RmwOp::Add,
                arithmetic: crate::Arithmetic::Checked,
                address: address.clone(),
                operand: Expr::Const(1),
                order,
                old: None,
            };
            assert_eq!(strengthened(&rmw(from)), weak.then(|| rmw(AcqRel)));
        }
        for (from, to) in [
            ((Relaxed, Relaxed), Some((AcqRel, Acquire))),
            ((Release, Relaxed), Some((AcqRel, Acquire))),
            ((Acquire, Acquire), Some((AcqRel, Acquire))),
            ((AcqRel, Relaxed), Some((AcqRel, Acquire))),
            ((SeqCst, Relaxed), Some((SeqCst, Acquire))),
            ((Relaxed, SeqCst), Some((AcqRel, SeqCst))),
            ((AcqRel, Acquire), None),
        ] {
            let made = to.map(|(success, failure)| exchange(success, failure));
            assert_eq!(strengthened(&exchange(from.0, from.1)), made);
        }
        assert_eq!(strengthened(&Instruction::Unlock(address.clone())), None);
        assert_eq!(strengthened(&Instruction::Fence(Acquire)), None);
    }

    #[test]
    fn fences_join() {
        use FenceStrength::{AcqRel, Acquire, Full, StoreStore};
        assert_eq!(Acquire.join(StoreStore), AcqRel);
        assert_eq!(AcqRel.join(Acquire), AcqRel);
        assert_eq!(StoreStore.join(StoreStore), StoreStore);
        assert_eq!(Full.join(Acquire), Full);
    }
}
