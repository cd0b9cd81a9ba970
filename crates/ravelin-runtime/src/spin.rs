//! A lock that works anywhere in the runtime. It does not allocate, and calls the C library only to yield the
//! processor.

use crate::kernel;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

/// How often a thread tries a held lock before it yields.
const PATIENCE: u32 = 64;

/// The bare lock.
#[derive(Default)]
pub struct RawSpin(AtomicU32);

impl RawSpin {
    /// An open lock.
    pub const fn new() -> RawSpin {
        RawSpin(AtomicU32::new(0))
    }

    /// Waits until it is open and closes it.
    #[inline(always)]
    pub fn lock(&self) {
        if self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
    }

    /// Closes it if it is open, and returns whether it was.
    pub fn try_lock(&self) -> bool {
        self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Opens it.
    #[inline(always)]
    pub fn unlock(&self) {
        self.0.store(0, Ordering::Release);
    }

    #[cold]
    fn wait(&self) {
        let mut spins = 0;
        loop {
            if self.0.load(Ordering::Relaxed) == 0
                && self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return;
            }
            pause(&mut spins);
        }
    }
}

/// Waits a little, and longer when called again.
pub fn pause(spins: &mut u32) {
    *spins += 1;
    if *spins < PATIENCE {
        std::hint::spin_loop();
    } else {
        kernel::yield_now();
    }
}

/// Data protected by a spin lock.
pub struct Spin<T> {
    raw: RawSpin,
    data: UnsafeCell<T>,
}

// SAFETY: the data is reached only through a guard, and there is one guard at a time.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    /// An open lock around `data`.
    pub const fn new(data: T) -> Spin<T> {
        Spin { raw: RawSpin::new(), data: UnsafeCell::new(data) }
    }

    /// Waits for the lock.
    pub fn lock(&self) -> SpinGuard<'_, T> {
        self.raw.lock();
        SpinGuard(self)
    }

    /// The lock, if it is open.
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        self.raw.try_lock().then(|| SpinGuard(self))
    }

    /// Waits for the lock and keeps it closed until [`Spin::open`], in this process and in one that is forked meanwhile.
    pub fn close(&self) {
        self.raw.lock();
    }

    /// Opens the lock.
    ///
    /// # Safety
    /// The calling thread has closed it, or the thread that did does not exist in this process.
    pub unsafe fn open(&self) {
        self.raw.unlock();
    }
}

/// Opens the lock when dropped.
pub struct SpinGuard<'a, T>(&'a Spin<T>);

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so this thread holds the lock.
        unsafe { &*self.0.data.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard exists, so this thread holds the lock, and the guard is borrowed mutably.
        unsafe { &mut *self.0.data.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    fn drop(&mut self) {
        self.0.raw.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_holds_the_lock() {
        const TIMES: u64 = 5_000;
        let sum = Spin::new([0_u64; 2]);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..TIMES {
                        let mut sum = sum.lock();
                        assert_eq!(sum[0], sum[1], "somebody is in the middle of a change");
                        sum[0] += 1;
                        sum[1] += 1;
                    }
                });
            }
        });
        assert_eq!(*sum.lock(), [3 * TIMES; 2]);
    }

    #[test]
    fn nobody_gets_the_lock_while_another_holds_it() {
        let (lock, begun) = (Spin::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            let guard = lock.lock();
            scope.spawn(|| {
                begun.store(1, Ordering::Relaxed);
                *lock.lock() = 1;
            });
            while begun.load(Ordering::Relaxed) == 0 {
                kernel::yield_now();
            }
            for _ in 0..1_000 {
                kernel::yield_now();
                // SAFETY: the lock is held. Volatile, because another thread would write it if it were not.
                assert_eq!(unsafe { lock.data.get().read_volatile() }, 0);
            }
            drop(guard);
        });
        assert_eq!(*lock.lock(), 1);
    }

    #[test]
    fn the_lock_is_open_again_when_the_guard_is_gone() {
        let lock = Spin::new(1);
        *lock.lock() += 1;
        assert_eq!(lock.raw.0.load(Ordering::Relaxed), 0);
        let guard = lock.lock();
        assert_eq!(lock.raw.0.load(Ordering::Relaxed), 1);
        assert_eq!(*guard, 2);
    }

    #[test]
    fn a_thread_that_pauses_often_still_counts_its_pauses() {
        let mut spins = 0;
        for _ in 0..PATIENCE + 3 {
            pause(&mut spins);
        }
        assert_eq!(spins, PATIENCE + 3);
    }
}
