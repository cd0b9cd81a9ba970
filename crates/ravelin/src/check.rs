//! `check`: is a program robust?

use crate::answers::{c11_robustness, robustness, triangular_races};
use crate::deadlocks::add_deadlocks;
use crate::error::Error;
use crate::impact::{ImpactQuestion, add_impact};
use crate::program::Program;
use crate::setters::setters;
use crate::shared::{ModelAnswer, SharedAnswers, SharedQuestion};
use crate::stops::add_stops;
use ravelin_analysis::c11::{self, C11Answer, C11Question, SpinLoop, with_exact_waits, with_waits};
use ravelin_analysis::parameterised::certificate::{self as any_number, Claim};
use ravelin_analysis::robustness::{self as analysis, RobustnessEngine, RobustnessQuestion, race_freedom};
use ravelin_answer::{Answer, Property, Verdict};
use ravelin_explore::{Budget, Storage, Watch};
use ravelin_program::{Model, SeqCstReading};
use std::time::Instant;

/// Asks whether a program has the same executions under weak memory as under sequential consistency.
///
/// ```
/// use ravelin::{Model, Program, Verdict};
///
/// let text = "static x; static y;
///     thread p { x.store(1); fence(seq_cst); let a = y.load(); }
///     thread q { y.store(1); fence(seq_cst); let b = x.load(); }";
/// let program = Program::parse("sb-fenced.rav", text)?;
/// for model in Model::WEAK {
///     assert_eq!(ravelin::check(&program).model(model).run()?.verdict(), Some(Verdict::Holds), "{model}");
/// }
/// # Ok::<(), ravelin::Error>(())
/// ```
pub fn check(program: &Program) -> Check<'_> {
    Check {
        program,
        model: Model::Tso,
        property: Property::Robust,
        engine: RobustnessEngine::default(),
        all_attacks: false,
        races: true,
        seq_cst: SeqCstReading::default(),
        auto_wait: false,
        stops: true,
        deadlocks: true,
        impact: true,
        beside: None,
        budget: Budget::default(),
    }
}

/// The question whether a program is robust; made by [`check`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a question is asked with `run`"]
pub struct Check<'a> {
    program: &'a Program,
    model: Model,
    property: Property,
    engine: RobustnessEngine,
    all_attacks: bool,
    races: bool,
    seq_cst: SeqCstReading,
    auto_wait: bool,
    stops: bool,
    deadlocks: bool,
    impact: bool,
    beside: Option<&'a SharedAnswers>,
    budget: Budget<'a>,
}

impl<'a> Check<'a> {
    setters!(model, races, seq_cst, stops, deadlocks, budget);

    /// What the verdict is about: robustness; observational robustness, which permits stale values that nothing depends
    /// on; safety, which permits whatever violates no goal; or freedom from triangular races, which is stronger than
    /// robustness and cheaper (tso).
    pub fn property(mut self, property: Property) -> Self {
        self.property = property;
        self
    }

    /// How attacks are searched (tso and pso).
    pub fn engine(mut self, engine: RobustnessEngine) -> Self {
        self.engine = engine;
        self
    }

    /// Settles every attack, instead of stopping at the first feasible one (tso and pso).
    pub fn all_attacks(mut self, all: bool) -> Self {
        self.all_attacks = all;
        self
    }

    /// Rewrites loops that only wait to instructions that wait (ra and rc20).
    pub fn auto_wait(mut self, rewrite: bool) -> Self {
        self.auto_wait = rewrite;
        self
    }

    /// Also reports whether it matters that a program is not robust; on by default. The properties `observational` and
    /// `safe` report it in any case.
    pub fn impact(mut self, impact: bool) -> Self {
        self.impact = impact;
        self
    }

    /// The same is asked under other models: what follows from another answer is not searched for. Searches with an engine
    /// that was chosen, for all attacks, of rewritten loops, and with states elsewhere than in memory are not shared.
    pub fn beside(mut self, shared: &'a SharedAnswers) -> Self {
        self.beside = Some(shared);
        self
    }

    /// Asks.
    pub fn run(self) -> Result<Answer, Error> {
        let start = Instant::now();
        let mut answer = match (self.model, self.property) {
            (Model::Sc, _) => {
                return Err(Error::Question(
                    "every program is robust against sc, by definition; ask about tso, pso, ra or rc20".to_owned(),
                ));
            }
            (Model::Tso, Property::Trf) => {
                let found = race_freedom(&self.program.program, &self.question())?;
                Answer::TriangularRaces(Box::new(triangular_races(self.program.name(), &found)))
            }
            (_, Property::Trf) => {
                return Err(Error::Question("triangular races are about tso; omit --model".to_owned()));
            }
            (Model::Tso | Model::Pso, _) => {
                let program = &self.program.program;
                let found = match self.shared()? {
                    Some(ModelAnswer::Hardware(found)) => *found,
                    _ => analysis::robustness(program, &self.question())?,
                };
                Answer::Robustness(Box::new(robustness(self.program.name(), program, &found)))
            }
            (Model::Ra | Model::Rc20, _) => self.c11()?,
        };
        if self.deadlocks {
            add_deadlocks(self.program, self.model, self.budget, start, &mut answer)?;
        }
        let needs_impact = matches!(self.property, Property::Observational | Property::Safe);
        if needs_impact || self.impact && self.property == Property::Robust {
            let Check { program, model, property, races, seq_cst, budget, .. } = self;
            add_impact(&ImpactQuestion { program, model, property, races, seq_cst, budget, start }, &mut answer)?;
        }
        if self.stops {
            add_stops(self.program, self.budget, start, &mut answer)?;
        }
        Ok(answer)
    }

    /// A proof that a program with any number of threads is robust against tso, as JSON that `ravelin certificate`
    /// checks. `None` if none could be made within the budget.
    pub fn certificate(self) -> Result<Option<String>, Error> {
        if !self.program.is_parameterised() {
            return Err(Error::Question(
                "--certify is for programs with any number of threads (`thread p[*]`, without --copies)".to_owned(),
            ));
        }
        certify_any_number(self.program, Claim::Robust, self.budget)
    }

    fn question(&self) -> RobustnessQuestion<'a> {
        let question = RobustnessQuestion::new(self.model);
        RobustnessQuestion { engine: self.engine, all: self.all_attacks, budget: self.budget, ..question }
    }

    /// The answer that is shared with questions under other models, if it can be.
    fn shared(&self) -> Result<Option<ModelAnswer>, Error> {
        let Check { program, model, engine, races, seq_cst, budget, .. } = *self;
        let Storage { spill, checkpoints, peers, .. } = budget.storage;
        let in_memory = spill.is_none() && checkpoints.is_none() && peers.is_none();
        let usual = engine == RobustnessEngine::default() && !self.all_attacks && !self.auto_wait;
        let Some(shared) = self.beside.filter(|_| in_memory && usual && !program.is_parameterised()) else {
            return Ok(None);
        };
        shared.ask(&program.program, SharedQuestion { model, races, seq_cst }, budget).map(Some)
    }

    fn c11(&self) -> Result<Answer, Error> {
        let start = Instant::now();
        let watch = Watch::since(self.budget, "looking for loops that wait", start);
        let (waiting, spins) = match with_waits(&self.program.program, &watch) {
            Ok(found) => found,
            Err(limit) => {
                let unknown = C11Answer::unknown(self.model, self.budget.limits.as_given(limit));
                let program = &self.program.program;
                let answer = c11_robustness(self.program.name(), program, &unknown, &[], self.auto_wait);
                return Ok(Answer::C11Robustness(Box::new(answer)));
            }
        };
        let mut program = if self.auto_wait { &waiting } else { &self.program.program };
        let question = |start: Instant| C11Question {
            seq_cst: self.seq_cst,
            races: self.races,
            budget: self.budget.child(start, 0),
            ..C11Question::new(self.model)
        };
        let mut found = match self.shared()? {
            Some(ModelAnswer::C11(found)) => *found,
            _ => c11::c11_robustness(program, &question(start))?,
        };
        // Weaker instructions can prove the program robust; a violation must be one of the program with its loops.
        let weaker = spins.iter().filter_map(SpinLoop::rewrite).any(|rewrite| rewrite.weaker);
        let exact;
        let mut spins = spins;
        if self.auto_wait && weaker && found.verdict == Verdict::Violated {
            let watch = Watch::since(self.budget, "looking for loops that wait", start);
            if let Ok((rewritten, loops)) = with_exact_waits(&self.program.program, &watch) {
                (exact, spins) = (rewritten, loops);
                program = &exact;
                found = c11::c11_robustness(program, &question(start))?;
            }
        }
        let answer = c11_robustness(self.program.name(), program, &found, &spins, self.auto_wait);
        Ok(Answer::C11Robustness(Box::new(answer)))
    }
}

/// A proof about any number of threads.
pub(crate) fn certify_any_number(program: &Program, claim: Claim, budget: Budget) -> Result<Option<String>, Error> {
    let certificate = any_number::certify(&program.program, claim, budget)?;
    let certificate =
        certificate.map(|found| any_number::ParameterisedCertificate { program: program.name().to_owned(), ..found });
    Ok(certificate.and_then(|certificate| serde_json::to_string(&certificate).ok()))
}
