//! A server of its own for a test, and requests to it.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub struct Server {
    child: Child,
    /// Address and port.
    pub host: String,
}

impl Server {
    /// Starts `ravelin serve` at a free port.
    pub fn start(arguments: &[&str]) -> Server {
        let mut child = crate::running::interruptible()
            .args(["serve", "--port", "0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where it listens");
        let host = line.trim().strip_prefix("listening at http://").and_then(|rest| rest.strip_suffix('/'));
        Server { child, host: host.unwrap_or_else(|| panic!("{line}")).to_owned() }
    }

    /// A connection to which something was sent.
    pub fn send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a limit");
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(bytes);
        stream
    }

    /// Status, head and body of the answer.
    pub fn raw(&self, request: &[u8]) -> (u16, String, String) {
        let mut answer = Vec::new();
        let mut stream = self.send(request);
        // What came before the connection was reset counts.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, head.to_owned(), body.to_owned())
    }

    pub fn get(&self, path: &str) -> (u16, String, String) {
        self.raw(&parts("GET", path, &self.host, ""))
    }

    pub fn post(&self, path: &str, body: &str) -> (u16, String, String) {
        self.raw(&parts("POST", path, &self.host, body))
    }

    pub fn check(&self, asked: &Value) -> Value {
        let (status, _, body) = self.post("/api/check", &asked.to_string());
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    }

    /// Ctrl-C; gives the exit code.
    pub fn interrupt(&mut self) -> Option<i32> {
        self.signal("INT")
    }

    /// Sends a signal, and gives the exit code.
    pub fn signal(&mut self, signal: &str) -> Option<i32> {
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill is there").success());
        self.child.wait().expect("it ends").code()
    }

    /// The number of its process.
    pub fn number(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request.
pub fn parts(method: &str, path: &str, host: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}
