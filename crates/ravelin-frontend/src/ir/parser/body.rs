//! The body of a function: blocks, and the numbers and names of local values.
//!
//! Parameters, blocks and results without names share one sequence of numbers. A value may be used before it is defined,
//! so every local is made where it is first mentioned.

use super::{Kind, Parse, Parser, Token, shown};
use crate::ir::module::{
    Block, BlockId, Function, IrInstruction, Local, LocalId, Place, SourceVariable, Terminator, Type,
};
use crate::parsing::Token as _;
use ravelin_program::Span;
use std::borrow::Cow;
use std::collections::HashMap;

/// What is known of the function that is being read.
pub struct Body<'a> {
    pub function: Function,
    names: HashMap<Cow<'a, str>, LocalId>,
    /// Per local: where it was first used, if it is not defined yet.
    undefined: Vec<Option<Span>>,
    /// Labels in the order in which they are mentioned.
    labels: HashMap<Cow<'a, str>, BlockId>,
    /// Per label: the block that it names, or where it was first used.
    targets: Vec<Result<BlockId, Span>>,
    next_number: u64,
    /// Debug information: what stands for a variable, and the node that describes it.
    named: Vec<(Token, u32)>,
    /// Names in what was skipped.
    skipped: Vec<Token>,
}

impl Default for Body<'_> {
    fn default() -> Self {
        Body {
            function: Function::named("", Span::NOWHERE),
            names: HashMap::new(),
            undefined: Vec::new(),
            labels: HashMap::new(),
            targets: Vec::new(),
            next_number: 0,
            named: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

/// A block without its terminator.
struct Open {
    name: String,
    instructions: Vec<IrInstruction>,
}

/// What an instruction is.
pub enum Line {
    IrInstruction(IrInstruction),
    Terminator(Terminator, Place),
    /// It says nothing that is kept.
    Nothing,
}

impl<'a> Parser<'a> {
    pub fn function_body(&mut self) -> Parse<()> {
        self.expect(b'{')?;
        let mut open: Option<Open> = None;
        loop {
            let token = self.cursor.token();
            match token.kind {
                Kind::End => return self.unexpected("`}`"),
                Kind::Symbol(b'}') => {
                    self.end_block(open.take());
                    self.cursor.at += 1;
                    break;
                }
                Kind::Label => {
                    self.end_block(open.take());
                    self.cursor.at += 1;
                    let label = self.cursor.text_of(token);
                    open = Some(self.begin_block(Some(&label[..label.len() - 1]), token));
                }
                Kind::Word if matches!(self.cursor.text_of(token), "uselistorder" | "uselistorder_bb") => {
                    self.cursor.at += 1;
                    self.skip_statement();
                }
                Kind::Record => self.debug_record(),
                _ => {
                    if open.is_none() {
                        open = Some(self.begin_block(None, token));
                    }
                    let before = self.cursor.at;
                    match self.line() {
                        Ok(Line::IrInstruction(instruction)) => {
                            open.get_or_insert_with(Open::unnamed).instructions.push(instruction);
                        }
                        Ok(Line::Terminator(terminator, place)) => {
                            let Open { name, instructions } = open.take().unwrap_or_else(Open::unnamed);
                            self.body.function.blocks.push(Block { name, instructions, terminator, place });
                        }
                        Ok(Line::Nothing) => {}
                        Err(error) => {
                            if self.diagnostics.len() >= super::MOST_ERRORS {
                                return Err(error);
                            }
                            self.cursor.at = self.cursor.at.max(before + 1);
                            self.skip_line();
                        }
                    }
                }
            }
        }
        self.end_body();
        Ok(())
    }

    /// Ends a block that has no terminator, if there is one.
    fn end_block(&mut self, open: Option<Open>) {
        if let Some(Open { name, instructions }) = open {
            _ = self.unexpected::<()>("a terminator");
            let (terminator, place) = (Terminator::Unreachable, Place::default());
            self.body.function.blocks.push(Block { name, instructions, terminator, place });
        }
    }

    /// A block whose label is given or is the next number.
    fn begin_block(&mut self, label: Option<&'a str>, token: Token) -> Open {
        let name = match label {
            Some(label) => {
                let name = super::lexer::name(label, 0);
                self.count(&name);
                name
            }
            None => Cow::Owned(self.take_number()),
        };
        let block = BlockId(self.body.function.blocks.len() as u32);
        let open = Open { name: name.to_string(), instructions: Vec::new() };
        let label = self.label(name, token);
        let target = &mut self.body.targets[label.0 as usize];
        if target.is_ok() {
            self.error(token.span(), format!("the label `{}` is defined twice", shown(&open.name)));
        } else {
            *target = Ok(block);
        }
        open
    }

    /// The number of a label, in the order in which they are mentioned.
    pub fn label(&mut self, name: Cow<'a, str>, token: Token) -> BlockId {
        if let Some(label) = self.body.labels.get(&name) {
            return *label;
        }
        let label = BlockId(self.body.targets.len() as u32);
        let span = token.span();
        self.body.targets.push(Err(span));
        self.body.labels.insert(name, label);
        label
    }

    /// A use of a value in an instruction.
    pub fn use_local(&mut self, token: Token, ty: &Type) -> Parse<LocalId> {
        let name = self.name_of(token);
        match self.body.names.get(&name) {
            Some(local) => {
                let local = *local;
                self.same_type(local, ty, token.span())?;
                Ok(local)
            }
            None => {
                let span = token.span();
                Ok(self.new_local(name, ty.clone(), Some(span)))
            }
        }
    }

    /// The result of an instruction or a parameter. Without a name it gets the next number.
    pub fn define_local(&mut self, name: Option<Token>, ty: Type, span: Span) -> Parse<LocalId> {
        let name = match name {
            Some(token) => self.name_of(token),
            None => Cow::Owned(self.take_number()),
        };
        self.count(&name);
        let Some(local) = self.body.names.get(&name).copied() else { return Ok(self.new_local(name, ty, None)) };
        if self.body.undefined[local.0 as usize].take().is_none() {
            return self.fail(span, format!("`%{}` is defined twice", shown(&name)));
        }
        self.same_type(local, &ty, span)?;
        Ok(local)
    }

    fn new_local(&mut self, name: Cow<'a, str>, ty: Type, undefined: Option<Span>) -> LocalId {
        let local = LocalId(self.body.function.locals.len() as u32);
        self.body.function.locals.push(Local { name: name.to_string(), ty });
        self.body.undefined.push(undefined);
        self.body.names.insert(name, local);
        local
    }

    /// Results of what is not read in detail get the type of their first use.
    fn same_type(&mut self, local: LocalId, ty: &Type, span: Span) -> Parse<()> {
        let known = &mut self.body.function.locals[local.0 as usize];
        if known.ty == Type::Other {
            known.ty = ty.clone();
        } else if known.ty != *ty && *ty != Type::Other {
            let message = format!("`%{}` has two types", shown(&known.name));
            return self.fail(span, message);
        }
        Ok(())
    }

    fn take_number(&mut self) -> String {
        let number = self.body.next_number;
        self.body.next_number = number.saturating_add(1);
        number.to_string()
    }

    /// A number that the text gives: later ones follow it.
    fn count(&mut self, name: &str) {
        if name.starts_with(|first: char| first.is_ascii_digit())
            && let Ok(number) = name.parse::<u64>()
        {
            self.body.next_number = self.body.next_number.max(number.saturating_add(1));
        }
    }

    /// Keeps what a variable of the source is called here.
    pub fn name_local(&mut self, token: Token, node: u32) {
        self.body.named.push((token, node));
    }

    /// What is skipped in a body is not read, but its names must be known as used.
    pub fn hide(&mut self, tokens: std::ops::Range<usize>) {
        for at in tokens {
            let token = self.cursor.nth(at);
            if token.kind == Kind::Local {
                self.body.skipped.push(token);
            }
        }
    }

    /// Resolves what was used before it was defined.
    fn end_body(&mut self) {
        let mut missing: Vec<(Span, String)> = Vec::new();
        for (number, span) in self.body.undefined.iter().enumerate() {
            if let Some(span) = span {
                let name = shown(&self.body.function.locals[number].name);
                missing.push((*span, format!("`%{name}` is not defined")));
            }
        }
        for (name, label) in &self.body.labels {
            if let Err(span) = self.body.targets[label.0 as usize] {
                missing.push((span, format!("there is no block `%{}`", shown(name))));
            }
        }
        missing.sort();
        missing.truncate(super::MOST_ERRORS);
        for (span, message) in missing {
            self.error(span, message);
        }
        if self.body.function.blocks.is_empty() {
            self.error(self.body.function.span, "a definition has at least one block");
        }
        let targets = std::mem::take(&mut self.body.targets);
        let block = |label: &mut BlockId| {
            if let Some(Ok(block)) = targets.get(label.0 as usize) {
                *label = *block;
            }
        };
        for each in &mut self.body.function.blocks {
            each.rename_blocks(block);
        }
        for (token, node) in std::mem::take(&mut self.body.named) {
            if let Some(local) = self.body.names.get(&self.name_of(token)) {
                self.body.function.variables.push(SourceVariable { local: *local, name: String::new(), node });
            }
        }
        let mut hidden: Vec<LocalId> = std::mem::take(&mut self.body.skipped)
            .into_iter()
            .filter_map(|token| self.body.names.get(&self.name_of(token)).copied())
            .collect();
        hidden.sort();
        hidden.dedup();
        self.body.function.hidden = hidden;
    }
}

impl Open {
    fn unnamed() -> Open {
        Open { name: String::new(), instructions: Vec::new() }
    }
}

impl Block {
    /// Changes the blocks that are mentioned in it.
    fn rename_blocks(&mut self, rename: impl Fn(&mut BlockId)) {
        use crate::ir::module::Operation;
        for instruction in &mut self.instructions {
            if let Operation::Phi { incoming, .. } = &mut instruction.operation {
                incoming.iter_mut().for_each(|(_, block)| rename(block));
            }
        }
        match &mut self.terminator {
            Terminator::Return(_) | Terminator::Unreachable | Terminator::Unsupported(_) => {}
            Terminator::Jump(next) => rename(next),
            Terminator::Branch { yes, no, .. } => {
                rename(yes);
                rename(no);
            }
            Terminator::Switch { default, cases, .. } => {
                rename(default);
                cases.iter_mut().for_each(|(_, block)| rename(block));
            }
            Terminator::Invoke { normal, unwind, .. } => {
                rename(normal);
                rename(unwind);
            }
        }
    }
}
