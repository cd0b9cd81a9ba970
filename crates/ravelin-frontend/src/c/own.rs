//! What each thread has of its own: thread-local variables, values under keys, `errno`. `pthread_once` is here, too.
//!
//! They are objects like local variables: known as long as no other thread has their address.

use super::library::LibraryCall;
use super::memory::Contents;
use super::objects::{ObjectId, ObjectKey};
use super::specialise::{Next, Specialiser, Step};
use super::state::State;
use super::threads::WORD;
use super::value::Datum;
use crate::flow::Raw;
use crate::ir::module::Call;
use ravelin_program::{Domain, Expr, Instruction, Order};

/// `errno`, and the mark of `pthread_once`.
const INT: u32 = 4;
/// The mark of a static variable of C++.
const MARK: u32 = 1;
/// Keys of one program.
const MOST_KEYS: i64 = 128;

impl<'m> Specialiser<'_, 'm> {
    /// The thread's own variable behind a thread-local one.
    pub fn thread_local(&mut self, global: usize) -> Datum {
        let own = &self.world.module.globals[global];
        let size = self.world.module.size_of(&own.ty).unwrap_or(1);
        let module = self.world.module;
        let thread = self.thread;
        let object = self.world.objects.intern(ObjectKey::ThreadLocal { global, thread }, size, || {
            let name = own.debug.and_then(|node| module.debug.global_name(node));
            (format!("{}.{thread}", name.unwrap_or(&own.name)), None, Some(own.ty.clone()))
        });
        Datum::Pointer(object, 0)
    }

    /// Gives the thread its variables, with what they hold at the start.
    pub fn begin_thread(&mut self, state: &mut State) -> Step<()> {
        for (index, global) in self.world.module.globals.iter().enumerate() {
            if global.thread_local
                && let Datum::Pointer(object, _) = self.thread_local(index)
            {
                let contents = super::lift::initial_contents(self, global)?;
                self.own_object(state, object, contents);
            }
        }
        Ok(())
    }

    fn own_object(&mut self, state: &mut State, object: ObjectId, contents: Contents) {
        if self.is_model() && self.world.facts.is_shared(object) {
            self.world.initial.entry(object).or_insert(contents);
        } else {
            state.memory.entry(object).or_insert(contents);
        }
    }

    fn error_number(&mut self, state: &mut State) -> Datum {
        let object = self
            .world
            .objects
            .intern(ObjectKey::ErrorNumber(self.thread), INT.into(), || ("errno".to_owned(), None, None));
        self.own_object(state, object, Contents::new(true));
        Datum::Pointer(object, 0)
    }

    pub fn set_errno(&mut self, state: &mut State, number: i64, at: Raw) -> Step<Raw> {
        let place = self.error_number(state);
        self.write(state, &place, INT, Datum::Int(number), Order::NonAtomic, at)
    }

    pub fn keys(&mut self, state: &mut State, known: LibraryCall, call: &Call, at: Raw) -> Step<Next> {
        let zero = Datum::Int(0);
        let first = match known {
            LibraryCall::ErrorNumber => {
                let place = self.error_number(state);
                return self.done(state, place, at);
            }
            _ => self.argument_datum(state, call, 0)?,
        };
        if known == LibraryCall::KeyCreate {
            if self.argument_datum(state, call, 1)? != zero {
                return Err(self.refuse("values of threads that a function destroys are not supported".to_owned()));
            }
            let site = self.site(state);
            let number = self.world.key_number(self.thread, site);
            let at = self.write(state, &first, INT, Datum::Int(number), Order::NonAtomic, at)?;
            return self.done(state, zero, at);
        }
        let Datum::Int(key @ 1..=MOST_KEYS) = first else {
            return Err(self.refuse("a key of values of threads that is not known here".to_owned()));
        };
        let thread = self.thread;
        let name = || (format!("specific{key}.{thread}"), None, None);
        let object = self.world.objects.intern(ObjectKey::Specific { key, thread }, WORD.into(), name);
        self.own_object(state, object, Contents::new(true));
        if known == LibraryCall::SetSpecific {
            let value = self.argument_datum(state, call, 1)?;
            let at = self.write(state, &Datum::Pointer(object, 0), WORD, value, Order::NonAtomic, at)?;
            return self.done(state, zero, at);
        }
        let found = state.memory.get(&object).and_then(|contents| contents.read(0, WORD).ok());
        match found {
            Some(datum) => self.done(state, datum, at),
            None => Err(self.refuse("a value of a thread that is not known here".to_owned())),
        }
    }

    /// The first call of `pthread_once` for an object calls the function, and the others wait until it has returned. One
    /// that comes later sees the mark, and is ordered after the function but not with the others.
    pub fn once(&mut self, state: &mut State, call: &'m Call, at: Raw) -> Step<Next> {
        let control = self.argument_datum(state, call, 0)?;
        let function = self.argument_datum(state, call, 1)?;
        let function = self.called_once(state, function)?;
        let function = self.thread_function(&function)?;
        let place = match control {
            Datum::Pointer(object, offset) => u64::try_from(offset).ok().map(|offset| (object, offset)),
            _ => None,
        };
        let Some((object, offset)) = place else {
            return Err(self.refuse("a `pthread_once` whose first argument is not known here".to_owned()));
        };
        if !self.is_model() {
            if self.read_known(state, &control, INT)? != 0 {
                return self.done(state, Datum::Int(0), at);
            }
            let at = self.write(state, &control, INT, Datum::Int(1), Order::NonAtomic, at)?;
            return self.inline(state, function, Vec::new(), at);
        }
        let mark = self.shared_address(state, &control, INT)?;
        let busy = self.made_for_model(ObjectKey::Once { object, offset }, true)?;
        let at = self.flush_joins(state, at)?;
        let (before, now) = (self.part_register(state, 0, Domain::FULL)?, self.part_register(state, 1, Domain::FULL)?);
        let span = self.span;
        let model = self.model()?;
        let load = |reg, order| Instruction::Load { reg, address: mark.clone(), order };
        let is_done = |reg| Expr::Atom(reg).eq(Expr::Const(1));
        let at = model.emit(at, load(before, Order::Acquire), span);
        let over = model.emit(at, Instruction::Assume(is_done(before)), span);
        let at = model.emit(at, Instruction::Assume(super::operate::negated(is_done(before))), span);
        let at = model.emit(at, Instruction::Lock(busy.clone()), span);
        let at = model.emit(at, load(now, Order::Relaxed), span);
        let late = model.emit(at, Instruction::Assume(is_done(now)), span);
        model.emit_to(late, Instruction::Unlock(busy), over, span);
        let at = model.emit(at, Instruction::Assume(super::operate::negated(is_done(now))), span);
        let mut first = state.clone();
        let next = self.inline(&mut first, function, Vec::new(), at)?;
        // What is entered is the location of the function's start, which has no other state yet.
        if let Next::On(at) = next {
            first.frame_mut().once = Some((object, offset));
            self.later(first, Next::On(at));
        }
        self.done(state, Datum::Int(0), over)
    }

    /// `std::call_once` passes a function of the library that calls the one in a thread-local variable.
    fn called_once(&mut self, state: &State, function: Datum) -> Step<Datum> {
        let module = self.world.module;
        let is_proxy = matches!(function, Datum::Function(index) if module.functions[index].name == "__once_proxy");
        let variable = module.globals.iter().position(|global| global.name == "_ZSt11__once_call");
        match variable.filter(|_| is_proxy) {
            Some(variable) => {
                let Datum::Pointer(object, _) = self.thread_local(variable) else { return Ok(function) };
                let found = state.memory.get(&object).and_then(|contents| contents.read(0, WORD).ok());
                Ok(found.unwrap_or(function))
            }
            None => Ok(function),
        }
    }

    /// Static variables of C++ functions: the first thread that comes there initialises them, and others wait for it. The
    /// code of the program reads the mark before it calls these functions, and does not if it is set.
    pub fn guard(&mut self, state: &mut State, known: LibraryCall, call: &Call, at: Raw) -> Step<Next> {
        let guard = self.argument_datum(state, call, 0)?;
        let Datum::Pointer(object, offset @ 0..) = guard else {
            return Err(self.refuse("a static variable that is not known here".to_owned()));
        };
        let (one, zero) = (Datum::Int(1), Datum::Int(0));
        if !self.is_model() {
            if known == LibraryCall::GuardRelease {
                let at = self.write(state, &guard, MARK, one, Order::NonAtomic, at)?;
                return self.done(state, zero, at);
            }
            let is_set = self.read_known(state, &guard, MARK)? != 0;
            return self.done(state, Datum::Int((!is_set).into()), at);
        }
        let mark = self.shared_address(state, &guard, MARK)?;
        let busy = self.made_for_model(ObjectKey::Once { object, offset: offset as u64 }, true)?;
        let at = self.flush_joins(state, at)?;
        let span = self.span;
        if known != LibraryCall::GuardAcquire {
            let mut at = at;
            if known == LibraryCall::GuardRelease {
                let store = Instruction::Store { address: mark, value: Expr::Const(1), order: Order::Release };
                at = self.model()?.emit(at, store, span);
            }
            let at = self.model()?.emit(at, Instruction::Unlock(busy), span);
            return self.done(state, zero, at);
        }
        let reg = self.part_register(state, 0, Domain::FULL)?;
        let at = self.model()?.emit(at, Instruction::Lock(busy.clone()), span);
        let load = Instruction::Load { reg, address: mark, order: Order::Relaxed };
        let at = self.model()?.emit(at, load, span);
        let is_set = Expr::Atom(reg).eq(Expr::Const(1));
        let late = self.model()?.emit(at, Instruction::Assume(is_set.clone()), span);
        let late = self.model()?.emit(late, Instruction::Unlock(busy), span);
        let mut way = state.clone();
        let next = self.done(&mut way, zero, late)?;
        self.later(way, next);
        let at = self.model()?.emit(at, Instruction::Assume(super::operate::negated(is_set)), span);
        self.done(state, one, at)
    }

    /// The function that `pthread_once` called has returned.
    pub fn end_once(&mut self, state: &mut State, (object, offset): (ObjectId, u64), at: Raw) -> Step<Raw> {
        let mark = self.shared_address(state, &Datum::Pointer(object, offset as i64), INT)?;
        let busy = self.made_for_model(ObjectKey::Once { object, offset }, true)?;
        let at = self.flush_joins(state, at)?;
        let span = self.span;
        let store = Instruction::Store { address: mark, value: Expr::Const(1), order: Order::Release };
        let at = self.model()?.emit(at, store, span);
        Ok(self.model()?.emit(at, Instruction::Unlock(busy), span))
    }
}
