//! How many runs there will be, approximately.
//!
//! Knuth's method (*Estimating the efficiency of backtrack programs*, 1975) on the tree as it is: a branch that has not
//! been explored is assumed to have as many runs as those of its node that have been, on average. What is finished
//! counts as it is, so the estimate becomes exact. Branches that nobody has found yet do not count: it starts too low.

use super::tree::{BranchState, NodeId, Tree};
use rustc_hash::FxHashMap;

/// Estimates the runs below the root, made and to be made, that the tree knows about.
pub fn runs_below_root(tree: &Tree) -> f64 {
    let Some(root) = tree.root else { return 0.0 };
    let mut below: FxHashMap<NodeId, f64> = FxHashMap::default();
    let mut stack = vec![(root, false)];
    while let Some((id, children_are_known)) = stack.pop() {
        let branches = &tree.node(id).branches;
        if !children_are_known {
            stack.push((id, true));
            let inner = branches.iter().filter_map(|branch| match branch.state {
                BranchState::Inner(child) => Some((child, false)),
                _ => None,
            });
            stack.extend(inner);
            continue;
        }
        let (mut explored, mut runs, mut to_do) = (0.0, 0.0, 0.0);
        for branch in branches {
            match branch.state {
                BranchState::ToDo(_) | BranchState::Claimed(..) => to_do += 1.0,
                BranchState::Done(_) => (explored, runs) = (explored + 1.0, runs + 1.0),
                BranchState::Finished(of_branch) => (explored, runs) = (explored + 1.0, runs + of_branch as f64),
                BranchState::Inner(child) => {
                    (explored, runs) = (explored + 1.0, runs + below.remove(&child).unwrap_or(1.0));
                }
            }
        }
        let average = if explored > 0.0 { runs / explored } else { 1.0 };
        below.insert(id, runs + to_do * average);
    }
    below.remove(&root).unwrap_or(0.0)
}
