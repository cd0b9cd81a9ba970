//! Runs functions of LLVM IR on integers and pointers, as simply as possible: memory is bytes, and nothing is defined
//! before it is written.

use ravelin_frontend::ir::live::Liveness;
use ravelin_frontend::ir::module::{
    BinaryOperator, BlockId, CastOperator, Constant, Function, IrInstruction, LocalId, Module, Operand, Operation,
    Predicate, Terminator, Type, Value,
};
use std::collections::HashMap;

/// The bits of a value; `None`: it is undefined.
type Bits = Option<u128>;

pub struct Interpreter<'a> {
    module: &'a Module,
    function: &'a Function,
    /// If given, values that are not live are forgotten, and using one is a failure.
    liveness: Option<&'a Liveness>,
    locals: HashMap<LocalId, Bits>,
    memory: HashMap<u64, u8>,
    globals: Vec<u64>,
    next_address: u64,
    steps: usize,
}

/// What a function returned, and what the globals contain afterwards.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub returned: Bits,
    pub globals: Vec<Bits>,
}

pub fn run(module: &Module, function: &Function, arguments: &[u128], liveness: Option<&Liveness>) -> Outcome {
    let mut interpreter = Interpreter {
        module,
        function,
        liveness,
        locals: HashMap::new(),
        memory: HashMap::new(),
        globals: Vec::new(),
        next_address: 0x1000,
        steps: 100_000,
    };
    for global in &module.globals {
        let address = interpreter.allocate(&global.ty);
        interpreter.globals.push(address);
        let size = module.size_of(&global.ty).expect("a global has a size");
        (0..size).for_each(|offset| _ = interpreter.memory.insert(address + offset, 0));
    }
    for (parameter, argument) in function.parameters.iter().zip(arguments) {
        interpreter.locals.insert(parameter.local, Some(mask(*argument, function.type_of(parameter.local))));
    }
    let returned = interpreter.call();
    let globals = module.globals.iter().zip(&interpreter.globals);
    let globals = globals.flat_map(|(global, address)| {
        let size = module.size_of(&global.ty).expect("a global has a size");
        (0..size / 4).map(|word| interpreter.read(address + 4 * word, &Type::Int(32))).collect::<Vec<_>>()
    });
    Outcome { returned, globals: globals.collect() }
}

fn bits(ty: &Type) -> u32 {
    match ty {
        Type::Int(bits) => *bits,
        Type::Pointer => 64,
        other => panic!("{other:?} is not a scalar"),
    }
}

fn mask(value: u128, ty: &Type) -> u128 {
    value & (u128::MAX >> (128 - bits(ty)))
}

fn signed(value: u128, ty: &Type) -> i128 {
    let shift = 128 - bits(ty);
    (value as i128) << shift >> shift
}

impl Interpreter<'_> {
    fn call(&mut self) -> Bits {
        let mut block = BlockId(0);
        let mut before = None;
        loop {
            self.phis(block, before);
            if let Some(liveness) = self.liveness {
                let live = liveness.live_in(block);
                self.locals.retain(|local, _| live.contains(local));
            }
            let function = self.function;
            for (number, instruction) in function.block(block).instructions.iter().enumerate() {
                self.steps = self.steps.checked_sub(1).expect("the function ends");
                self.instruction(instruction);
                if let Some(liveness) = self.liveness {
                    let live = liveness.live_after(function, block, number);
                    self.locals.retain(|local, _| live.contains(local));
                }
            }
            before = Some(block);
            block = match &function.block(block).terminator {
                Terminator::Return(Some(value)) => return self.operand(value),
                Terminator::Return(None) => return None,
                Terminator::Jump(next) => *next,
                Terminator::Branch { condition, yes, no } => {
                    let condition = self.operand(condition).expect("a condition is defined");
                    if condition == 1 { *yes } else { *no }
                }
                Terminator::Switch { value, default, cases } => {
                    let chosen = signed(self.operand(value).expect("a switched value is defined"), &value.ty);
                    cases.iter().find(|(case, _)| *case == chosen).map_or(*default, |(_, block)| *block)
                }
                other => panic!("{other:?}"),
            };
        }
    }

    fn phis(&mut self, block: BlockId, before: Option<BlockId>) {
        let mut values = Vec::new();
        for instruction in &self.function.block(block).instructions {
            let Operation::Phi { ty, incoming } = &instruction.operation else { break };
            let before = before.expect("the entry has no phis");
            let (value, _) = incoming.iter().find(|(_, from)| *from == before).expect("every edge has its value");
            values.push((instruction.result.expect("a phi has a result"), self.value(value, ty)));
        }
        self.locals.extend(values);
    }

    fn instruction(&mut self, instruction: &IrInstruction) {
        let value = match &instruction.operation {
            Operation::Phi { .. } => return,
            // Far apart, and independent of what else is allocated.
            Operation::Alloca { count: None, .. } => instruction.result.map(|local| (u128::from(local.0) + 1) << 24),
            Operation::Load { ty, pointer, .. } => {
                let address = self.operand(pointer).expect("a pointer is defined") as u64;
                self.read(address, ty)
            }
            Operation::Store { value, pointer, .. } => {
                let address = self.operand(pointer).expect("a pointer is defined") as u64;
                let bits = self.operand(value);
                let size = self.module.size_of(&value.ty).expect("a scalar has a size");
                for byte in 0..size {
                    match bits {
                        Some(bits) => _ = self.memory.insert(address + byte, (bits >> (8 * byte)) as u8),
                        None => _ = self.memory.remove(&(address + byte)),
                    }
                }
                return;
            }
            Operation::GetElementPointer { source, base, indices } => Some(self.element(source, base, indices)),
            Operation::Binary { op, left, right } => match (self.operand(left), self.operand(right)) {
                (Some(a), Some(b)) => Some(mask(binary(*op, a, b, &left.ty), &left.ty)),
                _ => None,
            },
            Operation::Compare { predicate, left, right } => match (self.operand(left), self.operand(right)) {
                (Some(a), Some(b)) => Some(u128::from(compare(*predicate, a, b, &left.ty))),
                _ => None,
            },
            Operation::Cast { op, value, to } => self.operand(value).map(|bits| match op {
                CastOperator::SignExtend => mask(signed(bits, &value.ty) as u128, to),
                _ => mask(bits, to),
            }),
            Operation::Select { condition, yes, no } => match self.operand(condition) {
                Some(1) => self.operand(yes),
                Some(_) => self.operand(no),
                None => None,
            },
            Operation::Call(call) if call.returns == Type::Void => return,
            other => panic!("{other:?}"),
        };
        if let Some(result) = instruction.result {
            self.locals.insert(result, value);
        }
    }

    fn element(&mut self, source: &Type, base: &Operand, indices: &[Operand]) -> u128 {
        let mut address = self.operand(base).expect("a pointer is defined") as i128;
        let mut ty = source.clone();
        for (number, index) in indices.iter().enumerate() {
            let index = signed(self.operand(index).expect("an index is defined"), &index.ty);
            if number > 0 {
                match self.module.body(&ty).expect("the type is known").clone() {
                    Type::Array(_, element) => ty = *element,
                    _ => {
                        let (offset, field) = self.module.field(&ty, index as usize).expect("the field exists");
                        address += i128::from(offset);
                        ty = field.clone();
                        continue;
                    }
                }
            }
            address += index * i128::from(self.module.size_of(&ty).expect("an element has a size"));
        }
        mask(address as u128, &Type::Pointer)
    }

    fn allocate(&mut self, ty: &Type) -> u64 {
        let address = self.next_address;
        self.next_address += self.module.size_of(ty).expect("what is allocated has a size").next_multiple_of(16);
        address
    }

    fn read(&self, address: u64, ty: &Type) -> Bits {
        let size = self.module.size_of(ty).expect("a scalar has a size");
        let mut bits = 0;
        for byte in 0..size {
            bits |= u128::from(*self.memory.get(&(address + byte))?) << (8 * byte);
        }
        Some(mask(bits, ty))
    }

    fn operand(&self, operand: &Operand) -> Bits {
        self.value(&operand.value, &operand.ty)
    }

    fn value(&self, value: &Value, ty: &Type) -> Bits {
        match value {
            Value::Local(local) => *self
                .locals
                .get(local)
                .unwrap_or_else(|| panic!("%{} is not defined here", self.function.locals[local.0 as usize].name)),
            Value::Constant(Constant::Int(value)) => Some(mask(*value as u128, ty)),
            Value::Constant(Constant::Null | Constant::Zero) => Some(0),
            Value::Constant(Constant::Undefined) => None,
            Value::Constant(Constant::Global(number)) => Some(u128::from(self.globals[*number])),
            other => panic!("{other:?}"),
        }
    }
}

fn binary(op: BinaryOperator, a: u128, b: u128, ty: &Type) -> u128 {
    match op {
        BinaryOperator::Add => a.wrapping_add(b),
        BinaryOperator::Sub => a.wrapping_sub(b),
        BinaryOperator::Mul => a.wrapping_mul(b),
        BinaryOperator::And => a & b,
        BinaryOperator::Or => a | b,
        BinaryOperator::Xor => a ^ b,
        BinaryOperator::ShiftLeft => a << b,
        BinaryOperator::LogicalShiftRight => a >> b,
        BinaryOperator::ArithmeticShiftRight => (signed(a, ty) >> b) as u128,
        BinaryOperator::UnsignedDiv => a / b,
        BinaryOperator::UnsignedRem => a % b,
        BinaryOperator::SignedDiv => (signed(a, ty) / signed(b, ty)) as u128,
        BinaryOperator::SignedRem => (signed(a, ty) % signed(b, ty)) as u128,
    }
}

fn compare(predicate: Predicate, a: u128, b: u128, ty: &Type) -> bool {
    let (x, y) = (signed(a, ty), signed(b, ty));
    match predicate {
        Predicate::Equal => a == b,
        Predicate::NotEqual => a != b,
        Predicate::UnsignedGreater => a > b,
        Predicate::UnsignedGreaterEqual => a >= b,
        Predicate::UnsignedLess => a < b,
        Predicate::UnsignedLessEqual => a <= b,
        Predicate::SignedGreater => x > y,
        Predicate::SignedGreaterEqual => x >= y,
        Predicate::SignedLess => x < y,
        Predicate::SignedLessEqual => x <= y,
    }
}
