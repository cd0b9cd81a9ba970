//! A procedural macro that uses atomics: it is loaded by rustc, where there is no runtime.

use proc_macro::TokenStream;
use std::sync::atomic::{AtomicU32, Ordering};

static CALLED: AtomicU32 = AtomicU32::new(0);

/// How often it was called.
#[proc_macro]
pub fn called(_: TokenStream) -> TokenStream {
    let times = CALLED.fetch_add(1, Ordering::Relaxed) + 1;
    times.to_string().parse().expect("a number")
}
