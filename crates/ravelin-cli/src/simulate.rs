//! `ravelin simulate`.

use crate::alone::ended_in_time;
use crate::arguments::{Format, Simulate};
use crate::exit::Exit;
use crate::{files, input};
use ravelin::answer::text::{Style, steps};
use ravelin::{Document, Walk};
use ravelin_output::stdout;
use std::io::BufRead;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub fn run(arguments: &Simulate) -> anyhow::Result<Exit> {
    let output = &arguments.output;
    output.refuse_sarif("simulate")?;
    output.refuse_pages("simulate")?;
    let start = Instant::now();
    let read = || input::read(&arguments.file, &arguments.input.reading(arguments.timeout));
    let program = ended_in_time(arguments.timeout, read)?;
    let left = arguments.timeout.map(|time| time.saturating_sub(start.elapsed()));
    let seed = arguments.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |now| u64::from(now.subsec_nanos()))
    });
    let question = ravelin::simulate(&program).model(arguments.model).seed(seed).steps(arguments.steps);
    if let Some(path) = &arguments.profile {
        let (costs, places) = ended_in_time(left, || question.costs(arguments.runs))?;
        files::write(path, costs)?;
        writeln!(stdout(), "{}: costs of {places} places are in {}", arguments.file.display(), path.display())?;
        return Ok(Exit::Holds);
    }
    if arguments.interactive {
        // The prompt waits for the user, who may want to end it.
        ended_in_time(None, || interact(&mut question.walk()?, arguments.model.is_buffered(), output.style()))?;
        return Ok(Exit::Holds);
    }
    let answer = ended_in_time(left, || question.run())?;
    let text = match output.format {
        Format::Json | Format::Sarif => Document::new("simulate", vec![answer]).text(),
        Format::Text | Format::Herd => answer.text(output.style()),
    };
    stdout().text(&text)?;
    Ok(Exit::Holds)
}

/// Shows the state and the steps that can be taken, and takes the chosen one, until the end of the run or of the input.
fn interact(walk: &mut Walk, buffered: bool, style: Style) -> anyhow::Result<()> {
    let stdin = std::io::stdin();
    loop {
        let values = walk.values();
        let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        writeln!(stdout(), "{}", values.join("  "))?;
        for trouble in walk.troubles() {
            writeln!(stdout(), "  {trouble}")?;
        }
        if let Some(end) = walk.end() {
            return Ok(writeln!(stdout(), "{end}")?);
        }
        let choices = walk.choices();
        stdout().text(&steps(walk.threads(), &choices, buffered, style))?;
        let chosen = loop {
            write!(stdout(), "step 1 to {}, r for a random one, q to quit> ", choices.len())?;
            let mut line = String::new();
            if stdin.lock().read_line(&mut line)? == 0 {
                return Ok(writeln!(stdout())?);
            }
            match line.trim() {
                "q" => return Ok(()),
                "r" => break walk.draw(),
                number => match number.parse::<usize>() {
                    Ok(number) if (1..=choices.len()).contains(&number) => break number - 1,
                    _ => writeln!(stdout(), "`{number}` is none of them")?,
                },
            }
        };
        walk.take(chosen);
    }
}
