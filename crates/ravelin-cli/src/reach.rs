//! `ravelin reach`.

use crate::arguments::{Format, Reach};
use crate::ask::{Subject, Survey, is_first, usual_text};
use crate::exit::Exit;
use crate::{cluster, expect, files};
use anyhow::bail;
use ravelin::answer::NoAnswer;
use ravelin::answer::text::Overview;
use ravelin::{Answer, Budget, Command, Error, Model, Program, ReachEngine, Storage, Verdict};
use ravelin_output::stdout;
use std::cell::RefCell;

pub fn run(arguments: &Reach) -> anyhow::Result<Exit> {
    let Reach { inputs, expect, models, engine, no_deadlocks, certify, search, storage, cluster, output } = arguments;
    let engine = engine_for(*engine, storage.option().or(cluster.option()))?;
    output.refuse_herd()?;
    if *expect {
        let command = Command::Reach { engine, buffer: models.buffer, reductions: search.reductions() };
        let models = models.or(&Model::ALL);
        return expect::run(command, inputs, &models, &search.resources, output);
    }
    // Proofs, and engines without a bound, are about hardware.
    let hardware = certify.is_some() || !matches!(engine, ReachEngine::Auto | ReachEngine::Bounded);
    let usual = |program: &Program| if hardware { vec![Model::Tso] } else { program.models() };
    if certify.is_some() && (inputs.files.len() != 1 || models.models.len() > 1) {
        bail!("--certify writes a proof about one program under one model: name one file, and one model");
    }
    let opened = storage.open(inputs, cluster.number()?)?;
    let links = cluster.connect(inputs)?;
    let share_from = arguments.cluster.share_from;
    let storage = Storage { peers: links.as_deref(), share_from, ..opened.storage() };
    let overview = RefCell::new(Overview::default());
    let answer = |subject: &Subject| {
        let question = ravelin::reach(subject.program)
            .model(subject.model)
            .engine(engine)
            .buffer(models.buffer)
            .messages(models.messages)
            .reductions(search.reductions())
            .deadlocks(!no_deadlocks)
            .budget(subject.budget);
        let answer = match question.run() {
            // The model was not asked for by name, and the program has no meaning in it.
            Err(Error::NotApplicable(message)) if models.models.is_empty() => {
                let answer = NoAnswer::not_applicable(subject.program.name(), subject.model, message);
                let answer = Answer::None(answer);
                overview.borrow_mut().add(&answer);
                return Ok((Exit::of(&answer), answer));
            }
            answer => answer?,
        };
        if let Some(path) = certify
            && answer.verdict() == Some(Verdict::Holds)
        {
            files::write_certificate(path, question.certificate()?)?;
        }
        overview.borrow_mut().add(&answer);
        Ok((Exit::of(&answer), answer))
    };
    let survey = Survey {
        command: "reach",
        inputs,
        models: &|program| models.or(&usual(program)),
        output,
        budget: Budget { storage, ..cluster.budget(&search.resources) },
        answer: &answer,
        text: &|answer, style| usual_text(answer, output, style),
    };
    let exit = survey.run()?;
    if output.format == Format::Text && is_first(storage) {
        stdout().text(&overview.borrow().text())?;
    }
    opened.conclude(exit);
    cluster::leave_if_stopped(links.as_deref(), exit);
    Ok(exit)
}

/// Only the bounded search goes from state to state and can keep them elsewhere.
fn engine_for(engine: ReachEngine, elsewhere: Option<&str>) -> anyhow::Result<ReachEngine> {
    match (engine, elsewhere) {
        (ReachEngine::Auto, Some(_)) => Ok(ReachEngine::Bounded),
        (ReachEngine::Auto | ReachEngine::Bounded, _) | (_, None) => Ok(engine),
        (_, Some(option)) => bail!("{option} is for the engine `bounded`; omit --engine"),
    }
}
