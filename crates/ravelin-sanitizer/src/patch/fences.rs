//! Fences as lines of their own.

use super::{Replacement, SourceEdit, line_of};
use std::path::Path;

/// Statements before which a fence is not what was tried: it would be executed once, or not before the access.
const KEYWORDS: [&str; 8] = ["while", "for", "do", "else", "case", "default", "loop", "match"];

/// A fence before the statement of a line; `None` if the access is not the first thing that a statement does there.
pub fn insertion(file: &Path, text: &str, edit: &SourceEdit) -> Option<Replacement> {
    let (from, to) = line_of(text, edit.line)?;
    let line = &text[from..to];
    let indent = &line[..line.len() - line.trim_start().len()];
    let first: String = line.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let before = text[..from].trim_end();
    let begins = before.is_empty()
        || before.ends_with([';', '{', '}'])
        || before.ends_with("*/")
        || before.lines().next_back().is_some_and(|line| line.trim_start().starts_with("//") || line.starts_with('#'));
    let is_statement = begins && !line.trim_start().starts_with('}') && !KEYWORDS.contains(&&*first);
    if !is_statement || !edit.is_first {
        return None;
    }
    Some(Replacement { from, to: from, with: format!("{indent}{}\n", fence(file, text)) })
}

fn fence(file: &Path, text: &str) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => "std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);",
        _ if text.contains("std::") => "std::atomic_thread_fence(std::memory_order_seq_cst);",
        _ if text.contains("stdatomic.h") => "atomic_thread_fence(memory_order_seq_cst);",
        _ => "__atomic_thread_fence(__ATOMIC_SEQ_CST);",
    }
}
