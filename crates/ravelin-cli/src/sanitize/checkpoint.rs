//! The file of `ravelin verify --checkpoint`: what is left of the exploration, and the command line, so that `ravelin resume`
//! can make the command again.
//!
//! A first line, the number of bytes of the texts, the texts with a zero byte after each, and then words of 64 bits. The
//! first text is the directory in which the command was made.

use anyhow::Context;
use ravelin_sanitizer::verify::NotResumable;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const FIRST_LINE: &[u8] = b"ravelin verify checkpoint 2\n";

pub struct VerifyCheckpoint {
    pub directory: PathBuf,
    /// The words after `ravelin`.
    pub command: Vec<OsString>,
    pub rest: Vec<u64>,
}

impl VerifyCheckpoint {
    /// For the command line of this process, with nothing left.
    pub fn of_this_command() -> anyhow::Result<VerifyCheckpoint> {
        let directory = std::env::current_dir()?;
        Ok(VerifyCheckpoint { directory, command: std::env::args_os().skip(1).collect(), rest: Vec::new() })
    }

    /// What is in a file; `None` if there is no file.
    pub fn read(file: &Path) -> anyhow::Result<Option<VerifyCheckpoint>> {
        match std::fs::read(file) {
            Ok(bytes) => {
                let checkpoint = VerifyCheckpoint::of(&bytes).ok_or(NotResumable::NotACheckpoint);
                Ok(Some(checkpoint.with_context(|| file.display().to_string())?))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| file.display().to_string()),
        }
    }

    /// The content of the file with what is left now.
    pub fn with_rest(&self, rest: &[u64]) -> Vec<u8> {
        let mut texts = Vec::new();
        for text in [self.directory.as_os_str()].into_iter().chain(self.command.iter().map(OsString::as_os_str)) {
            texts.extend(text.as_bytes());
            texts.push(0);
        }
        let mut bytes = FIRST_LINE.to_vec();
        bytes.extend((texts.len() as u64).to_le_bytes());
        bytes.extend(texts);
        bytes.extend(rest.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    fn of(bytes: &[u8]) -> Option<VerifyCheckpoint> {
        let (length, bytes) = bytes.strip_prefix(FIRST_LINE)?.split_first_chunk::<8>()?;
        let (texts, bytes) = bytes.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let texts = texts.strip_suffix(&[0])?;
        let mut texts = texts.split(|&byte| byte == 0).map(|text| OsStr::from_bytes(text).to_owned());
        let directory = PathBuf::from(texts.next()?);
        let (words, []) = bytes.as_chunks::<8>() else { return None };
        let rest = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Some(VerifyCheckpoint { directory, command: texts.collect(), rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_no_checkpoints() {
        let checkpoint =
            VerifyCheckpoint { directory: PathBuf::from("/"), command: vec!["a b".into()], rest: Vec::new() };
        let mut whole = checkpoint.with_rest(&[7]);
        let read = VerifyCheckpoint::of(&whole).expect("a checkpoint");
        assert_eq!((read.directory, read.rest), (PathBuf::from("/"), vec![7]));
        assert_eq!(read.command, ["a b"]);
        assert!(
            (0..whole.len())
                .filter(|&length| length != whole.len() - 8)
                .all(|length| VerifyCheckpoint::of(&whole[..length]).is_none())
        );
        whole[FIRST_LINE.len() + 7] = 0xff;
        assert!(VerifyCheckpoint::of(&whole).is_none());
    }
}
