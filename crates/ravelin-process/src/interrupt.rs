//! Signals that ask the program to end. SIGINT (Ctrl-C), SIGTERM and SIGHUP mean the same.
//!
//! The first one ends the search, which answers with what is known so far and writes its checkpoint. The second one ends
//! the program at once, with 128 and the number of the signal as exit code. `timeout` sends its signal twice, to the
//! process and to its group, so what comes right after the first signal belongs to it.
//!
//! A signal that was ignored when the program began (`nohup`, background jobs of some shells) stays ignored.

use crate::parent;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Once, mpsc};
use std::time::{Duration, Instant};

/// Signals that are this close belong together.
const TOGETHER: Duration = Duration::from_millis(100);

static STOP: AtomicBool = AtomicBool::new(false);
/// The second signal is left to the program.
static LEFT: AtomicBool = AtomicBool::new(false);
/// The second signal, if it was left and has come.
static SECOND: AtomicI32 = AtomicI32::new(0);

/// Listens for signals; what is returned becomes true with the first.
pub fn stop() -> &'static AtomicBool {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let (ready, listening) = mpsc::channel();
        // Without the thread a signal simply ends the program.
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || listen(&ready));
        if thread.is_ok() {
            // An error means that signals cannot be listened for; they end the program then, too.
            let _ = listening.recv();
        }
    });
    &STOP
}

/// From now on a write beyond the largest permitted file (`ulimit -f`) is an error like any other, instead of a signal
/// that ends the program and leaves its files behind. The signal is caught and not ignored, so that programs started by
/// this one get the default action back.
pub fn make_large_files_errors() {
    if !is_ignored(SIGXFSZ) {
        // An error leaves everything as it was.
        let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// Whether a signal has come. Does not start to listen: without a listener a signal ends the program.
pub fn is_asked() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// As a signal does.
pub fn ask_to_stop() {
    STOP.store(true, Ordering::SeqCst);
}

/// From now on the second signal does not end the program; [`second`] returns it.
pub fn leave_second() {
    LEFT.store(true, Ordering::SeqCst);
}

/// The second signal, after [`leave_second`].
pub fn second() -> Option<i32> {
    Some(SECOND.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
}

/// The exit code of a program that a signal ended.
pub fn exit_code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Ends the program at once, without waiting for its other threads. Files that they write stay unfinished.
pub fn leave(code: u8) -> ! {
    low_level::exit(code.into())
}

fn listen(ready: &mpsc::Sender<()>) {
    let mut signals: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)).collect();
    if parent::is_known() {
        signals.push(parent::STOP);
    }
    let Ok(mut signals) = Signals::new(signals) else { return };
    // The thread that asked waits for this message.
    let _ = ready.send(());
    let mut first: Option<Instant> = None;
    for signal in signals.forever() {
        STOP.store(true, Ordering::SeqCst);
        if signal == SIGUSR1 {
            continue;
        }
        let again = first.get_or_insert_with(Instant::now).elapsed() > TOGETHER;
        if again && LEFT.load(Ordering::SeqCst) {
            SECOND.store(signal, Ordering::SeqCst);
        } else if again {
            leave(exit_code(signal));
        }
    }
}

/// Whether a signal was ignored when the program began, where the system says so.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
