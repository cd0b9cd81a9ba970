//! `ravelin reach`.

use crate::arguments::Reach;
use crate::ask::{Subject, Survey, usual_text};
use crate::exit::Exit;
use crate::{cluster, expect, files};
use anyhow::bail;
use ravelin::{Budget, Command, ReachEngine, Storage, Verdict};

pub fn run(arguments: &Reach) -> anyhow::Result<Exit> {
    let Reach { inputs, expect, models, engine, certify, search, storage, cluster, output } = arguments;
    let engine = engine_for(*engine, storage.option().or(cluster.option()))?;
    output.refuse_herd()?;
    if *expect {
        let command = Command::Reach { engine, buffer: models.buffer, reductions: search.reductions() };
        return expect::run(command, inputs, &models.models, &search.resources, output);
    }
    if certify.is_some() && (inputs.files.len() != 1 || models.models.len() != 1) {
        bail!("--certify writes a proof about one program under one model: name one file, and one model");
    }
    let opened = storage.open(inputs, cluster.process)?;
    let links = cluster.connect(inputs)?;
    let storage = Storage { peers: cluster::peers(&links), ..opened.storage() };
    let answer = |subject: &Subject| {
        let question = ravelin::reach(subject.program)
            .model(subject.model)
            .engine(engine)
            .buffer(models.buffer)
            .reductions(search.reductions())
            .budget(subject.budget);
        let answer = question.run()?;
        if let Some(path) = certify
            && answer.verdict() == Some(Verdict::Holds)
        {
            files::write_certificate(path, question.certificate()?)?;
        }
        Ok((Exit::of(&answer), answer))
    };
    let survey = Survey {
        command: "reach",
        inputs,
        models: &|_| models.models.clone(),
        output,
        budget: Budget { storage, ..cluster.budget(&search.resources) },
        answer: &answer,
        text: &|answer, style| usual_text(answer, output, style),
    };
    let exit = survey.run()?;
    opened.conclude(exit);
    cluster::leave_if_stopped(&links, exit);
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
