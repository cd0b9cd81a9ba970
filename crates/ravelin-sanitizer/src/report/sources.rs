//! The source files that a report's stacks name, as far as they exist: pages show excerpts of them.

use super::{Report, WatchedAccess};
use ravelin_answer::sanitizer::Frame;
use std::io::Read;

/// Files beyond this number, and files larger than this, are omitted.
const MOST_FILES: usize = 60;
const LARGEST_FILE: u64 = 4 << 20;

impl Report {
    /// Names, as the stacks have them, and texts.
    pub fn sources(&self) -> Vec<(String, String)> {
        let of_access =
            |access: &'_ WatchedAccess| -> Vec<Frame> { [&access.stack[..], &access.thread.started].concat() };
        let found = self.findings.iter().flat_map(|finding| [&finding.access, &finding.other]).flat_map(of_access);
        let stuck = self.stuck.iter().flat_map(|stuck| &stuck.threads).flat_map(|blocked| blocked.stack.clone());
        let weak = self.weak.iter().flat_map(|weak| &weak.ends).flat_map(|end| &end.stale);
        let stale = weak.flat_map(|stale| of_access(&stale.access));
        let mut names: Vec<String> = Vec::new();
        for name in found.chain(stuck).chain(stale).filter_map(|frame| frame.file) {
            if names.len() < MOST_FILES && !names.contains(&name) {
                names.push(name);
            }
        }
        names.into_iter().filter_map(|name| read(&name).map(|text| (name, text))).collect()
    }
}

fn read(name: &str) -> Option<String> {
    let file = std::fs::File::open(name).ok()?;
    // A file that is not an ordinary one could block for ever.
    file.metadata().ok().filter(|about| about.is_file() && about.len() <= LARGEST_FILE)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
