//! The instructions that compilers use in waiting loops; see the manuals of the x86-64 architecture.

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Register(u8),
    Memory(Address),
    Constant(u64),
}

/// An address: the sum of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Option<u8>,
    /// A register and the shift that multiplies it.
    pub index: Option<(u8, u32)>,
    pub offset: u64,
}

/// What two operands make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Or,
    And,
    Sub,
    Xor,
    /// [`Arithmetic::Sub`] for the flags only.
    Cmp,
    /// [`Arithmetic::And`] for the flags only.
    Test,
    ShiftLeft,
    ShiftRight,
}

/// One instruction. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    Nothing,
    Move {
        to: Operand,
        from: Operand,
        size: u32,
    },
    /// A move that fills the rest of the register with zeros or with copies of the sign.
    Extend {
        to: u8,
        from: Operand,
        size: u32,
        from_size: u32,
        signed: bool,
    },
    AddressOf {
        to: u8,
        address: Address,
        size: u32,
    },
    Compute {
        what: Arithmetic,
        to: Operand,
        with: Operand,
        size: u32,
    },
    /// 1 if the condition holds, else 0.
    Set {
        condition: u8,
        to: Operand,
    },
    Jump {
        target: u64,
    },
    JumpIf {
        condition: u8,
        target: u64,
    },
    Call {
        target: u64,
    },
    Return,
    Push(u8),
    Pop(u8),
    Leave,
}

/// Reads an instruction.
struct Reader<F> {
    byte: F,
    at: u64,
    rex: u8,
}

/// The instruction at an address, and where the next one is; `None` if it is none of those above. `byte` reads memory.
pub fn decode(at: u64, byte: impl Fn(u64) -> u8) -> Option<(Instruction, u64)> {
    let mut reader = Reader { byte, at, rex: 0 };
    let instruction = reader.instruction()?;
    Some((instruction, reader.at))
}

impl<F: Fn(u64) -> u8> Reader<F> {
    fn next(&mut self) -> u8 {
        self.at += 1;
        (self.byte)(self.at - 1)
    }

    fn constant(&mut self, size: u32) -> u64 {
        (0..size).fold(0, |value, index| value | u64::from(self.next()) << (8 * index))
    }

    fn signed(&mut self, size: u32) -> u64 {
        let unused = 64 - 8 * size;
        ((self.constant(size) << unused) as i64 >> unused) as u64
    }

    /// A constant operand: at most four bytes, with the sign.
    fn immediate(&mut self, size: u32) -> Operand {
        Operand::Constant(self.signed(size.min(4)))
    }

    fn relative(&mut self, size: u32) -> u64 {
        let offset = self.signed(size);
        self.at.wrapping_add(offset)
    }

    /// The two operands that follow most operation codes: the number in the register field, and a register or memory.
    fn operands(&mut self) -> (u8, Operand) {
        let byte = self.next();
        let field = byte >> 3 & 7 | (self.rex & 4) << 1;
        let (mode, low) = (byte >> 6, byte & 7);
        if mode == 3 {
            return (field, Operand::Register(low | (self.rex & 1) << 3));
        }
        let mut address = Address { base: Some(low | (self.rex & 1) << 3), index: None, offset: 0 };
        let mut no_base = mode == 0 && low == 5;
        let relative = no_base;
        if low == 4 {
            let scaled = self.next();
            address.base = Some(scaled & 7 | (self.rex & 1) << 3);
            let index = scaled >> 3 & 7 | (self.rex & 2) << 2;
            address.index = (index != 4).then_some((index, u32::from(scaled >> 6)));
            no_base = mode == 0 && scaled & 7 == 5;
        }
        address.offset = match mode {
            1 => self.signed(1),
            2 => self.signed(4),
            _ if no_base => self.signed(4),
            _ => 0,
        };
        if no_base {
            address.base = None;
        }
        if relative {
            // Relative to the next instruction; [`Reader::instruction`] adds that.
            address.index = Some((RELATIVE, 0));
        }
        (field, Operand::Memory(address))
    }

    /// Whether a register of one byte is one of the second bytes of others, which are not supported.
    fn is_high(&self, register: u8) -> bool {
        self.rex == 0 && (4..8).contains(&register)
    }

    fn instruction(&mut self) -> Option<Instruction> {
        let (mut short, mut repeated) = (false, false);
        let mut code = self.next();
        while let 0x66 | 0xf3 | 0x2e | 0x3e = code {
            short |= code == 0x66;
            repeated |= code == 0xf3;
            code = self.next();
        }
        if code & 0xf0 == 0x40 {
            self.rex = 0x40 | code & 0xf;
            code = self.next();
        }
        let wide = match (self.rex & 8 != 0, short) {
            (true, _) => 8,
            (false, true) => 2,
            (false, false) => 4,
        };
        // The lowest bit of most operation codes distinguishes bytes from larger operands.
        let size = if code & 1 == 0 { 1 } else { wide };
        let instruction = match code {
            // pause, or nothing
            0x90 if self.rex & 1 == 0 => Instruction::Nothing,
            _ if repeated && code != 0x0f => return None,
            0x00..=0x3d if code & 7 < 6 => {
                let what = Arithmetic::of(code >> 3 & 7)?;
                let (to, with) = match code & 7 {
                    0 | 1 => {
                        let (field, other) = self.operands();
                        (other, Operand::Register(field))
                    }
                    2 | 3 => {
                        let (field, other) = self.operands();
                        (Operand::Register(field), other)
                    }
                    _ => (Operand::Register(0), self.immediate(size)),
                };
                Instruction::Compute { what, to, with, size }
            }
            0x50..=0x57 => Instruction::Push(code & 7 | (self.rex & 1) << 3),
            0x58..=0x5f => Instruction::Pop(code & 7 | (self.rex & 1) << 3),
            0x63 => {
                let (to, from) = self.operands();
                Instruction::Extend { to, from, size: wide, from_size: 4, signed: true }
            }
            0x70..=0x7f => Instruction::JumpIf { condition: code & 15, target: self.relative(1) },
            0x80 | 0x81 | 0x83 => {
                let (field, to) = self.operands();
                let what = Arithmetic::of(field & 7)?;
                Instruction::Compute { what, to, with: self.immediate(if code == 0x81 { size } else { 1 }), size }
            }
            0x84 | 0x85 => {
                let (field, to) = self.operands();
                Instruction::Compute { what: Arithmetic::Test, to, with: Operand::Register(field), size }
            }
            0x88 | 0x89 => {
                let (field, to) = self.operands();
                Instruction::Move { to, from: Operand::Register(field), size }
            }
            0x8a | 0x8b => {
                let (field, from) = self.operands();
                Instruction::Move { to: Operand::Register(field), from, size }
            }
            0x8d => match self.operands() {
                (to, Operand::Memory(address)) => Instruction::AddressOf { to, address, size: wide },
                _ => return None,
            },
            0xa8 | 0xa9 => Instruction::Compute {
                what: Arithmetic::Test,
                to: Operand::Register(0),
                with: self.immediate(size),
                size,
            },
            0xb8..=0xbf => {
                let to = Operand::Register(code & 7 | (self.rex & 1) << 3);
                Instruction::Move { to, from: Operand::Constant(self.constant(wide)), size: wide }
            }
            0xc0 | 0xc1 | 0xd0 | 0xd1 => {
                let (field, to) = self.operands();
                let what = match field & 7 {
                    4 => Arithmetic::ShiftLeft,
                    5 => Arithmetic::ShiftRight,
                    _ => return None,
                };
                let with = if code < 0xd0 { self.constant(1) } else { 1 };
                Instruction::Compute { what, to, with: Operand::Constant(with), size }
            }
            0xc3 => Instruction::Return,
            0xc6 | 0xc7 => match self.operands() {
                (field, to) if field & 7 == 0 => Instruction::Move { to, from: self.immediate(size), size },
                _ => return None,
            },
            0xc9 => Instruction::Leave,
            0xe8 => Instruction::Call { target: self.relative(4) },
            0xe9 => Instruction::Jump { target: self.relative(4) },
            0xeb => Instruction::Jump { target: self.relative(1) },
            0xf6 | 0xf7 => match self.operands() {
                (field, to) if field & 7 == 0 => {
                    Instruction::Compute { what: Arithmetic::Test, to, with: self.immediate(size), size }
                }
                _ => return None,
            },
            0xfe | 0xff => match self.operands() {
                (field, to) if field & 7 < 2 => {
                    let what = if field & 7 == 0 { Arithmetic::Add } else { Arithmetic::Sub };
                    Instruction::Compute { what, to, with: Operand::Constant(1), size }
                }
                _ => return None,
            },
            0x0f => self.second(wide, repeated)?,
            _ => return None,
        };
        self.checked(instruction)
    }

    /// Instructions whose code has two bytes.
    fn second(&mut self, wide: u32, repeated: bool) -> Option<Instruction> {
        let code = self.next();
        Some(match code {
            // endbr64
            0x1e if repeated => {
                self.operands();
                Instruction::Nothing
            }
            _ if repeated => return None,
            0x1f => {
                self.operands();
                Instruction::Nothing
            }
            0x80..=0x8f => Instruction::JumpIf { condition: code & 15, target: self.relative(4) },
            0x90..=0x9f => {
                let (_, to) = self.operands();
                if matches!(to, Operand::Register(register) if self.is_high(register)) {
                    return None;
                }
                Instruction::Set { condition: code & 15, to }
            }
            0xb6 | 0xb7 | 0xbe | 0xbf => {
                let (to, from) = self.operands();
                let from_size = if code & 1 == 0 { 1 } else { 2 };
                if from_size == 1 && matches!(from, Operand::Register(register) if self.is_high(register)) {
                    return None;
                }
                Instruction::Extend { to, from, size: wide, from_size, signed: code & 8 != 0 }
            }
            _ => return None,
        })
    }

    /// Without second bytes of registers, and with addresses relative to the end of the instruction resolved.
    fn checked(&self, mut instruction: Instruction) -> Option<Instruction> {
        let end = self.at;
        let resolve = |operand: &mut Operand| {
            if let Operand::Memory(address) = operand {
                address.resolve(end);
            }
        };
        match &mut instruction {
            Instruction::Move { to, from, size } | Instruction::Compute { to, with: from, size, .. } => {
                let is_high = |operand: &Operand| matches!(operand, Operand::Register(at) if self.is_high(*at));
                if *size == 1 && (is_high(to) || is_high(from)) {
                    return None;
                }
                resolve(to);
                resolve(from);
            }
            Instruction::Extend { from, .. } => resolve(from),
            Instruction::Set { to, .. } => resolve(to),
            Instruction::AddressOf { address, .. } => address.resolve(end),
            _ => {}
        }
        Some(instruction)
    }
}

/// Stands for the instruction pointer as long as the end of the instruction is not known.
const RELATIVE: u8 = 16;

impl Address {
    fn resolve(&mut self, end: u64) {
        if self.index == Some((RELATIVE, 0)) {
            self.index = None;
            self.offset = self.offset.wrapping_add(end);
        }
    }
}

impl Arithmetic {
    /// By its number in the operation codes; not the two that need the carry.
    fn of(number: u8) -> Option<Arithmetic> {
        Some(match number {
            0 => Arithmetic::Add,
            1 => Arithmetic::Or,
            4 => Arithmetic::And,
            5 => Arithmetic::Sub,
            6 => Arithmetic::Xor,
            7 => Arithmetic::Cmp,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Option<Instruction> {
        let (instruction, next) = decode(0x1000, |at| bytes[(at - 0x1000) as usize])?;
        assert_eq!(next, 0x1000 + bytes.len() as u64, "{bytes:x?}");
        Some(instruction)
    }

    fn memory(base: Option<u8>, index: Option<(u8, u32)>, offset: i64) -> Operand {
        Operand::Memory(Address { base, index, offset: offset as u64 })
    }

    #[test]
    fn operands_are_registers_constants_and_all_kinds_of_addresses() {
        let moved = |from: Operand, size: u32| Some(Instruction::Move { to: Operand::Register(0), from, size });
        for (bytes, expected) in [
            (&[0x89, 0xd0][..], moved(Operand::Register(2), 4)),
            (&[0x4c, 0x89, 0xe8], moved(Operand::Register(13), 8)),
            (&[0x8b, 0x03], moved(memory(Some(3), None, 0), 4)),
            (&[0x8b, 0x45, 0xf0], moved(memory(Some(5), None, -16), 4)),
            (&[0x8b, 0x04, 0x24], moved(memory(Some(4), None, 0), 4)),
            (&[0x41, 0x8b, 0x44, 0x24, 0x08], moved(memory(Some(12), None, 8), 4)),
            (&[0x41, 0x8b, 0x45, 0x00], moved(memory(Some(13), None, 0), 4)),
            (&[0x48, 0x8b, 0x84, 0x8b, 0, 1, 0, 0], moved(memory(Some(3), Some((1, 2)), 256), 8)),
            (&[0x8b, 0x04, 0x8d, 0, 1, 0, 0], moved(memory(None, Some((1, 2)), 256), 4)),
            (&[0x8b, 0x05, 0x10, 0, 0, 0], moved(memory(None, None, 0x1016), 4)),
            (&[0x66, 0xb8, 0x34, 0x12], moved(Operand::Constant(0x1234), 2)),
            (&[0x48, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff], moved(Operand::Constant(u64::MAX), 8)),
            (&[0x40, 0x88, 0xf0], moved(Operand::Register(6), 1)),
            // mov al, dh
            (&[0x88, 0xf0], None),
            // mov eax, fs:[0]
            (&[0x64, 0x8b, 0x04, 0x25, 0, 0, 0, 0], None),
        ] {
            assert_eq!(decoded(bytes), expected, "{bytes:x?}");
        }
    }

    #[test]
    fn a_constant_after_a_relative_address_counts_for_the_end() {
        let with = Operand::Constant(7);
        let to = memory(None, None, 0x1017);
        let expected = Instruction::Compute { what: Arithmetic::Cmp, to, with, size: 4 };
        assert_eq!(decoded(&[0x83, 0x3d, 0x10, 0, 0, 0, 7]), Some(expected));
    }

    #[test]
    fn atomic_and_repeated_instructions_are_not_among_them() {
        for bytes in
            [&[0xf0, 0x01, 0x03][..], &[0xf3, 0xa4], &[0xf3, 0x0f, 0x10, 0x03], &[0x0f, 0xb1, 0x0b], &[0x11, 0xc8]]
        {
            assert_eq!(decoded(bytes), None, "{bytes:x?}");
        }
        assert_eq!(decoded(&[0xf3, 0x90]), Some(Instruction::Nothing), "pause");
    }
}
