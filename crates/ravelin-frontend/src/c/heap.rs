//! Blocks of the heap, and uses of blocks that were freed.
//!
//! Each execution of `malloc` that a thread can come to has a block of its own. Of a block that may be freed the model
//! knows whether it was: a cell that `free` sets, and that every access to the block reads first. Both are non-atomic, so
//! a use that is not ordered with the end of the block is a data race, and one that comes after it fails an assertion.
//!
//! A `malloc` may also hand out any block of the same type that was freed, so that a pointer which is compared with an
//! older one may be equal to it by chance (ABA). Which of the two it does is a free choice: uses of freed blocks are found
//! where the block is not handed out again. Such a block has a lock: `malloc` takes it, `free` releases it, and what came
//! before `free` is ordered with what follows the `malloc`, as C11 says (7.22.3).

use super::memory::Contents;
use super::objects::{LARGEST, ObjectId, ObjectKey};
use super::specialise::{Interrupt, Next, Specialiser, Step};
use super::state::State;
use super::value::Datum;
use crate::flow::Raw;
use crate::ir::module::Call;
use ravelin_program::{BinaryOp, Domain, Expr, Instruction, Order};

/// Numbers of registers that an instruction needs to look at marks; the other ones are its own.
const FIRST_MARK: u64 = 1 << 32;

impl Specialiser<'_, '_> {
    /// A block of the heap.
    pub fn heap(&mut self, state: &mut State, size: Datum, zero: bool, at: Raw) -> Step<Next> {
        let Datum::Int(size) = size else {
            return Err(self.refuse("the size of a block of the heap is not known".to_owned()));
        };
        let Some(size) = u64::try_from(size).ok().filter(|size| *size <= LARGEST) else {
            return Err(self.refuse(format!("a block of the heap has more than {LARGEST} bytes")));
        };
        let frame = state.frame();
        let place = (frame.path, frame.block.0, frame.index);
        let count = state.counters.get(&place).copied().unwrap_or(0);
        if count as usize >= self.world.options.heap {
            return Err(self.refuse_with(
                format!("more than {count} blocks of the heap are needed here"),
                "--heap N allows N blocks for each place and thread, besides those that were freed".to_owned(),
            ));
        }
        let key = ObjectKey::Heap { thread: self.thread, path: place.0, block: place.1, index: place.2, count };
        let object = self.world.objects.intern(key, size, || ("heap".to_owned(), None, None));
        let mut at = self.choose_freed_block(state, object, zero, at)?;
        state.counters.insert(place, count + 1);
        let datum = Datum::Pointer(object, 0);
        if !self.world.facts.is_shared(object) || !self.is_model() {
            state.memory.insert(object, Contents::new(zero));
        } else if zero {
            at = self.fill(state, &datum, 0, size, at)?;
        }
        self.done(state, datum, at)
    }

    /// Ways on which a block that was freed is handed out in place of a new one. The location from which the new one is.
    fn choose_freed_block(&mut self, state: &mut State, new: ObjectId, zero: bool, at: Raw) -> Step<Raw> {
        if !self.is_model() || !self.world.options.reuse {
            return Ok(at);
        }
        let blocks = self.world.reusable_blocks(new);
        if blocks.is_empty() {
            return Ok(at);
        }
        let at = self.flush_joins(state, at)?;
        let span = self.span;
        for block in blocks {
            self.world.facts.reuse(block);
            let lock = self.made_for_model(ObjectKey::Held(block), true)?;
            let way = self.model()?.emit(at, Instruction::Lock(lock), span);
            let mark = self.made_for_model(ObjectKey::Freed(block), true)?;
            let store = Instruction::Store { address: mark, value: Expr::Const(0), order: Order::NonAtomic };
            let mut way = self.model()?.emit(way, store, span);
            let mut state = state.clone();
            let datum = Datum::Pointer(block, 0);
            if zero {
                let size = self.world.objects.get(block).size;
                way = self.fill(&mut state, &datum, 0, size, way)?;
            }
            let next = self.done(&mut state, datum, way)?;
            self.later(state, next);
        }
        // A step of its own, so that the other ways begin nowhere else.
        Ok(self.model()?.emit(at, Instruction::Nop, span))
    }

    pub fn free(&mut self, state: &mut State, call: &Call, at: Raw) -> Step<Next> {
        let pointer = self.argument_datum(state, call, 0)?;
        let zero = Datum::Int(0);
        match &pointer {
            Datum::Int(0) => self.done(state, zero, at),
            Datum::Pointer(object, 0) if self.is_block(*object) => {
                let object = *object;
                let at = if self.is_model() {
                    if state.memory.remove(&object).is_some() {
                        // The thread had it to itself. A later use makes it an object of the model.
                        return self.done(state, zero, at);
                    }
                    if !self.world.facts.is_shared(object) {
                        // It was freed before; as an object of the model it has a mark that shows it.
                        self.world.facts.share(object);
                        return Err(Interrupt::Again);
                    }
                    self.world.facts.free(object);
                    let at = self.flush_joins(state, at)?;
                    let at = self.look_at_mark(state, object, FIRST_MARK, at)?;
                    self.set_mark(object, at)?
                } else {
                    self.free_at_once(state, object)?;
                    at
                };
                self.done(state, zero, at)
            }
            Datum::Computed(pointer) => {
                self.world.facts.free_anywhere();
                let at = self.flush_joins(state, at)?;
                let at = self.free_one_of(state, pointer.clone(), at)?;
                self.done(state, zero, at)
            }
            _ => {
                self.needs_model()?;
                let at = self.flush_joins(state, at)?;
                self.fail(at)
            }
        }
    }

    fn is_block(&self, object: ObjectId) -> bool {
        matches!(self.world.objects.get(object).key, ObjectKey::Heap { .. })
    }

    /// While `main` is executed.
    fn free_at_once(&mut self, state: &mut State, object: ObjectId) -> Step<()> {
        self.world.facts.free(object);
        let mark = self.mark(object);
        if state.memory.contains_key(&mark) {
            // It was freed before; the model reports it.
            self.needs_model()?;
        }
        let mut contents = Contents::new(true);
        if contents.write(0, 8, Datum::Int(1)).is_err() {
            return Err(self.refuse("a block that cannot be freed".to_owned()));
        }
        state.memory.insert(mark, contents);
        Ok(())
    }

    fn mark(&mut self, object: ObjectId) -> ObjectId {
        let name = format!("freed{}", object.0);
        self.world.objects.intern(ObjectKey::Freed(object), 8, || (name, None, None))
    }

    /// Frees the block to which a pointer leads that is not known.
    fn free_one_of(&mut self, state: &State, pointer: Expr, at: Raw) -> Step<Raw> {
        let span = self.span;
        let joined = self.model()?.flow.fresh();
        let null = pointer.clone().eq(Expr::Const(0));
        self.model()?.emit_to(at, Instruction::Assume(null.clone()), joined, span);
        let mut none = null.not();
        for (number, block) in self.world.freed_blocks().into_iter().enumerate() {
            let is = pointer.clone().eq(Expr::Const(self.world.objects.address(block, 0)));
            let way = self.model()?.emit(at, Instruction::Assume(is.clone()), span);
            let way = self.look_at_mark(state, block, FIRST_MARK + number as u64, way)?;
            let way = self.set_mark(block, way)?;
            self.model()?.flow.jump(way, joined, span);
            none = none.and(is.not());
        }
        // A pointer to something else cannot be freed.
        let way = self.model()?.emit(at, Instruction::Assume(none), span);
        self.fail(way)?;
        Ok(joined)
    }

    /// Asserts that the object that is accessed was not freed, and that the bytes are a scalar.
    pub fn check_access(&mut self, state: &State, pointer: &Datum, size: u32, at: Raw) -> Step<Raw> {
        let at = self.check_size(pointer, size, at)?;
        match pointer {
            Datum::Pointer(object, _) if self.world.is_freed(*object) => {
                self.look_at_mark(state, *object, FIRST_MARK, at)
            }
            Datum::Computed(pointer) => {
                let blocks = self.world.freed_blocks();
                if blocks.is_empty() {
                    return Ok(at);
                }
                let span = self.span;
                let joined = self.model()?.flow.fresh();
                let mut none: Option<Expr> = None;
                for (number, block) in blocks.into_iter().enumerate() {
                    let (start, size) = (self.world.objects.address(block, 0), self.world.objects.get(block).size);
                    let end = start + size as i64;
                    let after_start = Expr::binary(BinaryOp::Ge, pointer.clone(), Expr::Const(start));
                    let before_end = Expr::binary(BinaryOp::Lt, pointer.clone(), Expr::Const(end));
                    let within = after_start.and(before_end);
                    let way = self.model()?.emit(at, Instruction::Assume(within.clone()), span);
                    let way = self.look_at_mark(state, block, FIRST_MARK + number as u64, way)?;
                    self.model()?.flow.jump(way, joined, span);
                    none = Some(match none {
                        Some(before) => before.and(within.not()),
                        None => within.not(),
                    });
                }
                if let Some(none) = none {
                    self.model()?.emit_to(at, Instruction::Assume(none), joined, span);
                }
                Ok(joined)
            }
            _ => Ok(at),
        }
    }

    fn look_at_mark(&mut self, state: &State, block: ObjectId, number: u64, at: Raw) -> Step<Raw> {
        let address = self.made_for_model(ObjectKey::Freed(block), false)?;
        let reg = self.part_register(state, number, Domain::BOOL)?;
        let span = self.span;
        let at = self.model()?.emit(at, Instruction::Load { reg, address, order: Order::NonAtomic }, span);
        Ok(self.model()?.emit(at, Instruction::Assert(Expr::Atom(reg).not()), span))
    }

    /// The block has ended, and may be handed out again.
    fn set_mark(&mut self, block: ObjectId, at: Raw) -> Step<Raw> {
        let address = self.made_for_model(ObjectKey::Freed(block), true)?;
        let span = self.span;
        let store = Instruction::Store { address, value: Expr::Const(1), order: Order::NonAtomic };
        let at = self.model()?.emit(at, store, span);
        if !self.world.facts.is_reused(block) {
            return Ok(at);
        }
        let lock = self.made_for_model(ObjectKey::Held(block), true)?;
        Ok(self.model()?.emit(at, Instruction::Unlock(lock), span))
    }
}
