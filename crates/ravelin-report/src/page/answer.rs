//! One answer: verdict, notes, witness, fences, states, findings, statistics.

use super::confirm::confirmation;
use super::findings::findings;
use super::links::linked;
pub use super::links::ticked;
use super::source::{excerpt, lines_shown, source};
use super::states::states;
use super::witness::witness;
use super::{PageContext, badge, diff};
use crate::story::{Fences, Story};
use maud::{Markup, html};
use ravelin_answer::FenceSet;

/// The most rows of a table; JSON has all of them.
const MOST_ROWS: usize = 200;
const MOST_SETS: usize = 20;

pub fn answer(story: &Story, context: &PageContext) -> Markup {
    let lines = match (&story.demonstration, context.source(&story.file)) {
        (_, None) => Vec::new(),
        (Some(demonstration), Some(text)) => lines_shown(text, &demonstration.lines()),
        (None, Some(text)) => lines_shown(text, &story.marked),
    };
    let words = |text: &str| linked(text, context.answer, &|line| lines.binary_search(&line).is_ok());
    html! {
        section.answer id=(format!("answer-{}", context.answer)) data-verdict=(story.verdict.name()) {
            (verdict(story, &words))
            // The verdict already contains what a run of `reach` violates.
            @if let Some(demonstration) = story.demonstration.as_ref().filter(|demonstration| !demonstration.sentence.is_empty() && story.command != "reach") {
                p.sentence { (words(&demonstration.sentence)) }
            }
            @if !story.notes.is_empty() {
                ul.notes { @for note in &story.notes { li { (words(note)) } } }
            }
            @if let Some(fences) = &story.fences { (self::fences(fences, story, context)) }
            @if let Some(found) = &story.confirmation { (confirmation(found)) }
            @match &story.demonstration {
                Some(demonstration) => (witness(demonstration, &story.file, context, &format!("{}-0", context.answer), true)),
                None => (alone(story, context)),
            }
            @if let Some(found) = &story.states { (states(found, story, context)) }
            @if let Some(found) = &story.findings { (findings(found, context)) }
            @if let Some(fences) = &story.fences { (needed(fences, story, context)) }
            (statistics(story))
        }
    }
}

/// An answer that does not fit into the page.
pub fn verdict_only(story: &Story, context: &PageContext) -> Markup {
    html! {
        section.answer id=(format!("answer-{}", context.answer)) data-verdict=(story.verdict.name()) {
            (verdict(story, &|text| ticked(text)))
            p.faint { "The rest did not fit into this page; ask about this file alone." }
        }
    }
}

fn verdict(story: &Story, words: &dyn Fn(&str) -> Markup) -> Markup {
    html! {
        header class=(format!("verdict {}", story.verdict.name())) {
            h1 {
                (badge(story)) " "
                span.about { (story.file) @if let Some(model) = &story.model { " under " (model.name()) } }
            }
            p.lead { (words(&story.sentence)) }
        }
    }
}

/// An answer without a witness: only the source.
fn alone(story: &Story, context: &PageContext) -> Markup {
    html! {
        @if let Some(text) = context.source(&story.file) {
            details.plain open[context.is_first] { summary { "Source" } (source(&story.file, text, &story.marked, Some(context.answer))) }
        }
    }
}

fn fences(fences: &Fences, story: &Story, context: &PageContext) -> Markup {
    html! {
        @if let Some(diff) = fences.diff.as_deref().filter(|diff| !diff.is_empty()) {
            section.change { h2 { "The change" } (diff::diff(diff)) }
        }
        @if !fences.sets.is_empty() {
            section {
                h2 { @if fences.sets.len() == 1 { "The fences" } @else { (fences.sets.len()) " sets of fences" } }
                @for (number, set) in fences.sets.iter().take(MOST_SETS).enumerate() { (fence_set(set, number, fences.sets.len())) }
                @if fences.sets.len() > MOST_SETS { p.faint { "… and " (fences.sets.len() - MOST_SETS) " more." } }
                @if fences.truncated { p.faint { "There are more; these are the cheapest." } }
            }
        }
        @if !fences.places.is_empty() {
            div.scroll tabindex="0" role="group" aria-label="places" {
                table.plain {
                    thead { tr { th { "place" } th { "cost" } th { "after" } th { "in" } } }
                    tbody {
                        @for (change, cost) in fences.places.iter().take(MOST_ROWS) {
                            tr { td { (change.place) } td.number { (cost) } td { code { (change.after) } } td { (change.threads.join(", ")) } }
                        }
                    }
                }
            }
            @if let Some(text) = context.source(&story.file) {
                (source(&story.file, text, &fences.places.iter().filter_map(|(change, _)| Some(change.position?.line)).collect::<Vec<_>>(), None))
            }
        }
    }
}

fn fence_set(set: &FenceSet, number: usize, sets: usize) -> Markup {
    html! {
        @if sets > 1 { h3 { "Set " (number + 1) ", cost " (set.cost) } }
        div.scroll tabindex="0" role="group" aria-label="fences" {
            table.plain {
                thead { tr { th { "place" } th { "change" } th { "where" } th { "in" } } }
                tbody {
                    @for change in set.changes.iter().take(MOST_ROWS) {
                        tr {
                            td { (change.place) }
                            td { (change.words()) }
                            td { @if change.change.is_some_and(|kind| kind.is_insertion()) { "after " } code { (change.after) } }
                            td { (change.threads.join(", ")) }
                        }
                    }
                }
            }
        }
    }
}

/// What goes wrong without each fence.
fn needed(fences: &Fences, story: &Story, context: &PageContext) -> Markup {
    html! {
        @for (number, needed) in fences.needed.iter().enumerate() {
            details.plain {
                summary { "Without the one at " (needed.place) }
                @match &needed.demonstration {
                    Some(demonstration) => {
                        p.sentence { (ticked(&demonstration.sentence)) }
                        (witness(demonstration, &story.file, context, &format!("{}-{}", context.answer, number + 1), false))
                    },
                    None => p { "A limit was met before a run was found." },
                }
            }
        }
    }
}

fn statistics(story: &Story) -> Markup {
    html! {
        @if !story.statistics.is_empty() {
            details.plain.statistics {
                summary { "Statistics" }
                dl { @for (name, value) in &story.statistics { div { dt { (name) } dd { (value) } } } }
            }
        }
    }
}

/// A few lines around a place, if the text is available.
pub fn lines_around(context: &PageContext, file: &str, line: usize) -> Option<Markup> {
    context.source(file).map(|text| excerpt(file, text, line))
}
