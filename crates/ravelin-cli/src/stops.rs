//! What every answer says beside itself: where threads can stop under SC, because nothing behind such a place was looked at.

use crate::arguments::{Format, Output, Resources};
use crate::ask::{Shown, Subject, is_first};
use crate::exit::Exit;
use ravelin_analysis::stops::{Stops, StopsQuestion, stops};
use ravelin_output::complain;
use ravelin_report::stops::{json, text};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

/// The search for stops is not worth more states than this, unless the question itself took more.
const MOST_STATES: u64 = 1_000_000;

/// The stops of every file of an invocation, looked for once, after the first answer about the file.
pub struct StopNotes<'a> {
    resources: &'a Resources,
    output: &'a Output,
    known: RefCell<HashMap<String, Stops>>,
}

impl<'a> StopNotes<'a> {
    pub fn new(resources: &'a Resources, output: &'a Output) -> StopNotes<'a> {
        StopNotes { resources, output, known: RefCell::new(HashMap::new()) }
    }

    /// Adds the stops to an answer that was asked for at `start` and took `states` states.
    pub fn add(
        &self,
        subject: &Subject,
        start: Instant,
        states: u64,
        (exit, mut shown): (Exit, Shown),
    ) -> anyhow::Result<(Exit, Shown)> {
        let given = self.resources.limits();
        if given.spent(start, states, Some(subject.stop)).is_some() || !is_first(subject.beyond) {
            return Ok((exit, shown));
        }
        let mut known = self.known.borrow_mut();
        let stops = match known.get(subject.file) {
            Some(stops) => stops,
            None => {
                let mut limits = given.left(start, states);
                // An answer that ran into a limit of memory has taken long enough.
                let most = if exit == Exit::Unknown { MOST_STATES } else { MOST_STATES.max(2 * states) };
                limits.states = Some(limits.states.map_or(most, |given| given.min(most)));
                let workers = self.resources.workers();
                let question = StopsQuestion { limits, workers, stop: Some(subject.stop) };
                known.entry(subject.file.to_owned()).or_insert(stops(subject.program, &question)?)
            }
        };
        match self.output.format {
            Format::Text => shown.append(&subject.style.fitted(text(stops))),
            // What reads herd's layout knows no stops.
            Format::Herd => text(stops).lines().for_each(|line| complain!("{}: {}", subject.file, line.trim_start())),
            Format::Json | Format::Sarif => {}
        }
        shown.insert("stops", json(stops));
        Ok((exit, shown))
    }
}
