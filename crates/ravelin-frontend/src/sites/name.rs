//! What sites are called: the line before which a change is made, and the column as well where one line has several. An access that gets
//! a stronger order is called by its line and that order, `L9:release`, and does not change what fences are called.

use super::SiteDraft;
use super::edit::EditPlace;
use ravelin_program::{Change, Instruction, Position, Program, Site, strengthened};
use std::collections::{HashMap, HashSet};

/// `program`: the one that the edges of the drafts are of.
pub fn sites(text: &str, program: &Program, drafts: Vec<SiteDraft>) -> (Vec<Site>, Vec<EditPlace>) {
    let positions = positions(text, &drafts);
    let mut on_line: HashMap<(usize, bool), usize> = HashMap::new();
    for (draft, position) in drafts.iter().zip(&positions) {
        *on_line.entry((position.line, draft.change == Change::Strengthen)).or_insert(0) += 1;
    }
    let mut taken: HashSet<String> = HashSet::new();
    let (mut sites, mut places) = (Vec::new(), Vec::new());
    for (draft, position) in drafts.into_iter().zip(positions) {
        let Position { line, column } = position;
        let strengthens = draft.change == Change::Strengthen;
        let order = if strengthens { order_of(program, &draft) } else { "" };
        let name = draft.name.unwrap_or_else(|| match on_line.get(&(line, strengthens)) {
            Some(1) => format!("L{line}{order}"),
            _ => format!("L{line}.{column}{order}"),
        });
        let numbered = (2..).map(|number| format!("{name}#{number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name);
        taken.insert(name.clone());
        sites.push(Site { name, change: draft.change, edges: draft.edges, position: Some(position) });
        places.push(draft.place);
    }
    (sites, places)
}

/// What an access becomes.
fn order_of(program: &Program, draft: &SiteDraft) -> &'static str {
    let instruction = draft.edges.first().and_then(|edge| {
        strengthened(&program.threads.get(edge.thread.0)?.transitions.get(edge.transition.0)?.instruction)
    });
    match instruction {
        Some(Instruction::Load { .. } | Instruction::Wait { .. }) => ":acquire",
        Some(Instruction::Store { .. }) => ":release",
        _ => ":acq_rel",
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
