//! What `ravelin run` asked for, in `RAVELIN_OPTIONS`.

use ravelin_clocks::Mode;
use std::sync::atomic::{AtomicU32, Ordering};

const STANDARD: u32 = 1;
const HALT: u32 = 2;
const NO_RACES: u32 = 4;
const NO_ROBUSTNESS: u32 = 8;

static OPTIONS: AtomicU32 = AtomicU32::new(0);

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
}

fn has(option: u32) -> bool {
    OPTIONS.load(Ordering::Relaxed) & option != 0
}

/// Which violations count.
#[inline(always)]
pub fn mode() -> Mode {
    if has(STANDARD) { Mode::Standard } else { Mode::Predict }
}

/// Whether the program is to be ended at the first finding.
pub fn halt_on_first() -> bool {
    has(HALT)
}

/// Whether data races count.
pub fn races() -> bool {
    !has(NO_RACES)
}

/// Whether robustness violations count.
pub fn robustness() -> bool {
    !has(NO_ROBUSTNESS)
}
