//! Instructions. One line is one instruction, as LLVM prints them; some continue on the next lines.

use super::body::Line;
use super::{Kind, Parse, Parser};
use crate::ir::module::{
    AtomicOrder, BinaryOperator, BlockId, CastOperator, IrInstruction, Operand, Operation, Place, Predicate,
    RmwOperator, Terminator, Type, Value,
};
use crate::parsing::Token as _;

/// What follows an instruction.
struct Tail {
    debug: Option<u32>,
    /// Nothing on the line was left over.
    complete: bool,
}

impl<'a> Parser<'a> {
    pub fn line(&mut self) -> Parse<Line> {
        let start = self.cursor.at;
        let mut result = None;
        if self.cursor.token().kind == Kind::Local && self.cursor.ahead(1).kind == Kind::Symbol(b'=') {
            result = Some(self.cursor.token());
            self.cursor.at += 2;
        }
        let Some(word) = self.cursor.word() else { return self.unexpected("an instruction") };
        self.cursor.at += 1;
        let terminator = is_terminator(word);
        let read = if terminator { self.terminator(word, result) } else { self.instruction(word) };
        let (mut line, ty) = match read {
            Ok(read) => read,
            Err(error) => {
                // One error is enough: what uses the result is not to blame.
                if result.is_some() {
                    let span = self.cursor.nth(start).span();
                    _ = self.define_local(result, Type::Other, span);
                }
                return Err(error);
            }
        };
        let tail = self.tail();
        let place = Place { span: self.span_from(start), debug: tail.debug };
        if !tail.complete {
            self.skip_unknown();
            match &mut line {
                Line::IrInstruction(instruction) => instruction.operation = Operation::Unsupported(word.to_owned()),
                Line::Terminator(terminator, _) => *terminator = Terminator::Unsupported(word.to_owned()),
                Line::Nothing => {}
            }
        }
        let span = self.cursor.nth(start).span();
        let local = match (&ty, result) {
            (Type::Void, None) => None,
            (Type::Void, Some(_)) => return self.fail(span, format!("`{word}` has no result")),
            _ if terminator => None,
            (Type::Other, None) => None,
            _ => Some(self.define_local(result, ty, span)?),
        };
        match &mut line {
            Line::IrInstruction(instruction) => (instruction.result, instruction.place) = (local, place),
            Line::Terminator(_, at) => *at = place,
            Line::Nothing => {}
        }
        Ok(line)
    }

    fn instruction(&mut self, word: &'a str) -> Parse<(Line, Type)> {
        let called = match word {
            "call" => self.call()?,
            "tail" | "musttail" | "notail" if self.cursor.eat_word("call") => self.call()?,
            _ => {
                let (operation, ty) = self.operation(word, false)?;
                return Ok((instruction(operation), ty));
            }
        };
        Ok(match called {
            Some(call) => {
                let ty = call.returns.clone();
                (instruction(Operation::Call(call)), ty)
            }
            None => (Line::Nothing, Type::Void),
        })
    }

    /// After its keyword. Constant expressions have parentheses, and a type before every operand; their closing
    /// parenthesis is left.
    pub fn operation(&mut self, word: &'a str, constant: bool) -> Parse<(Operation, Type)> {
        if let Some(op) = binary_operator(word) {
            let (left, right) = self.two_operands(constant)?;
            let ty = left.ty.clone();
            return Ok((Operation::Binary { op, left, right }, ty));
        }
        if let Some(op) = cast_operator(word) {
            self.begin_operands(constant)?;
            let value = self.operand()?;
            self.expect_word("to")?;
            let to = self.ty()?;
            return Ok((Operation::Cast { op, value, to: to.clone() }, to));
        }
        match word {
            "alloca" => self.alloca(),
            "load" => self.load(),
            "store" => self.store(),
            "cmpxchg" => self.compare_exchange(),
            "atomicrmw" => self.read_modify_write(),
            "fence" => {
                let compiler_only = self.scope();
                let order = self.order()?;
                Ok((Operation::Fence { order, compiler_only }, Type::Void))
            }
            "getelementptr" => self.element_pointer(constant),
            "icmp" => {
                self.cursor.eat_word("samesign");
                let predicate = match self.cursor.word().and_then(predicate) {
                    Some(predicate) => predicate,
                    None => return self.unexpected("a predicate"),
                };
                self.cursor.at += 1;
                let (left, right) = self.two_operands(constant)?;
                let ty = truth(&left.ty);
                Ok((Operation::Compare { predicate, left, right }, ty))
            }
            "fcmp" | "fadd" | "fsub" | "fmul" | "fdiv" | "frem" => {
                let (left, right) = self.two_operands(constant)?;
                let ty = if word == "fcmp" { truth(&left.ty) } else { left.ty.clone() };
                Ok((Operation::Float { name: word.to_owned(), operands: vec![left, right] }, ty))
            }
            "fneg" => {
                self.begin_operands(constant)?;
                let operand = self.operand()?;
                let ty = operand.ty.clone();
                Ok((Operation::Float { name: word.to_owned(), operands: vec![operand] }, ty))
            }
            "select" => {
                self.begin_operands(constant)?;
                let condition = self.operand()?;
                self.expect(b',')?;
                let yes = self.operand()?;
                self.expect(b',')?;
                let no = self.operand()?;
                let ty = yes.ty.clone();
                Ok((Operation::Select { condition, yes, no }, ty))
            }
            "phi" if !constant => self.phi(),
            "extractvalue" => {
                self.begin_operands(constant)?;
                let aggregate = self.operand()?;
                let indices = self.indices()?;
                let ty = self.part_type(&aggregate.ty, &indices)?;
                Ok((Operation::ExtractValue { aggregate, indices }, ty))
            }
            "insertvalue" => {
                self.begin_operands(constant)?;
                let aggregate = self.operand()?;
                self.expect(b',')?;
                let value = self.operand()?;
                let indices = self.indices()?;
                let ty = aggregate.ty.clone();
                Ok((Operation::InsertValue { aggregate, value, indices }, ty))
            }
            "freeze" => {
                let value = self.operand()?;
                let ty = value.ty.clone();
                Ok((Operation::Freeze(value), ty))
            }
            _ if constant => self.unexpected("a constant"),
            _ => {
                self.skip_unknown();
                Ok((Operation::Unsupported(word.to_owned()), Type::Other))
            }
        }
    }

    // Memory.

    fn alloca(&mut self) -> Parse<(Operation, Type)> {
        self.cursor.eat_word("inalloca");
        self.cursor.eat_word("swifterror");
        let ty = self.ty()?;
        let mut count = None;
        let mut align = None;
        while self.cursor.is(b',') && self.cursor.ahead(1).kind != Kind::MetadataName {
            self.cursor.at += 1;
            if self.cursor.eat_word("align") {
                align = Some(self.number()?);
            } else if self.cursor.eat_word("addrspace") {
                self.skip_balanced();
            } else {
                count = Some(self.operand()?);
            }
        }
        // One of it is what there is without a count.
        count = count.filter(|count| count.value != Value::Constant(crate::ir::module::Constant::Int(1)));
        Ok((Operation::Alloca { ty, count, align }, Type::Pointer))
    }

    fn load(&mut self) -> Parse<(Operation, Type)> {
        let atomic = self.cursor.eat_word("atomic");
        let volatile = self.cursor.eat_word("volatile");
        let ty = self.ty()?;
        self.expect(b',')?;
        let pointer = self.operand()?;
        let single_thread = atomic && self.scope();
        let order = if atomic { Some(self.order()?) } else { None };
        let operation = match single_thread {
            true => Operation::Unsupported("load with a scope".to_owned()),
            false => Operation::Load { ty: ty.clone(), pointer, order, volatile },
        };
        Ok((operation, ty))
    }

    fn store(&mut self) -> Parse<(Operation, Type)> {
        let start = self.cursor.at;
        let atomic = self.cursor.eat_word("atomic");
        let volatile = self.cursor.eat_word("volatile");
        let value = self.operand()?;
        self.expect(b',')?;
        let pointer = self.operand()?;
        let single_thread = atomic && self.scope();
        let order = if atomic { Some(self.order()?) } else { None };
        if single_thread {
            self.hide(start..self.cursor.at);
            return Ok((Operation::Unsupported("store with a scope".to_owned()), Type::Void));
        }
        Ok((Operation::Store { value, pointer, order, volatile }, Type::Void))
    }

    fn compare_exchange(&mut self) -> Parse<(Operation, Type)> {
        let start = self.cursor.at;
        let weak = self.cursor.eat_word("weak");
        self.cursor.eat_word("volatile");
        let pointer = self.operand()?;
        self.expect(b',')?;
        let expected = self.operand()?;
        self.expect(b',')?;
        let new = self.operand()?;
        let single_thread = self.scope();
        let success = self.order()?;
        let failure = self.order()?;
        let ty = Type::Struct { fields: vec![expected.ty.clone(), Type::Int(1)], packed: false };
        if single_thread {
            self.hide(start..self.cursor.at);
            return Ok((Operation::Unsupported("cmpxchg with a scope".to_owned()), ty));
        }
        Ok((Operation::CompareExchange { pointer, expected, new, success, failure, weak }, ty))
    }

    fn read_modify_write(&mut self) -> Parse<(Operation, Type)> {
        let start = self.cursor.at;
        self.cursor.eat_word("elementwise");
        self.cursor.eat_word("volatile");
        let Some(word) = self.cursor.word() else { return self.unexpected("an operation") };
        self.cursor.at += 1;
        let op = match word {
            "xchg" => RmwOperator::Exchange,
            "add" => RmwOperator::Add,
            "sub" => RmwOperator::Sub,
            "and" => RmwOperator::And,
            "nand" => RmwOperator::Nand,
            "or" => RmwOperator::Or,
            "xor" => RmwOperator::Xor,
            "max" => RmwOperator::Max,
            "min" => RmwOperator::Min,
            "umax" => RmwOperator::UnsignedMax,
            "umin" => RmwOperator::UnsignedMin,
            _ => RmwOperator::Unsupported,
        };
        let pointer = self.operand()?;
        self.expect(b',')?;
        let operand = self.operand()?;
        let single_thread = self.scope();
        let order = self.order()?;
        let ty = operand.ty.clone();
        if single_thread {
            self.hide(start..self.cursor.at);
            return Ok((Operation::Unsupported("atomicrmw with a scope".to_owned()), ty));
        }
        Ok((Operation::ReadModifyWrite { op, pointer, operand, order }, ty))
    }

    fn element_pointer(&mut self, constant: bool) -> Parse<(Operation, Type)> {
        self.begin_operands(constant)?;
        let source = self.ty()?;
        self.expect(b',')?;
        let base = self.operand()?;
        let mut indices = Vec::new();
        while self.cursor.is(b',') && self.cursor.ahead(1).kind != Kind::MetadataName {
            self.cursor.at += 1;
            self.cursor.eat_word("inrange");
            indices.push(self.operand()?);
        }
        let vector = std::iter::once(&base).chain(&indices).find_map(|operand| match &operand.ty {
            Type::Vector(count, _) => Some(*count),
            _ => None,
        });
        let ty = vector.map_or(Type::Pointer, |count| Type::Vector(count, Box::new(Type::Pointer)));
        Ok((Operation::GetElementPointer { source, base, indices }, ty))
    }

    /// `syncscope("…")`: whether it is that of a single thread.
    fn scope(&mut self) -> bool {
        if !self.cursor.eat_word("syncscope") {
            return false;
        }
        let single = self.cursor.text_of(self.cursor.ahead(1)) == "\"singlethread\"";
        self.skip_balanced();
        single
    }

    fn order(&mut self) -> Parse<AtomicOrder> {
        let order = match self.cursor.word() {
            Some("unordered" | "monotonic") => AtomicOrder::Monotonic,
            Some("acquire") => AtomicOrder::Acquire,
            Some("release") => AtomicOrder::Release,
            Some("acq_rel") => AtomicOrder::AcquireRelease,
            Some("seq_cst") => AtomicOrder::SequentiallyConsistent,
            _ => return self.unexpected("an order"),
        };
        self.cursor.at += 1;
        Ok(order)
    }

    // Values.

    fn begin_operands(&mut self, constant: bool) -> Parse<()> {
        self.skip_flags();
        if constant { self.expect(b'(') } else { Ok(()) }
    }

    fn two_operands(&mut self, constant: bool) -> Parse<(Operand, Operand)> {
        self.begin_operands(constant)?;
        let left = self.operand()?;
        self.expect(b',')?;
        let right = match constant {
            true => self.operand()?,
            false => Operand { value: self.value(&left.ty)?, ty: left.ty.clone() },
        };
        Ok((left, right))
    }

    /// Skips `nsw`, `inbounds`, `fast` and the like.
    pub fn skip_flags(&mut self) {
        while let Some(word) = self.cursor.word()
            && !self.cursor.token().starts_line
            && !self.at_type()
        {
            self.cursor.at += 1;
            if word == "inrange" && self.cursor.is(b'(') {
                self.skip_balanced();
            }
        }
    }

    fn phi(&mut self) -> Parse<(Operation, Type)> {
        self.skip_flags();
        let ty = self.ty()?;
        let mut incoming = Vec::new();
        loop {
            self.expect(b'[')?;
            let value = self.value(&ty)?;
            self.expect(b',')?;
            incoming.push((value, self.block_name()?));
            self.expect(b']')?;
            if !(self.cursor.is(b',') && self.cursor.ahead(1).kind == Kind::Symbol(b'[')) {
                break;
            }
            self.cursor.at += 1;
        }
        Ok((Operation::Phi { ty: ty.clone(), incoming }, ty))
    }

    /// `, 0, 1`
    fn indices(&mut self) -> Parse<Vec<u32>> {
        let mut indices = Vec::new();
        while self.cursor.is(b',') && self.cursor.ahead(1).kind == Kind::Integer {
            self.cursor.at += 1;
            indices.push(self.number()?);
        }
        if indices.is_empty() { self.unexpected("an index") } else { Ok(indices) }
    }

    /// The type of a part of an aggregate. It is copied from elsewhere in the text, which must not become much larger by
    /// that.
    fn part_type(&mut self, ty: &Type, indices: &[u32]) -> Parse<Type> {
        let mut part = ty;
        for index in indices {
            let inner = match self.module.body(part) {
                Some(Type::Struct { fields, .. }) => fields.get(*index as usize),
                Some(Type::Array(count, element)) if u64::from(*index) < *count => Some(&**element),
                _ => None,
            };
            match inner {
                Some(inner) => part = inner,
                None => return self.fail(self.cursor.span(), "there is no such part to extract"),
            }
        }
        let Some(copies) = self.copies.checked_sub(parts(part)) else {
            return self.fail(self.cursor.span(), "the types of this text are too large");
        };
        let part = part.clone();
        self.copies = copies;
        Ok(part)
    }

    // Control.

    fn terminator(&mut self, word: &'a str, result: Option<super::Token>) -> Parse<(Line, Type)> {
        let terminator = match word {
            "ret" => {
                let ty = self.ty()?;
                match ty {
                    Type::Void => Terminator::Return(None),
                    ty => Terminator::Return(Some(Operand { value: self.value(&ty)?, ty })),
                }
            }
            "br" if self.cursor.word() == Some("label") => Terminator::Jump(self.target()?),
            "br" => {
                let condition = self.operand()?;
                self.expect(b',')?;
                let yes = self.target()?;
                self.expect(b',')?;
                let no = self.target()?;
                Terminator::Branch { condition, yes, no }
            }
            "switch" => {
                let value = self.operand()?;
                self.expect(b',')?;
                let default = self.target()?;
                self.expect(b'[')?;
                let mut cases = Vec::new();
                while !self.cursor.eat(b']') {
                    let ty = self.ty()?;
                    let crate::ir::module::Constant::Int(case) = self.constant(&ty)? else {
                        return self.unexpected("an integer");
                    };
                    self.expect(b',')?;
                    cases.push((case, self.target()?));
                }
                Terminator::Switch { value, default, cases }
            }
            "invoke" => {
                let start = self.cursor.at;
                let Some(call) = self.call()? else {
                    return self.fail(self.cursor.nth(start).span(), "this cannot be invoked");
                };
                self.expect_word("to")?;
                let normal = self.target()?;
                self.expect_word("unwind")?;
                let unwind = self.target()?;
                let span = self.cursor.nth(start - 1).span();
                let returned = match call.returns {
                    Type::Void => None,
                    _ => Some(self.define_local(result, call.returns.clone(), span)?),
                };
                Terminator::Invoke { result: returned, call, normal, unwind }
            }
            "unreachable" => Terminator::Unreachable,
            _ => {
                self.skip_unknown();
                if result.is_some() {
                    self.define_local(result, Type::Other, self.cursor.span())?;
                }
                Terminator::Unsupported(word.to_owned())
            }
        };
        // The results of terminators are defined above: anything but void says that there may be one.
        let ty = if result.is_some() { Type::Other } else { Type::Void };
        Ok((Line::Terminator(terminator, Place::default()), ty))
    }

    fn target(&mut self) -> Parse<BlockId> {
        self.expect_word("label")?;
        self.block_name()
    }

    fn block_name(&mut self) -> Parse<BlockId> {
        let token = self.cursor.token();
        if token.kind != Kind::Local {
            return self.unexpected("a block");
        }
        self.cursor.at += 1;
        let name = self.name_of(token);
        Ok(self.label(name, token))
    }

    // Ends.

    fn tail(&mut self) -> Tail {
        let mut debug = None;
        loop {
            if let Some(node) = self.attachment() {
                debug = debug.or(node);
            } else if self.cursor.is(b',')
                && self.cursor.text_of(self.cursor.ahead(1)) == "align"
                && self.cursor.ahead(2).kind == Kind::Integer
            {
                self.cursor.at += 3;
            } else {
                return Tail { debug, complete: self.at_next_line() };
            }
        }
    }

    /// Whether an instruction can end here.
    fn at_next_line(&self) -> bool {
        let token = self.cursor.token();
        match token.kind {
            Kind::End | Kind::Symbol(b'}') | Kind::Label | Kind::Record => true,
            Kind::Word => token.starts_line || is_opcode(self.cursor.text_of(token)),
            Kind::Local => self.cursor.ahead(1).kind == Kind::Symbol(b'='),
            _ => false,
        }
    }

    /// Skips what is left of an instruction, and keeps the names in it.
    fn skip_unknown(&mut self) {
        let start = self.cursor.at;
        while !self.cursor.is_end() && !self.cursor.is(b'}') {
            let token = self.cursor.token();
            let begins = match token.kind {
                Kind::Label | Kind::Record => true,
                Kind::Local => self.cursor.ahead(1).kind == Kind::Symbol(b'='),
                Kind::Word => is_opcode(self.cursor.text_of(token)),
                _ => false,
            };
            if begins && token.starts_line {
                break;
            }
            if self.cursor.is(b',') && self.cursor.ahead(1).kind == Kind::MetadataName {
                break;
            }
            self.skip_balanced();
        }
        self.hide(start..self.cursor.at);
    }
}

fn instruction(operation: Operation) -> Line {
    Line::IrInstruction(IrInstruction { result: None, operation, place: Place::default() })
}

fn parts(ty: &Type) -> usize {
    match ty {
        Type::Array(_, element) | Type::Vector(_, element) => 1 + parts(element),
        Type::Struct { fields, .. } => fields.iter().map(parts).sum::<usize>() + 1,
        _ => 1,
    }
}

/// What a comparison of such values gives.
fn truth(ty: &Type) -> Type {
    match ty {
        Type::Vector(count, _) => Type::Vector(*count, Box::new(Type::Int(1))),
        _ => Type::Int(1),
    }
}

fn is_terminator(word: &str) -> bool {
    matches!(
        word,
        "ret"
            | "br"
            | "switch"
            | "indirectbr"
            | "invoke"
            | "callbr"
            | "resume"
            | "catchswitch"
            | "catchret"
            | "cleanupret"
            | "unreachable"
    )
}

/// Whether an instruction begins with a word.
pub fn is_opcode(word: &str) -> bool {
    is_terminator(word)
        || binary_operator(word).is_some()
        || cast_operator(word).is_some()
        || matches!(
            word,
            "alloca"
                | "load"
                | "store"
                | "cmpxchg"
                | "atomicrmw"
                | "fence"
                | "getelementptr"
                | "icmp"
                | "fcmp"
                | "fadd"
                | "fsub"
                | "fmul"
                | "fdiv"
                | "frem"
                | "fneg"
                | "select"
                | "phi"
                | "extractvalue"
                | "insertvalue"
                | "extractelement"
                | "insertelement"
                | "shufflevector"
                | "freeze"
                | "call"
                | "tail"
                | "musttail"
                | "notail"
                | "va_arg"
                | "landingpad"
                | "catchpad"
                | "cleanuppad"
        )
}

fn binary_operator(word: &str) -> Option<BinaryOperator> {
    Some(match word {
        "add" => BinaryOperator::Add,
        "sub" => BinaryOperator::Sub,
        "mul" => BinaryOperator::Mul,
        "udiv" => BinaryOperator::UnsignedDiv,
        "sdiv" => BinaryOperator::SignedDiv,
        "urem" => BinaryOperator::UnsignedRem,
        "srem" => BinaryOperator::SignedRem,
        "shl" => BinaryOperator::ShiftLeft,
        "lshr" => BinaryOperator::LogicalShiftRight,
        "ashr" => BinaryOperator::ArithmeticShiftRight,
        "and" => BinaryOperator::And,
        "or" => BinaryOperator::Or,
        "xor" => BinaryOperator::Xor,
        _ => return None,
    })
}

fn cast_operator(word: &str) -> Option<CastOperator> {
    Some(match word {
        "trunc" => CastOperator::Truncate,
        "zext" => CastOperator::ZeroExtend,
        "sext" => CastOperator::SignExtend,
        "ptrtoint" => CastOperator::PointerToInt,
        "inttoptr" => CastOperator::IntToPointer,
        "bitcast" | "addrspacecast" => CastOperator::Bitcast,
        "fptrunc" | "fpext" | "fptoui" | "fptosi" | "uitofp" | "sitofp" => CastOperator::Float,
        _ => return None,
    })
}

fn predicate(word: &str) -> Option<Predicate> {
    Some(match word {
        "eq" => Predicate::Equal,
        "ne" => Predicate::NotEqual,
        "ugt" => Predicate::UnsignedGreater,
        "uge" => Predicate::UnsignedGreaterEqual,
        "ult" => Predicate::UnsignedLess,
        "ule" => Predicate::UnsignedLessEqual,
        "sgt" => Predicate::SignedGreater,
        "sge" => Predicate::SignedGreaterEqual,
        "slt" => Predicate::SignedLess,
        "sle" => Predicate::SignedLessEqual,
        _ => return None,
    })
}
