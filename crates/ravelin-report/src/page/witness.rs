//! A witness: who plays which part, and the run, the source and the graph side by side, so that all three are in view
//! while a reader steps.

use super::PageContext;
use super::run::run;
use super::source::source;
use crate::picture::{self, Essence};
use crate::story::{Demonstration, Graph, Role};
use maud::{Markup, html};
use ravelin_answer::EdgeKind;

/// Wider graphs are not placed beside the run.
const BESIDE: f64 = 640.0;
/// Graphs with more events are not drawn.
const MOST_EVENTS: usize = 120;
/// So many columns are made to fit; more are scrolled, with a small map.
const MOST_COLUMNS: usize = 8;
/// So many can be read on the screen of a phone.
const FEW_COLUMNS: usize = 3;

/// A run and a graph with their source. `id` distinguishes those of a page. The lines of one source per answer, which
/// is `anchored`, are the targets of links.
pub fn witness(demonstration: &Demonstration, file: &str, context: &PageContext, id: &str, anchored: bool) -> Markup {
    let anchor = anchored.then_some(context.answer);
    let source = context.source(file).map(|text| source(file, text, &demonstration.lines(), anchor));
    let graph = demonstration.graph.as_ref().and_then(|graph| drawn(graph, id));
    let is_wide = graph.as_ref().is_some_and(|(_, wide)| *wide);
    let graph = graph.map(|(markup, _)| markup);
    html! {
        div.demonstration {
            @if !demonstration.roles.is_empty() { (roles(&demonstration.roles)) }
            @if demonstration.run.steps.is_empty() {
                div.pair {
                    @if let Some(source) = source { (source) }
                    @if let Some(graph) = graph { (graph) }
                }
            } @else {
                (run(demonstration, id, is_wide, html! {
                    @if let Some(source) = source { (source) }
                    @if let Some(graph) = graph { (graph) }
                }))
            }
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

/// The picture with its legend, and whether it is too wide for a half of the page. What matters is shown first, and a
/// switch shows the rest.
fn drawn(graph: &Graph, id: &str) -> Option<(Markup, bool)> {
    let is_drawable = |graph: &Graph| graph.events.len() > 1 && graph.events.len() <= MOST_EVENTS;
    let essence = Essence::of(graph).filter(|part| is_drawable(&part.graph));
    let whole = Some(Essence::whole(graph)).filter(|_| is_drawable(graph));
    let first = essence.as_ref().or(whole.as_ref())?;
    let title = match graph.cycle.is_empty() {
        true => "What happened before what",
        false => "The cycle that sequential consistency forbids",
    };
    let all = if graph.events.len() == first.graph.events.len() { "all edges" } else { "everything" };
    let switch = format!("whole-{id}");
    let first_width = picture::draw(first, "measured").width;
    let figure = html! {
        figure.graph {
            figcaption { (title) }
            @if essence.is_some() && whole.is_some() {
                input.switch type="checkbox" id=(switch);
                label.switch for=(switch) { "show " (all) }
            }
            @if let Some(essence) = &essence { (frame(essence, "essence", &format!("hb-{id}-part"))) }
            @if let Some(whole) = &whole { (frame(whole, "whole", &format!("hb-{id}"))) }
            (legend(graph))
        }
    };
    Some((figure, first_width > BESIDE))
}

fn frame(part: &Essence, class: &str, id: &str) -> Markup {
    let drawing = picture::draw(part, id);
    let size = match drawing.columns {
        columns if columns <= FEW_COLUMNS => "fits",
        columns if columns <= MOST_COLUMNS => "several",
        _ => "large",
    };
    let name = if class == "whole" { "graph" } else { "graph, what matters" };
    html! {
        div class=(format!("scroll {class} {size}")) tabindex="0" role="group" aria-label=(name) { (drawing.markup) }
    }
}

fn legend(graph: &Graph) -> Markup {
    // `mo` is drawn like `co`.
    let kinds = [
        (EdgeKind::Po, "po", "program order"),
        (EdgeKind::Rf, "rf", "read from"),
        (EdgeKind::Co, "co", "order of stores"),
        (EdgeKind::Mo, "co", "order of stores"),
        (EdgeKind::Fr, "fr", "read before"),
    ];
    let kinds = kinds.into_iter().filter(|(kind, ..)| graph.edges.iter().any(|edge| edge.kind == *kind));
    html! {
        ul.legend {
            @for (kind, class, meaning) in kinds {
                li class=(class) title=(kind.meaning()) { i {} (kind.name()) ": " (meaning) }
            }
        }
    }
}
