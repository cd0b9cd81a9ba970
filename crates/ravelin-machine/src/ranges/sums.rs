//! Counters: values that grow around a cycle of flows, but only so often.
//!
//! `x.fetch_add(1)` and `r = x.load(); x.store(r + 1)` lead from x to x, so intervals grow for ever. A run takes each
//! such step only so often, though, if it stands outside of loops. Take a value in a run of any model, and follow it back:
//! the step that wrote it, the step that wrote what this one read, and so on. Program order and reads-from have no cycle
//! in any model, so no step occurs twice on this way. A value is therefore at most what came into the cycle, plus what
//! each step that is taken once can add. Steps in loops may only pass values on, or make them smaller.
//!
//! [`shifted`] finds what a step adds: its value lies between the least value of the cycle minus `down` and the greatest
//! plus `up`, or in an interval that does not depend on the cycle. That takes for granted that nothing wraps, and that
//! masks meet no negative values. So this is checked with the intervals that result; by induction over the steps of a
//! run, no value is the first to leave them.
//!
//! Where a step doubles a value, or a loop counts, the ranges stay as they were.

use super::components::components;
use super::flows::{Flow, FlowSource, Flows};
use super::{Interval, Ranges, binary, fit};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Arithmetic, BinaryOp, Escape, Expr, InitialValue, Program, RegId, UnaryOp, Value};

/// Ranges that hold if `known` do, and lie within them.
pub(super) fn with_sums(program: &Program, known: &Ranges, watch: &Watch) -> Result<Ranges, Limit> {
    let flows = Flows::of(program, known, watch)?;
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); flows.nodes];
    let mut edges = 0;
    for flow in &flows.flows {
        let before = sources[flow.to].len();
        flow.for_each_source(&flows, &mut |node| sources[flow.to].push(node));
        edges += sources[flow.to].len() - before;
        watch.steps(1 + sources[flow.to].len() - before)?;
    }
    watch.hold(edges * size_of::<usize>())?;
    // A component has a greater number than what its values come from.
    let component = components(&sources, watch)?;
    let mut by_component: Vec<(usize, usize)> = component.iter().copied().zip(0..).collect();
    by_component.sort_unstable();
    let mut flows_to: Vec<Vec<&Flow>> = vec![Vec::new(); flows.nodes];
    for flow in &flows.flows {
        flows_to[component[flow.to]].push(flow);
    }
    let initial = nodes_of(&initial_ranges(program, known));
    let mut now = nodes_of(known);
    for nodes in by_component.chunk_by(|one, other| one.0 == other.0) {
        let number = nodes[0].0;
        let cycle = FlowCycle { flows: &flows, component: &component, number, incoming: &flows_to[number], now: &now };
        let mut start = nodes.iter().map(|&(_, node)| initial[node]);
        watch.steps(1 + cycle.incoming.len())?;
        let Some(first) = start.next() else { continue };
        let Some(bounds) = cycle.bounds(start.fold(first, Interval::join)) else { continue };
        for &(_, node) in nodes {
            if let Some(both) = now[node].meet(bounds) {
                now[node] = both;
            }
        }
    }
    watch.release(flows.bytes() + edges * size_of::<usize>());
    Ok(with_nodes(known, &now))
}

/// The values at the beginning, of the cells that are known.
fn initial_ranges(program: &Program, known: &Ranges) -> Ranges {
    let mut initial = Ranges::initial(program);
    for address in known.cells.keys() {
        initial.cells.entry(*address).or_insert_with(|| match program.memory.initial_at(*address) {
            InitialValue::Value(value) => Interval::point(value),
            InitialValue::Any => known.cells[address],
        });
    }
    initial
}

fn nodes_of(ranges: &Ranges) -> Vec<Interval> {
    ranges.registers.iter().flatten().chain(ranges.cells.values()).chain([&ranges.others]).copied().collect()
}

fn with_nodes(known: &Ranges, nodes: &[Interval]) -> Ranges {
    let mut ranges = known.clone();
    let registers = ranges.registers.iter_mut().flatten();
    let all = registers.chain(ranges.cells.values_mut()).chain([&mut ranges.others]);
    all.zip(nodes).for_each(|(range, node)| *range = *node);
    ranges
}

impl Flow<'_> {
    fn for_each_source(&self, flows: &Flows, visit: &mut impl FnMut(usize)) {
        let registers = |thread: usize, expr: &Expr, visit: &mut dyn FnMut(usize)| {
            expr.for_each_atom(&mut |register| visit(flows.register(thread, *register)));
        };
        match &self.from {
            FlowSource::Any(_) => {}
            FlowSource::Node(node) => visit(*node),
            FlowSource::Expr { thread, expr } => registers(*thread, expr, visit),
            FlowSource::Update { thread, node, operand, .. } => {
                visit(*node);
                registers(*thread, operand, visit);
            }
        }
    }
}

/// Registers and cells that values go around in; usually only one.
struct FlowCycle<'a> {
    flows: &'a Flows<'a>,
    component: &'a [usize],
    number: usize,
    incoming: &'a [&'a Flow<'a>],
    /// By node: what is known so far.
    now: &'a [Interval],
}

impl FlowCycle<'_> {
    /// The values of all nodes together; `None` if that is not known.
    fn bounds(&self, initial: Interval) -> Option<Interval> {
        [Masks::OfPositive, Masks::OfAny].into_iter().find_map(|masks| self.bounds_with(initial, masks))
    }

    fn bounds_with(&self, initial: Interval, masks: Masks) -> Option<Interval> {
        let mut start = initial;
        // What the steps add together; `None` if there is no end of it.
        let (mut up, mut down) = (Some(0i128), Some(0i128));
        for flows in self.incoming.chunk_by(|one, other| one.step == other.step) {
            let (mut most_up, mut most_down) = (0, 0);
            for flow in flows {
                let shift = self.shift(flow, masks)?;
                match shift.known() {
                    // A value that the domain does not admit does not arrive.
                    Some(values) => start = start.join(fit(values, flow.domain, start)),
                    None => {
                        start.lo = shift.lo.map_or(start.lo, |lo| start.lo.min(lo));
                        start.hi = shift.hi.map_or(start.hi, |hi| start.hi.max(hi));
                    }
                }
                if shift.from_cycle && flow.once {
                    (most_up, most_down) = (shift.up.max(most_up), shift.down.max(most_down));
                } else if shift.from_cycle {
                    up = up.filter(|_| shift.up == 0);
                    down = down.filter(|_| shift.down == 0);
                }
            }
            up = up.map(|up| up + most_up);
            down = down.map(|down| down + most_down);
        }
        let known = self.known()?;
        let lo = down.map_or(i128::from(known.lo), |down| i128::from(start.lo) - down);
        let hi = up.map_or(i128::from(known.hi), |up| i128::from(start.hi) + up);
        let bounds = Interval::exact(lo, hi);
        let holds = self.incoming.iter().all(|flow| self.keeps(flow, bounds, masks));
        holds.then_some(bounds)
    }

    /// What is known of all nodes together.
    fn known(&self) -> Option<Interval> {
        let nodes = self.incoming.iter().map(|flow| self.now[flow.to]);
        nodes.reduce(Interval::join)
    }

    fn contains(&self, node: usize) -> bool {
        self.component[node] == self.number
    }

    fn register(&self, thread: usize, register: RegId) -> usize {
        self.flows.register(thread, register)
    }

    fn shift(&self, flow: &Flow, masks: Masks) -> Option<Shift> {
        let node = |node: usize| match self.contains(node) {
            true => Shift::NONE,
            false => Shift::outside(self.now[node]),
        };
        match &flow.from {
            FlowSource::Any(interval) => Some(Shift::outside(*interval)),
            FlowSource::Node(from) => Some(node(*from)),
            FlowSource::Expr { thread, expr } => {
                shifted(expr, &|register| node(self.register(*thread, register)), masks)
            }
            FlowSource::Update { thread, node: from, op, arithmetic, operand } => {
                let operand = shifted(operand, &|register| node(self.register(*thread, register)), masks)?;
                combined(*op, *arithmetic, node(*from), operand, masks)
            }
        }
    }

    /// With the nodes within these bounds, nothing wraps and masks are used as was taken for granted.
    fn keeps(&self, flow: &Flow, bounds: Interval, masks: Masks) -> bool {
        let depends = |node: usize| self.contains(node);
        let value = |node: usize| match depends(node) {
            true => self.now[node].meet(bounds).unwrap_or(bounds),
            false => self.now[node],
        };
        let written = match &flow.from {
            // Nothing of the cycle, so nothing was taken for granted.
            FlowSource::Any(_) => return true,
            FlowSource::Node(from) => depends(*from).then(|| value(*from)),
            FlowSource::Expr { thread, expr } => {
                let look = Obligations {
                    depends: &|register| depends(self.register(*thread, register)),
                    value: &|register| value(self.register(*thread, register)),
                    masks,
                };
                let Ok(checked) = look.check(expr) else { return false };
                checked.depends.then_some(checked.value)
            }
            FlowSource::Update { thread, node, op, arithmetic, operand } => {
                let look = Obligations {
                    depends: &|register| depends(self.register(*thread, register)),
                    value: &|register| value(self.register(*thread, register)),
                    masks,
                };
                let read = CheckedValue { depends: depends(*node), value: value(*node) };
                let checked = look.check(operand).and_then(|operand| look.operator(*op, *arithmetic, read, operand));
                let Ok(checked) = checked else { return false };
                checked.depends.then_some(checked.value)
            }
        };
        let inside = |value: Interval| flow.domain.contains(value.lo) && flow.domain.contains(value.hi);
        flow.domain.escape != Escape::Wrap || written.is_none_or(inside)
    }
}

/// What a mask (`x & 15`) or an unsigned division makes of a value of the cycle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Masks {
    /// Nothing greater, because the value is not negative.
    OfPositive,
    /// Anything that the mask lets through.
    OfAny,
}

/// If they are from the cycle, values between the lesser of its least value minus `down` and `lo`, and the greater of its
/// greatest value plus `up` and `hi`; else values between `lo` and `hi`.
#[derive(Clone, Copy)]
struct Shift {
    from_cycle: bool,
    up: i128,
    down: i128,
    lo: Option<Value>,
    hi: Option<Value>,
}

impl Shift {
    /// A value of the cycle itself.
    const NONE: Shift = Shift { from_cycle: true, up: 0, down: 0, lo: None, hi: None };

    fn outside(values: Interval) -> Shift {
        Shift { from_cycle: false, up: 0, down: 0, lo: Some(values.lo), hi: Some(values.hi) }
    }

    /// The values, if they are not from the cycle.
    fn known(self) -> Option<Interval> {
        let (lo, hi) = (self.lo.filter(|_| !self.from_cycle)?, self.hi?);
        Some(Interval { lo, hi })
    }

    /// Plus a value between these, which is not from the cycle.
    fn plus(self, lo: i128, hi: i128) -> Shift {
        let moved = |end: Option<Value>, by: i128| {
            end.map(|end| Interval::exact(i128::from(end) + by, i128::from(end) + by).lo)
        };
        let (up, down) = (self.up + hi.max(0), self.down + (-lo).max(0));
        Shift { up, down, lo: moved(self.lo, lo), hi: moved(self.hi, hi), ..self }
    }

    /// Down to this at least, and up to that.
    fn also(self, lo: Option<Value>, hi: Option<Value>) -> Shift {
        Shift { lo: least(self.lo, lo), hi: greatest(self.hi, hi), ..self }
    }

    fn either(self, other: Shift) -> Shift {
        Shift {
            from_cycle: self.from_cycle || other.from_cycle,
            up: self.up.max(other.up),
            down: self.down.max(other.down),
            lo: least(self.lo, other.lo),
            hi: greatest(self.hi, other.hi),
        }
    }
}

fn least(one: Option<Value>, other: Option<Value>) -> Option<Value> {
    one.into_iter().chain(other).min()
}

fn greatest(one: Option<Value>, other: Option<Value>) -> Option<Value> {
    one.into_iter().chain(other).max()
}

/// The values of an expression whose registers have these; `None` if they depend on the cycle in another way.
fn shifted(expr: &Expr, atom: &impl Fn(RegId) -> Shift, masks: Masks) -> Option<Shift> {
    match expr {
        Expr::Const(value) => Some(Shift::outside(Interval::point(*value))),
        Expr::Atom(register) => Some(atom(*register)),
        Expr::Unary(UnaryOp::Neg, arithmetic, operand) => {
            let Interval { lo, hi } = shifted(operand, atom, masks)?.known()?;
            Some(Shift::outside(super::settle(*arithmetic, -i128::from(hi), -i128::from(lo))))
        }
        // Of operands that mean nothing (`1 || udiv(r, 0)`) the result is a truth, too.
        Expr::Binary(op, ..) if op.is_truth() => Some(Shift::outside(Interval { lo: 0, hi: 1 })),
        Expr::Unary(UnaryOp::Not, ..) => Some(Shift::outside(Interval { lo: 0, hi: 1 })),
        Expr::Binary(op, arithmetic, left, right) => {
            combined(*op, *arithmetic, shifted(left, atom, masks)?, shifted(right, atom, masks)?, masks)
        }
    }
}

fn combined(op: BinaryOp, arithmetic: Arithmetic, left: Shift, right: Shift, masks: Masks) -> Option<Shift> {
    let (of_left, of_right) = (left.known(), right.known());
    if let (Some(a), Some(b)) = (of_left, of_right) {
        return Some(Shift::outside(binary(arithmetic, op, a, b)));
    }
    let ends = |values: Interval| (i128::from(values.lo), i128::from(values.hi));
    match (op, of_left, of_right) {
        (BinaryOp::Add, Some(values), None) => Some(right.plus(ends(values).0, ends(values).1)),
        (BinaryOp::Add, None, Some(values)) => Some(left.plus(ends(values).0, ends(values).1)),
        (BinaryOp::Sub, None, Some(values)) => Some(left.plus(-ends(values).1, -ends(values).0)),
        (BinaryOp::BitAnd, Some(mask), None) if mask.lo >= 0 => Some(masked(right, mask, masks)),
        (BinaryOp::BitAnd, None, Some(mask)) if mask.lo >= 0 => Some(masked(left, mask, masks)),
        // A negative value gets nearer to -1, and any other nearer to 0.
        (BinaryOp::Shr, None, Some(by)) if by.lo >= 0 => Some(left.also(Some(0), Some(-1))),
        (BinaryOp::Div, None, Some(by)) if by.lo > 0 => Some(left.also(Some(0), Some(0))),
        (BinaryOp::LogicalShr, None, Some(by)) if by.lo >= 0 && masks == Masks::OfPositive => {
            Some(left.also(Some(0), None))
        }
        (BinaryOp::UnsignedDiv, None, Some(by)) if by.lo > 0 && masks == Masks::OfPositive => {
            Some(left.also(Some(0), None))
        }
        (BinaryOp::Rem, None, Some(by)) if by.lo > 0 => Some(Shift::outside(Interval { lo: 1 - by.hi, hi: by.hi - 1 })),
        (BinaryOp::UnsignedRem, None, Some(by)) if by.lo > 0 => Some(Shift::outside(Interval { lo: 0, hi: by.hi - 1 })),
        (BinaryOp::Max | BinaryOp::Min | BinaryOp::UnsignedMax | BinaryOp::UnsignedMin, _, _) => {
            Some(left.either(right))
        }
        _ => None,
    }
}

fn masked(value: Shift, mask: Interval, masks: Masks) -> Shift {
    match masks {
        Masks::OfPositive => value.also(Some(0), None),
        Masks::OfAny => Shift::outside(Interval { lo: 0, hi: mask.hi }),
    }
}

/// Checks what [`combined`] takes for granted.
struct Obligations<'a> {
    depends: &'a dyn Fn(RegId) -> bool,
    value: &'a dyn Fn(RegId) -> Interval,
    masks: Masks,
}

#[derive(Clone, Copy)]
struct CheckedValue {
    depends: bool,
    value: Interval,
}

/// Something was taken for granted that does not hold.
struct NotGranted;

impl Obligations<'_> {
    fn check(&self, expr: &Expr) -> Result<CheckedValue, NotGranted> {
        Ok(match expr {
            Expr::Const(value) => CheckedValue { depends: false, value: Interval::point(*value) },
            Expr::Atom(register) => CheckedValue { depends: (self.depends)(*register), value: (self.value)(*register) },
            Expr::Binary(op, ..) if op.is_truth() => CheckedValue { depends: false, value: Interval { lo: 0, hi: 1 } },
            Expr::Unary(UnaryOp::Not, ..) => CheckedValue { depends: false, value: Interval { lo: 0, hi: 1 } },
            Expr::Unary(UnaryOp::Neg, arithmetic, operand) => {
                let CheckedValue { depends, value } = self.check(operand)?;
                let value = super::settle(*arithmetic, -i128::from(value.hi), -i128::from(value.lo));
                CheckedValue { depends, value }
            }
            Expr::Binary(op, arithmetic, left, right) => {
                self.operator(*op, *arithmetic, self.check(left)?, self.check(right)?)?
            }
        })
    }

    fn operator(
        &self,
        op: BinaryOp,
        arithmetic: Arithmetic,
        left: CheckedValue,
        right: CheckedValue,
    ) -> Result<CheckedValue, NotGranted> {
        let depends = left.depends || right.depends;
        if left.depends || right.depends {
            let (a, b) = (i128::from(left.value.lo), i128::from(left.value.hi));
            let (c, d) = (i128::from(right.value.lo), i128::from(right.value.hi));
            let exact = match op {
                BinaryOp::Add => (a + c, b + d),
                BinaryOp::Sub => (a - d, b - c),
                _ => {
                    let Interval { lo, hi } = binary(Arithmetic::Checked, op, left.value, right.value);
                    (lo.into(), hi.into())
                }
            };
            if let (Arithmetic::Wrapping(domain), (lo, hi)) = (arithmetic, exact)
                && (lo < i128::from(domain.lo) || hi > i128::from(domain.hi))
            {
                return Err(NotGranted);
            }
            let positive = match op {
                BinaryOp::BitAnd => self.masks == Masks::OfAny || (a >= 0 && c >= 0),
                BinaryOp::LogicalShr | BinaryOp::UnsignedDiv => a >= 0,
                _ => true,
            };
            if !positive {
                return Err(NotGranted);
            }
        }
        Ok(CheckedValue { depends, value: binary(arithmetic, op, left.value, right.value) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_frontend::Language;
    use ravelin_program::Source;

    /// The range of the first cell.
    fn first_cell(text: &str) -> (i64, i64) {
        let parsed = ravelin_frontend::parse(Source::new("t.rav", text), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics));
        let ranges = Ranges::infer(&program, &Watch::unlimited()).expect("no limit");
        let first = ranges.cells.values().next().expect("a cell");
        (first.lo, first.hi)
    }

    #[test]
    fn a_counter_is_bounded_by_how_often_it_is_counted() {
        for (text, expected) in [
            ("static x; thread t[3] { x.fetch_add(1); }", (0, 3)),
            ("static x = 5; thread t[2] { x.fetch_add(10); x.fetch_sub(1); }", (3, 25)),
            ("static x; thread t[3] { let r = x.load(); x.store(r + 1); }", (0, 3)),
            ("static x: i32; thread t[2] { let r = x.load(); x.store(wrapping(i32, (r & 65535) + 1)); }", (0, 2)),
            ("static x: i8; thread t[3] { let r = x.load(); r = r >> 1; x.store(wrapping(i8, r + 2)); }", (0, 6)),
            // The last value comes from the other cell, which is added to once.
            ("static x; static y; thread t[2] { x.store(y.load()); y.store(x.load() + 1); }", (0, 2)),
            (
                "static x; thread t[2] { let r = x.load(); while x.compare_exchange(r, 7).is_err() {} x.fetch_add(1); }",
                (0, 9),
            ),
            (
                "static x; thread t[3] { let old; let ok = 0; while !ok { (old, ok) = x.compare_exchange(old, old + 1); } }",
                (0, 3),
            ),
            // A truth is 0 or 1, whatever its operands are.
            ("static x; thread t[2] { let r = x.load(); x.store((1 || udiv(r, 0)) + 2); x.fetch_add(1); }", (0, 5)),
            // Two steps in one locked block.
            (
                "static x; thread t[2] { let r; locked { r = x.load(); x.store(r + 1); r = x.load(); x.store(r + 1); } }",
                (0, 4),
            ),
        ] {
            assert_eq!(first_cell(text), expected, "{text}");
        }
    }

    #[test]
    fn what_a_loop_adds_to_or_a_step_doubles_has_no_bound_but_its_type() {
        for (text, expected) in [
            ("static x: wrapping u8; thread t { loop { x.fetch_add(1); } }", (0, 255)),
            ("static x: u8; thread t { loop { x.fetch_add(1); } } thread u { x.fetch_sub(1); }", (0, 255)),
            ("static x: wrapping u8; thread t[2] { let r = x.load(); x.store(r + r); x.fetch_add(1); }", (0, 255)),
            ("static x: wrapping u8; thread t[2] { let r = x.load(); x.fetch_add(r); x.fetch_add(1); }", (0, 255)),
            // It wraps.
            ("static x: wrapping u8 = 250; thread t[3] { x.fetch_add(3); }", (0, 255)),
            ("static x: wrapping u8; thread t[2] { let r = x.load(); x.store(wrapping(-2..2, r + 1)); }", (0, 255)),
            ("static x: wrapping i8; thread t[2] { let r = x.load(); x.store(-r); x.fetch_add(1); }", (-128, 127)),
            // A mask makes less of a negative value.
            ("static x: i32; thread t[2] { let r = x.load(); x.store((r & 255) - 1); }", (-1, 254)),
        ] {
            assert_eq!(first_cell(text), expected, "{text}");
        }
    }
}
