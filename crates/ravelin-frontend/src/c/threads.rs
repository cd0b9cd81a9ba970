//! Threads: starting, ending and waiting for them.
//!
//! A thread that another one starts waits for a cell of its own to become 1. The end of a thread is counted in a cell for
//! each group of threads that another one waits for: several calls of `pthread_join` in a row are one step.

use super::library::LibraryCall;
use super::objects::ObjectKey;
use super::specialise::{Interrupt, Next, Specialiser, Start, Step};
use super::state::State;
use super::value::Datum;
use crate::flow::Raw;
use crate::ir::module::Call;
use ravelin_program::{Address, Arithmetic, Domain, Expr, Instruction, Order, RmwOp, WaitCondition};

/// The arguments of a call that starts a thread.
pub(super) struct Spawn {
    pub handle: Datum,
    pub function: Datum,
    pub argument: Datum,
    /// Called with the argument once the function has returned.
    pub destroys: Option<usize>,
}

/// Size of a cell that was made for the model, of a handle of a thread, and of a part of a barrier.
pub(super) const WORD: u32 = 8;
/// What a function of C11's `thrd_create` returns.
const INT: u32 = 4;
/// What the cell of a thread holds that is not started any more. One that is started finds 1.
pub(super) const NEVER: i64 = 2;
/// Threads of one program.
pub(super) const MOST_THREADS: usize = 64;

impl<'m> Specialiser<'_, 'm> {
    pub fn spawn(&mut self, state: &mut State, spawn: Spawn, mut at: Raw) -> Step<Raw> {
        let function = self.thread_function(&spawn.function)?;
        let destroys = spawn.destroys;
        let span = self.span;
        let number = if self.is_model() {
            let site = self.site(state);
            let count = state.counters.get(&site).copied().unwrap_or(0);
            let gate = Some((self.thread, site, count));
            let start = Start { function, argument: spawn.argument, destroys, gate, span };
            let Some(number) = self.world.gated(start) else {
                return Err(self.too_many_threads());
            };
            state.counters.insert(site, count + 1);
            at = self.flush_joins(state, at)?;
            let address = self.made_for_model(ObjectKey::Started(number), true)?;
            let store = Instruction::Store { address, value: Expr::Const(1), order: Order::Release };
            at = self.model()?.emit(at, store, span);
            number
        } else {
            if self.starts.len() >= MOST_THREADS {
                return Err(self.too_many_threads());
            }
            self.note_start(Start { function, argument: spawn.argument, destroys, gate: None, span });
            self.starts.len()
        };
        if spawn.handle != Datum::Int(0) {
            at = self.write(state, &spawn.handle, WORD, Datum::Int(number as i64), Order::NonAtomic, at)?;
        }
        Ok(at)
    }

    fn too_many_threads(&self) -> Interrupt {
        self.refuse_with(
            format!("more than {MOST_THREADS} threads are started"),
            "the end of a loop is not known if its counter is passed to threads by address, as in `pthread_create(…, &i)`"
                .to_owned(),
        )
    }

    pub fn join_thread(&mut self, state: &mut State, known: LibraryCall, call: &Call, at: Raw) -> Step<Next> {
        self.needs_model()?;
        let handle = self.argument_datum(state, call, 0)?;
        let result = self.argument_datum(state, call, 1)?;
        let number = self.wait_for_end(state, &handle)?;
        let mut at = at;
        if result != Datum::Int(0) {
            self.world.facts.want_result(number);
            at = self.flush_joins(state, at)?;
            let address = self.made_for_model(ObjectKey::Result(number), false)?;
            let reg = self.part_register(state, 0, Domain::FULL)?;
            let span = self.span;
            at = self.model()?.emit(at, Instruction::Load { reg, address, order: Order::NonAtomic }, span);
            let size = if known == LibraryCall::ThreadJoinC11 { INT } else { WORD };
            at = self.write(state, &result, size, Datum::Computed(Expr::Atom(reg)), Order::NonAtomic, at)?;
        }
        self.done(state, Datum::Int(0), at)
    }

    /// The next step of the model waits for the end of a thread.
    pub fn wait_for_end(&mut self, state: &mut State, handle: &Datum) -> Step<usize> {
        let Datum::Int(number) = handle else {
            return Err(self.refuse("a thread is waited for, and which one is not known here".to_owned()));
        };
        let Some(number) = usize::try_from(*number).ok().filter(|number| *number > 0) else {
            return Err(self.refuse("a thread is waited for that was never started".to_owned()));
        };
        state.joins.insert(number);
        Ok(number)
    }

    /// Waits for the threads that were joined since the last step.
    pub fn flush_joins(&mut self, state: &mut State, at: Raw) -> Step<Raw> {
        if state.joins.is_empty() {
            return Ok(at);
        }
        let joins = std::mem::take(&mut state.joins);
        self.world.facts.join(&joins);
        let count = joins.len() as i64;
        let address = self.made_for_model(ObjectKey::Ended(joins.into_iter().collect()), false)?;
        let condition = WaitCondition::equals(Expr::Const(count));
        let span = self.span;
        Ok(self.model()?.emit(at, Instruction::Wait { address, condition, order: Order::Acquire, old: None }, span))
    }

    /// The thread has returned from its first function, with this result.
    pub fn end_thread(&mut self, state: &mut State, result: &Datum, at: Raw) -> Step<()> {
        if !self.is_model() {
            return Ok(());
        }
        let mut at = self.flush_joins(state, at)?;
        at = self.tell_those_not_started(state, at)?;
        if self.world.facts.wants_result(self.thread) {
            let value = self.lower(result)?;
            let address = self.made_for_model(ObjectKey::Result(self.thread), true)?;
            let span = self.span;
            at = self.model()?.emit(at, Instruction::Store { address, value, order: Order::NonAtomic }, span);
        }
        let groups: Vec<Vec<usize>> = self
            .world
            .facts
            .groups()
            .into_iter()
            .filter(|group| group.contains(&self.thread))
            .map(|group| group.iter().copied().collect())
            .collect();
        let span = self.span;
        for group in groups {
            let alone = group.len() == 1;
            let address = self.made_for_model(ObjectKey::Ended(group), true)?;
            let instruction = if alone {
                Instruction::Store { address, value: Expr::Const(1), order: Order::Release }
            } else {
                Instruction::rmw(RmwOp::Add, Arithmetic::Checked, address, Expr::Const(1), Order::AcqRel, None)
            };
            at = self.model()?.emit(at, instruction, span);
        }
        let model = self.model()?;
        let end = model.end;
        model.flow.jump(at, end, span);
        Ok(())
    }

    /// Threads that this one starts on other ways wait no longer: a thread that is never started is not blocked.
    fn tell_those_not_started(&mut self, state: &State, mut at: Raw) -> Step<Raw> {
        let span = self.span;
        for number in self.world.gates_of(self.thread, &state.counters) {
            self.world.facts.may_not_start(number);
            let address = self.made_for_model(ObjectKey::Started(number), true)?;
            let store = Instruction::Store { address, value: Expr::Const(NEVER), order: Order::Relaxed };
            at = self.model()?.emit(at, store, span);
        }
        Ok(at)
    }

    /// Nobody waits for the thread.
    pub fn detach(&mut self, handle: &Datum) {
        if let Datum::Int(number) = handle
            && let Ok(number) = usize::try_from(*number)
        {
            self.world.facts.detach(number);
        }
    }

    /// `main` has returned: threads for which nobody waits end with it.
    pub fn end_detached(&mut self, state: &mut State, at: Raw) -> Step<Raw> {
        if self.thread != 0 || !self.is_model() || !self.world.facts.some_are_detached() {
            return Ok(at);
        }
        let at = self.flush_joins(state, at)?;
        let address = self.made_for_model(ObjectKey::Returned, true)?;
        let span = self.span;
        let store = Instruction::Store { address, value: Expr::Const(1), order: Order::Relaxed };
        Ok(self.model()?.emit(at, store, span))
    }

    /// The program ends: threads that wait do so no longer. What others do before they notice could come before the end.
    pub fn exit(&mut self, state: &mut State, at: Raw) -> Step<Next> {
        if self.is_model() {
            let at = self.flush_joins(state, at)?;
            self.world.facts.exit();
            let address = self.made_for_model(ObjectKey::Exited, true)?;
            let span = self.span;
            let model = self.model()?;
            let end = model.end;
            model.emit_to(at, Instruction::Store { address, value: Expr::Const(1), order: Order::Relaxed }, end, span);
        }
        Ok(Next::Elsewhere)
    }

    /// The address of a cell that is not in the source.
    pub fn made_for_model(&mut self, key: ObjectKey, writes: bool) -> Step<Address> {
        let name = match &key {
            ObjectKey::Started(thread) => format!("started{thread}"),
            ObjectKey::Ended(threads) => {
                let names: Vec<String> = threads.iter().map(ToString::to_string).collect();
                format!("ended{}", names.join("_"))
            }
            ObjectKey::Reader { object, offset, thread } => {
                format!("{}.reader{thread}", self.world.scalar_name(*object, *offset))
            }
            ObjectKey::Once { object, offset } => format!("{}.busy", self.world.scalar_name(*object, *offset)),
            ObjectKey::Result(thread) => format!("result{thread}"),
            ObjectKey::Exited => "exited".to_owned(),
            ObjectKey::Returned => "returned".to_owned(),
            ObjectKey::Freed(block) => format!("freed{}", block.0),
            ObjectKey::Held(block) => format!("held{}", block.0),
            _ => "hidden".to_owned(),
        };
        let object = self.world.objects.intern(key, WORD.into(), || (name, None, None));
        self.world.facts.share(object);
        self.note_scalar(object, 0, WORD)?;
        if writes {
            self.world.facts.write(object, 0);
        }
        Ok(Address::computed(Expr::Const(self.world.objects.address(object, 0))))
    }
}
