//! `with-shuttle PROGRAM SIZE`: all executions that shuttle knows, depth first.

mod arguments;
mod programs;

mod sync {
    pub use shuttle::sync::{Arc, Condvar, Mutex, atomic};
    pub use shuttle::thread;
    pub use shuttle::thread::yield_now as spin;

    /// Memory that is not atomic. Shuttle does not look at it.
    pub struct PlainCell(std::cell::UnsafeCell<usize>);

    // SAFETY: whether threads exclude each other is what is checked; shuttle runs one at a time.
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
    arguments::check(|program| shuttle::check_dfs(program, None));
}
