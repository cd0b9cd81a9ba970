//! How the values of a cell or a register are written for users: as signed or unsigned numbers, or by names.
//!
//! A notation says nothing about what a program does. A value without a name is written as a number.

use crate::Value;
use std::sync::Arc;

/// How values are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    #[default]
    Signed,
    /// The 64 bits as an unsigned number.
    Unsigned,
    /// Values have names: those of an `enum`.
    Names(Arc<ValueNames>),
}

/// Values with names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueNames {
    /// Of the type: `Color`.
    pub ty: String,
    /// In the order of the declaration; no value twice.
    pub names: Vec<(Value, String)>,
}

impl Notation {
    /// The value as a user knows it: `-1`, `18446744073709551615`, `Red`.
    pub fn show(&self, value: Value) -> String {
        self.special(value).unwrap_or_else(|| value.to_string())
    }

    /// The value if it is not written as a signed number.
    pub fn special(&self, value: Value) -> Option<String> {
        match self {
            Notation::Signed => None,
            Notation::Unsigned if value >= 0 => None,
            Notation::Unsigned => Some(value.cast_unsigned().to_string()),
            Notation::Names(names) => names.of(value).map(str::to_owned),
        }
    }

    /// The value as a text of `.rav` has it: `Color::Red`.
    pub fn constant(&self, value: Value) -> Option<String> {
        match self {
            Notation::Names(names) => names.of(value).map(|name| format!("{}::{name}", names.ty)),
            _ => self.special(value),
        }
    }
}

impl ValueNames {
    pub fn of(&self, value: Value) -> Option<&str> {
        self.names.iter().find(|(known, _)| *known == value).map(|(_, name)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_unless_they_have_a_name() {
        let names = ValueNames { ty: "Color".to_owned(), names: vec![(0, "Red".to_owned()), (5, "Blue".to_owned())] };
        let colors = Notation::Names(Arc::new(names));
        assert_eq!([0, 1, 5].map(|value| colors.show(value)), ["Red", "1", "Blue"]);
        assert_eq!(colors.constant(5).as_deref(), Some("Color::Blue"));
        assert_eq!([-1, 7].map(|value| Notation::Unsigned.show(value)), ["18446744073709551615", "7"]);
        assert_eq!(Notation::Signed.show(-1), "-1");
        assert_eq!(Notation::Unsigned.special(7), None);
    }
}
