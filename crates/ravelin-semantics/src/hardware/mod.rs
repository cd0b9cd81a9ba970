//! What x86 and ARMv8 do with the graph of a C11 program: whether the machine code of its accesses can produce it.
//!
//! A graph is compiled by the usual mapping of C11's operations to instructions ([`compile`]), and the axioms of the
//! machine are evaluated on the result ([`x86::allows`], [`armv8::allows`]). As for [`crate::rc20`], nothing is optimised.
//!
//! | C11 | x86 | ARMv8 |
//! | --- | --- | --- |
//! | load, relaxed | `mov` | `ldr` |
//! | load, acquire | `mov` | `ldapr` |
//! | load, seq_cst | `mov` | `ldar` |
//! | store, relaxed | `mov` | `str` |
//! | store, release | `mov` | `stlr` |
//! | store, seq_cst | `xchg`, or `mov; mfence` ([`SeqCstStore`]) | `stlr` |
//! | RMW | with `lock` | one instruction (`ldadd`, `cas`, `swp`), with `a` if it acquires and `l` if it releases |
//! | compare-exchange that fails | with `lock` | its load, as it acquires |
//! | fence, acquire | nothing | `dmb ishld` |
//! | fence, release or acq_rel | nothing | `dmb ish` |
//! | fence, seq_cst | `mfence` | `dmb ish` |
//!
//! The axioms are those of Alglave, Maranget and Tautschnig (*Herding Cats*, TOPLAS 2014) for x86-TSO, and of Pulte, Flur,
//! Deacon, French, Sarkar and Sewell (*Simplifying ARM Concurrency*, POPL 2018) for ARMv8, with the instructions of
//! ARMv8.1 and 8.3.
//!
//! This judges a graph, not a program. ARMv8 has executions that no graph of RC20 shows, in which a store is seen before
//! an earlier load of its thread has read (load buffering). Dependencies between instructions order them on ARMv8, but a
//! compiler need not keep those that a program has, so [`compile`] makes none; tests add them.

pub mod armv8;
mod compile;
pub mod x86;

pub use compile::{Barrier, LoadKind, MachineEvent, MachineGraph, MachineOperation, SeqCstStore, Target, compile};
