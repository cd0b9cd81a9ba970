//! The integers that programs access atomically, and the accesses themselves.
//!
//! All accesses are sequentially consistent: the clocks assume it, and the locks around them ensure it. Only a seq_cst
//! store must be seq_cst itself, for code that is not watched. A watched thread takes a lock before its next load of
//! another location ([`crate::loads`] knows no load after a store).

use std::arch::asm;
use std::sync::atomic::Ordering::{Release, SeqCst};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// An integer of 8 to 128 bits.
pub trait Word: Copy + PartialEq + 'static {
    /// The value as kept in histories: its low 64 bits.
    fn low(self) -> u64;
    /// The value with these low bits, and no others.
    fn of_low(low: u64) -> Self;
    /// Loads it.
    ///
    /// # Safety
    /// For this and the other functions: `at` is valid and aligned, as the program promises to its compiler.
    unsafe fn load(at: *mut Self) -> Self;
    /// Stores it.
    unsafe fn store(at: *mut Self, value: Self, seq_cst: bool);
    /// Replaces `expected` by `new`, and returns the old value.
    unsafe fn exchange_if(at: *mut Self, expected: Self, new: Self) -> Self;
    /// Replaces the value by the result of `change`, and returns the old value.
    unsafe fn update(at: *mut Self, change: impl Fn(Self) -> Self) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut old = Self::load(at);
            loop {
                let found = Self::exchange_if(at, old, change(old));
                if found == old {
                    return old;
                }
                old = found;
            }
        }
    }
    /// Arithmetic as in C.
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn nand(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    () => {
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            self.wrapping_add(other)
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            self.wrapping_sub(other)
        }
        #[inline(always)]
        fn and(self, other: Self) -> Self {
            self & other
        }
        #[inline(always)]
        fn or(self, other: Self) -> Self {
            self | other
        }
        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            self ^ other
        }
        #[inline(always)]
        fn nand(self, other: Self) -> Self {
            !(self & other)
        }
    };
}

macro_rules! word {
    ($word:ty, $atomic:ty) => {
        impl Word for $word {
            #[inline(always)]
            fn low(self) -> u64 {
                u64::from(self)
            }
            fn of_low(low: u64) -> Self {
                low as $word
            }
            #[inline(always)]
            unsafe fn load(at: *mut Self) -> Self {
                // SAFETY: guaranteed by the caller.
                unsafe { <$atomic>::from_ptr(at) }.load(SeqCst)
            }
            #[inline(always)]
            unsafe fn store(at: *mut Self, value: Self, seq_cst: bool) {
                // SAFETY: guaranteed by the caller.
                unsafe { <$atomic>::from_ptr(at) }.store(value, if seq_cst { SeqCst } else { Release })
            }
            #[inline(always)]
            unsafe fn exchange_if(at: *mut Self, expected: Self, new: Self) -> Self {
                // SAFETY: guaranteed by the caller.
                let atomic = unsafe { <$atomic>::from_ptr(at) };
                match atomic.compare_exchange(expected, new, SeqCst, SeqCst) {
                    Ok(found) | Err(found) => found,
                }
            }
            arithmetic!();
        }
    };
}

word!(u8, AtomicU8);
word!(u16, AtomicU16);
word!(u32, AtomicU32);
word!(u64, AtomicU64);

impl Word for u128 {
    #[inline(always)]
    fn low(self) -> u64 {
        self as u64
    }

    fn of_low(low: u64) -> u128 {
        low.into()
    }

    unsafe fn load(at: *mut u128) -> u128 {
        // This processor reads sixteen bytes at once by writing back the value that is there.
        // SAFETY: guaranteed by the caller.
        unsafe { Self::exchange_if(at, 0, 0) }
    }

    unsafe fn store(at: *mut u128, value: u128, _seq_cst: bool) {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::update(at, |_| value) };
    }

    unsafe fn exchange_if(at: *mut u128, expected: u128, new: u128) -> u128 {
        let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
        // SAFETY: guaranteed by the caller. rbx is restored, because the compiler reserves it. The other registers are
        // named, because the compiler might choose rbx for one of them.
        unsafe {
            asm!(
                "xchg rbx, rsi",
                "lock cmpxchg16b [rdi]",
                "mov rbx, rsi",
                inout("rsi") new as u64 => _,
                in("rdi") at,
                in("rcx") (new >> 64) as u64,
                inout("rax") low,
                inout("rdx") high,
                options(nostack),
            );
        }
        u128::from(low) | u128::from(high) << 64
    }

    arithmetic!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// Every access to a word between two others has the right result, and leaves the others alone.
    fn each_access<T: Word + Debug>(zero: T, one: T, max: T) {
        #[repr(align(16))]
        struct Aligned<T>([T; 3]);
        let mut words = Aligned([max, zero, max]);
        let at = &raw mut words.0[1];
        // SAFETY: the word exists and is aligned.
        unsafe {
            assert_eq!(T::load(at), zero);
            T::store(at, one, false);
            assert_eq!(T::load(at), one);
            T::store(at, max, true);
            assert_eq!(T::exchange_if(at, one, zero), max, "another value than the expected one is given");
            assert_eq!(T::load(at), max, "and stays");
            assert_eq!(T::exchange_if(at, max, one), max);
            assert_eq!(T::load(at), one);
            assert_eq!(T::update(at, |old| old.add(max)), one);
            assert_eq!(T::load(at), zero, "the sum of 1 and the largest value wraps");
            assert_eq!(T::update(at, |old| old.sub(one)), zero);
            assert_eq!(T::load(at), max, "so does the difference");
        }
        assert_eq!([words.0[0], words.0[2]], [max, max]);
        assert_eq!(max.and(one), one);
        assert_eq!(one.or(zero), one);
        assert_eq!(max.xor(max), zero);
        assert_eq!(zero.nand(max), max);
        assert_eq!(max.nand(max), zero);
    }

    #[test]
    fn words_of_every_size_are_accessed_as_wholes() {
        each_access::<u8>(0, 1, u8::MAX);
        each_access::<u16>(0, 1, u16::MAX);
        each_access::<u32>(0, 1, u32::MAX);
        each_access::<u64>(0, 1, u64::MAX);
        each_access::<u128>(0, 1, u128::MAX);
    }

    #[test]
    fn sixteen_bytes_are_exchanged_only_if_both_halves_are_as_expected() {
        let value = 7_u128 << 64 | 3;
        let mut word = value;
        let at = &raw mut word;
        for expected in [7_u128 << 64 | 4, 8_u128 << 64 | 3, 3_u128 << 64 | 7] {
            // SAFETY: the word exists and is aligned.
            assert_eq!(unsafe { u128::exchange_if(at, expected, 0) }, value);
        }
        // SAFETY: as above.
        assert_eq!(unsafe { u128::exchange_if(at, value, 5 << 64 | 6) }, value);
        assert_eq!(word, 5 << 64 | 6);
    }

    #[test]
    fn a_history_keeps_the_low_bits() {
        assert_eq!(u8::MAX.low(), 0xff);
        assert_eq!((7_u128 << 64 | 3).low(), 3);
    }

    #[test]
    fn no_update_of_sixteen_bytes_is_lost_between_two_threads() {
        const TIMES: u128 = 100_000;
        let mut word = 0_u128;
        let at = &raw mut word as usize;
        let start = &std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for step in [1, 1 << 64] {
                scope.spawn(move || {
                    start.wait();
                    for _ in 0..TIMES {
                        // SAFETY: the word outlives the scope, and both threads access it atomically.
                        unsafe { u128::update(at as *mut u128, |old| old.add(step)) };
                    }
                });
            }
        });
        assert_eq!(word, TIMES << 64 | TIMES);
    }
}
