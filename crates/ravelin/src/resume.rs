//! What a directory of checkpoints records about its search, so that the search can be resumed.
//!
//! Beside the parts of the explorations there is `run.json`: the command line, the version and fingerprints of the
//! programs. It is written once and never changed. Its own fingerprint is in every part, so parts of another search are
//! not mistaken for its own.

use crate::error::Error;
use ravelin_numbers::{FNV, fnv1a_from};
use ravelin_output::file::is_unfinished;
use ravelin_output::replace;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

const FILE: &str = "run.json";
const FORMAT: u64 = 1;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The record of a search that keeps checkpoints.
///
/// ```
/// use ravelin::SearchRecord;
///
/// let folder = std::env::temp_dir().join(format!("ravelin-record-{}", std::process::id()));
/// let record = SearchRecord::new(vec!["check".to_owned()], &[("sb.rav".into(), "thread p {}".to_owned())])?;
/// record.write(&folder)?;
/// let read = SearchRecord::read(&folder)?;
/// assert_eq!(read.fingerprint(), record.fingerprint());
/// assert_eq!(read.changed(|_| "thread q {}".to_owned()), Some("sb.rav".as_ref()));
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), ravelin::Error>(())
/// ```
#[derive(Debug)]
pub struct SearchRecord {
    content: Content,
    /// As it is in the file, whose fingerprint counts.
    text: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    ravelin_checkpoint: u64,
    version: String,
    command: Vec<String>,
    directory: PathBuf,
    files: Vec<File>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    path: PathBuf,
    fingerprint: u64,
}

impl SearchRecord {
    /// Records a search: the words of its command line, and the names and texts of its programs. The current directory
    /// is that of the search.
    pub fn new(command: Vec<String>, files: &[(PathBuf, String)]) -> Result<SearchRecord, Error> {
        let directory = std::env::current_dir().map_err(|error| wrong("cannot find the current directory", error))?;
        let file = |(path, text): &(PathBuf, String)| File { path: path.clone(), fingerprint: fingerprint([text]) };
        let content = Content {
            ravelin_checkpoint: FORMAT,
            version: VERSION.to_owned(),
            command,
            directory,
            files: files.iter().map(file).collect(),
        };
        let text = serde_json::to_string_pretty(&content).map_err(|error| wrong("cannot record the search", error))?;
        Ok(SearchRecord { content, text: text + "\n" })
    }

    /// Writes it to a directory that is new or empty.
    pub fn write(&self, directory: &Path) -> Result<(), Error> {
        let name = directory.display();
        let failed = |what: &str, error: io::Error| wrong(format!("cannot {what} `{name}`"), error);
        std::fs::create_dir_all(directory).map_err(|error| failed("make the directory", error))?;
        let path = directory.join(FILE);
        if path.exists() {
            return refused(format!("`{name}` holds a checkpoint already; `ravelin resume {name}` resumes it"));
        }
        let entries = std::fs::read_dir(directory).map_err(|error| failed("read", error))?;
        if entries.flatten().any(|entry| !is_unfinished(&entry.path())) {
            return refused(format!("`{name}` is not empty; name a new directory for checkpoints"));
        }
        replace(&path, &self.text).map_err(|error| wrong(format!("cannot write `{}`", path.display()), error))
    }

    /// Reads it from a directory. Only the version that wrote it can resume the search.
    pub fn read(directory: &Path) -> Result<SearchRecord, Error> {
        let path = directory.join(FILE);
        let name = path.display();
        let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Error::Question(format!("`{}` holds no checkpoint: there is no {FILE} in it", directory.display()))
            }
            _ => wrong(format!("cannot read `{name}`"), error),
        })?;
        let damaged = |error| wrong(format!("`{name}` is damaged"), error);
        /// The part that every version writes.
        #[derive(Deserialize)]
        struct Heading {
            ravelin_checkpoint: Option<u64>,
            version: Option<String>,
        }
        let heading: Heading = serde_json::from_str(&text).map_err(damaged)?;
        match (heading.ravelin_checkpoint, heading.version.as_deref()) {
            (None, _) => refused(format!("`{name}` does not belong to a checkpoint")),
            (Some(FORMAT), Some(VERSION)) => {
                Ok(SearchRecord { content: serde_json::from_str(&text).map_err(damaged)?, text })
            }
            (Some(FORMAT), version) => refused(format!(
                "the checkpoint was made by ravelin {}, and this is {VERSION}; only the same version can resume it",
                version.unwrap_or("of another version")
            )),
            (Some(other), _) => {
                refused(format!("`{name}` has version {other} of the format; this program reads {FORMAT}"))
            }
        }
    }

    /// Identifies the search.
    pub fn fingerprint(&self) -> u64 {
        fingerprint([&self.text])
    }

    /// The words of the command line.
    pub fn command(&self) -> &[String] {
        &self.content.command
    }

    /// The directory in which the search ran.
    pub fn directory(&self) -> &Path {
        &self.content.directory
    }

    /// The first program whose text is no longer that of the search.
    pub fn changed(&self, text: impl Fn(&Path) -> String) -> Option<&Path> {
        let changed = |file: &&File| file.fingerprint != fingerprint([text(&file.path)]);
        self.content.files.iter().find(changed).map(|file| file.path.as_path())
    }
}

/// A number for a list of texts: FNV-1a, which is the same everywhere. It detects mistakes, not attacks.
pub fn fingerprint(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> u64 {
    let mut hash = FNV;
    for part in parts {
        let bytes = part.as_ref();
        // The length separates the parts.
        let length = (bytes.len() as u64).to_le_bytes();
        hash = fnv1a_from(hash, length.into_iter().chain(bytes.iter().copied()));
    }
    hash
}

fn wrong(what: impl Display, error: impl Display) -> Error {
    Error::Question(format!("{what}: {error}"))
}

fn refused<T>(why: String) -> Result<T, Error> {
    Err(Error::Question(why))
}
