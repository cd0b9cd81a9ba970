//! Pages in a real browser: Debian's Chromium, headless. Where it is not installed these tests say so and pass.

pub mod accessible;
pub mod chromium;
mod judge;
mod views;
use crate::running;
use ravelin_program::Model;

use chromium::Browser;
use judge::{Edge, Judged};
use ravelin_report::{page, story};
use running::{Scratch, code, ravelin};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every cell holds what was written last, but nobody says when.
const RACE: &str = "static x: bool;\nthread p { x.write(1); }\nthread q { let r = x.read(); }\n";

/// One of each kind: name, what is asked, and the verdicts that the page has to show.
const KINDS: &[(&str, &[&str], &[&str])] = &[
    ("reach-tso", &["reach", "examples/peterson.rav", "--model", "tso"], &["violated"]),
    ("reach-rc20", &["reach", "examples/mp.rav", "--model", "rc20"], &["violated"]),
    ("reach-pso", &["reach", "examples/mp.rav", "--model", "sc,pso"], &["holds", "violated"]),
    ("robust-tso", &["check", "examples/dekker.rav", "--model", "tso"], &["violated"]),
    ("robust-pso", &["check", "examples/2+2w.rav", "--model", "pso"], &["violated"]),
    ("triangular", &["check", "examples/dekker.rav", "--property", "trf"], &["violated"]),
    ("stale-ra", &["check", "examples/iriw.rav", "--model", "ra"], &["violated"]),
    ("stale-rc20", &["check", "examples/robustness-c11/chase-lev.rav", "--model", "rc20"], &["violated"]),
    ("fences", &["fence", "examples/dekker.rav", "--model", "tso"], &["holds"]),
    ("fences-all", &["fence", "examples/sb.rav", "--all", "--explain"], &["holds", "holds"]),
    ("orders-safe", &["fence", "examples/mp.rav", "--for", "safety", "--model", "rc20", "--explain"], &["holds"]),
    ("places", &["fence", "examples/sb.rav", "--places"], &["none"]),
    ("states", &["states", "examples/sb.rav"], &["none"]),
    ("states-models", &["states", "examples/sb.rav", "--model", "sc,tso,rc20"], &["none", "none", "none"]),
    ("robust", &["check", "examples/sb-fenced.rav"], &["holds", "holds"]),
    ("unknown", &["check", "examples/mcs-lock.rav", "--model", "tso", "--max-states", "10"], &["unknown"]),
    ("error", &["check", "examples/missing.rav"], &["error"]),
    ("any-number", &["check", "examples/any-number/sb-two.rav"], &["violated"]),
    ("not-applicable", &["check", "examples/mcs-lock.rav", "examples/lockfree-stack.rav"], &[]),
];

/// Asks, and keeps the page.
fn made(scratch: &Scratch, name: &str, asked: &[&str]) -> PathBuf {
    let path = PathBuf::from(scratch.write(&format!("{name}.html"), ""));
    let html = path.display().to_string();
    let output = ravelin(&[asked, &["--html", &html, "--format", "json", "--workers", "1"]].concat(), "");
    assert!(path.metadata().is_ok_and(|about| about.len() > 0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    path
}

/// Nothing is wider than the window, at both widths and in both colours, and nothing is complained of. All text can be
/// read, and everybody can use it.
fn looks_right(browser: &mut Browser, name: &str, path: &Path, axe: Option<&str>) {
    let mut papers = Vec::new();
    for (width, dark) in [(1400, false), (390, true), (390, false), (1400, true)] {
        browser.show(width, 900, dark);
        browser.open_file(path);
        let wide = browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(wide, 0, "{name} is too wide at {width} pixels");
        papers.push(browser.evaluate("getComputedStyle(document.body).backgroundColor"));
        assert_eq!(accessible::pale(browser), Vec::<String>::new(), "{name} at {width} pixels, dark: {dark}");
        if let Some(axe) = axe.filter(|_| dark == (width == 390)) {
            assert_eq!(accessible::violations(browser, axe), Vec::<String>::new(), "{name} at {width} pixels");
        }
        if let Some(folder) = std::env::var_os("RAVELIN_SCREENSHOTS") {
            let colour = if dark { "dark" } else { "light" };
            browser.picture(&Path::new(&folder).join(format!("{name}-{width}-{colour}.png")));
        }
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{name}");
    }
    assert!(papers[0] == papers[2] && papers[1] == papers[3] && papers[0] != papers[1], "{name}: {papers:?}");
}

#[test]
fn a_page_of_every_kind_opens_in_silence_and_fits() {
    let Some(mut browser) = Browser::start("kinds") else { return };
    let scratch = Scratch::new("browser-kinds");
    let axe = accessible::axe();
    for (name, asked, verdicts) in KINDS {
        let path = made(&scratch, name, asked);
        looks_right(&mut browser, name, &path, axe.as_deref());
        let shown = browser.evaluate("[...document.querySelectorAll('.answer')].map(answer => answer.dataset.verdict)");
        let shown: Vec<&str> = shown.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert!(verdicts.is_empty() || shown == *verdicts, "{name}: {shown:?}");
        let heading = browser.evaluate("document.querySelector('.verdict h1').textContent");
        assert!(heading.as_str().is_some_and(|heading| heading.contains(asked[1])), "{name}: {heading}");
        let sentence = browser.evaluate("document.querySelector('.verdict .lead').textContent");
        assert!(sentence.as_str().is_some_and(|sentence| sentence.ends_with('.')), "{name}: {sentence}");
    }
    let race = scratch.write("race.rav", RACE);
    let path = made(&scratch, "race", &["check", &race, "--model", "rc20"]);
    looks_right(&mut browser, "race", &path, axe.as_deref());
    assert_eq!(browser.evaluate("document.querySelector('.badge').textContent"), "✗ data race");
    assert_eq!(browser.evaluate("document.querySelectorAll('.whole .marked').length"), 2);
}

#[test]
fn stepping_shows_memory_registers_and_buffers_as_the_reference_semantics_has_them() {
    let Some(mut browser) = Browser::start("steps") else { return };
    let scratch = Scratch::new("browser-steps");
    let cases: Vec<(&str, &[&str], Judged)> = vec![
        (
            "reach-tso",
            &["reach", "examples/peterson.rav", "--model", "tso"],
            judge::reach("examples/peterson.rav", Model::Tso),
        ),
        ("reach-pso", &["reach", "examples/mp.rav", "--model", "pso"], judge::reach("examples/mp.rav", Model::Pso)),
        ("sb", &["check", "examples/sb.rav", "--model", "tso"], judge::check("examples/sb.rav", Model::Tso)),
        (
            "dekker",
            &["check", "examples/dekker.rav", "--model", "tso"],
            judge::check("examples/dekker.rav", Model::Tso),
        ),
        ("2+2w", &["check", "examples/2+2w.rav", "--model", "pso"], judge::check("examples/2+2w.rav", Model::Pso)),
        (
            "lamport",
            &["check", "examples/lamport-fast.rav", "--model", "tso"],
            judge::check("examples/lamport-fast.rav", Model::Tso),
        ),
        (
            "triangular",
            &["check", "examples/dekker.rav", "--property", "trf"],
            judge::triangular("examples/dekker.rav"),
        ),
        ("ra", &["check", "examples/iriw.rav", "--model", "ra"], judge::stale("examples/iriw.rav", Model::Ra)),
        ("rc20", &["check", "examples/mp.rav", "--model", "rc20"], judge::stale("examples/mp.rav", Model::Rc20)),
        (
            "chase-lev",
            &["check", "examples/robustness-c11/chase-lev.rav", "--model", "rc20"],
            judge::stale("examples/robustness-c11/chase-lev.rav", Model::Rc20),
        ),
    ];
    for (name, asked, judged) in cases {
        browser.open_file(&made(&scratch, name, asked));
        let shown = browser.evaluate(STATES);
        assert_eq!(shown, Value::Array(judged.states()), "{name}");
        let (all, cycle) = judged.edges();
        let drawn = edges(&mut browser, ".whole path[data-kind]");
        let found = edges(&mut browser, ".whole path[data-cycle]");
        let cycle = cycle.unwrap_or_else(|| {
            // Some cycle of the trace, of what reads got and missed.
            assert!(found.iter().all(|(kind, ..)| kind != "co") && found.len() >= 4, "{name}: {found:?}");
            assert!(found.iter().filter(|(kind, ..)| kind != "po").all(|edge| all.contains(edge)), "{name}: {found:?}");
            let ends = |of: fn(&Edge) -> u64| found.iter().map(of).collect::<BTreeSet<u64>>();
            let (from, to) = (ends(|edge| edge.1), ends(|edge| edge.2));
            assert!(from == to && from.len() == found.len(), "{name}: every event once: {found:?}");
            found.clone()
        });
        assert_eq!(drawn, all.union(&cycle).cloned().collect::<BTreeSet<Edge>>(), "{name}: edges");
        assert_eq!(found, cycle, "{name}: cycle");
        // The cycle comes alone, and the switch shows the rest. Nothing is shown first that the whole has not.
        let first = edges(&mut browser, ".essence path[data-kind]");
        let has_essence = browser.evaluate("!!document.querySelector('.essence')") == true;
        if has_essence && !cycle.is_empty() && name != "triangular" {
            assert!(first.is_superset(&cycle) && first.is_subset(&drawn) && first != drawn, "{name}: {first:?}");
        }
        let visible = "[...document.querySelectorAll('.graph .scroll')].filter(frame => frame.offsetHeight > 0).map(frame => frame.classList[1])";
        let seen = browser.evaluate(visible);
        assert_eq!(seen, json!([if has_essence { "essence" } else { "whole" }]), "{name}");
        if has_essence {
            browser.evaluate("document.querySelector('input.switch').click()");
            assert_eq!(browser.evaluate(visible), json!(["whole"]), "{name}");
        }
        assert_eq!(browser.evaluate(ROWS), "", "{name}: rows of the page and rows of its script differ");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{name}");
    }
}

/// The first row of the page that differs from the one that the script would make, and that one.
const ROWS: &str = "(() => {
    const run = document.querySelector('section.run').ravelin, rows = run.rows(0, run.steps.length);
    for (const row of run.body.children) {
        const there = row.cloneNode(true), made = rows[Number(row.dataset.step)];
        there.classList.remove('now');
        there.removeAttribute('aria-current');
        if (!there.className) there.removeAttribute('class');
        if (!there.isEqualNode(made)) return `${there.outerHTML} ${made.outerHTML}`;
    }
    return '';
})()";

/// What the panel shows, before the first step and after each.
const STATES: &str = "(() => {
    const run = document.querySelector('section.run').ravelin, states = [];
    const values = (box, kind) => Object.fromEntries([...box.querySelectorAll(`[data-${kind}]`)].map(entry => [entry.dataset[kind], entry.querySelector('dd').textContent]));
    for (let step = 0; step <= run.steps.length; step++) {
        run.go(step);
        const threads = {};
        for (const block of run.panel.querySelectorAll('[data-thread]')) {
            const buffer = [...block.querySelectorAll('.chip, .marker')].map(entry => entry.textContent);
            threads[block.dataset.thread] = { buffer, registers: values(block, 'register') };
        }
        states.push({ memory: values(run.panel, 'cell'), threads });
    }
    return states;
})()";

fn edges(browser: &mut Browser, which: &str) -> BTreeSet<Edge> {
    let script = format!(
        "[...document.querySelectorAll('{which}')].map(edge => [edge.dataset.kind, Number(edge.dataset.from), Number(edge.dataset.to)])"
    );
    let listed = browser.evaluate(&script);
    let listed = listed.as_array().expect("a list");
    let edges: BTreeSet<Edge> = listed
        .iter()
        .map(|edge| {
            let number = |place: usize| edge[place].as_u64().expect("a number");
            (edge[0].as_str().expect("a kind").to_owned(), number(1), number(2))
        })
        .collect();
    assert_eq!(edges.len(), listed.len(), "every edge is drawn once");
    edges
}

#[test]
fn keys_buttons_lines_and_events_move() {
    let Some(mut browser) = Browser::start("keys") else { return };
    let scratch = Scratch::new("browser-keys");
    browser.show(1400, 900, false);
    browser.open_file(&made(&scratch, "sb", &["check", "examples/sb.rav", "--model", "tso"]));
    let at = "document.querySelector('section.run').ravelin.at";
    let row = "Number(document.querySelector('tr.now').dataset.step)";
    let expect = |browser: &mut Browser, step: u64, by: &str| {
        assert_eq!(browser.evaluate(at), step, "{by}");
        assert_eq!(browser.evaluate(row), step, "{by}");
    };
    // The overtaking load is the decisive step, and nothing is faded.
    expect(&mut browser, 2, "at first");
    assert_eq!(browser.evaluate("document.querySelector('tr.now .part').textContent"), "ld");
    let faded = "[...document.querySelectorAll('main *')].filter(one => getComputedStyle(one).opacity !== '1').length";
    assert_eq!(browser.evaluate(faded), 0);
    browser.press("ArrowLeft");
    expect(&mut browser, 1, "an arrow key");
    assert_eq!(browser.evaluate("document.querySelector('.source .now').dataset.line"), "17");
    browser.evaluate("document.querySelector('[data-go=on]').click()");
    expect(&mut browser, 2, "a button");
    browser.press("ArrowLeft");
    expect(&mut browser, 1, "back");
    browser.evaluate("document.querySelector('.controls input').focus()");
    browser.press("End");
    expect(&mut browser, 6, "the slider's End");
    browser.press("Home");
    expect(&mut browser, 0, "the slider's Home");
    browser.evaluate("document.querySelector('[data-go=on]').focus()");
    browser.press("End");
    expect(&mut browser, 6, "End inside the run");
    // A line that a sentence names.
    browser.evaluate("document.querySelector('.sentence a.line').click()");
    assert_eq!(browser.evaluate("document.querySelector('.source .now').dataset.line"), "18");
    assert_eq!(browser.evaluate("location.hash"), "", "the address is that of the page");
    browser.evaluate("document.querySelector('.source [data-line=\"23\"]').click()");
    assert_eq!(browser.evaluate("document.querySelector('tr.now').dataset.line"), "23");
    browser.evaluate("document.querySelector('tr[data-step=\"4\"]').click()");
    expect(&mut browser, 4, "a row");
    let event =
        "document.querySelector('.whole [data-event=\"1\"]').dispatchEvent(new MouseEvent('click', { bubbles: true }))";
    browser.evaluate(event);
    expect(&mut browser, 2, "an event of the graph");
    assert_eq!(browser.evaluate("document.querySelectorAll('.whole .now').length"), 1);
    // Everything that can be clicked can be reached with Tab, and what has the focus is visible.
    let named = browser.evaluate("[...document.querySelectorAll('button, input')].every(one => one.getAttribute('aria-label') || one.labels.length > 0)");
    assert_eq!(named, true);
    browser.evaluate("document.activeElement.blur()");
    browser.press("Tab");
    assert_eq!(browser.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn ten_thousand_steps_stay_small_and_quick() {
    let Some(mut browser) = Browser::start("long") else { return };
    let scratch = Scratch::new("browser-long");
    let program = "static x: 0..4000;\nstatic y: bool;\nthread p {\n    let mut i = 0;\n    while i < 3400 {\n        x.store(i);\n        i = i + 1;\n    }\n    @end;\n}\nnever p@end;\n";
    let file = scratch.write("long.rav", program);
    let path = made(&scratch, "long", &["reach", &file, "--model", "tso", "--engine", "bounded", "--buffer", "1"]);
    let size = path.metadata().expect("a page").len();
    assert!(size < 1_000_000, "{size} bytes");
    browser.show(1280, 900, false);
    browser.open_file(&path);
    let steps = browser.evaluate("document.querySelector('section.run').ravelin.steps.length");
    assert!(steps.as_u64().is_some_and(|steps| steps > 10_000), "{steps}");
    let rows = browser.evaluate("document.querySelectorAll('tbody tr').length");
    assert!(rows.as_u64().is_some_and(|rows| rows < 400), "{rows}");
    // The longest of a hundred jumps to anywhere, in milliseconds.
    let longest = browser.evaluate(
        "(() => { const run = document.querySelector('section.run').ravelin; let longest = 0; \
          for (let i = 0; i < 100; i++) { const from = performance.now(); run.go((i * 7919) % run.steps.length); \
          document.body.offsetHeight; longest = Math.max(longest, performance.now() - from); } return longest; })()",
    );
    assert!(longest.as_f64().is_some_and(|longest| longest < 1000.0), "{longest} ms");
    browser.evaluate("document.querySelector('[data-go=last]').click()");
    let last = browser.evaluate("document.querySelector('tr.now').dataset.step");
    assert_eq!(last.as_str().map(str::to_owned), Some(steps.to_string()));
    // The last store still waits: the goal speaks of the thread alone.
    assert_eq!(browser.evaluate("document.querySelector('[data-cell=x] dd').textContent"), "3398");
    assert_eq!(browser.evaluate("document.querySelector('.state .chip').textContent"), "x=3399");
    // Scrolling shows what was not there.
    browser.evaluate("document.querySelector('.steps').scrollTop = 0");
    browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let first = browser.evaluate("Number(document.querySelector('tbody tr').dataset.step)");
    assert!(first.as_f64().is_some_and(|first| first < steps.as_f64().expect("a number") - 260.0), "{first}");
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), true);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn findings_of_the_sanitizer_are_a_page_with_both_stacks() {
    let Some(mut browser) = Browser::start("findings") else { return };
    let scratch = Scratch::new("browser-findings");
    // What `ravelin run` said of examples/c/dekker.c and of a program that deadlocks, so that no compiler is needed.
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let source = std::fs::read_to_string(format!("{root}/examples/c/dekker.c")).expect("the example is there");
    let sources = [("examples/c/dekker.c".to_owned(), source)];
    let document = story::read(include_str!("browser/findings.json")).expect("a document");
    let path = PathBuf::from(scratch.write("findings.html", &page::page(&document, &sources)));
    looks_right(&mut browser, "findings", &path, accessible::axe().as_deref());
    let findings = document.stories[0].findings.as_ref().expect("findings");
    let number = findings.findings.len() as u64;
    assert!(number > 0);
    assert_eq!(browser.evaluate("document.querySelectorAll('article.finding').length"), number);
    assert_eq!(browser.evaluate("[...document.querySelectorAll('article.finding')].every(one => one.querySelectorAll('.access').length === 2 && one.querySelectorAll('.access details[open] .code .mark').length >= 2)"), true);
    let marked = browser.evaluate("document.querySelector('.access .code .mark code').textContent");
    assert!(marked.as_str().is_some_and(|line| line.contains("atomic_")), "{marked}");
    assert_eq!(
        browser.evaluate(
            "[...document.querySelectorAll('article.finding')].every(one => one.querySelector('svg .event'))"
        ),
        true
    );
}

#[test]
fn names_with_markup_stay_names() {
    let Some(mut browser) = Browser::start("hostile") else { return };
    let scratch = Scratch::new("browser-hostile");
    let program = "// </script><script>document.title = 'taken'</script> <b>bold</b>\nstatic x: bool;\nstatic y: bool;\n\
        thread p { x.store(1); let r = y.load(); }\nthread q { y.store(1); let r = x.load(); }\n";
    let file = scratch.write("<b onclick=alert(1)>&\"'.rav", program);
    let path = made(&scratch, "hostile", &["check", &file, "--model", "tso"]);
    looks_right(&mut browser, "hostile", &path, None);
    assert_eq!(browser.evaluate("document.querySelectorAll('b[onclick], .source b, h1 b').length"), 0);
    assert_eq!(
        browser.evaluate("document.querySelector('.verdict').textContent.includes('<b onclick=alert(1)>&\"')"),
        true
    );
    assert_eq!(browser.evaluate("document.title.includes('taken')"), false);
    assert_eq!(browser.evaluate("document.querySelector('.source .l code').textContent.includes('</script>')"), true);
}

#[test]
fn without_a_script_and_on_paper_the_run_is_there() {
    let Some(mut browser) = Browser::start("paper") else { return };
    let scratch = Scratch::new("browser-paper");
    let path = made(&scratch, "sb", &["check", "examples/sb.rav", "--model", "tso"]);
    browser.scripts(false);
    browser.open_file(&path);
    let shown = browser.evaluate("document.body.innerText");
    let shown = shown.as_str().expect("a text");
    for part in ["is not robust against tso", "x.store(1)", "reads y = 0 before x is in memory", "memory"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(browser.evaluate("document.querySelectorAll('tbody tr').length"), 7);
    assert_eq!(browser.evaluate("getComputedStyle(document.querySelector('.controls')).display"), "none");
    browser.scripts(true);
    browser.paper();
    browser.open_file(&path);
    assert_eq!(browser.evaluate("getComputedStyle(document.querySelector('.controls')).display"), "none");
    assert_eq!(browser.evaluate("getComputedStyle(document.querySelector('.steps')).maxHeight"), "none");
    assert_eq!(browser.evaluate("document.querySelectorAll('.steps .decisive').length"), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_picture_stands_alone() {
    let Some(mut browser) = Browser::start("picture") else { return };
    let scratch = Scratch::new("browser-picture");
    let svg = scratch.write("cycle.svg", "");
    let output = ravelin(&["check", "examples/sb.rav", "--model", "tso", "--svg", &svg], "");
    assert_eq!(code(&output), 1);
    assert!(String::from_utf8_lossy(&output.stdout).contains("not robust"), "the answer is printed as ever");
    for dark in [false, true] {
        browser.show(800, 600, dark);
        browser.open_file(Path::new(&svg));
        let cycle: BTreeSet<Edge> = [("po", 0, 1), ("fr", 1, 2), ("po", 2, 3), ("fr", 3, 0)]
            .map(|(kind, from, to)| (kind.to_owned(), from, to))
            .into();
        assert_eq!(edges(&mut browser, "svg path[data-kind]"), cycle);
        assert_eq!(browser.complaints(), Vec::<String>::new());
    }
    // Every text lies within the picture.
    let inside = browser.evaluate(
        "(() => { const all = document.documentElement.getBoundingClientRect(); return [...document.querySelectorAll('text, rect')].every(one => { \
          const box = one.getBoundingClientRect(); return box.left >= all.left - 1 && box.right <= all.right + 1 && box.bottom <= all.bottom + 1; }); })()",
    );
    assert_eq!(inside, true);
}
