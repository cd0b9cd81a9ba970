//! `with-loom PROGRAM SIZE`: all executions that loom knows.

mod arguments;
mod programs;

mod sync {
    pub use loom::sync::{Arc, Condvar, Mutex, atomic};
    pub use loom::thread;
    pub use loom::thread::yield_now as spin;

    /// Memory that is not atomic; loom looks for data races.
    pub struct PlainCell(loom::cell::UnsafeCell<usize>);

    // SAFETY: whether threads exclude each other is what is checked.
    unsafe impl Sync for PlainCell {}

    impl PlainCell {
        pub fn new(value: usize) -> PlainCell {
            PlainCell(loom::cell::UnsafeCell::new(value))
        }

        pub fn read(&self) -> usize {
            // SAFETY: as above.
            self.0.with(|value| unsafe { *value })
        }

        pub fn write(&self, value: usize) {
            // SAFETY: as above.
            self.0.with_mut(|place| unsafe { *place = value })
        }
    }
}

fn main() {
    arguments::check(|program| loom::model(program));
}
