//! What a transition does.

use crate::{Arithmetic, BinaryOp, Expr, Fault, RegId, Value, VarId, WaitCondition};

/// An instruction, executed when its transition is taken. Those that access memory have an [`Order`].
///
/// Registers that receive a value are `Option` where the value may be discarded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    Nop,
    /// `reg = value`.
    Assign {
        reg: RegId,
        value: Expr,
    },
    /// `reg` takes any value of `lo..=hi`.
    Havoc {
        reg: RegId,
        lo: Value,
        hi: Value,
    },
    /// Can be taken only if the condition holds.
    Assume(Expr),
    /// It is an error of the program if the condition fails here; the thread then stops.
    Assert(Expr),
    Load {
        reg: RegId,
        address: Address,
        order: Order,
    },
    Store {
        address: Address,
        value: Expr,
        order: Order,
    },
    /// Reads, computes and writes in one step. `old` gets the value read.
    Rmw {
        op: RmwOp,
        arithmetic: Arithmetic,
        address: Address,
        operand: Expr,
        order: Order,
        old: Option<RegId>,
    },
    /// Writes `new` if the cell holds `expected`. `old` gets the value read, `ok` whether it was written. A weak one
    /// may fail spuriously. A failing one is a load with order `failure`.
    CompareExchange {
        address: Address,
        expected: Expr,
        new: Expr,
        success: Order,
        failure: Order,
        weak: bool,
        old: Option<RegId>,
        ok: Option<RegId>,
    },
    Fence(Order),
    /// Loads, and can be taken only if the condition holds for the value read.
    Wait {
        address: Address,
        condition: WaitCondition,
        order: Order,
        old: Option<RegId>,
    },
    /// A compare-exchange that waits until it succeeds. `order` is that of the RMW.
    BlockingCas {
        address: Address,
        expected: Expr,
        new: Expr,
        order: Order,
    },
    /// Waits for 0 and writes 1, as a locked RMW.
    Lock(Address),
    /// A plain release store of 0.
    Unlock(Address),
    /// Takes the bus lock: while it is held no other thread accesses memory. Needs an empty store buffer.
    BusLock,
    /// Releases the bus lock. Needs an empty store buffer.
    BusUnlock,
    /// A sequence of instructions executed as one locked step, or not at all if one of them cannot be taken. Contains
    /// only [`Instruction::is_simple`] ones. It acts as a fence if `drains`.
    Locked {
        body: Vec<Instruction>,
        drains: bool,
    },
}

/// An address, and the array that must contain it if it was written as an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub expr: Expr,
    pub within: Option<VarId>,
}

impl Address {
    /// Any address: `mem[expr]`.
    pub fn computed(expr: Expr) -> Address {
        Address { expr, within: None }
    }

    pub fn constant(&self) -> Option<Value> {
        match self.expr {
            Expr::Const(address) => Some(address),
            _ => None,
        }
    }
}

/// How strongly an access or a fence is ordered (C11), or that it is not atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Order {
    NonAtomic,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    pub const ATOMIC: [Order; 5] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

    pub fn is_acquire(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    pub fn is_release(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// The weakest order that is as strong as both.
    pub fn join(self, other: Order) -> Order {
        match (self, other) {
            _ if self == other => self,
            (Order::SeqCst, _) | (_, Order::SeqCst) => Order::SeqCst,
            (Order::NonAtomic | Order::Relaxed, order) | (order, Order::NonAtomic | Order::Relaxed) => order,
            _ => Order::AcqRel,
        }
    }

    pub fn is_at_least(self, other: Order) -> bool {
        self.join(other) == self
    }

    pub fn fits_load(self) -> bool {
        !matches!(self, Order::Release | Order::AcqRel)
    }

    pub fn fits_store(self) -> bool {
        !matches!(self, Order::Acquire | Order::AcqRel)
    }

    pub fn fits_fence(self) -> bool {
        !matches!(self, Order::NonAtomic | Order::Relaxed)
    }

    pub fn name(self) -> &'static str {
        match self {
            Order::NonAtomic => "non_atomic",
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acq_rel",
            Order::SeqCst => "seq_cst",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwOp {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
    Max,
    Min,
    UnsignedMax,
    UnsignedMin,
    Exchange,
}

impl RmwOp {
    pub const ALL: [RmwOp; 11] = [
        RmwOp::Add,
        RmwOp::Sub,
        RmwOp::And,
        RmwOp::Or,
        RmwOp::Xor,
        RmwOp::Nand,
        RmwOp::Max,
        RmwOp::Min,
        RmwOp::UnsignedMax,
        RmwOp::UnsignedMin,
        RmwOp::Exchange,
    ];

    /// The name of its method: `x.fetch_add(1)`.
    pub fn method(self) -> &'static str {
        match self {
            RmwOp::Add => "fetch_add",
            RmwOp::Sub => "fetch_sub",
            RmwOp::And => "fetch_and",
            RmwOp::Or => "fetch_or",
            RmwOp::Xor => "fetch_xor",
            RmwOp::Nand => "fetch_nand",
            RmwOp::Max => "fetch_max",
            RmwOp::Min => "fetch_min",
            RmwOp::UnsignedMax => "fetch_umax",
            RmwOp::UnsignedMin => "fetch_umin",
            RmwOp::Exchange => "swap",
        }
    }

    /// The value written, from the value read and the operand.
    pub fn apply(self, arithmetic: Arithmetic, read: Value, operand: Value) -> Result<Value, Fault> {
        self.binary().map_or(Ok(operand), |binary| binary.apply(arithmetic, read, operand))
    }

    /// The operator that computes the value written from the value read and the operand.
    pub fn binary(self) -> Option<BinaryOp> {
        match self {
            RmwOp::Add => Some(BinaryOp::Add),
            RmwOp::Sub => Some(BinaryOp::Sub),
            RmwOp::And => Some(BinaryOp::BitAnd),
            RmwOp::Or => Some(BinaryOp::BitOr),
            RmwOp::Xor => Some(BinaryOp::BitXor),
            RmwOp::Nand => Some(BinaryOp::Nand),
            RmwOp::Max => Some(BinaryOp::Max),
            RmwOp::Min => Some(BinaryOp::Min),
            RmwOp::UnsignedMax => Some(BinaryOp::UnsignedMax),
            RmwOp::UnsignedMin => Some(BinaryOp::UnsignedMin),
            RmwOp::Exchange => None,
        }
    }

    /// Whether what it writes depends on its [`Arithmetic`].
    pub fn computes(self) -> bool {
        self.binary().is_some_and(BinaryOp::computes)
    }
}

impl Instruction {
    /// A read-modify-write. An exchange, a maximum and a minimum compute nothing, so their arithmetic is always the same.
    pub fn rmw(
        op: RmwOp,
        arithmetic: Arithmetic,
        address: Address,
        operand: Expr,
        order: Order,
        old: Option<RegId>,
    ) -> Instruction {
        let arithmetic = if op.computes() { arithmetic } else { Arithmetic::Checked };
        Instruction::Rmw { op, arithmetic, address, operand, order, old }
    }

    /// An atomic exchange whose old value is discarded: a locked store.
    pub fn exchange(address: Address, operand: Expr, order: Order) -> Instruction {
        Instruction::rmw(RmwOp::Exchange, Arithmetic::Checked, address, operand, order, None)
    }

    /// May occur inside [`Instruction::Locked`].
    pub fn is_simple(&self) -> bool {
        matches!(
            self,
            Instruction::Nop
                | Instruction::Assign { .. }
                | Instruction::Assume(_)
                | Instruction::Load { .. }
                | Instruction::Store { .. }
        )
    }

    /// Accesses only the thread's own registers.
    pub fn is_local(&self) -> bool {
        matches!(
            self,
            Instruction::Nop
                | Instruction::Assign { .. }
                | Instruction::Havoc { .. }
                | Instruction::Assume(_)
                | Instruction::Assert(_)
        )
    }

    /// A locked instruction of x86: reads and writes memory in one step and needs an empty store buffer.
    pub fn is_locked(&self) -> bool {
        match self {
            Instruction::Rmw { .. }
            | Instruction::CompareExchange { .. }
            | Instruction::BlockingCas { .. }
            | Instruction::Lock(_) => true,
            Instruction::Locked { drains, .. } => *drains,
            _ => false,
        }
    }

    /// The memory addresses it names, with whether it may read and may write there. For a locked block, of all parts.
    pub fn accesses(&self) -> Vec<Access<'_>> {
        let read = |address| Access { address, reads: true, writes: false };
        let write = |address| Access { address, reads: false, writes: true };
        let both = |address| Access { address, reads: true, writes: true };
        match self {
            Instruction::Load { address, .. } | Instruction::Wait { address, .. } => vec![read(address)],
            Instruction::Store { address, .. } | Instruction::Unlock(address) => vec![write(address)],
            Instruction::Rmw { address, .. }
            | Instruction::CompareExchange { address, .. }
            | Instruction::BlockingCas { address, .. }
            | Instruction::Lock(address) => vec![both(address)],
            Instruction::Locked { body, .. } => body.iter().flat_map(Instruction::accesses).collect(),
            _ => Vec::new(),
        }
    }

    /// The memory addresses it names, to be changed. For a locked block, of all parts.
    pub fn addresses_mut(&mut self) -> Vec<&mut Address> {
        match self {
            Instruction::Load { address, .. }
            | Instruction::Store { address, .. }
            | Instruction::Rmw { address, .. }
            | Instruction::CompareExchange { address, .. }
            | Instruction::Wait { address, .. }
            | Instruction::BlockingCas { address, .. }
            | Instruction::Lock(address)
            | Instruction::Unlock(address) => vec![address],
            Instruction::Locked { body, .. } => body.iter_mut().flat_map(Instruction::addresses_mut).collect(),
            Instruction::Nop
            | Instruction::Assign { .. }
            | Instruction::Havoc { .. }
            | Instruction::Assume(_)
            | Instruction::Assert(_)
            | Instruction::Fence(_)
            | Instruction::BusLock
            | Instruction::BusUnlock => Vec::new(),
        }
    }

    /// The registers it writes.
    pub fn written_registers(&self) -> Vec<RegId> {
        match self {
            Instruction::Assign { reg, .. } | Instruction::Havoc { reg, .. } | Instruction::Load { reg, .. } => {
                vec![*reg]
            }
            Instruction::Rmw { old, .. } | Instruction::Wait { old, .. } => old.iter().copied().collect(),
            Instruction::CompareExchange { old, ok, .. } => old.iter().chain(ok).copied().collect(),
            Instruction::Locked { body, .. } => body.iter().flat_map(Instruction::written_registers).collect(),
            _ => Vec::new(),
        }
    }

    /// The expressions over registers that it evaluates, including addresses. The condition of a wait is not among them: it also speaks
    /// of the value read.
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            Instruction::Assign { value, .. } => vec![value],
            Instruction::Assume(condition) | Instruction::Assert(condition) => vec![condition],
            Instruction::Load { address, .. }
            | Instruction::Wait { address, .. }
            | Instruction::Lock(address)
            | Instruction::Unlock(address) => vec![&address.expr],
            Instruction::Store { address, value, .. } => vec![&address.expr, value],
            Instruction::Rmw { address, operand, .. } => vec![&address.expr, operand],
            Instruction::CompareExchange { address, expected, new, .. }
            | Instruction::BlockingCas { address, expected, new, .. } => vec![&address.expr, expected, new],
            Instruction::Locked { body, .. } => body.iter().flat_map(Instruction::expressions).collect(),
            Instruction::Nop
            | Instruction::Havoc { .. }
            | Instruction::Fence(_)
            | Instruction::BusLock
            | Instruction::BusUnlock => Vec::new(),
        }
    }

    /// How its operators compute, in expressions and as a read-modify-write.
    pub fn for_each_arithmetic(&self, visit: &mut impl FnMut(Arithmetic)) {
        match self {
            Instruction::Rmw { op, arithmetic, .. } if op.computes() => visit(*arithmetic),
            Instruction::Wait { condition, .. } => condition.expr.for_each_arithmetic(visit),
            _ => {}
        }
        for expr in self.expressions() {
            expr.for_each_arithmetic(visit);
        }
    }

    /// Sets the arithmetic of its operators. The sum of an array's address and an index does not change.
    pub fn compute_in(&mut self, arithmetic: Arithmetic) {
        let address = |address: &mut Address| match (&mut address.expr, address.within) {
            (Expr::Binary(BinaryOp::Add, _, _, index), Some(_)) => index.compute_in(arithmetic),
            (expr, _) => expr.compute_in(arithmetic),
        };
        match self {
            Instruction::Assign { value, .. } => value.compute_in(arithmetic),
            Instruction::Assume(condition) | Instruction::Assert(condition) => condition.compute_in(arithmetic),
            Instruction::Load { address: at, .. } | Instruction::Lock(at) | Instruction::Unlock(at) => address(at),
            Instruction::Store { address: at, value, .. } => {
                address(at);
                value.compute_in(arithmetic);
            }
            Instruction::Rmw { op, arithmetic: own, address: at, operand, .. } => {
                if op.computes() {
                    *own = arithmetic;
                }
                address(at);
                operand.compute_in(arithmetic);
            }
            Instruction::CompareExchange { address: at, expected, new, .. }
            | Instruction::BlockingCas { address: at, expected, new, .. } => {
                address(at);
                expected.compute_in(arithmetic);
                new.compute_in(arithmetic);
            }
            Instruction::Wait { address: at, condition, .. } => {
                address(at);
                condition.compute_in(arithmetic);
            }
            Instruction::Locked { body, .. } => body.iter_mut().for_each(|part| part.compute_in(arithmetic)),
            Instruction::Nop
            | Instruction::Havoc { .. }
            | Instruction::Fence(_)
            | Instruction::BusLock
            | Instruction::BusUnlock => {}
        }
    }

    /// The registers its expressions read.
    pub fn read_registers(&self) -> Vec<RegId> {
        let mut registers = match self {
            Instruction::Wait { condition, .. } => condition.registers(),
            _ => Vec::new(),
        };
        for expr in self.expressions() {
            expr.for_each_atom(&mut |register| registers.push(*register));
        }
        registers
    }
}

/// One address an instruction names, and what it may do there.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    pub address: &'a Address,
    pub reads: bool,
    pub writes: bool,
}
