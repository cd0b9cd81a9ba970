//! The shape of an automaton: where it comes back to, and where its branches meet.

use ravelin_program::{LocId, Thread};

/// Locations that a depth-first search comes back to while still below them.
pub(super) fn loop_heads(thread: &Thread) -> Vec<bool> {
    let count = thread.locations.len();
    let (mut heads, mut seen, mut below) = (vec![false; count], vec![false; count], vec![false; count]);
    let mut stack = vec![(thread.initial, 0)];
    seen[thread.initial.0] = true;
    below[thread.initial.0] = true;
    while let Some((location, position)) = stack.last_mut() {
        let location = *location;
        match thread.outgoing(location).nth(*position) {
            Some((_, transition)) => {
                *position += 1;
                let to = transition.to;
                heads[to.0] |= below[to.0];
                if !seen[to.0] {
                    seen[to.0] = true;
                    below[to.0] = true;
                    stack.push((to, 0));
                }
            }
            None => {
                below[location.0] = false;
                stack.pop();
            }
        }
    }
    heads
}

/// The immediate post-dominator of every location; `None` where it is the end or there is no way there.
pub(super) fn post_dominators(thread: &Thread) -> Vec<Option<LocId>> {
    let exit = thread.locations.len();
    let mut before = vec![Vec::new(); exit + 1];
    let mut after = vec![Vec::new(); exit];
    for transition in &thread.transitions {
        before[transition.to.0].push(transition.from.0);
        after[transition.from.0].push(transition.to.0);
    }
    for (location, next) in after.iter_mut().enumerate() {
        if next.is_empty() {
            before[exit].push(location);
            next.push(exit);
        }
    }
    // Postorder of the reversed graph from the exit.
    let mut number = vec![usize::MAX; exit + 1];
    let mut order = Vec::new();
    let mut seen = vec![false; exit + 1];
    seen[exit] = true;
    let mut stack = vec![(exit, 0)];
    while let Some((node, position)) = stack.last_mut() {
        let node = *node;
        match before[node].get(*position) {
            Some(&next) => {
                *position += 1;
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, 0));
                }
            }
            None => {
                number[node] = order.len();
                order.push(node);
                stack.pop();
            }
        }
    }
    let mut dominator = vec![None; exit + 1];
    dominator[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|&&node| node != exit) {
            let mut best: Option<usize> = None;
            for &next in &after[node] {
                if dominator[next].is_some() {
                    best = Some(best.map_or(next, |other| meet(&dominator, &number, other, next)));
                }
            }
            changed |= dominator[node] != best;
            dominator[node] = best;
        }
    }
    (0..exit)
        .map(|location| dominator[location].filter(|&join| join != exit && !thread.is_end(LocId(join))).map(LocId))
        .collect()
}

fn meet(dominator: &[Option<usize>], number: &[usize], mut left: usize, mut right: usize) -> usize {
    while left != right {
        // Both chains end at the exit, which has the largest number.
        let lower = if number[left] < number[right] { &mut left } else { &mut right };
        match dominator[*lower] {
            Some(up) => *lower = up,
            None => return number.len() - 1,
        }
    }
    left
}
