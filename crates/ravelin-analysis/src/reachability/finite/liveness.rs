//! Which registers of a thread matter at a location: those that some way from there reads before it writes them, and those
//! that goals speak of. The others are forgotten, so that local states do not differ in them.

use ravelin_explore::{Limit, Watch};
use ravelin_program::{Instruction, Observable, Program, RegId, Thread, ThreadId};

/// For each location of a thread, by register, whether it matters.
pub(super) fn live_registers(program: &Program, thread: ThreadId, watch: &Watch) -> Result<Vec<Vec<bool>>, Limit> {
    let code = &program.threads[thread.0];
    let mut observed = vec![false; code.registers.len()];
    for goal in &program.goals {
        goal.condition.for_each_atom(&mut |atom| match *atom {
            Observable::Register(of, register) if of == thread => observed[register.0] = true,
            _ => {}
        });
    }
    live_with(code, &observed, watch)
}

/// The same of a thread alone, with the registers that are observed anywhere.
pub(crate) fn live_with(code: &Thread, observed: &[bool], watch: &Watch) -> Result<Vec<Vec<bool>>, Limit> {
    watch.hold((observed.len() + size_of::<Vec<bool>>()) * code.locations.len())?;
    let mut live = vec![observed.to_vec(); code.locations.len()];
    loop {
        let mut changed = false;
        for transition in code.transitions.iter().rev() {
            watch.steps(1 + observed.len() / 64)?;
            let mut here = live[transition.to.0].clone();
            before(&transition.instruction, observed, &mut here);
            for (known, new) in live[transition.from.0].iter_mut().zip(here) {
                changed |= new && !*known;
                *known |= new;
            }
        }
        if !changed {
            return Ok(live);
        }
    }
}

/// Turns what matters after an instruction into what matters before it.
fn before(instruction: &Instruction, observed: &[bool], live: &mut [bool]) {
    if let Instruction::Locked { body, .. } = instruction {
        return body.iter().rev().for_each(|part| before(part, observed, live));
    }
    for RegId(register) in instruction.written_registers() {
        live[register] = observed[register];
    }
    for RegId(register) in instruction.read_registers() {
        live[register] = true;
    }
}
