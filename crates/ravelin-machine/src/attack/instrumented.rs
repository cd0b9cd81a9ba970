//! The instrumented program of the paper, section 5, as one transition system: for one attack, or for all of them in a
//! single query (section 8.3 of the ESOP paper: every thread may attack, every store may be the delayed one, every load
//! the attacked one).
//!
//! This follows the paper directly: helpers run freely until the attacked load is done, and are stopped from then on
//! unless they are on the happens-before path. It therefore explores a copy of the SC space for each way to delay
//! stores. It exists for comparison, and as the baseline that the faster search has to beat.

use super::attacker::Pace;
use super::read_back::{AttackRun, AttackStep, ReadBackError, WitnessPart};
use super::successors::{Successors, Trail, delaying};
use super::view::AttackFields;
use super::{Attack, Attacks};
use crate::compile::{BuildError, Machine};
use crate::growing::{GrowthAttempt, growing};
use crate::layout::{Growth, Overflow};
use ravelin_explore::{End, Limit, Options, Sink, Statistics, System, Until, Watch, explore};
use ravelin_program::{Model, Program};
use ravelin_semantics::Action;

/// The answer to one query.
pub struct Query {
    /// The attack that was found feasible.
    pub found: Option<(Attack, AttackRun)>,
    pub limit: Option<Limit>,
    pub statistics: Statistics,
}

/// Searches whether one of the attacks is feasible.
pub fn query(program: &Program, model: Model, attacks: &[Attack], options: &Options) -> Result<Query, ReadBackError> {
    let build = |growth: &Growth, watch: &Watch| Ok(super::machine(program, model, growth, watch)?);
    growing(options, build, |machine, left| {
        let system = InstrumentedSystem::new(&machine, model, attacks);
        let space = explore(&system, &Options { until: Until::FirstFinding, ..*left });
        let limit = match space.end {
            End::Interrupted(outgrown) => return Ok(GrowthAttempt::Outgrown(Box::new(machine), outgrown)),
            End::Failed(error) => return Err(error.into()),
            End::Limit(limit) => Some(options.budget.limits.as_given(limit)),
            _ => None,
        };
        let found = match space.findings.first() {
            Some(finding) => Some(system.read_back(&space.path(finding.state))?),
            None => None,
        };
        Ok(GrowthAttempt::Done(Query { found, limit, statistics: space.statistics }))
    })
}

struct InstrumentedSystem<'a> {
    attacks: Attacks<'a>,
    /// Thread and transition of each store that may be attacked.
    stores: Vec<(usize, usize)>,
    /// By store: the transitions that may overtake it.
    loads: Vec<Vec<usize>>,
}

impl<'a> InstrumentedSystem<'a> {
    fn new(machine: &'a Machine, model: Model, attacks: &[Attack]) -> InstrumentedSystem<'a> {
        let mut stores: Vec<(usize, usize)> = attacks.iter().map(|attack| (attack.thread.0, attack.store.0)).collect();
        stores.sort_unstable();
        stores.dedup();
        let loads = stores
            .iter()
            .map(|&store| {
                let with_it = attacks.iter().filter(|attack| (attack.thread.0, attack.store.0) == store);
                with_it.map(|attack| attack.load.0).collect()
            })
            .collect();
        let mut attackers: Vec<usize> = stores.iter().map(|&(thread, _)| thread).collect();
        attackers.dedup();
        let view = AttackFields::new(machine, &attackers, stores.len(), model == Model::Pso);
        InstrumentedSystem { attacks: Attacks { machine, view }, stores, loads }
    }

    fn expand_into(&self, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        let Attacks { machine, view } = &self.attacks;
        let number = view.store.get(state) as usize;
        let attacker = match (view.attacker, self.stores.get(number)) {
            (Some(field), _) => (field.get(state) as usize).wrapping_sub(1),
            (None, Some(&(thread, _))) => thread,
            (None, None) => usize::MAX,
        };
        let threads = 0..machine.threads.len();
        match view.phase.get(state) {
            0 => {
                for thread in threads {
                    self.attacks.run(thread, state, out)?;
                }
                for (number, &(thread, store)) in self.stores.iter().enumerate() {
                    let enabled = self.attacks.steps(thread, state).any(|(index, _)| index == store);
                    let step = &machine.threads[thread].steps[store];
                    if enabled && self.attacks.start(thread, step, number, state, out)? {
                        self.attacks.follow(thread, delaying(thread, store, 0, Pace::Delayed), out)?;
                    }
                }
            }
            1 => {
                for (index, step) in self.attacks.steps(attacker, state) {
                    for choice in machine.choices(&step.op) {
                        for &pace in self.attacks.paces(step) {
                            if !self.attacks.delay(attacker, step, choice, pace, state, out)? {
                                continue;
                            }
                            let trail = delaying(attacker, index, choice, pace);
                            self.attacks.follow(attacker, trail, out)?;
                            if !out.log.is_empty() && self.loads[number].contains(&index) {
                                // Repeated, because the walk through fused steps consumed its start.
                                self.attacks.delay(attacker, step, choice, pace, state, out)?;
                                self.attacks.stop_attacker(attacker, out);
                                out.keep_as_it_is(trail);
                            }
                        }
                    }
                }
                for helper in threads.filter(|&helper| helper != attacker) {
                    self.attacks.run(helper, state, out)?;
                }
            }
            _ => {
                for helper in threads.filter(|&helper| helper != attacker) {
                    self.attacks.help(helper, state, out)?;
                }
            }
        }
        Ok(())
    }

    fn read_back(&self, path: &[&[u64]]) -> Result<(Attack, AttackRun), ReadBackError> {
        let Attacks { machine, view } = &self.attacks;
        let sc: Vec<&[u64]> =
            path.iter().take_while(|state| view.phase.get(state) == 0).map(|state| &state[..view.sc_words]).collect();
        let (run, _) = machine.read_back(&sc)?;
        let mut steps: Vec<AttackStep> = run
            .actions
            .iter()
            .map(|&action| AttackStep { part: WitnessPart::Prefix, action, delayed: false })
            .collect();
        let mut out = Successors::recording(view.words);
        for (step, pair) in path.windows(2).enumerate().skip(sc.len() - 1) {
            out.clear();
            let unread = || ReadBackError::Path(crate::run::UnreadablePath { step });
            self.expand_into(pair[0], &mut out).map_err(|_| unread())?;
            let trail = out.trail_to(pair[1]).ok_or_else(unread)?;
            for (number, Trail { action, delayed }) in trail.into_iter().enumerate() {
                let part = match (view.phase.get(pair[0]), view.phase.get(pair[1])) {
                    (0, _) if number == 0 => WitnessPart::Store,
                    (1, 2) => WitnessPart::Load,
                    (2, _) => WitnessPart::Path,
                    _ => WitnessPart::Delaying,
                };
                steps.push(AttackStep { part, action, delayed });
            }
        }
        let transition = |part: WitnessPart| {
            steps.iter().find(|step| step.part == part).and_then(|step| match step.action {
                Action::Step { thread, transition, .. } => Some((thread, transition)),
                Action::Flush { .. } => None,
            })
        };
        match (transition(WitnessPart::Store), transition(WitnessPart::Load)) {
            (Some((thread, store)), Some((_, load))) => {
                Ok((Attack { thread, store, load }, AttackRun { start: run.start, steps }))
            }
            _ => Err(ReadBackError::Path(crate::run::UnreadablePath { step: path.len() })),
        }
    }
}

impl System for InstrumentedSystem<'_> {
    type Scratch = Successors;
    type Interrupt = Overflow;

    fn width(&self) -> usize {
        self.attacks.view.words
    }

    fn scratch(&self) -> Successors {
        Successors::new(self.attacks.view.words)
    }

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        self.attacks.initial_states(emit);
    }

    fn expand(&self, state: &[u64], out: &mut Successors, sink: &mut Sink) -> Result<(), Overflow> {
        if self.attacks.view.phase.get(state) == 2 && self.attacks.succeeds(state) {
            sink.report(0);
            return Ok(());
        }
        out.clear();
        self.expand_into(state, out)?;
        for next in out.states() {
            sink.push(next);
        }
        Ok(())
    }
}

impl From<BuildError> for ReadBackError {
    fn from(error: BuildError) -> ReadBackError {
        ReadBackError::Build(error)
    }
}
