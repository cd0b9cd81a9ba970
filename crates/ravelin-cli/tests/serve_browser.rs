//! `ravelin serve` in a real browser: a good program, an error at its place, a time-out, examples, links, narrow and dark screens.
//!
//! Pictures of what was seen are left in cargo's folder for temporary files of tests.

use crate::browser::chromium;
use crate::serving;

use chromium::Browser;
use serde_json::{Value, json};
use serving::Server;
use std::path::Path;

const ENDLESS: &str = "static x; static y;\nthread p[6] { let r = 0; loop { let a; havoc a in 0..200; x.store(a); r = y.load(); y.store(r + a); } }\nnever p[0].r == 0 - 1;\n";

/// The page of a server.
struct Page {
    browser: Browser,
    server: Server,
}

impl Page {
    /// `None` where there is no browser.
    fn open(name: &str, arguments: &[&str]) -> Option<Page> {
        let mut page = Page { browser: Browser::start(name)?, server: Server::start(arguments) };
        page.browser.show(1280, 800, false);
        page.visit("");
        Some(page)
    }

    fn visit(&mut self, fragment: &str) {
        let address = format!("http://{}/{fragment}", self.server.host);
        // A page with another fragment is the same page; this is to be a new one.
        self.browser.open("about:blank");
        self.browser.open(&address);
        self.wait("document.body.dataset.ready");
    }

    /// The value of an expression as soon as it is one.
    fn wait(&mut self, expression: &str) -> Value {
        self.browser.evaluate(&format!(
            "new Promise((done, fail) => {{ const end = performance.now() + 50000; (function look() {{ \
             const value = ({expression}); if (value) return done(value); \
             if (performance.now() > end) return fail(new Error('waited in vain')); setTimeout(look, 30); }})(); }})"
        ))
    }

    fn write(&mut self, program: &str) {
        self.browser
            .evaluate(&format!("program.value = {}; program.dispatchEvent(new Event('input'))", json!(program)));
    }

    fn choose(&mut self, id: &str, value: &str) {
        let id = json!(id);
        let chosen = self.browser.evaluate(&format!(
            "at({id}).value = {}; at({id}).dispatchEvent(new Event('change')); at({id}).value",
            json!(value)
        ));
        assert_eq!(chosen, value, "there is such a choice");
    }

    /// Presses the button and gives the verdict.
    fn check(&mut self) -> String {
        self.browser.evaluate("at('verdict').className = ''; at('run').click()");
        let verdict = self.wait("/holds|violated|unknown|timeout|error/.exec(at('verdict').className)?.[0]");
        verdict.as_str().expect("a word").to_owned()
    }

    /// What the page should not have said or asked for.
    fn complaints(&mut self) -> Vec<String> {
        let own = format!("request: http://{}/", self.server.host);
        self.browser.complaints().into_iter().filter(|complaint| !complaint.starts_with(&own)).collect()
    }

    fn picture(&mut self, name: &str) {
        self.browser.picture(&Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{name}.png")));
    }

    fn overflow(&mut self) -> i64 {
        let over = self.browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        over.as_i64().expect("a number")
    }
}

#[test]
fn a_program_is_checked_and_its_answer_shown() {
    let Some(mut page) = Page::open("serve-good", &[]) else { return };
    assert!(page.browser.evaluate("program.value").as_str().is_some_and(|text| text.contains("thread left")));
    assert_eq!(page.browser.evaluate("layer.textContent.trimEnd() === program.value.trimEnd()"), true);
    assert!(page.browser.evaluate("layer.querySelectorAll('.keyword').length").as_i64() > Some(4));
    assert_eq!(page.check(), "violated");
    let said = page.browser.evaluate("verdict.textContent").to_string();
    assert!(said.contains("not robust"), "{said}");
    assert_eq!(page.browser.evaluate("frame.hidden"), false);
    let result = page.browser.evaluate("frame.src").as_str().expect("an address").to_owned();
    for (width, dark) in [(1280, false), (1280, true), (400, false), (400, true)] {
        // High enough that the frame is in sight: what is not is not painted.
        page.browser.show(width, if width < 800 { 1600 } else { 800 }, dark);
        page.wait("frame.offsetHeight > 100");
        page.browser.evaluate("new Promise(done => setTimeout(done, 300))");
        assert!(page.overflow() <= 0, "{width}: {}", page.overflow());
        page.picture(&format!("{width}{}", if dark { "-dark" } else { "" }));
    }
    assert_eq!(page.complaints(), [""; 0]);
    page.browser.open(&result);
    let said = page.browser.evaluate("document.body.textContent").to_string();
    assert!(said.contains("not robust") && said.contains("x.store(1)"), "{said}");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn an_error_is_shown_where_it_is() {
    let Some(mut page) = Page::open("serve-error", &[]) else { return };
    page.write("static flag;\nthread t { /* 😀 */ flug.store(1); }\n");
    assert_eq!(page.wait("layer.querySelector('.wrong')?.textContent"), "flug");
    let told = page.browser.evaluate("list.textContent").to_string();
    assert!(told.contains("2:20") && told.contains("flug"), "{told}");
    // The mark stands under the word: in the second line, behind nineteen characters.
    let place = "(() => { const mark = layer.querySelector('.wrong').getBoundingClientRect(), sheet = layer.getBoundingClientRect(); \
                 const line = parseFloat(getComputedStyle(layer).lineHeight); return Math.floor((mark.top - sheet.top) / line); })()";
    assert_eq!(page.browser.evaluate(place), 1);
    page.browser.evaluate("list.querySelector('button').click()");
    assert_eq!(page.browser.evaluate("program.value.slice(program.selectionStart, program.selectionEnd)"), "flug");
    assert_eq!(page.check(), "error");
    assert_eq!(page.browser.evaluate("frame.hidden"), true);
    page.browser.show(400, 800, false);
    assert!(page.overflow() <= 0);
    page.picture("error");
    page.write("static flag;\nthread t { flag.store(1); }\n");
    page.wait("!layer.querySelector('.wrong') && list.children.length === 0");
    assert_eq!(page.check(), "holds");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_check_without_end_ends() {
    let Some(mut page) = Page::open("serve-timeout", &["--timeout", "1"]) else { return };
    page.write(ENDLESS);
    page.choose("question", "reach");
    let verdict = page.check();
    assert!(["unknown", "timeout"].contains(&verdict.as_str()), "{verdict}");
    let said = page.browser.evaluate("verdict.textContent").to_string();
    assert!(said.to_lowercase().contains("time") || said.contains("limit"), "{said}");
    assert_eq!(page.browser.evaluate("at('stop').hidden"), true);
    page.picture("timeout");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn links_bring_program_and_choices_back() {
    let Some(mut page) = Page::open("serve-link", &[]) else { return };
    let program = "// ü < & \" 😀\nstatic x;\nthread t { x.store(1); }\n";
    page.write(program);
    page.choose("question", "reach");
    page.choose("model", "pso");
    page.browser.evaluate("at('link').click()");
    let fragment =
        page.wait("at('link').textContent !== 'Copy link' && location.hash").as_str().expect("a fragment").to_owned();
    page.visit(&fragment);
    assert_eq!(page.browser.evaluate("program.value"), program);
    assert_eq!(page.browser.evaluate("[language.value, question.value, model.value]"), json!(["rav", "reach", "pso"]));
    assert_eq!(page.check(), "holds");
    page.visit("#znonsense");
    let said = page.browser.evaluate("verdict.textContent").to_string();
    assert!(said.contains("damaged"), "{said}");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn examples_and_languages_can_be_chosen() {
    let Some(mut page) = Page::open("serve-example", &[]) else { return };
    page.choose("example", "examples/peterson.rav");
    page.wait("program.value.includes('Peterson') && list.children.length === 0");
    assert_eq!(page.check(), "violated");
    page.choose("example", "examples/other languages/store-buffering.txt");
    page.wait("language.value === 'trencher' && program.value.startsWith('# Store')");
    assert_eq!(page.check(), "violated");
    page.choose("language", "rav");
    page.wait("list.children.length > 0");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn markup_in_programs_stays_text() {
    let Some(mut page) = Page::open("serve-markup", &[]) else { return };
    let hostile = "static x; static y; // <script>alert(1)</script><img src=x onerror=alert(2)>\n\
                   thread left { x.store(1); let r = y.load(); }\nthread right { y.store(1); let r = x.load(); }\n";
    page.write(hostile);
    assert_eq!(page.check(), "violated");
    assert_eq!(page.browser.evaluate("document.querySelectorAll('main script, main img').length"), 0);
    page.write("thread <b>x</b> { }");
    page.wait("list.children.length > 0");
    assert_eq!(page.browser.evaluate("list.querySelectorAll('li b b, i').length"), 0);
    assert_eq!(page.complaints(), [""; 0]);
}
