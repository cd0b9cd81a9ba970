//! SARIF 2.1.0, the format that editors and code-review tools read. This is the frame that all results share: a
//! document with one run, its rules, results, places and notifications. [`answers`] adds the answers of the static
//! commands, `sanitizer::sarif` the sanitizer's findings.
//!
//! Paths become percent-encoded URIs. Relative ones are relative to `%SRCROOT%`, the folder in which the command ran,
//! which code-scanning services take for the root of the repository.

pub mod answers;
mod fixes;
mod flow;
mod rules;

#[cfg(feature = "sanitizer")]
pub(crate) use rules::SANITIZER;
pub(crate) use rules::{Rule, STATIC};

use ravelin_program::Position;
use serde_json::{Map, Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const ROOT: &str = "%SRCROOT%";

/// The unit of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// As front ends count.
    Characters,
    /// Approximately as compilers count: no tool accepts bytes.
    #[cfg(feature = "sanitizer")]
    Utf16,
}

/// A run of the tool.
pub(crate) struct Run<'a> {
    pub rules: &'a [Rule],
    pub results: Vec<Value>,
    /// What went wrong with the input or the command.
    pub notifications: Vec<Value>,
    pub columns: Columns,
    /// The base folder of relative paths.
    pub root: Option<&'a str>,
}

/// The whole document.
pub(crate) fn document(run: Run) -> String {
    let mut told = json!({
        "tool": { "driver": {
            "name": "ravelin",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": run.rules.iter().map(Rule::told).collect::<Vec<_>>(),
        }},
        "columnKind": match run.columns {
            Columns::Characters => "unicodeCodePoints",
            #[cfg(feature = "sanitizer")]
            Columns::Utf16 => "utf16CodeUnits",
        },
        "invocations": [{
            "executionSuccessful": run.notifications.is_empty(),
            "toolExecutionNotifications": run.notifications,
        }],
        "results": run.results,
    });
    if let Some(root) = run.root {
        let slash = if root.ends_with('/') { "" } else { "/" };
        let mut bases = Map::new();
        bases.insert(ROOT.to_owned(), json!({ "uri": format!("{}{slash}", uri(root)) }));
        told["originalUriBaseIds"] = Value::Object(bases);
    }
    let document = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [told] });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// A place in a file, with a message.
pub(crate) fn place(file: &str, position: Option<Position>, message: &str) -> Value {
    let mut physical = json!({ "artifactLocation": artifact(file) });
    if let Some(Position { line, column }) = position.filter(|at| at.line > 0) {
        let mut region = json!({ "startLine": line });
        if column > 0 {
            region["startColumn"] = json!(column);
        }
        physical["region"] = region;
    }
    json!({ "message": { "text": message }, "physicalLocation": physical })
}

/// Related locations have numbers, so that messages can refer to them.
pub(crate) fn numbered(mut related: Vec<Value>) -> Vec<Value> {
    for (number, location) in related.iter_mut().enumerate() {
        location["id"] = json!(number);
    }
    related
}

pub(crate) fn artifact(file: &str) -> Value {
    match file {
        // Standard input has no address.
        "-" => json!({ "description": { "text": "standard input" } }),
        _ if file.starts_with('/') => json!({ "uri": uri(file) }),
        _ => json!({ "uri": uri(file.trim_start_matches("./")), "uriBaseId": ROOT }),
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
        assert_eq!(artifact("./a:b.rav"), json!({ "uri": "a%3Ab.rav", "uriBaseId": ROOT }));
        assert_eq!(artifact("-")["uri"], Value::Null);
    }
}
