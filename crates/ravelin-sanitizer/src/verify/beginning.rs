//! Where runs begin: at the start of the second thread, or later if the program says so (`ravelin_verify_begin`).
//!
//! That is found out by a run. If the program says so when it has had several threads, all other runs are told to begin
//! there ([`FROM_MARK`]): what comes before happens in one order, and its events are not recorded.

use crate::watch::{NotWatched, SteeredProgram, SteeredRun, Streams, WatchCommand};
use ravelin_findings::steering::{FROM_MARK, SteeredEnd, doubts};
use ravelin_verify::Script;

/// Whether a run that began at the start of the second thread should begin later, or was too long to tell.
pub fn may_be_marked(run: &SteeredRun) -> bool {
    run.doubts & doubts::BEGINS != 0 || run.run.end == Some(SteeredEnd::Full)
}

/// Whether a run that was to begin where the program says so did.
pub fn is_marked(run: &SteeredRun) -> bool {
    run.doubts & doubts::BEGINS != 0
}

/// The program with runs that begin where it says so.
pub fn from_mark(watch: &WatchCommand) -> WatchCommand {
    let mut watch = watch.clone();
    watch.options.push(FROM_MARK.to_owned());
    watch
}

/// The program with runs that begin where they did when it was verified.
pub fn find(watch: &WatchCommand) -> Result<WatchCommand, NotWatched> {
    let run = |watch: &WatchCommand| {
        let streams = Streams::none();
        SteeredProgram::start(WatchCommand { streams, ..watch.clone() }, true, 0)?.run(&Script::default())
    };
    if !run(watch)?.as_ref().is_some_and(may_be_marked) {
        return Ok(watch.clone());
    }
    let marked = from_mark(watch);
    Ok(if run(&marked)?.as_ref().is_some_and(is_marked) { marked } else { watch.clone() })
}

/// What a run says about other runs. All runs of a program have to begin in the same way; if one did not,
/// [`doubts::BEGINS`] is set.
pub fn of_run(doubts: u64, watch: &WatchCommand) -> u64 {
    if is_from_mark(watch) { doubts ^ doubts::BEGINS } else { doubts }
}

fn is_from_mark(watch: &WatchCommand) -> bool {
    watch.options.iter().any(|word| word == FROM_MARK)
}
