//! A litmus test from the accesses of a run: no loops, no conditions, every stored value a constant.
//!
//! Stores to a cell get the values 1, 2, 3, … and the cell begins with 0. So a value names the store that a load read from, whatever
//! values the program uses, and the outcome of the witness is which store each load reads (and which store is in memory at the end).
//!
//! A test of the whole run is the closest to the program. A test of the cycle alone has fewer loads that must read the right value, and
//! is seen more often. Fences and locked instructions between two accesses of the cycle stay in it, as fences. Dropping accesses cannot
//! make an impossible cycle possible: what a happens-before cycle needs is in it, and the reference semantics judges the test again.

use super::execution::{Access, AccessId, Execution, TestAccessKind};
use ravelin_answer::{TestPart, TestThread};
use ravelin_program::{
    Address, Arithmetic, Expr, Instruction, Order, Position, Program, ProgramBuilder, RmwOp, Value, Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// With more accesses of one thread, an outcome is too rare to wait for.
const MOST_ACCESSES: usize = 8;

/// Nor are more threads: they would have to run at the same time.
const MOST_THREADS: usize = 6;

/// Why accesses are no test.
#[derive(Clone, Debug)]
pub enum NoTest {
    /// There are not two threads.
    Alone,
    /// In words.
    TooLarge(String),
}

/// A test and the outcome that is wanted.
#[derive(Clone, Debug)]
pub struct LitmusTest {
    pub part: TestPart,
    pub cells: Vec<TestCell>,
    pub threads: Vec<LitmusThread>,
    /// The cells whose value at the end is part of an outcome.
    pub memory: Vec<usize>,
    /// What each load reads, by thread and in program order, then what these cells hold.
    pub target: Vec<Value>,
    loaded: Vec<Value>,
    at_end: Vec<Value>,
}

#[derive(Clone, Debug)]
pub struct TestCell {
    pub name: String,
    /// By the number of the store, 0 for the beginning: the value in the program.
    pub values: Vec<Value>,
    /// The threads that store to it.
    pub writers: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
pub struct LitmusThread {
    pub name: String,
    pub operations: Vec<TestAccess>,
}

#[derive(Clone, Debug)]
pub struct TestAccess {
    pub kind: TestAccessKind,
    /// Of no meaning for a fence.
    pub cell: usize,
    /// The number of the store, if it is one.
    pub value: Value,
    pub position: Option<Position>,
}

impl TestAccess {
    pub fn is_load(&self) -> bool {
        matches!(self.kind, TestAccessKind::Load | TestAccessKind::Exchange | TestAccessKind::LockedLoad)
    }
}

impl LitmusTest {
    /// The test of a run or of its cycle, or why there is none.
    pub fn of(execution: &Execution, part: TestPart) -> Result<LitmusTest, NoTest> {
        let kept: Vec<Vec<(AccessId, TestAccessKind)>> = match part {
            TestPart::Run => whole(execution),
            TestPart::Cycle => of_cycle(execution),
        };
        let longest = kept.iter().map(Vec::len).max().unwrap_or(0);
        match (kept.len(), longest) {
            (0 | 1, _) => Err(NoTest::Alone),
            (threads, _) if threads > MOST_THREADS => {
                Err(NoTest::TooLarge(format!("it has {threads} threads, and a test has at most {MOST_THREADS}")))
            }
            (_, longest) if longest > MOST_ACCESSES => Err(NoTest::TooLarge(format!(
                "a thread makes {longest} accesses, and in a test at most {MOST_ACCESSES}"
            ))),
            _ => Ok(LitmusTest::with(execution, part, &kept)),
        }
    }

    fn with(execution: &Execution, part: TestPart, kept: &[Vec<(AccessId, TestAccessKind)>]) -> LitmusTest {
        let mut cells: Vec<TestCell> = Vec::new();
        let mut numbers: BTreeMap<AccessId, Value> = BTreeMap::new();
        let is_access = |kind: TestAccessKind| kind != TestAccessKind::Fence;
        for (thread, &(id, kind)) in
            kept.iter().enumerate().flat_map(|(thread, all)| all.iter().map(move |a| (thread, a)))
        {
            let access = execution.access(id);
            if !is_access(kind) {
                continue;
            }
            let cell = cell_number(&mut cells, execution, access);
            if let Some(value) = access.written {
                cells[cell].values.push(value);
                cells[cell].writers.insert(thread);
                numbers.insert(id, cells[cell].values.len() as Value - 1);
            }
        }
        let mut loaded = Vec::new();
        let mut threads = Vec::new();
        for all in kept {
            let mut operations = Vec::new();
            for &(id, kind) in all {
                let access = execution.access(id);
                let cell = if is_access(kind) { cell_number(&mut cells, execution, access) } else { 0 };
                let value = numbers.get(&id).copied().unwrap_or(0);
                if let (true, Some((value, source))) = (is_access(kind), access.read) {
                    let number = source.and_then(|source| numbers.get(&source).copied());
                    if number.is_none() {
                        // It read a store that is not in the test: here that is what was there at the beginning.
                        cells[cell].values[0] = value;
                    }
                    loaded.push(number.unwrap_or(0));
                }
                operations.push(TestAccess { kind, cell, value, position: access.position });
            }
            let name = all.first().map(|&((thread, _), _)| execution.threads[thread].name.clone());
            threads.push(LitmusThread { name: name.unwrap_or_default(), operations });
        }
        let last = |cell: &TestCell| {
            let stores = execution.coherence.get(&cell.name).map(Vec::as_slice).unwrap_or_default();
            stores.iter().rev().find_map(|store| numbers.get(store).copied()).unwrap_or(0)
        };
        let at_end = cells.iter().map(last).collect();
        let mut test = LitmusTest { part, cells, threads, memory: Vec::new(), target: Vec::new(), loaded, at_end };
        test.observe_memory(false);
        test
    }

    /// Whether outcomes say what is in memory at the end. For a cell with one writer that is known beforehand.
    pub fn observe_memory(&mut self, observes: bool) {
        let contested = (0..self.cells.len()).filter(|&cell| self.cells[cell].writers.len() > 1);
        self.memory = if observes { contested.collect() } else { Vec::new() };
        let at_end = self.memory.iter().map(|&cell| self.at_end[cell]);
        self.target = self.loaded.iter().copied().chain(at_end).collect();
    }

    /// The loads, by thread and in program order: thread and cell.
    pub fn loads(&self) -> impl Iterator<Item = (usize, usize)> {
        let threads = self.threads.iter().enumerate();
        threads.flat_map(|(number, thread)| {
            thread.operations.iter().filter(|operation| operation.is_load()).map(move |load| (number, load.cell))
        })
    }

    /// Each cell has at most one writer, so that its values tell iterations apart.
    pub fn is_perpetual(&self) -> bool {
        self.memory.is_empty() && self.cells.iter().all(|cell| cell.writers.len() <= 1)
    }

    /// The test as a program. The transitions of a thread are its operations.
    pub fn program(&self) -> Program {
        let mut program = ProgramBuilder::new("test");
        let cells: Vec<_> = self.cells.iter().map(|cell| program.variable(Variable::scalar(&cell.name))).collect();
        for thread in &self.threads {
            let mut built = program.thread(&thread.name);
            for (number, operation) in thread.operations.iter().enumerate() {
                let address = || built.address(cells[operation.cell]);
                let rmw = |op, operand: Value, address: Address, old| {
                    Instruction::rmw(op, Arithmetic::Checked, address, Expr::Const(operand), Order::SeqCst, Some(old))
                };
                let instruction = match operation.kind {
                    TestAccessKind::Fence => Instruction::Fence(Order::SeqCst),
                    TestAccessKind::Store => {
                        let value = Expr::Const(operation.value);
                        Instruction::Store { address: address(), value, order: Order::Relaxed }
                    }
                    TestAccessKind::Load => {
                        let address = address();
                        let reg = built.register(format!("r{number}"));
                        Instruction::Load { reg, address, order: Order::Relaxed }
                    }
                    TestAccessKind::Exchange => {
                        let address = address();
                        let old = built.register(format!("r{number}"));
                        rmw(RmwOp::Exchange, operation.value, address, old)
                    }
                    TestAccessKind::LockedLoad => {
                        let address = address();
                        let old = built.register(format!("r{number}"));
                        rmw(RmwOp::Add, 0, address, old)
                    }
                };
                built.push(instruction);
            }
            built.finish();
        }
        program.program
    }

    /// The threads for people.
    pub fn shown(&self) -> Vec<TestThread> {
        let thread = |thread: &LitmusThread| TestThread {
            thread: thread.name.clone(),
            accesses: thread.operations.iter().map(|operation| self.operation_text(operation)).collect(),
        };
        self.threads.iter().map(thread).collect()
    }

    pub fn operation_text(&self, operation: &TestAccess) -> String {
        let cell = self.cells.get(operation.cell);
        let name = cell.map_or("", |cell| cell.name.as_str());
        let value = cell.and_then(|cell| cell.values.get(operation.value as usize)).copied().unwrap_or(0);
        let text = match operation.kind {
            TestAccessKind::Fence => "fence".to_owned(),
            TestAccessKind::Load => format!("load {name}"),
            TestAccessKind::LockedLoad => format!("locked load {name}"),
            TestAccessKind::Store => format!("store {name} = {value}"),
            TestAccessKind::Exchange => format!("exchange {name} = {value}"),
        };
        match operation.position {
            Some(at) => format!("{text} (line {})", at.line),
            None => text,
        }
    }

    /// An outcome in the values of the program.
    pub fn outcome_text(&self, outcome: &[Value]) -> String {
        let mut parts = Vec::new();
        for ((thread, cell), &number) in self.loads().zip(outcome) {
            parts.push(format!(
                "{} reads {} = {}",
                self.threads[thread].name,
                self.cells[cell].name,
                self.value(cell, number)
            ));
        }
        for (&cell, &number) in self.memory.iter().zip(&outcome[outcome.len() - self.memory.len()..]) {
            parts.push(format!("{} ends as {}", self.cells[cell].name, self.value(cell, number)));
        }
        parts.join(", ")
    }

    /// A value of the program; with the number of its store if another store has the same value.
    fn value(&self, cell: usize, number: Value) -> String {
        let values = &self.cells[cell].values;
        let value = values.get(number as usize).copied().unwrap_or(number);
        match (values.iter().filter(|&&other| other == value).count(), number) {
            (0 | 1, _) => value.to_string(),
            (_, 0) => format!("{value} (from before)"),
            (_, number) => format!("{value} (store {number})"),
        }
    }
}

fn cell_number(cells: &mut Vec<TestCell>, execution: &Execution, access: &Access) -> usize {
    cells.iter().position(|cell| cell.name == access.cell).unwrap_or_else(|| {
        let initial = execution.initial.get(&access.cell).copied().unwrap_or(0);
        cells.push(TestCell { name: access.cell.clone(), values: vec![initial], writers: BTreeSet::new() });
        cells.len() - 1
    })
}

/// All accesses of all threads that share a cell with another one.
fn whole(execution: &Execution) -> Vec<Vec<(AccessId, TestAccessKind)>> {
    let threads = execution.threads.iter().enumerate();
    let all = threads.map(|(thread, of)| {
        let accesses = of.accesses.iter().enumerate();
        trimmed(accesses.map(|(number, access)| ((thread, number), access.kind)).collect())
    });
    all.filter(|accesses| !accesses.is_empty()).collect()
}

/// The accesses of the cycle, and what drains the store buffer between them.
fn of_cycle(execution: &Execution) -> Vec<Vec<(AccessId, TestAccessKind)>> {
    let threads = execution.threads.iter().enumerate();
    let all = threads.map(|(thread, of)| {
        let accesses = of.accesses.iter().enumerate();
        let kept = accesses.filter_map(|(number, access)| {
            let id = (thread, number);
            match access.kind {
                kind if execution.cycle.contains(&id) => Some((id, kind)),
                TestAccessKind::Fence | TestAccessKind::Exchange | TestAccessKind::LockedLoad => {
                    Some((id, TestAccessKind::Fence))
                }
                TestAccessKind::Load | TestAccessKind::Store => None,
            }
        });
        trimmed(kept.collect())
    });
    all.filter(|accesses| !accesses.is_empty()).collect()
}

/// Without fences at both ends and without those that follow another.
fn trimmed(mut accesses: Vec<(AccessId, TestAccessKind)>) -> Vec<(AccessId, TestAccessKind)> {
    let is_fence = |(_, kind): &(AccessId, TestAccessKind)| *kind == TestAccessKind::Fence;
    accesses.dedup_by(|later, earlier| is_fence(later) && is_fence(earlier));
    while accesses.last().is_some_and(is_fence) {
        accesses.pop();
    }
    let leading = accesses.iter().take_while(|access| is_fence(access)).count();
    accesses.drain(..leading);
    accesses
}
