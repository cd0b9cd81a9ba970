//! Where the table of an x86 test can be changed: a fence gets a row of its own, in the column of its thread. Fences of several threads
//! before the same row share the new row.
//!
//! A fence between a label and its instruction takes the label to the new row.

use super::edit::{EditPiece, EditPlace, FenceCell, OwnedPiece, PiecePart, indentation, line_start, newline};
use super::{FenceWords, TextOutline};
use crate::litmus::OutlineRow;
use std::collections::BTreeMap;

/// The rows, kept to write new ones that look like them.
#[derive(Debug)]
pub struct X86Table {
    rows: Vec<OutlineRow>,
}

pub fn outline(text: &str, rows: Vec<OutlineRow>) -> TextOutline {
    let mnemonic =
        rows.iter().flat_map(|row| &row.cells).find_map(|cell| text[cell.code?.start as usize..].chars().next());
    let words = match mnemonic {
        Some(first) if first.is_ascii_uppercase() => FenceWords::new("MFENCE", Some("SFENCE")),
        _ => FenceWords::new("mfence", Some("sfence")),
    };
    let mut outline = TextOutline::new(words);
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    for column in 0..columns {
        let mut last = None;
        for (number, row) in rows.iter().enumerate() {
            let Some(cell) = row.cells.get(column) else { continue };
            let Some(first) = cell.labels.or(cell.code) else { continue };
            last = Some((number, cell.separator));
            let at = first.start as usize;
            let place = FenceCell { row: number, column, labels: None };
            outline.insertions.push(EditPlace { at, cell: Some(place.clone()), ..EditPlace::default() });
            let Some(code) = cell.code else { continue };
            let (start, end) = (code.start as usize, code.end as usize);
            if cell.labels.is_some() {
                let labels = text.get(at..start).unwrap_or("");
                let piece = EditPiece::replace(at..start, &" ".repeat(labels.chars().count()));
                let place = FenceCell { labels: Some(labels.trim_end().to_owned()), ..place.clone() };
                outline.insertions.push(EditPlace { at: start, pieces: vec![piece], cell: Some(place), wraps: false });
            }
            let mnemonic = text.get(start..end).unwrap_or("");
            if ["mfence", "sfence", "lfence"].iter().any(|fence| mnemonic.eq_ignore_ascii_case(fence)) {
                outline.remove(start, Vec::new());
                if let Some((_, removal)) = outline.removals.last_mut() {
                    removal.cell = Some(place);
                }
            }
        }
        if let Some((row, at)) = last {
            let cell = Some(FenceCell { row: row + 1, column, labels: None });
            outline.insertions.push(EditPlace { at, cell, ..EditPlace::default() });
        }
    }
    outline.table = Some(X86Table { rows });
    outline
}

/// The fences that come before one row, by column, each with its place.
type FenceColumns<'a> = BTreeMap<usize, Vec<(usize, &'a FenceCell)>>;

impl X86Table {
    /// The rows that the given cells make.
    pub fn added(&self, text: &str, cells: &[(usize, &FenceCell)]) -> Vec<OwnedPiece> {
        let mut rows: BTreeMap<usize, FenceColumns<'_>> = BTreeMap::new();
        for &(owner, cell) in cells {
            let column = rows.entry(cell.row).or_default().entry(cell.column).or_default();
            column.push((owner, cell));
            // A fence before a label comes before the row to which the label moves.
            column.sort_by_key(|(_, cell)| cell.labels.is_some());
        }
        rows.into_iter().filter_map(|(row, columns)| self.rows_before(text, row, &columns)).collect()
    }

    fn rows_before(&self, text: &str, row: usize, columns: &FenceColumns<'_>) -> Option<OwnedPiece> {
        // Behind the last row it is the last one that the new row looks like.
        let (like, ends) = match self.rows.get(row) {
            Some(like) => (like, false),
            None => (self.rows.last()?, true),
        };
        let own_line = indentation(text, like.start).is_some();
        let start = if own_line { line_start(text, like.start) } else { like.start };
        let line = if own_line { newline(text) } else { " " };
        let (mut parts, mut owners) = (Vec::new(), Vec::new());
        for level in 0..columns.values().map(Vec::len).max().unwrap_or(0) {
            if ends {
                parts.push(line.into());
            }
            let mut from = start;
            for (number, cell) in like.cells.iter().enumerate() {
                let model = text.get(from..cell.separator).unwrap_or("");
                let fence = columns.get(&number).and_then(|fences| fences.get(level));
                self.cell(model, fence.map(|(_, cell)| *cell), &mut parts);
                owners.extend(fence.map(|(owner, _)| *owner));
                from = cell.separator + 1;
                parts.push(text.get(cell.separator..from).unwrap_or(";").into());
            }
            if !ends {
                parts.push(line.into());
            }
        }
        let at = if ends { like.end } else { start };
        Some((EditPiece::new(at..at, -1, parts), owners))
    }

    /// A cell as wide as the one above or below it.
    fn cell(&self, model: &str, fence: Option<&FenceCell>, parts: &mut Vec<PiecePart>) {
        const FENCE: usize = "mfence".len();
        let plain = !model.contains(['\n', '\r']) && !model.contains("(*");
        let width = if plain { model.chars().count() } else { 1 };
        let Some(fence) = fence else { return parts.push(" ".repeat(width).into()) };
        let blank: String = model.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
        let lead = if !plain || blank.len() == model.len() { " ".to_owned() } else { blank };
        let labels = fence.labels.as_deref().map(|labels| format!("{labels} ")).unwrap_or_default();
        let used = lead.chars().count() + labels.chars().count() + FENCE;
        parts.push(format!("{lead}{labels}").into());
        parts.push(PiecePart::Fence);
        parts.push(" ".repeat(width.saturating_sub(used).max(1)).into());
    }

    /// Empties the given cells; a row of which nothing is left goes.
    pub fn removed(&self, text: &str, cells: &[&FenceCell]) -> Vec<OwnedPiece> {
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for cell in cells {
            rows.entry(cell.row).or_default().push(cell.column);
        }
        let mut pieces = Vec::new();
        for (number, columns) in rows {
            let Some(row) = self.rows.get(number) else { continue };
            let stays = |(column, cell): (usize, &crate::litmus::OutlineCell)| {
                cell.labels.is_some() || (cell.code.is_some() && !columns.contains(&column))
            };
            if !row.cells.iter().enumerate().any(stays) {
                pieces.push((EditPiece::remove(row.start..row.end), Vec::new()));
                continue;
            }
            for code in columns.iter().filter_map(|&column| row.cells.get(column)?.code) {
                let range = code.start as usize..code.end as usize;
                let width = text.get(range.clone()).map_or(0, |code| code.chars().count());
                pieces.push((EditPiece::replace(range, &" ".repeat(width)), Vec::new()));
            }
        }
        pieces
    }
}
