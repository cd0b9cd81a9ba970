//! `ravelin confirm`: what x86 forbids is refused, what it allows is shown, and no outcome is seen that the model forbids.
//!
//! Whether an outcome is seen in a given time depends on the machine. Only store buffering is expected to be seen, with much time; for all
//! others it may be seen or not, and what must hold is that nothing forbidden is.

use crate::building::Built;
use crate::running::{Scratch, code, interruptible, ravelin};
use crate::signals::{ended, is_running, until};
use ravelin_frontend::print;
use ravelin_testing::programs::{Config, Generator};
use ravelin_testing::{has, seeds, skip};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Whether this machine can run tests; otherwise the calling test is skipped.
fn can_run() -> bool {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        skip("outcomes of x86 are seen only there");
        return false;
    }
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skip("there is only one core");
        return false;
    }
    has("gcc", "--version", "gcc")
}

fn confirmed(arguments: &[&str], input: &str) -> (i32, Value) {
    let mut words = vec!["confirm"];
    words.extend(arguments);
    words.extend(["--format", "json"]);
    let output = ravelin(&words, input);
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    let document = crate::json_schema::valid(&text);
    (code(&output), document["answers"][0].clone())
}

/// Nothing that the model forbids, in any test, with and without fences.
fn assert_nothing_forbidden(answer: &Value, what: &str) {
    assert_ne!(answer["outcome"], "model_broken", "{what}: {answer}");
    for test in answer["tests"].as_array().into_iter().flatten() {
        assert_eq!(test["measured"]["forbidden"], 0, "{what}: {test}");
        for row in test["measured"]["histogram"].as_array().expect("rows") {
            assert!(row["allowed"] != "nothing" || row["count"] == 0, "{what}: {row}");
        }
        assert!(test["fenced"]["measured"]["seen"].as_u64().unwrap_or(0) == 0, "{what}: {test}");
    }
}

#[test]
fn store_buffering_is_seen_and_its_fences_forbid_it() {
    if !can_run() {
        return;
    }
    let (exit, answer) = confirmed(&["examples/sb.rav", "--timeout", "60s"], "");
    assert_eq!(exit, 1, "{answer}");
    assert_eq!(answer["outcome"], "seen");
    assert_eq!(answer["tests"][0]["method"], "perpetual");
    assert_eq!(answer["tests"][0]["fenced"]["fences"].as_array().map(Vec::len), Some(2));
    assert_nothing_forbidden(&answer, "sb");
}

#[test]
fn what_x86_forbids_is_not_run() {
    for name in ["mp", "lb", "iriw", "wrc", "s", "2+2w", "sb-fenced", "dekker-fenced", "peterson-fenced"] {
        let (exit, answer) = confirmed(&[&format!("examples/{name}.rav")], "");
        assert_eq!((exit, &answer["outcome"]), (0, &Value::from("forbidden")), "{name}: {answer}");
        assert!(answer.get("tests").is_none(), "{name}: {answer}");
    }
}

#[test]
fn known_algorithms_show_nothing_forbidden() {
    if !can_run() {
        return;
    }
    for name in ["r", "n6", "dekker", "peterson", "parker"] {
        let (exit, answer) = confirmed(&[&format!("examples/{name}.rav"), "--timeout", "1s", "--fenced", "0.2"], "");
        assert!(exit == 1 || exit == 3, "{name}: {answer}");
        assert!(!answer["tests"].as_array().expect("tests").is_empty(), "{name}: {answer}");
        assert_nothing_forbidden(&answer, name);
    }
}

#[test]
fn reports_are_as_good_as_programs() {
    if !can_run() {
        return;
    }
    let scratch = Scratch::new("confirm-report");
    for question in ["check", "reach", "states"] {
        let report = ravelin(&[question, "examples/sb.rav", "--model", "tso", "--format", "json"], "").stdout;
        let report = scratch.write("report.json", &String::from_utf8(report).expect("UTF-8"));
        let (exit, answer) = confirmed(&[&report, "--timeout", "60s", "--fenced", "0"], "");
        assert_eq!((exit, &answer["source"]), (1, &Value::from(question)), "{answer}");
    }
    let report = ravelin(&["check", "examples/mp.rav", "--model", "rc20", "--format", "json"], "").stdout;
    let report = scratch.write("mp.json", &String::from_utf8(report).expect("UTF-8"));
    assert_eq!(confirmed(&[&report], "").0, 0);
}

/// Message passing, which pso breaks, and store buffering, which tso breaks as well.
const BOTH: &str = "static d; static f; static x; static y;
thread sender { d.store(1); f.store(1); x.store(1); let r = y.load(); }
thread receiver { let s = f.load(); let t = d.load(); y.store(1); let u = x.load(); }
finally never sender.r == 0 && receiver.u == 0 && receiver.t == 0 && receiver.s == 0;
";

#[test]
fn a_witness_under_tso_is_preferred() {
    if !can_run() {
        return;
    }
    for (question, models) in
        [("check", "pso,tso"), ("reach", "pso,tso"), ("reach", "rc20,tso"), ("states", "rc20,tso")]
    {
        let report = ravelin(&[question, "-", "--from", "rav", "--model", models, "--format", "json"], BOTH).stdout;
        let report = String::from_utf8(report).expect("UTF-8");
        let (exit, answer) = confirmed(&["-", "--timeout", "1s", "--fenced", "0"], &report);
        assert!(exit == 1 || exit == 3, "{question} {models}: {answer}");
        assert_eq!(answer["source"], question, "{models}: {answer}");
        assert!(answer["tests"].is_array(), "{question} {models}: {answer}");
        assert_nothing_forbidden(&answer, question);
    }
}

/// Store buffering, with what is between its store and its load.
fn store_buffering_in_c(between: &str) -> Built {
    let side = |name: &str, own: &str, other: &str| {
        format!(
            "static void *{name}(void *a) {{\n  atomic_store_explicit(&{own}, 1, memory_order_relaxed);\n{between}\n  (void)atomic_load_explicit(&{other}, memory_order_relaxed);\n  return a;\n}}\n"
        )
    };
    let text = format!(
        "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x, y, z;\n{}{}{}",
        side("left", "x", "y"),
        side("right", "y", "x"),
        "int main(void) { pthread_t t; pthread_create(&t, 0, left, 0); right(0); pthread_join(t, 0); }\n"
    );
    Built::from(&text, "sb.c", "")
}

/// The report of a command about a program that was built.
fn report_of(built: &Built, command: &str) -> String {
    let output = built.ravelin(&format!("{command} --format json -- ./program"));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn findings_that_x86_allows_are_tested_as_cycles() {
    if !can_run() {
        return;
    }
    let built = store_buffering_in_c("");
    for command in ["verify", "verify --model tso", "run --model tso"] {
        let (exit, answer) = confirmed(&["-", "--timeout", "60s", "--fenced", "0.1"], &report_of(&built, command));
        assert_eq!((exit, &answer["source"]), (1, &Value::from("finding")), "{command}: {answer}");
        assert_eq!(answer["tests"].as_array().map(Vec::len), Some(1), "{command}: {answer}");
        assert_eq!(answer["tests"][0]["part"], "cycle", "{command}: {answer}");
        assert!(
            answer["notes"][0].as_str().is_some_and(|note| note.contains("not the program")),
            "{command}: {answer}"
        );
        assert_nothing_forbidden(&answer, command);
    }
}

/// C11 allows the stale read across a locked instruction of another cell, and x86 does not.
#[test]
fn findings_that_x86_forbids_are_not_run() {
    if !has("gcc", "--version", "gcc") {
        return;
    }
    let built = store_buffering_in_c("  atomic_fetch_add_explicit(&z, 1, memory_order_relaxed);");
    let (exit, answer) = confirmed(&["-"], &report_of(&built, "verify"));
    assert_eq!((exit, &answer["outcome"]), (0, &Value::from("forbidden")), "{answer}");
    assert!(answer.get("tests").is_none(), "{answer}");
}

/// `run` does not say what x86 does, so that a fence between two accesses would be ignored.
#[test]
fn findings_that_say_nothing_of_x86_are_refused() {
    if !has("gcc", "--version", "gcc") {
        return;
    }
    let report = report_of(&store_buffering_in_c(""), "run");
    let output = ravelin(&["confirm", "-"], &report);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(code(&output), 2, "{message}");
    assert!(message.contains("nothing to confirm") && message.contains("run --model tso"), "{message}");
}

/// A report of store buffering with more threads, each of which stores, and without a cycle.
fn crowded_report(threads: usize) -> String {
    let report = ravelin(&["check", "examples/sb.rav", "--model", "tso", "--format", "json"], "").stdout;
    let mut document: Value = serde_json::from_slice(&report).expect("JSON");
    let witness = &mut document["answers"][0]["witness"];
    witness["cycle"] = Value::Array(Vec::new());
    for number in 0..threads {
        let mut thread = witness["initial"]["threads"][0].clone();
        thread["thread"] = format!("t{number}").into();
        witness["initial"]["threads"].as_array_mut().expect("threads").push(thread);
    }
    let steps = witness["steps"].as_array_mut().expect("steps");
    for step in steps.iter_mut() {
        step["buffers"] = vec![Value::Array(Vec::new()); threads + 2].into();
    }
    let store = steps.iter().find(|step| step["writes"][0]["place"] == "buffer").expect("a store").clone();
    for number in 0..threads {
        let mut step = store.clone();
        step["thread"] = format!("t{number}").into();
        step["writes"][0]["cell"] = format!("c{number}").into();
        steps.push(step);
    }
    document.to_string()
}

#[test]
fn a_report_of_many_threads_is_refused() {
    let output = ravelin(&["confirm", "-"], &crowded_report(200));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(code(&output), 2, "{message}");
    assert!(message.contains("202 threads, and a test has at most 6"), "{message}");
}

#[test]
fn what_has_nothing_to_confirm_is_an_error() {
    for (text, says) in [
        ("{}", "no document of Ravelin"),
        (r#"{ "schema": "ravelin/2", "command": "check", "answers": [] }"#, "no answers"),
        ("thread", "expected"),
        ("thread t { loop {} }", "does nothing in memory"),
        ("static x; // without threads", "does nothing in memory"),
    ] {
        let output = ravelin(&["confirm", "-"], text);
        assert_eq!(code(&output), 2, "{text}: {output:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(says) || text == "thread", "{message}");
    }
}

#[test]
fn programs_are_kept_with_what_builds_them() {
    if !can_run() {
        return;
    }
    let scratch = Scratch::new("confirm-keep");
    let marker = scratch.write("marker", "");
    let folder = std::path::Path::new(&marker).with_file_name("kept");
    let kept = folder.display().to_string();
    // The second time it is a folder that was kept.
    for _ in 0..2 {
        let (exit, answer) = confirmed(&["examples/sb.rav", "--timeout", "1s", "--fenced", "0", "--keep", &kept], "");
        assert!(exit == 1 || exit == 3, "{answer}");
    }
    for name in ["test-run.c", "test-run-fenced.c", "Makefile", "README"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
}

/// What is in a folder, with the contents of files.
fn contents(folder: &std::path::Path) -> Vec<(std::ffi::OsString, String)> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut all: Vec<_> =
        entries.map(|entry| (entry.file_name(), std::fs::read_to_string(entry.path()).unwrap_or_default())).collect();
    all.sort();
    all
}

#[test]
fn a_folder_with_other_files_is_not_written_to() {
    let scratch = Scratch::new("confirm-others");
    let victim = scratch.write("victim", "mine\n");
    let folder = std::path::Path::new(&victim).with_file_name("folder");
    let kept = folder.display().to_string();
    let link = |name: &str| std::os::unix::fs::symlink(&victim, folder.join(name)).expect("a link");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    let marked = "Made by `ravelin confirm` from sb.rav.\n";
    let cases: [&dyn Fn(); 5] = [
        &|| write("Makefile", "all:\n"),
        &|| write("README", "My project\n"),
        &|| {
            write("README", marked);
            write("notes.txt", "mine");
        },
        &|| {
            write("README", marked);
            link("Makefile");
        },
        &|| link("test-run.c"),
    ];
    for (number, prepare) in cases.iter().enumerate() {
        std::fs::create_dir(&folder).expect("a folder");
        prepare();
        let before = contents(&folder);
        let output = ravelin(&["confirm", "examples/sb.rav", "--keep", &kept], "");
        assert_eq!(code(&output), 2, "{number}: {output:?}");
        assert!(output.stdout.is_empty(), "{number}: something was run: {output:?}");
        assert_eq!(contents(&folder), before, "{number}");
        assert_eq!(std::fs::read_to_string(&victim).expect("a file"), "mine\n", "{number}");
        std::fs::remove_dir_all(&folder).expect("a folder");
    }
}

#[test]
fn names_in_what_is_kept_have_no_control_characters() {
    if !can_run() {
        return;
    }
    let scratch = Scratch::new("confirm-names");
    let marker = scratch.write("marker", "");
    let folder = std::path::Path::new(&marker).with_file_name("kept");
    let report = ravelin(&["check", "examples/sb.rav", "--model", "tso", "--format", "json"], "").stdout;
    let report = String::from_utf8(report).expect("UTF-8").replace("\"left\"", "\"le\\u001b[31m\\nft\"");
    confirmed(&["-", "--timeout", "0.1", "--fenced", "0", "--keep", &folder.display().to_string()], &report);
    let kept = contents(&folder);
    assert_eq!(kept.len(), 4, "{kept:?}");
    for (name, text) in kept {
        assert!(!text.contains('\u{1b}') && !text.contains("\nft"), "{name:?}: {text}");
    }
}

/// A compiler that does not end when it is asked to do this. It has started another process, whose number it writes to `started`, and has
/// a temporary file.
fn hanging_compiler(scratch: &Scratch, asked: &str) -> String {
    let started = scratch.write("started", "");
    let script = format!(
        "#!/bin/sh\n[ {asked} ] || exit 0\necho text > \"$TMPDIR/unfinished.s\"\nsleep 1000 &\necho $! > {started}\nwait\n"
    );
    let path = scratch.write("compiler", &script);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("permissions");
    path
}

/// What a compiler is doing then is no error of it, whether the signal comes from a terminal or from another program.
#[test]
fn a_signal_ends_the_compiler_and_all_that_it_has_started() {
    if !can_run() {
        return;
    }
    for (asked, to_group) in [("$1 = --version", false), ("$1 != --version", false), ("$1 != --version", true)] {
        let scratch = Scratch::new("confirm-signal");
        let compiler = hanging_compiler(&scratch, asked);
        let folder = std::path::Path::new(&compiler).with_file_name("temporary");
        std::fs::create_dir(&folder).expect("a folder");
        let child = interruptible()
            .args(["confirm", "examples/sb.rav", "--cc", &compiler])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .env("TMPDIR", &folder)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let started =
            || std::fs::read_to_string(folder.with_file_name("started")).unwrap_or_default().trim().to_owned();
        until("the compiler has started", || !started().is_empty());
        let inner = started().parse().expect("a number");
        let target = if to_group { format!("-{}", child.id()) } else { child.id().to_string() };
        let sent = Command::new("kill").args(["-INT", "--", &target]).status().expect("kill is there");
        assert!(sent.success());
        let output = ended(child);
        assert_eq!(code(&output), 3, "{asked}: {output:?}");
        assert!(!is_running(inner), "{asked}: it has left a process");
        // A version is asked for outside of any folder.
        let left: Vec<_> =
            std::fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        assert!(left.is_empty() || asked == "$1 = --version", "{asked}: {left:?}");
    }
}

#[test]
fn a_compiler_that_fails_is_named_with_its_status() {
    if !can_run() {
        return;
    }
    for (compiler, says) in
        [("/bin/false", "`/bin/false --version` ended with exit status: 1"), ("/no/cc", "cannot be started")]
    {
        let output = ravelin(&["confirm", "examples/sb.rav", "--cc", compiler], "");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(code(&output), 2, "{message}");
        assert!(message.contains(says), "{message}");
    }
}

/// One core is left to the program, which has two tests.
#[test]
fn that_threads_share_cores_is_said_once() {
    if !can_run() || !has("taskset", "--version", "util-linux") {
        return;
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("cores").trim();
    let core = cores.split([',', '-']).next().expect("a core");
    let output = Command::new("taskset")
        .args(["-c", core, env!("CARGO_BIN_EXE_ravelin"), "confirm", "examples/parker.rav"])
        .args(["--timeout", "0.2", "--fenced", "0"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .expect("taskset starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.matches("threads share").count(), 1, "{text}{output:?}");
}

#[test]
fn a_test_without_a_batch_is_not_said_to_see_nothing() {
    if !can_run() {
        return;
    }
    // This program of a test ends at once, and has printed nothing.
    let scratch = Scratch::new("confirm-empty");
    let script = "#!/bin/sh\n[ $1 = --version ] && exit 0\nwhile [ $1 != -o ]; do shift; done\ncp /bin/true $2\n";
    let compiler = scratch.write("compiler", script);
    std::fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).expect("permissions");
    let output = ravelin(&["confirm", "examples/sb.rav", "--cc", &compiler], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 3, "{output:?}");
    assert!(text.contains("did not complete a single batch in ") && !text.contains("never seen"), "{text}");
}

/// Every outcome of random programs is one that the reference semantics allows.
#[test]
fn generated_programs_show_nothing_forbidden() {
    if !can_run() {
        return;
    }
    let generator = Generator::new(Config::loop_free());
    let mut run = 0;
    for seed in seeds(12) {
        let text = print::rav(&generator.program(seed));
        let (exit, answer) =
            confirmed(&["-", "--from", "rav", "--question", "check", "--timeout", "0.1", "--fenced", "0.1"], &text);
        assert!([0, 1, 2, 3].contains(&exit), "seed {seed}: {answer}");
        assert_nothing_forbidden(&answer, &format!("seed {seed}"));
        run += usize::from(answer["tests"].is_array());
    }
    assert!(run > 0 || !ravelin_testing::is_default_run(), "no program was run");
}
