//! Identifiers for a target language out of the names people gave: legal, not reserved, and each used once.

use std::collections::HashSet;

/// The identifiers in use in one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A scope in which these words cannot be names.
    pub fn avoiding(words: &[&str]) -> Names {
        Names { taken: words.iter().map(|&word| word.to_owned()).collect() }
    }

    /// The identifier closest to `wanted` that is still free; it is taken from now on.
    pub fn choose(&mut self, wanted: &str) -> String {
        let base = identifier(wanted);
        if self.taken.insert(base.clone()) {
            return base;
        }
        let mut number = 2;
        loop {
            let numbered = format!("{base}_{number}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
            number += 1;
        }
    }
}

/// The name with everything an identifier cannot hold taken out: `p[1]` becomes `p_1`, `$1` becomes `tmp1`.
fn identifier(name: &str) -> String {
    let mut identifier = String::new();
    let name = match name.strip_prefix('$') {
        Some(hidden) => format!("tmp{hidden}"),
        None => name.to_owned(),
    };
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || character == '_' {
            identifier.push(character);
        } else if !identifier.ends_with('_') {
            identifier.push('_');
        }
    }
    if !name.ends_with('_') {
        identifier.truncate(identifier.trim_end_matches('_').len());
    }
    match identifier.chars().next() {
        None | Some('0'..='9') => format!("v{identifier}"),
        Some(_) if identifier.chars().all(|character| character == '_') => format!("v{identifier}"),
        Some(_) => identifier,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_and_stay_apart() {
        let mut names = Names::avoiding(&["lock"]);
        let chosen: Vec<String> =
            ["p[1]", "p_1", "$1", "lock", "0:EAX", "é", "", "_", "r'2"].iter().map(|name| names.choose(name)).collect();
        assert_eq!(chosen, ["p_1", "p_1_2", "tmp1", "lock_2", "v0_EAX", "v", "v_2", "v_", "r_2"]);
    }
}
