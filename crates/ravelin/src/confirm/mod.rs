//! Tests for a machine, made from witnesses: what `ravelin confirm` compiles and runs.
//!
//! A witness under tso is one run of a program. What its threads did in memory, without the loops and conditions that led there, is a
//! litmus test whose outcome is that every load reads what it read in the witness. The reference semantics decides which outcomes of the
//! test sc and tso allow, so that nothing here is its own judge: a test is made only if tso allows its outcome and sc does not.
//!
//! - `execution.rs`: accesses and what they read, from the steps of a run.
//! - `report.rs`, `finding.rs`: the same from a finding of `run` or `verify`.
//! - `litmus.rs`: the test, from all accesses or from those of the cycle.
//! - `outcomes.rs`: what sc and tso allow.
//! - `fenced.rs`: the fences that make the test robust.
//! - `c.rs`, `harness.c`: the test as a C program.
//!
//! Nothing here starts a process.

mod c;
mod execution;
mod fenced;
mod finding;
mod litmus;
mod outcomes;
mod report;

use crate::error::Error;
use execution::Execution;
use litmus::{LitmusTest, NoTest};
use outcomes::Outcomes;
use ravelin_answer::{AllowedBy, Answer, EndRun, OutcomeCount, TestCounts, TestMethod, TestPart, TestThread};
use ravelin_explore::Budget;
use ravelin_program::Model;

/// What must be said about the test of a finding.
pub const CYCLE_ALONE: &str = "The test has only the accesses of the cycle that the report names. Fences and locked instructions \
                               between them are not in the report, and so not in the test: what is seen shows the cycle, not the program.";

/// What may be confirmed: a run, or that there is nothing to confirm.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A run that sc does not have.
    Run {
        /// The command that found it.
        source: &'static str,
        /// What happens, in one sentence.
        sentence: String,
        /// The run, with its happens-before cycle.
        run: Box<EndRun>,
    },
    /// A cycle of accesses that the sanitizer found and x86 allows, already as tests. [`CYCLE_ALONE`] is to be said with it.
    Finding {
        /// What happens, in one sentence.
        sentence: String,
        /// The tests.
        plan: TestPlan,
    },
    /// The model forbids what was asked about.
    Forbidden {
        /// The command that said so.
        source: &'static str,
        /// Why.
        sentence: String,
    },
    /// The answer has no run that differs from those of sc. This says why.
    Nothing(String),
}

impl Subject {
    /// What an answer has to confirm. The budget is for the tests of a finding.
    pub fn of(answer: &Answer, budget: Budget) -> Result<Subject, Error> {
        let forbidden = |source, sentence: &str| Ok(Subject::Forbidden { source, sentence: sentence.to_owned() });
        match answer {
            Answer::Robustness(found) => match &found.witness {
                Some(witness) => {
                    let run = EndRun {
                        initial: witness.initial.clone(),
                        steps: witness.steps.clone(),
                        events: Some(witness.events.clone()),
                        edges: Some(witness.edges.clone()),
                        cycle: Some(cycle_edges(&witness.cycle)),
                    };
                    let sentence = witness.sentence.clone();
                    Ok(Subject::Run { source: "check", sentence, run: Box::new(run) })
                }
                None if answer.is_robust() && found.model == Model::Tso => {
                    forbidden("check", "The program is robust: x86 does nothing that sequential consistency does not.")
                }
                None => Ok(Subject::Nothing("the answer of `check` has no witness".to_owned())),
            },
            Answer::Reachability(found) => match &found.witness {
                // Stores may be pending at its end, so that it has no cycle yet: its tests are judged.
                Some(witness) if witness.events.is_some() => {
                    let run = EndRun {
                        initial: witness.initial.clone(),
                        steps: witness.steps.clone(),
                        events: witness.events.clone(),
                        edges: witness.edges.clone(),
                        cycle: witness.cycle.clone(),
                    };
                    let sentence = format!("A run {}.", ravelin_answer::text::violation(&witness.violation));
                    Ok(Subject::Run { source: "reach", sentence, run: Box::new(run) })
                }
                Some(_) => Ok(Subject::Nothing("the run of `reach` is too long for a test".to_owned())),
                None if found.verdict == ravelin_answer::Verdict::Holds && found.model == Model::Tso => {
                    forbidden("reach", "x86 forbids it: no run under tso violates a goal or fails.")
                }
                None => Ok(Subject::Nothing("the answer of `reach` has no run".to_owned())),
            },
            Answer::FinalStates(found) => {
                let wanted = |state: &&ravelin_answer::EndState| {
                    let condition = found.condition.as_ref().zip(state.condition);
                    condition.is_none_or(|(condition, holds)| {
                        holds != (condition.quantifier == ravelin_answer::Quantifier::Forall)
                    })
                };
                let ends = || found.finals.iter().chain(&found.stuck).filter(wanted);
                if let Some((state, run)) = ends().find_map(|state| Some((state, state.run.as_ref()?))) {
                    let sentence = format!("The program ends with {}", state.shown.trim_end_matches(';'));
                    return Ok(Subject::Run { source: "states", sentence: format!("{sentence}."), run: run.clone() });
                }
                match ends().next() {
                    None if found.complete && found.model == Model::Tso => {
                        forbidden("states", "x86 forbids it: no run under tso ends in such a state.")
                    }
                    _ if found.complete && found.model == Model::Tso => {
                        forbidden("states", "Every such state is one of sequential consistency.")
                    }
                    _ => Ok(Subject::Nothing("the answer of `states` has no run that sc forbids".to_owned())),
                }
            }
            Answer::C11Robustness(found) => match &found.witness {
                Some(witness) if witness.machines.is_some_and(|machines| !machines.x86) => {
                    forbidden("check", "x86 forbids it: C11 allows the execution, and x86-TSO does not.")
                }
                Some(_) => Ok(Subject::Nothing(format!(
                    "the witness is an execution of {}, without the steps of x86; ask with --model tso",
                    found.model
                ))),
                None => Ok(Subject::Nothing(format!("the answer under {} has no witness", found.model))),
            },
            Answer::Sanitizer(report) => report::subject(report, budget),
            _ => Ok(Subject::Nothing("only check, reach, states, run and verify have something to confirm".to_owned())),
        }
    }
}

/// The edges of an attack's cycle.
fn cycle_edges(cycle: &[ravelin_answer::CycleEvent]) -> Vec<ravelin_answer::Edge> {
    let next = cycle.iter().cycle().skip(1);
    let edge = |(event, next): (&ravelin_answer::CycleEvent, &ravelin_answer::CycleEvent)| ravelin_answer::Edge {
        from: event.event,
        to: next.event,
        kind: event.edge,
        cell: event.cell.clone(),
    };
    cycle.iter().zip(next).map(edge).collect()
}

/// The tests of a witness.
#[derive(Clone, Debug)]
pub enum TestPlan {
    /// To be tried in this order.
    Tests(Vec<MachineTest>),
    /// The model forbids the outcome.
    Forbidden,
}

/// A test as a C program, and what its counts mean.
#[derive(Clone, Debug)]
pub struct MachineTest {
    /// Which accesses it has.
    pub part: TestPart,
    /// How its threads meet.
    pub method: TestMethod,
    /// Its threads.
    pub threads: Vec<TestThread>,
    /// The outcome of the witness.
    pub wanted: String,
    /// The C program.
    pub program: String,
    /// What each of its counts is about.
    pub outcomes: Vec<TestOutcome>,
    /// Where fences were added; empty for the test itself.
    pub fences: Vec<String>,
    /// The same with fences.
    pub fenced: Option<Box<MachineTest>>,
}

/// An outcome that a test counts.
#[derive(Clone, Debug)]
pub struct TestOutcome {
    /// In words.
    pub text: String,
    /// Who allows it.
    pub allowed: AllowedBy,
    /// It is that of the witness.
    pub wanted: bool,
}

impl TestPlan {
    /// The tests of a run under tso or pso. A run that is too large for a test is refused, whatever the budget.
    pub fn of_run(run: &EndRun, budget: Budget) -> Result<TestPlan, Error> {
        TestPlan::of(&Execution::of(run).map_err(Error::Question)?, &[TestPart::Run, TestPart::Cycle], budget)
    }

    fn of(execution: &Execution, parts: &[TestPart], budget: Budget) -> Result<TestPlan, Error> {
        let mut tests: Vec<MachineTest> = Vec::new();
        let mut is_forbidden = false;
        let mut too_large = None;
        for &part in parts {
            let judgement = match LitmusTest::of(execution, part) {
                Ok(test) => judged(test, budget)?,
                Err(NoTest::TooLarge(why)) => Judgement::TooLarge(why),
                Err(NoTest::Alone) => continue,
            };
            match judgement {
                Judgement::Test(test) if tests.iter().all(|earlier| earlier.threads != test.threads) => {
                    tests.push(*test)
                }
                Judgement::Forbidden => is_forbidden = true,
                // The cycle is the smaller one, so what is said about it comes last and counts.
                Judgement::TooLarge(why) => too_large = Some(why),
                Judgement::Test(_) | Judgement::Useless => {}
            }
        }
        match (tests.is_empty(), is_forbidden, too_large) {
            (false, ..) => Ok(TestPlan::Tests(tests)),
            (true, true, _) => Ok(TestPlan::Forbidden),
            (true, false, Some(why)) => Err(Error::Question(format!("the run is too large for a test: {why}"))),
            (true, false, None) => Err(Error::Question(
                "no test of this run differs from sequential consistency in what loads read and what is in memory at the end"
                    .to_owned(),
            )),
        }
    }
}

enum Judgement {
    Test(Box<MachineTest>),
    /// The model forbids the outcome.
    Forbidden,
    /// Sequential consistency allows the outcome.
    Useless,
    /// It is not decided who allows the outcome. This says why.
    TooLarge(String),
}

fn judged(mut test: LitmusTest, budget: Budget) -> Result<Judgement, Error> {
    // What is in memory at the end counts only if the loads do not show it.
    for observes_memory in [false, true] {
        test.observe_memory(observes_memory);
        let Some(outcomes) = Outcomes::of(&test, budget)? else {
            return Ok(Judgement::TooLarge("its accesses have too many interleavings".to_owned()));
        };
        match outcomes.allowed(&test.target) {
            AllowedBy::Tso => {
                let fenced = fenced::fenced(&test, budget)?.map(|(fenced, places)| -> Result<_, Error> {
                    let outcomes = Outcomes::of(&fenced, budget)?;
                    Ok(outcomes.map(|outcomes| Box::new(c::machine_test(&fenced, &outcomes, places, None))))
                });
                let fenced = fenced.transpose()?.flatten();
                return Ok(Judgement::Test(Box::new(c::machine_test(&test, &outcomes, Vec::new(), fenced))));
            }
            AllowedBy::Nothing => return Ok(Judgement::Forbidden),
            AllowedBy::Sc => {}
        }
    }
    Ok(Judgement::Useless)
}

impl MachineTest {
    /// Numbers of the program, as what was measured. A last number counts outcomes that are not among those that the model allows.
    pub fn counts(&self, iterations: u64, seconds: f64, counts: &[u64]) -> TestCounts {
        let row = |(outcome, &count): (&TestOutcome, &u64)| OutcomeCount {
            outcome: outcome.text.clone(),
            count,
            allowed: outcome.allowed,
            wanted: outcome.wanted,
        };
        let mut histogram: Vec<OutcomeCount> = self.outcomes.iter().zip(counts).map(row).collect();
        let others = counts.get(self.outcomes.len()).copied().unwrap_or(0);
        if others > 0 {
            let outcome = "any other".to_owned();
            histogram.push(OutcomeCount { outcome, count: others, allowed: AllowedBy::Nothing, wanted: false });
        }
        // Forbidden outcomes are many and must not occur: only those that did are listed.
        histogram.retain(|row| row.allowed != AllowedBy::Nothing || row.count > 0 || row.wanted);
        histogram
            .sort_by_key(|row| (std::cmp::Reverse(row.wanted), std::cmp::Reverse(row.allowed), row.outcome.clone()));
        let forbidden = histogram.iter().filter(|row| row.allowed == AllowedBy::Nothing).map(|row| row.count).sum();
        let seen = histogram.iter().filter(|row| row.wanted).map(|row| row.count).sum();
        TestCounts { iterations, seconds, seen, forbidden, histogram }
    }
}
