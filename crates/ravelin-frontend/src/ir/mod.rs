//! Textual LLVM IR, as clang and rustc write it, for [`crate::c`].
//!
//! [`read`] turns a text into a [`Module`] (LLVM 14 to 22, typed and opaque pointers). [`promote`](promote::promote) turns
//! local variables whose address is not taken into values, as LLVM's mem2reg does, and [`layout`] says how large types are.
//! Nothing here knows threads or memory models.

pub mod debug;
mod dominance;
pub mod layout;
mod lexer;
pub mod live;
pub mod module;
mod parser;
pub mod promote;
mod values;
mod verify;

use crate::Diagnostic;
use module::Module;

/// Reads a file of IR. What a module may contain and is not understood is read as unsupported; only what is not IR is an
/// error. Time and memory are linear in the text.
pub fn read(text: &str) -> Result<Module, Vec<Diagnostic>> {
    parser::read(text)
}
