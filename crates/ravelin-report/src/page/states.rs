//! Final states as a table, and a run to each that sequential consistency forbids.

use super::PageContext;
use super::witness::witness;
use crate::story::{EndStateView, States, Story};
use maud::{Markup, html};

/// The most rows of a table; JSON has all of them.
const MOST_ROWS: usize = 200;

pub fn states(states: &States, story: &Story, context: &PageContext) -> Markup {
    let runs = runs(states, story, context);
    let shown = runs.len();
    let all = reached(states).count();
    html! {
        section { h2 { "Final states" } (table(&states.finals, 0, shown, context)) }
        @if !states.stuck.is_empty() {
            section { h2 { "States in which nothing can move" } (table(&states.stuck, reached_of(&states.finals), shown, context)) }
        }
        @for run in runs { (run) }
        @if shown < all { p.faint { "… and " (all - shown) " more runs, which did not fit into this page." } }
    }
}

/// The id of the run to a state, by its number among those that have one.
pub fn run_id(answer: usize, number: usize) -> String {
    format!("answer-{answer}-run-{number}")
}

fn reached(states: &States) -> impl Iterator<Item = &EndStateView> {
    states.finals.iter().chain(&states.stuck).filter(|state| state.run.is_some())
}

fn reached_of(states: &[EndStateView]) -> usize {
    states.iter().filter(|state| state.run.is_some()).count()
}

/// As many as there is room for.
fn runs(states: &States, story: &Story, context: &PageContext) -> Vec<Markup> {
    let mut runs = Vec::new();
    let mut size = 0;
    for (number, state) in reached(states).enumerate() {
        let Some(demonstration) = &state.run else { continue };
        let id = format!("{}-{}", context.answer, number + 1);
        let run = html! {
            details.plain.end-run id=(run_id(context.answer, number)) {
                summary { "A run to " code { (state.words()) } ", which sc forbids" }
                (witness(demonstration, &story.file, context, &id, false))
            }
        };
        size += run.0.len();
        if size > context.room / 2 {
            break;
        }
        runs.push(run);
    }
    runs
}

/// `before` runs belong to states of other tables, and `shown` runs are in the page.
fn table(states: &[EndStateView], before: usize, shown: usize, context: &PageContext) -> Markup {
    let names = names(states);
    let mut runs = before..;
    let numbered = states.iter().take(MOST_ROWS).map(|state| (state, state.run.as_ref().and_then(|_| runs.next())));
    let numbered: Vec<(&EndStateView, Option<usize>)> = numbered.collect();
    html! {
        div.scroll tabindex="0" role="group" aria-label="states" {
            table.plain.values {
                thead { tr { @for name in &names { th scope="col" { (name) } } th scope="col" { "under sc" } } }
                tbody {
                    @for (state, run) in numbered {
                        tr class=[(state.beyond_sc == Some(true)).then_some("beyond")] {
                            @for name in &names { td.number { (value(state, name)) } }
                            td {
                                @match state.beyond_sc {
                                    Some(true) => b { "not possible" },
                                    Some(false) => "possible",
                                    None => span.faint { "not known" },
                                }
                                @if let Some(run) = run.filter(|run| *run < shown) {
                                    " " a.to-run href=(format!("#{}", run_id(context.answer, run))) { "show a run" }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if states.len() > MOST_ROWS { p.faint { "… and " (states.len() - MOST_ROWS) " more." } }
    }
}

/// The names of all values, each once.
fn names(states: &[EndStateView]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in states.iter().flat_map(|state| &state.values) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn value(state: &EndStateView, name: &str) -> String {
    let found = state.values.iter().find(|(other, _)| other == name);
    found.map(|(_, value)| value.to_string()).unwrap_or_default()
}
