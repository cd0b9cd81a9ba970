//! What the threads of a run did in memory: accesses in program order, what each load read from, in which order stores reached memory.
//!
//! The steps of an answer are followed once more, with a store buffer for each thread. Only values and places that the steps name are
//! used, so that a report of another day is as good as an answer of this one. A step that accesses several cells at once (a locked block)
//! has no instruction of x86, and is refused.

use ravelin_answer::{AccessStorage, EndRun, RunStep};
use ravelin_program::{Position, Value};
use std::collections::BTreeMap;

/// Accesses and fences of a run.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    pub threads: Vec<ThreadAccesses>,
    /// By cell: the value that no thread stored.
    pub initial: BTreeMap<String, Value>,
    /// By cell: its stores in the order in which they reached memory.
    pub coherence: BTreeMap<String, Vec<AccessId>>,
    /// The accesses of the happens-before cycle.
    pub cycle: Vec<AccessId>,
}

#[derive(Clone, Debug, Default)]
pub struct ThreadAccesses {
    pub name: String,
    /// In program order.
    pub accesses: Vec<Access>,
}

/// Thread and number in it.
pub type AccessId = (usize, usize);

#[derive(Clone, Debug)]
pub struct Access {
    pub kind: TestAccessKind,
    /// Empty for a fence.
    pub cell: String,
    pub position: Option<Position>,
    /// What it read, and from which store; none means that it read what was there at the beginning.
    pub read: Option<(Value, Option<AccessId>)>,
    pub written: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestAccessKind {
    Load,
    Store,
    /// A locked instruction that writes.
    Exchange,
    /// A locked instruction that does not change what is there.
    LockedLoad,
    Fence,
}

impl Execution {
    /// The accesses of a run, or why there are none.
    pub fn of(run: &EndRun) -> Result<Execution, String> {
        let names = run.initial.threads.iter().map(|thread| thread.thread.clone());
        let mut execution = Execution {
            threads: names.map(|name| ThreadAccesses { name, accesses: Vec::new() }).collect(),
            initial: run.initial.memory.iter().map(|cell| (cell.cell.clone(), cell.value)).collect(),
            ..Execution::default()
        };
        let mut buffers: Vec<Vec<AccessId>> = vec![Vec::new(); execution.threads.len()];
        let mut made_by: Vec<Option<AccessId>> = Vec::with_capacity(run.steps.len());
        for step in &run.steps {
            let named = execution.threads.iter().position(|thread| thread.name == step.thread);
            let thread = named.ok_or_else(|| format!("there is no thread `{}`", step.thread))?;
            if step.is_flush() {
                let cell = step.writes.first().map(|write| write.cell.clone()).unwrap_or_default();
                let oldest = buffers[thread].iter().position(|&id| execution.access(id).cell == cell);
                let oldest = oldest.ok_or_else(|| format!("`{}` has no store to `{cell}` pending", step.thread))?;
                let store = buffers[thread].remove(oldest);
                execution.coherence.entry(cell).or_default().push(store);
                made_by.push(Some(store));
                continue;
            }
            made_by.push(execution.follow(thread, step, &mut buffers)?);
        }
        // The order of what is pending at the end is open.
        for store in buffers.into_iter().flatten() {
            let cell = execution.access(store).cell.clone();
            execution.coherence.entry(cell).or_default().push(store);
        }
        let events = run.events.as_deref().unwrap_or_default();
        for edge in run.cycle.iter().flatten() {
            let steps = events.get(edge.from).map(|event| event.steps.as_slice()).unwrap_or_default();
            let accesses = steps.iter().filter_map(|&step| made_by.get(step).copied().flatten());
            for access in accesses {
                if !execution.cycle.contains(&access) {
                    execution.cycle.push(access);
                }
            }
        }
        Ok(execution)
    }

    pub fn access(&self, (thread, number): AccessId) -> &Access {
        &self.threads[thread].accesses[number]
    }

    /// Says that one store to a cell reached memory before another.
    pub fn after_each_other(&mut self, cell: &str, before: AccessId, after: AccessId) {
        if let Some(stores) = self.coherence.get_mut(cell) {
            stores.retain(|store| *store != after);
            let place = stores.iter().position(|store| *store == before).map_or(stores.len(), |place| place + 1);
            stores.insert(place, after);
        }
    }

    /// Takes a step that is no flush.
    fn follow(
        &mut self,
        thread: usize,
        step: &RunStep,
        buffers: &mut [Vec<AccessId>],
    ) -> Result<Option<AccessId>, String> {
        let place = || step.position.map(|at| format!(" on line {}", at.line)).unwrap_or_default();
        let (read, write) = match (step.reads.as_slice(), step.writes.as_slice()) {
            ([], []) if !step.drains => return Ok(None),
            ([], []) => (None, None),
            ([read], []) => (Some(read), None),
            ([], [write]) => (None, Some(write)),
            ([read], [write]) if read.cell == write.cell => (Some(read), Some(write)),
            _ => {
                return Err(format!(
                    "`{}` accesses several cells at once{}, which no instruction of x86 does",
                    step.thread,
                    place()
                ));
            }
        };
        if read.is_some_and(|read| read.place == AccessStorage::Older) {
            return Err("the run is one of C11 and has no steps of x86; ask with --model tso".to_owned());
        }
        let cell = read.or(write).map(|access| access.cell.clone()).unwrap_or_default();
        let id = (thread, self.threads[thread].accesses.len());
        let source = || {
            let pending = buffers[thread].iter().rev().copied().find(|&id| self.access(id).cell == cell);
            pending.or_else(|| self.coherence.get(&cell).and_then(|stores| stores.last().copied()))
        };
        // Which of several equal values a locked exchange without a result has read does not matter, but it is a load.
        let is_locked = step.drains && write.is_some();
        let read = match (read, is_locked) {
            (Some(read), _) => Some((read.value, source())),
            (None, true) => {
                let source = source();
                let value = source.and_then(|id| self.access(id).written);
                Some((value.unwrap_or_else(|| self.initial.get(&cell).copied().unwrap_or(0)), source))
            }
            (None, false) => None,
        };
        let kind = match (read.is_some(), write.is_some()) {
            (false, false) => TestAccessKind::Fence,
            (true, true) => TestAccessKind::Exchange,
            (true, false) if step.drains => TestAccessKind::LockedLoad,
            (true, false) => TestAccessKind::Load,
            (false, true) => TestAccessKind::Store,
        };
        if let Some(write) = write {
            match write.place {
                AccessStorage::Buffer => buffers[thread].push(id),
                _ => self.coherence.entry(cell.clone()).or_default().push(id),
            }
        }
        let written = write.map(|write| write.value);
        self.threads[thread].accesses.push(Access { kind, cell, position: step.position, read, written });
        Ok(Some(id))
    }
}
