//! Rust programs: cargo with the sanitizer built in, on a stable toolchain.
//!
//! `cargo ravelin` is cargo with another target directory, an explicit target, and a wrapper around rustc. Because of
//! the explicit target, code that runs on the host (build scripts, procedural macros and their dependencies) is
//! compiled without `--target` and so not changed ([`rustc`]). The instrumentation is LLVM's own, requested by name
//! (`-C passes`), with the inliner before it. The operations that `core::sync::atomic` wraps are then called where the
//! program uses them.
//!
//! The standard library comes compiled. The linker wraps its functions that wait or synchronise ([`standard_library`]).
//! Parts of it that were compiled with the program are distinguished from the program by their debug information after
//! linking ([`redirect`]). The runtime's side of both is `ravelin-runtime/src/library`.

mod cargo;
mod redirect;
mod rustc;
mod standard_library;
mod test_programs;

pub use cargo::{Cargo, NoCargo, Races};
pub use redirect::NotRedirected;
pub use rustc::{NotCompiled, WRAPPER, compile};
pub use standard_library::NotUnderstood;
pub use test_programs::{NoTests, Test, TestProgram, build_tests, without_test_names};

/// The only target there is a runtime for.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";
