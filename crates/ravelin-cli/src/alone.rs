//! Commands with one result and no answer *unknown*: a signal or the time limit ends them in time, with a message and the exit code of
//! *unknown*.

use crate::exit::Exit;
use ravelin::Limits;
use ravelin_output::complain;
use ravelin_process::in_time::in_time;
use ravelin_process::interrupt;
use std::time::Duration;

/// Does the work, which must leave no files behind if it is ended.
pub fn ended_in_time<T>(time: Option<Duration>, work: impl FnOnce() -> T) -> T {
    // Before the work starts other programs: otherwise a signal would end this one and leave them.
    interrupt::stop();
    in_time(Limits { time, ..Limits::default() }, work, |limit| {
        complain!("error: {limit}");
        Exit::Unknown.code()
    })
}
