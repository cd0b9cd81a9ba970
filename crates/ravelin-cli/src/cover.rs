//! `ravelin cover`.

use crate::arguments::{Cover, Format};
use crate::exit::Exit;
use crate::in_time::in_time;
use crate::input::Interrupted;
use crate::{input, interrupt, progress};
use anyhow::{Context, bail};
use ravelin_explore::{Limit, Progress};
use ravelin_nets::{Net, Question, Verdict, certify, cover, spec};
use ravelin_output::{complain, reader_is_gone, replace, stdout};
use ravelin_report::{json, nets};
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
    let stop = interrupt::stop();
    let style = output.style();
    let mut worst = Exit::Holds;
    let mut documents = Vec::new();
    for path in files {
        if reader_is_gone() {
            return Ok(worst);
        }
        let file = path.display().to_string();
        let net = match read(path) {
            Ok(net) => net,
            Err(error) if error.is::<Interrupted>() => {
                worst = worst.max(Exit::Unknown);
                match output.format {
                    Format::Json | Format::Sarif => documents.push(json::interrupted(&file, Some("cover"), None)),
                    Format::Text | Format::Herd => {
                        stdout().text(&format!("{file}: unknown: {}\n", Limit::Stopped))?;
                    }
                }
                continue;
            }
            Err(error) => {
                complain!("error: {error:#}");
                documents.push(json::error(&file, &format!("{error:#}")));
                worst = Exit::Wrong;
                continue;
            }
        };
        let line = progress::Line::new(&format!("{file} cover"), true);
        let show = |progress: &Progress| line.show(progress);
        let question = Question { limits: resources.limits(), stop: Some(stop), progress: Some(&show) };
        let late = || {
            line.clear();
            let shown = match output.format {
                Format::Json | Format::Sarif => {
                    let all = documents.iter().cloned().chain([json::interrupted(
                        &file,
                        Some("cover"),
                        line.last().as_ref(),
                    )]);
                    json::document("cover", all.collect())
                }
                Format::Text | Format::Herd => format!("{file}: unknown: {}\n", Limit::Stopped),
            };
            let told = stdout().text(&shown).map(|()| worst.max(Exit::Unknown)).map_err(Into::into);
            told.unwrap_or_else(|error: anyhow::Error| Exit::of_error(&error)).code()
        };
        let answer = in_time(|| cover(&net, &question), late);
        drop(line);
        worst = worst.max(match answer.verdict {
            Verdict::Coverable(_) => Exit::Violated,
            Verdict::Uncoverable => Exit::Holds,
            Verdict::Unknown(_) => Exit::Unknown,
        });
        if let (Some(path), Some(certificate)) = (certificate, certify(&net, &answer)) {
            let text = serde_json::to_string(&certificate).context("the certificate cannot be written")?;
            replace(path, text).with_context(|| path.display().to_string())?;
        }
        match output.format {
            Format::Json | Format::Sarif => documents.push(nets::json(&file, &net, &answer)),
            Format::Text | Format::Herd => stdout().text(&nets::text(&file, &net, &answer, style))?,
        }
    }
    if output.format == Format::Json {
        stdout().text(&json::document("cover", documents))?;
    }
    Ok(worst)
}

/// Reads a net.
pub fn read(path: &Path) -> anyhow::Result<Net> {
    let source = input::read_source(path)?;
    spec::parse(&source.text).with_context(|| path.display().to_string())
}
