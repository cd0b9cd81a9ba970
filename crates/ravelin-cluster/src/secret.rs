//! The secret that the processes of a run share, and the proofs that they make with it.
//!
//! A proof is an HMAC-SHA-256 with the secret as its key. It covers the prover, the receiver, the claim and both sides'
//! nonces (`handshake.rs`). Proofs are compared in constant time. Without a secret the key is empty: proofs then only
//! show that both sides agree.

use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Bytes of a proof.
pub(crate) const PROOF: usize = 32;
/// Bytes of a nonce.
pub(crate) const NONCE: usize = 32;
/// A shorter secret could be guessed from an intercepted handshake.
const SHORTEST: usize = 16;

/// Known only to the processes of a run.
#[derive(Clone, Default)]
pub struct Secret {
    key: Vec<u8>,
}

/// Why a secret is refused.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the secret has {0} bytes; it needs at least {SHORTEST}, for instance those of `openssl rand -hex 32`")]
    TooShort(usize),
    #[error("users other than its owner can access the secret in this file (mode {0:o}); run `chmod 600` on it")]
    Readable(u32),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Secret {
    /// White space at both ends is ignored.
    pub fn new(text: &[u8]) -> Result<Secret, SecretError> {
        let key = text.trim_ascii().to_vec();
        if key.len() < SHORTEST { Err(SecretError::TooShort(key.len())) } else { Ok(Secret { key }) }
    }

    /// From a file that only its owner may read or write.
    pub fn read(path: &Path) -> Result<Secret, SecretError> {
        let mut file = std::fs::File::open(path)?;
        let mode = file.metadata()?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(SecretError::Readable(mode & 0o777));
        }
        let mut text = Vec::new();
        io::Read::read_to_end(&mut file, &mut text)?;
        Secret::new(&text)
    }

    /// Proves the parts. They have fixed lengths, so their concatenation is unambiguous.
    pub(crate) fn proof(&self, parts: &[&[u8]]) -> [u8; PROOF] {
        self.mac(parts).finalize().into_bytes().into()
    }

    /// Whether a proof is one for these parts, in constant time.
    pub(crate) fn is_proof(&self, proof: &[u8], parts: &[&[u8]]) -> bool {
        self.mac(parts).verify_slice(proof).is_ok()
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let Ok(mut mac) = <Hmac<Sha256> as Mac>::new_from_slice(&self.key) else {
            unreachable!("a key of HMAC has any length")
        };
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
}

/// The secret is never printed, not even in an internal error.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Bytes that were never used before.
pub(crate) fn nonce() -> io::Result<[u8; NONCE]> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_long_enough_and_for_its_owner_only() {
        assert!(matches!(Secret::new(b" fifteen bytes..\n"), Err(SecretError::TooShort(15))));
        let path = std::env::temp_dir().join(format!("ravelin-secret-{}", std::process::id()));
        std::fs::write(&path, "a secret of some length\n").unwrap();
        for (mode, is_taken) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o644, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let read = Secret::read(&path);
            assert_eq!(read.is_ok(), is_taken, "{mode:o}");
            if let Err(error) = read {
                assert!(error.to_string().contains(&format!("mode {mode:o}")), "{error}");
            }
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_proof_is_of_its_key_and_its_parts() {
        let [one, other] =
            ["the first of the keys", "the second of the keys"].map(|text| Secret::new(text.as_bytes()).unwrap());
        let proof = one.proof(&[b"a", b"b"]);
        assert!(one.is_proof(&proof, &[b"a", b"b"]));
        assert!(!one.is_proof(&proof, &[b"b", b"a"]) && !other.is_proof(&proof, &[b"a", b"b"]));
        assert!(!one.is_proof(&proof[..31], &[b"a", b"b"]));
        assert!(!format!("{one:?}").contains("first"));
    }
}
