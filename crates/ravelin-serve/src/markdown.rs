//! Markdown as HTML: what documents and lectures use of it, and no more. Paragraphs, headings, lists, tables,
//! quotations, rules and fenced blocks; inside of a line code, strong and emphasised words, and links.
//!
//! Every text is escaped, so markup in a document is shown as text. Links lead only where the caller allows.

use maud::{Markup, PreEscaped, html};

/// What a document may contain besides text.
pub trait Surroundings {
    /// The address of a link, if it may be followed.
    fn link(&mut self, target: &str) -> Option<String>;
    /// A fenced block: the words behind the fence, and its text.
    fn block(&mut self, words: &str, text: &str) -> Markup;
}

/// Deeper lists, quotations and words in words are shown as text.
const DEEPEST: usize = 6;
/// So far is looked for the end of what a mark begins, in bytes.
const FARTHEST: usize = 4096;

pub fn html(text: &str, surroundings: &mut dyn Surroundings) -> Markup {
    let lines: Vec<&str> = text.lines().collect();
    PreEscaped(blocks(&lines, surroundings, 0))
}

/// The text of the first heading.
pub fn title(text: &str) -> Option<&str> {
    text.lines().find_map(|line| heading(line).map(|(_, text)| text))
}

fn blocks(lines: &[&str], around: &mut dyn Surroundings, depth: usize) -> String {
    let mut out = String::new();
    let mut rest = lines;
    while let Some((&line, after)) = rest.split_first() {
        let taken = if line.trim().is_empty() {
            rest = after;
            continue;
        } else if let Some(fence) = fence(line) {
            let end = after.iter().position(|line| closes(line, fence)).unwrap_or(after.len());
            let indent = line.len() - line.trim_start().len();
            let text: Vec<&str> = after[..end].iter().map(|line| without_indent(line, indent)).collect();
            out.push_str(&around.block(fence.words, &text.join("\n")).into_string());
            (end + 2).min(rest.len())
        } else if let Some((level, text)) = heading(line) {
            let (tag, id) = (format!("h{level}"), anchor(text));
            out.push_str(&format!("<{tag} id=\"{id}\">{}</{tag}>", inline(text, around)));
            1
        } else if is_rule(line) {
            out.push_str("<hr>");
            1
        } else if line.trim_start().starts_with('>') && depth < DEEPEST {
            let end = length(rest, |line| line.trim_start().starts_with('>'));
            let inner: Vec<&str> = rest[..end]
                .iter()
                .map(|line| line.trim_start()[1..].strip_prefix(' ').unwrap_or(&line.trim_start()[1..]))
                .collect();
            out.push_str(&format!("<blockquote>{}</blockquote>", blocks(&inner, around, depth + 1)));
            end
        } else if let Some(first) = item(line).filter(|_| depth < DEEPEST) {
            let (made, taken) = list(rest, first.ordered, around, depth);
            out.push_str(&made);
            taken
        } else if after.first().is_some_and(|next| line.contains('|') && is_table_rule(next)) {
            let end = length(rest, |line| line.contains('|'));
            out.push_str(&table(&rest[..end], around));
            end
        } else {
            let begins_another = |line: &str| {
                line.trim().is_empty() || fence(line).is_some() || heading(line).is_some() || item(line).is_some()
            };
            let end = 1 + length(after, |line| !begins_another(line));
            let text: Vec<&str> = rest[..end].iter().map(|line| line.trim()).collect();
            out.push_str(&format!("<p>{}</p>", inline(&text.join("\n"), around)));
            end
        };
        rest = &rest[taken..];
    }
    out
}

fn length(lines: &[&str], belongs: impl Fn(&str) -> bool) -> usize {
    lines.iter().position(|line| !belongs(line)).unwrap_or(lines.len())
}

#[derive(Clone, Copy)]
struct Fence<'a> {
    mark: char,
    length: usize,
    words: &'a str,
}

fn fence(line: &str) -> Option<Fence<'_>> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let words = line.trim_start_matches(mark);
    let length = line.len() - words.len();
    (length >= 3 && !words.contains('`')).then(|| Fence { mark, length, words: words.trim() })
}

fn closes(line: &str, fence: Fence) -> bool {
    let line = line.trim();
    line.len() >= fence.length && line.chars().all(|letter| letter == fence.mark)
}

fn without_indent(line: &str, indent: usize) -> &str {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    &line[blanks.min(indent)..]
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let text = text.strip_prefix(' ').filter(|_| (1..=6).contains(&level))?;
    Some((level, text.trim().trim_end_matches('#').trim_end()))
}

/// As GitHub makes them.
fn anchor(text: &str) -> String {
    let letters = text.chars().filter_map(|letter| match letter {
        ' ' | '-' => Some('-'),
        '_' => Some('_'),
        letter if letter.is_alphanumeric() => Some(letter.to_ascii_lowercase()),
        _ => None,
    });
    letters.collect()
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3
        && ["-", "*", "_"]
            .iter()
            .any(|mark| line.replace(' ', "").trim_matches(mark.chars().next().unwrap_or('-')).is_empty())
}

struct Item<'a> {
    ordered: bool,
    /// Where its text begins.
    indent: usize,
    text: &'a str,
}

fn item(line: &str) -> Option<Item<'_>> {
    let trimmed = line.trim_start();
    let before = line.len() - trimmed.len();
    let digits = trimmed.len() - trimmed.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (ordered, mark) = match trimmed.as_bytes().get(digits) {
        Some(b'.' | b')') if (1..=9).contains(&digits) => (true, digits + 1),
        Some(b'-' | b'*' | b'+') if digits == 0 => (false, 1),
        _ => return None,
    };
    let text = trimmed[mark..].strip_prefix(' ')?;
    Some(Item { ordered, indent: before + mark + 1, text })
}

/// A list, and how many lines it takes.
fn list(lines: &[&str], ordered: bool, around: &mut dyn Surroundings, depth: usize) -> (String, usize) {
    let tag = if ordered { "ol" } else { "ul" };
    let mut out = format!("<{tag}>");
    let mut at = 0;
    let outer = lines[0].len() - lines[0].trim_start().len();
    while let Some(first) = lines.get(at).and_then(|line| item(line)).filter(|first| first.ordered == ordered) {
        let indent = first.indent;
        let mut inner = vec![first.text];
        let mut next = at + 1;
        while let Some(&line) = lines.get(next) {
            let blanks = line.len() - line.trim_start().len();
            let goes_on = match line.trim().is_empty() {
                // An empty line belongs to the item if what follows does.
                true => lines
                    .get(next + 1)
                    .is_some_and(|after| after.len() - after.trim_start().len() > outer && !after.trim().is_empty()),
                false => {
                    blanks > outer
                        || (item(line).is_none() && heading(line).is_none() && !lines[next - 1].trim().is_empty())
                }
            };
            if !goes_on {
                break;
            }
            inner.push(without_indent(line, indent));
            next += 1;
        }
        out.push_str("<li>");
        // An item of one paragraph is that text.
        let is_text =
            inner.iter().skip(1).all(|line| !line.trim().is_empty() && item(line).is_none() && fence(line).is_none());
        if is_text {
            let text: Vec<&str> = inner.iter().map(|line| line.trim()).collect();
            out.push_str(&inline(&text.join("\n"), around));
        } else {
            out.push_str(&blocks(&inner, around, depth + 1));
        }
        out.push_str("</li>");
        at = next;
        // Empty lines between items.
        let empty = length(&lines[at..], |line| line.trim().is_empty());
        match lines.get(at + empty).and_then(|line| item(line)) {
            Some(following) if following.ordered == ordered => at += empty,
            _ => break,
        }
    }
    (out + "</" + tag + ">", at)
}

fn is_table_rule(line: &str) -> bool {
    line.contains('-') && line.chars().all(|letter| ['|', '-', ':', ' '].contains(&letter))
}

fn table(lines: &[&str], around: &mut dyn Surroundings) -> String {
    let mut row = |line: &str, tag: &str| {
        let mut made = String::from("<tr>");
        for cell in cells(line) {
            made.push_str(&format!("<{tag}>{}</{tag}>", inline(&cell, around)));
        }
        made + "</tr>"
    };
    let head = row(lines[0], "th");
    let body: String = lines.iter().skip(2).map(|line| row(line, "td")).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>"
    )
}

/// The cells of a row; `\|` and bars in code are no borders.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let (mut in_code, mut letters) = (false, line.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'|') => {
                letters.next();
                cells.last_mut().expect("there is one").push('|');
            }
            '|' if !in_code => cells.push(String::new()),
            _ => {
                in_code ^= letter == '`';
                cells.last_mut().expect("there is one").push(letter);
            }
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Text of a line, as HTML.
fn inline(text: &str, around: &mut dyn Surroundings) -> String {
    within(text, around, 0)
}

fn within(text: &str, around: &mut dyn Surroundings, depth: usize) -> String {
    if depth > DEEPEST {
        return escaped(text);
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*', '[', '\\', '_', '!', '<']) {
        let (before, found) = rest.split_at(at);
        out.push_str(&escaped(before));
        let starts_word = !before.ends_with(|letter: char| letter.is_alphanumeric());
        rest = match special(found, starts_word, &mut out, around, depth + 1) {
            Some(after) => after,
            None => {
                let first = found.chars().next().map_or(1, char::len_utf8);
                out.push_str(&escaped(&found[..first]));
                &found[first..]
            }
        };
    }
    out.push_str(&escaped(rest));
    out
}

/// What a mark begins, and the text after it; none if it is only a letter.
fn special<'a>(
    whole: &'a str,
    starts_word: bool,
    out: &mut String,
    around: &mut dyn Surroundings,
    depth: usize,
) -> Option<&'a str> {
    let end = (0..=whole.len().min(FARTHEST)).rev().find(|&end| whole.is_char_boundary(end)).unwrap_or_default();
    let text = &whole[..end];
    let rest = |after: &str| &whole[text.len() - after.len()..];
    let enclosed = |mark: &str| {
        let inner = text.strip_prefix(mark)?;
        let end = inner.find(mark).filter(|&end| end > 0)?;
        let words = &inner[..end];
        (!words.starts_with(' ') && !words.ends_with(' ')).then(|| (words, &inner[end + mark.len()..]))
    };
    match text.as_bytes()[0] {
        b'`' => {
            let marks = text.len() - text.trim_start_matches('`').len();
            let mark = &text[..marks];
            let end = text[marks..].find(mark)?;
            let code = &text[marks..marks + end];
            out.push_str(&format!("<code>{}</code>", escaped(if marks > 1 { code.trim() } else { code })));
            Some(rest(&text[marks + end + marks..]))
        }
        b'*' if text.starts_with("**") => {
            let (words, after) = enclosed("**")?;
            out.push_str(&format!("<strong>{}</strong>", within(words, around, depth)));
            Some(rest(after))
        }
        mark @ (b'*' | b'_') if starts_word => {
            let (words, after) = enclosed(if mark == b'*' { "*" } else { "_" })?;
            out.push_str(&format!("<em>{}</em>", within(words, around, depth)));
            Some(rest(after))
        }
        b'[' => {
            let (words, target, after) = link(text)?;
            let words = within(words, around, depth);
            match around.link(target) {
                Some(address) => out.push_str(&format!("<a href=\"{}\">{words}</a>", escaped(&address))),
                None => out.push_str(&words),
            }
            Some(rest(after))
        }
        // Of a picture its description.
        b'!' if text.starts_with("![") => {
            let (words, _, after) = link(&text[1..])?;
            out.push_str(&format!("<em>{}</em>", escaped(words)));
            Some(rest(after))
        }
        b'\\' => {
            let letter = text[1..].chars().next().filter(char::is_ascii_punctuation)?;
            out.push_str(&escaped(&letter.to_string()));
            Some(rest(&text[2..]))
        }
        b'<' => {
            // A comment is for those who write.
            let after = text.strip_prefix("<!--")?;
            Some(rest(&after[after.find("-->")? + 3..]))
        }
        _ => None,
    }
}

/// `[words](target)`: both, and what follows.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let mut open = 0;
    let close = text.char_indices().find_map(|(at, letter)| {
        open += i32::from(letter == '[') - i32::from(letter == ']');
        (open == 0).then_some(at)
    })?;
    let target = text[close + 1..].strip_prefix('(')?;
    let end = target.find(')')?;
    Some((&text[1..close], &target[..end], &target[end + 1..]))
}

fn escaped(text: &str) -> String {
    html! { (text) }.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Surroundings for Plain {
        fn link(&mut self, target: &str) -> Option<String> {
            (target.starts_with("https://") || target.starts_with('#')).then(|| target.to_owned())
        }

        fn block(&mut self, words: &str, text: &str) -> Markup {
            html! { pre class=(words) { (text) } }
        }
    }

    fn made(text: &str) -> String {
        html(text, &mut Plain).into_string()
    }

    #[test]
    fn blocks_are_recognised() {
        let cases = [
            ("# A *b* `c`", "<h1 id=\"a-b-c\">A <em>b</em> <code>c</code></h1>"),
            ("one\ntwo\n\nthree", "<p>one\ntwo</p><p>three</p>"),
            ("- a\n- b\n  c\n\nd", "<ul><li>a</li><li>b\nc</li></ul><p>d</p>"),
            ("1. a\n\n2. b", "<ol><li>a</li><li>b</li></ol>"),
            ("- a\n  - b\n- c", "<ul><li><p>a</p><ul><li>b</li></ul></li><li>c</li></ul>"),
            ("> a\n> b", "<blockquote><p>a\nb</p></blockquote>"),
            ("---", "<hr>"),
            ("```rav x=1\nlet a;\n\n# no\n```\nb", "<pre class=\"rav x=1\">let a;\n\n# no</pre><p>b</p>"),
            ("~~~\n```\n~~~", "<pre class=\"\">```</pre>"),
            ("```\nnever closed", "<pre class=\"\">never closed</pre>"),
            ("**a** [b](https://c) [d](javascript:e)", "<p><strong>a</strong> <a href=\"https://c\">b</a> d</p>"),
            ("snake_case_word 2 * 3 * 4 `a*b*`", "<p>snake_case_word 2 * 3 * 4 <code>a*b*</code></p>"),
            ("a<!-- hidden -->b \\*c\\*", "<p>ab *c*</p>"),
        ];
        for (text, expected) in cases {
            assert_eq!(made(text), expected, "{text}");
        }
        let table = made("| a | `b|c` |\n| --- | --- |\n| d \\| e | f |\nend");
        assert!(table.contains("<th>a</th><th><code>b|c</code></th>"), "{table}");
        assert!(table.contains("<td>d | e</td><td>f</td>") && table.ends_with("<p>end</p>"), "{table}");
    }

    #[test]
    fn markup_stays_text() {
        let hostile = "# <script>\n\n<img src=x onerror=alert(1)>\n\n- <b>\n\n| <i> |\n| - |\n| <u> |\n\n\
            [<s>](https://x\"onclick=\"alert(1)) `<q>` ![<a>](x)\n\n```<x>\n<y>\n```";
        let made = made(hostile);
        for tag in ["<script", "<img", "<b>", "<i>", "<u>", "<s>", "<q>", "<a>", "<x>", "<y>", "\"onclick"] {
            assert!(!made.contains(tag), "{tag}: {made}");
        }
    }

    #[test]
    fn any_text_has_an_end() {
        let pieces = [
            "[", "](", "`", "**", "_", "- ", "> ", "|", "\n", "a", "1. ", "```", "    ", "é", "\\", "<!--", "!", "#",
            "# ",
        ];
        let mut state = 7_u64;
        for _ in 0..4000 {
            let mut text = String::new();
            for _ in 0..30 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
            }
            assert!(!made(&text).contains("<!--"), "{text}");
        }
        made(&"> ".repeat(5000));
        made(&"- ".repeat(5000));
        made(&"[".repeat(5000));
        made(&"**".repeat(5000));
    }
}
