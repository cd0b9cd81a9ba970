//! The question of `fence`, to the analysis that knows the model.

use super::plan::{Plan, Task};
use crate::arguments::Fence;
use crate::ask::Subject;
use ravelin_analysis::c11::{
    C11Question, StrengthenOutcome, StrengthenQuestion, Strengthened, c11_robustness, strengthen, strengthen_without,
};
use ravelin_analysis::fences::{FenceQuestion, Fences, Outcome, Purpose, Trouble, Why, fences, without};
use ravelin_analysis::reachability::{self, answer};
use ravelin_analysis::robustness::{RobustnessQuestion, race_freedom, robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_program::{Model, Program, SeqCstReading};
use ravelin_report::fences::Needed;

pub enum Question<'a> {
    Hardware(FenceQuestion<'a>),
    C11(StrengthenQuestion<'a>),
}

/// The answer, the reading of seq_cst accesses that it is about, and why each fence is needed.
pub struct Found {
    pub answer: Fences,
    pub seq_cst: Option<SeqCstReading>,
    pub reasons: Vec<Needed>,
}

impl<'a> Question<'a> {
    pub fn new(arguments: &Fence, subject: &Subject<'a>, plan: &Plan) -> Question<'a> {
        let (limits, workers) = (arguments.resources.limits(), arguments.resources.workers());
        let (stop, progress) = (Some(subject.stop), Some(subject.progress));
        match subject.model {
            model @ (Model::Sc | Model::Tso | Model::Pso) => Question::Hardware(FenceQuestion {
                sets: plan.sets,
                limits,
                workers,
                stop,
                progress,
                ..FenceQuestion::new(model, plan.purpose)
            }),
            model @ (Model::Ra | Model::Rc20) => Question::C11(StrengthenQuestion {
                robust: C11Question {
                    seq_cst: arguments.seq_cst.unwrap_or_default(),
                    races: !arguments.no_races,
                    limits,
                    workers,
                    stop,
                    progress,
                    ..C11Question::new(model)
                },
                sets: plan.sets,
            }),
        }
    }

    pub fn ask(&self, program: &Program, task: &Task, explain: bool) -> Result<Found, AnalysisError> {
        let Task { sites, offers, .. } = task;
        let (answer, seq_cst) = match self {
            Question::Hardware(question) => (fences(program, sites, offers, question)?, None),
            Question::C11(question) => told(strengthen(program, sites, offers, question)?),
        };
        let mut reasons = Vec::new();
        if let Some(set) = answer.sets.first().filter(|_| explain) {
            for &offer in &set.offers {
                let trouble = match self {
                    Question::Hardware(question) => without(program, sites, offers, set, offer, question)?,
                    Question::C11(question) => strengthen_without(program, sites, offers, set, offer, question)?
                        .map(|violation| Trouble::C11(Box::new(violation))),
                };
                reasons.push(Needed { offer, trouble });
            }
        }
        Ok(Found { answer, seq_cst, reasons })
    }

    /// What anybody would ask about the repaired program, and the word for a good answer.
    pub fn check(&self, program: &Program) -> Result<(Verdict, &'static str), AnalysisError> {
        let question = match self {
            Question::C11(question) => return Ok((c11_robustness(program, &question.robust)?.verdict, "robust")),
            Question::Hardware(question) => question,
        };
        let FenceQuestion { limits, workers, stop, progress, .. } = *question;
        let robust = RobustnessQuestion { limits, workers, stop, progress, ..RobustnessQuestion::new(question.model) };
        Ok(match question.purpose {
            Purpose::Robust => (robustness(program, &robust)?.verdict, "robust"),
            Purpose::RaceFree => (race_freedom(program, &robust)?.verdict, "free of triangular races"),
            Purpose::Safe(engine) => {
                let reach = reachability::Question {
                    limits,
                    workers,
                    stop,
                    progress,
                    ..reachability::Question::new(question.model)
                };
                (answer(program, &reach, engine)?.reachability.verdict, "safe")
            }
        })
    }
}

/// An answer about orders and fences in the words of one about fences.
fn told(found: Strengthened) -> (Fences, Option<SeqCstReading>) {
    let outcome = match found.outcome {
        StrengthenOutcome::NotNeeded => Outcome::NotNeeded,
        StrengthenOutcome::Found => Outcome::Found,
        StrengthenOutcome::NoSet(violation) => Outcome::NoSet(Box::new(Trouble::C11(violation))),
        StrengthenOutcome::Unknown { limit, unchecked } => {
            Outcome::Unknown(Why { limit, one_delaying_thread: false, unchecked })
        }
    };
    (Fences { outcome, sets: found.sets, truncated: found.truncated, effort: found.effort }, found.seq_cst)
}
