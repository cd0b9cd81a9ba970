//! Programs to text.
//!
//! What each printer promises:
//!
//! - [`rav()`] writes any program as `.rav`. The text parses back to a program with the same behaviour; see its page for
//!   the few things `.rav` has no words for. Where a program came from `.rav`, names, types and instructions come back
//!   as they were, and only numbering, copies of a template and lost block structure differ.
//! - [`dot()`] draws the control flow of any program for Graphviz: one cluster a thread, one node a location, one edge a
//!   transition.
//! - [`promela()`] writes a program under sequential consistency for SPIN, such that SPIN reports an assertion violation
//!   exactly if a goal, an assertion or a fault of the program is reachable. It refuses what SPIN's 32-bit integers and
//!   fixed arrays cannot hold.
//! - [`litmus()`] writes a program as a C litmus test with the same final states, for herd and its kin. It refuses what such
//!   tests have no words for: jumps, blocking instructions, computed addresses.
//! - [`c()`] writes a program as C11 with pthreads and the markers of `ravelin.h`, to be run under the sanitizer. It refuses
//!   steps that touch memory several times at once.
//!
//! All of them print the same text for the same program, and none of them looks at spans or at the source text.
//!
//! ```
//! use ravelin_frontend::print;
//! use ravelin_program::{Expr, Order, ProgramBuilder, Variable};
//!
//! let mut program = ProgramBuilder::new("half-sb");
//! let x = program.variable(Variable::scalar("x"));
//! let y = program.variable(Variable::scalar("y"));
//! let mut thread = program.thread("t");
//! let r = thread.register("r");
//! thread.store(x, Expr::Const(1), Order::Release);
//! thread.load(r, y, Order::Relaxed);
//! thread.finish();
//! let text = print::rav(&program.finish().expect("a valid program"));
//! assert!(text.contains("x.store(1, release);\n    r = y.load();"));
//! ```

mod c;
mod dot;
mod litmus;
mod names;
mod promela;
mod rav;

pub use c::{NotInC, c};
pub use dot::dot;
pub use litmus::{Inexpressible, litmus};
pub use promela::{Unsupported, promela};
pub use rav::rav;
