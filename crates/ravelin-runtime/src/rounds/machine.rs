//! A thread of which only the registers and the stack are known, and these in part.

use super::decode::{Address, Arithmetic, Instruction, Operand, decode};
use crate::caller::CallerState;
use crate::instrumented;

const RAX: u8 = 0;
const RBX: u8 = 3;
const RSP: u8 = 4;
const RBP: u8 = 5;
const RDI: u8 = 7;
/// Registers that every called function leaves as they were.
const KEPT: [u8; 7] = [RBX, RSP, RBP, 12, 13, 14, 15];
/// How many bytes of the stack may be written.
const MOST_WRITTEN: usize = 256;

/// A register of which some bits are known.
#[derive(Clone, Copy, Default)]
struct Partial {
    bits: u64,
    known: u64,
    /// The lowest bytes are what was loaded.
    is_loaded: bool,
}

/// What is read or written.
#[derive(Clone, Copy, Default)]
struct Value {
    bits: Option<u64>,
    /// It is what was loaded.
    is_loaded: bool,
}

impl From<Option<u64>> for Value {
    fn from(bits: Option<u64>) -> Value {
        Value { bits, is_loaded: false }
    }
}

/// What is known of the value that was loaded.
#[derive(Clone, Copy)]
pub enum Loaded {
    Exactly(u64),
    /// Some value below this one.
    Below(u64),
}

impl Partial {
    fn whole(bits: u64) -> Partial {
        Partial { bits, known: u64::MAX, is_loaded: false }
    }

    /// The lowest bytes, if they are known.
    fn low(self, size: u32) -> Option<u64> {
        let mask = mask(size);
        (self.known & mask == mask).then_some(self.bits & mask)
    }

    /// With other lowest bytes. Four bytes clear the rest of a register; fewer keep it.
    fn with_low(self, value: impl Into<Value>, size: u32) -> Partial {
        let Value { bits, is_loaded } = value.into();
        let mask = mask(size);
        let rest = if size == 4 { Partial::whole(0) } else { self };
        Partial {
            bits: rest.bits & !mask | bits.unwrap_or(0) & mask,
            known: rest.known & !mask | if bits.is_some() { mask } else { 0 },
            is_loaded,
        }
    }
}

fn mask(size: u32) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}

/// What the last computation left for conditions, as far as it is known.
#[derive(Clone, Copy, Default)]
struct Flags {
    zero: Option<bool>,
    sign: Option<bool>,
    carry: Option<bool>,
    overflow: Option<bool>,
}

impl Flags {
    /// Whether a condition holds, by its number in the operation codes; `None` for parity.
    fn hold(self, condition: u8) -> Option<bool> {
        let holds = match condition >> 1 {
            0 => self.overflow?,
            1 => self.carry?,
            2 => self.zero?,
            3 => self.carry? || self.zero?,
            4 => self.sign?,
            6 => self.sign? != self.overflow?,
            7 => self.zero? || self.sign? != self.overflow?,
            _ => return None,
        };
        Some(holds != (condition & 1 == 1))
    }
}

pub struct Machine {
    at: u64,
    registers: [Partial; 16],
    flags: Flags,
    /// Bytes of the stack that the code has written, the last first; `None` for an unknown one.
    written: Vec<(u64, Option<u8>)>,
    /// Where on the stack the loaded value is.
    copies: Vec<u64>,
    loaded: Loaded,
    /// The size of the load.
    size: u32,
    /// The load: where it returns to, and where the stack ended then.
    home: (u64, u64),
    stack: (usize, usize),
}

impl Machine {
    /// At the return of a load with this value.
    pub fn new(caller: &CallerState, loaded: Loaded, size: u32, stack: (usize, usize)) -> Machine {
        let sp = caller.sp + 8;
        let mut registers = [Partial::default(); 16];
        let values = [caller.rbx, sp, caller.rbp, caller.r12, caller.r13, caller.r14, caller.r15];
        for (register, value) in KEPT.into_iter().zip(values) {
            registers[usize::from(register)] = Partial::whole(value);
        }
        // How the function returned a short value is its own matter.
        registers[usize::from(RAX)] = match loaded {
            Loaded::Exactly(value) => Partial { bits: value & mask(size), known: mask(size), is_loaded: true },
            Loaded::Below(_) => Partial { is_loaded: true, ..Partial::default() },
        };
        Machine {
            at: caller.pc,
            registers,
            flags: Flags::default(),
            written: Vec::new(),
            copies: Vec::new(),
            loaded,
            size,
            home: (caller.pc, sp),
            stack,
        }
    }

    /// Follows one instruction. Returns true when it is the load, false if the loop is left or the code not understood.
    pub fn step(&mut self) -> Option<bool> {
        // SAFETY: the program's code, which it is about to execute or may.
        let byte = |at: u64| unsafe { std::ptr::with_exposed_provenance::<u8>(at as usize).read() };
        let Some((instruction, next)) = decode(self.at, byte) else { return Some(false) };
        self.at = next;
        match self.execute(instruction) {
            None => Some(false),
            Some(is_back) => is_back.then_some(true),
        }
    }

    /// `None` if what happens is not known, or if others may see it. Else whether the thread is back at the load.
    fn execute(&mut self, instruction: Instruction) -> Option<bool> {
        match instruction {
            Instruction::Nothing => {}
            Instruction::Move { to, from, size } => {
                let value = self.read(from, size);
                self.write(to, value, size)?;
            }
            Instruction::Extend { to, from, size, from_size, signed } => {
                let unused = 64 - 8 * from_size;
                let extended = |value: u64| if signed { ((value << unused) as i64 >> unused) as u64 } else { value };
                let Value { bits, is_loaded } = self.read(from, from_size);
                let value = Value { bits: bits.map(extended), is_loaded: is_loaded && !signed };
                self.write(Operand::Register(to), value, size)?;
            }
            Instruction::AddressOf { to, address, size } => {
                let value = self.address(address);
                self.write(Operand::Register(to), value, size)?;
            }
            Instruction::Compute { what, to, with, size } => self.compute(what, to, with, size)?,
            Instruction::Set { condition, to } => {
                let value = self.flags.hold(condition).map(u64::from);
                self.write(to, value, 1)?;
            }
            Instruction::Jump { target } => self.at = target,
            Instruction::JumpIf { condition, target } => {
                if self.flags.hold(condition)? {
                    self.at = target;
                }
            }
            Instruction::Call { target } => return self.call(target),
            Instruction::Return => {
                let to = self.pop()?;
                self.enter(to)?;
            }
            Instruction::Push(register) => {
                let value = self.registers[usize::from(register)].low(8);
                self.push(value)?;
            }
            Instruction::Pop(register) => {
                let value = self.pop();
                self.registers[usize::from(register)] = Partial::default().with_low(value, 8);
            }
            Instruction::Leave => {
                self.registers[usize::from(RSP)] = self.registers[usize::from(RBP)];
                let value = self.pop();
                self.registers[usize::from(RBP)] = Partial::default().with_low(value, 8);
            }
        }
        Some(false)
    }

    fn call(&mut self, target: u64) -> Option<bool> {
        let sp = self.registers[usize::from(RSP)].low(8)?;
        if (self.at, sp) == self.home {
            return Some(true);
        }
        if is_silent(target as usize) || announces_write(target as usize) && self.is_own(self.argument()?, 1) {
            for register in (0..16).filter(|register| !KEPT.contains(register)) {
                self.registers[usize::from(register)] = Partial::default();
            }
            self.flags = Flags::default();
        } else {
            self.push(Some(self.at))?;
            self.enter(target)?;
        }
        Some(false)
    }

    /// Continues in another function, if that is code of the program.
    fn enter(&mut self, at: u64) -> Option<()> {
        self.at = at;
        instrumented::contains(at as usize).then_some(())
    }

    /// The first argument of a call.
    fn argument(&self) -> Option<u64> {
        self.registers[usize::from(RDI)].low(8)
    }

    /// Whether memory is part of the thread's stack.
    fn is_own(&self, start: u64, size: u32) -> bool {
        start >= self.stack.0 as u64 && start.saturating_add(size.into()) <= self.stack.1 as u64
    }

    fn compute(&mut self, what: Arithmetic, to: Operand, with: Operand, size: u32) -> Option<()> {
        let same = to == with && matches!(what, Arithmetic::Xor | Arithmetic::Sub);
        let zero = Value::from(Some(0));
        let (a, b) = if same { (zero, zero) } else { (self.read(to, size), self.read(with, size)) };
        let only_flags = matches!(what, Arithmetic::Cmp | Arithmetic::Test);
        let Some((a, b)) = a.bits.zip(b.bits) else {
            self.flags = if what == Arithmetic::Cmp { self.comparison(a, b, size) } else { Flags::default() };
            return if only_flags { Some(()) } else { self.write(to, None, size) };
        };
        let top = |value: u64| value >> (8 * size - 1) & 1 == 1;
        let mask = mask(size);
        let (result, carry, overflow) = match what {
            Arithmetic::Add => {
                let sum = a.wrapping_add(b) & mask;
                (sum, sum < a, top(!(a ^ b) & (a ^ sum)))
            }
            Arithmetic::Sub | Arithmetic::Cmp => {
                let difference = a.wrapping_sub(b) & mask;
                (difference, a < b, top((a ^ b) & (a ^ difference)))
            }
            Arithmetic::And | Arithmetic::Test => (a & b, false, false),
            Arithmetic::Or => (a | b, false, false),
            Arithmetic::Xor => (a ^ b, false, false),
            Arithmetic::ShiftLeft | Arithmetic::ShiftRight => {
                let count = (b & if size == 8 { 63 } else { 31 }) as u32;
                let result = if what == Arithmetic::ShiftLeft { a << count & mask } else { a >> count };
                // Their carry is not needed.
                self.flags = Flags::default();
                return self.write(to, Some(result), size);
            }
        };
        self.flags =
            Flags { zero: Some(result == 0), sign: Some(top(result)), carry: Some(carry), overflow: Some(overflow) };
        if only_flags { Some(()) } else { self.write(to, Some(result), size) }
    }

    /// Compares what was loaded, of which only a limit is known, with another value.
    fn comparison(&self, a: Value, b: Value, size: u32) -> Flags {
        let Loaded::Below(limit) = self.loaded else { return Flags::default() };
        let not_below = |other: Value| other.bits.is_some_and(|other| other >= limit);
        match size == self.size {
            true if a.is_loaded && not_below(b) => Flags { zero: Some(false), carry: Some(true), ..Flags::default() },
            true if b.is_loaded && not_below(a) => Flags { zero: Some(false), carry: Some(false), ..Flags::default() },
            _ => Flags::default(),
        }
    }

    fn address(&self, address: Address) -> Option<u64> {
        let of = |register: u8| self.registers[usize::from(register)].low(8);
        let base = address.base.map_or(Some(0), of)?;
        let index = address.index.map_or(Some(0), |(register, shift)| Some(of(register)? << shift))?;
        Some(base.wrapping_add(index).wrapping_add(address.offset))
    }

    fn read(&self, operand: Operand, size: u32) -> Value {
        match operand {
            Operand::Constant(value) => Some(value & mask(size)).into(),
            Operand::Register(register) => {
                let register = self.registers[usize::from(register)];
                Value { bits: register.low(size), is_loaded: register.is_loaded && size == self.size }
            }
            Operand::Memory(address) => {
                let Some(start) = self.address(address) else { return Value::default() };
                let byte = |index: u32| Some(u64::from(self.byte(start.wrapping_add(index.into()))?) << (8 * index));
                let bits = (0..size).try_fold(0, |value, index| Some(value | byte(index)?));
                Value { bits, is_loaded: size == self.size && self.copies.contains(&start) }
            }
        }
    }

    /// A byte of the stack; `None` for other memory, which may change.
    fn byte(&self, at: u64) -> Option<u8> {
        if let Some((_, byte)) = self.written.iter().rev().find(|(written, _)| *written == at) {
            return *byte;
        }
        // Below the end of the stack lies what the runtime is doing now.
        let is_there = at >= self.home.1 && at < self.stack.1 as u64;
        // SAFETY: a byte of the calling thread's own stack.
        is_there.then(|| unsafe { std::ptr::with_exposed_provenance::<u8>(at as usize).read_volatile() })
    }

    fn write(&mut self, to: Operand, value: impl Into<Value>, size: u32) -> Option<()> {
        let value = value.into();
        match to {
            Operand::Register(register) => {
                let register = &mut self.registers[usize::from(register)];
                *register = register.with_low(value, size);
            }
            Operand::Memory(address) => {
                let start = self.address(address)?;
                if !self.is_own(start, size) || self.written.len() >= MOST_WRITTEN {
                    return None;
                }
                let (end, length) = (start + u64::from(size), u64::from(self.size));
                self.copies.retain(|copy| copy + length <= start || *copy >= end);
                if value.is_loaded && size == self.size {
                    self.copies.push(start);
                }
                for index in 0..size {
                    let byte = value.bits.map(|bits| (bits >> (8 * index)) as u8);
                    self.written.push((start + u64::from(index), byte));
                }
            }
            Operand::Constant(_) => return None,
        }
        Some(())
    }

    fn push(&mut self, value: Option<u64>) -> Option<()> {
        let sp = self.registers[usize::from(RSP)].low(8)?.wrapping_sub(8);
        self.registers[usize::from(RSP)] = Partial::whole(sp);
        self.write(Operand::Memory(Address { base: Some(RSP), index: None, offset: 0 }), value, 8)
    }

    fn pop(&mut self) -> Option<u64> {
        let top = Operand::Memory(Address { base: Some(RSP), index: None, offset: 0 });
        let value = self.read(top, 8).bits;
        let sp = self.registers[usize::from(RSP)].low(8)?;
        self.registers[usize::from(RSP)] = Partial::whole(sp.wrapping_add(8));
        value
    }
}

/// The addresses of functions of the runtime.
macro_rules! functions {
    ($($name:ident)*) => {{
        unsafe extern "C" {
            $(fn $name();)*
        }
        [$($name as *const () as usize),*]
    }};
}

/// Whether a function, by its address, changes nothing that the program sees: atomic loads, the announcements of reads
/// and calls, and giving up the processor.
fn is_silent(function: usize) -> bool {
    let silent = functions!(
        __tsan_func_entry __tsan_func_exit
        __tsan_read1 __tsan_read2 __tsan_read4 __tsan_read8 __tsan_read16
        __tsan_unaligned_read2 __tsan_unaligned_read4 __tsan_unaligned_read8 __tsan_unaligned_read16
        __tsan_volatile_read1 __tsan_volatile_read2 __tsan_volatile_read4 __tsan_volatile_read8
        __tsan_atomic8_load __tsan_atomic16_load __tsan_atomic32_load __tsan_atomic64_load
        sched_yield
    );
    silent.contains(&function)
}

/// Whether a function announces a write.
fn announces_write(function: usize) -> bool {
    functions!(__tsan_write1 __tsan_write2 __tsan_write4 __tsan_write8).contains(&function)
}
