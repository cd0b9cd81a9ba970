//! `ravelin verify` on a program: what it answers, after how many runs, and how long that takes.

use crate::measure::{timed, wall_time};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// An answer of `ravelin verify`.
#[derive(Clone, Debug)]
pub struct VerifyAnswer {
    pub kind: AnswerKind,
    /// The kinds of what was found, or why the answer is unknown.
    pub reasons: Vec<String>,
    pub runs: u64,
    /// Runs that showed nothing new.
    pub redundant: u64,
    pub time: Duration,
    /// The first finding, as JSON has it.
    pub finding: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerKind {
    Verified,
    /// Weak memory adds something, and nothing else was found.
    Stale,
    /// Anything else was found.
    Violated,
    Unknown,
}

/// What `ravelin verify` with these options answers about a program with these words.
pub fn verify(ravelin: &Path, options: &[&str], program: &Path, words: &[&str]) -> Result<VerifyAnswer> {
    // The program may print, too.
    let file = std::env::temp_dir().join(format!("ravelin-verify-answer-{}.json", std::process::id()));
    let mut command = Command::new(ravelin);
    command.args(["verify", "--format", "json", "--output"]).arg(&file).args(options).arg("--");
    command.arg(program).args(words);
    let (output, time) = timed(wall_time, || command.output());
    let output = output.with_context(|| format!("{} cannot be run", ravelin.display()))?;
    let text = std::fs::read(&file);
    let _ = std::fs::remove_file(&file);
    let text = text.with_context(|| format!("no answer: {}", String::from_utf8_lossy(&output.stderr)))?;
    answer(&serde_json::from_slice::<Value>(&text)?["answers"][0], time)
}

fn answer(answer: &Value, time: Duration) -> Result<VerifyAnswer> {
    let verification = &answer["verification"];
    ensure!(verification.is_object(), "no answer of verify");
    let number = |name: &str| verification[name].as_u64().with_context(|| format!("no {name}"));
    let listed = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let finding = ["findings", "stuck", "crashes"].iter().find_map(|name| listed(&answer[*name]).into_iter().next());
    let found = listed(&answer["findings"]).into_iter().chain(listed(&answer["stuck"]));
    let found = found.filter_map(|found| Some(found["problem"].as_str()?.replace('-', " ")));
    let crashes = listed(&answer["crashes"]).into_iter().map(|_| "crash".to_owned());
    let failures = listed(&verification["failures"]).into_iter().map(|_| "a run fails".to_owned());
    let mut found: Vec<String> = found.chain(crashes).chain(failures).collect();
    found.sort();
    found.dedup();
    let kind = match answer["verdict"].as_str() {
        Some("holds") => AnswerKind::Verified,
        Some("violated") if found.iter().all(|found| is_about_weak_memory(found)) => AnswerKind::Stale,
        Some("violated") => AnswerKind::Violated,
        _ => AnswerKind::Unknown,
    };
    let limits = listed(&verification["limits"]).into_iter().filter_map(|limit| Some(limit.as_str()?.to_owned()));
    let reasons = if kind == AnswerKind::Unknown { limits.collect() } else { found };
    Ok(VerifyAnswer { kind, reasons, runs: number("runs")?, redundant: number("redundant")?, time, finding })
}

/// Whether a kind of finding says that a run under C11 is none under sequential consistency.
fn is_about_weak_memory(kind: &str) -> bool {
    ["stale read", "stale write", "stale update"].contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_are_read() {
        let with = |verdict: &str, findings: Value| {
            let verification = json!({"runs": 7, "redundant": 1, "limits": ["7 runs"], "failures": []});
            let document = json!({"verdict": verdict, "findings": findings, "verification": verification});
            answer(&document, Duration::ZERO).unwrap()
        };
        assert_eq!(with("holds", json!([])).kind, AnswerKind::Verified);
        let unknown = with("unknown", json!([]));
        assert_eq!((unknown.kind, unknown.reasons), (AnswerKind::Unknown, vec!["7 runs".to_owned()]));
        let stale = with("violated", json!([{"problem": "stale-read"}, {"problem": "stale-read"}]));
        assert_eq!((stale.kind, stale.reasons, stale.runs), (AnswerKind::Stale, vec!["stale read".to_owned()], 7));
        assert_eq!(with("violated", json!([{"problem": "data-race"}])).kind, AnswerKind::Violated);
        assert!(answer(&json!({}), Duration::ZERO).is_err());
    }
}
