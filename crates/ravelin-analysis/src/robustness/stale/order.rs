//! Puts an execution in an order that a machine with store buffers can follow.
//!
//! Each step is a point of the order, and so is the moment at which a buffered store reaches memory. The rules of the machine order
//! points: steps of a thread come in program order, a store reaches memory behind its step, behind the thread's stores before it (TSO),
//! behind those to the same cell and those before a store-store fence (PSO), and before the thread's next fence or locked instruction.
//! The execution orders points, too: writes to a cell, a write before the load that reads it in memory, and a load before what
//! overwrites that write. An order of all points is a run that has the execution, and there is one exactly if no cycle of these
//! rules exists. These are the axioms of the models (`ravelin-machine/src/monitor/buffers.rs`) in the words of the machine.

use super::execution::{Deed, DeedAccess, Execution};
use ravelin_program::Model;
use ravelin_semantics::Action;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The points of an execution and what has to come behind each.
pub(super) struct Points<'a> {
    execution: &'a Execution,
    /// By thread: whether its stores may wait. Those of other threads reach memory with their step.
    delays: Vec<bool>,
    behind: Vec<Vec<usize>>,
}

/// A moment of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// A deed is done.
    Step(usize),
    /// Its store reaches memory.
    Flush(usize),
}

impl<'a> Points<'a> {
    /// `None` if a load reads a store of its own thread that a later one hides.
    pub fn of(execution: &'a Execution, model: Model, delays: Vec<bool>) -> Option<Points<'a>> {
        let mut points = Points { execution, delays, behind: vec![Vec::new(); 2 * execution.deeds.len()] };
        for thread in 0..points.delays.len() {
            points.order_thread(thread, model);
        }
        for writes in execution.writes.values() {
            for pair in writes.windows(2) {
                points.put(points.memory(pair[0]), points.memory(pair[1]));
            }
        }
        for (number, deed) in execution.deeds.iter().enumerate() {
            points.order_read(number, deed)?;
        }
        Some(points)
    }

    /// The rules about one thread.
    fn order_thread(&mut self, thread: usize, model: Model) {
        let mut last = None;
        // Those before the last store-store fence, those behind it.
        let (mut marked, mut stores): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for number in 0..self.execution.deeds.len() {
            let deed = &self.execution.deeds[number];
            if deed.thread != thread {
                continue;
            }
            let (drains, marks, buffered, access) = (deed.drains, deed.marks, deed.buffered, deed.access);
            if let Some(last) = last.replace(number) {
                self.put(step(last), step(number));
            }
            if drains {
                for &store in marked.iter().chain(&stores) {
                    self.put(self.memory(store), step(number));
                }
                marked.clear();
                stores.clear();
            }
            if marks && model == Model::Pso {
                marked.append(&mut stores);
            }
            if buffered && let Some(DeedAccess { address, .. }) = access {
                self.put(step(number), self.memory(number));
                let same = |store: &usize| {
                    model != Model::Pso
                        || self.execution.deeds[*store].access.is_some_and(|other| other.address == address)
                };
                let before: Vec<usize> = marked.iter().copied().chain(stores.iter().copied().filter(same)).collect();
                for store in before {
                    self.put(self.memory(store), self.memory(number));
                }
                stores.push(number);
            }
        }
    }

    /// The rules about what a deed reads.
    fn order_read(&mut self, number: usize, deed: &Deed) -> Option<()> {
        let Some(DeedAccess { address, reads: Some(source), .. }) = deed.access else { return Some(()) };
        let execution = self.execution;
        let own = (0..number).filter(|&store| {
            let before = &execution.deeds[store];
            before.thread == deed.thread
                && before.access.is_some_and(|access| access.writes && access.address == address)
        });
        let own: Vec<usize> = own.collect();
        match source {
            // Its thread's newest store, whether in the buffer or in memory.
            Some(write) if own.last() == Some(&write) => {}
            Some(write) if own.contains(&write) => return None,
            _ => {
                for write in own.into_iter().chain(source) {
                    self.put(self.memory(write), step(number));
                }
            }
        }
        if let Some(next) = execution.overwriters(address, source).find(|&write| write != number) {
            self.put(step(number), self.memory(next));
        }
        Some(())
    }

    /// The point at which a write is in memory.
    pub fn memory(&self, write: usize) -> usize {
        let deed = &self.execution.deeds[write];
        if deed.buffered && self.delays[deed.thread] { 2 * write + 1 } else { step(write) }
    }

    /// The point at which others notice an access: a store in memory, a load when it is done.
    pub fn visible(&self, access: usize) -> usize {
        if self.execution.deeds[access].buffered { self.memory(access) } else { step(access) }
    }

    fn put(&mut self, first: usize, second: usize) {
        if first != second {
            self.behind[first].push(second);
        }
    }

    /// Everything that has to come behind a point, itself included.
    pub fn reached_from(&self, point: usize) -> Vec<bool> {
        let mut reached = vec![false; self.behind.len()];
        let mut waiting = vec![point];
        while let Some(at) = waiting.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                waiting.extend(&self.behind[at]);
            }
        }
        reached
    }

    /// An order in which everything that need not come behind the point comes before it, and otherwise as under SC. `None` if there is no order.
    pub fn around(&self, pivot: usize) -> Option<Vec<Point>> {
        let reached = self.reached_from(pivot);
        let is_point = |point: usize| point.is_multiple_of(2) || self.memory(point / 2) == point;
        let mut before = vec![0; self.behind.len()];
        self.behind.iter().flatten().for_each(|&point| before[point] += 1);
        let rank = |point: usize| Reverse((reached[point], point != pivot, point));
        let free = (0..self.behind.len()).filter(|&point| is_point(point) && before[point] == 0);
        let mut free: BinaryHeap<_> = free.map(rank).collect();
        let mut order = Vec::new();
        while let Some(Reverse((.., point))) = free.pop() {
            order.push(if point.is_multiple_of(2) { Point::Step(point / 2) } else { Point::Flush(point / 2) });
            for &next in &self.behind[point] {
                before[next] -= 1;
                if before[next] == 0 {
                    free.push(rank(next));
                }
            }
        }
        let all = (0..self.behind.len()).filter(|&point| is_point(point)).count();
        (order.len() == all).then_some(order)
    }

    /// The run of an order.
    pub fn actions(&self, order: &[Point]) -> Vec<Action> {
        let flush = |deed: &Deed| {
            deed.access.map(|access| Action::Flush { thread: deed.action.thread(), address: access.address })
        };
        let mut actions = Vec::new();
        for &point in order {
            match point {
                Point::Step(number) => {
                    let deed = &self.execution.deeds[number];
                    actions.push(deed.action);
                    if deed.buffered && !self.delays[deed.thread] {
                        actions.extend(flush(deed));
                    }
                }
                Point::Flush(number) => actions.extend(flush(&self.execution.deeds[number])),
            }
        }
        actions
    }
}

/// The point at which a deed is done.
pub(super) fn step(deed: usize) -> usize {
    2 * deed
}
