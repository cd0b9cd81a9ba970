//! What the programs share: threads that run in a fixed order which the sanitizer does not see, and orders by name.
//!
//! The order is real, but nothing in the program enforces it, so a run is reproducible and a finding is still a finding.

use std::arch::asm;
use std::sync::atomic::Ordering;

static TURN: Hidden = Hidden::new();

/// A number that is accessed in a way no compiler instruments.
pub struct Hidden(std::cell::UnsafeCell<u32>);

// SAFETY: only accessed by single instructions.
unsafe impl Sync for Hidden {}

impl Hidden {
    pub const fn new() -> Hidden {
        Hidden(std::cell::UnsafeCell::new(0))
    }

    pub fn get(&self) -> u32 {
        let value: u32;
        // SAFETY: a load of this number.
        unsafe { asm!("mov {:e}, dword ptr [{}]", out(reg) value, in(reg) self.0.get(), options(nostack)) };
        value
    }

    pub fn add(&self) {
        // SAFETY: an atomic increment of this number.
        unsafe { asm!("lock inc dword ptr [{}]", in(reg) self.0.get(), options(nostack)) };
    }

    pub fn wait_for(&self, value: u32) {
        while self.get() < value {
            std::thread::yield_now();
        }
    }
}

impl Default for Hidden {
    fn default() -> Hidden {
        Hidden::new()
    }
}

/// Runs the functions in threads of their own, one after the other.
pub fn in_turns<F: FnOnce() + Send + 'static>(functions: Vec<F>) {
    for thread in start(functions) {
        thread.join().expect("no turn panics");
    }
}

/// The same if the last one blocks for ever: the program ends while it waits.
pub fn in_turns_last_blocks<F: FnOnce() + Send + 'static>(functions: Vec<F>) {
    let last = functions.len() as u32 - 1;
    start(functions);
    TURN.wait_for(last);
    std::thread::sleep(std::time::Duration::from_millis(100));
    std::process::exit(0);
}

fn start<F: FnOnce() + Send + 'static>(functions: Vec<F>) -> Vec<std::thread::JoinHandle<()>> {
    let turn = |(number, function): (usize, F)| {
        std::thread::spawn(move || {
            TURN.wait_for(number as u32);
            function();
            TURN.add();
        })
    };
    functions.into_iter().enumerate().map(turn).collect()
}

/// Runs a function in several threads that start together.
pub fn at_once(count: u32, function: impl Fn(usize) + Sync) {
    let arrived = Hidden::new();
    std::thread::scope(|scope| {
        for me in 0..count {
            let (arrived, function) = (&arrived, &function);
            scope.spawn(move || {
                arrived.add();
                arrived.wait_for(count);
                function(me as usize);
            });
        }
    });
}

/// The argument with this number; empty if there is none.
pub fn argument(number: usize) -> String {
    std::env::args().nth(number).unwrap_or_default()
}

/// The order that an argument names.
pub fn order(name: &str) -> Ordering {
    match name {
        "relaxed" => Ordering::Relaxed,
        "acquire" => Ordering::Acquire,
        "release" => Ordering::Release,
        "acq_rel" => Ordering::AcqRel,
        "seq_cst" => Ordering::SeqCst,
        other => panic!("{other} is no order"),
    }
}

/// Left to the host: the build script and the macro ran there.
pub fn built() -> (&'static str, u32) {
    (env!("BUILT_BY"), macros::called!())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering::*};

    static X: AtomicU32 = AtomicU32::new(0);
    static Y: AtomicU32 = AtomicU32::new(0);
    static DONE: AtomicU32 = AtomicU32::new(0);

    #[test]
    fn store_buffering() {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                X.store(1, Release);
                Y.load(Acquire);
                // The second thread begins here, but knows nothing by it: if both stores came first, both loads would
                // find what was stored, and nothing could be found.
                DONE.store(1, Relaxed);
            });
            scope.spawn(|| {
                while DONE.load(Relaxed) == 0 {
                    std::thread::yield_now();
                }
                Y.store(1, Release);
                X.load(Acquire)
            });
        });
        assert_eq!(super::built(), ("1", 1));
    }

    #[test]
    fn locks() {
        let sum = Mutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *sum.lock().unwrap() += 1));
            }
        });
        assert_eq!(sum.into_inner().unwrap(), 4000);
    }
}
