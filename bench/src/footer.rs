//! The last line of a document that a command wrote: which command, and a checksum of everything above, so that a test
//! finds what was typed by hand.
//!
//! The checksum is 64-bit FNV-1a. It is there against forgetting, not against forging.

use anyhow::{Context, Result, ensure};
use ravelin_numbers::fnv1a;

const BEGINS: &str = "<!-- Written by `";
const BETWEEN: &str = "`; checksum ";
const ENDS: &str = ". Edits are found by a test. -->\n";

/// The document with its last line.
pub fn signed(text: &str, command: &str) -> String {
    let text = format!("{}\n\n", text.trim_end());
    format!("{text}{BEGINS}{command}{BETWEEN}{:016x}{ENDS}", checksum(&text))
}

/// The command that wrote a document, if it was not edited since.
pub fn author(document: &str) -> Result<&str> {
    let start = document.rfind(BEGINS).context("the line that says what wrote it is missing")?;
    let (text, line) = document.split_at(start);
    let parts = line.strip_prefix(BEGINS).and_then(|rest| rest.strip_suffix(ENDS)?.split_once(BETWEEN));
    let (command, found) = parts.context("the last line is not as it was written")?;
    let expected = format!("{:016x}", checksum(text));
    ensure!(found == expected, "it was changed by hand: its checksum is {expected}, not {found}");
    Ok(command)
}

fn checksum(text: &str) -> u64 {
    fnv1a(text.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_found() {
        let document = signed("# Title\n\n2 ms\n\n\n", "cargo xtask bench rc20");
        assert!(document.starts_with("# Title\n\n2 ms\n\n<!-- Written by `cargo xtask bench rc20`; checksum "));
        assert_eq!(author(&document).unwrap(), "cargo xtask bench rc20");
        for wrong in [
            document.replace("2 ms", "1 ms"),
            document.clone() + "One sentence more.\n",
            document.replace("Edits are found", "Edits are not found"),
            "# Title\n".to_owned(),
        ] {
            assert!(author(&wrong).is_err(), "{wrong}");
        }
    }
}
