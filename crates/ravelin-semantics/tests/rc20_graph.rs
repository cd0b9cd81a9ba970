//! Graphs that grow by one event at a time.

use ravelin_program::{Order, Span, ThreadId, Value};
use ravelin_semantics::rc20::{Graph, GraphEvent, Label};

fn event(thread: usize, label: Label) -> GraphEvent {
    GraphEvent { thread: Some(ThreadId(thread)), label, transition: None, span: Span::NOWHERE }
}

fn write(value: Value) -> Label {
    Label::Write { address: 1, value, order: Order::Relaxed }
}

fn read(value: Value) -> Label {
    Label::Read { address: 1, value, order: Order::Relaxed }
}

#[test]
fn the_order_of_growing_leaves_no_trace() {
    // p: W(1); q: W(2); R(1), with W(1) before W(2) in mo.
    let mut one = Graph::default();
    one.initialise(1, 0);
    one.extend(event(0, write(1)), None, Some(1));
    one.extend(event(1, write(2)), None, Some(2));
    one.extend(event(1, read(1)), Some(1), None);

    let mut other = Graph::default();
    other.initialise(1, 0);
    other.extend(event(1, write(2)), None, Some(1));
    other.extend(event(0, write(1)), None, Some(1));
    other.extend(event(1, read(1)), Some(1), None);
    assert_eq!(one, other);
    assert_eq!(one.latest(1), Some(2));
}

#[test]
fn a_late_initial_write_comes_first() {
    let mut graph = Graph::default();
    graph.initialise(1, 0);
    graph.extend(event(0, write(1)), None, Some(1));
    graph.extend(event(1, read(1)), Some(1), None);
    graph.initialise(7, 0);
    graph.initialise(3, 0);
    let addresses: Vec<_> = graph.events.iter().map(|event| event.label.address()).collect();
    assert_eq!(addresses, [Some(1), Some(3), Some(7), Some(1), Some(1)]);
    assert_eq!(graph.rf().pairs().collect::<Vec<_>>(), [(3, 4)]);
    assert_eq!(graph.mo().pairs().collect::<Vec<_>>(), [(0, 3)]);
    assert_eq!(graph.po().pairs().count(), 6);
}
