//! A schedule by name, which a report contains so that a run can be repeated.

use std::fmt;
use std::str::FromStr;

/// How threads are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// A random walk: at each point any thread that can run.
    Random,
    /// Priorities that change at a few points (PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
    Pct {
        /// The depth of the bugs that are found with a guaranteed probability: priorities change at one point fewer.
        depth: u32,
        /// Among how many points those are chosen: about as many as a run has.
        length: u64,
    },
    /// A random walk in which accesses may read old values, too.
    Weak {
        /// How many values of each location are kept.
        values: u32,
    },
    /// The choices are given ([`crate::Steering`]).
    Steered,
}

/// How threads are chosen, and which of the possible choices are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub strategy: Strategy,
    pub seed: u64,
}

/// A text that does not name a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSchedule(String);

impl fmt::Display for NoSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no schedule; expected random:SEED, pct:SEED:DEPTH:LENGTH or weak:SEED:VALUES", self.0)
    }
}

impl std::error::Error for NoSchedule {}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.strategy {
            Strategy::Random => write!(f, "random:{}", self.seed),
            Strategy::Pct { depth, length } => write!(f, "pct:{}:{depth}:{length}", self.seed),
            Strategy::Weak { values } => write!(f, "weak:{}:{values}", self.seed),
            Strategy::Steered => write!(f, "steered:{}", self.seed),
        }
    }
}

impl FromStr for Schedule {
    type Err = NoSchedule;

    fn from_str(text: &str) -> Result<Schedule, NoSchedule> {
        let mut parts = text.split(':');
        let name = parts.next();
        let mut number = || parts.next()?.parse::<u64>().ok();
        let read = || {
            let seed = number()?;
            let strategy = match name? {
                "random" => Strategy::Random,
                "pct" => Strategy::Pct {
                    depth: u32::try_from(number()?).ok().filter(|depth| *depth > 0)?,
                    length: number().filter(|length| *length > 0)?,
                },
                "weak" => Strategy::Weak { values: u32::try_from(number()?).ok().filter(|values| *values > 0)? },
                "steered" => Strategy::Steered,
                _ => return None,
            };
            Some(Schedule { strategy, seed })
        };
        let schedule = { read }();
        schedule.filter(|_| parts.next().is_none()).ok_or_else(|| NoSchedule(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_as_it_is_written() {
        for text in ["random:0", "random:18446744073709551615", "pct:7:3:1000", "weak:7:1000", "steered:0"] {
            assert_eq!(text.parse::<Schedule>().expect("a schedule").to_string(), text);
        }
        for text in [
            "",
            "random",
            "random:",
            "random:x",
            "random:1:2",
            "pct:1",
            "pct:1:0:5",
            "pct:1:3:0",
            "os:1",
            "weak:1",
            "weak:1:0",
            "pct:1:2:3:4",
        ] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
