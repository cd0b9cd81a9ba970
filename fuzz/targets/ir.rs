//! LLVM IR that no compiler writes: no panic, and whatever is read can be promoted and laid out.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ravelin_frontend::ir::{live::Liveness, module::BlockId, promote::promote, read};
use ravelin_frontend::render;
use ravelin_program::Source;

fuzz_target!(|text: &str| {
    let module = match read(text) {
        Ok(module) => module,
        Err(errors) => {
            assert!(!errors.is_empty());
            render(&errors, &Source::new("fuzzed.ll", text), false);
            return;
        }
    };
    for global in &module.globals {
        let size = module.size_of(&global.ty).unwrap_or(0);
        for offset in 0..size.min(64) {
            global.debug.and_then(|node| module.debug.global_path(node, offset));
        }
    }
    for function in &module.functions {
        let mut changed = function.clone();
        promote(&module, &mut changed);
        if let Some(liveness) = Liveness::of(&changed) {
            for number in 0..changed.blocks.len() {
                liveness.live_out(&changed, BlockId(number as u32));
            }
        }
    }
});
