//! The macro that makes an interposed function.
//!
//! Rust has no weak definitions, so the symbol is a piece of assembly that jumps to the Rust function. It leaves the
//! arguments in place. If the function asks for it, it adds the return address as one more argument.
//!
//! The test program of this crate is not watched. It has the functions but not the symbols, and nothing runs when it
//! starts. Otherwise its own `malloc` and `pthread_create` would lead here.

/// `fn name(arg: Type, …; pc) -> Type { body }`: a weak `name` with this body. In the body `real(arg, …)` calls the
/// next definition of `name`, and `pc` is the address the call returns to. Pointers that the body only passes to other
/// functions are `usize`. `fn name @ "VERSION" (…)` requests a version of the symbol.
macro_rules! interpose {
    ($($(#[$meta:meta])* fn $name:ident $(@ $version:literal)? ($($arg:ident: $type:ty),* $(; $pc:ident)?)
        $(-> $result:ty)? $body:block)*) => {$(
        $(#[$meta])*
        #[allow(non_snake_case, clippy::too_many_arguments)]
        #[cfg_attr(test, allow(dead_code))]
        unsafe extern "C" fn $name($($arg: $type,)* $($pc: usize)?) $(-> $result)? {
            #[unsafe(link_section = "ravelin_real")]
            static REAL: $crate::interpose::real::RealFunction =
                $crate::interpose::real::RealFunction::new(concat!(stringify!($name), "\0"), concat!($($version,)? "\0"));

            #[allow(dead_code, clippy::too_many_arguments)]
            #[inline(always)]
            fn real($($arg: $type),*) $(-> $result)? {
                // SAFETY: the address is that of the function with this name and so of this type. The caller of the
                // interposed function keeps that function's promises for these arguments.
                unsafe {
                    let real: unsafe extern "C" fn($($type),*) $(-> $result)? = std::mem::transmute(REAL.address());
                    real($($arg),*)
                }
            }

            $body
        }

        #[cfg(not(test))]
        std::arch::global_asm!(
            concat!(".pushsection .text.", stringify!($name), ",\"ax\",@progbits"),
            ".p2align 4",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            ".cfi_startproc",
            "endbr64",
            load_return_address!(($($arg)*) $($pc)?),
            "jmp {function}",
            ".cfi_endproc",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            ".popsection",
            function = sym $name,
        );
    )*};
}

/// `fn name(arg: Type, …) -> Type;`: calls the next definition of a function that is interposed elsewhere.
macro_rules! next {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[inline(always)]
        pub fn $name($($arg: $type),*) -> $result {
            #[unsafe(link_section = "ravelin_real")]
            static REAL: $crate::interpose::real::RealFunction =
                $crate::interpose::real::RealFunction::new(concat!(stringify!($name), "\0"), "\0");
            // SAFETY: as for interposed functions.
            unsafe {
                let real: unsafe extern "C" fn($($type),*) -> $result = std::mem::transmute(REAL.address());
                real($($arg),*)
            }
        }
    )*};
}

/// The instruction that puts the return address into the register after those of the arguments, if it is requested.
#[cfg(not(test))]
macro_rules! load_return_address {
    (($($arg:ident)*)) => {
        ""
    };
    (() $pc:ident) => {
        "mov rdi, qword ptr [rsp]"
    };
    (($a:ident) $pc:ident) => {
        "mov rsi, qword ptr [rsp]"
    };
    (($a:ident $b:ident) $pc:ident) => {
        "mov rdx, qword ptr [rsp]"
    };
    (($a:ident $b:ident $c:ident) $pc:ident) => {
        "mov rcx, qword ptr [rsp]"
    };
    (($a:ident $b:ident $c:ident $d:ident) $pc:ident) => {
        "mov r8, qword ptr [rsp]"
    };
    (($a:ident $b:ident $c:ident $d:ident $e:ident) $pc:ident) => {
        "mov r9, qword ptr [rsp]"
    };
    // The seventh argument is on the stack. The function returns here, so the jump that follows is not reached.
    (($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident) $pc:ident) => {
        "push qword ptr [rsp]\n.cfi_adjust_cfa_offset 8\ncall {function}\nadd rsp, 8\n.cfi_adjust_cfa_offset -8\nret"
    };
}
