//! What the threads of a program have in common while they are specialised.

use super::LiftOptions;
use super::facts::Facts;
use super::liveness::LiveValues;
use super::memory::PrivateMemory;
use super::objects::{ObjectId, ObjectKey, Objects};
use super::places::Places;
use super::residual::Paths;
use super::specialise::Start;
use super::state::State;
use super::threads::MOST_THREADS;
use super::value::Datum;
use crate::ir::module::{Call, Callee, Constant, Module, Place, Value};
use ravelin_program::Span;
use std::collections::HashMap;
use std::rc::Rc;

pub(super) struct World<'m> {
    pub module: &'m Module,
    pub options: &'m LiftOptions,
    pub objects: Objects,
    pub facts: Facts,
    pub paths: Paths,
    pub places: Places<'m>,
    /// What memory holds when the threads of the model begin.
    pub initial: PrivateMemory,
    /// Threads that threads of the model start, in the order in which they were first found.
    pub gates: Vec<Start>,
    /// Which of them were found in this attempt.
    pub reached: Vec<bool>,
    live: HashMap<usize, Rc<LiveValues>>,
}

/// Threads that a thread of the model starts have numbers from here on.
pub(super) const FIRST_GATED: usize = MOST_THREADS + 1;

impl<'m> World<'m> {
    pub fn new(module: &'m Module, options: &'m LiftOptions, places: Places<'m>) -> World<'m> {
        World {
            module,
            options,
            objects: Objects::default(),
            facts: Facts::default(),
            paths: Paths::default(),
            places,
            initial: PrivateMemory::new(),
            gates: Vec::new(),
            reached: Vec::new(),
            live: HashMap::new(),
        }
    }

    /// The address of an object becomes a value of the model.
    pub fn escape(&mut self, object: ObjectId) {
        self.facts.escape(object);
        self.objects.place(object);
    }

    /// The number of a thread that is started at a place; `None` if there are too many.
    pub fn gated(&mut self, start: Start) -> Option<usize> {
        let known = self.gates.iter().position(|gate| gate.gate == start.gate);
        let index = match known {
            Some(index) => {
                if self.gates[index].function != start.function || self.gates[index].argument != start.argument {
                    self.facts.grow();
                    self.gates[index] = start;
                }
                index
            }
            None if self.gates.len() >= MOST_THREADS => return None,
            None => {
                self.gates.push(start);
                self.facts.grow();
                self.gates.len() - 1
            }
        };
        self.reached.resize(self.gates.len(), false);
        self.reached[index] = true;
        Some(FIRST_GATED + index)
    }

    /// A block of the heap that may be freed.
    pub fn is_freed(&self, object: ObjectId) -> bool {
        matches!(self.objects.get(object).key, ObjectKey::Heap { .. }) && self.facts.is_freed(object)
    }

    /// The blocks that may be freed and to which pointers lead that are not known.
    pub fn freed_blocks(&self) -> Vec<ObjectId> {
        let blocks = self.objects.all().map(|(id, _)| id);
        blocks.filter(|id| self.is_freed(*id) && self.facts.has_escaped(*id)).collect()
    }

    pub fn liveness(&mut self, function: usize) -> Rc<LiveValues> {
        let module = self.module;
        self.live.entry(function).or_insert_with(|| Rc::new(LiveValues::of(&module.functions[function]))).clone()
    }

    /// The object of a global variable.
    pub fn global_object(&mut self, index: usize) -> ObjectId {
        let module = self.module;
        let global = &module.globals[index];
        let size = module.size_of(&global.ty).unwrap_or(1);
        self.objects.intern(ObjectKey::Global(index), size, || {
            let name = global.debug.and_then(|node| module.debug.global_name(node));
            (name.unwrap_or(&global.name).to_owned(), global.debug, Some(global.ty.clone()))
        })
    }

    /// The value of a scalar of a shared object that no thread writes.
    pub fn constant_scalar(&self, object: ObjectId, offset: u64, size: u32) -> Option<Datum> {
        let global = self.objects.global(object).map(|index| &self.module.globals[index]);
        let is_constant = global.is_some_and(|global| global.constant);
        if !is_constant && self.facts.may_write(object, offset, size) {
            return None;
        }
        let datum = self.initial.get(&object)?.read(offset, size).ok()?;
        let external = global.is_some_and(|global| global.initial.is_none());
        (datum.is_known() || external).then_some(datum)
    }

    /// The name of a part of an object for users.
    pub fn scalar_name(&self, object: ObjectId, offset: u64) -> String {
        let own = self.objects.get(object);
        let path = own.debug.and_then(|node| self.module.debug.global_path(node, offset));
        match path {
            // What the C library has inside a lock has names of no interest.
            Some(path) => path.split(".__").next().unwrap_or(&path).to_owned(),
            None if own.cells.len() <= 1 && offset == 0 => own.name.clone(),
            None => format!("{}+{offset}", own.name),
        }
    }

    /// Where an instruction of the innermost call stands in the source, or else the innermost call that does.
    pub fn span_of(&mut self, state: &State, place: Place) -> Span {
        let module = self.module;
        let outer = state.frames.iter().rev().skip(1).map(|frame| {
            let block = module.functions[frame.function].block(frame.block);
            block.instructions.get(frame.index).map_or(block.place, |instruction| instruction.place)
        });
        let places: Vec<Place> = std::iter::once(place).chain(outer).collect();
        self.places.span(module, &places)
    }

    /// The function of the C library that a call names.
    pub fn called_name(&self, call: &Call) -> Option<&'m str> {
        match &call.callee {
            Callee::Value(Value::Constant(Constant::Function(function))) => {
                self.module.functions.get(*function).map(|function| function.name.as_str())
            }
            _ => None,
        }
    }
}
