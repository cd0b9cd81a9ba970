//! Programs whose goals a model of C11 violates, and the cheapest changes that keep the goals, side by side. Each is asked about again with the
//! changes written into its text. (`c11_repair_random.rs` compares with all graphs.)

use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{
    C11Weights, StrengthenPurpose, StrengthenQuestion, c11_offers, c11_reach, strengthen, strengthen_without,
};
use ravelin_analysis::fences::{CostBy, FenceAnswer, FenceSet, Offer, Placement, Sets, SynthesisOutcome, Trouble};
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion};
use ravelin_explore::Budget;
use ravelin_frontend::sites::{RepairKind, SiteRequest, Sites as Places, sites};
use ravelin_frontend::{Language, parse};
use ravelin_program::{Change, Lowering, Model, OrderSlot, Source, repaired};

fn places(text: &str) -> Places {
    let request = SiteRequest::new(RepairKind::Strengthen);
    sites(&Source::new("claim.rav", text), Language::Rav, &request).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn offers(places: &Places, model: Model) -> Vec<Offer> {
    let allowed = Placement::Anywhere.allowed(&places.program, &places.sites).expect("no list");
    c11_offers(&places.program, &places.sites, &allowed, &CostBy::Size, C11Weights::default(), model, Lowering::Nothing)
}

fn ask(places: &Places, offers: &[Offer], question: &StrengthenQuestion) -> FenceAnswer {
    strengthen(&places.program, &places.sites, offers, question).expect("an answer").found
}

fn told(places: &Places, offers: &[Offer], set: &FenceSet) -> String {
    let word = |&offer: &usize| {
        let name = &places.sites[offers[offer].site].name;
        let order = offers[offer].strength.order().name();
        name.strip_suffix(":order").map_or_else(|| name.clone(), |place| format!("{place}:{order}"))
    };
    let mut names: Vec<String> = set.offers.iter().map(word).collect();
    names.sort_unstable();
    names.join(" ")
}

/// What is found: `0`, `no set`, `wrong under sc`, `unknown`, or all minimal sets, each after it was written into the text and asked about again.
fn minimal(text: &str, model: Model) -> Vec<String> {
    let places = places(text);
    let offers = offers(&places, model);
    let question = StrengthenQuestion { sets: Sets::AllMinimal, ..StrengthenQuestion::safe(model) };
    let answer = ask(&places, &offers, &question);
    let word = match answer.outcome {
        SynthesisOutcome::NotNeeded => "0",
        SynthesisOutcome::NoSet(_) => "no set",
        SynthesisOutcome::WrongUnderSc(_) => "wrong under sc",
        SynthesisOutcome::Unknown(_) => "unknown",
        SynthesisOutcome::Found => "",
    };
    if !word.is_empty() {
        return vec![word.to_owned()];
    }
    for set in &answer.sets {
        let text = places.text(&set.choices(&offers)).expect("a text");
        let changed = parse(Source::new("changed.rav", text.clone()), Language::Rav).program.expect("a program");
        let again = c11_reach(&changed, &ReachabilityQuestion::new(model), ReachEngine::Bounded).expect("an answer");
        assert_eq!(again.reachability.verdict, Verdict::Holds, "{text}");
        for &left_out in &set.offers {
            let why = strengthen_without(&places.program, &places.sites, &offers, set, left_out, &question);
            assert!(matches!(why, Ok(Some(Trouble::Run(..)))), "a change that is not needed: {text}");
        }
    }
    let mut sets: Vec<String> = answer.sets.iter().map(|set| told(&places, &offers, set)).collect();
    sets.sort();
    sets
}

/// A program whose first line declares the cells, and all minimal sets under rc20 and under ra.
type Claim = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const CELLS: &str = "static x; static y; static z;\n";

const CLAIMS: &[Claim] = &[
    (
        "MP: one release, one acquire, or a fence instead of each",
        "thread p {\nx.store(1);\ny.store(1);\n}\nthread q {\nlet a = y.load();\nlet b = x.load();\n}\nfinally never q.a == 1 && q.b == 0;",
        &["L4 L7:acquire", "L4 L8", "L4:release L7:acquire", "L4:release L8"],
        &["0"],
    ),
    (
        "SB with release and acquire: two seq_cst fences",
        "thread p {\nx.store(1, release);\nlet a = y.load(acquire);\n}\nthread q {\ny.store(1, release);\nlet b = x.load(acquire);\n}\nfinally never p.a == 0 && q.b == 0;",
        &["L4 L8"],
        &["L4 L8"],
    ),
    (
        "SB that is not robust, and whose goal asks for nothing",
        "thread p {\nx.store(1);\nlet a = y.load();\n}\nthread q {\ny.store(1);\nlet b = x.load();\n}\nfinally x == 1 && y == 1;",
        &["0"],
        &["0"],
    ),
    (
        "2+2W: what memory holds at the end",
        "thread p {\nx.store(1);\ny.store(2);\n}\nthread q {\ny.store(1);\nx.store(2);\n}\nfinally never x == 1 && y == 1;",
        &["L4 L8"],
        &["L4 L8"],
    ),
    (
        "an assertion about what a flag stands for",
        "thread p {\nx.store(1);\ny.store(1, release);\n}\nthread q {\nif y.load() == 1 {\nassert(x.load() == 1);\n}\n}",
        &["L7:acquire", "L8"],
        &["0"],
    ),
    (
        "a value that leaves its type",
        "static w: 0..=1 = 1;\nthread p {\nx.store(1);\ny.store(1, release);\n}\nthread q {\nif y.load() == 1 {\nw.store(2 - x.load());\n}\n}",
        &["L8:acquire", "L9"],
        &["0"],
    ),
    (
        "a lost update, under sc already",
        "thread p[2] {\nlet r = x.load();\nx.store(r + 1);\n}\nfinally x == 2;",
        &["wrong under sc"],
        &["wrong under sc"],
    ),
    (
        "a goal that a thread between two statements violates: no set has a run that other sets would have to forbid",
        "thread p {\n@a;\nx.store(1);\n@b;\nlet r = y.load();\n@c;\n}\nthread q {\ny.store(1);\nlet s = x.load();\n}\nfinally never p.r == 0 && q.s == 0;\nnever !(p@a) && !(p@b) && !(p@c);",
        &["unknown"],
        &["unknown"],
    ),
];

#[test]
fn the_changes_that_keep_goals() {
    for (name, text, rc20, ra) in CLAIMS {
        for (model, expected) in [(Model::Rc20, rc20), (Model::Ra, ra)] {
            assert_eq!(minimal(&format!("{CELLS}{text}"), model), *expected, "{name}, under {model}");
        }
    }
}

#[test]
fn what_remains_is_a_run() {
    let (_, sb, ..) = CLAIMS[1];
    let places = places(&format!("{CELLS}{sb}"));
    let mut offers = offers(&places, Model::Rc20);
    offers.retain(|offer| places.sites[offer.site].change == Change::Order(OrderSlot::Main));
    let answer = ask(&places, &offers, &StrengthenQuestion::safe(Model::Rc20));
    let SynthesisOutcome::NoSet(remains) = answer.outcome else { panic!("orders do not repair SB") };
    let Trouble::Run(witness, None) = *remains else { panic!("it is about safety") };
    assert!(witness.model == Model::Rc20 && witness.graph.is_some_and(|graph| !graph.cycle.is_empty()));
}

/// With one fence what is left is forbidden if seq_cst accesses are what C11 says, and no reading of them shows it. Where there are loops, graphs
/// cannot be listed either: the answer is not known, and no set is called right.
#[test]
fn what_reach_leaves_open_stays_open() {
    let text = "static x; static y; static z;\nthread p {\ny.fetch_add(1, seq_cst);\nx.store(1, seq_cst);\n}\nthread q {\nx.store(2, seq_cst);\nz.store(1, seq_cst);\nlet r = y.load(acquire);\n}\nfinally never x == 2 && q.r == 0 && y == 1;";
    assert_eq!(minimal(text, Model::Rc20), ["L8", "L9"], "graphs decide");
    let places = places(&format!("{text}\nthread r {{\nwhile z.load() == 0 {{}}\n}}"));
    let offers = offers(&places, Model::Rc20);
    let answer = ask(&places, &offers, &StrengthenQuestion::safe(Model::Rc20));
    let SynthesisOutcome::Unknown(why) = answer.outcome else { panic!("{:?}", answer.outcome) };
    assert!(why.limit.is_none() && answer.sets.is_empty());
    let program = repaired(&places.program, &places.sites, &why.unchecked.choices(&offers));
    let reach = c11_reach(&program, &ReachabilityQuestion::new(Model::Rc20), ReachEngine::Auto);
    assert!(reach.expect("an answer").reachability.seq_cst_open);
}

#[test]
fn a_limit_leaves_a_lower_bound() {
    let (_, mp, ..) = CLAIMS[0];
    let places = places(&format!("{CELLS}{mp}"));
    let offers = offers(&places, Model::Rc20);
    let mut question = StrengthenQuestion::safe(Model::Rc20);
    let found = ask(&places, &offers, &question);
    assert!(matches!(found.outcome, SynthesisOutcome::Found) && found.sets[0].cost.main == 2);
    for states in [1, 5, 10, 20, 40] {
        question.purpose = StrengthenPurpose::within(question.purpose, Budget::unlimited().states(states));
        let answer = ask(&places, &offers, &question);
        let SynthesisOutcome::Unknown(why) = answer.outcome else { panic!("{states}: {:?}", answer.outcome) };
        assert!(why.limit.is_some() && why.unchecked.cost <= found.sets[0].cost && answer.sets.is_empty(), "{states}");
    }
}

/// A thread that misses a write waits for ever. That counts if it is asked for.
#[test]
fn deadlocks_are_forbidden_on_request() {
    let places = places(&format!(
        "{CELLS}thread p {{\nx.store(1);\ny.store(1, release);\n}}\nthread q {{\nif y.load() == 1 {{\nif x.load() == 0 {{\nwait(z == 1);\n}}\n}}\n}}"
    ));
    let offers = offers(&places, Model::Rc20);
    let mut question = StrengthenQuestion { sets: Sets::AllCheapest, ..StrengthenQuestion::safe(Model::Rc20) };
    assert!(matches!(ask(&places, &offers, &question).outcome, SynthesisOutcome::NotNeeded));
    let reach = ReachabilityQuestion { deadlocks: true, ..ReachabilityQuestion::new(Model::Rc20) };
    question.purpose = StrengthenPurpose::Safe(reach, ReachEngine::Auto);
    let answer = ask(&places, &offers, &question);
    let sets: Vec<String> = answer.sets.iter().map(|set| told(&places, &offers, set)).collect();
    assert_eq!(sets, ["L7:acquire"], "{:?}", answer.outcome);
}
