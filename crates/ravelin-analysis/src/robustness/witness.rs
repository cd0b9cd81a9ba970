//! From the run that a search found to a witness: the computation under the weak model, replayed, with its parts, its events and its
//! happens-before cycle.
//!
//! Nothing of what the search claims is taken on trust: the computation is replayed on the reference semantics, conditions W1
//! to W5 of the paper (figure 4) are checked on the replayed events, and the cycle is found in the trace that
//! [`ravelin_semantics::trace`] builds from them.

use super::attack::Attack;
use crate::InternalError;
use crate::witness::{Computation, RunGraph, initial, kind, narrate, start_of};
use ravelin_answer::{CycleEvent, InitialState, RunStep, SourcePlace, WitnessPart};
use ravelin_machine::UnpackedState;
use ravelin_machine::attack::{AttackRun, WitnessPart as Found};
use ravelin_program::{Model, Position, Program, ThreadId, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{Reference, State};
use ravelin_semantics::trace::{CycleStep, Trace, TraceEvent, ValueSource};

/// A computation that no SC computation has the trace of.
#[derive(Clone, Debug)]
pub struct AttackWitness {
    pub attack: Attack,
    pub model: Model,
    pub attacker: String,
    /// Threads that are on the happens-before path, in the order in which they join it.
    pub helpers: Vec<String>,
    /// The threads that delay stores past later accesses, where none is known that does harm alone; otherwise empty.
    pub together: Vec<String>,
    /// The delayed store, and what overtook it.
    pub store: SourcePlace,
    pub load: SourcePlace,
    pub initial: InitialState,
    pub steps: Vec<RunStep>,
    /// What happened before what. Its cycle is the one below.
    pub graph: RunGraph,
    pub cycle: Vec<CycleEvent>,
    /// What happens, in one sentence.
    pub sentence: String,
    /// The computation itself.
    pub computation: Computation,
}

/// Builds a witness, or says what is wrong with the run.
pub(crate) fn build(
    program: &Program,
    model: Model,
    attack: Attack,
    run: &AttackRun,
) -> Result<AttackWitness, InternalError> {
    let internal = |what: String| InternalError(format!("a witness against {model} does not hold: {what}"));
    let reference = Reference::new(program, model, None).map_err(|error| internal(error.to_string()))?;
    let start = start_of(&reference, &run.start).map_err(internal)?;
    let mut replay =
        Replay { reference: &reference, state: start.clone(), computation: Computation::default(), steps: Vec::new() };
    let mut delayed: Vec<Value> = Vec::new();
    for step in &run.steps {
        let part = match step.part {
            Found::Prefix => WitnessPart::Before,
            Found::Store => WitnessPart::Issue,
            Found::Delaying => WitnessPart::Delaying,
            Found::Load => WitnessPart::Load,
            Found::Path => WitnessPart::Path,
        };
        let issued = replay.take(part, step.action).map_err(internal)?;
        match issued {
            Some(address) if step.delayed => delayed.push(address),
            Some(address) => {
                replay.take(part, Action::Flush { thread: step.action.thread(), address }).map_err(internal)?;
            }
            None => {}
        }
        // W1: only the attacker delays stores.
        let others_wait = |(number, thread): (usize, &ravelin_semantics::operational::ThreadState)| {
            number != attack.thread.0 && !thread.buffer.is_empty()
        };
        if replay.state.threads.iter().enumerate().any(others_wait) {
            return Err(internal("a helper delays a store (W1)".to_owned()));
        }
    }
    // W4: then the delayed stores reach memory, the attacked one first, and nothing else happens.
    for (number, &address) in delayed.iter().enumerate() {
        let part = if number == 0 { WitnessPart::Store } else { WitnessPart::Rest };
        replay.take(part, Action::Flush { thread: attack.thread, address }).map_err(internal)?;
    }
    let Replay { computation, steps, .. } = replay;
    let actions = &computation.actions;
    let trace = Trace::of(&reference, &start, actions).map_err(|error| internal(error.to_string()))?;
    if !trace.is_computation() {
        return Err(internal("stores are pending at its end".to_owned()));
    }
    check_shape(attack, &steps, actions, &trace).map_err(internal)?;
    let cycle = trace.cycle().ok_or_else(|| internal("its trace has no cycle".to_owned()))?;
    Ok(tell(&reference, &start, attack, CyclicRun { computation, steps, trace, cycle }))
}

/// The witness of a computation in which threads delay stores as they like. The attack is a store and an access on the cycle, of one
/// of these threads, where the store reaches memory after the access.
pub(super) fn several(
    program: &Program,
    model: Model,
    start: &UnpackedState,
    actions: &[Action],
) -> Result<AttackWitness, InternalError> {
    let internal = |what: String| InternalError(format!("a computation under {model} does not hold: {what}"));
    let reference = Reference::new(program, model, None).map_err(|error| internal(error.to_string()))?;
    let start = start_of(&reference, start).map_err(internal)?;
    let trace = Trace::of(&reference, &start, actions).map_err(|error| internal(error.to_string()))?;
    if !trace.is_computation() {
        return Err(internal("stores are pending at its end".to_owned()));
    }
    let cycle = trace.cycle().ok_or_else(|| internal("its trace has no cycle".to_owned()))?;
    let delay = delays(&trace, &cycle).next();
    let (store, access) = delay.ok_or_else(|| internal("no access on its cycle overtakes a store".to_owned()))?;
    let event = |event: usize| &trace.events[event];
    let (Some(issue), Some(load)) = (event(store).steps.first(), event(access).steps.first()) else {
        return Err(internal("an event has no step".to_owned()));
    };
    let attack = Attack { thread: event(store).thread, store: issue.transition, load: load.transition };
    let (stored, seen) = (visible(event(store)), visible(event(access)));
    let part = |at: usize| match at {
        at if at == issue.at => WitnessPart::Issue,
        at if at == load.at || at == seen => WitnessPart::Load,
        at if at == stored => WitnessPart::Store,
        at if at < issue.at => WitnessPart::Before,
        at if at < seen => WitnessPart::Delaying,
        at if at < stored => WitnessPart::Path,
        _ => WitnessPart::Rest,
    };
    let mut replay =
        Replay { reference: &reference, state: start.clone(), computation: Computation::default(), steps: Vec::new() };
    for (at, &action) in actions.iter().enumerate() {
        replay.take(part(at), action).map_err(internal)?;
    }
    let Replay { computation, steps, .. } = replay;
    let delays_store = |events: &&Vec<usize>| {
        let mut pairs = events.windows(2);
        pairs.any(|pair| visible(event(pair[0])) > visible(event(pair[1])))
    };
    let threads = trace.program_order.iter().zip(&reference.program().threads);
    let together = threads.filter(|(events, _)| delays_store(events)).map(|(_, thread)| thread.name.clone()).collect();
    Ok(AttackWitness { together, ..tell(&reference, &start, attack, CyclicRun { computation, steps, trace, cycle }) })
}

/// The stores on a cycle that reach memory after the access of their thread that follows on it, and these accesses.
fn delays(trace: &Trace, cycle: &[CycleStep]) -> impl Iterator<Item = (usize, usize)> {
    let next = cycle.iter().cycle().skip(1);
    cycle.iter().zip(next).map(|(step, next)| (step.event, next.event)).filter(|&(store, access)| {
        let (first, second) = (&trace.events[store], &trace.events[access]);
        first.thread == second.thread && store < access && visible(first) > visible(second)
    })
}

/// When others notice an event: the last of its steps that reaches memory, or the step of a load.
fn visible(event: &TraceEvent) -> usize {
    let reached = event.accesses.iter().filter_map(|access| access.write?.reached);
    reached.max().or(event.steps.last().map(|step| step.at)).unwrap_or_default()
}

/// A computation, replayed, its trace and the cycle in it.
struct CyclicRun {
    computation: Computation,
    steps: Vec<RunStep>,
    trace: Trace,
    cycle: Vec<CycleStep>,
}

/// The witness of a computation.
fn tell(reference: &Reference, start: &State, attack: Attack, run: CyclicRun) -> AttackWitness {
    let CyclicRun { computation, steps, trace, cycle } = run;
    let lowered = reference.program();
    let tell = Tell { program: lowered, trace: &trace };
    let graph = RunGraph::of_trace(lowered, &trace, &cycle);
    let events: Vec<usize> = cycle.iter().map(|step| step.event).collect();
    let cycle = cycle
        .iter()
        .map(|step| CycleEvent {
            event: step.event,
            thread: tell.thread(step.event),
            position: tell.position(step.event),
            text: tell.event(step.event),
            edge: kind(step.edge),
            cell: step.address.map(|address| lowered.memory.name_of(address)),
        })
        .collect();
    let thread = &lowered.threads[attack.thread.0];
    let place = |transition: usize| SourcePlace {
        text: lowered.tell_transition(thread, &thread.transitions[transition]),
        position: lowered.source.position(thread.transitions[transition].span),
    };
    let mut helpers: Vec<String> = Vec::new();
    for step in steps.iter().filter(|step| step.part == Some(WitnessPart::Path)) {
        if step.thread != thread.name && !helpers.contains(&step.thread) {
            helpers.push(step.thread.clone());
        }
    }
    AttackWitness {
        attack,
        model: reference.model(),
        attacker: thread.name.clone(),
        helpers,
        together: Vec::new(),
        store: place(attack.store.0),
        load: place(attack.load.0),
        sentence: tell.sentence(attack, &events),
        initial: initial(reference, start, &steps),
        steps,
        graph,
        cycle,
        computation,
    }
}

/// A run as it is replayed.
struct Replay<'a> {
    reference: &'a Reference,
    state: State,
    computation: Computation,
    steps: Vec<RunStep>,
}

impl Replay<'_> {
    /// Does an action. If it issued a store that is pending now, its address.
    fn take(&mut self, part: WitnessPart, action: Action) -> Result<Option<Value>, String> {
        let refused = |refusal| format!("step {}: {refusal}", self.computation.actions.len() + 1);
        let next = self.reference.apply(&self.state, action).map_err(refused)?;
        self.steps.push(RunStep { part: Some(part), ..narrate(self.reference, &self.state, action, &next) });
        self.computation.push(action, &self.state, &next);
        let issued = self.computation.issued.last().copied().flatten();
        self.state = next;
        Ok(issued)
    }
}

/// W2, W3 and W5, on the replayed events.
fn check_shape(attack: Attack, steps: &[RunStep], actions: &[Action], trace: &Trace) -> Result<(), String> {
    let at = |part: WitnessPart| {
        steps.iter().position(|step| step.part == Some(part)).ok_or(format!("it has no {}", part.name()))
    };
    let (issue, load, store) = (at(WitnessPart::Issue)?, at(WitnessPart::Load)?, at(WitnessPart::Store)?);
    let is = |index: usize, transition: ravelin_program::TransitionId| matches!(actions[index], Action::Step { thread, transition: t, .. } if thread == attack.thread && t == transition);
    if !is(issue, attack.store) || !is(load, attack.load) {
        return Err("it is not a witness of this attack (W2)".to_owned());
    }
    // Under PSO what overtakes may be a store, whose flush is part of it.
    let last =
        if steps.get(load + 1).is_some_and(|step| step.part == Some(WitnessPart::Load)) { load + 1 } else { load };
    if actions[last + 1..store].iter().any(|action| action.thread() == attack.thread) {
        return Err("the attacker continues after its load (W2)".to_owned());
    }
    let event_at = |index: usize| trace.events.iter().position(|event| event.steps.iter().any(|step| step.at == index));
    let (Some(load_event), Some(store_event)) = (event_at(load), event_at(issue)) else {
        return Err("the attacked instructions have no event".to_owned());
    };
    let early = |access: &ravelin_semantics::trace::EventAccess| match access.read.map(|read| read.source) {
        Some(ValueSource::Event(source)) => {
            trace.events[source].thread == attack.thread
                && trace.events[source].accesses.iter().any(|write| {
                    write.address == access.address
                        && write.write.is_some_and(|write| write.reached.is_none_or(|reached| reached > load))
                })
        }
        _ => false,
    };
    if trace.events[load_event].accesses.iter().all(early) {
        return Err("the load reads a delayed store early (W5)".to_owned());
    }
    let after = reached_from(trace, load_event);
    for (number, event) in trace.events.iter().enumerate() {
        let in_path = event.steps.iter().any(|step| step.at > last && step.at < store);
        if in_path && !after[number] {
            return Err("an action of τ3 is not after the load (W3)".to_owned());
        }
    }
    if !after[store_event] {
        return Err("no path leads from the load to the store".to_owned());
    }
    Ok(())
}

/// The events that are happens-before-after one.
fn reached_from(trace: &Trace, start: usize) -> Vec<bool> {
    let edges = trace.edges();
    let mut reached = vec![false; trace.events.len()];
    let mut waiting = vec![start];
    while let Some(event) = waiting.pop() {
        for edge in edges.iter().filter(|edge| edge.from == event) {
            if !reached[edge.to] {
                reached[edge.to] = true;
                waiting.push(edge.to);
            }
        }
    }
    reached
}

/// Events in words.
struct Tell<'a> {
    program: &'a Program,
    trace: &'a Trace,
}

impl Tell<'_> {
    fn of(&self, event: usize) -> &TraceEvent {
        &self.trace.events[event]
    }

    fn thread(&self, event: usize) -> String {
        self.program.threads[self.of(event).thread.0].name.clone()
    }

    fn position(&self, event: usize) -> Option<Position> {
        let first = self.of(event).steps.first()?;
        let thread = &self.program.threads[self.of(event).thread.0];
        self.program.source.position(thread.transitions[first.transition.0].span)
    }

    /// `stores x = 1`, `loads y = 0`, `loads x = 0 and stores x = 1`.
    fn event(&self, event: usize) -> String {
        let mut parts = Vec::new();
        for access in &self.of(event).accesses {
            let cell = self.program.memory.name_of(access.address);
            parts.extend(access.read.map(|read| format!("loads {cell} = {}", read.value)));
            parts.extend(access.write.map(|write| format!("stores {cell} = {}", write.value)));
        }
        parts.join(" and ")
    }

    fn line(&self, event: usize) -> String {
        self.position(event).map(|position| format!(" on line {}", position.line)).unwrap_or_default()
    }

    /// "p[0] reads `y` on line 9 before its store to `x` on line 8 reaches memory, while …".
    fn sentence(&self, attack: Attack, cycle: &[usize]) -> String {
        let transition = |event: usize, wanted: ravelin_program::TransitionId| {
            let event = self.of(event);
            event.thread == attack.thread && event.steps.iter().any(|step| step.transition == wanted)
        };
        let find = |wanted| cycle.iter().position(|&event| transition(event, wanted));
        let (Some(store), Some(load)) = (find(attack.store), find(attack.load)) else {
            return "The events of the cycle below cannot be put in any order.".to_owned();
        };
        let (store_event, load_event) = (cycle[store], cycle[load]);
        let accessed = |event: usize, reads: bool| {
            let accesses = self.of(event).accesses.iter();
            let mut cells: Vec<String> = Vec::new();
            for access in accesses.filter(|access| if reads { access.read.is_some() } else { access.write.is_some() }) {
                let cell = format!("`{}`", self.program.memory.name_of(access.address));
                if !cells.contains(&cell) {
                    cells.push(cell);
                }
            }
            cells.join(" and ")
        };
        let reads = self.of(load_event).accesses.iter().any(|access| access.read.is_some());
        let overtakes = if reads {
            format!("reads {}{}", accessed(load_event, true), self.line(load_event))
        } else {
            format!("makes its store to {}{} visible", accessed(load_event, false), self.line(load_event))
        };
        let mut sentence = format!(
            "{} {overtakes} before its store to {}{} reaches memory",
            self.thread(load_event),
            accessed(store_event, false),
            self.line(store_event)
        );
        // Along the cycle from the load back to the store.
        let path: Vec<usize> = (1..cycle.len())
            .map(|step| cycle[(load + step) % cycle.len()])
            .take_while(|&event| event != store_event)
            .collect();
        let mut last_thread: Option<ThreadId> = None;
        for (number, &event) in path.iter().enumerate() {
            let joint = match (number, last_thread == Some(self.of(event).thread)) {
                (0, _) => ", while ",
                (_, true) => " and then ",
                (_, false) => ", ",
            };
            sentence.push_str(joint);
            if last_thread != Some(self.of(event).thread) {
                sentence.push_str(&self.thread(event));
                sentence.push(' ');
            }
            last_thread = Some(self.of(event).thread);
            let mut parts = Vec::new();
            let (read, written) = (accessed(event, true), accessed(event, false));
            if !read.is_empty() {
                parts.push(format!("reads {read}"));
            }
            if !written.is_empty() {
                parts.push(format!("stores to {written}"));
            }
            sentence.push_str(&parts.join(" and "));
            sentence.push_str(&self.line(event));
        }
        if path.last().is_some_and(|&event| self.of(event).accesses.iter().any(|access| access.read.is_some())) {
            sentence.push_str(", not seeing that store");
        }
        sentence.push('.');
        sentence
    }
}
