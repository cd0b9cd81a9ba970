//! `ravelin check`.

use crate::arguments::{Check, Format};
use crate::ask::{Subject, Survey, is_first, usual_text};
use crate::exit::Exit;
use crate::named::distinct;
use crate::{cluster, expect, files};
use anyhow::bail;
use ravelin::answer::text::{Overview, attacks};
use ravelin::answer::{NoAnswer, Property, Verdict};
use ravelin::{Answer, Budget, Error, Model, Program, RobustnessEngine, SharedAnswers, Storage};
use ravelin_output::stdout;
use std::cell::RefCell;

pub fn run(arguments: &Check) -> anyhow::Result<Exit> {
    let models = distinct(&arguments.models);
    refuse(arguments, &models)?;
    let Check { inputs, property, resources, output, .. } = arguments;
    if arguments.expect {
        let models = if models.is_empty() { Model::WEAK.to_vec() } else { models };
        let engine = arguments.engine.unwrap_or_default();
        let command = ravelin::Command::Check { engine, seq_cst: arguments.seq_cst, races: !arguments.no_races };
        return expect::run(command, inputs, &models, resources, output);
    }
    // Attacks, their engines and triangular races are about hardware.
    let hardware = *property == Property::Trf || arguments.attacks || arguments.engine.is_some();
    let models = |program: &Program| match (models.is_empty(), hardware) {
        (false, _) => models.clone(),
        (true, true) => vec![Model::Tso],
        (true, false) => program.models(),
    };
    let overview = RefCell::new(Overview::default());
    let opened = arguments.storage.open(inputs, arguments.cluster.number()?)?;
    let links = arguments.cluster.connect(inputs)?;
    let share_from = arguments.cluster.share_from;
    let storage = Storage { peers: links.as_deref(), share_from, ..opened.storage() };
    // Of one program at a time: its models come one after the other.
    let shared = RefCell::new((String::new(), SharedAnswers::new(&[])));
    let answer = |subject: &Subject| {
        let name = subject.program.name();
        if shared.borrow().0 != name {
            shared.replace((name.to_owned(), SharedAnswers::new(&models(subject.program))));
        }
        let answer = answer(arguments, subject, &shared.borrow().1)?;
        overview.borrow_mut().add(&answer);
        Ok((Exit::of(&answer), answer))
    };
    let survey = Survey {
        command: "check",
        inputs,
        models: &models,
        output,
        budget: Budget { storage, ..arguments.cluster.budget(resources) },
        answer: &answer,
        text: &|answer, style| match answer {
            Answer::Robustness(robustness) if arguments.attacks => attacks(robustness, style) + &answer.text(style),
            answer => usual_text(answer, output, style),
        },
    };
    let exit = survey.run()?;
    if output.format == Format::Text && is_first(storage) {
        stdout().text(&overview.borrow().text())?;
    }
    opened.conclude(exit);
    cluster::leave_if_stopped(links.as_deref(), exit);
    Ok(exit)
}

fn answer(arguments: &Check, subject: &Subject, shared: &SharedAnswers) -> anyhow::Result<Answer> {
    let question = ravelin::check(subject.program)
        .model(subject.model)
        .property(arguments.property)
        .engine(engine(arguments))
        .all_attacks(arguments.attacks)
        .races(!arguments.no_races)
        .seq_cst(arguments.seq_cst)
        .auto_wait(arguments.auto_wait)
        .deadlocks(!arguments.no_deadlocks)
        .beside(shared)
        .budget(subject.budget);
    let answer = match question.run() {
        // The model was not asked for by name, and the program has no meaning in it.
        Err(Error::NotApplicable(message)) if arguments.models.is_empty() => {
            return Ok(Answer::None(NoAnswer::not_applicable(subject.program.name(), subject.model, message)));
        }
        answer => answer?,
    };
    if let Some(path) = &arguments.certify
        && (!subject.program.is_parameterised() || answer.verdict() == Some(Verdict::Holds))
    {
        files::write_certificate(path, question.certificate()?)?;
    }
    Ok(answer)
}

/// Combinations that mean nothing.
fn refuse(arguments: &Check, models: &[Model]) -> anyhow::Result<()> {
    arguments.output.refuse_herd()?;
    if models.contains(&Model::Sc) {
        bail!("every program is robust against sc, by definition; ask about tso, pso, ra or rc20");
    }
    if let Some(option) = arguments.storage.option()
        && let Some(engine @ (RobustnessEngine::Shared | RobustnessEngine::Monitor)) = arguments.engine
    {
        bail!("the engine `{}` needs all states in memory; use `single` or `attacks` with {option}", engine.name());
    }
    if let Some(option) = arguments.cluster.option()
        && arguments.engine == Some(RobustnessEngine::Monitor)
    {
        bail!("the engine `monitor` needs all states in one process; use another engine with {option}");
    }
    let c11 = models.iter().any(|model| model.is_c11());
    if c11 && arguments.attacks {
        bail!("attacks are about tso and pso; omit --attacks, or ask about these models");
    }
    if c11 && arguments.engine.is_some() {
        bail!("engines search attacks, which are about tso and pso; omit --engine, or ask about these models");
    }
    let tso_only = models.is_empty() || models == [Model::Tso];
    if arguments.certify.is_some() && (arguments.inputs.files.len() != 1 || !tso_only) {
        bail!("--certify writes a proof about one program under tso: name one file, and no other model");
    }
    if arguments.certify.is_some() && arguments.property != Property::Robust {
        bail!("--certify is about robustness; omit --property {}", arguments.property.name());
    }
    if arguments.property == Property::Trf {
        if models.iter().any(|model| *model != Model::Tso) {
            bail!("triangular races are about tso; omit --model");
        }
        if arguments.attacks {
            bail!("triangular races are looked for without attacks; omit --attacks, or use --property robust");
        }
        if arguments.engine.is_some() {
            bail!("engines search attacks; omit --engine, or use --property robust");
        }
    }
    Ok(())
}

/// The shared search needs the states under sc in memory, be it that of several processes.
fn engine(arguments: &Check) -> RobustnessEngine {
    let default = match arguments.storage.option() {
        Some(_) => RobustnessEngine::Single,
        None => RobustnessEngine::default(),
    };
    arguments.engine.unwrap_or(default)
}
