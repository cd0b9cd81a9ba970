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

/// The words of a command line that have to agree between the processes of a search.
#[cfg(any(feature = "cluster", test))]
pub fn of_question(words: Vec<OsString>) -> Vec<OsString> {
    let has_checkpoint = words.iter().any(|word| word.to_str().is_some_and(|word| word.starts_with("--checkpoint")));
    without(if has_checkpoint { &OF_ONE_PROCESS[..6] } else { &OF_ONE_PROCESS }, words)
}

/// Options with a value that belong to one process: where it is, and limits that count for all if one process has them. The last four
/// say how process 0 prints the answer. A checkpoint keeps them, so they have to agree where there is one.
#[cfg(any(feature = "cluster", test))]
const OF_ONE_PROCESS: [&str; 10] = [
    "--cluster",
    "--process",
    "--connect-timeout",
    "--secret-file",
    "--timeout",
    "--max-memory",
    "--format",
    "--color",
    "--html",
    "--svg",
];

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

    #[test]
    fn options_of_one_process_need_not_agree() {
        let words = |text: &str| of_question(text.split(' ').map(OsString::from).collect());
        let asked = words("check a.rav --model tso --max-states 9");
        for same in [
            "check --timeout 5s a.rav --model=tso --max-states 9 --process 1",
            "check a.rav --model tso --max-states=9 --connect-timeout=1s --max-memory 1G --secret-file x --format json",
        ] {
            assert_eq!(words(same), asked, "{same}");
        }
        for other in ["check a.rav --model pso --max-states 9", "check a.rav --model tso --max-states 8", "reach a.rav"]
        {
            assert_ne!(words(other), asked, "{other}");
        }
        let kept = |text: &str| words(&format!("check a.rav --checkpoint d {text}"));
        assert_eq!(kept("--timeout 5s"), kept("--max-memory 1G"));
        assert_ne!(kept("--format json"), kept("--format text"));
    }
}
