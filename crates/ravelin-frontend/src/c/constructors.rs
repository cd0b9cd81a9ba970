//! What runs before `main`: constructors of global variables of C++, and functions with the attribute `constructor`.
//!
//! Clang lists them in a global variable, `llvm.global_ctors`, with numbers: those with smaller ones run first.

use super::memory::PrivateMemory;
use super::specialise::{Interrupt, Specialiser, Step};
use super::state::State;
use crate::ir::module::{Constant, Module, Operand, Value};

const LIST: &str = "llvm.global_ctors";

/// Runs them. What memory holds then.
pub(super) fn construct(specialiser: &mut Specialiser<'_, '_>, memory: PrivateMemory) -> Step<PrivateMemory> {
    let mut memory = memory;
    for function in constructors(specialiser.world.module) {
        let path = specialiser.world.paths.call(usize::MAX, 0, 1, function);
        let mut state = State::start(function, path);
        state.memory = memory;
        specialiser.begin_thread(&mut state)?;
        let ended = match specialiser.execute(&mut state, None) {
            Err(Interrupt::NeedsModel) => {
                let message = "what initialises global variables fails, waits or chooses";
                return Err(specialiser.refuse(message.to_owned()));
            }
            ended => ended?,
        };
        if !ended || !specialiser.starts.is_empty() {
            return Err(specialiser.refuse("what initialises global variables starts threads".to_owned()));
        }
        memory = state.memory;
    }
    Ok(memory)
}

/// The functions that run before `main`, in this order.
fn constructors(module: &Module) -> Vec<usize> {
    let list = module.globals.iter().find(|global| global.name == LIST);
    let Some(Constant::Aggregate(entries)) = list.and_then(|global| global.initial.as_ref()) else { return Vec::new() };
    let mut found: Vec<(i128, usize)> = entries.iter().filter_map(|entry| listed(module, entry)).collect();
    found.sort_by_key(|(priority, _)| *priority);
    found.into_iter().map(|(_, function)| function).collect()
}

fn listed(module: &Module, entry: &Operand) -> Option<(i128, usize)> {
    let Value::Constant(Constant::Aggregate(fields)) = &entry.value else { return None };
    match fields.as_slice() {
        [priority, function, ..] => match (&priority.value, &function.value) {
            (Value::Constant(Constant::Int(priority)), Value::Constant(Constant::Function(function))) => {
                module.functions.get(*function).filter(|own| !own.is_declaration()).map(|_| (*priority, *function))
            }
            _ => None,
        },
        _ => None,
    }
}
