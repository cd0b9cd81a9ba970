//! `ravelin doctor`: what works, what is missing, and what is there and does not work.

use crate::running::{code, interruptible};
use crate::workshop::Workshop;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// With these folders for programs.
fn doctor(path: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    for variable in ["RAVELIN_CLANG", "RAVELIN_CC", "RAVELIN_CXX"] {
        command.env_remove(variable);
    }
    command.arg("doctor").env("PATH", path).output().expect("the program ends")
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[test]
fn without_tools_models_work_and_the_rest_is_missing() {
    let folder = Workshop::new("doctor-empty");
    let output = doctor(&folder.0);
    let text = said(&output);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(text.contains("works    models\n"), "{text}");
    for what in ["C files as models", "sanitizer for C, with gcc", "sanitizer for C++", "sanitizer for Rust"] {
        assert!(text.contains(&format!("missing  {what}\n")), "{what}: {text}");
    }
    assert!(text.contains("apt-get install clang"), "{text}");
}

#[test]
fn tools_that_do_not_work_are_found() {
    let folder = Workshop::new("doctor-broken");
    let gcc = folder.0.join("gcc");
    std::fs::write(&gcc, "#!/bin/sh\necho no room \u{1b}[31m >&2\nexit 4\n").expect("a file");
    std::fs::set_permissions(&gcc, PermissionsExt::from_mode(0o755)).expect("a program");
    let output = doctor(&folder.0);
    let text = said(&output);
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(text.contains("fails    sanitizer for C, with gcc"), "{text}");
    assert!(text.contains("ended with 4 instead of 0:\n"), "{text}");
    assert!(text.contains("no room") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn what_is_installed_here_works() {
    let output = Command::new(env!("CARGO_BIN_EXE_ravelin")).arg("doctor").output().expect("the program ends");
    let text = said(&output);
    assert_eq!(code(&output), 0, "{text}");
    assert!(!text.contains("fails"), "{text}");
}

#[test]
fn a_signal_ends_it() {
    let folder = Workshop::new("doctor-slow");
    let gcc = folder.0.join("gcc");
    std::fs::write(&gcc, "#!/bin/sh\nexec /bin/sleep 1000\n").expect("a file");
    std::fs::set_permissions(&gcc, PermissionsExt::from_mode(0o755)).expect("a program");
    let child = interruptible_doctor(&folder.0);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(code(&output), 3, "{output:?}");
}

/// Interrupted as soon as it has said what works first.
fn interruptible_doctor(path: &Path) -> std::process::Child {
    use std::io::Read;
    use std::process::Stdio;
    let mut command = interruptible();
    let whole = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = vec![path.to_owned()];
    folders.extend(std::env::split_paths(&whole));
    command.env("PATH", std::env::join_paths(folders).expect("a path"));
    let mut child = command.arg("doctor").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut first = [0; 8];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("a line");
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    child
}
