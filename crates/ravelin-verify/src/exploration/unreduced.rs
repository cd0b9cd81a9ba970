//! Exploration without races, to measure what they save: every thread is tried at every node.
//!
//! Runs do not say which threads could run. A thread's next operation is known from what it does later in the run, or
//! would do at its end. Whether it can happen is found out by trying, except for joins and locks.

use super::insertion::Path;
use super::races::guess;
use super::step::PlannedStep;
use super::tree::Plan;
use super::{Exploration, Reduction};
use ravelin_findings::events::{Act, RunEvent, flags};
use rustc_hash::FxHashMap;

impl Exploration {
    /// Adds a branch for each thread that may be able to run, at each new node.
    pub(super) fn try_all_threads(&mut self, path: &mut Path<'_>) {
        let trace = path.trace;
        let mut next: FxHashMap<u32, RunEvent> = FxHashMap::default();
        for event in &trace.events()[trace.len()..] {
            next.insert(event.thread, *event);
        }
        let mut plans: Vec<(usize, Plan)> = Vec::new();
        let new = path.nodes.len().max(self.beginning.choices.len())..trace.len();
        for depth in new.rev() {
            next.insert(trace.event(depth).thread, *trace.event(depth));
            let own = trace.step(depth);
            let mut threads: Vec<u32> = next.keys().copied().collect();
            threads.sort_unstable();
            for thread in threads {
                let event = next[&thread];
                let beginning = &trace.events()[..depth];
                let Some(certain) = can_happen(&event, beginning, trace.events()) else { continue };
                let step = guess(&event);
                let times_out = event.is(flags::TIMED) && event.operation.act == Act::Take;
                let steps = [
                    Some(PlannedStep { times_out: false, ..step }),
                    times_out.then_some(PlannedStep { times_out: true, ..step }),
                ];
                for step in steps.into_iter().flatten().filter(|step| step.choice() != own.choice()) {
                    if !self.is_within_bound(path, depth, step.thread) {
                        self.cut = true;
                    } else {
                        let certain = certain || step.times_out;
                        plans.push((depth, Plan { steps: vec![step], certain, ..Plan::default() }));
                    }
                }
            }
        }
        for (depth, plan) in plans {
            let (node, _) = self.node_at(path, depth);
            let asleep = |sleeper: &PlannedStep| sleeper.choice() == plan.steps[0].choice();
            let sleeps = self.options.reduction != Reduction::Off && self.options.preemptions.is_none();
            if !sleeps || !self.tree.node(node).sleep.iter().any(asleep) {
                self.add_branch(node, plan);
            }
        }
    }
}

/// Whether an event can happen after a beginning of the run: certainly, perhaps, or `None`.
pub fn can_happen(event: &RunEvent, beginning: &[RunEvent], events: &[RunEvent]) -> Option<bool> {
    let starts =
        |other: &RunEvent| other.operation.act == Act::Start && other.operation.address == u64::from(event.thread);
    if events.iter().any(starts) && !beginning.iter().any(starts) {
        return None;
    }
    let operation = &event.operation;
    match operation.act {
        Act::Join => beginning.iter().any(|other| other.operation.enables(operation, event.thread)).then_some(true),
        Act::Lock | Act::LockShared if event.blocks() => {
            let mut held = 0;
            for other in beginning.iter().filter(|other| other.operation.address == operation.address) {
                match other.operation.act {
                    Act::Lock => held += 1,
                    Act::Unlock => held -= 1,
                    Act::LockShared if operation.act == Act::Lock => held += 1,
                    Act::UnlockShared if operation.act == Act::Lock => held -= 1,
                    _ => {}
                }
            }
            // Perhaps it was locked from the beginning.
            (held <= 0).then_some(false)
        }
        Act::Take => Some(false),
        Act::Load | Act::Update => Some(event.state == 0),
        _ => Some(true),
    }
}
