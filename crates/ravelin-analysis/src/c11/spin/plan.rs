//! What the attempts of a loop become: the accesses that only the attempt that passes does.
//!
//! The cases, by the ways out of the loop; the head of the module says why each is right:
//!
//! - every way out has one access: a `wait` for the condition under which the loop ends this way, or a `bcas`, all side by side;
//! - a compare-exchange behind loads of the same cell: a read-modify-write without these loads;
//! - one way out with several loads, each with a condition of its own (`while a.load() == 1 || b.load() == 1 {}`): one `wait` after the
//!   other;
//! - several ways out of one row of loads to the same place (`while a.load() == 1 && b.load() == 1 {}`): one `wait` for each, side by
//!   side, and none of the loads before it.

use super::attempt::{AccessKind, AttemptSearch, Way, WayAccess, truth};
use super::obstacle::{SpinObstacle, cell_name};
use ravelin_program::{
    Arithmetic, BinaryOp, Expr, Instruction, LocId, Order, RegId, RmwOp, Span, Value, WaitCondition,
};

/// Cells with at most so many values have a compare-exchange for each.
const MOST_EXCHANGES: i128 = 16;

/// The steps that replace a loop.
#[derive(Debug)]
pub(super) struct LoopPlan {
    /// Done once, before anything can be waited for.
    pub first: Vec<(Instruction, Span)>,
    /// Side by side.
    pub ways: Vec<PlannedWay>,
    /// It may allow more than the loop.
    pub weaker: bool,
}

/// A row of steps; the first of them can be taken only if the loop can end this way.
#[derive(Debug)]
pub(super) struct PlannedWay {
    pub steps: Vec<(Instruction, Span)>,
    pub to: LocId,
}

/// Makes the plan. Names of values read become registers of the plan: those behind the registers of the thread.
pub(super) fn plan(search: &AttemptSearch, keeps: &dyn Fn(LocId, RegId) -> bool) -> Result<LoopPlan, SpinObstacle> {
    let exits = &search.found.exits;
    let fences = leading_fences(&exits[0]);
    if exits.iter().any(|way| leading_fences(way) != fences) {
        return Err(SpinObstacle::Does("has a fence on some of its ways only"));
    }
    let span = |transition: usize| search.thread.transitions[transition].span;
    let stable = search.found.stable.iter().map(|load| {
        let instruction = Instruction::Load { reg: load.read, address: load.address.clone(), order: load.order };
        (instruction, span(load.transition))
    });
    let fences = fences.iter().map(|&fence| (search.thread.transitions[fence].instruction.clone(), span(fence)));
    let first = stable.chain(fences).collect();
    let planner = WayPlanner { search, keeps };
    if let Some(ways) = planner.side_by_side()? {
        return Ok(LoopPlan { first, ways, weaker: false });
    }
    if let Some(way) = planner.in_a_row() {
        return Ok(LoopPlan { first, ways: vec![way], weaker: false });
    }
    if let Some(ways) = planner.any_of_a_row() {
        return Ok(LoopPlan { first, ways, weaker: true });
    }
    Err(planner.several_cells())
}

/// Fences before the first access, by transition.
fn leading_fences(way: &Way) -> Vec<usize> {
    way.fences.iter().filter(|(after, _)| *after == 0).map(|(_, fence)| *fence).collect()
}

struct WayPlanner<'a> {
    search: &'a AttemptSearch<'a>,
    /// Whether the value of a register matters at a location.
    keeps: &'a dyn Fn(LocId, RegId) -> bool,
}

impl WayPlanner<'_> {
    fn span(&self, access: &WayAccess) -> Span {
        self.search.thread.transitions[access.transition].span
    }

    fn name(&self, access: &WayAccess) -> String {
        let instruction = &self.search.thread.transitions[access.transition].instruction;
        let written = instruction.accesses().first().map(|access| access.address.clone());
        cell_name(self.search.program, self.search.thread, written.as_ref().unwrap_or(&access.address))
    }

    fn several_cells(&self) -> SpinObstacle {
        let mut cells: Vec<String> = Vec::new();
        for access in self.search.found.exits.iter().flat_map(|way| &way.accesses) {
            let name = self.name(access);
            if !cells.contains(&name) {
                cells.push(name);
            }
        }
        SpinObstacle::Cells(cells)
    }

    /// One access for each way; `None` if some way has more.
    fn side_by_side(&self) -> Result<Option<Vec<PlannedWay>>, SpinObstacle> {
        let mut ways = Vec::new();
        for way in &self.search.found.exits {
            match way.accesses.as_slice() {
                [] => ways.push(self.without_access(way)),
                [access] => match &access.kind {
                    AccessKind::Load(order) | AccessKind::Wait(order) => ways.push(self.one_load(way, access, *order)),
                    AccessKind::Success { .. } => ways.extend(self.exchange(way, access, None)?),
                },
                [loads @ .., exchange] => {
                    let AccessKind::Success { expected, .. } = &exchange.kind else { return Ok(None) };
                    let same = |load: &WayAccess| load.address == exchange.address;
                    if !loads.iter().all(same) {
                        return Ok(None);
                    }
                    self.may_drop(way, loads, exchange)?;
                    // All could read what the exchange reads. The way must be the same then.
                    let value = match expected {
                        Expr::Atom(read) if loads.iter().any(|load| load.read == *read) => None,
                        expected => Some(expected.clone()),
                    };
                    let reads: Vec<RegId> = loads.iter().map(|load| load.read).collect();
                    let others: Vec<RegId> =
                        reads.iter().copied().filter(|read| *expected != Expr::Atom(*read)).collect();
                    let about_others = way
                        .conditions
                        .iter()
                        .map(|(_, condition)| condition)
                        .filter(|condition| others.iter().any(|other| mentions(condition, *other)));
                    let holds = |condition: &Expr| match &value {
                        Some(value) => {
                            let set = others.iter().fold(condition.clone(), |set, read| replace(&set, *read, value));
                            truth(&set) == Some(true)
                        }
                        None => false,
                    };
                    if !about_others.into_iter().all(holds) || self.depends_on_free_reads(way, expected, &others) {
                        return Ok(None);
                    }
                    let value_of = value.clone().unwrap_or(Expr::Atom(exchange.read));
                    let merged = merged(way, &reads, &value_of);
                    let exchange = merged.accesses.last().cloned().unwrap_or_else(|| exchange.clone());
                    let expected_is_read = value.is_none().then_some(exchange.read);
                    ways.extend(self.exchange(&merged, &exchange, expected_is_read)?);
                }
            }
        }
        Ok(Some(ways))
    }

    /// Something that stays depends on a load that would go and that may have read another value than the compare-exchange.
    fn depends_on_free_reads(&self, way: &Way, expected: &Expr, others: &[RegId]) -> bool {
        let is_expected = |read: RegId| {
            let (one, other) = (Expr::Atom(read).eq(expected.clone()), expected.clone().eq(Expr::Atom(read)));
            way.conditions.iter().any(|(_, condition)| *condition == one || *condition == other)
        };
        let free: Vec<RegId> = others.iter().copied().filter(|read| !is_expected(*read)).collect();
        let depends = |expr: &Expr| free.iter().any(|read| mentions(expr, *read));
        let kept = way.values.iter().any(|(register, value)| (self.keeps)(way.to, *register) && depends(value));
        let computed = match way.accesses.last().map(|access| &access.kind) {
            Some(AccessKind::Success { expected, new, .. }) => depends(expected) || depends(new),
            _ => false,
        };
        kept || computed
    }

    /// Loads in front of a compare-exchange of the same cell can go only if their order adds nothing to its own.
    fn may_drop(&self, way: &Way, loads: &[WayAccess], exchange: &WayAccess) -> Result<(), SpinObstacle> {
        let AccessKind::Success { order: success, .. } = exchange.kind else { return Ok(()) };
        let stronger = loads.iter().any(|load| match load.kind {
            AccessKind::Load(order) | AccessKind::Wait(order) => {
                order == Order::SeqCst || order.is_acquire() && !success.is_acquire()
            }
            AccessKind::Success { .. } => true,
        });
        let fenced = way.fences.iter().any(|(after, _)| (1..way.accesses.len()).contains(after));
        if stronger || fenced {
            return Err(SpinObstacle::Orders(self.name(exchange)));
        }
        Ok(())
    }

    fn without_access(&self, way: &Way) -> PlannedWay {
        let instruction = match all(way.conditions.iter().map(|(_, condition)| condition.clone())) {
            Some(condition) => Instruction::Assume(condition),
            None => Instruction::Nop,
        };
        let mut steps = vec![(instruction, Span::NOWHERE)];
        steps.extend(self.assignments(way));
        PlannedWay { steps, to: way.to }
    }

    fn one_load(&self, way: &Way, access: &WayAccess, order: Order) -> PlannedWay {
        let condition = all(way.conditions.iter().map(|(_, condition)| condition.clone()));
        let mut steps = self.load(access, condition, order);
        steps.extend(self.fences_after(way, 1));
        steps.extend(self.assignments(way));
        PlannedWay { steps, to: way.to }
    }

    /// A load that waits for a condition. One that does not depend on what is read comes before the load.
    fn load(&self, access: &WayAccess, condition: Option<Expr>, order: Order) -> Vec<(Instruction, Span)> {
        let span = self.span(access);
        let address = access.address.clone();
        let condition = condition.map(|condition| WaitCondition::on_register(&condition, access.read));
        match condition {
            Some(condition) if condition.mentions_read() => {
                vec![(Instruction::Wait { address, condition, order, old: Some(access.read) }, span)]
            }
            other => {
                let assume = other.map(|known| Instruction::Assume(known.with_read(&Expr::Const(0))));
                let load = Instruction::Load { reg: access.read, address, order };
                assume.into_iter().chain([load]).map(|instruction| (instruction, span)).collect()
            }
        }
    }

    /// A compare-exchange that succeeds. `read`: the expected value is the one that it reads, under this name.
    fn exchange(&self, way: &Way, access: &WayAccess, read: Option<RegId>) -> Result<Vec<PlannedWay>, SpinObstacle> {
        let AccessKind::Success { expected, new, order } = &access.kind else { return Ok(Vec::new()) };
        for (_, condition) in &way.conditions {
            self.search.must_have_value(condition)?;
        }
        let conditions: Vec<Expr> =
            way.conditions.iter().map(|(_, condition)| condition.clone()).filter(|c| truth(c) != Some(true)).collect();
        let Some(read) = read else {
            let mentions = |expr: &Expr| way.accesses.iter().any(|access| mentions(expr, access.read));
            if conditions.iter().any(mentions) || mentions(expected) || mentions(new) {
                return Err(SpinObstacle::NewValue(self.name(access)));
            }
            let planned = self.blocking(way, access, conditions, expected.clone(), new.clone(), *order);
            return Ok(planned.into_iter().collect());
        };
        if let (true, Some((op, arithmetic, operand))) = (conditions.is_empty(), as_update(new, read)) {
            let (address, order) = (access.address.clone(), *order);
            let update = Instruction::rmw(op, arithmetic, address, operand, order, Some(read));
            let mut steps = vec![(update, self.span(access))];
            steps.extend(self.fences_after(way, way.accesses.len()));
            steps.extend(self.assignments(way));
            return Ok(vec![PlannedWay { steps, to: way.to }]);
        }
        let values = self.search.values(read);
        if i128::from(*values.end()) - i128::from(*values.start()) >= MOST_EXCHANGES {
            return Err(SpinObstacle::NewValue(self.name(access)));
        }
        let planned = values.filter_map(|value: Value| {
            let set = |expr: &Expr| replace(expr, read, &Expr::Const(value));
            let known = Way { values: way.values.iter().map(|(r, v)| (*r, set(v))).collect(), ..way.clone() };
            let conditions = conditions.iter().map(set).collect();
            self.blocking(&known, access, conditions, Expr::Const(value), set(new), *order)
        });
        Ok(planned.collect())
    }

    /// `bcas`; `None` if its conditions are never true.
    fn blocking(
        &self,
        way: &Way,
        access: &WayAccess,
        conditions: Vec<Expr>,
        expected: Expr,
        new: Expr,
        order: Order,
    ) -> Option<PlannedWay> {
        let span = self.span(access);
        if conditions.iter().any(|condition| truth(condition) == Some(false)) {
            return None;
        }
        let conditions = conditions.into_iter().filter(|condition| truth(condition).is_none());
        let mut steps: Vec<(Instruction, Span)> =
            all(conditions).map(|condition| (Instruction::Assume(condition), span)).into_iter().collect();
        steps.push((Instruction::BlockingCas { address: access.address.clone(), expected, new, order }, span));
        steps.extend(self.fences_after(way, way.accesses.len()));
        steps.extend(self.assignments(way));
        Some(PlannedWay { steps, to: way.to })
    }

    /// The only way out is a row of loads, each with a condition of its own.
    fn in_a_row(&self) -> Option<PlannedWay> {
        let [way] = self.search.found.exits.as_slice() else { return None };
        let by_access = own_conditions(way)?;
        let mut steps = Vec::new();
        for (number, (access, condition)) in way.accesses.iter().zip(by_access).enumerate() {
            let (AccessKind::Load(order) | AccessKind::Wait(order)) = access.kind else { return None };
            steps.extend(self.load(access, condition, order));
            steps.extend(self.fences_after(way, number + 1));
        }
        steps.extend(self.assignments(way));
        Some(PlannedWay { steps, to: way.to })
    }

    /// The ways out lead from one row of loads to the same place: each load either ends the loop or leads to the next.
    fn any_of_a_row(&self) -> Option<Vec<PlannedWay>> {
        let exits = &self.search.found.exits;
        let longest = exits.iter().max_by_key(|way| way.accesses.len())?;
        let row = |way: &Way| -> Vec<usize> { way.accesses.iter().map(|access| access.transition).collect() };
        let all = row(longest);
        let mut ways = Vec::new();
        for length in 1..=all.len() {
            let mut of_length = exits.iter().filter(|way| way.accesses.len() == length);
            let (way, None) = (of_length.next()?, of_length.next()) else { return None };
            let quiet = way.values.keys().all(|register| !(self.keeps)(way.to, *register));
            if row(way) != all[..length] || way.to != longest.to || !quiet {
                return None;
            }
            let faults = |(_, condition): &(usize, Expr)| self.search.must_have_value(condition).is_err();
            if way.fences.iter().any(|(after, _)| *after > 0) || way.conditions.iter().any(faults) {
                return None;
            }
            let (last, condition) = way.accesses.last().zip(own_conditions(way)?.pop())?;
            // What is left out must not be a fence in disguise, nor may an attempt block in the middle.
            let plain = |access: &WayAccess| match access.kind {
                AccessKind::Load(order) => order != Order::SeqCst,
                _ => false,
            };
            let AccessKind::Load(order) = last.kind else { return None };
            if !way.accesses.iter().all(plain) {
                return None;
            }
            ways.push(PlannedWay { steps: self.load(last, Some(condition?), order), to: way.to });
        }
        let fails_late = self.search.found.idle.iter().all(|way| row(way) == all);
        (fails_late && ways.len() == exits.len()).then_some(ways)
    }

    fn fences_after(&self, way: &Way, accesses: usize) -> Vec<(Instruction, Span)> {
        let transitions = &self.search.thread.transitions;
        let fences = way.fences.iter().filter(|(after, _)| *after == accesses);
        fences.map(|&(_, fence)| (transitions[fence].instruction.clone(), transitions[fence].span)).collect()
    }

    /// What the registers hold after the loop.
    fn assignments(&self, way: &Way) -> Vec<(Instruction, Span)> {
        let needed = way.values.iter().filter(|(register, _)| (self.keeps)(way.to, **register));
        needed.map(|(&reg, value)| (Instruction::Assign { reg, value: value.clone() }, Span::NOWHERE)).collect()
    }
}

/// For each access the conditions on what it reads, which may depend on nothing else that is read. Others come first.
fn own_conditions(way: &Way) -> Option<Vec<Option<Expr>>> {
    let mut own: Vec<Vec<Expr>> = vec![Vec::new(); way.accesses.len()];
    for (_, condition) in &way.conditions {
        let about: Vec<usize> =
            (0..way.accesses.len()).filter(|&at| mentions(condition, way.accesses[at].read)).collect();
        match about.as_slice() {
            [] => own.first_mut()?.push(condition.clone()),
            [at] => own[*at].push(condition.clone()),
            _ => return None,
        }
    }
    Some(own.into_iter().map(all).collect())
}

/// The way with one value for everything that these loads read, and without them.
fn merged(way: &Way, reads: &[RegId], value: &Expr) -> Way {
    let set = |expr: &Expr| reads.iter().fold(expr.clone(), |expr, read| replace(&expr, *read, value));
    let mut exchange = way.accesses.last().cloned();
    if let Some(WayAccess { kind: AccessKind::Success { expected, new, .. }, .. }) = &mut exchange {
        (*expected, *new) = (set(expected), set(new));
    }
    let fences = way.fences.iter().filter(|(after, _)| *after == 0 || *after == way.accesses.len());
    Way {
        accesses: exchange.into_iter().collect(),
        conditions: way.conditions.iter().map(|(_, condition)| (0, set(condition))).collect(),
        fences: fences.map(|(after, fence)| ((*after).min(1), *fence)).collect(),
        values: way.values.iter().map(|(register, value)| (*register, set(value))).collect(),
        to: way.to,
    }
}

/// A new value that a read-modify-write computes from the value read.
fn as_update(new: &Expr, read: RegId) -> Option<(RmwOp, Arithmetic, Expr)> {
    if !mentions(new, read) {
        return Some((RmwOp::Exchange, Arithmetic::Checked, new.clone()));
    }
    let Expr::Binary(op, arithmetic, left, right) = new else { return None };
    let update = RmwOp::ALL.into_iter().find(|update| update.binary() == Some(*op))?;
    let operand = match (&**left, &**right) {
        (Expr::Atom(atom), operand) if *atom == read => operand,
        (operand, Expr::Atom(atom)) if *atom == read && *op != BinaryOp::Sub => operand,
        _ => return None,
    };
    (!mentions(operand, read)).then(|| (update, *arithmetic, operand.clone()))
}

fn all(conditions: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    conditions.into_iter().reduce(Expr::and)
}

fn replace(expr: &Expr, register: RegId, value: &Expr) -> Expr {
    expr.map_atoms(&mut |atom| if *atom == register { value.clone() } else { Expr::Atom(*atom) })
}

pub(super) fn mentions(expr: &Expr, register: RegId) -> bool {
    let mut found = false;
    expr.for_each_atom(&mut |atom| found |= *atom == register);
    found
}
