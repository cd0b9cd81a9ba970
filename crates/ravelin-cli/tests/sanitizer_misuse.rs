//! Findings about locks, threads and memory in every output, their switches and suppressions.

use crate::running::code;
use crate::workshop::{Workshop, compilers, text};
use serde_json::Value;

const ORDERS: &str = r#"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t savings = PTHREAD_MUTEX_INITIALIZER, current = PTHREAD_MUTEX_INITIALIZER;
static void *save(void *argument) {
  pthread_mutex_lock(&savings);
  pthread_mutex_lock(&current);
  pthread_mutex_unlock(&current);
  pthread_mutex_unlock(&savings);
  return argument;
}
static void *spend(void *argument) {
  if (argument) usleep(200000);
  pthread_mutex_lock(&current);
  pthread_mutex_lock(&savings);
  pthread_mutex_unlock(&savings);
  pthread_mutex_unlock(&current);
  return argument;
}
int main(int argc, char **argv) {
  pthread_t one, two;
  pthread_create(&one, 0, save, 0);
  pthread_create(&two, 0, spend, argc > 1 ? argv : 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
}
"#;

/// A workshop with locks in different orders.
fn orders(name: &str) -> Option<Workshop> {
    let (cc, _) = compilers().first().copied()?;
    let place = Workshop::new(name);
    place.write("orders.c", ORDERS);
    place.builds(&format!("cc --ravelin-compiler={cc} -g orders.c -o orders"));
    Some(place)
}

#[test]
fn locks_in_different_orders_are_in_every_output() {
    let Some(place) = orders("orders") else { return };
    let shown = text(&place.ravelin("run --html page.html ./orders slowly"));
    for part in [
        "locks in different orders, which may deadlock",
        "lock of `savings` in thread 2",
        "while it held `current`",
        "but lock of `current` in thread 1",
        "while it held `savings`",
        "in spend at orders.c:15",
        "in save at orders.c:7",
        "suggestion: lock these locks in the same order",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let page = std::fs::read_to_string(place.0.join("page.html")).expect("a page");
    assert!(page.contains("data-problem=\"lock-order-inversion\"") && page.contains("came while it held"));
    let json = place.ravelin("run --format json ./orders slowly");
    let report: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let finding = &report["answers"][0]["findings"][0];
    assert_eq!(
        (&finding["problem"], &finding["suggestion"]["kind"]),
        (&"lock-order-inversion".into(), &"use-correctly".into())
    );
    assert_eq!(finding["path"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        (&finding["path"][0]["kind"], &finding["path"][1]["location"]["name"]),
        (&"while-holding".into(), &"savings".into())
    );
    let sarif = place.ravelin("run --format sarif ./orders slowly");
    let sarif: Value = serde_json::from_slice(&sarif.stdout).expect("SARIF");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"lock-order-inversion".into(), &"warning".into()));
    place.write("report.json", &json.stdout);
    let explained = text(&place.ravelin("explain report.json"));
    assert!(explained.contains("lock-order-inversion") && explained.contains("came while it held"), "{explained}");
}

#[test]
fn a_kind_of_finding_can_be_ignored_or_suppressed() {
    let Some(place) = orders("ignored") else { return };
    for scope in ["lock-order-inversion:save", "misuse:orders.c", "any:savings"] {
        place.write("list", scope);
        let output = place.ravelin("run --suppressions list ./orders slowly");
        assert_eq!(code(&output), 0, "{scope}: {}", text(&output));
        assert!(text(&output).contains("1 suppressed"), "{scope}: {}", text(&output));
    }
    for scope in ["race:save", "robust:save", "double-lock:save"] {
        place.write("list", scope);
        assert_eq!(code(&place.ravelin("run --suppressions list ./orders slowly")), 1, "{scope}");
    }
    assert_eq!(code(&place.ravelin("run --ignore lock-order-inversion ./orders slowly")), 0);
    assert_eq!(code(&place.ravelin("run --ignore thread-leak ./orders slowly")), 1);
    let wrong = place.ravelin("run --ignore data-race ./orders slowly");
    assert_eq!(code(&wrong), 2);
    assert!(text(&wrong).contains("expected one of lock-order-inversion, "), "{}", text(&wrong));
}

const CLOSES: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int file;
static void *use(void *argument) {
  return write(file, "x", 1) == 1 ? argument : 0;
}
int main(void) {
  pthread_t user;
  file = open("/dev/null", O_WRONLY);
  pthread_create(&user, 0, use, 0);
  usleep(200000);
  close(file);
  pthread_join(user, 0);
}
"#;

#[test]
fn a_descriptor_that_is_closed_too_early_is_in_every_output() {
    let Some((cc, _)) = compilers().first().copied() else { return };
    let place = Workshop::new("closes");
    place.write("closes.c", CLOSES);
    place.builds(&format!("cc --ravelin-compiler={cc} -g closes.c -o closes"));
    let shown = text(&place.ravelin("run --html page.html ./closes"));
    for part in [
        "file descriptor is closed while another thread uses it",
        "close of file descriptor ",
        "in main at closes.c:14",
        "is not ordered with the use in thread 1",
        "in use at closes.c:7",
        "was opened by ",
        "in main at closes.c:11",
        "suggestion: close it when no thread will use it any more",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let page = std::fs::read_to_string(place.0.join("page.html")).expect("a page");
    assert!(page.contains("data-problem=\"descriptor-race\""));
    let json = place.ravelin("run --format json ./closes");
    let report: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let finding = &report["answers"][0]["findings"][0];
    assert_eq!((&finding["problem"], &finding["access"]["kind"]), (&"descriptor-race".into(), &"close".into()));
    assert_eq!(finding["location"]["memory"]["kind"], "descriptor");
    let sarif = place.ravelin("run --format sarif ./closes");
    let sarif: Value = serde_json::from_slice(&sarif.stdout).expect("SARIF");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"descriptor-race".into(), &"error".into()));
    place.write("report.json", &json.stdout);
    assert!(text(&place.ravelin("explain report.json")).contains("descriptor-race"));
    place.write("list", "descriptor-race:use");
    assert_eq!(code(&place.ravelin("run --suppressions list ./closes")), 0);
    assert_eq!(code(&place.ravelin("run --ignore descriptor-race ./closes")), 0);
}

#[test]
fn a_deadlock_that_happens_is_still_one() {
    let Some(place) = orders("deadlock") else { return };
    let output = place.ravelin("run --schedule random --runs 40 ./orders");
    assert!(text(&output).contains("deadlock, in"), "{}", text(&output));
    assert!(text(&output).contains("waits for the mutex `current`, which thread 2 holds"), "{}", text(&output));
}
