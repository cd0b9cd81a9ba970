//! How values get from registers and cells to others: one flow for each register or cell that a step may write.
//!
//! Which cells an access leads to is taken from ranges that are known already.

use super::once::taken_once;
use super::{Interval, Ranges};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Expr, Instruction, Program, RegId, RmwOp, Unnamed, Value,
};

/// A value that a step writes.
pub(super) struct Flow<'a> {
    pub from: FlowSource<'a>,
    /// A node.
    pub to: usize,
    pub domain: Domain,
    /// The step happens at most once.
    pub once: bool,
    /// Flows of one step have the same number.
    pub step: usize,
}

pub(super) enum FlowSource<'a> {
    Any(Interval),
    Node(usize),
    Expr {
        thread: usize,
        expr: &'a Expr,
    },
    /// What a read-modify-write makes of the node.
    Update {
        thread: usize,
        node: usize,
        op: BinaryOp,
        arithmetic: Arithmetic,
        operand: &'a Expr,
    },
}

/// All flows of a program. Nodes are the registers, thread by thread, then the cells, and at last all other cells.
pub(super) struct Flows<'a> {
    program: &'a Program,
    ranges: &'a Ranges,
    /// By thread.
    first_register: Vec<usize>,
    addresses: Vec<Value>,
    pub nodes: usize,
    pub flows: Vec<Flow<'a>>,
}

impl<'a> Flows<'a> {
    pub fn of(program: &'a Program, ranges: &'a Ranges, watch: &Watch) -> Result<Flows<'a>, Limit> {
        let mut nodes = 0;
        let mut first_register = Vec::new();
        for registers in &ranges.registers {
            first_register.push(nodes);
            nodes += registers.len();
        }
        first_register.push(nodes);
        let addresses: Vec<Value> = ranges.cells.keys().copied().collect();
        nodes += addresses.len() + 1;
        watch.hold(nodes * 4 * size_of::<usize>())?;
        let mut flows = Flows { program, ranges, first_register, addresses, nodes, flows: Vec::new() };
        let mut step = 0;
        for (thread, code) in program.threads.iter().enumerate() {
            let once = taken_once(code, watch)?;
            for (transition, once) in code.transitions.iter().zip(once) {
                let before = flows.flows.len();
                flows.add_step(thread, &transition.instruction, once, &mut step);
                let added = flows.flows.len() - before;
                watch.steps(1 + added)?;
                watch.hold(added * size_of::<Flow>())?;
            }
        }
        Ok(flows)
    }

    pub fn bytes(&self) -> usize {
        self.nodes * 4 * size_of::<usize>() + self.flows.len() * size_of::<Flow>()
    }

    pub fn register(&self, thread: usize, register: RegId) -> usize {
        self.first_register[thread] + register.0
    }

    /// The first node that is a cell; the cells are in the order of their addresses.
    pub fn first_cell(&self) -> usize {
        self.first_register[self.program.threads.len()]
    }

    fn add_step(&mut self, thread: usize, instruction: &'a Instruction, once: bool, step: &mut usize) {
        if let Instruction::Locked { body, .. } = instruction {
            body.iter().for_each(|part| self.add_step(thread, part, once, step));
            return;
        }
        *step += 1;
        let flow = StepFlow { thread, once, step: *step };
        match instruction {
            Instruction::Assign { reg, value } => self.assign(flow, *reg, FlowSource::Expr { thread, expr: value }),
            Instruction::Havoc { reg, lo, hi } => {
                self.assign(flow, *reg, FlowSource::Any(Interval { lo: *lo, hi: *hi }));
            }
            Instruction::Load { reg, address, .. } => self.read(flow, Some(*reg), address),
            Instruction::Wait { address, old, .. } => self.read(flow, *old, address),
            Instruction::Store { address, value, .. } => {
                self.write(flow, address, |_| FlowSource::Expr { thread, expr: value });
            }
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                self.write(flow, address, |node| match op {
                    RmwOp::Exchange => FlowSource::Expr { thread, expr: operand },
                    _ => {
                        let op = op.binary().unwrap_or(BinaryOp::Add);
                        FlowSource::Update { thread, node, op, arithmetic: *arithmetic, operand }
                    }
                });
                self.read(flow, *old, address);
            }
            Instruction::CompareExchange { address, new, old, ok, .. } => {
                self.write(flow, address, |_| FlowSource::Expr { thread, expr: new });
                self.read(flow, *old, address);
                if let Some(ok) = ok {
                    self.assign(flow, *ok, FlowSource::Any(Interval { lo: 0, hi: 1 }));
                }
            }
            Instruction::BlockingCas { address, new, .. } => {
                self.write(flow, address, |_| FlowSource::Expr { thread, expr: new });
            }
            Instruction::Lock(address) => self.write(flow, address, |_| FlowSource::Any(Interval::point(1))),
            Instruction::Unlock(address) => self.write(flow, address, |_| FlowSource::Any(Interval::point(0))),
            Instruction::Locked { .. }
            | Instruction::Nop
            | Instruction::Assume(_)
            | Instruction::Assert(_)
            | Instruction::Fence(_)
            | Instruction::BusLock
            | Instruction::BusUnlock => {}
        }
    }

    fn assign(&mut self, flow: StepFlow, register: RegId, from: FlowSource<'a>) {
        let domain = self.program.threads[flow.thread].registers[register.0].domain;
        let to = self.register(flow.thread, register);
        self.flows.push(Flow { from, to, domain, once: flow.once, step: flow.step });
    }

    fn read(&mut self, flow: StepFlow, register: Option<RegId>, address: &Address) {
        let Some(register) = register else { return };
        let (nodes, gaps) = self.cells(flow.thread, address);
        let empty = nodes.is_empty();
        for node in nodes {
            self.assign(flow, register, FlowSource::Node(node));
        }
        if gaps && self.program.memory.unnamed != Unnamed::Nothing {
            self.assign(flow, register, FlowSource::Node(self.nodes - 1));
        } else if empty {
            self.assign(flow, register, FlowSource::Any(Interval::point(0)));
        }
    }

    fn write(&mut self, flow: StepFlow, address: &Address, from: impl Fn(usize) -> FlowSource<'a>) {
        let (nodes, gaps) = self.cells(flow.thread, address);
        for to in nodes {
            let address = self.addresses[to - self.first_cell()];
            if let Ok(domain) = self.program.memory.domain_at(address) {
                self.flows.push(Flow { from: from(to), to, domain, once: flow.once, step: flow.step });
            }
        }
        if let Unnamed::Cells(domain) = self.program.memory.unnamed
            && gaps
        {
            let to = self.nodes - 1;
            self.flows.push(Flow { from: from(to), to, domain, once: flow.once, step: flow.step });
        }
    }

    /// The nodes of the cells that an access may lead to, and whether it may lead to other cells.
    fn cells(&self, thread: usize, address: &Address) -> (std::ops::Range<usize>, bool) {
        let Interval { lo, hi } = self.ranges.addresses(self.program, thread, address);
        let from = self.addresses.partition_point(|&known| known < lo);
        let to = self.addresses.partition_point(|&known| known <= hi).max(from);
        let named = (to - from) as i128;
        let first = self.first_cell();
        (first + from..first + to, named < i128::from(hi) - i128::from(lo) + 1)
    }
}

/// What the flows of one step have in common.
#[derive(Clone, Copy)]
struct StepFlow {
    thread: usize,
    once: bool,
    step: usize,
}
