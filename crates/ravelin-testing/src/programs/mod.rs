//! Random small programs, to compare engines on, and a shrinker for those on which they differ.
//!
//! A seed and a [`Config`] determine a program. Programs are small: the reference explores a typical one in well under
//! twenty thousand states (PSO, four pending stores). They favour what matters for weak memory: few variables, few
//! values, many accesses. The whole vocabulary occurs by default, in proportions that keep faults from ending most runs
//! early. A program with loops has small domains, so that its values stay few.
//!
//! ```
//! use ravelin_testing::programs::{Config, Generator};
//!
//! let generator = Generator::new(Config::all());
//! let program = generator.program(17);
//! assert!(ravelin_program::validate(&program).is_empty());
//! assert_eq!(program, generator.program(17));
//! ```

mod body;
mod check;
mod edit;
mod goals;
mod parts;
mod shrink;

pub use check::{check_all, check_one};
pub use shrink::shrink;

use body::{Body, VariableChoice};
use ravelin_numbers::Random;
use ravelin_program::{
    Arithmetic, Domain, Escape, InitialValue, LocId, Order, Program, ProgramBuilder, RmwOp, ThreadBuilder, Unnamed,
    Value, Variable,
};
use std::ops::RangeInclusive;

/// Which programs to generate.
#[derive(Clone, Debug)]
pub struct Config {
    pub threads: RangeInclusive<usize>,
    /// Instructions of a thread, approximately: guards of branches are added.
    pub instructions: RangeInclusive<usize>,
    /// Instructions of all threads together; threads get shorter when there are many.
    pub total_instructions: usize,
    /// The most accesses and fences in the whole program.
    pub max_events: usize,
    pub variables: RangeInclusive<usize>,
    /// Some of the variables are arrays, with constant and computed indices.
    pub arrays: bool,
    /// `mem[e]`.
    pub computed_addresses: bool,
    /// Sometimes nothing is at addresses without a name, and there are gaps between variables.
    pub strict_memory: bool,
    /// `mem[e]` in such programs, whatever holds for the others.
    pub strict_addresses: bool,
    /// Variables and registers with small domains that fault, wrap or block.
    pub domains: bool,
    /// Cells that start with any value of their domain.
    pub any_initial: bool,
    /// Sometimes the operators wrap, in a type that need not hold every address; a few wrap in a type different from
    /// the others'.
    pub wrapping: bool,
    pub branches: bool,
    pub loops: bool,
    /// Some loads and stores are not atomic.
    pub non_atomic: bool,
    /// Steps that count: cells and operators have wide types that wrap, and there are additions to a cell, also as a load
    /// and a store and, with loops, as a compare-exchange that is repeated until it succeeds. There are no other loops.
    pub counters: bool,
    /// The orders of atomic accesses and fences.
    pub orders: Vec<Order>,
    /// The kinds of instructions and their weights.
    pub kinds: Vec<(InstructionKind, usize)>,
    /// What read-modify-writes compute.
    pub rmws: Vec<RmwOp>,
    pub goals: RangeInclusive<usize>,
}

/// A kind of instruction, or of a bracket of two instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionKind {
    Nop,
    Assign,
    Havoc,
    Assume,
    Assert,
    Load,
    Store,
    Rmw,
    /// Weak and strong ones.
    CompareExchange,
    Fence,
    Wait,
    BlockingCas,
    /// `lock … unlock`, sometimes only one of them.
    Lock,
    /// `bus_lock … bus_unlock`, rarely only one of them.
    BusLock,
    /// A locked block.
    Locked,
}

impl Config {
    /// Everything.
    pub fn all() -> Config {
        Config {
            threads: 1..=3,
            instructions: 2..=6,
            total_instructions: 13,
            max_events: usize::MAX,
            variables: 2..=3,
            arrays: true,
            computed_addresses: true,
            strict_memory: true,
            strict_addresses: false,
            domains: true,
            any_initial: true,
            wrapping: true,
            branches: true,
            loops: true,
            non_atomic: true,
            counters: false,
            orders: Order::ATOMIC.to_vec(),
            kinds: vec![
                (InstructionKind::Nop, 1),
                (InstructionKind::Assign, 4),
                (InstructionKind::Havoc, 2),
                (InstructionKind::Assume, 1),
                (InstructionKind::Assert, 2),
                (InstructionKind::Load, 20),
                (InstructionKind::Store, 20),
                (InstructionKind::Rmw, 5),
                (InstructionKind::CompareExchange, 5),
                (InstructionKind::Fence, 4),
                (InstructionKind::Wait, 1),
                (InstructionKind::BlockingCas, 1),
                (InstructionKind::Lock, 2),
                (InstructionKind::BusLock, 1),
                (InstructionKind::Locked, 3),
            ],
            rmws: RmwOp::ALL.to_vec(),
            goals: 0..=2,
        }
    }

    /// Everything except loops.
    pub fn loop_free() -> Config {
        Config { loops: false, ..Config::all() }
    }

    /// Everything, with counters.
    pub fn counters() -> Config {
        Config { counters: true, domains: false, ..Config::all() }
    }

    /// What execution graphs support: loop-free, at most seven accesses and fences, no bus lock, no locked blocks,
    /// computed addresses only in strict memory, and one initial value per cell.
    pub fn c11() -> Config {
        let mut config = Config {
            instructions: 2..=5,
            total_instructions: 11,
            max_events: 7,
            computed_addresses: false,
            strict_addresses: true,
            any_initial: false,
            ..Config::loop_free()
        };
        config.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::BusLock | InstructionKind::Locked));
        config
    }
}

/// Generates programs from seeds.
#[derive(Clone, Debug)]
pub struct Generator {
    pub config: Config,
}

impl Generator {
    pub fn new(config: Config) -> Generator {
        Generator { config }
    }

    /// The program of a seed. It is always valid.
    pub fn program(&self, seed: u64) -> Program {
        let config = &self.config;
        let mut random = Random::new(seed);
        let mut builder = ProgramBuilder::new(format!("seed {seed}"));
        let loops = config.loops && !config.counters && random.once_in(2);
        // Without small domains the values of a loop could grow for ever.
        let small = loops || (config.domains && random.once_in(3));
        // Drawn apart, so that the other programs do not depend on it.
        let mut apart = Random::new(!seed);
        let strict = config.strict_memory && apart.once_in(4);
        let places = self.variables(&mut random, &mut builder, small, loops, strict.then_some(&mut apart));
        if strict {
            builder.program.memory.unnamed = Unnamed::Nothing;
        } else if loops {
            builder.program.memory.unnamed = Unnamed::Cells(small_domain(&mut random));
        }
        let arithmetic = if config.counters && random.once_in(2) {
            Arithmetic::Wrapping(wide_domain(&mut random))
        } else if config.wrapping && random.once_in(6) {
            wrapping(&mut random)
        } else {
            Arithmetic::Checked
        };
        let threads = self.threads(&mut random);
        let kinds = self.kinds(&mut random);
        let mut events = config.max_events;
        for index in 0..threads {
            let most = (config.total_instructions / threads).max(1).min(*config.instructions.end());
            // Long threads are more interesting: the larger of two draws.
            let sizes = [0, 0].map(|_| random.within(*config.instructions.start()..=most));
            let size = sizes[0].max(sizes[1]);
            // Each thread gets its share, so that the last one also has accesses.
            let share = if config.max_events == usize::MAX { usize::MAX } else { events / (threads - index) };
            let mut thread = builder.thread(format!("t{index}"));
            self.registers(&mut random, &mut thread, small, loops);
            let mut body = Body {
                random: &mut random,
                config,
                kinds: &kinds,
                places: &places,
                computed: config.computed_addresses || (strict && config.strict_addresses),
                arithmetic,
                loops,
                events: share,
                loads: 0,
                ordinary: thread.thread.registers.len(),
                counters: Vec::new(),
                thread,
            };
            body.generate(size);
            events -= share - body.events;
            body.thread.finish();
        }
        let goals = random.within(config.goals.clone());
        for _ in 0..goals {
            goals::add(&mut random, &mut builder.program, &places);
        }
        debug_assert!(ravelin_program::validate(&builder.program).is_empty());
        builder.program
    }

    /// Two threads half of the time: most weak behaviour needs only two.
    fn threads(&self, random: &mut Random) -> usize {
        let range = self.config.threads.clone();
        let threads = if range.contains(&2) && random.once_in(2) { 2 } else { random.within(range) };
        threads.max(1)
    }

    /// The instructions of one program. Half of the programs have only loads, stores and possibly fences, since a weak
    /// behaviour needs several of these in a row.
    fn kinds(&self, random: &mut Random) -> Vec<(InstructionKind, usize)> {
        let mut kinds = self.config.kinds.clone();
        if random.once_in(2) {
            let fences = random.once_in(2);
            kinds.retain(|(kind, _)| match kind {
                InstructionKind::Load | InstructionKind::Store => true,
                InstructionKind::Fence => fences,
                _ => false,
            });
        }
        if kinds.is_empty() { self.config.kinds.clone() } else { kinds }
    }

    fn variables(
        &self,
        random: &mut Random,
        builder: &mut ProgramBuilder,
        small: bool,
        all: bool,
        mut gaps: Option<&mut Random>,
    ) -> Vec<VariableChoice> {
        let count = random.within(self.config.variables.clone()).max(1);
        let mut places = Vec::new();
        for index in 0..count {
            let name = ["x", "y", "z", "u", "v", "w"].get(index).map_or(format!("x{index}"), |name| (*name).to_owned());
            let mut variable =
                if self.config.arrays && random.once_in(6) { Variable::array(name, 2) } else { Variable::scalar(name) };
            if all || (small && random.once_in(2)) {
                variable = variable.with_domain(small_domain(random));
            } else if self.config.counters && random.once_in(2) {
                variable = variable.with_domain(wide_domain(random));
            }
            let domain = variable.domain;
            let any = self.config.any_initial && !self.config.counters && !domain.is_full() && random.once_in(6);
            let start = if random.once_in(4) { 1.min(domain.hi) } else { 0.max(domain.lo) };
            variable = variable.with_initial(if any { InitialValue::Any } else { InitialValue::Value(start) });
            let cells = variable.cells();
            let is_array = variable.len.is_some();
            if let Some(random) = &mut gaps {
                builder.gap(random.below(2) as u32);
            }
            let id = builder.variable(variable);
            places.push(VariableChoice { id, base: builder.base(id), cells, is_array });
        }
        places
    }

    fn registers(&self, random: &mut Random, thread: &mut ThreadBuilder<'_>, small: bool, all: bool) {
        for index in 0..random.within(2..=3) {
            let domain = if all || (small && random.once_in(2)) { small_domain(random) } else { Domain::FULL };
            let register = thread.register_with(format!("r{index}"), domain);
            thread.thread.registers[register.0].initial = 0.max(domain.lo);
        }
        debug_assert_eq!(thread.here(), LocId(0));
    }
}

/// Arithmetic modulo a small number.
fn wrapping(random: &mut Random) -> Arithmetic {
    let (lo, hi) = random.pick(&[(0, 1), (0, 2), (0, 3), (0, 3), (0, 6), (-2, 1), (-1, 2)]);
    Arithmetic::Wrapping(Domain::new(lo, hi, Escape::Wrap))
}

/// As in C: so many values that runs of small programs reach few of them.
fn wide_domain(random: &mut Random) -> Domain {
    let (lo, hi) = random.pick(&[(-128, 127), (0, 255), (-32_768, 32_767), (Value::MIN, Value::MAX)]);
    Domain::new(lo, hi, Escape::Wrap)
}

/// Few values, near 0. Faults are the rarest escape: they end a run.
fn small_domain(random: &mut Random) -> Domain {
    let (lo, hi) = random.pick(&[(0, 1), (0, 1), (0, 2), (0, 2), (0, 2), (0, 3), (-1, 1), (1, 2)]);
    let escape = random.pick(&[Escape::Wrap, Escape::Wrap, Escape::Wrap, Escape::Wrap, Escape::Block, Escape::Error]);
    Domain::new(lo, hi, escape)
}
