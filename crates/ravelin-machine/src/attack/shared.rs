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
//! The SC space and the searches of each attacker take turns, in shares that double from stage to stage, so none of them
//! has to end before another is tried. A hunter uses its share in two orders (`hunter.rs`). Therefore a violation is found
//! in time proportional to the states near it, also if the SC space, τ2 or τ3 is infinite. What a share has found is kept
//! and the next one continues there, so a proof costs what it costs without stages.
//!
//! With several workers, several hunters use their shares at the same time. The answer is that of one worker: of the
//! hunters that find something in one stage, the first counts.

use super::Attack;
use super::clock::{HuntClock, HuntStop, HuntUsage};
use super::hunter::{HuntRound, Hunter, ShareEnd};
use super::read_back::{AttackRun, ReadBackError};
use crate::compile::Machine;
use crate::layout::{Growth, Overflow};
use ravelin_explore::{Budget, End, Limit, Options, Space, Until, Watch, explore_in_stages};
use ravelin_program::{Model, Program};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The first share, unless a caller has a reason for another: small, because shares double and nothing is done twice.
pub const FIRST_SHARE: u64 = 64;
/// Steps of a share from which several hunters are worth several threads.
const WORTH_SHARING: u64 = 1 << 13;

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

/// Settles attacks under TSO or PSO. `share` is what the SC space and each attacker may take in the first stage.
pub fn hunt(
    program: &Program,
    model: Model,
    attacks: &[Attack],
    extent: Extent,
    budget: Budget,
    share: u64,
) -> Result<Hunt, ReadBackError> {
    let clock = HuntClock::new(budget);
    let mut hunt =
        Hunt { results: vec![AttackResult::Open; attacks.len()], limit: None, statistics: HuntStatistics::default() };
    hunt.statistics.workers = budget.workers.max(1);
    let mut growth = Growth::default();
    loop {
        let watch = Watch::since(budget, "compiling", clock.start);
        let machine = super::machine(program, model, &growth, &watch)?;
        match stages(&machine, model, attacks, extent, &clock, share, &mut hunt) {
            Ok(()) => break,
            Err(HuntStop::Limit(limit)) => {
                hunt.limit = Some(clock.named(limit)).filter(|_| hunt.results.contains(&AttackResult::Open));
                break;
            }
            Err(HuntStop::Halted) => break,
            Err(HuntStop::Outgrown(outgrown)) => growth.grow(outgrown, &machine.program, &machine.layout),
            Err(HuntStop::Unreadable(unreadable)) => return Err(unreadable.into()),
        }
    }
    hunt.statistics.elapsed = clock.start.elapsed();
    Ok(hunt)
}

/// Explores the SC space and hunts from it, until everything is settled or a limit is reached.
fn stages(
    machine: &Machine,
    model: Model,
    attacks: &[Attack],
    extent: Extent,
    clock: &HuntClock,
    share: u64,
    hunt: &mut Hunt,
) -> Result<(), HuntStop> {
    machine.fused_initial_states(&mut |_| {})?;
    let hunters = Hunter::of(machine, model, attacks, &hunt.results);
    if hunters.is_empty() {
        return Ok(());
    }
    let mut stages = HuntStages { hunters, extent, clock, used: HuntUsage::default(), sc: (0, 0), share: share.max(1) };
    let mut stopped = None;
    let first = stages.share.min(clock.left(0));
    let mut size = first;
    let space = {
        let options = Options { budget: clock.budget.child(clock.start, 0), until: Until::Exhausted };
        let mut look = |space: &Space<Overflow>| {
            let offered = usize::try_from(size).unwrap_or(usize::MAX);
            match stages.search(space, offered) {
                Ok(StageEnd::Settled) => return None,
                Ok(StageEnd::Unsettled | StageEnd::Idle) => {}
                Err(stop) => {
                    stopped = Some(stop);
                    return None;
                }
            }
            stages.share = stages.share.saturating_mul(2);
            let left = clock.left(stages.taken());
            if size >= left {
                stopped = Some(HuntStop::Limit(Limit::States(left)));
                return None;
            }
            size = stages.share.min(left);
            Some(size)
        };
        explore_in_stages(machine, &options, first, &mut look)
    };
    let ended = match (stopped, &space.end) {
        (Some(stop), _) => Err(stop),
        (None, End::Interrupted(outgrown)) => Err((*outgrown).into()),
        // The hunters can go no further without more states to start from.
        (None, End::Limit(limit)) if !stages.is_settled() => {
            stages.sc.0 = space.statistics.states;
            Err(HuntStop::Limit(*limit))
        }
        (None, End::Exhausted) => stages.finish(&space),
        (None, _) => Ok(()),
    };
    // If the search begins again, for the first violation, what another worker found on the way does not count.
    if extent == Extent::All || !matches!(ended, Err(HuntStop::Outgrown(_))) {
        stages.conclude(&space, hunt);
    }
    ended
}

/// The hunters, and what they may take.
struct HuntStages<'a> {
    hunters: Vec<Mutex<Hunter<'a>>>,
    extent: Extent,
    clock: &'a HuntClock<'a>,
    used: HuntUsage,
    /// States and bytes of the SC space, as far as they are among those that are used: of a stage, the states that are
    /// offered. How many more are found depends on the number of workers.
    sc: (u64, u64),
    /// Steps that each hunter may have taken by the end of the stage.
    share: u64,
}

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StageEnd {
    /// There is nothing left to settle.
    Settled,
    /// No hunter has anything left to do with the SC states that there are.
    Idle,
    Unsettled,
}

impl HuntStages<'_> {
    /// Lets every hunter use its share, from the first `offered` SC states, on as many threads as there are workers.
    fn search(&mut self, space: &Space<Overflow>, offered: usize) -> Result<StageEnd, HuntStop> {
        let sc = (space.statistics.states.min(offered as u64), space.statistics.bytes);
        self.used.states.fetch_add(sc.0.wrapping_sub(self.sc.0), Ordering::Relaxed);
        self.used.bytes.fetch_add(sc.1.wrapping_sub(self.sc.1), Ordering::Relaxed);
        self.sc = sc;
        let HuntStages { hunters, extent, clock, used, share, .. } = &*self;
        let next = AtomicUsize::new(0);
        let halt = AtomicUsize::new(usize::MAX);
        let results: Vec<Mutex<Option<Result<ShareEnd, HuntStop>>>> =
            hunters.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(hunter) = hunters.get(number).filter(|_| number <= halt.load(Ordering::Relaxed)) else {
                    return;
                };
                let round = HuntRound { space, offered, clock, used, extent: *extent, number, halt: &halt };
                let result = lock(hunter).search(*share, &round);
                if result.is_err() || *extent == Extent::First && matches!(result, Ok(ShareEnd::Done)) {
                    halt.fetch_min(number, Ordering::Relaxed);
                }
                *lock(&results[number]) = Some(result);
            }
        };
        let workers = clock.budget.workers.clamp(1, hunters.len());
        if workers == 1 || *share < WORTH_SHARING {
            work();
        } else {
            std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(work);
                }
            });
        }
        let mut stage = StageEnd::Settled;
        for result in results.into_iter().map_while(into_inner) {
            stage = match (result?, stage) {
                (ShareEnd::Done, _) if *extent == Extent::First => return Ok(StageEnd::Settled),
                (ShareEnd::Done, stage) => stage,
                (ShareEnd::Idle, StageEnd::Settled) => StageEnd::Idle,
                (ShareEnd::Idle, stage) => stage,
                (ShareEnd::UsedUp, _) => StageEnd::Unsettled,
            };
        }
        Ok(stage)
    }

    /// After the SC space is explored: shares grow until the hunters have nothing left to do.
    fn finish(&mut self, space: &Space<Overflow>) -> Result<(), HuntStop> {
        while self.search(space, usize::MAX)? == StageEnd::Unsettled {
            self.share = self.share.saturating_mul(2);
        }
        Ok(())
    }

    /// States of the hunters.
    fn taken(&self) -> u64 {
        self.used.states.load(Ordering::Relaxed) - self.sc.0
    }

    fn is_settled(&mut self) -> bool {
        let extent = self.extent;
        let mut hunters = self.hunters.iter_mut().map(unlocked);
        match extent {
            Extent::First => hunters.any(|hunter| !hunter.feasible.is_empty()),
            Extent::All => hunters.all(|hunter| hunter.open().next().is_none()),
        }
    }

    /// What became of the attacks.
    fn conclude(&mut self, space: &Space<Overflow>, hunt: &mut Hunt) {
        let statistics = &mut hunt.statistics;
        (statistics.sc_states, statistics.delaying_states, statistics.helping_states) = (self.sc.0, 0, 0);
        statistics.bytes = statistics.bytes.max(self.used.bytes.load(Ordering::Relaxed).max(space.statistics.bytes));
        let mut found = false;
        for hunter in self.hunters.iter_mut().map(unlocked) {
            statistics.delaying_states += hunter.delaying.len() as u64;
            statistics.helping_states += hunter.helping.len() as u64;
            if self.extent == Extent::First && found {
                // What later hunters found on the way depends on how the work was shared.
                continue;
            }
            for (attack, run) in hunter.feasible.drain(..) {
                hunt.results[attack] = AttackResult::Feasible(Box::new(run));
                found = true;
            }
            // A hunter that stops at the first feasible attack has not settled the others.
            let is_complete = self.extent == Extent::All || !found;
            if is_complete && space.end == End::Exhausted && hunter.is_idle(space) {
                for attack in hunter.open() {
                    hunt.results[attack] = AttackResult::Infeasible;
                }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn unlocked<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}
