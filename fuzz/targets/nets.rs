//! Petri nets in MIST's format: no panic, and a net that is printed is read as the same net.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ravelin_backward::nets::spec;

fuzz_target!(|text: &str| {
    if let Ok(net) = spec::parse(text) {
        let printed = spec::print(&net);
        assert_eq!(spec::parse(&printed).as_ref(), Ok(&net), "{printed}");
    }
});
