//! Passes the question of `fence` to the analysis for the model.

use super::plan::{FencePlan, Task};
use ravelin_analysis::c11::{
    C11Question, StrengthenAnswer, StrengthenOutcome, StrengthenQuestion, c11_robustness, strengthen,
    strengthen_without,
};
use ravelin_analysis::fences::{
    FenceAnswer, FenceQuestion, SynthesisOutcome, SynthesisPurpose, Trouble, UnknownReason, fences, without,
};
use ravelin_analysis::reachability::{self, answer};
use ravelin_analysis::robustness::{RobustnessQuestion, race_freedom, robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program, SeqCstReading};
use std::time::Instant;

pub(crate) enum RepairQuestion<'a> {
    Hardware(FenceQuestion<'a>),
    C11(StrengthenQuestion<'a>),
}

/// The answer, the reading of seq_cst accesses that it uses, and why each fence is needed.
pub(crate) struct FenceResult {
    pub answer: FenceAnswer,
    pub seq_cst: Option<SeqCstReading>,
    /// By number of the offer.
    pub needed: Vec<(usize, Option<Trouble>)>,
}

impl<'a> RepairQuestion<'a> {
    pub fn new(
        model: Model,
        plan: &FencePlan,
        seq_cst: SeqCstReading,
        races: bool,
        budget: Budget<'a>,
    ) -> RepairQuestion<'a> {
        // Many small queries are asked, each in memory.
        let budget = budget.in_memory();
        if model.is_hardware() {
            let question = FenceQuestion { sets: plan.sets, budget, ..FenceQuestion::new(model, plan.purpose) };
            return RepairQuestion::Hardware(question);
        }
        let robust = C11Question { seq_cst, races, budget, ..C11Question::new(model) };
        RepairQuestion::C11(StrengthenQuestion { robust, sets: plan.sets })
    }

    pub fn ask(&self, program: &Program, task: &Task, explain: bool) -> Result<FenceResult, AnalysisError> {
        let Task { sites, offers, .. } = task;
        let start = Instant::now();
        let (answer, seq_cst) = match self {
            RepairQuestion::Hardware(question) => (fences(program, sites, offers, question)?, None),
            RepairQuestion::C11(question) => fence_answer(strengthen(program, sites, offers, question)?),
        };
        let mut needed = Vec::new();
        if let Some(set) = answer.sets.first().filter(|_| explain) {
            for &offer in &set.offers {
                let trouble = match self {
                    RepairQuestion::Hardware(question) => {
                        let rest = FenceQuestion { budget: question.budget.child(start, 0), ..*question };
                        without(program, sites, offers, set, offer, &rest)?
                    }
                    RepairQuestion::C11(question) => {
                        let robust = C11Question { budget: question.robust.budget.child(start, 0), ..question.robust };
                        let rest = StrengthenQuestion { robust, ..*question };
                        strengthen_without(program, sites, offers, set, offer, &rest)?
                            .map(|violation| Trouble::C11(Box::new(violation)))
                    }
                };
                needed.push((offer, trouble));
            }
        }
        Ok(FenceResult { answer, seq_cst, needed })
    }

    /// Checks the repaired program like any other, and returns the verdict with the word for a good one.
    pub fn check(&self, program: &Program) -> Result<(Verdict, &'static str), AnalysisError> {
        let question = match self {
            RepairQuestion::C11(question) => return Ok((c11_robustness(program, &question.robust)?.verdict, "robust")),
            RepairQuestion::Hardware(question) => question,
        };
        let FenceQuestion { model, purpose, budget, .. } = *question;
        let robust = RobustnessQuestion { budget, ..RobustnessQuestion::new(model) };
        Ok(match purpose {
            SynthesisPurpose::Robust => (robustness(program, &robust)?.verdict, "robust"),
            SynthesisPurpose::RaceFree => (race_freedom(program, &robust)?.verdict, "free of triangular races"),
            SynthesisPurpose::Safe(engine) => {
                let reach =
                    reachability::ReachabilityQuestion { budget, ..reachability::ReachabilityQuestion::new(model) };
                (answer(program, &reach, engine)?.reachability.verdict, "safe")
            }
        })
    }
}

/// Converts an answer about orders and fences to one about fences.
fn fence_answer(found: StrengthenAnswer) -> (FenceAnswer, Option<SeqCstReading>) {
    let outcome = match found.outcome {
        StrengthenOutcome::NotNeeded => SynthesisOutcome::NotNeeded,
        StrengthenOutcome::Found => SynthesisOutcome::Found,
        StrengthenOutcome::NoSet(violation) => SynthesisOutcome::NoSet(Box::new(Trouble::C11(violation))),
        StrengthenOutcome::Unknown { limit, unchecked } => {
            SynthesisOutcome::Unknown(UnknownReason { limit, one_delaying_thread: false, unchecked })
        }
    };
    (FenceAnswer { outcome, sets: found.sets, truncated: found.truncated, effort: found.effort }, found.seq_cst)
}
