//! The sanitizer that a watched program links.
//!
//! Compilers call it at every access of a program built with `-fsanitize=thread`; the C library's thread functions are
//! interposed. It keeps the clocks of `ravelin-clocks` for every thread and location and writes what it finds into the
//! file of `ravelin-findings`. It prints nothing: `ravelin run` does.
//!
//! Invariants: it never enters the program's `malloc` (its own allocator takes memory from `mmap`); it takes no global
//! lock at an access; it never unwinds.

#![allow(clippy::missing_safety_doc)]

mod allocator;
mod interpose;
mod memory;
mod sync;
mod this_thread;
mod threads;
