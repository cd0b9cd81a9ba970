//! Waits with a time under a schedule, with one thread or several; and runs that stand still.

use crate::building;

use building::{Built, text_of};

/// Runs the program once for each of these waits, of which each asks for three minutes.
fn all_waits_end(source: &str, waits: &[&str]) {
    let built = Built::new(source, "");
    for wait in waits {
        for schedule in ["random", "pct"] {
            let began = std::time::Instant::now();
            let (answer, output) = built.report(&format!("--schedule {schedule}"), wait);
            assert_eq!(output.status.code(), Some(0), "{wait} {schedule}: {}", text_of(&output));
            assert_eq!(answer["runs"][0]["replayable"], true, "{wait} {schedule}: {answer}");
            assert!(began.elapsed().as_secs() < 120, "{wait} {schedule}: the time of the wait has passed in fact");
        }
    }
}

#[test]
fn a_wait_with_a_time_ends_in_virtual_time_however_many_threads_there_are() {
    all_waits_end(
        "alone.c",
        &[
            "cond_timedwait",
            "cond_timedwait_monotonic",
            "cond_clockwait",
            "cnd_timedwait",
            "sem_timedwait",
            "sem_clockwait",
            "mutex_timedlock",
            "mutex_clocklock",
            "rwlock_timedwrlock",
            "rwlock_clockwrlock",
            "sleep",
            "usleep",
            "nanosleep",
            "clock_nanosleep",
            "clock_nanosleep_until",
            "thrd_sleep",
            "poll",
            "ppoll",
            "select",
            "pselect",
            "epoll_wait",
            "epoll_pwait2",
        ],
    );
}

#[test]
fn the_waits_of_cpp_end_in_virtual_time_however_many_threads_there_are() {
    all_waits_end(
        "alone.cpp",
        &["wait_for", "wait_until", "future", "semaphore", "timed_mutex", "shared_timed_mutex", "sleep_for"],
    );
}

#[test]
fn a_run_that_makes_no_progress_is_ended_and_told() {
    let built = Built::new("still.c", "");
    // Whoever computes gets ten times as long, in processor time.
    for (still, seconds, options, sentence) in [
        ("call", 2, "--schedule random", "is in a call that the schedule does not know"),
        ("call-in-thread", 2, "--schedule random", "waits for the end of thread 1"),
        ("call-in-thread", 2, "--schedule pct", "is in a call that the schedule does not know"),
        ("signal", 2, "--schedule random", "is in a call that the schedule does not know"),
        ("descriptor", 2, "--schedule random", "waits for a file descriptor"),
        ("loop-in-thread", 1, "--schedule random", "runs without reaching a scheduling point"),
        ("lock", 2, "", "is in a call that the schedule does not know"),
        ("call", 2, "", "is in a call that the schedule does not know"),
    ] {
        let (answer, output) = built.report(&format!("{options} --no-progress {seconds}"), still);
        assert_eq!(output.status.code(), Some(1), "{still} {options}: {}", text_of(&output));
        assert_eq!(answer["verdict"], "violated", "{still} {options}");
        let stuck = &answer["stuck"][0];
        assert_eq!(stuck["problem"], "no-progress", "{still} {options}: {answer}");
        assert!(stuck["seconds"].as_u64().is_some_and(|waited| waited >= seconds), "{still} {options}: {stuck}");
        let threads = stuck["threads"].as_array().expect("threads");
        assert_eq!(threads.len(), if still.contains("thread") || still == "lock" { 2 } else { 1 }, "{stuck}");
        let said = threads.iter().find(|thread| thread["sentence"] == sentence);
        let said = said.unwrap_or_else(|| panic!("{still} {options}: {stuck}"));
        if still == "loop-in-thread" {
            assert_eq!(said["stack"][0]["function"], "in_a_loop", "{stuck}");
        }
    }
    let said = text_of(&built.ravelin("run --schedule random --no-progress 2 --exit-code 9 ./program call-in-thread"));
    assert!(said.contains("the run made no progress for 2 s") && said.contains("in_a_call"), "{said}");
    assert!(!said.contains("nothing found"), "{said}");
}

#[test]
fn whoever_waits_for_a_child_process_waits_for_something() {
    let built = Built::new("still.c", "");
    let (answer, output) = built.report("--schedule random --no-progress 2", "child");
    assert_eq!(output.status.code(), Some(0), "{}: {answer}", text_of(&output));
}

#[test]
fn one_thread_that_waits_for_itself_is_a_deadlock() {
    let text = "#include <pthread.h>\n#include <semaphore.h>\nint main(void) {\n\
                sem_t semaphore;\nsem_init(&semaphore, 0, 0);\nsem_wait(&semaphore);\n}\n";
    let built = Built::from(text, "one.c", "");
    let (answer, output) = built.report("--schedule random", "");
    assert_eq!(output.status.code(), Some(1), "{}", text_of(&output));
    assert_eq!(answer["stuck"][0]["problem"], "deadlock", "{answer}");
}
