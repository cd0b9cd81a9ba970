//! What the monitor has to remember about a program: which cells, and which facts about each.
//!
//! A cell is tracked if several threads touch it and one writes it. In a cell that only one thread uses nothing is ever
//! stale, and a cell that no thread writes passes nothing on.
//!
//! A *fact* is one column of every view. It belongs to a cell and says that the view knows a write that is newer than
//! every write a stale access could use. Which writes those are depends on the access:
//!
//! - it reads (a load), or it also writes (a store, an RMW) and then has to squeeze in before a write that is not an
//!   RMW: the two copies of section 4.1 of the paper ([`Fact::squeezes`]);
//! - any value matters, or only some: those that let a `wait`, a `bcas` or a strong compare-exchange pass or fail,
//!   section 4.3 ([`Class`]). For value v of cell x the fact is lost when a write overwrites v, because only then is
//!   there a new stale v. All other writes leave it as it is.
//!
//! Only facts that some access asks for exist, and only if another thread can make them false. The `_sc` sets have one
//! column per cell, whatever the access. If a write is SC-before a thread, then so are all modification-order-earlier
//! writes. Omitting what is not SC-before the thread gives a run in which the *latest* write is SC-before it.
//!
//! Marks for data races are further columns: one per cell, thread and kind of access. A mark says that the view happens
//! after that thread's last such access. One per cell would not be enough: two atomic writes may race with one
//! non-atomic read although the later of them is known.

use super::columns::{Columns, MOST_COLUMNS};
use super::effect::{C11Settings, MonitorEffect};
use super::known_facts::KnownFacts;
use super::passing::PassingValues;
use super::questions::{CellQuestion, FollowedRegisters, StaleValues, cell_questions};
use super::refusal::MonitorRefusal;
use super::search::MonitorError;
use crate::access::slots;
use crate::compile::Machine;
use crate::ranges::{Interval, Ranges};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Domain, Escape, Model, TransitionId, Value};

pub(crate) struct MonitorPlan {
    /// By slot: its number among the tracked cells.
    pub cell_of: Vec<Option<usize>>,
    pub cells: Vec<MonitorCell>,
    pub facts: Vec<Fact>,
    /// Columns after those of the facts.
    pub marks: Vec<AccessMark>,
    /// Cells that have facts: the columns of the `_sc` sets.
    pub sc_columns: usize,
    /// By thread and step.
    pub effects: Vec<Vec<MonitorEffect>>,
    /// By thread and step: the facts that it asks for.
    pub asked: Vec<Vec<Vec<usize>>>,
    /// By thread and step: the values that let a wait pass which does not list them.
    pub passing: Vec<Vec<Option<PassingValues>>>,
    /// Some access can lead to cells that are not known yet.
    pub leads_elsewhere: bool,
    /// By thread and step: it only accesses cells that a lock guards.
    pub guarded: Vec<Vec<bool>>,
    /// TSO or PSO.
    pub hardware: Option<Model>,
}

pub(crate) struct MonitorCell {
    pub slot: usize,
    /// Its column in the `_sc` sets, if it has facts.
    pub sc_column: Option<usize>,
    /// Its facts.
    pub facts: Vec<usize>,
    /// The values it can hold.
    interval: Interval,
    /// Some access to it may be an RMW.
    updated: bool,
    /// By thread: whether it may load what it stored itself.
    pub rereads: Vec<bool>,
    /// Facts about any stale value, and about one that differs from the last; see [`Class::DIFFERENT`].
    pub different: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    pub cell: usize,
    /// Lost only by writes that are not RMWs.
    pub squeezes: bool,
    pub class: Class,
}

/// The stale values that matter: those of `lo..=hi` except one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub lo: Value,
    pub hi: Value,
    pub except: Option<Value>,
}

impl Class {
    pub const ANY: Class = Class { lo: Value::MIN, hi: Value::MAX, except: None };

    /// All values except that of the last stale write, which is kept beside the fact. A compare-exchange that expects
    /// one of many values and may fail needs this fact and the one about any stale value. If the last stale value
    /// differs from the expected one, any stale value is enough; otherwise one that differs from it is needed. This is
    /// not a fixed class of values.
    pub const DIFFERENT: Class = Class { lo: Value::MAX, hi: Value::MIN, except: None };

    pub fn only(value: Value) -> Class {
        Class { lo: value, hi: value, except: None }
    }

    pub fn but(self, value: Value) -> Class {
        Class { except: Some(value), ..self }
    }

    /// The values that a register admits. One that faults counts: a fault that only weak memory has is no SC behaviour.
    pub fn admitted(domain: Option<Domain>) -> Class {
        match domain {
            Some(Domain { lo, hi, escape: Escape::Block }) => Class { lo, hi, except: None },
            _ => Class::ANY,
        }
    }

    #[inline]
    pub fn contains(&self, value: Value) -> bool {
        (self.lo..=self.hi).contains(&value) && self.except != Some(value)
    }

    /// The same class for a cell that holds only some values; `None` if it is empty.
    fn within(self, interval: Interval) -> Option<Class> {
        let except = self.except.filter(|value| (interval.lo..=interval.hi).contains(value));
        let all = self.lo <= interval.lo && interval.hi <= self.hi;
        let class = if all { Class { except, ..Class::ANY } } else { Class { except, ..self } };
        (self.lo.max(interval.lo) <= self.hi.min(interval.hi)).then_some(class)
    }
}

/// A thread's last access of a kind, which may happen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccessMark {
    pub cell: usize,
    pub thread: usize,
    pub atomic: bool,
    pub writes: bool,
}

impl AccessMark {
    fn conflicts(&self, thread: usize, atomic: bool, writes: bool) -> bool {
        self.thread != thread && (self.writes || writes) && !(self.atomic && atomic)
    }
}

/// What one thread may do to one cell.
#[derive(Clone, Copy, Default)]
struct CellUse {
    /// By atomicity and whether it writes.
    kinds: [[bool; 2]; 2],
    /// Writes without reading, and reads without writing.
    plain: bool,
    loads: bool,
    updates: bool,
}

impl CellUse {
    fn touches(&self) -> bool {
        self.kinds.iter().flatten().any(|kind| *kind)
    }

    fn writes(&self) -> bool {
        self.kinds.iter().any(|kind| kind[1])
    }
}

impl MonitorPlan {
    pub fn new(machine: &Machine, settings: C11Settings, watch: &Watch) -> Result<MonitorPlan, MonitorError> {
        let program = &machine.program;
        let ranges = Ranges::infer(program, watch)?;
        let effects: Vec<Vec<MonitorEffect>> = (program.threads.iter())
            .map(|thread| thread.transitions.iter().map(|t| MonitorEffect::of(&t.instruction, settings)).collect())
            .collect();
        let (touches, leads_elsewhere) = touches(machine, &ranges, &effects, watch)?;
        let mut followed = FollowedRegisters::new(program, &ranges, watch);
        let mut plan = MonitorPlan {
            cell_of: vec![None; touches.len()],
            cells: Vec::new(),
            facts: Vec::new(),
            marks: Vec::new(),
            sc_columns: 0,
            effects,
            asked: Vec::new(),
            passing: Vec::new(),
            leads_elsewhere,
            guarded: Vec::new(),
            hardware: settings.model.is_hardware().then_some(settings.model),
        };
        for (slot, by_thread) in touches.iter().enumerate() {
            let shared = by_thread.iter().filter(|touch| touch.touches()).count() > 1;
            if shared && by_thread.iter().any(CellUse::writes) {
                plan.cell_of[slot] = Some(plan.cells.len());
                let address = machine.layout.addresses[slot];
                plan.cells.push(MonitorCell {
                    slot,
                    sc_column: None,
                    facts: Vec::new(),
                    interval: ranges.cells.get(&address).copied().unwrap_or(ranges.others),
                    updated: by_thread.iter().any(|touch| touch.updates),
                    rereads: by_thread.iter().map(|touch| touch.plain && touch.loads).collect(),
                    different: None,
                });
            }
        }
        let known =
            KnownFacts::find(machine, settings, &ranges, |slot| plan.cell_of[slot].is_some(), &plan.effects, watch)?;
        for (number, thread) in program.threads.iter().enumerate() {
            let mut asked = Vec::with_capacity(thread.transitions.len());
            plan.passing.push(vec![None; thread.transitions.len()]);
            for transition in 0..thread.transitions.len() {
                watch.hold(size_of::<Vec<usize>>() + size_of::<Option<PassingValues>>())?;
                asked.push(match known.is_known(number, transition) {
                    true => Vec::new(),
                    false => plan.add_facts(machine, &mut followed, &touches, number, TransitionId(transition))?,
                });
            }
            plan.asked.push(asked);
        }
        if settings.races {
            plan.add_marks(&touches, &known, watch)?;
        }
        plan.guarded = known.guarded;
        if plan.columns() > MOST_COLUMNS {
            return Err(MonitorRefusal::TooManyFacts { facts: plan.columns(), limit: MOST_COLUMNS }.into());
        }
        for cell in &mut plan.cells {
            if !cell.facts.is_empty() {
                cell.sc_column = Some(plan.sc_columns);
                plan.sc_columns += 1;
            }
        }
        Ok(plan)
    }

    /// The fact that an access asks for, if it can ever be false.
    #[inline]
    pub fn fact(&self, cell: usize, squeezes: bool, class: Class) -> Option<usize> {
        let known = &self.cells[cell];
        let class = class.within(known.interval)?;
        let wanted = Fact { cell, squeezes: squeezes && known.updated, class };
        known.facts.iter().copied().find(|&fact| self.facts[fact] == wanted)
    }

    /// The column of a thread's accesses of a kind.
    pub fn mark(&self, cell: usize, thread: usize, atomic: bool, writes: bool) -> Option<usize> {
        let wanted = AccessMark { cell, thread, atomic, writes };
        self.marks.iter().position(|mark| *mark == wanted).map(|mark| self.facts.len() + mark)
    }

    /// The marks that an access must know.
    pub fn conflicts<const N: usize>(&self, cell: usize, thread: usize, atomic: bool, writes: bool) -> Columns<N> {
        let conflicting = |mark: &AccessMark| mark.cell == cell && mark.conflicts(thread, atomic, writes);
        let columns = (self.marks.iter().enumerate()).filter(|(_, mark)| conflicting(mark));
        columns.map(|(mark, _)| self.facts.len() + mark).collect()
    }

    /// Nothing can go wrong: no fact can be false and nothing can race.
    pub fn is_idle(&self) -> bool {
        self.columns() == 0 && !self.leads_elsewhere
    }

    /// How many columns a view has.
    pub fn columns(&self) -> usize {
        self.facts.len() + self.marks.len()
    }

    fn add_facts(
        &mut self,
        machine: &Machine,
        followed: &mut FollowedRegisters,
        touches: &[Vec<CellUse>],
        thread: usize,
        transition: TransitionId,
    ) -> Result<Vec<usize>, MonitorError> {
        let program = &machine.program;
        let ranges = followed.ranges;
        let mut facts = Vec::new();
        for CellQuestion { address, squeezes, admitted, values } in cell_questions(followed, thread, transition)? {
            for slot in slots(program, thread, address, ranges, &machine.layout).iter() {
                followed.watch.step()?;
                let Some(cell) = self.cell_of[slot] else { continue };
                let others = || touches[slot].iter().enumerate().filter(|(other, _)| *other != thread);
                let lost = others().any(|(_, touch)| if squeezes { touch.plain } else { touch.writes() });
                if !lost {
                    continue;
                }
                match &values {
                    StaleValues::All => facts.extend(self.add_fact(cell, squeezes, admitted)),
                    StaleValues::Only(Some(values)) => {
                        let admitted = values.iter().filter(|&&value| admitted.contains(value));
                        facts.extend(admitted.filter_map(|&value| self.add_fact(cell, squeezes, Class::only(value))));
                    }
                    StaleValues::But(Some(values)) if values.len() <= 1 || admitted != Class::ANY => {
                        facts.extend(values.iter().filter_map(|&v| self.add_fact(cell, squeezes, admitted.but(v))));
                    }
                    StaleValues::But(_) if admitted == Class::ANY && !squeezes => {
                        facts.extend(self.add_fact(cell, false, Class::ANY));
                        facts.extend(self.add_different(cell));
                    }
                    StaleValues::Passing(Some(passing)) => {
                        facts.extend(passing.classes().filter_map(|class| self.add_fact(cell, squeezes, class)));
                    }
                    StaleValues::Only(None) | StaleValues::But(_) | StaleValues::Passing(None) => {
                        let code = &program.threads[thread];
                        let position = program.source.position(code.transitions[transition.0].span);
                        let line = position.map(|position| position.line);
                        return Err(MonitorRefusal::TooManyValues { thread: code.name.clone(), line }.into());
                    }
                }
            }
            if let StaleValues::Passing(passing) = values {
                self.passing[thread][transition.0] = passing;
            }
        }
        Ok(facts)
    }

    fn add_different(&mut self, cell: usize) -> Option<usize> {
        let any = self.fact(cell, false, Class::ANY)?;
        let different = match self.cells[cell].different {
            Some((_, different)) => different,
            None => self.push(Fact { cell, squeezes: false, class: Class::DIFFERENT }),
        };
        self.cells[cell].different = Some((any, different));
        Some(different)
    }

    fn add_fact(&mut self, cell: usize, squeezes: bool, class: Class) -> Option<usize> {
        let class = class.within(self.cells[cell].interval)?;
        let fact = Fact { cell, squeezes: squeezes && self.cells[cell].updated, class };
        let known = self.cells[cell].facts.iter().copied().find(|&known| self.facts[known] == fact);
        Some(known.unwrap_or_else(|| self.push(fact)))
    }

    fn push(&mut self, fact: Fact) -> usize {
        self.cells[fact.cell].facts.push(self.facts.len());
        self.facts.push(fact);
        self.facts.len() - 1
    }

    fn add_marks(&mut self, touches: &[Vec<CellUse>], known: &KnownFacts, watch: &Watch) -> Result<(), Limit> {
        for (cell, MonitorCell { slot, .. }) in self.cells.iter().enumerate() {
            if known.is_guarded(*slot) {
                continue;
            }
            let can = |thread: usize, atomic: bool, writes: bool| {
                touches[*slot][thread].kinds[usize::from(atomic)][usize::from(writes)]
            };
            let kinds = [(false, false), (false, true), (true, false), (true, true)];
            for thread in 0..touches[*slot].len() {
                watch.steps(1 + touches[*slot].len())?;
                for (atomic, writes) in kinds {
                    let mark = AccessMark { cell, thread, atomic, writes };
                    let met = (0..touches[*slot].len())
                        .any(|other| kinds.iter().any(|&(a, w)| can(other, a, w) && mark.conflicts(other, a, w)));
                    if can(thread, atomic, writes) && met {
                        self.marks.push(mark);
                    }
                }
            }
        }
        Ok(())
    }
}

/// By slot and thread; and whether unknown cells can be touched.
fn touches(
    machine: &Machine,
    ranges: &Ranges,
    effects: &[Vec<MonitorEffect>],
    watch: &Watch,
) -> Result<(Vec<Vec<CellUse>>, bool), Limit> {
    let program = &machine.program;
    let row = size_of::<Vec<CellUse>>() + program.threads.len() * size_of::<CellUse>();
    watch.hold(row * machine.layout.cells.len())?;
    let mut touches = vec![vec![CellUse::default(); program.threads.len()]; machine.layout.cells.len()];
    let mut leads_elsewhere = false;
    for (number, thread) in program.threads.iter().enumerate() {
        for (transition, effect) in thread.transitions.iter().zip(&effects[number]) {
            for access in transition.instruction.accesses() {
                let reached = slots(program, number, access.address, ranges, &machine.layout);
                leads_elsewhere |= reached.leads_elsewhere();
                watch.step()?;
                for slot in reached.iter() {
                    watch.step()?;
                    let touch = &mut touches[slot][number];
                    for (mode, reads, writes) in effect.accesses() {
                        touch.kinds[usize::from(mode.atomic)][usize::from(writes)] = true;
                        touch.plain |= writes && !reads;
                        touch.loads |= reads && !writes;
                        touch.updates |= writes && reads;
                    }
                }
            }
        }
    }
    Ok((touches, leads_elsewhere))
}
