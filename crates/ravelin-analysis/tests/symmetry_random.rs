//! Threads that are alike but for their numbers, made at random: every reduction of the monitored search, and no reduction
//! at all, give the same answer. Numbers are stored, compared, used as indices, and now and then computed with, which makes
//! threads different. In other programs they are addresses of the threads' own nodes, and pointers are followed.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_explore::{Budget, Options};
use ravelin_frontend::Language;
use ravelin_machine::Reductions;
use ravelin_machine::monitor::{C11Settings, MonitorError, MonitorSearch, monitor};
use ravelin_program::{Model, Program, SeqCstReading, Source};
use ravelin_testing::Random;
use ravelin_testing::{is_default_run, seeds};

const WITHOUT_SYMMETRY: Reductions = Reductions { symmetry: false, ..Reductions::ALL };

/// One statement. `r` and `s` are registers, a value of 3 is no thread's number.
fn statement(random: &mut Random) -> String {
    let loads = ["relaxed", "acquire"];
    let stores = ["relaxed", "release"];
    let (load, store) = (random.pick(&loads), random.pick(&stores));
    let value = random.pick(&["me", "me", "3", "r", "s"]);
    let cell = random.pick(&["turn", "last", "turn", "own[me]", "own[r]", "own[s]", "flag[me]", "flag[s]"]);
    match random.below(16) {
        0 | 1 => format!("{cell}.store({value}, {store});"),
        2 | 3 => format!("r = {cell}.load({load});"),
        4 => format!("s = {cell}.load({load});"),
        5 => format!("r = {cell}.swap({value}, acq_rel);"),
        6 => format!("s = {cell}.compare_exchange({value}, me, acq_rel);"),
        7 => format!("if r == {value} {{ {} }}", statement(random)),
        8 => format!("if s != {value} {{ {} }} else {{ {} }}", statement(random), statement(random)),
        9 => format!("wait({cell} {} {value}, {load});", random.pick(&["==", "==", "!="])),
        10 => format!("c = count.fetch_add(1, {store});"),
        11 => format!("data.write({value});"),
        12 => "s = data.read();".to_owned(),
        13 => "fence(seq_cst);".to_owned(),
        14 => format!("r = {value}; count.store(c, {store});"),
        _ => random.pick(&["r = (me + 1) % 4;", "if r < me { s = me; }", "c = 1;", "wait(count == c);"]).to_owned(),
    }
}

fn text(seed: u64) -> String {
    let mut random = Random::new(seed);
    let threads = random.within(2..=3);
    let statements: Vec<String> = (0..random.within(2..=5)).map(|_| statement(&mut random)).collect();
    let body = statements.join("\n        ");
    let body = if random.once_in(4) { format!("loop {{\n        {body}\n    }}") } else { body };
    let others = if random.once_in(4) {
        format!(
            "thread q {{\n    let me = 3; let mut r = 3; let mut s = 3; let mut c = 0;\n    {}\n}}\n",
            statement(&mut random)
        )
    } else {
        String::new()
    };
    format!(
        "static turn: 0..4 = 3;\nstatic last: 0..4;\nstatic own: [0..4; 4];\nstatic flag: [0..4; 4];\n\
         static count: 0..8;\nstatic data: 0..4;\n\
         thread p[me in 0..{threads}] {{\n    let mut r = 3; let mut s = me; let mut c = 0;\n    {body}\n}}\n{others}"
    )
}

/// One statement of a thread with a node: two cells, the second of which is 8 behind the first. `NODE` is the address of
/// the first.
fn statement_with_node(random: &mut Random) -> String {
    let loads = ["relaxed", "acquire"];
    let stores = ["relaxed", "release"];
    let (load, store) = (random.pick(&loads), random.pick(&stores));
    // 24 is the second cell of the first node, for all threads.
    let value = random.pick(&["NODE", "NODE", "NODE", "0", "r", "r", "s", "24"]);
    let other = random.pick(&["r", "s"]);
    let cell = random.pick(&["top", "top", "last", "mem[r]", "mem[s]", "nextNUMBER", "nextNUMBER"]);
    let flag = random.pick(&["flagNUMBER", "flagNUMBER", "mem[r + 8]", "mem[s + 8]"]);
    match random.below(16) {
        0 | 1 => format!("{cell}.store({value}, {store});"),
        2 | 3 => format!("r = {cell}.load({load});"),
        4 => format!("s = {cell}.load({load});"),
        5 => format!("r = {cell}.swap({value}, acq_rel);"),
        6 => format!("s = {cell}.compare_exchange({value}, NODE, acq_rel);"),
        7 => format!("if {other} == {value} {{ {} }}", statement_with_node(random)),
        8 => {
            format!("if {other} != 0 {{ {} }} else {{ {} }}", statement_with_node(random), statement_with_node(random))
        }
        9 => format!("wait({cell} {} {value}, {load});", random.pick(&["==", "==", "!="])),
        10 | 11 => format!("{flag}.store({}, {store});", random.pick(&["0", "1", "1", "c"])),
        12 => format!("c = {flag}.load({load});"),
        13 => format!("if {other} != 0 {{ {flag}.store(1, {store}); r = mem[{other}].load({load}); }}"),
        14 => format!("r = {value}; {cell}.store(r, {store});"),
        _ => random
            .pick(&["r = s;", "r = s + 8;", "if r < NODE { s = NODE; }", "c = r == s;", "fence(seq_cst);"])
            .to_owned(),
    }
}

fn text_with_nodes(seed: u64) -> String {
    let mut random = Random::new(seed);
    let threads = random.within(2..=3);
    let statements: Vec<String> = (0..random.within(2..=6)).map(|_| statement_with_node(&mut random)).collect();
    let body = statements.join("\n    ");
    let body = if random.once_in(4) { format!("loop {{\n    {body}\n    }}") } else { body };
    let strict = if random.once_in(4) { "" } else { "strict mem;\n" };
    // Now and then nodes are not alike at the start.
    let [first, top] = [(); 2].map(|()| if random.once_in(3) { 16 * random.within(1..=threads) } else { 0 });
    let mut text = format!("{strict}gap 15;\n");
    for number in 0..threads {
        let next = if number == 0 { first } else { 0 };
        text += &format!("static next{number} = {next};\ngap 7;\nstatic flag{number};\ngap 7;\n");
    }
    text += &format!("static top = {top};\nstatic last;\n");
    for number in 0..threads {
        let node = 16 + 16 * number;
        let body = body.replace("NODE", &node.to_string()).replace("NUMBER", &number.to_string());
        text +=
            &format!("thread p{number} {{\n    let mut r = 0; let mut s = {node}; let mut c = 0;\n    {body}\n}}\n");
    }
    text
}

fn program(text: &str) -> Program {
    let parsed = ravelin_frontend::parse(Source::new("alike.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{text}\n{:#?}", parsed.diagnostics))
}

fn search(program: &Program, model: Model, reductions: Reductions) -> Result<Option<MonitorSearch>, MonitorError> {
    let (seq_cst, races) = (SeqCstReading::RelAcq, !model.is_hardware());
    let settings = C11Settings { model, seq_cst, chains: false, observational: false, races, reductions };
    let options = Options { budget: Budget::unlimited().states(30_000), ..Options::default() };
    match monitor(program, settings, &options) {
        Err(MonitorError::Refused(_)) => Ok(None),
        Ok(search) if search.limit.is_some() => Ok(None),
        search => search.map(Some),
    }
}

#[derive(Default)]
struct Comparison {
    compared: usize,
    smaller: usize,
    violated: usize,
}

/// Compares all reductions with fewer of them, under every model.
fn compare(seed: u64, text: &str, counts: &mut Comparison) {
    let program = program(text);
    for model in [Model::Tso, Model::Pso, Model::Ra, Model::Rc20] {
        let [all, plain, none] = [Reductions::ALL, WITHOUT_SYMMETRY, Reductions::NONE].map(|reductions| {
            search(&program, model, reductions).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"))
        });
        let (Some(all), Some(plain), Some(none)) = (all, plain, none) else { continue };
        let found = [&all, &plain, &none].map(|search| search.found.is_some());
        let same = found == [found[0]; 3];
        assert!(same, "seed {seed}: {model}, something found with fewer and fewer reductions: {found:?}\n{text}");
        if found[0] && !model.is_hardware() {
            // The run is made into a graph that the axioms judge.
            let answer = c11_robustness(&program, &C11Question::new(model));
            let verdict = answer.unwrap_or_else(|error| panic!("seed {seed}: {model}, {error}\n{text}")).verdict;
            assert!(verdict == Verdict::Violated, "seed {seed}: {model}, {verdict:?}\n{text}");
        }
        counts.compared += 1;
        counts.violated += usize::from(found[0]);
        counts.smaller += usize::from(!found[0] && all.statistics.states < plain.statistics.states);
    }
}

#[test]
fn threads_that_differ_by_numbers_need_not_be_told_apart() {
    let mut counts = Comparison::default();
    for seed in seeds(1_200) {
        compare(seed, &text(seed), &mut counts);
    }
    let Comparison { compared, smaller, violated } = counts;
    if is_default_run() {
        assert!(compared > 3_000, "{compared} searches compared");
        assert!(smaller > 100 && violated > 500, "{smaller} searches are smaller, {violated} found something");
    }
}

#[test]
fn threads_that_differ_by_their_nodes_need_not_be_told_apart() {
    let mut counts = Comparison::default();
    for seed in seeds(1_200) {
        compare(seed, &text_with_nodes(seed), &mut counts);
    }
    let Comparison { compared, smaller, violated } = counts;
    if is_default_run() {
        assert!(compared > 3_000, "{compared} searches compared");
        assert!(smaller > 300 && violated > 20, "{smaller} searches are smaller, {violated} found something");
    }
}
