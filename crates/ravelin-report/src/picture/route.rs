//! The routes of edges between the events, and the positions of their labels.
//!
//! Program order between neighbours is a straight line down. Every other edge is one cubic curve that leaves an event
//! at a side and enters another at a side; edges of one column bulge beside it. Edges with the same ends are a few
//! points apart.

use super::layout::{Layout, Node};
use crate::story::{Edge, Graph};
use ravelin_answer::EdgeKind;
use std::collections::HashMap;

pub struct Route {
    /// The `d` of an SVG path.
    pub path: String,
    pub label: (f64, f64),
    /// Its extent.
    pub left: f64,
    pub right: f64,
    pub bottom: f64,
}

type Point = (f64, f64);
type Curve = [Point; 4];

/// Half the size of a label.
const LABEL: (f64, f64) = (13.0, 9.0);

pub fn routes(graph: &Graph, layout: &Layout) -> Vec<Route> {
    let mut placed: Vec<Point> = Vec::new();
    let mut ports = Ports::default();
    let mut routes: Vec<Route> = Vec::with_capacity(graph.edges.len());
    for (number, edge) in graph.edges.iter().enumerate() {
        let same_ends = |other: &&Edge| {
            (other.from, other.to) == (edge.from, edge.to) || (other.to, other.from) == (edge.from, edge.to)
        };
        let beside = graph.edges[..number].iter().filter(same_ends).count();
        let curve = curve(layout, edge, beside, &mut ports);
        let [from, first, second, to] = curve;
        let labelled = edge.kind != EdgeKind::Po || edge.on_cycle;
        let label = if labelled { label(&curve, &placed, &layout.nodes) } else { from };
        if labelled {
            placed.push(label);
        }
        let samples = (0..=8).map(|sample| at(&curve, f64::from(sample) / 8.0));
        let (mut left, mut right, mut bottom) = (label.0 - LABEL.0, label.0 + LABEL.0, label.1 + LABEL.1);
        for (x, y) in samples {
            (left, right, bottom) = (left.min(x), right.max(x), bottom.max(y));
        }
        let point = |(x, y): Point| format!("{x:.1} {y:.1}");
        let path = match from.0 == to.0 && first.0 == from.0 {
            true => format!("M{} L{}", point(from), point(to)),
            false => format!("M{} C{} {} {}", point(from), point(first), point(second), point(to)),
        };
        routes.push(Route { path, label, left, right, bottom });
    }
    routes
}

fn curve(layout: &Layout, edge: &Edge, beside: usize, ports: &mut Ports) -> Curve {
    let (from, to) = (&layout.nodes[edge.from], &layout.nodes[edge.to]);
    let middle = |node: &Node| (node.x + node.width / 2.0, node.y + node.height / 2.0);
    let aside = beside as f64 * 9.0;
    if edge.from == edge.to {
        let (x, y) = (from.x + from.width, middle(from).1);
        return [(x, y - 6.0), (x + 34.0, y - 14.0), (x + 34.0, y + 14.0), (x, y + 6.0)];
    }
    match (from.column, to.column) {
        (Some(column), Some(other)) if column == other => {
            let between =
                |node: &Node| node.column == Some(column) && node.y > from.y.min(to.y) && node.y < from.y.max(to.y);
            let free = !layout.nodes.iter().any(between);
            if edge.kind == EdgeKind::Po && from.y < to.y && free {
                let x = middle(from).0;
                return [(x, from.y + from.height), (x, from.y + from.height), (x, to.y), (x, to.y - 1.0)];
            }
            // Program order that skips events runs on the left, everything else on the right.
            let (side, out) = match edge.kind {
                EdgeKind::Po => (from.x, -1.0),
                _ => (from.x + from.width, 1.0),
            };
            let bulge = out * (30.0 + aside + (to.y - from.y).abs() / 9.0);
            let right = out > 0.0;
            let (start, end) =
                (middle(from).1 + ports.take(edge.from, right), middle(to).1 + ports.take(edge.to, right));
            [(side, start), (side + bulge, start), (side + bulge, end), (side, end)]
        }
        (None, Some(_)) | (Some(_), None) => {
            let ((x, y), (to_x, to_y)) = match from.column {
                None => ((middle(from).0, from.y + from.height), (entry(from, to), to.y)),
                Some(_) => ((entry(to, from), from.y), (middle(to).0, to.y + to.height)),
            };
            let (x, to_x) = (x + aside, to_x + aside);
            let covers = |node: &Node| node.column.is_some() && node.column == to.column && node.y < to.y;
            if from.column.is_none() && layout.nodes.iter().any(covers) {
                // There is something above it: the edge goes around that and enters at the side.
                let right = x > middle(to).0;
                let (side, out) = if right { (to.x + to.width, 1.0) } else { (to.x, -1.0) };
                let end = middle(to).1 + ports.take(edge.to, right);
                return around(layout, edge, |bow| {
                    [(x, y), (x + bow, y + 60.0), (side + out * 70.0 + bow, end), (side, end)]
                });
            }
            let pull = (to_y - y) * 0.45;
            [(x, y), (x, y + pull), (to_x, to_y - pull), (to_x, to_y)]
        }
        (None, None) => {
            let (x, y) = middle(from);
            let (to_x, to_y) = middle(to);
            [(x, y + 15.0), (x, y + 40.0), (to_x, to_y + 40.0), (to_x, to_y + 15.0)]
        }
        (Some(_), Some(_)) => {
            let rightwards = from.x < to.x;
            let (x, to_x) = if rightwards { (from.x + from.width, to.x) } else { (from.x, to.x + to.width) };
            let y = middle(from).1 + ports.take(edge.from, rightwards);
            let to_y = middle(to).1 + ports.take(edge.to, !rightwards);
            let pull = (to_x - x) * 0.42;
            around(layout, edge, |bow| [(x, y), (x + pull, y + bow), (to_x - pull, to_y + bow), (to_x, to_y)])
        }
    }
}

/// Of several curves, each bent more than the previous one, the first that crosses the fewest events.
fn around(layout: &Layout, edge: &Edge, curve: impl Fn(f64) -> Curve) -> Curve {
    let others = || layout.nodes.iter().enumerate().filter(|(event, _)| *event != edge.from && *event != edge.to);
    let over = |curve: &Curve| {
        let samples = (1..24).map(|sample| at(curve, f64::from(sample) / 24.0));
        let covered = |(x, y): &Point| {
            others().any(|(_, node)| {
                *x > node.x - 4.0
                    && *x < node.x + node.width + 4.0
                    && *y > node.y - 4.0
                    && *y < node.y + node.height + 4.0
            })
        };
        samples.filter(covered).count()
    };
    let bows = [0.0, 40.0, -40.0, 56.0, -56.0, 80.0, -80.0, 110.0, -110.0];
    let curves = bows.into_iter().map(curve);
    curves.min_by_key(over).unwrap_or_default()
}

/// Which places at the sides of events are taken, so that edges do not overlap.
#[derive(Default)]
struct Ports(HashMap<(usize, bool), usize>);

impl Ports {
    /// How far from the middle of a side the next edge meets it.
    fn take(&mut self, event: usize, right: bool) -> f64 {
        let taken = self.0.entry((event, right)).or_default();
        *taken += 1;
        [0.0, 7.0, -7.0, 11.0, -11.0][(*taken - 1) % 5]
    }
}

/// Where at its upper side an event is entered from an initial write: towards that write.
fn entry(initial: &Node, node: &Node) -> f64 {
    let towards = initial.x + initial.width / 2.0;
    towards.clamp(node.x + 16.0, (node.x + node.width - 16.0).max(node.x + 16.0))
}

/// A place on the curve without another label or event, if there is one; not in the middle, where curves cross.
fn label(curve: &Curve, placed: &[Point], nodes: &[Node]) -> Point {
    let near = |(x, y): Point, (other_x, other_y): Point| {
        (x - other_x).abs() < 2.0 * LABEL.0 && (y - other_y).abs() < 2.0 * LABEL.1
    };
    let within = |(x, y): Point, node: &Node| {
        x > node.x - LABEL.0
            && x < node.x + node.width + LABEL.0
            && y > node.y - LABEL.1
            && y < node.y + node.height + LABEL.1
    };
    let candidates = [0.22, 0.3, 0.38, 0.46, 0.54, 0.62, 0.7, 0.78, 0.16];
    let mut points = candidates.iter().map(|&along| at(curve, along));
    let free = |point: &Point| {
        !placed.iter().any(|other| near(*point, *other)) && !nodes.iter().any(|node| within(*point, node))
    };
    points.find(free).unwrap_or_else(|| at(curve, 0.5))
}

/// A point of the curve.
fn at(curve: &Curve, along: f64) -> Point {
    let rest = 1.0 - along;
    let weights = [rest * rest * rest, 3.0 * rest * rest * along, 3.0 * rest * along * along, along * along * along];
    curve.iter().zip(weights).fold((0.0, 0.0), |(x, y), (point, weight)| (x + point.0 * weight, y + point.1 * weight))
}
