//! Text to compress: words of a made-up language, the same on every machine.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

const WORDS: u64 = 4096;

/// A file with so many bytes of it in a folder; written if it is not there yet.
pub fn file(folder: &Path, bytes: u64) -> Result<PathBuf> {
    let path = folder.join(format!("{bytes}.txt"));
    if !path.exists() {
        std::fs::create_dir_all(folder)?;
        ravelin_output::replace(&path, text(bytes)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(path)
}

fn text(bytes: u64) -> Vec<u8> {
    let mut seed = 1_u64;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut words = Vec::new();
    for _ in 0..WORDS {
        let length = 2 + next(9);
        words.push((0..length).map(|_| b'a' + next(26) as u8).collect::<Vec<u8>>());
    }
    let mut text = Vec::with_capacity(bytes as usize + 16);
    while (text.len() as u64) < bytes {
        // The product makes some words frequent, as in a language.
        let word = next(WORDS) * next(WORDS) / WORDS;
        text.extend_from_slice(&words[word as usize]);
        text.push(if next(12) == 0 { b'\n' } else { b' ' });
    }
    text.truncate(bytes as usize);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_text_begins_with_the_shorter_one() {
        let (short, long) = (text(1000), text(4000));
        assert_eq!((short.len(), long.len()), (1000, 4000));
        assert!(long.starts_with(&short));
        assert!(long.iter().all(|byte| byte.is_ascii_lowercase() || b" \n".contains(byte)));
    }
}
