//! Positions of the events of a graph: one column per thread, one row per place in program order. A read is no higher
//! than the write that it reads, so that most arrows lead down or across. Initial writes have a separate row at the
//! top.

use crate::story::Graph;
use ravelin_answer::EdgeKind;

/// The approximate width of a character of the picture's font.
const LETTER: f64 = 7.85;
/// Longer texts are cut.
const MOST_LETTERS: usize = 44;
pub const NODE_HEIGHT: f64 = 30.0;
const ROW: f64 = 74.0;
/// The lane beside a column, by the number of columns: many columns have to fit a page.
const GAPS: [(usize, f64); 3] = [(3, 104.0), (5, 76.0), (usize::MAX, 52.0)];
const MARGIN: f64 = 14.0;
const HEADING: f64 = 34.0;
/// The height of initial writes at the top, above the headings.
const INITIAL: f64 = NODE_HEIGHT + 34.0;

pub struct Layout {
    pub columns: Vec<Column>,
    /// By event.
    pub nodes: Vec<Node>,
    pub width: f64,
    pub height: f64,
    /// The base line of the headings.
    pub heading: f64,
    /// The width of the lane between two columns.
    pub gap: f64,
    /// Where an edge can cross all columns without meeting an event: above the headings, between rows, and below the
    /// last one.
    pub corridors: Vec<f64>,
}

pub struct Column {
    pub name: String,
    pub centre: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Node {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    /// Where the text begins, after the number of the line.
    pub indent: f64,
    pub text: String,
    /// None for initial writes.
    pub column: Option<usize>,
}

pub fn layout(graph: &Graph) -> Layout {
    let mut names: Vec<String> = Vec::new();
    let mut nodes: Vec<Node> = Vec::with_capacity(graph.events.len());
    for event in &graph.events {
        let column = event.thread.as_ref().map(|thread| match names.iter().position(|name| name == thread) {
            Some(column) => column,
            None => {
                names.push(thread.clone());
                names.len() - 1
            }
        });
        let text = cut(&event.text);
        let line = event.line.map_or(0, |line| line.to_string().len() + 1);
        let indent = 8.0 + line as f64 * LETTER;
        let width = indent + text.chars().count() as f64 * LETTER + 9.0;
        nodes.push(Node { width, height: NODE_HEIGHT, indent, text, column, ..Node::default() });
    }
    let initial: Vec<usize> = (0..nodes.len()).filter(|&event| nodes[event].column.is_none()).collect();
    let above = if initial.is_empty() { 0.0 } else { INITIAL };
    let top = above + HEADING;
    let rows = rows(graph);
    let gap = GAPS.iter().find(|(columns, _)| names.len() <= *columns).map_or(52.0, |(_, gap)| *gap);
    let mut columns = Vec::with_capacity(names.len());
    let mut x = MARGIN;
    for (number, name) in names.into_iter().enumerate() {
        let of_column = |node: &&mut Node| node.column == Some(number);
        let shown = cut(&name);
        let heading = shown.chars().count() as f64 * LETTER;
        let width = nodes.iter_mut().filter(of_column).fold(heading, |width, node| width.max(node.width));
        nodes.iter_mut().filter(of_column).for_each(|node| {
            node.x = x;
            node.width = width;
        });
        columns.push(Column { name: shown, centre: x + width / 2.0 });
        x += width + gap;
    }
    for (node, row) in nodes.iter_mut().zip(&rows).filter(|(node, _)| node.column.is_some()) {
        node.y = top + *row as f64 * ROW;
    }
    let threads = if columns.is_empty() { MARGIN } else { x - gap };
    // Initial writes side by side, in the middle above the threads.
    let wide: f64 = initial.iter().map(|&event| nodes[event].width + 20.0).sum::<f64>() - 20.0;
    let mut x = MARGIN.max((MARGIN + threads - wide) / 2.0);
    for &event in &initial {
        nodes[event].x = x;
        nodes[event].y = 6.0;
        x += nodes[event].width + 20.0;
    }
    let right = nodes.iter().fold(threads, |right, node| right.max(node.x + node.width));
    let bottom = nodes.iter().fold(HEADING, |bottom, node| bottom.max(node.y + node.height));
    let last = rows.iter().max().copied().unwrap_or_default();
    let between = (1..=last + 1).map(|row| top + row as f64 * ROW - (ROW - NODE_HEIGHT) / 2.0);
    let corridors = std::iter::once(above - 12.0).filter(|_| above > 0.0).chain(between).collect();
    Layout { columns, nodes, width: right + MARGIN, height: bottom + MARGIN, heading: above + 18.0, gap, corridors }
}

/// The row of each event: below what comes before it in program order, and not above what it reads.
fn rows(graph: &Graph) -> Vec<usize> {
    let mut rows = vec![0_usize; graph.events.len()];
    let counts = |event: usize| graph.events[event].thread.is_some();
    // A graph that no model allows could have a cycle here; then this many rounds are enough for any picture.
    for _ in 0..graph.events.len() {
        let mut moved = false;
        for edge in graph.edges.iter().filter(|edge| counts(edge.from) && counts(edge.to) && edge.from != edge.to) {
            let least = match edge.kind {
                EdgeKind::Po => rows[edge.from] + 1,
                EdgeKind::Rf => rows[edge.from],
                _ => continue,
            };
            if rows[edge.to] < least && least < graph.events.len() {
                rows[edge.to] = least;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    rows
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MOST_LETTERS {
        return text.to_owned();
    }
    text.chars().take(MOST_LETTERS - 1).chain(['…']).collect()
}
