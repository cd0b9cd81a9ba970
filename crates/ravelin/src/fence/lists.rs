//! Files that name places: costs (`L13 250`) and placements (`L13`), one per line, ` #` before a comment.

use crate::error::Error;
use ravelin_analysis::fences::{CostBy, Placement};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The limit of a cost: sums of costs stay far below the largest number.
const MOST_COST: u64 = 1_000_000_000;

/// What to minimise: `size`, `loops`, or the name of a file with costs.
pub fn read_cost(text: &str) -> Result<CostBy, Error> {
    match text {
        "size" => Ok(CostBy::Size),
        "loops" => Ok(CostBy::Loops),
        path => {
            let mut costs = BTreeMap::new();
            for (number, words) in lines(path, "--cost takes size, loops, or the name of a file")? {
                let [name, cost] = words.as_slice() else {
                    return Err(Error::Question(format!(
                        "{path}:{number}: a line has a place and its cost, such as `L13 250`"
                    )));
                };
                let cost = match cost.parse::<u64>() {
                    Ok(cost) if (1..=MOST_COST).contains(&cost) => cost,
                    _ => {
                        return Err(Error::Question(format!(
                            "{path}:{number}: `{cost}` is not a positive number of at most {MOST_COST}"
                        )));
                    }
                };
                if costs.insert(name.clone(), cost).is_some() {
                    return Err(Error::Question(format!("{path}:{number}: `{name}` has a cost already")));
                }
            }
            Ok(CostBy::Listed(costs))
        }
    }
}

/// Where fences may go: `anywhere`, `after-stores`, `before-loads`, `outside-loops`, `written`, or the name of a file with places.
pub fn read_placement(text: &str) -> Result<Placement, Error> {
    match text {
        "anywhere" => Ok(Placement::Anywhere),
        "after-stores" => Ok(Placement::AfterStores),
        "before-loads" => Ok(Placement::BeforeLoads),
        "outside-loops" => Ok(Placement::OutsideLoops),
        "written" => Ok(Placement::Written),
        path => {
            let kinds =
                "--placement takes anywhere, after-stores, before-loads, outside-loops, written, or the name of a file";
            let mut names = BTreeSet::new();
            for (number, words) in lines(path, kinds)? {
                let [name] = words.as_slice() else {
                    return Err(Error::Question(format!("{path}:{number}: a line has one place, such as `L13`")));
                };
                names.insert(name.clone());
            }
            Ok(Placement::Listed(names))
        }
    }
}

/// The words of each non-empty line.
fn lines(path: &str, kinds: &str) -> Result<Vec<(usize, Vec<String>)>, Error> {
    let text = std::fs::read_to_string(Path::new(path));
    let text = text.map_err(|error| Error::Question(format!("{kinds}; {path}: {error}")))?;
    let words = |line: &str| -> Vec<String> {
        // Names may contain `#`: only a word that starts with it begins a comment.
        line.split_whitespace().take_while(|word| !word.starts_with('#')).map(str::to_owned).collect()
    };
    let text = text.trim_start_matches('\u{feff}');
    let numbered = text.lines().enumerate().map(|(number, line)| (number + 1, words(line)));
    Ok(numbered.filter(|(_, words)| !words.is_empty()).collect())
}
