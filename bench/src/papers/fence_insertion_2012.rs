//! Abdulla, Atig, Chen, Leonardsson, Rezine: *Counter-Example Guided Fence Insertion under Weak Memory Models*, Table 1 in
//! section 7.
//!
//! Measured there with a prototype in OCaml on an Intel Core i3 at 2.26 GHz. Fences may stand directly after stores.

/// A row of Table 1, and the example in `examples/fence-insertion` that is our version of its program.
#[derive(Clone, Copy, Debug)]
pub struct FenceInsertionRow {
    pub name: &'static str,
    pub file: &'static str,
    /// Processes (not printed for the last four), states, variables and transitions.
    pub size: [Option<usize>; 4],
    /// Seconds until the first minimal set of fences, and until all of them.
    pub seconds: [f64; 2],
    /// Fences a process in the smallest set and the number of minimal sets; none if no fence helps.
    pub fences: Option<(usize, usize)>,
}

const fn row(
    name: &'static str,
    file: &'static str,
    [processes, states, variables, transitions]: [usize; 4],
    seconds: [f64; 2],
    fences: Option<(usize, usize)>,
) -> FenceInsertionRow {
    let processes = if processes == 0 { None } else { Some(processes) };
    FenceInsertionRow {
        name,
        file,
        size: [processes, Some(states), Some(variables), Some(transitions)],
        seconds,
        fences,
    }
}

pub const TABLE_1: [FenceInsertionRow; 17] = [
    row("Simple Dekker", "simple-dekker", [2, 8, 2, 10], [0.02, 0.02], Some((1, 1))),
    row("Full Dekker", "full-dekker", [2, 14, 3, 18], [0.28, 0.28], Some((1, 1))),
    row("Peterson", "peterson", [2, 10, 3, 14], [0.24, 0.6], Some((1, 1))),
    row("Lamport Bakery", "bakery", [2, 23, 4, 32], [52.0, 538.0], Some((2, 4))),
    row("Lamport Fast", "lamport-fast", [2, 26, 4, 38], [6.5, 6.5], Some((2, 1))),
    row("CLH Queue Lock", "clh", [2, 48, 4, 60], [26.0, 26.0], Some((0, 1))),
    row("Sense Reversing Barrier", "sense-reversing-barrier", [2, 16, 2, 24], [1.1, 1.1], Some((0, 1))),
    row("Burns", "burns", [2, 9, 2, 11], [0.07, 0.07], Some((1, 1))),
    row("Dijkstra", "dijkstra", [2, 14, 3, 24], [9.5, 10.0], Some((1, 1))),
    row("Tournament Barriers", "tournament-barrier", [2, 8, 2, 8], [1.2, 1.2], Some((0, 1))),
    row("Task Scheduling", "task-scheduling", [3, 7, 2, 9], [60.0, 60.0], Some((0, 1))),
    row("Increasing Sequence", "increasing-sequence", [2, 26, 1, 44], [25.0, 27.0], Some((0, 1))),
    row("Alternating Bit", "alternating-bit", [2, 8, 2, 12], [0.2, 0.2], Some((0, 1))),
    row("Producer Consumer, v1, N=2", "producer-consumer-v1-2", [0, 18, 3, 22], [0.2, 0.2], None),
    row("Producer Consumer, v1, N=3", "producer-consumer-v1-3", [0, 22, 4, 28], [4.5, 4.5], None),
    row("Producer Consumer, v2, N=2", "producer-consumer-v2-2", [0, 14, 3, 18], [5.7, 5.7], Some((0, 1))),
    row("Producer Consumer, v2, N=3", "producer-consumer-v2-3", [0, 16, 4, 22], [580.0, 583.0], Some((0, 1))),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sets_take_no_less_than_one() {
        for row in TABLE_1 {
            assert!(row.seconds[0] <= row.seconds[1], "{}", row.name);
        }
    }
}
