//! The parameters of `fence`, and the possible changes of a program.

use super::lists;
use crate::error::Error;
use ravelin_analysis::c11::{C11Weights, c11_offers};
use ravelin_analysis::fences::{
    CostBy, Offer, Placement, Sets, SynthesisPurpose, UnknownSite, Weights, apart, is_written, offers,
};
use ravelin_analysis::reachability::ReachEngine;
use ravelin_frontend::Language;
use ravelin_frontend::sites::{NoSites, NoText, RepairKind, SiteRequest, Sites as SourceSites, sites_of};
use ravelin_program::{Change, FenceStrength, Instruction, Lowering, Model, Order, Program, Site, ThreadTransition};

/// The parameters.
#[derive(Clone, Debug)]
pub(crate) struct FencePlan {
    pub purpose: SynthesisPurpose,
    pub sets: Sets,
    pub cost: CostBy,
    pub placement: Placement,
    pub repair: RepairKind,
    /// Existing fences and orders are optional.
    pub minimise: bool,
    /// Each copy of a thread has its own fences.
    pub apart: bool,
    /// The costs of a full fence and of a store-store fence, under PSO; of a seq_cst fence and of a stronger order,
    /// under RC20.
    pub weights: Option<(u64, u64)>,
    pub copies: Option<usize>,
}

/// The possible changes of a program, and their costs.
pub(crate) struct Task {
    /// None if the language cannot express such a repair; possibly none is needed.
    source: Option<SourceSites>,
    pub not_expressible: Option<NoSites>,
    /// Those of the source, or those for each thread separately.
    pub sites: Vec<Site>,
    pub offers: Vec<Offer>,
    /// The program that the offers change: as it was read, or with the optional orders lowered.
    pub base: Program,
    pub lower: Lowering,
    /// The cost of what is written, if it is optional.
    pub written: Option<u64>,
    /// How many accesses keep their orders, because the text cannot say other ones.
    pub unsaid: usize,
    /// Existing fences that only order what this model keeps in order anyway. They are not changed.
    untouched: Vec<usize>,
    /// The original text.
    unchanged: String,
}

impl Task {
    /// The text with these changes.
    pub fn text(&self, choices: &[(usize, FenceStrength)]) -> Result<String, NoText> {
        let untouched = self.untouched.iter().map(|&site| (site, FenceStrength::Full));
        match &self.source {
            Some(source) => source.text(&choices.iter().copied().chain(untouched).collect::<Vec<_>>()),
            None => Ok(self.unchanged.clone()),
        }
    }
}

impl FencePlan {
    /// The defaults of the command line.
    pub fn new(purpose: SynthesisPurpose, copies: Option<usize>) -> FencePlan {
        FencePlan {
            purpose,
            sets: Sets::Cheapest,
            cost: CostBy::Size,
            placement: Placement::Anywhere,
            repair: RepairKind::Fence,
            minimise: false,
            apart: false,
            weights: None,
            copies,
        }
    }

    /// From the options of an expectation, or the option that is not understood.
    pub fn from_options(
        options: &[(String, String)],
        engine: ReachEngine,
        copies: Option<usize>,
    ) -> Result<FencePlan, String> {
        let mut plan = FencePlan::new(SynthesisPurpose::Robust, copies);
        for (key, value) in options {
            match (key.as_str(), value.as_str()) {
                ("for", "robustness") => plan.purpose = SynthesisPurpose::Robust,
                ("for", "safety") => plan.purpose = SynthesisPurpose::Safe(engine),
                ("property", "trf") => plan.purpose = SynthesisPurpose::RaceFree,
                ("sets", "all") => plan.sets = Sets::AllMinimal,
                ("copies", "apart") => plan.apart = true,
                ("repair", "rmw") => plan.repair = RepairKind::Rmw,
                ("orders", "weakest") => plan.relax(),
                ("cost", "size" | "loops") => plan.cost = lists::read_cost(value).map_err(|error| error.to_string())?,
                ("placement", "anywhere" | "after-stores" | "before-loads" | "outside-loops") => {
                    plan.placement = lists::read_placement(value).map_err(|error| error.to_string())?;
                }
                _ => return Err(format!("`{key}={value}` is not an option of an expectation about fences")),
            }
        }
        Ok(plan)
    }

    /// Only what is written may be weaker.
    pub fn relax(&mut self) {
        self.minimise = true;
        self.placement = Placement::Written;
    }

    /// The orders that are optional: those that the model takes notice of.
    fn lowering(&self, model: Model) -> Lowering {
        match model {
            _ if !self.minimise || self.repair == RepairKind::Rmw => Lowering::Nothing,
            Model::Rc20 => Lowering::Accesses,
            Model::Tso => Lowering::SeqCstStores,
            Model::Pso => Lowering::Stores,
            Model::Sc | Model::Ra => Lowering::Nothing,
        }
    }

    /// Where fences can go in a program, and their costs.
    pub fn task(&self, program: &Program, language: Language, model: Model) -> Result<Task, Error> {
        let repair = if model.is_c11() { RepairKind::Strengthen } else { self.repair };
        let lower = self.lowering(model);
        let request = SiteRequest { repair, existing: self.minimise, lower, copies: self.copies };
        let (source, not_expressible) = match sites_of(program, language, &request) {
            Ok(source) => (Some(source), None),
            Err(reason @ NoSites::NotExpressible(_)) => (None, Some(reason)),
            Err(error) => return Err(error.into()),
        };
        let mut all = source.as_ref().map(|source| source.sites.clone()).unwrap_or_default();
        let untouched: Vec<usize> =
            (0..all.len()).filter(|&number| is_untouched(program, &all[number], model)).collect();
        for &number in &untouched {
            all[number].edges.clear();
        }
        if self.apart {
            all = apart(program, &all);
        }
        if let CostBy::Listed(costs) = &self.cost {
            // A profile lists the places of every kind of repair.
            let mut others = Vec::new();
            for (repair, existing) in
                [(RepairKind::Fence, true), (RepairKind::Rmw, false), (RepairKind::Strengthen, false)]
            {
                let request = SiteRequest { repair, existing, lower: Lowering::Nothing, copies: self.copies };
                let found = sites_of(program, language, &request);
                others.extend(found.map(|found| found.sites).unwrap_or_default());
            }
            UnknownSite::among(costs.keys(), &all, &others)?;
        }
        let mut allowed = self.placement.allowed(program, &all)?;
        allowed.retain(|&site| !all[site].edges.is_empty());
        let mut offers = match model {
            Model::Ra | Model::Rc20 => {
                let (seq_cst, order) = self.weights.unwrap_or((4, 1));
                let weights = C11Weights { seq_cst, order, weak_fence: seq_cst.min(2 * order), weak_fences: false };
                c11_offers(program, &all, &allowed, &self.cost, weights, model, lower)
            }
            Model::Pso => {
                let (full, store) = self.weights.unwrap_or((2, 1));
                let has_store_store = source.as_ref().is_some_and(|source| source.offers(FenceStrength::StoreStore));
                let weights = Weights { full, store_store: has_store_store.then_some(store) };
                offers(program, &all, &allowed, &self.cost, weights)
            }
            Model::Sc | Model::Tso => offers(program, &all, &allowed, &self.cost, Weights::FULL_ONLY),
        };
        offers.retain(|offer| self.placement.allows_offer(program, &all[offer.site], offer.strength));
        if let Some(source) = source.as_ref().filter(|_| !self.apart) {
            offers.retain(|offer| source.can_have(offer.site, offer.strength));
        }
        Ok(Task {
            unsaid: source.as_ref().map_or(0, |source| source.unsaid),
            source,
            not_expressible,
            base: lower.lowered(program, &all),
            lower,
            written: self.minimise.then(|| cost_of_written(program, &all, &offers)),
            sites: all,
            offers,
            untouched,
            unchanged: program.source.text.clone(),
        })
    }
}

/// The cost of the optional fences and orders as they are written.
fn cost_of_written(program: &Program, sites: &[Site], offers: &[Offer]) -> u64 {
    let at = |site: usize| {
        let written = |offer: &&Offer| offer.site == site && is_written(program, &sites[site], offer.strength);
        offers.iter().filter(written).map(|offer| offer.cost.main).max().unwrap_or(0)
    };
    (0..sites.len()).map(at).fold(0, u64::saturating_add)
}

/// An existing fence without effect under this model; it may be there for the compiler, or for another model.
fn is_untouched(program: &Program, site: &Site, model: Model) -> bool {
    let does_something = |edge: &ThreadTransition| {
        let transition = &program.threads[edge.thread.0].transitions[edge.transition.0];
        match transition.instruction {
            Instruction::Fence(Order::SeqCst) => true,
            Instruction::Fence(Order::Release | Order::AcqRel) => model != Model::Tso,
            Instruction::Fence(Order::Acquire) => model.is_c11(),
            _ => false,
        }
    };
    site.change == Change::Keep && !site.edges.iter().any(does_something)
}
