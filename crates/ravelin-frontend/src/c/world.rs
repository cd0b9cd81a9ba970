//! What the threads of a program have in common while they are specialised.

use super::LiftOptions;
use super::facts::Facts;
use super::liveness::LiveValues;
use super::memory::PrivateMemory;
use super::objects::{Object, ObjectId, ObjectKey, Objects, scalars};
use super::places::Places;
use super::residual::Paths;
use super::specialise::Start;
use super::state::State;
use super::threads::MOST_THREADS;
use super::value::Datum;
use crate::ir::module::{Call, Callee, Constant, Module, Place, Value};
use ravelin_program::Span;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

pub(super) struct World<'m> {
    pub module: &'m Module,
    pub options: &'m LiftOptions,
    pub objects: Objects,
    pub facts: Facts,
    pub paths: Paths,
    pub places: Places<'m>,
    /// `main` was executed to its end before the threads of the model begin.
    pub main_returned: bool,
    /// What memory holds when the threads of the model begin.
    pub initial: PrivateMemory,
    /// Threads that threads of the model start, in the order in which they were first found.
    pub gates: Vec<Start>,
    /// Which of them were found in this attempt.
    pub reached: Vec<bool>,
    /// Calls of `pthread_key_create`: the thread, and the place in it.
    keys: Vec<(usize, (usize, u32, usize))>,
    live: HashMap<usize, Rc<LiveValues>>,
}

/// Scalars that a type of the source adds to an object.
const MOST_SCALARS: usize = 1 << 14;
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
            main_returned: false,
            initial: PrivateMemory::new(),
            gates: Vec::new(),
            reached: Vec::new(),
            keys: Vec::new(),
            live: HashMap::new(),
        }
    }

    /// The address of a byte of an object becomes a value of the model.
    pub fn escape(&mut self, object: ObjectId, offset: i64) {
        self.facts.point(object, offset);
        self.facts.escape(object);
        self.objects.place(object);
    }

    /// A table of virtual functions.
    pub fn is_table(&self, object: ObjectId) -> bool {
        self.objects.global(object).is_some_and(|index| {
            let global = &self.module.globals[index];
            global.constant && global.name.starts_with("_ZTV")
        })
    }

    /// The address of a function becomes a value of the model.
    pub fn escape_function(&mut self, function: usize) -> i64 {
        let module = self.module;
        let name = || (module.functions[function].name.clone(), None, None);
        let object = self.objects.intern(ObjectKey::Function(function), 1, name);
        self.objects.place(object);
        self.facts.point_to_function(function);
        self.objects.address(object, 0)
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

    /// The thread that `main` started before the model begins, and that started this one or a thread that did, and so on.
    pub fn root(&self, mut thread: usize) -> usize {
        // A thread is found after the one that starts it.
        while let Some(index) = thread.checked_sub(FIRST_GATED)
            && let Some((starter, ..)) = self.gates.get(index).and_then(|start| start.gate)
            && starter < thread
        {
            thread = starter;
        }
        thread
    }

    /// The threads that a thread starts somewhere, and has not started where it has come by these places so often.
    pub fn gates_of(&self, thread: usize, passed: &BTreeMap<(usize, u32, usize), u32>) -> Vec<usize> {
        let missed = |start: &Start| {
            let Some((starter, site, count)) = &start.gate else { return false };
            *starter == thread && passed.get(site).copied().unwrap_or(0) <= *count
        };
        let gates = self.gates.iter().enumerate().filter(|(_, start)| missed(start));
        gates.map(|(index, _)| FIRST_GATED + index).collect()
    }

    /// The number of the key that is made at a place.
    pub fn key_number(&mut self, thread: usize, site: (usize, u32, usize)) -> i64 {
        let index = self.keys.iter().position(|key| *key == (thread, site)).unwrap_or_else(|| {
            self.keys.push((thread, site));
            self.keys.len() - 1
        });
        index as i64 + 1
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

    /// The blocks that may be freed and that a `malloc` can hand out in place of a new one: those of its type and size.
    pub fn reusable_blocks(&self, new: ObjectId) -> Vec<ObjectId> {
        let wanted = self.objects.get(new);
        if wanted.ty.is_none() {
            return Vec::new();
        }
        let fits = |id: &ObjectId| {
            let block = self.objects.get(*id);
            *id != new && block.size == wanted.size && block.ty == wanted.ty
        };
        let blocks = self.objects.all().map(|(id, _)| id).filter(fits);
        blocks.filter(|id| self.is_freed(*id) && self.facts.is_shared(*id)).collect()
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

    /// The scalars of an object in the memory of the model: those that are accessed, and, where pointers lead to it that are
    /// not known, those of its type.
    pub fn cells(&self, id: ObjectId) -> BTreeMap<u64, u32> {
        let object = self.objects.get(id);
        let mut all = object.cells.clone();
        if self.facts.has_escaped(id) {
            for (offset, size) in self.every_scalar(id, object) {
                let end = offset + u64::from(size);
                let free = all.range(..end).next_back().is_none_or(|(start, own)| start + u64::from(*own) <= offset);
                if free && self.facts.is_accessed_anywhere(size) {
                    all.insert(offset, size);
                }
            }
        }
        all
    }

    /// The scalars of the type of an object; a heap block is an array of its type. A struct that ends with an array of unknown
    /// length, and a block whose type is not known, go on with what was written there before the threads began.
    fn every_scalar(&self, id: ObjectId, object: &Object) -> Vec<(u64, u32)> {
        let Some(ty) = &object.ty else { return self.written_scalars(id, 0) };
        let one = scalars(self.module, ty, MOST_SCALARS);
        let (begins, element) = match self.module.open_array(ty) {
            Some((begins, element)) => (begins, element),
            None => (0, ty),
        };
        if begins > 0 && self.module.size_of(element) == Some(1) {
            return [one, self.written_scalars(id, begins)].concat();
        }
        let of_element = scalars(self.module, element, MOST_SCALARS);
        let Some(stride) = self.module.size_of(element).filter(|stride| *stride > 0) else { return one };
        let mut all = if begins > 0 { one } else { Vec::new() };
        let mut at = begins;
        while at + stride <= object.size && all.len() < MOST_SCALARS {
            all.extend(of_element.iter().map(|(offset, size)| (at + offset, *size)));
            at += stride;
        }
        all
    }

    /// What was written behind an offset before the threads began, and between that scalars of the largest size that is used.
    fn written_scalars(&self, id: ObjectId, begins: u64) -> Vec<(u64, u32)> {
        let object = self.objects.get(id);
        let mut all = object.cells.clone();
        if let Some(contents) = self.initial.get(&id) {
            for (offset, size, _) in contents.entries().filter(|(offset, ..)| *offset >= begins) {
                let end = offset + u64::from(size);
                let free = all.range(..end).next_back().is_none_or(|(start, own)| start + u64::from(*own) <= offset);
                if free {
                    all.insert(offset, size);
                }
            }
        }
        let mut at = begins;
        while at < object.size && all.len() < MOST_SCALARS {
            let covering = all.range(..=at).next_back().filter(|(start, size)| *start + u64::from(**size) > at);
            if let Some((start, size)) = covering {
                at = start + u64::from(*size);
                continue;
            }
            let room = all.range(at..).next().map_or(object.size, |(start, _)| *start) - at;
            let fits = |size: &u32| u64::from(*size) <= room && at.is_multiple_of((*size).into());
            match [8, 4, 2, 1].into_iter().find(|size| self.facts.is_accessed_anywhere(*size) && fits(size)) {
                Some(size) => {
                    all.insert(at, size);
                    at += u64::from(size);
                }
                None => at += 1,
            }
        }
        all.into_iter().filter(|(offset, _)| *offset >= begins).collect()
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
