//! Answers in words, as `ravelin explain` prints them: the verdict, the run step by step in full sentences, the cycle
//! edge by edge and why sequential consistency forbids it, and a remedy.
//!
//! Everything is derived from a [`story`](crate::story), so a stored document is enough.

use crate::story::{Demonstration, Document, Edge, Event, Fences, Graph, RunView, State, States, Step, Story, Verdict};
use ravelin_answer::sanitizer::{Finding, Frame, PathStepKind, Problem, ProblemGroup, Standstill, WatchedAccess};
use ravelin_answer::text::{Style, counted};
use ravelin_answer::{AccessStorage, BufferEntry, CellValue, EdgeKind, FenceChange, SanitizerReport};
use std::fmt::Write;

/// The most states to list; the document has all of them.
const MOST_STATES: usize = 100;

/// All answers of a document.
pub fn explain(document: &Document, style: Style) -> String {
    if document.stories.is_empty() {
        return "The document has no answers.\n".to_owned();
    }
    let told: Vec<String> = document.stories.iter().map(|answer| story(answer, style)).collect();
    told.join("\n")
}

fn story(story: &Story, style: Style) -> String {
    let mut text = format!("{}\n", style.paint("1", &story.sentence));
    if let Some(demonstration) = &story.demonstration {
        text.push_str(&told(demonstration, style));
    }
    if let Some(found) = &story.findings {
        text.push_str(&findings(found, style));
    }
    if let Some(states) = &story.states {
        text.push_str(&listed(states, style));
    }
    if let Some(fences) = &story.fences {
        text.push_str(&repairs(fences, style));
    }
    let notes: String = story.notes.iter().map(|note| format!("  {note}\n")).collect();
    if !notes.is_empty() {
        let repaired = story.demonstration.is_some() && story.verdict == Verdict::Violated;
        text.push_str(&heading(
            if repaired { "What would repair it, and what else is known" } else { "What else is known" },
            style,
        ));
        text.push_str(&notes);
    }
    let mut text = style.fitted(text);
    // Other programs read the lines of a diff, too, so they are not wrapped.
    let diff = story.fences.as_ref().and_then(|fences| fences.diff.as_ref());
    if let Some(diff) = diff.filter(|diff| !diff.is_empty()) {
        text.push_str(&heading("The change as a diff", style));
        text.push_str(diff);
    }
    text
}

fn heading(title: &str, style: Style) -> String {
    format!("\n{}\n", style.paint("1;36", title))
}

/// A witness: what happens, the run, the cycle.
fn told(demonstration: &Demonstration, style: Style) -> String {
    let mut text = String::new();
    if !demonstration.sentence.is_empty() {
        let _ = writeln!(text, "  {}", demonstration.sentence);
    }
    if !demonstration.run.steps.is_empty() {
        let mut title = demonstration.run_title.clone();
        if let Some(first) = title.get_mut(0..1) {
            first.make_ascii_uppercase();
        }
        text.push_str(&heading(&format!("{title}, {}", counted(demonstration.run.steps.len() as u64, "step")), style));
        text.push_str(&run(&demonstration.run));
    }
    if let Some(graph) = demonstration.graph.as_ref().filter(|graph| !graph.cycle.is_empty()) {
        text.push_str(&heading("Why sequential consistency forbids it", style));
        text.push_str(&cycle(graph));
    }
    text
}

// ---- the run ----

/// The steps, one per line.
fn run(run: &RunView) -> String {
    let mut text = String::new();
    if !run.memory.is_empty() {
        let cells = run.memory.iter().map(|cell| format!("{} = {}", cell.cell, cell.shown())).collect::<Vec<_>>();
        let _ = writeln!(text, "  At the beginning memory has {}.", listing(&cells));
    }
    for (number, (step, before)) in run.steps.iter().zip(run.states()).enumerate() {
        let _ = writeln!(text, "  Step {}: {}", number + 1, sentence(run, step, &before));
    }
    text
}

/// One step in a sentence or two. `before` is the state it is taken in.
pub(crate) fn sentence(run: &RunView, step: &Step, before: &State) -> String {
    let thread = run.thread_name(step);
    let had = |cell: &str| before.memory.iter().find(|known| known.cell == cell).map(CellValue::shown);
    if step.flush {
        return match step.writes.first() {
            Some(write) => {
                let until = match had(&write.cell) {
                    Some(old) => format!(", which had {} = {old} until now", write.cell),
                    None => String::new(),
                };
                let line = step.line.map(|line| format!(" of line {line}")).unwrap_or_default();
                format!(
                    "{thread}'s store{line}, {} = {}, leaves its store buffer and reaches memory{until}.",
                    write.cell,
                    write.shown()
                )
            }
            None => format!("{thread}: {}.", step.text),
        };
    }
    let mut parts: Vec<String> = Vec::new();
    for read in &step.reads {
        let from = match read.place {
            AccessStorage::Buffer => "from its own store buffer".to_owned(),
            AccessStorage::Memory => format!("from memory{}", overtaken(run, step)),
            AccessStorage::Older => "from a write that others have overwritten".to_owned(),
        };
        parts.push(format!("reads {} = {} {from}", read.cell, read.shown()));
    }
    for write in &step.writes {
        parts.push(match write.place {
            AccessStorage::Buffer => {
                let still = had(&write.cell)
                    .map(|old| format!("; memory still has {} = {old}", write.cell))
                    .unwrap_or_default();
                format!("stores {} to {}, which waits in {thread}'s store buffer{still}", write.shown(), write.cell)
            }
            AccessStorage::Memory => format!("writes {} = {} to memory", write.cell, write.shown()),
            AccessStorage::Older => {
                format!("writes {} = {}, which comes before writes that others have made", write.cell, write.shown())
            }
        });
    }
    let registers: Vec<String> =
        step.registers.iter().map(|changed| format!("{} = {}", changed.register, changed.shown())).collect();
    let line = step.line.map(|line| format!("line {line}, ")).unwrap_or_default();
    let place = format!(" ({line}`{}`)", step.text);
    match (parts.is_empty(), registers.is_empty()) {
        (true, true) => format!(
            "{thread} takes `{}`{}.",
            step.text,
            step.line.map(|line| format!(" on line {line}")).unwrap_or_default()
        ),
        (true, false) => format!("{thread} now has {}{place}.", listing(&registers)),
        (false, true) => format!("{thread} {}{place}.", parts.join(" and ")),
        (false, false) => format!("{thread} {}{place}, so it now has {}.", parts.join(" and "), listing(&registers)),
    }
}

/// The thread's own pending stores that a read of memory overtakes.
fn overtaken(run: &RunView, step: &Step) -> String {
    let mut cells: Vec<String> = Vec::new();
    for entry in step.buffers.get(step.thread).into_iter().flatten() {
        if let BufferEntry::Store(store) = entry
            && !cells.contains(&store.cell)
        {
            cells.push(store.cell.clone());
        }
    }
    match cells.len() {
        _ if !run.buffered => String::new(),
        0 => String::new(),
        1 => format!(", although its own store to {} has not reached memory yet", cells[0]),
        _ => format!(", although its own stores to {} have not reached memory yet", listing(&cells)),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listing(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

// ---- the cycle ----

fn cycle(graph: &Graph) -> String {
    let mut text =
        String::from("  If threads took turns at one memory, the following would have to come one after the other:\n");
    for (number, edge) in graph.cycle.iter().filter_map(|&edge| graph.edges.get(edge)).enumerate() {
        let _ = writeln!(text, "  {}. {}", number + 1, because(graph, edge));
    }
    let first = graph.cycle.first().and_then(|&edge| graph.edges.get(edge)).map(|edge| edge.from);
    let first = first.and_then(|event| graph.events.get(event)).map(name).unwrap_or_default();
    let _ = writeln!(text, "  So {first} would come before itself, which no order of turns allows.");
    text
}

/// Why one event comes before the other.
fn because(graph: &Graph, edge: &Edge) -> String {
    let event = |number: usize| graph.events.get(number).map(name).unwrap_or_default();
    let (from, to) = (event(edge.from), event(edge.to));
    let why = match edge.kind {
        EdgeKind::Po => format!("{from} comes before {to}: so it is written in the program"),
        EdgeKind::Rf => format!("{from} comes before {to}, which reads what it wrote"),
        EdgeKind::Co | EdgeKind::Mo => format!("{from} comes before {to}, which overwrites it"),
        EdgeKind::Fr => format!("{from} comes before {to}: it did not see that store, but what was there before"),
    };
    format!("{why} ({}).", edge.kind.name())
}

/// `left's store x = 1 (line 17)`, `sender's relaxed store data = 1 (line 17)`, `the initial x = 0`.
fn name(event: &Event) -> String {
    let Some(thread) = &event.thread else { return format!("the initial {}", event.text) };
    let line = event.line.map(|line| format!(" (line {line})")).unwrap_or_default();
    let (what, rest) = match event.text.split_once(' ') {
        Some(("W", rest)) => ("store", rest),
        Some(("R", rest)) => ("load", rest),
        Some(("U", rest)) => ("update", rest),
        Some(("F", rest)) => ("fence", rest),
        _ => return format!("{thread}'s {}{line}", event.text),
    };
    match rest.rsplit_once('(').and_then(|(rest, order)| Some((rest.trim(), order.strip_suffix(')')?))) {
        Some(("", order)) => format!("{thread}'s {order} {what}{line}"),
        Some((rest, order)) => format!("{thread}'s {order} {what} {rest}{line}"),
        None => format!("{thread}'s {what} {rest}{line}"),
    }
}

// ---- other answers ----

fn listed(states: &States, style: Style) -> String {
    let mut text = String::new();
    for (title, states) in
        [("The states it can end in", &states.finals), ("States in which nothing can move", &states.stuck)]
    {
        if states.is_empty() {
            continue;
        }
        text.push_str(&heading(title, style));
        for (number, state) in states.iter().take(MOST_STATES).enumerate() {
            let values: Vec<String> = state.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let beyond = match state.beyond_sc {
                Some(true) => ": sequential consistency forbids this one",
                Some(false) => "",
                None => ": whether sequential consistency forbids it is not known",
            };
            let _ = writeln!(text, "  {}. {}{beyond}.", number + 1, listing(&values));
        }
        if states.len() > MOST_STATES {
            let _ = writeln!(text, "  … and {} more.", states.len() - MOST_STATES);
        }
    }
    text
}

fn on_line(change: &FenceChange) -> String {
    change.position.map(|at| format!(" on line {}", at.line)).unwrap_or_default()
}

fn repairs(fences: &Fences, style: Style) -> String {
    let mut text = String::new();
    for (number, set) in fences.sets.iter().enumerate() {
        let which = if fences.sets.len() == 1 { "What to change".to_owned() } else { format!("Set {}", number + 1) };
        text.push_str(&heading(&format!("{which}, cost {}", set.cost), style));
        for change in &set.changes {
            let joint = if change.change.is_some_and(|kind| kind.is_insertion()) { "after" } else { "at" };
            let mut done = change.words();
            if let Some(first) = done.get_mut(0..1) {
                first.make_ascii_uppercase();
            }
            let line = on_line(change);
            let _ = writeln!(text, "  {done}{line} {joint} `{}`, in {}.", change.after, listing(&change.threads));
        }
    }
    if fences.truncated {
        text.push_str("  There are more sets; these are the cheapest.\n");
    }
    for (place, cost) in &fences.places {
        let line = on_line(place);
        let _ = writeln!(text, "  {}{line}, after `{}`, at a cost of {cost}.", place.place, place.after);
    }
    for needed in &fences.needed {
        text.push_str(&heading(&format!("Without the one at {}", needed.place), style));
        match &needed.demonstration {
            Some(demonstration) => text.push_str(&told(demonstration, style)),
            None => text.push_str("  A limit was met before a run was found.\n"),
        }
    }
    text
}

fn findings(found: &SanitizerReport, style: Style) -> String {
    let mut text = String::new();
    for (number, found) in found.findings.iter().enumerate() {
        text.push_str(&heading(&format!("Finding {}: {}", number + 1, found.problem.name()), style));
        text.push_str(&finding(found));
    }
    for found in &found.stuck {
        text.push_str(&stuck(found, style));
    }
    for failure in found.weak_standstills().chain(found.weak_failures()) {
        text.push_str(&heading(
            &format!("{} in {}", capital(&failure.how), counted(failure.runs as u64, "run")),
            style,
        ));
        let _ = writeln!(text, "  {}", capital(failure.explanation()));
        for stale in &failure.stale {
            let _ = writeln!(text, "  {}{}.", capital(&stale.sentence), stale.times());
        }
    }
    text
}

fn finding(found: &Finding) -> String {
    let times = if found.count == 1 { "once".to_owned() } else { format!("{} times", found.count) };
    let mut text = format!("  {}, seen {times}.\n", capital(&found.sentence));
    if found.problem.group() == ProblemGroup::Misuse {
        return text + &misuse(found);
    }
    let race = found.problem == Problem::DataRace;
    let roles = if race { ["One access", "The other"] } else { ["The write", "The access that may miss it"] };
    for (role, access) in roles.into_iter().zip([&found.other, &found.access]) {
        let _ = writeln!(text, "  {role}: {}.", accessed(access));
    }
    if found.path.is_empty() && !race {
        text.push_str("  Under sequential consistency the first comes before the second.\n");
    }
    // The document has the last step first.
    for step in found.path.iter().rev() {
        let did = match step.kind {
            PathStepKind::ReadsFrom => "read what was written by",
            PathStepKind::Overwrites => "overwrote what was written by",
            PathStepKind::OverwritesRead => "overwrote what had been read by",
            PathStepKind::WhileHolding => "came while its thread held it, after",
        };
        let _ = writeln!(
            text,
            "  Between them: {}, of {}, {did} {}.",
            accessed(&step.after),
            step.location.words(),
            accessed(&step.before)
        );
    }
    if !found.path.is_empty() && race {
        text.push_str("  So the one came after the other in this run; C11 does not order them.\n");
    } else if !found.path.is_empty() {
        text.push_str("  So sequential consistency puts the write before the access; C11 does not.\n");
    }
    let _ = writeln!(text, "  What would repair it: {}.", found.suggestion.text.trim_end_matches('.'));
    text
}

/// An object of the C library that was used wrongly: both places, and the locks of a circle.
fn misuse(found: &Finding) -> String {
    let mut text = String::new();
    for (role, access) in found.problem.roles().into_iter().zip([&found.access, &found.other]) {
        if !access.stack.is_empty() {
            let _ = writeln!(text, "  {}: {}.", capital(role), accessed(access));
        }
    }
    for step in &found.path {
        let _ = writeln!(text, "  {}.", capital(&step.sentence()));
    }
    let _ = writeln!(text, "  What would repair it: {}.", found.suggestion.text.trim_end_matches('.'));
    text
}

fn stuck(found: &Standstill, style: Style) -> String {
    let mut text = heading(&format!("{} in {}", capital(found.words()), counted(found.runs as u64, "run")), style);
    for blocked in &found.threads {
        let at = blocked.stack.first().map(|frame| format!(" ({})", frame.words())).unwrap_or_default();
        let _ = writeln!(text, "  {}{at}.", capital(&blocked.sentence));
    }
    text
}

/// `a release store, 4 bytes, by thread 1, in send at mp.c:8`.
fn accessed(access: &WatchedAccess) -> String {
    let place = access.stack.first().map(Frame::words).map(|place| format!(", in {place}")).unwrap_or_default();
    let told = access.words_with_size();
    let article = if told.starts_with(['a', 'u']) { "an" } else { "a" };
    format!("{article} {told}, by {}{place}", access.thread.words())
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
