//! Which fences make a program robust or safe.

use crate::measure::{process_time, repeated, timed};
use anyhow::Result;
use ravelin_analysis::fences::{
    CostBy, FenceAnswer, FenceQuestion, Offer, Placement, Sets, SynthesisOutcome, SynthesisPurpose, Weights, apart,
    fences, offers,
};
use ravelin_analysis::reachability::ReachEngine;
use ravelin_explore::Budget;
use ravelin_frontend::Language;
use ravelin_frontend::sites::{RepairKind, SiteRequest, sites};
use ravelin_program::{Model, Program, Site};
use std::time::Duration;

/// What is asked.
#[derive(Clone, Copy)]
pub struct FenceExperiment {
    pub purpose: SynthesisPurpose,
    pub sets: Sets,
    pub after_stores: bool,
    pub repair: RepairKind,
    pub apart: bool,
    /// Of one search for fences; none for as long as it takes.
    pub time: Option<Duration>,
}

impl FenceExperiment {
    pub const ROBUST: FenceExperiment = FenceExperiment {
        purpose: SynthesisPurpose::Robust,
        sets: Sets::Cheapest,
        after_stores: false,
        repair: RepairKind::Fence,
        apart: false,
        time: None,
    };
    pub const SAFE: FenceExperiment = FenceExperiment {
        purpose: SynthesisPurpose::Safe(ReachEngine::Auto),
        sets: Sets::AllMinimal,
        after_stores: true,
        repair: RepairKind::Fence,
        apart: true,
        time: None,
    };
}

pub struct FenceMeasurement {
    pub answer: FenceAnswer,
    /// Those of the first set.
    pub fences: usize,
    pub places: usize,
    /// None if the search met a limit.
    pub time: Option<Duration>,
}

/// The answer, and the median of the processor time of all threads.
pub fn measure(
    program: &Program,
    language: Language,
    plan: FenceExperiment,
    repetitions: usize,
) -> Result<FenceMeasurement> {
    let request = SiteRequest::new(plan.repair);
    let ask = || -> Result<(FenceAnswer, Vec<Site>, Vec<Offer>)> {
        let found = sites(&program.source, language, &request)?;
        let all = if plan.apart { apart(program, &found.sites) } else { found.sites };
        let placement = if plan.after_stores { Placement::AfterStores } else { Placement::Anywhere };
        let allowed = placement.allowed(program, &all)?;
        let offered = offers(program, &all, &allowed, &CostBy::Size, Weights::FULL_ONLY);
        let budget = plan.time.map_or(Budget::unlimited(), |time| Budget::unlimited().time(time));
        let question = FenceQuestion { sets: plan.sets, budget, ..FenceQuestion::new(Model::Tso, plan.purpose) };
        Ok((fences(program, &all, &offered, &question)?, all, offered))
    };
    let met_limit =
        |(answer, ..): &(FenceAnswer, Vec<Site>, Vec<Offer>)| matches!(answer.outcome, SynthesisOutcome::Unknown(_));
    let ((answer, sites, offers), time) = repeated(repetitions, met_limit, || {
        let (answer, time) = timed(process_time, ask);
        Ok((answer?, time))
    })?;
    let fences = answer.sets.first().map_or(0, |set| set.fences(&offers, &sites));
    Ok(FenceMeasurement { answer, fences, places: offers.len(), time })
}

/// Whether the search ended by itself.
pub fn is_settled(answer: &FenceAnswer) -> bool {
    !matches!(answer.outcome, SynthesisOutcome::Unknown(_) | SynthesisOutcome::NoSet(_))
}
