//! SARIF 2.1.0, the format that editors and code-review tools read: one document with one run, its rules, results and
//! notifications ([`format`]). [`answers`] makes the results of the static commands, [`sanitizer`] those of the
//! sanitizer.
//!
//! Paths become percent-encoded URIs. Relative ones are relative to `%SRCROOT%`, the folder in which the command ran,
//! which code-scanning services take for the root of the repository.

mod answers;
mod fixes;
mod flow;
mod format;
mod rules;
mod sanitizer;

use format::{
    ArtifactLocation, BaseIds, ColumnKind, Driver, Invocation, PhysicalLocation, Region, SarifLocation, SarifLog,
    SarifRun, Tool,
};
use ravelin_answer::Answer;
use ravelin_program::Position;
use rules::{Rule, SANITIZER, STATIC};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const ROOT: &str = "%SRCROOT%";

/// The document for the answers of one invocation. `root` is the folder in which it ran.
pub fn report(answers: &[Answer], root: Option<&str>) -> String {
    let mut results = Vec::new();
    let mut notifications = Vec::new();
    let mut of_sanitizer = false;
    for answer in answers {
        match answer {
            Answer::Sanitizer(report) => {
                of_sanitizer = true;
                results.extend(report.findings.iter().map(sanitizer::result));
                results.extend(report.weak_failures().map(sanitizer::weak_failure));
                notifications.extend(sanitizer::notifications(report));
            }
            answer => {
                results.extend(answers::results(answer));
                notifications.extend(answers::notifications(answer));
            }
        }
    }
    // All answers of an invocation are of one kind.
    let (rules, columns) =
        if of_sanitizer { (&**SANITIZER, ColumnKind::Utf16CodeUnits) } else { (STATIC, ColumnKind::UnicodeCodePoints) };
    let run = SarifRun {
        tool: Tool {
            driver: Driver {
                name: "ravelin",
                semantic_version: env!("CARGO_PKG_VERSION"),
                rules: rules.iter().map(Rule::descriptor).collect(),
            },
        },
        column_kind: columns,
        invocations: [Invocation {
            execution_successful: notifications.is_empty(),
            tool_execution_notifications: notifications,
        }],
        results,
        original_uri_base_ids: root.map(|root| {
            let slash = if root.ends_with('/') { "" } else { "/" };
            let uri = Some(format!("{}{slash}", uri(root)));
            BaseIds { root: ArtifactLocation { uri, ..ArtifactLocation::default() } }
        }),
    };
    // Keys are strings and numbers are plain: serialising these types cannot fail.
    let log = SarifLog { schema: SCHEMA, version: "2.1.0", runs: [run] };
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

/// A place in a file.
fn physical(file: &str, position: Option<Position>) -> PhysicalLocation {
    let region = position.filter(|at| at.line > 0).map(|Position { line, column }| Region {
        start_line: line,
        start_column: Some(column).filter(|&column| column > 0),
        ..Region::default()
    });
    PhysicalLocation { artifact_location: artifact(file), region }
}

/// A place in a file, with a message.
fn place(file: &str, position: Option<Position>, message: impl Into<String>) -> SarifLocation {
    SarifLocation {
        message: Some(message.into().into()),
        physical_location: Some(physical(file, position)),
        ..SarifLocation::default()
    }
}

/// Related locations have numbers, so that messages can refer to them.
fn numbered(related: impl IntoIterator<Item = SarifLocation>) -> Vec<SarifLocation> {
    related.into_iter().enumerate().map(|(number, location)| SarifLocation { id: Some(number), ..location }).collect()
}

fn artifact(file: &str) -> ArtifactLocation {
    let nowhere = ArtifactLocation::default();
    match file {
        // Standard input has no address.
        "-" => ArtifactLocation { description: Some("standard input".into()), ..nowhere },
        _ if file.starts_with('/') => ArtifactLocation { uri: Some(uri(file)), ..nowhere },
        _ => ArtifactLocation { uri: Some(uri(file.trim_start_matches("./"))), uri_base_id: Some(ROOT), ..nowhere },
    }
}

/// A path as a URI: relative paths stay relative.
fn uri(file: &str) -> String {
    let mut uri = if file.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("/tmp/ü.c"), "file:///tmp/%C3%BC.c");
        let beside = ArtifactLocation { uri: Some("a%3Ab.rav".to_owned()), uri_base_id: Some(ROOT), description: None };
        assert_eq!(artifact("./a:b.rav"), beside);
        assert_eq!(artifact("-").uri, None);
    }
}
