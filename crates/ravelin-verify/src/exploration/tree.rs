//! The tree of runs that are not finished.
//!
//! A node is the beginning of a run; its branches are the ways to continue. What is to the left of a branch has been
//! explored, or is being explored, or will be: whoever goes to the right leaves it to those, so it is asleep there. New
//! branches are added at the right end. This is why the set of steps asleep at a node never changes, and why leaves can
//! be claimed before others to their left are finished.
//!
//! A leaf is a [`Plan`] of several steps. It is [split](Tree::split) where another sequence leaves it.
//!
//! A branch is *open* as long as it is not certain that it stays, and what its steps do: a thread may turn out to wait
//! there. Nothing to the right of an open branch is claimed or split.
//!
//! Runs can add branches anywhere to their right. So the structure of a finished subtree is kept until all to its left
//! is finished. Then it is one step, which is asleep to its right, and the number of its runs. Leaves are claimed from
//! the left to the right, so little is kept.

use super::step::{PlannedStep, wake};
use super::waiting::Reading;
use rustc_hash::FxHashMap;

pub type NodeId = u32;
pub const NO_NODE: NodeId = u32::MAX;

/// What a run has to do after the node where it branches off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub steps: Vec<PlannedStep>,
    /// Whether the last step can happen.
    pub certain: bool,
    /// What the last step would read, if it is not known whether it passes.
    pub reading: Option<Reading>,
    /// What to try if the last step cannot happen, and at which depth.
    pub fallbacks: Vec<(u32, Plan)>,
    /// The depth at which it was inserted first, and there the branch of the run that led to it.
    pub origin: (u32, u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchState {
    ToDo(Box<Plan>),
    /// By the task with this number.
    Claimed(u64, Box<Plan>),
    /// Its run is done, and led to nothing new below these steps.
    Done(Box<[PlannedStep]>),
    /// It continues at a node.
    Inner(NodeId),
    /// All below is finished, after this many runs, and so is all to the left.
    Finished(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The first step.
    pub step: PlannedStep,
    pub open: bool,
    pub state: BranchState,
}

impl Branch {
    pub fn to_do(plan: Plan) -> Branch {
        let exact = plan.steps.iter().all(|step| step.exact);
        Branch { step: plan.steps[0], open: !plan.certain || !exact, state: BranchState::ToDo(Box::new(plan)) }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// [`NO_NODE`] for the root.
    pub parent: NodeId,
    pub depth: u32,
    /// The steps asleep here.
    pub sleep: Vec<PlannedStep>,
    pub branches: Vec<Branch>,
    /// Fingerprints of sequences that turned out impossible.
    pub impossible: Vec<u64>,
    /// Whether all below is done.
    pub done: bool,
}

#[derive(Default)]
pub struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// The nodes where tasks in flight branch off; [`NO_NODE`] for the first one.
    pub in_flight: FxHashMap<u64, NodeId>,
    pub root: Option<NodeId>,
}

impl Tree {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Adds a node where a branch leads. Its sleep set follows from what is to the left of the branch.
    pub fn add(&mut self, parent: NodeId, branch: usize, branches: Vec<Branch>) -> NodeId {
        let mut node = Node { parent, branches, ..Node::default() };
        if parent != NO_NODE {
            node.depth = self.node(parent).depth + 1;
            node.sleep = self.asleep(parent, branch);
            wake(&mut node.sleep, &self.node(parent).branches[branch].step);
        }
        let id = self.free.pop().unwrap_or(self.nodes.len() as NodeId);
        if id as usize == self.nodes.len() {
            self.nodes.push(node);
        } else {
            self.nodes[id as usize] = node;
        }
        match parent {
            NO_NODE => self.root = Some(id),
            _ => self.node_mut(parent).branches[branch].state = BranchState::Inner(id),
        }
        id
    }

    /// Claims the leftmost leaf that is to do: its node and the number of its branch.
    pub fn claim(&mut self, task: u64) -> Option<(NodeId, usize)> {
        let mut stack = vec![(self.root?, 0)];
        while let Some((id, number)) = stack.pop() {
            let node = &mut self.nodes[id as usize];
            let Some(branch) = node.branches.get_mut(number) else { continue };
            match &mut branch.state {
                BranchState::ToDo(plan) => {
                    let plan = std::mem::take(plan);
                    branch.state = BranchState::Claimed(task, plan);
                    self.in_flight.insert(task, id);
                    return Some((id, number));
                }
                BranchState::Claimed(..) if branch.open => {}
                BranchState::Inner(child) => {
                    let child = *child;
                    stack.push((id, number + 1));
                    if !self.node(child).done {
                        stack.push((child, 0));
                    }
                }
                BranchState::Claimed(..) | BranchState::Done(_) | BranchState::Finished(_) => {
                    stack.push((id, number + 1))
                }
            }
        }
        None
    }

    /// The node and the number of the branch that a task has claimed.
    pub fn claimed(&self, task: u64) -> Option<(NodeId, usize)> {
        let &id = self.in_flight.get(&task)?;
        let claimed = |branch: &Branch| matches!(branch.state, BranchState::Claimed(by, _) if by == task);
        let branch = self.nodes.get(id as usize)?.branches.iter().position(claimed)?;
        Some((id, branch))
    }

    /// The nodes from the root to this one, and for each the branch that leads there.
    pub fn path(&self, id: NodeId, branch: usize) -> Vec<(NodeId, usize)> {
        let mut path = vec![(id, branch)];
        let (mut child, mut parent) = (id, self.node(id).parent);
        while parent != NO_NODE {
            path.push((parent, self.branch_to(parent, child)));
            (child, parent) = (parent, self.node(parent).parent);
        }
        path.reverse();
        path
    }

    /// What is asleep at the beginning of a branch.
    pub fn asleep(&self, id: NodeId, branch: usize) -> Vec<PlannedStep> {
        let node = self.node(id);
        let left = node.branches[..branch].iter().map(|branch| branch.step);
        node.sleep.iter().copied().chain(left).collect()
    }

    /// Makes nodes of the first `count` steps of a leaf, and gives back the last one. Its branch is the rest.
    pub fn split(&mut self, mut id: NodeId, mut branch: usize, count: usize) -> NodeId {
        debug_assert!(!self.node(id).branches[branch].open);
        for _ in 0..count {
            let finished = BranchState::Finished(0);
            let state = std::mem::replace(&mut self.node_mut(id).branches[branch].state, finished);
            let (step, state) = match state {
                BranchState::ToDo(mut plan) => {
                    plan.steps.remove(0);
                    (plan.steps[0], BranchState::ToDo(plan))
                }
                BranchState::Claimed(task, mut plan) => {
                    plan.steps.remove(0);
                    (plan.steps[0], BranchState::Claimed(task, plan))
                }
                BranchState::Done(steps) => (steps[1], BranchState::Done(steps[1..].into())),
                BranchState::Inner(_) | BranchState::Finished(_) => unreachable!("only leaves are split"),
            };
            let task = if let BranchState::Claimed(task, _) = state { Some(task) } else { None };
            let done = matches!(state, BranchState::Done(_));
            id = self.add(id, branch, vec![Branch { step, open: false, state }]);
            self.node_mut(id).done = done;
            if let Some(task) = task {
                self.in_flight.insert(task, id);
            }
            branch = 0;
        }
        id
    }

    /// Says that a node has something to do again, or has lost a branch.
    pub fn refresh(&mut self, mut id: NodeId) {
        while id != NO_NODE {
            let is_done = |branch: &Branch| match branch.state {
                BranchState::ToDo(_) | BranchState::Claimed(..) => false,
                BranchState::Inner(child) => self.node(child).done,
                BranchState::Done(_) | BranchState::Finished(_) => true,
            };
            let (parent, is_empty) = (self.node(id).parent, self.node(id).branches.is_empty());
            let done = self.node(id).branches.iter().all(is_done);
            if is_empty && parent != NO_NODE {
                let branch = self.branch_to(parent, id);
                let branch = &mut self.node_mut(parent).branches[branch];
                branch.state = BranchState::Done([branch.step].into());
                self.free(id);
            } else if std::mem::replace(&mut self.node_mut(id).done, done) == done {
                return;
            }
            id = parent;
        }
    }

    /// Says for every node whether it is done, where children have larger numbers than their parents.
    pub fn refresh_all(&mut self) {
        for id in (0..self.nodes.len() as NodeId).rev() {
            self.refresh(id);
        }
        self.collapse();
    }

    /// Removes the structure of what is finished with all to its left.
    pub fn collapse(&mut self) {
        let Some(root) = self.root else { return };
        if self.node(root).done {
            self.count_and_free(root);
            self.root = None;
            return;
        }
        let mut id = root;
        'nodes: loop {
            for number in 0..self.node(id).branches.len() {
                let runs = match self.node(id).branches[number].state {
                    BranchState::Finished(_) => continue,
                    BranchState::Done(_) => 1,
                    BranchState::Inner(child) if self.node(child).done => self.count_and_free(child),
                    BranchState::Inner(child) => {
                        id = child;
                        continue 'nodes;
                    }
                    BranchState::ToDo(_) | BranchState::Claimed(..) => return,
                };
                self.node_mut(id).branches[number].state = BranchState::Finished(runs);
            }
            return;
        }
    }

    fn branch_to(&self, parent: NodeId, child: NodeId) -> usize {
        let leads = |branch: &Branch| matches!(branch.state, BranchState::Inner(id) if id == child);
        self.node(parent).branches.iter().position(leads).expect("a branch of the parent leads to the node")
    }

    /// Frees all nodes from this one on, and counts their runs.
    fn count_and_free(&mut self, id: NodeId) -> u64 {
        let mut runs = 0_u64;
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            for branch in &self.node(id).branches {
                match branch.state {
                    BranchState::Inner(child) => stack.push(child),
                    BranchState::Finished(of_branch) => runs = of_branch.saturating_add(runs),
                    BranchState::Done(_) | BranchState::ToDo(_) | BranchState::Claimed(..) => {
                        runs = runs.saturating_add(1)
                    }
                }
            }
            self.free(id);
        }
        runs
    }

    fn free(&mut self, id: NodeId) {
        self.nodes[id as usize] = Node::default();
        self.free.push(id);
    }
}
