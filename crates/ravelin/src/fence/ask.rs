//! Passes the question of `fence` to the analysis for the model.

use super::plan::FencePlan;
use ravelin_analysis::c11::{
    C11Question, StrengthenAnswer, StrengthenPurpose, StrengthenQuestion, c11_robustness, strengthen,
    strengthen_without,
};
use ravelin_analysis::fences::{FenceAnswer, FenceQuestion, Offer, SynthesisPurpose, Trouble, fences, without};
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer};
use ravelin_analysis::robustness::{RobustnessQuestion, race_freedom, robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program, SeqCstReading, Site};
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
        let purpose = match plan.purpose {
            SynthesisPurpose::Safe(engine) => {
                let question = ReachabilityQuestion { budget, ..ReachabilityQuestion::new(model) };
                StrengthenPurpose::Safe(question, engine)
            }
            SynthesisPurpose::Robust | SynthesisPurpose::RaceFree => {
                StrengthenPurpose::Robust(C11Question { seq_cst, races, budget, ..C11Question::new(model) })
            }
        };
        RepairQuestion::C11(StrengthenQuestion { purpose, sets: plan.sets })
    }

    pub fn ask(
        &self,
        program: &Program,
        sites: &[Site],
        offers: &[Offer],
        explain: bool,
    ) -> Result<FenceResult, AnalysisError> {
        let start = Instant::now();
        let (answer, seq_cst) = match self {
            RepairQuestion::Hardware(question) => (fences(program, sites, offers, question)?, None),
            RepairQuestion::C11(question) => {
                let StrengthenAnswer { found, seq_cst } = strengthen(program, sites, offers, question)?;
                (found, seq_cst)
            }
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
                        let purpose = question.purpose.within(question.purpose.budget().child(start, 0));
                        let rest = StrengthenQuestion { purpose, ..*question };
                        strengthen_without(program, sites, offers, set, offer, &rest)?
                    }
                };
                needed.push((offer, trouble));
            }
        }
        Ok(FenceResult { answer, seq_cst, needed })
    }

    /// Checks the repaired program like any other, and returns the verdict with the word for a good one.
    pub fn check(&self, program: &Program) -> Result<(Verdict, &'static str), AnalysisError> {
        let safe = |reach: &ReachabilityQuestion, engine: ReachEngine| {
            Ok((answer(program, reach, engine)?.reachability.verdict, "safe"))
        };
        let question = match self {
            RepairQuestion::C11(question) => {
                return match &question.purpose {
                    StrengthenPurpose::Robust(robust) => Ok((c11_robustness(program, robust)?.verdict, "robust")),
                    StrengthenPurpose::Safe(reach, engine) => safe(reach, *engine),
                };
            }
            RepairQuestion::Hardware(question) => question,
        };
        let FenceQuestion { model, purpose, budget, .. } = *question;
        let robust = RobustnessQuestion { budget, ..RobustnessQuestion::new(model) };
        Ok(match purpose {
            SynthesisPurpose::Robust => (robustness(program, &robust)?.verdict, "robust"),
            SynthesisPurpose::RaceFree => (race_freedom(program, &robust)?.verdict, "free of triangular races"),
            SynthesisPurpose::Safe(engine) => {
                return safe(&ReachabilityQuestion { budget, ..ReachabilityQuestion::new(model) }, engine);
            }
        })
    }
}
