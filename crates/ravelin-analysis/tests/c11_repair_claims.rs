//! Programs that are not robust, and the cheapest changes that make them so, side by side. Each is checked again with the changes
//! written into its text, by a search and, where there are no loops, by all graphs.

use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{
    C11Question, C11Violation, C11Weights, StrengthenPurpose, StrengthenQuestion, c11_offers, c11_robustness,
    strengthen, strengthen_without,
};
use ravelin_analysis::fences::{
    CostBy, FenceAnswer, FenceSet, Offer, Placement, Sets, SynthesisOutcome, Trouble, is_written,
};
use ravelin_explore::Budget;
use ravelin_frontend::sites::{RepairKind, SiteRequest, Sites as Places, sites};
use ravelin_frontend::{Language, parse};
use ravelin_program::{Change, FenceStrength, Lowering, Model, OrderSlot, Program, Source};
use ravelin_semantics::rc20::{self, OrderReading};

fn places(text: &str) -> Places {
    let request = SiteRequest::new(RepairKind::Strengthen);
    sites(&Source::new("claim.rav", text), Language::Rav, &request).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn offers(places: &Places, model: Model, weights: C11Weights) -> Vec<Offer> {
    let allowed = Placement::Anywhere.allowed(&places.program, &places.sites).expect("no list");
    c11_offers(&places.program, &places.sites, &allowed, &CostBy::Size, weights, model, Lowering::Nothing)
}

fn ask(places: &Places, offers: &[Offer], model: Model, sets: Sets) -> FenceAnswer {
    let question = StrengthenQuestion { sets, ..StrengthenQuestion::robust(model) };
    strengthen(&places.program, &places.sites, offers, &question).expect("an answer").found
}

/// The changes of a set in words: the site, and the kind of fence or the order.
fn told(places: &Places, offers: &[Offer], set: &FenceSet) -> String {
    let word = |(site, strength): (usize, FenceStrength)| {
        let (name, order) = (&places.sites[site].name, strength.order().name());
        match (name.strip_suffix(":order"), strength) {
            (Some(place), _) => format!("{place}:{order}"),
            (None, FenceStrength::Full) => name.clone(),
            (None, _) => format!("{name}={order}"),
        }
    };
    let mut names: Vec<String> = set.choices(offers).into_iter().map(word).collect();
    names.sort();
    names.join(" ")
}

fn is_robust(program: &Program, model: Model) -> bool {
    let verdict = c11_robustness(program, &C11Question::new(model)).expect("an answer").verdict;
    if program.is_acyclic() {
        let reading = if model == Model::Rc20 { OrderReading::Written } else { OrderReading::ReleaseAcquire };
        let limits = rc20::GraphLimits::default();
        let races = rc20::enumerate(program, reading, limits).expect("few graphs").has_race(reading);
        let robust = rc20::robust(program, reading, limits).expect("few graphs").is_robust();
        assert_eq!(verdict == Verdict::Holds, robust && !races);
    }
    verdict == Verdict::Holds
}

/// All cheapest sets, after they were written into the text and looked at again.
fn cheapest(text: &str, model: Model, weights: C11Weights) -> (Option<u64>, Vec<String>) {
    let places = places(text);
    let offers = offers(&places, model, weights);
    let answer = ask(&places, &offers, model, Sets::AllCheapest);
    match answer.outcome {
        SynthesisOutcome::NotNeeded => return (Some(0), Vec::new()),
        SynthesisOutcome::NoSet(_) => return (None, Vec::new()),
        SynthesisOutcome::Found => {}
        SynthesisOutcome::WrongUnderSc(_) | SynthesisOutcome::Unknown(_) => panic!("there is no limit, and no goal"),
    }
    for set in &answer.sets {
        let text = places.text(&set.choices(&offers)).expect("a text");
        let changed = parse(Source::new("changed.rav", text.clone()), Language::Rav).program.expect("a program");
        assert!(is_robust(&changed, model), "{text}");
        for &left_out in &set.offers {
            let question = StrengthenQuestion::robust(model);
            let why = strengthen_without(&places.program, &places.sites, &offers, set, left_out, &question);
            assert!(why.expect("an answer").is_some(), "a change that is not needed: {text}");
        }
    }
    let mut sets: Vec<String> = answer.sets.iter().map(|set| told(&places, &offers, set)).collect();
    sets.sort();
    (answer.sets.first().map(|set| set.cost.main), sets)
}

/// Threads, each on lines of their own from line 2 on; the least cost against RC20, and the sets that cost no more.
type Claim = (&'static str, &'static str, Option<u64>, &'static [&'static str]);

const CELLS: &str = "static x; static y; static z;\n";

const CLAIMS: &[Claim] = &[
    ("nothing is needed", "thread p { x.store(1); }\nthread q { let a = x.load(); }", Some(0), &[]),
    (
        "MP: one release, one acquire",
        "thread p {\nx.store(1);\ny.store(1);\n}\nthread q {\nlet a = y.load();\nlet b = x.load();\n}",
        Some(2),
        &["L4:release L7:acquire"],
    ),
    (
        "SB: a seq_cst fence in each thread",
        "thread p {\nx.store(1);\nlet a = y.load();\n}\nthread q {\ny.store(1);\nlet b = x.load();\n}",
        Some(8),
        &["L4 L8"],
    ),
    ("2+2W", "thread p {\nx.store(1);\ny.store(2);\n}\nthread q {\ny.store(1);\nx.store(2);\n}", Some(8), &["L4 L8"]),
    (
        "S",
        "thread p {\nx.store(2);\ny.store(1);\n}\nthread q {\nlet a = y.load();\nx.store(1);\n}",
        Some(2),
        &["L4:release L7:acquire"],
    ),
    (
        "R",
        "thread p {\nx.store(1);\ny.store(1);\n}\nthread q {\ny.store(2);\nlet a = x.load();\n}",
        Some(8),
        &["L4 L8"],
    ),
    (
        "LB: nothing is read that is not written yet",
        "thread p {\nlet a = x.load();\ny.store(1);\n}\nthread q {\nlet b = y.load();\nx.store(1);\n}",
        Some(0),
        &[],
    ),
    (
        "IRIW: the readers alone need fences",
        "thread p {\nx.store(1);\n}\nthread q {\ny.store(1);\n}\nthread r {\nlet a = x.load();\nlet b = y.load();\n}\nthread s {\nlet c = y.load();\nlet d = x.load();\n}",
        Some(8),
        &["L10 L14"],
    ),
    (
        "WRC: what is read before a release is known behind it",
        "thread p {\nx.store(1);\n}\nthread q {\nlet a = x.load();\ny.store(1);\n}\nthread r {\nlet b = y.load();\nlet c = x.load();\n}",
        Some(2),
        &["L10:acquire L7:release"],
    ),
    (
        "ISA2",
        "thread p {\nx.store(1);\ny.store(1);\n}\nthread q {\nlet a = y.load();\nz.store(1);\n}\nthread r {\nlet b = z.load();\nlet c = x.load();\n}",
        Some(4),
        &["L11:acquire L4:release L7:acquire L8:release"],
    ),
    (
        "RWC",
        "thread p {\nx.store(1);\n}\nthread q {\nlet a = x.load();\nlet b = y.load();\n}\nthread r {\ny.store(1);\nlet c = x.load();\n}",
        Some(8),
        &["L11 L7"],
    ),
    (
        "a relaxed RMW continues a release sequence",
        "thread p {\nx.store(1);\ny.store(1);\n}\nthread q {\ny.fetch_add(1);\n}\nthread r {\nif y.load() == 2 {\nlet a = x.load();\n}\n}",
        Some(2),
        &["L10:acquire L4:release"],
    ),
    (
        "a flag around data that is not atomic",
        "thread p {\nx.write(1);\ny.store(1);\n}\nthread q {\nwait(y == 1);\nlet a = x.read();\n}",
        Some(2),
        &["L4:release L7:acquire"],
    ),
    (
        "a spin lock, written once for two threads",
        "thread p[2] {\nloop {\ny.bcas(0, 1);\nz.store(x.load());\ny.store(0);\n}\n}",
        Some(4),
        &["L4:acquire L6:release"],
    ),
    (
        "SB with exchanges: they read nothing old, but the loads may",
        "thread p {\nx.swap(1);\nlet a = y.load();\n}\nthread q {\ny.swap(1);\nlet b = x.load();\n}",
        Some(8),
        &["L4 L8"],
    ),
    ("a race that nothing removes", "thread p {\nx.write(1);\n}\nthread q {\nlet a = x.read();\n}", None, &[]),
];

#[test]
fn the_cheapest_changes_against_rc20() {
    for (name, threads, cost, sets) in CLAIMS {
        let found = cheapest(&format!("{CELLS}{threads}"), Model::Rc20, C11Weights::default());
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        assert_eq!(found, (*cost, sets), "{name}");
    }
}

const MP: &str = "thread p {\nx.store(1);\ny.store(1);\n}\nthread q {\nlet a = y.load();\nlet b = x.load();\n}";
const SB: &str = "thread p {\nx.store(1);\nlet a = y.load();\n}\nthread q {\ny.store(1);\nlet b = x.load();\n}";

#[test]
fn only_seq_cst_fences_help_against_release_acquire() {
    let weights = C11Weights { weak_fences: true, ..C11Weights::default() };
    let found = |threads: &str| cheapest(&format!("{CELLS}{threads}"), Model::Ra, weights);
    assert_eq!(found(MP), (Some(0), vec![]));
    assert_eq!(found(SB), (Some(8), vec!["L4 L8".to_owned()]));
    let places = places(&format!("{CELLS}{SB}"));
    assert!(offers(&places, Model::Ra, weights).iter().all(|offer| offer.strength == FenceStrength::Full));
}

#[test]
fn one_fence_may_be_cheaper_than_many_orders() {
    let text = format!(
        "{CELLS}thread p {{\nx.store(1);\ny.store(1);\ny.store(2);\ny.store(3);\n}}\nthread q {{\nlet a = y.load();\nlet b = x.load();\n}}"
    );
    let orders = cheapest(&text, Model::Rc20, C11Weights::default());
    assert_eq!(orders, (Some(4), vec!["L4:release L5:release L6:release L9:acquire".to_owned()]));
    let weights = C11Weights { weak_fences: true, ..C11Weights::default() };
    let fences = cheapest(&text, Model::Rc20, weights);
    assert_eq!(fences, (Some(3), vec!["L4=release L9:acquire".to_owned()]), "acq_rel costs no more, but does more");
    // And where accesses cannot be changed.
    let places = places(&format!("{CELLS}{MP}"));
    let mut offers = offers(&places, Model::Rc20, weights);
    offers.retain(|offer| matches!(places.sites[offer.site].change, Change::Insert { .. }));
    let answer = ask(&places, &offers, Model::Rc20, Sets::AllCheapest);
    let mut sets: Vec<String> = answer.sets.iter().map(|set| told(&places, &offers, set)).collect();
    sets.sort();
    assert_eq!(sets, ["L4=release L8=acquire"]);
}

#[test]
fn costs_decide() {
    let places = places(&format!("{CELLS}{MP}"));
    let allowed: Vec<usize> = (0..places.sites.len()).collect();
    let dear = CostBy::Listed([("L4:order".to_owned(), 9)].into());
    let weights = C11Weights::default();
    let offers = c11_offers(&places.program, &places.sites, &allowed, &dear, weights, Model::Rc20, Lowering::Nothing);
    let answer = ask(&places, &offers, Model::Rc20, Sets::Cheapest);
    let sets: Vec<String> = answer.sets.iter().map(|set| told(&places, &offers, set)).collect();
    assert_eq!(sets, ["L4 L7:acquire"], "a fence before the second store for 4, instead of a release for 9");
}

#[test]
fn races_count_if_they_are_asked_for() {
    let places = places(
        "static x; static y;\nthread p {\nx.write(1);\ny.store(1);\n}\nthread q {\nwait(y == 1);\nlet a = x.read();\n}",
    );
    let offers = offers(&places, Model::Rc20, C11Weights::default());
    let mut question = StrengthenQuestion::robust(Model::Rc20);
    let found = strengthen(&places.program, &places.sites, &offers, &question).expect("an answer").found;
    assert!(matches!(found.outcome, SynthesisOutcome::Found));
    question.purpose = StrengthenPurpose::Robust(C11Question { races: false, ..C11Question::new(Model::Rc20) });
    let found = strengthen(&places.program, &places.sites, &offers, &question).expect("an answer").found;
    assert!(matches!(found.outcome, SynthesisOutcome::NotNeeded));
}

#[test]
fn what_remains_is_shown() {
    let places = places(&format!("{CELLS}{SB}"));
    let mut offers = offers(&places, Model::Rc20, C11Weights::default());
    offers.retain(|offer| places.sites[offer.site].change == Change::Order(OrderSlot::Main));
    let answer = ask(&places, &offers, Model::Rc20, Sets::AllMinimal);
    let SynthesisOutcome::NoSet(remains) = answer.outcome else { panic!("orders do not repair SB") };
    let Trouble::C11(remains) = *remains else { panic!("it is about robustness") };
    let C11Violation::NotRobust(witness) = *remains else { panic!("there is nothing to race for") };
    let strong = witness.events.iter().filter(|event| event.text.contains("release") || event.text.contains("acquire"));
    assert_eq!(strong.count(), 4, "all orders are as strong as they can be");
}

#[test]
fn a_limit_leaves_a_lower_bound() {
    let loops =
        "thread p[2] {\nloop {\ny.bcas(0, 1);\nx.store(x.load());\nz.fetch_add(1);\nz.store(0);\ny.store(0);\n}\n}";
    let places = places(&format!("{CELLS}{loops}"));
    let offers = offers(&places, Model::Rc20, C11Weights::default());
    let mut question = StrengthenQuestion::robust(Model::Rc20);
    let found = strengthen(&places.program, &places.sites, &offers, &question).expect("an answer").found;
    assert!(matches!(found.outcome, SynthesisOutcome::Found));
    question.purpose = question.purpose.within(Budget::unlimited().states(5));
    let answer = strengthen(&places.program, &places.sites, &offers, &question).expect("an answer").found;
    let SynthesisOutcome::Unknown(why) = answer.outcome else { panic!("{:?}", answer.outcome) };
    assert!(why.limit.is_some() && why.unchecked.cost <= found.sets[0].cost && answer.sets.is_empty());
}

/// Of each example, whose accesses are all seq_cst: the cost of what is needed, and of what is written.
const RELAXED: &[(&str, u64, u64)] = &[
    ("dekker", 14, 20),
    ("mcs-lock", 14, 60),
    ("mp", 2, 6),
    ("peterson", 10, 30),
    ("rcu", 13, 16),
    ("seqcount", 6, 32),
    ("spinlock", 4, 18),
    ("spsc-ring", 4, 12),
    ("ticket-lock", 8, 18),
    ("treiber-stack", 4, 21),
];

/// What is written may be weaker, and nothing else may come: the relaxed text is robust, and with any order or fence one level weaker it is not.
#[test]
fn the_weakest_orders_of_the_examples() {
    for &(name, cost, written) in RELAXED {
        let path = format!("{}/../../examples/relax/{name}.rav", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("an example");
        let lower = Lowering::Accesses;
        let request = SiteRequest { existing: true, lower, ..SiteRequest::new(RepairKind::Strengthen) };
        let places = sites(&Source::new("claim.rav", text), Language::Rav, &request).expect("sites");
        let Places { program, sites, .. } = &places;
        let allowed = Placement::Written.allowed(program, sites).expect("no list");
        let weights = C11Weights::default();
        let mut offers = c11_offers(program, sites, &allowed, &CostBy::Size, weights, Model::Rc20, lower);
        offers.retain(|offer| is_written(program, &sites[offer.site], offer.strength));
        let dearest = |site: usize| offers.iter().filter(|offer| offer.site == site).map(|offer| offer.cost.main).max();
        assert_eq!((0..sites.len()).filter_map(dearest).sum::<u64>(), written, "{name}");
        let base = lower.lowered(program, sites);
        let question = StrengthenQuestion::robust(Model::Rc20);
        let found = strengthen(&base, sites, &offers, &question).expect("an answer").found;
        assert_eq!(found.sets.first().map(|set| set.cost.main), Some(cost), "{name}");
        let chosen = found.sets[0].choices(&offers);
        let relaxed = parse(Source::new("relaxed.rav", places.text(&chosen).expect("a text")), Language::Rav);
        let relaxed = relaxed.program.expect("a program");
        assert!(is_robust_by_search(&relaxed) && is_robust_by_graphs(&relaxed) != Some(false), "{name}");
        for (number, &(site, strength)) in chosen.iter().enumerate() {
            let weaker = |offer: &&Offer| {
                offer.site == site && offer.strength != strength && strength.is_at_least(offer.strength)
            };
            let weaker = offers.iter().filter(weaker).map(|offer| Some(offer.strength)).chain([None]);
            for weaker in weaker {
                let mut less = chosen.clone();
                less.remove(number);
                less.extend(weaker.map(|weaker| (site, weaker)));
                let text = places.text(&less).expect("a text");
                let program = parse(Source::new("weaker.rav", text.clone()), Language::Rav).program.expect("a program");
                // A search need not find all violations with seq_cst accesses.
                let robust = is_robust_by_graphs(&program).unwrap_or_else(|| is_robust_by_search(&program));
                assert!(!robust, "{name}: {text}");
            }
        }
    }
}

fn is_robust_by_search(program: &Program) -> bool {
    c11_robustness(program, &C11Question::new(Model::Rc20)).expect("an answer").verdict == Verdict::Holds
}

/// `None` if there are too many graphs.
fn is_robust_by_graphs(program: &Program) -> Option<bool> {
    let (reading, limits) =
        (OrderReading::Written, rc20::GraphLimits { executions: 20_000, states: 20_000, values: 100 });
    if !program.is_acyclic() {
        return None;
    }
    let robust = rc20::robust(program, reading, limits).ok()?.is_robust();
    Some(robust && !rc20::enumerate(program, reading, limits).ok()?.has_race(reading))
}
