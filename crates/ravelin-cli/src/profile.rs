//! `ravelin simulate --profile`: how often random runs pass each place for a fence, as costs for `ravelin fence --cost`.

use crate::arguments::Simulate;
use crate::exit::Exit;
use anyhow::Context;
use ravelin_analysis::simulation::Simulation;
use ravelin_frontend::Language;
use ravelin_frontend::sites::{Repair, Request, sites};
use ravelin_output::{replace, stdout};
use ravelin_program::{Edge, Program, Site};
use ravelin_semantics::Action;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;

/// Runs the program, counts, and writes one more than each count: a cost is positive.
pub fn write(
    path: &Path,
    arguments: &Simulate,
    program: &Program,
    language: Language,
    seed: u64,
) -> anyhow::Result<Exit> {
    let mut taken: HashMap<Edge, u64> = HashMap::new();
    for run in 0..arguments.runs {
        let mut simulation = Simulation::new(program, arguments.model, seed.wrapping_add(run as u64))?;
        for _ in 0..arguments.steps {
            let mut choices = simulation.choices();
            if choices.is_empty() {
                break;
            }
            let choice = choices.swap_remove(simulation.draw(choices.len()));
            if let Action::Step { thread, transition, .. } = choice.action {
                *taken.entry(Edge { thread, transition }).or_default() += 1;
            }
            simulation.take(choice);
        }
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let count = |site: &Site| site.edges.iter().map(|edge| taken.get(edge).copied().unwrap_or(0)).sum::<u64>();
    for (repair, existing) in [(Repair::Fence, true), (Repair::Rmw, false), (Repair::Strengthen, false)] {
        let request = Request { repair, existing, copies: arguments.copies };
        match sites(&program.source, language, &request) {
            Ok(found) => {
                for site in &found.sites {
                    let known = counts.entry(site.name.clone()).or_default();
                    *known = count(site).max(*known);
                }
            }
            // Not every language has locked exchanges or orders; all have fences.
            Err(error) if repair == Repair::Fence => return Err(error.into()),
            Err(_) => {}
        }
    }
    let file = arguments.file.display();
    let mut text = format!(
        "# {file}: how often a place is passed, plus one, in {} random runs of at most {} steps (seed {seed})\n",
        arguments.runs, arguments.steps
    );
    for (name, count) in &counts {
        let _ = writeln!(text, "{name} {}", count + 1);
    }
    replace(path, text).with_context(|| path.display().to_string())?;
    writeln!(stdout(), "{file}: costs of {} places are in {}", counts.len(), path.display())?;
    Ok(Exit::Holds)
}
