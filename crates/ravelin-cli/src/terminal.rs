//! What a terminal is like: whether it is painted, and how wide it is.
//!
//! `--color` decides; left to itself, NO_COLOR (not empty) forbids colours, CLICOLOR_FORCE (neither empty nor 0) asks for them even
//! in a pipe, and otherwise there are colours on terminals that can show them. A width is known on terminals only: in a pipe lines
//! are as long as they are, for whoever reads them there.

use crate::arguments::{Color, Output};
use ravelin::answer::text::Style;
use ravelin_output::{Stream, stdout};
use std::ffi::OsString;

/// Narrower than this no column is readable; lines are then left to the terminal.
const NARROWEST: usize = 40;

impl Output {
    /// How text on standard output looks.
    pub fn style(&self) -> Style {
        Style { color: paints(self.color, stdout()), width: width(stdout()) }
    }
}

/// Whether text on a stream is painted. Only then do colours get through.
pub fn paints(color: Color, stream: Stream) -> bool {
    let painted = decided(color, stream.is_terminal(), &|name| std::env::var_os(name));
    if painted {
        stream.allow_colors();
    }
    painted
}

fn decided(color: Color, terminal: bool, variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let says = |name: &str| variable(name).filter(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if says("NO_COLOR").is_some() => false,
        Color::Auto if says("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        Color::Auto => terminal && says("TERM").is_none_or(|kind| kind != "dumb"),
    }
}

/// Columns of a terminal: those that COLUMNS says, or those it has.
pub fn width(stream: Stream) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse::<usize>().ok());
    let has = || rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    said.or_else(has).filter(|&columns| columns >= NARROWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_unless_somebody_says_otherwise() {
        type Variables = &'static [(&'static str, &'static str)];
        let cases: &[(Color, bool, Variables, bool)] = &[
            (Color::Auto, true, &[], true),
            (Color::Auto, false, &[], false),
            (Color::Auto, true, &[("NO_COLOR", "1")], false),
            (Color::Auto, true, &[("NO_COLOR", "")], true),
            (Color::Auto, true, &[("TERM", "dumb")], false),
            (Color::Auto, false, &[("CLICOLOR_FORCE", "1")], true),
            (Color::Auto, false, &[("CLICOLOR_FORCE", "0")], false),
            (Color::Auto, true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
            (Color::Always, false, &[("NO_COLOR", "1")], true),
            (Color::Never, true, &[("CLICOLOR_FORCE", "1")], false),
        ];
        for &(color, terminal, variables, painted) in cases {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(*value))
            };
            assert_eq!(decided(color, terminal, &variable), painted, "{color:?} {terminal} {variables:?}");
        }
    }
}
