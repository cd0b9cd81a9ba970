//! `ravelin cover`.

use crate::arguments::{Cover, Format};
use crate::exit::Exit;
use crate::{input, progress};
use anyhow::{Context, bail};
use ravelin_explore::Progress;
use ravelin_nets::{Net, Question, Verdict, certify, cover, spec};
use ravelin_report::{json, nets};
use std::io::Write;
use std::path::Path;

pub fn run(arguments: &Cover) -> anyhow::Result<Exit> {
    let Cover { files, certify: certificate, resources, output } = arguments;
    if output.format == Format::Herd {
        bail!("herd's layout is for final states: use it with `ravelin states`");
    }
    output.refuse_sarif("cover")?;
    output.refuse_pages("cover")?;
    if certificate.is_some() && files.len() != 1 {
        bail!("--certify writes a proof about one net: name one file");
    }
    let stop = progress::stop_on_ctrl_c();
    let style = output.style();
    let mut worst = Exit::Holds;
    let mut documents = Vec::new();
    let mut stdout = std::io::stdout().lock();
    for path in files {
        let file = path.display().to_string();
        let net = match read(path) {
            Ok(net) => net,
            Err(error) => {
                eprintln!("error: {error:#}");
                documents.push(json::error(&file, &format!("{error:#}")));
                worst = Exit::Wrong;
                continue;
            }
        };
        let line = progress::Line::new(format!("{file} cover"));
        let show = |progress: &Progress| line.show(progress);
        let question = Question { limits: resources.limits(), stop: Some(stop), progress: Some(&show) };
        let answer = cover(&net, &question);
        drop(line);
        worst = worst.max(match answer.verdict {
            Verdict::Coverable(_) => Exit::Violated,
            Verdict::Uncoverable => Exit::Holds,
            Verdict::Unknown(_) => Exit::Unknown,
        });
        if let (Some(path), Some(certificate)) = (certificate, certify(&net, &answer)) {
            let text = serde_json::to_string(&certificate).context("the certificate cannot be written")?;
            std::fs::write(path, text).with_context(|| path.display().to_string())?;
        }
        match output.format {
            Format::Json | Format::Sarif => documents.push(nets::json(&file, &net, &answer)),
            Format::Text | Format::Herd => stdout.write_all(nets::text(&file, &net, &answer, style).as_bytes())?,
        }
    }
    if output.format == Format::Json {
        stdout.write_all(json::document("cover", documents).as_bytes())?;
    }
    stdout.flush()?;
    Ok(worst)
}

/// Reads a net.
pub fn read(path: &Path) -> anyhow::Result<Net> {
    let source = input::read_source(path)?;
    spec::parse(&source.text).with_context(|| path.display().to_string())
}
