//! Known answers of reachability under release/acquire and RC20.

use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer};
use ravelin_program::{Model, Program, Source};

fn program(text: &str) -> Program {
    let parsed = ravelin_frontend::parse(Source::new("claim.rav", text), ravelin_frontend::Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}: {text}", parsed.diagnostics))
}

fn verdict(text: &str, model: Model, engine: ReachEngine) -> Verdict {
    let program = program(text);
    answer(&program, &ReachabilityQuestion::new(model), engine).expect("an answer").reachability.verdict
}

/// Two threads of two accesses each, and what must not be seen.
fn two(first: [&str; 2], second: [&str; 2], never: &str) -> String {
    format!(
        "static x; static y;
         thread p {{ let a = 0; let b = 0; {} {} }}
         thread q {{ let a = 0; let b = 0; {} {} }}
         finally never {never};",
        first[0], first[1], second[0], second[1]
    )
}

#[test]
fn litmus_shapes_are_what_c11_says() {
    use Verdict::{Holds, Violated};
    let sb = |store: &str, load: &str, fence: &str| {
        let store_x = format!("x.store(1, {store}); {fence}");
        let store_y = format!("y.store(1, {store}); {fence}");
        let (load_y, load_x) = (format!("a = y.load({load});"), format!("a = x.load({load});"));
        two([&store_x, &load_y], [&store_y, &load_x], "p.a == 0 && q.a == 0")
    };
    let mp = |store: &str, load: &str| {
        let (publish, see) = (format!("y.store(1, {store});"), format!("a = y.load({load});"));
        two(["x.store(1, relaxed);", &publish], [&see, "b = x.load(relaxed);"], "q.a == 1 && q.b == 0")
    };
    let lb = two(
        ["a = x.load(relaxed);", "y.store(1, relaxed);"],
        ["a = y.load(relaxed);", "x.store(1, relaxed);"],
        "p.a == 1 && q.a == 1",
    );
    let coherence = two(
        ["x.store(1, relaxed);", "x.store(2, relaxed);"],
        ["a = x.load(relaxed);", "b = x.load(relaxed);"],
        "q.a == 2 && q.b == 1",
    );
    let writes = |order: &str| {
        let [x1, y2, y1, x2] =
            [("x", 1), ("y", 2), ("y", 1), ("x", 2)].map(|(c, v)| format!("{c}.store({v}, {order});"));
        two([&x1, &y2], [&y1, &x2], "x == 1 && y == 1")
    };
    let claims = [
        ("sb", sb("relaxed", "relaxed", ""), Violated, Violated),
        ("sb release/acquire", sb("release", "acquire", ""), Violated, Violated),
        ("sb seq_cst", sb("seq_cst", "seq_cst", ""), Violated, Holds),
        ("sb seq_cst stores", sb("seq_cst", "acquire", ""), Violated, Violated),
        ("sb fences", sb("relaxed", "relaxed", "fence(seq_cst);"), Holds, Holds),
        ("mp", mp("relaxed", "relaxed"), Holds, Violated),
        ("mp release", mp("release", "relaxed"), Holds, Violated),
        ("mp release/acquire", mp("release", "acquire"), Holds, Holds),
        ("lb", lb, Holds, Holds),
        ("coherence", coherence, Holds, Holds),
        ("2+2w", writes("relaxed"), Violated, Violated),
        ("2+2w seq_cst", writes("seq_cst"), Violated, Holds),
    ];
    for (name, text, ra, rc20) in &claims {
        for engine in [ReachEngine::Auto, ReachEngine::Bounded] {
            assert_eq!(verdict(text, Model::Ra, engine), *ra, "{name} under ra by {}", engine.name());
            assert_eq!(verdict(text, Model::Rc20, engine), *rc20, "{name} under rc20 by {}", engine.name());
        }
    }
}

/// A release sequence goes on through RMWs of other threads, but not through another store of the same thread.
#[test]
fn release_sequences_are_those_of_rc20() {
    let through = |second: &str| {
        format!(
            "static d; static x;
             thread p {{ d.store(1, relaxed); x.store(1, release); {second} }}
             thread q {{ let r = x.load(acquire); let s = d.load(relaxed); }}
             finally never q.r == 2 && q.s == 0;"
        )
    };
    let by_other = "static d; static x;
         thread p { d.store(1, relaxed); x.store(1, release); }
         thread u { let (seen, ok) = x.compare_exchange(1, 2); }
         thread q { let r = x.load(acquire); let s = d.load(relaxed); }
         finally never q.r == 2 && q.s == 0;";
    assert_eq!(verdict(by_other, Model::Rc20, ReachEngine::Auto), Verdict::Holds);
    assert_eq!(verdict(&through("x.store(2, relaxed);"), Model::Rc20, ReachEngine::Auto), Verdict::Violated);
    assert_eq!(verdict(&through("x.fetch_add(1, relaxed);"), Model::Rc20, ReachEngine::Auto), Verdict::Holds);
}

/// A loop that reads an old value for ever adds no state, and one that writes for ever meets the bound.
#[test]
fn loops_end_where_messages_are_forgotten() {
    let spin = "static d; static f;
         thread p { d.store(1, relaxed); f.store(1, release); }
         thread q { while f.load(acquire) == 0 {} let r = d.load(relaxed); assert(r == 1); }";
    assert_eq!(verdict(spin, Model::Rc20, ReachEngine::Bounded), Verdict::Holds);
    let endless = "static x: 0..=1; static y;
         thread p { loop { x.store(1, relaxed); x.store(0, relaxed); } }
         thread q { let r = x.load(relaxed); let s = y.load(relaxed); assert(s == 0); }";
    assert_eq!(verdict(endless, Model::Rc20, ReachEngine::Bounded), Verdict::Unknown);
}
