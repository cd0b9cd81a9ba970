//! The program itself.

use crate::{Goal, Memory, Observation, Source, Span, Thread, ThreadId};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub memory: Memory,
    pub threads: Vec<Thread>,
    pub goals: Vec<Goal>,
    pub observation: Option<Observation>,
    /// The text that all spans point into.
    pub source: Source,
}

impl Program {
    pub fn find_thread(&self, name: &str) -> Option<ThreadId> {
        self.threads.iter().position(|thread| thread.name == name).map(ThreadId)
    }

    /// Every thread is loop-free.
    pub fn is_acyclic(&self) -> bool {
        self.threads.iter().all(Thread::is_acyclic)
    }

    /// Has a `thread p[*]`.
    pub fn is_parameterised(&self) -> bool {
        self.threads.iter().any(|thread| thread.copies == crate::Copies::Any)
    }

    /// Equal except for names of files and places in them.
    pub fn same_as(&self, other: &Program) -> bool {
        self.without_source() == other.without_source()
    }

    /// The same program without source positions.
    pub fn without_source(&self) -> Program {
        let mut program = self.clone();
        program.name.clear();
        program.source = Source::default();
        for variable in &mut program.memory.variables {
            variable.span = Span::NOWHERE;
        }
        for goal in &mut program.goals {
            goal.span = Span::NOWHERE;
        }
        for thread in &mut program.threads {
            thread.span = Span::NOWHERE;
            for register in &mut thread.registers {
                register.span = Span::NOWHERE;
            }
            for location in &mut thread.locations {
                location.span = Span::NOWHERE;
            }
            thread.calls.clear();
            for transition in &mut thread.transitions {
                transition.span = Span::NOWHERE;
                transition.call = None;
            }
        }
        program
    }
}
