//! Programs that the monitor does not take.

use ravelin_program::{Escape, Instruction, Order, Program, RegId, RmwOp, Span, VarId};
use thiserror::Error;

/// Why a program cannot be monitored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("thread `{thread}` uses {what}, which C11 does not have; write it with compare_exchange, lock or an RMW")]
    NotC11 { thread: String, what: &'static str, span: Span },
    #[error(
        "an RMW in thread `{thread}` computes with a cell whose type blocks; use a type that wraps or reports an error"
    )]
    BlockingUpdate { thread: String, span: Span },
    #[error(
        "thread `{thread}` waits for, or compares with, too many values to list; declare smaller types for the cells and \
         registers involved"
    )]
    TooManyValues { thread: String },
    #[error(
        "{facts} facts about shared cells have to be remembered, and at most {limit} can be; use fewer or smaller arrays"
    )]
    TooManyFacts { facts: usize, limit: usize },
    #[error(
        "thread `{thread}` waits for a value of a cell that is also written without atomicity; whether the two race is not decided \
         while it waits, so write the cell atomically"
    )]
    WaitsForNonAtomic { thread: String },
}

/// What can be seen before anything is compiled.
pub(super) fn refuse(program: &Program) -> Result<(), Refusal> {
    for thread in &program.threads {
        for transition in &thread.transitions {
            let name = || thread.name.clone();
            let what = match &transition.instruction {
                Instruction::BusLock | Instruction::BusUnlock => "the bus lock",
                Instruction::Locked { .. } => "a locked block",
                Instruction::Rmw { op, address, .. } if *op != RmwOp::Exchange => {
                    let blocks = |domain: ravelin_program::Domain| domain.escape == Escape::Block && !domain.is_full();
                    let cells = match address.within {
                        Some(variable) => blocks(program.memory.variables[variable.0].domain),
                        None => {
                            program.memory.variables.iter().any(|variable| blocks(variable.domain))
                                || blocks(program.memory.unnamed)
                        }
                    };
                    if cells {
                        return Err(Refusal::BlockingUpdate { thread: name(), span: transition.span });
                    }
                    continue;
                }
                _ => continue,
            };
            return Err(Refusal::NotC11 { thread: name(), what, span: transition.span });
        }
    }
    refuse_mixed_waits(program)
}

/// A thread that waits under SC may pass with a stale value, and then race with a write that it never meets under SC.
fn refuse_mixed_waits(program: &Program) -> Result<(), Refusal> {
    let transitions = || program.threads.iter().flat_map(|thread| thread.transitions.iter().map(move |t| (thread, t)));
    let plain: Vec<Option<VarId>> = transitions()
        .filter_map(|(_, transition)| match &transition.instruction {
            Instruction::Store { address, order: Order::NonAtomic, .. } => Some(address.within),
            _ => None,
        })
        .collect();
    let is_plain = |cell: Option<VarId>| plain.iter().any(|plain| plain.is_none() || cell.is_none() || *plain == cell);
    for (thread, transition) in transitions() {
        let blocks = |reg: &RegId| {
            let domain = thread.registers[reg.0].domain;
            domain.escape == Escape::Block && !domain.is_full()
        };
        let waits = match &transition.instruction {
            Instruction::Wait { .. } | Instruction::BlockingCas { .. } | Instruction::Lock(_) => true,
            instruction => instruction.written_registers().iter().any(blocks),
        };
        if waits
            && transition.instruction.accesses().iter().any(|access| access.reads && is_plain(access.address.within))
        {
            return Err(Refusal::WaitsForNonAtomic { thread: thread.name.clone() });
        }
    }
    Ok(())
}
