//! Names of functions: demangled, and recognised where they are not the program's own.

use cpp_demangle::{DemangleOptions, Symbol};

/// The name as in the source, without parameters and return type.
pub fn demangled(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    if name.starts_with("_Z") {
        let options = DemangleOptions::new().no_params().no_return_type();
        let symbol = Symbol::new(name).ok();
        if let Some(demangled) = symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok()) {
            return demangled;
        }
    }
    name.to_owned()
}

/// Whether a function only wraps the compiler's atomic operations, so that the access belongs to its caller.
pub fn is_atomic_wrapper(function: &str) -> bool {
    const GNU: &[&str] =
        &["__exchange_and_add", "__atomic_add", "__exchange_and_add_dispatch", "__atomic_add_dispatch"];
    if let Some(rest) = function.strip_prefix("__gnu_cxx::") {
        return GNU.contains(&rest);
    }
    // Rust's own, and the atomics and markers of the crate `ravelin-hints`.
    let path = function.trim_start_matches('<');
    if ["core::sync::atomic::", "ravelin_hints::atomic::", "ravelin_hints::waiting::"]
        .iter()
        .any(|start| path.starts_with(start))
        || function.contains(" as ravelin_hints::waiting::Atomic>")
    {
        return true;
    }
    let Some(rest) = function.strip_prefix("std::") else { return false };
    let rest = rest.strip_prefix("__1::").unwrap_or(rest);
    ["atomic", "__atomic_", "__cxx_atomic_"].iter().any(|start| rest.starts_with(start))
}

/// Whether a function belongs to the C++ standard library.
pub fn is_standard_library(function: &str) -> bool {
    ["std::", "__gnu_cxx::", "__cxxabiv1::"].iter().any(|start| function.starts_with(start))
}

/// Whether a source file belongs to the C++ standard library.
pub fn is_standard_header(file: &str) -> bool {
    file.contains("/include/c++/") || file.contains("/libstdc++-v3/")
}

/// Whether a source file belongs to a library: of C++, of Rust, or one that is installed with its headers or sources.
pub fn is_library_header(file: &str) -> bool {
    is_standard_header(file)
        || is_rust_library(file)
        || file.starts_with("/usr/")
        || file.contains("/.cargo/registry/src/")
}

/// Whether a source file belongs to Rust's standard library. Its path is the one where it was compiled, or the one in a
/// toolchain that includes the sources.
pub fn is_rust_library(file: &str) -> bool {
    ["core", "alloc", "std", "test", "proc_macro"].iter().any(|part| is_part_of(file, part))
}

/// Whether a source file belongs to this crate of Rust's standard library.
pub fn is_part_of(file: &str, part: &str) -> bool {
    let Some((before, after)) = file.split_once("/library/") else { return false };
    (before.starts_with("/rustc/") || before.ends_with("/rustlib/src/rust"))
        && after.strip_prefix(part).is_some_and(|rest| rest.starts_with("/src/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_written() {
        let cases = [
            ("main", "main"),
            ("_ZN5Queue4pushEi", "Queue::push"),
            ("_ZNSt6atomicIiE5storeEiSt12memory_order", "std::atomic<int>::store"),
            (
                "_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJPFvvEEEEEE6_M_runEv",
                "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)()> > >::_M_run",
            ),
            ("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"),
            ("_Zwrong", "_Zwrong"),
            ("", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(demangled(name), expected, "{name}");
        }
    }

    #[test]
    fn the_files_of_rust_are_known() {
        let hash = "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library";
        assert!(is_part_of(&format!("{hash}/std/src/sys/sync/mutex/futex.rs"), "std"));
        assert!(!is_part_of(&format!("{hash}/std/src/sys/sync/mutex/futex.rs"), "core"));
        assert!(is_rust_library("/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/alloc/src/sync.rs"));
        assert!(!is_rust_library("/home/me/library/std/src/queue.rs"));
        assert!(!is_rust_library("src/lib.rs"));
    }

    #[test]
    fn headers_of_libraries_are_known() {
        for header in [
            "/usr/include/moodycamel/concurrentqueue.h",
            "/usr/local/include/boost/atomic.hpp",
            "/usr/include/c++/12/bits/stl_vector.h",
            "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crossbeam-utils-0.8.21/src/lib.rs",
        ] {
            assert!(is_library_header(header), "{header}");
        }
        for own in ["queue.h", "/home/me/usr/include/queue.h", "src/lib.rs"] {
            assert!(!is_library_header(own), "{own}");
        }
    }

    #[test]
    fn wrappers_of_atomic_operations_are_known() {
        for wrapper in [
            "std::atomic<int>::store",
            "std::__atomic_base<unsigned long>::fetch_add",
            "std::atomic_load_explicit<int>",
            "std::atomic_flag::test_and_set",
            "std::__1::__cxx_atomic_load<int>",
            "std::__atomic_impl::load<int>",
            "__gnu_cxx::__exchange_and_add",
            "core::sync::atomic::AtomicUsize::load",
            "<core::sync::atomic::AtomicUsize>::load",
            "ravelin_hints::waiting::wait",
            "<core::sync::atomic::AtomicBool as ravelin_hints::waiting::Atomic>::read",
        ] {
            assert!(is_atomic_wrapper(wrapper), "{wrapper}");
        }
        for other in ["atomic_push", "std::shared_ptr<int>::reset", "Queue::atomic", "__gnu_cxx::new_allocator"] {
            assert!(!is_atomic_wrapper(other), "{other}");
        }
    }
}
