//! Processes that `ravelin cluster` and `ravelin serve` start end with the process that started them, also if that one
//! is killed.
//!
//! They get its number in an environment variable. A process that finds itself with another parent ends its search and,
//! if that takes too long, itself. It also removes the directory in which the processes of a cluster meet, since the
//! process that made it is gone.

use crate::interrupt;
use rustix::process::{Pid, getppid};
use signal_hook::consts::SIGUSR1;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// With this signal a parent asks its processes to stop. It never counts as a second signal, however often it comes:
/// Ctrl-C reaches them as well.
pub const STOP: i32 = SIGUSR1;
/// Names the parent.
const PARENT: &str = "RAVELIN_PARENT";
/// Names the directory in which the processes of a cluster meet.
const MEETING: &str = "RAVELIN_MEETING";
/// Time between two looks at the parent.
const LOOK: Duration = Duration::from_millis(100);
/// How long a search may take to end after its parent.
const GRACE: Duration = Duration::from_secs(2);
/// How names of such directories begin; nothing else is ever removed.
pub const MEETING_NAME: &str = "ravelin-cluster-";

/// Makes this process the parent of one that is about to be started.
pub fn adopt(command: &mut Command) {
    command.env(PARENT, std::process::id().to_string());
}

/// The same for a process of a cluster, which meets the others in a directory.
pub fn adopt_in(command: &mut Command, meeting: &Path) {
    adopt(command);
    command.env(MEETING, meeting);
}

/// Whether this process was started by another one of Ravelin.
pub fn is_known() -> bool {
    number().is_some()
}

/// Ends this process soon after its parent, if it has one.
pub fn watch() {
    let Some(parent) = number() else { return };
    interrupt::stop();
    let meeting = std::env::var_os(MEETING).map(PathBuf::from);
    // Without this thread the process ends when its search does.
    let _ = std::thread::Builder::new().name("parent".to_owned()).spawn(move || {
        while getppid() == Some(parent) {
            std::thread::sleep(LOOK);
        }
        interrupt::ask_to_stop();
        let gone = Instant::now();
        loop {
            // Others may do the same now, and one that was about to meet may have put something there in between.
            meeting.as_deref().map(remove);
            if gone.elapsed() > GRACE {
                interrupt::leave(3);
            }
            std::thread::sleep(LOOK);
        }
    });
}

fn number() -> Option<Pid> {
    Pid::from_raw(std::env::var(PARENT).ok()?.parse().ok()?)
}

fn remove(meeting: &Path) {
    let name = meeting.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.starts_with(MEETING_NAME) {
        let _ = std::fs::remove_dir_all(meeting);
    }
}
