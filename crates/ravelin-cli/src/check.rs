//! `ravelin check`.

use crate::arguments::{Check, Format, ModelName, PropertyName};
use crate::ask::{Shown, Subject, for_each_subject};
use crate::exit::Exit;
use crate::expect::{self, Asked};
use anyhow::bail;
use ravelin_analysis::robustness::{RobustnessQuestion, race_freedom, robustness};
use ravelin_program::lower_for_hardware;
use ravelin_report::robustness::{json, text};
use ravelin_semantics::Model;

pub fn run(arguments: &Check) -> anyhow::Result<Exit> {
    refuse(arguments)?;
    let Check { inputs, models, property, engine, expect, resources, output, .. } = arguments;
    let models: Vec<Model> = models.iter().map(|&model| model.into()).collect();
    let engine = engine.map(Into::into).unwrap_or_default();
    if *expect {
        return expect::run(Asked::Check { engine }, inputs, &models, resources, output);
    }
    for_each_subject("check", inputs, &models, output, &|subject| {
        let question = RobustnessQuestion {
            model: subject.model,
            engine,
            all: arguments.attacks,
            limits: resources.limits(),
            workers: resources.workers(),
            stop: Some(subject.stop),
            progress: Some(subject.progress),
        };
        match property {
            PropertyName::Robust => robust(arguments, subject, &question),
            PropertyName::Trf => free_of_races(arguments, subject, &question),
        }
    })
}

/// Combinations that mean nothing.
fn refuse(arguments: &Check) -> anyhow::Result<()> {
    if arguments.output.format == Format::Herd {
        bail!("herd's layout is for final states: use it with `ravelin states`");
    }
    if arguments.models.contains(&ModelName::Sc) {
        bail!("every program is robust against sc, by definition; ask about tso or pso");
    }
    if arguments.property == PropertyName::Trf {
        if arguments.models.iter().any(|model| *model != ModelName::Tso) {
            bail!("triangular races are about tso; leave --model away");
        }
        if arguments.attacks {
            bail!(
                "triangular races are looked for without attacks; leave --attacks away, or ask for --property robust"
            );
        }
        if arguments.engine.is_some() {
            bail!("engines search attacks; leave --engine away, or ask for --property robust");
        }
    }
    Ok(())
}

fn robust(arguments: &Check, subject: &Subject, question: &RobustnessQuestion) -> anyhow::Result<(Exit, Shown)> {
    let answer = robustness(subject.program, question)?;
    // Attacks speak of the program after the x86 mapping.
    let lowered = lower_for_hardware(subject.program);
    let shown = match arguments.output.format {
        Format::Json => Shown::Json(json::robustness(subject.file, &lowered, &answer)),
        Format::Text | Format::Herd => {
            let mut shown = String::new();
            if arguments.attacks {
                shown = text::attacks(subject.file, &lowered, &answer);
            }
            shown.push_str(&text::robustness(subject.file, &lowered, &answer, subject.style));
            Shown::Text(shown)
        }
    };
    Ok((answer.verdict.into(), shown))
}

fn free_of_races(arguments: &Check, subject: &Subject, question: &RobustnessQuestion) -> anyhow::Result<(Exit, Shown)> {
    let answer = race_freedom(subject.program, question)?;
    let shown = match arguments.output.format {
        Format::Json => Shown::Json(json::race_freedom(subject.file, &answer)),
        Format::Text | Format::Herd => Shown::Text(text::race_freedom(subject.file, &answer, subject.style)),
    };
    Ok((answer.verdict.into(), shown))
}
