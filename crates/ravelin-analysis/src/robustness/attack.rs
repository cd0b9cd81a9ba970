//! Attacks (section 4 of *Checking and Enforcing Robustness against TSO*): a thread, one of its stores, and a later
//! access of the same thread that may overtake it.

use ravelin_program::{HardwareProgram, Instruction, Model, Program, ThreadId, TransitionId};

pub use ravelin_machine::attack::Attack;

/// May be delayed: a plain store. Locked instructions write memory at once.
pub fn is_delayable(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Store { .. } | Instruction::Unlock(_))
}

/// May overtake a delayed store and then reads memory: a plain load, or a locked block that only reads and so does not
/// drain the buffer.
pub fn is_overtaking_load(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Load { .. } | Instruction::Wait { .. } => true,
        Instruction::Locked { body, drains: false } => body.iter().any(|part| matches!(part, Instruction::Load { .. })),
        _ => false,
    }
}

/// Cannot be executed while a store is delayed: it ends every attack.
pub fn ends_attack(instruction: &Instruction) -> bool {
    use ravelin_program::Order;
    matches!(instruction, Instruction::Fence(Order::SeqCst) | Instruction::BusLock | Instruction::BusUnlock)
        || instruction.is_locked()
}

/// All attacks of a program against TSO: every store with every load of the same thread.
pub fn attacks(program: &HardwareProgram) -> Vec<Attack> {
    pairs(program, is_overtaking_load)
}

/// All attacks against TSO or PSO. Under PSO a store may also be overtaken by another store.
pub fn attacks_against(model: Model, program: &HardwareProgram) -> Vec<Attack> {
    match model {
        Model::Pso => {
            let mut attacks =
                pairs(program, |instruction| is_overtaking_load(instruction) || is_delayable(instruction));
            // A store waits for an earlier one to the same cell, so it never overtakes itself in a straight line; in a loop over
            // different cells it may.
            attacks.retain(|attack| attack.store != attack.load || !program.threads[attack.thread.0].is_acyclic());
            attacks
        }
        _ => attacks(program),
    }
}

/// How many pairs of a store and an access [`attacks_against`] would make at most, to be asked before it is.
pub(crate) fn count_attacks(program: &HardwareProgram) -> usize {
    count_pairs(program, |stores, loads| stores.saturating_mul(stores.saturating_add(loads)))
}

/// How many [`attacks`] makes.
pub(crate) fn count_tso_attacks(program: &HardwareProgram) -> usize {
    count_pairs(program, usize::saturating_mul)
}

/// The sum over threads, from the numbers of stores and loads.
fn count_pairs(program: &Program, of: fn(usize, usize) -> usize) -> usize {
    let in_thread = |thread: &ravelin_program::Thread| {
        let number = |pick: fn(&Instruction) -> bool| {
            thread.transitions.iter().filter(|transition| pick(&transition.instruction)).count()
        };
        of(number(is_delayable), number(is_overtaking_load))
    };
    program.threads.iter().map(in_thread).fold(0, usize::saturating_add)
}

fn pairs(program: &Program, overtakes: fn(&Instruction) -> bool) -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let those = |pick: fn(&Instruction) -> bool| {
            let transitions = thread.transitions.iter().enumerate();
            transitions.filter(move |(_, transition)| pick(&transition.instruction)).map(|(id, _)| TransitionId(id))
        };
        for store in those(is_delayable) {
            attacks.extend(those(overtakes).map(|load| Attack { thread: ThreadId(number), store, load }));
        }
    }
    attacks
}
