//! A command that prepares a measurement (a compiler, a package manager): its output if it succeeds, and its end if the
//! benchmark is interrupted.

use super::group::{end_group, end_with_parent};
use anyhow::{Context, Result, bail, ensure};
use ravelin_process::interrupt::is_asked;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often is looked whether it ended.
const LOOK: Duration = Duration::from_millis(5);

/// As much of what a command complained about as an error shows.
const COMPLAINT: usize = 600;

/// Runs the command and gives what it prints. The error has the end of what it complained about.
pub fn succeeds(command: &mut Command) -> Result<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = end_with_parent(command, libc::SIGKILL).spawn().with_context(|| shown(command))?;
    let (output, complaints) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let output = scope.spawn(move || all_of(output));
        let complaints = scope.spawn(move || all_of(complaints));
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if is_asked() {
                end_group(child.id() as libc::pid_t, libc::SIGKILL);
                child.wait()?;
                bail!("interrupted");
            }
            std::thread::sleep(LOOK);
        };
        let [output, complaints] = [output, complaints].map(|reader| reader.join().unwrap_or_default());
        ensure!(status.success(), "{}: {status}: {}", shown(command), end_of(&complaints));
        Ok(output)
    })
}

fn all_of(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is still worth showing.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The program and its first words; compilers get hundreds.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()];
    words.extend(command.get_args().take(4).map(|word| word.to_string_lossy().into_owned()));
    if command.get_args().len() > 4 {
        words.push("…".to_owned());
    }
    format!("`{}`", words.join(" "))
}

fn end_of(text: &str) -> String {
    let text = text.trim();
    let from = text.char_indices().rev().nth(COMPLAINT).map_or(0, |(place, _)| place);
    text[from..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gives_its_output_or_its_complaint() {
        let shell = |script: &str| succeeds(Command::new("sh").args(["-c", script]));
        assert_eq!(shell("echo a; echo b >&2").unwrap(), "a\n");
        let error = shell("echo reason >&2; exit 3").unwrap_err().to_string();
        assert!(error.contains("reason") && error.contains("sh -c"), "{error}");
        let error = succeeds(&mut Command::new("/no/such/program")).unwrap_err().to_string();
        assert!(error.contains("`program`"), "{error}");
    }

    #[test]
    fn long_texts_are_cut_at_their_beginning() {
        let text = "ä".repeat(COMPLAINT * 2) + "end";
        assert!(end_of(&text).ends_with("end") && end_of(&text).chars().count() <= COMPLAINT + 1);
        assert_eq!(end_of(" short\n"), "short");
    }
}
