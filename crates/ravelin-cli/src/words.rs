//! The words of a command line without some of its options: what several processes have to agree on, what a checkpoint
//! keeps, and what `ravelin cluster` passes on.

use std::ffi::OsString;

/// The words without these options, each of which has a value. `--option=value` becomes two words, so that both ways to
/// write it are the same. After `--` there are no options.
pub fn without(options: &[&str], words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default();
        match text.split_once('=').filter(|_| text.starts_with("--")) {
            Some((name, _)) if options.contains(&name) => {}
            Some((name, value)) => kept.extend([name.into(), value.into()]),
            None if options.contains(&text) => drop(words.next()),
            None if text == "--" => kept.extend(std::iter::once(word).chain(words.by_ref())),
            None => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_left_out_with_their_values() {
        let words = |text: &str| without(&["--local"], text.split(' ').map(OsString::from));
        assert_eq!(words("check a.rav --local 4 -m tso"), ["check", "a.rav", "-m", "tso"]);
        assert_eq!(words("--local=3 reach a.rav --model=pso"), ["reach", "a.rav", "--model", "pso"]);
        assert_eq!(words("check -- --local=3"), ["check", "--", "--local=3"]);
    }
}
