//! Sentences of answers: parts in backticks are code, and `line 7` leads to that line of the source in the page.

use maud::{Markup, html};

/// The id of a line of the source of an answer.
pub fn line_id(answer: usize, line: usize) -> String {
    format!("answer-{answer}-line-{line}")
}

/// Text in which parts in backticks are code.
pub fn ticked(text: &str) -> Markup {
    with_code(text, &|part| html! { (part) })
}

/// The same, with links to the lines that it names; `is_shown` are the lines that are in the page.
pub fn linked(text: &str, answer: usize, is_shown: &dyn Fn(usize) -> bool) -> Markup {
    with_code(text, &|part| links(part, answer, is_shown))
}

fn with_code(text: &str, outside: &dyn Fn(&str) -> Markup) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (outside(part)) }
        }
    }
}

fn links(text: &str, answer: usize, is_shown: &dyn Fn(usize) -> bool) -> Markup {
    const WORD: &str = "line ";
    html! {
        @for (number, part) in text.split(WORD).enumerate() {
            @if number > 0 {
                @let digits = part.len() - part.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
                @let (name, rest) = part.split_at(digits);
                @match name.parse::<usize>() {
                    Ok(line) if is_shown(line) => {
                        a.line href=(format!("#{}", line_id(answer, line))) data-line=(line) { (WORD) (line) }
                        (rest)
                    },
                    _ => { (WORD) (part) },
                }
            } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_links() {
        let text = "stores to `x` on line 14 and reads it on line 99, in line with `line 3` (line 7).";
        let made = linked(text, 2, &|line| line < 20).into_string();
        let link = |line: usize| {
            format!("<a class=\"line\" href=\"#answer-2-line-{line}\" data-line=\"{line}\">line {line}</a>")
        };
        let expected = format!(
            "stores to <code>x</code> on {} and reads it on line 99, in line with <code>line 3</code> ({}).",
            link(14),
            link(7)
        );
        assert_eq!(made, expected);
        assert_eq!(linked("line 1<b>", 1, &|_| true).into_string().matches("<b>").count(), 0);
    }
}
