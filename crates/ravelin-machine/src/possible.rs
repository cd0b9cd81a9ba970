//! The values that cells and expressions can have, as intervals that hold under every memory model.
//!
//! This is what [`crate::stops`] and the layout of states are based on, for analyses that change programs.

use crate::ranges::{Interval, Ranges, interval_of};
use crate::stops::may_fault;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Address, Expr, Program, RegId, Value};
use std::ops::RangeInclusive;

/// The possible values of a program.
pub struct PossibleValues<'a> {
    program: &'a Program,
    ranges: Ranges,
}

impl<'a> PossibleValues<'a> {
    pub fn infer(program: &'a Program, watch: &Watch) -> Result<PossibleValues<'a>, Limit> {
        Ok(PossibleValues { program, ranges: Ranges::infer(program, watch)? })
    }

    /// What a load of a thread can read; anything if its address mentions a register that the program does not have.
    pub fn cell(&self, thread: usize, address: &Address) -> RangeInclusive<Value> {
        let mut known = true;
        address.expr.for_each_atom(&mut |register| known &= register.0 < self.registers(thread));
        if !known {
            return Value::MIN..=Value::MAX;
        }
        let Interval { lo, hi } = self.ranges.load(self.program, thread, address);
        lo..=hi
    }

    /// How many registers of a thread are known.
    pub fn registers(&self, thread: usize) -> usize {
        self.ranges.registers[thread].len()
    }

    pub fn register(&self, thread: usize, register: RegId) -> RangeInclusive<Value> {
        let Interval { lo, hi } = self.ranges.registers[thread][register.0];
        lo..=hi
    }
}

/// The values of an expression whose atoms have these; `None` if it may have none.
pub fn values_of<A>(expr: &Expr<A>, atom: &impl Fn(&A) -> RangeInclusive<Value>) -> Option<RangeInclusive<Value>> {
    let atom = |of: &A| {
        let values = atom(of);
        Interval { lo: *values.start(), hi: *values.end() }
    };
    let Interval { lo, hi } = interval_of(expr, &atom);
    (!may_fault(expr, &atom)).then_some(lo..=hi)
}
