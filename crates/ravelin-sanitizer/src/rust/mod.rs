//! Rust programs: cargo with the sanitizer built in, on a stable toolchain.
//!
//! `cargo ravelin` is cargo with another target directory, an explicit target, and a wrapper around rustc. Because of the
//! explicit target, whatever runs on the host (build scripts, procedural macros and what they use) is compiled without
//! `--target` and so left as it is ([`rustc`]). Instrumentation is LLVM's own, asked for by name (`-C passes`), with the
//! inliner before it: what `core::sync::atomic` wraps is then called where the program uses it.
//!
//! The standard library comes compiled. Its functions that wait or synchronise are wrapped by the linker
//! ([`standard_library`]), and those parts of it that were compiled with the program are told apart from the program by
//! their debug information once it is linked ([`redirect`]). The runtime's side of both is `ravelin-runtime/src/library`.

mod cargo;
mod redirect;
mod rustc;
mod standard_library;

pub use cargo::{Cargo, NoCargo, Races};
pub use redirect::NotRedirected;
pub use rustc::{NotCompiled, WRAPPER, compile};
pub use standard_library::NotUnderstood;

/// The only target there is a runtime for.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";
