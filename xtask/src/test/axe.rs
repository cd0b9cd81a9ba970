//! Fetches axe-core, with which tests in a browser check that everybody can use a page. It is for tests only, and is
//! not a file of this repository: half a megabyte of other people's script.

use super::tools::may_fetch;
use crate::succeed;
use std::path::{Path, PathBuf};
use std::process::Command;

/// As in `crates/ravelin-cli/tests/browser/accessible.rs`.
const FOLDER: &str = "axe-core-4.10.3";
const ARCHIVE: &str = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz";
const SUM: &str = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb";

/// Where it is, or why it is not there.
pub fn fetch(target: &Path) {
    let script: PathBuf = target.join(FOLDER).join("axe.min.js");
    if !script.is_file() && may_fetch() {
        println!("trying to fetch {ARCHIVE}");
        let command = "set -e; mkdir -p \"$1\"; cd \"$1\"; \
                       curl -fsSL --max-time 60 \"$2\" | tar xz --strip-components=1 package/axe.min.js; \
                       echo \"$3  axe.min.js\" | sha256sum --check --quiet || { rm axe.min.js; exit 1; }";
        let folder = target.join(FOLDER);
        let words = ["-c", command, "sh", &folder.display().to_string(), ARCHIVE, SUM].map(str::to_owned);
        // Without a network there is still a lot to test, and skipped tests are counted.
        if let Err(error) = succeed(Command::new("sh").args(words)) {
            println!("{error:#}");
        }
    }
    match script.is_file() {
        true => println!("axe-core is there"),
        false => println!("axe-core is not there ({ARCHIVE}): not tested is whether everybody can use a page"),
    }
}
