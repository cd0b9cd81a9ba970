//! Answers of `check`, `reach` and `fence` as SARIF: a result each. A violation fails its rule, what holds passes it, what is not
//! settled leaves it open; a program that cannot be read is a notification.
//!
//! The answers are taken as the JSON of docs/json.md, which has all there is to say about them.

use super::{Columns, Run, STATIC, document, fixes, flow, numbered, place};
use serde_json::{Value, json};

/// The document for the answers of one invocation. `root` is the folder in which it ran.
pub fn report(answers: &[Value], root: Option<&str>) -> String {
    let mut results = Vec::new();
    let mut notifications = Vec::new();
    for answer in answers {
        if answer["verdict"] == json!("error") {
            notifications.extend(troubles(answer));
        } else {
            results.push(result(answer, told(answer)));
            results.extend(stops(answer).map(|told| result(answer, told)));
        }
    }
    document(Run { rules: STATIC, results, notifications, columns: Columns::Characters, root })
}

/// What an answer comes down to.
struct Told {
    rule: &'static str,
    kind: &'static str,
    message: String,
    /// What tells it from others of its rule, unless the witness of the answer does.
    instruction: Option<String>,
    locations: Vec<Value>,
    related: Vec<Value>,
    flow: Option<Value>,
    fix: Option<Value>,
}

impl Told {
    /// An answer without a place of its own.
    fn of_file(answer: &Value, rule: &'static str, kind: &'static str, message: String) -> Told {
        let locations = vec![place(file(answer), None, None, &message)];
        Told { rule, kind, message, instruction: None, locations, related: Vec::new(), flow: None, fix: None }
    }
}

fn told(answer: &Value) -> Told {
    if answer.get("outcome").is_some() { fences(answer) } else { verdict(answer) }
}

/// The places where threads can stop, beside any answer.
fn stops(answer: &Value) -> impl Iterator<Item = Told> {
    answer["stops"]["found"].as_array().into_iter().flatten().map(move |stop| {
        let rule = if text(stop, "kind") == "assert" { "assert" } else { "fault" };
        let message = text(stop, "message").to_owned();
        let locations = vec![place(file(answer), stop["line"].as_u64(), stop["column"].as_u64(), &message)];
        let instruction = stop["text"].as_str().map(str::to_owned);
        Told { rule, kind: "fail", message, instruction, locations, related: Vec::new(), flow: None, fix: None }
    })
}

fn result(answer: &Value, told: Told) -> Value {
    let index = STATIC.iter().position(|rule| rule.id == told.rule);
    let level = match (told.kind, index) {
        ("fail", Some(index)) => STATIC[index].level,
        _ => "none",
    };
    let mut result = json!({
        "ruleId": told.rule,
        "kind": told.kind,
        "level": level,
        "message": { "text": told.message },
        "partialFingerprints": { "ravelinPlaces/v1": fingerprint(&told, answer) },
        "locations": told.locations,
    });
    if let Some(index) = index {
        result["ruleIndex"] = json!(index);
    }
    if !told.related.is_empty() {
        result["relatedLocations"] = json!(numbered(told.related));
    }
    if let Some(flow) = told.flow {
        result["codeFlows"] = json!([flow]);
    }
    if let Some(fix) = told.fix {
        result["fixes"] = json!([fix]);
    }
    result
}

/// The same for the same violation when lines move: the rule, the model and the instructions.
fn fingerprint(told: &Told, answer: &Value) -> String {
    let mut words = vec![told.rule.to_owned(), text(answer, "model").to_owned()];
    if let Some(instruction) = &told.instruction {
        words.push(instruction.clone());
        return words.join(" ");
    }
    let witness = &answer["witness"];
    for part in [&witness["store"], &witness["load"], &witness["violation"]] {
        words.extend(part["text"].as_str().map(str::to_owned));
    }
    for place in ["access", "ignored", "first", "second"] {
        let found = if witness.is_object() { witness } else { &answer["race"] };
        words.extend(event(found, &found[place]).and_then(|event| event["text"].as_str()).map(str::to_owned));
    }
    words.join(" ")
}

/// An answer of `check` or `reach`.
fn verdict(answer: &Value) -> Told {
    let (rule, property) = asked(answer);
    let model = text(answer, "model");
    let with = instance(&answer["any_number"]["instance"]);
    match text(answer, "verdict") {
        "violated" => violated(answer, rule, &with),
        "holds" => {
            let every = if answer["any_number"].is_object() { " for every number of threads" } else { "" };
            Told::of_file(answer, rule, "pass", format!("{property}{every}"))
        }
        "not_applicable" => {
            let message = format!("{model} does not apply: {}", text(answer, "message"));
            Told::of_file(answer, rule, "notApplicable", message)
        }
        _ => Told::of_file(answer, rule, "open", format!("not settled whether {property}{}", why(answer))),
    }
}

/// The rule that was asked about, and what it means that it holds.
fn asked(answer: &Value) -> (&'static str, String) {
    let model = text(answer, "model");
    match (text(answer, "property"), model) {
        ("trf", _) => ("triangular-race", "free of triangular races".to_owned()),
        ("robust", "pso") => ("not-robust-pso", "robust against pso".to_owned()),
        ("robust", "tso") => ("not-robust-tso", "robust against tso".to_owned()),
        (_, "ra" | "rc20") => ("stale-access", format!("robust against {model}")),
        _ => (
            "goal",
            format!("right under {model}: no forbidden state, no failing assertion and no error can be reached"),
        ),
    }
}

fn why(answer: &Value) -> String {
    match limit(&answer["limit"]) {
        Some(limit) => format!(": {limit}"),
        None if answer["one_delaying_thread"] == json!(true) => {
            ": no violation with one delaying thread, and more is not proved".to_owned()
        }
        None if answer["cut_off"] == json!(true) => {
            format!(": no violation within store buffers of {}", answer["buffer"])
        }
        None => String::new(),
    }
}

fn limit(limit: &Value) -> Option<String> {
    let value = limit["value"].as_f64();
    match (limit["kind"].as_str()?, value) {
        ("states", Some(states)) => Some(format!("stopped after {states} states")),
        ("memory", Some(bytes)) => Some(format!("stopped at {} MiB of memory", (bytes / 1048576.0).round())),
        ("time", Some(seconds)) => Some(format!("stopped after {seconds} s")),
        _ => Some("interrupted".to_owned()),
    }
}

/// ` with 2 copies of p`.
fn instance(instance: &Value) -> String {
    let copies: Vec<String> = instance["copies"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|copies| format!("{} × {}", copies["copies"], text(copies, "thread")))
        .collect();
    if copies.is_empty() { String::new() } else { format!(" with {}", copies.join(", ")) }
}

fn violated(answer: &Value, rule: &'static str, with: &str) -> Told {
    let model = text(answer, "model");
    if text(answer, "property") == "trf" {
        return race(answer, &answer["race"]);
    }
    if answer["race"].is_object() {
        return data_race(answer, &answer["race"]);
    }
    let witness = &answer["witness"];
    if witness["violation"].is_object() {
        return run(answer, witness, with);
    }
    if matches!(model, "ra" | "rc20") {
        return stale(answer, witness);
    }
    if witness.is_object() {
        return attack(answer, rule, witness, with);
    }
    Told::of_file(answer, rule, "fail", format!("violated under {model}{with}"))
}

/// A delayed store and what overtakes it; the rest of the cycle is related.
fn attack(answer: &Value, rule: &'static str, witness: &Value, with: &str) -> Told {
    let file = file(answer);
    let (store, load) = (&witness["store"], &witness["load"]);
    // Under PSO stores overtake, too, and then a weaker fence is enough.
    let step = witness["steps"].as_array().and_then(|steps| steps.iter().find(|step| step["part"] == json!("ld")));
    let by_store = step.is_some_and(|step| step["reads"].as_array().is_none_or(Vec::is_empty));
    let (fence, second) = if by_store { ("release", "store") } else { ("seq_cst", "load") };
    let remedy = format!(
        "A fence (`fence({fence})`) between the store{} and the {second}{} stops this.",
        line(store),
        line(load)
    );
    let message = format!("not robust against {}{with}: {} {remedy}", text(answer, "model"), text(witness, "sentence"));
    let mut related = vec![
        at(file, load, &format!("overtakes the store: `{}`", text(load, "text"))),
        at(file, load, &format!("a fence (`fence({fence})`) before this stops it")),
    ];
    for event in witness["cycle"].as_array().into_iter().flatten() {
        let cell = event["cell"].as_str().map(|cell| format!(" {cell}")).unwrap_or_default();
        let told =
            format!("{} {} ({}{cell} to the next)", text(event, "thread"), text(event, "text"), text(event, "edge"));
        related.push(at(file, event, &told));
    }
    let model = text(answer, "model");
    Told {
        instruction: None,
        rule,
        kind: "fail",
        message,
        locations: vec![at(file, store, &format!("delayed store: `{}`", text(store, "text")))],
        related,
        flow: flow::of_steps(file, &witness["steps"], &format!("a computation under {model}")),
        fix: None,
    }
}

fn stale(answer: &Value, witness: &Value) -> Told {
    let (file, model) = (file(answer), text(answer, "model"));
    let told = |number: &Value, role: &str| {
        let event = event(witness, number).unwrap_or(&Value::Null);
        at(file, event, &format!("{role}: {}", text(event, "text")))
    };
    let mut related = vec![told(&witness["ignored"], "ignored")];
    for edge in witness["cycle"].as_array().into_iter().flatten() {
        let from = event(witness, &edge["from"]).unwrap_or(&Value::Null);
        let message = format!(
            "{} {} ({} to the next)",
            from["thread"].as_str().unwrap_or("initially"),
            text(from, "text"),
            text(edge, "kind")
        );
        related.push(at(file, from, &message));
    }
    let remedy = &witness["remedy"];
    for stronger in remedy["strengthen"].as_array().into_iter().flatten() {
        related.push(told(&stronger["event"], &format!("make this {}", text(stronger, "order"))));
    }
    for fence in remedy["fence_before"].as_array().into_iter().flatten() {
        related.push(told(fence, "put a seq_cst fence before this"));
    }
    Told {
        instruction: None,
        rule: "stale-access",
        kind: "fail",
        message: format!("not robust against {model}: {}", text(witness, "sentence")),
        locations: vec![told(&witness["access"], "stale access")],
        related,
        flow: flow::of_steps(file, &witness["steps"], "a run under sc up to the access"),
        fix: None,
    }
}

fn data_race(answer: &Value, race: &Value) -> Told {
    let file = file(answer);
    let told = |number: &Value, role: &str| {
        let event = event(race, number).unwrap_or(&Value::Null);
        at(file, event, &format!("{role}: {}", text(event, "text")))
    };
    Told {
        instruction: None,
        rule: "data-race",
        kind: "fail",
        message: format!("data race: {}", text(race, "sentence")),
        locations: vec![told(&race["second"], "second access")],
        related: vec![told(&race["first"], "first access")],
        flow: flow::of_steps(file, &race["steps"], "a run under sc up to the second access"),
        fix: None,
    }
}

fn race(answer: &Value, race: &Value) -> Told {
    let file = file(answer);
    let message = format!(
        "{} stores to `{}`{} and then, with no fence between, reads `{}`{}, to which {} stores{}.",
        text(race, "thread"),
        text(race, "stored"),
        line(&race["store"]),
        text(race, "loaded"),
        line(&race["load"]),
        text(race, "racing_thread"),
        line(&race["racing_store"])
    );
    let told = |place: &Value, role: &str| at(file, place, &format!("{role}: `{}`", text(place, "text")));
    Told {
        instruction: None,
        rule: "triangular-race",
        kind: "fail",
        message,
        locations: vec![told(&race["load"], "load")],
        related: vec![told(&race["store"], "store"), told(&race["racing_store"], "racing store")],
        flow: flow::of_steps(file, &race["steps"], "a run under sc"),
        fix: None,
    }
}

/// A run that reaches what is forbidden.
fn run(answer: &Value, witness: &Value, with: &str) -> Told {
    let (file, model, violation) = (file(answer), text(answer, "model"), &witness["violation"]);
    let (what, thread) = (text(violation, "text"), text(violation, "thread"));
    let (rule, message) = match text(violation, "kind") {
        "assert" => ("assert", format!("`{what}` can fail in {thread} under {model}{with}")),
        "fault" => {
            ("fault", format!("error in {thread} at `{what}` under {model}{with}: {}", text(violation, "fault")))
        }
        _ => ("goal", format!("`{what}` can be violated under {model}{with}")),
    };
    Told {
        instruction: None,
        rule,
        kind: "fail",
        locations: vec![at(file, violation, &message)],
        message,
        related: Vec::new(),
        flow: flow::of_steps(file, &witness["steps"], &format!("a run under {model}")),
        fix: None,
    }
}

/// An answer of `fence`.
fn fences(answer: &Value) -> Told {
    let model = text(answer, "model");
    let quality = match text(answer, "purpose") {
        "trf" => "free of triangular races".to_owned(),
        "safety" => format!("safe under {model}"),
        _ => format!("robust against {model}"),
    };
    match text(answer, "outcome") {
        "not_needed" => Told::of_file(answer, "fences", "pass", format!("{quality} as it is")),
        "found" => found(answer, &quality),
        "wrong_under_sc" => {
            Told { message: "wrong under sc already, no fence helps".to_owned(), ..trouble(answer, &quality) }
        }
        "no_set" => Told {
            message: format!("no set of fences at the places that are allowed makes it {quality}"),
            ..trouble(answer, &quality)
        },
        _ => {
            let message = format!("not settled which fences make it {quality}{}", why(&answer["unknown"]));
            Told::of_file(answer, "fences", "open", message)
        }
    }
}

fn found(answer: &Value, quality: &str) -> Told {
    let file = file(answer);
    let set = &answer["sets"][0];
    let changes = set["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let told = |change: &Value| {
        let joint = if text(change, "change").starts_with("insert") { " after " } else { ": " };
        at(file, change, &format!("{}{joint}`{}`", text(change, "change"), text(change, "after")))
    };
    let one = set["fences"] == json!(1);
    let message = format!(
        "{} {} it {quality} (cost {}, proved minimal)",
        set["fences"],
        if one { "change makes" } else { "changes make" },
        set["cost"]
    );
    let mut locations: Vec<Value> = changes.iter().map(told).collect();
    let related = if locations.len() > 1 { locations.split_off(1) } else { Vec::new() };
    if locations.is_empty() {
        locations.push(place(file, None, None, &message));
    }
    let fix = answer["diff"].as_str().and_then(|diff| fixes::of_diff(file, diff, &message));
    Told { rule: "fences", kind: "fail", message, instruction: None, locations, related, flow: None, fix }
}

/// What no fence forbids, told as `check` or `reach` would.
fn trouble(answer: &Value, quality: &str) -> Told {
    let trouble = &answer["trouble"];
    let with = instance(&trouble["instance"]);
    let rule = if text(answer, "model") == "pso" { "not-robust-pso" } else { "not-robust-tso" };
    for kind in ["attack", "race", "run", "stale", "data_race"] {
        let found = &trouble[kind];
        if found.is_object() {
            return match kind {
                "attack" => attack(answer, rule, found, &with),
                "race" => race(answer, found),
                "run" => run(answer, found, &with),
                "stale" => stale(answer, found),
                _ => data_race(answer, found),
            };
        }
    }
    Told::of_file(answer, "fences", "fail", format!("not {quality}"))
}

/// What is wrong with a program that could not be read or asked about.
fn troubles(answer: &Value) -> Vec<Value> {
    let file = file(answer);
    let diagnostics = answer["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
    let notification = |level: &str, message: &str, location: Value| {
        let location = json!({ "physicalLocation": location["physicalLocation"] });
        json!({ "level": level, "message": { "text": message }, "locations": [location] })
    };
    if diagnostics.is_empty() {
        return vec![notification("error", text(answer, "message"), place(file, None, None, ""))];
    }
    let told = |diagnostic: &Value| {
        let mut location = at(file, diagnostic, "");
        let end = (diagnostic["end_line"].as_u64(), diagnostic["end_column"].as_u64());
        if let (Some(line), Some(column), true) = (end.0, end.1, location["physicalLocation"]["region"].is_object()) {
            location["physicalLocation"]["region"]["endLine"] = json!(line);
            location["physicalLocation"]["region"]["endColumn"] = json!(column);
        }
        let mut message = text(diagnostic, "message").to_owned();
        for more in ["label", "help"] {
            if let Some(words) = diagnostic[more].as_str() {
                message.push_str(&format!("; {words}"));
            }
        }
        let level = if text(diagnostic, "severity") == "warning" { "warning" } else { "error" };
        notification(level, &message, location)
    };
    diagnostics.iter().map(told).collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn file(answer: &Value) -> &str {
    text(answer, "file")
}

/// The place of anything that has a `line` and a `column`.
fn at(file: &str, found: &Value, message: &str) -> Value {
    place(file, found["line"].as_u64(), found["column"].as_u64(), message)
}

fn line(found: &Value) -> String {
    found["line"].as_u64().map(|line| format!(" on line {line}")).unwrap_or_default()
}

/// The event of a graph by its number.
fn event<'a>(witness: &'a Value, number: &Value) -> Option<&'a Value> {
    witness["events"].get(usize::try_from(number.as_u64()?).ok()?)
}
