//! Texts that are large, deep or oddly laid out.

use super::same::check;
use ravelin_frontend::Language;
use ravelin_frontend::sites::{NoSites, NoText, RepairKind, SiteRequest, sites};
use ravelin_program::{Change, FenceStrength, Lowering, Source};

const FENCES: SiteRequest = SiteRequest { existing: true, ..SiteRequest::new(RepairKind::Fence) };
const STRONGER: SiteRequest = SiteRequest { existing: true, ..SiteRequest::new(RepairKind::Strengthen) };
const RELAXED: SiteRequest = SiteRequest { lower: Lowering::Accesses, ..STRONGER };
const LOCKS: SiteRequest = SiteRequest { existing: true, ..SiteRequest::new(RepairKind::Rmw) };

#[test]
fn long_texts_have_all_their_sites() {
    let statements = 10_000;
    let rav = format!("static x;\nthread t {{\n{}}}\n", "    x.store(1);\n".repeat(statements));
    let one_line = format!("static x; thread t {{ {}}}", "x.store(1); fence(release); ".repeat(statements / 2));
    let tpl = format!("global x;\nfn p {{\n{}}}\n", "  x.store(1);\n".repeat(statements));
    let rows = " movl $1,(x) | movl $2,(x) ;\n".repeat(statements / 2);
    let x86 = format!("X86_64 long\n{{}}\n P0 | P1 ;\n{rows}exists (x=1)\n");
    let c = format!("C long\n{{}}\nP0 (int* x) {{\n{}}}\nexists (x=1)\n", "  *x = 1;\n".repeat(statements));
    let body = vec!["write: x := 1"; statements].join(";\n");
    let rmm = format!("forbidden A\ndata x = 0\nprocess text\nA: {body}\n");
    let states: String = (0..statements).map(|n| format!("transition q{n} q{} write 1 0\n", n + 1)).collect();
    let txt = format!("thread t\ninitial q0\n{states}end\n");
    for (text, language, expected) in [
        (rav, Language::Rav, statements),
        // Behind each store and each fence, and the fences themselves.
        (one_line, Language::Rav, statements / 2 * 3),
        (tpl, Language::Rocker, statements),
        (x86, Language::Litmus, statements),
        (c, Language::Litmus, statements),
        (rmm, Language::Memorax, statements),
        (txt, Language::Trencher, statements),
    ] {
        let found = sites(&Source::new("long", text), language, &FENCES).expect("a program");
        assert_eq!(found.sites.len(), expected, "{language:?}");
        let all: Vec<(usize, FenceStrength)> = (0..expected).map(|number| (number, FenceStrength::Full)).collect();
        let text = found.text(&all).expect("a text");
        assert!(sites(&Source::new("long", text), language, &FENCES).is_ok(), "{language:?}");
    }
}

#[test]
fn many_places_that_cannot_be_used_leave_the_others() {
    // No transition leads to the start of a branch, and an empty loop has a step only as long as it is empty.
    let choices = "choose { x.store(1); } or { @L; x.store(2); } or {}\n";
    let choices: String = (0..1000).map(|number| choices.replace('L', &format!("l{number}"))).collect();
    let text = format!("static x;\nthread t {{\n{choices}loop {{ {{ }} }}\n}}\n");
    let found = sites(&Source::new("choices", text), Language::Rav, &FENCES).expect("a program");
    // Behind each store, after each label, and behind each choice.
    assert_eq!(found.sites.len(), 4000);
}

#[test]
fn texts_may_be_deep() {
    let rav =
        format!("static x;\nthread t {{ {} x.store(1); {} }}\n", "if x.load() == 1 {".repeat(100), "}".repeat(100));
    // Braces that are added nest the text deeper, and both languages have a limit.
    let c = format!("C deep\n{{}}\nP0 (int* x) {{ {} *x = 1; }}\nexists (x=1)\n", "if (*x) ".repeat(20));
    let ifs = "if $r = 0 then ".repeat(20);
    let rmm = format!("forbidden A\ndata x = 0\nprocess registers $r = 0 text\nA: {ifs} write: x := 1\n");
    for (text, language) in [(rav, Language::Rav), (c, Language::Litmus), (rmm, Language::Memorax)] {
        assert!(check("deep", &text, language, &FENCES, 3).sites.len() > 20);
    }
}

#[test]
fn odd_layouts_change_nothing_but_the_statements() {
    let texts = [
        "static x;static y;thread t{x.store(1);let r=y.load();if r==1{}else{x.store(2);}}",
        "static x;\r\nthread t {\r\n\tx.store(1);\r\n\tfence(); // why\r\n\t/* a */ x.store(2); /* b */\r\n}",
        "static x;\nthread t\n{ x.store(1)\n;\n// end\n} never x == 2;",
        "static x; thread t { fence(); fence(); fence(release); x.store(1); fence(); }",
        "static x; thread t { loop { @a; fence(); x.store(1); @b; if x.load() == 1 { goto a; } fence(); } }",
        "static x; thread t { @a; goto b; @b; goto a; }",
        "static x; thread t[me in 0..2] { loop { if me == 0 { x.store(1); } {} if me == 1 { x.store(2); } {} } }",
        "static x; thread t { loop { x.store(1); if x.load() == 1 { continue; @a; } x.store(2); continue; @b; } } never t@a;",
        "static x; thread t { while { fence(release); fence(); x.load() == 1 } {} @a; while (x.load()==1){ x.store(1); } }",
        "static x; thread t { @a; while x.load() == 0 { x.store /* store( */ (1); } @b; @c; x.store((1), release); }",
    ];
    for text in texts {
        for request in [FENCES, LOCKS, STRONGER, RELAXED] {
            let found = check(text, text, Language::Rav, &request, 20);
            let written = |number: usize| {
                let site = &found.sites[number];
                let edge = site.edges[0];
                match (site.change, &found.program.threads[edge.thread.0].transitions[edge.transition.0].instruction) {
                    (Change::Keep, _) => Some((number, FenceStrength::Full)),
                    (Change::Order(slot), access) if request.lower == Lowering::Accesses => {
                        Some((number, FenceStrength::of(slot.order(access)?)?))
                    }
                    _ => None,
                }
            };
            let kept: Vec<(usize, FenceStrength)> = (0..found.sites.len()).filter_map(written).collect();
            assert_eq!(found.text(&kept).as_deref(), Ok(text));
        }
    }
    let rmm = "forbidden * *\nmacro S(a) a endmacro macro T(v) S(write: v := 1; fence); nop endmacro\ndata x = 0\nprocess(2) \
               text L: goto M; M: { while true do T(x) }; either { K: { S(fence) } or locked { fence; nop } or fence }";
    let c = "C odd\n{}\nP0(int*x){if(*x)*x=1;else while(*x==2);do;while(*x);if(*x){}}P1(int*x){while(1);}";
    let x86 = "X86 odd\n{}\nP0|P1;L:MOV [x],$1|MOV [x],$2;M:|;JMP L|K: MFENCE;(* c *) |(* d *) SFENCE (* e *);";
    let tpl =
        "global x; fn p { A: B: x.store(1); fence; C: fence; while (1) {} } fn q { oneof ({ fence; }{ D: skip; }{}); }";
    let txt = "thread t initial a transition a a write 1 0 transition a b lock transition b b read r 0 transition b a unlock\n\
               transition a a_fence mfence transition a_fence a write 2 0 transition a_fence a mfence end # c";
    for (text, language) in [
        (rmm, Language::Memorax),
        (c, Language::Litmus),
        (x86, Language::Litmus),
        (tpl, Language::Rocker),
        (txt, Language::Trencher),
    ] {
        check(text, text, language, &FENCES, 30);
        if matches!(language, Language::Memorax) || text.starts_with('C') {
            check(text, text, language, &LOCKS, 30);
        }
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let half = Source::new("half", "static x; thread t { x.store(1); }");
    let found = sites(&half, Language::Rav, &FENCES).expect("a program");
    assert_eq!(found.text(&[(7, FenceStrength::Full)]), Err(NoText::NoSuchSite(7)));
    assert_eq!(found.text(&[(0, FenceStrength::Full), (0, FenceStrength::Full)]), Err(NoText::Twice("L1".to_owned())));
    let wrong = sites(&Source::new("wrong", "thread t { x.store(1); }"), Language::Rav, &FENCES);
    assert!(matches!(wrong, Err(NoSites::Wrong(_))), "{wrong:?}");
    let txt = Source::new("t", "thread t initial a transition a b write 1 0 end");
    let found = sites(&txt, Language::Trencher, &FENCES).expect("a program");
    assert!(!found.offers(FenceStrength::StoreStore));
    assert_eq!(found.text(&[(0, FenceStrength::StoreStore)]), Err(NoText::NotOffered("t:b".to_owned())));
    let x86 = Source::new("x", "X86 x\n{}\nP0;MOV [x],$1;");
    for (source, language) in [
        (&txt, Language::Trencher),
        (&x86, Language::Litmus),
        (&Source::new("p", "global x; fn p { x.store(1); }"), Language::Rocker),
    ] {
        assert!(matches!(sites(source, language, &LOCKS), Err(NoSites::NotExpressible(_))));
    }
    let rmm = Source::new("m", "forbidden A\ndata x = 0\nprocess text\nA: write: x := 1\n");
    for (source, language) in [(&txt, Language::Trencher), (&x86, Language::Litmus), (&rmm, Language::Memorax)] {
        assert!(matches!(sites(source, language, &STRONGER), Err(NoSites::NotExpressible(_))));
    }
}
