//! How deep in loops a transition stands, read off the control-flow automaton.
//!
//! The transitions of a strongly connected component are in a loop. Without the locations by which the component is entered, what is still
//! strongly connected is a loop inside it, and so on.

use ravelin_program::{LocId, Program, Thread, ThreadTransition};

/// Loop depths of all transitions of a program: 0 outside of loops.
pub struct LoopDepths {
    /// By thread and transition.
    depths: Vec<Vec<u32>>,
}

impl LoopDepths {
    pub fn of(program: &Program) -> LoopDepths {
        LoopDepths { depths: program.threads.iter().map(depths_of).collect() }
    }

    pub fn of_edge(&self, edge: ThreadTransition) -> u32 {
        self.depths[edge.thread.0][edge.transition.0]
    }

    /// The depth of the deepest of these edges.
    pub fn deepest(&self, edges: &[ThreadTransition]) -> u32 {
        edges.iter().map(|&edge| self.of_edge(edge)).max().unwrap_or(0)
    }
}

fn depths_of(thread: &Thread) -> Vec<u32> {
    let mut depths = vec![0; thread.transitions.len()];
    let mut removed = vec![false; thread.locations.len()];
    loop {
        let component = components(thread, &removed);
        let inside = |from: LocId, to: LocId| component[from.0].is_some() && component[from.0] == component[to.0];
        let mut looping = false;
        for (transition, depth) in thread.transitions.iter().zip(&mut depths) {
            if inside(transition.from, transition.to) {
                looping = true;
                *depth += 1;
            }
        }
        if !looping {
            return depths;
        }
        // A component with a loop loses at least one location a round: an entry, or any if nothing enters it.
        let mut entered = vec![false; thread.locations.len()];
        entered[thread.initial.0] = true;
        for transition in &thread.transitions {
            if !inside(transition.from, transition.to) {
                entered[transition.to.0] = true;
            }
        }
        let mut has_entry = vec![false; thread.locations.len()];
        for location in 0..thread.locations.len() {
            if let Some(number) = component[location].filter(|_| entered[location]) {
                has_entry[number] = true;
                removed[location] = true;
            }
        }
        for location in 0..thread.locations.len() {
            if let Some(number) = component[location]
                && !has_entry[number]
            {
                has_entry[number] = true;
                removed[location] = true;
            }
        }
    }
}

/// The strongly connected component of each location that is not removed (Tarjan, without recursion).
fn components(thread: &Thread, removed: &[bool]) -> Vec<Option<usize>> {
    let size = thread.locations.len();
    let mut component = vec![None; size];
    let (mut index, mut low) = (vec![usize::MAX; size], vec![0; size]);
    let (mut stack, mut on_stack) = (Vec::new(), vec![false; size]);
    let (mut next_index, mut next_component) = (0, 0);
    for root in (0..size).filter(|&root| !removed[root]) {
        if index[root] != usize::MAX {
            continue;
        }
        let mut calls = vec![(root, 0usize)];
        while let Some(&mut (location, ref mut successor)) = calls.last_mut() {
            if *successor == 0 {
                index[location] = next_index;
                low[location] = next_index;
                next_index += 1;
                stack.push(location);
                on_stack[location] = true;
            }
            let next = thread.outgoing(LocId(location)).map(|(_, transition)| transition.to.0).nth(*successor);
            *successor += 1;
            match next {
                Some(to) if removed[to] => {}
                Some(to) if index[to] == usize::MAX => calls.push((to, 0)),
                Some(to) if on_stack[to] => low[location] = low[location].min(index[to]),
                Some(_) => {}
                None => {
                    calls.pop();
                    if let Some((caller, _)) = calls.last() {
                        low[*caller] = low[*caller].min(low[location]);
                    }
                    if low[location] == index[location] {
                        while let Some(member) = stack.pop() {
                            on_stack[member] = false;
                            component[member] = Some(next_component);
                            if member == location {
                                break;
                            }
                        }
                        next_component += 1;
                    }
                }
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_program::{Instruction, ProgramBuilder, ThreadId, TransitionId};

    /// Depths of the transitions `from to`, in order of `from`.
    fn depths(edges: &[(usize, usize)]) -> Vec<u32> {
        let mut builder = ProgramBuilder::new("p");
        let mut thread = builder.thread("t");
        for _ in 0..edges.iter().map(|(from, to)| from.max(to)).max().map_or(0, |most| *most) {
            thread.fresh();
        }
        for &(from, to) in edges {
            thread.edge(LocId(from), Instruction::Nop, LocId(to));
        }
        thread.finish();
        let program = builder.finish().expect("valid");
        let depths = LoopDepths::of(&program);
        let edge = |number| ThreadTransition { thread: ThreadId(0), transition: TransitionId(number) };
        (0..edges.len()).map(|number| depths.of_edge(edge(number))).collect()
    }

    #[test]
    fn depth_counts_the_loops_around_a_transition() {
        assert_eq!(depths(&[(0, 1), (1, 2)]), [0, 0]);
        assert_eq!(depths(&[(0, 1), (1, 1), (1, 2)]), [0, 1, 0]);
        assert_eq!(depths(&[(0, 1), (1, 2), (2, 1), (2, 3)]), [0, 1, 1, 0]);
        // A loop in a loop, and one that starts where the thread starts.
        assert_eq!(depths(&[(0, 1), (1, 2), (1, 4), (2, 3), (3, 2), (3, 1)]), [0, 1, 0, 2, 2, 1]);
        assert_eq!(depths(&[(0, 1), (1, 0)]), [1, 1]);
    }

    #[test]
    fn two_ways_into_a_loop_make_one_loop() {
        assert_eq!(depths(&[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]), [0, 0, 1, 1, 0]);
    }
}
