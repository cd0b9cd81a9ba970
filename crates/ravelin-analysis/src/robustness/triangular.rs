//! The question: is a program free of triangular races? If so it is robust against TSO; if not, it may be robust all the same.

use super::check::RobustnessQuestion;
use crate::witness::{RunGraph, initial, narrate, start_of};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_answer::{InitialState, RunStep, SourcePlace};
use ravelin_explore::{Limit, Options, Statistics, Until};
use ravelin_machine::BuildError;
use ravelin_machine::attack::{TriangularRace, TriangularSearch, triangular_races};
use ravelin_program::{Copies, Instruction, Model, Program};
use ravelin_semantics::Action;
use ravelin_semantics::operational::Reference;
use ravelin_semantics::trace::Trace;

/// The answer.
#[derive(Clone, Debug)]
pub struct RaceFreedom {
    pub verdict: Verdict,
    pub race: Option<RaceWitness>,
    /// Freedom from these races implies robustness. Not where blocks of several accesses are executed as one: such a block may
    /// look at the first store before it comes to its own, and do something else under TSO than under SC.
    pub implies_robust: bool,
    pub limit: Option<Limit>,
    pub statistics: Statistics,
}

/// An SC run that ends in a triangular race, replayed.
#[derive(Clone, Debug)]
pub struct RaceWitness {
    pub initial: InitialState,
    pub steps: Vec<RunStep>,
    /// What happened before what, unless the run is too long to be drawn.
    pub graph: Option<RunGraph>,
    /// The thread that stores and then loads, and the one that stores to what was loaded.
    pub thread: String,
    pub racing_thread: String,
    pub store: SourcePlace,
    pub load: SourcePlace,
    pub racing_store: SourcePlace,
    /// The cells: x of the store, y of the load and of the racing store.
    pub stored: String,
    pub loaded: String,
    /// The run itself, and where in it the store and the load are.
    pub actions: Vec<Action>,
    pub from: usize,
    pub to: usize,
}

/// Asks whether some SC run of a program has a triangular race.
pub fn race_freedom(program: &Program, question: &RobustnessQuestion) -> Result<RaceFreedom, AnalysisError> {
    if question.model.is_c11() {
        return Err(BuildError::NotHardware(question.model).into());
    }
    if let Some(thread) = program.threads.iter().find(|thread| thread.copies == Copies::Any) {
        return Err(BuildError::AnyNumberOfCopies(thread.name.clone()).into());
    }
    let options = Options { budget: question.budget, until: Until::Exhausted };
    let found = match triangular_races(program, &options).map_err(AnalysisError::from) {
        Err(AnalysisError::Limit(limit)) => {
            TriangularSearch { race: None, limit: Some(limit), statistics: Statistics::default() }
        }
        found => found?,
    };
    let race = found.race.map(|race| replay(program, &race)).transpose()?;
    let verdict = match (&race, found.limit) {
        (Some(_), _) => Verdict::Violated,
        (None, None) => Verdict::Holds,
        (None, Some(_)) => Verdict::Unknown,
    };
    let limit = found.limit.map(|limit| question.budget.limits.as_given(limit));
    Ok(RaceFreedom {
        verdict,
        limit: limit.filter(|_| race.is_none()),
        implies_robust: !has_blocks(program),
        race,
        statistics: found.statistics,
    })
}

/// Something is executed as one that accesses several cells, or one of them several times in its own way.
fn has_blocks(program: &Program) -> bool {
    let mut instructions = program.threads.iter().flat_map(|thread| &thread.transitions).map(|t| &t.instruction);
    instructions.any(|instruction| match instruction {
        Instruction::BusLock => true,
        Instruction::Locked { .. } => instruction.accesses().len() > 1,
        _ => false,
    })
}

/// Replays the run and checks on its events that it is a race.
fn replay(program: &Program, race: &TriangularRace) -> Result<RaceWitness, InternalError> {
    let internal = |what: String| InternalError(format!("a triangular race does not hold: {what}"));
    let reference = Reference::new(program, Model::Sc, None).map_err(|error| internal(error.to_string()))?;
    let start = start_of(&reference, &race.run.start).map_err(internal)?;
    let mut state = start.clone();
    let mut steps = Vec::new();
    for (number, &action) in race.run.actions.iter().enumerate() {
        let refused = |refusal| internal(format!("step {}: {refusal}", number + 1));
        let next = reference.apply(&state, action).map_err(refused)?;
        steps.push(narrate(&reference, &state, action, &next));
        state = next;
    }
    let trace = Trace::of(&reference, &start, &race.run.actions).map_err(|error| internal(error.to_string()))?;
    let accesses = |at: usize| {
        let events = trace.events.iter();
        let in_event = |event: &ravelin_semantics::trace::TraceEvent| -> Vec<_> {
            let these = event.accesses.iter().filter(|access| event.steps[access.step].at == at);
            these.copied().collect()
        };
        events.flat_map(in_event).collect::<Vec<_>>()
    };
    let stored = accesses(race.store).iter().find_map(|access| access.write.map(|_| access.address));
    let loaded = accesses(race.load).iter().find_map(|access| {
        let overwritten = accesses(race.racing_store).iter().any(|w| w.write.is_some() && w.address == access.address);
        access.read.filter(|_| overwritten && Some(access.address) != stored).map(|_| access.address)
    });
    let (Some(stored), Some(loaded)) = (stored, loaded) else {
        return Err(internal("its accesses do not form a triangle".to_owned()));
    };
    let lowered = reference.program();
    let transition = |at: usize| match race.run.actions[at] {
        Action::Step { thread, transition, .. } => Some((thread, transition)),
        Action::Flush { .. } => None,
    };
    let place = |at: usize| {
        let (thread, transition) = transition(at).ok_or_else(|| internal("a step is none".to_owned()))?;
        let thread = &lowered.threads[thread.0];
        let transition = &thread.transitions[transition.0];
        Ok::<_, InternalError>((
            thread.name.clone(),
            SourcePlace {
                text: lowered.tell_transition(thread, transition),
                position: lowered.source.position(transition.span),
            },
        ))
    };
    let between = race.store + 1..race.load;
    let (thread, store) = place(race.store)?;
    let fenced = between.into_iter().filter_map(transition).any(|(by, transition)| {
        let code = &lowered.threads[by.0];
        code.name == thread && super::ends_attack(&code.transitions[transition.0].instruction)
    });
    if fenced {
        return Err(internal("a fence stands between the store and the load".to_owned()));
    }
    let (_, load) = place(race.load)?;
    let (racing_thread, racing_store) = place(race.racing_store)?;
    let name = |address| lowered.memory.name_of(address);
    Ok(RaceWitness {
        initial: initial(&reference, &start, &steps),
        graph: RunGraph::of(&reference, &start, &race.run.actions),
        steps,
        thread,
        racing_thread,
        store,
        load,
        racing_store,
        stored: name(stored),
        loaded: name(loaded),
        actions: race.run.actions.clone(),
        from: race.store,
        to: race.load,
    })
}
