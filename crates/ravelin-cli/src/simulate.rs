//! `ravelin simulate`.

use crate::arguments::{Format, Simulate};
use crate::exit::Exit;
use crate::{input, profile};
use ravelin_analysis::simulation::{Simulation, Standing};
use ravelin_analysis::witness::Narrated;
use ravelin_output::stdout;
use ravelin_program::Model;
use ravelin_report::{json, text};
use std::io::BufRead;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn run(arguments: &Simulate) -> anyhow::Result<Exit> {
    arguments.output.refuse_sarif("simulate")?;
    arguments.output.refuse_pages("simulate")?;
    let style = arguments.output.style();
    let Some((program, language)) = input::read(&arguments.file, &arguments.reading())? else {
        return Ok(Exit::Wrong);
    };
    let model = arguments.model;
    let seed = arguments.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |now| u64::from(now.subsec_nanos()))
    });
    if let Some(path) = &arguments.profile {
        return profile::write(path, arguments, &program, language, seed);
    }
    let mut simulation = Simulation::new(&program, model, seed)?;
    if arguments.interactive {
        interact(&mut simulation, model, style)?;
        return Ok(Exit::Holds);
    }
    let file = arguments.file.display().to_string();
    let mut steps: Vec<Narrated> = Vec::new();
    let mut troubles = simulation.troubles();
    while steps.len() < arguments.steps && troubles.is_empty() {
        let mut choices = simulation.choices();
        if choices.is_empty() {
            break;
        }
        let choice = choices.swap_remove(simulation.draw(choices.len()));
        steps.push(choice.told.clone());
        simulation.take(choice);
        troubles = simulation.troubles();
    }
    let end = match simulation.standing() {
        Standing::Final => "every thread is at its end".to_owned(),
        Standing::Stuck(threads) => format!("nothing can move; not at their end: {}", threads.join(", ")),
        Standing::Running if troubles.is_empty() => format!("stopped after {} steps", steps.len()),
        Standing::Running => "stopped at a violation".to_owned(),
    };
    match arguments.output.format {
        Format::Json | Format::Sarif => {
            let answer =
                json::simulation(&file, model.name(), seed, &end, &simulation.beginning(&steps), &steps, &troubles);
            stdout().text(&json::document("simulate", vec![answer]))?;
        }
        Format::Text | Format::Herd => {
            writeln!(stdout(), "{file} under {model}, seed {seed}:")?;
            stdout().text(&text::narrated(&steps, model.is_buffered(), style))?;
            for trouble in &troubles {
                writeln!(stdout(), "  {trouble}")?;
            }
            writeln!(stdout(), "  {end}: {}", values(&simulation))?;
        }
    }
    Ok(Exit::Holds)
}

/// Shows the state and the steps that can be taken, and takes the chosen one, until the end of the run or of the input.
fn interact(simulation: &mut Simulation, model: Model, style: text::Style) -> anyhow::Result<()> {
    let stdin = std::io::stdin();
    loop {
        writeln!(stdout(), "{}", values(simulation))?;
        for trouble in simulation.troubles() {
            writeln!(stdout(), "  {trouble}")?;
        }
        let mut choices = simulation.choices();
        match simulation.standing() {
            Standing::Final => return Ok(writeln!(stdout(), "every thread is at its end")?),
            Standing::Stuck(threads) => {
                return Ok(writeln!(stdout(), "nothing can move; not at their end: {}", threads.join(", "))?);
            }
            Standing::Running => {}
        }
        let told: Vec<Narrated> = choices.iter().map(|choice| choice.told.clone()).collect();
        stdout().text(&text::narrated(&told, model.is_buffered(), style))?;
        let chosen = loop {
            write!(stdout(), "step 1 to {}, r for a random one, q to quit> ", choices.len())?;
            let mut line = String::new();
            if stdin.lock().read_line(&mut line)? == 0 {
                return Ok(writeln!(stdout())?);
            }
            match line.trim() {
                "q" => return Ok(()),
                "r" => break simulation.draw(choices.len()),
                number => match number.parse::<usize>() {
                    Ok(number) if (1..=choices.len()).contains(&number) => break number - 1,
                    _ => writeln!(stdout(), "`{number}` is none of them")?,
                },
            }
        };
        simulation.take(choices.swap_remove(chosen));
    }
}

fn values(simulation: &Simulation) -> String {
    let values = simulation.values();
    values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("  ")
}
