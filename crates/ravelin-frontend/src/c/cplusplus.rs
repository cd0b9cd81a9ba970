//! Threads and condition variables of C++ (libstdc++): the parts of `std::thread` and `std::condition_variable` that are
//! not in headers.
//!
//! A `std::thread` holds a handle, 0 if there is no thread. It is started with an object whose second virtual function
//! behind the destructors runs the closure. A `std::unique_lock` begins with a pointer to its mutex.

use super::library::LibraryCall;
use super::specialise::{Next, Specialiser, Step};
use super::state::State;
use super::threads::Spawn;
use super::value::Datum;
use crate::flow::Raw;
use crate::ir::module::Call;
use ravelin_program::Order;

const POINTER: u32 = 8;
/// Where a table of virtual functions has the one that runs a closure: behind two destructors, the second of which frees it.
const RUNS: u64 = 16;
const DESTROYS: u64 = 0;

impl<'m> Specialiser<'_, 'm> {
    pub fn cplusplus(&mut self, state: &mut State, known: LibraryCall, call: &'m Call, at: Raw) -> Step<Next> {
        let object = self.argument_datum(state, call, 0)?;
        match known {
            LibraryCall::CxxThreadStart => {
                let owner = self.argument_datum(state, call, 1)?;
                let closure = self.read_at(state, &owner, 0)?;
                let table = match &closure {
                    Datum::Pointer(object, 0) => state.tables.remove(object),
                    _ => None,
                };
                let table = match table {
                    Some(table) => table,
                    None => self.read_at(state, &closure, 0)?,
                };
                let function = self.read_at(state, &table, RUNS)?;
                // The thread destroys what the closure holds, and frees it, which nobody can observe.
                let destroys = match self.read_at(state, &table, DESTROYS)? {
                    Datum::Function(function) if !self.world.module.functions[function].is_declaration() => {
                        Some(function)
                    }
                    _ => None,
                };
                // The thread owns its closure from now on.
                let at = self.write(state, &owner, POINTER, Datum::Int(0), Order::NonAtomic, at)?;
                let at = self.spawn(state, Spawn { handle: object, function, argument: closure, destroys }, at)?;
                self.done(state, Datum::Int(0), at)
            }
            LibraryCall::CxxThreadJoin => {
                self.needs_model()?;
                let handle = self.read_at(state, &object, 0)?;
                self.wait_for_end(state, &handle)?;
                let at = self.write(state, &object, POINTER, Datum::Int(0), Order::NonAtomic, at)?;
                self.done(state, Datum::Int(0), at)
            }
            LibraryCall::CxxThreadDetach => {
                if let Ok(handle) = self.read_at(state, &object, 0) {
                    self.detach(&handle);
                }
                let at = self.write(state, &object, POINTER, Datum::Int(0), Order::NonAtomic, at)?;
                self.done(state, Datum::Int(0), at)
            }
            _ => {
                self.needs_model()?;
                let guard = self.argument_datum(state, call, 1)?;
                let lock = self.read_at(state, &guard, 0)?;
                self.wait_for_signal(state, None, &object, &lock, at)
            }
        }
    }

    /// A pointer or a handle that is known, from memory.
    fn read_at(&mut self, state: &State, pointer: &Datum, offset: u64) -> Step<Datum> {
        let place = self.displaced(pointer, offset)?;
        if let Datum::Pointer(object, start) = place
            && let Ok(start) = u64::try_from(start)
        {
            let own = state.memory.get(&object).map(|contents| contents.read(start, POINTER));
            let found = match own {
                Some(read) => read.ok(),
                None => self.world.constant_scalar(object, start, POINTER),
            };
            if let Some(datum) = found.filter(Datum::is_known) {
                return Ok(datum);
            }
        }
        Err(self.refuse("a thread, a closure or a lock of C++ that is not known here".to_owned()))
    }
}
