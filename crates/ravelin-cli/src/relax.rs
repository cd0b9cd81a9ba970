//! `ravelin relax`: short for `ravelin fence --minimise --placement written`.

use crate::arguments::{Fence, Inputs, Output, Resources, parse_weights};
use crate::exit::Exit;
use crate::fence;
use crate::named::{model, named};
use clap::Args;
use ravelin::answer::{FencePurpose, Property};
use ravelin::{Model, ReachEngine, RepairKind, SeqCstReading};
use std::path::PathBuf;

const RELAX_HELP: &str = "\
Orders become weaker and fences weaker or none, as far as the program stays robust, or, with --for safety, no goal is reachable
and no assertion fails. Nothing becomes stronger, unless the program is wrong as it is written: then the answer is that of
`ravelin fence --minimise`. Under tso only fences and seq_cst stores cost anything, under pso stores and fences.

An order costs 1, acq_rel 2, a seq_cst load 2, a seq_cst read-modify-write 3, a seq_cst store 4; a seq_cst fence costs 4, any
other fence 2. --weights changes the cost of a seq_cst fence and of an order, and what is derived from them.

Exit codes: 0 the weakest orders were found, 1 no set is enough, 2 the input or the command line is wrong, 3 unknown.";

#[derive(Debug, Args)]
#[command(after_help = RELAX_HELP)]
pub struct Relax {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Memory models, separated by commas: tso, pso, ra and rc20 [default: tso for x86 litmus tests, Trencher and Memorax, tso,rc20 for
    /// other languages; with --write tso]
    #[arg(long = "model", short, value_delimiter = ',', value_name = "MODEL", value_parser = model())]
    pub models: Vec<Model>,
    /// What has to stay: `robustness` or `safety`
    #[arg(long = "for", default_value = "robustness", value_name = "PURPOSE", value_parser = named(&[FencePurpose::Robustness, FencePurpose::Safety], FencePurpose::name))]
    pub purpose: FencePurpose,
    /// The engine for --for safety, as in `ravelin reach` [default: auto]
    #[arg(long, value_name = "ENGINE", value_parser = named(&ReachEngine::CHOSEN, ReachEngine::name))]
    pub engine: Option<ReachEngine>,
    /// Find all choices of least cost (robustness), or all weakest ones (safety)
    #[arg(long)]
    pub all: bool,
    /// What to minimise: `size`; `loops`, ten to the power of the loop depth for each change; or the costs in a file
    #[arg(long, default_value = "size", value_name = "COST")]
    pub cost: String,
    /// pso: what a full fence and a store-store fence cost [default: 2,1]; ra and rc20: what a seq_cst fence and an order cost [default: 4,1]
    #[arg(long, value_name = "STRONG,WEAK", value_parser = parse_weights)]
    pub weights: Option<(u64, u64)>,
    /// rc20: how seq_cst accesses are read for --for robustness, as in `ravelin check`
    #[arg(long, value_name = "READING", value_parser = named(&SeqCstReading::ALL, SeqCstReading::name))]
    pub seq_cst: Option<SeqCstReading>,
    /// ra and rc20: assume that there are no data races
    #[arg(long)]
    pub no_races: bool,
    /// Choose orders and fences for each copy of a thread separately; the result cannot be written as a program
    #[arg(long, conflicts_with_all = ["write", "diff"])]
    pub apart: bool,
    /// Print, for each order and fence that stays, what goes wrong without it
    #[arg(long)]
    pub explain: bool,
    /// Write the relaxed program to this file, in its own language
    #[arg(long, value_name = "OUT")]
    pub write: Option<PathBuf>,
    /// Print the change as a diff
    #[arg(long)]
    pub diff: bool,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(arguments: &Relax) -> anyhow::Result<Exit> {
    let fence = Fence {
        auto_wait: false,
        inputs: arguments.inputs.clone(),
        models: arguments.models.clone(),
        purpose: arguments.purpose,
        property: Property::Robust,
        engine: arguments.engine,
        all: arguments.all,
        cost: arguments.cost.clone(),
        placement: "written".to_owned(),
        weights: arguments.weights,
        seq_cst: arguments.seq_cst,
        no_races: arguments.no_races,
        repair: RepairKind::Fence,
        minimise: true,
        apart: arguments.apart,
        explain: arguments.explain,
        write: arguments.write.clone(),
        diff: arguments.diff,
        places: false,
        expect: false,
        resources: arguments.resources.clone(),
        output: arguments.output.clone(),
    };
    fence::run(&fence)
}
