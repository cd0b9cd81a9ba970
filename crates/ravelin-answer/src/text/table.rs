//! Columns of text, each as wide as its widest cell, limited by the width of the terminal.
//!
//! Cells that do not fit are wrapped within their column. The widest columns are narrowed first. Cells break between
//! words, and within words only if that is not enough. Their further lines are below the first, so nothing is lost and
//! columns stay aligned.

use unicode_width::UnicodeWidthChar;

/// No column is made narrower than this.
const NARROWEST: usize = 8;

/// Lines of cells, aligned. Trailing blanks are cut.
pub struct TextTable {
    rows: Vec<Vec<String>>,
    right: Vec<usize>,
}

impl TextTable {
    /// `right`: the columns that are aligned to the right.
    pub fn new(right: &[usize]) -> TextTable {
        TextTable { rows: Vec::new(), right: right.to_vec() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The lines, each after `indent`, with two blanks between columns.
    pub fn render(&self, indent: &str) -> String {
        self.render_within(indent, None)
    }

    /// The same within a number of columns of the terminal.
    pub fn render_within(&self, indent: &str, width: Option<usize>) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| shown_width(cell)).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..columns).map(widest).collect();
        if let Some(width) = width {
            let room = width.saturating_sub(shown_width(indent) + 2 * columns.saturating_sub(1));
            let longest_word = |column: usize| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.flat_map(|cell| cell.split(' ')).map(shown_width).max().unwrap_or(0)
            };
            let words: Vec<usize> = (0..columns).map(longest_word).collect();
            narrow(&mut widths, &words, room);
            narrow(&mut widths, &vec![NARROWEST; columns], room);
        }
        let mut text = String::new();
        for row in &self.rows {
            let cells: Vec<Vec<String>> = row.iter().zip(&widths).map(|(cell, &width)| wrapped(cell, width)).collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or(1) {
                let start = text.len();
                text.push_str(indent);
                for (column, cell) in cells.iter().enumerate() {
                    if column > 0 {
                        text.push_str("  ");
                    }
                    let cell = cell.get(line).map_or("", String::as_str);
                    let padding = " ".repeat(widths[column].saturating_sub(shown_width(cell)));
                    match self.right.contains(&column) {
                        true => text.extend([padding.as_str(), cell]),
                        false => text.extend([cell, padding.as_str()]),
                    }
                }
                text.truncate(start + text[start..].trim_end().len());
                text.push('\n');
            }
        }
        text
    }
}

/// Narrows the widest columns until all of them fit into `room`, or all are at their floor.
fn narrow(widths: &mut [usize], floors: &[usize], room: usize) {
    for _ in room..widths.iter().sum() {
        let giving = (0..widths.len()).filter(|&column| widths[column] > floors[column].max(NARROWEST));
        let Some(widest) = giving.max_by_key(|&column| widths[column]) else { return };
        widths[widest] -= 1;
    }
}

/// A line in pieces of at most `width` columns, broken between words if possible.
pub fn wrapped(cell: &str, width: usize) -> Vec<String> {
    if shown_width(cell) <= width {
        return vec![cell.to_owned()];
    }
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for word in cell.split_inclusive(' ') {
        let bare = shown_width(word.trim_end_matches(' '));
        if used > 0 && used + bare > width {
            lines.push(String::new());
            used = 0;
        }
        for letter in word.chars() {
            let wide = letter.width().unwrap_or(0);
            if used + wide > width && letter != ' ' && used > 0 {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(letter);
            }
            used += wide;
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Columns on a terminal, not counting escape sequences for colours.
pub fn shown_width(text: &str) -> usize {
    let mut width = 0;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\x1b' {
            letters.by_ref().find(|&letter| letter == 'm');
        } else {
            width += letter.width().unwrap_or(0);
        }
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_clean() {
        let mut table = TextTable::new(&[0]);
        table.row(["1", "short", ""].map(str::to_owned));
        table.row(["10", "longer", "x"].map(str::to_owned));
        assert_eq!(table.render("  "), "   1  short\n  10  longer  x\n");
    }

    #[test]
    fn what_does_not_fit_is_wrapped_in_its_column() {
        let mut table = TextTable::new(&[0]);
        table.row(["1", "left", "reads y = 0 before x is in memory", "left: x=1 z=2"].map(str::to_owned));
        table.row(["10", "right", "writes", ""].map(str::to_owned));
        let expected = "   1  left   reads y = 0       left: x=1 z=2\n             before x is in\n             memory\n  10  right  writes\n";
        assert_eq!(table.render_within("  ", Some(44)), expected);
        assert_eq!(table.render_within("  ", Some(200)), table.render("  "));
    }

    #[test]
    fn every_width_gives_the_same_letters_and_fits_where_it_can() {
        let mut table = TextTable::new(&[]);
        table.row(["a".repeat(50), "two words".to_owned(), "日本 ".repeat(9), String::new()]);
        table.row(["\x1b[1;31mnot sc\x1b[0m".to_owned(), "é".repeat(30)]);
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().filter(|letter| !letter.is_whitespace()).collect();
            letters.sort_unstable();
            letters
        };
        let whole = table.render("");
        for width in 0..140 {
            let text = table.render_within("", Some(width));
            assert_eq!(letters(&text), letters(&whole), "{width}");
            assert!(width < 46 || text.lines().all(|line| shown_width(line) <= width), "{width}\n{text}");
        }
    }

    #[test]
    fn paint_and_wide_letters_do_not_shift_columns() {
        assert_eq!(shown_width("\x1b[1;31mnot sc\x1b[0m"), 6);
        assert_eq!(shown_width("日本"), 4);
    }
}
