//! Values of flags by the names that the libraries give them.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads one of these by its name.
pub fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name(value))).try_map(move |given| {
        let found = all.iter().copied().find(|&value| name(value) == given);
        found.ok_or_else(|| format!("`{given}` is not known"))
    })
}
