//! Whether everybody can use a page: axe-core finds nothing, and all text has a contrast of at least 4.5 to 1.
//!
//! `cargo xtask test` fetches axe-core into the target directory. The contrast is measured here as well, because axe
//! leaves out text over pictures and over several layers.

use super::chromium::Browser;
use serde_json::Value;
use std::path::Path;

/// As in `xtask/src/test/axe.rs`.
const AXE: &str = "axe-core-4.10.3/axe.min.js";

/// The script of axe-core, if it was fetched.
pub fn axe() -> Option<String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    let script = std::fs::read_to_string(target.join(AXE)).ok();
    if script.is_none() {
        ravelin_testing::skip("axe-core was not fetched (cargo xtask test fetches it)");
    }
    script
}

/// What axe-core finds in the page: a rule and an element each.
pub fn violations(browser: &mut Browser, axe: &str) -> Vec<String> {
    browser.evaluate(&format!("typeof axe === 'undefined' && (() => {{ {axe} }})() || true"));
    let found = browser.evaluate(
        "axe.run(document, { resultTypes: ['violations'], iframes: false }).then(found => found.violations.flatMap( \
         rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 120)} (${node.failureSummary.slice(0, 200)})`)))",
    );
    texts(&found)
}

/// Texts whose contrast with what is behind them is too small.
pub fn pale(browser: &mut Browser) -> Vec<String> {
    texts(&browser.evaluate(PALE))
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

/// The colour behind a text is that of the elements around it, laid over each other; in a picture that of its paper,
/// and of the box for the text of an event.
const PALE: &str = r"(() => {
    const parse = (color) => {
        const numbers = (/rgba?\(([^)]*)\)/.exec(color) ?? /color\(srgb ([^)]*)\)/.exec(color))?.[1].split(/[ ,\/]+/).map(Number);
        if (!numbers) return [0, 0, 0, 0];
        const scale = color.startsWith('color') ? 255 : 1;
        return [numbers[0] * scale, numbers[1] * scale, numbers[2] * scale, numbers[3] ?? 1];
    };
    const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a));
    const light = (color) => {
        const [r, g, b] = color.map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (one, other) => {
        const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
        return (high + 0.05) / (low + 0.05);
    };
    const behind = (element) => {
        const layers = [];
        for (let at = element; at; at = at.parentElement) {
            const box = at.matches?.('g.event') ? at.querySelector('rect') : null;
            layers.push(parse(box ? getComputedStyle(box).fill : getComputedStyle(at).backgroundColor));
            const lane = getComputedStyle(at, '::before');
            if (at.matches?.('td.lane') && lane.content !== 'none') layers.push(parse(lane.backgroundColor));
        }
        const paper = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
        return layers.reverse().reduce((below, layer) => over(layer, below), paper);
    };
    const pale = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const element = walk.currentNode.parentElement;
        if (!walk.currentNode.textContent.trim() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        if (['SCRIPT', 'STYLE', 'TEXTAREA', 'OPTION', 'TITLE', 'title'].includes(element.tagName)) continue;
        const style = getComputedStyle(element);
        let faded = 1;
        for (let at = element; at; at = at.parentElement) faded *= Number(getComputedStyle(at).opacity);
        const below = behind(element);
        const [r, g, b, a] = parse(element instanceof SVGElement ? style.fill : style.color);
        const ratio = contrast(over([r, g, b, a * faded], below), below);
        if (ratio < 4.5) pale.push(`${ratio.toFixed(2)}: ${walk.currentNode.textContent.trim().slice(0, 40)} (${element.tagName} ${element.getAttribute('class')})`);
    }
    return pale;
})()";
