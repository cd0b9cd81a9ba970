//! `ravelin reach`.

use crate::arguments::{Format, Reach};
use crate::ask::{Shown, Subject, for_each_subject};
use crate::exit::Exit;
use crate::expect::{self, Asked};
use crate::{certificate, cluster};
use anyhow::bail;
use ravelin_analysis::Verdict;
use ravelin_analysis::parameterised::certificate::Claim;
use ravelin_analysis::reachability::{Engine, Question, answer};
use ravelin_explore::Beyond;
use ravelin_program::Model;
use ravelin_report::reachability;

pub fn run(arguments: &Reach) -> anyhow::Result<Exit> {
    let Reach { inputs, expect, models, engine, certify, search, storage, cluster, output } = arguments;
    let engine = engine_for(*engine, storage.asked().or(cluster.asked()))?;
    if output.format == Format::Herd {
        bail!("herd's layout is for final states: use it with `ravelin states`");
    }
    if *expect {
        let asked = Asked::Reach { engine, buffer: models.buffer, reductions: search.reductions() };
        return expect::run(asked, inputs, &models.models, &search.resources, output);
    }
    if certify.is_some() && (inputs.files.len() != 1 || models.models.len() != 1) {
        bail!("--certify writes a proof about one program under one model: name one file, and one model");
    }
    let storage = storage.open(inputs, cluster.process)?;
    let links = cluster.connect(inputs)?;
    let beyond = Beyond { peers: cluster::peers(&links), ..storage.beyond() };
    let exit =
        for_each_subject("reach", inputs, &|_, _| models.models.clone(), output, beyond, &|subject: &Subject| {
            let any_number = subject.program.is_parameterised();
            match (any_number, subject.model) {
                _ if certify.is_none() => {}
                (true, Model::Sc) | (false, Model::Tso) => {}
                (true, _) => {
                    bail!("with any number of threads there are proofs to write under sc only: use --model sc")
                }
                (false, _) => bail!("--certify writes a proof about a program under tso: use no other model"),
            }
            let question = Question {
                limits: cluster.limits(&search.resources),
                workers: cluster.workers(&search.resources),
                ..subject.reachability(models, search)
            };
            let answer = answer(subject.program, &question, engine)?;
            if let Some(path) = certify
                && answer.reachability.verdict == Verdict::Holds
            {
                match any_number {
                    true => {
                        certificate::write_any_number(path, subject, Claim::Unreachable, search.resources.limits())?
                    }
                    false => certificate::write(path, subject, &subject.reachability(models, search))?,
                }
            }
            let told = || reachability::text(subject.file, &answer, subject.style);
            let shown = Shown::new(output, told, || reachability::json(subject.file, &answer));
            Ok((answer.reachability.verdict.into(), shown))
        })?;
    storage.farewell(exit);
    cluster::leave_if_stopped(&links, exit);
    Ok(exit)
}

/// Only the bounded search goes from state to state and can keep them elsewhere.
fn engine_for(engine: Engine, elsewhere: Option<&str>) -> anyhow::Result<Engine> {
    match (engine, elsewhere) {
        (Engine::Auto, Some(_)) => Ok(Engine::Bounded),
        (Engine::Auto | Engine::Bounded, _) | (_, None) => Ok(engine),
        (_, Some(option)) => bail!("{option} is for the engine `bounded`; omit --engine"),
    }
}
