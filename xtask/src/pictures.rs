//! The pictures of pages in the documents: the pages are made by `ravelin`, and photographed by Chromium.

use crate::{cargo, root, succeed};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What is asked for a page, the picture's name, and its height in pixels. All are as wide as a screen.
const PAGES: [(&str, &str, u32); 4] = [
    ("check examples/dekker.rav --model tso", "page", 1130),
    ("reach examples/mp.rav --model sc,tso,pso,rc20", "page-reach", 1000),
    ("states examples/sb.rav --model sc,tso,pso,ra,rc20", "page-states", 1000),
    ("fence examples/sb.rav --model tso --explain", "page-fences", 1000),
];
/// Addresses at a server, in the same form.
const SERVED: [(&str, &str, u32); 2] =
    [("", "page-serve", 900), ("lecture?name=examples/lectures/store-buffers.md", "page-lecture", 1000)];
const WIDTH: u32 = 1400;

#[derive(clap::Args)]
pub struct Arguments {
    /// A program that was built already [default: it is built with the profile `release`]
    #[arg(long, value_name = "FILE")]
    ravelin: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let ravelin = match &arguments.ravelin {
        Some(ravelin) => std::path::absolute(ravelin)?,
        None => {
            succeed(cargo().args(["build", "--release", "--package", "ravelin-cli", "--bin", "ravelin"]))?;
            std::path::absolute(target.join("release/ravelin"))?
        }
    };
    let folder = target.join("pictures");
    std::fs::create_dir_all(&folder)?;
    for (asked, name, height) in PAGES {
        let page = std::path::absolute(folder.join(format!("{name}.html")))?;
        let mut command = Command::new(&ravelin);
        command.current_dir(root()).args(asked.split_whitespace()).args(["--workers", "1", "--html"]).arg(&page);
        // A witness is an exit code of its own.
        let output = command.output().context("ravelin cannot be started")?;
        if output.status.code().is_none_or(|code| code > 1) {
            bail!("`ravelin {asked}`: {}", String::from_utf8_lossy(&output.stderr));
        }
        photograph(&format!("file://{}", page.display()), name, height, &folder)?;
    }
    let server = Server::start(&ravelin)?;
    for (path, name, height) in SERVED {
        photograph(&format!("{}{path}", server.address), name, height, &folder)?;
    }
    Ok(())
}

fn photograph(address: &str, name: &str, height: u32, folder: &Path) -> Result<()> {
    let picture = root().join("docs").join(format!("{name}.png"));
    let profile = folder.join("profile");
    let mut command = Command::new("chromium");
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]);
    command.args(["--virtual-time-budget=4000", &format!("--window-size={WIDTH},{height}")]);
    command.arg(format!("--user-data-dir={}", profile.display())).arg(format!("--screenshot={}", picture.display()));
    let output = command.arg(address).output().context("chromium cannot be started (apt-get install chromium)")?;
    if !output.status.success() {
        bail!("chromium: {}", String::from_utf8_lossy(&output.stderr));
    }
    println!("{}", picture.display());
    Ok(())
}

/// `ravelin serve`, until this is dropped.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(ravelin: &Path) -> Result<Server> {
        let mut command = Command::new(ravelin);
        command.args(["serve", "--port", "0"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().context("ravelin cannot be started")?;
        let output = process.stdout.take().context("the server has an output")?;
        let mut server = Server { process, address: String::new() };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening at ").context("the server says where it listens")?;
        address.clone_into(&mut server.address);
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
