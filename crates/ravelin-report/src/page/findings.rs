//! The sanitizer's findings: a list, and for each finding both accesses with stacks and source, and a picture of why
//! sequential consistency orders them.

use super::PageContext;
use super::answer::{lines_around, ticked};
use crate::picture::{self, Essence};
use crate::story::{Edge, Event, Graph};
use maud::{Markup, html};
use ravelin_answer::sanitizer::{
    AccessKind, Finding, Frame, PathStepKind, Problem, ProblemGroup, Standstill, WatchedAccess, WeakFailure,
};
use ravelin_answer::text::counted;
use ravelin_answer::{EdgeKind, SanitizerReport};

/// The most frames of a stack to show.
const MOST_FRAMES: usize = 12;

pub fn findings(found: &SanitizerReport, context: &PageContext) -> Markup {
    let mut shown: Vec<Markup> = Vec::new();
    let mut size = 0;
    for (number, finding) in found.findings.iter().enumerate() {
        let card = card(finding, number + 1, context);
        size += card.0.len();
        if size > context.room {
            break;
        }
        shown.push(card);
    }
    let left_away = found.findings.len() - shown.len();
    html! {
        @if found.findings.len() > 1 {
            ol.list {
                @for (number, finding) in found.findings.iter().enumerate().take(shown.len()) {
                    li {
                        a href=(format!("#finding-{}-{}", context.answer, number + 1)) { (ticked(&finding.sentence)) }
                        span.faint { " " (ticked(&finding.location.words())) ", " (whereabouts(&finding.access)) }
                    }
                }
            }
        }
        @for card in &shown { (card) }
        @if left_away > 0 { p.faint { (counted(left_away as u64, "more finding")) " did not fit into this page." } }
        @for stuck in &found.stuck { (waiting(stuck, context)) }
        @for failure in found.weak_standstills().chain(found.weak_failures()) { (weak_failure(failure, context)) }
    }
}

/// Weak runs that ended badly, with the old values in one of them.
fn weak_failure(failure: &WeakFailure, context: &PageContext) -> Markup {
    html! {
        article.finding {
            h2 { (capitalised(&failure.how)) }
            p.faint {
                "in " (counted(failure.runs as u64, "run"))
                @if let Some(schedule) = failure.first_run.as_ref().and_then(|run| run.schedule.as_ref()) { ", here with the schedule " (schedule) }
            }
            p { (capitalised(failure.explanation())) }
            div.pair {
                @for stale in &failure.stale {
                    section.access {
                        h3 { (capitalised(&stale.access.thread.words())) }
                        p { (ticked(&capitalised(&stale.sentence))) (stale.times()) }
                        (stack(&stale.access.stack, stale.access.source.as_deref(), None, context))
                        @if let Some(newer) = &stale.newer { p.faint { "The newest value was that of the " (ticked(&newer.phrase(None))) } }
                    }
                }
            }
        }
    }
}

fn card(finding: &Finding, number: usize, context: &PageContext) -> Markup {
    let drawing =
        picture::draw(&Essence::whole(&graph(finding)), &format!("hb-{}-finding-{number}", context.answer)).markup;
    html! {
        article.finding id=(format!("finding-{}-{number}", context.answer)) data-problem=(finding.problem.name()) {
            h2 { (number) ". " (ticked(&capitalised(&finding.sentence))) }
            p.faint {
                "at " (ticked(&finding.location.words())) ", seen " (times(finding.count))
                @if let Some(schedule) = finding.first_run.as_ref().and_then(|run| run.schedule.as_ref()) { ", first with the schedule " (schedule) }
                @if finding.spinning { ", in a loop that only waits" }
            }
            div.pair {
                @for (role, place) in finding.problem.roles().into_iter().zip([&finding.access, &finding.other]) {
                    @if !is_nowhere(place) { (access(role, place, context)) }
                }
            }
            @if finding.problem.group() == ProblemGroup::Misuse {
                @if !finding.path.is_empty() {
                    ul { @for step in &finding.path { li { (ticked(&capitalised(&step.sentence()))) } } }
                }
            } @else if finding.problem == Problem::DataRace && !finding.path.is_empty() {
                figure.graph {
                    figcaption { "In this run the one came after the other; C11 does not order them" }
                    div.scroll tabindex="0" role="group" aria-label="timeline" { (drawing) }
                }
            } @else if !finding.path.is_empty() {
                figure.graph {
                    figcaption { "Under sequential consistency the one comes after the other; weak memory may close the circle" }
                    div.scroll tabindex="0" role="group" aria-label="timeline" { (drawing) }
                }
            } @else {
                figure.graph {
                    figcaption { "The two threads: nothing orders these accesses" }
                    div.scroll tabindex="0" role="group" aria-label="timeline" { (drawing) }
                }
            }
            @if let Some(machines) = finding.machines {
                p { (machines.sentence()) }
            }
            @if let Some(consequence) = &finding.consequence {
                p.suggestion { b { "Consequence: " } (ticked(&consequence.sentence)) }
            }
            p.suggestion { b { "Suggestion: " } (ticked(&finding.suggestion.text)) }
        }
    }
}

/// Whether nothing is known about a call that is not the subject of the finding.
fn is_nowhere(access: &WatchedAccess) -> bool {
    !access.kind.is_of_memory() && access.stack.is_empty()
}

fn access(role: &str, access: &WatchedAccess, context: &PageContext) -> Markup {
    html! {
        section.access {
            h3 { (capitalised(role)) }
            p { (access.words_with_size()) " in " b { (access.thread.words()) } }
            (stack(&access.stack, access.source.as_deref(), access.caller.as_ref().map(|caller| caller.frame), context))
            @if !access.thread.started.is_empty() {
                details { summary { "where this thread was started" } (stack(&access.thread.started, None, None, context)) }
            }
        }
    }
}

/// Frames, innermost first; the source of the first one that has it is open, and that of the program's caller.
fn stack(frames: &[Frame], line: Option<&str>, caller: Option<usize>, context: &PageContext) -> Markup {
    let with_text = |frame: &Frame| {
        let (file, line) = (frame.file.as_ref()?, frame.line?);
        lines_around(context, file, line as usize)
    };
    let first = frames.iter().position(|frame| with_text(frame).is_some());
    html! {
        @if first.is_none() && let Some(line) = line {
            div.code.scroll { div.l.mark { code { (line.trim()) } } }
        }
        ol.stack {
            @for (number, frame) in frames.iter().take(MOST_FRAMES).enumerate() {
                li {
                    @match with_text(frame) {
                        Some(text) => details open[first == Some(number) || caller == Some(number)] { summary { (frame.words()) @if frame.inlined { span.faint { " inlined" } } } (text) },
                        None => span { (frame.words()) @if frame.inlined { span.faint { " inlined" } } },
                    }
                }
            }
            @if frames.len() > MOST_FRAMES { li.faint { "… " (frames.len() - MOST_FRAMES) " more" } }
        }
    }
}

fn waiting(stuck: &Standstill, context: &PageContext) -> Markup {
    html! {
        article.finding {
            h2 { (capitalised(stuck.words())) }
            p.faint { "in " (counted(stuck.runs as u64, "run")) }
            div.pair {
                @for blocked in &stuck.threads {
                    section.access {
                        h3 { (capitalised(&blocked.thread.words())) }
                        p { (ticked(&blocked.sentence)) }
                        (stack(&blocked.stack, None, None, context))
                    }
                }
            }
        }
    }
}

/// The accesses as an execution graph: the path that sequential consistency forces from `other` to `access`, and the
/// edge back that weak memory allows.
fn graph(finding: &Finding) -> Graph {
    let mut graph = Graph::default();
    let mut last = event(&mut graph, &finding.other, &finding.location.words());
    let other = last;
    let on_cycle = finding.problem != Problem::DataRace;
    let edge = |graph: &mut Graph, from: usize, to: usize, kind: EdgeKind| {
        if from != to {
            if on_cycle {
                graph.cycle.push(graph.edges.len());
            }
            graph.edges.push(Edge { from, to, kind, cell: None, on_cycle });
        }
    };
    for step in finding.path.iter().rev() {
        let before = event(&mut graph, &step.before, &step.location.words());
        if graph.events[last].thread == graph.events[before].thread {
            edge(&mut graph, last, before, EdgeKind::Po);
        }
        let after = event(&mut graph, &step.after, &step.location.words());
        let kind = match step.kind {
            PathStepKind::ReadsFrom => EdgeKind::Rf,
            PathStepKind::Overwrites => EdgeKind::Mo,
            PathStepKind::OverwritesRead => EdgeKind::Fr,
            PathStepKind::WhileHolding => EdgeKind::Po,
        };
        edge(&mut graph, before, after, kind);
        last = after;
    }
    let access = event(&mut graph, &finding.access, &finding.location.words());
    if !finding.path.is_empty() {
        if graph.events[last].thread == graph.events[access].thread {
            edge(&mut graph, last, access, EdgeKind::Po);
        }
        let back = match finding.problem {
            Problem::StaleRead => Some(EdgeKind::Fr),
            Problem::StaleWrite | Problem::StaleUpdate => Some(EdgeKind::Mo),
            // Nothing leads back: the two may come in any order, or at once.
            _ => None,
        };
        if let Some(back) = back {
            edge(&mut graph, access, other, back);
        }
    }
    graph.marked = vec![access, other];
    graph
}

/// The event of an access, which is added once.
fn event(graph: &mut Graph, access: &WatchedAccess, location: &str) -> usize {
    let kind = match access.kind {
        AccessKind::Load | AccessKind::PlainRead | AccessKind::Wait => "R",
        AccessKind::Store | AccessKind::PlainWrite => "W",
        AccessKind::Free => "free",
        AccessKind::Update | AccessKind::CompareExchange | AccessKind::BlockingCompareExchange => "U",
        // Findings about calls have no picture.
        _ => "call",
    };
    let event = Event {
        thread: Some(access.thread.words()),
        line: access.stack.iter().find_map(|frame| Some(frame.line? as usize)),
        text: format!("{kind} {} ({})", location.replace('`', ""), access.order.name()),
        steps: Vec::new(),
    };
    graph.events.iter().position(|other| *other == event).unwrap_or_else(|| {
        graph.events.push(event);
        graph.events.len() - 1
    })
}

/// The place of an access, in a few words.
fn whereabouts(access: &WatchedAccess) -> String {
    access.stack.first().map(Frame::words).unwrap_or_default()
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", ravelin_answer::text::grouped(count)) }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
