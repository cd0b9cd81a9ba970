//! Bouajjani, Calin, Derevenetc, Meyer: *Lazy TSO Reachability* (FASE 2015), figures 6 to 11 in section 5.
//!
//! Measured there with Trencher, Memorax and CBMC on a virtual machine with 16 cores at 2.67 GHz and 8 GB. Figure 6 is a table;
//! the others are curves whose values are not printed. What is known of them: the marks of the axes, which stand at measured values,
//! the sentences about which tool is faster, and the caption of figure 11.

/// A row of figure 6, and the example that is our version of its program.
#[derive(Clone, Copy, Debug)]
pub struct LazyTsoRow {
    pub name: &'static str,
    pub file: &'static str,
    /// Whether the goal can be reached under TSO.
    pub reachable: bool,
    /// T, St, Tr: threads, states, transitions.
    pub size: [usize; 3],
    /// RQ: queries under SC.
    pub queries: usize,
    /// CPU and Real, in milliseconds.
    pub milliseconds: [u32; 2],
}

const fn row(
    name: &'static str,
    file: &'static str,
    reachable: bool,
    size: [usize; 3],
    queries: usize,
    milliseconds: [u32; 2],
) -> LazyTsoRow {
    LazyTsoRow { name, file, reachable, size, queries, milliseconds }
}

pub const FIGURE_6: [LazyTsoRow; 7] = [
    row("Parker (non-robust)", "parker.rav", true, [2, 11, 10], 4, [8, 5]),
    row("Peterson (non-robust)", "peterson.rav", true, [2, 14, 18], 12, [21, 13]),
    row("Dekker (non-robust)", "dekker.rav", true, [2, 24, 30], 30, [171, 70]),
    row("Lamport (non-robust)", "lamport-fast.rav", true, [3, 33, 36], 27, [1839, 694]),
    row("MCS lock", "mcs-lock.rav", false, [4, 52, 50], 30, [127, 61]),
    row("CLH lock", "clh-lock.rav", false, [3, 43, 41], 70, [10, 7]),
    row("Lock-free stack", "lockfree-stack.rav", false, [4, 46, 50], 14, [9, 7]),
];

/// A point of a curve: the tool, N, and seconds on the wall clock.
pub type CurvePoint = (&'static str, f64, f64);

/// Lamport's mutex with N threads. N = 3 is the row of figure 6; the marks 23 and 39 of the axis belong to N = 4, where the text
/// says that Memorax is the faster of the two. With N = 5 both run out of memory.
pub const FIGURE_7: [CurvePoint; 3] = [("Trencher", 3.0, 0.694), ("Trencher", 4.0, 39.0), ("Memorax", 4.0, 23.0)];

/// Dekker with N paths (program of figure 8, curves of figures 10 and 11): from the caption of figure 11.
pub const FIGURE_8: [CurvePoint; 1] = [("Memorax", 50.0, 84.0)];

/// The loop of N stores (figures 9 and 11). The largest mark of the axis is where the slower tool ends; N = 20 is in the caption of
/// figure 11.
pub const FIGURE_9: [CurvePoint; 2] = [("CBMC", 13.0, 45.0), ("CBMC", 20.0, 515.0)];

/// For the program of figure 9 the paper says that its tool asks as many queries under SC, whatever N is.
pub const FIGURE_9_QUERIES: usize = 3;
