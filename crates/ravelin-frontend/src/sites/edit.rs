//! Changes to a text: pieces that are put in or taken out, all at once, without moving anything else.
//!
//! An [`EditPlace`] is what a front end's outline knows about one change: the pieces that make it. Pieces of several places may meet at one
//! offset, as where two statements without braces end together; their `order` says which comes first. Writing never fails: pieces that
//! overlap are cut at each other.

use std::ops::Range;

/// One change of a text.
#[derive(Clone, Debug, Default)]
pub struct EditPlace {
    /// Where people are told that it is: the token before which the change is made, or the one that it changes.
    pub at: usize,
    pub pieces: Vec<EditPiece>,
    /// For a table of instructions: the cell that is added or emptied.
    pub cell: Option<FenceCell>,
    /// Braces have to be added. Another place with the same effect reads better.
    pub wraps: bool,
}

/// A fence in the table of an x86 test.
#[derive(Clone, Debug)]
pub struct FenceCell {
    /// The row before which a row is added, or the one in which a fence is taken away.
    pub row: usize,
    pub column: usize,
    /// Labels that move to the new cell.
    pub labels: Option<String>,
}

#[derive(Clone, Debug)]
pub struct EditPiece {
    pub range: Range<usize>,
    /// Among pieces that start at the same offset, those with a smaller number come first.
    pub order: i32,
    pub parts: Vec<PiecePart>,
    /// Takes the line away as well if nothing else is on it.
    pub line: bool,
}

#[derive(Clone, Debug)]
pub enum PiecePart {
    Text(String),
    /// The fence itself; which one is said when the text is written.
    Fence,
}

impl EditPiece {
    pub fn new(range: Range<usize>, order: i32, parts: Vec<PiecePart>) -> EditPiece {
        EditPiece { range, order, parts, line: false }
    }

    pub fn replace(range: Range<usize>, text: &str) -> EditPiece {
        EditPiece::new(range, 0, vec![text.into()])
    }

    /// Takes the place of a statement: behind what is put in before it.
    pub fn instead(range: Range<usize>, text: &str) -> EditPiece {
        EditPiece { order: i32::MAX, ..EditPiece::replace(range, text) }
    }

    /// Removes a statement.
    pub fn remove(range: Range<usize>) -> EditPiece {
        EditPiece { range, order: 0, parts: Vec::new(), line: true }
    }
}

impl From<&str> for PiecePart {
    fn from(text: &str) -> PiecePart {
        PiecePart::Text(text.to_owned())
    }
}

impl From<String> for PiecePart {
    fn from(text: String) -> PiecePart {
        PiecePart::Text(text)
    }
}

/// A piece, and the places that its fences belong to.
pub type OwnedPiece = (EditPiece, Vec<usize>);

pub struct EditedText {
    pub text: String,
    /// Where each fence has come to stand, in the order of the text, and the place it belongs to.
    pub fences: Vec<(Range<usize>, usize)>,
}

/// Writes the text with all pieces.
pub fn write<'f>(text: &str, mut pieces: Vec<OwnedPiece>, fence: impl Fn(usize) -> &'f str) -> EditedText {
    pieces.sort_by_key(|(piece, _)| (piece.range.start, piece.order));
    widen(text, &mut pieces);
    let mut written = EditedText { text: String::with_capacity(text.len() + 32 * pieces.len()), fences: Vec::new() };
    let mut at = 0;
    for (piece, owners) in &pieces {
        written.text.push_str(text.get(at..piece.range.start).unwrap_or(""));
        let mut owners = owners.iter();
        for part in &piece.parts {
            match part {
                PiecePart::Text(text) => written.text.push_str(text),
                PiecePart::Fence => {
                    let Some(&owner) = owners.next() else { continue };
                    let start = written.text.len();
                    written.text.push_str(fence(owner));
                    written.fences.push((start..written.text.len(), owner));
                }
            }
        }
        at = at.max(piece.range.end);
    }
    written.text.push_str(text.get(at..).unwrap_or(""));
    written
}

/// Lets removals take their lines with them, or at least a blank. A line on which something else is done stays.
fn widen(text: &str, pieces: &mut [OwnedPiece]) {
    for index in 0..pieces.len() {
        let Some(range) = pieces[index].0.line.then(|| pieces[index].0.range.clone()) else { continue };
        let free = |wide: &Range<usize>| {
            let before = index.checked_sub(1).is_none_or(|before| pieces[before].0.range.end <= wide.start);
            before && pieces.get(index + 1).is_none_or(|(after, _)| after.range.start >= wide.end)
        };
        let blank = text.get(range.end..).is_some_and(|rest| rest.starts_with(' '));
        let blank = blank.then(|| range.start..range.end + 1);
        if let Some(wide) = [line_of(text, &range), blank].into_iter().flatten().find(free) {
            pieces[index].0.range = wide;
        } else if let Some((before, _)) = index.checked_sub(1).map(|before| &mut pieces[before])
            && before.range.end == range.start
            && let Some(PiecePart::Text(end)) = before.parts.last_mut()
            && is_blank(end)
        {
            // What was put in right before it takes its place, and needs no line of its own.
            end.clear();
        }
    }
}

/// The line of a range, with its end, if nothing but blanks is beside it.
fn line_of(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let start = line_start(text, range.start);
    let rest = text.get(range.end..)?;
    let end = rest.find('\n').map_or(text.len(), |newline| range.end + newline + 1);
    let alone = is_blank(text.get(start..range.start)?) && is_blank(text.get(range.end..end)?);
    // A last line without an end takes that of the line before it.
    let start = if end == text.len() && !text.ends_with('\n') {
        text[..start].trim_end_matches(['\r', '\n']).len()
    } else {
        start
    };
    alone.then_some(start..end)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// What stands before an offset on its line, if that is nothing but blanks.
pub fn indentation(text: &str, at: usize) -> Option<&str> {
    // Only blanks are looked through, so that a file of one long line costs no more than others.
    let before = text.get(..at)?;
    let start = before.trim_end_matches(|c: char| c.is_whitespace() && c != '\n').len();
    (start == 0 || before[..start].ends_with('\n')).then(|| &before[start..])
}

/// How lines end in this text.
pub fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// A fence before a statement, with `separator` behind it. It gets a line of its own if the statement starts one.
pub fn before(text: &str, at: usize, separator: &str, order: i32) -> EditPiece {
    let after = match indentation(text, at) {
        Some(indentation) => format!("{separator}{}{indentation}", newline(text)),
        None => format!("{separator} "),
    };
    EditPiece::new(at..at, order, vec![PiecePart::Fence, after.into()])
}

/// A fence before the brace that ends a block; `last` is where the block's last statement starts.
pub fn at_end(text: &str, close: usize, last: Option<usize>) -> EditPiece {
    let Some(outer) = indentation(text, close) else {
        let blank = text[..close].ends_with(char::is_whitespace);
        return EditPiece::new(
            close..close,
            0,
            vec![if blank { "" } else { " " }.into(), PiecePart::Fence, " ".into()],
        );
    };
    let deeper = || format!("{outer}{}", if outer.ends_with('\t') { "\t" } else { "    " });
    let inner = last.map(|last| line_start(text, last)).map(|start| {
        let line = &text[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    });
    let inner = inner.filter(|inner| inner.len() > outer.len()).map_or_else(deeper, str::to_owned);
    let start = close - outer.len();
    EditPiece::new(start..start, 0, vec![inner.into(), PiecePart::Fence, newline(text).into()])
}

/// The next character that is not blank.
pub fn next(text: &str, at: usize) -> usize {
    text.get(at..).map_or(at, |rest| text.len() - rest.trim_start().len())
}

/// Braces around a statement that stands where only one may: with a fence before it.
pub fn wrap_before(statement: Range<usize>, separator: &str, depth: i32) -> Vec<EditPiece> {
    let open = vec!["{ ".into(), PiecePart::Fence, format!("{separator} ").into()];
    vec![
        EditPiece::new(statement.start..statement.start, depth, open),
        EditPiece::new(statement.end..statement.end, -1 - depth, vec![" }".into()]),
    ]
}

/// The same with a fence after it.
pub fn wrap_after(statement: Range<usize>, separator: &str, depth: i32) -> Vec<EditPiece> {
    let close = vec![format!("{separator} ").into(), PiecePart::Fence, " }".into()];
    vec![
        EditPiece::new(statement.start..statement.start, depth, vec!["{ ".into()]),
        EditPiece::new(statement.end..statement.end, -1 - depth, close),
    ]
}
