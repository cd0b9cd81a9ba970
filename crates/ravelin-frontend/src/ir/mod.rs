//! Textual LLVM IR, as clang and rustc write it, for [`crate::c`].
//!
//! [`read`] turns a text into a [`Module`] (LLVM 14 to 19, typed and opaque pointers). [`promote`](promote::promote) turns
//! local variables whose address is not taken into values, as LLVM's mem2reg does, and [`layout`] says how large types are.
//! Nothing here knows threads or memory models.

pub mod debug;
pub mod layout;
pub mod live;
pub mod module;
pub mod promote;
