//! The functions of the runtime, if it is part of the program or was loaded with it.
//!
//! They are looked up once, before `main`, so that no synchronisation is needed later.

/// Functions for one size of atomics, in this order.
#[derive(Clone, Copy)]
#[repr(usize)]
pub enum Operation {
    Load,
    Store,
    Exchange,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
    Strong,
    Weak,
}

pub const OPERATIONS: usize = 11;

/// Functions that do not depend on a size.
#[derive(Clone, Copy)]
#[repr(usize)]
pub enum Function {
    Fence,
    WaitBegin,
    BcasBegin,
    WaitEnd,
    NextCas,
    Release,
    Acquire,
    VerifyBegin,
    VerifyEnd,
}

pub const FUNCTIONS: usize = 9;

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod found {
    use super::{FUNCTIONS, Function, OPERATIONS, Operation};
    use std::ffi::{CStr, c_char, c_void};

    struct RuntimeFunctions {
        sized: [[usize; OPERATIONS]; 4],
        others: [usize; FUNCTIONS],
    }

    static mut FOUND: RuntimeFunctions = RuntimeFunctions { sized: [[0; OPERATIONS]; 4], others: [0; FUNCTIONS] };

    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    /// Marks this program for `ravelin run` as one that needs the runtime.
    #[used]
    #[unsafe(link_section = "ravelin_wanted")]
    static WANTED: [u8; 8] = *b"ravelin\0";

    #[used]
    #[unsafe(link_section = ".init_array")]
    static FIND: extern "C" fn() = find;

    macro_rules! names {
        ($bits:literal) => {
            [
                concat!("__tsan_atomic", $bits, "_load\0"),
                concat!("__tsan_atomic", $bits, "_store\0"),
                concat!("__tsan_atomic", $bits, "_exchange\0"),
                concat!("__tsan_atomic", $bits, "_fetch_add\0"),
                concat!("__tsan_atomic", $bits, "_fetch_sub\0"),
                concat!("__tsan_atomic", $bits, "_fetch_and\0"),
                concat!("__tsan_atomic", $bits, "_fetch_or\0"),
                concat!("__tsan_atomic", $bits, "_fetch_xor\0"),
                concat!("__tsan_atomic", $bits, "_fetch_nand\0"),
                concat!("__tsan_atomic", $bits, "_compare_exchange_strong\0"),
                concat!("__tsan_atomic", $bits, "_compare_exchange_weak\0"),
            ]
        };
    }

    const SIZED: [[&str; OPERATIONS]; 4] = [names!("8"), names!("16"), names!("32"), names!("64")];
    const OTHERS: [&CStr; FUNCTIONS] = [
        c"__tsan_atomic_thread_fence",
        c"__ravelin_wait_begin",
        c"__ravelin_bcas_begin",
        c"__ravelin_wait_end",
        c"__ravelin_next_cas",
        c"__tsan_release",
        c"__tsan_acquire",
        c"__ravelin_verify_begin",
        c"__ravelin_verify_end",
    ];

    extern "C" fn find() {
        // SAFETY: all names end with a zero byte; 0 searches every loaded file. No other thread runs yet.
        unsafe {
            let look = |name: *const c_char| dlsym(std::ptr::null_mut(), name) as usize;
            // Another sanitizer has functions of the same names, but not this one.
            if look(OTHERS[Function::WaitEnd as usize].as_ptr()) == 0 {
                return;
            }
            // The program's own code is not instrumented then, and its copies are not evidence.
            let is_there = look(c"__ravelin_library_is_there".as_ptr());
            if is_there != 0 {
                let is_there: extern "C" fn() = std::mem::transmute(is_there);
                is_there();
            }
            for (size, names) in SIZED.iter().enumerate() {
                for (operation, name) in names.iter().enumerate() {
                    FOUND.sized[size][operation] = look(name.as_ptr().cast());
                }
            }
            for (function, name) in OTHERS.iter().enumerate() {
                FOUND.others[function] = look(name.as_ptr());
            }
        }
    }

    #[inline(always)]
    pub fn sized(size: usize, operation: Operation) -> usize {
        // SAFETY: written before `main` only.
        unsafe { FOUND.sized[size][operation as usize] }
    }

    #[inline(always)]
    pub fn other(function: Function) -> usize {
        // SAFETY: as above.
        unsafe { FOUND.others[function as usize] }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
mod found {
    use super::{Function, Operation};

    pub fn sized(_size: usize, _operation: Operation) -> usize {
        0
    }

    pub fn other(_function: Function) -> usize {
        0
    }
}

/// The function for atomics of 1, 2, 4 or 8 bytes (0, 1, 2 or 3); 0 without the runtime.
#[inline(always)]
pub fn sized(size: usize, operation: Operation) -> usize {
    found::sized(size, operation)
}

/// The function, or 0 without the runtime.
#[inline(always)]
pub fn other(function: Function) -> usize {
    found::other(function)
}
