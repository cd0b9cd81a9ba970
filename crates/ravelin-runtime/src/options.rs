//! The options of `ravelin run`, in `RAVELIN_OPTIONS`.

use crate::interpose::{identity, threads};
use crate::{repair, schedule, server, trace, watchdog};
use ravelin_clocks::WitnessMode;
use ravelin_findings::Problem;
use ravelin_findings::steering::FROM_MARK;
use ravelin_schedule::{Schedule, Strategy};
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const STANDARD: u32 = 1;
const HALT: u32 = 2;
const NO_RACES: u32 = 4;
const NO_ROBUSTNESS: u32 = 8;
const NO_LIBRARY_CALLS: u32 = 16;
const NO_FREED_MEMORY: u32 = 32;
const TSO: u32 = 64;

static OPTIONS: AtomicU32 = AtomicU32::new(0);
/// The problems that do not count, a bit for each.
static IGNORED: AtomicU64 = AtomicU64::new(0);
/// The scheduling point whose finding ends the program; `u64::MAX` for none.
static HALT_AT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Reads the words of `RAVELIN_OPTIONS`. Unknown words are ignored, because they may belong to later versions.
pub fn read(words: &str) {
    OPTIONS.store(flags(words), Ordering::Relaxed);
    if let Some(point) = value(words, "halt-at=") {
        HALT_AT.store(point, Ordering::Relaxed);
    }
    if let Some(accesses) = value(words, "history=") {
        trace::want(accesses);
    }
    IGNORED.store(ignored(words), Ordering::Relaxed);
    if let Some(schedule) = value::<Schedule>(words, "schedule=") {
        if matches!(schedule.strategy, Strategy::Weak { .. }) {
            // What is robust is compared with sequential consistency, which a weak run leaves.
            OPTIONS.fetch_or(NO_ROBUSTNESS, Ordering::Relaxed);
        }
        let livelock = value(words, "livelock=").unwrap_or(0);
        schedule::want(schedule, livelock, value(words, "processor="));
    }
    if let Some(seconds) = value(words, "no-progress=") {
        watchdog::want(seconds);
    }
    if let Some(socket) = value(words, "serve=") {
        server::want(socket);
    }
    values(words, "fix=").for_each(repair::want);
    if words.split_whitespace().any(|word| word == FROM_MARK) {
        schedule::steer::begin_at_mark();
    }
    if words.split_whitespace().any(|word| word == "rust") {
        identity::expect_rust();
    }
    if words.split_whitespace().any(|word| word == "refuse-thread") {
        threads::refuse_first();
    }
    if words.split_whitespace().any(|word| word == "sites") {
        repair::want_sites();
    }
}

/// Reads the options of one run of several that a process makes for `ravelin run`: its schedule. Returns whether there
/// is one.
pub fn read_run(words: &str) -> bool {
    let livelock = value(words, "livelock=").unwrap_or(0);
    value(words, "schedule=").is_some_and(|schedule| schedule::begin_again(schedule, livelock))
}

/// The processor on which the thread is that asks for this run.
pub fn processor_of_run(words: &[u8]) -> Option<usize> {
    value(std::str::from_utf8(words).ok()?, "processor=")
}

fn flags(words: &str) -> u32 {
    words.split_whitespace().fold(0, |options, word| {
        options
            | match word {
                "no-predict" => STANDARD,
                "halt-on-first" => HALT,
                "no-races" => NO_RACES,
                "no-robustness" => NO_ROBUSTNESS,
                "no-library-calls" => NO_LIBRARY_CALLS,
                "no-freed-memory" => NO_FREED_MEMORY,
                "tso" => TSO,
                _ => 0,
            }
    })
}

/// The problems that words such as `ignore=5` name by their numbers, a bit for each.
fn ignored(words: &str) -> u64 {
    let numbers = values(words, "ignore=").filter_map(|number| number.parse::<u32>().ok());
    numbers.fold(0, |ignored, number| ignored | 1_u64.checked_shl(number).unwrap_or(0))
}

/// What follows `name`, which ends with `=`, for each occurrence.
fn values<'a>(words: &'a str, name: &'static str) -> impl Iterator<Item = &'a str> {
    words.split_whitespace().filter_map(move |word| word.strip_prefix(name))
}

/// The first of these values that can be parsed.
fn value<T: FromStr>(words: &str, name: &'static str) -> Option<T> {
    values(words, name).find_map(|value| value.parse().ok())
}

#[inline(always)]
fn has(option: u32) -> bool {
    OPTIONS.load(Ordering::Relaxed) & option != 0
}

/// Which violations count.
#[inline(always)]
pub fn mode() -> WitnessMode {
    if has(STANDARD) { WitnessMode::Standard } else { WitnessMode::Predict }
}

/// Whether a finding at this scheduling point ends the program.
pub fn halt_at(point: u64) -> bool {
    has(HALT) || HALT_AT.load(Ordering::Relaxed) == point
}

/// Whether data races count.
#[inline(always)]
pub fn races() -> bool {
    !has(NO_RACES)
}

/// Whether it counts what functions of the C library read and write for the program.
#[inline(always)]
pub fn library_calls() -> bool {
    !has(NO_LIBRARY_CALLS)
}

/// Whether freeing memory counts as a write to it.
#[inline(always)]
pub fn freed_memory() -> bool {
    OPTIONS.load(Ordering::Relaxed) & (NO_RACES | NO_FREED_MEMORY) == 0
}

/// Whether robustness violations count.
#[inline(always)]
pub fn robustness() -> bool {
    !has(NO_ROBUSTNESS)
}

/// Whether the rules of C11 (RC20) decide what a robustness violation is.
#[inline(always)]
pub fn rc20() -> bool {
    !has(NO_ROBUSTNESS | TSO)
}

/// Whether the rules of x86-TSO do.
#[inline(always)]
pub fn tso() -> bool {
    OPTIONS.load(Ordering::Relaxed) & (NO_ROBUSTNESS | TSO) == TSO
}

/// Whether a kind of finding counts.
pub fn looks_for(problem: Problem) -> bool {
    IGNORED.load(Ordering::Relaxed) >> problem as u64 & 1 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_known_and_other_words_are_left_to_later_versions() {
        for (words, expected) in [
            ("", 0),
            ("no-predict", STANDARD),
            (" halt-on-first  no-races\tsites ", HALT | NO_RACES),
            ("no-robustness no-robustness", NO_ROBUSTNESS),
            ("no-library-calls no-freed-memory", NO_LIBRARY_CALLS | NO_FREED_MEMORY),
            ("tso", TSO),
            ("no-race NO-RACES no-races=1 later", 0),
        ] {
            assert_eq!(flags(words), expected, "{words:?}");
        }
    }

    #[test]
    fn the_first_value_that_makes_sense_is_taken() {
        assert_eq!(value(" halt-at=17 x", "halt-at="), Some(17_u64));
        assert_eq!(value("halt-at=many halt-at=-1 halt-at=3 halt-at=4", "halt-at="), Some(3_u64));
        assert_eq!(value::<u64>("halt-at= halt-at no-halt-at=5", "halt-at="), None);
        let schedule = Schedule { strategy: Strategy::Random, seed: 5 };
        assert_eq!(value("processor=1 schedule=random:5", "schedule="), Some(schedule));
        assert_eq!(processor_of_run(b"schedule=random:5 processor=1"), Some(1));
        assert_eq!(processor_of_run(b"schedule=random:5"), None);
        assert_eq!(value::<Schedule>("schedule=sometimes", "schedule="), None);
    }

    #[test]
    fn ignored_problems_are_bits() {
        assert_eq!(ignored("ignore=5 x ignore=0 ignore=99 ignore=many"), 1 << 5 | 1);
        assert!(Problem::ALL.into_iter().all(looks_for));
    }

    #[test]
    fn all_repairs_are_taken() {
        assert_eq!(values("fix=a:1:fence x fix=b:2:acquire", "fix=").collect::<Vec<_>>(), ["a:1:fence", "b:2:acquire"]);
    }

    #[test]
    fn without_options_everything_counts_and_nothing_ends_the_program() {
        assert!(races() && robustness() && rc20() && !tso());
        assert_eq!(mode(), WitnessMode::Predict);
        assert!(!halt_at(0) && !halt_at(7));
    }
}
