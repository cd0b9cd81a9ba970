//! All attacks at once over one SC space, explored once.
//!
//! τ1 of every witness is an SC run. The SC space is therefore explored, and each stored state in which an attacked
//! store can be issued is the start of its attacks. Two small searches follow from there. Each has a set of states that
//! is kept from start to start, so no state is visited twice:
//!
//! - *delaying* (τ2), one set per attacker: the attacker continues with its stores delayed. Whenever it loads from
//!   memory and that attack is open, the second search runs; then the attacker continues.
//! - *helping* (τ3), one set per attacker: helpers extend the happens-before path until it closes. The attacker has
//!   stopped, so neither its registers nor the attacked instructions matter here: attacks share the answers. A search
//!   that ends without a cycle keeps its states as dead ends. A search that finds a cycle settles its attack, and its
//!   states are forgotten.
//!
//! During τ2 helpers move only after the attacker's first access to memory. What they did before is independent of all
//! that the attacker did by then (issuing and computing touch no memory). It can therefore be done before the attacked
//! store is issued, in τ1, where the SC space has it. A stronger requirement is also correct, namely that helpers are
//! happens-before-after such an access. But remembering the necessary levels costs more states than it saves (4.7 times
//! as many for Lamport with five threads).
//!
//! The SC space is explored in stages, each several times as large as the previous one. Violations that exist early are
//! therefore found early, also in infinite spaces. The two small searches have no stages: from one start a thread that
//! reads its own stores and counts may delay stores for ever. The first stage can therefore be limited (`first_stage`),
//! after which a caller uses another engine.

use super::Attack;
use super::clock::{HuntClock, HuntStop, HuntUsage};
use super::hunter::Hunter;
use super::read_back::{AttackRun, ReadBackError};
use crate::compile::Machine;
use crate::layout::{Growth, Overflow};
use ravelin_explore::{End, Limit, Options, Space};
use ravelin_program::{Model, Program};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The number of states of the first stage, and how much larger each next one is. Each stage repeats the previous one.
const FIRST_STAGE: u64 = 1_000;
const STAGE_FACTOR: u64 = 8;

/// How much to settle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Until an attack is feasible.
    First,
    /// Until every attack is settled.
    All,
}

/// The results of the attacks.
pub struct Hunt {
    /// In the order of the attacks.
    pub results: Vec<AttackResult>,
    /// The limit that left attacks open.
    pub limit: Option<Limit>,
    /// The first stage took more states than permitted, and nothing is settled.
    pub endless: bool,
    pub statistics: HuntStatistics,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttackResult {
    Feasible(Box<AttackRun>),
    Infeasible,
    /// Not settled: a limit was reached, or another attack was feasible and that was enough.
    Open,
}

/// What was explored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HuntStatistics {
    pub sc_states: u64,
    pub delaying_states: u64,
    pub helping_states: u64,
    pub bytes: u64,
    pub elapsed: Duration,
    pub workers: usize,
}

/// Settles attacks under TSO or PSO. `first_stage` limits the states of the first stage.
pub fn hunt(
    program: &Program,
    model: Model,
    attacks: &[Attack],
    extent: Extent,
    options: &Options,
    first_stage: Option<u64>,
) -> Result<Hunt, ReadBackError> {
    let clock = HuntClock::new(options, first_stage);
    let mut hunt = Hunt {
        results: vec![AttackResult::Open; attacks.len()],
        limit: None,
        endless: false,
        statistics: HuntStatistics::default(),
    };
    hunt.statistics.workers = options.budget.workers.max(1);
    let mut growth = Growth::default();
    loop {
        let machine = super::machine(program, model, &growth)?;
        match stages(&machine, model, attacks, extent, &clock, &mut hunt) {
            Ok(()) => break,
            Err(HuntStop::Outgrown(outgrown)) => growth.grow(outgrown, &machine.program, &machine.layout),
            Err(HuntStop::Unreadable(unreadable)) => return Err(unreadable.into()),
            Err(HuntStop::Limit(_) | HuntStop::Halted) => break,
            Err(HuntStop::Endless) => {
                hunt.endless = true;
                break;
            }
        }
    }
    hunt.statistics.elapsed = clock.start.elapsed();
    Ok(hunt)
}

/// Explores larger and larger parts of the SC space until everything is settled or a limit is reached.
fn stages(
    machine: &Machine,
    model: Model,
    attacks: &[Attack],
    extent: Extent,
    clock: &HuntClock,
    hunt: &mut Hunt,
) -> Result<(), HuntStop> {
    machine.fused_initial_states(&mut |_| {})?;
    let mut hunters: Vec<Mutex<Hunter>> = Hunter::of(machine, model, attacks, &hunt.results);
    let mut size = FIRST_STAGE;
    loop {
        if hunters.is_empty() {
            return Ok(());
        }
        let space = clock.explore(machine, size);
        if let End::Interrupted(outgrown) = space.end {
            return Err(outgrown.into());
        }
        let is_first_stage = size == FIRST_STAGE;
        let used = HuntUsage { states: AtomicU64::new(0), bytes: AtomicU64::new(0), is_first_stage };
        used.states.fetch_add(space.statistics.states, Ordering::Relaxed);
        used.bytes.fetch_add(space.statistics.bytes, Ordering::Relaxed);
        for hunter in &mut hunters {
            hunter.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).begin_stage(&used);
        }
        hunt.statistics.sc_states = space.statistics.states;
        let limit = search_together(&hunters, &space, clock.offered(&space, size), extent, clock, &used);
        if let Err(HuntStop::Endless) = limit {
            // What the other hunters found by then depends on how the work was shared.
            hunt.statistics.delaying_states = used.states.load(Ordering::Relaxed) - space.statistics.states;
        }
        let limit = limit?;
        let mut first: Option<(usize, usize)> = None;
        (hunt.statistics.delaying_states, hunt.statistics.helping_states) = (0, 0);
        for (index, hunter) in hunters.iter_mut().enumerate() {
            let hunter = hunter.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            hunt.statistics.delaying_states += hunter.delaying.len() as u64;
            hunt.statistics.helping_states += hunter.helping.len() as u64;
            if let Some(found) = hunter.found_at {
                first = first.min(Some((found, index))).or(Some((found, index)));
            }
        }
        hunt.statistics.bytes = hunt.statistics.bytes.max(used.bytes.load(Ordering::Relaxed));
        for (index, hunter) in hunters.iter_mut().enumerate() {
            let hunter = hunter.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            // The others may have found something on the way, which depends on how the work was shared.
            if extent == Extent::All || first.is_some_and(|(_, first)| first == index) {
                for (attack, run) in hunter.feasible.drain(..) {
                    hunt.results[attack] = AttackResult::Feasible(Box::new(run));
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
            for result in &mut hunt.results {
                if *result == AttackResult::Open {
                    *result = AttackResult::Infeasible;
                }
            }
            return Ok(());
        }
        let all_settled = hunt.results.iter().all(|result| *result != AttackResult::Open);
        if hunt.limit.is_some() || all_settled {
            hunt.limit = hunt.limit.filter(|_| !all_settled);
            return Ok(());
        }
        size = size.saturating_mul(STAGE_FACTOR);
    }
}

/// Offers the first `offered` states of the space to every hunter, on as many threads as there are workers.
fn search_together(
    hunters: &[Mutex<Hunter>],
    space: &Space<Overflow>,
    offered: usize,
    extent: Extent,
    clock: &HuntClock,
    used: &HuntUsage,
) -> Result<Option<Limit>, HuntStop> {
    let next = AtomicUsize::new(0);
    let halt = AtomicBool::new(false);
    let results: Mutex<Vec<Result<(), HuntStop>>> = Mutex::new(Vec::new());
    let work = || {
        while let Some(hunter) = hunters.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut hunter = hunter.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let result = hunter.search(space, offered, extent, clock, used, &halt);
            if result.is_err() {
                halt.store(true, Ordering::Relaxed);
            }
            results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(result);
        }
    };
    let workers = clock.options.budget.workers.clamp(1, hunters.len());
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
            Ok(()) | Err(HuntStop::Halted) => {}
            Err(HuntStop::Limit(reached)) => limit = Some(reached),
            Err(stop) => return Err(stop),
        }
    }
    Ok(limit)
}
