//! Copies and fills of several bytes: scalar by scalar, so far as the scalars are known.

use super::access::Target;
use super::memory::{Contents, Entangled};
use super::objects::{LARGEST, ObjectId, ObjectKey, scalars};
use super::specialise::{Specialiser, Step};
use super::state::State;
use super::value::{Datum, canonical};
use crate::flow::Raw;
use crate::ir::module::Type;
use ravelin_program::{Domain, Expr, Instruction, Order};

/// Bytes that are set or copied at once.
const MOST_FILLED: u64 = 1 << 16;

impl Specialiser<'_, '_> {
    /// The copy of an argument that is passed by value.
    pub fn copy_argument(
        &mut self,
        state: &mut State,
        path: usize,
        number: usize,
        ty: &Type,
        from: &Datum,
        at: Raw,
    ) -> Step<(ObjectId, Raw)> {
        let Some(size) = self.world.module.size_of(ty).filter(|size| *size <= LARGEST) else {
            return Err(self.refuse("an argument is too large for a model".to_owned()));
        };
        let key = ObjectKey::Argument { thread: self.thread, path, number };
        let object = self.world.objects.intern(key, size, || ("argument".to_owned(), None, Some(ty.clone())));
        if !self.is_model() || !self.world.facts.is_shared(object) {
            state.memory.insert(object, Contents::new(false));
        }
        let at = self.copy(state, &Datum::Pointer(object, 0), from, size, at)?;
        Ok((object, at))
    }

    /// Copies bytes, scalar by scalar.
    pub fn copy(&mut self, state: &mut State, to: &Datum, from: &Datum, size: u64, mut at: Raw) -> Step<Raw> {
        if size == 0 {
            return Ok(at);
        }
        if let Some(at) = self.copy_private(state, to, from, size, at)? {
            return Ok(at);
        }
        let parts = self.parts_of_copy(state, to, from, size)?;
        // All are read before any is written, so that the ranges may overlap.
        let mut read = Vec::new();
        for (offset, length) in parts {
            let place = self.displaced(from, offset)?;
            let datum = match self.locate(state, &place, length, false, false)? {
                Target::Private(object, start) => {
                    let contents = state.memory.get(&object).map(|contents| contents.read(start, length));
                    let Some(Ok(datum)) = contents else { return Err(self.entangled(object)) };
                    datum
                }
                Target::Shared(address, scalar) => {
                    at = self.check_access(state, &place, length, at)?;
                    let constant = scalar.and_then(|(object, start)| self.world.constant_scalar(object, start, length));
                    match constant {
                        Some(datum) => datum,
                        None => {
                            let reg = self.part_register(state, offset, Domain::FULL)?;
                            at = self.flush_joins(state, at)?;
                            let span = self.span;
                            let load = Instruction::Load { reg, address, order: Order::NonAtomic };
                            at = self.model()?.emit(at, load, span);
                            Datum::Computed(Expr::Atom(reg))
                        }
                    }
                }
            };
            read.push((offset, length, datum));
        }
        for (offset, length, datum) in read {
            let place = self.displaced(to, offset)?;
            at = self.write(state, &place, length, datum, Order::NonAtomic, at)?;
        }
        Ok(at)
    }

    /// Copies between objects that the thread has to itself; `None` if they are not.
    fn copy_private(&mut self, state: &mut State, to: &Datum, from: &Datum, size: u64, at: Raw) -> Step<Option<Raw>> {
        let (Datum::Pointer(target, start), Datum::Pointer(source, first)) = (to, from) else { return Ok(None) };
        let (Ok(start), Ok(first)) = (u64::try_from(*start), u64::try_from(*first)) else { return Ok(None) };
        let inside = |object: &ObjectId, from: u64| {
            state.memory.contains_key(object) && from + size <= self.world.objects.get(*object).size
        };
        if !inside(target, start) || !inside(source, first) || size > MOST_FILLED {
            return Ok(None);
        }
        if !self.is_model() {
            self.log_access(*source, first, size, false);
            self.log_access(*target, start, size, true);
        }
        let Some(contents) = state.memory.get(source) else { return Ok(None) };
        let (parts, zero) = (contents.part(first, size), contents.is_zero());
        let Ok(parts) = parts else { return Err(self.entangled(*source)) };
        let cleared = state.memory.get_mut(target).map(|contents| contents.fill(start, size, 0, zero));
        if !matches!(cleared, Some(Ok(()))) {
            return Err(self.entangled(*target));
        }
        let mut at = at;
        // Registers of the target may be sources, too, if the ranges overlap; then all are read before.
        let mut settled = Vec::new();
        for (offset, length, datum) in parts {
            let datum = match datum {
                Datum::Computed(value) => {
                    let copy = self.part_register(state, offset, Domain::FULL)?;
                    let span = self.span;
                    at = self.model()?.assign(at, vec![(copy, value)], span);
                    Datum::Computed(Expr::Atom(copy))
                }
                datum => datum,
            };
            settled.push((offset, length, datum));
        }
        for (offset, length, datum) in settled {
            let place = self.displaced(to, offset)?;
            at = self.write(state, &place, length, datum, Order::NonAtomic, at)?;
        }
        Ok(Some(at))
    }

    pub fn displaced(&mut self, pointer: &Datum, by: u64) -> Step<Datum> {
        self.with_operands(|operands| {
            operands.binary(crate::ir::module::BinaryOperator::Add, 64, pointer, &Datum::Int(by as i64))
        })
    }

    /// The scalars that a copy consists of: those that are known of either side.
    fn parts_of_copy(&mut self, state: &State, to: &Datum, from: &Datum, size: u64) -> Step<Vec<(u64, u32)>> {
        let mut parts: std::collections::BTreeMap<u64, u32> = std::collections::BTreeMap::new();
        // Scalars of which some bytes are outside: what is inside, and their object.
        let mut cut = Vec::new();
        let mut add = |object: ObjectId, start: u64, (at, length): (u64, u32)| {
            let (first, last) = (at.max(start), (at + u64::from(length)).min(start + size));
            if first >= last {
                return;
            }
            if last - first < u64::from(length) {
                cut.push((first - start..last - start, object));
                return;
            }
            let (offset, end) = (first - start, last - start);
            if parts.range(..end).next_back().is_none_or(|(start, own)| start + u64::from(*own) <= offset) {
                parts.insert(offset, length);
            }
        };
        let mut written_before = Vec::new();
        for side in [from, to] {
            let Datum::Pointer(object, start) = side else {
                if matches!(side, Datum::Computed(_)) {
                    continue;
                }
                return Err(self.refuse("a copy from or to something that is no object".to_owned()));
            };
            let Ok(start) = u64::try_from(*start) else {
                return Err(self.refuse("a copy that leaves its object".to_owned()));
            };
            if let Some(contents) = state.memory.get(object) {
                written_before.extend(contents.entries().map(|(at, length, _)| (*object, start, (at, length))));
            }
            let own = self.world.objects.get(*object);
            for (&at, &length) in &own.cells {
                add(*object, start, (at, length));
            }
            if let Some(ty) = &own.ty {
                for scalar in scalars(self.world.module, ty, 4096) {
                    add(*object, start, scalar);
                }
            }
        }
        for (object, start, scalar) in written_before {
            add(object, start, scalar);
        }
        let is_covered =
            |byte: u64| parts.range(..=byte).next_back().is_some_and(|(start, own)| start + u64::from(*own) > byte);
        if let Some((_, object)) = cut.into_iter().find(|(bytes, _)| !bytes.clone().all(is_covered)) {
            let name = &self.world.objects.get(object).name;
            return Err(
                self.refuse(format!("some bytes of a scalar of `{name}` are set or copied, and others are not"))
            );
        }
        if parts.is_empty() {
            return Err(self.refuse("a copy of memory whose type is not known".to_owned()));
        }
        Ok(parts.into_iter().collect())
    }

    /// Sets bytes, scalar by scalar.
    pub fn fill(&mut self, state: &mut State, to: &Datum, byte: u8, size: u64, mut at: Raw) -> Step<Raw> {
        if size == 0 {
            return Ok(at);
        }
        if let Datum::Pointer(object, offset) = to
            && let Some(contents) = state.memory.get_mut(object)
            && let Ok(start) = u64::try_from(*offset)
            && start + size <= self.world.objects.get(*object).size
        {
            if !self.is_model() {
                self.log_access(*object, start, size, true);
            }
            let whole = byte == 0 && start == 0 && size == self.world.objects.get(*object).size;
            if whole {
                *contents = Contents::new(true);
                return Ok(at);
            }
            if size > MOST_FILLED {
                return Err(self.refuse(format!("more than {MOST_FILLED} bytes are set at once")));
            }
            return match contents.fill(start, size, byte, true) {
                Ok(()) => Ok(at),
                Err(Entangled) => Err(self.entangled(*object)),
            };
        }
        let parts = self.parts_of_copy(state, to, to, size)?;
        for (offset, length) in parts {
            let place = self.displaced(to, offset)?;
            let bytes = i64::from_le_bytes([byte; 8]);
            let datum = Datum::Int(canonical(8 * length.min(8), bytes.into()));
            at = self.write(state, &place, length, datum, Order::NonAtomic, at)?;
        }
        Ok(at)
    }
}
