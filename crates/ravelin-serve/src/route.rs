//! Routes requests to answers.

use crate::answer;
use crate::child::{CheckLimits, Children};
use crate::examples::Examples;
use crate::guard::HostGuard;
use crate::http::{HttpRequest, Response};
use crate::lecture;
use crate::progress::RunningChecks;
use crate::results::Results;
use serde_json::json;

/// The page may load only its own files and contact only its own server.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; \
                           base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A result is a single file, and may load nothing.
const RESULT_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                             form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-modals allow-downloads";

/// Everything that is needed to answer requests.
pub struct RequestContext {
    pub guard: HostGuard,
    pub examples: Examples,
    /// Children that check, and children that only read a program, which never wait for the others.
    pub checks: Children,
    pub readers: Children,
    pub results: Results,
    pub running: RunningChecks,
    pub limits: CheckLimits,
}

impl RequestContext {
    pub fn answer(&self, request: &HttpRequest, gone: &dyn Fn() -> bool) -> Response {
        if let Some(refused) = self.guard.refuse(request) {
            return refused;
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("GET" | "HEAD", path) => self.give(path, request),
            ("POST", "/api/check") => answer::check(&self.checks, &self.results, &self.running, &request.body, gone),
            ("POST", "/api/diagnose") => answer::diagnose(&self.readers, &request.body, gone),
            ("POST", _) => Response::error(404, "there is nothing here"),
            _ => Response::error(405, "only GET, HEAD and POST are answered").with("Allow", "GET, HEAD, POST"),
        }
    }

    fn give(&self, path: &str, request: &HttpRequest) -> Response {
        match path {
            "/" => Response::new("text/html", include_str!("../assets/index.html"))
                .with("Content-Security-Policy", PAGE_POLICY),
            "/language" => Response::new("text/html", lecture::language()).with("Content-Security-Policy", PAGE_POLICY),
            "/lecture" => match request.field("name").and_then(|name| lecture::lecture(&self.examples, &name)) {
                Some(page) => Response::new("text/html", page).with("Content-Security-Policy", PAGE_POLICY),
                None => Response::error(404, "there is no such lecture"),
            },
            "/api/progress" => {
                let text = request.field("check").and_then(|token| self.running.of(&token));
                Response::json(&json!({ "running": text.is_some(), "text": text.unwrap_or_default() }))
            }
            "/editor.js" => Response::new("text/javascript", include_str!("../assets/editor.js")),
            "/check.js" => Response::new("text/javascript", include_str!("../assets/check.js")),
            "/prose.js" => Response::new("text/javascript", include_str!("../assets/prose.js")),
            "/prose.css" => Response::new("text/css", include_str!("../assets/prose.css")),
            "/page.js" => Response::new("text/javascript", include_str!("../assets/page.js")),
            "/highlight.js" => Response::new("text/javascript", ravelin_report::page::HIGHLIGHT),
            "/style.css" => Response::new("text/css", include_str!("../assets/style.css")),
            "/icon.svg" => Response::new("image/svg+xml", include_str!("../assets/icon.svg")),
            "/api/setup" => {
                let mut setup = answer::setup(&self.limits);
                setup["examples"] = self.examples.list();
                let lectures = self.examples.lectures().into_iter();
                setup["lectures"] = lectures.map(|(name, title)| json!({ "name": name, "title": title })).collect();
                Response::json(&setup)
            }
            "/api/example" => match request.field("name").and_then(|name| self.examples.text(&name)) {
                Some(text) => Response::new("text/plain", text),
                None => Response::error(404, "there is no such program"),
            },
            _ => match path.strip_prefix("/result/").and_then(|name| self.results.page(name)) {
                Some(page) => Response::new("text/html", page).with("Content-Security-Policy", RESULT_POLICY),
                None => Response::error(404, "there is nothing here"),
            },
        }
    }
}
