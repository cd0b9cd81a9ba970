//! `ravelin states`.

use crate::arguments::{Format, States};
use crate::ask::{Subject, Survey, usual_text};
use crate::exit::Exit;
use crate::expect;
use ravelin::answer::FinalStates;
use ravelin::answer::text::{Style, state_models};
use ravelin::{Answer, Budget, Command, Model};
use ravelin_output::stdout;
use std::cell::RefCell;

pub fn run(arguments: &States) -> anyhow::Result<Exit> {
    let States { inputs, expect, models, search, storage, output } = arguments;
    output.refuse_sarif("states")?;
    if *expect {
        let command = Command::States { buffer: models.buffer, reductions: search.reductions() };
        let models = models.or(&Model::ALL);
        return expect::run(command, inputs, &models, &search.resources, output);
    }
    let storage = storage.open(inputs, None)?;
    let kept: RefCell<Vec<FinalStates>> = RefCell::default();
    let answer = |subject: &Subject| {
        let question = ravelin::states(subject.program).model(subject.model);
        let question = question.buffer(models.buffer).messages(models.messages);
        let answer = question.reductions(search.reductions()).budget(subject.budget).run()?;
        if let (Answer::FinalStates(states), Format::Text) = (&answer, output.format) {
            kept.borrow_mut().push((**states).clone());
        }
        Ok((Exit::of(&answer), answer))
    };
    let survey = Survey {
        command: "states",
        inputs,
        models: &|_| models.or(&[Model::Tso]),
        output,
        budget: Budget { storage: storage.storage(), ..search.resources.budget() },
        answer: &answer,
        text: &|answer, style| usual_text(answer, output, style),
    };
    let exit = survey.run()?;
    stdout().text(&tables(&kept.borrow(), output.style()))?;
    storage.conclude(exit);
    Ok(exit)
}

/// For each file that was asked about under several models: which of them allow a state.
fn tables(answers: &[FinalStates], style: Style) -> String {
    let mut text = String::new();
    for of_file in answers.chunk_by(|one, other| one.file == other.file).filter(|of_file| of_file.len() > 1) {
        text.push_str(&state_models(&of_file.iter().collect::<Vec<_>>(), style));
    }
    text
}
