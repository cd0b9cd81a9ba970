//! Translates a request of the page to the command that answers it, and the command's JSON to what the page shows.

use crate::child::{CheckLimits, ChildEnd, Children, LARGEST_PROGRAM};
use crate::http::Response;
use crate::results::Results;
use ravelin_report::page::page;
use ravelin_report::story;
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

const LANGUAGES: [&str; 5] = ["rav", "litmus", "trencher", "memorax", "rocker"];

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
}

/// What the page needs to know to make requests.
pub fn setup(limits: &CheckLimits) -> Value {
    let questions = QUESTIONS
        .iter()
        .map(|question| json!({ "name": question.name, "title": question.title, "models": question.models }));
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
pub fn check(children: &Children, results: &Results, body: &[u8], gone: &dyn Fn() -> bool) -> Response {
    let asked = match read(body) {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    let Some(question) = QUESTIONS.iter().find(|question| question.name == asked.question) else {
        return Response::error(400, "there is no such question");
    };
    if !question.models.contains(&asked.model.as_str()) {
        return Response::error(400, "this question is not available for this model");
    }
    let limits = &children.limits;
    let mut arguments: Vec<String> = question.words.iter().map(|&word| word.to_owned()).collect();
    arguments.extend(["-", "--from", &asked.language, "--model", &asked.model, "--format", "json"].map(str::to_owned));
    arguments.extend(["--timeout".to_owned(), format!("{:.3}s", limits.time.as_secs_f64())]);
    arguments.extend(["--max-states".to_owned(), limits.states.to_string()]);
    arguments.extend(["--max-memory".to_owned(), limits.memory.to_string()]);
    arguments.extend(["--workers".to_owned(), limits.workers.to_string()]);
    match children.run(&arguments, &asked.program, gone) {
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
    let verdict = match (first["verdict"].as_str(), code) {
        (Some(verdict), _) => verdict.to_owned(),
        (None, 0) => "holds".to_owned(),
        (None, 1) => "violated".to_owned(),
        (None, _) => "unknown".to_owned(),
    };
    let summary = match (first["message"].as_str(), told.stories.first()) {
        (Some(message), _) if verdict == "error" => message.to_owned(),
        (_, Some(story)) => story.sentence.clone(),
        (_, None) => "there is no answer".to_owned(),
    };
    let diagnostics = first.get("diagnostics").cloned().unwrap_or_else(|| json!([]));
    let result = (verdict != "error").then(|| results.keep(page(&told, &[(name, asked.program.clone())])));
    Response::json(&json!({
        "verdict": verdict,
        "summary": summary,
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
    match children.run(&arguments, &asked.program, gone) {
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
