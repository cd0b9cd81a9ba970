//! A lock that works anywhere in the runtime: no allocation, no calls into the C library but to give up the processor.

use crate::kernel;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

/// How often a thread looks at a taken lock before it lets others run.
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

/// Data behind a spin lock.
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
    pub fn lock(&self) -> Guard<'_, T> {
        self.raw.lock();
        Guard(self)
    }
}

/// Opens the lock when dropped.
pub struct Guard<'a, T>(&'a Spin<T>);

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so the lock is closed by us.
        unsafe { &*self.0.data.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard exists, so the lock is closed by us, and the guard is borrowed mutably.
        unsafe { &mut *self.0.data.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.0.raw.unlock();
    }
}
