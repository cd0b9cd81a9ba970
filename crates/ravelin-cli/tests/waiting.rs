//! Waits with a time under a schedule, with one thread or several.

mod building;

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
