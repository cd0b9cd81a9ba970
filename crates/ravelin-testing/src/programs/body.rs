//! The code of a random thread: blocks between two locations, split into statements until they are single instructions.

use super::{Config, InstructionKind};
use ravelin_numbers::Random;
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Escape, Expr, Instruction, LocId, Order, RegId, RmwOp, ThreadBuilder,
    UnaryOp, Value, VarId, WaitAtom, WaitCondition,
};

/// A variable to access.
#[derive(Clone, Copy, Debug)]
pub(super) struct VariableChoice {
    pub id: VarId,
    pub base: Value,
    pub cells: usize,
    pub is_array: bool,
}

pub(super) struct Body<'a, 'b> {
    pub random: &'a mut Random,
    pub config: &'a Config,
    /// The kinds of instructions and their weights.
    pub kinds: &'a [(InstructionKind, usize)],
    pub places: &'a [VariableChoice],
    /// Whether there is `mem[e]`.
    pub computed: bool,
    /// How most operators compute.
    pub arithmetic: Arithmetic,
    pub loops: bool,
    /// How many accesses and fences the thread may still have.
    pub events: usize,
    /// How many loads there are already.
    pub loads: usize,
    /// How many registers any instruction may write; counters of loops come after them.
    pub ordinary: usize,
    /// The counters of the loops around the next instruction.
    pub counters: Vec<RegId>,
    pub thread: ThreadBuilder<'b>,
}

impl Body<'_, '_> {
    /// Fills the thread with about `size` instructions.
    pub fn generate(&mut self, size: usize) {
        let start = self.thread.here();
        let for_ever = self.loops && self.random.once_in(6);
        let end = if for_ever { start } else { self.thread.fresh() };
        self.block(start, end, size);
    }

    fn block(&mut self, from: LocId, to: LocId, size: usize) {
        if size == 0 {
            return self.thread.edge(from, Instruction::Nop, to);
        }
        let (mut from, mut left) = (from, size);
        while left > 0 {
            let compound = left >= 2 && self.random.once_in(2);
            let piece = if compound { self.random.within(2..=left) } else { 1 };
            left -= piece;
            let next = if left == 0 { to } else { self.thread.fresh() };
            self.statement(from, next, piece);
            from = next;
        }
    }

    fn statement(&mut self, from: LocId, to: LocId, size: usize) {
        if size < 2 {
            let instruction = self.instruction();
            return self.thread.edge(from, instruction, to);
        }
        if self.config.counters && self.events >= 2 && self.random.once_in(2) {
            return self.count(from, to);
        }
        let has = |kind| self.kinds.iter().any(|&(other, weight)| other == kind && weight > 0);
        let accesses = has(InstructionKind::Load) && has(InstructionKind::Store) && self.events >= 2;
        let (locks, bus) = (has(InstructionKind::Lock) && self.events >= 2, has(InstructionKind::BusLock));
        match self.random.below(14) {
            0 | 1 if self.config.branches => self.choose(from, to, size),
            2 | 3 if self.config.branches => self.branch(from, to, size),
            4 if self.loops => self.repeat(from, to, size),
            5 if self.loops => self.counted(from, to, size),
            6 if locks => {
                self.events -= 2;
                let lock = self.lock();
                self.bracket(from, to, size, Instruction::Lock(lock.clone()), Instruction::Unlock(lock));
            }
            7 if bus => self.bracket(from, to, size, Instruction::BusLock, Instruction::BusUnlock),
            8.. if accesses && self.places.len() > 1 => self.overtaken(from, to, size),
            _ => {
                let middle = self.thread.fresh();
                self.statement(from, middle, size / 2);
                self.statement(middle, to, size - size / 2);
            }
        }
    }

    /// `choose { … } or { … }`.
    fn choose(&mut self, from: LocId, to: LocId, size: usize) {
        let left = self.random.within(1..=size);
        self.block(from, to, left);
        self.block(from, to, size - left);
    }

    /// `if e { … } else { … }`.
    fn branch(&mut self, from: LocId, to: LocId, size: usize) {
        let condition = self.condition();
        let left = self.random.within(1..=size);
        self.guarded(from, condition.clone(), to, left);
        self.guarded(from, condition.not(), to, size - left);
    }

    /// `while e { … }`, or a loop that may end at any time.
    fn repeat(&mut self, from: LocId, to: LocId, size: usize) {
        if self.random.once_in(3) {
            self.block(from, from, size);
            return self.thread.edge(from, Instruction::Nop, to);
        }
        let condition = self.condition();
        self.guarded(from, condition.clone(), from, size);
        self.guarded(from, condition.not(), to, 0);
    }

    /// `for i in 0..n { … }`: the counter is computed with 64 bits, whatever the program does.
    fn counted(&mut self, from: LocId, to: LocId, size: usize) {
        let last = self.random.within(1..=2) as Value;
        let domain = Domain::new(0, last + 1, Escape::Error);
        let name = format!("i{}", self.thread.thread.registers.len());
        let counter = self.thread.register_with(name, domain);
        let (head, step) = (self.thread.fresh(), self.thread.fresh());
        self.thread.edge(from, Instruction::Assign { reg: counter, value: Expr::Const(0) }, head);
        let more = Expr::binary(BinaryOp::Le, counter.into(), Expr::Const(last));
        self.counters.push(counter);
        self.guarded(head, more.clone(), step, size - 1);
        self.counters.pop();
        let next = Expr::binary(BinaryOp::Add, counter.into(), Expr::Const(1));
        self.thread.edge(step, Instruction::Assign { reg: counter, value: next }, head);
        self.guarded(head, more.not(), to, 0);
    }

    fn guarded(&mut self, from: LocId, condition: Expr, to: LocId, size: usize) {
        if size == 0 {
            return self.thread.edge(from, Instruction::Assume(condition), to);
        }
        let inside = self.thread.fresh();
        self.thread.edge(from, Instruction::Assume(condition), inside);
        self.block(inside, to, size);
    }

    fn bracket(&mut self, from: LocId, to: LocId, size: usize, open: Instruction, close: Instruction) {
        let (inside, after) = (self.thread.fresh(), self.thread.fresh());
        self.thread.edge(from, open, inside);
        self.block(inside, after, (size - 1).max(1));
        self.thread.edge(after, close, to);
    }

    /// Adds to a cell, or subtracts from it.
    fn count(&mut self, from: LocId, to: LocId) {
        let address = self.address();
        let by = self.constant();
        let op = self.random.pick(&[RmwOp::Add, RmwOp::Add, RmwOp::Sub]);
        let register = self.load_register();
        let how = self.random.below(if self.config.loops { 5 } else { 4 });
        if how < 2 {
            self.events -= 1;
            let old = self.random.once_in(2).then_some(register);
            let order = self.order(|_| true);
            return self.thread.edge(from, Instruction::rmw(op, self.arithmetic, address, by, order, old), to);
        }
        self.events -= 2;
        let order = self.order(Order::fits_load);
        let sum = Expr::binary_in(self.arithmetic, op.binary().unwrap_or(BinaryOp::Add), register.into(), by);
        let middle = self.thread.fresh();
        self.thread.edge(from, Instruction::Load { reg: register, address: address.clone(), order }, middle);
        if how < 4 {
            let masked = self.random.once_in(3);
            let value = match masked {
                true => Expr::binary_in(self.arithmetic, BinaryOp::BitAnd, sum, Expr::Const(127)),
                false => sum,
            };
            let order = self.order(Order::fits_store);
            return self.thread.edge(middle, Instruction::Store { address, value, order }, to);
        }
        let name = format!("ok{}", self.thread.thread.registers.len());
        let ok = self.thread.register_with(name, Domain::new(0, 1, Escape::Error));
        let after = self.thread.fresh();
        let exchange = Instruction::CompareExchange {
            address,
            expected: register.into(),
            new: sum,
            success: self.order(|_| true),
            failure: self.order(Order::fits_load),
            weak: self.random.once_in(2),
            old: Some(register),
            ok: Some(ok),
        };
        self.thread.edge(middle, exchange, after);
        self.thread.edge(after, Instruction::Assume(Expr::Atom(ok)), to);
        self.thread.edge(after, Instruction::Assume(Expr::Atom(ok).not()), middle);
    }

    /// A store and then a load or a store elsewhere, which may overtake it: the source of every weak behaviour.
    fn overtaken(&mut self, from: LocId, to: LocId, size: usize) {
        self.events -= 2;
        let first = self.random.below(self.places.len());
        let second = (first + self.random.within(1..=self.places.len() - 1)) % self.places.len();
        let at = |place: VariableChoice| Address { expr: Expr::Const(place.base), within: Some(place.id) };
        let (first, second) = (at(self.places[first]), at(self.places[second]));
        let order = self.order(Order::fits_store);
        let store = Instruction::Store { address: first, value: self.value(), order };
        let other = if self.random.once_in(3) {
            let order = self.order(Order::fits_store);
            Instruction::Store { address: second, value: self.value(), order }
        } else {
            let order = self.order(Order::fits_load);
            Instruction::Load { reg: self.load_register(), address: second, order }
        };
        let (middle, after) = (self.thread.fresh(), if size == 2 { to } else { self.thread.fresh() });
        self.thread.edge(from, store, middle);
        self.thread.edge(middle, other, after);
        if size > 2 {
            self.block(after, to, size - 2);
        }
    }

    fn instruction(&mut self) -> Instruction {
        let kind = self.random.weighted(self.kinds).unwrap_or(InstructionKind::Nop);
        let instruction = self.of_kind(kind);
        let events = match instruction {
            Instruction::Fence(_) => 1,
            ref other => other.accesses().len(),
        };
        if events > self.events {
            return Instruction::Assign { reg: self.register(), value: self.value() };
        }
        self.events -= events;
        instruction
    }

    fn of_kind(&mut self, kind: InstructionKind) -> Instruction {
        match kind {
            InstructionKind::Nop => Instruction::Nop,
            InstructionKind::Assign => Instruction::Assign { reg: self.register(), value: self.value() },
            InstructionKind::Havoc => {
                let lo = self.random.below(2) as Value;
                Instruction::Havoc { reg: self.register(), lo, hi: lo + self.random.below(3) as Value }
            }
            InstructionKind::Assume => Instruction::Assume(self.condition()),
            InstructionKind::Assert => Instruction::Assert(self.condition()),
            InstructionKind::Load => Instruction::Load {
                reg: self.register(),
                address: self.address(),
                order: self.access(Order::fits_load),
            },
            InstructionKind::Store => Instruction::Store {
                address: self.address(),
                value: self.value(),
                order: self.access(Order::fits_store),
            },
            InstructionKind::Rmw => Instruction::rmw(
                self.random.pick(&self.config.rmws),
                self.arithmetic(),
                self.address(),
                self.value(),
                self.order(|_| true),
                self.maybe_register(),
            ),
            InstructionKind::CompareExchange => Instruction::CompareExchange {
                address: self.address(),
                expected: self.value(),
                new: self.value(),
                success: self.order(|_| true),
                failure: self.order(Order::fits_load),
                weak: self.random.once_in(2),
                old: self.maybe_register(),
                ok: self.maybe_register(),
            },
            InstructionKind::Fence => {
                let order = self.order(Order::fits_fence);
                Instruction::Fence(if order.fits_fence() { order } else { Order::SeqCst })
            }
            InstructionKind::Wait => Instruction::Wait {
                address: self.address(),
                condition: self.awaited(),
                order: self.order(Order::fits_load),
                old: self.maybe_register(),
            },
            InstructionKind::BlockingCas => Instruction::BlockingCas {
                address: self.address(),
                expected: self.value(),
                new: self.value(),
                order: self.order(|_| true),
            },
            InstructionKind::Lock if self.random.once_in(3) => Instruction::Lock(self.lock()),
            InstructionKind::Lock => Instruction::Unlock(self.lock()),
            InstructionKind::BusLock if self.random.once_in(3) => Instruction::BusLock,
            InstructionKind::BusLock if self.random.once_in(4) => Instruction::BusUnlock,
            InstructionKind::BusLock => Instruction::Nop,
            InstructionKind::Locked => {
                let body: Vec<Instruction> = (0..self.random.within(1..=3)).map(|_| self.locked_part()).collect();
                let stores = body.iter().any(|part| matches!(part, Instruction::Store { .. }));
                Instruction::Locked { body, drains: stores || self.random.once_in(2) }
            }
        }
    }

    fn locked_part(&mut self) -> Instruction {
        let kind = self.random.weighted(&[
            (InstructionKind::Load, 4),
            (InstructionKind::Store, 4),
            (InstructionKind::Assign, 2),
            (InstructionKind::Assume, 1),
        ]);
        self.of_kind(kind.unwrap_or(InstructionKind::Nop))
    }

    /// An order for an atomic access or a fence, relaxed half of the time if that is allowed.
    fn order(&mut self, fits: impl Fn(Order) -> bool) -> Order {
        let orders: Vec<Order> = self.config.orders.iter().copied().filter(|&order| fits(order)).collect();
        let relaxed = orders.is_empty() || (orders.contains(&Order::Relaxed) && self.random.once_in(2));
        if relaxed { Order::Relaxed } else { self.random.pick(&orders) }
    }

    /// An order for a load or a store.
    fn access(&mut self, fits: impl Fn(Order) -> bool) -> Order {
        if self.config.non_atomic && self.random.once_in(8) { Order::NonAtomic } else { self.order(fits) }
    }

    fn register(&mut self) -> RegId {
        RegId(self.random.below(self.ordinary))
    }

    /// Loads fill the registers in turn, so that the values they read are visible at the end.
    fn load_register(&mut self) -> RegId {
        self.loads += 1;
        RegId((self.loads - 1) % self.ordinary)
    }

    fn maybe_register(&mut self) -> Option<RegId> {
        if self.random.once_in(4) { None } else { Some(self.register()) }
    }

    fn address(&mut self) -> Address {
        if self.computed && self.random.once_in(10) {
            return Address::computed(self.computed());
        }
        let place = self.random.pick(self.places);
        let expr = if place.is_array && self.random.once_in(2) {
            let index = self.index(place.cells);
            Expr::binary(BinaryOp::Add, Expr::Const(place.base), index)
        } else {
            Expr::Const(place.base + self.random.below(place.cells) as Value)
        };
        Address { expr, within: Some(place.id) }
    }

    /// Where to lock: most often the last variable, so that threads contend there.
    fn lock(&mut self) -> Address {
        match self.places.last() {
            Some(last) if !self.random.once_in(4) => Address { expr: Expr::Const(last.base), within: Some(last.id) },
            _ => self.address(),
        }
    }

    /// A register as an index, most often taken modulo the length.
    fn index(&mut self, cells: usize) -> Expr {
        let register = Expr::Atom(match self.counters.last() {
            Some(&counter) if self.random.once_in(2) => counter,
            _ => self.register(),
        });
        if self.random.once_in(3) {
            return register;
        }
        Expr::binary_in(self.arithmetic, BinaryOp::BitAnd, register, Expr::Const(cells as Value - 1))
    }

    /// An address that need not have a name.
    fn computed(&mut self) -> Expr {
        let place = self.random.pick(self.places);
        match self.random.below(4) {
            0 => Expr::Const(0),
            1 => Expr::Const(place.base + place.cells as Value),
            2 => Expr::Atom(self.register()),
            _ => Expr::binary_in(self.arithmetic, BinaryOp::Add, Expr::Const(place.base), Expr::Atom(self.register())),
        }
    }

    fn constant(&mut self) -> Expr {
        Expr::Const(self.random.pick(&[0, 1, 1, 1, 2, 2]))
    }

    fn value(&mut self) -> Expr {
        match self.random.below(10) {
            0..=5 => self.constant(),
            6 | 7 => Expr::Atom(self.register()),
            8 => {
                let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::BitXor, BinaryOp::Eq]);
                Expr::binary_in(self.arithmetic(), op, Expr::Atom(self.register()), self.constant())
            }
            _ => self.expression(2),
        }
    }

    /// How the next operator computes.
    fn arithmetic(&mut self) -> Arithmetic {
        if self.arithmetic != Arithmetic::Checked && self.random.once_in(8) {
            let other = super::wrapping(self.random);
            return self.random.pick(&[Arithmetic::Checked, other]);
        }
        self.arithmetic
    }

    fn condition(&mut self) -> Expr {
        if self.random.once_in(6) {
            return self.expression(2);
        }
        let op = self.random.pick(&[BinaryOp::Eq, BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Ge]);
        Expr::binary(op, Expr::Atom(self.register()), self.constant())
    }

    /// What a wait waits for: half of the time one or two values, else a comparison, or anything over the value read and registers.
    fn awaited(&mut self) -> WaitCondition {
        let read = Expr::Atom(WaitAtom::Read);
        let of_registers = |expr: Expr| expr.map_atoms(&mut |register| Expr::Atom(WaitAtom::Register(*register)));
        let comparisons = [BinaryOp::Ne, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge];
        match self.random.below(8) {
            0..=3 => WaitCondition::one_of((0..self.random.within(1..=2)).map(|_| self.value())),
            4 | 5 => {
                let (op, value) = (self.random.pick(&comparisons), of_registers(self.value()));
                let (left, right) = if self.random.once_in(4) { (value, read) } else { (read, value) };
                WaitCondition::new(Expr::binary(op, left, right))
            }
            6 => {
                let op = self.random.pick(&[BinaryOp::Rem, BinaryOp::BitAnd, BinaryOp::Add, BinaryOp::Sub]);
                let left = Expr::binary_in(self.arithmetic(), op, read, of_registers(self.value()));
                let op = self.random.pick(&[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt]);
                WaitCondition::new(Expr::binary(op, left, of_registers(self.constant())))
            }
            _ => {
                let mut condition = of_registers(self.expression(2));
                let at = self.random.below(4);
                let mut number = 0;
                condition = condition.map_atoms(&mut |atom| {
                    number += 1;
                    Expr::Atom(if number == at { WaitAtom::Read } else { *atom })
                });
                let condition = WaitCondition::new(condition);
                if condition.mentions_read() {
                    return condition;
                }
                let op = self.random.pick(&BinaryOp::ALL);
                WaitCondition::new(Expr::binary_in(self.arithmetic(), op, read, condition.expr))
            }
        }
    }

    /// Any expression.
    fn expression(&mut self, depth: usize) -> Expr {
        match self.random.below(if depth == 0 { 4 } else { 8 }) {
            0 | 1 => Expr::Atom(self.register()),
            2 | 3 => self.constant(),
            4 => {
                let op = self.random.pick(&[UnaryOp::Neg, UnaryOp::Not]);
                Expr::unary_in(self.arithmetic(), op, self.expression(depth - 1))
            }
            _ => {
                let op = self.random.pick(&BinaryOp::ALL);
                Expr::binary_in(self.arithmetic(), op, self.expression(depth - 1), self.expression(depth - 1))
            }
        }
    }
}
