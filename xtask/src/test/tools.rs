//! Tools of the system that tests use: installed on unattended machines, named otherwise.

use crate::{is_installed, succeed};
use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

/// A program, arguments with which it succeeds if it is there, the Debian package, and what is not tested without it.
const TOOLS: [(&str, &str, &str, &str); 8] = [
    ("gcc", "--version", "gcc", "the sanitizer, and what is compared with SPIN"),
    ("g++", "--version", "g++", "the sanitizer for C++"),
    ("clang", "--version", "clang", "the sanitizer with clang"),
    (
        "clang",
        "-fopenmp -include omp.h -fsyntax-only -x c /dev/null",
        "libomp-dev",
        "the sanitizer with OpenMP of clang",
    ),
    ("cmake", "--version", "cmake", "the sanitizer as CMake's compiler"),
    ("spin", "-V", "spin", "programs written for SPIN"),
    ("dot", "-V", "graphviz", "graphs written for Graphviz"),
    ("chromium", "--version", "chromium", "pages in a browser"),
];

pub fn install(target: &Path) {
    let is_missing = |&(tool, flag, ..): &(&str, &str, &str, &str)| !is_installed(tool, flag);
    let missing: Vec<&str> = TOOLS.into_iter().filter(is_missing).map(|(_, _, package, _)| package).collect();
    if !missing.is_empty() && may_install() {
        let packages = missing.join(" ");
        println!("trying to install {packages}");
        let install = format!("apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq {packages}");
        // Without a network there is still a lot to test, and skipped tests are counted.
        if let Err(error) = succeed(Command::new("sh").args(["-c", &install])) {
            println!("{error:#}");
        }
    }
    for (tool, flag, package, untested) in TOOLS {
        if is_installed(tool, flag) {
            println!("{package} is installed");
        } else {
            println!("{package} is not installed (apt-get install {package}): not tested is {untested}");
        }
    }
    super::axe::fetch(target);
}

/// Only without a user at the keyboard, and with what that takes.
pub fn may_fetch() -> bool {
    is_unattended() && is_installed("curl", "--version") && is_installed("sha256sum", "--version")
}

/// A Debian machine, as root, without a user at the keyboard.
fn may_install() -> bool {
    let user = Command::new("id").arg("-u").output();
    let is_root = user.is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    is_unattended() && is_root && Path::new("/etc/debian_version").exists()
}

/// No user at the keyboard.
pub fn is_unattended() -> bool {
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    is_ci || !std::io::stdin().is_terminal()
}
