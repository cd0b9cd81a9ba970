//! What would forbid a graph: accesses with a stronger order, or seq_cst fences.
//!
//! Tried on the graph itself, by the axioms: if release stores and acquire loads everywhere forbid it, those that are not needed are
//! taken back one by one; if not, seq_cst fences are put before every event, and then taken away likewise. What is left forbids this graph;
//! others may remain. The cheapest changes that forbid all of them are another question.

use super::question::{C11Answer, reading};
use ravelin_program::Order;
use ravelin_semantics::rc20::{Graph, Label, OrderReading, rc20_consistent};

/// A set of changes, none of which can be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct C11Remedy {
    /// Events of the graph, and the order that each gets.
    pub strengthen: Vec<(usize, Order)>,
    /// Events of the graph with a seq_cst fence right before them.
    pub fences: Vec<usize>,
}

/// Changes that forbid the graph of an answer's witness, if there are any.
pub fn remedy(answer: &C11Answer) -> Option<C11Remedy> {
    // Where there are no seq_cst accesses, it does not matter how they are read.
    of_graph(&answer.witness()?.graph, reading(answer.model, answer.seq_cst.unwrap_or_default()))
}

fn of_graph(graph: &Graph, reading: OrderReading) -> Option<C11Remedy> {
    let strengthen: Vec<(usize, Order)> =
        (0..graph.len()).filter_map(|event| Some((event, stronger(graph, event, reading)?))).collect();
    let follows = |event: &usize| {
        let thread = graph.events[*event].thread;
        thread.is_some() && *event > 0 && graph.events[*event - 1].thread == thread
    };
    let fences: Vec<usize> = (0..graph.len()).filter(follows).collect();
    let candidates = [
        C11Remedy { strengthen: strengthen.clone(), fences: Vec::new() },
        C11Remedy { strengthen: Vec::new(), fences: fences.clone() },
        C11Remedy { strengthen, fences },
    ];
    let mut remedy = candidates.into_iter().find(|remedy| forbids(graph, reading, remedy))?;
    for number in (0..remedy.strengthen.len()).rev() {
        let mut less = remedy.clone();
        less.strengthen.remove(number);
        if forbids(graph, reading, &less) {
            remedy = less;
        }
    }
    for number in (0..remedy.fences.len()).rev() {
        let mut less = remedy.clone();
        less.fences.remove(number);
        if forbids(graph, reading, &less) {
            remedy = less;
        }
    }
    Some(remedy)
}

fn forbids(graph: &Graph, reading: OrderReading, remedy: &C11Remedy) -> bool {
    let mut changed = graph.clone();
    for &(event, stronger) in &remedy.strengthen {
        match &mut changed.events[event].label {
            Label::Read { order, .. } | Label::Write { order, .. } | Label::Rmw { order, .. } => *order = stronger,
            Label::Fence { .. } => {}
        }
    }
    // From the last on, so that the numbers of those before stay.
    for &event in remedy.fences.iter().rev() {
        changed.add_fence(event, Order::SeqCst);
    }
    !rc20_consistent(&changed, reading)
}

/// The release/acquire order of an atomic access that is weaker.
fn stronger(graph: &Graph, event: usize, reading: OrderReading) -> Option<Order> {
    let event = &graph.events[event];
    let strong = match event.label {
        Label::Read { .. } => Order::Acquire,
        Label::Write { .. } => Order::Release,
        Label::Rmw { .. } => Order::AcqRel,
        Label::Fence { .. } => return None,
    };
    let now = reading.order(&event.label);
    let weaker = strong.is_acquire() && !now.is_acquire() || strong.is_release() && !now.is_release();
    (event.thread.is_some() && event.is_atomic() && weaker).then_some(strong)
}
