//! Which transitions of a program with rewritten loops stand for those of the original, so that what can be changed in the one can be changed
//! in the other.

use ravelin_program::{Change, Instruction, Program, Site, ThreadTransition, Transition, TransitionId};

/// The sites of a program, for the same program with its loops rewritten. Sites keep their numbers; one that lies inside a rewritten loop
/// may be left without edges.
pub fn sites_with_waits(original: &Program, rewritten: &Program, sites: &[Site]) -> Vec<Site> {
    let moved = |site: &Site| {
        let mut edges: Vec<ThreadTransition> =
            site.edges.iter().flat_map(|edge| counterparts(original, rewritten, *edge, site.change)).collect();
        edges.sort();
        edges.dedup();
        Site { edges, ..site.clone() }
    };
    sites.iter().map(moved).collect()
}

fn counterparts(
    original: &Program,
    rewritten: &Program,
    edge: ThreadTransition,
    change: Change,
) -> Vec<ThreadTransition> {
    let old = &original.threads[edge.thread.0];
    let new = &rewritten.threads[edge.thread.0];
    let step = &old.transitions[edge.transition.0];
    let numbered = |transitions: Vec<usize>| -> Vec<ThreadTransition> {
        let of = |id| ThreadTransition { thread: edge.thread, transition: TransitionId(id) };
        transitions.into_iter().map(of).collect()
    };
    let which = |wanted: &dyn Fn(&Transition) -> bool| -> Vec<usize> {
        (0..new.transitions.len()).filter(|&id| wanted(&new.transitions[id])).collect()
    };
    let same = which(&|transition| transition == step);
    if !same.is_empty() {
        return numbered(same);
    }
    // A fence that comes before what follows the loop comes after what the loop has become.
    let is_new = |transition: &Transition| !old.transitions.contains(transition);
    if matches!(change, Change::Insert { .. }) {
        let leading_there = which(&|transition| transition.to == step.to && is_new(transition));
        if !leading_there.is_empty() {
            return numbered(leading_there);
        }
    }
    let kind = |instruction: &Instruction| match instruction {
        Instruction::Fence(_) => Some(false),
        other => (!other.accesses().is_empty()).then_some(true),
    };
    let wanted = kind(&step.instruction);
    numbered(which(&|transition| {
        wanted.is_some()
            && kind(&transition.instruction) == wanted
            && transition.span == step.span
            && is_new(transition)
    }))
}
