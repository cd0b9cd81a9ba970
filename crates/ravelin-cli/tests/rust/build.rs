//! Runs on the host, where there is no runtime: it would not even link if it were instrumented.

use std::sync::atomic::{AtomicU32, Ordering};

fn main() {
    let number = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| number.fetch_add(1, Ordering::Relaxed));
    });
    println!("cargo::rustc-env=BUILT_BY={}", number.into_inner());
    println!("cargo::rerun-if-changed=build.rs");
}
