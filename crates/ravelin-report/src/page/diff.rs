//! A unified diff with its lines coloured.

use maud::{Markup, html};

pub fn diff(diff: &str) -> Markup {
    let class = |line: &str| match line.as_bytes().first() {
        _ if line.starts_with("+++ ") || line.starts_with("--- ") => "file",
        Some(b'+') => "plus",
        Some(b'-') => "minus",
        Some(b'@') => "hunk",
        _ => "same",
    };
    html! {
        div.code.diff.scroll tabindex="0" role="group" aria-label="change" {
            @for line in diff.lines() { div class=(format!("l {}", class(line))) { code { (line) } } }
        }
    }
}
