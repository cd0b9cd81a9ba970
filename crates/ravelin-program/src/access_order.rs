//! The orders of an access, one by one: what they are, what they can be, and the access with other ones.
//!
//! A load, a store and a read-modify-write have one order. A compare-exchange has two, one for success and one for
//! failure. Orders are partly ordered: relaxed, then acquire and release, which are not comparable, then acq_rel, then
//! seq_cst. The kinds of fences above relaxed have the same names, so a [`FenceStrength`] also says how strong an order
//! is.
//!
//! To find the weakest orders that will do, everything that may be weaker is lowered first ([`Lowering`]), and then
//! raised where that is needed ([`repaired`](crate::repaired)).

use crate::{FenceStrength, Instruction, Order, Program, Site};

/// Which order of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OrderSlot {
    /// The only one, or that of a compare-exchange that succeeds.
    Main,
    /// That of a compare-exchange that fails.
    Failure,
    /// Both, in languages that write one order for reading, whether or not a compare-exchange succeeds.
    Both,
}

impl OrderSlot {
    /// The order that an access has there; `None` if it has none, or is not atomic.
    pub fn order(self, access: &Instruction) -> Option<Order> {
        let order = match (access, self) {
            (Instruction::CompareExchange { failure, .. }, OrderSlot::Failure) => failure,
            (_, OrderSlot::Failure) => return None,
            (Instruction::CompareExchange { success, .. }, _) => success,
            (
                Instruction::Load { order, .. } | Instruction::Store { order, .. } | Instruction::Rmw { order, .. },
                _,
            ) => order,
            (Instruction::Wait { order, .. } | Instruction::BlockingCas { order, .. }, _) => order,
            _ => return None,
        };
        (*order != Order::NonAtomic).then_some(*order)
    }

    /// What the order can be besides relaxed, weaker ones first.
    pub fn levels(self, access: &Instruction) -> &'static [FenceStrength] {
        use FenceStrength::{AcqRel, Acquire, Full, StoreStore};
        match (access, self) {
            _ if self.order(access).is_none() => &[],
            (Instruction::Load { .. } | Instruction::Wait { .. }, _) | (_, OrderSlot::Failure) => &[Acquire, Full],
            (Instruction::Store { .. }, _) => &[StoreStore, Full],
            _ => &[Acquire, StoreStore, AcqRel, Full],
        }
    }

    /// Sets the order. What fits no load is cut down to what it means for a compare-exchange that fails.
    pub fn set(self, access: &mut Instruction, to: Order) {
        match (access, self) {
            (Instruction::CompareExchange { failure, .. }, OrderSlot::Failure) => *failure = of_load(to),
            (_, OrderSlot::Failure) => {}
            (Instruction::CompareExchange { success, failure, .. }, _) => {
                *success = to;
                if self == OrderSlot::Both {
                    *failure = of_load(to);
                }
            }
            (
                Instruction::Load { order, .. } | Instruction::Store { order, .. } | Instruction::Rmw { order, .. },
                _,
            ) => {
                *order = to;
            }
            (Instruction::Wait { order, .. } | Instruction::BlockingCas { order, .. }, _) => *order = to,
            _ => {}
        }
    }

    /// Makes the order at least as strong as that.
    pub fn raise(self, access: &mut Instruction, to: Order) {
        if let Some(order) = self.order(access) {
            self.set(access, order.join(to));
        }
    }
}

/// What of an order is left for a load.
fn of_load(order: Order) -> Order {
    match order {
        Order::Release => Order::Relaxed,
        Order::AcqRel => Order::Acquire,
        other => other,
    }
}

/// Which orders are weaker unless a change raises them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lowering {
    /// None.
    #[default]
    Nothing,
    /// Those of seq_cst stores, to release: on x86 that is the same instruction without the fence behind it.
    SeqCstStores,
    /// Those of release and seq_cst stores, to relaxed.
    Stores,
    /// All, to relaxed.
    Accesses,
}

impl Lowering {
    /// What an order is unless a change raises it; `None` if it stays as it is written.
    pub fn floor(self, slot: OrderSlot, access: &Instruction) -> Option<Order> {
        let order = slot.order(access)?;
        let is_store = matches!(access, Instruction::Store { .. });
        match self {
            Lowering::SeqCstStores if is_store && order == Order::SeqCst => Some(Order::Release),
            Lowering::Stores if is_store => Some(Order::Relaxed),
            Lowering::Accesses => Some(Order::Relaxed),
            Lowering::Nothing | Lowering::SeqCstStores | Lowering::Stores => None,
        }
    }

    /// The program with the orders that sites can raise again lowered.
    pub fn lowered(self, program: &Program, sites: &[Site]) -> Program {
        let mut lowered = program.clone();
        for site in sites {
            let crate::Change::Order(slot) = site.change else { continue };
            for edge in &site.edges {
                let access = &mut lowered.threads[edge.thread.0].transitions[edge.transition.0].instruction;
                if let Some(floor) = self.floor(slot, access) {
                    slot.set(access, floor);
                }
            }
        }
        lowered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, Expr};
    use Order::{AcqRel, Acquire, NonAtomic, Relaxed, Release, SeqCst};

    fn exchange(success: Order, failure: Order) -> Instruction {
        let address = Address::computed(Expr::Const(1));
        let (expected, new) = (Expr::Const(0), Expr::Const(1));
        Instruction::CompareExchange { address, expected, new, success, failure, weak: true, old: None, ok: None }
    }

    fn store(order: Order) -> Instruction {
        Instruction::Store { address: Address::computed(Expr::Const(1)), value: Expr::Const(1), order }
    }

    #[test]
    fn orders_join() {
        for order in Order::ATOMIC {
            assert_eq!(order.join(order), order);
            assert_eq!(order.join(Relaxed), order);
            assert_eq!(SeqCst.join(order), SeqCst);
        }
        assert_eq!(Acquire.join(Release), AcqRel);
        assert_eq!(AcqRel.join(Release), AcqRel);
        assert!(Acquire.is_at_least(Relaxed) && !Acquire.is_at_least(Release) && !Release.is_at_least(Acquire));
        assert!(AcqRel.is_at_least(Acquire) && SeqCst.is_at_least(AcqRel) && !AcqRel.is_at_least(SeqCst));
    }

    #[test]
    fn the_orders_of_a_compare_exchange_are_raised_one_by_one() {
        for (slot, to, success, failure) in [
            (OrderSlot::Main, Acquire, AcqRel, Relaxed),
            (OrderSlot::Failure, Acquire, Release, Acquire),
            (OrderSlot::Failure, SeqCst, Release, SeqCst),
            (OrderSlot::Both, Acquire, AcqRel, Acquire),
            (OrderSlot::Both, Release, Release, Relaxed),
        ] {
            let mut changed = exchange(Release, Relaxed);
            slot.raise(&mut changed, to);
            assert_eq!(changed, exchange(success, failure), "{slot:?} {to:?}");
        }
    }

    #[test]
    fn what_has_no_order_stays() {
        for mut access in [store(NonAtomic), Instruction::Fence(Acquire), Instruction::Nop] {
            let before = access.clone();
            assert!(OrderSlot::Main.levels(&access).is_empty() && OrderSlot::Failure.levels(&access).is_empty());
            OrderSlot::Main.raise(&mut access, SeqCst);
            assert_eq!(access, before);
            assert_eq!(Lowering::Accesses.floor(OrderSlot::Main, &access), None);
        }
        assert!(OrderSlot::Failure.levels(&store(SeqCst)).is_empty());
    }

    #[test]
    fn only_what_the_model_looks_at_is_lowered() {
        for (lowering, order, floor) in [
            (Lowering::Nothing, SeqCst, None),
            (Lowering::SeqCstStores, SeqCst, Some(Release)),
            (Lowering::SeqCstStores, Release, None),
            (Lowering::Stores, Release, Some(Relaxed)),
            (Lowering::Accesses, Relaxed, Some(Relaxed)),
        ] {
            assert_eq!(lowering.floor(OrderSlot::Main, &store(order)), floor);
        }
        assert_eq!(Lowering::Stores.floor(OrderSlot::Main, &exchange(SeqCst, SeqCst)), None);
        assert_eq!(Lowering::Accesses.floor(OrderSlot::Failure, &exchange(SeqCst, SeqCst)), Some(Relaxed));
    }
}
