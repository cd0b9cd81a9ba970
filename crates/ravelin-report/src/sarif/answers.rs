//! Answers of `check`, `reach` and `fence` as SARIF, one result each. A violation fails its rule, a proof passes it, an
//! unsettled answer leaves it open; a program that cannot be read is a notification.

use super::{Columns, Run, STATIC, document, fixes, flow, numbered, place};
use ravelin_answer::{
    Answer, AnyNumber, AttackWitness, C11Race, C11Robustness, C11Witness, Diagnostic, Event, FenceOutcome,
    FencePurpose, Fences, Instance, Limit, NoAnswer, NoVerdict, OvertakingAccess, Reachability, Robustness, RunStep,
    RunWitness, Severity, SourcePlace, TriangularRace, TriangularRaces, TroubleKind, Verdict, Violation,
};
use ravelin_program::{Model, Position};
use serde_json::{Value, json};

/// The document for the answers of one invocation. `root` is the folder in which it ran.
pub fn report(answers: &[Answer], root: Option<&str>) -> String {
    let mut results = Vec::new();
    let mut notifications = Vec::new();
    for answer in answers {
        let file = answer.file();
        match answer {
            Answer::None(none) if none.verdict == NoVerdict::Error => notifications.extend(troubles(none)),
            Answer::None(none) => results.extend(without_answer(none).map(|found| found.told(file))),
            Answer::Robustness(answer) => results.push(robustness(answer).told(file)),
            Answer::TriangularRaces(answer) => results.push(triangular_races(answer).told(file)),
            Answer::C11Robustness(answer) => results.push(c11_robustness(answer).told(file)),
            Answer::Reachability(answer) => results.push(reachability(answer).told(file)),
            Answer::Fences(answer) => results.push(fences(answer).told(file)),
            // These find no violations.
            Answer::FencePlaces(_) | Answer::FinalStates(_) | Answer::Simulation(_) => {}
            Answer::Coverability(_) | Answer::Comparison(_) | Answer::Diagnostics(_) => {}
        }
        results.extend(stops(answer).map(|found| found.told(file)));
    }
    document(Run { rules: STATIC, results, notifications, columns: Columns::Characters, root })
}

/// The result for an answer.
struct Finding {
    rule: &'static str,
    kind: Kind,
    message: String,
    /// What distinguishes it from others of its rule, when lines move.
    model: Option<Model>,
    instructions: Vec<String>,
    /// Its place, if it has one.
    location: Option<Remark>,
    related: Vec<Remark>,
    flow: Option<(Vec<RunStep>, String)>,
    fix: Option<Value>,
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

    fn told(&self, file: &str) -> Value {
        place(file, self.position, &self.message)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fail,
    Pass,
    Open,
    NotApplicable,
}

impl Finding {
    /// Without a place.
    fn new(rule: &'static str, kind: Kind, model: Option<Model>, message: String) -> Finding {
        Finding {
            rule,
            kind,
            message,
            model,
            instructions: Vec::new(),
            location: None,
            related: Vec::new(),
            flow: None,
            fix: None,
        }
    }

    fn told(self, file: &str) -> Value {
        let index = STATIC.iter().position(|rule| rule.id == self.rule);
        let level = match (self.kind, index) {
            (Kind::Fail, Some(index)) => STATIC[index].level,
            _ => "none",
        };
        let kind = match self.kind {
            Kind::Fail => "fail",
            Kind::Pass => "pass",
            Kind::Open => "open",
            Kind::NotApplicable => "notApplicable",
        };
        // Stable for the same violation when lines move: the rule, the model and the instructions.
        let mut words = vec![self.rule, self.model.map_or("", Model::name)];
        words.extend(self.instructions.iter().map(String::as_str));
        let location = self.location.as_ref().map_or_else(|| place(file, None, &self.message), |at| at.told(file));
        let mut result = json!({
            "ruleId": self.rule,
            "kind": kind,
            "level": level,
            "message": { "text": self.message },
            "partialFingerprints": { "ravelinPlaces/v1": words.join(" ") },
            "locations": [location],
        });
        if let Some(index) = index {
            result["ruleIndex"] = json!(index);
        }
        if !self.related.is_empty() {
            result["relatedLocations"] = json!(numbered(self.related.iter().map(|remark| remark.told(file)).collect()));
        }
        if let Some(flow) = self.flow.and_then(|(steps, message)| flow::of_steps(file, &steps, &message)) {
            result["codeFlows"] = json!([flow]);
        }
        if let Some(fix) = self.fix {
            result["fixes"] = json!([fix]);
        }
        result
    }
}

/// A run that demonstrates it.
fn flow(steps: &[RunStep], message: &str) -> Option<(Vec<RunStep>, String)> {
    Some((steps.to_vec(), message.to_owned()))
}

/// The places where threads can stop, in addition to any answer.
fn stops(answer: &Answer) -> impl Iterator<Item = Finding> {
    answer.stops().into_iter().flat_map(|stops| &stops.found).map(|stop| {
        let (rule, text) = match &stop.violation {
            Violation::Assert { text, .. } => ("assert", text),
            Violation::Fault { text, .. } | Violation::Goal { text, .. } => ("fault", text),
        };
        Finding {
            instructions: vec![text.clone()],
            location: Some(Remark::new(stop.violation.position(), stop.message.clone())),
            ..Finding::new(rule, Kind::Fail, model(answer), stop.message.clone())
        }
    })
}

fn model(answer: &Answer) -> Option<Model> {
    match answer {
        Answer::Robustness(answer) => Some(answer.model),
        Answer::TriangularRaces(answer) => Some(answer.model),
        Answer::C11Robustness(answer) => Some(answer.model),
        Answer::Fences(answer) => Some(answer.model),
        Answer::FinalStates(answer) => Some(answer.model),
        _ => None,
    }
}

/// A model that does not apply, and an analysis that was interrupted.
fn without_answer(answer: &NoAnswer) -> Option<Finding> {
    let model = answer.model?;
    let rule = if model.is_c11() { "stale-access" } else { "goal" };
    Some(match answer.verdict {
        NoVerdict::NotApplicable => {
            let message = format!("{model} does not apply: {}", answer.message);
            Finding::new(rule, Kind::NotApplicable, Some(model), message)
        }
        _ => {
            let message = format!("not settled{}", answer.limit.as_ref().map(stopped).unwrap_or_default());
            Finding::new(rule, Kind::Open, Some(model), message)
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
    found: Option<Finding>,
) -> Finding {
    match (verdict, found) {
        (_, Some(found)) => found,
        (Verdict::Holds, None) => Finding::new(rule, Kind::Pass, Some(model), property.to_owned()),
        (Verdict::Violated, None) => Finding::new(rule, Kind::Fail, Some(model), format!("not {property}")),
        (Verdict::Unknown, None) => {
            Finding::new(rule, Kind::Open, Some(model), format!("not settled whether {property}{why}"))
        }
    }
}

fn robustness(answer: &Robustness) -> Finding {
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
    judged(rule, model, &format!("robust against {model}{every}"), answer.verdict, why, found)
}

fn robustness_rule(model: Model) -> &'static str {
    match model {
        Model::Pso => "not-robust-pso",
        Model::Ra | Model::Rc20 => "stale-access",
        Model::Sc | Model::Tso => "not-robust-tso",
    }
}

fn triangular_races(answer: &TriangularRaces) -> Finding {
    let why = answer.limit.as_ref().map(stopped).unwrap_or_default();
    let found = answer.race.as_ref().map(|found| race(answer.model, found));
    judged("triangular-race", answer.model, "free of triangular races", answer.verdict, why, found)
}

fn c11_robustness(answer: &C11Robustness) -> Finding {
    let model = answer.model;
    let why = answer.limit.as_ref().map(stopped).unwrap_or_default();
    let found = answer.witness.as_ref().map(|witness| stale(model, witness));
    let found = found.or_else(|| answer.race.as_ref().map(|found| data_race(model, found)));
    judged("stale-access", model, &format!("robust against {model}"), answer.verdict, why, found)
}

fn reachability(answer: &Reachability) -> Finding {
    let model = answer.model;
    let every = every(answer.any_number.as_ref());
    let property =
        format!("right under {model}: no forbidden state, no failing assertion and no error can be reached{every}");
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
fn attack(rule: &'static str, witness: &AttackWitness, with: &str) -> Finding {
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
    Finding {
        instructions: vec![store.text.clone(), load.text.clone()],
        location: Some(Remark::new(store.position, format!("delayed store: `{}`", store.text))),
        related,
        flow: flow(&witness.steps, &format!("a computation under {model}")),
        ..Finding::new(rule, Kind::Fail, Some(*model), message)
    }
}

fn remark(events: &[Event], number: usize, role: &str) -> Remark {
    Remark::new(events[number].position, format!("{role}: {}", events[number].text))
}

fn stale(model: Model, witness: &C11Witness) -> Finding {
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
    Finding {
        instructions: vec![events[witness.access].text.clone(), events[witness.ignored].text.clone()],
        location: Some(remark(events, witness.access, "stale access")),
        related,
        flow: flow(&witness.steps, "a run under sc up to the access"),
        ..Finding::new(
            "stale-access",
            Kind::Fail,
            Some(model),
            format!("not robust against {model}: {}", witness.sentence),
        )
    }
}

fn data_race(model: Model, race: &C11Race) -> Finding {
    let events = &race.events;
    Finding {
        instructions: vec![events[race.first].text.clone(), events[race.second].text.clone()],
        location: Some(remark(events, race.second, "second access")),
        related: vec![remark(events, race.first, "first access")],
        flow: flow(&race.steps, "a run under sc up to the second access"),
        ..Finding::new("data-race", Kind::Fail, Some(model), format!("data race: {}", race.sentence))
    }
}

fn race(model: Model, race: &TriangularRace) -> Finding {
    let TriangularRace { thread, racing_thread, store, load, racing_store, stored, loaded, .. } = race;
    let message = format!(
        "{thread} stores to `{stored}`{} and then, with no fence between, reads `{loaded}`{}, to which {racing_thread} stores{}.",
        line(store),
        line(load),
        line(racing_store)
    );
    let remark = |place: &SourcePlace, role: &str| Remark::new(place.position, format!("{role}: `{}`", place.text));
    Finding {
        location: Some(remark(load, "load")),
        related: vec![remark(store, "store"), remark(racing_store, "racing store")],
        flow: flow(&race.steps, "a run under sc"),
        ..Finding::new("triangular-race", Kind::Fail, Some(model), message)
    }
}

/// A run that reaches what is forbidden.
fn run(witness: &RunWitness, with: &str) -> Finding {
    let model = witness.model;
    let (rule, text, message) = match &witness.violation {
        Violation::Assert { thread, text, .. } => {
            ("assert", text, format!("`{text}` can fail in {thread} under {model}{with}"))
        }
        Violation::Fault { thread, text, fault, .. } => {
            ("fault", text, format!("error in {thread} at `{text}` under {model}{with}: {fault}"))
        }
        Violation::Goal { text, .. } => ("goal", text, format!("`{text}` can be violated under {model}{with}")),
    };
    Finding {
        instructions: vec![text.clone()],
        location: Some(Remark::new(witness.violation.position(), message.clone())),
        flow: flow(&witness.steps, &format!("a run under {model}")),
        ..Finding::new(rule, Kind::Fail, Some(model), message)
    }
}

/// An answer of `fence`.
fn fences(answer: &Fences) -> Finding {
    let model = answer.model;
    let quality = match answer.purpose {
        FencePurpose::Trf => "free of triangular races".to_owned(),
        FencePurpose::Safety => format!("safe under {model}"),
        FencePurpose::Robustness => format!("robust against {model}"),
    };
    match answer.outcome {
        FenceOutcome::NotNeeded => Finding::new("fences", Kind::Pass, Some(model), format!("{quality} as it is")),
        FenceOutcome::Found => found(answer, &quality),
        FenceOutcome::WrongUnderSc => {
            Finding { message: "wrong under sc already, no fence helps".to_owned(), ..trouble(answer, &quality) }
        }
        FenceOutcome::NoSet => Finding {
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
            Finding::new("fences", Kind::Open, Some(model), message)
        }
    }
}

fn found(answer: &Fences, quality: &str) -> Finding {
    let Some(set) = answer.sets.first() else {
        return Finding::new("fences", Kind::Fail, Some(answer.model), quality.to_owned());
    };
    let message = format!(
        "{} {} it {quality} (cost {}, proved minimal)",
        set.fences,
        if set.fences == 1 { "change makes" } else { "changes make" },
        set.cost
    );
    let mut changes = set.changes.iter().map(|change| {
        let kind = change.change;
        let joint = if kind.is_some_and(|kind| kind.is_insertion()) { " after " } else { ": " };
        Remark::new(change.position, format!("{}{joint}`{}`", kind.map_or("", |kind| kind.name()), change.after))
    });
    Finding {
        location: changes.next(),
        related: changes.collect(),
        fix: answer.diff.as_ref().and_then(|diff| fixes::of_diff(&answer.file, diff, &message)),
        ..Finding::new("fences", Kind::Fail, Some(answer.model), message)
    }
}

/// What no fence forbids, as `check` or `reach` would report it.
fn trouble(answer: &Fences, quality: &str) -> Finding {
    let Some(trouble) = &answer.trouble else {
        return Finding::new("fences", Kind::Fail, Some(answer.model), format!("not {quality}"));
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

/// What is wrong with a program that could not be read or analysed.
fn troubles(answer: &NoAnswer) -> Vec<Value> {
    let notification = |level: &str, message: &str, location: Value| {
        let location = json!({ "physicalLocation": location["physicalLocation"] });
        json!({ "level": level, "message": { "text": message }, "locations": [location] })
    };
    if answer.diagnostics.is_empty() {
        return vec![notification("error", &answer.message, place(&answer.file, None, ""))];
    }
    let told = |diagnostic: &Diagnostic| {
        let mut location = place(&answer.file, diagnostic.position, "");
        let end = (diagnostic.end_line, diagnostic.end_column);
        if let (Some(line), Some(column), true) = (end.0, end.1, location["physicalLocation"]["region"].is_object()) {
            location["physicalLocation"]["region"]["endLine"] = json!(line);
            location["physicalLocation"]["region"]["endColumn"] = json!(column);
        }
        let mut message = diagnostic.message.clone();
        for words in [&diagnostic.label, &diagnostic.help].into_iter().flatten() {
            message.push_str(&format!("; {words}"));
        }
        let level = if diagnostic.severity == Severity::Warning { "warning" } else { "error" };
        notification(level, &message, location)
    };
    answer.diagnostics.iter().map(told).collect()
}
