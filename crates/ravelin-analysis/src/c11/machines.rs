//! On which machines a graph of a program can happen.

use ravelin_answer::Machines;
use ravelin_program::{Instruction, Program};
use ravelin_semantics::hardware::{SeqCstStore, Target, armv8, compile, x86};
use ravelin_semantics::rc20::{Graph, OrderReading};

pub(super) fn of(program: &Program, graph: &Graph, reading: OrderReading) -> Machines {
    // A compare-exchange that fails is a read in the graph, but a locked instruction on x86.
    let exchanges = |event: usize| {
        let event = &graph.events[event];
        let made_by = event.thread.zip(event.transition);
        made_by.is_some_and(|(thread, transition)| {
            let instruction = &program.threads[thread.0].transitions[transition.0].instruction;
            matches!(instruction, Instruction::CompareExchange { .. })
        })
    };
    let compiled = |target| compile(graph, reading, target, exchanges);
    Machines {
        x86: x86::allows(&compiled(Target::X86(SeqCstStore::Exchange))),
        armv8: armv8::allows(&compiled(Target::Armv8)),
    }
}
