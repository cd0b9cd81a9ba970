//! Accesses of a run that could have been stale.

use super::machines;
use super::worker::script_of;
use crate::watch::WatchedRun;
use ravelin_answer::Machines;
use ravelin_findings::events::{Act, RunEvent, flags};
use ravelin_findings::steering::MOST_CHOICES;
use ravelin_findings::{AccessKind, AccessRecord, FindingRecord, MemoryKind, Problem, Spinning};
use ravelin_verify::judge::{JudgedModel, Judgement, Knowledge, StaleAccess, StaleKind, judge};
use ravelin_verify::{Changes, Script, StaleChoice};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// Values that only make a loop go round, by the state of its thread.
#[derive(Clone, Debug, Default)]
pub struct KnownRounds(HashMap<u64, Vec<u64>>);

/// Pairs of places that were looked at.
#[derive(Clone, Debug, Default)]
pub struct StalePlaces(HashSet<(u64, u64)>);

/// A run with a stale access.
#[derive(Clone, Debug)]
pub struct StaleRun {
    /// Its events, up to the access.
    pub events: Vec<RunEvent>,
    stale: StaleAccess,
    model: JudgedModel,
    /// What was known about loops when it was found.
    rounds: KnownRounds,
}

/// How runs are judged.
#[derive(Clone, Copy)]
pub struct Judging<'a> {
    pub model: JudgedModel,
    pub rounds: &'a KnownRounds,
    /// The program that is judged is the one that ran, with these.
    pub changes: &'a Changes,
    pub is_over: &'a dyn Fn() -> bool,
}

/// Why nothing is known about what a stale access leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTried {
    #[error("not tried: it is an access of 16 bytes, of which only 8 are known")]
    Wide,
    #[error("not tried: the older value is not known")]
    UnknownValue,
    #[error("not tried: there are more than {MOST_CHOICES} steps before it")]
    TooLong,
    #[error("not tried: a thread did something else when the steps before it were made again")]
    Differs,
    #[error("not tried: the time was over")]
    NoTime,
}

impl StaleRun {
    pub fn new(events: &[RunEvent], stale: StaleAccess, model: JudgedModel, rounds: &KnownRounds) -> StaleRun {
        StaleRun { events: events[..=stale.event].to_vec(), stale, model, rounds: rounds.clone() }
    }

    fn judged(&self, changes: &Changes, is_over: &dyn Fn() -> bool) -> Judgement {
        all(&self.events, Judging { model: self.model, rounds: &self.rounds, changes, is_over })
    }

    /// On which machines the access can be stale, if that is known.
    pub fn machines(&self) -> Option<Machines> {
        machines::of(&self.events, &past(&self.events, self.stale.event), &self.stale)
    }

    /// The place of the access, and of what it misses.
    pub fn places(&self) -> (u64, u64) {
        places(&self.events, &self.stale)
    }

    /// Scripts in which the access is stale, for each value that it may read, newest first. If it did not happen because its
    /// thread waited, the thread reads the value when it comes to the loop.
    pub fn scripts(&self, is_over: &dyn Fn() -> bool) -> Result<Vec<Script>, NotTried> {
        if self.events[self.stale.event].operation.size > 8 {
            return Err(NotTried::Wide);
        }
        let all = self.judged(&Changes::default(), is_over);
        if all.cut_off {
            return Err(NotTried::NoTime);
        }
        let here: Vec<StaleAccess> = all.stale.into_iter().filter(|other| other.event == self.stale.event).collect();
        let steps = past(&self.events, self.stale.event);
        if steps.len() > MOST_CHOICES {
            return Err(NotTried::TooLong);
        }
        let number = |index: usize| steps.binary_search(&index).ok();
        let choices: Vec<RunEvent> = steps.iter().map(|&index| self.events[index]).collect();
        let script = script_of(&choices);
        let step = script.choices.len() - 1;
        let choice = |stale: &StaleAccess| {
            let value = stale.value.or(Some(0).filter(|_| stale.kind == StaleKind::Write))?;
            let source = stale.source.map(number);
            // The source is among these steps, because something newer is before the access.
            debug_assert!(source != Some(None));
            Some(StaleChoice { step, value, source: source.flatten() })
        };
        let choices = here.iter().filter_map(choice);
        let scripts: Vec<Script> = choices.map(|stale| Script { stale: Some(stale), ..script.clone() }).collect();
        if scripts.is_empty() { Err(NotTried::UnknownValue) } else { Ok(scripts) }
    }

    /// Whether the access is still stale, and misses a write of the same place, in the program with changes. If the time
    /// is over it is taken for repaired.
    pub fn is_left_by(&self, changes: &Changes, is_over: &dyn Fn() -> bool) -> bool {
        let found = self.judged(changes, is_over).stale;
        found.iter().any(|other| other.event == self.stale.event && places(&self.events, other) == self.places())
    }
}

impl KnownRounds {
    /// Learns from the rounds of a run that have one access.
    pub fn learn(&mut self, events: &[RunEvent]) {
        // By thread.
        let mut last: FxHashMap<u32, &RunEvent> = FxHashMap::default();
        for event in events {
            let before = last.insert(event.thread, event).filter(|before| before.is(flags::ROUND));
            if event.is(flags::ROUND)
                && event.state != 0
                && matches!(event.operation.act, Act::Load | Act::Update)
                && before.is_none_or(|before| before.state == event.state)
            {
                let values = self.0.entry(event.state).or_default();
                if !values.contains(&event.read) {
                    values.push(event.read);
                }
            }
        }
    }

    fn goes_round(&self, event: &RunEvent, value: u64) -> bool {
        self.0.get(&event.state).is_some_and(|values| values.contains(&value))
    }
}

impl StalePlaces {
    /// Whether the places of a stale access were not known before.
    pub fn know(&mut self, events: &[RunEvent], stale: &StaleAccess) -> bool {
        self.insert(places(events, stale))
    }

    pub fn insert(&mut self, places: (u64, u64)) -> bool {
        self.0.insert(places)
    }
}

fn places(events: &[RunEvent], stale: &StaleAccess) -> (u64, u64) {
    (events[stale.event].pc, events[stale.missed].pc)
}

/// What the judge has to know besides the run's steps.
struct RunKnowledge<'a> {
    rounds: &'a KnownRounds,
    events: &'a [RunEvent],
    /// The first event at each address with each size. It is made when it is needed.
    first: OnceCell<FxHashMap<(u64, u32), &'a RunEvent>>,
    is_over: &'a dyn Fn() -> bool,
}

impl Knowledge for RunKnowledge<'_> {
    fn goes_round(&self, event: &RunEvent, value: u64) -> bool {
        self.rounds.goes_round(event, value)
    }

    fn initial(&self, address: u64, size: u32) -> Option<u64> {
        let first = self.first.get_or_init(|| {
            let happened = self.events.iter().filter(|event| !event.is(flags::PENDING | flags::UNCHECKED));
            // The first one is inserted last.
            happened.rev().map(|event| ((event.operation.address, event.operation.size), event)).collect()
        });
        let first = first.get(&(address, size))?;
        (first.operation.act != Act::Store || first.is(flags::OVERWRITES)).then_some(first.read)
    }

    fn is_over(&self) -> bool {
        (self.is_over)()
    }
}

/// The stale accesses of a run of the changed program whose places are not known, one for each. The events are those of
/// the program without the changes.
pub fn find(events: &[RunEvent], known: &StalePlaces, judging: Judging) -> Judgement {
    let all = all(events, judging);
    let mut new: HashSet<(u64, u64)> = HashSet::new();
    let is_new = |stale: &StaleAccess| {
        let key = places(events, stale);
        !known.0.contains(&key) && new.insert(key)
    };
    Judgement { stale: all.stale.into_iter().filter(is_new).collect(), ..all }
}

fn all(events: &[RunEvent], judging: Judging) -> Judgement {
    let Judging { model, rounds, changes, is_over } = judging;
    let judged =
        |events: &[RunEvent]| judge(events, model, &RunKnowledge { rounds, events, first: OnceCell::new(), is_over });
    if changes.is_empty() {
        return judged(events);
    }
    let changed = changes.apply(events);
    let judgement = judged(&changed.events);
    let stale = judgement.stale.iter().map(|stale| changed.original(*stale)).collect();
    Judgement { stale, ..judgement }
}

/// The events up to the stale access. It may be one that did not happen because its thread waited: then the process has
/// not ended yet.
pub fn until(events: &[RunEvent], stale: &StaleAccess) -> Vec<RunEvent> {
    let is_made = |event: &RunEvent| !event.is(flags::PENDING) && event.operation.act != Act::Exit;
    let made = |(index, event): (usize, &RunEvent)| (index == stale.event || is_made(event)).then_some(*event);
    events[..=stale.event].iter().enumerate().filter_map(made).collect()
}

/// The steps that come before an access because of their thread, or of conflicts other than its own, and the access. Others
/// can come after it: so these are all that a run needs to come to the access. In a long run all steps before it are kept.
pub fn past(events: &[RunEvent], access: usize) -> Vec<usize> {
    const LONGEST: usize = 8192;
    let is_step = |event: &RunEvent| !event.is(flags::ROUND | flags::PENDING) && event.operation.act != Act::Exit;
    let mut needed = vec![access];
    for index in (0..access).rev().filter(|&index| is_step(&events[index])) {
        let event = &events[index];
        let comes_before = |&later: &usize| {
            let next = &events[later];
            next.thread == event.thread
                || event.operation.enables(&next.operation, next.thread)
                || later != access && event.operation.conflicts(&next.operation)
        };
        if access > LONGEST || needed.iter().any(comes_before) {
            needed.push(index);
        }
    }
    needed.reverse();
    needed
}

/// Leaves in `watched` what the runtime says about a stale access; adds what is known here if it says nothing. Returns
/// whether it can do more than make a loop go round.
pub fn tell(watched: &mut WatchedRun, events: &[RunEvent], stale: &StaleAccess, model: JudgedModel) -> bool {
    let (pc, missed) = places(events, stale);
    let Some(process) = watched.processes.first_mut() else { return false };
    let is_it = |found: &FindingRecord| {
        matches!(found.problem, Problem::StaleRead | Problem::StaleWrite | Problem::StaleUpdate)
            && found.access.stack.first() == Some(&pc)
            // The runtime watches RC20, in which the access may miss more.
            && (model == JudgedModel::Rc20 || found.other.stack.first() == Some(&missed))
    };
    let same: Vec<&FindingRecord> = process.findings.iter().filter(|found| is_it(found)).collect();
    if !same.is_empty() {
        let harmless = same.iter().all(|found| found.spinning == Spinning::Harmless);
        process.findings.retain(is_it);
        return !harmless;
    }
    process.findings.clear();
    process.findings.push(record(events, stale));
    true
}

fn record(events: &[RunEvent], stale: &StaleAccess) -> FindingRecord {
    let (event, missed) = (&events[stale.event], &events[stale.missed]);
    FindingRecord {
        count: 1,
        spinning: Spinning::No,
        problem: match stale.kind {
            StaleKind::Read => Problem::StaleRead,
            StaleKind::Write => Problem::StaleWrite,
            StaleKind::Update => Problem::StaleUpdate,
        },
        address: event.operation.address,
        access: access(event),
        other: access(missed),
        forgotten: 0,
        place: MemoryKind::Other,
        path: Vec::new(),
        point: 0,
    }
}

fn access(event: &RunEvent) -> AccessRecord {
    let kind = match event.operation.act {
        _ if event.is(flags::COMPARES) => AccessKind::CompareExchange,
        Act::Store => AccessKind::Store,
        Act::Update => AccessKind::Update,
        _ => AccessKind::Load,
    };
    AccessRecord {
        thread: u64::from(event.thread),
        kind,
        order: event.operation.order,
        size: u64::from(event.operation.size),
        stack: vec![event.pc],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_findings::RecordedOrder;
    use ravelin_findings::events::RunOperation;
    use std::sync::LazyLock;

    fn event(thread: u32, act: Act, address: u64, value: u64) -> RunEvent {
        let operation = RunOperation { act, order: RecordedOrder::Relaxed, address, size: 4 };
        let (read, written) = if act == Act::Load { (value, 0) } else { (0, value) };
        let flags = if act == Act::Store { flags::OVERWRITES } else { 0 };
        RunEvent { thread, operation, flags, read, written, pc: 100 * u64::from(thread) + address, state: 0 }
    }

    /// Thread 1 writes data and a flag, which thread 0 reads. Thread 2 and what thread 1 does later have nothing to do with it.
    fn message_passing() -> Vec<RunEvent> {
        vec![
            event(2, Act::Store, 32, 5),
            event(1, Act::Store, 64, 1),
            event(1, Act::Store, 16, 1),
            event(1, Act::Store, 24, 9),
            event(0, Act::Load, 16, 1),
            event(2, Act::Store, 64, 2),
            event(0, Act::Load, 64, 2),
        ]
    }

    fn judging(is_over: &dyn Fn() -> bool) -> Judging<'_> {
        static NOTHING: LazyLock<(KnownRounds, Changes)> = LazyLock::new(Default::default);
        Judging { model: JudgedModel::Rc20, rounds: &NOTHING.0, changes: &NOTHING.1, is_over }
    }

    fn stale_run(events: &[RunEvent]) -> StaleRun {
        let found = find(events, &StalePlaces::default(), judging(&|| false)).stale;
        let first = *found.first().expect("a stale access");
        StaleRun::new(events, first, JudgedModel::Rc20, &KnownRounds::default())
    }

    fn texts(run: &StaleRun) -> Vec<String> {
        run.scripts(&|| false).expect("scripts").iter().map(Script::to_string).collect()
    }

    #[test]
    fn a_script_has_only_what_comes_before_the_access() {
        assert_eq!(texts(&stale_run(&message_passing())), ["steps:1x2,0x2;stale:0"]);
    }

    #[test]
    fn an_access_at_which_a_thread_waits_is_its_next_step() {
        let mut events = message_passing();
        events.truncate(5);
        let round = RunEvent { flags: flags::ROUND, ..event(0, Act::Load, 64, 1) };
        let waits = RunEvent { flags: flags::PENDING, ..event(0, Act::Load, 64, 1) };
        let other = RunEvent { flags: flags::PENDING, ..event(2, Act::Load, 40, 0) };
        events.extend([round, event(1, Act::Exit, 0, 0), other, waits]);
        assert_eq!(texts(&stale_run(&events)), ["steps:1x2,0x2;stale:0"]);
    }

    #[test]
    fn half_of_a_value_is_not_tried() {
        let mut events = message_passing();
        events.iter_mut().filter(|event| event.operation.address == 64).for_each(|event| event.operation.size = 16);
        assert_eq!(stale_run(&events).scripts(&|| false), Err(NotTried::Wide));
    }

    #[test]
    fn a_judge_without_time_says_so() {
        let late =
            |events: &[RunEvent], is_over: &dyn Fn() -> bool| find(events, &StalePlaces::default(), judging(is_over));
        let long: Vec<RunEvent> = message_passing().into_iter().cycle().take(10_000).collect();
        let judged = late(&long, &|| true);
        assert!(judged.cut_off && judged.stale.len() <= 1, "{judged:?}");
        let judged = late(&long, &|| false);
        assert!(!judged.cut_off && !judged.stale.is_empty(), "{judged:?}");
        let last = StaleAccess { event: long.len() - 1, ..judged.stale[0] };
        let run = StaleRun::new(&long, last, JudgedModel::Rc20, &KnownRounds::default());
        assert_eq!(run.scripts(&|| true), Err(NotTried::NoTime));
    }
}
