//! `ravelin fence`.

use crate::arguments::Fence;
use crate::ask::{Subject, Survey, usual_text};
use crate::exit::Exit;
use crate::named::distinct;
use crate::{expect, files};
use anyhow::bail;
use ravelin::answer::{FencePurpose, NoAnswer, Property};
use ravelin::{Answer, Command, CostBy, Error, Model, Placement, Program, ReachEngine, RepairKind, Sets};
use ravelin_output::complain;

pub fn run(arguments: &Fence) -> anyhow::Result<Exit> {
    let models = distinct(&arguments.models);
    refuse(arguments, &models)?;
    let Fence { inputs, resources, output, .. } = arguments;
    if arguments.expect {
        let models = if models.is_empty() { Model::WEAK.to_vec() } else { models };
        let command = Command::Fence { engine: arguments.engine.unwrap_or_default() };
        return expect::run(command, inputs, &models, resources, output);
    }
    let models = |program: &Program| match (models.is_empty(), is_about_tso(arguments)) {
        (false, _) => models.clone(),
        (true, true) => vec![Model::Tso],
        (true, false) => program.models(),
    };
    let (cost, placement) = (ravelin::read_cost(&arguments.cost)?, ravelin::read_placement(&arguments.placement)?);
    let survey = Survey {
        command: "fence",
        inputs,
        models: &models,
        output,
        budget: resources.budget(),
        answer: &|subject| answer(arguments, subject, &cost, &placement),
        text: &|answer, style| {
            let mut text = usual_text(answer, output, style);
            if let (Answer::Fences(fences), true) = (answer, arguments.diff) {
                // Last, so that other programs find it.
                text.push_str(fences.diff.as_deref().unwrap_or_default());
            }
            text
        },
    };
    survey.run()
}

/// Where no model is named: questions about hardware, and those that have one answer.
fn is_about_tso(arguments: &Fence) -> bool {
    let engine = arguments.engine.unwrap_or_default();
    arguments.property == Property::Trf
        || arguments.repair == RepairKind::Rmw
        || !matches!(engine, ReachEngine::Auto | ReachEngine::Bounded)
        || arguments.write.is_some()
        || arguments.places
}

/// Combinations that mean nothing.
fn refuse(arguments: &Fence, models: &[Model]) -> anyhow::Result<()> {
    arguments.output.refuse_herd()?;
    if arguments.places {
        arguments.output.refuse_sarif("fence --places")?;
    }
    if models.contains(&Model::Sc) {
        bail!("under sc fences do nothing; ask about tso, pso, ra or rc20");
    }
    if arguments.property == Property::Trf {
        if arguments.purpose == FencePurpose::Safety {
            bail!("--property is for --for robustness; omit --property trf or --for safety");
        }
        if models.iter().any(|model| *model != Model::Tso) {
            bail!("triangular races are about tso; omit --model");
        }
    }
    if arguments.auto_wait && arguments.purpose == FencePurpose::Safety {
        bail!("--auto-wait is for --for robustness; omit --auto-wait or --for safety");
    }
    if arguments.auto_wait && arguments.minimise {
        bail!("which loops --auto-wait rewrites depends on their orders; omit --auto-wait or --minimise");
    }
    if arguments.repair == RepairKind::Rmw {
        if arguments.minimise {
            bail!("--minimise is about fences; omit --repair rmw");
        }
        if matches!(arguments.placement.as_str(), "before-loads") {
            bail!("--repair rmw changes stores; fences go before loads");
        }
    }
    if models.iter().any(|model| model.is_c11()) {
        if arguments.purpose == FencePurpose::Safety && arguments.seq_cst.is_some() {
            bail!("--seq-cst is for --for robustness; safety is about seq_cst accesses as C11 has them");
        }
        if arguments.repair == RepairKind::Rmw {
            bail!("--repair rmw is about tso and pso; under ra and rc20 orders get stronger");
        }
    }
    if arguments.weights.is_some() && models.iter().all(|model| *model == Model::Tso) {
        bail!(
            "--weights compares two kinds of fences, and tso has only one; name --model pso, ra or rc20, or omit --weights"
        );
    }
    if arguments.engine.is_some() && arguments.purpose == FencePurpose::Robustness && !arguments.expect {
        bail!("--engine is for --for safety; omit --engine");
    }
    if arguments.write.as_deref() == Some(std::path::Path::new("-")) {
        bail!("--write takes the name of a file; --diff shows the change");
    }
    let one = arguments.inputs.files.len() == 1 && arguments.models.len() <= 1;
    if arguments.write.is_some() && !one {
        bail!("--write writes one program: name one file and one model");
    }
    Ok(())
}

fn answer(
    arguments: &Fence,
    subject: &Subject,
    cost: &CostBy,
    placement: &Placement,
) -> anyhow::Result<(Exit, Answer)> {
    let purpose = match (arguments.purpose, arguments.property) {
        (FencePurpose::Robustness, Property::Trf) => FencePurpose::Trf,
        (purpose, _) => purpose,
    };
    let sets = match (arguments.all, arguments.purpose) {
        (false, _) => Sets::Cheapest,
        (true, FencePurpose::Safety) => Sets::AllMinimal,
        (true, _) => Sets::AllCheapest,
    };
    let mut question = ravelin::fence(subject.program)
        .model(subject.model)
        .purpose(purpose)
        .engine(arguments.engine.unwrap_or_default())
        .sets(sets)
        .cost(cost.clone())
        .placement(placement.clone())
        .repair(arguments.repair)
        .minimise(arguments.minimise)
        .apart(arguments.apart)
        .seq_cst(arguments.seq_cst.unwrap_or_default())
        .races(!arguments.no_races)
        .auto_wait(arguments.auto_wait)
        .explain(arguments.explain)
        .budget(subject.budget);
    if let Some((strong, weak)) = arguments.weights {
        question = question.weights(strong, weak);
    }
    if arguments.places {
        return Ok((Exit::Holds, question.places()?));
    }
    let answer = match question.run() {
        // The model was not asked for by name, and the program has no meaning in it.
        Err(Error::NotApplicable(message)) if arguments.models.is_empty() => {
            let answer = Answer::None(NoAnswer::not_applicable(subject.program.name(), subject.model, message));
            return Ok((Exit::of(&answer), answer));
        }
        answer => answer?,
    };
    let mut exit = Exit::of(&answer);
    if let (Some(path), Answer::Fences(fences)) = (&arguments.write, &answer)
        && let Some(repaired) = &fences.repaired
        // The answer is not lost because it could not be written.
        && let Err(error) = files::write(path, repaired)
    {
        complain!("error: {error:#}");
        exit = Exit::Wrong;
    }
    Ok((exit, answer))
}
