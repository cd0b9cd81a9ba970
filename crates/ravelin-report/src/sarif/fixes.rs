//! The unified diff of a repair as replacements of whole lines, which is SARIF's form of a fix.

use super::artifact;
use super::format::{ArtifactChange, Region, Replacement, SarifFix};

/// A fix that replaces the removed lines of the diff by the added ones; `None` if it changes nothing.
pub(super) fn of_diff(file: &str, diff: &str, message: &str) -> Option<SarifFix> {
    let mut replacements: Vec<Replacement> = Vec::new();
    let mut line = 0_usize;
    let mut taken = 0_usize;
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
                    replacements
                        .push(Replacement { deleted_region: lines(line, taken), inserted_content: added.into() });
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
    let change = ArtifactChange { artifact_location: artifact(file), replacements };
    (!change.replacements.is_empty()).then(|| SarifFix { description: message.into(), artifact_changes: [change] })
}

/// Some whole lines.
fn lines(first: usize, number: usize) -> Region {
    Region { start_line: first, start_column: Some(1), end_line: Some(first + number), end_column: Some(1) }
}

/// `@@ -12,7 +12,8 @@`: the old text from line 12. An empty old text starts at line 0.
fn first_line(heading: &str) -> Option<usize> {
    let old = heading.strip_prefix("@@ -")?;
    let digits: String = old.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().map(|line: usize| line.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_becomes_replacements_of_lines() {
        let diff = "--- a/x.rav\n+++ b/x.rav\n@@ -3,4 +3,5 @@\n  a\n+ fence();\n  b\n-c\n+d\n";
        let fix = of_diff("x.rav", diff, "fences").expect("it changes something");
        let [first, second] = &fix.artifact_changes[0].replacements[..] else { panic!("two replacements") };
        assert_eq!((&first.deleted_region, first.inserted_content.text.as_str()), (&lines(4, 0), " fence();\n"));
        assert_eq!((&second.deleted_region, second.inserted_content.text.as_str()), (&lines(5, 1), "d\n"));
        assert!(of_diff("x.rav", "", "nothing").is_none());
    }
}
