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
//! hunters that find something in one stage, the first counts. With several processes, each has a part of the SC space and
//! some of the hunters (`several.rs`), and the answer is the same.

use super::Attack;
use super::clock::{HuntClock, HuntStop, HuntUsage};
use super::hunter::{HuntRound, Hunter, ShareEnd};
use super::read_back::{AttackRun, FeasibleRun, ReadBackError};
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
    let mut stages = HuntStages {
        hunters,
        extent,
        clock,
        used: HuntUsage::default(),
        elsewhere: (0, 0),
        sc: (0, 0),
        share: share.max(1),
        is_settled: false,
    };
    let mut stopped = None;
    let first = stages.share.min(clock.left(0));
    let mut size = first;
    let space = {
        let options = Options { budget: clock.budget.child(clock.start, 0), until: Until::Exhausted };
        let mut look = |space: &Space<Overflow>| {
            let next = stages.next_size(space, size);
            size = next.as_ref().ok().copied().flatten().unwrap_or(size);
            next.unwrap_or_else(|stop| {
                stopped = Some(stop);
                None
            })
        };
        explore_in_stages(machine, &options, first, &mut look)
    };
    let ended = match (stopped, &space.end) {
        (Some(stop), _) => Err(stop),
        (None, End::Interrupted(outgrown)) => Err((*outgrown).into()),
        // The hunters can go no further without more states to start from.
        (None, End::Limit(limit)) if !stages.is_settled => {
            stages.sc.0 = space.statistics.states;
            Err(HuntStop::Limit(*limit))
        }
        (None, End::Exhausted) => stages.finish(&space, size),
        (None, _) => Ok(()),
    };
    // If the search begins again, for the first violation, what another worker found on the way does not count.
    if extent == Extent::All || !matches!(ended, Err(HuntStop::Outgrown(_))) {
        stages.conclude(&space, hunt)?;
    }
    ended
}

/// The hunters, and what they may take.
pub(super) struct HuntStages<'a> {
    pub hunters: Vec<Mutex<Hunter<'a>>>,
    extent: Extent,
    pub clock: &'a HuntClock<'a>,
    pub used: HuntUsage,
    /// States and bytes among these of hunters in other processes.
    pub elsewhere: (u64, u64),
    /// States and bytes of the SC space, as far as they are among those that are used: of a stage, the states that are
    /// offered. How many more are found depends on the number of workers.
    sc: (u64, u64),
    /// Steps that each hunter may have taken by the end of the stage.
    share: u64,
    /// As of the last stage, as all processes know it.
    is_settled: bool,
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

/// How the share of a hunter ended, unless one before it had ended the stage by then.
pub(super) type ShareResult = Option<Result<ShareEnd, HuntStop>>;

impl HuntStages<'_> {
    /// Lets every hunter use its share, from the first `offered` SC states.
    fn search(&mut self, space: &Space<Overflow>, offered: usize) -> Result<StageEnd, HuntStop> {
        let sc = (space.statistics.states.min(offered as u64), space.statistics.bytes);
        self.used.states.fetch_add(sc.0.wrapping_sub(self.sc.0), Ordering::Relaxed);
        self.used.bytes.fetch_add(sc.1.wrapping_sub(self.sc.1), Ordering::Relaxed);
        self.sc = sc;
        for hunter in self.hunters.iter_mut().map(unlocked) {
            hunter.before_stage = hunter.sizes();
        }
        let results = match self.clock.peers() {
            Some(peers) => self.search_among(peers, space, offered)?,
            None => {
                let all: Vec<usize> = (0..self.hunters.len()).collect();
                self.share_out(space, offered, &all, usize::MAX)
            }
        };
        let mut stage = StageEnd::Settled;
        for result in results.into_iter().map_while(|result| result) {
            stage = match (result?, stage) {
                (ShareEnd::Done, _) if self.extent == Extent::First => {
                    self.is_settled = true;
                    return Ok(StageEnd::Settled);
                }
                (ShareEnd::Done, stage) => stage,
                (ShareEnd::Idle, StageEnd::Settled) => StageEnd::Idle,
                (ShareEnd::Idle, stage) => stage,
                (ShareEnd::UsedUp | ShareEnd::Waits, _) => StageEnd::Unsettled,
            };
        }
        self.is_settled = stage == StageEnd::Settled;
        Ok(stage)
    }

    /// Lets these hunters use their shares, on as many threads as there are workers. Those from `halt` on need not.
    pub fn share_out(
        &self,
        space: &Space<Overflow>,
        offered: usize,
        numbers: &[usize],
        halt: usize,
    ) -> Vec<ShareResult> {
        let HuntStages { hunters, extent, clock, used, share, .. } = self;
        let next = AtomicUsize::new(0);
        let halt = AtomicUsize::new(halt);
        let results: Vec<Mutex<ShareResult>> = numbers.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(&number) = numbers.get(place).filter(|number| **number <= halt.load(Ordering::Relaxed)) else {
                    return;
                };
                let round = HuntRound { space, offered, clock, used, extent: *extent, number, halt: &halt };
                let result = lock(&hunters[number]).search(*share, &round);
                if self.ends_stage(&result) {
                    halt.fetch_min(number, Ordering::Relaxed);
                }
                *lock(&results[place]) = Some(result);
            }
        };
        let workers = clock.budget.workers.clamp(1, numbers.len().max(1));
        if workers == 1 || *share < WORTH_SHARING {
            work();
        } else {
            std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(work);
                }
            });
        }
        results.into_iter().map(into_inner).collect()
    }

    /// What hunters after this one find in the stage does not count.
    pub fn ends_stage(&self, result: &Result<ShareEnd, HuntStop>) -> bool {
        result.is_err() || self.extent == Extent::First && matches!(result, Ok(ShareEnd::Done))
    }

    /// A stage with so many SC states, and how many the next one may have; `None` if everything is settled.
    fn next_size(&mut self, space: &Space<Overflow>, size: u64) -> Result<Option<u64>, HuntStop> {
        if self.search(space, usize::try_from(size).unwrap_or(usize::MAX))? == StageEnd::Settled {
            return Ok(None);
        }
        self.share = self.share.saturating_mul(2);
        let left = self.clock.left(self.taken());
        if size >= left {
            return Err(HuntStop::Limit(Limit::States(left)));
        }
        Ok(Some(self.share.min(left)))
    }

    /// After the SC space is explored: shares grow until the hunters have nothing left to do. How many states the last round
    /// found depends on the number of workers and processes, and the stages must not: those that it passed come first.
    fn finish(&mut self, space: &Space<Overflow>, mut size: u64) -> Result<(), HuntStop> {
        while size < space.statistics.states {
            match self.next_size(space, size)? {
                Some(next) => size = next,
                None => return Ok(()),
            }
        }
        while self.search(space, usize::MAX)? == StageEnd::Unsettled {
            self.share = self.share.saturating_mul(2);
        }
        Ok(())
    }

    /// States of the hunters.
    fn taken(&self) -> u64 {
        self.used.states.load(Ordering::Relaxed) - self.sc.0
    }

    /// What became of the attacks.
    fn conclude(&mut self, space: &Space<Overflow>, hunt: &mut Hunt) -> Result<(), HuntStop> {
        let outcomes = match self.clock.peers() {
            Some(peers) if space.is_shared() => self.outcomes_among(peers, space)?,
            // Without the others nothing can be read back.
            Some(_) => Vec::new(),
            None => self.hunters.iter_mut().map(|hunter| HunterOutcome::of(unlocked(hunter), space)).collect(),
        };
        let statistics = &mut hunt.statistics;
        (statistics.sc_states, statistics.delaying_states, statistics.helping_states) = (self.sc.0, 0, 0);
        statistics.bytes = statistics.bytes.max(self.used.bytes.load(Ordering::Relaxed).max(space.statistics.bytes));
        let mut found = false;
        for outcome in outcomes {
            // What hunters do after the first that finds something depends on how the work was shared.
            let does_not_count = self.extent == Extent::First && found;
            let (delaying, helping) = if does_not_count { outcome.before_stage } else { outcome.sizes };
            statistics.delaying_states += delaying;
            statistics.helping_states += helping;
            if does_not_count {
                continue;
            }
            for (attack, run) in outcome.feasible {
                if let (FeasibleRun::Read(run), Some(result)) = (run, hunt.results.get_mut(attack)) {
                    *result = AttackResult::Feasible(Box::new(run));
                    found = true;
                }
            }
            // A hunter that stops at the first feasible attack has not settled the others.
            let is_complete = self.extent == Extent::All || !found;
            if is_complete && space.end == End::Exhausted && outcome.is_idle {
                for attack in outcome.open {
                    if let Some(result) = hunt.results.get_mut(attack) {
                        *result = AttackResult::Infeasible;
                    }
                }
            }
        }
        Ok(())
    }
}

/// What a hunter leaves.
pub(super) struct HunterOutcome {
    /// States of τ2 and τ3, and how many there were before the last stage.
    pub sizes: (u64, u64),
    pub before_stage: (u64, u64),
    /// It has nothing left to do in the SC space.
    pub is_idle: bool,
    pub open: Vec<usize>,
    pub feasible: Vec<(usize, FeasibleRun)>,
}

impl HunterOutcome {
    pub fn of(hunter: &mut Hunter, space: &Space<Overflow>) -> HunterOutcome {
        HunterOutcome {
            sizes: hunter.sizes(),
            before_stage: hunter.before_stage,
            is_idle: hunter.is_idle(space),
            open: hunter.open().collect(),
            feasible: std::mem::take(&mut hunter.feasible),
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(super) fn unlocked<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}
