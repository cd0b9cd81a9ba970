//! Several models side by side: what each allows. Of `states` it is a table of states and models, with a link to a run
//! behind every state that sequential consistency forbids; of other questions a table of files and models.

use super::states::run_id;
use super::{MOST_CELLS, sign};
use crate::story::{EndStateView, Story};
use maud::{Markup, html};
use ravelin_program::Model;

/// None unless there are several models, and one answer for each of them at most.
pub fn models(stories: &[Story]) -> Option<Markup> {
    let mut models: Vec<Model> = Vec::new();
    for story in stories {
        let model = story.model?;
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let mut files: Vec<&str> = Vec::new();
    for (number, story) in stories.iter().enumerate() {
        let is_same = |other: &&Story| other.file == story.file && other.model == story.model;
        if stories[..number].iter().any(|other| is_same(&other)) {
            return None;
        }
        if !files.contains(&story.file.as_str()) {
            files.push(&story.file);
        }
    }
    if models.len() < 2 || files.len() * models.len() > MOST_CELLS {
        return None;
    }
    Some(html! {
        nav.models aria-label="answers" {
            @if stories.iter().all(|story| story.states.is_some()) {
                @for file in files {
                    @let of_file = answers(stories, &models, file);
                    (states(file, &models, &of_file))
                }
            } @else {
                (verdicts(stories, &files, &models))
            }
        }
    })
}

/// By model: the number of the answer, and the answer.
type OfFile<'a> = Vec<Option<(usize, &'a Story)>>;

fn answers<'a>(stories: &'a [Story], models: &[Model], file: &str) -> OfFile<'a> {
    let find = |model: &Model| {
        let place = stories.iter().position(|story| story.file == file && story.model == Some(*model))?;
        Some((place + 1, &stories[place]))
    };
    models.iter().map(find).collect()
}

fn verdicts(stories: &[Story], files: &[&str], models: &[Model]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="models side by side" {
            table.plain.models {
                thead { tr { th scope="col" { "program" } @for model in models { th scope="col" { (model.name()) } } } }
                tbody {
                    @for file in files {
                        tr {
                            th scope="row" { (file) }
                            @for found in answers(stories, models, file) {
                                td {
                                    @if let Some((number, story)) = found {
                                        a class=(format!("badge {}", story.verdict.name())) href=(format!("#answer-{number}")) {
                                            (sign(story.verdict)) (story.of_model())
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// States and models.
fn states(file: &str, models: &[Model], answers: &OfFile) -> Markup {
    let mut all: Vec<&EndStateView> = Vec::new();
    for state in answers.iter().flatten().filter_map(|(_, story)| story.states.as_ref()).flat_map(|found| &found.finals)
    {
        match all.iter_mut().find(|other| other.values == state.values) {
            // Sequential consistency allows it, or forbids it; one answer may know that and another not.
            Some(other) if other.beyond_sc.is_none() => *other = state,
            Some(_) => {}
            None => all.push(state),
        }
    }
    all.sort_by(|one, other| one.values.cmp(&other.values));
    let cut = all.len().saturating_sub(MOST_CELLS);
    all.truncate(MOST_CELLS);
    html! {
        h2 { "What " (file) " can end in" }
        div.scroll tabindex="0" role="group" aria-label="states and models" {
            table.plain.models.matrix {
                thead { tr { th scope="col" { "final state" } @for model in models { th scope="col" { (model.name()) } } } }
                tbody {
                    @for state in &all {
                        tr class=[(state.beyond_sc == Some(true)).then_some("beyond")] {
                            th scope="row" { code { (state.words()) } @if state.beyond_sc == Some(true) { " " span.faint { "sc forbids it" } } }
                            @for found in answers { td { (allowed(state, found)) } }
                        }
                    }
                }
            }
        }
        @if cut > 0 { p.faint { "… and " (cut) " more states, which the answers below list." } }
    }
}

/// Whether an answer has a state, with a link to a run to it.
fn allowed(state: &EndStateView, found: &Option<(usize, &Story)>) -> Markup {
    let Some((number, story)) = found else { return html! {} };
    let Some(states) = &story.states else { return html! {} };
    let mut run = 0;
    for other in &states.finals {
        if other.values == state.values {
            return match &other.run {
                Some(_) => html! { "✓ " a.to-run href=(format!("#{}", run_id(*number, run))) { "allowed" } },
                None => html! { "✓ allowed" },
            };
        }
        run += usize::from(other.run.is_some());
    }
    match states.complete {
        true => html! { span.faint { "forbidden" } },
        false => html! { span.faint { "not found" } },
    }
}
