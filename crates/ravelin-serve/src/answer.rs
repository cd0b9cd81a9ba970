//! Translates a request of the page to the command that answers it, and the command's JSON to what the page shows.

use crate::child::{CheckLimits, CheckProgress, ChildEnd, Children, LARGEST_PROGRAM};
use crate::http::Response;
use crate::progress::RunningChecks;
use crate::results::Results;
use ravelin_report::page::page;
use ravelin_report::story::{self, Story};
use serde::Deserialize;
use serde_json::{Value, json};

/// The questions, their words on the command line, and the models they support.
const QUESTIONS: &[CheckQuestion] = &[
    CheckQuestion { name: "robust", title: "Is it robust?", words: &["check"], models: &["tso", "pso", "ra", "rc20"] },
    CheckQuestion { name: "trf", title: "Triangular races?", words: &["check", "--property", "trf"], models: &["tso"] },
    CheckQuestion {
        name: "reach",
        title: "Can it go wrong?",
        words: &["reach"],
        models: &["sc", "tso", "pso", "ra", "rc20"],
    },
    CheckQuestion {
        name: "fence",
        title: "Fences for robustness",
        words: &["fence", "--diff", "--explain"],
        models: &["tso", "pso", "ra", "rc20"],
    },
    CheckQuestion {
        name: "safety",
        title: "Fences for safety",
        words: &["fence", "--for", "safety", "--diff", "--explain"],
        models: &["tso", "pso", "ra", "rc20"],
    },
    CheckQuestion {
        name: "states",
        title: "Final states",
        words: &["states"],
        models: &["sc", "tso", "pso", "ra", "rc20"],
    },
];

pub const LANGUAGES: [&str; 5] = ["rav", "litmus", "trencher", "memorax", "rocker"];

/// Stands for all models of a question, side by side.
const ALL: &str = "all";

struct CheckQuestion {
    name: &'static str,
    title: &'static str,
    words: &'static [&'static str],
    models: &'static [&'static str],
}

/// What the page sends.
#[derive(Debug, Deserialize)]
struct CheckRequest {
    program: String,
    language: String,
    #[serde(default)]
    question: String,
    #[serde(default)]
    model: String,
    /// The name of the program in answers.
    #[serde(default)]
    name: String,
    /// What the client calls this check when it asks how far it is.
    #[serde(default)]
    token: String,
}

impl CheckQuestion {
    fn named(name: &str) -> Option<&'static CheckQuestion> {
        QUESTIONS.iter().find(|question| question.name == name)
    }

    /// The models that a word stands for.
    fn models(&self, word: &str) -> Option<&'static [&'static str]> {
        let one = self.models.iter().position(|model| *model == word).map(|place| &self.models[place..=place]);
        one.or((word == ALL).then_some(self.models))
    }
}

/// Whether a question can be asked under a model, and why not.
pub fn is_offered(question: &str, model: &str) -> Result<(), &'static str> {
    let question = CheckQuestion::named(question).ok_or("there is no such question")?;
    question.models(model).map(|_| ()).ok_or("this question is not available for this model")
}

/// What the page needs to know to make requests.
pub fn setup(limits: &CheckLimits) -> Value {
    let questions = QUESTIONS.iter().map(|question| {
        let all = (question.models.len() > 1).then_some(ALL);
        let models: Vec<&str> = question.models.iter().copied().chain(all).collect();
        json!({ "name": question.name, "title": question.title, "models": models })
    });
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "languages": LANGUAGES,
        "questions": questions.collect::<Vec<_>>(),
        "limits": {
            "seconds": limits.time.as_secs_f64(),
            "states": limits.states,
            "memory": limits.memory,
            "program": LARGEST_PROGRAM,
        },
    })
}

fn read(body: &[u8]) -> Result<CheckRequest, Response> {
    let asked: CheckRequest = serde_json::from_slice(body)
        .map_err(|error| Response::error(400, &format!("the request is not understood: {error}")))?;
    if asked.program.len() > LARGEST_PROGRAM {
        return Err(Response::error(413, &format!("programs may have at most {} KiB here", LARGEST_PROGRAM >> 10)));
    }
    if !LANGUAGES.contains(&asked.language.as_str()) {
        return Err(Response::error(400, "there is no such language"));
    }
    Ok(asked)
}

/// Answers a question about a program.
pub fn check(
    children: &Children,
    results: &Results,
    running: &RunningChecks,
    body: &[u8],
    gone: &dyn Fn() -> bool,
) -> Response {
    let asked = match read(body) {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    let Some(question) = CheckQuestion::named(&asked.question) else {
        return Response::error(400, "there is no such question");
    };
    let Some(models) = question.models(&asked.model) else {
        return Response::error(400, "this question is not available for this model");
    };
    let limits = &children.limits;
    let mut arguments: Vec<String> = question.words.iter().map(|&word| word.to_owned()).collect();
    let names = models.join(",");
    arguments.extend(["-", "--from", &asked.language, "--model", &names, "--format", "json"].map(str::to_owned));
    // All models together have the time of one check.
    let time = limits.time.as_secs_f64() / models.len() as f64;
    arguments.extend(["--timeout".to_owned(), format!("{time:.3}s")]);
    arguments.extend(["--max-states".to_owned(), limits.states.to_string()]);
    arguments.extend(["--max-memory".to_owned(), limits.memory.to_string()]);
    arguments.extend(["--workers".to_owned(), limits.workers.to_string()]);
    let listed = running.list(&asked.token);
    match children.run(&arguments, &asked.program, gone, &listed.progress) {
        ChildEnd::Answered { code, answer, complaint } => answered(results, &asked, code, &answer, &complaint),
        other => Response::json(&unanswered(results, other)),
    }
}

fn answered(results: &Results, asked: &CheckRequest, code: i32, answer: &[u8], complaint: &str) -> Response {
    let Ok(mut document) = serde_json::from_slice::<Value>(answer) else {
        // The command line was refused, or the child panicked: its message says why.
        let message = complaint.strip_prefix("error: ").unwrap_or(complaint);
        let message = if message.is_empty() { "the check gave no answer" } else { message };
        return Response::json(&unanswered(results, ChildEnd::Crashed(message.to_owned())));
    };
    let name = named(asked);
    if let Some(answers) = document["answers"].as_array_mut() {
        for answer in answers {
            answer["file"] = json!(name);
        }
    }
    let told = match story::read(&document.to_string()) {
        Ok(told) => told,
        Err(error) => {
            return Response::json(&unanswered(
                results,
                ChildEnd::Crashed(format!("the answer cannot be shown: {error}")),
            ));
        }
    };
    let first = document["answers"].get(0).cloned().unwrap_or_default();
    let verdict = match (first["verdict"].as_str(), told.stories.len(), code) {
        (Some(verdict), 1, _) | (Some(verdict @ "error"), ..) => verdict.to_owned(),
        (_, _, 0) => "holds".to_owned(),
        (_, _, 1) => "violated".to_owned(),
        _ => "unknown".to_owned(),
    };
    let summary = match (first["message"].as_str(), &told.stories[..]) {
        (Some(message), _) if verdict == "error" => message.to_owned(),
        (_, [story]) => story.sentence.clone(),
        (_, []) => "there is no answer".to_owned(),
        (_, stories) => {
            let of_model =
                |story: &Story| format!("{}: {}", story.model.map_or("", |model| model.name()), story.of_model());
            stories.iter().map(of_model).collect::<Vec<_>>().join(", ")
        }
    };
    let models: Vec<Value> = told
        .stories
        .iter()
        .map(|story| json!({ "model": story.model, "verdict": story.verdict.name(), "word": story.of_model() }))
        .collect();
    let diagnostics = first.get("diagnostics").cloned().unwrap_or_else(|| json!([]));
    // A change can be applied if there is one.
    let diff = told.stories.iter().find_map(|story| story.fences.as_ref()?.diff.clone());
    let result = (verdict != "error").then(|| results.keep(page(&told, &[(name, asked.program.clone())])));
    Response::json(&json!({
        "verdict": verdict,
        "summary": summary,
        "models": models,
        "diff": diff.filter(|_| told.stories.len() == 1),
        "diagnostics": diagnostics,
        "result": result.map(|name| format!("/result/{name}")),
    }))
}

/// The message when there is no answer.
fn unanswered(results: &Results, ended: ChildEnd) -> Value {
    let (verdict, summary) = match ended {
        ChildEnd::TimeOut(time) => {
            ("timeout", format!("The check was stopped because it took longer than {} s.", time.as_secs_f64()))
        }
        ChildEnd::TooLong => ("error", "The answer is too long to be shown here.".to_owned()),
        ChildEnd::Busy => ("error", "Too many checks are waiting. Try again in a moment.".to_owned()),
        ChildEnd::Abandoned => ("error", "The check was stopped.".to_owned()),
        ChildEnd::Crashed(message) => ("error", message),
        ChildEnd::Answered { complaint, .. } => ("error", complaint),
    };
    let explanation = match verdict {
        "timeout" => {
            "A smaller program, fewer values or a simpler question may be answered in time. On the command line there are no limits but those you set."
        }
        _ => "",
    };
    let heading = if verdict == "timeout" { "Time-out" } else { "No answer" };
    let result = results.keep(plain(heading, &format!("{summary}\n\n{explanation}")));
    json!({ "verdict": verdict, "summary": summary, "diagnostics": [], "result": format!("/result/{result}") })
}

/// What is wrong with a program.
pub fn diagnose(children: &Children, body: &[u8], gone: &dyn Fn() -> bool) -> Response {
    let asked = match read(body) {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    let arguments = ["diagnose", "-", "--from", &asked.language].map(str::to_owned);
    match children.run(&arguments, &asked.program, gone, &CheckProgress::default()) {
        ChildEnd::Answered { answer, complaint, .. } => match serde_json::from_slice::<Value>(&answer) {
            Ok(document) => Response::json(&json!({ "diagnostics": document["answers"][0]["diagnostics"] })),
            Err(_) => Response::json(&json!({ "diagnostics": [], "message": complaint })),
        },
        ChildEnd::TimeOut(_) => Response::error(503, "the program could not be read in time"),
        ChildEnd::Busy | ChildEnd::Abandoned => Response::error(503, "too many are waiting"),
        ChildEnd::TooLong | ChildEnd::Crashed(_) => Response::error(500, "the program could not be read"),
    }
}

/// The name of the program: the last part of the given name, without characters that do not belong in a name.
fn named(asked: &CheckRequest) -> String {
    let last = asked.name.rsplit('/').next().unwrap_or_default();
    let name: String = last.chars().filter(|letter| !letter.is_control()).take(100).collect();
    let ending = match asked.language.as_str() {
        "trencher" => "txt",
        "memorax" => "rmm",
        "rocker" => "tpl",
        other => other,
    };
    if name.is_empty() { format!("program.{ending}") } else { name }
}

/// A heading and a text.
fn plain(heading: &str, text: &str) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\"><title>Ravelin</title>\
         <style>body{{font:16px/1.5 system-ui,sans-serif;margin:2rem;max-width:44rem}}h1{{font-size:1.3rem}}pre{{white-space:pre-wrap;font-family:inherit}}</style>\
         <h1>{}</h1><pre>{}</pre></html>",
        escaped(heading),
        escaped(text)
    )
}
