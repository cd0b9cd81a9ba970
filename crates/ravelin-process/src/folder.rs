//! A folder for what another program reads and writes, removed when it is dropped.

use std::io;
use std::path::{Path, PathBuf};

/// A new folder below the system's folder for temporary files.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// `purpose` is part of its name.
    pub fn new(purpose: &str) -> io::Result<TemporaryFolder> {
        let process = std::process::id();
        for number in 0..1000 {
            let path = std::env::temp_dir().join(format!("ravelin-{purpose}-{process}-{number}"));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(TemporaryFolder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
            }
        }
        Err(io::Error::other("there is no room for a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // An error here has no reader.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_distinct_and_removed() {
        let one = TemporaryFolder::new("test").expect("a folder");
        let other = TemporaryFolder::new("test").expect("a folder");
        assert_ne!(one.path(), other.path());
        let path = one.path().to_owned();
        std::fs::write(path.join("file"), "text").expect("a file");
        drop(one);
        assert!(!path.exists() && other.path().exists());
    }
}
