//! stateright on the same spaces. It lives in a package of its own, `bench/stateright`, outside the workspace, so that its
//! dependencies are fetched only for this benchmark.

use crate::measure::{timed, wall_time};
use crate::rival::Rival;
use anyhow::{Context, Result, bail};

/// Builds the package; without a network it may not be there to build.
pub fn prepare(space: &[String; 2]) -> Result<Rival> {
    let directory = crate::root().join("bench").join("stateright");
    let mut command = crate::cargo();
    command.args(["build", "--quiet", "--release"]).current_dir(&directory);
    // Beside the workspace's own, wherever that is.
    let target = crate::target().join("stateright");
    command.env("CARGO_TARGET_DIR", &target);
    let (output, compiled_in) = timed(wall_time, || command.output());
    let output = output.context("not installed")?;
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        bail!("not installed");
    }
    let program = target.join("release").join("stateright-spaces");
    let command = format!("'{}' {} {}", program.display(), space[0], space[1]);
    Ok(Rival { directory, command, compiled_in, states, temporary: false })
}

/// From its last line, `states 611765`.
fn states(report: &str) -> Option<u64> {
    report.lines().find_map(|line| line.strip_prefix("states ")?.parse().ok())
}
