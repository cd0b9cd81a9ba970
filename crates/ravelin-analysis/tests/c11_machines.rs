//! Where the violations of the examples can happen, against store buffers that follow the graph event by event.
//!
//! The axioms of x86 are relations over a graph. Here each thread makes its events in program order, a store waits in
//! the thread's buffer, and the oldest store of a buffer reaches memory when it is the next one in modification order.
//! x86 has the graph exactly if every read finds the write that it reads from in some such run.

use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_explore::{Budget, Limits};
use ravelin_frontend::{Language, parse};
use ravelin_program::{Instruction, Model, Order, Program, Source};
use ravelin_semantics::rc20::{Graph, Label, OrderReading, rc20_consistent};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// A moment of a run: what each thread has done, what waits in its buffer, and the newest write of each cell.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    /// By thread, how many of its events were made.
    made: Vec<usize>,
    /// By thread, its delayed stores, oldest first.
    buffers: Vec<VecDeque<usize>>,
    /// By address.
    memory: BTreeMap<i64, usize>,
}

struct Follower<'a> {
    program: &'a Program,
    graph: &'a Graph,
    reading: OrderReading,
    /// By thread, its events.
    threads: Vec<Vec<usize>>,
}

impl Follower<'_> {
    /// Whether the instruction of an event is locked, or followed by a fence.
    fn drains(&self, event: usize) -> bool {
        let event = &self.graph.events[event];
        let is_exchange = event.thread.zip(event.transition).is_some_and(|(thread, transition)| {
            let instruction = &self.program.threads[thread.0].transitions[transition.0].instruction;
            matches!(instruction, Instruction::CompareExchange { .. })
        });
        match event.label {
            Label::Rmw { .. } => true,
            Label::Fence { .. } | Label::Write { .. } => self.reading.order(&event.label) == Order::SeqCst,
            Label::Read { .. } => is_exchange,
        }
    }

    /// Whether the write is the next one of its address after that in memory.
    fn is_next(&self, moment: &Moment, write: usize) -> bool {
        let address = self.graph.events[write].label.address().expect("a write has an address");
        let writes = &self.graph.writes[&address];
        let newest = writes.iter().position(|&other| other == moment.memory[&address]).expect("a write of the address");
        writes.get(newest + 1) == Some(&write)
    }

    fn reach(&self, moment: &mut Moment, write: usize) {
        let address = self.graph.events[write].label.address().expect("a write has an address");
        moment.memory.insert(address, write);
    }

    /// The thread makes its next event, if store buffers allow that.
    fn step(&self, moment: &Moment, thread: usize) -> Option<Moment> {
        let &event = self.threads[thread].get(moment.made[thread])?;
        let buffer = &moment.buffers[thread];
        let label = self.graph.events[event].label;
        if self.drains(event) && !buffer.is_empty() {
            return None;
        }
        let mut next = moment.clone();
        next.made[thread] += 1;
        if label.reads() {
            let address = label.address()?;
            let own = buffer.iter().rev().find(|&&write| self.graph.events[write].label.address() == Some(address));
            if self.graph.sources[event] != Some(*own.unwrap_or(&moment.memory[&address])) {
                return None;
            }
        }
        if label.writes() {
            if !self.drains(event) {
                next.buffers[thread].push_back(event);
            } else if self.is_next(moment, event) {
                self.reach(&mut next, event);
            } else {
                return None;
            }
        }
        Some(next)
    }

    /// The oldest store of the thread's buffer reaches memory.
    fn flush(&self, moment: &Moment, thread: usize) -> Option<Moment> {
        let write = *moment.buffers[thread].front()?;
        let mut next = moment.clone();
        next.buffers[thread].pop_front();
        self.reach(&mut next, write);
        self.is_next(moment, write).then_some(next)
    }
}

/// Whether store buffers have the graph.
fn store_buffers_have(program: &Program, graph: &Graph, reading: OrderReading) -> bool {
    let count = program.threads.len();
    let events = |thread: usize| {
        let is_of = |event: &usize| graph.events[*event].thread.is_some_and(|of| of.0 == thread);
        (0..graph.len()).filter(is_of).collect()
    };
    let follower = Follower { program, graph, reading, threads: (0..count).map(events).collect() };
    let first = Moment {
        made: vec![0; count],
        buffers: vec![VecDeque::new(); count],
        memory: graph.writes.iter().map(|(&address, writes)| (address, writes[0])).collect(),
    };
    let mut seen = BTreeSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(moment) = open.pop() {
        if (0..count).all(|thread| moment.made[thread] == follower.threads[thread].len())
            && moment.buffers.iter().all(VecDeque::is_empty)
        {
            return true;
        }
        for next in (0..count).flat_map(|thread| [follower.step(&moment, thread), follower.flush(&moment, thread)]) {
            if let Some(next) = next.filter(|next| seen.insert(next.clone())) {
                open.push(next);
            }
        }
    }
    false
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the examples are there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
}

#[test]
fn x86_has_a_witness_of_an_example_exactly_if_store_buffers_have_it() {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut paths);
    paths.sort();
    let (mut on_x86, mut elsewhere) = (0, 0);
    for path in paths {
        let name = path.to_string_lossy().into_owned();
        let Some(text) = std::fs::read_to_string(&path).ok() else { continue };
        let Some(language) = Language::from_path(&path) else { continue };
        let Some(program) = parse(Source::new(name.clone(), text), language).program else { continue };
        for (model, reading) in [(Model::Rc20, OrderReading::Written), (Model::Ra, OrderReading::ReleaseAcquire)] {
            let limits = Limits { states: Some(100_000), ..Limits::default() };
            let budget = Budget { limits, ..Budget::default() };
            let question = C11Question { budget, ..C11Question::new(model) };
            let Ok(answer) = c11_robustness(&program, &question) else { continue };
            let Some(witness) = answer.witness() else { continue };
            assert!(rc20_consistent(&witness.graph, reading), "{name} under {model:?}: no graph of the model");
            let expected = store_buffers_have(&program, &witness.graph, reading);
            assert_eq!(witness.machines.x86, expected, "{name} under {model:?}:\n{:#?}", witness.graph);
            on_x86 += usize::from(expected);
            elsewhere += usize::from(!expected);
        }
    }
    assert!(on_x86 >= 20 && elsewhere >= 20, "{on_x86} on x86, {elsewhere} elsewhere");
}
