//! Answers of `check`, `reach` and `fence` as SARIF, one result each. A violation fails its rule, a proof passes it, an
//! unsettled answer leaves it open; a program that cannot be read is a notification.

use super::format::{Fingerprints, Notification, ResultKind, SarifFix, SarifLevel, SarifLocation, SarifResult};
use super::{STATIC, fixes, flow, numbered, physical, place};
use ravelin_answer::{
    Answer, AnyNumber, AttackWitness, C11Race, C11Robustness, C11Witness, DeadlockVerdict, Diagnostic, Event,
    FenceOutcome, FencePurpose, Fences, Impact, Instance, Limit, NoAnswer, NoVerdict, OvertakingAccess, Reachability,
    Robustness, RunStep, RunWitness, Severity, SourcePlace, TriangularRace, TriangularRaces, TroubleKind, Verdict,
    Violation, WaitingThread,
};
use ravelin_program::{Model, Position};

/// The results for an answer.
pub(super) fn results(answer: &Answer) -> Vec<SarifResult> {
    let finding = match answer {
        Answer::None(none) if none.verdict == NoVerdict::Error => None,
        Answer::None(none) => without_answer(none),
        Answer::Robustness(answer) => Some(robustness(answer)),
        Answer::TriangularRaces(answer) => Some(triangular_races(answer)),
        Answer::C11Robustness(answer) => Some(c11_robustness(answer)),
        Answer::Reachability(answer) => Some(reachability(answer)),
        Answer::Fences(answer) => Some(fences(answer)),
        // These find no violations, and what the sanitizer found has its own results.
        Answer::FencePlaces(_) | Answer::FinalStates(_) | Answer::Simulation(_) | Answer::Confirmation(_) => None,
        Answer::Coverability(_) | Answer::Comparison(_) | Answer::Diagnostics(_) => None,
        Answer::Sanitizer(_) | Answer::FixTrial(_) => None,
    };
    let deadlock = answer.deadlocks().and_then(|found| found.witness.as_ref()).map(|witness| run(witness, ""));
    // What stops threads under sc is listed by itself.
    let is_stop = |witness: &RunWitness| {
        witness.model == Model::Sc && matches!(witness.violation, Violation::Assert { .. } | Violation::Fault { .. })
    };
    let wrong = answer.impact().and_then(|found| found.witness.as_ref());
    let wrong = wrong.filter(|witness| !is_stop(witness)).map(|witness| run(witness, ""));
    finding
        .into_iter()
        .chain(wrong)
        .chain(deadlock)
        .chain(stops(answer))
        .map(|found| found.result(answer.file()))
        .collect()
}

/// What is wrong with a program that could not be read or analysed.
pub(super) fn notifications(answer: &Answer) -> Vec<Notification> {
    match answer {
        Answer::None(none) if none.verdict == NoVerdict::Error => troubles(none),
        _ => Vec::new(),
    }
}

/// The result for an answer.
struct ResultDraft {
    rule: &'static str,
    kind: ResultKind,
    message: String,
    /// What distinguishes it from others of its rule, when lines move.
    model: Option<Model>,
    instructions: Vec<String>,
    /// Its place, if it has one.
    location: Option<Remark>,
    related: Vec<Remark>,
    flow: Option<(Vec<RunStep>, String)>,
    fix: Option<SarifFix>,
    /// It is known to do no harm.
    harmless: bool,
}

/// A place with a message.
struct Remark {
    position: Option<Position>,
    message: String,
}

impl Remark {
    fn new(position: Option<Position>, message: impl Into<String>) -> Remark {
        Remark { position, message: message.into() }
    }

    fn location(self, file: &str) -> SarifLocation {
        place(file, self.position, self.message)
    }
}

impl ResultDraft {
    /// Without a place.
    fn new(rule: &'static str, kind: ResultKind, model: Option<Model>, message: String) -> ResultDraft {
        ResultDraft {
            rule,
            kind,
            message,
            model,
            instructions: Vec::new(),
            location: None,
            related: Vec::new(),
            flow: None,
            fix: None,
            harmless: false,
        }
    }

    fn result(self, file: &str) -> SarifResult {
        let rule_index = STATIC.iter().position(|rule| rule.id == self.rule);
        let level = match (self.kind, rule_index) {
            (ResultKind::Fail, _) if self.harmless => SarifLevel::Note,
            (ResultKind::Fail, Some(index)) => STATIC[index].level,
            _ => SarifLevel::None,
        };
        // Stable for the same violation when lines move: the rule, the model and the instructions.
        let mut words = vec![self.rule, self.model.map_or("", Model::name)];
        words.extend(self.instructions.iter().map(String::as_str));
        let location = self.location.unwrap_or_else(|| Remark::new(None, &self.message));
        let flow = self.flow.and_then(|(steps, message)| flow::of_steps(file, &steps, &message));
        SarifResult {
            rule_id: self.rule,
            rule_index,
            kind: self.kind,
            level,
            partial_fingerprints: Fingerprints { places: words.join(" ") },
            message: self.message.into(),
            locations: [location.location(file)],
            related_locations: numbered(self.related.into_iter().map(|remark| remark.location(file))),
            code_flows: flow.into_iter().collect(),
            fixes: self.fix.into_iter().collect(),
            occurrence_count: None,
        }
    }
}

/// A run that demonstrates it.
fn flow(steps: &[RunStep], message: &str) -> Option<(Vec<RunStep>, String)> {
    Some((steps.to_vec(), message.to_owned()))
}

/// The places where threads can stop, in addition to any answer.
fn stops(answer: &Answer) -> impl Iterator<Item = ResultDraft> {
    answer.stops().into_iter().flat_map(|stops| &stops.found).map(|stop| {
        let (rule, text) = match &stop.violation {
            Violation::Assert { text, .. } => ("assert", text),
            Violation::Fault { text, .. } | Violation::Goal { text, .. } => ("fault", text),
            Violation::Deadlock { .. } => ("deadlock", &stop.message),
        };
        ResultDraft {
            instructions: vec![text.clone()],
            location: Some(Remark::new(stop.violation.position(), stop.message.clone())),
            ..ResultDraft::new(rule, ResultKind::Fail, answer.model(), stop.message.clone())
        }
    })
}

/// A model that does not apply, and an analysis that was interrupted.
fn without_answer(answer: &NoAnswer) -> Option<ResultDraft> {
    let model = answer.model?;
    let rule = if model.is_c11() { "stale-access" } else { "goal" };
    Some(match answer.verdict {
        NoVerdict::NotApplicable => {
            let message = format!("{model} does not apply: {}", answer.message);
            ResultDraft::new(rule, ResultKind::NotApplicable, Some(model), message)
        }
        _ => {
            let message = format!("not settled{}", answer.limit.as_ref().map(stopped).unwrap_or_default());
            ResultDraft::new(rule, ResultKind::Open, Some(model), message)
        }
    })
}

fn stopped(limit: &Limit) -> String {
    match limit {
        Limit::States { value } => format!(": stopped after {value} states"),
        Limit::Memory { value } => format!(": stopped at {} MiB of memory", (*value as f64 / 1_048_576.0).round()),
        Limit::Time { value } => format!(": stopped after {value} s"),
        Limit::Interrupted | Limit::ProcessLost { .. } => ": interrupted".to_owned(),
    }
}

/// An answer with a verdict: `found` makes the finding if it is violated.
fn judged(
    rule: &'static str,
    model: Model,
    property: &str,
    verdict: Verdict,
    why: String,
    found: Option<ResultDraft>,
) -> ResultDraft {
    match (verdict, found) {
        (_, Some(found)) => found,
        (Verdict::Holds, None) => ResultDraft::new(rule, ResultKind::Pass, Some(model), property.to_owned()),
        (Verdict::Violated, None) => ResultDraft::new(rule, ResultKind::Fail, Some(model), format!("not {property}")),
        (Verdict::Unknown, None) => {
            ResultDraft::new(rule, ResultKind::Open, Some(model), format!("not settled whether {property}{why}"))
        }
    }
}

fn robustness(answer: &Robustness) -> ResultDraft {
    let (model, every) = (answer.model, every(answer.any_number.as_ref()));
    let rule = robustness_rule(model);
    let why = match &answer.limit {
        Some(limit) => stopped(limit),
        None if answer.one_delaying_thread => {
            ": no violation with one delaying thread, and more is not proved".to_owned()
        }
        None => String::new(),
    };
    let with = with(answer.any_number.as_ref().and_then(|found| found.instance.as_ref()));
    let found = answer.witness.as_ref().map(|witness| attack(rule, witness, &with));
    let found = found.map(|found| graded(found, answer.impact.as_ref(), model));
    judged(rule, model, &format!("robust against {model}{every}"), answer.robust(), why, found)
}

/// A violation of robustness that is known to do no harm is a note, and says why.
fn graded(found: ResultDraft, impact: Option<&Impact>, model: Model) -> ResultDraft {
    match impact.filter(|impact| impact.is_harmless()) {
        Some(impact) => {
            let summary = impact.summary(model, None);
            let summary = summary.strip_prefix(", but ").unwrap_or(&summary);
            ResultDraft { harmless: true, message: format!("{} This is {summary}.", found.message), ..found }
        }
        None => found,
    }
}

fn robustness_rule(model: Model) -> &'static str {
    match model {
        Model::Pso => "not-robust-pso",
        Model::Ra | Model::Rc20 => "stale-access",
        Model::Sc | Model::Tso => "not-robust-tso",
    }
}

fn triangular_races(answer: &TriangularRaces) -> ResultDraft {
    let why = answer.limit.as_ref().map(stopped).unwrap_or_default();
    let found = answer.race.as_ref().map(|found| race(answer.model, found));
    judged("triangular-race", answer.model, "free of triangular races", answer.verdict, why, found)
}

fn c11_robustness(answer: &C11Robustness) -> ResultDraft {
    let model = answer.model;
    let why = answer.limit.as_ref().map(stopped).unwrap_or_default();
    let found = answer.witness.as_ref().map(|witness| stale(model, witness));
    let found = found.or_else(|| answer.race.as_ref().map(|found| data_race(model, found)));
    let found = found.map(|found| graded(found, answer.impact.as_ref(), model));
    judged("stale-access", model, &format!("robust against {model}"), answer.robust(), why, found)
}

fn reachability(answer: &Reachability) -> ResultDraft {
    let model = answer.model;
    let every = every(answer.any_number.as_ref());
    let deadlock = if answer.deadlocks == DeadlockVerdict::None { ", no deadlock" } else { "" };
    let property = match answer.exists {
        0 => format!(
            "right under {model}: no forbidden state, no failing assertion{deadlock} and no error can be reached{every}"
        ),
        _ => format!("without such a state under {model}: nothing that it asks for or forbids can be reached{every}"),
    };
    let why = match (&answer.limit, answer.buffer) {
        (Some(limit), _) => stopped(limit),
        (None, Some(buffer)) if answer.cut_off => format!(": no violation within store buffers of {buffer}"),
        _ => String::new(),
    };
    let with = with(answer.any_number.as_ref().and_then(|found| found.instance.as_ref()));
    let found = answer.witness.as_ref().map(|witness| run(witness, &with));
    judged("goal", model, &property, answer.verdict, why, found)
}

fn every(found: Option<&AnyNumber>) -> &'static str {
    if found.is_some() { " for every number of threads" } else { "" }
}

/// ` with 2 copies of p`.
fn with(instance: Option<&Instance>) -> String {
    instance.map(|instance| format!(" with {}", instance.words())).unwrap_or_default()
}

fn line(place: &SourcePlace) -> String {
    place.position.map(|at| format!(" on line {}", at.line)).unwrap_or_default()
}

/// A store that is delayed past a later access.
fn attack(rule: &'static str, witness: &AttackWitness, with: &str) -> ResultDraft {
    let AttackWitness { store, load, model, .. } = witness;
    // Under PSO stores overtake, too, and then a weaker fence is enough.
    let (fence, second) = match witness.overtaking {
        OvertakingAccess::Store => ("release", "store"),
        OvertakingAccess::Load => ("seq_cst", "load"),
    };
    let remedy = format!(
        "A fence (`fence({fence})`) between the store{} and the {second}{} stops this.",
        line(store),
        line(load)
    );
    let message = format!("not robust against {model}{with}: {} {remedy}", witness.sentence);
    let mut related = vec![
        Remark::new(load.position, format!("overtakes the store: `{}`", load.text)),
        Remark::new(load.position, format!("a fence (`fence({fence})`) before this stops it")),
    ];
    related.extend(witness.cycle.iter().map(|event| {
        let cell = event.cell.as_ref().map(|cell| format!(" {cell}")).unwrap_or_default();
        Remark::new(event.position, format!("{} {} ({}{cell} to the next)", event.thread, event.text, event.edge))
    }));
    ResultDraft {
        instructions: vec![store.text.clone(), load.text.clone()],
        location: Some(Remark::new(store.position, format!("delayed store: `{}`", store.text))),
        related,
        flow: flow(&witness.steps, &format!("a computation under {model}")),
        ..ResultDraft::new(rule, ResultKind::Fail, Some(*model), message)
    }
}

fn remark(events: &[Event], number: usize, role: &str) -> Remark {
    Remark::new(events[number].position, format!("{role}: {}", events[number].text))
}

fn stale(model: Model, witness: &C11Witness) -> ResultDraft {
    let events = &witness.events;
    let mut related = vec![remark(events, witness.ignored, "ignored")];
    related.extend(witness.cycle.iter().map(|edge| {
        let from = &events[edge.from];
        let thread = from.thread.as_deref().unwrap_or("initially");
        Remark::new(from.position, format!("{thread} {} ({} to the next)", from.text, edge.kind))
    }));
    if let Some(remedy) = &witness.remedy {
        let strengthen = remedy.strengthen.iter();
        related.extend(strengthen.map(|one| remark(events, one.event, &format!("make this {}", one.order))));
        let fences = remedy.fence_before.iter();
        related.extend(fences.map(|&event| remark(events, event, "put a seq_cst fence before this")));
    }
    let machines = witness.machines.map(|machines| format!(" {}", machines.sentence())).unwrap_or_default();
    let message = format!("not robust against {model}: {}{machines}", witness.sentence);
    ResultDraft {
        instructions: vec![events[witness.access].text.clone(), events[witness.ignored].text.clone()],
        location: Some(remark(events, witness.access, "stale access")),
        related,
        flow: flow(&witness.steps, "a run under sc up to the access"),
        ..ResultDraft::new("stale-access", ResultKind::Fail, Some(model), message)
    }
}

fn data_race(model: Model, race: &C11Race) -> ResultDraft {
    let events = &race.events;
    ResultDraft {
        instructions: vec![events[race.first].text.clone(), events[race.second].text.clone()],
        location: Some(remark(events, race.second, "second access")),
        related: vec![remark(events, race.first, "first access")],
        flow: flow(&race.steps, "a run under sc up to the second access"),
        ..ResultDraft::new("data-race", ResultKind::Fail, Some(model), format!("data race: {}", race.sentence))
    }
}

fn race(model: Model, race: &TriangularRace) -> ResultDraft {
    let TriangularRace { thread, racing_thread, store, load, racing_store, stored, loaded, .. } = race;
    let message = format!(
        "{thread} stores to `{stored}`{} and then, with no fence between, reads `{loaded}`{}, to which {racing_thread} stores{}.",
        line(store),
        line(load),
        line(racing_store)
    );
    let remark = |place: &SourcePlace, role: &str| Remark::new(place.position, format!("{role}: `{}`", place.text));
    ResultDraft {
        location: Some(remark(load, "load")),
        related: vec![remark(store, "store"), remark(racing_store, "racing store")],
        flow: flow(&race.steps, "a run under sc"),
        ..ResultDraft::new("triangular-race", ResultKind::Fail, Some(model), message)
    }
}

/// A run that reaches what is forbidden.
fn run(witness: &RunWitness, with: &str) -> ResultDraft {
    let model = witness.model;
    let (rule, instructions, message) = match &witness.violation {
        Violation::Assert { thread, text, .. } => {
            ("assert", vec![text.clone()], format!("`{text}` can fail in {thread} under {model}{with}"))
        }
        Violation::Fault { thread, text, fault, .. } => {
            ("fault", vec![text.clone()], format!("error in {thread} at `{text}` under {model}{with}: {fault}"))
        }
        Violation::Goal { text, exists: true, .. } => {
            ("goal", vec![text.clone()], format!("`{text}`: such a state can be reached under {model}{with}"))
        }
        Violation::Goal { text, .. } => {
            ("goal", vec![text.clone()], format!("`{text}` can be violated under {model}{with}"))
        }
        Violation::Deadlock { threads } => {
            let waiting: Vec<String> = threads.iter().map(WaitingThread::sentence).collect();
            let texts = threads.iter().map(|waiting| waiting.text.clone()).collect();
            ("deadlock", texts, format!("deadlock under {model}{with}: {}", waiting.join("; ")))
        }
    };
    let related = match &witness.violation {
        Violation::Deadlock { threads } => {
            threads.iter().map(|waiting| Remark::new(waiting.position, waiting.sentence())).collect()
        }
        _ => Vec::new(),
    };
    ResultDraft {
        instructions,
        location: Some(Remark::new(witness.violation.position(), message.clone())),
        related,
        flow: flow(&witness.steps, &format!("a run under {model}")),
        ..ResultDraft::new(rule, ResultKind::Fail, Some(model), message)
    }
}

/// An answer of `fence`.
fn fences(answer: &Fences) -> ResultDraft {
    let model = answer.model;
    let quality = match answer.purpose {
        FencePurpose::Trf => "free of triangular races".to_owned(),
        FencePurpose::Safety => format!("safe under {model}"),
        FencePurpose::Robustness => format!("robust against {model}"),
    };
    match answer.outcome {
        FenceOutcome::NotNeeded => {
            ResultDraft::new("fences", ResultKind::Pass, Some(model), format!("{quality} as it is"))
        }
        FenceOutcome::Found => found(answer, &quality),
        FenceOutcome::WrongUnderSc => {
            ResultDraft { message: "wrong under sc already, no fence helps".to_owned(), ..trouble(answer, &quality) }
        }
        FenceOutcome::NoSet => ResultDraft {
            message: format!("no set of fences at the places that are allowed makes it {quality}"),
            ..trouble(answer, &quality)
        },
        FenceOutcome::Unknown => {
            let limit = answer.unknown.as_ref().and_then(|unknown| unknown.limit.as_ref());
            let why = match limit {
                Some(limit) => stopped(limit),
                None if answer.unknown.as_ref().is_some_and(|unknown| unknown.one_delaying_thread) => {
                    ": no violation with one delaying thread, and more is not proved".to_owned()
                }
                None => String::new(),
            };
            let message = format!("not settled which fences make it {quality}{why}");
            ResultDraft::new("fences", ResultKind::Open, Some(model), message)
        }
    }
}

fn found(answer: &Fences, quality: &str) -> ResultDraft {
    let Some(set) = answer.sets.first() else {
        return ResultDraft::new("fences", ResultKind::Fail, Some(answer.model), quality.to_owned());
    };
    let message = match answer.written {
        Some(_) if !set.adds() => {
            let (word, cost) = answer.achieved(set);
            format!("{word} ({cost}, proved minimal)")
        }
        _ => format!(
            "{} {} it {quality} (cost {}, proved minimal)",
            set.fences,
            if set.fences == 1 { "change makes" } else { "changes make" },
            set.cost
        ),
    };
    let mut changes = set.changes.iter().map(|change| {
        let joint = if change.change.is_some_and(|kind| kind.is_insertion()) { " after " } else { ": " };
        Remark::new(change.position, format!("{}{joint}`{}`", change.words(), change.after))
    });
    ResultDraft {
        location: changes.next(),
        related: changes.collect(),
        fix: answer.diff.as_ref().and_then(|diff| fixes::of_diff(&answer.file, diff, &message)),
        ..ResultDraft::new("fences", ResultKind::Fail, Some(answer.model), message)
    }
}

/// What no fence forbids, as `check` or `reach` would report it.
fn trouble(answer: &Fences, quality: &str) -> ResultDraft {
    let Some(trouble) = &answer.trouble else {
        return ResultDraft::new("fences", ResultKind::Fail, Some(answer.model), format!("not {quality}"));
    };
    let with = with(trouble.instance.as_ref());
    let mut found = match &trouble.found {
        TroubleKind::Attack(found) => attack(robustness_rule(answer.model), found, &with),
        TroubleKind::Race(found) => race(answer.model, found),
        TroubleKind::Run(found) => run(found, &with),
        TroubleKind::Stale(found) => stale(answer.model, found),
        TroubleKind::DataRace(found) => data_race(answer.model, found),
    };
    found.model = Some(answer.model);
    found
}

fn troubles(answer: &NoAnswer) -> Vec<Notification> {
    if answer.diagnostics.is_empty() {
        return vec![notification(SarifLevel::Error, &answer.message, &answer.file, None, None)];
    }
    let of_diagnostic = |diagnostic: &Diagnostic| {
        let end = diagnostic.end_line.zip(diagnostic.end_column);
        let mut message = diagnostic.message.clone();
        for words in [&diagnostic.label, &diagnostic.help].into_iter().flatten() {
            message.push_str(&format!("; {words}"));
        }
        let level = if diagnostic.severity == Severity::Warning { SarifLevel::Warning } else { SarifLevel::Error };
        notification(level, &message, &answer.file, diagnostic.position, end)
    };
    answer.diagnostics.iter().map(of_diagnostic).collect()
}

/// A message about a part of a file; `end` is the line and column after it.
fn notification(
    level: SarifLevel,
    message: &str,
    file: &str,
    position: Option<Position>,
    end: Option<(usize, usize)>,
) -> Notification {
    let mut physical = physical(file, position);
    if let (Some(region), Some((line, column))) = (&mut physical.region, end) {
        (region.end_line, region.end_column) = (Some(line), Some(column));
    }
    let location = SarifLocation { physical_location: Some(physical), ..SarifLocation::default() };
    Notification { level, message: message.into(), locations: vec![location] }
}
