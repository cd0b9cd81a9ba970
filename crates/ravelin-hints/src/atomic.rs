//! Atomics with the interface of those in `std::sync::atomic`, which the sanitizer sees without compiler support.

use crate::runtime::{Function, Operation, other, sized};
use crate::waiting::atomic;
use std::fmt;
pub use std::sync::atomic::Ordering;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The order as C compilers number it.
#[inline(always)]
fn code(order: Ordering) -> i32 {
    match order {
        Relaxed => 0,
        Acquire => 2,
        Release => 3,
        AcqRel => 4,
        _ => 5,
    }
}

/// A fence.
#[inline(always)]
pub fn fence(order: Ordering) {
    assert!(order != Relaxed, "there is no such thing as a relaxed fence");
    let function = other(Function::Fence);
    if function == 0 {
        std::sync::atomic::fence(order);
    } else {
        // SAFETY: here and below, the runtime's function of this name has this type.
        let fence: extern "C" fn(i32) = unsafe { std::mem::transmute(function) };
        fence(code(order));
    }
}

/// The methods of all types.
macro_rules! accesses {
    (($($generic:tt)*) $name:ty, $value:ty, $size:literal) => {
        impl<$($generic)*> $name {
            /// See the standard library's type of this name; the same applies to all methods.
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $value {
                assert!(!matches!(order, Release | AcqRel), "there is no such thing as a release load");
                match sized($size, Operation::Load) {
                    0 => self.0.load(order),
                    // SAFETY: see `fence`. The address is valid and aligned, as the standard library's type guarantees.
                    load => unsafe {
                        let load: extern "C" fn(*mut $value, i32) -> $value = std::mem::transmute(load);
                        load(self.0.as_ptr(), code(order))
                    },
                }
            }

            #[inline(always)]
            pub fn store(&self, value: $value, order: Ordering) {
                assert!(!matches!(order, Acquire | AcqRel), "there is no such thing as an acquire store");
                match sized($size, Operation::Store) {
                    0 => self.0.store(value, order),
                    // SAFETY: see `load`.
                    store => unsafe {
                        let store: extern "C" fn(*mut $value, $value, i32) = std::mem::transmute(store);
                        store(self.0.as_ptr(), value, code(order));
                    },
                }
            }

            #[inline(always)]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                match sized($size, Operation::Exchange) {
                    0 => self.0.swap(value, order),
                    // SAFETY: see `load`.
                    swap => unsafe {
                        let swap: extern "C" fn(*mut $value, $value, i32) -> $value = std::mem::transmute(swap);
                        swap(self.0.as_ptr(), value, code(order))
                    },
                }
            }

            #[inline(always)]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                assert!(!matches!(failure, Release | AcqRel), "there is no such thing as a release failure ordering");
                match sized($size, Operation::Strong) {
                    0 => self.0.compare_exchange(current, new, success, failure),
                    function => self.exchange(function, current, new, success, failure),
                }
            }

            #[inline(always)]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                assert!(!matches!(failure, Release | AcqRel), "there is no such thing as a release failure ordering");
                match sized($size, Operation::Weak) {
                    0 => self.0.compare_exchange_weak(current, new, success, failure),
                    function => self.exchange(function, current, new, success, failure),
                }
            }

            #[inline(always)]
            fn exchange(
                &self,
                function: usize,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let mut found = current;
                // SAFETY: see `load`.
                let exchanged = unsafe {
                    let exchange: extern "C" fn(*mut $value, *mut $value, $value, i32, i32) -> i32 =
                        std::mem::transmute(function);
                    exchange(self.0.as_ptr(), &raw mut found, new, code(success), code(failure))
                };
                if exchanged != 0 { Ok(current) } else { Err(found) }
            }

            #[inline(always)]
            pub fn fetch_update<F: FnMut($value) -> Option<$value>>(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut change: F,
            ) -> Result<$value, $value> {
                let mut old = self.load(fetch);
                while let Some(new) = change(old) {
                    match self.compare_exchange_weak(old, new, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(found) => old = found,
                    }
                }
                Err(old)
            }

            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            pub const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }
        }

        impl<$($generic)*> fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.load(Relaxed), formatter)
            }
        }

        impl<$($generic)*> From<$value> for $name {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

macro_rules! fetches {
    ($value:ty, $size:literal: $($method:ident $operation:ident),*) => {$(
        #[inline(always)]
        pub fn $method(&self, value: $value, order: Ordering) -> $value {
            match sized($size, Operation::$operation) {
                0 => self.0.$method(value, order),
                // SAFETY: see `load`.
                fetch => unsafe {
                    let fetch: extern "C" fn(*mut $value, $value, i32) -> $value = std::mem::transmute(fetch);
                    fetch(self.0.as_ptr(), value, code(order))
                },
            }
        }
    )*};
}

macro_rules! integers {
    ($($name:ident $value:ident $size:literal;)*) => {$(
        #[doc = concat!("In place of `std::sync::atomic::", stringify!($name), "`.")]
        #[derive(Default)]
        #[repr(transparent)]
        pub struct $name(std::sync::atomic::$name);

        impl $name {
            pub const fn new(value: $value) -> $name {
                $name(std::sync::atomic::$name::new(value))
            }

            fetches!($value, $size: fetch_add Add, fetch_sub Sub, fetch_and And, fetch_or Or, fetch_xor Xor, fetch_nand Nand);

            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.changed(order, |old| old.max(value))
            }

            pub fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                self.changed(order, |old| old.min(value))
            }

            fn changed(&self, order: Ordering, change: impl Fn($value) -> $value) -> $value {
                let mut old = self.load(Relaxed);
                loop {
                    match self.compare_exchange_weak(old, change(old), order, Relaxed) {
                        Ok(old) => return old,
                        Err(found) => old = found,
                    }
                }
            }
        }

        accesses!(() $name, $value, $size);
        atomic!(() $name: $value, |value: $value| value.cast_into_bits(););
    )*};
}

/// Integers as the runtime compares them: their bytes, then zeros.
trait CastIntoBits {
    fn cast_into_bits(self) -> u64;
}

macro_rules! cast_into_bits {
    ($($signed:ident $unsigned:ident),*) => {$(
        impl CastIntoBits for $signed {
            #[inline(always)]
            fn cast_into_bits(self) -> u64 {
                self as $unsigned as u64
            }
        }
    )*};
}

cast_into_bits!(
    u8 u8, u16 u16, u32 u32, u64 u64, usize usize, i8 u8, i16 u16, i32 u32, i64 u64, isize usize
);

integers! {
    AtomicU8 u8 0;
    AtomicI8 i8 0;
    AtomicU16 u16 1;
    AtomicI16 i16 1;
    AtomicU32 u32 2;
    AtomicI32 i32 2;
    AtomicU64 u64 3;
    AtomicI64 i64 3;
    AtomicUsize usize 3;
    AtomicIsize isize 3;
}

/// Replaces `std::sync::atomic::AtomicBool`.
#[derive(Default)]
#[repr(transparent)]
pub struct AtomicBool(std::sync::atomic::AtomicBool);

impl AtomicBool {
    pub const fn new(value: bool) -> AtomicBool {
        AtomicBool(std::sync::atomic::AtomicBool::new(value))
    }

    fetches!(bool, 0: fetch_and And, fetch_or Or, fetch_xor Xor);
}

accesses!(() AtomicBool, bool, 0);
atomic!(() AtomicBool: bool, u64::from;);

/// Replaces `std::sync::atomic::AtomicPtr`.
#[repr(transparent)]
pub struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    pub const fn new(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr(std::sync::atomic::AtomicPtr::new(value))
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

accesses!((T) AtomicPtr<T>, *mut T, 3);
atomic!((T) AtomicPtr<T>: *mut T, |value: *mut T| value.addr() as u64;);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::SeqCst;

    #[test]
    fn without_the_sanitizer_the_types_are_those_of_the_standard_library() {
        let number = AtomicI32::new(-3);
        assert_eq!(number.fetch_add(5, SeqCst), -3);
        assert_eq!(number.swap(7, AcqRel), 2);
        assert_eq!(number.compare_exchange(7, 9, SeqCst, Relaxed), Ok(7));
        assert_eq!(number.compare_exchange(7, 9, SeqCst, Relaxed), Err(9));
        assert_eq!((number.fetch_max(12, Relaxed), number.fetch_min(4, Relaxed)), (9, 12));
        assert_eq!(number.fetch_update(SeqCst, Relaxed, |old| (old == 4).then_some(5)), Ok(4));
        assert_eq!(format!("{number:?}"), "5");
        let flag = AtomicBool::default();
        assert!(!flag.fetch_or(true, Release) && flag.into_inner());
        let mut value = 3;
        let pointer = AtomicPtr::new(&raw mut value);
        assert_eq!(pointer.swap(std::ptr::null_mut(), SeqCst), &raw mut value);
        fence(SeqCst);
    }

    #[test]
    #[should_panic(expected = "release load")]
    fn wrong_orders_panic_as_in_the_standard_library() {
        AtomicU8::new(0).load(Release);
    }
}
