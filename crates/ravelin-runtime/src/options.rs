//! What `ravelin run` asked for, in `RAVELIN_OPTIONS`.

use crate::{repair, schedule, watchdog};
use ravelin_clocks::Mode;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const STANDARD: u32 = 1;
const HALT: u32 = 2;
const NO_RACES: u32 = 4;
const NO_ROBUSTNESS: u32 = 8;

static OPTIONS: AtomicU32 = AtomicU32::new(0);
/// The scheduling point at whose finding the program is to be ended; `u64::MAX` for none.
static HALT_AT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Takes over the words of `RAVELIN_OPTIONS`; others are left to later versions.
pub fn read(words: &str) {
    let options = words.split_whitespace().fold(0, |options, word| {
        options
            | match word {
                "no-predict" => STANDARD,
                "halt-on-first" => HALT,
                "no-races" => NO_RACES,
                "no-robustness" => NO_ROBUSTNESS,
                _ => 0,
            }
    });
    OPTIONS.store(options, Ordering::Relaxed);
    let values = |name: &'static str| words.split_whitespace().filter_map(move |word| word.strip_prefix(name));
    if let Some(point) = values("halt-at=").find_map(|value| value.parse().ok()) {
        HALT_AT.store(point, Ordering::Relaxed);
    }
    if let Some(schedule) = values("schedule=").find_map(|value| value.parse().ok()) {
        let livelock = values("livelock=").find_map(|value| value.parse().ok()).unwrap_or(0);
        let processor = values("processor=").find_map(|value| value.parse().ok());
        schedule::want(schedule, livelock, processor);
    }
    if let Some(seconds) = values("no-progress=").find_map(|value| value.parse().ok()) {
        watchdog::want(seconds);
    }
    values("fix=").for_each(repair::want);
    if words.split_whitespace().any(|word| word == "sites") {
        repair::want_sites();
    }
}

fn has(option: u32) -> bool {
    OPTIONS.load(Ordering::Relaxed) & option != 0
}

/// Which violations count.
#[inline(always)]
pub fn mode() -> Mode {
    if has(STANDARD) { Mode::Standard } else { Mode::Predict }
}

/// Whether the program is to be ended at a finding that was made at this scheduling point.
pub fn halt_at(point: u64) -> bool {
    has(HALT) || HALT_AT.load(Ordering::Relaxed) == point
}

/// Whether data races count.
pub fn races() -> bool {
    !has(NO_RACES)
}

/// Whether robustness violations count.
pub fn robustness() -> bool {
    !has(NO_ROBUSTNESS)
}
