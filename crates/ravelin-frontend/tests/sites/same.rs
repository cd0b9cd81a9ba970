//! Whether two programs are the same but for the numbers of their locations: walked together, transition by transition.
//!
//! The first is a program with changes made by `repaired`, the second the changed text as it was read. Three differences are none: a
//! fence before a thread's first step, a step that does nothing where a fence was taken away, and a locked store instead of an exchange.

use ravelin_frontend::sites::{SiteRequest, Sites, sites};
use ravelin_frontend::{Language, parse, render};
use ravelin_program::{
    Change, Expr, FenceStrength, Instruction, LocId, Observable, Order, Program, RmwOp, Source, Thread, Transition,
    repaired,
};
use ravelin_testing::Random;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// Checks some random choices of sites, none of them and all of them.
pub fn check(name: &str, text: &str, language: Language, request: &SiteRequest, rounds: u64) -> Sites {
    let found = sites(&Source::new(name, text), language, request).unwrap_or_else(|error| panic!("{name}: {error}"));
    let names: HashSet<&str> = found.sites.iter().map(|site| site.name.as_str()).collect();
    assert_eq!(names.len(), found.sites.len(), "{name}: two sites have one name");
    for site in &found.sites {
        assert!(!site.edges.is_empty() && site.edges.is_sorted(), "{name}: {}", site.name);
    }
    let kinds = [FenceStrength::Full, FenceStrength::AcqRel, FenceStrength::StoreStore, FenceStrength::Acquire];
    let strongest =
        |number: usize| kinds.into_iter().find(|&kind| found.can_have(number, kind)).map(|kind| (number, kind));
    check_choice(name, language, request, &found, &(0..found.sites.len()).filter_map(strongest).collect::<Vec<_>>());
    check_choice(name, language, request, &found, &[]);
    let mut random = Random::new(text.len() as u64);
    for _ in 0..rounds {
        let mut chosen = Vec::new();
        for number in 0..found.sites.len() {
            let kind = random.pick(&kinds);
            let choice = match found.can_have(number, kind) && random.once_in(2) {
                true => Some((number, kind)),
                false => strongest(number),
            };
            if random.once_in(4) {
                chosen.extend(choice);
            }
        }
        check_choice(name, language, request, &found, &chosen);
    }
    found
}

fn check_choice(
    name: &str,
    language: Language,
    request: &SiteRequest,
    found: &Sites,
    chosen: &[(usize, FenceStrength)],
) {
    let text = found.text(chosen).unwrap_or_else(|error| panic!("{name}: {error}"));
    let names: Vec<&str> = chosen.iter().map(|(number, _)| found.sites[*number].name.as_str()).collect();
    let parsed = parse(Source::new(name, text.clone()), language);
    let Some(mut actual) = parsed.program else {
        panic!("{name} {names:?}\n{text}\n{}", render(&parsed.diagnostics, &parsed.source, false))
    };
    if let Some(copies) = request.copies
        && actual.is_parameterised()
    {
        actual = actual.instance(copies);
    }
    let base = request.lower.lowered(&found.program, &found.sites);
    let expected = repaired(&base, &found.sites, chosen);
    let removed = found
        .sites
        .iter()
        .enumerate()
        .filter(|(number, site)| site.change == Change::Keep && !chosen.iter().any(|(of, _)| of == number));
    let removed = removed.flat_map(|(_, site)| site.edges.iter().map(|edge| (edge.thread.0, edge.transition.0)));
    if let Err(difference) = same(&expected, &actual, &removed.collect()) {
        panic!("{name} {names:?}: {difference}\n{text}");
    }
}

/// `removed`: transitions of the expected program that do nothing in place of a fence.
fn same(expected: &Program, actual: &Program, removed: &HashSet<(usize, usize)>) -> Result<(), String> {
    if expected.threads.len() != actual.threads.len()
        || expected.memory.variables.len() != actual.memory.variables.len()
    {
        return Err("threads or variables".to_owned());
    }
    let mut places = Vec::new();
    for (number, (old, new)) in expected.threads.iter().zip(&actual.threads).enumerate() {
        let names = |thread: &Thread| thread.registers.iter().map(|register| register.name.clone()).collect::<Vec<_>>();
        if old.name != new.name || names(old) != names(new) {
            return Err(format!("the thread {} or its registers", old.name));
        }
        let ways = |of: &Thread, location: LocId| -> Vec<(usize, Transition)> {
            let all = of.transitions.iter().cloned().enumerate();
            all.filter(|(_, transition)| transition.from == location).collect()
        };
        places.push(
            try_walk(old, new, &ways, &|id| removed.contains(&(number, id)))
                .map_err(|at| format!("{}: {at}", old.name))?,
        );
    }
    let goals = |program: &Program| program.goals.clone();
    for (mut old, new) in goals(expected).into_iter().zip(goals(actual)) {
        old.condition = old.condition.map_atoms(&mut |atom| {
            Expr::Atom(match atom {
                Observable::At(thread, at) => Observable::At(*thread, places[thread.0].get(at).copied().unwrap_or(*at)),
                other => other.clone(),
            })
        });
        if old.condition != new.condition || old.kind != new.kind {
            return Err(format!("goals: {:?} and {:?}", old.condition, new.condition));
        }
    }
    if expected.goals.len() != actual.goals.len() { Err("the number of goals".to_owned()) } else { Ok(()) }
}

type Ways<'a> = &'a dyn Fn(&Thread, LocId) -> Vec<(usize, Transition)>;

/// A step that does nothing may be one of the text's own or what is left of a fence: all readings are tried.
fn try_walk(
    old: &Thread,
    new: &Thread,
    ways: Ways<'_>,
    removed: &dyn Fn(usize) -> bool,
) -> Result<HashMap<LocId, LocId>, String> {
    let mut first = None;
    let mut open = vec![BTreeSet::new()];
    let mut tried = HashSet::new();
    while let Some(gone) = open.pop() {
        if !tried.insert(gone.clone()) || tried.len() > 200 {
            continue;
        }
        let mut doubtful = Vec::new();
        match walk(old, new, ways, removed, &gone, &mut doubtful) {
            Ok(pairs) => return Ok(pairs),
            Err(error) => _ = first.get_or_insert(error),
        }
        open.extend(doubtful.into_iter().map(|id| gone.iter().copied().chain([id]).collect()));
    }
    Err(first.unwrap_or_default())
}

/// `gone`: steps without a trace in the text. `doubtful` gets those that were taken for a step of the text.
fn walk(
    old: &Thread,
    new: &Thread,
    ways: Ways<'_>,
    removed: &dyn Fn(usize) -> bool,
    gone: &BTreeSet<usize>,
    doubtful: &mut Vec<usize>,
) -> Result<HashMap<LocId, LocId>, String> {
    // What the text does before the first step, and the program need not.
    let (here, there) = (leading(old, ways, removed), leading(new, ways, &|_| false));
    let start = there[there.len().saturating_sub(here.len())];
    let mut pairs: HashMap<LocId, LocId> = HashMap::from([(old.initial, start)]);
    let mut queue = VecDeque::from([(old.initial, start)]);
    while let Some((before, after)) = queue.pop_front() {
        let mut open: VecDeque<(usize, Transition)> = ways(old, before).into();
        let mut alone = open.len() == 1;
        let mut arrive = |from: LocId, to: LocId| match pairs.insert(from, to) {
            None => {
                queue.push_back((from, to));
                Ok(())
            }
            Some(known) if known == to => Ok(()),
            Some(known) => Err(format!("location {} is both {} and {}", from.0, known.0, to.0)),
        };
        for (_, way) in ways(new, after) {
            loop {
                let Some((id, next)) = open.pop_front() else {
                    return Err(format!("{:?} is too much", way.instruction));
                };
                if removed(id) && way.instruction == Instruction::Nop && !gone.contains(&id) {
                    doubtful.push(id);
                } else if removed(id) {
                    // Behind a choice what is left of the fence has no place of its own.
                    if alone {
                        arrive(next.to, after)?;
                    }
                    let inner = ways(old, next.to);
                    alone &= inner.len() == 1;
                    inner.into_iter().rev().for_each(|way| open.push_front(way));
                    continue;
                }
                if unlocked(&next.instruction) != unlocked(&way.instruction) {
                    return Err(format!("{:?} became {:?}", next.instruction, way.instruction));
                }
                arrive(next.to, way.to)?;
                break;
            }
        }
        // Fences taken away at the end of the thread.
        while let Some((id, next)) = open.pop_front() {
            if !removed(id) {
                return Err(format!("{:?} is missing", next.instruction));
            }
            arrive(next.to, after)?;
            open.extend(ways(old, next.to));
        }
    }
    let mut labels: HashMap<LocId, BTreeSet<&str>> = HashMap::new();
    for (before, after) in &pairs {
        let names = old.locations[before.0].labels.iter().map(String::as_str);
        labels.entry(*after).or_default().extend(names);
    }
    let known: HashSet<&str> = old.locations.iter().flat_map(|location| &location.labels).map(String::as_str).collect();
    for (location, labels) in labels {
        let names: BTreeSet<&str> = new.locations[location.0].labels.iter().map(String::as_str).collect();
        // States that Trencher needs for fences have names.
        let names: BTreeSet<&str> =
            names.into_iter().filter(|name| known.contains(name) || !name.contains("_fence")).collect();
        if names != labels {
            return Err(format!("labels {labels:?} became {names:?}"));
        }
    }
    Ok(pairs)
}

/// The locations before each fence at the start of a thread, and the first one before something else.
fn leading(thread: &Thread, ways: Ways<'_>, removed: &dyn Fn(usize) -> bool) -> Vec<LocId> {
    let (mut at, mut fences) = (thread.initial, Vec::new());
    for _ in 0..=thread.locations.len() {
        match ways(thread, at).as_slice() {
            [(id, only)] if removed(*id) => at = only.to,
            [(_, only)] if matches!(only.instruction, Instruction::Fence(_)) => {
                fences.push(at);
                at = only.to;
            }
            _ => break,
        }
    }
    fences.push(at);
    fences
}

/// Both ways to lock a store, and with them the store that has become one.
fn unlocked(instruction: &Instruction) -> Instruction {
    match instruction {
        Instruction::Locked { body, drains: true } => match body.as_slice() {
            [Instruction::Store { address, value, .. }] => Instruction::Rmw {
                arithmetic: ravelin_program::Arithmetic::Checked,
                op: RmwOp::Exchange,
                address: address.clone(),
                operand: value.clone(),
                order: Order::SeqCst,
                old: None,
            },
            _ => instruction.clone(),
        },
        _ => instruction.clone(),
    }
}
