//! What sites are called: the line before which a change is made, and the column as well where one line has several. The order of an
//! access is called by its line, `L9:order`, or `L9:failure` for that of a compare-exchange that fails, and does not change what fences
//! are called.

use super::SiteDraft;
use super::edit::EditPlace;
use ravelin_program::{Change, OrderSlot, Position, Site};
use std::collections::{HashMap, HashSet};

pub fn sites(text: &str, drafts: Vec<SiteDraft>) -> (Vec<Site>, Vec<EditPlace>) {
    let positions = positions(text, &drafts);
    let mut on_line: HashMap<(usize, &str), usize> = HashMap::new();
    for (draft, position) in drafts.iter().zip(&positions) {
        *on_line.entry((position.line, suffix(draft.change))).or_insert(0) += 1;
    }
    let mut taken: HashSet<String> = HashSet::new();
    let (mut sites, mut places) = (Vec::new(), Vec::new());
    for (draft, position) in drafts.into_iter().zip(positions) {
        let Position { line, column } = position;
        let suffix = suffix(draft.change);
        let name = draft.name.unwrap_or_else(|| match on_line.get(&(line, suffix)) {
            Some(1) => format!("L{line}{suffix}"),
            _ => format!("L{line}.{column}{suffix}"),
        });
        let numbered = (2..).map(|number| format!("{name}#{number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name);
        taken.insert(name.clone());
        sites.push(Site { name, change: draft.change, edges: draft.edges, position: Some(position) });
        places.push(draft.place);
    }
    (sites, places)
}

fn suffix(change: Change) -> &'static str {
    match change {
        Change::Order(OrderSlot::Main | OrderSlot::Both) => ":order",
        Change::Order(OrderSlot::Failure) => ":failure",
        Change::Insert { .. } | Change::Keep | Change::Lock => "",
    }
}

/// The positions of all drafts, in one pass over the text.
fn positions(text: &str, drafts: &[SiteDraft]) -> Vec<Position> {
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    order.sort_by_key(|&number| drafts[number].place.at);
    let mut positions = vec![Position { line: 1, column: 1 }; drafts.len()];
    let (mut at, mut position) = (0, Position { line: 1, column: 1 });
    for number in order {
        let to = drafts[number].place.at;
        for character in text.get(at..to).unwrap_or("").chars() {
            position.column += 1;
            if character == '\n' {
                position = Position { line: position.line + 1, column: 1 };
            }
        }
        at = at.max(to);
        positions[number] = position;
    }
    positions
}
