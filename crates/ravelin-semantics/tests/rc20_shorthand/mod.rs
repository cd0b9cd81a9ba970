//! A shorthand for straight-line programs, so that a test shows the program beside the claim.
//!
//! Threads are separated by `|`, instructions by `;`. Variables and registers are declared by being used; variables
//! start at 0. `W x 1 rel`, `R a x acq`, `F sc`, `ADD a x 1 rlx`, `SWAP a x 1 rlx`, `CAS a x 0 1 acq_rel acq` and `WEAK
//! …` (a gets whether it was written), `BCAS x 0 1 rlx`, `WAIT x 1 rlx`, `LOCK l`, `UNLOCK l`, `ASSUME a 1`, `ASSERT a
//! 1`. A written value may be a register.

// Every test program uses a part of this.

use ravelin_program::{
    Expr, Instruction, Order, Program, ProgramBuilder, RegId, RmwOp, ThreadBuilder, Variable, WaitCondition,
};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate, robust};

pub fn program(text: &str) -> Program {
    let mut builder = ProgramBuilder::new(text);
    for (index, body) in text.split('|').enumerate() {
        let instructions: Vec<Vec<&str>> = body
            .split(';')
            .map(|line| line.split_whitespace().collect())
            .filter(|line: &Vec<_>| !line.is_empty())
            .collect();
        for line in &instructions {
            if let Some(name) = variable_of(line)
                && builder.program.memory.find(name).is_none()
            {
                builder.variable(Variable::scalar(name));
            }
        }
        let memory = builder.program.memory.clone();
        let find = |name: &str| memory.find(name).expect("declared above").0;
        let mut thread = builder.thread(format!("p{index}"));
        for line in &instructions {
            instruction(&mut thread, line, &find);
        }
        thread.finish();
    }
    builder.finish().expect("a valid program")
}

/// Whether a complete execution ends with these values: `a=1 b=0 x=2`, of registers (the first of that name) and
/// variables.
pub fn allowed(text: &str, outcome: &str, reading: OrderReading) -> bool {
    let program = program(text);
    let all = enumerate(&program, reading, GraphLimits::default()).expect("small enough");
    all.final_states(&program).iter().any(|state| {
        outcome.split_whitespace().all(|claim| {
            let (name, value) = claim.split_once('=').expect("name=value");
            let found = match program.memory.find(name) {
                Some((_, variable)) => state.memory[&variable.base],
                None => (program.threads.iter().zip(&state.registers))
                    .find_map(|(thread, registers)| Some(registers[thread.find_register(name)?.0]))
                    .expect("a register of that name"),
            };
            found.to_string() == value
        })
    })
}

pub fn is_robust(text: &str, reading: OrderReading) -> bool {
    robust(&program(text), reading, GraphLimits::default()).expect("small enough").is_robust()
}

fn variable_of<'a>(line: &[&'a str]) -> Option<&'a str> {
    match line[0] {
        "W" | "WAIT" | "BCAS" | "LOCK" | "UNLOCK" => Some(line[1]),
        "R" | "ADD" | "SWAP" | "CAS" | "WEAK" => Some(line[2]),
        _ => None,
    }
}

fn instruction(thread: &mut ThreadBuilder<'_>, line: &[&str], find: &dyn Fn(&str) -> ravelin_program::VarId) {
    match *line {
        ["W", x, value, o] => {
            let value = operand(thread, value);
            thread.store(find(x), value, order(o));
        }
        ["R", a, x, o] => {
            let reg = register(thread, a);
            thread.load(reg, find(x), order(o));
        }
        ["F", o] => thread.fence(order(o)),
        [op @ ("ADD" | "SWAP"), a, x, value, o] => {
            let (old, operand) = (Some(register(thread, a)), operand(thread, value));
            let op = if op == "ADD" { RmwOp::Add } else { RmwOp::Exchange };
            let address = thread.address(find(x));
            thread.push(Instruction::Rmw {
                arithmetic: ravelin_program::Arithmetic::Checked,
                op,
                address,
                operand,
                order: order(o),
                old,
            });
        }
        [op @ ("CAS" | "WEAK"), a, x, expected, new, success, failure] => {
            let ok = Some(register(thread, a));
            let (expected, new) = (operand(thread, expected), operand(thread, new));
            let (success, failure) = (order(success), order(failure));
            let address = thread.address(find(x));
            let weak = op == "WEAK";
            thread.push(Instruction::CompareExchange { address, expected, new, success, failure, weak, old: None, ok });
        }
        ["BCAS", x, expected, new, o] => {
            let (expected, new) = (operand(thread, expected), operand(thread, new));
            let address = thread.address(find(x));
            thread.push(Instruction::BlockingCas { address, expected, new, order: order(o) });
        }
        ["WAIT", x, value, o] => {
            let condition = WaitCondition::equals(operand(thread, value));
            let address = thread.address(find(x));
            thread.push(Instruction::Wait { address, condition, order: order(o), old: None });
        }
        ["LOCK", l] => {
            let address = thread.address(find(l));
            thread.push(Instruction::Lock(address));
        }
        ["UNLOCK", l] => {
            let address = thread.address(find(l));
            thread.push(Instruction::Unlock(address));
        }
        ["ASSUME", a, value] => {
            let condition = operand(thread, a).eq(operand(thread, value));
            thread.push(Instruction::Assume(condition));
        }
        ["ASSERT", a, value] => {
            let condition = operand(thread, a).eq(operand(thread, value));
            thread.push(Instruction::Assert(condition));
        }
        _ => panic!("no such instruction: {line:?}"),
    }
}

fn operand(thread: &mut ThreadBuilder<'_>, text: &str) -> Expr {
    match text.parse() {
        Ok(value) => Expr::Const(value),
        Err(_) => register(thread, text).into(),
    }
}

fn register(thread: &mut ThreadBuilder<'_>, name: &str) -> RegId {
    match thread.thread.find_register(name) {
        Some(register) => register,
        None => thread.register(name),
    }
}

fn order(text: &str) -> Order {
    match text {
        "na" => Order::NonAtomic,
        "rlx" => Order::Relaxed,
        "acq" => Order::Acquire,
        "rel" => Order::Release,
        "acq_rel" => Order::AcqRel,
        "sc" => Order::SeqCst,
        _ => panic!("no such order: {text}"),
    }
}
