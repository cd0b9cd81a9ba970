//! Clocks, and how they are read: several times, in turns, and the median counts.
//!
//! What runs on one core is measured in the processor time of its thread, user and system, because other programs on the
//! machine then disturb less. What runs on several is measured on the wall clock, because waiting is part of the price.

use anyhow::Result;
use clap::builder::RangedU64ValueParser;
use std::fs::read_to_string;
use std::time::{Duration, Instant};

/// Processor time of the calling thread; the wall clock where the kernel does not tell.
pub fn thread_time() -> Duration {
    // The kernel brings its account up to date when a thread gives way, and otherwise only now and then.
    std::thread::yield_now();
    let told = read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.as_deref().and_then(|line| line.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(wall_time, Duration::from_nanos)
}

/// Processor time of this process with all its threads; the wall clock where the kernel does not tell.
pub fn process_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a variable that lives until the call returns.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } != 0;
    if failed { wall_time() } else { Duration::new(time.tv_sec as u64, time.tv_nsec as u32) }
}

pub fn wall_time() -> Duration {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// What an action gives and how long it takes on a clock.
pub fn timed<T>(clock: fn() -> Duration, action: impl FnOnce() -> T) -> (T, Duration) {
    let before = clock();
    let result = action();
    (result, clock().saturating_sub(before))
}

/// How often is measured at least. The median of fewer runs is not worth a table.
pub const REPETITIONS: usize = 5;

/// What `--repetitions` accepts.
pub fn repetitions() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(REPETITIONS as u64..=1000)
}

/// What times are, for the words behind "times are".
pub fn what_times_are(repetitions: usize) -> String {
    match repetitions {
        1 => "those of one run, which mean nothing".to_owned(),
        several => format!("the median of {several} runs"),
    }
}

/// The value in the middle; of an even number of values the larger of the two there.
pub fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    debug_assert!(!values.is_empty());
    values.sort_unstable();
    values[values.len() / 2]
}

/// The last answer to a question that is asked several times, and the median of the times that it takes.
///
/// An answer that met its limit is not asked for again and has no time, because it would be the limit's.
pub fn repeated<T>(
    repetitions: usize,
    met_limit: impl Fn(&T) -> bool,
    mut ask: impl FnMut() -> Result<(T, Duration)>,
) -> Result<(T, Option<Duration>)> {
    let mut times = Vec::new();
    loop {
        let (answer, time) = ask()?;
        if met_limit(&answer) {
            return Ok((answer, None));
        }
        times.push(time);
        if times.len() >= repetitions {
            return Ok((answer, Some(median(times))));
        }
    }
}

/// Runs every contestant once, then every one again, and so on; the median time of each.
pub fn in_turns<const N: usize>(
    repetitions: usize,
    mut contestants: [&mut dyn FnMut() -> Result<Duration>; N],
) -> Result<[Duration; N]> {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..repetitions {
        for (contestant, times) in contestants.iter_mut().zip(&mut times) {
            times.push(contestant()?);
        }
    }
    Ok(times.map(median))
}

pub fn ratio(time: Duration, to: Duration) -> f64 {
    time.as_secs_f64() / to.as_secs_f64().max(1e-9)
}

/// The machine in a sentence, and how busy it was.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpuinfo = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model.trim());
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown");
    format!("{model}, {cores} cores; load at the start {load}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![9, 1, 5]), 5);
        assert_eq!(median(vec![4, 1, 3, 2]), 3);
        assert_eq!(median(vec![7]), 7);
    }

    #[test]
    fn a_question_is_asked_until_there_are_enough_times() {
        let mut seconds = [5, 1, 2, 9, 3, 100].into_iter();
        let mut ask = || Ok(((), Duration::from_secs(seconds.next().unwrap())));
        assert_eq!(repeated(5, |()| false, &mut ask).unwrap().1, Some(Duration::from_secs(3)));
        assert_eq!(repeated(5, |()| true, &mut ask).unwrap().1, None);
        assert_eq!(seconds.next(), None);
    }

    #[test]
    fn contestants_take_turns() {
        let order = std::cell::RefCell::new(Vec::new());
        let run = |name, seconds| {
            order.borrow_mut().push(name);
            Ok(Duration::from_secs(seconds))
        };
        let times = in_turns(2, [&mut || run("a", 1), &mut || run("b", 2)]).unwrap();
        assert_eq!(times, [1, 2].map(Duration::from_secs));
        assert_eq!(order.into_inner(), ["a", "b", "a", "b"]);
    }

    #[test]
    fn the_clock_of_the_process_runs() {
        let before = process_time();
        let sum = std::hint::black_box((0..1_000_000_u64).fold(0, |sum, next| std::hint::black_box(sum ^ next)));
        assert!(process_time() > before, "{sum}");
    }
}
