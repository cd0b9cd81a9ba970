//! Bouajjani, Derevenetc, Meyer: *Checking and Enforcing Robustness against TSO* (ESOP 2013), Table 2 in section 8.2.
//!
//! Measured there with Trencher and SPIN on an Intel Core i5 M 560 at 2.67 GHz, 4 cores.

/// A row of Table 2, and the example that is our version of its program.
#[derive(Clone, Copy, Debug)]
pub struct RobustnessRow {
    pub name: &'static str,
    pub file: &'static str,
    pub robust: bool,
    /// T, L, I: threads, labels, instructions.
    pub size: [usize; 3],
    /// RQ: queries; of a robust program as many as it has attacks, of another one those of fence insertion, too.
    pub queries: usize,
    /// NR1: answered without SPIN.
    pub fenced: usize,
    /// NR2 and R: answered by SPIN, negatively and positively.
    pub infeasible: usize,
    pub feasible: usize,
    /// F.
    pub fences: usize,
    /// Spin, Ver and Real, in seconds: making the verifiers, running them and Trencher, and both on the wall clock.
    pub seconds: [f64; 3],
}

/// The columns in the paper's order.
#[allow(clippy::too_many_arguments)]
const fn row(
    name: &'static str,
    file: &'static str,
    robust: bool,
    size: [usize; 3],
    [queries, fenced, infeasible, feasible]: [usize; 4],
    fences: usize,
    seconds: [f64; 3],
) -> RobustnessRow {
    RobustnessRow { name, file, robust, size, queries, fenced, infeasible, feasible, fences, seconds }
}

pub const TABLE_2: [RobustnessRow; 16] = [
    row("Peterson (non-robust)", "peterson.rav", false, [2, 14, 18], [23, 2, 12, 9], 2, [7.7, 0.5, 2.9]),
    row("Peterson (robust)", "peterson-fenced.rav", true, [2, 16, 20], [12, 12, 0, 0], 0, [0.0, 0.0, 0.0]),
    row("Dekker (non-robust)", "dekker.rav", false, [2, 24, 30], [95, 12, 28, 55], 4, [31.7, 2.1, 14.2]),
    row("Dekker (robust)", "dekker-fenced.rav", true, [2, 32, 38], [30, 30, 0, 0], 0, [0.0, 0.0, 0.0]),
    row("Lamport (non-robust)", "lamport-fast.rav", false, [3, 33, 36], [36, 9, 15, 12], 6, [14.4, 6.0, 5.9]),
    row("Lamport (robust)", "lamport-fast-fenced.rav", true, [3, 39, 42], [27, 27, 0, 0], 0, [0.0, 0.0, 0.0]),
    row("CLH lock (robust)", "clh-lock.rav", true, [7, 62, 58], [54, 48, 6, 0], 0, [4.9, 0.2, 1.6]),
    row("MCS lock (robust)", "mcs-lock.rav", true, [4, 52, 50], [30, 26, 4, 0], 0, [2.9, 0.4, 0.9]),
    row("Lock-free stack (robust)", "lockfree-stack.rav", true, [4, 46, 50], [14, 14, 0, 0], 0, [0.0, 0.0, 0.0]),
    row("Cilk's THE queue (non-robust)", "cilk-the.rav", false, [5, 86, 79], [152, 141, 8, 3], 3, [10.0, 18.0, 7.4]),
    row("NBW2 (non-robust)", "nbw2.rav", false, [2, 21, 19], [15, 9, 5, 1], 1, [2.5, 0.2, 0.8]),
    row("NBW3 (robust)", "nbw3.rav", true, [2, 22, 20], [15, 15, 0, 0], 0, [0.0, 0.0, 0.0]),
    row("NBW4 (robust)", "nbw4.rav", true, [3, 25, 22], [9, 7, 2, 0], 0, [0.7, 0.1, 0.4]),
    row("NBWL (robust)", "nbwl.rav", true, [4, 45, 45], [30, 26, 4, 0], 0, [2.7, 0.2, 0.7]),
    row("Parker (non-robust)", "parker.rav", false, [2, 9, 8], [2, 0, 1, 1], 1, [0.5, 0.0, 0.3]),
    row("Parker (robust)", "parker-fixed.rav", true, [2, 10, 9], [2, 2, 0, 0], 0, [0.0, 0.0, 0.0]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper says that RQ = NR1 + NR2 + R; a misprint here would show.
    #[test]
    fn queries_add_up() {
        for row in TABLE_2 {
            assert_eq!(row.queries, row.fenced + row.infeasible + row.feasible, "{}", row.name);
            assert_eq!(row.robust, row.feasible == 0, "{}", row.name);
            assert_eq!(row.robust, row.fences == 0, "{}", row.name);
        }
    }
}
