//! Writing a net as `.spec`. Names that the format does not have become letters, digits and underscores.

use crate::nets::{InitialTokens, Marking, Net, NetTransition, PlaceId};
use std::collections::HashSet;
use std::fmt::Write;

/// The text of a net. A net without targets gets none; parsing it again says so.
pub fn print(net: &Net) -> String {
    let names = names(net);
    let name = |place: PlaceId| names[place as usize].as_str();
    let mut text = "vars\n".to_owned();
    for line in names.chunks(8) {
        let _ = writeln!(text, "    {}", line.join(" "));
    }
    text.push_str("\nrules\n");
    for (takes, gives) in net.transitions.iter().flat_map(|transition| ordinary(net, transition)) {
        let guard: Vec<String> = takes.iter().map(|(place, count)| at_least(name(place), count)).collect();
        // A rule needs a guard, if only one that always holds.
        let always = || format!("{} >= 0", names.first().map_or("", String::as_str));
        let _ = write!(text, "    {} ->", if guard.is_empty() { always() } else { guard.join(", ") });
        let mut places: Vec<PlaceId> = takes.places().chain(gives.places()).collect();
        places.sort_unstable();
        places.dedup();
        let mut first = true;
        for place in places {
            let (takes, gives) = (takes.count(place), gives.count(place));
            if takes == gives {
                continue;
            }
            let (sign, by) = if gives > takes { ('+', gives - takes) } else { ('-', takes - gives) };
            let _ = write!(text, "{}\n        {1}' = {1} {sign} {by}", if first { "" } else { "," }, name(place));
            first = false;
        }
        text.push_str(";\n");
    }
    text.push_str("\ninit\n    ");
    let start = |(place, initial): (usize, &InitialTokens)| match initial {
        InitialTokens::Exactly(tokens) => format!("{} = {tokens}", names[place]),
        InitialTokens::AtLeast(tokens) => format!("{} >= {tokens}", names[place]),
    };
    text.push_str(&net.initial.iter().enumerate().map(start).collect::<Vec<_>>().join(", "));
    text.push_str("\n\ntarget\n");
    for target in &net.targets {
        let constraint = |target: &Marking| {
            let all: Vec<String> = target.iter().map(|(place, count)| at_least(name(place), count)).collect();
            if all.is_empty() { format!("{} >= 0", names.first().map_or("", String::as_str)) } else { all.join(", ") }
        };
        let _ = writeln!(text, "    {}", constraint(target));
    }
    text
}

/// The ordinary transitions that one that sets cells stands for: one for each combination of what the cells held.
fn ordinary(net: &Net, transition: &NetTransition) -> Vec<(Marking, Marking)> {
    let mut all = vec![(transition.takes.clone(), transition.gives.clone())];
    for &set in &transition.sets {
        let with = |(takes, gives): &(Marking, Marking)| {
            let with = |marking: &Marking, place: PlaceId| Marking::new(marking.iter().chain([(place, 1)]));
            let each = net.cell_with(set).iter().map(|old| (with(takes, *old), with(gives, set)));
            each.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

fn at_least(name: &str, count: u32) -> String {
    format!("{name} >= {count}")
}

/// Names of the format, each once.
fn names(net: &Net) -> Vec<String> {
    let mut used: HashSet<String> = ["vars", "rules", "init", "target", "invariants"].map(str::to_owned).into();
    let mut names = Vec::with_capacity(net.places.len());
    for place in &net.places {
        let mut name: String =
            place.chars().map(|char| if char.is_ascii_alphanumeric() || char == '_' { char } else { '_' }).collect();
        if !name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_') {
            name.insert(0, 'p');
        }
        let mut unique = name.clone();
        let mut number = 2;
        while !used.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        names.push(unique);
    }
    names
}
