//! The bound on preemptions: every trace that has a schedule with no more of them gets a run.
//!
//! A preemption: another thread makes the next step although the one that has the turn could go on. After a script a
//! thread keeps the turn as long as it can run. So the first branch of a node says whether the thread that made the step
//! before it could go on there: it is a step of that thread, or not.
//!
//! Bounded partial order reduction (Coons, Musuvathi, McKinley, OOPSLA 2013): what is within the bound depends on the
//! schedule and not on the trace, so neither sleep sets nor wakeup trees can be used, which leave schedules to others with
//! the same trace. Where a race is reversed, the thread of the later event is tried before the earlier event, and also
//! where the turn began in which that was made: there it may cost nothing. If it may not be able to run there, all threads
//! are tried.
//!
//! So there are several runs with the same trace, and for a small test and a large bound more runs than without a bound.

use super::insertion::{Path, fingerprint};
use super::races::guess;
use super::step::PlannedStep;
use super::trace::Trace;
use super::tree::Plan;
use super::unreduced::can_happen;
use super::{Exploration, Reduction};
use ravelin_findings::events::{Act, flags};

impl Exploration {
    /// Whether one run per trace is made.
    pub(super) fn is_optimal(&self) -> bool {
        self.options.reduction == Reduction::Optimal && self.options.preemptions.is_none()
    }

    /// Whether the first `depth` events of a run, and then a step of this thread, have no more preemptions than allowed.
    pub(super) fn is_within_bound(&self, path: &Path<'_>, depth: usize, thread: u32) -> bool {
        self.options.preemptions.is_none_or(|most| self.preemptions(path, depth, thread) <= most)
    }

    fn preemptions(&self, path: &Path<'_>, depth: usize, thread: u32) -> u32 {
        let trace = path.trace;
        let mut count = 0;
        for at in 1..=depth {
            let before = trace.event(at - 1).thread;
            let chosen = if at == depth { thread } else { trace.event(at).thread };
            let usual = match path.nodes.get(at) {
                Some(&(node, _)) => self.tree.node(node).branches.first().map(|branch| branch.step.thread),
                None => (at < trace.len()).then(|| trace.event(at).thread),
            };
            count += u32::from(chosen != before && usual == Some(before));
        }
        count
    }

    /// Adds branches where races of the run can be reversed within the bound.
    pub(super) fn reverse_within_bound(&mut self, path: &mut Path<'_>) {
        let trace = path.trace;
        let mut races = std::mem::take(&mut self.races);
        races.find(trace, &self.waiting);
        let mut places: Vec<(usize, u32)> = Vec::new();
        for race in &races.races {
            let thread = trace.event(race.later).thread;
            for candidate in &races.candidates[race.candidates.clone()] {
                places.extend([(candidate.at, thread), (turn_of(trace, candidate.at), thread)]);
            }
        }
        self.races = races;
        places.sort_unstable();
        places.dedup();
        places.retain(|(depth, _)| !self.is_fixed(*depth));
        for (depth, thread) in places {
            if self.try_thread(path, depth, thread) != Some(true) {
                let mut threads: Vec<u32> = trace.events()[depth..].iter().map(|event| event.thread).collect();
                threads.sort_unstable();
                threads.dedup();
                for other in threads {
                    self.try_thread(path, depth, other);
                }
            }
        }
    }

    /// Adds branches for the next step of a thread at a node. Gives back whether it can happen: certainly, perhaps, or
    /// `None`.
    fn try_thread(&mut self, path: &mut Path<'_>, depth: usize, thread: u32) -> Option<bool> {
        let events = path.trace.events();
        let event = *events[depth..].iter().find(|event| event.thread == thread)?;
        let certain = can_happen(&event, &events[..depth], events)?;
        let may_time_out = event.is(flags::TIMED) && event.operation.act == Act::Take;
        for times_out in [false, true].into_iter().filter(|times_out| !times_out || may_time_out) {
            let step = PlannedStep { times_out, ..guess(&event) };
            let plan = Plan { steps: vec![step], certain: certain || times_out, ..Plan::default() };
            self.add_within_bound(path, depth, plan);
        }
        Some(certain)
    }

    /// Adds a branch of one step unless it is there, has turned out impossible or is beyond the bound.
    pub(super) fn add_within_bound(&mut self, path: &mut Path<'_>, depth: usize, plan: Plan) {
        let step = plan.steps[0];
        if depth < path.trace.len() && path.trace.step(depth).choice() == step.choice() {
            return;
        }
        if !self.is_within_bound(path, depth, step.thread) {
            self.cut = true;
            return;
        }
        let (id, _) = self.node_at(path, depth);
        let node = self.tree.node(id);
        let is_there = node.branches.iter().any(|branch| branch.step.choice() == step.choice());
        if !is_there && !node.impossible.contains(&fingerprint(&plan.steps)) {
            self.add_branch(id, plan);
        }
    }
}

/// Where the turn began in which this event was made.
fn turn_of(trace: &Trace, at: usize) -> usize {
    let thread = trace.event(at).thread;
    (0..at).rev().find(|&other| trace.event(other).thread != thread).map_or(0, |other| other + 1)
}
