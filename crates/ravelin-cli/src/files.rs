//! Files that the command line names: answers, proofs and programs are written to them as a whole or not at all.

use anyhow::{Context, bail};
use ravelin_output::replace;
use std::path::Path;

/// Writes a file.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> anyhow::Result<()> {
    replace(path, contents).with_context(|| path.display().to_string())
}

/// Writes a certificate, if one could be made.
pub fn write_certificate(path: &Path, certificate: Option<String>) -> anyhow::Result<()> {
    match certificate {
        Some(certificate) => write(path, certificate),
        None => bail!("no certificate could be made within the limits"),
    }
}
