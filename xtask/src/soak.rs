//! `cargo xtask soak`: the tests on random inputs, for a long time, with new inputs.
//!
//! The tests themselves read from the environment how many inputs to make and where to start. This chore runs them
//! chunk by chunk, so that progress is visible and a failure shows how to reproduce it.

use anyhow::{Context, Result, bail};
use std::process::Output;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(clap::Args)]
pub struct Arguments {
    /// Random inputs of each test
    #[arg(long, default_value_t = 100_000)]
    programs: u64,
    /// Where to start; taken from the clock if not given
    #[arg(long)]
    seed: Option<u64>,
    /// No new chunk is begun after this many minutes
    #[arg(long)]
    minutes: Option<u64>,
}

/// The tests of one file that take their inputs from seeds.
struct Target {
    package: &'static str,
    module: &'static str,
    /// Inputs of each test per chunk.
    chunk: u64,
}

const TARGETS: [Target; 29] = [
    Target::new("ravelin-machine", "agrees_with_reference"),
    Target::new("ravelin-analysis", "robustness_random"),
    Target::new("ravelin-analysis", "robustness_shares"),
    Target::new("ravelin-analysis", "fences_random"),
    Target::new("ravelin-analysis", "c11_random"),
    Target::new("ravelin-analysis", "c11_clocks"),
    Target::new("ravelin-analysis", "messages_random"),
    Target::new("ravelin-analysis", "c11_reach_random"),
    Target::new("ravelin-analysis", "c11_repair_random"),
    Target::new("ravelin-analysis", "dual_random"),
    Target::new("ravelin-analysis", "sb_random"),
    Target::new("ravelin-analysis", "pso_random"),
    Target::new("ravelin-analysis", "pso_ordered"),
    Target::new("ravelin-analysis", "monitor_random"),
    Target { chunk: 500, ..Target::new("ravelin-analysis", "symmetry_random") },
    Target::new("ravelin-analysis", "old_values_random"),
    Target::new("ravelin-analysis", "lazy_random"),
    Target::new("ravelin-analysis", "lazy_states"),
    Target::new("ravelin-analysis", "parameterised_random"),
    Target::new("ravelin-analysis", "parameterised_reach_random"),
    Target::new("ravelin-frontend", "rav_meaning"),
    Target::new("ravelin-backward", "random_nets"),
    // Traces are long, and three references check each.
    Target { chunk: 500, ..Target::new("ravelin-clocks", "judged") },
    Target { chunk: 500, ..Target::new("ravelin-clocks", "weak::random") },
    Target::new("ravelin-clocks", "races"),
    Target::new("ravelin-verify", "judged_runs"),
    Target::new("ravelin-verify", "judged_programs"),
    // These are compiled, and watched under schedules that are drawn.
    Target { chunk: 100, ..Target::new("ravelin-cli", "generated_programs_are_judged_alike") },
    // These are compiled, and all their schedules are run: 20,000 of 100,000.
    Target { chunk: 500, ..Target::new("ravelin-cli", "verify_generated") },
];

pub fn run(arguments: &Arguments) -> Result<()> {
    let start = Instant::now();
    let limit = arguments.minutes.map(|minutes| Duration::from_secs(minutes * 60));
    let first = arguments.seed.unwrap_or_else(seed_from_clock);
    println!("soaking from seed {first}");
    let mut done = 0;
    while done < arguments.programs && limit.is_none_or(|limit| start.elapsed() < limit) {
        let mut most = 0;
        for target in &TARGETS {
            let count = target.chunk.min(arguments.programs - done).max(1);
            let seed = first.wrapping_add(done);
            let output = target.run(seed, count)?;
            if !output.status.success() {
                print!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                bail!("a disagreement; to see it again:\n  {}", target.again(&output, seed, count));
            }
            most = most.max(count);
        }
        done += most;
        println!("{done} of {} programs, {} s", arguments.programs, start.elapsed().as_secs());
    }
    println!("no disagreement on {done} programs from seed {first}");
    Ok(())
}

impl Target {
    const fn new(package: &'static str, module: &'static str) -> Target {
        Target { package, module, chunk: 2_500 }
    }

    fn run(&self, seed: u64, count: u64) -> Result<Output> {
        crate::cargo()
            .args(["test", "--quiet", "--package", self.package, "--test", self.program()])
            .arg(format!("{}::", self.module))
            .env("RAVELIN_PROGRAMS", count.to_string())
            .env("RAVELIN_SEED", seed.to_string())
            .output()
            .context("cannot start cargo")
    }

    /// The smallest command known to reproduce a failure: the one seed that the test named, or else the whole chunk.
    fn again(&self, output: &Output, seed: u64, count: u64) -> String {
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let named = text.lines().find_map(failing_seed);
        let (seed, count) = named.map_or((seed, count), |seed| (seed, 1));
        let test = text.lines().find_map(failing_test).map_or_else(|| format!("{}::", self.module), str::to_owned);
        let (package, program) = (self.package, self.program());
        format!("RAVELIN_SEED={seed} RAVELIN_PROGRAMS={count} cargo test --package {package} --test {program} {test}")
    }

    /// The test program, which has the name of its crate.
    fn program(&self) -> &'static str {
        self.package.trim_start_matches("ravelin-")
    }
}

/// The number in a panic message that begins `seed 17: …`.
fn failing_seed(line: &str) -> Option<u64> {
    line.strip_prefix("seed ")?.split(':').next()?.parse().ok()
}

/// The name in the heading `---- name stdout ----`.
fn failing_test(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// A start that no earlier run had, small enough to be typed.
fn seed_from_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_micros() as u64 % 1_000_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_its_seed_and_its_test() {
        assert_eq!(failing_seed("seed 421: verdict under tso"), Some(421));
        assert_eq!(failing_seed("seed 421: gcc -O2: 6 runs, but 4 traces"), Some(421));
        assert_eq!(failing_seed("seed of doubt"), None);
        assert_eq!(failing_test("---- judged::random::renamed stdout ----"), Some("judged::random::renamed"));
        assert_eq!(failing_test("----"), None);
    }
}
