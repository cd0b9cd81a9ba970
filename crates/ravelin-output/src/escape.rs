//! Control characters in printed text: `\u001b` instead of the character.
//!
//! Printed text quotes file names, lines of programs, names from JSON documents and symbols of watched programs. If
//! their control characters were sent to a terminal, they could move the cursor, hide or rewrite lines, set the title
//! or send input. All are therefore escaped: C0 except line feed and tab (and carriage return before a line feed), DEL,
//! C1, and the characters that change the direction of writing. The form is that of JSON, so a JSON document with such
//! characters in its strings remains the same document.
//!
//! Colours are the only escape sequences that Ravelin itself writes into text. On a stream with colours only they pass:
//! no background, no blinking, no hidden text.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether the colours of a text are Ravelin's and stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    Kept,
    Escaped,
}

/// The text in a form that is safe for a terminal, without any colour.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_but_for(text, Colors::Escaped)
}

/// The text in a form that is safe for a terminal.
pub fn escaped_but_for(text: &str, colors: Colors) -> Cow<'_, str> {
    if !text.chars().any(|letter| letter != '\n' && is_hostile(letter)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        let color = if letter == '\x1b' && colors == Colors::Kept { color_length(rest) } else { None };
        if let Some(length) = color {
            shown.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        if letter == '\r' && after.starts_with('\n') || !is_hostile(letter) {
            shown.push(letter);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(letter));
        }
        rest = after;
    }
    Cow::Owned(shown)
}

fn is_hostile(letter: char) -> bool {
    let turns_direction =
        matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns_direction || letter.is_control() && !matches!(letter, '\n' | '\t')
}

/// The length of the sequence at the beginning of a text, if it sets a colour, bold, dim, italic or underlined letters,
/// or ends them.
fn color_length(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\x1b[")?;
    let length = codes.find('m')?;
    let codes = &codes[..length];
    let mut numbers = codes.split(';').map(|code| if code.is_empty() { Ok(0) } else { code.parse::<u8>() });
    let digits = codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
    let mut fine = digits;
    while let Some(code) = numbers.next() {
        fine &= match code {
            Ok(0..=4 | 22..=24 | 31..=37 | 39 | 90..=97) => true,
            // One of 256 colours.
            Ok(38) => numbers.next() == Some(Ok(5)) && numbers.next().is_some_and(|color| color.is_ok()),
            _ => false,
        };
    }
    fine.then_some("\x1b[".len() + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_numbers::Random;

    #[test]
    fn control_characters_are_shown() {
        for (text, shown) in [
            ("plain é 漢 🦀\n\ttext\n", "plain é 漢 🦀\n\ttext\n"),
            ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
            ("\x1b[2J\x1b[1;1H", "\\u001b[2J\\u001b[1;1H"),
            ("\x1b[31mred", "\\u001b[31mred"),
            ("\u{9b}2J", "\\u009b2J"),
            ("a\u{7f}b\0c\u{8}d", "a\\u007fb\\u0000c\\u0008d"),
            ("dos\r\nlines\r\n", "dos\r\nlines\r\n"),
            ("over\rwritten", "over\\u000dwritten"),
            ("left\u{202e}right", "left\\u202eright"),
        ] {
            assert_eq!(escaped(text), shown);
        }
    }

    #[test]
    fn colours_of_a_painted_stream_stay_and_nothing_else() {
        let kept = |text: &str| escaped_but_for(text, Colors::Kept).into_owned();
        for painted in
            ["\x1b[1;31mnot robust\x1b[0m", "\x1b[m", "\x1b[1m\x1b[94m-->\x1b[0m", "\x1b[38;5;9merror\x1b[0m"]
        {
            assert_eq!(kept(painted), painted);
        }
        for hostile in [
            "\x1b[8mhidden",
            "\x1b[7m",
            "\x1b[5m",
            "\x1b[41m",
            "\x1b[30m",
            "\x1b[2J",
            "\x1b[?25l",
            "\x1b[31",
            "\x1b",
            "\x1b[38;2;1;1;1m",
        ] {
            assert!(!kept(hostile).contains('\x1b'), "{hostile:?} became {:?}", kept(hostile));
        }
        assert_eq!(kept("\x1b[31m\x1b]0;title\x07\x1b[0m"), "\x1b[31m\\u001b]0;title\\u0007\x1b[0m");
    }

    #[test]
    fn no_text_gets_through() {
        // Combinations of the pieces of escape sequences.
        let pieces =
            ["\x1b", "[", "]", "0", "8", "31", ";", "m", "J", "\x07", "\u{9b}", "\r", "\n", "é", "\u{202e}", "\u{7f}"];
        let mut random = Random::new(1);
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                text.push_str(random.pick(&pieces));
            }
            let shown = escaped(&text);
            assert!(!shown.replace("\r\n", "\n").chars().any(is_hostile), "{text:?} became {shown:?}");
            assert_eq!(escaped(&shown), shown, "what is escaped stays as it is");
            let painted = escaped_but_for(&text, Colors::Kept);
            for after in painted.split('\x1b').skip(1) {
                let codes = after.strip_prefix('[').and_then(|after| after.split_once('m')).map(|(codes, _)| codes);
                let harmless = codes.is_some_and(|codes| {
                    codes.split(';').all(|code| ["", "0", "31"].contains(&code.trim_start_matches('0')) || code == "0")
                });
                assert!(harmless, "{text:?} became {painted:?}");
            }
        }
    }
}
