//! One answer: verdict, notes, witness, fences, states, findings, statistics.

use super::confirm::confirmation;
use super::findings::findings;
use super::run::run;
use super::source::{excerpt, source};
use super::{PageContext, badge, diff};
use crate::picture;
use crate::story::{Demonstration, EndStateView, Fences, Graph, Role, States, Story};
use maud::{Markup, html};
use ravelin_answer::{EdgeKind, FenceSet};

/// The most rows of a table; JSON has all of them.
const MOST_ROWS: usize = 200;
const MOST_SETS: usize = 20;
/// Wider graphs are not placed beside the source.
const BESIDE: f64 = 570.0;
/// Graphs with more events are not drawn.
const MOST_EVENTS: usize = 120;

pub fn answer(story: &Story, context: &PageContext) -> Markup {
    html! {
        section.answer id=(format!("answer-{}", context.answer)) data-verdict=(story.verdict.name()) {
            (verdict(story))
            // The verdict already contains what a run of `reach` violates.
            @if let Some(demonstration) = story.demonstration.as_ref().filter(|demonstration| !demonstration.sentence.is_empty() && story.command != "reach") {
                p.sentence { (ticked(&demonstration.sentence)) }
            }
            @if !story.notes.is_empty() {
                ul.notes { @for note in &story.notes { li { (ticked(note)) } } }
            }
            @if let Some(fences) = &story.fences { (self::fences(fences, story, context)) }
            @if let Some(found) = &story.confirmation { (confirmation(found)) }
            @match &story.demonstration {
                Some(demonstration) => (self::demonstration(demonstration, &story.file, context, 0)),
                None => (alone(story, context)),
            }
            @if let Some(states) = &story.states { (self::states(states)) }
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
            (verdict(story))
            p.faint { "The rest did not fit into this page; ask about this file alone." }
        }
    }
}

fn verdict(story: &Story) -> Markup {
    html! {
        header class=(format!("verdict {}", story.verdict.name())) {
            p.asked { (badge(story)) @if let Some(model) = &story.model { span.model { "under " (model.name()) } } }
            h1 { (ticked(&story.sentence)) }
        }
    }
}

/// A run and a graph with their source. `number` distinguishes several of one answer.
fn demonstration(demonstration: &Demonstration, file: &str, context: &PageContext, number: usize) -> Markup {
    let text = context.source(file);
    let graph =
        demonstration.graph.as_ref().filter(|graph| graph.events.len() > 1 && graph.events.len() <= MOST_EVENTS);
    let drawing = graph.map(drawn);
    html! {
        div.demonstration {
            @if number > 0 { p.sentence { (ticked(&demonstration.sentence)) } }
            @if !demonstration.roles.is_empty() { (roles(&demonstration.roles)) }
            @if text.is_some() || drawing.is_some() {
                div class=(if drawing.as_ref().is_some_and(|(_, wide)| *wide) { "pair stacked" } else { "pair" }) {
                    @if let Some(text) = text { (source(file, text, &demonstration.lines())) }
                    @if let Some((drawing, _)) = drawing { (drawing) }
                }
            }
            (run(demonstration, &format!("{}-{number}", context.answer)))
        }
    }
}

/// An answer without a witness: only the source.
fn alone(story: &Story, context: &PageContext) -> Markup {
    html! {
        @if let Some(text) = context.source(&story.file) {
            details.plain open[!story.marked.is_empty()] { summary { "Source" } (source(&story.file, text, &story.marked)) }
        }
    }
}

fn roles(roles: &[Role]) -> Markup {
    html! {
        dl.roles {
            @for role in roles {
                div {
                    dt { (role.role) }
                    dd {
                        @if let Some(thread) = &role.thread { b { (thread) } " " }
                        @if let Some(line) = role.line { span.faint { "line " (line) } " " }
                        @if !role.text.is_empty() { code { (role.text) } }
                    }
                }
            }
        }
    }
}

/// The picture with its legend, and whether it is too wide for two columns.
fn drawn(graph: &Graph) -> (Markup, bool) {
    let title = if graph.cycle.is_empty() {
        "What happened before what"
    } else {
        "The cycle that sequential consistency forbids"
    };
    // `mo` is drawn like `co`.
    let legend = [
        (EdgeKind::Po, "po", "program order"),
        (EdgeKind::Rf, "rf", "read from"),
        (EdgeKind::Co, "co", "order of stores"),
        (EdgeKind::Mo, "co", "order of stores"),
        (EdgeKind::Fr, "fr", "read before"),
    ];
    let legend = legend.into_iter().filter(|(kind, ..)| graph.edges.iter().any(|edge| edge.kind == *kind));
    let (picture, width) = picture::drawn(graph);
    let figure = html! {
        figure.graph {
            figcaption { (title) }
            div.scroll tabindex="0" role="region" aria-label="graph" { (picture) }
            ul.legend {
                @for (kind, class, meaning) in legend { li class=(class) { i {} (kind.name()) ": " (meaning) } }
            }
        }
    };
    (figure, width > BESIDE)
}

/// Text in which parts in backticks are code.
pub fn ticked(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
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
            div.scroll tabindex="0" role="region" aria-label="places" {
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
                (source(&story.file, text, &fences.places.iter().filter_map(|(change, _)| Some(change.position?.line)).collect::<Vec<_>>()))
            }
        }
    }
}

fn fence_set(set: &FenceSet, number: usize, sets: usize) -> Markup {
    html! {
        @if sets > 1 { h3 { "Set " (number + 1) ", cost " (set.cost) } }
        div.scroll tabindex="0" role="region" aria-label="fences" {
            table.plain {
                thead { tr { th { "place" } th { "change" } th { "" } th { "in" } } }
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
                    Some(demonstration) => (self::demonstration(demonstration, &story.file, context, number + 1)),
                    None => p { "A limit was met before a run was found." },
                }
            }
        }
    }
}

fn states(states: &States) -> Markup {
    let table = |shown: &[EndStateView]| {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in shown.iter().flat_map(|state| &state.values) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let value = |state: &EndStateView, name: &str| {
            let found = state.values.iter().find(|(other, _)| other == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        html! {
            div.scroll tabindex="0" role="region" aria-label="states" {
                table.plain.values {
                    thead { tr { @for name in &names { th { (name) } } th {} } }
                    tbody {
                        @for state in shown.iter().take(MOST_ROWS) {
                            tr class=[(state.beyond_sc == Some(true)).then_some("beyond")] {
                                @for name in &names { td.number { (value(state, name)) } }
                                td { @match state.beyond_sc {
                                    Some(true) => b { "not possible under sc" },
                                    Some(false) => "",
                                    None => span.faint { "not known whether sc" },
                                } }
                            }
                        }
                    }
                }
            }
            @if shown.len() > MOST_ROWS { p.faint { "… and " (shown.len() - MOST_ROWS) " more." } }
        }
    };
    html! {
        section { h2 { "Final states" } (table(&states.finals)) }
        @if !states.stuck.is_empty() { section { h2 { "States in which nothing can move" } (table(&states.stuck)) } }
    }
}

fn statistics(story: &Story) -> Markup {
    html! {
        @if !story.statistics.is_empty() {
            details.plain.statistics open {
                summary { "Statistics" }
                dl { @for (name, value) in &story.statistics { div { dt { (name) } dd { (value) } } } }
            }
        }
    }
}

/// A few lines around a place, if the text is available.
pub fn lines_around(context: &PageContext, file: &str, line: usize) -> Option<Markup> {
    context.source(file).map(|text| excerpt(text, line))
}
