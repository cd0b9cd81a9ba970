//! What a witness shows, in one sentence.

use ravelin_answer::{Edge, EdgeKind};
use ravelin_program::Program;
use ravelin_semantics::rc20::{Graph, GraphEvent, Label};

/// "q may read 0 from `x` on line 4 although p has stored 1 there on line 2, since …".
pub(super) fn of_stale(program: &Program, graph: &Graph, access: usize, cycle: &[Edge]) -> String {
    let words = Words { program, graph };
    let event = &graph.events[access];
    let Some(first) = cycle.first() else { return String::new() };
    let what = match event.label {
        Label::Read { address, value, .. } => format!("may read {value} from `{}`", words.cell(address)),
        Label::Write { address, value, .. } => format!("may store {value} to `{}`", words.cell(address)),
        Label::Rmw { address, read, .. } => format!("may update `{}` from {read}", words.cell(address)),
        Label::Fence { .. } => "may fence".to_owned(),
    };
    let joint = if event.label.reads() { "although" } else { "and be overwritten, although" };
    let mut sentence = format!("{} {what}{} {joint} {}", words.thread(event), words.line(event), words.deed(first.to));
    // From the ignored write along the cycle back to the access.
    let mut last = graph.events[first.to].thread;
    for edge in cycle[1..].iter().filter(|edge| edge.to != access) {
        let next = &graph.events[edge.to];
        let same = next.thread == last;
        sentence.push_str(match edge.kind {
            EdgeKind::Po => " and then ",
            EdgeKind::Rf => ", which ",
            EdgeKind::Co | EdgeKind::Mo | EdgeKind::Fr => ", before ",
        });
        // "p stores 1 to `x`, which q reads" says what was read already.
        match (edge.kind, &next.label) {
            (EdgeKind::Rf, Label::Read { .. }) => {
                sentence.push_str(&format!("{} reads{}", words.thread(next), words.line(next)));
            }
            (EdgeKind::Rf, _) => {
                sentence.push_str(&format!("{} finds when it {}", words.thread(next), words.did(edge.to)));
            }
            _ if same && edge.kind == EdgeKind::Po => sentence.push_str(&words.did(edge.to)),
            _ => sentence.push_str(&words.deed(edge.to)),
        }
        last = next.thread;
    }
    sentence.push('.');
    sentence
}

/// "p and q both access `x` …".
pub(super) fn of_race(program: &Program, graph: &Graph, first: usize, second: usize) -> String {
    let words = Words { program, graph };
    format!(
        "{}, and {}: no synchronisation orders the two, and not both are atomic.",
        words.deed(first),
        words.deed(second)
    )
}

struct Words<'a> {
    program: &'a Program,
    graph: &'a Graph,
}

impl Words<'_> {
    fn cell(&self, address: i64) -> String {
        self.program.memory.name_of(address)
    }

    fn thread(&self, event: &GraphEvent) -> String {
        event.thread.map_or("the start".to_owned(), |thread| self.program.threads[thread.0].name.clone())
    }

    fn line(&self, event: &GraphEvent) -> String {
        let position = self.program.source.position(event.span);
        position.map(|position| format!(" on line {}", position.line)).unwrap_or_default()
    }

    /// "p stores 1 to `x` on line 3".
    fn deed(&self, event: usize) -> String {
        format!("{} {}", self.thread(&self.graph.events[event]), self.did(event))
    }

    fn did(&self, event: usize) -> String {
        let event = &self.graph.events[event];
        let what = match event.label {
            Label::Read { address, value, .. } => format!("reads {value} from `{}`", self.cell(address)),
            Label::Write { address, value, .. } => format!("stores {value} to `{}`", self.cell(address)),
            Label::Rmw { address, read, written, .. } => {
                format!("updates `{}` from {read} to {written}", self.cell(address))
            }
            Label::Fence { .. } => "fences".to_owned(),
        };
        format!("{what}{}", self.line(event))
    }
}
