//! What is in view: parts of a witness side by side, graphs that fit, what explains a violation, and several models.

use super::chromium::Browser;
use super::made;
use crate::running::Scratch;
use serde_json::json;

/// The rectangles of what is on the page, which must not lie on each other: parts of a witness, and cells of a row.
const OVERLAPS: &str = "(() => {
    const over = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;
    const found = [], visible = (element) => element.getClientRects().length > 0;
    const check = (elements, what) => elements.filter(visible).forEach((one, place, all) => all.slice(place + 1).forEach((other) => {
        if (over(one.getBoundingClientRect(), other.getBoundingClientRect())) found.push(`${what}: ${one.className} and ${other.className}`);
    }));
    const text = (element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return { className: element.className, getClientRects: () => range.getClientRects(), getBoundingClientRect: () => range.getBoundingClientRect() };
    };
    for (const stage of document.querySelectorAll('.stage, .pair')) check([...stage.children], 'parts');
    for (const row of document.querySelectorAll('.steps tr')) check([...row.children].filter(cell => cell.textContent).map(text), 'cells');
    for (const one of document.querySelectorAll('.steps table, .source .code, .graph svg')) {
        if (visible(one) && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1) found.push(`${one.className} leaves the paper`);
    }
    return found;
})()";

#[test]
fn nothing_overlaps_on_screen_or_on_paper_and_lanes_stay() {
    let Some(mut browser) = Browser::start("overlaps") else { return };
    let scratch = Scratch::new("browser-overlaps");
    let pages: [(&str, &[&str]); 4] = [
        ("dekker", &["check", "examples/dekker.rav", "--model", "tso"]),
        ("lamport", &["check", "examples/lamport-fast.rav", "--model", "tso"]),
        ("chase-lev", &["check", "examples/robustness-c11/chase-lev.rav", "--model", "rc20"]),
        ("peterson", &["reach", "examples/peterson.rav", "--model", "tso"]),
    ];
    for (name, asked) in pages {
        let path = made(&scratch, name, asked);
        for width in [1400, 390] {
            browser.show(width, 900, false);
            browser.open_file(&path);
            let all = "[...document.querySelectorAll('section.run')].every(section => { const run = section.ravelin; \
                       for (let step = 0; step <= run.steps.length; step++) { run.go(step); \
                       const box = run.scroller.getBoundingClientRect(), row = run.body.querySelector('tr.now').getBoundingClientRect(); \
                       if (row.top < box.top - 1 || row.bottom > box.bottom + 1) return false; \
                       const act = run.body.querySelector('tr.now .act, tr.now .leaves'); \
                       if (act && act.getBoundingClientRect().left > box.right - 20) return false; \
                       if (act && act.getBoundingClientRect().left < box.left - 1) return false; } return true; })";
            assert_eq!(browser.evaluate(all), true, "{name}: the table scrolls to the thread that moves");
            if width == 1400 {
                // With the bar at the top of the window, everything that changes is in the window.
                let view = "(() => { const stage = document.querySelector('.stage'), bar = document.querySelector('.bar'); \
                            return bar.offsetHeight + stage.offsetHeight <= innerHeight; })()";
                assert_eq!(browser.evaluate(view), true, "{name}: run, source and graph are in one view");
                assert_eq!(browser.evaluate(OVERLAPS), json!([]), "{name}");
            }
        }
        // A4, less its margins.
        browser.show(718, 1000, false);
        browser.paper();
        browser.open_file(&path);
        browser.evaluate("dispatchEvent(new Event('beforeprint'))");
        assert_eq!(browser.evaluate(OVERLAPS), json!([]), "{name} on paper");
        let kept = "(() => { const lane = document.querySelector('.steps tbody .lane.below'); \
                    return !lane || getComputedStyle(lane, '::before').backgroundColor !== 'rgba(0, 0, 0, 0)' && getComputedStyle(lane).printColorAdjust === 'exact'; })()";
        assert_eq!(browser.evaluate(kept), true, "{name}: lanes are printed");
        assert_eq!(
            browser.evaluate("getComputedStyle(document.querySelector('.source .mark')).printColorAdjust"),
            "exact"
        );
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{name}");
    }
}

/// A ring of threads, each of which stores and then reads the next one's cell.
fn ring(threads: usize) -> String {
    let mut program = String::new();
    for number in 0..threads {
        program.push_str(&format!("static x{number}: bool;\n"));
    }
    for number in 0..threads {
        let next = (number + 1) % threads;
        program.push_str(&format!("thread t{number} {{ x{number}.store(1); let r = x{next}.load(); }}\n"));
    }
    let all: Vec<String> = (0..threads).map(|number| format!("t{number}.r == 0")).collect();
    format!("{program}finally never {};\n", all.join(" && "))
}

#[test]
fn graphs_of_eight_threads_fit_and_larger_ones_have_a_map() {
    let Some(mut browser) = Browser::start("rings") else { return };
    let scratch = Scratch::new("browser-rings");
    for threads in [8, 11] {
        let file = scratch.write(&format!("ring-{threads}.rav"), &ring(threads));
        let path = made(&scratch, "ring", &["reach", &file, "--model", "tso"]);
        browser.show(1400, 900, false);
        browser.open_file(&path);
        assert_eq!(
            browser.evaluate("document.querySelectorAll('.essence .thread, .whole:first-of-type .thread').length > 0"),
            true
        );
        let fits = "(() => { const frame = [...document.querySelectorAll('.graph .scroll')].find(frame => frame.offsetHeight > 0); \
                    return frame.scrollWidth <= frame.clientWidth; })()";
        let maps = "[...document.querySelectorAll('.map')].filter(map => !map.hidden).length";
        browser.evaluate("new Promise(done => setTimeout(done, 100))");
        assert_eq!(browser.evaluate(fits), threads <= 8, "{threads} threads");
        assert_eq!(browser.evaluate(maps), u64::from(threads > 8), "{threads} threads");
        // Small letters, but letters.
        let height = browser.evaluate("Math.min(...[...document.querySelectorAll('.hb .what')].filter(text => text.getClientRects().length).map(text => text.getBoundingClientRect().height))");
        assert!(height.as_f64().is_some_and(|height| height >= 9.0), "{height}");
        if threads > 8 {
            browser.evaluate("(() => { const map = [...document.querySelectorAll('.map')].find(map => !map.hidden), box = map.getBoundingClientRect(); \
                map.dispatchEvent(new PointerEvent('pointermove', { buttons: 1, clientX: box.right - 4, clientY: box.top + 4 })); })()");
            let scrolled = browser
                .evaluate("[...document.querySelectorAll('.graph .scroll')].some(frame => frame.scrollLeft > 100)");
            assert_eq!(scrolled, true);
        }
        assert_eq!(browser.complaints(), Vec::<String>::new());
    }
}

#[test]
fn a_violation_is_explained_by_what_its_reads_missed() {
    let Some(mut browser) = Browser::start("explained") else { return };
    let scratch = Scratch::new("browser-explained");
    // The stores still wait when both threads are in their critical sections.
    browser.open_file(&made(&scratch, "peterson", &["reach", "examples/peterson.rav", "--model", "tso"]));
    let kinds = "[...new Set([...document.querySelectorAll('.essence path[data-kind]')].map(edge => edge.dataset.kind))].sort()";
    assert_eq!(browser.evaluate(kinds), json!(["fr", "po"]));
    assert!(browser.evaluate("document.querySelectorAll('path[data-cycle]').length").as_u64() >= Some(4));
    // Parts of an attack are explained where they stand, and below.
    browser.open_file(&made(&scratch, "parts", &["check", "examples/sb.rav", "--model", "tso"]));
    let explained = "[...document.querySelectorAll('.part abbr')].every(part => part.title.length > 10 && \
                     [...document.querySelectorAll('.signs dt')].some(sign => sign.textContent === part.textContent))";
    assert_eq!(browser.evaluate(explained), true);
    assert_eq!(browser.evaluate("document.querySelectorAll('.part abbr').length"), 6);
    // The source is open and coloured, and statistics are folded.
    assert!(browser.evaluate("document.querySelectorAll('.source .keyword').length").as_u64() > Some(3));
    assert_eq!(browser.evaluate("document.querySelector('.statistics').open"), false);
    browser.open_file(&made(&scratch, "open", &["check", "examples/sb-fenced.rav", "--model", "tso"]));
    assert_eq!(browser.evaluate("document.querySelector('.source').checkVisibility()"), true);
    let whole = "[...document.querySelectorAll('.source .l > code')].map(line => line.textContent).join('\\n')";
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sb-fenced.rav"));
    assert_eq!(browser.evaluate(whole), text.expect("an example").trim_end_matches('\n'), "colours change no text");
}

#[test]
fn states_and_models_are_one_table_with_a_run_behind_each_weak_state() {
    let Some(mut browser) = Browser::start("matrix") else { return };
    let scratch = Scratch::new("browser-matrix");
    browser.show(1400, 900, false);
    browser.open_file(&made(&scratch, "matrix", &["states", "examples/sb.rav", "--model", "sc,tso,pso,ra,rc20"]));
    let rows = browser.evaluate(
        "[...document.querySelectorAll('.matrix tbody tr')].map(row => [row.className, ...[...row.querySelectorAll('td')].map(cell => cell.textContent)])",
    );
    let weak = json!(["beyond", "forbidden", "✓ allowed", "✓ allowed", "✓ allowed", "✓ allowed"]);
    let fine = json!(["", "✓ allowed", "✓ allowed", "✓ allowed", "✓ allowed", "✓ allowed"]);
    assert_eq!(rows, json!([weak, fine, fine, fine]));
    let runs = "[...document.querySelectorAll('.matrix a.to-run')].map(link => { link.click(); \
                const run = document.getElementById(link.hash.slice(1)); return run.open && run.querySelectorAll('section.run, .graph svg, .source').length >= 3; })";
    assert_eq!(browser.evaluate(runs), json!([true, true, true, true]));
    // Other questions have a table of models, too.
    browser.open_file(&made(&scratch, "models", &["reach", "examples/mp.rav", "--model", "sc,tso,pso,rc20"]));
    let cells = browser.evaluate("[...document.querySelectorAll('.models tbody td')].map(cell => cell.textContent)");
    assert_eq!(cells, json!(["✓ forbidden", "✓ forbidden", "✗ allowed", "✗ allowed"]));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
