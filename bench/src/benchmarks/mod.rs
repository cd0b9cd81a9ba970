//! `cargo xtask bench`: measurements that anyone can repeat, as Markdown.
//!
//! Every number that says something about another is a ratio of two measurements of the same run, taken in turns.

mod cluster;
mod counters;
mod examples;
mod explore;
mod fences;
mod handwritten;
mod lamport;
mod lift;
mod limits;
mod parameterised;
mod rc20;
mod reach;
mod robustness;
mod robustness_families;
pub mod runtime;
mod schedules;
mod stateright;
mod storage;
mod verify;
mod walls;
mod write;

use anyhow::{Result, ensure};

#[derive(clap::Args)]
pub struct Arguments {
    /// Writes docs/benchmarks-NAME.md as well
    #[arg(long, global = true)]
    write: bool,
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(clap::Subcommand)]
pub enum Benchmark {
    /// The state-space engine: against hand-written searches, against itself on two cores, against other tools
    Explore(explore::Arguments),
    /// States elsewhere than in the memory of one process: in several processes, on disk, in checkpoints
    Cluster(cluster::Arguments),
    /// Fences: the cheapest set for robustness, all minimal sets for safety
    Fences(fences::Arguments),
    /// C files as models: what lifting costs, and states beside models that were written by hand
    Lift(lift::Arguments),
    /// Limits of time and memory: how late answers are in every phase, and what they hold
    Limits(limits::Arguments),
    /// Any number of threads: proofs by coverability, beside instances
    Parameterised(parameterised::Arguments),
    /// Robustness against release/acquire and RC20
    Rc20(rc20::Arguments),
    /// Reachability under TSO with unbounded buffers: engines side by side, growth
    Reach(reach::Arguments),
    /// Robustness against TSO: all attacks, engines side by side, growth with the number of threads
    Robustness(robustness::Arguments),
    /// The sanitizer: time and memory of watched programs, beside the stock thread sanitizers
    Runtime(runtime::Arguments),
    /// Schedules: what each finds in how many runs, and how fast turns are taken
    Schedules(schedules::Arguments),
    /// Every schedule: runs a second and per trace, what the reductions save, beside loom and shuttle
    Verify(verify::Arguments),
    /// Monitored searches: how many threads each reduction permits
    Walls(walls::Arguments),
}

pub fn run(Arguments { write, benchmark }: &Arguments) -> Result<()> {
    if *write {
        ensure!(!benchmark.is_quick(), "numbers of a quick run mean nothing, so there is no document of them");
        return write::write(benchmark.name());
    }
    match benchmark {
        Benchmark::Cluster(arguments) => cluster::run(arguments),
        Benchmark::Explore(arguments) => explore::run(arguments),
        Benchmark::Fences(arguments) => fences::run(arguments),
        Benchmark::Lift(arguments) => lift::run(arguments),
        Benchmark::Limits(arguments) => limits::run(arguments),
        Benchmark::Parameterised(arguments) => parameterised::run(arguments),
        Benchmark::Rc20(arguments) => rc20::run(arguments),
        Benchmark::Reach(arguments) => reach::run(arguments),
        Benchmark::Robustness(arguments) => robustness::run(arguments),
        Benchmark::Runtime(arguments) => runtime::run(arguments),
        Benchmark::Schedules(arguments) => schedules::run(arguments),
        Benchmark::Verify(arguments) => verify::run(arguments),
        Benchmark::Walls(arguments) => walls::run(arguments),
    }
}

impl Benchmark {
    /// As it is typed, and as its document is called.
    fn name(&self) -> &'static str {
        match self {
            Benchmark::Cluster(_) => "cluster",
            Benchmark::Explore(_) => "explore",
            Benchmark::Fences(_) => "fences",
            Benchmark::Lift(_) => "lift",
            Benchmark::Limits(_) => "limits",
            Benchmark::Parameterised(_) => "parameterised",
            Benchmark::Rc20(_) => "rc20",
            Benchmark::Reach(_) => "reach",
            Benchmark::Robustness(_) => "robustness",
            Benchmark::Runtime(_) => "runtime",
            Benchmark::Schedules(_) => "schedules",
            Benchmark::Verify(_) => "verify",
            Benchmark::Walls(_) => "walls",
        }
    }

    /// Whether it is a smoke test.
    fn is_quick(&self) -> bool {
        match self {
            Benchmark::Cluster(arguments) => arguments.quick,
            Benchmark::Explore(arguments) => arguments.quick,
            Benchmark::Runtime(arguments) => arguments.quick,
            Benchmark::Verify(arguments) => arguments.quick,
            _ => false,
        }
    }
}
