//! All attacks at once over one SC space, explored once.
//!
//! τ1 of every witness is an SC run, so the SC space is explored, and each stored state in which an attacked store can be
//! issued is the start of its attacks. From there two small searches follow, each with a set of states that is kept from
//! start to start, so nothing is looked at twice:
//!
//! - *delaying* (τ2), one set an attacker: the attacker runs on with its stores delayed. Whenever it loads from memory and
//!   that attack is open, the second search is asked; then the attacker goes on.
//! - *helping* (τ3), one set an attacker: helpers extend the happens-before path until it closes. The attacker has stopped,
//!   so neither its registers nor which of its instructions were attacked matter here: attacks share the answers. A search that
//!   ends without a cycle leaves its states behind as dead ends; one that finds a cycle settles its attack, and is forgotten.
//!
//! During τ2 helpers move only after the attacker's first access to memory. What they did before is independent of all that the
//! attacker did by then (issuing and computing touch no memory), so it can be done before the attacked store is issued, in τ1,
//! where the SC space has it. Asking more of helpers, namely that they are happens-before-after such an access, is also right, but
//! remembering the levels that this takes costs more states than it saves (4.7 times as many for Lamport with five threads).
//!
//! The SC space is explored in stages, each some times as large as the one before, so that violations that exist early are
//! found early, also in spaces without end.

use super::read_back::{AttackRun, AttackStep, Part, Unread};
use super::successors::{Successors, Trail, delaying};
use super::view::View;
use super::{Attacks, Target};
use crate::compile::Machine;
use crate::layout::{Growth, Outgrown};
use crate::run::Unreadable;
use ravelin_explore::{End, Limit, Limits, Options, Space, StateId, StateSet, Until, explore};
use ravelin_program::Program;
use ravelin_semantics::Model;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// States of the first stage, and how much larger each next one is. All stages but the last are done again by the next.
const FIRST_STAGE: u64 = 1_000;
const STAGE_FACTOR: u64 = 8;
/// Stages up to this size are explored by one worker, so that the first attack found does not depend on the number of them.
const SMALL_STAGE: u64 = 100_000;
/// Expansions between two looks at the limits.
const BETWEEN_LOOKS: u32 = 1024;

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Until an attack is feasible.
    First,
    /// Until every attack is settled.
    All,
}

/// What became of the attacks.
pub struct Hunt {
    /// In the order of the targets.
    pub fates: Vec<Fate>,
    /// The limit that left attacks open.
    pub limit: Option<Limit>,
    pub settled: Settled,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Feasible(Box<AttackRun>),
    Infeasible,
    /// Not settled: a limit was reached, or another attack was feasible and that was enough.
    Open,
}

/// What was explored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settled {
    pub sc_states: u64,
    pub delaying_states: u64,
    pub helping_states: u64,
    pub bytes: u64,
    pub elapsed: Duration,
    pub workers: usize,
}

/// Settles attacks under TSO or PSO.
pub fn hunt(
    program: &Program,
    model: Model,
    targets: &[Target],
    extent: Extent,
    options: &Options,
) -> Result<Hunt, Unread> {
    let clock = Clock::new(options);
    let mut hunt = Hunt { fates: vec![Fate::Open; targets.len()], limit: None, settled: Settled::default() };
    hunt.settled.workers = options.workers.max(1);
    let mut growth = Growth::default();
    loop {
        let machine = super::machine(program, model, &growth)?;
        match stages(&machine, model, targets, extent, &clock, &mut hunt) {
            Ok(()) => break,
            Err(Stop::Outgrown(outgrown)) => growth.grow(outgrown, &machine.program, &machine.layout),
            Err(Stop::Unreadable(unreadable)) => return Err(unreadable.into()),
            Err(Stop::Limit(_) | Stop::Halted) => break,
        }
    }
    hunt.settled.elapsed = clock.start.elapsed();
    Ok(hunt)
}

/// Explores larger and larger parts of the SC space until everything is settled or a limit is reached.
fn stages(
    machine: &Machine,
    model: Model,
    targets: &[Target],
    extent: Extent,
    clock: &Clock,
    hunt: &mut Hunt,
) -> Result<(), Stop> {
    machine.fused_initial_states(&mut |_| {})?;
    let mut hunters: Vec<Mutex<Hunter>> = Hunter::of(machine, model, targets, &hunt.fates);
    let mut size = FIRST_STAGE;
    loop {
        if hunters.is_empty() {
            return Ok(());
        }
        let space = clock.explore(machine, size);
        if let End::Interrupted(outgrown) = space.end {
            return Err(outgrown.into());
        }
        let used = Used { states: AtomicU64::new(0), bytes: AtomicU64::new(0) };
        used.states.fetch_add(space.statistics.states, Ordering::Relaxed);
        used.bytes.fetch_add(space.statistics.bytes, Ordering::Relaxed);
        for hunter in &mut hunters {
            hunter.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).begin_stage(&used);
        }
        let limit = search_together(&hunters, &space, extent, clock, &used)?;
        let mut first: Option<(usize, usize)> = None;
        hunt.settled.sc_states = space.statistics.states;
        (hunt.settled.delaying_states, hunt.settled.helping_states) = (0, 0);
        for (index, hunter) in hunters.iter_mut().enumerate() {
            let hunter = hunter.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            hunt.settled.delaying_states += hunter.delaying.len() as u64;
            hunt.settled.helping_states += hunter.helping.len() as u64;
            if let Some(found) = hunter.found_at {
                first = first.min(Some((found, index))).or(Some((found, index)));
            }
        }
        hunt.settled.bytes = hunt.settled.bytes.max(used.bytes.load(Ordering::Relaxed));
        for (index, hunter) in hunters.iter_mut().enumerate() {
            let hunter = hunter.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            // The others may have found something in passing, which depends on how the work was shared.
            if extent == Extent::All || first.is_some_and(|(_, first)| first == index) {
                for (target, run) in hunter.feasible.drain(..) {
                    hunt.fates[target] = Fate::Feasible(Box::new(run));
                }
            }
        }
        if extent == Extent::First && first.is_some() {
            return Ok(());
        }
        let exhausted = space.end == End::Exhausted;
        hunt.limit = limit.or(match space.end {
            End::Limit(reached) if clock.is_final(reached, size) => Some(clock.named(reached)),
            _ => None,
        });
        if exhausted && limit.is_none() {
            for fate in &mut hunt.fates {
                if *fate == Fate::Open {
                    *fate = Fate::Infeasible;
                }
            }
            return Ok(());
        }
        let all_settled = hunt.fates.iter().all(|fate| *fate != Fate::Open);
        if hunt.limit.is_some() || all_settled {
            hunt.limit = hunt.limit.filter(|_| !all_settled);
            return Ok(());
        }
        size = size.saturating_mul(STAGE_FACTOR);
    }
}

/// Offers every state of the space to every hunter, on as many threads as there are workers.
fn search_together(
    hunters: &[Mutex<Hunter>],
    space: &Space<Outgrown>,
    extent: Extent,
    clock: &Clock,
    used: &Used,
) -> Result<Option<Limit>, Stop> {
    let next = AtomicUsize::new(0);
    let halt = AtomicBool::new(false);
    let results: Mutex<Vec<Result<(), Stop>>> = Mutex::new(Vec::new());
    let work = || {
        while let Some(hunter) = hunters.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut hunter = hunter.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let result = hunter.search(space, extent, clock, used, &halt);
            if result.is_err() {
                halt.store(true, Ordering::Relaxed);
            }
            results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(result);
        }
    };
    let workers = clock.options.workers.clamp(1, hunters.len());
    if workers == 1 || space.statistics.states < FIRST_STAGE {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(work);
            }
        });
    }
    let mut limit = None;
    for result in results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        match result {
            Ok(()) | Err(Stop::Halted) => {}
            Err(Stop::Limit(reached)) => limit = Some(reached),
            Err(stop) => return Err(stop),
        }
    }
    Ok(limit)
}

/// Limits over all stages and searches together.
struct Clock<'a> {
    start: Instant,
    options: &'a Options<'a>,
}

/// States and bytes of all searches, as of the last look.
struct Used {
    states: AtomicU64,
    bytes: AtomicU64,
}

/// Why a search ended before its end.
enum Stop {
    Limit(Limit),
    Outgrown(Outgrown),
    /// Another search reached a limit.
    Halted,
    Unreadable(Unreadable),
}

impl From<Unreadable> for Stop {
    fn from(unreadable: Unreadable) -> Stop {
        Stop::Unreadable(unreadable)
    }
}

impl From<Outgrown> for Stop {
    fn from(outgrown: Outgrown) -> Stop {
        Stop::Outgrown(outgrown)
    }
}

impl<'a> Clock<'a> {
    fn new(options: &'a Options<'a>) -> Clock<'a> {
        Clock { start: Instant::now(), options }
    }

    fn explore(&self, machine: &Machine, size: u64) -> Space<Outgrown> {
        let limits = &self.options.limits;
        let limits = Limits {
            states: Some(limits.states.map_or(size, |states| states.min(size))),
            memory: limits.memory,
            time: limits.time.map(|time| time.saturating_sub(self.start.elapsed())),
        };
        let workers = if size <= SMALL_STAGE { 1 } else { self.options.workers };
        explore(machine, &Options { limits, workers, until: Until::Exhausted, ..*self.options })
    }

    /// Whether a limit is one of the user's, and not the size of the stage.
    fn is_final(&self, limit: Limit, size: u64) -> bool {
        match limit {
            Limit::States(_) => {
                self.options.limits.states.is_some_and(|states| states <= size) || size >= u64::from(u32::MAX)
            }
            _ => true,
        }
    }

    /// The limit as the user gave it.
    fn named(&self, limit: Limit) -> Limit {
        match (limit, self.options.limits.time) {
            (Limit::Time(_), Some(time)) => Limit::Time(time),
            _ => limit,
        }
    }

    fn look(&self, used: &Used) -> Result<(), Stop> {
        let limits = &self.options.limits;
        if self.options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Stop::Limit(Limit::Stopped));
        }
        if let Some(time) = limits.time.filter(|&time| self.start.elapsed() > time) {
            return Err(Stop::Limit(Limit::Time(time)));
        }
        if let Some(states) = limits.states.filter(|&states| used.states.load(Ordering::Relaxed) > states) {
            return Err(Stop::Limit(Limit::States(states)));
        }
        let bytes = used.bytes.load(Ordering::Relaxed);
        match limits.memory.filter(|&memory| bytes > memory) {
            Some(memory) => Err(Stop::Limit(Limit::Memory(memory))),
            None => Ok(()),
        }
    }
}

/// The attacks of one thread.
struct Hunter<'a> {
    attacks: Attacks<'a>,
    thread: usize,
    plans: Vec<Plan>,
    /// By location: the attacker's accesses that can be reached from there before anything ends the attack.
    ahead: Vec<Vec<bool>>,
    /// τ2, within the current stage.
    delaying: StateSet,
    /// The first states of τ2, and the SC state that each comes from.
    roots: Vec<(usize, StateId)>,
    /// τ3: dead ends.
    helping: StateSet,
    /// Target and run, as they were found.
    feasible: Vec<(usize, AttackRun)>,
    /// Bytes of these runs.
    run_bytes: usize,
    /// The number of the SC state at which the first one was found.
    found_at: Option<usize>,
    until_look: u32,
    /// What was reported as used at the last look.
    reported: (u64, u64),
    out: Successors,
    second: Successors,
}

/// A store and the open attacks with it.
struct Plan {
    store: usize,
    /// By transition: the number of the target, while it is open.
    open: Vec<Option<usize>>,
}

impl Plan {
    fn is_open(&self) -> bool {
        self.open.iter().any(Option::is_some)
    }

    /// Some open access may come.
    fn has_hope(&self, ahead: &[bool]) -> bool {
        self.open.iter().zip(ahead).any(|(open, ahead)| open.is_some() && *ahead)
    }
}

impl<'a> Hunter<'a> {
    /// One for each thread that has open attacks.
    fn of(machine: &'a Machine, model: Model, targets: &[Target], fates: &[Fate]) -> Vec<Mutex<Hunter<'a>>> {
        let threads = 0..machine.threads.len();
        let hunters = threads.filter_map(|thread| {
            let mut plans: Vec<Plan> = Vec::new();
            let open = targets.iter().zip(fates).enumerate();
            for (number, (target, _)) in
                open.filter(|(_, (target, fate))| target.thread == thread && **fate == Fate::Open)
            {
                let plan = match plans.iter().position(|plan| plan.store == target.store) {
                    Some(plan) => plan,
                    None => {
                        let steps = machine.threads[thread].steps.len();
                        plans.push(Plan { store: target.store, open: vec![None; steps] });
                        plans.len() - 1
                    }
                };
                plans[plan].open[target.load] = Some(number);
            }
            (!plans.is_empty()).then(|| Mutex::new(Hunter::new(machine, model, thread, plans)))
        });
        hunters.collect()
    }

    fn new(machine: &'a Machine, model: Model, thread: usize, plans: Vec<Plan>) -> Hunter<'a> {
        let view = View::new(machine, &[thread], plans.len(), model == Model::Pso);
        let words = view.words;
        Hunter {
            attacks: Attacks { machine, view },
            thread,
            plans,
            ahead: accesses_ahead(machine, thread),
            delaying: StateSet::new(words),
            roots: Vec::new(),
            helping: StateSet::new(words),
            feasible: Vec::new(),
            run_bytes: 0,
            found_at: None,
            until_look: BETWEEN_LOOKS,
            reported: (0, 0),
            out: Successors::new(words),
            second: Successors::new(words),
        }
    }

    /// Offers every SC state.
    fn search(
        &mut self,
        space: &Space<Outgrown>,
        extent: Extent,
        clock: &Clock,
        used: &Used,
        halt: &AtomicBool,
    ) -> Result<(), Stop> {
        for (number, id) in space.ids().enumerate() {
            if !self.plans.iter().any(Plan::is_open) {
                return Ok(());
            }
            self.offer(id, &Round { space, clock, used, halt, extent, number })?;
            if self.is_done(extent) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// One feasible attack was enough.
    fn is_done(&self, extent: Extent) -> bool {
        extent == Extent::First && self.found_at.is_some()
    }

    /// Tries every open store that can be issued in an SC state.
    fn offer(&mut self, id: StateId, round: &Round) -> Result<(), Stop> {
        self.look(round)?;
        let state = round.space.state(id);
        for number in 0..self.plans.len() {
            let store = self.plans[number].store;
            let enabled = self.attacks.steps(self.thread, state).any(|(index, _)| index == store);
            if !enabled || !self.plans[number].is_open() {
                continue;
            }
            let first = self.delaying.len();
            let mut out = std::mem::replace(&mut self.out, Successors::new(0));
            let started = self.starts(number, state, &mut out);
            for start in out.states() {
                if self.remember(start, StateSet::ROOT) {
                    self.roots.push((self.delaying.len() - 1, id));
                }
            }
            self.out = out;
            started?;
            self.search_delaying(first, round)?;
            if self.is_done(round.extent) {
                break;
            }
        }
        Ok(())
    }

    /// The states in which a store is delayed, from an SC state in which it can be issued.
    fn starts(&self, number: usize, state: &[u64], out: &mut Successors) -> Result<(), Outgrown> {
        out.clear();
        let store = self.plans[number].store;
        let step = &self.attacks.machine.threads[self.thread].steps[store];
        if self.attacks.start(self.thread, step, number, state, out)? {
            self.attacks.follow(self.thread, delaying(self.thread, store, 0, super::attacker::Pace::Delayed), out)?;
        }
        Ok(())
    }

    /// Keeps a state of τ2, if an open access may come; whether it is new.
    fn remember(&mut self, state: &[u64], parent: u32) -> bool {
        let plan = &self.plans[self.attacks.view.store.get(state) as usize];
        let location = self.attacks.machine.layout.locations[self.thread].get(state) as usize;
        plan.has_hope(&self.ahead[location]) && self.delaying.insert(state, parent)
    }

    /// τ2, breadth first, from the states that are new.
    fn search_delaying(&mut self, first: usize, round: &Round) -> Result<(), Stop> {
        let mut index = first;
        while index < self.delaying.len() && !self.is_done(round.extent) {
            self.look(round)?;
            let state = self.delaying.state(index).to_vec();
            let mut out = std::mem::replace(&mut self.out, Successors::new(0));
            let expanded = self.expand_delaying(index, &state, &mut out, round);
            for next in out.states() {
                self.remember(next, index as u32);
            }
            self.out = out;
            expanded?;
            index += 1;
        }
        Ok(())
    }

    fn expand_delaying(
        &mut self,
        index: usize,
        state: &[u64],
        out: &mut Successors,
        round: &Round,
    ) -> Result<(), Stop> {
        out.clear();
        let number = self.attacks.view.store.get(state) as usize;
        let machine = self.attacks.machine;
        let location = machine.layout.locations[self.thread].get(state) as usize;
        let code = &machine.threads[self.thread];
        for (step_index, step) in (code.starts[location]..code.starts[location + 1]).map(|i| (i, &code.steps[i])) {
            for choice in machine.choices(&step.op) {
                for &pace in self.attacks.paces(step) {
                    if !self.attacks.delay(self.thread, step, choice, pace, state, out)? {
                        continue;
                    }
                    let trail = delaying(self.thread, step_index, choice, pace);
                    if !out.log.is_empty()
                        && let Some(target) = self.plans[number].open[step_index]
                        && let Some(path) = self.ask_helpers(out, round)?
                    {
                        self.found_at.get_or_insert(round.number);
                        let run = self.read_back(index, trail, &path, round.space)?;
                        self.run_bytes += run.steps.len() * size_of::<AttackStep>();
                        self.feasible.push((target, run));
                        self.plans[number].open[step_index] = None;
                        if self.is_done(round.extent) {
                            return Ok(());
                        }
                        // A run is long beside a state.
                        self.until_look = self.until_look.min(2);
                    }
                    self.attacks.note_access(self.thread, out);
                    self.attacks.follow(self.thread, trail, out)?;
                }
            }
        }
        self.run_helpers(state, out)?;
        Ok(())
    }

    /// During τ2 helpers run freely, once there is something that they could not have done before.
    fn run_helpers(&self, state: &[u64], out: &mut Successors) -> Result<(), Outgrown> {
        if self.attacks.helpers_may_move(self.thread, state) {
            for helper in (0..self.attacks.machine.threads.len()).filter(|&helper| helper != self.thread) {
                self.attacks.run(helper, state, out)?;
            }
        }
        Ok(())
    }

    /// τ3: can the helpers close the cycle, after the attacker did what made `next`? The states of the path, if so.
    fn ask_helpers(&mut self, from: &Successors, round: &Round) -> Result<Option<Vec<Vec<u64>>>, Stop> {
        let mut out = std::mem::replace(&mut self.second, Successors::new(0));
        let result = self.search_helping(from, &mut out, round);
        self.second = out;
        result
    }

    fn search_helping(
        &mut self,
        from: &Successors,
        out: &mut Successors,
        round: &Round,
    ) -> Result<Option<Vec<Vec<u64>>>, Stop> {
        out.begin(&from.next);
        out.log.copy_from(&from.log);
        self.attacks.stop_attacker(self.thread, out);
        let root = out.next.clone();
        // Most of the time nobody can join at once, and there is nothing to remember.
        out.clear();
        self.expand_helping(&root, out)?;
        if out.is_empty() {
            return Ok(None);
        }
        let first = self.helping.len();
        if !self.helping.insert(&root, StateSet::ROOT) {
            return Ok(None);
        }
        let mut index = first;
        while index < self.helping.len() {
            self.look(round)?;
            let state = self.helping.state(index).to_vec();
            out.clear();
            self.expand_helping(&state, out)?;
            for next in out.states() {
                if self.attacks.succeeds(next) {
                    let path = self.helping.path(index).into_iter();
                    let mut path: Vec<Vec<u64>> = path.map(|index| self.helping.state(index).to_vec()).collect();
                    path.push(next.to_vec());
                    // What was seen on the way may lead to the cycle too: it is no dead end.
                    self.helping.truncate(first);
                    return Ok(Some(path));
                }
                self.helping.insert(next, index as u32);
            }
            index += 1;
        }
        Ok(None)
    }

    fn expand_helping(&self, state: &[u64], out: &mut Successors) -> Result<(), Outgrown> {
        for helper in (0..self.attacks.machine.threads.len()).filter(|&helper| helper != self.thread) {
            self.attacks.help(helper, state, out)?;
        }
        Ok(())
    }

    fn look(&mut self, round: &Round) -> Result<(), Stop> {
        self.until_look = self.until_look.saturating_sub(1);
        if self.until_look > 0 {
            return Ok(());
        }
        self.until_look = BETWEEN_LOOKS;
        if round.halt.load(Ordering::Relaxed) {
            return Err(Stop::Halted);
        }
        self.report_to(round.used);
        round.clock.look(round.used)
    }

    /// Starts of the stage before were states of its space; the new one has them again.
    fn begin_stage(&mut self, used: &Used) {
        self.delaying = StateSet::new(self.attacks.view.words);
        self.roots.clear();
        self.reported = (0, 0);
        self.report_to(used);
    }

    /// Adds to the account what came since the last look.
    fn report_to(&mut self, used: &Used) {
        let states = (self.delaying.len() + self.helping.len()) as u64;
        let bytes = (self.delaying.bytes() + self.helping.bytes() + self.run_bytes) as u64;
        used.states.fetch_add(states.wrapping_sub(self.reported.0), Ordering::Relaxed);
        used.bytes.fetch_add(bytes.wrapping_sub(self.reported.1), Ordering::Relaxed);
        self.reported = (states, bytes);
    }

    /// The computation: through the SC space to the start, through τ2 to state `index`, the load, and along the path.
    fn read_back(
        &self,
        index: usize,
        load: Trail,
        path: &[Vec<u64>],
        space: &Space<Outgrown>,
    ) -> Result<AttackRun, Stop> {
        let delaying = self.delaying.path(index);
        let root = self.delaying.state(delaying[0]);
        let unread = |step: usize| Unreadable { step };
        let mut steps = Vec::new();
        let mut push = |part: Part, trail: &[Trail]| {
            steps.extend(trail.iter().map(|&Trail { action, delayed }| AttackStep { part, action, delayed }));
        };
        let mut out = Successors::recording(self.attacks.view.words);
        let found = self.roots.binary_search_by_key(&delaying[0], |(index, _)| *index).map_err(|_| unread(0))?;
        let (_, id) = self.roots[found];
        let (run, _) = self.attacks.machine.read_back(&space.path(id))?;
        push(Part::Prefix, &run.actions.iter().map(|&action| Trail { action, delayed: false }).collect::<Vec<_>>());
        self.starts(self.attacks.view.store.get(root) as usize, space.state(id), &mut out)?;
        let trail = out.trail_to(root).ok_or(unread(run.actions.len()))?;
        push(Part::Store, &trail[..1]);
        push(Part::Delaying, &trail[1..]);
        for (step, pair) in delaying.windows(2).enumerate() {
            let (from, to) = (self.delaying.state(pair[0]), self.delaying.state(pair[1]));
            self.step_delaying(from, &mut out)?;
            push(Part::Delaying, &out.trail_to(to).ok_or(unread(step))?);
        }
        push(Part::Load, &[load]);
        for (step, pair) in path.windows(2).enumerate() {
            out.clear();
            self.expand_helping(&pair[0], &mut out)?;
            push(Part::Path, &out.trail_to(&pair[1]).ok_or(unread(step))?);
        }
        Ok(AttackRun { start: run.start, steps })
    }

    /// All steps of τ2, without asking whether one is the attacked load.
    fn step_delaying(&self, from: &[u64], out: &mut Successors) -> Result<(), Outgrown> {
        out.clear();
        for (index, step) in self.attacks.steps(self.thread, from) {
            for choice in self.attacks.machine.choices(&step.op) {
                for &pace in self.attacks.paces(step) {
                    if self.attacks.delay(self.thread, step, choice, pace, from, out)? {
                        self.attacks.note_access(self.thread, out);
                        self.attacks.follow(self.thread, delaying(self.thread, index, choice, pace), out)?;
                    }
                }
            }
        }
        self.run_helpers(from, out)
    }
}

/// What a search needs to know of its surroundings.
struct Round<'a> {
    space: &'a Space<Outgrown>,
    clock: &'a Clock<'a>,
    used: &'a Used,
    halt: &'a AtomicBool,
    extent: Extent,
    /// The number of the SC state that is being offered.
    number: usize,
}

/// By location: which transitions can be reached before a fence or a locked instruction.
pub(super) fn accesses_ahead(machine: &Machine, thread: usize) -> Vec<Vec<bool>> {
    let code = &machine.threads[thread];
    let locations = code.starts.len() - 1;
    let mut ahead = vec![vec![false; code.steps.len()]; locations];
    loop {
        let mut changed = false;
        for location in (0..locations).rev() {
            for index in code.starts[location]..code.starts[location + 1] {
                let step = &code.steps[index];
                if step.op.waits_for_buffer() {
                    continue;
                }
                let mut then = ahead[step.to as usize].clone();
                then[index] = true;
                for (known, now) in ahead[location].iter_mut().zip(then) {
                    changed |= now && !*known;
                    *known |= now;
                }
            }
        }
        if !changed {
            return ahead;
        }
    }
}
