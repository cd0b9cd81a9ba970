//! `ravelin serve` in a real browser: a good program, an error at its place, a time-out, examples, links, narrow and dark screens.
//!
//! Pictures of what was seen are left in cargo's folder for temporary files of tests.

use crate::browser::{accessible, chromium};
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
        page.browser.show(1400, 900, false);
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

    fn text(&mut self) -> String {
        self.browser.evaluate("program.value").as_str().expect("a text").to_owned()
    }

    /// At both widths and in both colours nothing is too wide or too pale, and axe-core finds nothing.
    fn looks_right(&mut self, what: &str) {
        let axe = accessible::axe();
        for (width, dark) in [(1400, false), (1400, true), (390, false), (390, true)] {
            self.browser.show(width, 900, dark);
            assert!(self.overflow() <= 0, "{what}: {width}: {}", self.overflow());
            assert_eq!(accessible::pale(&mut self.browser), [""; 0], "{what} at {width}, dark: {dark}");
            if let Some(axe) = axe.as_deref().filter(|_| dark == (width == 390)) {
                assert_eq!(accessible::violations(&mut self.browser, axe), [""; 0], "{what} at {width}");
            }
        }
        self.browser.show(1400, 900, false);
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
    page.looks_right("an answer");
    for (width, dark) in [(1400, false), (1400, true), (390, false), (390, true)] {
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
    page.looks_right("an error");
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

#[test]
fn an_answer_replaces_the_list_of_errors_and_choices_stay() {
    let Some(mut page) = Page::open("serve-stale", &[]) else { return };
    page.write("static flag;\nthread t { flug.store(1); }\n");
    page.wait("list.children.length > 0");
    // The list is old as soon as the text is another, and gone with the answer about that.
    page.write("static flag;\nthread t { flag.store(1); }\n");
    assert_eq!(page.browser.evaluate("list.classList.contains('old')"), true);
    assert_eq!(page.check(), "holds");
    assert_eq!(page.browser.evaluate("list.children.length"), 0);
    assert_eq!(page.browser.evaluate("verdict.classList.contains('old')"), false);
    page.write("static flag;\nthread t { flag.store(0); }\n");
    assert_eq!(page.browser.evaluate("verdict.classList.contains('old')"), true, "the answer is about another text");
    // A question without the model does not change what was chosen.
    page.choose("model", "rc20");
    page.choose("question", "trf");
    assert_eq!(page.browser.evaluate("model.value"), "tso");
    page.choose("question", "reach");
    assert_eq!(page.browser.evaluate("model.value"), "rc20");
    // The name stays with the program, in answers and in links.
    page.choose("example", "examples/peterson.rav");
    page.wait("program.value.includes('Peterson') && at('name').value === 'peterson.rav'");
    page.browser.evaluate("at('name').value = 'mine.rav'; at('name').dispatchEvent(new Event('change'))");
    page.write("static x;\nthread t { x.store(1); }\n");
    assert_eq!(page.check(), "holds");
    let said = page.browser.evaluate("verdict.textContent").to_string();
    assert!(said.contains("mine.rav"), "{said}");
    let fragment = page.browser.evaluate("remember().then(() => location.hash)");
    page.visit(fragment.as_str().expect("a fragment"));
    assert_eq!(
        page.browser.evaluate("[at('name').value, question.value, model.value]"),
        json!(["mine.rav", "reach", "rc20"])
    );
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_editor_indents() {
    let Some(mut page) = Page::open("serve-indent", &[]) else { return };
    page.write("thread t {");
    page.browser.evaluate("program.focus(); program.setSelectionRange(10, 10)");
    for (key, expected) in [
        ("Enter", "thread t {\n    "),
        ("Tab", "thread t {\n        "),
        ("Enter", "thread t {\n        \n        "),
        ("}", "thread t {\n        \n    }"),
    ] {
        page.browser.press(key);
        assert_eq!(page.text(), expected, "{key}");
    }
    page.write("a\nb\n\nc");
    page.browser.evaluate("program.setSelectionRange(0, 6)");
    page.browser.press("Tab");
    assert_eq!(page.text(), "    a\n    b\n\n    c");
    let back = "program.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab', shiftKey: true, cancelable: true }))";
    page.browser.evaluate(back);
    assert_eq!(page.text(), "a\nb\n\nc");
    // Between braces there is a line for what comes.
    page.write("loop {}");
    page.browser.evaluate("program.setSelectionRange(6, 6)");
    page.browser.press("Enter");
    assert_eq!(page.text(), "loop {\n    \n}");
    assert_eq!(page.browser.evaluate("program.selectionStart"), 11);
    // What a key did can be undone, and who has no mouse gets out.
    page.browser.evaluate("document.execCommand('undo')");
    assert_eq!(page.text(), "loop {}");
    page.browser.press("Escape");
    page.browser.press("Tab");
    assert_eq!(page.text(), "loop {}");
    assert_eq!(page.browser.evaluate("document.activeElement === program"), false);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_fix_is_applied_and_the_program_is_then_robust() {
    let Some(mut page) = Page::open("serve-fix", &[]) else { return };
    assert_eq!(page.check(), "violated");
    // The robust program is one click away, and another.
    page.browser.evaluate("verdict.className = ''; [...document.querySelectorAll('#actions button')].find(one => one.textContent === 'Find fences').click()");
    page.wait("verdict.classList.contains('holds') && question.value === 'fence'");
    let apply = "[...document.querySelectorAll('#actions button')].find(one => one.textContent.startsWith('Apply'))";
    page.wait(&format!("{apply} !== undefined"));
    let before = page.text();
    page.browser.evaluate(&format!("{apply}.click()"));
    assert_eq!(page.text().matches("    fence();\n").count(), 2, "{}", page.text());
    page.browser.evaluate("document.execCommand('undo')");
    assert_eq!(page.text(), before, "a fix can be undone");
    page.browser.evaluate("document.execCommand('redo')");
    page.choose("question", "robust");
    assert_eq!(page.check(), "holds");
    // A program that has changed is not changed by a fix for another one.
    page.choose("example", "examples/sb.rav");
    page.wait("program.value.includes('expect fence') && !program.value.includes('    fence();')");
    page.choose("question", "fence");
    assert_eq!(page.check(), "holds");
    let changed = before.replace("let r = y.load();", "let other = y.load();");
    page.write(&changed);
    page.browser.evaluate(&format!("{apply}.click()"));
    assert_eq!(page.text(), changed);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn lines_of_the_answer_are_shown_in_the_editor() {
    let Some(mut page) = Page::open("serve-lines", &[]) else { return };
    assert_eq!(page.check(), "violated");
    // The page of the answer opens at the overtaking load, on line 18.
    assert_eq!(
        page.wait("!document.querySelector('.looked').hidden && document.querySelector('.looked').dataset.line"),
        "18"
    );
    // Messages of others, and lines that are none, are not heard.
    for message in ["{ ravelin: 'line', line: 3, wanted: true }", "null", "'x'"] {
        page.browser.evaluate(&format!("postMessage({message}, '*')"));
    }
    page.browser.evaluate("new Promise(done => setTimeout(done, 100))");
    assert_eq!(page.browser.evaluate("document.querySelector('.looked').dataset.line"), "18");
    let hears = "(data => dispatchEvent(new MessageEvent('message', { data, source: frame.contentWindow })))";
    for (line, looked) in [("22", "22"), ("-1", "22"), ("1e9", "22"), ("'<b>'", "22"), ("1.5", "22")] {
        page.browser.evaluate(&format!("{hears}({{ ravelin: 'line', line: {line}, wanted: true }})"));
        assert_eq!(page.browser.evaluate("document.querySelector('.looked').dataset.line"), looked, "{line}");
    }
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn models_stand_side_by_side_and_answers_are_files() {
    let Some(mut page) = Page::open("serve-models", &[]) else { return };
    page.choose("question", "reach");
    page.choose("model", "all");
    assert_eq!(page.check(), "violated");
    let said = page.browser.evaluate("[...verdict.querySelectorAll('.model')].map(one => one.textContent)");
    assert_eq!(said, json!(["sc ✓forbidden", "tso ✗allowed", "pso ✗allowed", "ra ✗allowed", "rc20 ✗allowed"]));
    // What would be downloaded.
    page.browser.evaluate(
        "globalThis.saved = []; URL.createObjectURL = file => { saved.push(file.text()); return 'blob:saved'; }; \
                           HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }",
    );
    page.browser.evaluate(
        "[...document.querySelectorAll('#actions button')].find(one => one.textContent.startsWith('Save')).click()",
    );
    let name = page.wait("saved.length === 2 && saved[1]");
    assert_eq!(name, "sb.rav.html");
    let file = page.browser.evaluate("saved[0]").as_str().expect("a page").to_owned();
    assert!(
        file.starts_with("<!DOCTYPE html>") && file.contains("allowed") && file.contains("Open it again"),
        "{file}"
    );
    assert!(!file.contains("src=\"/"), "it stands alone");
    let result = page.browser.evaluate("frame.src").as_str().expect("an address").to_owned();
    assert_eq!(page.complaints(), [""; 0]);
    page.browser.open(&result);
    page.looks_right("models");
    let cells = page
        .browser
        .evaluate("[...document.querySelectorAll('.models tbody td')].map(cell => cell.textContent.slice(2))");
    assert_eq!(cells, json!(["forbidden", "allowed", "allowed", "allowed", "allowed"]));
}

#[test]
fn a_long_check_says_how_far_it_is_and_can_be_stopped() {
    let Some(mut page) = Page::open("serve-progress", &["--timeout", "60"]) else { return };
    page.write(ENDLESS);
    page.choose("question", "reach");
    // Under tso the search backwards soon knows that it will not end.
    page.choose("model", "sc");
    page.browser.evaluate("at('run').click()");
    let far = page.wait("/[1-9][0-9,]* states.* s of at most 60 s/.exec(verdict.textContent)?.[0]");
    assert!(far.is_string(), "{far}");
    assert_eq!(page.browser.evaluate("at('stop').hidden"), false);
    page.browser.evaluate("at('stop').click()");
    page.wait("verdict.textContent.includes('was stopped') && at('stop').hidden");
    // The server ends it, too: the only place for checks is free again.
    page.write("static x;\nthread t { x.store(1); }\n");
    assert_eq!(page.check(), "holds");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_language_is_explained_and_lectures_run() {
    let folder = std::env::temp_dir().join(format!("ravelin-lectures-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("mine.rav"), "static x;\nthread t { x.store(1); }\n").expect("a file");
    let lecture = "# <b>Mine</b> & *yours*\n\nProse with <script>alert(1)</script>.\n\n```rav file=mine.rav question=reach model=sc\n```\n\n\
                   ```rav file=../secret.rav\n```\n\n```rav question=nothing\nthread t {}\n```\n\n```sh\nravelin check x\n```\n";
    std::fs::write(folder.join("mine.md"), lecture).expect("a file");
    let Some(mut page) = Page::open("serve-lecture", &[&folder.display().to_string()]) else { return };
    let links = page.browser.evaluate("[...document.querySelectorAll('#pages a')].map(link => link.textContent)");
    assert_eq!(links, json!(["Language", "<b>Mine</b> & *yours*", "Store buffers, in four programs"]));
    page.visit("language");
    assert!(page.browser.evaluate("document.querySelectorAll('main h2, main h3').length").as_u64() > Some(5));
    assert!(page.browser.evaluate("document.querySelectorAll('main .listing .keyword').length").as_u64() > Some(20));
    page.looks_right("the language");
    page.visit("lecture?name=folder/mine.md");
    assert_eq!(page.browser.evaluate("document.querySelectorAll('main b b, main script, h1 b').length"), 0);
    assert_eq!(page.browser.evaluate("document.querySelectorAll('section.program').length"), 1);
    assert_eq!(page.browser.evaluate("document.querySelectorAll('.missing').length"), 2);
    assert_eq!(page.browser.evaluate("exercises[0].editor.text.includes('x.store')"), true);
    page.browser.evaluate("exercises[0].start.click()");
    page.wait("exercises[0].verdict.classList.contains('holds')");
    page.looks_right("a lecture");
    page.visit("lecture?name=examples/lectures/store-buffers.md");
    assert_eq!(page.browser.evaluate("exercises.length"), 4);
    for (number, verdict) in [(0, "violated"), (1, "holds"), (2, "holds"), (3, "holds")] {
        page.browser.evaluate(&format!("exercises[{number}].start.click()"));
        let said =
            page.wait(&format!("/holds|violated|error|unknown/.exec(exercises[{number}].verdict.className)?.[0]"));
        assert_eq!(said, verdict, "program {number}");
    }
    page.browser.evaluate("exercises[2].editor.replace(0, 0, 'x')");
    page.wait("exercises[2].editor.list.children.length > 0");
    page.browser.evaluate("exercises[2].again.click()");
    assert_eq!(page.browser.evaluate("exercises[2].editor.text === exercises[2].first"), true);
    page.looks_right("the lecture about store buffers");
    assert_eq!(page.complaints(), [""; 0]);
    let _ = std::fs::remove_dir_all(&folder);
}
