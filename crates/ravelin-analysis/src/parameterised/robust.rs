//! Is a program robust against TSO for every number of threads?
//!
//! By Theorem 4 of the paper it is not exactly if an attack is feasible in some instance, and a net says whether there is one
//! (`attack.rs`). Small instances are looked at first, explicitly and for a moment: a fault mostly shows with two or three copies. Then
//! each thread's net is asked. If it says yes, the firing sequence gives an instance with the fault, which bounds the search for the
//! smallest one; its witness is replayed like any other. If all nets say no, the program is robust whatever the numbers.

use super::actor::Actor;
use super::attack::{AttackNet, ThreadAttacks, attack_net};
use super::instances::{Instance, of_size, size};
use super::run::attack_run;
use crate::reachability::finite::Finite;
use crate::robustness::{
    Attack, AttackFate, JudgedAttack, ProgramFacts, RobustnessAnswer, RobustnessEffort, RobustnessQuestion, attacks,
    build_witness, robustness,
};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_backward::BackwardCounts;
use ravelin_backward::nets::{CoverAnswer, CoverVerdict, Net, cover};
use ravelin_explore::{Budget, Limit, Watch};
use ravelin_program::{Copies, HardwareProgram, Model, Program, ThreadId};
use std::time::{Duration, Instant};

/// Copies in the instances that are looked at before any net, and states of each.
const FIRST_SIZE: usize = 2;
const FIRST_LOOK: u64 = 20_000;
/// States of one instance while a smaller one than that of the firing sequence is looked for.
const SECOND_LOOK: u64 = 1_000_000;

/// What an answer about any number of threads rests on.
#[derive(Clone, Debug, Default)]
pub struct AnyNumber {
    /// Not robust: the instance that the witness is of.
    pub instance: Option<Instance>,
    /// The nets that were asked, one for each thread that could attack.
    pub nets: Vec<NetReport>,
    /// Instances that were explored, and up to which number of copies all of them.
    pub instances: usize,
    pub up_to: Option<usize>,
}

/// A net and what it took to decide it.
#[derive(Clone, Debug)]
pub struct NetReport {
    /// The thread that attacks; none if the net is about goals.
    pub thread: Option<String>,
    pub places: usize,
    pub transitions: usize,
    /// Threads need not be counted.
    pub by_sets: bool,
    pub counts: BackwardCounts,
    pub elapsed: Duration,
    /// Its target can be covered, so some instance has the fault; `None` if a limit was hit.
    pub coverable: Option<bool>,
}

impl NetReport {
    pub(super) fn new(
        finite: &Finite,
        thread: Option<String>,
        net: &Net,
        actors: &[Actor],
        answer: &CoverAnswer,
    ) -> NetReport {
        let crowds = actors.iter().filter(|actor| super::attack::is_template(finite, actor.thread));
        NetReport {
            thread,
            places: net.places.len(),
            transitions: net.transitions.len(),
            by_sets: crowds.flat_map(|actor| &actor.is_set).all(|set| *set),
            counts: answer.counts,
            elapsed: answer.elapsed,
            coverable: match answer.verdict {
                CoverVerdict::Uncoverable => Some(false),
                CoverVerdict::Coverable(_) => Some(true),
                CoverVerdict::Unknown(_) => None,
            },
        }
    }
}

/// Asks whether every instance of a program is robust.
pub fn robust_for_any_number(
    program: &Program,
    question: &RobustnessQuestion,
) -> Result<RobustnessAnswer, AnalysisError> {
    ask(program, question, true)
}

/// The same without a look at small instances first; those are only asked for the smallest one, if there is a fault.
pub fn robust_by_nets(program: &Program, question: &RobustnessQuestion) -> Result<RobustnessAnswer, AnalysisError> {
    ask(program, question, false)
}

fn ask(program: &Program, question: &RobustnessQuestion, looks_first: bool) -> Result<RobustnessAnswer, AnalysisError> {
    if question.model != Model::Tso {
        let thread = program.threads.iter().find(|thread| thread.copies == Copies::Any);
        let name = thread.map_or_else(String::new, |thread| thread.name.clone());
        return Err(AnalysisError::AnyNumberIsForTso(name));
    }
    let mut asking = AttackInquiry {
        program,
        question,
        start: Instant::now(),
        found: AnyNumber::default(),
        explored: RobustnessEffort::default(),
    };
    if looks_first && let Some(answer) = asking.small_instances()? {
        return Ok(asking.finish(answer));
    }
    let answer = asking.nets()?;
    Ok(asking.finish(answer))
}

/// The finite view of a program's accesses, and the attacks of each thread that are not dismissed.
pub(super) fn targets(
    program: &Program,
    watch: &Watch,
) -> Result<(Finite, Vec<JudgedAttack>, Vec<ThreadAttacks>), AnalysisError> {
    let finite = Finite::of_accesses(program, watch)?;
    let judged = judge(program, watch)?;
    let mut targets: Vec<ThreadAttacks> = Vec::new();
    for JudgedAttack { attack, fate } in &judged {
        if !matches!(fate, AttackFate::Open) {
            continue;
        }
        let thread = attack.thread.0;
        if targets.last().is_none_or(|target| target.thread != thread) {
            targets.push(ThreadAttacks { thread, stores: Default::default(), loads: Default::default() });
        }
        if let Some(target) = targets.last_mut() {
            target.stores.insert(attack.store);
            target.loads.insert(attack.load);
        }
    }
    Ok((finite, judged, targets))
}

/// The attacks of the program, with those that need no search dismissed. What can be seen without running anything is the same for two copies
/// as for more: the others then include one like the attacker.
fn judge(program: &Program, watch: &Watch) -> Result<Vec<JudgedAttack>, Limit> {
    let two = HardwareProgram::new(&program.instance(2));
    let mut facts = ProgramFacts::new(&two, Model::Tso, watch)?;
    let copies = |thread: &ravelin_program::Thread| if thread.copies == Copies::Any { 2 } else { 1 };
    let first = |thread: usize| program.threads[..thread].iter().map(copies).sum::<usize>();
    let mut judged = Vec::new();
    for attack in attacks(&HardwareProgram::new(program)) {
        watch.hold(size_of::<JudgedAttack>())?;
        let copy = Attack { thread: ThreadId(first(attack.thread.0)), ..attack };
        let fate = facts.dismiss(copy)?.map_or(AttackFate::Open, AttackFate::Dismissed);
        judged.push(JudgedAttack { attack, fate });
    }
    Ok(judged)
}

struct AttackInquiry<'a> {
    program: &'a Program,
    question: &'a RobustnessQuestion<'a>,
    start: Instant,
    found: AnyNumber,
    explored: RobustnessEffort,
}

impl AttackInquiry<'_> {
    /// A quick look at what a few copies do. An instance that takes longer ends it.
    fn small_instances(&mut self) -> Result<Option<RobustnessAnswer>, AnalysisError> {
        let least = self.program.threads.iter().filter(|thread| thread.copies == Copies::Any).count();
        for total in 0..=FIRST_SIZE.max(least) {
            for copies in of_size(self.program, total) {
                let (answer, instance) = self.explore(&copies, FIRST_LOOK)?;
                match answer.verdict {
                    Verdict::Violated => return Ok(Some(self.violated(answer, instance))),
                    Verdict::Unknown => return Ok(None),
                    Verdict::Holds => {}
                }
            }
            self.found.up_to = Some(total);
        }
        Ok(None)
    }

    fn nets(&mut self) -> Result<RobustnessAnswer, AnalysisError> {
        let watch = Watch::since(self.question.budget, "making nets", self.start);
        let (finite, mut judged, targets) = targets(self.program, &watch)?;
        let mut limit = None;
        for target in &targets {
            let attack = attack_net(&finite, target, &watch)?;
            let answer = cover(&attack.net, self.left());
            self.explored.states += answer.counts.kept;
            self.explored.bytes = self.explored.bytes.max(answer.counts.bytes);
            let thread = finite.program.threads[target.thread].name.clone();
            let helpers = &attack.actors[1..];
            self.found.nets.push(NetReport::new(&finite, Some(thread), &attack.net, helpers, &answer));
            match answer.verdict {
                CoverVerdict::Uncoverable => {
                    let of_target = judged.iter_mut().filter(|judged| judged.attack.thread.0 == target.thread);
                    for judged in of_target.filter(|judged| matches!(judged.fate, AttackFate::Open)) {
                        judged.fate = AttackFate::Infeasible;
                    }
                }
                CoverVerdict::Coverable(sequence) => return self.smallest(&finite, &attack, &sequence),
                CoverVerdict::Unknown(reached) => {
                    limit = Some(self.question.budget.limits.as_given(reached));
                    break;
                }
            }
        }
        let verdict = if limit.is_none() { Verdict::Holds } else { Verdict::Unknown };
        Ok(self.answer(verdict, judged, limit))
    }

    /// The smallest instance with a fault, knowing one that need not be.
    fn smallest(
        &mut self,
        finite: &Finite,
        attack: &AttackNet,
        sequence: &[u32],
    ) -> Result<RobustnessAnswer, AnalysisError> {
        let internal = |what: &str| AnalysisError::from(InternalError(what.to_owned()));
        let known = attack_run(finite, attack, sequence).ok_or_else(|| internal("a firing sequence is no attack"))?;
        // Whatever is found below, the net's own word is replayed.
        let instance = Instance::new(self.program, &known.copies, false);
        let found = Attack { thread: known.attacker, store: known.store, load: known.load };
        let witness = build_witness(&instance.program, Model::Tso, found, &known.run)?;
        let bound = size(self.program, &known.copies);
        let mut smallest = true;
        for total in self.found.up_to.map_or(0, |total| total + 1)..=bound {
            for copies in of_size(self.program, total) {
                if self.question.budget.spent(self.start, self.explored.states).is_some() {
                    smallest = false;
                    break;
                }
                let (answer, explored) = self.explore(&copies, SECOND_LOOK)?;
                match answer.verdict {
                    Verdict::Violated => {
                        return Ok(self.violated(answer, Instance { smallest, ..explored }));
                    }
                    Verdict::Unknown => smallest = false,
                    Verdict::Holds => {}
                }
            }
            if smallest {
                self.found.up_to = Some(total);
            }
        }
        if smallest {
            return Err(internal("an attack is feasible according to a net, and in no instance"));
        }
        let judged = vec![JudgedAttack { attack: found, fate: AttackFate::Feasible(Box::new(witness)) }];
        self.found.instance = Some(instance);
        Ok(self.answer(Verdict::Violated, judged, None))
    }

    fn explore(&mut self, copies: &[usize], states: u64) -> Result<(RobustnessAnswer, Instance), AnalysisError> {
        let instance = Instance::new(self.program, copies, true);
        let budget = self.left().at_most(states);
        let answer = robustness(&instance.program, &RobustnessQuestion { budget, ..*self.question })?;
        self.found.instances += 1;
        self.explored.states += answer.explored.states;
        self.explored.bytes = self.explored.bytes.max(answer.explored.bytes);
        Ok((answer, instance))
    }

    fn violated(&mut self, answer: RobustnessAnswer, instance: Instance) -> RobustnessAnswer {
        self.found.instance = Some(instance);
        answer
    }

    fn answer(&self, verdict: Verdict, attacks: Vec<JudgedAttack>, limit: Option<Limit>) -> RobustnessAnswer {
        RobustnessAnswer {
            verdict,
            model: Model::Tso,
            engine: self.question.engine,
            attacks,
            together: None,
            one_delaying_thread: false,
            implied_by: None,
            limit,
            explored: RobustnessEffort::default(),
            any_number: None,
        }
    }

    fn finish(self, answer: RobustnessAnswer) -> RobustnessAnswer {
        let explored = RobustnessEffort { elapsed: self.start.elapsed(), ..self.explored };
        RobustnessAnswer { explored, any_number: Some(Box::new(self.found)), ..answer }
    }

    fn left(&self) -> Budget<'_> {
        self.question.budget.child(self.start, self.explored.states)
    }
}
