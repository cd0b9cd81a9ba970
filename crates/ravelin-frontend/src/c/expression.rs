//! How far an expression of C reaches whose first character is known, as debug information knows it.

/// Where an expression that begins at `start` ends: a call ends with its bracket, a name or an operator with itself.
pub fn expression_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut end = start;
    while end < bytes.len() && is_word(bytes[end]) {
        end += 1;
    }
    if end == start {
        // An operator: `=`, `++`, `+=`.
        while end < bytes.len() && b"=+-*/%&|^<>!".contains(&bytes[end]) {
            end += 1;
        }
        return end.max(start + text[start..].chars().next().map_or(0, char::len_utf8));
    }
    match bytes.get(end) {
        Some(b'(') => closing(bytes, end).map_or(end, |close| close + 1),
        _ => end,
    }
}

/// The bracket that closes the one at `open`. Strings and characters are skipped.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = open;
    while at < bytes.len() && at - open < 1 << 14 {
        match bytes[at] {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::expression_end;

    #[test]
    fn expressions_end_where_they_end() {
        let end = |text: &'static str| &text[..expression_end(text, 0)];
        assert_eq!(end("atomic_load(&x, \")\") + 1"), "atomic_load(&x, \")\")");
        assert_eq!(end("x = 1;"), "x");
        assert_eq!(end("+= 2"), "+=");
        assert_eq!(end("f(((x)"), "f");
        assert_eq!(end(""), "");
    }
}
