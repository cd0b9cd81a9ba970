//! What a view knows: for each cell whether its latest write is known (per fact, see `plan.rs`), and how seq_cst fences
//! affect that.
//!
//! The rule for seq_cst fences is exact for RC11's psc axiom. A fence f knows all that the fences g knew for which g
//! psc f: those that happen before f, and those with g hb a eco b hb f for accesses a, b of one cell. So a view carries
//! two more sets beside what it *knows*. One is what fences that happen before it *knew*, which leaves traces at the
//! cells that are accessed afterwards. The other is what is *pending*: found at a cell that was accessed, and known
//! from the next seq_cst fence on. Pending knowledge travels with synchronisation like the rest, because b hb f may
//! lead through other threads.
//!
//! What fences knew is known, and what is known need not be pending, so one bit beside the known one encodes both.

use super::columns::Columns;
use super::rows::ViewRows;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct MonitorView<const N: usize> {
    pub known: Columns<N>,
    /// For known columns: fences knew it. For the others: it is pending.
    pub fenced: Columns<N>,
}

impl<const N: usize> MonitorView<N> {
    /// What seq_cst fences that happen before this view knew: `FK`.
    #[inline]
    pub fn fences_knew(self) -> Columns<N> {
        self.known & self.fenced
    }

    #[inline]
    pub fn join(self, other: MonitorView<N>) -> MonitorView<N> {
        let known = self.known | other.known;
        let pending = (self.fenced & !self.known | other.fenced & !other.known) & !known;
        MonitorView { known, fenced: self.fences_knew() | other.fences_knew() | pending }
    }

    #[inline]
    pub fn learn(self, facts: Columns<N>) -> MonitorView<N> {
        let new = facts & !self.known;
        MonitorView { known: self.known | facts, fenced: self.fenced & !new }
    }

    #[inline]
    pub fn expect(self, facts: Columns<N>) -> MonitorView<N> {
        MonitorView { fenced: self.fenced | facts & !self.known, ..self }
    }

    /// After a seq_cst fence. Only facts take part, marks of races do not.
    #[inline]
    pub fn fence(self, facts: Columns<N>) -> MonitorView<N> {
        let known = self.known | self.fenced;
        MonitorView { known, fenced: known & facts }
    }

    /// These columns of this view, all others of another.
    #[inline]
    pub fn over(self, columns: Columns<N>, other: MonitorView<N>) -> MonitorView<N> {
        MonitorView {
            known: self.known & columns | other.known & !columns,
            fenced: self.fenced & columns | other.fenced & !columns,
        }
    }
}

impl<const N: usize> ViewRows<N> {
    #[inline]
    pub fn get(&self, state: &[u64]) -> MonitorView<N> {
        MonitorView { known: self.known.get(state), fenced: self.fenced.get(state) }
    }

    #[inline]
    pub fn set(&self, state: &mut [u64], view: MonitorView<N>) {
        self.known.set(state, view.known);
        self.fenced.set(state, view.fenced);
    }
}
