//! The source with line numbers; relevant lines are marked. A long text is reduced to the surroundings of those lines.
//! The script colours it (`highlight.js`), for which it has the name of its language.

use maud::{Markup, html};

/// Texts of at most this many lines are shown as a whole.
const WHOLE: usize = 240;
/// Lines before and after a marked one.
const AROUND: usize = 4;
/// Lines on both sides of a line that a stack names.
const EXCERPT: usize = 3;
/// Longer lines are cut.
const MOST_LETTERS: usize = 240;

/// The language of a file in `highlight.js`, by its ending.
pub fn language(file: &str) -> Option<&'static str> {
    let (_, ending) = file.rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        "rav" => Some("rav"),
        "litmus" => Some("litmus"),
        "txt" => Some("trencher"),
        "rmm" => Some("memorax"),
        "tpl" => Some("rocker"),
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" => Some("c"),
        "rs" => Some("rust"),
        _ => None,
    }
}

/// With the number of an answer lines are the targets of its links.
pub fn source(file: &str, text: &str, marked: &[usize], answer: Option<usize>) -> Markup {
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines_shown(text, marked);
    html! {
        figure.source {
            figcaption { (file) }
            div.code.scroll tabindex="0" role="group" aria-label=(format!("source of {file}")) data-language=[language(file)] {
                @for (place, &number) in shown.iter().enumerate() {
                    @if place > 0 && shown[place - 1] + 1 != number { div.gap { "⋯" } }
                    (line(number, lines[number - 1], marked.contains(&number), answer))
                }
                @if shown.last().is_some_and(|&last| last < lines.len()) { div.gap { "⋯" } }
            }
        }
    }
}

/// The lines of a text that are in the page.
pub fn lines_shown(text: &str, marked: &[usize]) -> Vec<usize> {
    let lines = text.lines().count();
    let near = |number: &usize| marked.iter().any(|line| number.abs_diff(*line) <= AROUND);
    match marked {
        _ if lines <= WHOLE => (1..=lines).collect(),
        [] => (1..=WHOLE).collect(),
        _ => (1..=lines).filter(near).take(WHOLE).collect(),
    }
}

/// A few lines around one.
pub fn excerpt(file: &str, text: &str, at: usize) -> Markup {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    html! {
        div.code.scroll tabindex="0" role="group" aria-label=(format!("{file}, line {at}")) data-language=[language(file)] {
            @for (number, text) in lines.skip(at.saturating_sub(EXCERPT + 1)).take(2 * EXCERPT + 1) {
                (line(number, text, number == at, None))
            }
        }
    }
}

fn line(number: usize, text: &str, marked: bool, answer: Option<usize>) -> Markup {
    let cut: String = text.chars().take(MOST_LETTERS).collect();
    html! {
        div class=(if marked { "l mark" } else { "l" }) data-line=(number)
            id=[answer.map(|answer| super::links::line_id(answer, number))] {
            span.n { (number) } code { (cut) @if cut.len() < text.len() { "…" } }
        }
    }
}
