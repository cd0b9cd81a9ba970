//! The execution graph as a picture: a standalone SVG with one column per thread, program order going down, and the
//! other edges curved between the columns. The colours are those of herd: rf red, co and mo blue, fr brown, po in the
//! colour of the text. Edges of the cycle are bold, the others thin.
//!
//! Readers of this field expect columns, so the layout is a simple special one ([`layout`]); a general graph layout
//! would mix the threads. The picture depends on the graph alone and is deterministic. Every edge carries `data-kind`,
//! `data-from` and `data-to`, every event `data-event`, so that scripts and tests can read the picture.

mod layout;
mod route;

use crate::story::Graph;
use layout::{Node, layout};
use maud::{Markup, PreEscaped, html};
use ravelin_answer::EdgeKind;
use route::{Route, routes};

const STYLE: &str = include_str!("picture.css");

/// Draws a graph.
pub fn svg(graph: &Graph) -> String {
    draw(graph).into_string()
}

/// The same, for use in a page.
pub(crate) fn draw(graph: &Graph) -> Markup {
    drawn(graph).0
}

/// The picture and its width.
pub(crate) fn drawn(graph: &Graph) -> (Markup, f64) {
    let layout = layout(graph);
    let routes = routes(graph, &layout);
    let (left, right) = routes.iter().fold((0.0_f64, layout.width), |(left, right), route| {
        (left.min(route.left - 4.0), right.max(route.right + 4.0))
    });
    let bottom = routes.iter().fold(layout.height, |bottom, route| bottom.max(route.bottom + 6.0));
    let (width, height) = ((right - left).ceil(), bottom.ceil());
    let title = match graph.cycle.len() {
        0 => "execution graph".to_owned(),
        edges => format!("execution graph with a cycle of {edges} edges"),
    };
    let picture = html! {
        svg class=(if graph.cycle.is_empty() { "hb" } else { "hb cyclic" }) xmlns="http://www.w3.org/2000/svg" viewBox=(format!("{} 0 {width} {height}", left.floor()))
            width=(width) height=(height) role="img" aria-label=(title) {
            title { (title) }
            style { (PreEscaped(STYLE)) }
            defs {
                @for kind in ["po", "rf", "co", "fr"] {
                    marker id=(format!("hb-{kind}")) class=(kind) viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
                        markerUnits="userSpaceOnUse" orient="auto" { path d="M0 0.6 L8 4 L0 7.4 z" {} }
                }
            }
            @for (edge, route) in graph.edges.iter().zip(&routes) {
                path class=(classes(edge.kind, edge.on_cycle)) d=(route.path) marker-end=(format!("url(#hb-{})", colour(edge.kind)))
                    data-kind=(edge.kind.name()) data-from=(edge.from) data-to=(edge.to) data-cell=[edge.cell.as_deref()]
                    data-cycle=[edge.on_cycle.then_some("true")] {}
            }
            @for column in &layout.columns {
                text.thread x=(column.centre) y=(layout.heading) { (column.name) }
            }
            @for (number, node) in layout.nodes.iter().enumerate() {
                (event(graph, number, node))
            }
            @for (edge, route) in graph.edges.iter().zip(&routes).filter(|(edge, _)| edge.kind != EdgeKind::Po || edge.on_cycle) {
                (label(edge.kind, edge.on_cycle, route))
            }
        }
    };
    (picture, width)
}

fn event(graph: &Graph, number: usize, node: &Node) -> Markup {
    let event = &graph.events[number];
    let on_cycle = graph.cycle.iter().any(|&edge| graph.edges[edge].from == number);
    let mut class = String::from("event");
    for (is, name) in
        [(event.thread.is_none(), " initial"), (on_cycle, " cycle"), (graph.marked.contains(&number), " marked")]
    {
        class.push_str(if is { name } else { "" });
    }
    let steps = event.steps.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    html! {
        g class=(class) data-event=(number) data-line=[event.line] data-steps=[(!steps.is_empty()).then_some(steps)] {
            rect x=(node.x) y=(node.y) width=(node.width) height=(node.height) rx="6" {}
            @if let Some(line) = event.line {
                text.line x=(node.x + 8.0) y=(node.y + 20.0) { (line) }
            }
            text.what x=(node.x + node.indent) y=(node.y + 20.0) { (node.text) }
        }
    }
}

fn label(kind: EdgeKind, on_cycle: bool, route: &Route) -> Markup {
    html! {
        text class=(format!("label {}", classes(kind, on_cycle))) x=(route.label.0) y=(route.label.1 + 4.0) { (kind.name()) }
    }
}

/// co and mo are two names of the same relation.
fn colour(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Mo => "co",
        other => other.name(),
    }
}

fn classes(kind: EdgeKind, on_cycle: bool) -> String {
    format!("{}{}", colour(kind), if on_cycle { " cycle" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{Edge, Event};

    fn event(thread: Option<&str>, text: &str) -> Event {
        Event { thread: thread.map(str::to_owned), line: Some(3), text: text.to_owned(), steps: vec![0] }
    }

    fn edge(from: usize, to: usize, kind: EdgeKind, on_cycle: bool) -> Edge {
        Edge { from, to, kind, cell: None, on_cycle }
    }

    /// Store buffering: po, fr, po, fr.
    fn store_buffering() -> Graph {
        let events = vec![
            event(Some("p"), "W x = 1"),
            event(Some("p"), "R y = 0"),
            event(Some("q"), "W y = 1"),
            event(Some("q"), "R x = 0"),
        ];
        let edges = vec![
            edge(0, 1, EdgeKind::Po, true),
            edge(1, 2, EdgeKind::Fr, true),
            edge(2, 3, EdgeKind::Po, true),
            edge(3, 0, EdgeKind::Fr, true),
        ];
        Graph { events, edges, cycle: vec![0, 1, 2, 3], marked: Vec::new() }
    }

    #[test]
    fn a_thread_is_a_column_and_program_order_goes_down() {
        let layout = layout(&store_buffering());
        let at = |event: usize| (layout.nodes[event].x, layout.nodes[event].y);
        assert!(at(0).0 == at(1).0 && at(2).0 == at(3).0 && at(0).0 < at(2).0);
        assert!(at(0).1 < at(1).1 && at(0).1 == at(2).1 && at(1).1 == at(3).1);
    }

    #[test]
    fn edges_can_be_read_back() {
        let picture = svg(&store_buffering());
        assert!(picture.starts_with("<svg"), "{picture}");
        assert_eq!(picture.matches("data-kind=\"fr\"").count(), 2);
        assert!(picture.contains("data-kind=\"fr\" data-from=\"3\" data-to=\"0\" data-cycle=\"true\""), "{picture}");
        assert_eq!(picture.matches("data-event=").count(), 4);
    }

    #[test]
    fn markup_in_names_is_text() {
        let mut graph = store_buffering();
        graph.events[0].text = "W <script>alert(1)</script> = \"1\" & \u{1F600}".to_owned();
        graph.events[1].thread = Some("</svg><b>".to_owned());
        let picture = svg(&graph);
        assert!(!picture.contains("<script") && !picture.contains("<b>"), "{picture}");
        assert_eq!(picture.matches("</svg>").count(), 1);
    }

    #[test]
    fn labels_do_not_lie_on_each_other() {
        let graph = store_buffering();
        let layout = layout(&graph);
        let routes = routes(&graph, &layout);
        let [.., first, _, second] = &routes[..] else { panic!("there are four") };
        assert!((first.label.0 - second.label.0).abs() > 10.0, "{:?} {:?}", first.label, second.label);
    }

    #[test]
    fn strange_graphs_are_drawn() {
        svg(&Graph::default());
        let alone = Graph { events: vec![event(None, "x = 0")], ..Graph::default() };
        assert!(svg(&alone).contains("x = 0"));
        // An event before itself, and a cycle of rf and po that no model allows.
        let mut graph = store_buffering();
        graph.edges.push(edge(0, 0, EdgeKind::Rf, false));
        graph.edges.push(edge(1, 2, EdgeKind::Rf, false));
        graph.edges.push(edge(3, 0, EdgeKind::Rf, false));
        svg(&graph);
    }
}
