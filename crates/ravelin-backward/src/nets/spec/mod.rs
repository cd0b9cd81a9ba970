//! The `.spec` format of MIST, in which coverability problems are exchanged.
//!
//! ```text
//! vars
//!     idle busy lock
//! rules
//!     idle >= 1, lock >= 1 ->
//!         idle' = idle - 1,
//!         lock' = lock - 1,
//!         busy' = busy + 1;
//! init
//!     idle >= 0, busy = 0, lock = 1
//! target
//!     busy >= 2
//! ```
//!
//! A rule fires where its guard holds, and adds to places or takes from them; what it takes must be there, whether or not the guard says
//! so. `init` gives each place a number of tokens, or with `>=` any number from one on; a place that it does not name starts empty.
//! Constraints of one target are separated by commas; another target begins where a comma is missing, and covering one of them is
//! enough. `#` begins a comment. A section `invariants` is read and not used: the search finds its own.
//!
//! The format also has transfers (`a' = a + b`), resets (`a' = 0`) and guards that test for equality; these are not Petri nets, and
//! are refused by name.

mod parse;
mod print;

pub use parse::{SpecError, parse};
pub use print::print;
