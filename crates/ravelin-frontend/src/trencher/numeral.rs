//! What a word says about numbers.

use ravelin_program::Value;

/// What a word in the place of an operand says about numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numeral {
    /// `5`, `-3`, `+4`.
    Number(Value),
    /// `5abc`: starts as a number and goes on as something else.
    Beginning(Value),
    /// All digits, but too many.
    TooLarge,
    None,
}

impl Numeral {
    pub fn of(text: &str) -> Numeral {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
        let number = &text[..text.len() - unsigned.len() + digits];
        match (digits, number.parse()) {
            (0, _) => Numeral::None,
            (_, Ok(value)) if digits == unsigned.len() => Numeral::Number(value),
            (_, Ok(value)) => Numeral::Beginning(value),
            (_, Err(_)) if digits == unsigned.len() => Numeral::TooLarge,
            (_, Err(_)) => Numeral::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_are_told_as_a_stream_of_c_tells_them() {
        let cases = [
            ("5", Numeral::Number(5)),
            ("-3", Numeral::Number(-3)),
            ("+4", Numeral::Number(4)),
            ("007", Numeral::Number(7)),
            ("-9223372036854775808", Numeral::Number(Value::MIN)),
            ("9223372036854775808", Numeral::TooLarge),
            ("5abc", Numeral::Beginning(5)),
            ("-1x", Numeral::Beginning(-1)),
            ("0x10", Numeral::Beginning(0)),
            ("+", Numeral::None),
            ("-", Numeral::None),
            ("-x", Numeral::None),
            ("+-1", Numeral::None),
            ("abc5", Numeral::None),
            ("٥", Numeral::None),
        ];
        for (text, numeral) in cases {
            assert_eq!(Numeral::of(text), numeral, "{text}");
        }
    }
}
