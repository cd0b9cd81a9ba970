//! Thread-local words of memory.
//!
//! They are not `thread_local!`: its destructors use the C library's allocator, and in a shared object its accesses
//! call the dynamic linker. These words are zero in a new thread and cost one load more than a static variable.

/// `thread_words!(name, "symbol", count)`: a function `name()` that gives the address of the calling thread's `count`
/// words.
macro_rules! thread_words {
    ($name:ident, $symbol:literal, $count:literal) => {
        std::arch::global_asm!(
            concat!(".pushsection .tbss.", $symbol, ",\"awT\",@nobits"),
            ".p2align 3",
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ",@object"),
            concat!($symbol, ": .zero 8 * ", $count),
            concat!(".size ", $symbol, ", 8 * ", $count),
            ".popsection",
        );

        #[inline(always)]
        fn $name() -> *mut usize {
            let address: *mut usize;
            // SAFETY: the first word at `fs` is its own address. The offset of the symbol from it is in the global
            // offset table, because the object is loaded when the process starts.
            unsafe {
                std::arch::asm!(
                    concat!("mov {address}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "add {address}, qword ptr fs:[0]",
                    address = out(reg) address,
                    options(pure, readonly, nostack),
                );
            }
            address
        }
    };
}
