//! Where threads can stop under SC, as text.

use crate::Stops;

/// One line per place, and how far the search for them went; nothing if no thread can stop.
pub fn stops(stops: &Stops) -> String {
    let mut lines: Vec<String> = stops.found.iter().map(|stop| stop.message.clone()).collect();
    let open = if stops.found.is_empty() { "Whether a thread can fault" } else { "Where else a thread can fault" };
    lines.extend(stops.limit.map(|limit| format!("{open} under sc is not settled: {limit}.")));
    lines.extend(stops.copies.map(looked_at));
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

/// With any number of threads.
fn looked_at(copies: usize) -> String {
    let copies = if copies == 1 { "1 copy".to_owned() } else { format!("{copies} copies") };
    format!(
        "Faults under sc were looked for with at most {copies} of each `[*]` thread; with more there may be others."
    )
}

impl Stops {
    /// The notes, for a page or as text.
    pub fn notes(&self) -> Vec<String> {
        let found = self.found.iter().map(|stop| stop.message.clone());
        found.chain(self.copies.map(looked_at)).collect()
    }
}
