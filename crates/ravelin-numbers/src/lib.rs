//! Numbers that a seed or a text determines, the same on every machine and in every version.
//!
//! What is written down depends on them: schedules and walks are repeated from their seeds, random programs of tests are named by
//! theirs, and documents, checkpoints and paths are recognised by their hashes. They detect mistakes, not attacks. Tables in memory use
//! rustc-hash instead, which is faster and may change.
//!
//! This crate depends on nothing, because the runtime that is linked into watched programs needs it.

mod random;

pub use random::{Random, mixed};

/// The hash of no bytes: where [`fnv1a_from`] begins.
pub const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// 64 bits of FNV-1a.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    fnv1a_from(FNV, bytes)
}

/// The hash of some bytes after those that have this hash.
pub fn fnv1a_from(hash: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that the authors of FNV publish.
    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv1a([]), FNV);
        assert_eq!(fnv1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fnv1a_from(fnv1a(*b"foo"), *b"bar"), fnv1a(*b"foobar"));
    }
}
