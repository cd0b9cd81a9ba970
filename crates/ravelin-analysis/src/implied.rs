//! Which answers about robustness follow from others: a model that allows no execution that another does not allow can do no harm
//! where that one does none.
//!
//! - **tso ⊆ pso**: the buffers of PSO may be emptied in the order of those of TSO, so each run of TSO is one of PSO.
//! - **ra ⊆ rc20**: orders become stronger, which adds to synchronisation and takes nothing away. Seq_cst accesses become weaker
//!   instead, so there must be none.
//! - **tso ⊆ ra** and **tso ⊆ rc20**: the usual mapping to x86 is correct (Lahav, Vafeiadis, Kang, Hur, Dreyer: *Repairing Sequential
//!   Consistency in C/C++11*, PLDI 2017, section 5), and fences that are added for seq_cst accesses only forbid more.
//! - **pso ⊆ rc20**: let *hb* lead from an event to another and eco back. If hb is program order, coherence forbids it. Otherwise hb
//!   leaves its thread by a release write or fence, behind which nothing before it is delayed, and enters the next one by a load, before which nothing
//!   behind it is done. So hb is in *ghb* of PSO, and eco is too, except where it ends with a load that reads a store of its own thread
//!   early. That store comes before the load, hence before the release that hb leaves by, and ghb has a cycle. PSO does not keep stores in order,
//!   and release/acquire does, so this does not hold for ra. Seq_cst accesses are left out.
//!
//! A graph of C11 may have accesses that are not atomic. Where there is no data race, happens-before orders those that conflict, so
//! an execution whose atomic accesses are in an order of SC is one of SC. Data races have to be searched for, therefore. What
//! faults counts as an access for C11 and not for hardware, which only makes *robust* say more.

use crate::c11::{has_accesses, has_seq_cst_accesses};
use ravelin_machine::monitor::refuse_hardware;
use ravelin_program::{Model, Order, Program};

/// Whether a program that is proved robust against one model is robust against another. `races`: it has no data race under that model,
/// which was searched for.
pub fn implies(program: &Program, proved: Model, races: bool, other: Model) -> bool {
    let allows_less = match (proved, other) {
        (Model::Pso, Model::Tso) => return true,
        (Model::Ra, Model::Tso) => true,
        (Model::Rc20, Model::Tso | Model::Pso | Model::Ra) => !has_seq_cst_accesses(program),
        _ => false,
    };
    let is_ordered = races || !has_accesses(program, Order::NonAtomic);
    allows_less && is_ordered && !program.is_parameterised() && refuse_hardware(program).is_ok()
}
