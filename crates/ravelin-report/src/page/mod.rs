//! One self-contained HTML page for all answers of an invocation: the verdict in a sentence, the source with the
//! relevant lines, the run to step through, the graph, fences as a diff, the sanitizer's findings.
//!
//! A page is a function of the document and the sources. It makes no network requests, and declares that
//! (Content-Security-Policy). Markup is made with maud, which escapes all inserted text; data for the script is JSON
//! without any `<`. Without a script everything except stepping works, but long runs show only their beginning.
//!
//! A page stays under a megabyte. Runs are written as changes, the script shows a window of rows of long ones, and
//! answers that do not fit any more are reduced to their verdict.

mod answer;
mod confirm;
mod data;
mod diff;
mod findings;
mod links;
mod models;
mod run;
mod source;
mod states;
mod witness;

use crate::story::{Document, Story, Verdict};
use answer::{answer, verdict_only};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use models::models;
pub use source::language;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Colours source texts, in pages and in the editor of `ravelin serve`.
pub const HIGHLIGHT: &str = include_str!("highlight.js");

/// No requests of any kind: the page contains everything.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A page is smaller than this, in bytes.
const MOST: usize = 1_000_000;
/// The most letters of a file's name in the list of answers.
const LONGEST_NAME: usize = 200;
/// The most cells of a table of files or states and models.
const MOST_CELLS: usize = 400;
/// Room that is reserved for verdicts when answers do not fit any more.
const RESERVE: usize = 120_000;

/// Makes the page. `sources` are names of files, as in the document, and their texts; missing ones are not shown.
pub fn page(document: &Document, sources: &[(String, String)]) -> String {
    let command = format!("ravelin {}", document.command);
    let title = match &document.stories[..] {
        [story] => format!("{}: {}", story.file, story.word),
        stories => format!("{command}: {} answers", stories.len()),
    };
    let (mut entries, mut sections): (Vec<Markup>, Vec<Markup>) = Default::default();
    let mut size = STYLE.len() + SCRIPT.len() + HIGHLIGHT.len();
    for (number, story) in document.stories.iter().enumerate() {
        let context = PageContext {
            sources,
            answer: number + 1,
            is_first: !document.stories[..number].iter().any(|other| other.file == story.file),
            room: MOST.saturating_sub(RESERVE + size),
        };
        let (entry, full) = (entry(story, context.answer), answer(story, &context));
        let fits = size + entry.0.len() + full.0.len() + RESERVE <= MOST;
        let section = if fits { full } else { verdict_only(story, &context) };
        size += entry.0.len() + section.0.len();
        if size > MOST - RESERVE / 2 {
            break;
        }
        entries.push(entry);
        sections.push(section);
    }
    let left_away = document.stories.len() - sections.len();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("ravelin ", env!("CARGO_PKG_VERSION")));
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header.top {
                    p.brand { b { "ravelin" } " " (document.command) }
                    @if let Some(models) = models(&document.stories[..sections.len()]) {
                        (models)
                    } @else if entries.len() > 1 {
                        nav.contents aria-label="answers" { ol { @for entry in &entries { (entry) } } }
                    }
                }
                main {
                    @if document.stories.is_empty() { p.sentence { "Nothing was asked." } }
                    @for section in &sections { (section) }
                    @if left_away > 0 {
                        p.sentence { (left_away) " more answers did not fit into this page; ask about fewer files at a time." }
                    }
                }
                script { (PreEscaped(HIGHLIGHT)) (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// What a part of the page needs to know about the rest.
struct PageContext<'a> {
    sources: &'a [(String, String)],
    /// Number of the answer, from 1.
    answer: usize,
    /// No answer before it is about the same file.
    is_first: bool,
    /// How many bytes may be added.
    room: usize,
}

impl PageContext<'_> {
    fn source(&self, file: &str) -> Option<&str> {
        self.sources.iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str())
    }
}

/// An answer in the list of all of them.
fn entry(story: &Story, number: usize) -> Markup {
    let file: String = story.file.chars().take(LONGEST_NAME).collect();
    html! {
        li {
            a href=(format!("#answer-{number}")) {
                span.file { (file) }
                @if let Some(model) = &story.model { span.model { (model.name()) } }
                (badge(story))
            }
        }
    }
}

fn badge(story: &Story) -> Markup {
    html! { span class=(format!("badge {}", story.verdict.name())) { (sign(story.verdict)) (story.word) } }
}

/// A sign, because not all users can distinguish colours.
fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "✓ ",
        Verdict::Violated => "✗ ",
        Verdict::Unknown => "? ",
        Verdict::Error => "! ",
        Verdict::NotApplicable | Verdict::None => "",
    }
}

#[cfg(test)]
mod tests;
