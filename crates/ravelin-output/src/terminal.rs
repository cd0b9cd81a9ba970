//! What a terminal can show: whether text is painted, and how wide a line is.
//!
//! By default NO_COLOR (not empty) forbids colours, CLICOLOR_FORCE (neither empty nor 0) asks for them even in a pipe,
//! and otherwise there are colours on terminals that can show them. Only terminals have a width: in a pipe lines have
//! any length.

use crate::stream::Stream;
use std::ffi::OsString;

/// Narrower than this no column is readable, and lines are left to the terminal.
const NARROWEST: usize = 40;

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// On terminals, unless the environment decides otherwise.
    Auto,
    Always,
    Never,
}

impl Color {
    pub const ALL: [Color; 3] = [Color::Auto, Color::Always, Color::Never];

    /// Its name as an option.
    pub fn name(self) -> &'static str {
        match self {
            Color::Auto => "auto",
            Color::Always => "always",
            Color::Never => "never",
        }
    }

    /// Whether text on a stream is painted. Only then does the stream let colours pass.
    pub fn paints(self, stream: Stream) -> bool {
        let painted = self.decision(stream.is_terminal(), &|name| std::env::var_os(name));
        if painted {
            stream.allow_colors();
        }
        painted
    }

    fn decision(self, terminal: bool, variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
        let value = |name: &str| variable(name).filter(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if value("NO_COLOR").is_some() => false,
            Color::Auto if value("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Color::Auto => terminal && value("TERM").is_none_or(|kind| kind != "dumb"),
        }
    }
}

/// Columns of a terminal: the number in COLUMNS, or else what the terminal has.
pub fn width(stream: Stream) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse::<usize>().ok());
    let own = || rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    given.or_else(own).filter(|&columns| columns >= NARROWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_unless_an_option_or_a_variable_decides() {
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
            assert_eq!(color.decision(terminal, &variable), painted, "{color:?} {terminal} {variables:?}");
        }
    }
}
