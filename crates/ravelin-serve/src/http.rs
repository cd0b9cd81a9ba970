//! One request and one answer per connection. Both have limits: of bytes, and of time from the first byte to the last.
//! A slow client therefore occupies a thread for a few seconds only.

use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const LARGEST_HEAD: usize = 16 << 10;
/// A program of [`crate::child::LARGEST_PROGRAM`] bytes, each written as `\u0000`, and the text around it.
const LARGEST_BODY: usize = 2 << 20;
const TIME_FOR_HEAD: Duration = Duration::from_secs(5);
const TIME_FOR_BODY: Duration = Duration::from_secs(10);
const TIME_FOR_ANSWER: Duration = Duration::from_secs(20);
/// How much is written between two checks of the deadline.
const PIECE: usize = 64 << 10;

pub struct HttpRequest {
    pub method: String,
    pub path: String,
    /// The text after `?`, undecoded.
    pub query: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// A header by its name in lower case; `None` if it occurs more than once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value.as_str())
    }

    /// A field of the query, decoded.
    pub fn field(&self, name: &str) -> Option<String> {
        let fields = self.query.split('&').filter_map(|field| field.split_once('='));
        fields.filter(|(known, _)| *known == name).map(|(_, value)| decoded(value)).next()?
    }
}

/// Percent-decoding; `None` if it is malformed.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let value = digit(rest.next()?)? * 16 + digit(rest.next()?)?;
                u8::try_from(value).ok()?
            }
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Why a request is refused.
#[derive(Debug)]
pub enum RequestError {
    /// The client has left; there is no answer.
    Gone,
    With(Response),
}

fn refuse(status: u16, message: &str) -> RequestError {
    RequestError::With(Response::error(status, message))
}

/// Reads one request.
pub fn read(stream: &mut TcpStream) -> Result<HttpRequest, RequestError> {
    let mut bytes = Vec::new();
    let deadline = Instant::now() + TIME_FOR_HEAD;
    let (mut request, head) = loop {
        if let Some(parsed) = parse(&bytes)? {
            break parsed;
        }
        if bytes.len() >= LARGEST_HEAD {
            return Err(refuse(431, "the head of the request is too large"));
        }
        more(stream, &mut bytes, LARGEST_HEAD, deadline)?;
    };
    if request.header("transfer-encoding").is_some() {
        return Err(refuse(411, "a body needs a Content-Length"));
    }
    let named = request.headers.iter().any(|(name, _)| name == "content-length");
    let length = match request.header("content-length").map(str::parse::<usize>) {
        Some(Ok(length)) if length <= LARGEST_BODY => length,
        Some(Ok(_)) => return Err(refuse(413, "the body of the request is too large")),
        None if !named => 0,
        Some(Err(_)) | None => return Err(refuse(400, "the Content-Length is malformed")),
    };
    let mut body = bytes.split_off(head);
    if body.len() < length && request.header("expect").is_some_and(|expect| expect.eq_ignore_ascii_case("100-continue"))
    {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").map_err(|_| RequestError::Gone)?;
    }
    let deadline = Instant::now() + TIME_FOR_BODY;
    while body.len() < length {
        more(stream, &mut body, length, deadline)?;
    }
    // Nothing after the first request is read.
    body.truncate(length);
    request.body = body;
    Ok(request)
}

/// The request without its body, and where its head ends; `None` if it is incomplete.
fn parse(bytes: &[u8]) -> Result<Option<(HttpRequest, usize)>, RequestError> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let head = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(refuse(431, "the request has too many headers")),
        Err(_) => return Err(refuse(400, "this is not an HTTP request")),
    };
    let target = parsed.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |header: &httparse::Header| {
        (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).trim().to_owned())
    };
    let request = HttpRequest {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: parsed.headers.iter().map(header).collect(),
        body: Vec::new(),
    };
    Ok(Some((request, head)))
}

/// Waits for more bytes until the deadline, up to a total of `limit`.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, limit: usize, deadline: Instant) -> Result<(), RequestError> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
        return Err(refuse(408, "the request took too long to arrive"));
    }
    let mut piece = [0; 8 << 10];
    let room = piece.len().min(limit - bytes.len());
    match stream.read(&mut piece[..room]) {
        Ok(0) => Err(RequestError::Gone),
        Ok(number) => {
            bytes.extend_from_slice(&piece[..number]);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(refuse(408, "the request took too long to arrive"))
        }
        Err(_) => Err(RequestError::Gone),
    }
}

#[derive(Debug)]
pub struct Response {
    status: u16,
    kind: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Response {
    pub fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Response {
        Response { status: 200, kind, headers: Vec::new(), body: body.into() }
    }

    pub fn json(value: &Value) -> Response {
        Response::new("application/json", value.to_string())
    }

    /// A message for users, as data for the page's script.
    pub fn error(status: u16, message: &str) -> Response {
        Response { status, ..Response::json(&serde_json::json!({ "message": message })) }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Response {
        self.headers.push((name, value.into()));
        self
    }

    /// Sends everything, or as much as the client accepts in time.
    pub fn send(&self, stream: &mut TcpStream, with_body: bool) {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len()
        );
        let common = [
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ];
        let mut cached = false;
        for (name, value) in self.headers.iter().map(|(name, value)| (*name, value.as_str())).chain(common) {
            cached |= name == "Cache-Control";
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !cached {
            head.push_str("Cache-Control: no-store\r\n");
        }
        head.push_str("\r\n");
        let body = if with_body { self.body.as_slice() } else { &[] };
        let deadline = Instant::now() + TIME_FOR_ANSWER;
        for piece in std::iter::once(head.as_bytes()).chain(body.chunks(PIECE)) {
            let left = deadline.saturating_duration_since(Instant::now());
            // A client that does not read counts as gone.
            if left.is_zero() || stream.set_write_timeout(Some(left)).is_err() || stream.write_all(piece).is_err() {
                return;
            }
        }
        let _ = stream.flush();
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded_or_refused() {
        assert_eq!(decoded("a%2Fb+c"), Some("a/b c".to_owned()));
        assert_eq!(decoded("%"), None);
        assert_eq!(decoded("%zz"), None);
        assert_eq!(decoded("%ff"), None, "not UTF-8");
    }

    #[test]
    fn heads_are_parsed_when_they_are_whole() {
        let text = b"GET /api/example?name=a%20b HTTP/1.1\r\nHost: localhost:1\r\nHost: evil\r\nOrigin: x\r\n\r\nrest";
        for end in 0..text.len() - 4 {
            assert!(matches!(parse(&text[..end]), Ok(None)), "{end}");
        }
        let Ok(Some((request, head))) = parse(text) else { panic!("it is whole") };
        assert_eq!(&text[head..], b"rest");
        assert_eq!(request.path, "/api/example");
        assert_eq!(request.field("name").as_deref(), Some("a b"));
        assert_eq!(request.header("origin"), Some("x"));
        assert_eq!(request.header("host"), None, "two hosts are none");
        assert!(parse(b"\x16\x03\x01\x02").is_err(), "TLS is not for us");
    }
}
