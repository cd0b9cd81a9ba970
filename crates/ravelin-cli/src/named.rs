//! Values of options by the names that the libraries give them.

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

/// The values that were named, each once.
pub fn distinct<T: Copy + PartialEq>(named: &[T]) -> Vec<T> {
    let mut distinct: Vec<T> = Vec::new();
    for &value in named {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}
