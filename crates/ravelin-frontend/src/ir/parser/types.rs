//! Types. What a pointer points to is read and forgotten.

use super::{Kind, Parse, Parser};
use crate::ir::module::Type;

/// A type as it stands in the text.
pub struct TypeText {
    pub ty: Type,
    /// What a function of this type returns.
    pub returns: Option<Type>,
}

impl Parser<'_> {
    /// Whether a type begins here.
    pub fn at_type(&self) -> bool {
        let token = self.cursor.token();
        match token.kind {
            Kind::Symbol(b'{' | b'<' | b'[') | Kind::Local => true,
            Kind::Word => is_type(self.cursor.text_of(token)),
            _ => false,
        }
    }

    pub fn ty(&mut self) -> Parse<Type> {
        Ok(self.written_type()?.ty)
    }

    pub fn written_type(&mut self) -> Parse<TypeText> {
        self.nested(|parser| {
            let mut ty = parser.simple_type()?;
            let mut returns = None;
            loop {
                if parser.cursor.eat(b'*') {
                    (ty, returns) = (Type::Pointer, None);
                } else if parser.cursor.word() == Some("addrspace") && parser.cursor.ahead(1).kind == Kind::Symbol(b'(')
                {
                    parser.cursor.at += 1;
                    parser.skip_balanced();
                } else if parser.cursor.is(b'(') {
                    parser.parameter_types()?;
                    (returns, ty) = (Some(ty), Type::Other);
                } else {
                    return Ok(TypeText { ty, returns });
                }
            }
        })
    }

    /// The parameters in the type of a function.
    fn parameter_types(&mut self) -> Parse<()> {
        self.expect(b'(')?;
        while !self.cursor.eat(b')') {
            if !self.cursor.eat_word("...") {
                self.ty()?;
                self.skip_attributes();
            }
            if !self.cursor.eat(b',') && !self.cursor.is(b')') {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(())
    }

    fn simple_type(&mut self) -> Parse<Type> {
        let token = self.cursor.token();
        match token.kind {
            Kind::Word => {
                let Some(ty) = named_type(self.cursor.text_of(token)) else { return self.unexpected("a type") };
                self.cursor.at += 1;
                if self.cursor.text_of(token) == "target" {
                    self.skip_balanced();
                }
                Ok(ty)
            }
            Kind::Local => {
                self.cursor.at += 1;
                let name = self.name_of(token);
                Ok(Type::Named(self.named_struct(name)))
            }
            Kind::Symbol(b'{') => {
                self.cursor.at += 1;
                self.fields(false)
            }
            Kind::Symbol(b'[') => {
                self.cursor.at += 1;
                let (count, element) = self.elements()?;
                self.expect(b']')?;
                Ok(Type::Array(count, element))
            }
            Kind::Symbol(b'<') => {
                self.cursor.at += 1;
                if self.cursor.eat(b'{') {
                    let fields = self.fields(true)?;
                    self.expect(b'>')?;
                    return Ok(fields);
                }
                let scalable = self.cursor.eat_word("vscale");
                if scalable {
                    self.expect_word("x")?;
                }
                let (count, element) = self.elements()?;
                self.expect(b'>')?;
                Ok(if scalable { Type::Other } else { Type::Vector(count, element) })
            }
            _ => self.unexpected("a type"),
        }
    }

    fn fields(&mut self, packed: bool) -> Parse<Type> {
        let mut fields = Vec::new();
        while !self.cursor.eat(b'}') {
            fields.push(self.ty()?);
            if !self.cursor.eat(b',') && !self.cursor.is(b'}') {
                return self.unexpected("`,` or `}`");
            }
        }
        Ok(Type::Struct { fields, packed })
    }

    fn elements(&mut self) -> Parse<(u64, Box<Type>)> {
        let count = self.number()?;
        self.expect_word("x")?;
        Ok((count, Box::new(self.ty()?)))
    }
}

pub fn is_type(word: &str) -> bool {
    named_type(word).is_some()
}

fn named_type(word: &str) -> Option<Type> {
    Some(match word {
        "void" => Type::Void,
        "ptr" => Type::Pointer,
        "half" | "bfloat" => Type::Float(16),
        "float" => Type::Float(32),
        "double" => Type::Float(64),
        "x86_fp80" => Type::Float(80),
        "fp128" | "ppc_fp128" => Type::Float(128),
        "label" | "metadata" | "token" | "x86_mmx" | "x86_amx" | "target" | "opaque" => Type::Other,
        _ => {
            let digits = word.strip_prefix('i')?;
            // The widest integer that LLVM has.
            let bits = digits.parse().ok().filter(|bits| (1..=1 << 23).contains(bits))?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(Type::Int(bits))?
        }
    })
}
