//! How large types are and where their parts lie, on x86-64 Linux.

use super::module::{Module, Type};

impl Module {
    /// The size in bytes, padding included; `None` for types that are not in memory or larger than 2^40 bytes.
    pub fn size_of(&self, _ty: &Type) -> Option<u64> {
        None
    }

    /// Where a field of a struct begins, and its type.
    pub fn field(&self, _ty: &Type, _index: usize) -> Option<(u64, &Type)> {
        None
    }
}
