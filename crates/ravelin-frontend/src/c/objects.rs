//! The objects of a program, where they lie, and which scalars they consist of.
//!
//! An address of the model is a byte of the C program: a pointer is a number, and adding 8 to it leads to what lies 8
//! bytes behind. Objects lie apart, with a gap at least as large as the object before it, so that an index that leaves
//! its array meets addresses without a name, and the model reports that.
//!
//! A *cell* is a scalar: an offset and a size. An object has the cells that the program accesses. Where it is accessed
//! through pointers that are not known, it also has those that its type lists.

use crate::ir::module::{Module, Type};
use ravelin_program::Value;
use std::collections::BTreeMap;
use std::collections::HashMap;

/// Index of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ObjectId(pub usize);

/// What an object is, so that it is the same one when the program is specialised again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ObjectKey {
    Global(usize),
    /// A function to which pointers are values of the model.
    Function(usize),
    /// A local variable: the thread, the calls that led to its function, the number of its instruction.
    Local {
        thread: usize,
        path: usize,
        block: u32,
        index: usize,
    },
    /// A copy of an argument that is passed by value.
    Argument {
        thread: usize,
        path: usize,
        number: usize,
    },
    /// The n-th block that a call of an allocating function handed out to a thread.
    Heap {
        thread: usize,
        path: usize,
        block: u32,
        index: usize,
        count: u32,
    },
    /// Made for the model: 1 once the thread with this number has been started.
    Started(usize),
    /// Made for the model: 1 once the block was freed.
    Freed(ObjectId),
    /// Made for the model: 0 while the block was freed and can be handed out again.
    Held(ObjectId),
    /// Made for the model: 1 while a thread holds the lock at this place as a reader.
    Reader {
        object: ObjectId,
        offset: u64,
        thread: usize,
    },
    /// Made for the model: 1 while a thread executes what `pthread_once` calls.
    Once {
        object: ObjectId,
        offset: u64,
    },
    /// Made for the model: what the thread with this number returned.
    Result(usize),
    /// Made for the model: 1 once a thread has ended the program.
    Exited,
    /// Made for the model: 1 once `main` has returned.
    Returned,
    /// A global variable of which each thread has its own.
    ThreadLocal {
        global: usize,
        thread: usize,
    },
    /// What a thread keeps under a key of `pthread_key_create`.
    Specific {
        key: i64,
        thread: usize,
    },
    /// The `errno` of a thread.
    ErrorNumber(usize),
    /// Made for the model: how many of these threads have ended.
    Ended(Vec<usize>),
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub key: ObjectKey,
    pub name: String,
    /// Node of its debug information, which names its parts.
    pub debug: Option<u32>,
    pub size: u64,
    pub address: Value,
    /// The type of the whole; of heap blocks the type of the elements, once an access has shown it.
    pub ty: Option<Type>,
    /// Size in bytes of each scalar that is accessed, by its offset.
    pub cells: BTreeMap<u64, u32>,
}

/// Accesses of different sizes to the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MixedSizes {
    pub object: ObjectId,
    pub earlier: (u64, u32),
    pub now: (u64, u32),
}

#[derive(Debug, Default)]
pub(super) struct Objects {
    all: Vec<Object>,
    by_key: HashMap<ObjectKey, ObjectId>,
    /// Bytes of objects to which no pointer of the model leads.
    beyond: Value,
    /// Bytes of those to which one does.
    placed: Value,
}

/// Objects begin at multiples of this.
const ALIGNMENT: Value = 16;
/// Where objects begin to which no pointer of the model leads: behind all others.
const BEYOND: Value = 1 << 48;
/// No object of a model is larger.
pub(super) const LARGEST: u64 = 1 << 24;

impl Objects {
    pub fn get(&self, id: ObjectId) -> &Object {
        &self.all[id.0]
    }

    pub fn find(&self, key: &ObjectKey) -> Option<ObjectId> {
        self.by_key.get(key).copied()
    }

    /// The number of the global variable that an object is.
    pub fn global(&self, id: ObjectId) -> Option<usize> {
        match self.get(id).key {
            ObjectKey::Global(index) => Some(index),
            _ => None,
        }
    }

    pub fn all(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.all.iter().enumerate().map(|(index, object)| (ObjectId(index), object))
    }

    /// The object with this key, which is made if there is none.
    pub fn intern(
        &mut self,
        key: ObjectKey,
        size: u64,
        make: impl FnOnce() -> (String, Option<u32>, Option<Type>),
    ) -> ObjectId {
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let size = size.clamp(1, LARGEST);
        let (name, debug, ty) = make();
        let address = BEYOND + self.beyond;
        self.beyond += room(size);
        let id = ObjectId(self.all.len());
        self.all.push(Object { key: key.clone(), name, debug, size, address, ty, cells: BTreeMap::new() });
        self.by_key.insert(key, id);
        id
    }

    /// Gives an object an address that is small, for one that is a value of the model.
    pub fn place(&mut self, id: ObjectId) {
        let object = &mut self.all[id.0];
        if object.address >= BEYOND {
            object.address = ALIGNMENT + self.placed;
            self.placed += room(object.size);
        }
    }

    /// The address of a byte of an object.
    pub fn address(&self, id: ObjectId, offset: i64) -> Value {
        self.get(id).address.wrapping_add(offset)
    }

    /// Notes that a scalar is accessed. Whether it was not known before.
    pub fn access(&mut self, id: ObjectId, offset: u64, size: u32) -> Result<bool, MixedSizes> {
        let cells = &mut self.all[id.0].cells;
        if cells.get(&offset) == Some(&size) {
            return Ok(false);
        }
        let end = offset + u64::from(size);
        let overlap = cells.range(..end).next_back().filter(|(start, length)| *start + u64::from(**length) > offset);
        if let Some((&start, &length)) = overlap {
            return Err(MixedSizes { object: id, earlier: (start, length), now: (offset, size) });
        }
        cells.insert(offset, size);
        Ok(true)
    }

    /// Learns the type of the elements of a heap block. Whether it was not known before.
    pub fn learn_type(&mut self, id: ObjectId, ty: &Type) -> bool {
        let object = &mut self.all[id.0];
        if object.ty.is_some() {
            return false;
        }
        object.ty = Some(ty.clone());
        true
    }
}

/// What an object takes of the address space: itself, and as much again that has no name.
fn room(size: u64) -> Value {
    2 * ((size as Value + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)
}

/// The scalars of a value of this type, with their sizes, in order of their offsets; no more than `most`.
pub(super) fn scalars(module: &Module, ty: &Type, most: usize) -> Vec<(u64, u32)> {
    let mut found = Vec::new();
    collect(module, ty, 0, most, 0, &mut found);
    found
}

/// Types of the C library with the scalars that a model has of them, however they are declared.
const WHOLE: [(&str, &[(u64, u32)]); 5] = [
    ("union.pthread_mutex_t", &[(0, 1)]),
    ("union.pthread_cond_t", &[(0, 8)]),
    ("union.pthread_barrier_t", &[(0, 8), (8, 8), (16, 8)]),
    ("union.pthread_rwlock_t", &[(0, 1)]),
    ("union.sem_t", &[(0, 4)]),
];

fn collect(module: &Module, ty: &Type, at: u64, most: usize, depth: usize, found: &mut Vec<(u64, u32)>) {
    if found.len() >= most || depth > 64 {
        return;
    }
    match ty {
        Type::Int(_) | Type::Float(_) | Type::Pointer => {
            if let Some(size) = module.size_of(ty).and_then(|size| u32::try_from(size).ok()) {
                found.push((at, size));
            }
        }
        Type::Array(length, element) | Type::Vector(length, element) => {
            let Some(size) = module.size_of(element) else { return };
            for index in 0..*length {
                if found.len() >= most {
                    return;
                }
                collect(module, element, at + index * size, most, depth + 1, found);
            }
        }
        Type::Struct { fields, .. } => {
            for index in 0..fields.len() {
                if let Some((offset, field)) = module.field(ty, index) {
                    collect(module, field, at + offset, most, depth + 1, found);
                }
            }
        }
        Type::Named(index) => {
            let Some(named) = module.structs.get(*index) else { return };
            if let Some((_, parts)) = WHOLE.iter().find(|(name, _)| *name == named.name) {
                found.extend(parts.iter().map(|(offset, size)| (at + offset, *size)));
            } else if let Some(body) = &named.body {
                collect(module, body, at, most, depth + 1, found);
            }
        }
        Type::Void | Type::Other => {}
    }
}
