//! A package that is not part of the workspace depends on `ravelin` by path, as a user's would, and its tests pass.

use std::path::Path;
use std::process::Command;

#[test]
fn a_package_outside_of_the_workspace_uses_the_library() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    std::fs::create_dir_all(folder.join("models")).expect("a folder");
    let manifest = std::fs::read_to_string(here.join("tests/outside/package.toml")).expect("a manifest");
    std::fs::write(folder.join("Cargo.toml"), manifest.replace("PATH", &here.display().to_string())).expect("written");
    for (from, to) in [
        (here.join("tests/outside/src/lib.rs"), "src/lib.rs"),
        (root.join("examples/sb-fenced.rav"), "models/sb-fenced.rav"),
        (root.join("examples/sb.rav"), "models/sb.rav"),
        // The versions that are here, so that nothing is asked of a network.
        (root.join("Cargo.lock"), "Cargo.lock"),
    ] {
        std::fs::copy(&from, folder.join(to)).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Where the workspace is built, so that only crates of the workspace are compiled once more: they are the same
    // crates to Cargo only within one workspace.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder of the target");
    let mut command = Command::new(cargo);
    command.args(["test", "--offline", "--quiet"]).current_dir(&folder).env("CARGO_TARGET_DIR", target);
    let output = command.output().expect("cargo runs");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(said.contains("3 passed"), "{said}");
}
