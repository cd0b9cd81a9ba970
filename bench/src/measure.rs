//! Clocks, and how they are read: in turns, and the fastest counts.
//!
//! What runs on one core is measured in the processor time of its thread, user and system, because other programs on the
//! machine then disturb less. What runs on several is measured on the wall clock, because waiting is part of the price.

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

/// Processor time of this process with all its threads, in hundredths of a second.
pub fn process_time() -> Duration {
    let told = read_to_string("/proc/self/stat").ok();
    // The second field is the name of the program in parentheses and may contain anything.
    let ticks = told.as_deref().and_then(|line| {
        let mut fields = line.rsplit_once(')')?.1.split_whitespace().skip(11);
        let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(user + system)
    });
    ticks.map_or_else(wall_time, |ticks| Duration::from_millis(ticks * 10))
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

/// Runs every contestant once, then every one again, and so on; the fastest time of each.
pub fn in_turns(repetitions: usize, contestants: &mut [&mut dyn FnMut() -> Duration]) -> Vec<Duration> {
    let mut fastest = vec![Duration::MAX; contestants.len()];
    for _ in 0..repetitions {
        for (contestant, fastest) in contestants.iter_mut().zip(&mut fastest) {
            *fastest = (*fastest).min(contestant());
        }
    }
    fastest
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
