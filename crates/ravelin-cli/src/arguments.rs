//! The command line.

use crate::cluster::{Cluster, LocalCluster};
use crate::completions::{Completions, Manual};
use crate::confirm::Confirm;
use crate::diagnose::Diagnose;
use crate::doctor::Doctor;
use crate::explain::Explain;
use crate::named::{at_least_one, distinct, model, named};
use crate::pages::Pages;
use crate::relax::Relax;
use crate::resume::Resume;
use crate::sanitize::arguments::{Cargo, Compile, Findings, Replay, Run, Verify};
use crate::serve::Serve;
use crate::storage::StorageArguments;
use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use ravelin::answer::text::Style;
use ravelin::answer::{FencePurpose, Property};
use ravelin::{
    Language, LiftOptions, Model, ReachEngine, ReadOptions, RepairKind, RobustnessEngine, SeqCstReading, TargetLanguage,
};
use ravelin_output::terminal::width;
use ravelin_output::{Color, stdout};
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "\
Exit codes: 0 holds, 1 violated, 2 the input or the command line is wrong, 3 unknown.
With several files or models the exit code is the worst, in the order 2, 1, 3, 0.";

/// Does weak memory change what my program does?
///
/// Ravelin checks concurrent programs under sequential consistency (sc), x86-TSO (tso), PSO (pso), release/acquire (ra) and RC20 (rc20,
/// C11). It proves that weak memory changes nothing (check) or that no forbidden state is reachable (reach), or prints an execution that
/// shows the opposite. It finds the cheapest fences (fence). For C, C++ and Rust programs it is a sanitizer (cc, c++, run, cargo).
#[derive(Debug, Parser)]
#[command(name = "ravelin", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check whether a program is robust: whether weak memory adds no executions
    Check(Check),
    /// Check whether a forbidden state is reachable, an assertion can fail, a value can leave its type, or threads can deadlock
    Reach(Reach),
    /// Find the cheapest fences that make a program robust, or the minimal sets that make it safe
    Fence(Fence),
    /// Find the weakest orders and fences with which a program stays robust, or safe
    Relax(Relax),
    /// List the final states of a program, and mark those that sequential consistency forbids
    States(States),
    /// Show on this machine what a witness under tso says: make a C program of it, run it, and count its outcomes
    Confirm(Confirm),
    /// Simulate a program: take a random walk, or choose each step yourself
    Simulate(Simulate),
    /// Search with several processes on this machine; on several machines start `check --cluster` or `reach --cluster` on each
    Cluster(LocalCluster),
    /// Resume an interrupted search from the directory of its --checkpoint, or a verification from its file
    Resume(Resume),
    /// Check a certificate that `--certify` wrote
    Certificate(Certificate),
    /// Check whether a marking of a Petri net is coverable; reads the format of MIST (.spec)
    Cover(Cover),
    /// Convert a program to another language, or pretty-print it
    Convert(Convert),
    /// Compile and link C with the sanitizer; takes the arguments of gcc or clang
    Cc(Compile),
    /// Compile and link C++ with the sanitizer; takes the arguments of g++ or clang++
    #[command(name = "c++", alias = "cxx")]
    Cxx(Compile),
    /// Run a program that was built with the sanitizer, and report its findings
    Run(Run),
    /// Run a test under every schedule of its threads, and prove or refute that it is right
    Verify(Verify),
    /// Build and run a Rust project with the sanitizer: cargo test, run, build or bench; or verify its tests
    Cargo(Cargo),
    /// Repeat the run of a finding with its schedule, and stop at the finding
    Replay(Replay),
    /// Report the findings in files that `run --findings` kept
    Findings(Findings),
    /// Explain an answer in prose, step by step, from a report of `--format json`
    Explain(Explain),
    /// Serve a web page on this machine: write a program, choose a model, see the answer
    Serve(Serve),
    /// Try out what works on this machine, and say what is missing for the rest
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print or write the manual pages
    Man(Manual),
    /// Print the errors of a program as JSON
    #[command(hide = true)]
    Diagnose(Diagnose),
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Check {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Memory models, separated by commas: tso, pso, ra (all accesses release/acquire), rc20 (C11) [default: tso for x86 litmus tests,
    /// Trencher and Memorax, tso,rc20 for other languages]
    #[arg(long = "model", short, value_delimiter = ',', value_name = "MODEL", value_parser = model())]
    pub models: Vec<Model>,
    /// What exit code 0 needs. `robust`: every computation has the trace of one under sc; `observational`: no value that may be stale is
    /// used; `safe`: no goal is violated, no assertion fails, no data race, no deadlock; `trf`: no triangular races, stronger than `robust`
    /// and cheaper to check
    #[arg(long, default_value = "robust", value_name = "PROPERTY", conflicts_with = "expect", value_parser = named(&Property::ALL, Property::name))]
    pub property: Property,
    /// tso and pso: decide every attack and list them, instead of stopping at the first feasible one
    #[arg(long, conflicts_with = "expect")]
    pub attacks: bool,
    /// ra and rc20: assume that there are no data races
    #[arg(long)]
    pub no_races: bool,
    /// Do not look for deadlocks: the program is meant to block
    #[arg(long)]
    pub no_deadlocks: bool,
    /// rc20: how seq_cst accesses are read: `exact`, as in RC11; for comparison, as release/acquire with a hidden seq_cst fence `after` each,
    /// `before` each, `both` one after the other (these allow less than RC11), or `rel-acq` without a fence (which allows more)
    #[arg(long, value_name = "READING", default_value = "exact", value_parser = named(&SeqCstReading::ALL, SeqCstReading::name))]
    pub seq_cst: SeqCstReading,
    /// ra and rc20: rewrite loops that only wait (`while x.load() != 1 {}`) to `wait` and `bcas`, which count only the attempt that succeeds
    #[arg(long)]
    pub auto_wait: bool,
    /// How attacks are searched: `shared` explores the states under sc once for all attacks, `attacks` searches one instrumented
    /// program per attack, `single` one for all attacks, `monitor` proves that there is none without searching them [default: shared]
    #[arg(long, value_name = "ENGINE", value_parser = named(&RobustnessEngine::ALL, RobustnessEngine::name))]
    pub engine: Option<RobustnessEngine>,
    /// With any number of threads: if the program is robust, write a proof to this file, which `ravelin certificate` checks
    #[arg(long, value_name = "FILE", conflicts_with = "expect")]
    pub certify: Option<PathBuf>,
    /// Compare the answers with those that the files (or tables, .tsv) expect, and print the differences
    #[arg(long, conflicts_with = "cluster")]
    pub expect: bool,
    #[command(flatten)]
    pub storage: StorageArguments,
    #[command(flatten)]
    pub cluster: Cluster,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Reach {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Compare the answers with those that the files (or tables, .tsv) expect, and print the differences
    #[arg(long, conflicts_with = "cluster")]
    pub expect: bool,
    #[command(flatten)]
    pub models: Models,
    /// The engine: `auto` tries several; `bounded` explores all states with store buffers of at most --buffer stores (under ra and rc20:
    /// --messages writes of a cell); the others are for tso and pso and have no bound: `lazy` delays stores where that matters, `dual` (tso) and `sb` search backwards and need finite domains
    #[arg(long, default_value = "auto", value_name = "ENGINE", value_parser = named(&ReachEngine::CHOSEN, ReachEngine::name))]
    pub engine: ReachEngine,
    /// Do not look for deadlocks: the program is meant to block
    #[arg(long)]
    pub no_deadlocks: bool,
    /// If a goal cannot be reached under tso, or under sc by any number of threads, write a proof to this file: a set of constraints that
    /// `ravelin certificate` checks
    #[arg(long, value_name = "FILE", conflicts_with = "expect")]
    pub certify: Option<PathBuf>,
    #[command(flatten)]
    pub search: Search,
    #[command(flatten)]
    pub storage: StorageArguments,
    #[command(flatten)]
    pub cluster: Cluster,
    #[command(flatten)]
    pub output: Output,
}

const FENCE_HELP: &str = "\
There are two questions. --for robustness: with the fences, nothing differs from sequential consistency. --for safety: with
the fences, no goal is reachable and no assertion fails; other behaviour may differ, so fewer fences may be enough.

A place is named by the line before which a fence goes (L13, or L13.9 with a column), or by thread and state (t1:q4). A cost
file has one place and a positive number per line (`L13 250`); a placement file has one place per line. A word that starts
with # begins a comment. --max-states and --max-memory limit each query, --timeout limits all queries together.

Exit codes: 0 a set was found or none is needed, 1 no set is enough, 2 the input or the command line is wrong, 3 unknown.";

#[derive(Debug, Args)]
#[command(after_help = FENCE_HELP)]
pub struct Fence {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Memory models, separated by commas: tso, pso, ra and rc20; under rc20 accesses may also get a stronger order [default: tso for x86
    /// litmus tests, Trencher and Memorax, tso,rc20 for other languages; with --write and --places tso]
    #[arg(long = "model", short, value_delimiter = ',', value_name = "MODEL", value_parser = model())]
    pub models: Vec<Model>,
    /// What the fences are for: `robustness` or `safety`
    #[arg(long = "for", default_value = "robustness", value_name = "PURPOSE", conflicts_with = "expect", value_parser = named(&[FencePurpose::Robustness, FencePurpose::Safety], FencePurpose::name))]
    pub purpose: FencePurpose,
    /// `robust`, or `trf` for no triangular races
    #[arg(long, default_value = "robust", value_name = "PROPERTY", conflicts_with = "expect", value_parser = named(&[Property::Robust, Property::Trf], Property::name))]
    pub property: Property,
    /// The engine for --for safety, as in `ravelin reach` [default: auto]
    #[arg(long, value_name = "ENGINE", value_parser = named(&ReachEngine::CHOSEN, ReachEngine::name))]
    pub engine: Option<ReachEngine>,
    /// Find all sets of least cost (robustness), or all minimal sets (safety)
    #[arg(long, conflicts_with = "expect")]
    pub all: bool,
    /// What to minimise: `size`, the number of fences; `loops`, ten to the power of the loop depth per fence; or the costs in a file
    #[arg(long, default_value = "size", value_name = "COST", conflicts_with = "expect")]
    pub cost: String,
    /// Where fences may go: `anywhere`, `after-stores`, `before-loads`, `outside-loops`, `written` (with --minimise: only what is there may
    /// stay), or the places in a file
    #[arg(long, default_value = "anywhere", value_name = "PLACEMENT", conflicts_with = "expect")]
    pub placement: String,
    /// pso: what a full fence and a store-store fence cost, relative to each other [default: 2,1]; ra and rc20: what a seq_cst fence and
    /// a stronger order of an access cost [default: 4,1]
    #[arg(long, value_name = "STRONG,WEAK", value_parser = parse_weights)]
    pub weights: Option<(u64, u64)>,
    /// rc20: how seq_cst accesses are read for --for robustness, as in `ravelin check` [default: exact]
    #[arg(long, value_name = "READING", value_parser = named(&SeqCstReading::ALL, SeqCstReading::name))]
    pub seq_cst: Option<SeqCstReading>,
    /// ra and rc20: assume that there are no data races
    #[arg(long)]
    pub no_races: bool,
    /// ra and rc20: rewrite loops that only wait, as in `ravelin check`
    #[arg(long, conflicts_with = "expect")]
    pub auto_wait: bool,
    /// The repair: `fence` inserts fences, `rmw` turns stores into locked exchanges
    #[arg(long, default_value = "fence", value_name = "REPAIR", conflicts_with = "expect", value_parser = named(&[RepairKind::Fence, RepairKind::Rmw], RepairKind::name))]
    pub repair: RepairKind,
    /// Begin without the fences of the program and with its orders lowered, and keep only what is needed
    #[arg(long, conflicts_with = "expect")]
    pub minimise: bool,
    /// Choose fences for each copy of a thread separately; the result cannot be written as a program
    #[arg(long, conflicts_with_all = ["expect", "write", "diff"])]
    pub apart: bool,
    /// Print, for each fence, what goes wrong without it
    #[arg(long, conflicts_with = "expect")]
    pub explain: bool,
    /// Write the repaired program to this file, in its own language
    #[arg(long, value_name = "OUT", conflicts_with = "expect")]
    pub write: Option<PathBuf>,
    /// Print the change as a diff
    #[arg(long, conflicts_with = "expect")]
    pub diff: bool,
    /// List the places where a fence may go, with its cost there, and exit
    #[arg(long, conflicts_with_all = ["expect", "write", "diff", "explain"])]
    pub places: bool,
    /// Compare the answers with those that the files (or tables, .tsv) expect, and print the differences
    #[arg(long)]
    pub expect: bool,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub output: Output,
}

/// Two positive numbers.
pub fn parse_weights(text: &str) -> Result<(u64, u64), String> {
    let positive = |text: &str| text.trim().parse::<u64>().ok().filter(|number| (1..=1000).contains(number));
    let parts = text.split_once(',').and_then(|(full, store)| Some((positive(full)?, positive(store)?)));
    parts.ok_or_else(|| format!("`{text}` is not two positive numbers up to 1000 such as 2,1"))
}

#[derive(Debug, Args)]
pub struct States {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Compare the answers with those that the files (or tables, .tsv) expect, and print the differences
    #[arg(long)]
    pub expect: bool,
    #[command(flatten)]
    pub models: Models,
    #[command(flatten)]
    pub search: Search,
    #[command(flatten)]
    pub storage: StorageArguments,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct Simulate {
    /// The program
    pub file: PathBuf,
    #[command(flatten)]
    pub input: InputOptions,
    /// Memory model
    #[arg(long, short, default_value = "tso", value_name = "MODEL", value_parser = model())]
    pub model: Model,
    /// Seed of the random choices; the same seed gives the same run
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Maximum number of steps
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub steps: usize,
    /// Choose each step yourself
    #[arg(long, short, conflicts_with = "format")]
    pub interactive: bool,
    /// Count in many random walks how often each place for a fence is passed, and write costs for `fence --cost` to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["interactive", "format"])]
    pub profile: Option<PathBuf>,
    /// Number of random walks for --profile
    #[arg(long, default_value_t = 100, value_name = "N", requires = "profile")]
    pub runs: usize,
    /// Stop (with --interactive: stop reading the program) after this time: seconds, or such as 90s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = ravelin::parse_time)]
    pub timeout: Option<std::time::Duration>,
    #[command(flatten)]
    pub output: Output,
}

const COVER_HELP: &str = "\
A net has sections `vars`, `rules`, `init` and `target`; rules take and produce tokens (`a >= 1, b >= 1 -> a' = a - 1, c' = c + 2;`).

Exit codes: 0 no target is coverable, 1 one is, 2 the input or the command line is wrong, 3 unknown.";

#[derive(Debug, Args)]
#[command(after_help = COVER_HELP)]
pub struct Cover {
    /// Nets; `-` reads standard input
    #[arg(required = true, value_name = "NET")]
    pub files: Vec<PathBuf>,
    /// If no target is coverable, write a proof to this file: a set of markings that `ravelin certificate --net` checks
    #[arg(long, value_name = "FILE")]
    pub certify: Option<PathBuf>,
    #[command(flatten)]
    pub resources: Resources,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct Certificate {
    /// The file that `--certify` wrote
    pub certificate: PathBuf,
    /// The net it is about, if `ravelin cover` wrote it
    #[arg(long, value_name = "NET", conflicts_with_all = ["program", "from", "copies", "wrap"])]
    pub net: Option<PathBuf>,
    /// The program it is about, if the file has moved
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub input: InputOptions,
    /// Stop after this time: seconds, or such as 90s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = ravelin::parse_time)]
    pub timeout: Option<std::time::Duration>,
}

#[derive(Debug, Args)]
pub struct Convert {
    /// The program
    pub file: PathBuf,
    #[command(flatten)]
    pub input: InputOptions,
    /// Instrument the program for an attack on its robustness, THREAD:STORE:LOAD such as t1:L3:L5 with line numbers: the result
    /// violates `never success` under sc exactly if the attack is feasible under tso
    #[arg(long, value_name = "ATTACK")]
    pub instrument: Option<String>,
    /// The output language: `rav` pretty-prints, `litmus` is a C litmus test for herd and litmus7, `c` is a C program for the
    /// sanitizer, `dot` is the control flow for Graphviz, `promela` is the input of SPIN, `spec` is the Petri net of its attacks, for any
    /// number of threads [default with --instrument: rav]
    #[arg(long, value_name = "LANGUAGE", required_unless_present = "instrument", value_parser = named(&TargetLanguage::ALL, TargetLanguage::name))]
    pub to: Option<TargetLanguage>,
    /// File to write instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stop after this time: seconds, or such as 90s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = ravelin::parse_time)]
    pub timeout: Option<std::time::Duration>,
}

#[derive(Clone, Debug, Args)]
pub struct Inputs {
    /// Programs; `-` reads standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub input: InputOptions,
}

impl Inputs {
    /// Refuses C where the same program has to be read again, here or elsewhere: files that are included and the compiler may differ.
    pub fn refuse_c(&self, option: &str) -> anyhow::Result<()> {
        let is_c = |path: &PathBuf| self.input.from.or_else(|| Language::from_path(path)) == Some(Language::C);
        match self.files.iter().find(|path| is_c(path)) {
            Some(path) => anyhow::bail!(
                "{option} is not for C, because files that are included can change: convert {} to rav, and ask about that",
                path.display()
            ),
            None => Ok(()),
        }
    }
}

/// How programs are read.
#[derive(Clone, Debug, Args)]
pub struct InputOptions {
    /// The language of a program, if the file name does not determine it
    #[arg(long, value_name = "LANGUAGE", value_parser = named(&Language::ALL, Language::name))]
    pub from: Option<Language>,
    /// Number of copies of each `thread p[*]`
    #[arg(long, value_name = "N")]
    pub copies: Option<usize>,
    /// Store values modulo N in registers and cells, for files of Trencher's language; 256 for those of Persist
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(2..=1 << 62))]
    pub wrap: Option<i64>,
    /// C and LLVM IR: functions that run in parallel, one thread each, separated by commas [default: `main`, which starts the threads]
    #[arg(long, value_name = "FUNCTIONS", value_delimiter = ',')]
    pub entry: Vec<String>,
    /// C and LLVM IR: a function that runs before those of --entry
    #[arg(long, value_name = "FUNCTION", requires = "entry")]
    pub init: Option<String>,
    /// C and LLVM IR: how many blocks each `malloc` of the source can hand out at a time [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub heap: Option<u16>,
    /// C and LLVM IR: `malloc` does not hand out again what was freed
    #[arg(long)]
    pub no_reuse: bool,
    /// C: flags of clang, separated by blanks
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cflags: Vec<String>,
    /// C: a folder of files that are included
    #[arg(short = 'I', value_name = "FOLDER")]
    pub include: Vec<String>,
    /// C: a macro, NAME or NAME=TEXT
    #[arg(short = 'D', value_name = "MACRO")]
    pub define: Vec<String>,
}

impl InputOptions {
    /// `time` is for reading one program.
    pub fn reading(&self, time: Option<Duration>) -> ReadOptions {
        let words = self.cflags.iter().flat_map(|flags| flags.split_ascii_whitespace().map(str::to_owned));
        let include = self.include.iter().map(|folder| format!("-I{folder}"));
        let define = self.define.iter().map(|name| format!("-D{name}"));
        let usual = LiftOptions::default();
        ReadOptions {
            language: self.from,
            copies: self.copies,
            wrap: self.wrap,
            lift: LiftOptions {
                entry: self.entry.clone(),
                init: self.init.clone(),
                heap: self.heap.map_or(usual.heap, usize::from),
                reuse: !self.no_reuse,
            },
            cflags: words.chain(include).chain(define).collect(),
            time,
        }
    }
}

#[derive(Debug, Args)]
pub struct Models {
    /// Memory models, separated by commas: sc, tso, pso, ra (all accesses release/acquire), rc20 (C11) [default: reach: tso for x86 litmus
    /// tests, .bm and .rmm, otherwise tso and rc20; states: tso]
    #[arg(long = "model", short, value_delimiter = ',', value_name = "MODEL", value_parser = model())]
    pub models: Vec<Model>,
    /// Maximum number of pending stores per thread under tso and pso
    #[arg(long, default_value_t = 3, value_name = "K")]
    pub buffer: usize,
    /// Maximum number of writes to a cell that threads can still read, under ra and rc20 [default: 4, doubled as long as --timeout and --max-states allow, without them as long as searches are small]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=200).map(usize::from))]
    pub messages: Option<usize>,
}

impl Models {
    /// The models that were named, or else the given ones.
    pub fn or(&self, usual: &[Model]) -> Vec<Model> {
        if self.models.is_empty() { usual.to_vec() } else { distinct(&self.models) }
    }
}

/// Limits of a search.
#[derive(Clone, Debug, Args)]
pub struct Resources {
    /// Stop after this number of states
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Stop before using more memory than this, such as 512M or 4G [default: three quarters of what is free]
    #[arg(long, value_name = "SIZE", value_parser = ravelin::parse_size)]
    pub max_memory: Option<u64>,
    /// Stop after this time: seconds, or such as 90s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = ravelin::parse_time)]
    pub timeout: Option<std::time::Duration>,
    /// Number of threads to search with [default: one per core]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub workers: Option<usize>,
}

#[derive(Debug, Args)]
pub struct Search {
    #[command(flatten)]
    pub resources: Resources,
    /// Store every step of every thread instead of fusing local ones
    #[arg(long)]
    pub no_fuse: bool,
    /// Keep registers that will not be read again
    #[arg(long)]
    pub no_liveness: bool,
    /// Explore all orders of independent steps
    #[arg(long)]
    pub no_partial_order: bool,
    /// Distinguish identical threads
    #[arg(long)]
    pub no_symmetry: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Output {
    /// Format of the answer
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: Format,
    #[command(flatten)]
    pub paint: Paint,
    #[command(flatten)]
    pub pages: Pages,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    /// The layout of herd; for `states`
    Herd,
    /// SARIF 2.1.0, for code scanning and editors; for `check`, `reach` and `fence`
    Sarif,
}

/// Whether text is painted.
#[derive(Clone, Copy, Debug, Args)]
pub struct Paint {
    /// When to use colours
    #[arg(long, default_value = "auto", value_name = "WHEN", value_parser = named(&Color::ALL, Color::name))]
    pub color: Color,
}

impl Paint {
    /// How text on standard output looks.
    pub fn style(self) -> Style {
        Style { color: self.color.paints(stdout()), width: width(stdout()) }
    }
}

impl Output {
    /// How text on standard output looks.
    pub fn style(&self) -> Style {
        self.paint.style()
    }

    /// Refuses herd's layout where there are no final states.
    pub fn refuse_herd(&self) -> anyhow::Result<()> {
        if self.format == Format::Herd {
            anyhow::bail!("herd's layout is for final states: use it with `ravelin states`");
        }
        Ok(())
    }

    /// Refuses SARIF where there is nothing that a rule could be about.
    pub fn refuse_sarif(&self, command: &str) -> anyhow::Result<()> {
        if self.format == Format::Sarif {
            anyhow::bail!(
                "`{command}` finds no violations, so it cannot write SARIF: use SARIF with check, reach or fence"
            );
        }
        Ok(())
    }
}
