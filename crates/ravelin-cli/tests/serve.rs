//! `ravelin serve` without a browser: answers, limits, and requests that nobody would wish for.

use crate::serving;

use serde_json::{Value, json};
use serving::{Server, parts};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const SB: &str = "static x; static y;\nthread left { x.store(1); let r = y.load(); }\nthread right { y.store(1); let r = x.load(); }\nfinally never left.r == 0 && right.r == 0;\n";

/// States without end, and no violation.
const ENDLESS: &str = "static x; static y;\nthread p[6] { let r = 0; loop { let a; havoc a in 0..200; x.store(a); r = y.load(); y.store(r + a); } }\nnever p[0].r == 0 - 1;\n";

fn asked(program: &str, question: &str, model: &str) -> Value {
    json!({ "program": program, "language": "rav", "question": question, "model": model, "name": "" })
}

#[test]
fn questions_are_answered() {
    let server = Server::start(&[]);
    let cases = [
        ("robust", "tso", "violated"),
        ("robust", "pso", "violated"),
        ("robust", "ra", "violated"),
        ("robust", "rc20", "violated"),
        ("trf", "tso", "violated"),
        ("reach", "sc", "holds"),
        ("reach", "tso", "violated"),
        ("fence", "tso", "holds"),
        ("safety", "tso", "holds"),
        ("states", "tso", "holds"),
    ];
    for (question, model, verdict) in cases {
        let answer = server.check(&asked(SB, question, model));
        assert_eq!(answer["verdict"], verdict, "{question} {model}: {answer}");
        let result = answer["result"].as_str().expect("a page");
        let (status, head, page) = server.get(result);
        assert_eq!(status, 200);
        assert!(head.contains("Content-Security-Policy: default-src 'none'") && head.contains("sandbox"), "{head}");
        assert!(page.to_lowercase().contains("<!doctype html>"), "{page}");
    }
    let languages = [
        "store-buffering.litmus",
        "message-passing.litmus",
        "store-buffering.txt",
        "mutual-exclusion.rmm",
        "store-buffering.tpl",
    ];
    for name in languages {
        let (status, _, program) = server.get(&format!("/api/example?name=examples/other%20languages/{name}"));
        assert_eq!(status, 200, "{name}");
        let language = match name.rsplit('.').next() {
            Some("txt") => "trencher",
            Some("rmm") => "memorax",
            Some("tpl") => "rocker",
            _ => "litmus",
        };
        let answer =
            server.check(&json!({ "program": program, "language": language, "question": "robust", "model": "tso" }));
        let expected = if name.starts_with("message") { "holds" } else { "violated" };
        assert_eq!(answer["verdict"], expected, "{name}: {answer}");
    }
}

#[test]
fn litmus_tests_have_the_answers_that_they_are_known_for() {
    let server = Server::start(&[]);
    let cases = [
        ("SB", "sc tso pso ra rc20", "forbidden allowed allowed allowed allowed"),
        ("SB+mfences", "sc tso pso ra rc20", "forbidden forbidden forbidden forbidden forbidden"),
        ("MP", "sc tso pso", "forbidden forbidden allowed"),
        ("2+2W", "sc tso pso", "forbidden forbidden allowed"),
        ("LB", "sc tso pso rc20", "forbidden forbidden forbidden forbidden"),
        ("MP+rel+acq", "sc tso rc20", "forbidden forbidden forbidden"),
        ("IRIW", "sc tso pso ra rc20", "forbidden forbidden forbidden allowed allowed"),
        ("lock", "sc tso", "forbidden forbidden"),
    ];
    for (name, models, expected) in cases {
        let path = format!("examples/litmus%20tests%20of%20herd%20and%20litmus7/{}.litmus", name.replace('+', "%2B"));
        let (status, _, program) = server.get(&format!("/api/example?name={path}"));
        assert_eq!(status, 200, "{name}");
        let answer =
            server.check(&json!({ "program": program, "language": "litmus", "question": "reach", "model": "all" }));
        let found = answer["models"].as_array().expect("a list");
        for (model, expected) in models.split(' ').zip(expected.split(' ')) {
            let word = found.iter().find(|one| one["model"] == model).map(|one| &one["word"]);
            assert_eq!(word, Some(&json!(expected)), "{name} {model}: {answer}");
        }
    }
}

#[test]
fn several_models_are_one_answer() {
    let server = Server::start(&[]);
    let answer = server.check(&asked(SB, "reach", "all"));
    let word = |number: usize| answer["models"][number]["verdict"].clone();
    assert_eq!((answer["verdict"].as_str(), word(0), word(1)), (Some("violated"), json!("holds"), json!("violated")));
    assert_eq!(answer["models"].as_array().map(Vec::len), Some(5));
    let fence = server.check(&asked(SB, "fence", "tso"));
    assert!(fence["diff"].as_str().is_some_and(|diff| diff.contains("+") && diff.contains("fence")), "{fence}");
    assert_eq!(answer["diff"], Value::Null);
    // Only what runs has a progress.
    let (status, _, body) = server.get("/api/progress?check=nothing");
    assert_eq!((status, serde_json::from_str::<Value>(&body).expect("JSON")["running"].clone()), (200, json!(false)));
}

#[test]
fn errors_have_places() {
    let server = Server::start(&[]);
    let program = "static flag;\nthread t { flug.store(1); }\n";
    for path in ["/api/diagnose", "/api/check"] {
        let (status, _, body) = server.post(path, &asked(program, "robust", "tso").to_string());
        assert_eq!(status, 200);
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        let found = &answer["diagnostics"][0];
        assert_eq!(
            (&found["line"], &found["column"], &found["end_column"]),
            (&json!(2), &json!(12), &json!(16)),
            "{answer}"
        );
        assert_eq!(found["severity"], "error");
    }
}

#[test]
fn hostile_programs_are_stopped_or_refused() {
    let server = Server::start(&["--timeout", "1", "--max-memory", "64M"]);
    let started = Instant::now();
    let answer = server.check(&asked(ENDLESS, "reach", "tso"));
    assert!(matches!(answer["verdict"].as_str(), Some("unknown" | "timeout")), "{answer}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let nested = format!("thread t {{ let r = {}1{}; }}", "(".repeat(60_000), ")".repeat(60_000));
    let blocks = format!("thread t {{ {} }}", "loop { ".repeat(30_000));
    let many: String = (0..8000).map(|number| format!("thread t{number} {{ x.store({number}); }}\n")).collect();
    let array = "static a: [u8; 99999999]; thread t { a[0].store(1); }".to_owned();
    let unfinished = "/*".repeat(100_000);
    for program in
        [nested, blocks, format!("static x;\n{many}"), array, unfinished, "\0".repeat(1000), "é".repeat(1000)]
    {
        let started = Instant::now();
        let answer = server.check(&asked(&program, "robust", "tso"));
        assert!(answer["verdict"].is_string(), "{answer}");
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }
    let (status, _, _) = server.post("/api/check", &asked(&"x".repeat(300_000), "robust", "tso").to_string());
    assert_eq!(status, 413);
    assert_eq!(server.check(&asked(SB, "robust", "tso"))["verdict"], "violated", "it is still there");
}

#[test]
fn a_check_that_nobody_waits_for_is_ended() {
    let server = Server::start(&["--timeout", "60", "--jobs", "1"]);
    let body = asked(ENDLESS, "reach", "tso").to_string();
    let stream = server.send(&parts("POST", "/api/check", &server.host, &body));
    std::thread::sleep(Duration::from_millis(500));
    drop(stream);
    let started = Instant::now();
    assert_eq!(server.check(&asked(SB, "robust", "tso"))["verdict"], "violated");
    assert!(started.elapsed() < Duration::from_secs(20), "the first still runs: {:?}", started.elapsed());
}

#[test]
fn malformed_requests_get_a_message() {
    let server = Server::start(&[]);
    let host = &server.host;
    let cases: Vec<(Vec<u8>, u16)> = vec![
        (b"\r\n\r\n\x00\x01\x02 nonsense\r\n\r\n".to_vec(), 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), 400),
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "a".repeat(40_000)).into_bytes(), 431),
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\n{}\r\n", "A: b\r\n".repeat(200)).into_bytes(), 431),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), 403),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_vec(), 403),
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n").into_bytes(), 403),
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\n\r\n").into_bytes(), 403),
        (format!("DELETE / HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(), 405),
        (format!("OPTIONS /api/check HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(), 405),
        (format!("POST /api/check HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}").into_bytes(), 415),
        (format!("POST /api/check HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: -1\r\n\r\n").into_bytes(), 400),
        (format!("POST /api/check HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n").into_bytes(), 413),
        (format!("POST /api/check HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").into_bytes(), 411),
        (parts("POST", "/api/check", host, "{"), 400),
        (parts("POST", "/api/check", host, "[]"), 400),
        (parts("POST", "/api/check", host, &"[".repeat(100_000)), 400),
        (parts("POST", "/api/check", host, r#"{"program":"","language":"cobol","question":"robust","model":"tso"}"#), 400),
        (parts("POST", "/api/check", host, r#"{"program":"","language":"rav","question":"--help","model":"tso"}"#), 400),
        (parts("POST", "/api/check", host, r#"{"program":"","language":"rav","question":"robust","model":"--help"}"#), 400),
        (parts("POST", "/api/nothing", host, "{}"), 404),
        (format!("GET /lecture?name=folder/../../etc/passwd HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(), 404),
        (format!("GET /lecture?name=examples/sb.rav HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(), 404),
        (format!("GET /result/1 HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(), 404),
    ];
    for (request, expected) in cases {
        let (status, _, body) = server.raw(&request);
        assert_eq!(status, expected, "{}: {body}", String::from_utf8_lossy(&request[..request.len().min(200)]));
        assert!(body.contains("message"), "{body}");
    }
    let (status, head, body) = server.raw(format!("HEAD / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
    assert_eq!((status, body.as_str()), (200, ""));
    assert!(head.contains("frame-ancestors 'none'") && !head.to_lowercase().contains("access-control"), "{head}");
}

#[test]
fn a_body_that_is_too_large_is_refused_while_it_comes() {
    let server = Server::start(&[]);
    let mut request = parts("POST", "/api/check", &server.host, "");
    let head =
        String::from_utf8(request.clone()).expect("text").replace("Content-Length: 0", "Content-Length: 50000000");
    request = head.into_bytes();
    request.resize(request.len() + (4 << 20), b'x');
    let (status, _, _) = server.raw(&request);
    assert_eq!(status, 413);
}

#[test]
fn slow_clients_do_not_keep_others_waiting() {
    let server = Server::start(&[]);
    let slow: Vec<_> = (0..200).map(|_| server.send(b"GET / HTTP/1.1\r\nHost:")).collect();
    let started = Instant::now();
    assert_eq!(server.get("/").0, 200);
    assert_eq!(server.check(&asked(SB, "robust", "tso"))["verdict"], "violated");
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    // They are told, and let go.
    let mut first = slow.into_iter().next().expect("one of them");
    first.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    let mut answer = String::new();
    let _ = first.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[test]
fn fifty_users_at_once_are_all_answered() {
    let server = Server::start(&["--jobs", "4"]);
    std::thread::scope(|scope| {
        let users: Vec<_> = (0..50)
            .map(|number| {
                let server = &server;
                scope.spawn(move || {
                    let (program, verdict) = match number % 2 {
                        0 => (SB.to_owned(), "violated"),
                        _ => (SB.replace("store(1);", "store(1); fence();"), "holds"),
                    };
                    assert_eq!(server.get("/").0, 200);
                    assert_eq!(server.check(&asked(&program, "robust", "tso"))["verdict"], verdict);
                })
            })
            .collect();
        for user in users {
            user.join().expect("an answer");
        }
    });
}

#[test]
fn files_outside_of_the_folder_are_not_given_out() {
    let folder = std::env::temp_dir().join(format!("ravelin-served-{}", std::process::id()));
    let inside = folder.join("inside");
    std::fs::create_dir_all(&inside).expect("a folder");
    std::fs::write(folder.join("secret.rav"), "secret").expect("a file");
    std::fs::write(inside.join("mine.rav"), SB).expect("a file");
    std::os::unix::fs::symlink("/etc/passwd", inside.join("link.rav")).expect("a link");
    let server = Server::start(&[&inside.display().to_string()]);
    let (status, _, text) = server.get("/api/example?name=folder/mine.rav");
    assert_eq!((status, text.as_str()), (200, SB));
    for name in [
        "folder/../secret.rav",
        "folder/%2e%2e/secret.rav",
        "folder/link.rav",
        "folder//etc/passwd",
        "/etc/passwd",
        "folder/%00",
        "%ff",
    ] {
        let (status, _, text) = server.get(&format!("/api/example?name={name}"));
        assert_eq!(status, 404, "{name}: {text}");
    }
    for path in ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/assets/../Cargo.toml"] {
        assert_eq!(server.get(path).0, 404, "{path}");
    }
    let (_, _, setup) = server.get("/api/setup");
    assert!(setup.contains("folder/mine.rav") && !setup.contains("link.rav"));
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn ctrl_c_ends_the_server_and_its_checks() {
    let mut server = Server::start(&["--timeout", "60"]);
    let body = asked(ENDLESS, "reach", "tso").to_string();
    let _waiting = server.send(&parts("POST", "/api/check", &server.host, &body));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.interrupt(), Some(0));
}

#[test]
fn what_cannot_be_served_is_said() {
    let taken = Server::start(&[]);
    let port = taken.host.rsplit(':').next().expect("a port").to_owned();
    for arguments in [
        &["--port", port.as_str()][..],
        &["/nonexistent/folder"],
        &["README.md"],
        &["--port", "99999"],
        &["--listen", "nowhere"],
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ravelin"))
            .arg("serve")
            .args(arguments)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn a_request_in_pieces_is_put_together() {
    let server = Server::start(&[]);
    let request = parts("POST", "/api/check", &server.host, &asked(SB, "robust", "tso").to_string());
    let mut stream = server.send(b"");
    for piece in request.chunks(37) {
        stream.write_all(piece).expect("it takes all");
        stream.flush().expect("it takes all");
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.contains("\"violated\""), "{answer}");
}
