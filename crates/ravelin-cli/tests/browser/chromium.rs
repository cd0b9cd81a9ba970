//! A headless Chromium, driven over the DevTools protocol: as much of it as tests of pages need.
//!
//! Every test has a browser of its own, which ends with it. What the page says on its console, throws, or asks of a network is
//! kept, so that a test can insist on silence. Where Chromium is not installed there is no browser, and a note says so.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// How long the browser may be silent before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Browsers are large: one at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A browser with one page.
pub struct Browser {
    process: Child,
    profile: PathBuf,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: Option<String>,
    calls: u64,
    /// What happened meanwhile, by name of the event.
    events: Vec<Value>,
    _turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts one, if Chromium is installed.
    pub fn start(name: &str) -> Option<Browser> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(program) =
            ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| is_installed(name))
        else {
            ravelin_testing::skip("chromium is not installed (apt-get install chromium)");
            return None;
        };
        let profile = std::env::temp_dir().join(format!("ravelin-browser-{name}-{}", std::process::id()));
        let mut process = Command::new(program)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--hide-scrollbars",
            ])
            .args(["--remote-debugging-port=0", "--remote-allow-origins=*"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("chromium can be started");
        let mut lines = BufReader::new(process.stderr.take().expect("its messages are read")).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("DevTools listening on ").map(str::to_owned))
            .expect("chromium says where it listens");
        // It would stop if nobody read on.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let (socket, _) = tungstenite::connect(&address).expect("chromium answers");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(PATIENCE)).expect("a limit can be set");
        }
        let mut browser =
            Browser { process, profile, socket, session: None, calls: 0, events: Vec::new(), _turn: turn };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Opens an address and waits until it is loaded. What was kept of the page before is forgotten.
    pub fn open(&mut self, address: &str) {
        self.events.clear();
        let answer = self.call("Page.navigate", json!({ "url": address }));
        assert_eq!(answer["errorText"], Value::Null, "{address} cannot be opened");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            self.receive();
        }
    }

    /// Opens a file.
    pub fn open_file(&mut self, path: &Path) {
        self.open(&format!("file://{}", path.display()));
    }

    /// The value of an expression in the page; promises are waited for.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self
            .call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }));
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].clone()
    }

    /// How wide and high the page is shown, and whether people like it dark.
    pub fn show(&mut self, width: u32, height: u32, dark: bool) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Whether the page's scripts run.
    pub fn scripts(&mut self, run: bool) {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": !run }));
    }

    /// Shows the page as it is printed.
    pub fn paper(&mut self) {
        self.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    }

    /// Presses a key, such as `ArrowRight`.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            "Escape" => 27,
            _ => 0,
        };
        // A letter is a key with a text.
        let text = if key == "Enter" { "\r" } else { key };
        let is_text = key == "Enter" || key.chars().count() == 1;
        for kind in [if is_text { "keyDown" } else { "rawKeyDown" }, "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            if is_text && kind == "keyDown" {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Everything that a page should not do, since it was opened: exceptions, errors on the console, and requests for anything but
    /// itself.
    pub fn complaints(&mut self) -> Vec<String> {
        // Whatever has happened is told before this is answered.
        let address = self.evaluate("location.href.split('#')[0]");
        let complaint = |event: &Value| {
            let about = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(format!("exception: {}", about["exceptionDetails"])),
                "Runtime.consoleAPICalled" if about["type"] == "error" || about["type"] == "warning" => {
                    Some(format!("console: {}", about["args"]))
                }
                "Log.entryAdded" if about["entry"]["level"] == "error" => Some(format!("log: {}", about["entry"])),
                "Network.requestWillBeSent" => {
                    let asked = about["request"]["url"].as_str().unwrap_or_default();
                    let own = Some(asked.split('#').next().unwrap_or_default()) == address.as_str();
                    (!own && !asked.starts_with("data:")).then(|| format!("request: {asked}"))
                }
                _ => None,
            }
        };
        self.events.iter().filter_map(complaint).collect()
    }

    /// A picture of the page as PNG, the whole of it, for people.
    pub fn picture(&mut self, path: &Path) {
        let height = self.evaluate("Math.ceil(document.documentElement.scrollHeight)");
        let width = self.evaluate("document.documentElement.clientWidth");
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let shot = self.call("Page.captureScreenshot", json!({ "captureBeyondViewport": true, "clip": clip }));
        std::fs::write(path, decoded(shot["data"].as_str().unwrap_or_default())).expect("a picture can be written");
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let number = self.calls;
        let mut call = json!({ "id": number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            call["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(call.to_string())).expect("chromium listens");
        loop {
            let message = self.receive();
            if message["id"] == number {
                assert_eq!(message["error"], Value::Null, "{method}");
                return message["result"].clone();
            }
        }
    }

    /// The next message; events are kept.
    fn receive(&mut self) -> Value {
        loop {
            let message = self.socket.read().expect("chromium goes on answering");
            let Message::Text(text) = message else { continue };
            let message: Value = serde_json::from_str(text.as_str()).expect("messages are JSON");
            if message.get("method").is_some() {
                self.events.push(message.clone());
            }
            return message;
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

fn is_installed(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Base64.
fn decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        bits = bits << 6 | u32::from(value(letter));
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}
