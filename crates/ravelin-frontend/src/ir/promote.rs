//! Local variables become values, as by LLVM's mem2reg: clang puts every variable of C into memory, and most of them are
//! only loaded and stored.
//!
//! A variable is promoted if everything that happens to its address is an ordinary load or store of the whole variable, a
//! marker of its lifetime, or a cast. Phis are placed where its definitions meet and it is live (pruned SSA: Cytron et al.,
//! *Efficiently Computing Static Single Assignment Form and the Control Dependence Graph*, 1991). A variable is undefined
//! from its allocation or the beginning of its lifetime on. Blocks that are never reached lose their contents.
//!
//! Time is about linear in the function in practice. A function that needs far more steps keeps its variables in memory.

use super::dominance::Dominance;
use super::module::{
    Block, BlockId, Callee, CastOperator, Constant, Function, IrInstruction, Local, LocalId, Module, Operand,
    Operation, Place, SourceVariable, Terminator, Type, Value,
};
use std::collections::{HashMap, HashSet};

/// Blocks that are looked at for all variables together.
const MOST_STEPS: usize = 20_000_000;

/// Number of a variable.
type Number = usize;

/// Turns local variables into values where that is possible.
pub fn promote(module: &Module, function: &mut Function) {
    let Some(dominance) = Dominance::of(function) else { return };
    clear_unreachable(function, &dominance);
    if !dominance.predecessors[0].is_empty() {
        // LLVM does not allow it, and there would be no place for the first value of a phi.
        return;
    }
    let mut candidates = Candidates::of(module, function);
    let phis = place_phis(function, &mut candidates, &dominance);
    let mut renaming = Renaming {
        values: vec![Value::Constant(Constant::Undefined); candidates.variables.len()],
        candidates,
        phis,
        log: Vec::new(),
        names: Vec::new(),
        replaced: HashMap::new(),
        casts: HashMap::new(),
        made: HashSet::new(),
    };
    renaming.walk(function, &dominance);
    renaming.finish(function);
}

fn clear_unreachable(function: &mut Function, dominance: &Dominance) {
    for (number, block) in function.blocks.iter_mut().enumerate() {
        if !dominance.is_reachable(BlockId(number as u32)) {
            block.instructions.clear();
            block.terminator = Terminator::Unreachable;
        }
        for instruction in &mut block.instructions {
            if let Operation::Phi { incoming, .. } = &mut instruction.operation {
                incoming.retain(|(_, block)| dominance.is_reachable(*block));
            }
        }
    }
}

// Which variables.

/// A variable that may become a value.
struct Candidate {
    alloca: LocalId,
    place: Place,
    /// What was allocated, in bytes.
    size: Option<u64>,
    /// Of the value; `None`: it is not known yet, or there is no access.
    ty: Option<Type>,
    promoted: bool,
}

struct Candidates<'a> {
    module: &'a Module,
    variables: Vec<Candidate>,
    /// Per local: the variable of which it is the address.
    addresses: Vec<Option<Number>>,
}

/// What an instruction does to a variable.
enum Access {
    Load(Number),
    Store(Number),
    /// It has no value from here on.
    Forget(Number),
    /// Another name for its address.
    Address,
}

impl<'a> Candidates<'a> {
    fn of(module: &'a Module, function: &Function) -> Candidates<'a> {
        let mut found = Candidates { module, variables: Vec::new(), addresses: vec![None; function.locals.len()] };
        let instructions = || function.blocks.iter().flat_map(|block| &block.instructions);
        let mut derived: HashMap<LocalId, Vec<LocalId>> = HashMap::new();
        for instruction in instructions() {
            let Some(result) = instruction.result else { continue };
            if let Operation::Alloca { ty, count: None, .. } = &instruction.operation {
                found.addresses[result.0 as usize] = Some(found.variables.len());
                found.variables.push(Candidate {
                    alloca: result,
                    place: instruction.place,
                    size: module.size_of(ty),
                    ty: scalar_bits(ty).map(|_| ty.clone()),
                    promoted: true,
                });
            } else if let Some(base) = same_address(&instruction.operation) {
                derived.entry(base).or_default().push(result);
            }
        }
        let mut reached: Vec<LocalId> = found.variables.iter().map(|variable| variable.alloca).collect();
        while let Some(base) = reached.pop() {
            for local in derived.remove(&base).unwrap_or_default() {
                found.addresses[local.0 as usize] = found.addresses[base.0 as usize];
                reached.push(local);
            }
        }
        for instruction in instructions() {
            found.check(&instruction.operation);
        }
        for block in &function.blocks {
            block.terminator.each_value(&mut |value| found.refuse(value));
        }
        for &local in &function.hidden {
            found.refuse(&Value::Local(local));
        }
        found
    }

    fn variable_of(&self, value: &Value) -> Option<Number> {
        self.addresses.get(value.local()?.0 as usize).copied().flatten()
    }

    fn refuse(&mut self, value: &Value) {
        if let Some(number) = self.variable_of(value) {
            self.variables[number].promoted = false;
        }
    }

    fn check(&mut self, operation: &Operation) {
        match operation {
            Operation::Load { ty, pointer, order: None, volatile: false } => self.check_access(&pointer.value, ty),
            Operation::Store { value, pointer, order: None, volatile: false } => {
                self.refuse(&value.value);
                if !is_small(&value.value) {
                    self.refuse(&pointer.value);
                }
                self.check_access(&pointer.value, &value.ty);
            }
            Operation::Call(call) if self.is_lifetime(&call.callee) => {}
            _ if same_address(operation).is_some() => {}
            _ => operation.each_value(&mut |value| self.refuse(value)),
        }
    }

    /// An access must be of the whole variable.
    fn check_access(&mut self, pointer: &Value, ty: &Type) {
        let Some(number) = self.variable_of(pointer) else { return };
        let size = self.module.size_of(ty);
        let variable = &mut self.variables[number];
        let bits = scalar_bits(ty);
        variable.promoted &= bits.is_some() && size == variable.size;
        match &variable.ty {
            Some(known) => variable.promoted &= scalar_bits(known) == bits,
            None => variable.ty = Some(ty.clone()),
        }
    }

    fn is_lifetime(&self, callee: &Callee) -> bool {
        let Callee::Value(Value::Constant(Constant::Function(number))) = callee else { return false };
        self.module.functions.get(*number).is_some_and(|function| function.name.starts_with("llvm.lifetime."))
    }

    /// What is done to a promoted variable.
    fn access(&self, instruction: &IrInstruction) -> Option<Access> {
        let promoted = |value: &Value| self.variable_of(value).filter(|number| self.variables[*number].promoted);
        match &instruction.operation {
            Operation::Load { pointer, .. } => Some(Access::Load(promoted(&pointer.value)?)),
            Operation::Store { pointer, .. } => Some(Access::Store(promoted(&pointer.value)?)),
            Operation::Alloca { .. } => Some(Access::Forget(promoted(&Value::Local(instruction.result?))?)),
            Operation::Call(call) if self.is_lifetime(&call.callee) => {
                Some(Access::Forget(call.arguments.iter().find_map(|argument| promoted(&argument.value))?))
            }
            operation => promoted(&Value::Local(same_address(operation)?)).map(|_| Access::Address),
        }
    }
}

/// Whether a value may be copied to every load of it.
fn is_small(value: &Value) -> bool {
    fn count(value: &Value, rest: &mut usize) {
        *rest = rest.saturating_sub(1);
        match value {
            _ if *rest == 0 => {}
            Value::Constant(Constant::Float(text)) => *rest = rest.saturating_sub(text.len() / 16),
            Value::Constant(Constant::Aggregate(elements)) => {
                elements.iter().for_each(|element| count(&element.value, rest));
            }
            Value::Constant(Constant::Bytes(bytes)) => *rest = rest.saturating_sub(bytes.len()),
            Value::Constant(Constant::Expression(operation)) => operation.each_value(&mut |value| count(value, rest)),
            _ => {}
        }
    }
    let mut rest = 64;
    count(value, &mut rest);
    rest > 0
}

/// How many bits a value has that may become a register.
fn scalar_bits(ty: &Type) -> Option<u32> {
    match ty {
        Type::Int(bits) => Some(*bits),
        Type::Pointer => Some(64),
        Type::Float(bits @ (16 | 32 | 64)) => Some(*bits),
        _ => None,
    }
}

/// The address that an operation gives back as it is.
fn same_address(operation: &Operation) -> Option<LocalId> {
    match operation {
        Operation::Cast { op: CastOperator::Bitcast, value, to: Type::Pointer } => value.value.local(),
        Operation::GetElementPointer { base, indices, .. } => {
            let zero = |index: &Operand| matches!(index.value, Value::Constant(Constant::Int(0) | Constant::Zero));
            if indices.iter().all(zero) { base.value.local() } else { None }
        }
        _ => None,
    }
}

// Where phis are.

struct Phi {
    variable: Number,
    local: LocalId,
    incoming: Vec<(Value, BlockId)>,
}

/// Per block: the phis that it begins with.
type Phis = HashMap<BlockId, Vec<Phi>>;

fn place_phis(function: &mut Function, candidates: &mut Candidates, dominance: &Dominance) -> Phis {
    let count = candidates.variables.len();
    // Per variable: the blocks that load it before they change it, and those that change it.
    let mut exposed: Vec<Vec<BlockId>> = vec![Vec::new(); count];
    let mut changed: Vec<Vec<BlockId>> = vec![Vec::new(); count];
    for &block in &dominance.order {
        for instruction in &function.block(block).instructions {
            match candidates.access(instruction) {
                Some(Access::Load(number))
                    if changed[number].last() != Some(&block) && exposed[number].last() != Some(&block) =>
                {
                    exposed[number].push(block);
                }
                Some(Access::Store(number) | Access::Forget(number)) if changed[number].last() != Some(&block) => {
                    changed[number].push(block);
                }
                _ => {}
            }
        }
    }
    let mut phis = Phis::new();
    let mut steps = MOST_STEPS;
    // Per block: the last variable, counted from one, that is live there, is changed there, has a phi there.
    let mut live = vec![0; function.blocks.len()];
    let mut ends = vec![0; function.blocks.len()];
    let mut placed = vec![0; function.blocks.len()];
    for number in 0..count {
        let Some(ty) = candidates.variables[number].ty.clone().filter(|_| candidates.variables[number].promoted) else {
            continue;
        };
        let mark = number + 1;
        changed[number].iter().for_each(|block| ends[block.0 as usize] = mark);
        let mut work = std::mem::take(&mut exposed[number]);
        work.iter().for_each(|block| live[block.0 as usize] = mark);
        while let Some(block) = work.pop() {
            for &before in &dominance.predecessors[block.0 as usize] {
                steps = steps.saturating_sub(1);
                let at = before.0 as usize;
                if ends[at] != mark && live[at] != mark {
                    live[at] = mark;
                    work.push(before);
                }
            }
        }
        let mut work = std::mem::take(&mut changed[number]);
        let mut found = Vec::new();
        while let Some(block) = work.pop() {
            for &end in &dominance.frontier[block.0 as usize] {
                steps = steps.saturating_sub(1);
                let at = end.0 as usize;
                if live[at] == mark && placed[at] != mark {
                    placed[at] = mark;
                    found.push(end);
                    work.push(end);
                }
            }
        }
        if steps == 0 {
            // This variable and the later ones stay in memory.
            candidates.variables[number..].iter_mut().for_each(|variable| variable.promoted = false);
            break;
        }
        for block in found {
            let local = new_local(&mut function.locals, candidates.variables[number].alloca, ty.clone());
            phis.entry(block).or_default().push(Phi { variable: number, local, incoming: Vec::new() });
        }
    }
    phis
}

/// A local that is named after another. No name in a text is like it, unless it is quoted.
fn new_local(locals: &mut Vec<Local>, after: LocalId, ty: Type) -> LocalId {
    let local = LocalId(locals.len() as u32);
    let start: String = locals[after.0 as usize].name.chars().take(60).collect();
    let name = format!("{start}#{}", local.0);
    locals.push(Local { name, ty });
    local
}

// Values instead of loads.

struct Renaming<'a> {
    candidates: Candidates<'a>,
    phis: Phis,
    /// Per variable: its value where the walk is.
    values: Vec<Value>,
    /// What to restore where the walk goes back.
    log: Vec<(Number, Value)>,
    /// Values that were stored into a variable.
    names: Vec<(LocalId, Number)>,
    /// What stands for the results of loads.
    replaced: HashMap<LocalId, Value>,
    /// What casts were made of.
    casts: HashMap<LocalId, Operand>,
    /// Casts that are not in the text.
    made: HashSet<LocalId>,
}

impl Renaming<'_> {
    /// Goes down the tree of dominators.
    fn walk(&mut self, function: &mut Function, dominance: &Dominance) {
        enum Step {
            Enter(BlockId),
            Leave(usize),
        }
        let mut stack = vec![Step::Enter(BlockId(0))];
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(block) => {
                    stack.push(Step::Leave(self.log.len()));
                    self.block(function, block);
                    stack.extend(dominance.children[block.0 as usize].iter().map(|child| Step::Enter(*child)));
                }
                Step::Leave(length) => {
                    for (number, value) in self.log.drain(length..).rev() {
                        self.values[number] = value;
                    }
                }
            }
        }
    }

    fn block(&mut self, function: &mut Function, id: BlockId) {
        let begun: Vec<_> = self.phis.get(&id).into_iter().flatten().map(|phi| (phi.variable, phi.local)).collect();
        for (variable, local) in begun {
            self.set(variable, Value::Local(local));
            self.names.push((local, variable));
        }
        let block = &mut function.blocks[id.0 as usize];
        let old = std::mem::take(&mut block.instructions);
        let mut kept = Vec::with_capacity(old.len());
        for instruction in old {
            self.instruction(&mut function.locals, &mut kept, instruction);
        }
        block.instructions = kept;
        let mut next = block.terminator.successors();
        next.sort();
        next.dedup();
        for next in next {
            for phi in self.phis.get_mut(&next).into_iter().flatten() {
                phi.incoming.push((self.values[phi.variable].clone(), id));
            }
        }
    }

    fn set(&mut self, variable: Number, value: Value) {
        let old = std::mem::replace(&mut self.values[variable], value);
        self.log.push((variable, old));
    }

    fn instruction(&mut self, locals: &mut Vec<Local>, kept: &mut Vec<IrInstruction>, instruction: IrInstruction) {
        let access = self.candidates.access(&instruction);
        let IrInstruction { result, operation, place } = instruction;
        match (access, operation) {
            (None, operation) => kept.push(IrInstruction { result, operation, place }),
            (Some(Access::Forget(variable)), _) => self.set(variable, Value::Constant(Constant::Undefined)),
            (Some(Access::Load(variable)), Operation::Load { ty, .. }) => {
                let Some(known) = self.candidates.variables[variable].ty.clone() else { return };
                let value = Operand { ty: known, value: self.values[variable].clone() };
                let value = self.convert(value, &ty, place, locals, kept, variable);
                if let Some(result) = result {
                    self.replaced.insert(result, value);
                }
            }
            (Some(Access::Store(variable)), Operation::Store { mut value, .. }) => {
                let Some(known) = self.candidates.variables[variable].ty.clone() else { return };
                resolve(&self.replaced, &mut value.value);
                if let Value::Local(local) = value.value {
                    self.names.push((local, variable));
                }
                let value = self.convert(value, &known, place, locals, kept, variable);
                self.set(variable, value);
            }
            (Some(_), _) => {}
        }
    }

    /// A value as one of another type that has as many bits.
    fn convert(
        &mut self,
        from: Operand,
        to: &Type,
        place: Place,
        locals: &mut Vec<Local>,
        kept: &mut Vec<IrInstruction>,
        variable: Number,
    ) -> Value {
        if from.ty == *to {
            return from.value;
        }
        match &from.value {
            Value::Constant(Constant::Undefined) => return from.value,
            Value::Constant(Constant::Null | Constant::Zero | Constant::Int(0)) => {
                return Value::Constant(match to {
                    Type::Int(_) => Constant::Int(0),
                    Type::Pointer => Constant::Null,
                    _ => Constant::Zero,
                });
            }
            Value::Local(local) => {
                if let Some(before) = self.casts.get(local).filter(|before| before.ty == *to) {
                    return before.value.clone();
                }
            }
            Value::Constant(_) => {}
        }
        let op = match (&from.ty, to) {
            (Type::Pointer, Type::Int(_)) => CastOperator::PointerToInt,
            (Type::Int(_), Type::Pointer) => CastOperator::IntToPointer,
            _ => CastOperator::Bitcast,
        };
        let local = new_local(locals, self.candidates.variables[variable].alloca, to.clone());
        self.casts.insert(local, from.clone());
        self.made.insert(local);
        let operation = Operation::Cast { op, value: from, to: to.clone() };
        kept.push(IrInstruction { result: Some(local), operation, place });
        Value::Local(local)
    }

    fn finish(mut self, function: &mut Function) {
        for (number, block) in function.blocks.iter_mut().enumerate() {
            self.begin(block, BlockId(number as u32));
            for instruction in &mut block.instructions {
                instruction.operation.each_value_mut(&mut |value| resolve(&self.replaced, value));
            }
            block.terminator.each_value_mut(&mut |value| resolve(&self.replaced, value));
        }
        let mut used = vec![false; function.locals.len()];
        let mut note = |value: &Value| value.local().into_iter().for_each(|local| used[local.0 as usize] = true);
        for block in &function.blocks {
            block.instructions.iter().for_each(|instruction| instruction.operation.each_value(&mut note));
            block.terminator.each_value(&mut note);
        }
        for block in &mut function.blocks {
            block.instructions.retain(|instruction| {
                instruction.result.is_none_or(|result| !self.made.contains(&result) || used[result.0 as usize])
            });
        }
        self.rename(function);
    }

    /// Puts phis at the beginning of a block.
    fn begin(&mut self, block: &mut Block, id: BlockId) {
        let Some(phis) = self.phis.remove(&id) else { return };
        let phi = |phi: Phi| {
            let variable = &self.candidates.variables[phi.variable];
            let ty = variable.ty.clone().unwrap_or(Type::Other);
            let operation = Operation::Phi { ty, incoming: phi.incoming };
            IrInstruction { result: Some(phi.local), operation, place: Place { debug: None, ..variable.place } }
        };
        block.instructions.splice(0..0, phis.into_iter().map(phi));
    }

    /// What stood for a variable of the source no longer exists; its values have its name.
    fn rename(&self, function: &mut Function) {
        let mut sources: Vec<Option<(String, u32)>> = vec![None; self.candidates.variables.len()];
        let mut kept = Vec::new();
        for mut variable in std::mem::take(&mut function.variables) {
            let number = self.candidates.addresses.get(variable.local.0 as usize).copied().flatten();
            match number.filter(|number| self.candidates.variables[*number].promoted) {
                Some(number) => _ = sources[number].get_or_insert((variable.name, variable.node)),
                None => {
                    let mut value = Value::Local(variable.local);
                    resolve(&self.replaced, &mut value);
                    if let Value::Local(local) = value {
                        variable.local = local;
                        kept.push(variable);
                    }
                }
            }
        }
        let mut known: HashSet<(LocalId, u32)> = kept.iter().map(|variable| (variable.local, variable.node)).collect();
        for (local, number) in &self.names {
            if let Some((name, node)) = &sources[*number]
                && known.insert((*local, *node))
            {
                kept.push(SourceVariable { local: *local, name: name.clone(), node: *node });
            }
        }
        function.variables = kept;
    }
}

/// What stands for a value now. Where a definition does not dominate a use, replacements may form a circle.
fn resolve(replaced: &HashMap<LocalId, Value>, value: &mut Value) {
    for _ in 0..64 {
        match value.local().and_then(|local| replaced.get(&local)) {
            Some(next) => *value = next.clone(),
            None => return,
        }
    }
    *value = Value::Constant(Constant::Undefined);
}
