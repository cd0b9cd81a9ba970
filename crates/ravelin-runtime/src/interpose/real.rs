//! Finds the C library's own functions, which are the next definitions after the interposed ones.
//!
//! Every interposed function has one [`RealFunction`] in a separate section, so that all of them can be looked up when the
//! process starts. An earlier call looks its function up itself. The exceptions are the functions that `dlsym` needs,
//! which can do without.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The next definition of an interposed function after the runtime's.
pub struct RealFunction {
    /// Ends with a zero byte, as `version` does.
    name: &'static str,
    /// The symbol's version; empty for the default one.
    version: &'static str,
    address: AtomicUsize,
}

impl RealFunction {
    pub const fn new(name: &'static str, version: &'static str) -> RealFunction {
        RealFunction { name, version, address: AtomicUsize::new(0) }
    }

    #[inline(always)]
    pub fn address(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.find(),
            address => address,
        }
    }

    /// The address if it was looked up already.
    #[inline(always)]
    pub fn known(&self) -> Option<usize> {
        match self.address.load(Ordering::Relaxed) {
            0 => None,
            address => Some(address),
        }
    }

    /// Whether the function exists, perhaps in a library that was loaded after the process started. Such a library is
    /// searched for once, and then stays loaded.
    #[inline(always)]
    pub fn exists_in(&self, library: &CStr) -> bool {
        let address = match self.address() {
            address if address == missing as *const () as usize => self.find_late(library),
            address => address,
        };
        address != ABSENT
    }

    /// Makes sure that the function exists: loads the library that has it if nothing that is loaded does.
    #[inline(always)]
    pub fn load_from(&self, library: &CStr) {
        if self.address() == missing as *const () as usize {
            // SAFETY: the string ends with a zero byte.
            unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_GLOBAL) };
            self.exists_in(library);
        }
    }

    #[cold]
    fn find_late(&self, library: &CStr) -> usize {
        // SAFETY: both strings end with a zero byte. Only a library that is already loaded is opened.
        let address = unsafe {
            let library = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() { std::ptr::null_mut() } else { libc::dlsym(library, self.name.as_ptr().cast()) }
        };
        let address = if address.is_null() { ABSENT } else { address as usize };
        self.address.store(address, Ordering::Relaxed);
        address
    }

    #[cold]
    fn find(&self) -> usize {
        let name: *const c_char = self.name.as_ptr().cast();
        let mut address = std::ptr::null_mut();
        if self.version.len() > 1 {
            // SAFETY: both strings end with a zero byte.
            address = unsafe { libc::dlvsym(libc::RTLD_NEXT, name, self.version.as_ptr().cast()) };
        }
        if address.is_null() {
            // SAFETY: the string ends with a zero byte.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, name) };
        }
        let address = if address.is_null() { missing as *const () as usize } else { address as usize };
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Marks a function that was not found anywhere.
const ABSENT: usize = 1;

/// Replaces a function that this C library does not have.
extern "C" fn missing() -> c_int {
    libc::ENOSYS
}

unsafe extern "C" {
    // The linker defines these for a section whose name is an identifier.
    #[link_name = "__start_ravelin_real"]
    static FIRST: u8;
    #[link_name = "__stop_ravelin_real"]
    static END: u8;
}

/// Looks up all functions.
pub fn find_all() {
    let mut real: *const RealFunction = (&raw const FIRST).cast();
    let end: *const RealFunction = (&raw const END).cast();
    while real < end {
        // SAFETY: the section holds nothing but `RealFunction`s, one after the other.
        unsafe {
            (*real).address();
            real = real.add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // In the same section as all the others, so that `find_all` finds it.
    #[unsafe(link_section = "ravelin_real")]
    static GETPID: RealFunction = RealFunction::new("getpid\0", "\0");
    #[unsafe(link_section = "ravelin_real")]
    static NOTHING: RealFunction = RealFunction::new("ravelin_has_no_such_function\0", "\0");

    #[test]
    fn all_functions_are_looked_up_at_once() {
        find_all();
        assert_eq!(GETPID.known(), Some(libc::getpid as *const () as usize));
        assert_eq!(NOTHING.known(), Some(missing as *const () as usize));
    }

    #[test]
    fn a_function_is_looked_up_when_it_is_needed_first() {
        let real = RealFunction::new("getppid\0", "\0");
        assert_eq!(real.known(), None);
        assert_eq!(real.address(), libc::getppid as *const () as usize);
        assert_eq!(real.known(), Some(real.address()));
    }

    #[test]
    fn a_version_is_asked_for_first_and_the_default_taken_without_it() {
        let waits = |version| RealFunction::new("pthread_cond_wait\0", version).address();
        assert_eq!(waits("GLIBC_2.3.2\0"), waits("\0"));
        assert_ne!(waits("GLIBC_2.2.5\0"), waits("\0"), "the old one is another function");
        assert_eq!(waits("GLIBC_0.0\0"), waits("\0"));
    }

    #[test]
    fn a_missing_function_says_that_it_is_not_implemented() {
        // SAFETY: `missing` takes no arguments.
        let function: extern "C" fn() -> c_int = unsafe { std::mem::transmute(NOTHING.address()) };
        assert_eq!(function(), libc::ENOSYS);
    }

    #[test]
    fn a_function_of_a_library_that_is_not_loaded_does_not_exist() {
        let real = RealFunction::new("ravelin_has_no_such_function\0", "\0");
        assert!(!real.exists_in(c"libravelin-is-not-there.so"));
        assert_eq!(real.known(), Some(ABSENT), "it is looked for once");
        assert!(RealFunction::new("getpid\0", "\0").exists_in(c"libravelin-is-not-there.so"));
    }
}
