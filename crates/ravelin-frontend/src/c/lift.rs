//! A whole program: `main` is executed up to where threads matter, the threads are specialised, and what they need of
//! memory becomes the memory of the model.
//!
//! `main` is executed past the starts of threads as long as what it does concerns only itself. Whether that is so is known
//! once the threads are: if one of them may access what `main` accessed after the start, the program is lifted again,
//! and `main` is executed only up to that access.

use super::LiftOptions;
use super::access::scalar_domain;
use super::choices::narrow;
use super::constructors::construct;
use super::facts::Footprint;
use super::finals::take_final_checks;
use super::memory::{Contents, PrivateMemory};
use super::objects::{LARGEST, Object, ObjectId, ObjectKey};
use super::places::Places;
use super::residual::Residual;
use super::specialise::{Interrupt, Refusal, Specialiser, Start, StartAccess, Step};
use super::state::State;
use super::threads::NEVER;
use super::value::Datum;
use super::world::{FIRST_GATED, World};
use crate::Language;
use crate::ir::module::{Constant, Global, Module, Type};
use ravelin_program::{
    Address, Copies, Expr, InitialValue, Instruction, Memory, Observable, Order, Program, Source, Span, Thread,
    ThreadId, Transition, Unnamed, Value, VarId, Variable, WaitCondition,
};
use std::collections::{BTreeMap, HashMap};

/// Times that a program is lifted again because an assumption was wrong.
const MOST_ATTEMPTS: usize = 400;
/// Addresses between objects that pointers lead to and the others.
const GAP: Value = 64;

/// A thread that is done.
struct LiftedThread {
    number: usize,
    function: usize,
    residual: Residual,
    span: Span,
    footprint: Footprint,
}

/// Lifts a module.
pub(super) fn lift(
    module: &Module,
    source: &Source,
    language: Language,
    options: &LiftOptions,
) -> Result<Program, Box<Refusal>> {
    let mut world = World::new(module, options, Places::new(source, language));
    for _ in 0..MOST_ATTEMPTS {
        let before = world.facts.growth();
        let attempt = attempt(&mut world);
        let grown = world.facts.growth() != before;
        match attempt {
            // What was refused may not be there once more is known.
            Err(_) | Ok(_) if grown => {}
            Ok(threads) => return assemble(&world, threads, source),
            Err(Interrupt::Refused(refusal)) => return Err(refusal),
            Err(Interrupt::Again | Interrupt::NeedsModel) => {
                return Err(refusal("the program cannot be lifted: the threads contradict one another"));
            }
        }
    }
    Err(refusal("the program is too involved: what its threads share does not become clear"))
}

fn refusal(message: &str) -> Box<Refusal> {
    Box::new(Refusal { span: Span::NOWHERE, message: message.to_owned(), help: None })
}

fn attempt(world: &mut World<'_>) -> Step<Vec<LiftedThread>> {
    world.reached.iter_mut().for_each(|reached| *reached = false);
    let (starts, rest, log) = prepare(world)?;
    let mut threads = Vec::new();
    let mut refused = None;
    let mut keep = |lifted: Step<LiftedThread>| match lifted {
        Ok(thread) => {
            threads.push(thread);
            Ok(())
        }
        // What the other threads write may show that it does not come to that.
        Err(Interrupt::Refused(refusal)) => {
            refused.get_or_insert(refusal);
            Ok(())
        }
        Err(interrupt) => Err(interrupt),
    };
    if let Some(mut state) = rest {
        let facts = &world.facts;
        state.memory.retain(|object, _| !facts.is_shared(*object));
        let function = state.frames[0].function;
        keep(specialise(world, 0, function, state, None, Span::NOWHERE))?;
    }
    for (index, start) in starts.iter().enumerate() {
        keep(thread(world, index + 1, start))?;
    }
    let mut done = Vec::new();
    while let Some(next) = (0..world.gates.len()).find(|index| world.reached[*index] && !done.contains(index)) {
        done.push(next);
        let start = world.gates[next].clone();
        keep(thread(world, FIRST_GATED + next, &start))?;
    }
    if let Some(refusal) = refused {
        return Err(Interrupt::Refused(refusal));
    }
    for access in &log {
        let concerned = threads.iter().any(|thread| {
            let footprint = &thread.footprint;
            let running = (1..=access.started).contains(&world.root(thread.number));
            let by_name = footprint.conflicts(access.object, access.offset, access.size, access.writes);
            let anywhere = footprint.anywhere && world.facts.has_escaped(access.object);
            running && (by_name || anywhere)
        });
        if concerned {
            world.facts.stop_at(access.step);
            return Err(Interrupt::Again);
        }
    }
    close(world);
    Ok(threads)
}

/// Executes `main`, or the function that prepares: the threads that were started, what is left to do, and what was
/// accessed between the starts.
fn prepare(world: &mut World<'_>) -> Step<(Vec<Start>, Option<State>, Vec<StartAccess>)> {
    let module = world.module;
    let until = world.facts.stop();
    let options = world.options;
    let named = |name: &str| {
        let found = module.function(name).filter(|index| !module.functions[*index].is_declaration());
        found.ok_or_else(|| Interrupt::Refused(refusal(&missing(module, name))))
    };
    let entries = options.entry.iter().map(|name| named(name)).collect::<Step<Vec<usize>>>()?;
    let first = match (&options.init, entries.is_empty()) {
        (Some(init), _) => Some(named(init)?),
        (None, true) => Some(named("main")?),
        (None, false) => None,
    };
    let mut specialiser = Specialiser::new(world, 0, None);
    let memory = globals(&mut specialiser)?;
    let memory = construct(&mut specialiser, memory)?;
    let (mut starts, mut rest, mut log) = (Vec::new(), None, Vec::new());
    match first {
        None => specialiser.world.initial = memory,
        Some(function) => {
            let path = specialiser.world.paths.call(usize::MAX, 0, 0, function);
            let mut state = State::start(function, path);
            for parameter in &module.functions[function].parameters {
                // `argc` is 0 and `argv` null.
                state.frame_mut().values.insert(parameter.local, Datum::Int(0));
            }
            state.memory = memory;
            specialiser.begin_thread(&mut state)?;
            let ended = match specialiser.execute(&mut state, until) {
                Ok(ended) => ended,
                Err(Interrupt::NeedsModel) if entries.is_empty() => {
                    let step = specialiser.steps - 1;
                    specialiser.world.facts.stop_at(step);
                    return Err(Interrupt::Again);
                }
                Err(Interrupt::NeedsModel) => {
                    let message = "the function that prepares waits for other threads, or chooses";
                    return Err(specialiser.refuse(message.to_owned()));
                }
                Err(interrupt) => return Err(interrupt),
            };
            specialiser.world.initial = state.memory.clone();
            starts = std::mem::take(&mut specialiser.starts);
            log = std::mem::take(&mut specialiser.log);
            specialiser.world.main_returned = ended;
            rest = (!ended).then_some(state);
        }
    }
    for function in entries {
        starts.push(Start { function, argument: Datum::Int(0), destroys: None, gate: None, span: Span::NOWHERE });
    }
    Ok((starts, rest, log))
}

fn missing(module: &Module, name: &str) -> String {
    let defined = module.functions.iter().filter(|function| !function.is_declaration());
    let names: Vec<&str> = defined.map(|function| function.name.as_str()).take(20).collect();
    match (name, names.is_empty()) {
        (_, true) => "the file defines no function".to_owned(),
        ("main", _) => {
            format!("there is no `main`; name the functions that run in parallel with --entry, of {}", names.join(", "))
        }
        _ => format!("there is no function `{name}`, only {}", names.join(", ")),
    }
}

/// What global variables hold at the start.
fn globals(specialiser: &mut Specialiser<'_, '_>) -> Step<PrivateMemory> {
    let module = specialiser.world.module;
    let mut memory = PrivateMemory::new();
    for (index, global) in module.globals.iter().enumerate() {
        if global.thread_local || module.size_of(&global.ty).is_none_or(|size| size > LARGEST) {
            continue;
        }
        let object = specialiser.world.global_object(index);
        let contents = initial_contents(specialiser, global)?;
        memory.insert(object, contents);
    }
    Ok(memory)
}

/// What a global variable holds at the start.
pub(super) fn initial_contents(specialiser: &mut Specialiser<'_, '_>, global: &Global) -> Step<Contents> {
    // Threads run; the C library has this variable.
    let is_zero = global.initial.is_some() || global.name == "__libc_single_threaded";
    let mut contents = Contents::new(is_zero);
    if let Some(initial) = &global.initial
        && *initial != Constant::Zero
    {
        let datum = specialiser.constant(initial, &global.ty)?;
        place(specialiser, &mut contents, 0, &global.ty, &datum)?;
    }
    Ok(contents)
}

/// Writes an initial value, part by part.
fn place(specialiser: &Specialiser<'_, '_>, contents: &mut Contents, at: u64, ty: &Type, datum: &Datum) -> Step<()> {
    let module = specialiser.world.module;
    match datum {
        Datum::Parts(parts) => {
            for (index, part) in parts.iter().enumerate() {
                let element = match ty {
                    Type::Array(_, element) | Type::Vector(_, element) => {
                        module.size_of(element).map(|size| (index as u64 * size, element.as_ref()))
                    }
                    ty => module.field(ty, index),
                };
                if let Some((offset, field)) = element {
                    place(specialiser, contents, at + offset, field, part)?;
                }
            }
            Ok(())
        }
        // All other bytes are 0 already.
        Datum::Int(0) | Datum::Undefined => Ok(()),
        datum => {
            let Some(size) = module.size_of(ty).and_then(|size| u32::try_from(size).ok()) else { return Ok(()) };
            contents
                .write(at, size, datum.clone())
                .map_err(|_| specialiser.refuse("an initial value whose parts overlap".to_owned()))
        }
    }
}

fn thread(world: &mut World<'_>, number: usize, start: &Start) -> Step<LiftedThread> {
    let path = world.paths.call(usize::MAX, number as u32, 0, start.function);
    let mut state = State::start(start.function, path);
    for (index, parameter) in world.module.functions[start.function].parameters.iter().enumerate() {
        let datum = if index == 0 { start.argument.clone() } else { Datum::Undefined };
        state.frame_mut().values.insert(parameter.local, datum);
    }
    state.destroys = start.destroys.map(|function| (function, start.argument.clone()));
    if let Datum::Computed(_) = start.argument {
        let message = "the argument of a thread is computed from what other threads write";
        return Err(Interrupt::Refused(Box::new(Refusal {
            span: start.span,
            message: message.to_owned(),
            help: None,
        })));
    }
    specialise(world, number, start.function, state, start.gate.map(|_| number), start.span)
}

fn specialise(
    world: &mut World<'_>,
    number: usize,
    function: usize,
    state: State,
    gate: Option<usize>,
    span: Span,
) -> Step<LiftedThread> {
    let residual = Residual::new();
    let mut at = residual.start;
    let mut specialiser = Specialiser::new(world, number, Some(residual));
    specialiser.span = span;
    // A thread of C++ begins in the library.
    if specialiser.world.places.defines(specialiser.world.module, function) {
        specialiser.named_after = Some(function);
    }
    let mut state = state;
    if number != 0 {
        specialiser.begin_thread(&mut state)?;
    }
    if specialiser.world.facts.exits() {
        let address = specialiser.made_for_model(ObjectKey::Exited, false)?;
        specialiser.model()?.exited.push(address);
    }
    if specialiser.world.facts.is_detached(number) && specialiser.world.options.entry.is_empty() {
        let address = specialiser.made_for_model(ObjectKey::Returned, false)?;
        specialiser.model()?.exited.push(address);
    }
    if let Some(number) = gate {
        let address = specialiser.made_for_model(ObjectKey::Started(number), false)?;
        let condition = WaitCondition::equals(Expr::Const(1));
        if !specialiser.world.facts.always_starts(number) {
            let condition = WaitCondition::equals(Expr::Const(NEVER));
            let never = Instruction::Wait { address: address.clone(), condition, order: Order::Relaxed, old: None };
            let model = specialiser.model()?;
            let end = model.end;
            model.emit_to(at, never, end, span);
        }
        let wait = Instruction::Wait { address, condition, order: Order::Acquire, old: None };
        at = specialiser.model()?.emit(at, wait, span);
    }
    specialiser.run(state, at)?;
    let Specialiser { residual, footprint, named_after, .. } = specialiser;
    match residual {
        Some(residual) => {
            let function = named_after.unwrap_or(function);
            Ok(LiftedThread { number, function, residual, span, footprint })
        }
        None => Err(Interrupt::NeedsModel),
    }
}

/// Pointers that shared memory holds at the start are values of the model, too.
fn close(world: &mut World<'_>) {
    let (mut found, mut functions) = (Vec::new(), Vec::new());
    for object in world.facts.shared() {
        let Some(contents) = world.initial.get(&object) else { continue };
        for (offset, size, datum) in contents.entries() {
            match datum {
                Datum::Pointer(target, at) => found.push((*target, *at)),
                // What no thread writes is read as the function itself, where it is known what is read.
                Datum::Function(function)
                    if world.facts.has_escaped(object) || world.constant_scalar(object, offset, size).is_none() =>
                {
                    functions.push(*function);
                }
                _ => {}
            }
        }
    }
    for (target, offset) in found {
        world.escape(target, offset);
    }
    for function in functions {
        world.escape_function(function);
    }
}

fn assemble(world: &World<'_>, lifted: Vec<LiftedThread>, source: &Source) -> Result<Program, Box<Refusal>> {
    let numbers: Vec<usize> = lifted.iter().map(|thread| thread.number).filter(|number| *number != 0).collect();
    let mut threads = automata(world, lifted);
    let mut goals = Vec::new();
    let all_ended = world.objects.find(&ObjectKey::Ended(numbers));
    let mut gone = None;
    if let Some(object) = all_ended
        && let Some(id) = threads.iter().position(|(number, _)| *number == 0)
        && let at = world.objects.address(object, 0)
        && let Some(checks) = take_final_checks(ThreadId(id), &threads[id].1, at)
    {
        goals = checks.goals;
        gone = Some(object);
        let main = &mut threads[id].1;
        main.transitions.retain(|transition| transition.from != checks.ends_at);
        let reached = reachable(main);
        main.transitions.retain(|transition| reached[transition.from.0]);
        for (_, thread) in &mut threads {
            leave_out(thread, at);
        }
        // What follows is gone, and a `main` that did nothing else is gone as a whole.
        if threads[id].1.initial == checks.ends_at {
            threads.remove(id);
        }
    }
    let (variables, moved) = variables(world, gone);
    let mut program = Program {
        name: source.name.clone(),
        memory: Memory { variables, unnamed: Unnamed::Nothing },
        threads: Vec::new(),
        goals,
        observation: None,
        source: source.clone(),
    };
    for goal in &mut program.goals {
        goal.condition = goal.condition.map_atoms(&mut |atom| {
            Expr::Atom(match atom {
                Observable::Memory(at) => Observable::Memory(moved.get(at).copied().unwrap_or(*at)),
                atom => atom.clone(),
            })
        });
    }
    for (_, mut thread) in threads {
        for transition in &mut thread.transitions {
            for address in transition.instruction.addresses_mut() {
                name_address(&program.memory, &moved, address);
            }
        }
        narrow(&mut thread).map_err(|span| {
            Box::new(Refusal {
                span,
                message: "any of so many values is too much for a model".to_owned(),
                help: Some("say with `__VERIFIER_assume` which of them are meant".to_owned()),
            })
        })?;
        program.threads.push(thread);
    }
    Ok(program)
}

/// Takes away the steps that access a cell, which are the only ones where they begin.
fn leave_out(thread: &mut Thread, cell: Value) {
    let is_access = |transition: &Transition| {
        transition.instruction.accesses().iter().any(|access| access.address.constant() == Some(cell))
    };
    while let Some(index) = thread.transitions.iter().position(is_access) {
        let Transition { from, to, .. } = thread.transitions.remove(index);
        for transition in thread.transitions.iter_mut().filter(|transition| transition.to == from) {
            transition.to = to;
        }
        if thread.initial == from {
            thread.initial = to;
        }
    }
}

/// Which locations a thread can come to.
fn reachable(thread: &Thread) -> Vec<bool> {
    let mut seen = vec![false; thread.locations.len()];
    let mut open = vec![thread.initial];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut seen[at.0], true) {
            open.extend(thread.outgoing(at).map(|(_, transition)| transition.to));
        }
    }
    seen
}

/// The memory of the model, and the addresses of cells that have other ones than in the threads.
fn variables(world: &World<'_>, gone: Option<ObjectId>) -> (Vec<Variable>, HashMap<Value, Value>) {
    let mut taken = HashMap::new();
    let mut variables: Vec<Variable> = Vec::new();
    // What no pointer leads to needs no address of its own choice, and comes behind what has one.
    let mut free = Vec::new();
    for object in world.facts.shared().filter(|object| Some(*object) != gone) {
        let cells = cells(world, object, &mut taken);
        if world.facts.has_escaped(object) { variables.extend(cells) } else { free.extend(cells) }
    }
    variables.sort_by_key(|variable| variable.base);
    let mut moved = HashMap::new();
    let last = variables.last().map_or(1, |last| last.base + GAP);
    // Functions have addresses, and nothing is there.
    let functions = world.objects.all().filter(|(_, object)| matches!(object.key, ObjectKey::Function(_)));
    let first = functions.map(|(_, object)| object.address + GAP).fold(last, Value::max);
    for (base, variable) in (first..).zip(free) {
        moved.insert(variable.base, base);
        variables.push(Variable { base, ..variable });
    }
    (variables, moved)
}

/// The threads with their numbers, as automata over addresses as they are during specialisation.
fn automata(world: &World<'_>, mut lifted: Vec<LiftedThread>) -> Vec<(usize, Thread)> {
    // `main` is last: the others are what the program is about.
    lifted.sort_by_key(|thread| if thread.number == 0 { usize::MAX } else { thread.number });
    // Different functions can have the same name in C++.
    let name_of = |function: usize| {
        let own = &world.module.functions[function];
        match own.debug.and_then(|node| world.module.debug.function_name(node)).unwrap_or(&own.name) {
            "operator()" => "lambda".to_owned(),
            name => name.to_owned(),
        }
    };
    let mut copies: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for thread in &lifted {
        copies.entry(name_of(thread.function)).or_default().push(thread.number);
    }
    let thread = |LiftedThread { number, function, residual, span, .. }: LiftedThread| {
        let name = name_of(function);
        let all = &copies[&name];
        let index = all.iter().position(|copy| *copy == number).unwrap_or(0);
        let (name, template) =
            if all.len() > 1 { (format!("{name}[{index}]"), Some((name, index as Value))) } else { (name, None) };
        let Residual { flow, registers, start, end, .. } = residual;
        let automaton = flow.finish(start, end, Span::NOWHERE);
        let thread = Thread {
            name,
            template,
            copies: Copies::One,
            registers,
            locations: automaton.locations,
            transitions: automaton.transitions,
            initial: automaton.initial,
            calls: Vec::new(),
            span,
        };
        (number, thread)
    };
    lifted.into_iter().map(thread).collect()
}

/// Says which variable an access is to, if that is known.
fn name_address(memory: &Memory, moved: &HashMap<Value, Value>, address: &mut Address) {
    let Expr::Const(at) = address.expr else { return };
    let at = moved.get(&at).copied().unwrap_or(at);
    address.expr = Expr::Const(at);
    let index = memory.variables.partition_point(|variable| variable.base <= at);
    address.within = index.checked_sub(1).filter(|index| memory.variables[*index].contains(at)).map(VarId);
}

/// The cells of an object in the memory of the model.
fn cells(world: &World<'_>, id: ObjectId, taken: &mut HashMap<String, usize>) -> Vec<Variable> {
    let object = world.objects.get(id);
    let all = world.cells(id);
    let whole = all.len() == 1 && all.keys().next() == Some(&0);
    all.into_iter()
        .map(|(offset, size)| {
            let name = name_of(world, object, id, offset, whole);
            let count = taken.entry(name.clone()).or_insert(0);
            *count += 1;
            let name = if *count > 1 { format!("{name}.{count}") } else { name };
            let initial = world.initial.get(&id).map(|contents| contents.read(offset, size));
            let value = match initial {
                Some(Ok(Datum::Int(value))) => value,
                Some(Ok(Datum::Pointer(target, at))) => world.objects.address(target, at),
                Some(Ok(Datum::Function(function))) => {
                    let known = world.objects.find(&ObjectKey::Function(function));
                    known.map_or(0, |object| world.objects.address(object, 0))
                }
                _ => match object.key {
                    ObjectKey::Held(_) => 1,
                    ObjectKey::Returned => world.main_returned.into(),
                    _ => 0,
                },
            };
            Variable {
                base: object.address + offset as Value,
                domain: scalar_domain(size),
                initial: vec![InitialValue::Value(value)],
                ..Variable::scalar(name)
            }
        })
        .collect()
}

fn name_of(world: &World<'_>, object: &Object, id: ObjectId, offset: u64, whole: bool) -> String {
    match object.key {
        ObjectKey::Heap { .. } => return block_name(world, object, id, offset, whole),
        ObjectKey::Freed(block) => return format!("{}.freed", whole_block_name(world, block)),
        ObjectKey::Held(block) => return format!("{}.held", whole_block_name(world, block)),
        _ => {}
    }
    if whole && object.debug.is_none() {
        return object.name.clone();
    }
    world.scalar_name(id, offset)
}

/// The name of a block of the heap: that of its type, and its number.
fn whole_block_name(world: &World<'_>, id: ObjectId) -> String {
    let blocks = world.objects.all().take_while(|(other, _)| *other != id);
    let number = blocks.filter(|(_, other)| matches!(other.key, ObjectKey::Heap { .. })).count();
    format!("{}{number}", type_name(world, world.objects.get(id)).unwrap_or("heap"))
}

fn type_name<'m>(world: &World<'m>, object: &Object) -> Option<&'m str> {
    let module = world.module;
    let ty = match &object.ty {
        Some(Type::Named(index)) => module.structs.get(*index),
        _ => None,
    };
    ty.map(|named| named.name.trim_start_matches("struct.").trim_start_matches("class."))
}

/// The name of a part of a block of the heap: the name of its type, the number of the block, and the part of the type.
fn block_name(world: &World<'_>, object: &Object, id: ObjectId, offset: u64, whole: bool) -> String {
    let module = world.module;
    let ty_name = type_name(world, object);
    let name = whole_block_name(world, id);
    let size = object.ty.as_ref().and_then(|ty| module.size_of(ty)).filter(|size| *size > 0).unwrap_or(object.size);
    let element = if object.size > size { format!("[{}]", offset / size) } else { String::new() };
    let path = ty_name.and_then(|name| module.debug.type_named(name));
    match path.and_then(|node| module.debug.path_name(node, offset % size)) {
        Some(path) => format!("{name}{element}{path}"),
        None if whole => name,
        None => format!("{name}+{offset}"),
    }
}
