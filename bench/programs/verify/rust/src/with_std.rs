//! `with-std PROGRAM SIZE`: one run, for `ravelin verify`.

mod arguments;
mod programs;

mod sync {
    pub use std::hint::spin_loop as spin;
    pub use std::sync::{Arc, Condvar, Mutex, atomic};
    pub use std::thread;

    /// Memory that is not atomic.
    pub struct PlainCell(std::cell::UnsafeCell<usize>);

    // SAFETY: whether threads exclude each other is what is checked.
    unsafe impl Sync for PlainCell {}

    impl PlainCell {
        pub fn new(value: usize) -> PlainCell {
            PlainCell(value.into())
        }

        pub fn read(&self) -> usize {
            // SAFETY: as above.
            unsafe { *self.0.get() }
        }

        pub fn write(&self, value: usize) {
            // SAFETY: as above.
            unsafe { *self.0.get() = value }
        }
    }
}

fn main() {
    let (program, size) = arguments::program();
    program(size);
}
