//! Robustness by *location clocks*, an independent way to the verdicts of the search: *Dynamic Robustness Verification against Weak
//! Memory*, theorem 3.1 with figure 4, section 4.1 for RMWs and section 4.2 for RC20.
//!
//! The search keeps, for each thread, the set of locations whose latest write is known (theorem 2.2). A location clock keeps a
//! timestamp for each location instead: that of the latest write that is known. So a write changes nothing for those who do not
//! take part in it, and a run may show a violation that it is past already. Here all SC runs of a program are followed with
//! their clocks. Nothing is shared with the search: steps are the reference's. Section 4.2 only names the three views of a thread;
//! each changes as release sequences and fences make happens-before grow.
//!
//! Clocks grow with a run, so programs are loop-free. Left out are seq_cst, strong compare-exchange and all that waits for a value.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use ravelin_analysis::Verdict::{self, Holds, Violated};
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_frontend::{Language, parse};
use ravelin_program::{Address, Expr, Instruction, Model, Order, Program, Source, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{Reference, State};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, robust};
use ravelin_testing::programs::{Config, Generator, InstructionKind, shrink};
use std::collections::{BTreeSet, HashSet};

/// The position of a write among those to its location: how many there are up to it, and how many of these are no RMWs. The
/// initial one is not counted.
/// The second is the timestamp of section 4.1. A write cannot be placed between an RMW and what that read, so only a write that is
/// no RMW can be one that a thread should have respected and did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Stamp {
    all: u32,
    no_rmw: u32,
}

impl Stamp {
    fn join(&mut self, other: Stamp) {
        self.all = self.all.max(other.all);
        self.no_rmw = self.no_rmw.max(other.no_rmw);
    }
}

/// A location clock: a timestamp for each location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Clock(Vec<Stamp>);

impl Clock {
    fn join(&mut self, other: &Clock) {
        for (stamp, &other) in self.0.iter_mut().zip(&other.0) {
            stamp.join(other);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ThreadClocks {
    /// `T_r`: what a relaxed write passes on.
    release: Clock,
    /// `T_c`, which is `T_HB` of figure 4: what is known.
    current: Clock,
    /// `T_a`: what an acquire fence would make known.
    acquire: Clock,
    /// `T_SC`.
    sc: Clock,
}

/// `W_HB`, `W_SC` and `M_SC`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LocationClocks {
    write_hb: Clock,
    write_sc: Clock,
    access_sc: Clock,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Clocks {
    threads: Vec<ThreadClocks>,
    locations: Vec<LocationClocks>,
}

/// What a step is to the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Read { location: usize, acquire: bool },
    Write { location: usize, release: bool },
    Update { location: usize, acquire: bool, release: bool },
    Fence { acquire: bool, release: bool },
}

/// What the clocks say when a thread is about to access a location, and the most they said in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Flag {
    Nothing,
    /// The condition of theorem 3.1 alone: another run has a witness.
    Predicted,
    /// A witness of theorem 2.2: what is known SC-before and not by happens-before is the *latest* write.
    Witness,
}

impl Clocks {
    fn new(threads: usize, locations: usize) -> Clocks {
        let initial = || Clock(vec![Stamp::default(); locations]);
        let thread = ThreadClocks { release: initial(), current: initial(), acquire: initial(), sc: initial() };
        let location = LocationClocks { write_hb: initial(), write_sc: initial(), access_sc: initial() };
        Clocks { threads: vec![thread; threads], locations: vec![location; locations] }
    }

    fn latest(&self, location: usize) -> Stamp {
        self.locations[location].write_hb.0[location]
    }

    /// Theorem 3.1: `T_HB(x) < T_SC(x)`. Writes and RMWs compare the timestamps that do not count RMWs.
    fn flag(&self, thread: usize, event: Event) -> Flag {
        let (location, writes) = match event {
            Event::Fence { .. } => return Flag::Nothing,
            Event::Read { location, .. } => (location, false),
            Event::Write { location, .. } | Event::Update { location, .. } => (location, true),
        };
        let time = |stamp: Stamp| if writes { stamp.no_rmw } else { stamp.all };
        let clocks = &self.threads[thread];
        let (hb, sc) = (time(clocks.current.0[location]), time(clocks.sc.0[location]));
        match hb < sc {
            false => Flag::Nothing,
            true if sc < time(self.latest(location)) => Flag::Predicted,
            true => Flag::Witness,
        }
    }

    fn happen(&mut self, thread: usize, event: Event) {
        match event {
            Event::Read { location, acquire } => self.read(thread, location, acquire),
            Event::Write { location, release } => {
                let last = self.latest(location);
                self.write(thread, location, release, Stamp { all: last.all + 1, no_rmw: last.no_rmw + 1 });
            }
            // It leaves what it found beside its own: release sequences are continued by RMWs.
            Event::Update { location, acquire, release } => {
                let found = self.locations[location].write_hb.clone();
                let last = self.latest(location);
                self.read(thread, location, acquire);
                self.write(thread, location, release, Stamp { all: last.all + 1, ..last });
                self.locations[location].write_hb.join(&found);
            }
            Event::Fence { acquire, release } => {
                let clocks = &mut self.threads[thread];
                if acquire {
                    clocks.current = clocks.acquire.clone();
                }
                if release {
                    clocks.release = clocks.current.clone();
                }
            }
        }
    }

    /// Row "Read" of figure 4. A relaxed read makes only the write known that it reads from: no older one can be read any more.
    fn read(&mut self, thread: usize, location: usize, acquire: bool) {
        let latest = self.latest(location);
        let (reader, cell) = (&mut self.threads[thread], &mut self.locations[location]);
        reader.acquire.join(&cell.write_hb);
        reader.current.0[location].join(latest);
        if acquire {
            reader.current.join(&cell.write_hb);
        }
        reader.sc.join(&cell.write_sc);
        cell.access_sc.join(&reader.sc);
    }

    /// Row "Write" of figure 4.
    fn write(&mut self, thread: usize, location: usize, release: bool, stamp: Stamp) {
        let (writer, cell) = (&mut self.threads[thread], &mut self.locations[location]);
        writer.current.0[location].join(stamp);
        writer.acquire.0[location].join(stamp);
        cell.write_hb = if release { writer.current.clone() } else { writer.release.clone() };
        cell.write_hb.0[location].join(stamp);
        writer.sc.join(&cell.access_sc);
        writer.sc.0[location].join(stamp);
        cell.write_sc = writer.sc.clone();
        cell.access_sc.join(&writer.sc);
    }
}

/// A program whose runs are followed.
struct Runs {
    reference: Reference,
    model: Model,
    /// The address of each location.
    addresses: Vec<Value>,
}

impl Runs {
    fn new(program: &Program, model: Model) -> Runs {
        let reference = Reference::as_written(program).expect("a valid program");
        Runs { reference, model, addresses: program.memory.named_addresses().collect() }
    }

    /// The most that is flagged in a run, for all complete runs. One that has a witness already is not followed further.
    fn flags(&self) -> BTreeSet<Flag> {
        let clocks = Clocks::new(self.reference.program().threads.len(), self.addresses.len());
        let starts = self.reference.initial_states().expect("few initial states");
        let mut waiting: Vec<(State, Clocks, Flag)> =
            starts.into_iter().map(|state| (state, clocks.clone(), Flag::Nothing)).collect();
        let mut seen: HashSet<(State, Clocks, Flag)> = HashSet::new();
        let mut flags = BTreeSet::new();
        while let Some((state, clocks, flag)) = waiting.pop() {
            let steps = self.reference.steps(&state).next;
            if steps.is_empty() || flag == Flag::Witness {
                flags.insert(flag);
                continue;
            }
            for (action, next) in steps {
                let (mut clocks, mut flag) = (clocks.clone(), flag);
                if let Some(event) = self.event(&state, action) {
                    let thread = action.thread().0;
                    flag = flag.max(clocks.flag(thread, event));
                    clocks.happen(thread, event);
                }
                let next = (next, clocks, flag);
                if seen.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
        flags
    }

    /// What a step that can be taken in a state is.
    fn event(&self, state: &State, action: Action) -> Option<Event> {
        let Action::Step { thread, transition, choice } = action else { return None };
        let program = self.reference.program();
        let registers = &state.threads[thread.0].registers;
        let eval = |expr: &Expr| expr.eval(&mut |register| registers[register.0]).ok();
        let location = |address: &Address| {
            let address = eval(&address.expr)?;
            self.addresses.iter().position(|&other| other == address)
        };
        let strong = self.model == Model::Ra;
        let (acquires, releases) =
            (|order: Order| strong || order.is_acquire(), |order: Order| strong || order.is_release());
        let update = |address: &Address, order: Order| {
            Some(Event::Update { location: location(address)?, acquire: acquires(order), release: releases(order) })
        };
        let read = |address: &Address, order: Order| {
            Some(Event::Read { location: location(address)?, acquire: acquires(order) })
        };
        match &program.threads[thread.0].transitions[transition.0].instruction {
            Instruction::Load { address, order, .. } => read(address, *order),
            Instruction::Store { address, order, .. } => {
                Some(Event::Write { location: location(address)?, release: releases(*order) })
            }
            Instruction::Rmw { address, order, .. } => update(address, *order),
            Instruction::CompareExchange { address, expected, success, failure, .. } => {
                let found = state.cell(self.addresses[location(address)?]);
                let succeeds = choice == 0 && eval(expected) == Some(found);
                if succeeds { update(address, *success) } else { read(address, *failure) }
            }
            Instruction::Fence(order) => {
                Some(Event::Fence { acquire: order.is_acquire(), release: order.is_release() })
            }
            _ => None,
        }
    }
}

/// The paper has clock rules for all that the program does.
fn has_clocks(program: &Program) -> bool {
    let fits = |order: &Order| !matches!(order, Order::SeqCst | Order::NonAtomic);
    let mut transitions = program.threads.iter().flat_map(|thread| &thread.transitions);
    transitions.all(|transition| match &transition.instruction {
        Instruction::Load { order, .. } | Instruction::Store { order, .. } => fits(order),
        Instruction::Rmw { order, .. } | Instruction::Fence(order) => fits(order),
        Instruction::CompareExchange { success, failure, weak, .. } => *weak && fits(success) && fits(failure),
        other => other.is_local(),
    })
}

/// What is wrong, or else the verdict.
fn agreed(program: &Program, model: Model) -> Result<Verdict, String> {
    let flags = Runs::new(program, model).flags();
    let by_clocks = if flags.contains(&Flag::Witness) { Violated } else { Holds };
    // The proof of theorem 3.1: what one run predicts is a witness of another.
    if by_clocks == Holds && flags.contains(&Flag::Predicted) {
        return Err("predicted, but no run has a witness".to_owned());
    }
    match c11_robustness(program, &C11Question::new(model)) {
        Ok(answer) if answer.verdict == by_clocks => Ok(by_clocks),
        other => Err(format!("{by_clocks:?} by clocks, by the search: {:?}", other.map(|answer| answer.verdict))),
    }
}

/// Compares all programs of some seeds, of which a fair share must be violated and a fair share not.
fn compare(model: Model, config: Config) {
    let seeds = ravelin_testing::seeds(300);
    let programs = seeds.end - seeds.start;
    let generator = Generator::new(config);
    let mut violated = 0;
    for seed in seeds {
        let mut program = generator.program(seed);
        for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
            if let Instruction::CompareExchange { weak, .. } = &mut transition.instruction {
                *weak = true;
            }
        }
        assert!(has_clocks(&program), "seed {seed}: outside what is compared");
        match agreed(&program, model) {
            Ok(verdict) => violated += u64::from(verdict == Violated),
            Err(_) => {
                let small = shrink(&program, &mut |program| has_clocks(program) && agreed(program, model).is_err());
                let (what, text) = (agreed(&small, model), ravelin_frontend::print::rav(&small));
                let reading = if model == Model::Rc20 { OrderReading::Written } else { OrderReading::ReleaseAcquire };
                let by_graphs =
                    robust(&small, reading, GraphLimits::default()).map(|robustness| robustness.is_robust());
                panic!("seed {seed}: {what:?}; robust by enumeration of graphs: {by_graphs:?}\n{text}");
            }
        }
    }
    let fair = programs / 10..=programs - programs / 10;
    assert!(programs < 100 || fair.contains(&violated), "{violated} of {programs} are violated: too few of a kind");
}

/// Loop-free programs of these instructions, each as often as the others, and a little of what is local to a thread.
fn config(accesses: &[InstructionKind]) -> Config {
    let local = [InstructionKind::Assign, InstructionKind::Havoc, InstructionKind::Assume, InstructionKind::Assert];
    let kinds = accesses.iter().map(|&kind| (kind, 10)).chain(local.map(|kind| (kind, 1)));
    Config {
        threads: 2..=3,
        instructions: 2..=6,
        total_instructions: 16,
        max_events: 12,
        domains: false,
        non_atomic: false,
        orders: vec![Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel],
        kinds: kinds.collect(),
        ..Config::c11()
    }
}

#[test]
fn clocks_of_reads_and_writes_say_what_the_sets_say() {
    compare(Model::Ra, config(&[InstructionKind::Load, InstructionKind::Store]));
}

#[test]
fn clocks_that_do_not_count_rmws_say_what_the_sets_say() {
    compare(
        Model::Ra,
        config(&[
            InstructionKind::Load,
            InstructionKind::Store,
            InstructionKind::Rmw,
            InstructionKind::CompareExchange,
        ]),
    );
}

#[test]
fn clocks_of_rc20_say_what_the_sets_say() {
    compare(
        Model::Rc20,
        config(&[
            InstructionKind::Load,
            InstructionKind::Store,
            InstructionKind::Rmw,
            InstructionKind::CompareExchange,
            InstructionKind::Fence,
        ]),
    );
}

/// Two threads, and the most that is flagged in each run against release/acquire.
const EXAMPLES: [(&str, &str, &[Flag]); 5] = [
    // Figure 1. Nothing shows where both threads write before either reads.
    ("x.store(1); let a = y.load();", "y.store(1); let b = x.load();", &[Flag::Nothing, Flag::Witness]),
    ("x.store(1); y.store(1);", "let a = y.load(); let b = x.load();", &[Flag::Nothing]),
    // Example 3.1: where the sets have forgotten the first write of a thread that has ended, the clocks have not.
    (
        "x.store(1); let a = y.load(); x.store(2);",
        "y.store(1); let b = x.load(); y.store(2);",
        &[Flag::Nothing, Flag::Predicted, Flag::Witness],
    ),
    // Section 4.1: because of an RMW a read may be stale, but not a write.
    ("x.fetch_add(1); let a = y.load();", "y.store(1); let b = x.load();", &[Flag::Nothing, Flag::Witness]),
    ("x.fetch_add(1); let a = y.load();", "y.store(1); x.store(2);", &[Flag::Nothing]),
];

#[test]
fn clocks_flag_in_runs_of_examples_what_the_paper_says() {
    for (p, q, expected) in EXAMPLES {
        let program = program(&format!("static x; static y; thread p {{ {p} }} thread q {{ {q} }}"));
        let flags = Runs::new(&program, Model::Ra).flags();
        assert_eq!(flags.into_iter().collect::<Vec<_>>(), expected, "{p} || {q}");
        assert!(agreed(&program, Model::Ra).is_ok(), "{p} || {q}");
    }
}

/// A message is passed on by an RMW, with all orders and fences: random programs seldom depend on release sequences.
#[test]
fn clocks_of_rc20_follow_release_sequences_and_fences() {
    let fences = ["", "fence(acquire);", "fence(release);", "fence(acq_rel);"];
    let mut robust = 0;
    for number in 0..256 {
        let (before, after, passed) =
            (fences[number % 4], fences[number / 4 % 4], Order::ATOMIC[number / 16 % 4].name());
        let (store, load) = (["relaxed", "release"][number / 64 % 2], ["relaxed", "acquire"][number / 128]);
        let text = format!(
            "static x; static y; thread p {{ x.store(1); {before} y.store(1, {store}); }}
             thread q {{ y.fetch_add(1, {passed}); }} thread r {{ let a = y.load({load}); {after} let b = x.load(); }}"
        );
        let verdict = agreed(&program(&text), Model::Rc20).unwrap_or_else(|what| panic!("{what}\n{text}"));
        robust += usize::from(verdict == Holds);
    }
    // Of the 8 ways to store 6 release, of the 8 ways to load 6 acquire, and each of the 4 orders of the RMW will do.
    assert_eq!(robust, 6 * 6 * 4);
}

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("example.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}
