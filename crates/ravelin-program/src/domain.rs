//! Which values a register or a cell may hold, what happens to a value that does not fit, and how arithmetic is done.

use crate::{Fault, Value};

/// The values `lo..=hi`, and what happens to a value outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    pub lo: Value,
    pub hi: Value,
    pub escape: Escape,
}

/// What happens when a value leaves its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Escape {
    /// It is an error of the program, reported as a [`Fault`]. The default of `.rav`.
    Error,
    /// The value is taken modulo the size of the domain (TPL, machine registers).
    Wrap,
    /// The step cannot be taken (Memorax).
    Block,
}

/// The result of offering a value to a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    Value(Value),
    Blocked,
}

impl Domain {
    /// All 64-bit values.
    pub const FULL: Domain = Domain { lo: Value::MIN, hi: Value::MAX, escape: Escape::Error };
    pub const BOOL: Domain = Domain { lo: 0, hi: 1, escape: Escape::Error };

    pub fn new(lo: Value, hi: Value, escape: Escape) -> Domain {
        debug_assert!(lo <= hi);
        Domain { lo, hi, escape }
    }

    pub fn contains(&self, value: Value) -> bool {
        (self.lo..=self.hi).contains(&value)
    }

    pub fn is_full(&self) -> bool {
        self.lo == Value::MIN && self.hi == Value::MAX
    }

    /// How many values there are; `None` if there are too many to count in a `u64`.
    pub fn size(&self) -> Option<u64> {
        u64::try_from(i128::from(self.hi) - i128::from(self.lo) + 1).ok()
    }

    /// Offers a value to the domain.
    pub fn admit(&self, value: Value) -> Result<Admission, Fault> {
        if self.contains(value) {
            return Ok(Admission::Value(value));
        }
        match self.escape {
            Escape::Error => Err(Fault::OutOfDomain { value, lo: self.lo, hi: self.hi }),
            Escape::Block => Ok(Admission::Blocked),
            Escape::Wrap => Ok(Admission::Value(self.wrap(i128::from(value)))),
        }
    }

    /// The value congruent to `value` in the domain.
    pub fn wrap(&self, value: i128) -> Value {
        let size = i128::from(self.hi) - i128::from(self.lo) + 1;
        let offset = (value - i128::from(self.lo)).rem_euclid(size);
        (i128::from(self.lo) + offset) as Value
    }
}

/// How an operator computes: `+ - * / % & | ^ << >>`, unary minus, and the operation of a fetch-and-op instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Arithmetic {
    /// 64-bit; a result that does not fit is a [`Fault`].
    #[default]
    Checked,
    /// Every intermediate result is taken into this domain, as in TPL (`0..=max_value`) and x86 (32 or 64 bits).
    Wrapping(Domain),
}

impl Arithmetic {
    /// Converts an exact result to a value.
    pub fn settle(self, exact: i128) -> Result<Value, Fault> {
        match self {
            Arithmetic::Checked => Value::try_from(exact).map_err(|_| Fault::Overflow),
            Arithmetic::Wrapping(domain) => Ok(domain.wrap(exact)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_outside_wraps_blocks_or_is_a_fault() {
        let with = |escape| Domain::new(0, 2, escape);
        assert_eq!(with(Escape::Wrap).admit(3), Ok(Admission::Value(0)));
        assert_eq!(with(Escape::Wrap).admit(-1), Ok(Admission::Value(2)));
        assert_eq!(with(Escape::Block).admit(3), Ok(Admission::Blocked));
        assert_eq!(with(Escape::Error).admit(3), Err(Fault::OutOfDomain { value: 3, lo: 0, hi: 2 }));
        assert_eq!(with(Escape::Error).admit(2), Ok(Admission::Value(2)));
    }

    #[test]
    fn the_full_domain_holds_every_value_and_has_no_countable_size() {
        assert!(Domain::FULL.contains(Value::MIN) && Domain::FULL.contains(Value::MAX));
        assert_eq!(Domain::FULL.size(), None);
        assert_eq!(Domain::BOOL.size(), Some(2));
    }
}
