//! Tests that need what the machine does not have.
//!
//! Such a test is not a test that passed. It says so by [`skip`] and returns: the reason is appended to the file that
//! `RAVELIN_SKIPPED` names, from which `cargo xtask test` counts, and where `CI=true` the test fails.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Stdio};

/// Whether `tool` can be started; if not, the calling test is skipped. `package` is what Debian calls it.
pub fn has(tool: &str, version_flag: &str, package: &str) -> bool {
    let mut command = Command::new(tool);
    command.arg(version_flag).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = command.status().is_ok();
    if !started {
        skip(&format!("{tool} is not installed (apt-get install {package})"));
    }
    started
}

/// Records that the calling test, or a part of it, cannot run here.
///
/// # Panics
///
/// Where `CI=true`, because nobody reads the list there, and if the list cannot be written.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}, and with CI=true no test may be skipped");
    eprintln!("skipped: {reason}");
    if let Some(list) = std::env::var_os("RAVELIN_SKIPPED") {
        let mut list = OpenOptions::new().create(true).append(true).open(list).expect("RAVELIN_SKIPPED can be written");
        // One call per line, so that lines of test programs that run side by side stay whole.
        list.write_all(format!("{package} {test}: {reason}\n").as_bytes()).expect("RAVELIN_SKIPPED can be written");
    }
}
