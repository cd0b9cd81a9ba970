//! `ravelin states`.

use crate::arguments::States;
use crate::ask::{Subject, Survey, usual_text};
use crate::exit::Exit;
use crate::expect;
use ravelin::{Budget, Command, Model};

pub fn run(arguments: &States) -> anyhow::Result<Exit> {
    let States { inputs, expect, models, search, storage, output } = arguments;
    output.refuse_sarif("states")?;
    if *expect {
        let command = Command::States { buffer: models.buffer, reductions: search.reductions() };
        let models = models.or(&Model::ALL);
        return expect::run(command, inputs, &models, &search.resources, output);
    }
    let storage = storage.open(inputs, None)?;
    let answer = |subject: &Subject| {
        let question = ravelin::states(subject.program).model(subject.model);
        let question = question.buffer(models.buffer).messages(models.messages);
        let answer = question.reductions(search.reductions()).budget(subject.budget).run()?;
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
    storage.conclude(exit);
    Ok(exit)
}
