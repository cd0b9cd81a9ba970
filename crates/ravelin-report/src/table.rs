//! Columns of text, each as wide as its widest cell.

/// Lines of cells, aligned. Trailing blanks are cut.
pub struct Table {
    rows: Vec<Vec<String>>,
    right: Vec<usize>,
}

impl Table {
    /// `right`: the columns that are aligned to the right.
    pub fn new(right: &[usize]) -> Table {
        Table { rows: Vec::new(), right: right.to_vec() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The lines, each behind `indent`, two blanks between columns.
    pub fn render(&self, indent: &str) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = indent.to_owned();
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    line.push_str("  ");
                }
                let padding = " ".repeat(widths[column] - cell.chars().count());
                match self.right.contains(&column) {
                    true => line.extend([padding.as_str(), cell]),
                    false => line.extend([cell.as_str(), &padding]),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_clean() {
        let mut table = Table::new(&[0]);
        table.row(["1", "short", ""].map(str::to_owned));
        table.row(["10", "longer", "x"].map(str::to_owned));
        assert_eq!(table.render("  "), "   1  short\n  10  longer  x\n");
    }
}
