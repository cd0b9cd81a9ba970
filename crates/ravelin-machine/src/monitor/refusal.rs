//! Programs that the monitor does not support.

use ravelin_program::{Escape, Instruction, Model, Program, RmwOp, Span};
use thiserror::Error;

/// Why a program cannot be monitored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MonitorRefusal {
    #[error("{0} is a hardware model; use ra or rc20")]
    Hardware(Model),
    #[error("thread `{thread}` uses {what}, which C11 does not have; write it with compare_exchange, lock or an RMW")]
    NotC11 { thread: String, what: &'static str, span: Span },
    #[error(
        "an RMW in thread `{thread}` computes with a cell whose type blocks; use a type that wraps or reports an error"
    )]
    BlockingUpdate { thread: String, span: Span },
    #[error(
        "thread `{thread}`{} waits for, or compares with, too many values to list; declare smaller types for the cells and \
         registers involved, or compare with a constant",
        line.map(|line| format!(", on line {line},")).unwrap_or_default()
    )]
    TooManyValues { thread: String, line: Option<usize> },
    #[error(
        "{facts} facts have to be remembered, about which values of shared cells each thread knows and about data races, and at \
         most {limit} can be; fewer threads, shared cells, or values that are waited for or compared with need fewer"
    )]
    TooManyFacts { facts: usize, limit: usize },
}

/// Refuses instructions that C11 does not have.
pub fn refuse_hardware(program: &Program) -> Result<(), MonitorRefusal> {
    for thread in &program.threads {
        for transition in &thread.transitions {
            let what = match &transition.instruction {
                Instruction::BusLock | Instruction::BusUnlock => "the bus lock",
                Instruction::Locked { .. } => "a locked block",
                _ => continue,
            };
            return Err(MonitorRefusal::NotC11 { thread: thread.name.clone(), what, span: transition.span });
        }
    }
    Ok(())
}

/// Checks that need no compilation.
pub(super) fn refuse(program: &Program) -> Result<(), MonitorRefusal> {
    refuse_hardware(program)?;
    for thread in &program.threads {
        for transition in &thread.transitions {
            match &transition.instruction {
                Instruction::Rmw { op, address, .. } if *op != RmwOp::Exchange => {
                    let blocks = |domain: ravelin_program::Domain| domain.escape == Escape::Block && !domain.is_full();
                    let cells = match address.within {
                        Some(variable) => blocks(program.memory.variables[variable.0].domain),
                        None => {
                            program.memory.variables.iter().any(|variable| blocks(variable.domain))
                                || program.memory.unnamed.domain().is_some_and(blocks)
                        }
                    };
                    if cells {
                        let thread = thread.name.clone();
                        return Err(MonitorRefusal::BlockingUpdate { thread, span: transition.span });
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}
