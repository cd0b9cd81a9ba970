//! How a process of Ravelin ends: when a signal asks for it, when its parent is gone, and with an answer in time.
//!
//! - [`interrupt`]: signals that ask a program to end; one flag that searches look at.
//! - [`in_time`]: an answer shortly after a signal or a limit, also if the work does not look at them.
//! - [`child`]: a program that is started and ended with all that it starts.
//! - [`folder`]: a temporary folder for such a program.
//! - [`parent`]: processes that another process of Ravelin started end with it.
//! - [`input`]: files and pipes are read such that a signal ends the wait for them.
//!
//! These are facts about one process, so there is one of each: the flag and the listener are global. It knows nothing
//! about programs or answers, and of searches only their limits. A library never starts to listen by itself: the program that links it does.

pub mod child;
pub mod folder;
pub mod in_time;
pub mod input;
pub mod interrupt;
pub mod parent;

pub use in_time::in_time;
