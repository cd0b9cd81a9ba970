//! Promoted functions compute what they computed before, and values that are not live are not needed.

use crate::ir_interpreter::run;
use crate::ir_random::{self, IN_MEMORY};
use ravelin_frontend::ir::live::Liveness;
use ravelin_frontend::ir::module::{Function, Module, Operation};
use ravelin_frontend::ir::promote::promote;
use ravelin_frontend::ir::read;
use ravelin_testing::seeds;

fn module(text: &str) -> Module {
    read(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn promoted(module: &Module, name: &str) -> Function {
    let mut function = module.functions[module.function(name).expect("the function exists")].clone();
    promote(module, &mut function);
    function
}

fn allocations(function: &Function) -> usize {
    let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    instructions.filter(|instruction| matches!(instruction.operation, Operation::Alloca { .. })).count()
}

#[test]
fn random_functions_compute_the_same() {
    for seed in seeds(600) {
        for typed in [false, true] {
            let text = ir_random::module(seed, typed);
            let module = module(&text);
            let before = &module.functions[module.function("f").expect("it is defined")];
            let after = promoted(&module, "f");
            assert_eq!(allocations(&after), IN_MEMORY, "seed {seed}\n{text}");
            let liveness = Liveness::of(&after).expect("the function is small");
            for arguments in [[0, 0], [1, 3], [u128::MAX, 7]] {
                let expected = run(&module, before, &arguments, None);
                assert_eq!(run(&module, &after, &arguments, None), expected, "seed {seed}\n{text}");
                assert_eq!(run(&module, &after, &arguments, Some(&liveness)), expected, "seed {seed}\n{text}");
            }
        }
    }
}
