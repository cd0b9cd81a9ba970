//! Clocks with the rules of x86-TSO: a store may be delayed behind later loads of its thread, and nothing else.
//!
//! ghb = ppo ∪ rfe ∪ co ∪ fr must be acyclic, where ppo is program order without the pairs from a store to a later load
//! that no fence separates, and locked instructions are fences. An access is a violation if a write of its location comes
//! before it under sequential consistency, is not ghb-before it, and was not seen by its thread (coherence).
//!
//! What is ghb-before a *write* is closed under program order. So a vector clock over the epochs of threads says all of
//! it: a component `u@e` means that what `u` did up to its epoch `e` is ghb-before. What a thread itself has in its
//! buffer is the exception, and it has a number of its own ([`StoreBuffer`]).
//!
//! | set | here |
//! | --- | --- |
//! | `VR[t]`, `VW[t]`: ghb-before t's next load, next store | [`StoreBuffer`]'s `loads` and `stores` |
//! | `S[t]`: before t's next step under sequential consistency | `sc` |
//! | `U[t]`: cells that t accessed since their latest write | the thread's own sightings in the [`History`] |
//! | `M[x]`: ghb-before or equal to the latest write of x | [`BufferedLocation`]'s `latest` |
//! | `L[x]`: ghb-before the next write of x | `latest` and `readers` |
//! | `S_M[x]`, `S_L[x]`: the same under sequential consistency | `written` and `touched` |
//!
//! C11's happens-before, for data races, is kept beside this by [`LocationClocks::synchronise`].
//!
//! [`History`]: crate::history::History
//! [`LocationClocks::synchronise`]: crate::LocationClocks::synchronise

mod buffer;
mod location;

pub(crate) use buffer::{DrainedClocks, StoreBuffer};
pub use location::{BufferedAccess, BufferedLocation};
