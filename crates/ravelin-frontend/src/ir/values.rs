//! The values that instructions use.

use super::module::{Call, Callee, LocalId, Operation, Terminator, Value};

impl Value {
    pub fn local(&self) -> Option<LocalId> {
        match self {
            Value::Local(local) => Some(*local),
            Value::Constant(_) => None,
        }
    }
}

impl Operation {
    /// Visits the values that are used, in the order in which they are written.
    pub fn each_value(&self, visit: &mut impl FnMut(&Value)) {
        match self {
            Operation::Alloca { count, .. } => {
                if let Some(count) = count {
                    visit(&count.value);
                }
            }
            Operation::Load { pointer, .. } => visit(&pointer.value),
            Operation::Store { value, pointer, .. } => {
                visit(&value.value);
                visit(&pointer.value);
            }
            Operation::CompareExchange { pointer, expected, new, .. } => {
                visit(&pointer.value);
                visit(&expected.value);
                visit(&new.value);
            }
            Operation::ReadModifyWrite { pointer, operand, .. } => {
                visit(&pointer.value);
                visit(&operand.value);
            }
            Operation::Fence { .. } | Operation::Unsupported(_) => {}
            Operation::GetElementPointer { base, indices, .. } => {
                visit(&base.value);
                indices.iter().for_each(|index| visit(&index.value));
            }
            Operation::Binary { left, right, .. } | Operation::Compare { left, right, .. } => {
                visit(&left.value);
                visit(&right.value);
            }
            Operation::Float { operands, .. } => operands.iter().for_each(|operand| visit(&operand.value)),
            Operation::Select { condition, yes, no } => {
                visit(&condition.value);
                visit(&yes.value);
                visit(&no.value);
            }
            Operation::Phi { incoming, .. } => incoming.iter().for_each(|(value, _)| visit(value)),
            Operation::ExtractValue { aggregate, .. } => visit(&aggregate.value),
            Operation::InsertValue { aggregate, value, .. } => {
                visit(&aggregate.value);
                visit(&value.value);
            }
            Operation::Cast { value, .. } | Operation::Freeze(value) => visit(&value.value),
            Operation::Call(call) => call.each_value(visit),
        }
    }

    /// The same, to change them.
    pub fn each_value_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        match self {
            Operation::Alloca { count, .. } => {
                if let Some(count) = count {
                    visit(&mut count.value);
                }
            }
            Operation::Load { pointer, .. } => visit(&mut pointer.value),
            Operation::Store { value, pointer, .. } => {
                visit(&mut value.value);
                visit(&mut pointer.value);
            }
            Operation::CompareExchange { pointer, expected, new, .. } => {
                visit(&mut pointer.value);
                visit(&mut expected.value);
                visit(&mut new.value);
            }
            Operation::ReadModifyWrite { pointer, operand, .. } => {
                visit(&mut pointer.value);
                visit(&mut operand.value);
            }
            Operation::Fence { .. } | Operation::Unsupported(_) => {}
            Operation::GetElementPointer { base, indices, .. } => {
                visit(&mut base.value);
                indices.iter_mut().for_each(|index| visit(&mut index.value));
            }
            Operation::Binary { left, right, .. } | Operation::Compare { left, right, .. } => {
                visit(&mut left.value);
                visit(&mut right.value);
            }
            Operation::Float { operands, .. } => operands.iter_mut().for_each(|operand| visit(&mut operand.value)),
            Operation::Select { condition, yes, no } => {
                visit(&mut condition.value);
                visit(&mut yes.value);
                visit(&mut no.value);
            }
            Operation::Phi { incoming, .. } => incoming.iter_mut().for_each(|(value, _)| visit(value)),
            Operation::ExtractValue { aggregate, .. } => visit(&mut aggregate.value),
            Operation::InsertValue { aggregate, value, .. } => {
                visit(&mut aggregate.value);
                visit(&mut value.value);
            }
            Operation::Cast { value, .. } | Operation::Freeze(value) => visit(&mut value.value),
            Operation::Call(call) => call.each_value_mut(visit),
        }
    }
}

impl Call {
    /// Visits the values that are used, in the order in which they are written.
    pub fn each_value(&self, visit: &mut impl FnMut(&Value)) {
        if let Callee::Value(callee) = &self.callee {
            visit(callee);
        }
        self.arguments.iter().for_each(|argument| visit(&argument.value));
    }

    /// The same, to change them.
    pub fn each_value_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        if let Callee::Value(callee) = &mut self.callee {
            visit(callee);
        }
        self.arguments.iter_mut().for_each(|argument| visit(&mut argument.value));
    }
}

impl Terminator {
    /// Visits the values that are used, in the order in which they are written.
    pub fn each_value(&self, visit: &mut impl FnMut(&Value)) {
        match self {
            Terminator::Return(Some(value)) => visit(&value.value),
            Terminator::Branch { condition, .. } => visit(&condition.value),
            Terminator::Switch { value, .. } => visit(&value.value),
            Terminator::Invoke { call, .. } => call.each_value(visit),
            Terminator::Return(None) | Terminator::Jump(_) | Terminator::Unreachable | Terminator::Unsupported(_) => {}
        }
    }

    /// The same, to change them.
    pub fn each_value_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        match self {
            Terminator::Return(Some(value)) => visit(&mut value.value),
            Terminator::Branch { condition, .. } => visit(&mut condition.value),
            Terminator::Switch { value, .. } => visit(&mut value.value),
            Terminator::Invoke { call, .. } => call.each_value_mut(visit),
            Terminator::Return(None) | Terminator::Jump(_) | Terminator::Unreachable | Terminator::Unsupported(_) => {}
        }
    }
}
