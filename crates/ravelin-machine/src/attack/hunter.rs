//! The attacks of one thread, from the SC states that are offered: the search of τ2 and the search of τ3.

use super::attacker::Pace;
use super::clock::{BETWEEN_LOOKS, HuntClock, HuntStop, HuntUsage};
use super::read_back::{AttackRun, AttackStep, WitnessPart};
use super::shared::{AttackResult, Extent};
use super::successors::{Successors, Trail, delaying};
use super::view::AttackFields;
use super::{Attack, Attacks};
use crate::compile::Machine;
use crate::layout::Overflow;
use crate::run::UnreadablePath;
use ravelin_explore::{Space, StateId, StateSet};
use ravelin_program::Model;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The attacks of one thread.
pub(super) struct Hunter<'a> {
    attacks: Attacks<'a>,
    thread: usize,
    plans: Vec<StorePlan>,
    /// By location: the attacker's accesses that can be reached from there before anything ends the attack.
    ahead: Vec<Vec<bool>>,
    /// τ2, within the current stage.
    pub delaying: StateSet,
    /// The first states of τ2, and the SC state that each comes from.
    roots: Vec<(usize, StateId)>,
    /// τ3: dead ends.
    pub helping: StateSet,
    /// Number of the attack and run, in the order of discovery.
    pub feasible: Vec<(usize, AttackRun)>,
    /// Bytes of these runs.
    run_bytes: usize,
    /// The number of the SC state at which the first one was found.
    pub found_at: Option<usize>,
    until_look: u32,
    /// States that may be found before the next check.
    allowance: u64,
    /// What was reported as used at the last check.
    reported: (u64, u64),
    out: Successors,
    second: Successors,
}

/// A store and the open attacks with it.
struct StorePlan {
    store: usize,
    /// By transition: the number of the attack, while it is open.
    open: Vec<Option<usize>>,
}

impl StorePlan {
    fn is_open(&self) -> bool {
        self.open.iter().any(Option::is_some)
    }

    /// Some open access can still follow.
    fn has_hope(&self, ahead: &[bool]) -> bool {
        self.open.iter().zip(ahead).any(|(open, ahead)| open.is_some() && *ahead)
    }
}

impl<'a> Hunter<'a> {
    /// One hunter per thread with open attacks.
    pub fn of(
        machine: &'a Machine,
        model: Model,
        attacks: &[Attack],
        results: &[AttackResult],
    ) -> Vec<Mutex<Hunter<'a>>> {
        let threads = 0..machine.threads.len();
        let hunters = threads.filter_map(|thread| {
            let mut plans: Vec<StorePlan> = Vec::new();
            let open = attacks.iter().zip(results).enumerate();
            for (number, (attack, _)) in
                open.filter(|(_, (attack, result))| attack.thread.0 == thread && **result == AttackResult::Open)
            {
                let plan = match plans.iter().position(|plan| plan.store == attack.store.0) {
                    Some(plan) => plan,
                    None => {
                        let steps = machine.threads[thread].steps.len();
                        plans.push(StorePlan { store: attack.store.0, open: vec![None; steps] });
                        plans.len() - 1
                    }
                };
                plans[plan].open[attack.load.0] = Some(number);
            }
            (!plans.is_empty()).then(|| Mutex::new(Hunter::new(machine, model, thread, plans)))
        });
        hunters.collect()
    }

    fn new(machine: &'a Machine, model: Model, thread: usize, plans: Vec<StorePlan>) -> Hunter<'a> {
        let view = AttackFields::new(machine, &[thread], plans.len(), model == Model::Pso);
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
            allowance: 0,
            reported: (0, 0),
            out: Successors::new(words),
            second: Successors::new(words),
        }
    }

    /// Offers the first `offered` SC states.
    pub fn search(
        &mut self,
        space: &Space<Overflow>,
        offered: usize,
        extent: Extent,
        clock: &HuntClock,
        used: &HuntUsage,
        halt: &AtomicBool,
    ) -> Result<(), HuntStop> {
        // Other searches may have used up the limit.
        self.until_look = 1;
        for (number, id) in space.ids().take(offered).enumerate() {
            if !self.plans.iter().any(StorePlan::is_open) {
                return Ok(());
            }
            self.offer(id, &HuntRound { space, clock, used, halt, extent, number })?;
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
    fn offer(&mut self, id: StateId, round: &HuntRound) -> Result<(), HuntStop> {
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
    fn starts(&self, number: usize, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        out.clear();
        let store = self.plans[number].store;
        let step = &self.attacks.machine.threads[self.thread].steps[store];
        if self.attacks.start(self.thread, step, number, state, out)? {
            self.attacks.follow(self.thread, delaying(self.thread, store, 0, Pace::Delayed), out)?;
        }
        Ok(())
    }

    /// Stores a state of τ2 if an open access can still follow. Returns whether it is new.
    fn remember(&mut self, state: &[u64], parent: u32) -> bool {
        let plan = &self.plans[self.attacks.view.store.get(state) as usize];
        let location = self.attacks.machine.layout.locations[self.thread].get(state) as usize;
        plan.has_hope(&self.ahead[location]) && self.delaying.insert(state, parent)
    }

    /// τ2, breadth first, from the states that are new.
    fn search_delaying(&mut self, first: usize, round: &HuntRound) -> Result<(), HuntStop> {
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
        round: &HuntRound,
    ) -> Result<(), HuntStop> {
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
                        && let Some(attack) = self.plans[number].open[step_index]
                        && let Some(path) = self.ask_helpers(out, round)?
                    {
                        self.found_at.get_or_insert(round.number);
                        let run = self.read_back(index, trail, &path, round.space)?;
                        self.run_bytes += run.steps.len() * size_of::<AttackStep>();
                        self.feasible.push((attack, run));
                        self.plans[number].open[step_index] = None;
                        if self.is_done(round.extent) {
                            return Ok(());
                        }
                        // A run is long compared to a state.
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

    /// During τ2 helpers run freely, once they can do something that they could not have done before.
    fn run_helpers(&self, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        if self.attacks.helpers_may_move(self.thread, state) {
            for helper in (0..self.attacks.machine.threads.len()).filter(|&helper| helper != self.thread) {
                self.attacks.run(helper, state, out)?;
            }
        }
        Ok(())
    }

    /// τ3: can the helpers close the cycle, after the attacker's action that led to `next`? Returns the states of the
    /// path if so.
    fn ask_helpers(&mut self, from: &Successors, round: &HuntRound) -> Result<Option<Vec<Vec<u64>>>, HuntStop> {
        let mut out = std::mem::replace(&mut self.second, Successors::new(0));
        let result = self.search_helping(from, &mut out, round);
        self.second = out;
        result
    }

    fn search_helping(
        &mut self,
        from: &Successors,
        out: &mut Successors,
        round: &HuntRound,
    ) -> Result<Option<Vec<Vec<u64>>>, HuntStop> {
        out.begin(&from.next);
        out.log.copy_from(&from.log);
        self.attacks.stop_attacker(self.thread, out);
        let root = out.next.clone();
        // Usually no helper can join at once, and there is nothing to remember.
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
                    // States that were seen on the way may lead to the cycle too: they are no dead ends.
                    self.helping.truncate(first);
                    return Ok(Some(path));
                }
                self.helping.insert(next, index as u32);
            }
            index += 1;
        }
        Ok(None)
    }

    fn expand_helping(&self, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        for helper in (0..self.attacks.machine.threads.len()).filter(|&helper| helper != self.thread) {
            self.attacks.help(helper, state, out)?;
        }
        Ok(())
    }

    fn look(&mut self, round: &HuntRound) -> Result<(), HuntStop> {
        self.until_look = self.until_look.saturating_sub(1);
        if self.until_look > 0 && self.states().saturating_sub(self.reported.0) <= self.allowance {
            return Ok(());
        }
        if round.halt.load(Ordering::Relaxed) {
            return Err(HuntStop::Halted);
        }
        self.report_to(round.used);
        self.until_look = BETWEEN_LOOKS;
        self.allowance = round.clock.allowance(round.used);
        round.clock.look(round.used)
    }

    /// Start states of the previous stage were states of its space; the new space contains them again.
    pub fn begin_stage(&mut self, used: &HuntUsage) {
        self.delaying = StateSet::new(self.attacks.view.words);
        self.roots.clear();
        self.reported = (0, 0);
        self.report_to(used);
    }

    fn states(&self) -> u64 {
        (self.delaying.len() + self.helping.len()) as u64
    }

    /// Adds the usage since the last check to the account.
    fn report_to(&mut self, used: &HuntUsage) {
        let states = self.states();
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
        space: &Space<Overflow>,
    ) -> Result<AttackRun, HuntStop> {
        let delaying = self.delaying.path(index);
        let root = self.delaying.state(delaying[0]);
        let unread = |step: usize| UnreadablePath { step };
        let mut steps = Vec::new();
        let mut push = |part: WitnessPart, trail: &[Trail]| {
            steps.extend(trail.iter().map(|&Trail { action, delayed }| AttackStep { part, action, delayed }));
        };
        let mut out = Successors::recording(self.attacks.view.words);
        let found = self.roots.binary_search_by_key(&delaying[0], |(index, _)| *index).map_err(|_| unread(0))?;
        let (_, id) = self.roots[found];
        let (run, _) = self.attacks.machine.read_back(&space.path(id))?;
        push(
            WitnessPart::Prefix,
            &run.actions.iter().map(|&action| Trail { action, delayed: false }).collect::<Vec<_>>(),
        );
        self.starts(self.attacks.view.store.get(root) as usize, space.state(id), &mut out)?;
        let trail = out.trail_to(root).ok_or(unread(run.actions.len()))?;
        push(WitnessPart::Store, &trail[..1]);
        push(WitnessPart::Delaying, &trail[1..]);
        for (step, pair) in delaying.windows(2).enumerate() {
            let (from, to) = (self.delaying.state(pair[0]), self.delaying.state(pair[1]));
            self.step_delaying(from, &mut out)?;
            push(WitnessPart::Delaying, &out.trail_to(to).ok_or(unread(step))?);
        }
        push(WitnessPart::Load, &[load]);
        for (step, pair) in path.windows(2).enumerate() {
            out.clear();
            self.expand_helping(&pair[0], &mut out)?;
            push(WitnessPart::Path, &out.trail_to(&pair[1]).ok_or(unread(step))?);
        }
        Ok(AttackRun { start: run.start, steps })
    }

    /// All steps of τ2, without checking whether one is the attacked load.
    fn step_delaying(&self, from: &[u64], out: &mut Successors) -> Result<(), Overflow> {
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

/// The surroundings of a search.
pub(super) struct HuntRound<'a> {
    space: &'a Space<Overflow>,
    clock: &'a HuntClock<'a>,
    used: &'a HuntUsage,
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
