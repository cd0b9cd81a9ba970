//! `simulate`: a random walk through a program.

use crate::error::Error;
use crate::program::Program;
use crate::setters::setters;
use ravelin_analysis::simulation::{Simulation, Standing, StepChoice};
use ravelin_answer::{self as answer, Answer, InitialThread, RunStep};
use ravelin_frontend::sites::{RepairKind, SiteRequest, sites_of};
use ravelin_program::{Model, Site, ThreadTransition};
use ravelin_semantics::Action;
use std::collections::{BTreeMap, HashMap};

/// A random walk through a program, or one whose steps are chosen.
///
/// ```
/// use ravelin::{Answer, Program};
///
/// let program = Program::parse("one.rav", "static x; thread p { x.store(1); }")?;
/// let Answer::Simulation(run) = ravelin::simulate(&program).seed(7).run()? else { unreachable!() };
/// assert_eq!(run.steps.len(), 2, "the store, and its way to memory");
/// # Ok::<(), ravelin::Error>(())
/// ```
pub fn simulate(program: &Program) -> Simulate<'_> {
    Simulate { program, model: Model::Tso, seed: 0, steps: 200 }
}

/// The question for a walk; made by [`simulate`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a question is asked with `run`"]
pub struct Simulate<'a> {
    program: &'a Program,
    model: Model,
    seed: u64,
    steps: usize,
}

impl<'a> Simulate<'a> {
    setters!(model);

    /// The same seed gives the same run.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The longest run.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// Walks at random, to the end or to a violation.
    pub fn run(self) -> Result<Answer, Error> {
        let mut simulation = Simulation::new(&self.program.program, self.model, self.seed)?;
        let mut steps: Vec<RunStep> = Vec::new();
        let mut troubles = simulation.troubles();
        while steps.len() < self.steps && troubles.is_empty() {
            let mut choices = simulation.choices();
            if choices.is_empty() {
                break;
            }
            let choice = choices.swap_remove(simulation.draw(choices.len()));
            steps.push(choice.told.clone());
            simulation.take(choice);
            troubles = simulation.troubles();
        }
        let end = match simulation.standing() {
            Standing::Running if troubles.is_empty() => format!("stopped after {} steps", steps.len()),
            Standing::Running => "stopped at a violation".to_owned(),
            standing => ended(standing).unwrap_or_default(),
        };
        Ok(Answer::Simulation(Box::new(answer::Simulation {
            file: self.program.name().to_owned(),
            model: self.model,
            seed: self.seed,
            end,
            troubles,
            values: simulation.values(),
            initial: simulation.initial(&steps),
            steps,
        })))
    }

    /// A walk whose steps are chosen one by one.
    pub fn walk(self) -> Result<Walk<'a>, Error> {
        let simulation = Simulation::new(&self.program.program, self.model, self.seed)?;
        let threads = simulation.initial(&[]).threads;
        let choices = simulation.choices();
        Ok(Walk { simulation, choices, threads })
    }

    /// How often many random runs pass each place for a fence, by name.
    pub fn profile(self, runs: usize) -> Result<BTreeMap<String, u64>, Error> {
        let mut taken: HashMap<ThreadTransition, u64> = HashMap::new();
        for run in 0..runs {
            let seed = self.seed.wrapping_add(run as u64);
            let mut simulation = Simulation::new(&self.program.program, self.model, seed)?;
            for _ in 0..self.steps {
                let mut choices = simulation.choices();
                if choices.is_empty() {
                    break;
                }
                let choice = choices.swap_remove(simulation.draw(choices.len()));
                if let Action::Step { thread, transition, .. } = choice.action {
                    *taken.entry(ThreadTransition { thread, transition }).or_default() += 1;
                }
                simulation.take(choice);
            }
        }
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let count = |site: &Site| site.edges.iter().map(|edge| taken.get(edge).copied().unwrap_or(0)).sum::<u64>();
        for (repair, existing) in [(RepairKind::Fence, true), (RepairKind::Rmw, false), (RepairKind::Strengthen, false)]
        {
            let request = SiteRequest { existing, copies: self.program.reading.copies, ..SiteRequest::new(repair) };
            match sites_of(&self.program.program, self.program.language, &request) {
                Ok(found) => {
                    for site in &found.sites {
                        let known = counts.entry(site.name.clone()).or_default();
                        *known = count(site).max(*known);
                    }
                }
                // Not every language has locked exchanges or orders; all have fences.
                Err(error) if repair == RepairKind::Fence => return Err(error.into()),
                Err(_) => {}
            }
        }
        Ok(counts)
    }
}

impl Simulate<'_> {
    /// Costs for [`crate::read_cost`], as the text of a file: how often many random runs pass each place for a fence,
    /// plus one, since a cost is positive. Also returns the number of places.
    pub fn costs(self, runs: usize) -> Result<(String, usize), Error> {
        let counts = self.profile(runs)?;
        let mut text = format!(
            "# {}: how often a place is passed, plus one, in {runs} random runs of at most {} steps (seed {})\n",
            self.program.name(),
            self.steps,
            self.seed
        );
        text.extend(counts.iter().map(|(name, count)| format!("{name} {}\n", count + 1)));
        Ok((text, counts.len()))
    }
}

/// How a run ended, if it did.
fn ended(standing: Standing) -> Option<String> {
    match standing {
        Standing::Final => Some("every thread is at its end".to_owned()),
        Standing::Stuck(threads) => Some(format!("nothing can move; not at their end: {}", threads.join(", "))),
        Standing::Running => None,
    }
}

/// A walk whose steps are chosen; made by [`Simulate::walk`].
pub struct Walk<'a> {
    simulation: Simulation<'a>,
    choices: Vec<StepChoice<'a>>,
    threads: Vec<InitialThread>,
}

impl Walk<'_> {
    /// The current values of registers and cells.
    pub fn values(&self) -> Vec<(String, i64)> {
        self.simulation.values()
    }

    /// Violated goals, failing assertions and faults in this state, in words.
    pub fn troubles(&self) -> Vec<String> {
        self.simulation.troubles()
    }

    /// How the run has ended, if it has.
    pub fn end(&self) -> Option<String> {
        ended(self.simulation.standing())
    }

    /// The threads of the program.
    pub fn threads(&self) -> &[InitialThread] {
        &self.threads
    }

    /// The steps that can be taken now.
    pub fn choices(&self) -> Vec<RunStep> {
        self.choices.iter().map(|choice| choice.told.clone()).collect()
    }

    /// One of the choices, at random.
    pub fn draw(&mut self) -> usize {
        self.simulation.draw(self.choices.len())
    }

    /// Takes a step by its number. Returns whether there is such a step.
    pub fn take(&mut self, number: usize) -> bool {
        if number >= self.choices.len() {
            return false;
        }
        let choice = self.choices.swap_remove(number);
        self.simulation.take(choice);
        self.choices = self.simulation.choices();
        true
    }
}
