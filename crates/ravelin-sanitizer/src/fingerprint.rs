//! A hash of a program's file, by which reports and saved searches recognise it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A hash of a file's contents, by which a report recognises the program; 0 if it cannot be read. It is made of words
/// instead of bytes, and the file is read in parts: programs may be large, and every report has it.
pub fn fingerprint(file: &Path) -> u64 {
    const PART: usize = 1 << 16;
    let Ok(mut file) = File::open(file) else { return 0 };
    let mut part = Vec::with_capacity(PART);
    let mut hash = 0_u64;
    loop {
        part.clear();
        match file.by_ref().take(PART as u64).read_to_end(&mut part) {
            // With the length of the last part, files that differ by zeroes at the end are distinguished.
            Ok(0) => return hash,
            Ok(length) => {
                hash = mixed(hash, length as u64);
                for word in part.chunks(8) {
                    let mut bytes = [0; 8];
                    bytes[..word.len()].copy_from_slice(word);
                    hash = mixed(hash, u64::from_le_bytes(bytes));
                }
            }
            Err(_) => return 0,
        }
    }
}

/// One step of a hash: both halves of the product, so that every bit of a word reaches every bit of the hash.
fn mixed(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash.rotate_left(23) ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xff51_afd7_ed55_8ccd;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn fingerprints_tell_files_apart() {
        let path = std::env::temp_dir().join(format!("ravelin-fingerprint-{}", std::process::id()));
        let of = |contents: &[u8]| {
            std::fs::write(&path, contents).expect("a file");
            fingerprint(&path)
        };
        let long: Vec<u8> = (0..200_003_u32).map(|byte| (byte % 251) as u8).collect();
        let mut contents =
            vec![Vec::new(), vec![0], vec![0; 7], vec![0; 8], vec![0; 9], vec![0; 1 << 16], long.clone()];
        contents.push([&long[..], &[0]].concat());
        contents.push(long[1..].to_vec());
        // Every bit counts, in all parts.
        for at in [0, 7, 8, 65_535, 65_536, 131_072, 200_000, 200_002] {
            for bit in 0..8 {
                let mut other = long.clone();
                other[at] ^= 1 << bit;
                contents.push(other);
            }
        }
        let hashes: BTreeSet<u64> = contents.iter().map(|contents| of(contents)).collect();
        assert_eq!(hashes.len(), contents.len());
        assert_eq!(of(&long), of(&long));
        std::fs::remove_file(&path).expect("the file");
        assert_eq!(fingerprint(&path), 0);
    }
}
