//! Markers for waiting loops and compare-exchanges.

use crate::runtime::{Function, other};
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize, Ordering,
};

/// An atomic, of the standard library or of this crate.
pub trait Atomic {
    /// What it holds.
    type Value: Copy + PartialEq;
    #[doc(hidden)]
    fn bits(value: Self::Value) -> u64;
    #[doc(hidden)]
    fn read(&self, order: Ordering) -> Self::Value;
    #[doc(hidden)]
    fn exchange_if(
        &self,
        current: Self::Value,
        new: Self::Value,
        orders: (Ordering, Ordering),
        weak: bool,
    ) -> Result<Self::Value, Self::Value>;
}

/// For one type: how its values become bits.
macro_rules! atomic {
    ($(($($generic:tt)*) $type:ty: $value:ty, $bits:expr;)*) => {$(
        impl<$($generic)*> $crate::waiting::Atomic for $type {
            type Value = $value;

            #[inline(always)]
            fn bits(value: $value) -> u64 {
                #[allow(clippy::redundant_closure_call)]
                ($bits)(value)
            }

            #[inline(always)]
            fn read(&self, order: std::sync::atomic::Ordering) -> $value {
                self.load(order)
            }

            #[inline(always)]
            fn exchange_if(
                &self,
                current: $value,
                new: $value,
                (success, failure): (std::sync::atomic::Ordering, std::sync::atomic::Ordering),
                weak: bool,
            ) -> Result<$value, $value> {
                if weak {
                    self.compare_exchange_weak(current, new, success, failure)
                } else {
                    self.compare_exchange(current, new, success, failure)
                }
            }
        }
    )*};
}
pub(crate) use atomic;

atomic! {
    () AtomicBool: bool, u64::from;
    () AtomicU8: u8, u64::from;
    () AtomicU16: u16, u64::from;
    () AtomicU32: u32, u64::from;
    () AtomicU64: u64, |value| value;
    () AtomicUsize: usize, |value| value as u64;
    () AtomicI8: i8, |value| value as u8 as u64;
    () AtomicI16: i16, |value| value as u16 as u64;
    () AtomicI32: i32, |value| value as u32 as u64;
    () AtomicI64: i64, |value| value as u64;
    () AtomicIsize: isize, |value| value as u64;
    (T) AtomicPtr<T>: *mut T, |value: *mut T| value.addr() as u64;
}

/// Returns once a load of the atomic has returned `value`. Failed attempts are no events of the program: nothing may
/// depend on their number.
#[inline]
pub fn wait<A: Atomic>(atomic: &A, value: A::Value, order: Ordering) {
    let begin = other(Function::WaitBegin);
    if begin != 0 {
        // SAFETY: the runtime's function of this name has this type.
        let begin: extern "C" fn(usize, u64, u32) = unsafe { std::mem::transmute(begin) };
        begin((&raw const *atomic).addr(), A::bits(value), size_of::<A::Value>() as u32);
    }
    while atomic.read(order) != value {
        pause();
    }
    end();
}

/// Returns once a compare-exchange of the atomic from `current` to `new` has succeeded.
#[inline]
pub fn bcas<A: Atomic>(atomic: &A, current: A::Value, new: A::Value, order: Ordering) {
    let begin = other(Function::BcasBegin);
    if begin != 0 {
        // SAFETY: the runtime's function of this name has this type.
        let begin: extern "C" fn(usize) = unsafe { std::mem::transmute(begin) };
        begin((&raw const *atomic).addr());
    }
    while atomic.exchange_if(current, new, (order, Ordering::Relaxed), false).is_err() {
        pause();
    }
    end();
}

/// A compare-exchange that fails only if the value differs: `compare_exchange`.
#[inline]
pub fn cas_strong<A: Atomic>(
    atomic: &A,
    current: A::Value,
    new: A::Value,
    success: Ordering,
    failure: Ordering,
) -> Result<A::Value, A::Value> {
    next_cas(1);
    atomic.exchange_if(current, new, (success, failure), false)
}

/// A compare-exchange that may fail spuriously: `compare_exchange_weak`.
#[inline]
pub fn cas_weak<A: Atomic>(
    atomic: &A,
    current: A::Value,
    new: A::Value,
    success: Ordering,
    failure: Ordering,
) -> Result<A::Value, A::Value> {
    next_cas(0);
    atomic.exchange_if(current, new, (success, failure), true)
}

/// What this thread did so far happens before everything after an [`acquired`] of the same object. For synchronisation
/// that the sanitizer cannot see. Must be called before the program lets the other thread continue.
pub fn released<T: ?Sized>(object: &T) {
    tell(Function::Release, object);
}

/// See [`released`]. Must be called after the program has waited.
pub fn acquired<T: ?Sized>(object: &T) {
    tell(Function::Acquire, object);
}

fn tell<T: ?Sized>(what: Function, object: &T) {
    let function = other(what);
    if function != 0 {
        // SAFETY: the runtime's functions of these names have this type.
        let function: extern "C" fn(usize) = unsafe { std::mem::transmute(function) };
        function((&raw const *object).cast::<u8>().addr());
    }
}

#[inline(always)]
fn next_cas(strong: i32) {
    let next = other(Function::NextCas);
    if next != 0 {
        // SAFETY: the runtime's function of this name has this type.
        let next: extern "C" fn(i32) = unsafe { std::mem::transmute(next) };
        next(strong);
    }
}

#[inline(always)]
fn end() {
    let end = other(Function::WaitEnd);
    if end != 0 {
        // SAFETY: the runtime's function of this name has this type.
        let end: extern "C" fn() = unsafe { std::mem::transmute(end) };
        end();
    }
}

fn pause() {
    std::thread::yield_now();
}
