//! New branches from the races of a run.
//!
//! A race is reversed at the node before its earlier event. Nothing is to be done if something that is asleep there, or
//! a branch to the left of the run's own, is a weak initial of the sequence that reverses it. Otherwise the sequence is
//! inserted to the right: it follows the first branch that is a weak initial of it, then the first such branch of the node
//! where that leads, and so on, and becomes a branch where there is none. At the end of a plan nothing is to be done.

use super::races::{Candidate, Races, guess};
use super::step::{PlannedStep, Relation, covers, relation};
use super::trace::Trace;
use super::tree::{Branch, BranchState, NO_NODE, NodeId, Plan};
use super::{Exploration, Reduction};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The nodes of a run, and for each the branch that the run took. Nodes are added as far as they get other branches.
pub(super) struct Path<'a> {
    pub trace: &'a Trace,
    pub nodes: Vec<(NodeId, usize)>,
    /// How many events were in the script.
    pub end: usize,
}

impl Exploration {
    /// Adds what a run leads to. If it stopped halfway, it is to be continued.
    pub(super) fn extend(&mut self, mut path: Path<'_>, is_halfway: bool) {
        match self.options.reduction {
            Reduction::Off | Reduction::Sleep => self.try_all_threads(&mut path),
            _ if self.options.preemptions.is_some() => self.reverse_within_bound(&mut path),
            Reduction::Source | Reduction::Optimal => self.reverse_races(&mut path),
        }
        if is_halfway {
            let trace = path.trace;
            let (node, _) = self.node_at(&mut path, trace.len());
            for event in &trace.events()[trace.len()..] {
                if self.options.preemptions.is_some() {
                    let plan = Plan { steps: vec![guess(event)], ..Plan::default() };
                    self.add_within_bound(&mut path, trace.len(), plan);
                    continue;
                }
                let origin = (trace.len() as u32, 0);
                self.insert(node, 0, Plan { steps: vec![guess(event)], origin, ..Plan::default() });
            }
        }
        // From below to above, so that what a node says about its children holds.
        for &(node, _) in path.nodes.iter().rev() {
            self.tree.refresh(node);
        }
    }

    /// The node of a run at this depth.
    pub(super) fn node_at(&mut self, path: &mut Path<'_>, depth: usize) -> (NodeId, usize) {
        while path.nodes.len() <= depth {
            let (parent, own) = path.nodes.last().copied().unwrap_or((NO_NODE, 0));
            let at = path.nodes.len();
            if at == path.trace.len() {
                let node = self.tree.add(parent, own, Vec::new());
                path.nodes.push((node, 0));
                continue;
            }
            let steps: Box<[PlannedStep]> = (at..path.end.max(at + 1)).map(|at| path.trace.step(at)).collect();
            let branch = Branch { step: steps[0], open: false, state: BranchState::Done(steps) };
            let node = self.tree.add(parent, own, vec![branch]);
            path.nodes.push((node, 0));
        }
        path.nodes[depth]
    }

    /// Adds a branch at the right end.
    pub(super) fn add_branch(&mut self, node: NodeId, plan: Plan) {
        self.tree.node_mut(node).branches.push(Branch::to_do(plan));
        self.tree.refresh(node);
    }

    /// Inserts the first of several plans that is not covered, at their depths in a path.
    pub(super) fn insert_first(&mut self, path: &[(NodeId, usize)], plans: Vec<(u32, Plan)>) {
        let mut rest = plans.into_iter();
        while let Some((depth, mut plan)) = rest.next() {
            let Some(&(node, own)) = path.get(depth as usize) else { return };
            plan.origin = (depth, own as u32);
            let certain = plan.certain;
            if !self.is_covered(node, own, plan.steps.iter().copied()) {
                plan.fallbacks.extend(rest.clone());
                if self.insert(node, own + 1, plan) {
                    return;
                }
            }
            if certain {
                return;
            }
        }
    }

    fn reverse_races(&mut self, path: &mut Path<'_>) {
        let mut races = std::mem::take(&mut self.races);
        races.find(path.trace, &self.waiting);
        for race in &races.races {
            let candidates = &races.candidates[race.candidates.clone()];
            for (number, candidate) in candidates.iter().enumerate() {
                let rest = if candidate.certain { &[] } else { &candidates[number + 1..] };
                let inserted = match self.options.reduction {
                    Reduction::Source => {
                        self.reverse_by_one_step(path, &races, race.later, candidate);
                        false
                    }
                    _ => self.reverse(path, &races, candidate, rest),
                };
                if inserted || candidate.certain {
                    break;
                }
            }
        }
        self.races = races;
    }

    /// Inserts a sequence that reverses a race. Gives back whether it is new.
    fn reverse(&mut self, path: &mut Path<'_>, races: &Races, candidate: &Candidate, rest: &[Candidate]) -> bool {
        let trace = path.trace;
        if self.is_fixed(candidate.at) {
            return false;
        }
        let kept = races.kept(trace, candidate);
        let steps = kept.clone().map(|at| trace.step(at)).chain([candidate.step]);
        if let Some(&(node, own)) = path.nodes.get(candidate.at)
            && self.is_covered(node, own, steps.clone())
        {
            return false;
        }
        let steps: Vec<PlannedStep> = steps.collect();
        // The node may be new, and something may be asleep there.
        let (node, own) = self.node_at(path, candidate.at);
        if self.is_covered(node, own, steps.iter().copied()) {
            return false;
        }
        let fallback = |rest: &Candidate| {
            let steps = races.kept(trace, rest).map(|at| trace.step(at)).chain([rest.step]).collect();
            (rest.at as u32, plan_of(rest, steps))
        };
        let fallbacks = rest.iter().filter(|rest| !self.is_fixed(rest.at)).map(fallback).collect();
        let origin = (candidate.at as u32, own as u32);
        let plan = Plan { fallbacks, origin, ..plan_of(candidate, steps) };
        self.insert(node, own + 1, plan)
    }

    /// Adds the first step of a sequence that reverses a race, unless something asleep or a branch is an initial of it.
    /// All candidates of a race are tried, since one step does not say which of them it is.
    fn reverse_by_one_step(&mut self, path: &mut Path<'_>, races: &Races, later: usize, candidate: &Candidate) {
        let trace = path.trace;
        if self.is_fixed(candidate.at) {
            return;
        }
        let kept = races.kept(trace, candidate).take_while(|&at| at < later);
        let steps: Vec<PlannedStep> = kept.map(|at| trace.step(at)).chain([candidate.step]).collect();
        let (id, own) = self.node_at(path, candidate.at);
        let node = self.tree.node(id);
        let others = node.branches.iter().enumerate().filter(|(number, _)| *number != own);
        let mut others = node.sleep.iter().chain(others.map(|(_, branch)| &branch.step));
        let is_initial = |step: &PlannedStep| matches!(relation(step, steps.iter().copied()), Relation::Initial(_));
        let certain = candidate.certain || steps.len() > 1;
        if others.any(is_initial) || (!certain && node.impossible.contains(&fingerprint(&steps[..1]))) {
            return;
        }
        self.add_branch(id, Plan { certain, ..plan_of(candidate, steps[..1].to_vec()) });
    }

    /// Whether all runs make the same step at this depth.
    pub(super) fn is_fixed(&self, depth: usize) -> bool {
        depth < self.beginning.choices.len()
    }

    /// Whether something asleep at a node, or a branch to the left of the run's own, is a weak initial of a sequence.
    pub(super) fn is_covered(
        &self,
        node: NodeId,
        own: usize,
        steps: impl Iterator<Item = PlannedStep> + Clone,
    ) -> bool {
        let node = self.tree.node(node);
        let left = node.branches.iter().take(own).map(|branch| &branch.step);
        let mut others = node.sleep.iter().chain(left);
        others.any(|step| covers(step, steps.clone()))
    }

    /// Inserts a plan below a node, at the branch with this number and those to its right. Gives back whether it is new.
    pub(super) fn insert(&mut self, node: NodeId, first: usize, mut plan: Plan) -> bool {
        let (mut node, mut number) = (node, first);
        while let Some(branch) = self.tree.node(node).branches.get(number) {
            if branch.open {
                // It is decided later where the plan belongs.
                break;
            }
            number += 1;
            if !follow(&mut plan.steps, &branch.step) {
                continue;
            }
            let steps = match &branch.state {
                BranchState::Inner(child) => {
                    (node, number) = (*child, 0);
                    continue;
                }
                BranchState::ToDo(plan) | BranchState::Claimed(_, plan) => &plan.steps[..],
                BranchState::Done(steps) => steps,
                BranchState::Finished(_) => &[],
            };
            let Some(left) = (1..steps.len()).find(|&at| !follow(&mut plan.steps, &steps[at])) else { return false };
            node = self.tree.split(node, number - 1, left);
            break;
        }
        if plan.steps.is_empty() {
            return false;
        }
        let impossible = &self.tree.node(node).impossible;
        if !plan.certain && !impossible.is_empty() && impossible.contains(&fingerprint(&plan.steps)) {
            return false;
        }
        self.add_branch(node, plan);
        true
    }
}

/// Whether a step is a weak initial of a sequence. If so it is removed from the sequence.
fn follow(sequence: &mut Vec<PlannedStep>, step: &PlannedStep) -> bool {
    match relation(step, sequence.iter().copied()) {
        Relation::Woken(_) => return false,
        Relation::Independent if step.ends => return false,
        Relation::Independent => {}
        Relation::Initial(at) => {
            sequence.remove(at);
        }
    }
    true
}

/// What is known about a candidate.
fn plan_of(candidate: &Candidate, steps: Vec<PlannedStep>) -> Plan {
    let &Candidate { certain, reading, .. } = candidate;
    Plan { steps, certain, reading, ..Plan::default() }
}

/// A hash of the steps in their order.
pub(super) fn fingerprint(steps: &[PlannedStep]) -> u64 {
    let mut hasher = FxHasher::default();
    for step in steps {
        (step.thread, step.times_out, step.operation).hash(&mut hasher);
    }
    hasher.finish()
}
