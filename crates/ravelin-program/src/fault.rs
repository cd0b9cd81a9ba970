//! Errors that a program makes while it runs. A fault stops the thread at the faulting instruction.

use crate::Value;
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Fault {
    #[error("the value {value} is outside {lo}..={hi}")]
    OutOfDomain { value: Value, lo: Value, hi: Value },
    #[error("arithmetic overflows 64 bits")]
    Overflow,
    #[error("division by zero")]
    DivisionByZero,
    #[error("shift by {0}, which is not in 0..64")]
    BadShift(Value),
    #[error("the index leads to address {address}, outside the array at {base}..{end}", end = base + len)]
    OutOfBounds { address: Value, base: Value, len: Value },
    /// Nothing is there: see [`crate::Unnamed::Nothing`].
    #[error("the access is to address {address}, {}", if *address == 0 { "which is null" } else { "outside of every object" })]
    NoObject { address: Value },
    #[error("bus_unlock by a thread that does not hold the bus lock")]
    BusNotHeld,
}
