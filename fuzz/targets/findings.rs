//! Findings that a watched program wrote, or something else: readers validate everything.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = ravelin_findings::read(bytes);
});
