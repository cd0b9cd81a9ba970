//! A Markdown table, padded so that it also reads as plain text; and numbers for people.

use std::time::Duration;

pub struct MarkdownTable {
    rows: Vec<Vec<String>>,
}

impl MarkdownTable {
    pub fn new(head: &[&str]) -> MarkdownTable {
        MarkdownTable { rows: vec![head.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.rows[0].len());
        self.rows.push(cells);
    }
}

impl std::fmt::Display for MarkdownTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(3);
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        for (number, row) in self.rows.iter().enumerate() {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                // The first column holds names, the others numbers.
                if column == 0 {
                    write!(f, "| {cell:<width$} |")?;
                } else {
                    write!(f, " {cell:>width$} |")?;
                }
            }
            writeln!(f)?;
            if number == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    let line = "-".repeat(width);
                    if column == 0 { write!(f, "| {line} |")? } else { write!(f, " {}: |", &line[1..])? }
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

/// A whole number in groups of three digits.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

pub fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        time if time < 0.001 => format!("{:.0} µs", time * 1e6),
        time if time < 1.0 => format!("{:.1} ms", time * 1e3),
        time => format!("{time:.2} s"),
    }
}

/// A median, if there is one: a search that met its limit has none.
pub fn seconds_or_stopped(time: Option<Duration>) -> String {
    time.map_or_else(|| STOPPED.to_owned(), seconds)
}

/// What stands for the time of a search that met its limit.
pub const STOPPED: &str = "stopped";

/// A measured value beside what was promised.
pub fn judged(value: f64, unit: &str, promise: &str, kept: bool) -> String {
    format!("{value:.2}{unit} ({promise}: {})", if kept { "met" } else { "missed" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up() {
        let mut table = MarkdownTable::new(&["name", "n"]);
        table.row(vec!["a".to_owned(), count(1_234_567)]);
        assert_eq!(table.to_string(), "| name |         n |\n| ---- | --------: |\n| a    | 1 234 567 |\n");
        let mut narrow = MarkdownTable::new(&["N", "µ"]);
        narrow.row(vec!["2".to_owned(), "≠".to_owned()]);
        assert_eq!(narrow.to_string(), "| N   |   µ |\n| --- | --: |\n| 2   |   ≠ |\n");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 12, 123, 1234, 123_456].map(count), ["0", "12", "123", "1 234", "123 456"]);
    }
}
