//! A system whose type is forgotten, so that the search is compiled once and not once for every system.
//!
//! The search, its files and its messages between processes are far more code than a system's own, and would otherwise be built for
//! each of them. What it costs is one call through a pointer a state; successors still go into the [`Sink`] directly.

use crate::system::{Sink, System};

/// Any system that is interrupted by an `I`.
#[derive(Clone, Copy)]
pub(crate) struct AnySystem<'a, I>(&'a (dyn ExpanderSource<I> + 'a));

/// Expands states for one worker, in room of its own.
type Expander<'a, I> = Box<dyn FnMut(&[u64], &mut Sink) -> Result<(), I> + Send + 'a>;

/// What a system gives if its kind of room is not to be known.
trait ExpanderSource<I>: Sync {
    fn width(&self) -> usize;

    fn expander(&self) -> Expander<'_, I>;

    fn initial(&self, emit: &mut dyn FnMut(&[u64]));
}

impl<S: System> ExpanderSource<S::Interrupt> for S {
    fn width(&self) -> usize {
        System::width(self)
    }

    fn expander(&self) -> Expander<'_, S::Interrupt> {
        let mut scratch = self.scratch();
        Box::new(move |state, sink| self.expand(state, &mut scratch, sink))
    }

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        System::initial(self, emit);
    }
}

impl<'a, I> AnySystem<'a, I> {
    pub fn new<S: System<Interrupt = I>>(system: &'a S) -> Self {
        AnySystem(system)
    }
}

impl<'a, I: Send> System for AnySystem<'a, I> {
    type Scratch = Expander<'a, I>;
    type Interrupt = I;

    fn width(&self) -> usize {
        self.0.width()
    }

    fn scratch(&self) -> Expander<'a, I> {
        self.0.expander()
    }

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        self.0.initial(emit);
    }

    #[inline]
    fn expand(&self, state: &[u64], expander: &mut Expander<'a, I>, sink: &mut Sink) -> Result<(), I> {
        expander(state, sink)
    }
}
