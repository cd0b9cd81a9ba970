//! The execution graph as a picture: a standalone SVG with one column per thread, program order going down, and the
//! other edges between the columns, never behind an event. The colours are those of herd: rf red, co and mo blue, fr
//! brown, po in the colour of the text. Edges of the cycle are bold, the others thin.
//!
//! Readers of this field expect columns, so the layout is a simple special one ([`layout`]); a general graph layout
//! would mix the threads. The picture depends on the graph alone and is deterministic. Every edge carries `data-kind`,
//! `data-from` and `data-to`, every event `data-event`, so that scripts and tests can read the picture.

mod essence;
mod layout;
mod route;

use crate::story::Graph;
pub(crate) use essence::Essence;
use layout::{Node, layout};
use maud::{Markup, PreEscaped, html};
use ravelin_answer::EdgeKind;
use route::{Route, routes};

const STYLE: &str = include_str!("picture.css");

/// Draws a graph, all of it.
pub fn svg(graph: &Graph) -> String {
    draw(&Essence::whole(graph), "hb").markup.into_string()
}

/// A picture in a page.
pub(crate) struct Drawing {
    pub markup: Markup,
    pub width: f64,
    /// How many threads have a column.
    pub columns: usize,
}

/// Draws a part of a graph. No two pictures of a page have the same `id`.
pub(crate) fn draw(part: &Essence, id: &str) -> Drawing {
    let Essence { graph, numbers } = part;
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
    let markup = html! {
        svg class=(if graph.cycle.is_empty() { "hb" } else { "hb cyclic" }) xmlns="http://www.w3.org/2000/svg" viewBox=(format!("{} 0 {width} {height}", left.floor()))
            width=(width) height=(height) role="img" aria-label=(title) {
            title { (title) }
            style { (PreEscaped(STYLE)) }
            defs {
                @for kind in ["po", "rf", "co", "fr"] {
                    marker id=(format!("{id}-{kind}")) class=(kind) viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
                        markerUnits="userSpaceOnUse" orient="auto" { path d="M0 0.6 L8 4 L0 7.4 z" {} }
                }
            }
            @for (edge, route) in graph.edges.iter().zip(&routes) {
                path class=(classes(edge.kind, edge.on_cycle)) d=(route.path) marker-end=(format!("url(#{id}-{})", colour(edge.kind)))
                    data-kind=(edge.kind.name()) data-from=(numbers[edge.from]) data-to=(numbers[edge.to]) data-cell=[edge.cell.as_deref()]
                    data-cycle=[edge.on_cycle.then_some("true")] { title { (edge.kind.name()) ", " (edge.kind.meaning()) } }
            }
            @for column in &layout.columns {
                text.thread x=(column.centre) y=(layout.heading) { (column.name) }
            }
            @for (place, node) in layout.nodes.iter().enumerate() {
                (event(graph, place, numbers[place], node))
            }
            @for (edge, route) in graph.edges.iter().zip(&routes).filter(|(edge, _)| edge.kind != EdgeKind::Po || edge.on_cycle) {
                (label(edge.kind, edge.on_cycle, route))
            }
        }
    };
    Drawing { markup, width, columns: layout.columns.len() }
}

fn event(graph: &Graph, place: usize, number: usize, node: &Node) -> Markup {
    let event = &graph.events[place];
    let on_cycle = graph.cycle.iter().any(|&edge| graph.edges[edge].from == place);
    let mut class = String::from("event");
    for (is, name) in
        [(event.thread.is_none(), " initial"), (on_cycle, " cycle"), (graph.marked.contains(&place), " marked")]
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
        text class=(format!("label {}", classes(kind, on_cycle))) x=(route.label.0) y=(route.label.1 + 4.0) {
            (kind.name())
            title { (kind.name()) ", " (kind.meaning()) }
        }
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

    /// Graphs that no model allows are fine here: any events and edges.
    fn random(seed: u64) -> Graph {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % below
        };
        let threads = 1 + draw(9);
        let number = 2 + draw(18);
        let mut graph = Graph::default();
        for number in 0..number {
            let thread = format!("thread {}", draw(threads));
            let initial = number < draw(4);
            graph.events.push(event((!initial).then_some(thread.as_str()), &"W x = 1".repeat(1 + draw(3))));
        }
        for later in 0..number {
            let same = |&other: &usize| graph.events[other].thread == graph.events[later].thread;
            if let Some(earlier) = (0..later).rev().find(same).filter(|&other| graph.events[other].thread.is_some()) {
                graph.edges.push(edge(earlier, later, EdgeKind::Po, draw(4) == 0));
            }
        }
        for _ in 0..draw(3 * number) {
            let (from, to) = (draw(number), draw(number));
            let kind = [EdgeKind::Rf, EdgeKind::Co, EdgeKind::Fr, EdgeKind::Po][draw(4)];
            graph.edges.push(edge(from, to, kind, draw(4) == 0));
        }
        graph.cycle = (0..graph.edges.len()).filter(|&edge| graph.edges[edge].on_cycle).collect();
        graph.marked = (0..draw(3)).map(|_| draw(number)).collect();
        graph
    }

    #[test]
    fn no_edge_lies_behind_an_event() {
        for seed in 0..800 {
            let whole = random(seed);
            let essence = Essence::of(&whole).map(|essence| essence.graph);
            for graph in [Some(whole), essence].into_iter().flatten() {
                let layout = layout(&graph);
                for (edge, route) in graph.edges.iter().zip(routes(&graph, &layout)) {
                    for (number, node) in layout.nodes.iter().enumerate() {
                        // An end is touched at its rim, and nowhere else.
                        let inside = |&(x, y): &(f64, f64)| {
                            x > node.x + 0.1
                                && x < node.x + node.width - 0.1
                                && y > node.y + 0.1
                                && y < node.y + node.height - 0.1
                        };
                        let covered = route.points.iter().find(|point| inside(point));
                        assert_eq!(covered, None, "seed {seed}: {edge:?} is behind event {number} ({node:?})");
                    }
                    let inside = |&(x, _): &(f64, f64)| x >= route.left && x <= route.right;
                    assert!(route.points.iter().all(inside), "seed {seed}: {edge:?} leaves the picture");
                }
            }
        }
    }

    #[test]
    fn the_cycle_comes_alone() {
        let mut graph = store_buffering();
        assert!(Essence::of(&graph).is_none(), "there is nothing else");
        graph.events.insert(0, event(None, "x = 0"));
        graph.events.push(event(Some("q"), "R z = 0"));
        for edge in &mut graph.edges {
            (edge.from, edge.to) = (edge.from + 1, edge.to + 1);
        }
        graph.edges.push(edge(0, 4, EdgeKind::Rf, false));
        graph.edges.push(edge(4, 5, EdgeKind::Po, false));
        let essence = Essence::of(&graph).expect("there is more");
        assert_eq!(essence.numbers, [1, 2, 3, 4]);
        assert_eq!(essence.graph, store_buffering());
        let picture = draw(&essence, "part").markup.into_string();
        assert!(picture.contains("data-kind=\"fr\" data-from=\"4\" data-to=\"1\""), "{picture}");
        graph.marked = vec![0];
        let essence = Essence::of(&graph).expect("there is more");
        assert_eq!(essence.numbers, [0, 1, 2, 3, 4], "an initial write that matters");
        assert_eq!(essence.graph.edges.len(), 5, "with its edge");
    }

    #[test]
    fn initial_writes_come_on_request() {
        let mut graph = store_buffering();
        graph.cycle.clear();
        graph.edges.iter_mut().for_each(|edge| edge.on_cycle = false);
        assert!(Essence::of(&graph).is_none());
        graph.events.push(event(None, "x = 0"));
        graph.edges.push(edge(4, 3, EdgeKind::Rf, false));
        assert_eq!(Essence::of(&graph).expect("less").graph.events.len(), 4);
        graph.marked = vec![4];
        assert!(Essence::of(&graph).is_none(), "this one matters");
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
