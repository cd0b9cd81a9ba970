//! `ravelin check`.

use crate::arguments::{Check, Format, PropertyName};
use crate::ask::{Shown, Subject, for_each_subject, is_first};
use crate::exit::Exit;
use crate::expect::{self, Asked};
use crate::stops::StopNotes;
use crate::{certificate, cluster, model};
use anyhow::bail;
use ravelin_analysis::c11::{C11Question, c11_robustness, with_waits};
use ravelin_analysis::parameterised::certificate::Claim;
use ravelin_analysis::robustness::{Engine, RobustnessQuestion, race_freedom, robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::Beyond;
use ravelin_output::stdout;
use ravelin_program::{Model, lower_for_hardware};
use ravelin_report::robustness::{json, text};
use ravelin_report::table::Table;
use ravelin_report::{c11, json::not_applicable};
use std::cell::RefCell;
use std::time::Instant;

pub fn run(arguments: &Check) -> anyhow::Result<Exit> {
    let models = model::each(&arguments.models);
    refuse(arguments, &models)?;
    let Check { inputs, property, expect, resources, output, .. } = arguments;
    if *expect {
        let models = if models.is_empty() { Model::WEAK.to_vec() } else { models };
        let engine = arguments.engine.unwrap_or_default();
        let asked = Asked::Check { engine, seq_cst: arguments.seq_cst, races: !arguments.no_races };
        return expect::run(asked, inputs, &models, resources, output);
    }
    // Attacks, their engines and triangular races are about hardware.
    let hardware = *property == PropertyName::Trf || arguments.attacks || arguments.engine.is_some();
    let models = |program: &ravelin_program::Program, language| match (models.is_empty(), hardware) {
        (false, _) => models.clone(),
        (true, true) => vec![Model::Tso],
        (true, false) => model::by_language(language, program),
    };
    let answers = RefCell::new(Vec::new());
    let notes = StopNotes::new(resources, output);
    let storage = arguments.storage.open(inputs, arguments.cluster.process)?;
    let links = arguments.cluster.connect(inputs)?;
    let beyond = Beyond { peers: cluster::peers(&links), ..storage.beyond() };
    let exit = for_each_subject("check", inputs, &models, output, beyond, &|subject: &Subject| {
        let start = Instant::now();
        let (exit, word, states, shown) = match (subject.model, property) {
            (Model::Ra | Model::Rc20, _) => robust_c11(arguments, subject)?,
            (_, PropertyName::Robust) => robust(arguments, subject)?,
            (_, PropertyName::Trf) => free_of_races(arguments, subject)?,
        };
        answers.borrow_mut().push([subject.file.to_owned(), subject.model.name().to_owned(), word.to_owned()]);
        notes.add(subject, start, states, (exit, shown))
    })?;
    if output.format == Format::Text && is_first(beyond) {
        stdout().text(&compared(&answers.into_inner()))?;
    }
    storage.farewell(exit);
    cluster::leave_if_stopped(&links, exit);
    Ok(exit)
}

impl Check {
    /// The option that asks for states to be kept elsewhere, if one does.
    fn asked(&self) -> Option<&'static str> {
        self.storage.asked().or(self.cluster.asked())
    }
}

/// Combinations that mean nothing.
fn refuse(arguments: &Check, models: &[Model]) -> anyhow::Result<()> {
    if arguments.output.format == Format::Herd {
        bail!("herd's layout is for final states: use it with `ravelin states`");
    }
    if models.contains(&Model::Sc) {
        bail!("every program is robust against sc, by definition; ask about tso, pso, ra or rc20");
    }
    if let Some(option) = arguments.asked()
        && arguments.engine == Some(Engine::Shared)
    {
        bail!("the engine `shared` needs all states in memory; use `single` or `attacks` with {option}");
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
    if arguments.property == PropertyName::Trf {
        if arguments.certify.is_some() {
            bail!("--certify is about robustness; omit --property trf");
        }
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

/// An exit code, the answer in a word or two, how many states it took, and the whole answer.
type Answered = (Exit, &'static str, u64, Shown);

/// The shared search needs the states under sc in memory.
fn engine(arguments: &Check) -> Engine {
    let default = if arguments.asked().is_some() { Engine::Single } else { Engine::default() };
    arguments.engine.unwrap_or(default)
}

fn question<'a>(arguments: &Check, subject: &Subject<'a>) -> RobustnessQuestion<'a> {
    RobustnessQuestion {
        model: subject.model,
        engine: engine(arguments),
        all: arguments.attacks,
        limits: arguments.cluster.limits(&arguments.resources),
        workers: arguments.cluster.workers(&arguments.resources),
        stop: Some(subject.stop),
        progress: Some(subject.progress),
        beyond: subject.beyond,
    }
}

fn robust(arguments: &Check, subject: &Subject) -> anyhow::Result<Answered> {
    let answer = robustness(subject.program, &question(arguments, subject))?;
    if let Some(path) = &arguments.certify {
        if !subject.program.is_parameterised() {
            bail!("--certify is for programs with any number of threads (`thread p[*]`, without --copies)");
        }
        if answer.verdict == Verdict::Holds {
            certificate::write_any_number(path, subject, Claim::Robust, arguments.resources.limits())?;
        }
    }
    // Attacks speak of the program after the x86 mapping.
    let lowered = lower_for_hardware(subject.program);
    let told = || {
        let mut told = String::new();
        if arguments.attacks {
            told = text::attacks(subject.file, &lowered, &answer, subject.style);
        }
        told.push_str(&text::robustness(subject.file, &lowered, &answer, subject.style));
        told
    };
    let shown = Shown::new(&arguments.output, told, || json::robustness(subject.file, &lowered, &answer));
    Ok((answer.verdict.into(), word(answer.verdict), answer.explored.states, shown))
}

fn free_of_races(arguments: &Check, subject: &Subject) -> anyhow::Result<Answered> {
    let answer = race_freedom(subject.program, &question(arguments, subject))?;
    let told = || text::race_freedom(subject.file, &answer, subject.style);
    let shown = Shown::new(&arguments.output, told, || json::race_freedom(subject.file, &answer));
    let word = match answer.verdict {
        Verdict::Holds => "free",
        Verdict::Violated => "race",
        Verdict::Unknown => "unknown",
    };
    Ok((answer.verdict.into(), word, answer.statistics.states, shown))
}

fn robust_c11(arguments: &Check, subject: &Subject) -> anyhow::Result<Answered> {
    let (waiting, spins) = with_waits(subject.program);
    let program = if arguments.auto_wait { &waiting } else { subject.program };
    let question = C11Question {
        seq_cst: arguments.seq_cst,
        races: !arguments.no_races,
        limits: arguments.cluster.limits(&arguments.resources),
        workers: arguments.cluster.workers(&arguments.resources),
        stop: Some(subject.stop),
        progress: Some(subject.progress),
        beyond: subject.beyond,
        ..C11Question::new(subject.model)
    };
    let answer = match c11_robustness(program, &question) {
        // Nobody asked for this model by name, and the program has no meaning in it.
        Err(AnalysisError::NotC11(refusal)) if arguments.models.is_empty() => {
            let message = refusal.to_string();
            let (file, model) = (subject.file, subject.model.name());
            let told = || format!("{file} under {model}: does not apply: {message}\n");
            let shown = Shown::new(&arguments.output, told, || not_applicable(file, model, &message));
            return Ok((Exit::Holds, "does not apply", 0, shown));
        }
        answer => answer?,
    };
    let shown =
        c11::Shown { file: subject.file, program, answer: &answer, spins: &spins, rewritten: arguments.auto_wait };
    let told = || c11::text::robustness(&shown, subject.style);
    let shown = Shown::new(&arguments.output, told, || c11::json::robustness(&shown));
    let word = if answer.race().is_some() { "data race" } else { word(answer.verdict) };
    Ok((answer.verdict.into(), word, answer.statistics.states, shown))
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "robust",
        Verdict::Violated => "not robust",
        Verdict::Unknown => "unknown",
    }
}

/// All answers side by side, if several models were asked about: a line a file, a column a model.
fn compared(answers: &[[String; 3]]) -> String {
    let mut models: Vec<&String> = Vec::new();
    let mut files: Vec<&String> = Vec::new();
    for [file, model, _] in answers {
        if !models.contains(&model) {
            models.push(model);
        }
        if !files.contains(&file) {
            files.push(file);
        }
    }
    if models.len() < 2 {
        return String::new();
    }
    let mut table = Table::new(&[]);
    table.row([String::new()].into_iter().chain(models.iter().map(|model| (*model).clone())));
    for file in files {
        let answer = |model: &&String| {
            let found = answers.iter().find(|[of, under, _]| of == file && under == *model);
            found.map(|[.., answer]| answer.clone()).unwrap_or_default()
        };
        table.row([file.clone()].into_iter().chain(models.iter().map(answer)));
    }
    table.render("")
}
