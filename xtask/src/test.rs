//! `cargo xtask test`: what a contributor runs before a change goes in, and what CI runs after.
//!
//! Steps run in order and the first that fails ends it: a formatting error is cheaper to hear of than a failing test.
//! `cargo xtask test -- NAME` passes what follows `--` on to the tests.

use anyhow::{Context, Result, bail};
use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

#[derive(clap::Args)]
pub struct Arguments {
    /// Passed on to `cargo test --workspace`
    #[arg(last = true)]
    rest: Vec<String>,
}

type Step<'a> = (&'static str, &'a dyn Fn() -> Result<()>);

pub fn run(arguments: &Arguments) -> Result<()> {
    let tests = || {
        let mut command = crate::cargo();
        command.args(["test", "--workspace"]).args(&arguments.rest);
        succeed(&mut command)
    };
    let steps: [Step; 4] = [
        ("formatting", &|| succeed(crate::cargo().args(["fmt", "--all", "--", "--check"]))),
        ("lints", &|| succeed(crate::cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))),
        ("tools of the system", &|| {
            ask_for_gcc();
            ask_for("clang", "--version", "the sanitizer is tried with gcc only");
            ask_for("cmake", "--version", "the sanitizer is not tried as CMake's compiler");
            ask_for("spin", "-V", "the tests that compare with it are skipped");
            ask_for("chromium", "--version", "pages are not tried in a browser");
            Ok(())
        }),
        ("tests", &tests),
    ];
    for (done, (title, step)) in steps.iter().enumerate() {
        println!("\n== {title} ({} of {}) ==", done + 1, steps.len());
        if let Err(error) = step() {
            println!("\n{done} passed, 1 failed");
            return Err(error.context(format!("the step `{title}` failed")));
        }
    }
    println!("\n{} passed, 0 failed", steps.len());
    Ok(())
}

fn succeed(command: &mut Command) -> Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let shown = words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

fn ask_for_gcc() {
    if crate::is_installed("gcc", "--version") {
        println!("gcc is installed");
    } else {
        println!(
            "gcc is not installed: apt-get install gcc; the sanitizer is not tested, nor what is compared with SPIN"
        );
    }
}

/// Installs a tool where nobody is there to do it; otherwise says what is missing, and what that means.
fn ask_for(tool: &str, version: &str, without: &str) {
    if !crate::is_installed(tool, version) && may_install() {
        println!("{tool} is not installed: trying apt-get install {tool}");
        let install = format!("apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq {tool}");
        // Without a network there is still a lot to test, so a failure here is only told.
        if let Err(error) = succeed(Command::new("sh").args(["-c", &install])) {
            println!("{error:#}");
        }
    }
    if crate::is_installed(tool, version) {
        println!("{tool} is installed");
    } else {
        println!("{tool} is not installed: apt-get install {tool}; {without}");
    }
}

/// A Debian machine, as root, with nobody at the keyboard.
fn may_install() -> bool {
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let unattended = is_ci || !std::io::stdin().is_terminal();
    let user = Command::new("id").arg("-u").output();
    let is_root = user.is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    unattended && is_root && Path::new("/etc/debian_version").exists()
}
