//! The unified diff of a repair as replacements of whole lines, which is SARIF's form of a fix.

use super::artifact;
use serde_json::{Value, json};

/// A fix that replaces the removed lines of the diff by the added ones; `None` if it changes nothing.
pub(super) fn of_diff(file: &str, diff: &str, message: &str) -> Option<Value> {
    let mut replacements: Vec<Value> = Vec::new();
    let mut line = 0_u64;
    let mut taken = 0_u64;
    let mut added = String::new();
    for text in diff.lines().chain(["@@"]) {
        match text.as_bytes().first() {
            Some(b'-') if line > 0 => taken += 1,
            Some(b'+') if line > 0 => {
                added.push_str(&text[1..]);
                added.push('\n');
            }
            Some(b' ' | b'@') | None => {
                if taken > 0 || !added.is_empty() {
                    replacements.push(json!({
                        "deletedRegion": { "startLine": line, "startColumn": 1, "endLine": line + taken, "endColumn": 1 },
                        "insertedContent": { "text": added },
                    }));
                    line += taken;
                    (taken, added) = (0, String::new());
                }
                if text.starts_with("@@") {
                    line = first_line(text).unwrap_or(0);
                } else if line > 0 {
                    line += 1;
                }
            }
            // `--- a/…`, `+++ b/…`, and `\ No newline at end of file`.
            Some(_) => {}
        }
    }
    (!replacements.is_empty()).then(|| {
        json!({
            "description": { "text": message },
            "artifactChanges": [{ "artifactLocation": artifact(file), "replacements": replacements }],
        })
    })
}

/// `@@ -12,7 +12,8 @@`: the old text from line 12. An empty old text starts at line 0.
fn first_line(heading: &str) -> Option<u64> {
    let old = heading.strip_prefix("@@ -")?;
    let digits: String = old.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().map(|line: u64| line.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_becomes_replacements_of_lines() {
        let diff = "--- a/x.rav\n+++ b/x.rav\n@@ -3,4 +3,5 @@\n  a\n+ fence();\n  b\n-c\n+d\n";
        let fix = of_diff("x.rav", diff, "fences").expect("it changes something");
        let replacements = &fix["artifactChanges"][0]["replacements"];
        assert_eq!(
            replacements[0]["deletedRegion"],
            json!({ "startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 1 })
        );
        assert_eq!(replacements[0]["insertedContent"]["text"], " fence();\n");
        assert_eq!(
            replacements[1]["deletedRegion"],
            json!({ "startLine": 5, "startColumn": 1, "endLine": 6, "endColumn": 1 })
        );
        assert_eq!(replacements[1]["insertedContent"]["text"], "d\n");
        assert!(of_diff("x.rav", "", "nothing").is_none());
    }
}
