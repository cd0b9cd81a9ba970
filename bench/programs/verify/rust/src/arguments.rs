//! `PROGRAM SIZE`, and what loom and shuttle print: `executions N`, and `fails: MESSAGE` if one fails.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The program and the size that the command names.
pub fn program() -> (fn(usize), usize) {
    let mut words = std::env::args().skip(1);
    let program = words.next().and_then(|name| crate::programs::named(&name));
    let size = words.next().and_then(|size| size.parse().ok());
    program.zip(size).unwrap_or_else(|| {
        eprintln!("usage: PROGRAM SIZE");
        std::process::exit(2)
    })
}

/// Counts what a checker executes and prints what it says.
#[allow(dead_code, reason = "with std there is no checker")]
pub fn check(checker: impl FnOnce(Box<dyn Fn() + Send + Sync>)) {
    static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
    let (program, size) = program();
    let counted = move || {
        EXECUTIONS.fetch_add(1, Relaxed);
        program(size);
    };
    std::panic::set_hook(Box::new(|_| {}));
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| checker(Box::new(counted))));
    println!("executions {}", EXECUTIONS.load(Relaxed));
    if let Err(reason) = ended {
        let text = reason.downcast_ref::<String>().cloned();
        let text = text.or_else(|| reason.downcast_ref::<&str>().map(|&text| text.to_owned()));
        println!("fails: {}", text.unwrap_or_default().lines().next().unwrap_or_default());
    }
}
