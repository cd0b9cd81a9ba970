//! The source with line numbers; relevant lines are marked. A long text is reduced to the surroundings of those lines.

use maud::{Markup, html};

/// Texts of at most this many lines are shown as a whole.
const WHOLE: usize = 240;
/// Lines before and after a marked one.
const AROUND: usize = 4;
/// Lines on both sides of a line that a stack names.
const EXCERPT: usize = 3;
/// Longer lines are cut.
const MOST_LETTERS: usize = 240;

pub fn source(file: &str, text: &str, marked: &[usize]) -> Markup {
    let lines: Vec<&str> = text.lines().collect();
    let is_marked = |number: usize| marked.contains(&number);
    let shown: Vec<usize> = if lines.len() <= WHOLE {
        (1..=lines.len()).collect()
    } else if marked.is_empty() {
        (1..=WHOLE).collect()
    } else {
        let near = |number: &usize| marked.iter().any(|line| number.abs_diff(*line) <= AROUND);
        (1..=lines.len()).filter(near).take(WHOLE).collect()
    };
    html! {
        figure.source {
            figcaption { (file) }
            div.code.scroll tabindex="0" role="region" aria-label=(format!("source of {file}")) {
                @for (place, &number) in shown.iter().enumerate() {
                    @if place > 0 && shown[place - 1] + 1 != number { div.gap { "⋯" } }
                    (line(number, lines[number - 1], is_marked(number)))
                }
                @if shown.last().is_some_and(|&last| last < lines.len()) { div.gap { "⋯" } }
            }
        }
    }
}

/// A few lines around one.
pub fn excerpt(text: &str, at: usize) -> Markup {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    html! {
        div.code.scroll tabindex="0" role="region" aria-label="source excerpt" {
            @for (number, text) in lines.skip(at.saturating_sub(EXCERPT + 1)).take(2 * EXCERPT + 1) {
                (line(number, text, number == at))
            }
        }
    }
}

fn line(number: usize, text: &str, marked: bool) -> Markup {
    let cut: String = text.chars().take(MOST_LETTERS).collect();
    html! {
        div class=(if marked { "l mark" } else { "l" }) data-line=(number) {
            span.n { (number) } code { (cut) @if cut.len() < text.len() { "…" } }
        }
    }
}
