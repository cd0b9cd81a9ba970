//! Constants and operands.

use super::{Kind, Parse, Parser, lexer};
use crate::ir::module::{Constant, Operand, Type, Value};

impl<'a> Parser<'a> {
    /// A type with a value of it.
    pub fn operand(&mut self) -> Parse<Operand> {
        let ty = self.ty()?;
        let value = self.value(&ty)?;
        Ok(Operand { ty, value })
    }

    /// A value of the given type.
    pub fn value(&mut self, ty: &Type) -> Parse<Value> {
        let token = self.cursor.token();
        if token.kind == Kind::Local && self.depth == 0 {
            self.cursor.at += 1;
            return Ok(Value::Local(self.use_local(token, ty)?));
        }
        Ok(Value::Constant(self.constant(ty)?))
    }

    /// Whether a constant begins here, and not an attribute.
    pub fn at_constant(&self) -> bool {
        let token = self.cursor.token();
        match token.kind {
            Kind::Word => is_constant(self.cursor.text_of(token)),
            Kind::Global | Kind::Integer | Kind::Float | Kind::Bytes => true,
            Kind::Symbol(symbol) => matches!(symbol, b'{' | b'[' | b'<'),
            _ => false,
        }
    }

    pub fn constant(&mut self, ty: &Type) -> Parse<Constant> {
        self.nested(|parser| parser.any_constant(ty))
    }

    fn any_constant(&mut self, ty: &Type) -> Parse<Constant> {
        let token = self.cursor.token();
        match token.kind {
            Kind::Word => {
                let word = self.cursor.text_of(token);
                if !is_constant(word) {
                    return self.unexpected("a value");
                }
                self.cursor.at += 1;
                self.keyword(word, ty)
            }
            Kind::Global => {
                self.cursor.at += 1;
                self.symbol(token)
            }
            Kind::Integer => {
                self.cursor.at += 1;
                Ok(match self.cursor.text_of(token).parse::<i128>() {
                    Ok(value) => integer(value, ty),
                    Err(_) => Constant::Unsupported("an integer of more than 128 bits".to_owned()),
                })
            }
            Kind::Float => {
                self.cursor.at += 1;
                Ok(Constant::Float(self.cursor.text_of(token).to_owned()))
            }
            Kind::Bytes => {
                self.cursor.at += 1;
                let text = self.cursor.text_of(token);
                Ok(Constant::Bytes(lexer::unescape(text.get(2..text.len() - 1).unwrap_or(""))))
            }
            Kind::Symbol(b'{') => self.aggregate(b'}'),
            Kind::Symbol(b'[') => self.aggregate(b']'),
            Kind::Symbol(b'<') => {
                self.cursor.at += 1;
                if self.cursor.is(b'{') {
                    let fields = self.aggregate(b'}')?;
                    self.expect(b'>')?;
                    return Ok(fields);
                }
                self.cursor.at -= 1;
                self.aggregate(b'>')
            }
            _ => self.unexpected("a value"),
        }
    }

    fn aggregate(&mut self, close: u8) -> Parse<Constant> {
        self.cursor.at += 1;
        let mut elements = Vec::new();
        while !self.cursor.eat(close) {
            let ty = self.ty()?;
            let value = Value::Constant(self.constant(&ty)?);
            elements.push(Operand { ty, value });
            if !self.cursor.eat(b',') && !self.cursor.is(close) {
                return self.unexpected(&format!("`,` or `{}`", char::from(close)));
            }
        }
        Ok(Constant::Aggregate(elements))
    }

    fn keyword(&mut self, word: &'a str, ty: &Type) -> Parse<Constant> {
        Ok(match word {
            "null" | "none" => Constant::Null,
            "true" => Constant::Int(1),
            "false" => Constant::Int(0),
            "undef" | "poison" => Constant::Undefined,
            "zeroinitializer" => Constant::Zero,
            "dso_local_equivalent" | "no_cfi" => {
                self.cursor.bump();
                Constant::Unsupported(word.to_owned())
            }
            _ => match hexadecimal(word) {
                Some(value) => integer(value, ty),
                None => self.expression(word)?,
            },
        })
    }

    /// A constant expression after its keyword; what is not known becomes unsupported.
    fn expression(&mut self, word: &'a str) -> Parse<Constant> {
        let unsupported = matches!(
            word,
            "blockaddress" | "ptrauth" | "splat" | "ptrtoaddr" | "extractelement" | "insertelement" | "shufflevector"
        );
        if unsupported {
            self.skip_flags();
            if !self.cursor.is(b'(') {
                return self.unexpected("`(`");
            }
            self.skip_balanced();
            return Ok(Constant::Unsupported(word.to_owned()));
        }
        let (operation, _) = self.operation(word, true)?;
        self.expect(b')')?;
        Ok(Constant::Expression(Box::new(operation)))
    }
}

/// An integer as a value of a type has it: sign-extended, only one bit is 0 or 1.
pub fn integer(value: i128, ty: &Type) -> Constant {
    Constant::Int(match ty {
        Type::Int(1) => value & 1,
        Type::Int(bits) if *bits < 128 => {
            let shift = 128 - bits;
            value << shift >> shift
        }
        _ => value,
    })
}

/// `u0x1F` or `s0xFF`.
fn hexadecimal(word: &str) -> Option<i128> {
    if let Some(digits) = word.strip_prefix("u0x") {
        return u128::from_str_radix(digits, 16).ok().map(|value| value as i128);
    }
    let digits = word.strip_prefix("s0x")?;
    let value = u128::from_str_radix(digits, 16).ok()?;
    let bits = 4 * digits.len().min(32) as u32;
    let shift = 128 - bits;
    Some((value as i128) << shift >> shift)
}

/// Keywords that values begin with.
fn is_constant(word: &str) -> bool {
    matches!(
        word,
        "null"
            | "none"
            | "true"
            | "false"
            | "undef"
            | "poison"
            | "zeroinitializer"
            | "dso_local_equivalent"
            | "no_cfi"
            | "blockaddress"
            | "ptrauth"
            | "splat"
            | "getelementptr"
            | "bitcast"
            | "addrspacecast"
            | "inttoptr"
            | "ptrtoint"
            | "ptrtoaddr"
            | "trunc"
            | "zext"
            | "sext"
            | "fptrunc"
            | "fpext"
            | "fptoui"
            | "fptosi"
            | "uitofp"
            | "sitofp"
            | "add"
            | "sub"
            | "mul"
            | "udiv"
            | "sdiv"
            | "urem"
            | "srem"
            | "shl"
            | "lshr"
            | "ashr"
            | "and"
            | "or"
            | "xor"
            | "fadd"
            | "fsub"
            | "fmul"
            | "fdiv"
            | "frem"
            | "fneg"
            | "icmp"
            | "fcmp"
            | "select"
            | "extractelement"
            | "insertelement"
            | "shufflevector"
            | "extractvalue"
            | "insertvalue"
    ) || hexadecimal(word).is_some()
}
