//! `ravelin fence`.

mod ask;
mod lists;
mod plan;
mod written;

pub use plan::{Plan, Task};

use crate::arguments::{Fence, Format, PropertyName, PurposeName, RepairName};
use crate::ask::{Shown, Subject, for_each_subject};
use crate::exit::Exit;
use crate::expect::{self, Asked};
use crate::model;
use crate::stops::StopNotes;
use anyhow::bail;
use ravelin_analysis::fences::{Fences, Offer, Outcome, Purpose, Sets};
use ravelin_analysis::reachability::Engine;
use ravelin_explore::Beyond;
use ravelin_frontend::sites::Repair;
use ravelin_output::complain;
use ravelin_program::{Model, Site, Strength};
use ravelin_report::fences::{Shown as ShownFences, json, text};
use std::time::Instant;

pub fn run(arguments: &Fence) -> anyhow::Result<Exit> {
    let models = model::each(&arguments.models);
    refuse(arguments, &models)?;
    let Fence { inputs, resources, output, .. } = arguments;
    if arguments.expect {
        return expect::run(Asked::Fence { engine: engine(arguments) }, inputs, &models, resources, output);
    }
    let plan = plan(arguments)?;
    let notes = StopNotes::new(resources, output);
    let answer = |subject: &Subject| {
        if arguments.places {
            return places(arguments, subject, &plan);
        }
        let start = Instant::now();
        let Answer { exit, states, shown, diff } = answer(arguments, subject, &plan)?;
        let (exit, mut shown) = notes.add(subject, start, states, (exit, shown))?;
        // Last, so that other programs find it.
        shown.append(&diff.unwrap_or_default());
        Ok((exit, shown))
    };
    for_each_subject("fence", inputs, &|_, _| models.clone(), output, Beyond::default(), &answer)
}

/// Combinations that mean nothing.
fn refuse(arguments: &Fence, models: &[Model]) -> anyhow::Result<()> {
    if arguments.output.format == Format::Herd {
        bail!("herd's layout is for final states: use it with `ravelin states`");
    }
    if arguments.places {
        arguments.output.refuse_sarif("fence --places")?;
    }
    if models.contains(&Model::Sc) {
        bail!("under sc fences do nothing; ask about tso, pso, ra or rc20");
    }
    if arguments.property == PropertyName::Trf {
        if arguments.purpose == PurposeName::Safety {
            bail!("--property is for --for robustness; omit --property trf or --for safety");
        }
        if models.iter().any(|model| *model != Model::Tso) {
            bail!("triangular races are about tso; omit --model");
        }
    }
    if arguments.repair == RepairName::Rmw {
        if arguments.minimise {
            bail!("--minimise is about fences; omit --repair rmw");
        }
        if matches!(arguments.placement.as_str(), "before-loads") {
            bail!("--repair rmw changes stores; fences go before loads");
        }
    }
    if models.iter().any(|model| model.is_c11()) {
        if arguments.purpose == PurposeName::Safety {
            bail!("--for safety is about tso and pso; under ra and rc20 programs are made robust");
        }
        if arguments.repair == RepairName::Rmw {
            bail!("--repair rmw is about tso and pso; under ra and rc20 orders get stronger");
        }
    }
    if arguments.weights.is_some() && models.iter().all(|model| *model == Model::Tso) {
        bail!("--weights compares two kinds of fences, and tso has only one; omit --weights");
    }
    if arguments.engine.is_some() && arguments.purpose == PurposeName::Robustness && !arguments.expect {
        bail!("--engine is for --for safety; omit --engine");
    }
    if arguments.write.as_deref() == Some(std::path::Path::new("-")) {
        bail!("--write takes the name of a file; --diff shows the change");
    }
    let one = arguments.inputs.files.len() == 1 && arguments.models.len() == 1;
    if arguments.write.is_some() && !one {
        bail!("--write writes one program: name one file and one model");
    }
    Ok(())
}

fn engine(arguments: &Fence) -> Engine {
    arguments.engine.unwrap_or_default()
}

fn plan(arguments: &Fence) -> anyhow::Result<Plan> {
    let purpose = match (arguments.purpose, arguments.property) {
        (PurposeName::Safety, _) => Purpose::Safe(engine(arguments)),
        (PurposeName::Robustness, PropertyName::Robust) => Purpose::Robust,
        (PurposeName::Robustness, PropertyName::Trf) => Purpose::RaceFree,
    };
    let sets = match (arguments.all, arguments.purpose) {
        (false, _) => Sets::Cheapest,
        (true, PurposeName::Robustness) => Sets::AllCheapest,
        (true, PurposeName::Safety) => Sets::AllMinimal,
    };
    Ok(Plan {
        purpose,
        sets,
        cost: lists::cost(&arguments.cost)?,
        placement: lists::placement(&arguments.placement)?,
        repair: match arguments.repair {
            RepairName::Fence => Repair::Fence,
            RepairName::Rmw => Repair::Rmw,
        },
        minimise: arguments.minimise,
        apart: arguments.apart,
        weights: arguments.weights,
        copies: arguments.inputs.copies,
    })
}

struct Answer {
    exit: Exit,
    states: u64,
    /// Without the change.
    shown: Shown,
    /// The change, if it is to be printed.
    diff: Option<String>,
}

fn answer(arguments: &Fence, subject: &Subject, plan: &Plan) -> anyhow::Result<Answer> {
    let task = plan.task(subject.program, subject.language, subject.model)?;
    let Task { sites, offers, .. } = &task;
    let question = ask::Question::new(arguments, subject, plan);
    let ask::Found { answer, seq_cst, reasons } = question.ask(subject.program, &task, arguments.explain)?;
    if let (Some(reason), Outcome::NoSet(_) | Outcome::WrongUnderSc(_)) = (&task.not_expressible, &answer.outcome) {
        bail!("{reason}");
    }
    let choices = chosen(&answer, offers);
    let (mut checked, mut diff, mut written) = (None, None, Ok(()));
    if let Some(choices) = choices.filter(|_| !arguments.apart) {
        let changed = task.text(&choices)?;
        if changed != subject.program.source.text {
            checked = Some(written::check(subject, &arguments.inputs.reading(), &changed, &question)?);
        }
        if let Some(path) = &arguments.write {
            written = written::write(path, &changed);
        }
        let output = &arguments.output;
        let wants_diff = arguments.diff || output.format == Format::Sarif || output.pages.is_wanted();
        diff = wants_diff.then(|| written::diff(subject.file, &subject.program.source.text, &changed));
    }
    let exit = match (&answer.outcome, &written) {
        (_, Err(_)) => Exit::Wrong,
        (Outcome::NotNeeded | Outcome::Found, _) => Exit::Holds,
        (Outcome::WrongUnderSc(_) | Outcome::NoSet(_), _) => Exit::Violated,
        (Outcome::Unknown(_), _) => Exit::Unknown,
    };
    // The answer is not lost because it could not be written.
    if let Err(error) = &written {
        complain!("error: {error:#}");
    }
    let shown = ShownFences {
        file: subject.file,
        program: subject.program,
        model: subject.model.name(),
        purpose: plan.purpose,
        wanted: plan.sets,
        sites,
        offers,
        answer: &answer,
        seq_cst,
        reasons,
        checked,
        diff,
    };
    // A page shows the change whether or not it is printed.
    let told = text::fences(&shown, subject.style);
    let states = answer.effort.states;
    let diff = shown.diff.clone().filter(|_| arguments.diff);
    Ok(Answer { exit, states, shown: Shown::new(&arguments.output, || told, || json::fences(&shown)), diff })
}

/// What is to be done, if that is known: the first of the sets.
fn chosen(answer: &Fences, offers: &[Offer]) -> Option<Vec<(usize, Strength)>> {
    match answer.outcome {
        Outcome::NotNeeded => Some(Vec::new()),
        Outcome::Found => answer.sets.first().map(|set| set.choices(offers)),
        _ => None,
    }
}

/// The places that may be used.
fn places(arguments: &Fence, subject: &Subject, plan: &Plan) -> anyhow::Result<(Exit, Shown)> {
    let task = plan.task(subject.program, subject.language, subject.model)?;
    let allowed = task.offers.iter().filter(|offer| offer.strength == Strength::Full);
    let places: Vec<(&Site, u64)> = allowed.map(|offer| (&task.sites[offer.site], offer.cost.main)).collect();
    let told = || text::places(subject.file, subject.program, &places, subject.style);
    let shown = Shown::new(&arguments.output, told, || json::places(subject.file, subject.program, &places));
    Ok((Exit::Holds, shown))
}
