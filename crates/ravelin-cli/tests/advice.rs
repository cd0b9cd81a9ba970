//! What is said about data races that orders of other accesses would repair: the advice is given, and repairs the program;
//! where nothing is known that could order the accesses, a lock is asked for.

use crate::building;

use building::{Built, text_of};
use serde_json::Value;

const OPTIONS: &str = "--schedule random --runs 12";

/// Threads whose functions are the given ones, in C.
fn in_c(globals: &str, functions: &[&str]) -> String {
    let names: Vec<String> = (1..=functions.len()).map(|number| format!("thread_{number}")).collect();
    let mut text = format!(
        "#include <pthread.h>\n#include <sched.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         #define RELAXED memory_order_relaxed\n\
         #define LOAD(x, order) atomic_load_explicit(&x, order)\n\
         #define STORE(x, value, order) atomic_store_explicit(&x, value, order)\n\
         #define ADD(x, value, order) atomic_fetch_add_explicit(&x, value, order)\n{globals}\n"
    );
    for (name, body) in names.iter().zip(functions) {
        text += &format!("static void *{name}(void *arg) {{\n{body}\nreturn arg;\n}}\n");
    }
    text += &format!("int main(void) {{\npthread_t threads[{}];\n", names.len());
    for (number, name) in names.iter().enumerate() {
        text += &format!("pthread_create(&threads[{number}], 0, {name}, 0);\n");
    }
    text + &format!("for (int i = 0; i < {}; i++) pthread_join(threads[i], 0);\n}}\n", names.len())
}

/// The races of a report.
fn races(answer: &Value) -> Vec<&Value> {
    let all = answer["findings"].as_array().expect("findings");
    all.iter().filter(|finding| finding["problem"] == "data-race").collect()
}

/// The source line and order of each change that a finding asks for.
fn changes(finding: &Value) -> Vec<(usize, String)> {
    let fixes = finding["fixes"].as_array().expect("fixes").iter().filter_map(Value::as_str);
    let parts = |fix: &str| {
        let mut parts = fix.rsplit(':');
        let order = parts.next().expect("an order").to_owned();
        (parts.next().and_then(|line| line.parse().ok()).expect("a line"), order)
    };
    fixes.map(parts).collect()
}

/// The text with the changes made, where the accesses have their order as the word `RELAXED`.
fn applied(text: &str, changes: &[(usize, String)]) -> String {
    let change = |(index, line): (usize, &str)| match changes.iter().find(|(at, _)| *at == index + 1) {
        Some((_, order)) => line.replace("RELAXED", &format!("memory_order_{order}")),
        None => line.to_owned(),
    };
    text.lines().enumerate().map(change).collect::<Vec<_>>().join("\n")
}

/// The changes that are asked for are those of `expected`, by the text of the line and the order; with them no race is left,
/// neither in the monitor nor in the program. Returns the advice.
fn is_repaired_by(text: &str, name: &str, expected: &[(&str, &str)]) -> String {
    let built = Built::from(text, name, "");
    let (answer, output) = built.report(OPTIONS, "");
    assert_eq!(output.status.code(), Some(1), "{name}: {}", text_of(&output));
    let races = races(&answer);
    let race = races.first().unwrap_or_else(|| panic!("{name}: no race in {answer}"));
    let changes = changes(race);
    let line =
        |(at, order): &(usize, String)| (text.lines().nth(at - 1).unwrap_or_default().trim().to_owned(), order.clone());
    let asked: Vec<(String, String)> = changes.iter().map(line).collect();
    let expected: Vec<(String, String)> =
        expected.iter().map(|(line, order)| ((*line).to_owned(), (*order).to_owned())).collect();
    assert_eq!(asked, expected, "{name}: {race}");
    let advice = race["suggestion"]["text"].as_str().expect("a text");
    assert_eq!(race["suggestion"]["kind"], "release-acquire", "{name}");
    assert!(advice.starts_with("make the ") && !advice.contains("orders do not help"), "{name}: {advice}");
    for (line, order) in &changes {
        assert!(advice.contains(&format!("{name}:{line} {order}")), "{name}: {advice}");
    }

    let number = answer["findings"].as_array().expect("findings").iter().position(|finding| finding == *race);
    let tried = built.ravelin(&format!("run {OPTIONS} --try-fix {} ./program", number.expect("it is one") + 1));
    let said = text_of(&tried);
    assert!(said.contains("gone: data race") && !said.contains("remains: data race"), "{name}: {said}");
    let all = built.ravelin(&format!("run {OPTIONS} --fix-all ./program"));
    assert_eq!(all.status.code(), Some(0), "{name}: {}", text_of(&all));
    assert!(text_of(&all).contains("nothing remains"), "{name}: {}", text_of(&all));

    built.rebuild(&applied(text, &changes), name, "");
    let (after, output) = built.report(OPTIONS, "");
    assert!(self::races(&after).is_empty(), "{name}: {}", text_of(&output));
    advice.to_owned()
}

const PUBLISH: &str = "data = 1;\nSTORE(flag, 1, RELAXED);";
const TAKE: &str = "while (!LOAD(flag, RELAXED))\nsched_yield();\ntaken = data;";
const GLOBALS: &str = "atomic_int flag, other;\nint data, taken;";

#[test]
fn a_relaxed_flag_needs_release_and_acquire() {
    let text = in_c(GLOBALS, &[PUBLISH, TAKE]);
    is_repaired_by(
        &text,
        "flag.c",
        &[("STORE(flag, 1, RELAXED);", "release"), ("while (!LOAD(flag, RELAXED))", "acquire")],
    );
}

#[test]
fn what_is_there_already_is_not_asked_for_again() {
    let released = in_c(GLOBALS, &["data = 1;\nSTORE(flag, 1, memory_order_release);", TAKE]);
    is_repaired_by(&released, "released.c", &[("while (!LOAD(flag, RELAXED))", "acquire")]);
    let fenced =
        in_c(GLOBALS, &["data = 1;\natomic_thread_fence(memory_order_release);\nSTORE(flag, 1, RELAXED);", TAKE]);
    is_repaired_by(&fenced, "fenced.c", &[("while (!LOAD(flag, RELAXED))", "acquire")]);
    let take = TAKE.replace("taken", "atomic_thread_fence(memory_order_acquire);\ntaken");
    let acquired = in_c(GLOBALS, &[PUBLISH, &take]);
    is_repaired_by(&acquired, "acquired.c", &[("STORE(flag, 1, RELAXED);", "release")]);
}

#[test]
fn a_compare_exchange_that_failed_needs_its_failure_order() {
    let publish = "data = 1;\nSTORE(flag, 1, memory_order_release);";
    let take = "int zero = 0;\n\
                while (atomic_compare_exchange_strong_explicit(&flag, &zero, 0, memory_order_acquire, RELAXED))\n\
                sched_yield();\ntaken = data;";
    let line = take.lines().nth(1).expect("a line");
    let advice = is_repaired_by(&in_c(GLOBALS, &[publish, take]), "failed.c", &[(line, "acquire")]);
    assert!(advice.starts_with("make the failure order of the compare-exchange at failed.c:"), "{advice}");
    // Where success is weak as well, both have to change: compilers warn if failure is stronger than success.
    let take = take.replace("memory_order_acquire", "RELAXED");
    let line = take.lines().nth(1).expect("a line");
    let advice = is_repaired_by(&in_c(GLOBALS, &[publish, &take]), "both.c", &[(line, "acquire")]);
    assert!(advice.starts_with("make the compare-exchange at both.c:"), "{advice}");
}

#[test]
fn a_chain_over_a_third_thread_needs_all_four() {
    let pass = "while (!LOAD(flag, RELAXED))\nsched_yield();\nSTORE(other, 1, RELAXED);";
    let take = "while (!LOAD(other, RELAXED))\nsched_yield();\ntaken = data;";
    is_repaired_by(
        &in_c(GLOBALS, &[PUBLISH, pass, take]),
        "chain.c",
        &[
            ("STORE(flag, 1, RELAXED);", "release"),
            ("while (!LOAD(flag, RELAXED))", "acquire"),
            ("STORE(other, 1, RELAXED);", "release"),
            ("while (!LOAD(other, RELAXED))", "acquire"),
        ],
    );
}

#[test]
fn a_chain_is_followed_over_locks_and_what_synchronises_already() {
    let globals = format!("{GLOBALS}\npthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\nint passed;");
    let pass = "while (!LOAD(flag, RELAXED))\nsched_yield();\n\
                pthread_mutex_lock(&mutex);\npassed = 1;\npthread_mutex_unlock(&mutex);";
    let take = "for (int seen = 0; !seen; sched_yield()) {\n\
                pthread_mutex_lock(&mutex);\nseen = passed;\npthread_mutex_unlock(&mutex);\n}\ntaken = data;";
    let expected = [("STORE(flag, 1, RELAXED);", "release"), ("while (!LOAD(flag, RELAXED))", "acquire")];
    is_repaired_by(&in_c(&globals, &[PUBLISH, pass, take]), "lock.c", &expected);

    let pass = "while (!LOAD(flag, RELAXED))\nsched_yield();\nSTORE(other, 1, memory_order_release);";
    let take = "while (!LOAD(other, memory_order_acquire))\nsched_yield();\ntaken = data;";
    is_repaired_by(&in_c(GLOBALS, &[PUBLISH, pass, take]), "half.c", &expected);

    let publish = "data = 1;\npthread_mutex_lock(&mutex);\npassed = 1;\npthread_mutex_unlock(&mutex);";
    let pass = "for (int seen = 0; !seen; sched_yield()) {\n\
                pthread_mutex_lock(&mutex);\nseen = passed;\npthread_mutex_unlock(&mutex);\n}\nSTORE(flag, 1, RELAXED);";
    is_repaired_by(&in_c(&globals, &[publish, pass, TAKE]), "first.c", &expected);
}

/// The third thread reads last, and its race shows only if the first reader has none.
#[test]
fn a_change_is_kept_though_it_uncovers_another_race() {
    let late = "usleep(20000);\nlate = data;";
    let text = in_c(&format!("#include <unistd.h>\n{GLOBALS}\nint late;"), &[PUBLISH, TAKE, late]);
    let built = Built::from(&text, "hidden.c", "");
    let said = text_of(&built.ravelin(&format!("run {OPTIONS} --fix-all ./program")));
    for expected in
        [":release\n", ":acquire\n", "gone: data race", "only with the change: data race", "1 finding remains"]
    {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(!said.contains("nothing changed"), "{said}");
}

#[test]
fn a_read_modify_write_that_continues_a_release_sequence_needs_nothing() {
    let update = "while (!LOAD(flag, memory_order_relaxed))\nsched_yield();\nADD(flag, 1, RELAXED);";
    let take = "while (LOAD(flag, RELAXED) != 2)\nsched_yield();\ntaken = data;";
    is_repaired_by(
        &in_c(GLOBALS, &[PUBLISH, update, take]),
        "sequence.c",
        &[("STORE(flag, 1, RELAXED);", "release"), ("while (LOAD(flag, RELAXED) != 2)", "acquire")],
    );
}

#[test]
fn a_reference_count_needs_acq_rel_at_its_one_place() {
    let globals = "struct object { atomic_int count; int values[2]; } *object;\n\
                   static void leave(int me) {\nobject->values[me] = 1;\n\
                   if (ADD(object->count, -1, RELAXED) == 1)\nfree(object);\n}";
    let text = in_c(globals, &["leave(0);", "leave(1);"])
        .replace("int main(void) {", "int main(void) {\nobject = calloc(1, sizeof *object);\nobject->count = 2;");
    is_repaired_by(&text, "count.c", &[("if (ADD(object->count, -1, RELAXED) == 1)", "acq_rel")]);
}

#[test]
fn without_atomics_between_the_accesses_a_lock_is_asked_for() {
    let before = "STORE(flag, 1, RELAXED);\ndata = 1;";
    for (name, functions) in [
        ("nothing.c", ["data = 1;", "taken = data;"]),
        // The flag tells of what came before it, and the data comes after.
        ("too_early.c", [before, TAKE]),
        // It is written by one and read by nobody.
        ("unread.c", [PUBLISH, "taken = data;"]),
        // Whoever reads it does so too late.
        ("too_late.c", [PUBLISH, "taken = data;\nLOAD(flag, RELAXED);"]),
    ] {
        let built = Built::from(&in_c(GLOBALS, &functions), name, "");
        let (answer, output) = built.report(OPTIONS, "");
        let races = races(&answer);
        let race = races.first().unwrap_or_else(|| panic!("{name}: {}", text_of(&output)));
        assert_eq!(race["suggestion"]["kind"], "synchronise", "{name}: {race}");
        assert!(race["suggestion"]["text"].as_str().is_some_and(|text| text.contains("the same lock")), "{name}");
        let text = text_of(&built.ravelin(&format!("run {OPTIONS} ./program")));
        assert!(!text.contains("orders do not help"), "{name}: {text}");
        let refused = built.ravelin(&format!("run {OPTIONS} --try-fix 1 ./program"));
        assert_eq!(refused.status.code(), Some(2), "{name}: {}", text_of(&refused));
        let rest = text_of(&built.ravelin(&format!("run {OPTIONS} --fix-all ./program")));
        assert!(rest.contains("remains: data race") && !rest.contains("orders"), "{name}: {rest}");
    }
}

#[test]
fn a_published_pointer_of_cpp_needs_release_and_acquire() {
    let text = r#"#include <atomic>
#include <thread>
#define RELAXED std::memory_order_relaxed
#define memory_order_release std::memory_order_release
#define memory_order_acquire std::memory_order_acquire
struct Message { int value; };
static std::atomic<Message *> message{nullptr};
int main() {
  std::thread producer([] {
    auto *mine = new Message{7};
    message.store(mine, RELAXED);
  });
  std::thread consumer([] {
    Message *seen;
    while (!(seen = message.load(RELAXED)))
      std::this_thread::yield();
    int value = seen->value;
    delete seen;
    if (value != 7) std::abort();
  });
  producer.join();
  consumer.join();
}
"#;
    is_repaired_by(
        text,
        "pointer.cpp",
        &[("message.store(mine, RELAXED);", "release"), ("while (!(seen = message.load(RELAXED)))", "acquire")],
    );
}
