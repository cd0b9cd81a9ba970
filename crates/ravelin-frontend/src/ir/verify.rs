//! What LLVM demands of a function beyond its grammar, as far as others rely on it: a definition comes before its uses on
//! every path, and a phi has a value for every block before it. Blocks that are never reached are not looked at.

use super::dominance::Dominance;
use super::module::{BlockId, Function, LocalId, Operation, Terminator, Value};
use crate::Diagnostic;
use ravelin_program::Span;
use std::collections::HashSet;

/// A place in a function: instructions are counted from 1 in their block, and the terminator is last.
#[derive(Clone, Copy)]
struct Position {
    block: BlockId,
    index: usize,
}

const END: usize = usize::MAX;

struct Verifier<'a> {
    function: &'a Function,
    dominance: &'a Dominance,
    /// Per local: where it is defined.
    definitions: Vec<Option<Position>>,
    /// Results of invokes that exist only on an edge, because other edges lead to the same block.
    on_edges: HashSet<LocalId>,
    /// Per block: when a walk through the tree of dominators enters it and leaves it.
    spans: Vec<(u32, u32)>,
    diagnostics: Vec<Diagnostic>,
}

/// Errors in a definition.
pub fn verify(function: &Function) -> Vec<Diagnostic> {
    let Some(dominance) = Dominance::of(function) else {
        return vec![Diagnostic::error(function.span, "the jumps of this function are too entangled")];
    };
    if !dominance.predecessors[0].is_empty() {
        return vec![Diagnostic::error(function.span, "the first block of this function is jumped to")];
    }
    let mut verifier = Verifier {
        function,
        definitions: definitions(function),
        spans: spans(&dominance, function.blocks.len()),
        on_edges: on_edges(function, &dominance),
        dominance: &dominance,
        diagnostics: Vec::new(),
    };
    for &block in &dominance.order {
        verifier.block(block);
    }
    verifier.diagnostics
}

fn definitions(function: &Function) -> Vec<Option<Position>> {
    let mut definitions = vec![None; function.locals.len()];
    for parameter in &function.parameters {
        definitions[parameter.local.0 as usize] = Some(Position { block: BlockId(0), index: 0 });
    }
    for (number, block) in function.blocks.iter().enumerate() {
        for (index, instruction) in block.instructions.iter().enumerate() {
            if let Some(result) = instruction.result {
                let position = Position { block: BlockId(number as u32), index: index + 1 };
                definitions[result.0 as usize] = Some(position);
            }
        }
        if let Terminator::Invoke { result: Some(result), normal, .. } = &block.terminator {
            definitions[result.0 as usize] = Some(Position { block: *normal, index: 0 });
        }
    }
    definitions
}

fn on_edges(function: &Function, dominance: &Dominance) -> HashSet<LocalId> {
    let on_edge = |terminator: &Terminator| match terminator {
        Terminator::Invoke { result: Some(result), normal, .. } => {
            (dominance.predecessors[normal.0 as usize].len() > 1).then_some(*result)
        }
        _ => None,
    };
    function.blocks.iter().filter_map(|block| on_edge(&block.terminator)).collect()
}

fn spans(dominance: &Dominance, count: usize) -> Vec<(u32, u32)> {
    let mut spans = vec![(0, 0); count];
    let mut time = 0;
    let mut stack = vec![(BlockId(0), false)];
    while let Some((block, left)) = stack.pop() {
        time += 1;
        if left {
            spans[block.0 as usize].1 = time;
        } else {
            spans[block.0 as usize].0 = time;
            stack.push((block, true));
            stack.extend(dominance.children[block.0 as usize].iter().map(|child| (*child, false)));
        }
    }
    spans
}

impl Verifier<'_> {
    fn block(&mut self, id: BlockId) {
        let function = self.function;
        let block = function.block(id);
        let mut after_phis = false;
        for (index, instruction) in block.instructions.iter().enumerate() {
            let span = instruction.place.span;
            if let Operation::Phi { incoming, .. } = &instruction.operation {
                if after_phis {
                    self.error(span, "a phi stands after another instruction");
                }
                self.phi(id, incoming, span);
                continue;
            }
            after_phis = true;
            let position = Position { block: id, index: index + 1 };
            instruction.operation.each_value(&mut |value| self.used(value, position, span));
        }
        let end = Position { block: id, index: END };
        block.terminator.each_value(&mut |value| self.used(value, end, block.place.span));
    }

    fn phi(&mut self, id: BlockId, incoming: &[(Value, BlockId)], span: Span) {
        let mut given: Vec<BlockId> = incoming.iter().map(|(_, from)| *from).collect();
        given.sort();
        let dominance = self.dominance;
        if dominance.predecessors[id.0 as usize].iter().any(|before| given.binary_search(before).is_err()) {
            self.error(span, "a phi has no value for one of the blocks before it");
        }
        for (value, from) in incoming.iter().filter(|(_, from)| dominance.is_reachable(*from)) {
            // What an invoke gives begins on the edge.
            let invoked = matches!(&self.function.block(*from).terminator, Terminator::Invoke { result: Some(result), normal, .. }
                if Some(*result) == value.local() && *normal == id);
            if !invoked {
                self.used(value, Position { block: *from, index: END }, span);
            }
        }
    }

    fn used(&mut self, value: &Value, at: Position, span: Span) {
        let Some(local) = value.local() else { return };
        if !self.is_before(local, at) {
            let name: String = self.function.locals[local.0 as usize].name.escape_debug().take(60).collect();
            self.error(span, format!("`%{name}` is not defined on every path to its use"));
        }
    }

    fn is_before(&self, local: LocalId, at: Position) -> bool {
        // What is not read in detail may define something.
        let Some(definition) = self.definitions[local.0 as usize] else { return true };
        if self.on_edges.contains(&local) {
            return false;
        }
        if definition.block == at.block {
            return definition.index < at.index;
        }
        let (outer, inner) = (self.spans[definition.block.0 as usize], self.spans[at.block.0 as usize]);
        self.dominance.is_reachable(definition.block) && outer.0 < inner.0 && inner.1 < outer.1
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }
}
