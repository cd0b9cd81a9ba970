//! `fence`: which fences does a program need?

mod ask;
mod lists;
mod plan;
mod repaired_text;

pub use lists::{read_cost, read_placement};
pub(crate) use plan::{FencePlan, Task};
pub use repaired_text::unified_diff;

use crate::answers::{self, RepairResult};
use crate::error::Error;
use crate::program::Program;
use crate::setters::setters;
use crate::stops::add_stops;
use ask::{FenceResult, RepairQuestion};
use ravelin_analysis::c11::{sites_with_waits, with_exact_waits};
use ravelin_analysis::fences::{CostBy, Offer, Placement, Sets, SynthesisOutcome, SynthesisPurpose};
use ravelin_analysis::reachability::ReachEngine;
use ravelin_answer::{Answer, FencePurpose};
use ravelin_explore::{Budget, Watch};
use ravelin_frontend::sites::RepairKind;
use ravelin_program::{FenceStrength, Model, SeqCstReading, Site};
use std::time::Instant;

/// Asks for the cheapest fences that make a program robust, or the minimal sets that make it safe.
///
/// ```
/// use ravelin::{Answer, Model, Program};
///
/// let text = "static x; static y;
///     thread p { x.store(1); let a = y.load(); }
///     thread q { y.store(1); let b = x.load(); }";
/// let program = Program::parse("sb.rav", text)?;
/// let Answer::Fences(fences) = ravelin::fence(&program).model(Model::Tso).run()? else { unreachable!() };
/// assert_eq!(fences.sets[0].fences, 2);
/// let repaired = Program::parse("sb.rav", fences.repaired.unwrap_or_default())?;
/// assert!(ravelin::check(&repaired).model(Model::Tso).run()?.is_robust());
/// # Ok::<(), ravelin::Error>(())
/// ```
pub fn fence(program: &Program) -> Fence<'_> {
    Fence {
        program,
        model: Model::Tso,
        plan: FencePlan::new(SynthesisPurpose::Robust, program.reading.copies),
        seq_cst: SeqCstReading::default(),
        races: true,
        auto_wait: false,
        explain: false,
        stops: true,
        budget: Budget::default(),
    }
}

/// The question which fences a program needs; made by [`fence`].
#[derive(Clone, Debug)]
#[must_use = "a question is asked with `run`"]
pub struct Fence<'a> {
    program: &'a Program,
    model: Model,
    pub(crate) plan: FencePlan,
    seq_cst: SeqCstReading,
    races: bool,
    auto_wait: bool,
    explain: bool,
    stops: bool,
    budget: Budget<'a>,
}

impl<'a> Fence<'a> {
    setters!(model, seq_cst, races, stops, budget);

    /// The purpose of the fences; by default robustness.
    pub fn purpose(mut self, purpose: FencePurpose) -> Self {
        self.plan.purpose = match (purpose, self.plan.purpose) {
            (FencePurpose::Robustness, _) => SynthesisPurpose::Robust,
            (FencePurpose::Trf, _) => SynthesisPurpose::RaceFree,
            (FencePurpose::Safety, SynthesisPurpose::Safe(engine)) => SynthesisPurpose::Safe(engine),
            (FencePurpose::Safety, _) => SynthesisPurpose::Safe(ReachEngine::default()),
        };
        self
    }

    /// The engine for safety, for [`FencePurpose::Safety`].
    pub fn engine(mut self, engine: ReachEngine) -> Self {
        if let SynthesisPurpose::Safe(asked) = &mut self.plan.purpose {
            *asked = engine;
        }
        self
    }

    /// One set, all of least cost, or all minimal ones.
    pub fn sets(mut self, sets: Sets) -> Self {
        self.plan.sets = sets;
        self
    }

    /// What to minimise.
    pub fn cost(mut self, cost: CostBy) -> Self {
        self.plan.cost = cost;
        self
    }

    /// Where fences may go.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.plan.placement = placement;
        self
    }

    /// What to do: insert fences, or lock stores.
    pub fn repair(mut self, repair: RepairKind) -> Self {
        self.plan.repair = repair;
        self
    }

    /// Begins without the program's own fences and with weak orders, and keeps the needed ones.
    pub fn minimise(mut self, minimise: bool) -> Self {
        self.plan.minimise = minimise;
        self
    }

    /// Makes the program's own fences and orders as weak as they can be, and adds nothing; unless the program is wrong as it is written, and
    /// then as [`Fence::minimise`] does.
    ///
    /// ```
    /// use ravelin::{Answer, Model, Program};
    ///
    /// let text = "static data; static ready;
    ///     thread p { data.store(1, seq_cst); ready.store(1, seq_cst); }
    ///     thread q { if ready.load(seq_cst) == 1 { let a = data.load(seq_cst); } }";
    /// let program = Program::parse("mp.rav", text)?;
    /// let Answer::Fences(found) = ravelin::fence(&program).model(Model::Rc20).relax().run()? else { unreachable!() };
    /// let relaxed = found.repaired.unwrap_or_default();
    /// assert!(relaxed.contains("data.store(1); ready.store(1, release);"));
    /// assert!(relaxed.contains("if ready.load(acquire) == 1 { let a = data.load(); }"));
    /// # Ok::<(), ravelin::Error>(())
    /// ```
    pub fn relax(mut self) -> Self {
        self.plan.relax();
        self
    }

    /// Chooses fences for each copy of a thread separately; the result can then not be printed.
    pub fn apart(mut self, apart: bool) -> Self {
        self.plan.apart = apart;
        self
    }

    /// pso: the costs of a full and a store-store fence; ra and rc20: the costs of a seq_cst fence and a stronger
    /// order.
    pub fn weights(mut self, strong: u64, weak: u64) -> Self {
        self.plan.weights = Some((strong, weak));
        self
    }

    /// Rewrites loops that only wait, as [`crate::Check::auto_wait`] does (ra and rc20, for robustness, without
    /// [`Fence::minimise`]).
    pub fn auto_wait(mut self, rewrite: bool) -> Self {
        self.auto_wait = rewrite;
        self
    }

    /// Finds for each fence of the first set what goes wrong without it.
    pub fn explain(mut self, explain: bool) -> Self {
        self.explain = explain;
        self
    }

    /// Asks.
    pub fn run(self) -> Result<Answer, Error> {
        let start = Instant::now();
        let program = &self.program.program;
        let FenceFinding { task, result: FenceResult { answer: found, seq_cst, needed }, wrong_as_written } =
            self.find()?;
        if let (Some(reason), SynthesisOutcome::NoSet(_) | SynthesisOutcome::WrongUnderSc(_)) =
            (&task.not_expressible, &found.outcome)
        {
            return Err(Error::Question(reason.to_string()));
        }
        let mut answer = answers::fences(&RepairResult {
            file: self.program.name(),
            program,
            model: self.model,
            purpose: self.plan.purpose,
            wanted: self.plan.sets,
            task: &task,
            found: &found,
            seq_cst,
            needed,
            wrong_as_written,
        });
        let choices = chosen(&found, &task.offers);
        if let Some(choices) = choices.filter(|_| !self.plan.apart) {
            let changed = task.text(&choices)?;
            if changed != self.program.text() {
                // Within what is left: a set that was found is worth more than the check of its text.
                let rest = Fence { budget: self.budget.child(start, 0), ..self.clone() };
                let (limits, waits) = (rest.budget.limits, self.rewrites_loops());
                answer.checked = Some(repaired_text::check(self.program, &changed, &rest.question(), limits, waits)?);
            }
            answer.diff = Some(unified_diff(self.program.name(), self.program.text(), &changed));
            answer.repaired = Some(changed);
        }
        let mut answer = Answer::Fences(Box::new(answer));
        if self.stops {
            add_stops(self.program, self.budget, start, &mut answer)?;
        }
        Ok(answer)
    }

    /// The places where fences may go, and their costs.
    pub fn places(self) -> Result<Answer, Error> {
        let task = self.task()?;
        // Each place once: with a full fence, or with the strongest order.
        let mut places: Vec<(&Site, u64)> = Vec::new();
        for (number, site) in task.sites.iter().enumerate() {
            let costs = task.offers.iter().filter(|offer| offer.site == number).map(|offer| offer.cost.main);
            places.extend(costs.max().map(|cost| (site, cost)));
        }
        Ok(Answer::FencePlaces(answers::places(self.program.name(), &self.program.program, &places)))
    }

    /// The possible changes, and those of them that help. If only what is written may be weaker, and the program is wrong as it is written,
    /// other changes are possible, too.
    pub(crate) fn find(&self) -> Result<FenceFinding, Error> {
        let start = Instant::now();
        let task = self.task()?;
        let result = self.ask(&task)?;
        let only_written = self.plan.minimise && self.plan.placement == Placement::Written;
        if only_written && matches!(result.answer.outcome, SynthesisOutcome::NoSet(_)) {
            let plan = FencePlan { placement: Placement::Anywhere, ..self.plan.clone() };
            let budget = self.budget.child(start, result.answer.effort.states);
            let wider = Fence { plan, budget, ..self.clone() };
            return Ok(FenceFinding { wrong_as_written: true, ..wider.find()? });
        }
        Ok(FenceFinding { task, result, wrong_as_written: false })
    }

    fn ask(&self, task: &Task) -> Result<FenceResult, Error> {
        let Task { base, sites, offers, .. } = task;
        if self.rewrites_loops() {
            let watch = Watch::new(self.budget, "looking for loops that wait");
            // Beyond the budget the loops stay as they are; the search then says that it is.
            if let Ok((waiting, _)) = with_exact_waits(base, &watch) {
                let sites = sites_with_waits(base, &waiting, sites);
                return Ok(self.question().ask(&waiting, &sites, offers, self.explain)?);
            }
        }
        Ok(self.question().ask(base, sites, offers, self.explain)?)
    }

    /// Whether a loop can be rewritten depends on its orders, so it is not combined with weaker ones.
    fn rewrites_loops(&self) -> bool {
        self.auto_wait && !self.plan.minimise && self.model.is_c11() && self.plan.purpose == SynthesisPurpose::Robust
    }

    fn question(&self) -> RepairQuestion<'a> {
        RepairQuestion::new(self.model, &self.plan, self.seq_cst, self.races, self.budget)
    }

    fn task(&self) -> Result<Task, Error> {
        if self.model == Model::Sc {
            return Err(Error::Question("under sc fences do nothing; ask about tso, pso, ra or rc20".to_owned()));
        }
        if self.model.is_c11() && self.plan.purpose == SynthesisPurpose::RaceFree {
            return Err(Error::Question("triangular races are about tso".to_owned()));
        }
        self.plan.task(&self.program.program, self.program.language, self.model)
    }
}

/// The possible changes, and those of them that help.
pub(crate) struct FenceFinding {
    pub task: Task,
    pub result: FenceResult,
    /// The program was to be relaxed, but is wrong as it is written.
    pub wrong_as_written: bool,
}

/// The changes to make, if that is known: the first of the sets.
fn chosen(found: &ravelin_analysis::fences::FenceAnswer, offers: &[Offer]) -> Option<Vec<(usize, FenceStrength)>> {
    match found.outcome {
        SynthesisOutcome::NotNeeded => Some(Vec::new()),
        SynthesisOutcome::Found => found.sets.first().map(|set| set.choices(offers)),
        _ => None,
    }
}
