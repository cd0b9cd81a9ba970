//! The sanitizer that a watched program links.
//!
//! Compilers call it at every access of a program built with `-fsanitize=thread` ([`plain`], [`atomics`]). The C
//! library's functions for threads, locks and memory are interposed ([`interpose`]), and Rust's standard library is
//! modelled precisely ([`library`]). The runtime keeps the clocks of `ravelin-clocks` for every thread
//! ([`this_thread`], [`threads`]) and location ([`records`]). It compares non-atomic accesses ([`race`]), and writes
//! its findings into the file of `ravelin-findings` ([`report`], [`file`]). It prints nothing: `ravelin run` does. To
//! suggest what would order the accesses of a race, it records which thread read from which ([`sources`], [`chain`]).
//! It knows which locks each thread holds ([`held`]), finds locks that are locked in different orders ([`lock_order`])
//! and objects that are used wrongly ([`misuse`]).
//! It ends a run that no longer makes progress ([`watchdog`]). It can fork many runs from one start of the program
//! ([`server`]). In a weak run, atomic accesses read old values ([`weak`]).
//! It can look for what x86 alone can do ([`tso`]).
//!
//! Invariants: it never enters the program's `malloc` ([`allocator`]); it takes no global lock at an access, except at
//! a seq_cst one; it never unwinds; the only functions it needs are the C library's.

mod access;
mod allocator;
mod atomics;
mod blocks;
mod caller;
mod chain;
mod closes;
mod collect;
mod file;
mod frees;
mod held;
mod instrumented;
mod interpose;
mod kernel;
mod library;
mod loads;
mod lock_order;
mod mapping;
mod marks;
mod memory;
mod misuse;
mod options;
mod own_caller;
mod place;
mod plain;
mod process;
mod race;
mod records;
mod repair;
mod report;
mod rounds;
mod schedule;
mod server;
mod shadow;
mod sources;
mod special;
mod spin;
mod spinning;
mod stale;
mod start_order;
mod sync;
mod this_thread;
mod threads;
mod trace;
mod tso;
mod watchdog;
mod weak;
mod word;
