//! Limits and workers from the command line, with defaults from the machine.

use crate::arguments::{Resources, Search};
use ravelin::{Budget, Limits, Reductions};
use std::time::Duration;

impl Resources {
    pub fn limits(&self) -> Limits {
        Limits {
            states: self.max_states,
            memory: self.max_memory.or_else(default_memory),
            time: self.timeout,
            ..Limits::default()
        }
    }

    /// What a question may take, as far as the command line says.
    pub fn budget(&self) -> Budget<'static> {
        Budget { limits: self.limits(), ..Budget::default() }.workers(self.workers())
    }

    pub fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
        self.workers.unwrap_or_else(cores).max(1)
    }
}

impl Search {
    pub fn reductions(&self) -> Reductions {
        Reductions {
            fuse: !self.no_fuse,
            liveness: !self.no_liveness,
            partial_order: !self.no_partial_order,
            symmetry: !self.no_symmetry,
        }
    }
}

/// Three quarters of the memory that is free, where the system tells.
fn default_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024 / 4 * 3)
}

/// `1000`, `64K`, `512M`, `4G`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let trimmed = text.trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (digits, factor) = match trimmed.char_indices().last() {
        Some((at, 'k' | 'K')) => (&trimmed[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&trimmed[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&trimmed[..at], 1 << 30),
        _ => (trimmed, 1),
    };
    let number: u64 = digits.parse().map_err(|_| format!("`{text}` is not a size; write it like 512M or 4G"))?;
    number.checked_mul(factor).ok_or_else(|| format!("`{text}` is larger than any machine"))
}

/// `90`, `90s`, `1.5m`, `1h`.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    let problem = || format!("`{text}` is not a time; write it like 90s, 5m or 1h");
    let number: f64 = digits.parse().map_err(|_| problem())?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| problem())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read_as_people_write_them() {
        assert_eq!(parse_size("512M"), Ok(512 << 20));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("1000"), Ok(1000));
        assert!(parse_size("much").is_err() && parse_size("").is_err() && parse_size("99999999999G").is_err());
        assert_eq!(parse_time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("0"), Ok(Duration::ZERO));
        assert!(parse_time("-1").is_err() && parse_time("soon").is_err() && parse_time("1e300h").is_err());
    }
}
