//! Explores a program with messages.

use super::read_back::MessageRun;
use super::search::MessageMachine;
use crate::compile::{BuildError, MOST_SHARED_CELLS, Machine};
use crate::growing::{GrowthAttempt, growing};
use crate::layout::{Growth, Overflow};
use crate::run::{ExploredProgram, ProgramEnd, RunError, UnreadablePath, Violation};
use crate::settings::{Purpose, Reductions, Settings};
use ravelin_explore::{End, Limit, Options, StateFinding, Statistics, Watch, explore};
use ravelin_program::{Model, Program, SeqCstReading};

/// Words for messages at first. They are doubled until all states fit.
const FIRST_WORDS: usize = 2;
/// The largest bound on the messages of a cell.
pub const MOST_MESSAGES: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSettings {
    /// `ra` or `rc20`.
    pub model: Model,
    /// `after`, `before` or `rel-acq`.
    pub seq_cst: SeqCstReading,
    /// The most messages of one cell that can still be read, or written behind.
    pub messages: usize,
    /// [`Purpose::Goals`] or [`Purpose::Finals`].
    pub purpose: Purpose,
    pub reductions: Reductions,
    /// With [`Purpose::Goals`]: states are also reported in which every thread that is not at its end waits, and the mo-latest value
    /// lets none of them pass.
    pub deadlocks: bool,
}

/// Explores a program under release/acquire or RC20.
pub fn explore_messages(
    program: &Program,
    settings: MessageSettings,
    options: &Options,
) -> Result<ExploredMessages, RunError> {
    let settings = MessageSettings { messages: settings.messages.clamp(1, MOST_MESSAGES), ..settings };
    let reductions = Reductions { symmetry: false, ..settings.reductions };
    let MessageSettings { model, purpose, deadlocks, .. } = settings;
    let machine_settings = Settings { model, buffer: 0, purpose, reductions, deadlocks };
    let mut words = FIRST_WORDS;
    let build = |growth: &Growth, watch: &Watch| Ok(Machine::compile(program, machine_settings, growth, watch)?);
    growing(options, build, |machine, left| {
        let search = MessageMachine::new(&machine, settings, words);
        if search.slots().len() > MOST_SHARED_CELLS {
            return Err(BuildError::TooManySharedCells(search.slots().len()).into());
        }
        let mut fits = Ok(());
        let mut scratch = search.new_scratch();
        let started = machine.fused_initial_states(&mut |base| {
            if let Err(overflow) = search.initial_state(base, &mut scratch) {
                fits = Err(overflow);
            }
        });
        let outgrown = |machine: Machine, overflow, words: &mut usize| {
            if let Overflow::Messages { words: needed } = overflow {
                *words = needed.max(2 * *words);
            }
            Ok(GrowthAttempt::Outgrown(Box::new(machine), overflow))
        };
        if let Err(overflow) = started.and(fits) {
            return outgrown(machine, overflow, &mut words);
        }
        let space = explore(&search, left);
        Ok(match space.end {
            End::Interrupted(overflow) => return outgrown(machine, overflow, &mut words),
            End::Failed(error) => return Err(error.into()),
            _ => GrowthAttempt::Done(ExploredMessages {
                program: ExploredProgram { machine, space, limits: options.budget.limits },
                settings,
                words,
            }),
        })
    })
}

/// An explored program. Of its states, the machine's part comes first.
pub struct ExploredMessages {
    program: ExploredProgram,
    settings: MessageSettings,
    words: usize,
}

impl ExploredMessages {
    fn search(&self) -> MessageMachine<'_> {
        MessageMachine::new(&self.program.machine, self.settings, self.words)
    }

    pub fn settings(&self) -> MessageSettings {
        self.settings
    }

    /// The bound on the messages of a cell.
    pub fn messages(&self) -> usize {
        self.settings.messages
    }

    pub fn statistics(&self) -> &Statistics {
        self.program.statistics()
    }

    /// Words of a packed state.
    pub fn words(&self) -> usize {
        self.program.words() + self.words
    }

    /// Some state had more messages in a cell than the bound permits.
    pub fn cut_off(&self) -> bool {
        self.program.cut_off()
    }

    /// The limit that ended the exploration, if one did.
    pub fn limit(&self) -> Option<Limit> {
        self.program.limit()
    }

    /// The first violation in breadth-first order, with the run that leads to it.
    pub fn violation(&self) -> Option<Result<(Violation, MessageRun), UnreadablePath>> {
        self.program.violating().next().map(|finding| self.read_back(finding))
    }

    /// As [`ExploredMessages::violation`], one for each goal, assertion and faulting step that was found violated, and one for
    /// a deadlock.
    pub fn violations(&self) -> Vec<Result<(Violation, MessageRun), UnreadablePath>> {
        self.program.violating().map(|finding| self.read_back(finding)).collect()
    }

    fn read_back(&self, finding: &StateFinding) -> Result<(Violation, MessageRun), UnreadablePath> {
        let space = &self.program.space;
        let path = space.path(finding.state);
        let search = self.search();
        let violation = search.violation(space.state(finding.state), finding.kind);
        Ok((violation.ok_or(UnreadablePath { step: path.len() })?, search.read_back(&path)?))
    }

    /// The states in which nothing can move, if every read gives the mo-latest value. Memory holds these values.
    pub fn ends(&self) -> impl Iterator<Item = ProgramEnd> + '_ {
        self.program.ends()
    }

    /// A run to one of the [`ends`](ExploredMessages::ends).
    pub fn run_to(&self, end: &ProgramEnd) -> Result<MessageRun, UnreadablePath> {
        self.search().read_back(&self.program.space.path(end.id))
    }
}
