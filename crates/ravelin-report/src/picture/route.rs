//! The routes of edges between the events, and the positions of their labels. No route lies behind an event that is
//! not one of its ends.
//!
//! Program order between neighbours is a straight line down. An edge between two columns is one cubic curve from side
//! to side if that crosses no event. Otherwise it is a line with round corners: it leaves an event into the lane beside
//! its column, crosses the other columns in a corridor between two rows, and comes down or up the lane beside the column
//! of its end. Lanes and corridors contain no events. Edges of one column bulge into the lane beside it. Edges that
//! share a lane, a corridor or an end are a few points apart.

use super::layout::{Layout, Node};
use crate::story::{Edge, Graph};
use ravelin_answer::EdgeKind;
use std::collections::HashMap;

pub struct Route {
    /// The `d` of an SVG path.
    pub path: String,
    pub label: Point,
    /// Its extent.
    pub left: f64,
    pub right: f64,
    pub bottom: f64,
    /// Points along it.
    #[cfg(test)]
    pub points: Vec<Point>,
}

type Point = (f64, f64);

/// How an edge is drawn.
enum Shape {
    Line(Point, Point),
    Curve([Point; 4]),
    /// Horizontal and vertical pieces in turn.
    Corners(Vec<Point>),
}

/// Half the size of a label.
const LABEL: Point = (13.0, 9.0);
/// How far a route stays away from events.
const DISTANCE: f64 = 3.0;
const SAMPLES: u32 = 96;
const RADIUS: f64 = 9.0;

pub fn routes(graph: &Graph, layout: &Layout) -> Vec<Route> {
    let mut placed: Vec<Point> = Vec::new();
    let mut tracks = EdgeTracks::default();
    let mut routes: Vec<Route> = Vec::with_capacity(graph.edges.len());
    for (number, edge) in graph.edges.iter().enumerate() {
        let same_ends = |other: &&Edge| {
            (other.from, other.to) == (edge.from, edge.to) || (other.to, other.from) == (edge.from, edge.to)
        };
        let beside = graph.edges[..number].iter().filter(same_ends).count();
        let shape = shape(layout, edge, beside, &mut tracks);
        let points = shape.points();
        let labelled = edge.kind != EdgeKind::Po || edge.on_cycle;
        let label = if labelled { label(&points, &placed, &layout.nodes) } else { points[0] };
        if labelled {
            placed.push(label);
        }
        let (mut left, mut right, mut bottom) = (label.0 - LABEL.0, label.0 + LABEL.0, label.1 + LABEL.1);
        for &(x, y) in &points {
            (left, right, bottom) = (left.min(x), right.max(x), bottom.max(y));
        }
        routes.push(Route {
            path: shape.path(),
            label,
            left,
            right,
            bottom,
            #[cfg(test)]
            points,
        });
    }
    routes
}

fn shape(layout: &Layout, edge: &Edge, beside: usize, tracks: &mut EdgeTracks) -> Shape {
    let (from, to) = (&layout.nodes[edge.from], &layout.nodes[edge.to]);
    if edge.from == edge.to {
        let (x, y) = (from.x + from.width, middle(from).1);
        return Shape::Curve([(x, y - 6.0), (x + 24.0, y - 14.0), (x + 24.0, y + 14.0), (x, y + 6.0)]);
    }
    match (from.column, to.column) {
        (Some(column), Some(other)) if column == other => within_column(layout, edge, column, beside, tracks),
        (Some(_), Some(_)) => {
            let rightwards = from.x < to.x;
            let (x, to_x) = if rightwards { (from.x + from.width, to.x) } else { (from.x, to.x + to.width) };
            let y = middle(from).1 + tracks.port(edge.from, rightwards);
            let to_y = middle(to).1 + tracks.port(edge.to, !rightwards);
            let pull = (to_x - x) * 0.42;
            let bows = [0.0, 40.0, -40.0, 56.0, -56.0, 80.0, -80.0];
            let curves = bows.map(|bow| [(x, y), (x + pull, y + bow), (to_x - pull, to_y + bow), (to_x, to_y)]);
            let free = curves.into_iter().find(|curve| is_free(layout, edge, &curve_points(curve)));
            free.map_or_else(|| corners(layout, (x, y), (to_x, to_y), rightwards, tracks), Shape::Curve)
        }
        (None, Some(column)) => {
            let (start, lane, end) = down(layout, (edge.from, edge.to), column, tracks);
            Shape::Corners(vec![start, (start.0, lane.1), lane, (lane.0, end.1), end])
        }
        (Some(column), None) => {
            let (start, lane, end) = down(layout, (edge.to, edge.from), column, tracks);
            Shape::Corners(vec![end, (lane.0, end.1), lane, (start.0, lane.1), start])
        }
        (None, None) => {
            let (x, y) = middle(from);
            let (to_x, to_y) = middle(to);
            Shape::Curve([(x, y + 15.0), (x, y + 36.0), (to_x, to_y + 36.0), (to_x, to_y + 15.0)])
        }
    }
}

fn within_column(layout: &Layout, edge: &Edge, column: usize, beside: usize, tracks: &mut EdgeTracks) -> Shape {
    let (from, to) = (&layout.nodes[edge.from], &layout.nodes[edge.to]);
    let (top, bottom) = (from.y.min(to.y), from.y.max(to.y));
    let between = |node: &Node| node.column == Some(column) && node.y > top && node.y < bottom;
    let is_next = !layout.nodes.iter().any(between);
    if edge.kind == EdgeKind::Po && from.y < to.y && is_next {
        let x = middle(from).0;
        return Shape::Line((x, from.y + from.height), (x, to.y - 1.0));
    }
    // Program order that skips events runs on the left, everything else on the right.
    let right = edge.kind != EdgeKind::Po;
    let (side, out) = if right { (from.x + from.width, 1.0) } else { (from.x, -1.0) };
    let wanted = 30.0 + beside as f64 * 9.0 + (bottom - top) / 9.0;
    // A curve reaches three quarters of the way to its control points, and the lane ends at the next column.
    let bulge = out * wanted.min((layout.gap - 8.0) / 0.75);
    let (start, end) = (middle(from).1 + tracks.port(edge.from, right), middle(to).1 + tracks.port(edge.to, right));
    Shape::Curve([(side, start), (side + bulge, start), (side + bulge, end), (side, end)])
}

/// From one side to another, through lanes and a corridor.
fn corners(layout: &Layout, from: Point, to: Point, rightwards: bool, tracks: &mut EdgeTracks) -> Shape {
    let out = if rightwards { 1.0 } else { -1.0 };
    let detour = |corridor: &f64| (corridor - from.1).abs() + (corridor - to.1).abs();
    let nearest = |one: &f64, other: &f64| detour(one).total_cmp(&detour(other));
    let Some(corridor) = layout.corridors.iter().copied().min_by(nearest) else { return Shape::Line(from, to) };
    let y = corridor + tracks.corridor(corridor);
    let lane = |x: f64, out: f64, tracks: &mut EdgeTracks| {
        let centre = x + out * layout.gap / 2.0;
        centre + tracks.lane(centre)
    };
    let (first, second) = (lane(from.0, out, tracks), lane(to.0, -out, tracks));
    Shape::Corners(vec![from, (first, from.1), (first, y), (second, y), (second, to.1), to])
}

/// From an initial write down the lane beside a column: where it starts, where it turns down, and where it ends.
fn down(
    layout: &Layout,
    (initial, event): (usize, usize),
    column: usize,
    tracks: &mut EdgeTracks,
) -> (Point, Point, Point) {
    let (from, to) = (&layout.nodes[initial], &layout.nodes[event]);
    let right = middle(from).0 > layout.columns[column].centre;
    let (side, out) = if right { (to.x + to.width, 1.0) } else { (to.x, -1.0) };
    let centre = side + out * layout.gap / 2.0;
    let corridor = layout.corridors.first().copied().unwrap_or(from.y + from.height);
    let turn = (centre + tracks.lane(centre), corridor + tracks.corridor(corridor));
    let start = (middle(from).0 + tracks.port(initial, true), from.y + from.height);
    (start, turn, (side, middle(to).1 + tracks.port(event, right)))
}

fn middle(node: &Node) -> Point {
    (node.x + node.width / 2.0, node.y + node.height / 2.0)
}

/// Whether no event but the ends is near.
fn is_free(layout: &Layout, edge: &Edge, points: &[Point]) -> bool {
    let others = layout.nodes.iter().enumerate().filter(|(event, _)| *event != edge.from && *event != edge.to);
    others.into_iter().all(|(_, node)| !points.iter().any(|&point| is_within(point, node, (DISTANCE, DISTANCE))))
}

fn is_within((x, y): Point, node: &Node, margin: Point) -> bool {
    x > node.x - margin.0
        && x < node.x + node.width + margin.0
        && y > node.y - margin.1
        && y < node.y + node.height + margin.1
}

/// What other edges use already.
#[derive(Default)]
struct EdgeTracks {
    ports: HashMap<(usize, bool), usize>,
    lanes: HashMap<i64, usize>,
    corridors: HashMap<i64, usize>,
}

impl EdgeTracks {
    /// How far from the middle of a side the next edge meets it.
    fn port(&mut self, event: usize, right: bool) -> f64 {
        [0.0, 7.0, -7.0, 11.0, -11.0][next(&mut self.ports, (event, right)) % 5]
    }

    /// How far from the middle of a lane the next edge runs.
    fn lane(&mut self, centre: f64) -> f64 {
        [0.0, 7.0, -7.0, 14.0, -14.0][next(&mut self.lanes, centre.round() as i64) % 5]
    }

    fn corridor(&mut self, y: f64) -> f64 {
        [0.0, 7.0, -7.0, 11.0, -11.0][next(&mut self.corridors, y.round() as i64) % 5]
    }
}

fn next<K: std::hash::Hash + Eq>(tracks: &mut HashMap<K, usize>, key: K) -> usize {
    let number = tracks.entry(key).or_default();
    *number += 1;
    *number - 1
}

/// A place on the route without another label or event, if there is one; not in the middle, where curves cross.
fn label(points: &[Point], placed: &[Point], nodes: &[Node]) -> Point {
    let near = |(x, y): Point, (other_x, other_y): Point| {
        (x - other_x).abs() < 2.0 * LABEL.0 && (y - other_y).abs() < 2.0 * LABEL.1
    };
    let at = |along: f64| points[(along * (points.len() - 1) as f64).round() as usize];
    let free = |point: &Point| {
        !placed.iter().any(|other| near(*point, *other)) && !nodes.iter().any(|node| is_within(*point, node, LABEL))
    };
    let candidates = [0.22, 0.3, 0.38, 0.46, 0.54, 0.62, 0.7, 0.78, 0.16];
    candidates.into_iter().map(at).find(free).unwrap_or_else(|| at(0.5))
}

impl Shape {
    fn path(&self) -> String {
        let point = |(x, y): Point| format!("{x:.1} {y:.1}");
        match self {
            Shape::Line(from, to) => format!("M{} L{}", point(*from), point(*to)),
            Shape::Curve([from, first, second, to]) => {
                format!("M{} C{} {} {}", point(*from), point(*first), point(*second), point(*to))
            }
            Shape::Corners(corners) => {
                let mut path = format!("M{}", point(corners[0]));
                for corner in corners.windows(3) {
                    let (before, after) = (towards(corner[1], corner[0]), towards(corner[1], corner[2]));
                    path.push_str(&format!(" L{} Q{} {}", point(before), point(corner[1]), point(after)));
                }
                path.push_str(&format!(" L{}", point(corners[corners.len() - 1])));
                path
            }
        }
    }

    /// Points along it, evenly spaced.
    fn points(&self) -> Vec<Point> {
        match self {
            Shape::Line(from, to) => (0..=SAMPLES).map(|sample| between(*from, *to, share(sample))).collect(),
            Shape::Curve(curve) => curve_points(curve),
            Shape::Corners(corners) => {
                let length = |pair: &[Point]| (pair[1].0 - pair[0].0).abs() + (pair[1].1 - pair[0].1).abs();
                let whole: f64 = corners.windows(2).map(length).sum();
                let at = |sample: u32| {
                    let mut left = whole * share(sample);
                    for pair in corners.windows(2) {
                        let length = length(pair);
                        if left <= length {
                            return between(pair[0], pair[1], if length > 0.0 { left / length } else { 0.0 });
                        }
                        left -= length;
                    }
                    corners[corners.len() - 1]
                };
                (0..=SAMPLES).map(at).collect()
            }
        }
    }
}

fn share(sample: u32) -> f64 {
    f64::from(sample) / f64::from(SAMPLES)
}

fn between(from: Point, to: Point, along: f64) -> Point {
    (from.0 + (to.0 - from.0) * along, from.1 + (to.1 - from.1) * along)
}

/// A point near a corner, on the way to the next one.
fn towards(corner: Point, next: Point) -> Point {
    let length = (next.0 - corner.0).abs() + (next.1 - corner.1).abs();
    if length == 0.0 { corner } else { between(corner, next, (RADIUS / length).min(0.5)) }
}

fn curve_points(curve: &[Point; 4]) -> Vec<Point> {
    let at = |sample: u32| {
        let (along, rest) = (share(sample), 1.0 - share(sample));
        let weights =
            [rest * rest * rest, 3.0 * rest * rest * along, 3.0 * rest * along * along, along * along * along];
        let add = |(x, y): Point, (point, weight): (&Point, f64)| (x + point.0 * weight, y + point.1 * weight);
        curve.iter().zip(weights).fold((0.0, 0.0), add)
    };
    (0..=SAMPLES).map(at).collect()
}
