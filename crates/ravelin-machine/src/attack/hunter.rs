//! The attacks of one thread, from the SC states that are offered: the search of τ2 and the search of τ3.
//!
//! A hunter works in shares. When a share is used up, what was found is kept, and the next share continues there. The two
//! searches and the offers take turns in two orders, each step in one and the next in the other:
//!
//! - *Later parts first*: τ3 before τ2 before the next SC state, each oldest first. So the consequences of one start are
//!   settled before the next start is looked at.
//! - *Nearest first*: whatever is the fewest steps from an initial state. So a short violation is found although another
//!   start has infinitely many consequences, or more than fit into memory.
//!
//! Dead ends: as soon as τ3 has nothing left to expand, none of its states leads to a cycle. When one does, the states
//! since then may lead there too. They are forgotten, and the other open attacks that asked since then ask again.

use super::attacker::Pace;
use super::clock::{BETWEEN_LOOKS, HuntClock, HuntStop, HuntUsage};
use super::frontier::Frontier;
use super::offers::{Offer, OfferBatch};
use super::read_back::{AttackPath, AttackStep, FeasibleRun};
use super::shared::{AttackResult, Extent};
use super::successors::{Successors, Trail, delaying};
use super::view::AttackFields;
use super::{Attack, Attacks};
use crate::compile::Machine;
use crate::layout::Overflow;
use crate::run::UnreadablePath;
use ravelin_explore::{Space, StateId};
use ravelin_program::Model;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The attacks of one thread.
pub(super) struct Hunter<'a> {
    pub attacks: Attacks<'a>,
    pub thread: usize,
    pub plans: Vec<StorePlan>,
    /// By location: the attacker's accesses that can be reached from there before anything ends the attack.
    ahead: Vec<Vec<bool>>,
    /// SC states that were offered, in the order of [`Space::ids`].
    pub offered: usize,
    /// Where they are in several processes: those that are offered next.
    pub batch: OfferBatch,
    /// τ2.
    pub delaying: Frontier,
    /// The first states of τ2, and the SC state that each comes from.
    starts: Vec<(usize, StateId)>,
    /// τ3.
    pub helping: Frontier,
    /// States of τ3 before it are dead ends.
    dead_ends: usize,
    /// The first states of τ3 after the dead ends, and the state of τ2 that each comes from.
    roots: Vec<(usize, usize)>,
    /// If all attacks are to be settled: the states of τ2 that asked for a state of τ3 after the dead ends, and those that
    /// have to ask again.
    asked: Vec<usize>,
    again: Vec<usize>,
    /// Number of the attack and run, in the order of discovery.
    pub feasible: Vec<(usize, FeasibleRun)>,
    /// Bytes of these runs.
    run_bytes: usize,
    /// Steps of this hunter, and whether the last one was not completed.
    steps: u64,
    is_cut: bool,
    /// The next step is nearest first.
    nearest_is_next: bool,
    until_look: u32,
    /// States that may be found before the next check.
    allowance: u64,
    /// States and bytes that were reported as used at the last check.
    pub reported: (u64, u64),
    /// States of τ2 and of τ3 when the stage began.
    pub before_stage: (u64, u64),
    out: Successors,
    second: Successors,
}

/// A store and the open attacks with it.
pub(super) struct StorePlan {
    pub store: usize,
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

/// How a share ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShareEnd {
    /// It is used up.
    UsedUp,
    /// There is nothing left to do from the SC states that were offered.
    Idle,
    /// More SC states can be offered, and are not here.
    Waits,
    /// Nothing is left to do at all: one feasible attack was enough, or all are settled.
    Done,
}

/// A part of the search.
enum HuntTurn<'s> {
    Offer(Offer<'s>),
    Delaying(usize),
    Helping(usize),
    Again(usize),
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
            offered: 0,
            batch: OfferBatch::default(),
            delaying: Frontier::new(words),
            starts: Vec::new(),
            helping: Frontier::new(words),
            dead_ends: 0,
            roots: Vec::new(),
            asked: Vec::new(),
            again: Vec::new(),
            feasible: Vec::new(),
            run_bytes: 0,
            steps: 0,
            is_cut: false,
            nearest_is_next: false,
            until_look: BETWEEN_LOOKS,
            allowance: 0,
            reported: (0, 0),
            before_stage: (0, 0),
            out: Successors::new(words),
            second: Successors::new(words),
        }
    }

    /// The attacks that are open, by number.
    pub fn open(&self) -> impl Iterator<Item = usize> {
        self.plans.iter().flat_map(|plan| plan.open.iter().copied().flatten())
    }

    /// Every SC state was offered, and nothing is left to do from there.
    pub fn is_idle(&self, space: &Space<Overflow>) -> bool {
        let all_offered = self.offered as u64 == space.statistics.states;
        !self.is_cut && all_offered && self.delaying.is_drained() && self.helping.is_drained() && self.again.is_empty()
    }

    /// States of τ2 and of τ3.
    pub fn sizes(&self) -> (u64, u64) {
        (self.delaying.len() as u64, self.helping.len() as u64)
    }

    /// Whether a store that is attacked can be issued in an SC state.
    pub fn can_start_in(&self, state: &[u64]) -> bool {
        let stores = || self.plans.iter().map(|plan| plan.store);
        self.attacks.steps(self.thread, state).any(|(index, _)| stores().any(|store| store == index))
    }

    /// Continues until this hunter has taken so many steps in all.
    pub fn search(&mut self, most_steps: u64, round: &HuntRound) -> Result<ShareEnd, HuntStop> {
        let space = round.space;
        let result = if space.is_shared() {
            let batch = std::mem::take(&mut self.batch);
            let all = (round.offered as u64).min(space.statistics.states);
            let result = self.search_on(most_steps, round, batch.offers(self.offered as u64), batch.end() < all);
            self.batch = batch;
            result
        } else {
            let ids = space.ids().take(round.offered).skip(self.offered);
            self.search_on(most_steps, round, ids.map(|id| Some((id, space.state(id)))), false)
        };
        // A state that was taken and not expanded is missing from then on.
        self.is_cut |= result.is_err();
        self.report_to(round.used);
        result
    }

    /// `more`: after these offers there are others, which are not here.
    fn search_on<'s>(
        &mut self,
        most_steps: u64,
        round: &HuntRound,
        offers: impl Iterator<Item = Offer<'s>>,
        more: bool,
    ) -> Result<ShareEnd, HuntStop> {
        // Other searches may have used up the limit.
        self.until_look = 1;
        let mut offers = offers.peekable();
        loop {
            if self.is_done(round.extent) {
                return Ok(ShareEnd::Done);
            }
            if self.steps >= most_steps {
                return Ok(ShareEnd::UsedUp);
            }
            if more && offers.peek().is_none() {
                return Ok(ShareEnd::Waits);
            }
            self.look(round)?;
            let Some(turn) = self.choose(&mut offers, round.space) else { return Ok(ShareEnd::Idle) };
            self.steps += 1;
            match turn {
                HuntTurn::Offer(offer) => self.offer(offer, round)?,
                HuntTurn::Delaying(index) => self.step_from_delaying(index, round)?,
                HuntTurn::Helping(index) => self.step_from_helping(index, round)?,
                HuntTurn::Again(index) => self.ask_again(index, round)?,
            }
        }
    }

    /// What to do next. The two orders take turns.
    fn choose<'s>(
        &mut self,
        offers: &mut std::iter::Peekable<impl Iterator<Item = Offer<'s>>>,
        space: &Space<Overflow>,
    ) -> Option<HuntTurn<'s>> {
        if let Some(index) = self.again.pop() {
            return Some(HuntTurn::Again(index));
        }
        self.nearest_is_next = !self.nearest_is_next;
        if !self.nearest_is_next {
            let helping = self.helping.take_oldest().map(HuntTurn::Helping);
            let delaying = |hunter: &mut Self| hunter.delaying.take_oldest().map(HuntTurn::Delaying);
            return helping.or_else(|| delaying(self)).or_else(|| offers.next().map(HuntTurn::Offer));
        }
        let helping = self.helping.nearest_depth();
        let delaying = self.delaying.nearest_depth();
        let offer = offers.peek().map(|_| space.depth(self.offered) as u32);
        let nearest = [helping, delaying, offer].into_iter().flatten().min()?;
        // Of what is equally near, the last part is nearest to a cycle.
        if helping == Some(nearest) {
            self.helping.take_nearest().map(HuntTurn::Helping)
        } else if delaying == Some(nearest) {
            self.delaying.take_nearest().map(HuntTurn::Delaying)
        } else {
            offers.next().map(HuntTurn::Offer)
        }
    }

    fn is_done(&self, extent: Extent) -> bool {
        extent == Extent::First && !self.feasible.is_empty() || !self.plans.iter().any(StorePlan::is_open)
    }

    /// Tries every open store that can be issued in an SC state.
    fn offer(&mut self, offer: Offer, round: &HuntRound) -> Result<(), HuntStop> {
        let place = self.offered;
        self.offered += 1;
        let Some((id, state)) = offer else { return Ok(()) };
        let depth = round.space.depth(place) as u32 + 1;
        let mut out = std::mem::replace(&mut self.out, Successors::new(0));
        for number in 0..self.plans.len() {
            let store = self.plans[number].store;
            let enabled = self.attacks.steps(self.thread, state).any(|(index, _)| index == store);
            if !enabled || !self.plans[number].is_open() {
                continue;
            }
            self.starts(number, state, &mut out)?;
            for start in out.states() {
                if self.remember(start, Frontier::ROOT, depth) {
                    self.starts.push((self.delaying.len() - 1, id));
                }
            }
        }
        self.out = out;
        Ok(())
    }

    /// The states in which a store is delayed, from an SC state in which it can be issued.
    pub fn starts(&self, number: usize, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        out.clear();
        let store = self.plans[number].store;
        let step = &self.attacks.machine.threads[self.thread].steps[store];
        if self.attacks.start(self.thread, step, number, state, out)? {
            self.attacks.follow(self.thread, delaying(self.thread, store, 0, Pace::Delayed), out)?;
        }
        Ok(())
    }

    /// Stores a state of τ2 if an open access can still follow. Returns whether it is new.
    fn remember(&mut self, state: &[u64], parent: u32, depth: u32) -> bool {
        self.has_hope(state) && self.delaying.insert(state, parent, depth)
    }

    /// From a state of τ2 an open access can still follow.
    fn has_hope(&self, state: &[u64]) -> bool {
        let plan = &self.plans[self.attacks.view.store.get(state) as usize];
        let location = self.attacks.machine.layout.locations[self.thread].get(state) as usize;
        plan.has_hope(&self.ahead[location])
    }

    /// One step of τ2.
    fn step_from_delaying(&mut self, index: usize, round: &HuntRound) -> Result<(), HuntStop> {
        let state = self.delaying.state(index).to_vec();
        if !self.has_hope(&state) {
            // The attacks that it was stored for are settled by now.
            return Ok(());
        }
        let mut out = std::mem::replace(&mut self.out, Successors::new(0));
        out.clear();
        let attacked = self.ask_from(index, &state, &mut out, round);
        let depth = self.delaying.depth(index) + 1;
        if attacked.is_ok() && !self.is_done(round.extent) {
            self.run_helpers(&state, &mut out)?;
            for next in out.states() {
                self.remember(next, index as u32, depth);
            }
        }
        self.out = out;
        attacked
    }

    /// Asks the helpers again, from a state of τ2 whose successors are known.
    fn ask_again(&mut self, index: usize, round: &HuntRound) -> Result<(), HuntStop> {
        let state = self.delaying.state(index).to_vec();
        if !self.has_hope(&state) {
            return Ok(());
        }
        let mut out = std::mem::replace(&mut self.out, Successors::new(0));
        out.clear();
        let asked = self.ask_from(index, &state, &mut out, round);
        self.out = out;
        asked
    }

    /// The attacker's steps from a state of τ2, into `out`. After those that are open attacks, helpers are asked.
    fn ask_from(
        &mut self,
        index: usize,
        state: &[u64],
        out: &mut Successors,
        round: &HuntRound,
    ) -> Result<(), HuntStop> {
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
                    if !out.log.is_empty() && self.plans[number].open[step_index].is_some() {
                        self.ask_helpers(index, out, round)?;
                        if self.is_done(round.extent) {
                            return Ok(());
                        }
                    }
                    self.attacks.note_access(self.thread, out);
                    self.attacks.follow(self.thread, delaying(self.thread, step_index, choice, pace), out)?;
                }
            }
        }
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

    /// τ3 begins: can the helpers close the cycle, after the attacker's action in the state `index` of τ2 that led to
    /// `from`?
    fn ask_helpers(&mut self, index: usize, from: &Successors, round: &HuntRound) -> Result<(), HuntStop> {
        let mut out = std::mem::replace(&mut self.second, Successors::new(0));
        let root = self.root_of(from, &mut out);
        // Usually no helper can join at once, and there is nothing to remember.
        out.clear();
        self.expand_helping(&root, &mut out)?;
        let depth = self.delaying.depth(index) + 1;
        let mut result = Ok(());
        if !out.is_empty() {
            if round.extent == Extent::All && self.asked.last() != Some(&index) {
                self.asked.push(index);
            }
            if self.helping.insert_expanded(&root, Frontier::ROOT, depth) {
                let at = self.helping.len() - 1;
                self.roots.push((at, index));
                result = self.keep_helping(at, &out, round);
            }
            self.note_dead_ends();
        }
        self.second = out;
        result
    }

    /// The first state of τ3, after an action of the attacker.
    fn root_of(&self, from: &Successors, out: &mut Successors) -> Vec<u64> {
        out.begin(&from.next);
        out.log.copy_from(&from.log);
        self.attacks.stop_attacker(self.thread, out);
        out.next.clone()
    }

    /// One step of τ3.
    fn step_from_helping(&mut self, index: usize, round: &HuntRound) -> Result<(), HuntStop> {
        let state = self.helping.state(index).to_vec();
        let mut out = std::mem::replace(&mut self.second, Successors::new(0));
        out.clear();
        self.expand_helping(&state, &mut out)?;
        let result = self.keep_helping(index, &out, round);
        self.second = out;
        self.note_dead_ends();
        result
    }

    /// Stores the successors of a state of τ3, unless one closes the cycle.
    fn keep_helping(&mut self, index: usize, out: &Successors, round: &HuntRound) -> Result<(), HuntStop> {
        let depth = self.helping.depth(index) + 1;
        for next in out.states() {
            if self.attacks.succeeds(next) {
                return self.succeed(index, next, round);
            }
            self.helping.insert(next, index as u32, depth);
        }
        Ok(())
    }

    /// All states of τ3 are expanded, and none led to a cycle.
    fn note_dead_ends(&mut self) {
        if self.helping.is_drained() {
            self.dead_ends = self.helping.len();
            self.roots.clear();
            self.asked.clear();
        }
    }

    /// An attack is feasible: `last` closes the cycle, a successor of the state `index` of τ3.
    fn succeed(&mut self, index: usize, last: &[u64], round: &HuntRound) -> Result<(), HuntStop> {
        let path = self.helping.path(index);
        let unread = || UnreadablePath { step: path.len() };
        let root = self.roots.binary_search_by_key(&path[0], |(root, _)| *root).map_err(|_| unread())?;
        let (_, from) = self.roots[root];
        let mut states: Vec<Vec<u64>> = path.iter().map(|&index| self.helping.state(index).to_vec()).collect();
        states.push(last.to_vec());
        let asker = self.delaying.state(from);
        let number = self.attacks.view.store.get(asker) as usize;
        let is_open = |step: usize| self.plans[number].open[step].is_some();
        let (load, _) = self.load_to(asker, &states[0], is_open)?.ok_or_else(unread)?;
        let attack = self.plans[number].open[load].take().ok_or_else(unread)?;
        let delaying = self.delaying.path(from);
        let start = self.starts.binary_search_by_key(&delaying[0], |(index, _)| *index).map_err(|_| unread())?;
        let path = AttackPath {
            start: self.starts[start].1,
            load,
            delaying: delaying.into_iter().map(|index| self.delaying.state(index).to_vec()).collect(),
            helping: states,
        };
        let run = if round.space.is_shared() {
            FeasibleRun::Path(path)
        } else {
            FeasibleRun::Read(self.read_back(&path, &round.space.path(path.start))?)
        };
        // The way to the start is not known yet where it is in several processes.
        let to_start = self.delaying.depth(self.delaying.path(from)[0]) as usize;
        self.run_bytes += run.bytes() + if round.space.is_shared() { to_start * size_of::<AttackStep>() } else { 0 };
        self.feasible.push((attack, run));
        // A run is long compared to a state.
        self.until_look = self.until_look.min(2);
        // Other states may lead to the cycle too: they are no dead ends.
        self.helping.truncate(self.dead_ends);
        self.roots.clear();
        self.again.append(&mut self.asked);
        Ok(())
    }

    /// The attacker's action from a state of τ2 to the first state of a path, one of the actions that are permitted, with its step.
    pub fn load_to(
        &self,
        state: &[u64],
        root: &[u64],
        is_permitted: impl Fn(usize) -> bool,
    ) -> Result<Option<(usize, Trail)>, Overflow> {
        let (mut out, mut first) = (Successors::new(self.attacks.view.words), Successors::new(self.attacks.view.words));
        for (index, step) in self.attacks.steps(self.thread, state).filter(|(index, _)| is_permitted(*index)) {
            for choice in self.attacks.machine.choices(&step.op) {
                for &pace in self.attacks.paces(step) {
                    if self.attacks.delay(self.thread, step, choice, pace, state, &mut out)?
                        && !out.log.is_empty()
                        && self.root_of(&out, &mut first) == root
                    {
                        return Ok(Some((index, delaying(self.thread, index, choice, pace))));
                    }
                }
            }
        }
        Ok(None)
    }

    pub fn expand_helping(&self, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
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
        if round.number > round.halt.load(Ordering::Relaxed) {
            return Err(HuntStop::Halted);
        }
        self.report_to(round.used);
        self.until_look = BETWEEN_LOOKS;
        self.allowance = round.clock.allowance(round.used);
        round.clock.look(round.used)
    }

    fn states(&self) -> u64 {
        (self.delaying.len() + self.helping.len()) as u64
    }

    /// Adds the usage since the last check to the account.
    fn report_to(&mut self, used: &HuntUsage) {
        let states = self.states();
        let lists =
            (self.starts.capacity() + self.roots.capacity()) * 16 + (self.asked.capacity() + self.again.capacity()) * 8;
        let bytes = (self.delaying.bytes() + self.helping.bytes() + lists + self.run_bytes + self.batch.bytes()) as u64;
        used.states.fetch_add(states.wrapping_sub(self.reported.0), Ordering::Relaxed);
        used.bytes.fetch_add(bytes.wrapping_sub(self.reported.1), Ordering::Relaxed);
        self.reported = (states, bytes);
    }

    /// All steps of τ2, without checking whether one is the attacked load.
    pub fn step_delaying(&self, from: &[u64], out: &mut Successors) -> Result<(), Overflow> {
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

/// The surroundings of a share.
pub(super) struct HuntRound<'a> {
    pub space: &'a Space<Overflow>,
    /// SC states that may be offered.
    pub offered: usize,
    pub clock: &'a HuntClock<'a>,
    pub used: &'a HuntUsage,
    pub extent: Extent,
    /// The number of the hunter, and the least number of one that has ended the stage. Those after it stop.
    pub number: usize,
    pub halt: &'a AtomicUsize,
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
